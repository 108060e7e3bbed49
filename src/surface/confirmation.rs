//! Confirmation: asks the user before an agent removes much, if the client can ask.
//!
//! A client without forms is not asked, and the call proceeds. Forgotten nodes can be restored by
//! a rollback; that `MemoryRollback` can destroy is in its annotations.

use serde_json::{Value, json};

use crate::mcp::{Args, CallContext, ElicitResult, HandlerError};
use crate::memory::{Error, Memory};
use crate::query;
use crate::query::render::to_name;
use crate::store::reader::{ArchivedVisibility, SiblingRangeAfterPage};

/// Returns the question before a call; `None` when it removes little.
pub(crate) type BuildConfirmationQuestionFn = fn(&Memory, &Args) -> Result<Option<String>, Error>;

/// Nodes that an agent may remove at once without a question.
const UNASKED_NODES_MAX: u32 = 10;
/// Nodes that are counted for a question.
const COUNTED_NODES_MAX: u32 = 10_000;

/// Asks the user; fails when the answer is no.
pub(super) fn confirm(call: &CallContext, question: &str) -> Result<(), HandlerError> {
    match call.elicit("confirm", question, schema())? {
        ElicitResult::Accepted(content) if content["confirm"] == true => Ok(()),
        ElicitResult::Unsupported => Ok(()),
        ElicitResult::Accepted(_) | ElicitResult::Declined => {
            Err(HandlerError::BadArgument("the user said no; nothing was changed".to_owned()))
        }
        ElicitResult::Cancelled => {
            let why = "the user was asked and did not answer; nothing was changed";
            Err(HandlerError::BadArgument(why.to_owned()))
        }
    }
}

fn schema() -> Value {
    let confirm = json!({"type": "boolean", "title": "Yes", "default": false});
    json!({"type": "object", "properties": {"confirm": confirm}, "required": ["confirm"]})
}

pub(super) fn forget(memory: &Memory, args: &Args) -> Result<Option<String>, Error> {
    if args.text("mode") != Some("cascade") {
        return Ok(None);
    }
    let id = args.text("node_id").unwrap_or_default();
    let asked = memory.read(|reader| -> Result<_, Error> {
        let head = query::node_by_id(reader, id)?;
        let (top, rest) = ([head.key], SiblingRangeAfterPage::Nothing);
        let extent =
            reader.subtree_size(&top, rest, ArchivedVisibility::Shown, COUNTED_NODES_MAX)?;
        Ok((head.label, extent))
    })?;
    let (label, extent) = (to_name(&asked.0), asked.1);
    let n_below = extent.n_nodes;
    if n_below < UNASKED_NODES_MAX {
        return Ok(None);
    }
    let at_least = if extent.is_at_least { "at least " } else { "" };
    Ok(Some(format!("Forget `{label}` and the {at_least}{n_below} nodes below it?")))
}

pub(super) fn rollback(memory: &Memory, args: &Args) -> Result<Option<String>, Error> {
    let target = args.integer("snapshot_id").unwrap_or(0);
    let known = memory.read(|reader| reader.versions().snapshots())?;
    if !args.flag("drop_after") || known.last <= target || target < known.first {
        return Ok(None);
    }
    Ok(Some(format!(
        "Go back to snapshot {target} and delete all later ones, up to {}, for good? What was \
         written since then cannot be brought back.",
        known.last
    )))
}
