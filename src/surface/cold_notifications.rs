//! Cold nodes as a notice, for the agent to summarize.

use serde_json::{Value, json};

use crate::mcp::{ClientLogNotice, LineWrittenCallback, Severity, ToolReply};
use crate::memory::Memory;
use crate::model::clock::Clock;
use crate::query::OutputFormat;
use crate::query::render::{to_label, to_one_line, to_value};
use crate::store::{ColdNode, ColdNodesOffer};
use crate::text::terminal_safe_json::json_text;
use crate::text::tokens;

/// The logger of the notice.
const LOGGER: &str = "remindb.temperature";

/// The tool that the notice asks to call; where it is not there, nothing is to be done.
const SUGGESTED: &str = "MemorySummarize";

const MESSAGE: &str = "These nodes went cold: nothing has read them for long. Keep what still \
                       matters of them with MemorySummarize.";

/// Tokens of a reply with a notice where the client gave no budget.
const REPLY_TOKENS_MAX: usize = 4000;

/// Tokens of the smallest notice, rounded down; with less room, none is looked for.
const NOTICE_TOKENS_MIN: usize = 40;

/// Tokens that joining two texts may cost.
const JOINT_TOKENS: usize = 4;

/// Returns a notice of cold nodes that no client has had, as many as fit beside the reply.
pub(super) fn notice(memory: &Memory, beside: Option<&ToolReply>) -> Option<ClientLogNotice> {
    if !memory.may_have_cold_nodes() || !memory.tools().has(SUGGESTED) {
        return None;
    }
    let room = beside.map(room);
    if room.is_some_and(|it| it < NOTICE_TOKENS_MIN) {
        // The next reply may have room.
        return None;
    }
    let offer = memory.cold_nodes().unwrap_or_else(|error| {
        log::warn!("cold nodes were not looked for: {error}");
        None
    });
    let mut offer = offer?;
    if let Some(room) = room {
        let n_fit = n_fit(offer.nodes(), room, memory.output());
        if n_fit == 0 {
            return None;
        }
        offer.truncate(n_fit);
    }
    let data = data(offer.nodes());
    let lines: Vec<String> = offer.nodes().iter().map(line).collect();
    let text = format!("{MESSAGE}\n{}", lines.join("\n"));
    let callback = callback(offer, memory.clock().clone());
    Some(ClientLogNotice { level: Severity::Warning, logger: LOGGER, data, text, callback })
}

fn callback(offer: ColdNodesOffer, clock: Clock) -> LineWrittenCallback {
    LineWrittenCallback::new(move || {
        if let Err(error) = offer.confirm(clock.now()) {
            log::warn!("cold nodes may be told of again: {error}");
        }
    })
}

/// Returns the tokens that a reply leaves for a notice.
fn room(reply: &ToolReply) -> usize {
    let most = reply.budget.map_or(REPLY_TOKENS_MAX, |it| it as usize);
    let structured = reply.structured.as_ref().map_or(0, |it| tokens::count(&json_text(it)));
    let n_tokens = tokens::count(&reply.text).max(structured);
    most.saturating_sub(n_tokens as usize + JOINT_TOKENS)
}

/// Returns the number of nodes that fit, in each form of the notice.
fn n_fit(nodes: &[ColdNode], room: usize, output: OutputFormat) -> usize {
    let longer = |text: &str, json: &Value| {
        let n_json = match output {
            OutputFormat::Text => 0,
            OutputFormat::Structured => tokens::count(&json_text(json)),
        };
        tokens::count(text).max(n_json) as usize + 1
    };
    let mut left = room.saturating_sub(longer(MESSAGE, &data(&[])));
    let fits = nodes.iter().map_while(|it| {
        left = left.checked_sub(longer(&line(it), &facts(it)))?;
        Some(())
    });
    fits.count()
}

/// Returns the notice as JSON.
fn data(nodes: &[ColdNode]) -> Value {
    let nodes: Vec<Value> = nodes.iter().map(facts).collect();
    json!({"message": MESSAGE, "suggested_action": SUGGESTED, "nodes": nodes})
}

fn line(node: &ColdNode) -> String {
    let ColdNode { id, label, file, temperature, .. } = node;
    let file = file.as_ref().map(|it| format!(" file={}", to_value(it))).unwrap_or_default();
    let label = to_label(label);
    format!("{label} (id={id}{file} temp={temperature:.2})")
}

fn facts(node: &ColdNode) -> Value {
    let ColdNode { id, label, file, temperature, .. } = node;
    let temperature = (temperature * 1e5).round() / 1e5;
    let file = to_one_line(file.as_deref().unwrap_or_default());
    json!({"id": id, "label": to_one_line(label), "file": file, "temperature": temperature})
}

#[cfg(test)]
mod tests;
