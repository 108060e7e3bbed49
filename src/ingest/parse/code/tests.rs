//! Tests of source code: a sample of each language, and what an edit leaves alone.

use expect_test::{Expect, expect};

use super::*;
use crate::fuzzing;
use crate::ingest::parse::{Syntax, parse};

/// Returns the outline of a source: the labels, and the lines of each text where they are few.
fn outline(ending: &str, text: &str) -> String {
    let syntax = Syntax::of(&format!("a.{ending}")).unwrap();
    fuzzing::code::code(text.as_bytes());
    let tree = parse(syntax, text).tree;
    let rows = tree.nodes.iter().zip(tree.depths()).map(|(node, depth)| {
        let n_lines = node.content.lines().count();
        let first = node.content.lines().next().unwrap_or("").trim();
        format!("{}{} | {n_lines} from `{first}`\n", "  ".repeat(depth), node.label)
    });
    rows.collect()
}

#[track_caller]
fn check(ending: &str, text: &str, expected: Expect) {
    expected.assert_eq(&outline(ending, text));
}

#[test]
fn rust_is_split_by_its_definitions() {
    check("rs", include_str!("../../../../fuzz/seeds/code/sample.rs"), expect![[""]]);
}

#[test]
fn python_is_split_by_its_definitions() {
    check("py", include_str!("../../../../fuzz/seeds/code/sample.py"), expect![[""]]);
}

#[test]
fn typescript_is_split_by_its_definitions() {
    check("ts", include_str!("../../../../fuzz/seeds/code/sample.ts"), expect![[""]]);
}

#[test]
fn go_is_split_by_its_definitions() {
    check("go", include_str!("../../../../fuzz/seeds/code/sample.go"), expect![[""]]);
}

#[test]
fn java_is_split_by_its_definitions() {
    check("java", include_str!("../../../../fuzz/seeds/code/sample.java"), expect![[""]]);
}

#[test]
fn c_is_split_by_its_definitions() {
    check("c", include_str!("../../../../fuzz/seeds/code/sample.c"), expect![[""]]);
}

#[test]
fn cpp_is_split_by_its_definitions() {
    check("cpp", include_str!("../../../../fuzz/seeds/code/sample.cpp"), expect![[""]]);
}

#[test]
fn csharp_is_split_by_its_definitions() {
    check("cs", include_str!("../../../../fuzz/seeds/code/sample.cs"), expect![[""]]);
}

#[test]
fn ruby_is_split_by_its_definitions() {
    check("rb", include_str!("../../../../fuzz/seeds/code/sample.rb"), expect![[""]]);
}

#[test]
fn php_is_split_by_its_definitions() {
    check("php", include_str!("../../../../fuzz/seeds/code/sample.php"), expect![[""]]);
}

#[test]
fn shell_is_split_by_its_definitions() {
    check("sh", include_str!("../../../../fuzz/seeds/code/sample.sh"), expect![[""]]);
}

#[test]
fn sql_is_split_by_its_definitions() {
    check("sql", include_str!("../../../../fuzz/seeds/code/sample.sql"), expect![[""]]);
}

#[test]
fn a_language_without_rules_is_cut_at_blank_lines() {
    let block = |n: usize| format!("proc step_{n} {{}} {{\n    puts {n}\n}}\n\n");
    let text: String = (0..300).map(block).collect();
    let tree = parse(Syntax::of("a.tcl").unwrap(), &text).tree;
    let parts = &tree.nodes[1..];
    assert_eq!(tree.nodes[0].lang.as_deref(), Some("tcl"));
    assert!(2 < parts.len() && tree.nodes[0].content.is_empty());
    assert!(parts.iter().all(|it| it.content.trim_start().starts_with("proc")));
    check("zig", "const a = 1;\n", expect![["Code (zig): const a = 1; | 1 from `const a = 1;`\n"]]);
}

#[test]
fn a_large_file_is_kept_in_parts() {
    let text = "fn a() {}\n".repeat(SPLIT_BYTES_MAX / 10 + 1);
    let parsed = parse(Syntax::of("a.rs").unwrap(), &text);
    assert_eq!(parsed.warnings[0].what, "more than 2 MiB; kept in parts, without its definitions");
    assert!(parsed.tree.nodes.len() < text.len() / 1000);
}

/// A bracket that is misread must not cost what comes after it.
#[test]
fn a_definition_at_the_margin_begins_anew() {
    let text = "fn a() {\n    b!({);\n}\n\nfn c() {}\n\nstruct D;\n";
    check("rs", text, expect![[""]]);
}
