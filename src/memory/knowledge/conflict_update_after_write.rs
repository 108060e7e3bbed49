//! Settlement at the end of a write: conflicts and episodes follow what the write did to their
//! statements.
//!
//! Current facts that contradict each other are contested, however they came to stand side by side:
//! restored, merged, imported. A conflict whose statements contradict each other no more ends: with
//! the write that changed them, or, where the time of one has run out, with the next write of
//! knowledge.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::conflict_writes::{
    ConflictResolution, DISPUTES, end_conflict, is_open, open_conflict, statements_of,
};
use super::contradicting_facts::{are_rivals, current_facts_of, is_below_hidden, is_current_fact};
use super::fact_of_fact_episode::hide_episodes_of_forgotten;
use super::fact_subject::FactSubjectCache;
use super::facts_by_value::ContradictableFacts;
use super::node_writes::StoredKnowledgeNode;
use crate::memory::typed::MemoryError;
use crate::model::clock::UnixMillis;
use crate::model::contradicting_statement_values::StatementFeatures;
use crate::model::entity_extraction::normal_name;
use crate::model::identity::NodeId;
use crate::model::node_fields;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::knowledge::{CONFLICT_STATES, LINKS_MAX};
use crate::store::{Batch, NodeRecord, NodeRowId};

/// Opens and ends conflicts after what this write did to their statements, and hides the episodes
/// whose facts it forgot; `stated` are the ids of facts that were compared with the others when
/// they were stated.
pub(crate) fn settle_statements(
    batch: &mut Batch<'_>,
    stated: &[&str],
    now: UnixMillis,
) -> Result<(), MemoryError> {
    let mut changed = StoredKnowledgeNode::all(batch.facts_changed_by_this_write()?)?;
    changed
        .retain(|it| is_current_fact(it, now) && !stated.contains(&it.id().to_string().as_str()));
    let mut standing = Vec::new();
    for fact in changed {
        if !is_below_hidden(batch, &fact)? {
            standing.push(fact);
        }
    }
    let (with_key, without): (Vec<_>, Vec<_>) =
        standing.into_iter().partition(|it| it.has("attribute"));
    contest(batch, with_key, now)?;
    contest_values(batch, without, now)?;
    end_settled(batch, now)?;
    end_lapsed(batch, now)?;
    hide_episodes_of_forgotten(batch, now)
}

/// Ends a conflict that is about to be forgotten, so that it leaves no contested statement;
/// returns it as it is then.
pub(crate) fn release_statements(
    batch: &mut Batch<'_>,
    conflict: NodeRecord,
    now: UnixMillis,
) -> Result<NodeRecord, MemoryError> {
    let mut conflict = StoredKnowledgeNode::of(conflict)?;
    if is_open(&conflict) {
        end_conflict(batch, &mut conflict, ConflictResolution::Dismissed, None, now)?;
    }
    Ok(conflict.record)
}

/// Ends the open conflicts whose statements this write changed and that contradict no more.
fn end_settled(batch: &mut Batch<'_>, now: UnixMillis) -> Result<(), MemoryError> {
    let conflicts = StoredKnowledgeNode::all(batch.with_edge_to_changed(DISPUTES)?)?;
    end_of(batch, conflicts, now)
}

/// Ends the open conflicts that have run out, unless this write changes nothing.
pub(super) fn end_lapsed(batch: &mut Batch<'_>, now: UnixMillis) -> Result<(), MemoryError> {
    if batch.changed_snapshot().is_none() {
        return Ok(());
    }
    let conflicts = StoredKnowledgeNode::all(batch.conflicts_of_what_is_over(now)?)?;
    end_of(batch, conflicts, now)
}

/// Ends those of some conflicts that are open and whose statements contradict no more.
fn end_of(
    batch: &mut Batch<'_>,
    conflicts: Vec<StoredKnowledgeNode>,
    now: UnixMillis,
) -> Result<(), MemoryError> {
    for conflict in conflicts.into_iter().filter(is_open) {
        let is_of_values = conflict.text("severity") == Some("low") && !conflict.has("note");
        let statements = statements_of(batch, &conflict)?;
        let standing: Vec<&StoredKnowledgeNode> =
            statements.iter().filter(|it| is_current_fact(it, now)).collect();
        let dismissed = dismissed_among(batch, &conflict, &standing)?;
        let is_between = |it: &&StoredKnowledgeNode| {
            standing.iter().any(|other| {
                let is_both = |ids: &BTreeSet<String>| {
                    [it, other].iter().all(|one| ids.contains(&one.id().to_string()))
                };
                contradict(it, other)
                    && (!is_of_values || values_contradict(it, other))
                    && !dismissed.iter().any(is_both)
            })
        };
        if standing.iter().any(is_between) {
            continue;
        }
        let end = ConflictResolution::Settled(left_over(&statements, &standing));
        end_conflict(batch, &mut conflict.clone(), end, None, now)?;
    }
    Ok(())
}

/// Returns whether two statements of a conflict contradict each other: somebody said so, unless
/// the facts show that they do not.
fn contradict(a: &StoredKnowledgeNode, b: &StoredKnowledgeNode) -> bool {
    let terms = |it: &StoredKnowledgeNode| {
        ["subject", "attribute"].map(|key| it.text(key).map(normal_name))
    };
    let is_comparable = a.is_a(NodeType::Fact) && terms(a) == terms(b);
    a.id() != b.id() && (!is_comparable || are_rivals(a, b))
}

/// Returns whether the values of two facts without an attribute may still differ; true of other
/// statements, and where there are no values.
fn values_contradict(a: &StoredKnowledgeNode, b: &StoredKnowledgeNode) -> bool {
    let read = |it: &StoredKnowledgeNode| StatementFeatures::of(&it.record.content);
    let are_compared = [a, b].iter().all(|it| it.is_a(NodeType::Fact) && !it.has("attribute"));
    !are_compared || !read(a).has_equal_values(&read(b))
}

/// Returns the ids of statements of a conflict between which contradictions were dismissed. Not
/// those of a conflict that was dismissed as a whole: this one was opened by somebody since.
fn dismissed_among(
    batch: &Batch<'_>,
    conflict: &StoredKnowledgeNode,
    standing: &[&StoredKnowledgeNode],
) -> Result<Vec<BTreeSet<String>>, MemoryError> {
    let mut dismissed = Vec::new();
    for statement in standing {
        let mut conflicts =
            StoredKnowledgeNode::all(batch.with_edge_to(&[statement.id()], DISPUTES)?)?;
        conflicts.retain(|it| it.text("conflict") == Some(CONFLICT_STATES[2]));
        dismissed.extend(conflicts.iter().map(|it| -> BTreeSet<String> {
            it.linked(DISPUTES).into_iter().map(str::to_owned).collect()
        }));
    }
    dismissed.retain(|ids| conflict.linked(DISPUTES).iter().any(|it| !ids.contains(*it)));
    Ok(dismissed)
}

/// Returns the statement that is left of some, or the one that replaced all of them.
fn left_over(
    statements: &[StoredKnowledgeNode],
    standing: &[&StoredKnowledgeNode],
) -> Option<NodeId> {
    match standing {
        [one] => Some(one.id()),
        [] => {
            let by: BTreeSet<Option<&str>> =
                statements.iter().map(|it| it.text("superseded_by")).collect();
            let mut by = by.into_iter();
            by.next().flatten().filter(|_| by.next().is_none()).and_then(NodeId::parse)
        }
        _ => None,
    }
}

/// Opens a conflict between each of some facts, eldest first, and its rivals, unless there was one
/// that is open or was dismissed. Of more rivals than a conflict has, the newest ones count. Those
/// that changed and are younger find the elder ones in their turn.
fn contest(
    batch: &mut Batch<'_>,
    changed: Vec<StoredKnowledgeNode>,
    now: UnixMillis,
) -> Result<(), MemoryError> {
    let mut subjects = FactSubjectCache::default();
    let mut known: BTreeMap<BTreeSet<String>, Vec<StoredKnowledgeNode>> = BTreeMap::new();
    let ids: HashSet<NodeId> = changed.iter().map(StoredKnowledgeNode::id).collect();
    for fact in changed {
        let attribute = fact.text("attribute").unwrap_or_default();
        let own = node_fields::list(&fact.fields, "names").iter();
        let own = own.filter_map(|it| it.as_str().map(str::to_owned));
        let subject = subjects.of(batch, &fact)?.clone();
        let keys: BTreeSet<String> = subject.all_keys(attribute).into_iter().chain(own).collect();
        let there = match known.entry(keys) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let keys: Vec<String> = new.key().iter().cloned().collect();
                let mut facts = current_facts_of(batch, &keys, ids.len(), now)?;
                facts.sort_by_key(|it| (ids.contains(&it.id()), it.record.key));
                new.insert(facts)
            }
        };
        let is_before =
            |it: &StoredKnowledgeNode| it.record.key < fact.record.key || !ids.contains(&it.id());
        let n_before = there.partition_point(is_before);
        if n_before == 0 {
            continue;
        }
        let disputed = disputed_with(batch, fact.id())?;
        let mut rivals = Vec::new();
        for (nth, other) in there[..n_before].iter().enumerate().rev() {
            if LINKS_MAX <= rivals.len() {
                break;
            }
            if are_rivals(&fact, other)
                && !disputed.contains(&other.id().to_string())
                && subjects.is_one(batch, (&subject, &fact), other)?
            {
                rivals.push(nth);
            }
        }
        if !rivals.is_empty() {
            rivals.reverse();
            let mut between: Vec<_> = rivals.iter().map(|nth| there[*nth].clone()).collect();
            between.push(fact);
            open_conflict(batch, &mut between, "medium", None, now)?;
            rivals.into_iter().zip(between).for_each(|(nth, rival)| there[nth] = rival);
        }
    }
    Ok(())
}

/// Returns the ids of what a node has an open conflict with, or a dismissed one.
fn disputed_with(batch: &Batch<'_>, id: NodeId) -> Result<BTreeSet<String>, MemoryError> {
    let mut conflicts = StoredKnowledgeNode::all(batch.with_edge_to(&[id], DISPUTES)?)?;
    conflicts.retain(|it| it.text("conflict") != Some(CONFLICT_STATES[1]));
    Ok(conflicts.iter().flat_map(|it| it.linked(DISPUTES)).map(str::to_owned).collect())
}

/// Opens a conflict of low severity between each of some facts without an attribute, eldest first,
/// and the elder ones of its subject that have other values, unless there was one that is open or
/// was dismissed.
fn contest_values(
    batch: &mut Batch<'_>,
    new: Vec<StoredKnowledgeNode>,
    now: UnixMillis,
) -> Result<(), MemoryError> {
    let mut subjects = FactSubjectCache::default();
    let mut facts = ContradictableFacts::beside(&new);
    for fact in new {
        let statement = StatementFeatures::of(&fact.record.content);
        if !statement.has_values() {
            continue;
        }
        let subject = subjects.of(batch, &fact)?;
        let mut clusters = subject.find_clusters(batch)?;
        clusters.append(&mut subject.find_shared_clusters(batch)?);
        let subject = subject.clone();
        let clusters: Vec<NodeRowId> = clusters.iter().map(|it| it.record.key).collect();
        let mut disputed: Option<BTreeSet<String>> = None;
        let is_new_to = |other: &StoredKnowledgeNode| {
            if disputed.is_none() {
                disputed = Some(disputed_with(batch, fact.id())?);
            }
            Ok(!disputed.as_ref().is_some_and(|it| it.contains(&other.id().to_string()))
                && subjects.is_one(batch, (&subject, &fact), other)?)
        };
        let mut between = facts.differing(batch, (&fact, statement), &clusters, now, is_new_to)?;
        if !between.is_empty() {
            between.push(fact);
            open_conflict(batch, &mut between, "low", None, now)?;
        }
    }
    Ok(())
}
