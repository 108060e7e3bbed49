//! Tests each rule against a source that breaks it: a rule that cannot fail proves nothing.

use super::source::Source;

#[track_caller]
fn check(rule: fn(&[Source]) -> Vec<String>, files: &[(&str, &str)], complaint: &str) {
    let sources: Vec<Source> = files.iter().map(|(path, text)| Source::new(path, text)).collect();
    let complaints = rule(&sources);
    assert!(complaints.iter().any(|it| it.contains(complaint)), "{complaints:#?}");
}

#[test]
fn an_upward_import_is_reported() {
    let files = [("store.rs", "use crate::query::Answer;"), ("query.rs", "pub struct Answer;")];
    check(super::upward_imports, &files, "store.rs must not import query.rs");
}

#[test]
fn an_engine_that_imports_the_memory_is_reported() {
    let files =
        [("mcp/queued_request.rs", "fn run() { crate::memory::open() }"), ("memory.rs", "")];
    check(super::upward_imports, &files, "mcp/queued_request.rs must not import memory.rs");
}

#[test]
fn an_unknown_room_is_reported() {
    check(super::upward_imports, &[("attic/box.rs", "")], "`attic` is none of ROOMS");
}

#[test]
fn a_circle_of_two_is_reported() {
    let files =
        [("store/a.rs", "use super::b::{B, self};"), ("store/b.rs", "use crate::store::a::A;")];
    check(super::circles, &files, "a circle of files: store/a.rs, store/b.rs");
}

#[test]
fn a_circle_through_a_re_export_is_reported() {
    let files = [
        ("store.rs", "pub(crate) use c::C;"),
        ("store/a.rs", "use crate::store::b::B;"),
        ("store/b.rs", "use super::C;"),
        ("store/c.rs", "use super::a::A;"),
    ];
    check(super::circles, &files, "a circle of files: store/a.rs, store/b.rs, store/c.rs");
}

#[test]
fn a_name_outside_its_room_is_reported() {
    check(super::reserved_names, &[("query.rs", "use rusqlite::Row;")], "query.rs:1: `rusqlite`");
}

#[test]
fn a_resource_that_writes_is_reported() {
    let files = [("surface/resources.rs", "fn read(batch: &Batch) {}")];
    check(super::active_names, &files, "surface/resources.rs:1: `Batch`");
}

#[test]
fn a_file_without_a_header_is_reported() {
    check(super::silent_files, &[("text.rs", "fn fold() {}")], "text.rs: no `//!` header");
}

#[test]
fn a_long_function_is_reported() {
    let body = "    let _ = 1;\n".repeat(70);
    let text = format!("pub(super) fn endless() {{\n{body}}}\n");
    check(super::long_ones, &[("text.rs", &text)], "text.rs:1: `endless` has 72 lines; split it");
}

#[test]
fn a_headless_comment_is_reported() {
    let text = "//! Text.\n\n/// What a line is.\nfn line() {}\n";
    check(super::headless_comments, &[("text.rs", text)], "text.rs:3: `What …` names nothing");
    check(super::headless_comments, &[("a.rs", "//! The same as `b`.\n")], "a.rs:1: `The …`");
}

#[test]
fn a_public_name_of_two_things_is_reported() {
    let files = [("a.rs", "pub(crate) struct Found;"), ("b.rs", "pub const fn Found() {}")];
    check(super::public_names_used_twice, &files, "`Found` names two things: a.rs:1, b.rs:1");
}

#[test]
fn a_way_with_a_detour_is_reported() {
    let planted = |way: &str, complaint: &str| {
        let lib = format!("//! # Three ways through\n//!\n//! A note: {way}.\n//!\n//! # Glossary");
        check(super::broken_ways, &[("lib.rs", &lib), ("a.rs", ""), ("b.rs", "")], complaint);
    };
    planted("`a` → `c`", "A note: `c` is no file");
    planted("`a` → `b` → `a`", "A note: `a` is visited twice");
    planted(&["`b`"; 16].join(" → "), "A note: 16 files are a long way");
}
