//! Short facts: the memories of mem0, one note each.

use std::io::BufRead;

use serde_json::Value;

use super::agent_sessions::minute;
use super::json_records::{each_record, whole_value};
use super::{ForeignFileOrigin, ForeignNote, NoteCollector};

/// Keys under which a list of memories may lie.
const LISTS: [&str; 3] = ["results", "memories", "items"];

/// Keys under which the text of a memory may lie.
const TEXTS: [&str; 4] = ["memory", "text", "data", "content"];

/// Keys that say whose a memory is.
const OWNERS: [(&str, &str); 4] =
    [("user_id", "user"), ("agent_id", "agent"), ("run_id", "run"), ("session_id", "session")];

/// Reads what `get_all` returns, or an export of the platform.
pub(super) fn read_mem0(
    file: &ForeignFileOrigin<'_>,
    input: &mut dyn BufRead,
    notes: &mut NoteCollector,
) {
    let Some(value) = whole_value(file, input, notes) else { return };
    let lists = LISTS.iter().filter_map(|it| value.get(it)).chain([&value]);
    let Some(list) = lists.filter_map(Value::as_array).next() else {
        return notes.refuse(file.shown, "no list of memories under `results`");
    };
    for (nth, memory) in list.iter().enumerate() {
        add(memory, &format!("{}: memory {}", file.shown, nth + 1), notes);
    }
}

/// Reads memories, one a line.
pub(super) fn read_mem0_lines(
    file: &ForeignFileOrigin<'_>,
    input: &mut dyn BufRead,
    notes: &mut NoteCollector,
) {
    each_record(file, input, notes, &mut |record, place, notes| add(&record, place, notes));
}

fn add(memory: &Value, place: &str, notes: &mut NoteCollector) {
    let text = TEXTS.iter().find_map(|it| memory.get(it)?.as_str());
    let Some(text) = text.filter(|it| !it.trim().is_empty()) else {
        return notes.refuse(place, "no text under `memory`");
    };
    let categories = memory.get("categories").and_then(Value::as_array);
    let categories: Vec<&str> =
        categories.into_iter().flatten().filter_map(Value::as_str).collect();
    let id = memory.get("id").and_then(Value::as_str).unwrap_or(text);
    notes.add(ForeignNote {
        key: id.to_owned(),
        title: None,
        texts: vec![fact(text, memory, memory, &categories)],
        ..ForeignNote::default()
    });
}

/// Returns the text of a fact, with a last line of its owner, day and categories.
pub(super) fn fact(text: &str, record: &Value, scope: &Value, categories: &[&str]) -> String {
    let at = |key: &str| record.get(key).and_then(Value::as_str).and_then(minute);
    let day = at("updated_at").or_else(|| at("created_at")).map(|it| it[..10].to_owned());
    let owners = OWNERS.iter().filter_map(|(key, name)| {
        let id = scope.get(key)?.as_str().filter(|it| !it.is_empty())?;
        Some(format!("{name} {id}"))
    });
    let categories = (!categories.is_empty()).then(|| categories.join(", "));
    let facts: Vec<String> = owners.chain(day).chain(categories).collect();
    match facts.is_empty() {
        true => text.trim().to_owned(),
        false => format!("{}\n({})", text.trim(), facts.join("; ")),
    }
}
