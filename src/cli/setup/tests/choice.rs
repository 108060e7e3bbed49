//! Tests the choice of clients at a prompt.

use crate::cli::CommandError;
use crate::cli::args::Client;
use crate::cli::setup::picked;

#[test]
fn clients_are_chosen_by_number_or_name() {
    let found = [Client::Codex, Client::Zed];
    for (line, expected) in [
        ("1\n", Ok(vec![Client::Codex])),
        ("2, codex\n", Ok(vec![Client::Zed, Client::Codex])),
        ("all\n", Ok(found.to_vec())),
        ("claude\n", Ok(vec![Client::ClaudeCode])),
        ("\n", Err("none was chosen; nothing was changed")),
        ("0\n", Err("`0` is none of them; nothing was changed")),
        ("1 3\n", Err("`3` is none of them; nothing was changed")),
    ] {
        let chosen = picked(line, &found).map_err(|error| match error {
            CommandError::Because(what) => what,
            CommandError::BrokenPipe => "broken pipe".to_owned(),
        });
        assert_eq!(chosen, expected.map_err(str::to_owned), "{line:?}");
    }
}
