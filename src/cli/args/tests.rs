use super::*;

#[track_caller]
fn misuse(args: &[&str], what: &str) {
    let error = parse(args.iter().map(OsString::from)).unwrap_err();
    assert_eq!(error.to_string(), what);
}

#[test]
fn words_of_a_search_need_no_quotes() {
    let command = parse(["search", "rate", "limit", "--budget", "50"].map(OsString::from));
    let expected = Search { query: "rate limit".to_owned(), budget: Some(50), ..Search::default() };
    assert_eq!(command, Ok(Command::Search(expected)));
}

#[test]
fn the_database_may_be_named_before_or_after_the_command() {
    let before = parse(["--db", "x.db", "doctor"].map(OsString::from));
    let after = parse(["doctor", "--db", "x.db"].map(OsString::from));
    assert_eq!(before, after);
}

#[test]
fn nothing_at_all_shows_help() {
    assert_eq!(parse([]), Ok(Command::Help(None)));
    assert_eq!(parse(["help", "--help"].map(OsString::from)), Ok(Command::Help(None)));
}

#[test]
fn mistakes_are_explained() {
    misuse(&["compile"], "`compile` needs the folder or file to compile");
    misuse(&["compile", "a", "b"], "`compile` does not take `b`");
    misuse(&["help", "gc", "doctor"], "`help` does not take `doctor`");
    misuse(&["search", "x", "--limit", "0"], "`--limit` needs 1 or more");
    misuse(
        &["inspekt"],
        "no command `inspekt`; there are compile, serve, inspect, search, \
                          bench, doctor, gc, redact, backup, restore, export, import, salvage, \
                          setup, completion, help; did you mean `inspect`?",
    );
    misuse(
        &["search", "--budgit", "3", "x"],
        "`search` has no flag `--budgit`; \
                                              did you mean `--budget`?",
    );
    misuse(&["search", "--budget", "many"], "`--budget` needs a whole number, not `many`");
    misuse(&["inspect", "--depth", "3"], "`--depth` is for `--tree`; add it");
    misuse(&["gc", "--keep", "0"], "`--keep` needs 1 or more; HEAD always stays");
    misuse(
        &["gc", "--older-than", "30"],
        "`--older-than` needs a span such as 12h, 30d or 8w, not `30`",
    );
    misuse(&["doctor", "-m"], "`doctor` has no flag `--message`");
    misuse(
        &["completion", "tcsh"],
        "no completion for `tcsh`; there is one for bash, zsh and fish",
    );
}
