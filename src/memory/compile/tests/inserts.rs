//! Tests for inserts: nodes added together equal nodes added one by one. Every compile here is
//! followed by a check of the whole database: fingerprint, index, references.

use super::*;

/// Returns a note with headings, lists and code, with texts that repeat in it and in other notes.
fn note(nth: usize, n_parts: usize) -> String {
    let part = |part: usize| {
        let own = format!("Note {nth} says {part} and {}.", "so on ".repeat(40));
        let code = format!("```sh\nrun {nth} {part}\n```");
        format!(
            "## Part {part}\n\n{own}\n\nThe same everywhere.\n\n- a\n- b\n\n{code}\n\n### Notes\n\n"
        )
    };
    let parts: Vec<String> = (0..n_parts).map(part).collect();
    format!("# Note {nth}\n\nSee [[Note {}]].\n\n{}", nth + 1, parts.concat())
}

fn path(nth: usize) -> String {
    format!("{nth:02}.md")
}

#[test]
fn files_compiled_together_are_what_they_are_one_by_one() {
    let (together, alone) = (Notes::new(), Notes::new());
    for nth in 0..24 {
        together.write(&path(nth), &note(nth, 18));
        alone.write(&path(nth), &note(nth, 18));
        alone.try_compile(&path(nth)).unwrap();
    }
    let report = together.compile();
    assert_eq!(report.added, together.nodes().len());
    assert_eq!(together.nodes(), alone.nodes());
    assert_eq!(together.fingerprint(), alone.fingerprint());
}

/// Returns the schema of the database.
fn schema(notes: &Notes) -> Vec<String> {
    const SCHEMA: &str = "SELECT type || ' ' || name || ' ' || ifnull(sql, '') FROM sqlite_schema";
    let conn = rusqlite::Connection::open(notes.dir.path().join("memory.db")).unwrap();
    let mut query = conn.prepare(SCHEMA).unwrap();
    let rows = query.query_map([], |row| row.get(0)).unwrap();
    let mut schema: Vec<String> = rows.collect::<Result<_, _>>().unwrap();
    schema.sort();
    schema
}

#[test]
fn indexes_dropped_for_a_large_write_are_rebuilt() {
    let notes = Notes::new();
    let before = schema(&notes);
    assert!(before.iter().any(|it| it.starts_with("index node_by_name ")));
    for edition in 0..2 {
        for nth in 0..24 {
            notes.write(&path(nth), &note(nth + edition, 18));
        }
        let report = notes.compile();
        assert!(0 < report.added + report.modified);
        assert_eq!(schema(&notes), before);
    }
}

#[test]
fn nodes_born_between_others_that_change_move_and_go_are_counted_once() {
    let notes = Notes::new();
    let parts =
        |nth: usize| note(nth, 18).split_inclusive("### Notes\n\n").map(str::to_owned).collect();
    let write = |edit: &dyn Fn(usize, Vec<String>) -> Vec<String>| {
        for nth in 0..24 {
            notes.write(&path(nth), &edit(nth, parts(nth)).concat());
        }
        notes.compile()
    };
    write(&|_, parts| parts);
    let (nodes, fingerprint) = (notes.nodes(), notes.fingerprint());
    // New blocks under each old heading, between old ones, and old ones below new ones.
    let report = write(&|nth, mut parts| {
        for (at, part) in parts.iter_mut().enumerate() {
            part.push_str(&format!("New {nth} {at}.\n\nThe same everywhere.\n\n"));
        }
        let moved = parts.remove(3);
        parts.insert(9, format!("## New {nth}\n\n#{moved}"));
        parts.remove(5);
        parts
    });
    assert!(0 < report.added && 0 < report.modified && 0 < report.removed, "{report}");
    write(&|_, parts| parts);
    assert_eq!(notes.nodes(), nodes);
    assert_eq!(notes.fingerprint(), fingerprint);
}
