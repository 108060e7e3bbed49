//! Conflicts in a write: opened between statements, joined, and ended with a winner or without.
//!
//! Facts of an open conflict are contested, but for one of low severity. A statement that gives way
//! is closed: a fact ends when its replacement begins, and is current until then.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value, json};

use super::node_writes::{
    NewKnowledgeNode, NewNodePlace, StoredKnowledgeNode, add_edge, add_node, edge, find_node,
    set_fields,
};
use crate::memory::typed::MemoryError;
use crate::model::clock::UnixMillis;
use crate::model::identity::NodeId;
use crate::model::node_fields;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::knowledge::{CONFLICT_STATES, LINKS_MAX};
use crate::store::Batch;
use crate::text::tokens;

/// The type of the edges from a conflict to its statements.
pub(super) const DISPUTES: &str = "disputes";

/// Statements of a new conflict where there are more than fit, so that later ones find room in it.
const OPENED_MAX: usize = LINKS_MAX / 2;

/// The resolution of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConflictResolution {
    /// Somebody says which statement is right; the others are closed.
    Won(NodeId),
    /// Its statements contradict each other no more; the one that is left, if it is one.
    Settled(Option<NodeId>),
    /// Somebody says that there is no contradiction.
    Dismissed,
}

/// Closes a statement that another one replaces, a fact from `at` on, others at once; returns
/// whether it holds until then. An edge of the other one must tell of it in that case.
pub(super) fn close(
    batch: &mut Batch<'_>,
    old: &mut StoredKnowledgeNode,
    by: NodeId,
    at: UnixMillis,
    now: UnixMillis,
) -> Result<bool, MemoryError> {
    let is_fact = old.is_a(NodeType::Fact);
    let mut held = old.validity();
    // A fact that began later than its replacement never held.
    let end = held.from.map_or(at, |it| it.max(at));
    held.to = Some(held.to.map_or(end, |it| it.min(end)));
    let holds_on = is_fact && !held.is_over(now) && !held.is_empty();
    let change = |it: &mut Map<String, Value>| {
        if is_fact {
            it.insert("valid_to".to_owned(), held.to.map(|it| it.0).into());
        }
        if !holds_on {
            it.insert("superseded_by".to_owned(), by.to_string().into());
            it.insert("superseded_at".to_owned(), now.0.into());
            it.shift_remove("contested");
        }
    };
    set_fields(batch, old, change, now)?;
    Ok(holds_on)
}

/// Opens a conflict between nodes, or adds them to one that is open about the same. Facts are
/// contested but for low severity. Of more than fit, the last ones are kept.
pub(super) fn open_conflict(
    batch: &mut Batch<'_>,
    between: &mut [StoredKnowledgeNode],
    severity: &str,
    note: Option<&str>,
    now: UnixMillis,
) -> Result<NodeId, MemoryError> {
    let first = n_passed_over(between.len());
    let mut between = &mut between[first..];
    let id = match joined_conflict(batch, between, severity)? {
        Some((mut conflict, n_without_room)) => {
            between = &mut between[n_without_room..];
            let known: HashSet<&str> = conflict.linked(DISPUTES).into_iter().collect();
            let mut links = disputes(between);
            links.retain(|it| it["to"].as_str().is_some_and(|id| !known.contains(id)));
            let add = |it: &mut Map<String, Value>| {
                links.into_iter().for_each(|link| add_edge(it, link));
            };
            set_fields(batch, &mut conflict, add, now)?;
            conflict.id()
        }
        None => {
            let content = conflict_line(between);
            let mut fields = Map::new();
            fields.insert("conflict".to_owned(), CONFLICT_STATES[0].into());
            fields.insert("severity".to_owned(), severity.into());
            fields.insert("links".to_owned(), json!(disputes(between)));
            fields.insert("note".to_owned(), note.into());
            let token_count = tokens::count(&content);
            let new = NewKnowledgeNode {
                node_type: NodeType::Conflict,
                content: &content,
                token_count,
                fields,
            };
            add_node(batch, new, NewNodePlace::Bucket(&[]), now)?.id()
        }
    };
    if severity != "low" {
        let is_uncontested =
            |it: &&mut StoredKnowledgeNode| it.is_a(NodeType::Fact) && !it.has("contested");
        for fact in between.iter_mut().filter(is_uncontested) {
            // Another conflict of this write may have changed it by now.
            if let Some(now) = find_node(batch, &fact.id().to_string())? {
                *fact = now;
            }
            let contest =
                |it: &mut Map<String, Value>| drop(it.insert("contested".to_owned(), true.into()));
            set_fields(batch, fact, contest, now)?;
        }
    }
    Ok(id)
}

/// Returns how many of the first ones of some statements have no room in a new conflict.
fn n_passed_over(n_statements: usize) -> usize {
    if LINKS_MAX < n_statements { n_statements - OPENED_MAX } else { 0 }
}

/// Returns whether nodes belong to a conflict: it has them, or its facts have their terms. One that
/// somebody opened between other facts is of these alone, since its end closes all but the winner.
fn is_about(
    batch: &Batch<'_>,
    conflict: &StoredKnowledgeNode,
    nodes: &[StoredKnowledgeNode],
) -> Result<bool, MemoryError> {
    let mut others: BTreeSet<&str> = conflict.linked(DISPUTES).into_iter().collect();
    let (there, new): (Vec<_>, Vec<_>) =
        nodes.iter().partition(|it| others.remove(it.id().to_string().as_str()));
    if new.is_empty() {
        return Ok(true);
    }
    let others: Vec<&str> = others.into_iter().collect();
    let others = StoredKnowledgeNode::all(batch.nodes_of(&others)?)?;
    let known = one_of_each_terms(there.iter().copied().chain(&others));
    let nodes = one_of_each_terms(nodes);
    Ok(known.iter().all(|it| nodes.iter().all(|node| have_same_terms(it, node))))
}

/// Returns one node of each terms that some nodes have; those of many facts are mostly the same.
fn one_of_each_terms<'a>(
    nodes: impl IntoIterator<Item = &'a StoredKnowledgeNode>,
) -> Vec<&'a StoredKnowledgeNode> {
    let mut seen = BTreeSet::new();
    let terms = |it: &StoredKnowledgeNode| {
        let keys: BTreeSet<String> = keys_of_fact(it).into_iter().map(str::to_owned).collect();
        (it.is_a(NodeType::Fact), it.has("attribute"), it.record.place.parent, keys)
    };
    nodes.into_iter().filter(|it| seen.insert(terms(it))).collect()
}

/// Returns whether two nodes are no facts, or facts about one subject and attribute. One without an
/// attribute has the terms of every fact of its subject.
pub(super) fn have_same_terms(a: &StoredKnowledgeNode, b: &StoredKnowledgeNode) -> bool {
    if ![a, b].iter().all(|it| it.is_a(NodeType::Fact)) {
        return true;
    }
    if ![a, b].iter().all(|it| it.has("attribute")) {
        return a.record.place.parent == b.record.place.parent;
    }
    let of_b = keys_of_fact(b);
    keys_of_fact(a).iter().any(|it| of_b.contains(it))
}

/// Returns the keys by which a fact with an attribute is found.
pub(super) fn keys_of_fact(fact: &StoredKnowledgeNode) -> Vec<&str> {
    let names = node_fields::list(&fact.fields, "names").iter();
    names.filter_map(Value::as_str).chain(fact.text("key")).collect()
}

fn disputes(between: &[StoredKnowledgeNode]) -> Vec<Value> {
    between.iter().map(|it| edge(DISPUTES, it.id(), 1.0, None)).collect()
}

/// Returns the open conflict of a severity about some nodes that the last of them joins, with the
/// number of the first ones that have no room in it.
fn joined_conflict(
    batch: &Batch<'_>,
    between: &[StoredKnowledgeNode],
    severity: &str,
) -> Result<Option<(StoredKnowledgeNode, usize)>, MemoryError> {
    let ids: Vec<NodeId> = between.iter().map(StoredKnowledgeNode::id).collect();
    let mut conflicts = open_conflicts_of(batch, &ids)?;
    conflicts.retain(|it| it.text("severity") == Some(severity));
    for conflict in conflicts {
        let n_with_room = n_with_room(&conflict, between);
        if 0 < n_with_room && is_about(batch, &conflict, between)? {
            return Ok(Some((conflict, between.len() - n_with_room)));
        }
    }
    Ok(None)
}

/// Returns how many of the last nodes are in a conflict, or have room in it.
fn n_with_room(conflict: &StoredKnowledgeNode, between: &[StoredKnowledgeNode]) -> usize {
    let known: HashSet<&str> = conflict.linked(DISPUTES).into_iter().collect();
    let mut room = LINKS_MAX.saturating_sub(known.len());
    let fits = |it: &&StoredKnowledgeNode| {
        let is_new = !known.contains(it.id().to_string().as_str());
        let fits = !is_new || 0 < room;
        room -= usize::from(is_new && fits);
        fits
    };
    between.iter().rev().take_while(fits).count()
}

/// Returns whether a node is a conflict that nobody and nothing has ended.
pub(super) fn is_open(conflict: &StoredKnowledgeNode) -> bool {
    conflict.text("conflict") == Some(CONFLICT_STATES[0]) && !conflict.is_hidden()
}

/// Returns the open conflicts that dispute one of some nodes, eldest first.
pub(super) fn open_conflicts_of(
    batch: &Batch<'_>,
    ids: &[NodeId],
) -> Result<Vec<StoredKnowledgeNode>, MemoryError> {
    let mut conflicts = StoredKnowledgeNode::all(batch.with_edge_to(ids, DISPUTES)?)?;
    conflicts.retain(is_open);
    Ok(conflicts)
}

/// Returns the statements of a conflict that are there.
pub(super) fn statements_of(
    batch: &Batch<'_>,
    conflict: &StoredKnowledgeNode,
) -> Result<Vec<StoredKnowledgeNode>, MemoryError> {
    StoredKnowledgeNode::all(batch.nodes_of(&conflict.linked(DISPUTES))?)
}

/// Returns the line that stands for a conflict: the key of its statements, or their subject.
fn conflict_line(between: &[StoredKnowledgeNode]) -> String {
    let Some(first) = between.first() else { return "conflict".to_owned() };
    match (first.text("subject"), first.text("attribute")) {
        (Some(subject), Some(attribute)) => format!("{subject} / {attribute}"),
        (Some(subject), None) => format!("values of {subject}"),
        (None, _) => format!("conflict of {}", first.title()),
    }
}

/// Ends a conflict. Statements that were deleted or replaced before stay as they are.
pub(super) fn end_conflict(
    batch: &mut Batch<'_>,
    conflict: &mut StoredKnowledgeNode,
    end: ConflictResolution,
    note: Option<&str>,
    now: UnixMillis,
) -> Result<(), MemoryError> {
    let (state, winner) = match end {
        ConflictResolution::Won(winner) => (CONFLICT_STATES[1], Some(winner)),
        ConflictResolution::Settled(left) => (CONFLICT_STATES[1], left),
        ConflictResolution::Dismissed => (CONFLICT_STATES[2], None),
    };
    let mut statements = statements_of(batch, conflict)?;
    if let ConflictResolution::Won(winner) = end
        && let Some(nth) = statements.iter().position(|it| it.id() == winner)
    {
        let mut winner = statements.swap_remove(nth);
        // The older statement held until the newer one began; a newer one never held.
        let at = winner.time("valid_from").unwrap_or(now);
        for loser in statements.iter_mut().filter(|it| !it.is_hidden()) {
            if close(batch, loser, winner.id(), at, now)? {
                let link = edge("supersedes", loser.id(), 1.0, note);
                set_fields(batch, &mut winner, |it| add_edge(it, link), now)?;
            }
        }
        statements.push(winner);
    }
    for statement in statements.iter_mut().filter(|it| it.has("contested")) {
        let mut others = open_conflicts_of(batch, &[statement.id()])?;
        others.retain(|it| it.id() != conflict.id() && it.text("severity") != Some("low"));
        if others.is_empty() {
            set_fields(batch, statement, |it| drop(it.shift_remove("contested")), now)?;
        }
    }
    let change = |it: &mut Map<String, Value>| {
        it.insert("conflict".to_owned(), state.into());
        it.insert("winner".to_owned(), winner.map(|it| it.to_string()).into());
        it.insert("resolved_at".to_owned(), now.0.into());
        if let Some(note) = note {
            it.insert("note".to_owned(), note.into());
        }
    };
    set_fields(batch, conflict, change, now).map(drop)
}
