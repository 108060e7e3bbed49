use std::fmt::Write as _;

use expect_test::expect_file;

use crate::parse::{Parsed, Syntax, parse_bytes};

fn render(parsed: &Parsed) -> String {
    let mut out = parsed.tree.to_string();
    for warning in &parsed.warnings {
        writeln!(out, "warning: line {}: {}", warning.line, warning.what).unwrap();
    }
    out
}

#[test]
fn every_example_gives_the_tree_beside_it() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    for format in ["json", "transcript", "yaml", "toml", "toon", "csv", "plain"] {
        for entry in std::fs::read_dir(format!("{folder}/{format}")).unwrap() {
            let path = entry.unwrap().path();
            let Some(syntax) = Syntax::of(path.to_str().unwrap()) else { continue };
            let bytes = std::fs::read(&path).unwrap();
            let parsed = parse_bytes(syntax, &bytes);
            crate::fuzzing::markdown::check_tree(&parsed.tree, &String::from_utf8_lossy(&bytes));
            expect_file![path.with_extension("tree")].assert_eq(&render(&parsed));
        }
    }
}
