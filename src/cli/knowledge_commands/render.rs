//! Knowledge as lines for people.

use serde_json::Value;

use crate::cli::args::KnowledgeCommand;
use crate::cli::color::{PaintedText, TextRole};
use crate::cli::tool_advice_rewording::with_commands;
use crate::query::render::to_label;

/// Characters of a text on one line, at most.
const TEXT_CHARS_MAX: usize = 300;

/// Returns the lines of an answer.
pub(super) fn lines_of(task: KnowledgeCommand, answer: &Value) -> PaintedText {
    let mut out = PaintedText::default();
    let rows = |key: &str| answer[key].as_array().into_iter().flatten();
    match task {
        KnowledgeCommand::Topics => {
            for it in rows("topics") {
                let (episodes, concepts) = (&it["episodes"], &it["concepts"]);
                let facts =
                    format!("{} {episodes} episodes, {concepts} concepts", id_of(&it["id"]));
                push_line(&mut out, &text(&it["name"]), &facts);
            }
        }
        KnowledgeCommand::Entities => {
            for it in rows("entities") {
                let name = format!("{}:{}", text(&it["type"]), text(&it["name"]));
                let facts = format!("{} {} mentions", id_of(&it["id"]), it["mentions"]);
                push_line(&mut out, &name, &facts);
            }
        }
        KnowledgeCommand::Conflicts => {
            for it in rows("conflicts") {
                let state = format!("[{} {}]", text(&it["status"]), text(&it["severity"]));
                out.paint(TextRole::Type, &state);
                push_line(&mut out, &format!(" {}", text(&it["about"])), &id_of(&it["id"]));
                for fact in it["facts"].as_array().into_iter().flatten() {
                    let words = format!("  {}", text(&fact["text"]));
                    let deleted = if fact["deleted"] == true { "deleted " } else { "" };
                    push_line(&mut out, &words, &format!("{deleted}{}", id_of(&fact["id"])));
                }
            }
            let n_shown = rows("conflicts").count() as u64;
            let n_more = answer["total"].as_u64().unwrap_or(0).saturating_sub(n_shown);
            if 0 < n_more {
                out.push(&format!("{n_more} more conflicts\n"));
            }
        }
        _ => push_items(&mut out, answer),
    }
    if out.is_empty() {
        let none = match task {
            KnowledgeCommand::Topics => "no topics",
            KnowledgeCommand::Entities => "no entities",
            _ => "none",
        };
        out.push(&(with_commands(answer["note"].as_str().unwrap_or(none)) + "\n"));
    }
    out
}

fn push_items(out: &mut PaintedText, answer: &Value) {
    for it in answer["items"].as_array().into_iter().flatten() {
        let states = ["deleted", "archived"].map(|state| match it[state] == true {
            true => format!(" {state}"),
            false => String::new(),
        });
        out.paint(TextRole::Type, &format!("[{}{}]", text(&it["kind"]), states.concat()));
        let facts = format!("(id={} score={} {})", text(&it["id"]), it["score"], text(&it["why"]));
        let (title, content) = (text(&it["title"]), text(&it["text"]));
        push_line(out, &format!(" {title}"), &facts);
        if content != title && it["facts"].is_null() {
            out.push(&format!("  {content}\n"));
        }
        for fact in it["facts"].as_array().into_iter().flatten() {
            out.push(&format!("  {}: {}\n", text(&fact["status"]), text(&fact["text"])));
        }
        if let Some(advice) = it["cut"].as_str() {
            out.paint(TextRole::Dim, &format!("  … {}", with_commands(advice)));
            out.push("\n");
        }
    }
    if let Some(n) = answer["left_out"].as_u64().filter(|it| 0 < *it) {
        out.paint(TextRole::Dim, &format!("… {n} more"));
        out.push("\n");
    }
    if let Some(hint) = answer["hint"].as_str() {
        out.paint(TextRole::Dim, &with_commands(hint));
        out.push("\n");
    }
}

/// Adds a text and the facts about it as one line.
fn push_line(out: &mut PaintedText, words: &str, facts: &str) {
    out.push(&format!("{words} "));
    out.paint(TextRole::Dim, facts);
    out.push("\n");
}

fn id_of(value: &Value) -> String {
    format!("(id={})", text(value))
}

/// Returns a text as a label, cut where it is long.
fn text(value: &Value) -> String {
    let label = to_label(value.as_str().unwrap_or_default());
    crate::text::truncate_chars(&label, TEXT_CHARS_MAX)
}
