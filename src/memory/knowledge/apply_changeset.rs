//! Applying a changeset: every operation is checked and run in one write, which is one snapshot; an
//! error in any of them leaves nothing of the others.
//!
//! `base` is the snapshot that the changeset was made from: an operation on a node that changed
//! since is refused, with the node's present text. `key` keeps a receipt. A dry run does everything
//! and takes it back.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::arguments::{ArgumentObject, KnowledgeResult, canonical_text};
use super::changeset_base_and_names::ChangesetContext;
use super::changeset_operations::{self, OperationOutcome};
use super::conflict_update_after_write::settle_statements;
use super::equal_fact_merge::merge_equal_facts;
use super::node_writes::find_node;
use super::remember::{add_pending, keep_receipt, receipt_of};
use super::remember_request::REQUEST_KEY_CHARS_MAX;
use crate::memory::Memory;
use crate::memory::dry_run::WriteOrDryRun;
use crate::memory::typed::MemoryError;
use crate::model::clock::UnixMillis;
use crate::model::identity::NodeId;
use crate::model::node_fields;
use crate::store::Batch;

/// Operations of one changeset, at most.
const OPERATIONS_MAX: usize = 1_000;

/// Characters of a name that an operation declares, at most.
const ALIAS_CHARS_MAX: usize = 64;

/// Asks to apply a changeset.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApplyRequest {
    operations: Vec<Map<String, Value>>,
    base: Option<i64>,
    key: Option<String>,
    is_dry_run: bool,
    /// The request in canonical form; empty without a key.
    text: String,
}

/// An operation of a changeset that cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OperationError {
    /// Its index, from 0.
    pub(crate) op: usize,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// The node that it is about.
    pub(crate) id: Option<String>,
    /// The present text of a node that changed since the base.
    pub(crate) current: Option<String>,
}

/// The reason why a changeset is refused.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ApplyError {
    Whole(MemoryError),
    Operations(Vec<OperationError>),
}

impl From<MemoryError> for ApplyError {
    fn from(error: MemoryError) -> ApplyError {
        ApplyError::Whole(error)
    }
}

impl From<crate::store::StoreError> for ApplyError {
    fn from(error: crate::store::StoreError) -> ApplyError {
        ApplyError::Whole(error.into())
    }
}

impl From<ApplyError> for MemoryError {
    fn from(error: ApplyError) -> MemoryError {
        match error {
            ApplyError::Whole(error) => error,
            ApplyError::Operations(errors) => {
                let first = errors.first().map_or(String::new(), |it| {
                    format!("operation {}: {}; nothing was applied", it.op, it.message)
                });
                let errors: Vec<Value> = errors.iter().map(OperationError::to_json).collect();
                let mut members = Map::new();
                members.insert("errors".to_owned(), errors.into());
                MemoryError::invalid(first).with_members(members)
            }
        }
    }
}

impl ApplyError {
    /// Returns the operations that cannot be applied.
    pub(crate) fn operations(&self) -> &[OperationError] {
        match self {
            ApplyError::Whole(_) => &[],
            ApplyError::Operations(errors) => errors,
        }
    }
}

impl OperationError {
    pub(super) fn to_json(&self) -> Value {
        let OperationError { op, code, message, id, current } = self;
        let mut error = json!({"op": op, "code": code, "message": message});
        for (name, value) in [("id", id), ("current", current)] {
            if let Some(value) = value {
                error[name] = value.as_str().into();
            }
        }
        error
    }
}

impl ApplyRequest {
    /// Reads the arguments of `MemoryApply`.
    pub(crate) fn parse(args: &Map<String, Value>) -> Result<ApplyRequest, MemoryError> {
        let given = ArgumentObject::new(args, "", &["operations", "base", "key", "dry_run"])?;
        let operations = given.objects("operations", OPERATIONS_MAX)?;
        let operations = given.required("operations", operations)?;
        let base = given.whole("base", 0, i64::MAX as u64)?;
        let key = given.string("key", REQUEST_KEY_CHARS_MAX)?;
        Ok(ApplyRequest {
            operations: operations.into_iter().map(|it| it.1).collect(),
            base: base.map(|it| it as i64),
            is_dry_run: given.flag("dry_run")?.unwrap_or(false),
            text: key.as_ref().map(|_| canonical_text(args)).unwrap_or_default(),
            key,
        })
    }
}

impl Memory {
    /// Applies a changeset in one snapshot.
    pub(crate) fn apply(&self, request: &ApplyRequest) -> Result<Value, ApplyError> {
        let now = self.clock.now();
        let mode = match request.is_dry_run {
            true => WriteOrDryRun::DryRun,
            false => WriteOrDryRun::Write,
        };
        let (applied, snapshot) =
            self.write_or_count(mode, "", now, |batch| self.apply_in(batch, request, now))?;
        let (mut answer, n_pending, replayed) = applied;
        answer["snapshot"] = replayed.unwrap_or(snapshot).into();
        add_pending(&mut answer, n_pending, &self.tools);
        Ok(answer)
    }

    fn apply_in(
        &self,
        batch: &mut Batch<'_>,
        request: &ApplyRequest,
        now: UnixMillis,
    ) -> Result<(Value, u64, Option<Option<i64>>), ApplyError> {
        let ApplyRequest { operations, base, key, is_dry_run, text } = request;
        let receipt = key.as_deref().map(|it| receipt_of(batch, it, text)).transpose()?;
        if let Some(Some((snapshot, kept))) = receipt {
            let kept = kept.as_array().into_iter().flatten().map(OperationOutcome::of_receipt);
            let outcomes: Vec<OperationOutcome> = kept.collect();
            let answer = shown(batch, operations, &outcomes)?;
            return Ok((answer, batch.n_pending()?, Some(snapshot)));
        }
        let head = batch.newest_snapshot()?;
        if let Some(base) = base.filter(|it| head < *it) {
            let why = format!("`base` is snapshot {base}, and the newest is {head}");
            return Err(MemoryError::invalid(why).into());
        }
        let mut changeset =
            ChangesetContext { memory: self, now, base: *base, named: HashMap::new() };
        let redactor = &self.workspace().redactor;
        let mut scrubbed: Vec<Map<String, Value>> = operations
            .iter()
            .map(|it| scrubbed(it, &|text| redactor.scrub(text).text.into_owned()))
            .collect();
        let outcomes = changeset.run(batch, &mut scrubbed)?;
        merge_equal_facts(batch, now)?;
        settle_statements(batch, &[], now)?;
        let message = match key {
            Some(key) => format!("apply:{}", self.workspace().redactor.scrub(key).text),
            None if outcomes.len() == 1 => "apply: 1 operation".to_owned(),
            None => format!("apply: {} operations", outcomes.len()),
        };
        let notes = outcomes.iter().filter_map(|it| it.note.as_deref());
        let message: Vec<&str> = std::iter::once(message.as_str()).chain(notes).collect();
        batch.set_message(message.join(" "));
        if let Some(key) = key.as_deref().filter(|_| !is_dry_run) {
            let kept: Vec<Value> = outcomes.iter().map(OperationOutcome::to_receipt).collect();
            keep_receipt(batch, key, text, Value::from(kept))?;
        }
        let mut answer = shown(batch, operations, &outcomes)?;
        let n_pending = batch.n_pending()?;
        if *is_dry_run {
            answer["dry_run"] = true.into();
        }
        Ok((answer, n_pending, None))
    }
}

impl ChangesetContext<'_> {
    /// Runs every operation; the forms of all are checked before the first one runs.
    fn run(
        &mut self,
        batch: &mut Batch<'_>,
        operations: &mut [Map<String, Value>],
    ) -> Result<Vec<OperationOutcome>, ApplyError> {
        let mut errors = Vec::new();
        for (nth, operation) in operations.iter().enumerate() {
            if let Err(error) = changeset_operations::check_form(operation) {
                errors.push(of_operation(nth, error));
            }
        }
        if !errors.is_empty() {
            return Err(ApplyError::Operations(errors));
        }
        let mut outcomes = Vec::with_capacity(operations.len());
        for (nth, operation) in operations.iter_mut().enumerate() {
            let named = self.resolve_names(operation);
            let run = named.and_then(|()| changeset_operations::run(self, batch, operation));
            let outcome = run.and_then(|outcome| {
                self.declare(operation, &outcome)?;
                Ok(outcome)
            });
            match outcome {
                Ok(outcome) => outcomes.push(outcome),
                // An error of the file is none of the operation.
                Err(error) if error.code.is_outside() => return Err(ApplyError::Whole(error)),
                Err(error) => return Err(ApplyError::Operations(vec![of_operation(nth, error)])),
            }
        }
        Ok(outcomes)
    }

    /// Notes the names that an operation declares for what it made.
    fn declare(
        &mut self,
        operation: &Map<String, Value>,
        outcome: &OperationOutcome,
    ) -> KnowledgeResult<()> {
        let mut names: Vec<(String, NodeId)> = outcome.named.clone();
        if let Some(name) = operation.get("as").and_then(Value::as_str)
            && let Some(id) = outcome.id.as_deref().and_then(NodeId::parse)
        {
            names.push((name.to_owned(), id));
        }
        for (name, id) in names {
            let name = name.trim_start_matches('$').to_owned();
            if name.is_empty() || ALIAS_CHARS_MAX < name.chars().count() {
                let why = format!("`as` must have 1 to {ALIAS_CHARS_MAX} characters");
                return Err(MemoryError::invalid(why));
            }
            if self.named.insert(name.clone(), id).is_some() {
                return Err(MemoryError::invalid(format!("`as` declares `{name}` twice")));
            }
        }
        Ok(())
    }
}

fn of_operation(op: usize, error: MemoryError) -> OperationError {
    let about = error.about_node().map(str::to_owned);
    let current = error.current().map(str::to_owned);
    let code = if current.is_some() { "REVISION_CONFLICT" } else { error.code.as_str() };
    OperationError { op, code, message: error.message, id: about, current }
}

/// Returns the answer to a changeset, apart from its snapshot.
fn shown(
    batch: &Batch<'_>,
    operations: &[Map<String, Value>],
    outcomes: &[OperationOutcome],
) -> KnowledgeResult<Value> {
    let (mut results, mut collisions) = (Vec::new(), Vec::new());
    for (nth, (operation, outcome)) in operations.iter().zip(outcomes).enumerate() {
        let mut result = json!({"op": operation.get("op")});
        for (name, value) in [("id", &outcome.id), ("fact", &outcome.fact)] {
            if let Some(value) = value {
                result[name] = value.as_str().into();
            }
        }
        if let Some(name) = operation.get("as") {
            result["as"] = name.clone();
        }
        if !outcome.named.is_empty() {
            let part = |(name, id): &(String, NodeId)| json!({"as": name, "id": id.to_string()});
            result["parts"] = outcome.named.iter().map(part).collect();
        }
        if let Some(id) = &outcome.conflict {
            result["conflict"] = id.as_str().into();
        }
        for id in &outcome.collisions {
            let node = find_node(batch, id)?;
            let text = node.map(|it| it.record.content);
            collisions.push(json!({"op": nth, "id": id, "text": text}));
        }
        results.push(result);
    }
    Ok(json!({"snapshot": null, "results": results, "collisions": collisions, "errors": []}))
}

/// Returns an operation with every text scrubbed, also within a list that came as JSON text.
fn scrubbed(operation: &Map<String, Value>, scrub: &impl Fn(&str) -> String) -> Map<String, Value> {
    let clean = |it: &Value| node_fields::rewritten(it.clone(), &mut |text| scrub(text));
    let value = |it: &Value| {
        let list = it.as_str().and_then(|text| serde_json::from_str(text.trim()).ok());
        match list {
            Some(list @ Value::Array(_)) if clean(&list) != list => clean(&list).to_string().into(),
            _ => clean(it),
        }
    };
    operation.iter().map(|(key, it)| (key.clone(), value(it))).collect()
}
