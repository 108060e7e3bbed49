use proptest::prelude::*;

use super::*;

/// Verdicts of git. The first line has the paths of a folder, each other one the lines of an ignore
/// file and the paths that `git check-ignore --no-index` named then.
const GIT: &str = include_str!("git.jsonl");

/// Returns whether a path is excluded, with the folders above it.
fn is_ignored(patterns: &Patterns, path: &str) -> bool {
    let folders = path.match_indices('/').map(|(at, _)| (&path[..at], true));
    folders.chain([(path, false)]).any(|(it, is_dir)| {
        // A folder that is not excluded lets its files be checked.
        patterns.verdict(it, is_dir) == Verdict::Ignored
    })
}

#[track_caller]
fn check_bad(text: &str, expected: &[(u32, &str)]) {
    let (_, bad) = Patterns::parse(text);
    let bad: Vec<(u32, &str)> = bad.iter().map(|it| (it.number, it.what.as_str())).collect();
    let expected: Vec<(u32, String)> = expected
        .iter()
        .map(|(number, why)| (*number, format!("not a pattern: {why}; the line is passed over")))
        .collect();
    let expected: Vec<(u32, &str)> = expected.iter().map(|(n, it)| (*n, it.as_str())).collect();
    assert_eq!(bad, expected);
}

#[test]
fn patterns_match_as_in_git() {
    let mut lines = GIT.lines();
    let paths: Vec<String> = serde_json::from_str(lines.next().unwrap()).unwrap();
    let mut wrong = Vec::new();
    for line in lines {
        let (text, expected): (String, Vec<String>) = serde_json::from_str(line).unwrap();
        let (patterns, _) = Patterns::parse(&text);
        let ignored: Vec<&String> = paths.iter().filter(|it| is_ignored(&patterns, it)).collect();
        if ignored != expected.iter().collect::<Vec<_>>() {
            wrong.push(format!("{text:?}\n  git:  {expected:?}\n  here: {ignored:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_bad_line_is_reported_and_skipped() {
    check_bad(
        "a.md\n[\n\nb[z-a]\n# no\n[[:foo:]]\nc\\\n/\n!\n!/\na//b\n**//",
        &[
            (2, "a `[` has no `]`; write `\\[` for the character itself"),
            (4, "`z-a` is no range; write `a-z`"),
            (
                6,
                "there is no class `[:foo:]`; there are alnum, alpha, blank, cntrl, digit, graph, \
                 lower, print, punct, space, upper, xdigit",
            ),
            (7, "it ends in a backslash; write two"),
            (8, "it names nothing"),
            (9, "it names nothing"),
            (10, "it names nothing"),
            (11, "it has an empty name, which no path has; write one `/`"),
            (12, "it has an empty name, which no path has; write one `/`"),
        ],
    );
    let (patterns, _) = Patterns::parse("[\na.md\n]\n[z-a]");
    assert!(is_ignored(&patterns, "x/a.md"));
    check_bad(&"a".repeat(2000), &[(1, "it is longer than 1024 bytes")]);
}

#[test]
fn too_many_patterns_are_reported_once() {
    let (patterns, bad) = Patterns::parse(&"nothing*.md\n".repeat(PATTERNS_MAX + 3));
    assert_eq!(bad.len(), 1);
    assert_eq!(bad[0].number as usize, PATTERNS_MAX + 1);
    assert!(is_ignored(&patterns, "nothing.md"));
}

#[test]
fn a_byte_order_mark_and_line_ends_of_windows_are_no_part_of_a_pattern() {
    let (patterns, bad) = Patterns::parse("\u{feff}a.md\r\nb.md\r\n");
    assert_eq!(bad, []);
    assert!(is_ignored(&patterns, "a.md") && is_ignored(&patterns, "b.md"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn promises_hold_for_any_bytes(data in proptest::collection::vec(any::<u8>(), 0..64)) {
        crate::fuzzing::ignore::ignore(&data);
    }

    #[test]
    fn promises_hold_for_any_pattern(text in "([a!\\\\\\[\\]\\-^:/*?{} \n#]|\\[:|:\\]|digit){0,24}") {
        crate::fuzzing::ignore::ignore(text.as_bytes());
    }
}
