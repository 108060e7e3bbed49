use std::fmt::Write as _;

use expect_test::{Expect, expect_file};

use crate::parse::{Parsed, Syntax, decode, parse};

fn render(parsed: &Parsed) -> String {
    let mut out = parsed.tree.to_string();
    for warning in &parsed.warnings {
        writeln!(out, "warning: line {}: {}", warning.line, warning.what).unwrap();
    }
    out
}

#[track_caller]
fn check(src: &str, tree: Expect) {
    tree.assert_eq(&render(&parse(Syntax::Html, src)));
}

#[test]
fn every_example_gives_the_tree_beside_it() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/html");
    let mut n = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|it| it == "html") {
            let bytes = std::fs::read(&path).unwrap();
            let (text, _) = decode(&bytes);
            expect_file![path.with_extension("tree")]
                .assert_eq(&render(&parse(Syntax::Html, &text)));
            n += 1;
        }
    }
    assert!(10 <= n, "{n} examples");
}
