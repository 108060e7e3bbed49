//! Transcripts: conversations between people and models, as coding agents log them, one record a
//! turn.
//!
//! A turn's content is its message, character by character. Everything else in the record (times,
//! ids, the calls of tools) is a child beside it, in which `|` replaces the message.

use super::label;
use super::value_tree::{ValueArena, ValueKind, ValueNodes, preview};
use crate::model::tree::Node;
use crate::text;

/// Roles of the speakers.
const ROLES: [&str; 9] =
    ["user", "assistant", "system", "tool", "developer", "human", "ai", "model", "function"];

/// The location of the message in the record of a turn.
struct TurnMessageLocation {
    /// The role of the speaker.
    role: String,
    /// The map that has the content.
    message: usize,
    content: usize,
}

/// Returns whether the record at `index` is a turn of a conversation.
pub(super) fn is_turn(data: &ValueArena<'_>, index: usize) -> bool {
    turn(data, index).is_some()
}

fn turn(data: &ValueArena<'_>, record: usize) -> Option<TurnMessageLocation> {
    let inner = [Some(record), data.get(record, "message"), data.get(record, "payload")];
    inner.into_iter().flatten().find_map(|message| {
        let content = data.get(message, "content")?;
        let has_text = match data.values[content].kind {
            ValueKind::Text | ValueKind::List => true,
            ValueKind::Bare => data.values[content].text == "null",
            ValueKind::Map | ValueKind::Comment | ValueKind::Raw => false,
        };
        let own = data.get_text(message, "role");
        let role = own.or_else(|| (message != record).then(|| data.get_text(record, "type"))?)?;
        let is_role = ROLES.iter().any(|it| role.eq_ignore_ascii_case(it));
        (has_text && is_role).then(|| TurnMessageLocation {
            role: role.to_owned(),
            message,
            content,
        })
    })
}

/// Adds the record at `index`, which is a turn.
pub(super) fn add(data: &mut ValueArena<'_>, index: usize, path: String, nodes: &mut ValueNodes) {
    let Some(turn) = turn(data, index) else { return };
    let (spoken_parts, what) = spoken_parts(data, turn.content);
    let words: Vec<&str> = spoken_parts.iter().map(|&it| &*data.values[it].text).collect();
    let content = words.join("\n\n");
    let who = match what {
        "" | "text" => turn.role.clone(),
        what => format!("{} ({what})", turn.role),
    };
    let first = match content.trim().is_empty() {
        false => label::first_line(&content),
        true => called(data, turn.content)
            .or_else(|| called(data, data.get(turn.message, "tool_calls")?))
            .unwrap_or_default(),
    };
    let node = Node {
        key_path: Some(path.clone()),
        span: data.values[index].span.clone(),
        label: label::titled(&who, &first),
        ..Node::default()
    };
    let parent = nodes.add_text(node, &content);
    for &it in &spoken_parts {
        data.values[it].is_taken = true;
    }
    // The label begins with the role; a turn with nothing else needs no second node.
    let is_plain =
        data.values[index].n == 2 && turn.message == index && data.values[turn.content].is_taken;
    if is_plain {
        return;
    }
    let fields = nodes.tree.nodes.len();
    nodes.add_compact(data, index, Some(parent), Some(path));
    let keys: Vec<&str> =
        data.children(index).filter_map(|it| data.values[it].key.as_deref()).take(40).collect();
    nodes.tree.nodes[fields].label =
        label::titled("fields", &text::fold_whitespace(&keys.join(", ")));
}

/// Returns the strings of the message, and the kind of block that the first one is from.
fn spoken_parts<'a>(data: &'a ValueArena<'_>, content: usize) -> (Vec<usize>, &'a str) {
    let mut spoken_parts = Vec::new();
    let mut what = "";
    let mut take = |index: Option<usize>, kind: &'a str| {
        let taken = index.filter(|&it| {
            data.values[it].kind == ValueKind::Text && !data.values[it].text.is_empty()
        });
        if spoken_parts.is_empty() && taken.is_some() {
            what = kind;
        }
        spoken_parts.extend(taken);
    };
    if data.values[content].kind == ValueKind::Text {
        take(Some(content), "text");
        return (spoken_parts, what);
    }
    for block in data.children(content) {
        match data.get_text(block, "type") {
            Some("text" | "input_text" | "output_text") => take(data.get(block, "text"), "text"),
            Some("thinking") => take(data.get(block, "thinking"), "thinking"),
            Some("tool_result") => {
                let Some(result) = data.get(block, "content") else { continue };
                take(Some(result), "tool result");
                for inner in data.children(result) {
                    take(data.get(inner, "text"), "tool result");
                }
            }
            Some(_) => (),
            None => take(Some(block), "text"),
        }
    }
    (spoken_parts, what)
}

/// Returns the first tool that is called, with its arguments.
fn called(data: &ValueArena<'_>, list: usize) -> Option<String> {
    data.children(list).find_map(|block| {
        let call = data.get(block, "function").unwrap_or(block);
        let name = data.get_text(call, "name")?;
        let given = data.get(call, "input").or_else(|| data.get(call, "arguments"));
        let given = given.map(|it| preview(data, it)).unwrap_or_default();
        Some(format!("{name} {given}").trim_end().to_owned())
    })
}
