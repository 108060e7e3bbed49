//! Archives of Cognee: a folder with one file of JSON Lines a kind of record.
//!
//! Entities and facts become notes with links; nodes without a kind of their own are passed over.

use std::io::BufRead;

use serde_json::Value;

use super::agent_sessions::minute;
use super::entity_graph::GraphRelation;
use super::json_records::each_record;
use super::{
    ForeignFileOrigin, ForeignNote, ForeignReader, NoteCollector, file_name, mem0, spoken,
};

/// Returns the reader of a file of an archive.
pub(super) fn reader_of(path: &str) -> Option<ForeignReader> {
    const FILES: [&str; 6] =
        ["documents", "episodes", "entities", "facts", "memories", "memory_blocks"];
    let stem = file_name(path).strip_suffix(".jsonl")?;
    FILES.contains(&stem).then_some(read)
}

fn read(file: &ForeignFileOrigin<'_>, input: &mut dyn BufRead, notes: &mut NoteCollector) {
    each_record(file, input, notes, &mut |record, place, notes| {
        if let Err(why) = add(&record, notes) {
            notes.refuse(place, why);
        }
    });
}

fn add(record: &Value, notes: &mut NoteCollector) -> Result<(), String> {
    let kind = text(record, "kind")?;
    let system = maybe(record, "external_system").unwrap_or("unknown");
    let key = || text(record, "external_id").map(|it| format!("{system}:{kind}:{it}"));
    let title = |name: &str| maybe(record, name).map(str::to_owned);
    let scope = record.get("scope").unwrap_or(&Value::Null);
    let note = match kind {
        "document" => {
            let texts = vec![text(record, "content")?.to_owned()];
            ForeignNote { key: key()?, title: title("title"), texts, started: None }
        }
        "memory" => {
            let (content, categories) = (text(record, "content")?, strings(record, "categories"));
            let texts = vec![mem0::fact(content, record, scope, &categories)];
            ForeignNote { key: key()?, title: None, texts, started: None }
        }
        "memory_block" => {
            let texts = vec![text(record, "value")?.to_owned()];
            ForeignNote { key: key()?, title: title("label"), texts, started: None }
        }
        "episode" => {
            let started = maybe(record, "created_at").and_then(minute);
            let day = started.as_deref().map_or("", |it| &it[..10]);
            let title = format!("{day} {}", maybe(record, "title").unwrap_or("Conversation"));
            let title = Some(title.trim().to_owned());
            ForeignNote { key: key()?, title, texts: turns(record), started }
        }
        "entity" => return entity(record, notes),
        "fact" => return relation(record, notes),
        other => return Err(format!("no kind of record `{other}`")),
    };
    notes.add(note);
    Ok(())
}

/// Returns what people and agents said; no prompts of the system, and no output of tools.
fn turns(episode: &Value) -> Vec<String> {
    let turns = episode.get("turns").and_then(Value::as_array);
    let said = turns.into_iter().flatten().filter_map(|turn| {
        let role = match turn.get("role")?.as_str()? {
            "user" | "human" => "User",
            "assistant" | "ai" | "model" | "agent" => "Assistant",
            _ => return None,
        };
        Some(spoken(role, turn.get("content")?.as_str()?))
    });
    said.collect()
}

fn entity(record: &Value, notes: &mut NoteCollector) -> Result<(), String> {
    let name = text(record, "name")?;
    let also = strings(record, "aliases");
    let also = (!also.is_empty()).then(|| format!("also called {}", also.join(", ")));
    let said = maybe(record, "description").map(str::to_owned).into_iter().chain(also);
    notes.graph.entity(name, maybe(record, "entity_type"), said.collect());
    if let Some(id) = maybe(record, "external_id") {
        notes.graph.alias(id, name);
    }
    Ok(())
}

fn relation(record: &Value, notes: &mut NoteCollector) -> Result<(), String> {
    let name = text(record, "predicate")?.replace('_', " ");
    let valid = [("valid_at", "from"), ("invalid_at", "until")].map(|(key, word)| {
        maybe(record, key).and_then(minute).map(|it| format!("{word} {}", &it[..10]))
    });
    let said = maybe(record, "fact_text").map(str::to_owned).into_iter();
    let said: Vec<String> = said.chain(valid.into_iter().flatten()).collect();
    let note = (!said.is_empty()).then(|| said.join(", "));
    let target = text(record, "object_ref")?.to_owned();
    notes.graph.relation(text(record, "subject_ref")?, GraphRelation { name, target, note });
    Ok(())
}

fn maybe<'a>(record: &'a Value, key: &str) -> Option<&'a str> {
    record.get(key).and_then(Value::as_str).filter(|it| !it.trim().is_empty())
}

fn text<'a>(record: &'a Value, key: &str) -> Result<&'a str, String> {
    maybe(record, key).ok_or_else(|| format!("no `{key}`"))
}

fn strings<'a>(record: &'a Value, key: &str) -> Vec<&'a str> {
    let list = record.get(key).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}
