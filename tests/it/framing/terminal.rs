use std::process::{Command, Stdio};

use super::super::support::{finish, without_ages};
use super::{World, is_hidden};

/// Runs a command in a terminal made by `script`, which not every machine has, and returns what
/// the terminal gets, without the ages of snapshots.
fn on_terminal(world: &World, args: &[&str], env: (&str, &str)) -> Option<String> {
    let program = world.folder.command([] as [&str; 0]).get_program().to_owned();
    let quoted = |it: &str| format!("'{}'", it.replace('\'', "'\\''"));
    let words = [program.to_str().unwrap()].into_iter().chain(args.iter().copied());
    let words: Vec<String> = words.chain(["--db", "m.db"]).map(quoted).collect();
    let mut command = Command::new("script");
    command.args(["-qec", &words.join(" "), "/dev/null"]).current_dir(world.folder.path(""));
    command.env("TERM", "xterm").env_remove("NO_COLOR").env(env.0, env.1);
    command.env("XDG_CONFIG_HOME", world.folder.path("settings"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let shown = finish(command.spawn().ok()?).stdout;
    let shown = String::from_utf8(shown).unwrap().replace("\r\n", "\n");
    Some(without_ages(&shown))
}

#[test]
fn a_terminal_obeys_no_note_and_a_pipe_gets_it_as_it_is() {
    let world = World::new(1);
    let hostile = "red \u{1b}[31m \u{9b}2J \u{202e}back \u{e0041}";
    world.write("hostile.md", &format!("# Hostile\n\nquasar\n\n```\n{hostile}\n```\n"));
    world.ok(&["compile", "notes"]);
    let ids = world.ids();
    let id = ids[0].as_str();
    let commands = [
        vec!["fetch", "hostile.md"],
        vec!["search", "red", "--detail", "full"],
        vec!["delta", "--detail"],
        vec!["diff", "0", "2"],
        vec!["history", id],
        vec!["tree"],
        vec!["related", id],
        vec!["recall", "quasar"],
        vec!["review"],
        vec!["topics"],
        vec!["entities"],
        vec!["conflicts"],
        vec!["memories"],
        vec!["inspect", "--files", "--tree", "--skipped"],
        vec!["stats"],
        vec!["doctor"],
        vec!["export"],
        vec!["fetch", "\u{202e}\u{1b}[31m"],
    ];
    for args in &commands {
        let Some(shown) = on_terminal(&world, args, ("NO_COLOR", "1")) else { return };
        let raw = shown.chars().find(|&it| is_hidden(it) && !matches!(it, '\n' | '\t'));
        assert_eq!(raw, None, "{args:?}: {shown:?}");
        let mut painted = on_terminal(&world, args, ("LANG", "C")).unwrap();
        for code in ["1;36", "32", "33", "31", "2", "1;31"] {
            painted = painted.replace(&format!("\x1b[{code}m"), "");
        }
        assert_eq!(painted.replace("\x1b[0m", ""), shown, "{args:?}");
    }
    let visible = hostile.replace('\u{1b}', "\\u{1b}").replace('\u{9b}', "\\u{9b}");
    let visible = visible.replace('\u{202e}', "\\u{202e}").replace('\u{e0041}', "\\u{e0041}");
    for args in &commands[..3] {
        assert!(world.ok(args).contains(hostile), "{args:?}");
        let shown = on_terminal(&world, args, ("NO_COLOR", "1")).unwrap();
        assert!(shown.contains(&visible), "{args:?}: {shown:?}");
    }
}
