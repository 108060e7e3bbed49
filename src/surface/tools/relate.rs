//! `MemoryRelate` and `MemoryUnrelate`: manual references.

use serde_json::{Value, json};

use crate::mcp::Args;
use crate::memory::{Answer, Error, Memory, RelateRequest};
use crate::model::links::reference::WEIGHT_DEFAULT;
use crate::query::render::{to_one_line, to_quote};
use crate::store::ManualEdgeResolution;

pub(super) fn relate(memory: &Memory, args: &Args) -> Result<Answer, Error> {
    let request = request(args);
    let edge = memory.relate(&request)?;
    let text = match &edge {
        ManualEdgeResolution::Resolved(id) => {
            format!("edge created (resolved): {} -> {id}", request.source)
        }
        ManualEdgeResolution::Pending(ids) => {
            let name = to_quote(request.target_name());
            let text = format!("edge created (pending): {} -> {name}", request.source);
            match ids.is_empty() {
                true => text,
                false => format!("{text}, one of {}", ids.join(", ")),
            }
        }
    };
    Ok(Answer::plain(text, memory.output(), || facts(&request, &edge, true)))
}

pub(super) fn unrelate(memory: &Memory, args: &Args) -> Result<Answer, Error> {
    let request = request(args);
    let edge = memory.unrelate(&request)?;
    let text = match &edge {
        ManualEdgeResolution::Resolved(id) => format!("edge removed: {} -> {id}", request.source),
        ManualEdgeResolution::Pending(_) => {
            format!("edge removed: {} -> {}", request.source, to_quote(request.target_name()))
        }
    };
    Ok(Answer::plain(text, memory.output(), || facts(&request, &edge, false)))
}

fn request(args: &Args) -> RelateRequest<'_> {
    RelateRequest {
        source: args.text("source_id").unwrap_or_default(),
        target_id: args.text("target_id"),
        target_label: args.text("target_label"),
        target_source: args.text("target_source"),
        weight: args.number("weight").unwrap_or(WEIGHT_DEFAULT),
    }
}

fn facts(request: &RelateRequest<'_>, edge: &ManualEdgeResolution, is_there: bool) -> Value {
    let is_resolved = matches!(edge, ManualEdgeResolution::Resolved(_));
    let mut facts = json!({ "source": request.source, "resolved": is_resolved });
    match edge {
        ManualEdgeResolution::Resolved(id) => facts["target"] = json!(id),
        ManualEdgeResolution::Pending(ids) => {
            facts["name"] = json!(to_one_line(request.target_name()));
            if !ids.is_empty() {
                facts["candidates"] = json!(ids);
            }
        }
    }
    if is_there {
        facts["weight"] = json!(request.weight);
    }
    facts
}

pub(super) fn output() -> Value {
    let properties = json!({"source": {"type": "string"}, "resolved": {"type": "boolean"}});
    json!({"type": "object", "properties": properties, "required": ["source", "resolved"]})
}
