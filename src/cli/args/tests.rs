use super::*;

#[track_caller]
fn usage_error(args: &[&str], what: &str) {
    let error = parse_args(args.iter().map(OsString::from)).unwrap_err();
    assert_eq!(error.mistake.to_string(), what);
}

#[test]
fn words_of_a_search_need_no_quotes() {
    let command = parse_args(["search", "rate", "limit", "--budget", "50"].map(OsString::from));
    let expected =
        SearchArgs { query: "rate limit".to_owned(), budget: Some(50), ..SearchArgs::default() };
    assert_eq!(command, Ok(Command::Search(expected)));
}

#[test]
fn the_database_may_be_named_before_or_after_the_command() {
    let before = parse_args(["--db", "x.db", "doctor"].map(OsString::from));
    let after = parse_args(["doctor", "--db", "x.db"].map(OsString::from));
    assert_eq!(before, after);
}

#[test]
fn nothing_at_all_shows_help() {
    assert_eq!(parse_args([]), Ok(Command::Help(None)));
    assert_eq!(parse_args(["help", "--help"].map(OsString::from)), Ok(Command::Help(None)));
}

#[test]
fn mistakes_are_explained() {
    usage_error(&["compile"], "`compile` needs the folder or file to compile");
    usage_error(&["compile", "a", "b"], "`compile` does not take `b`");
    usage_error(&["help", "gc", "doctor"], "`help` does not take `doctor`");
    usage_error(&["search", "x", "--limit", "0"], "`--limit` needs 1 or more");
    usage_error(&["inspekt"], "no command `inspekt`; did you mean `inspect`?");
    usage_error(&["serach", "x"], "no command `serach`; did you mean `search`?");
    let all = parse_args([OsString::from("frobnicate")]).unwrap_err().to_string();
    assert!(all.starts_with("no command `frobnicate`; there are compile, serve,"), "{all}");
    usage_error(
        &["search", "--budgit", "3", "x"],
        "`search` has no flag `--budgit`; \
                                              did you mean `--budget`?",
    );
    usage_error(&["search", "--budget", "many"], "`--budget` needs a whole number, not `many`");
    usage_error(&["inspect", "--depth", "3"], "`--depth` is for `--tree`; add it");
    usage_error(&["gc", "--keep", "0"], "`--keep` needs 1 or more; HEAD always stays");
    usage_error(
        &["gc", "--older-than", "30"],
        "`--older-than` needs a span such as 12h, 30d or 8w, not `30`",
    );
    usage_error(&["doctor", "-m"], "`doctor` has no flag `-m`");
    usage_error(
        &["completion", "tcsh"],
        "no completion for `tcsh`; there is one for bash, zsh and fish",
    );
}

#[test]
fn every_flag_in_a_help_is_read() {
    for spec in COMMANDS {
        assert!(spec.flags().contains(&"help"), "{}", spec.name);
        for flag in spec.flags() {
            let flag = format!("--{flag}");
            let parsed = parse_args([spec.name, &flag].map(OsString::from));
            let is_unknown = |it: &InvalidCommandLine| it.mistake.0.contains("has no flag");
            assert!(!parsed.as_ref().is_err_and(is_unknown), "{}: {parsed:?}", spec.name);
        }
    }
}

#[test]
fn each_argument_of_a_tool_is_a_value_or_a_flag_in_the_help() {
    for command in tool_parser::TOOL_COMMANDS {
        let spec = CommandSpec::named(command.name).unwrap();
        let mut flags = spec.flags();
        let mut expected: Vec<String> =
            command.flags().iter().map(|(name, _)| name.replace('_', "-")).collect();
        expected.extend(["db", "json", "help"].map(str::to_owned));
        flags.sort_unstable();
        expected.sort_unstable();
        assert_eq!(flags, expected, "{}", command.name);
        assert!(command.values.iter().all(|it| !command.flags().iter().any(|(f, _)| f == it)));
    }
}

#[test]
fn mistakes_in_a_command_of_a_tool_are_explained() {
    usage_error(&["fetch"], "`fetch` needs the id of a node, or the path of a file");
    usage_error(&["diff", "1"], "`diff` needs two snapshots: `diff 1 2`");
    usage_error(&["pin", "a", "b"], "`pin` does not take `b`");
    usage_error(&["pin", "a", "--temprature", "1"], PIN_FLAG);
    usage_error(&["write", " "], "`write` needs the text to write, or `-` for standard input");
}

const PIN_FLAG: &str = "`pin` has no flag `--temprature`; did you mean `--temperature`?";
