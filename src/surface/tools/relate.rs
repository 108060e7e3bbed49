//! `MemoryRelate` and `MemoryUnrelate`: edges by hand.

use serde_json::{Value, json};

use crate::mcp::Args;
use crate::memory::{Answer, Error, Memory, Relate};
use crate::model::links::reference::WEIGHT_DEFAULT;
use crate::query::render::one_line;
use crate::store::Edge;

pub(super) fn relate(memory: &Memory, args: &Args) -> Result<Answer, Error> {
    let ask = ask(args);
    let edge = memory.relate(&ask)?;
    let text = match &edge {
        Edge::Resolved(id) => format!("edge created (resolved): {} -> {id}", ask.source),
        Edge::Pending(ids) => {
            let name = one_line(ask.name());
            let text = format!("edge created (pending): {} -> \"{name}\"", ask.source);
            match ids.is_empty() {
                true => text,
                false => format!("{text}, one of {}", ids.join(", ")),
            }
        }
    };
    Ok(Answer { text, structured: memory.output().json(|| facts(&ask, &edge, true)) })
}

pub(super) fn unrelate(memory: &Memory, args: &Args) -> Result<Answer, Error> {
    let ask = ask(args);
    let edge = memory.unrelate(&ask)?;
    let text = match &edge {
        Edge::Resolved(id) => format!("edge removed: {} -> {id}", ask.source),
        Edge::Pending(_) => {
            format!("edge removed: {} -> \"{}\"", ask.source, one_line(ask.name()))
        }
    };
    Ok(Answer { text, structured: memory.output().json(|| facts(&ask, &edge, false)) })
}

fn ask(args: &Args) -> Relate<'_> {
    Relate {
        source: args.text("source_id").unwrap_or_default(),
        target_id: args.text("target_id"),
        target_label: args.text("target_label"),
        target_source: args.text("target_source"),
        weight: args.number("weight").unwrap_or(WEIGHT_DEFAULT),
    }
}

fn facts(ask: &Relate<'_>, edge: &Edge, is_there: bool) -> Value {
    let mut facts = json!({ "source": ask.source, "resolved": matches!(edge, Edge::Resolved(_)) });
    match edge {
        Edge::Resolved(id) => facts["target"] = json!(id),
        Edge::Pending(ids) => {
            facts["name"] = json!(one_line(ask.name()));
            if !ids.is_empty() {
                facts["candidates"] = json!(ids);
            }
        }
    }
    if is_there {
        facts["weight"] = json!(ask.weight);
    }
    facts
}

pub(super) fn output() -> Value {
    let properties = json!({"source": {"type": "string"}, "resolved": {"type": "boolean"}});
    json!({"type": "object", "properties": properties, "required": ["source", "resolved"]})
}
