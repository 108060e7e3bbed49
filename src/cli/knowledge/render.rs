//! Knowledge as lines for people.

use std::fmt::Write;

use serde_json::Value;

use crate::cli::args::KnowledgeTask;
use crate::cli::color::{ColorSupport, TextRole};
use crate::cli::tool_advice_rewording::with_commands;
use crate::query::render::to_one_line;

/// Characters of a text on one line, at most.
const TEXT_CHARS_MAX: usize = 300;

/// Returns the lines of an answer.
pub(super) fn lines_of(task: KnowledgeTask, answer: &Value, paint: ColorSupport) -> String {
    let mut out = String::new();
    let rows = |key: &str| answer[key].as_array().cloned().unwrap_or_default();
    match task {
        KnowledgeTask::Topics => {
            for it in rows("topics") {
                let (name, id) = (text(&it["name"]), text(&it["id"]));
                let (episodes, concepts) = (&it["episodes"], &it["concepts"]);
                let facts = format!("(id={id}) {episodes} episodes, {concepts} concepts");
                let _ = writeln!(out, "{name} {}", paint.paint(TextRole::Dim, &facts));
            }
        }
        KnowledgeTask::Entities => {
            for it in rows("entities") {
                let name = format!("{}:{}", text(&it["type"]), text(&it["name"]));
                let facts = format!("(id={}) {} mentions", text(&it["id"]), it["mentions"]);
                let _ = writeln!(out, "{name} {}", paint.paint(TextRole::Dim, &facts));
            }
        }
        KnowledgeTask::Conflicts => {
            for it in rows("conflicts") {
                let state = format!("[{} {}]", text(&it["status"]), text(&it["severity"]));
                let id = format!("(id={})", text(&it["id"]));
                let (state, id) =
                    (paint.paint(TextRole::Type, &state), paint.paint(TextRole::Dim, &id));
                let _ = writeln!(out, "{state} {} {id}", text(&it["about"]));
                for fact in it["facts"].as_array().into_iter().flatten() {
                    let id = paint.paint(TextRole::Dim, &format!("(id={})", text(&fact["id"])));
                    let _ = writeln!(out, "  {} {id}", text(&fact["text"]));
                }
            }
        }
        _ => items(answer, paint, &mut out),
    }
    if out.is_empty() {
        let none = match task {
            KnowledgeTask::Topics => "no topics",
            KnowledgeTask::Entities => "no entities",
            _ => "none",
        };
        out = with_commands(answer["note"].as_str().unwrap_or(none)) + "\n";
    }
    out
}

fn items(answer: &Value, paint: ColorSupport, out: &mut String) {
    for it in answer["items"].as_array().into_iter().flatten() {
        let kind = paint.paint(TextRole::Type, &format!("[{}]", text(&it["kind"])));
        let facts = format!("(id={} score={} {})", text(&it["id"]), it["score"], text(&it["why"]));
        let facts = paint.paint(TextRole::Dim, &facts);
        let (title, content) = (text(&it["title"]), text(&it["text"]));
        let _ = writeln!(out, "{kind} {title} {facts}");
        if content != title && it["facts"].is_null() {
            let _ = writeln!(out, "  {content}");
        }
        for fact in it["facts"].as_array().into_iter().flatten() {
            let _ = writeln!(out, "  {}: {}", text(&fact["status"]), text(&fact["text"]));
        }
    }
    if let Some(n) = answer["left_out"].as_u64().filter(|it| 0 < *it) {
        let line = format!("… {n} more");
        let _ = writeln!(out, "{}", paint.paint(TextRole::Dim, &line));
    }
    if let Some(hint) = answer["hint"].as_str() {
        let _ = writeln!(out, "{}", paint.paint(TextRole::Dim, hint));
    }
}

/// Returns a text on one line, cut where it is long.
fn text(value: &Value) -> String {
    let line = to_one_line(value.as_str().unwrap_or_default()).to_string();
    crate::text::truncate_chars(&line, TEXT_CHARS_MAX)
}
