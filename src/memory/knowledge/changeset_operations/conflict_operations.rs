//! Operations on contradictions: supersede, open a conflict, resolve or dismiss it.

use super::OperationOutcome;
use super::edges::NOTE_CHARS_MAX;
use super::processed_and_pinned::ID_CHARS_MAX;
use crate::memory::knowledge::arguments::{ArgumentObject, KnowledgeResult};
use crate::memory::knowledge::changeset_base_and_names::ChangesetContext;
use crate::memory::knowledge::conflict_writes::{
    ConflictResolution, DISPUTES, close, end_conflict, open_conflict,
};
use crate::memory::knowledge::fact_of_fact_episode::stated_fact;
use crate::memory::knowledge::node_writes::{StoredKnowledgeNode, add_edge, edge, set_fields};
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::knowledge::{CONFLICT_STATES, SEVERITIES};
use crate::store::Batch;

/// Types of nodes that can be superseded and contradict each other.
const STATEMENTS: [NodeType; 3] = [NodeType::Fact, NodeType::Concept, NodeType::Episode];

/// Returns two different statements of one type that both stand; a fact in place of an episode that
/// states it.
fn statements(
    changeset: &ChangesetContext<'_>,
    batch: &Batch<'_>,
    given: &ArgumentObject<'_>,
    keys: [&str; 2],
) -> KnowledgeResult<[StoredKnowledgeNode; 2]> {
    let node = |key: &str| {
        let id = given.required(key, given.text(key, ID_CHARS_MAX)?)?;
        let mut node = changeset.node_to_change(batch, given, key, id)?;
        if let Some(fact) = stated_fact(batch, &node)? {
            node = changeset.node_to_change(batch, given, key, &fact.id().to_string())?;
        }
        if !STATEMENTS.contains(&node.record.node_type) {
            let why = format!(
                "names a {}; facts, concepts and episodes can contradict",
                node.record.node_type
            );
            return Err(given.refuse(key, why));
        }
        if node.is_hidden() {
            let why = format!("names `{}`, which is deleted or replaced", node.id());
            return Err(given.refuse(key, why).about(&node.id().to_string()));
        }
        Ok(node)
    };
    let [a, b] = [node(keys[0])?, node(keys[1])?];
    if a.id() == b.id() {
        return Err(given.refuse(keys[1], format!("names the same node as `{}`", keys[0])));
    }
    if a.record.node_type != b.record.node_type {
        let why =
            format!("names a {}, and `{}` a {}", b.record.node_type, keys[0], a.record.node_type);
        return Err(given.refuse(keys[1], why));
    }
    Ok([a, b])
}

pub(super) fn supersede(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    let [mut old, mut new] = statements(changeset, batch, given, ["old", "new"])?;
    let note = given.text("note", NOTE_CHARS_MAX)?;
    let at = new.time("valid_from").unwrap_or(changeset.now);
    let link = edge("supersedes", old.id(), 1.0, note);
    set_fields(batch, &mut new, |it| add_edge(it, link), changeset.now)?;
    close(batch, &mut old, new.id(), at, changeset.now)?;
    Ok(OperationOutcome::of(new.id()))
}

pub(super) fn open(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    let mut between = statements(changeset, batch, given, ["a", "b"])?;
    for (key, node) in ["a", "b"].into_iter().zip(&between) {
        if node.validity().is_over(changeset.now) {
            let id = node.id().to_string();
            let why = format!("names `{id}`, which holds no more; a conflict is about what does");
            return Err(given.refuse(key, why).about(&id));
        }
    }
    let severity = given.choice("severity", SEVERITIES)?.unwrap_or("medium");
    let note = given.text("note", NOTE_CHARS_MAX)?;
    let id = open_conflict(batch, &mut between, severity, note, changeset.now)?;
    Ok(OperationOutcome::of(id))
}

fn named_open_conflict(
    changeset: &ChangesetContext<'_>,
    batch: &Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<StoredKnowledgeNode> {
    let id = given.required("id", given.text("id", ID_CHARS_MAX)?)?;
    let conflict = changeset.node_to_change(batch, given, "id", id)?;
    if !conflict.is_a(NodeType::Conflict) {
        let why = format!("names a {}, not a conflict", conflict.record.node_type);
        return Err(given.refuse("id", why));
    }
    match conflict.text("conflict") {
        Some(state) if state != CONFLICT_STATES[0] => {
            Err(given.refuse("id", format!("names a conflict that is {state}")))
        }
        _ => Ok(conflict),
    }
}

pub(super) fn resolve(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    let mut conflict = named_open_conflict(changeset, batch, given)?;
    let winner = given.required("winner", given.text("winner", ID_CHARS_MAX)?)?;
    let mut winner = changeset.node(batch, given, "winner", winner)?;
    if let Some(fact) = stated_fact(batch, &winner)?
        && !conflict.linked(DISPUTES).contains(&winner.id().to_string().as_str())
    {
        winner = fact;
    }
    if !conflict.linked(DISPUTES).contains(&winner.id().to_string().as_str()) {
        let known = conflict.linked(DISPUTES).join(", ");
        let why = format!("names `{}`, which is none of {known}", winner.id());
        return Err(given.refuse("winner", why));
    }
    if winner.is_hidden() {
        let id = winner.id().to_string();
        let why =
            format!("names `{id}`, which is deleted or replaced; `dismiss` ends the conflict");
        return Err(given.refuse("winner", why).about(&id));
    }
    let note = given.text("note", NOTE_CHARS_MAX)?;
    let end = ConflictResolution::Won(winner.id());
    end_conflict(batch, &mut conflict, end, note, changeset.now)?;
    Ok(OperationOutcome::of(conflict.id()))
}

pub(super) fn dismiss(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    let mut conflict = named_open_conflict(changeset, batch, given)?;
    let note = given.text("note", NOTE_CHARS_MAX)?;
    end_conflict(batch, &mut conflict, ConflictResolution::Dismissed, note, changeset.now)?;
    Ok(OperationOutcome::of(conflict.id()))
}
