//! `MemoryConsolidate`: asks a person and a model where that is set up, else hands out a worksheet.
//!
//! Every question comes before any change, since a client of the modern era repeats the call with
//! its answers.

use std::time::Duration;

use crossbeam_channel::RecvTimeoutError;
use serde_json::{Map, Value, json};

use crate::mcp::{
    CallContext, ClientCapability, ElicitResult, HandlerError, ServerRequest, ServerRequestError,
};
use crate::memory::Memory;
use crate::memory::knowledge::consolidate::{DECIDED, has_episodes, with_failure};
use crate::memory::knowledge::{ApplyRequest, ConsolidateRequest, conflict_document};
use crate::memory::typed::MemoryError;
use crate::model::typed_node_field_schemas::knowledge::CONFLICT_STATES;

/// The key of the question to a person.
const WINNER: &str = "winner";
/// The key of the question to a client's model.
const ANSWER: &str = "answer";
/// A person's answer that neither fact is known to be right.
const UNKNOWN: &str = "unknown";
/// Tokens that a client's model may answer with.
const ANSWER_TOKENS: u32 = 8_192;
/// The name of a client's model in messages.
const CLIENT_MODEL: &str = "the client's model";

/// Consolidates by a provider or a client's model, or returns the worksheet.
pub(super) fn consolidate(
    memory: &Memory,
    args: &Map<String, Value>,
    call: &CallContext,
) -> Result<Value, HandlerError> {
    let request = ConsolidateRequest::parse(args)?;
    let settings = memory.workspace().config.consolidation;
    let mut sheet = memory.worksheet(&request)?;
    let mut decision = match settings.elicitation {
        true => ask_person(call, &sheet)?,
        false => None,
    };
    if let Some(decision) = &decision {
        decision.note_in(&mut sheet);
    }
    let is_sampled = settings.sampling
        && memory.providers().completion.is_none()
        && call.client_can(ClientCapability::Sampling)
        && has_episodes(&sheet);
    let answer = if is_sampled { Some(ask_model(memory, call, &sheet)?) } else { None };
    // From here on the memory changes.
    if decision.as_ref().is_some_and(|it| !it.is_open(memory)) {
        // Somebody else has ended the conflict meanwhile.
        decision = None;
        sheet[DECIDED] = Value::Null;
    }
    let by_model = answer.map(|answer| {
        let text = answer?;
        let report = memory.consolidate_sheet(&sheet, CLIENT_MODEL, &|_| Ok(text.clone()));
        report.map_err(|why| memory.tools().advise_error(&why.to_string()))
    });
    if let (None | Some(Err(_)), Some(decision)) = (&by_model, &decision) {
        memory.apply(&ApplyRequest::parse(&decision.changeset())?).map_err(MemoryError::from)?;
    }
    let mut answer = match by_model {
        None => {
            let pause = |wait: Duration| {
                matches!(call.cancelled().recv_timeout(wait), Err(RecvTimeoutError::Disconnected))
            };
            memory.consolidate(&request, &pause)?
        }
        Some(Ok(report)) => report,
        Some(Err(why)) => with_failure(memory.worksheet(&request)?, CLIENT_MODEL, &why),
    };
    if let Some(UserConflictDecision { conflict, winner }) = decision {
        answer["resolved"] = json!({"id": conflict, "winner": winner});
    }
    Ok(answer)
}

/// A conflict that a person decided.
struct UserConflictDecision {
    conflict: String,
    winner: String,
}

impl UserConflictDecision {
    /// Returns the operation that ends the conflict.
    fn operation(&self) -> Value {
        let UserConflictDecision { conflict, winner } = self;
        json!({"op": "resolve", "id": conflict, "winner": winner, "note": "said by the user"})
    }

    fn changeset(&self) -> Map<String, Value> {
        Map::from_iter([("operations".to_owned(), json!([self.operation()]))])
    }

    /// Takes the conflict out of what a worksheet asks, and has its answer end the conflict.
    fn note_in(&self, sheet: &mut Value) {
        if let Some(conflicts) = sheet["conflicts"].as_array_mut() {
            conflicts.retain(|it| it["id"] != self.conflict.as_str());
        }
        sheet[DECIDED] = self.operation();
    }

    fn is_open(&self, memory: &Memory) -> bool {
        let conflict = memory.read(|reader| conflict_document(reader, &self.conflict));
        conflict.is_ok_and(|it| it["status"] == CONFLICT_STATES[0])
    }
}

/// Asks a person which of two facts is right, if the client can and two contradict.
fn ask_person(
    call: &CallContext,
    sheet: &Value,
) -> Result<Option<UserConflictDecision>, HandlerError> {
    let conflicts = sheet["conflicts"].as_array().into_iter().flatten();
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    for conflict in conflicts {
        let facts = conflict["facts"].as_array().cloned().unwrap_or_default();
        if facts.len() < 2 || !call.client_can(ClientCapability::Elicitation) {
            continue;
        }
        let mut ids: Vec<String> = facts.iter().map(|it| text(&it["id"])).collect();
        ids.push(UNKNOWN.to_owned());
        let mut names: Vec<String> = facts.iter().map(|it| text(&it["text"])).collect();
        names.push("I do not know".to_owned());
        let winner =
            json!({"type": "string", "title": "Right is", "enum": ids, "enumNames": names});
        let schema =
            json!({"type": "object", "properties": {WINNER: winner}, "required": [WINNER]});
        let about = text(&conflict["about"]);
        let message = format!("What is remembered contradicts itself: {about} Which is right?");
        let ElicitResult::Accepted(content) = call.elicit(WINNER, &message, schema)? else {
            return Ok(None);
        };
        let winner = text(&content[WINNER]);
        let is_fact = winner != UNKNOWN && ids.contains(&winner);
        return Ok(
            is_fact.then(|| UserConflictDecision { conflict: text(&conflict["id"]), winner })
        );
    }
    Ok(None)
}

/// Asks a client's model. The inner error is for the worksheet's reader; the outer ends the call.
fn ask_model(
    memory: &Memory,
    call: &CallContext,
    sheet: &Value,
) -> Result<Result<String, String>, HandlerError> {
    let prompt = memory.prompt(sheet);
    let content = json!({"type": "text", "text": prompt.user.as_str()});
    let question = ServerRequest::Model(json!({
        "messages": [{"role": "user", "content": content}],
        "systemPrompt": prompt.system,
        "includeContext": "none",
        "maxTokens": ANSWER_TOKENS,
    }));
    match call.request_from_client(&[(ANSWER, question)]) {
        Ok(answers) => {
            let text = answers.first().map(text_of).unwrap_or_default();
            Ok(if text.is_empty() { Err("it wrote no text".to_owned()) } else { Ok(text) })
        }
        Err(ServerRequestError::Refused(why)) => Ok(Err(why)),
        Err(ServerRequestError::TimedOut) => Ok(Err("it did not answer in time".to_owned())),
        Err(why) => Err(why.into()),
    }
}

/// Returns the text of a model's message: one block, or several.
fn text_of(answer: &Value) -> String {
    let content = &answer["content"];
    let blocks = content.as_array().map_or_else(|| vec![content], |it| it.iter().collect());
    blocks.into_iter().filter_map(|it| it["text"].as_str()).collect()
}
