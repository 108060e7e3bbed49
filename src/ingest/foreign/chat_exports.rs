//! Exports of chats: the conversations of ChatGPT and of Claude, one note each.
//!
//! An export is one list, whose conversations are read one at a time. Of a conversation that was
//! edited, the branch that was shown last is kept.

use std::fmt;
use std::io::BufRead;

use serde::Deserializer;
use serde::de::{SeqAccess, Visitor};
use serde_json::Value;

use super::agent_sessions::{minute, minute_of};
use super::{ForeignFileOrigin, ForeignNote, NoteCollector, spoken};
use crate::text::{self, LABEL_CHARS_MAX};

/// Messages of one conversation.
const MESSAGES_MAX: usize = 100_000;

/// A conversation as both exports give it.
struct ExportedChat {
    id: String,
    title: String,
    started: Option<String>,
    said: Vec<String>,
}

/// Reads an export of ChatGPT.
pub(super) fn read_chatgpt(
    file: &ForeignFileOrigin<'_>,
    input: &mut dyn BufRead,
    notes: &mut NoteCollector,
) {
    each_conversation(file, input, notes, chatgpt);
}

/// Reads an export of Claude.
pub(super) fn read_claude(
    file: &ForeignFileOrigin<'_>,
    input: &mut dyn BufRead,
    notes: &mut NoteCollector,
) {
    each_conversation(file, input, notes, claude);
}

fn each_conversation(
    file: &ForeignFileOrigin<'_>,
    input: &mut dyn BufRead,
    notes: &mut NoteCollector,
    read: fn(&Value) -> Result<ExportedChat, &'static str>,
) {
    let mut number = 0_usize;
    let mut take = |value: Value| {
        number += 1;
        match read(&value) {
            Ok(chat) => add(file, chat, notes),
            Err(why) => {
                notes.refuse(&format!("{}: conversation {number}", file.shown), why);
            }
        }
    };
    let mut json = serde_json::Deserializer::from_reader(input);
    let ended = json.deserialize_seq(ItemVisitor(&mut take)).and_then(|()| json.end());
    if let Err(error) = ended {
        notes.refuse(file.shown, super::why(&error));
    }
}

/// Hands on the items of a list as they are read.
struct ItemVisitor<'a>(&'a mut dyn FnMut(Value));

impl<'de> Visitor<'de> for ItemVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of conversations")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element()? {
            (self.0)(item);
        }
        Ok(())
    }
}

fn add(file: &ForeignFileOrigin<'_>, chat: ExportedChat, notes: &mut NoteCollector) {
    if chat.said.is_empty() {
        return;
    }
    let day = chat.started.as_deref().map_or("", |it| it.get(..10).unwrap_or(it));
    let title = match chat.title.trim() {
        "" => "Conversation",
        title => title,
    };
    let title = text::truncate_chars(format!("{day} {title}").trim(), LABEL_CHARS_MAX);
    let started = chat.started.as_deref().map(|it| format!(" of {}", it.replace('T', " ")));
    let head = format!("{} conversation{}", file.source.name, started.unwrap_or_default());
    let texts = [vec![head], chat.said].concat();
    let started = chat.started;
    notes.add(ForeignNote { key: chat.id, title: Some(title), texts, started });
}

fn chatgpt(chat: &Value) -> Result<ExportedChat, &'static str> {
    let text = |key: &str| chat.get(key).and_then(Value::as_str);
    let mapping = chat.get("mapping").and_then(Value::as_object).ok_or("no `mapping`")?;
    let id = text("conversation_id").or_else(|| text("id")).ok_or("no `conversation_id`")?;
    let mut said = Vec::new();
    let mut at = text("current_node").or_else(|| last_of(mapping));
    // Parents that form a circle end, too.
    for _ in 0..mapping.len().min(MESSAGES_MAX) {
        let Some(node) = at.and_then(|it| mapping.get(it)) else { break };
        said.extend(node.get("message").and_then(chatgpt_message));
        at = node.get("parent").and_then(Value::as_str);
    }
    said.reverse();
    let started = chat.get("create_time").and_then(Value::as_f64);
    Ok(ExportedChat {
        id: id.to_owned(),
        title: text("title").unwrap_or_default().to_owned(),
        started: started.map(|it| minute_of((it * 1000.0) as i64)),
        said,
    })
}

/// Returns the last message that no other follows, by its time.
fn last_of(mapping: &serde_json::Map<String, Value>) -> Option<&str> {
    let time = |node: &Value| node.pointer("/message/create_time").and_then(Value::as_f64);
    let is_leaf = |node: &Value| {
        node.get("children").and_then(Value::as_array).is_none_or(|it| it.is_empty())
    };
    let leaves = mapping.iter().filter(|(_, it)| is_leaf(it));
    let last = leaves.max_by(|a, b| time(a.1).unwrap_or(0.0).total_cmp(&time(b.1).unwrap_or(0.0)));
    last.map(|(id, _)| id.as_str())
}

/// Returns what a person or the model said; nothing of the system, of tools, or to them.
fn chatgpt_message(message: &Value) -> Option<String> {
    let is_hidden = message.pointer("/metadata/is_visually_hidden_from_conversation");
    let recipient = message.get("recipient").and_then(Value::as_str).unwrap_or("all");
    if is_hidden == Some(&Value::Bool(true)) || recipient != "all" {
        return None;
    }
    let speaker = match message.pointer("/author/role")?.as_str()? {
        "user" => "User",
        "assistant" => "Assistant",
        _ => return None,
    };
    let content = message.get("content")?;
    match content.get("content_type").and_then(Value::as_str) {
        Some("text" | "multimodal_text") => (),
        _ => return None,
    }
    let parts = content.get("parts")?.as_array()?;
    let words = parts.iter().filter_map(|it| it.as_str().or_else(|| it.get("text")?.as_str()));
    let words: Vec<&str> = words.filter(|it| !it.trim().is_empty()).collect();
    (!words.is_empty()).then(|| spoken(speaker, &words.join("\n\n")))
}

fn claude(chat: &Value) -> Result<ExportedChat, &'static str> {
    let text = |key: &str| chat.get(key).and_then(Value::as_str);
    let id = text("uuid").ok_or("no `uuid`")?;
    let messages = chat.get("chat_messages").and_then(Value::as_array);
    let messages = messages.ok_or("no `chat_messages`")?;
    let said = messages.iter().take(MESSAGES_MAX).filter_map(|message| {
        let speaker = match message.get("sender")?.as_str()? {
            "human" => "User",
            "assistant" => "Assistant",
            _ => return None,
        };
        let blocks = message.get("content").and_then(Value::as_array);
        let blocks: Vec<&str> = blocks
            .into_iter()
            .flatten()
            .filter(|it| it.get("type").and_then(Value::as_str) == Some("text"))
            .filter_map(|it| it.get("text")?.as_str())
            .collect();
        let words = match blocks.is_empty() {
            true if message.get("content").is_none() => message.get("text")?.as_str()?.to_owned(),
            _ => blocks.join("\n\n"),
        };
        (!words.trim().is_empty()).then(|| spoken(speaker, &words))
    });
    Ok(ExportedChat {
        id: id.to_owned(),
        title: text("name").unwrap_or_default().to_owned(),
        started: text("created_at").and_then(minute),
        said: said.collect(),
    })
}
