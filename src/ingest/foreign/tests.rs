//! Tests that a hostile file costs no more than its length.

use std::io::Cursor;

use super::*;

/// Reads a text as a file of a program.
fn read(name: &str, path: &str, text: &str) -> NoteCollector {
    let source = ImportableProgram::named(name).unwrap();
    let file = ForeignFileOrigin { path, shown: "shown", project: None, source };
    let mut notes = NoteCollector::default();
    let reader = (source.reader)(path).unwrap();
    reader(&file, &mut Cursor::new(text.as_bytes()), &mut notes);
    notes.finish();
    notes
}

#[test]
fn a_file_that_is_too_large_is_not_called_broken() {
    let read = |text: &str| json_records::value_within(&mut Cursor::new(text.as_bytes()), 8);
    assert_eq!(read("[1, 2]"), Ok(serde_json::json!([1, 2])));
    assert_eq!(read("[1, 2, 3]"), Err("it has more than 8 bytes".to_owned()));
    assert_eq!(
        read("[1, 2"),
        Err("no JSON: EOF while parsing a list at line 1 column 5".to_owned())
    );
}

#[test]
fn many_notes_with_one_key_are_numbered() {
    const N_NOTES: usize = 30_000;
    let line = |id: &str| format!("{{\"memory\": \"One.\", \"id\": \"{id}\"}}\n");
    let text = [line("a (3)"), line("a").repeat(N_NOTES)].concat();
    let notes = read("mem0", "facts.jsonl", &text).notes;
    let keys: Vec<&str> = notes.iter().take(5).map(|it| it.key.as_str()).collect();
    assert_eq!(keys, ["a (3)", "a", "a (2)", "a (4)", "a (5)"]);
    assert_eq!(notes.last().unwrap().key, format!("a ({})", N_NOTES + 1));
}

#[test]
fn many_observations_of_an_entity_are_kept_once_each_and_in_order() {
    const N_OBSERVATIONS: usize = 60_000;
    let said: Vec<String> = (0..N_OBSERVATIONS).map(|nth| format!("\"{nth:030}\"")).collect();
    let line = format!(
        "{{\"type\": \"entity\", \"name\": \"A\", \"observations\": [{}]}}\n",
        said.join(", ")
    );
    let notes = read("server-memory", "memory.jsonl", &line.repeat(2)).notes;
    let list = notes[0].texts.last().unwrap();
    assert_eq!(list.lines().count(), N_OBSERVATIONS);
    assert!(list.starts_with(&format!("- {:030}\n- {:030}\n", 0, 1)));
}
