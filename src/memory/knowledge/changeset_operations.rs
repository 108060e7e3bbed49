//! Operations of a changeset: a table of names, arguments and functions.
//!
//! Each function checks its arguments and changes nodes in the write that all of them share. To add
//! an operation is one row of [`OPERATIONS`].

mod concepts;
mod conflict_operations;
mod delete_and_restore;
mod edges;
mod processed_and_pinned;
mod topics_entities_labels;

use serde_json::{Map, Value, json};

use super::arguments::{ArgumentObject, KnowledgeResult};
use super::changeset_base_and_names::ChangesetContext;
use super::remember::RememberOutcome;
use super::remember_request::{ITEM_KEYS, NewEpisodeOrMemory};
use crate::memory::typed::MemoryError;
use crate::model::identity::NodeId;
use crate::store::Batch;

/// Runs an operation.
type OperationFn = fn(
    &ChangesetContext<'_>,
    &mut Batch<'_>,
    &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome>;

/// An operation: a row of [`OPERATIONS`].
pub(super) struct OperationSpec {
    pub(super) name: &'static str,
    /// Arguments that it needs.
    required: &'static [&'static str],
    /// Arguments that it may have.
    optional: &'static [&'static str],
    run: OperationFn,
}

const fn operation(
    name: &'static str,
    required: &'static [&'static str],
    optional: &'static [&'static str],
    run: OperationFn,
) -> OperationSpec {
    OperationSpec { name, required, optional, run }
}

/// Arguments of `update`.
const UPDATED: &[&str] = &[
    "title",
    "summary",
    "content",
    "confidence",
    "kind",
    "topic",
    "tags",
    "conditions",
    "exceptions",
    "entities",
    "metadata",
    "category",
    "importance",
    "archived",
    "task_metadata",
    "valid_from",
    "valid_to",
    "as",
];

/// Arguments of `fact` beside its text.
const OF_FACT: &[&str] = &[
    "subject",
    "attribute",
    "entities",
    "valid_from",
    "valid_to",
    "source",
    "supersede",
    "topic",
    "asserted_by",
    "confidence",
    "at",
    "as",
];

/// Every operation.
#[rustfmt::skip]
pub(super) const OPERATIONS: &[OperationSpec] = &[
    operation("remember", &["content"], ITEM_KEYS, remember),
    operation("fact", &["text"], OF_FACT, fact),
    operation("concept", &["title", "summary"],
        &["from", "kind", "confidence", "topic", "tags", "conditions", "exceptions", "as"],
        concepts::concept),
    operation("update", &["id"], UPDATED, concepts::update),
    operation("topic", &["name"], &["description", "as"], topics_entities_labels::topic),
    operation("link", &["from", "to", "type"], &["strength", "context"], edges::link),
    operation("unlink", &["from", "to", "type"], &[], edges::unlink),
    operation("evidence", &["concept", "episode", "type"], &["strength", "note"], edges::evidence),
    operation("supersede", &["old", "new"], &["note"], conflict_operations::supersede),
    operation("conflict", &["a", "b"], &["severity", "note", "as"], conflict_operations::open),
    operation("resolve", &["id", "winner"], &["note"], conflict_operations::resolve),
    operation("dismiss", &["id"], &["note"], conflict_operations::dismiss),
    operation("entity", &["name"], &["type", "as"], topics_entities_labels::entity),
    operation("alias", &["id", "name"], &[], topics_entities_labels::alias),
    operation("relate", &["from", "to", "type"], &["strength", "context"], edges::relate),
    operation("label", &["id", "key", "value"], &[], topics_entities_labels::label),
    operation("unlabel", &["id", "key", "value"], &[], topics_entities_labels::unlabel),
    operation("merge", &["from", "into"], &["note"], concepts::merge),
    operation("split", &["id", "into", "assign"], &["note"], concepts::split),
    operation("reshape", &["id", "kind"], &["note"], concepts::reshape),
    operation("processed", &["ids"], &[], processed_and_pinned::processed),
    operation("ingested", &["chunk"], &["density"], processed_and_pinned::ingested),
    operation("pin", &["id"], &[], processed_and_pinned::pin),
    operation("unpin", &["id"], &[], processed_and_pinned::unpin),
    operation("delete", &["id"], &[], delete_and_restore::delete),
    operation("restore", &["id"], &[], delete_and_restore::restore),
];

/// The effect of an operation, by ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OperationOutcome {
    pub(super) id: Option<String>,
    pub(super) fact: Option<String>,
    pub(super) conflict: Option<String>,
    pub(super) collisions: Vec<String>,
    /// Names that it declares for several nodes.
    pub(super) named: Vec<(String, NodeId)>,
    /// A line for the message of the snapshot.
    pub(super) note: Option<String>,
}

impl OperationOutcome {
    pub(super) fn of(id: NodeId) -> OperationOutcome {
        OperationOutcome { id: Some(id.to_string()), ..OperationOutcome::default() }
    }

    /// Returns it as a receipt keeps it.
    pub(super) fn to_receipt(&self) -> Value {
        let named = self.named.iter().map(|(name, id)| json!([name, id.to_string()]));
        let named: Vec<Value> = named.collect();
        json!([self.id, self.fact, self.conflict, self.collisions, named])
    }

    pub(super) fn of_receipt(value: &Value) -> OperationOutcome {
        let text = |it: &Value| it.as_str().map(str::to_owned);
        let named = |it: &Value| Some((text(&it[0])?, NodeId::parse(it[1].as_str()?)?));
        OperationOutcome {
            named: value[4].as_array().into_iter().flatten().filter_map(named).collect(),
            id: text(&value[0]),
            fact: text(&value[1]),
            conflict: text(&value[2]),
            collisions: value[3].as_array().into_iter().flatten().filter_map(text).collect(),
            ..OperationOutcome::default()
        }
    }
}

impl From<RememberOutcome> for OperationOutcome {
    fn from(it: RememberOutcome) -> OperationOutcome {
        let RememberOutcome { id, fact, conflict, collisions, .. } = it;
        OperationOutcome { id: Some(id), fact, conflict, collisions, ..OperationOutcome::default() }
    }
}

/// Returns the operation of that name.
fn operation_of(members: &Map<String, Value>) -> KnowledgeResult<&'static OperationSpec> {
    let names = || OPERATIONS.iter().map(|it| it.name).collect::<Vec<_>>().join(", ");
    let Some(name) = members.get("op").and_then(Value::as_str) else {
        return Err(MemoryError::invalid(format!("`op` is missing; it is one of {}", names())));
    };
    OPERATIONS.iter().find(|it| it.name == name).ok_or_else(|| {
        MemoryError::invalid(format!("`op` is no operation: `{name}`; known are {}", names()))
    })
}

/// Checks the name of an operation and the names of its arguments.
pub(super) fn check_form(members: &Map<String, Value>) -> KnowledgeResult<()> {
    let operation = operation_of(members)?;
    let given = operation.given(members)?;
    match operation.required.iter().find(|it| given.value(it).is_none()) {
        None => Ok(()),
        Some(name) => Err(given.refuse(name, format!("is missing of `{}`", operation.name))),
    }
}

/// Runs an operation whose form was checked.
pub(super) fn run(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    members: &Map<String, Value>,
) -> KnowledgeResult<OperationOutcome> {
    let operation = operation_of(members)?;
    (operation.run)(changeset, batch, &operation.given(members)?)
}

impl OperationSpec {
    /// Returns its name with its arguments, those that it need not have with a question mark.
    pub(super) fn form(&self) -> String {
        let own = match self.name {
            "remember" => vec!["content", "kind?", "topic?", "entities?"],
            _ => Vec::new(),
        };
        let required = self.required.iter().map(|it| (*it).to_owned());
        let optional = self.optional.iter().map(|it| format!("{it}?"));
        let arguments: Vec<String> = match own.is_empty() {
            true => required.chain(optional).collect(),
            false => own.into_iter().map(str::to_owned).collect(),
        };
        format!("{}({})", self.name, arguments.join(" "))
    }

    fn given<'a>(&self, members: &'a Map<String, Value>) -> KnowledgeResult<ArgumentObject<'a>> {
        let mut known = vec!["op"];
        known.extend(self.required);
        known.extend(self.optional.iter().filter(|it| !self.required.contains(it)));
        if self.name == "remember" {
            known.push("as");
        }
        ArgumentObject::new(members, "", &known)
    }
}

fn remember(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    let item = NewEpisodeOrMemory::parse(given.members(), "", &["op", "as"])?;
    let item = changeset.memory.ready_item(item)?;
    Ok(changeset.memory.remember_in(batch, &item, changeset.now)?.into())
}

fn fact(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    let mut members = Map::new();
    members.insert("kind".to_owned(), "fact".into());
    for (name, value) in given.members() {
        let name = match name.as_str() {
            "op" | "as" => continue,
            "text" => "content",
            "source" => "source_ref",
            other => other,
        };
        members.insert(name.to_owned(), value.clone());
    }
    let item = changeset.memory.ready_item(NewEpisodeOrMemory::parse(&members, "", &[])?)?;
    let done = changeset.memory.remember_in(batch, &item, changeset.now)?;
    let mut outcome = OperationOutcome::from(done);
    // Later operations name the statement, not the episode that states it.
    outcome.id = outcome.fact.clone().or(outcome.id);
    Ok(outcome)
}
