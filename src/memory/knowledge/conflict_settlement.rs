//! Settlement at the end of a write: conflicts follow what the write did to their statements.
//!
//! Current facts that contradict each other are contested, however they came to stand side by side:
//! restored, merged, imported. A conflict whose statements contradict each other no more ends.

use std::collections::{BTreeMap, BTreeSet};

use super::conflict_writes::{
    ConflictEnd, DISPUTES, end_conflict, is_open, open_conflict, statements_of,
};
use super::fact_rivals::{
    FactSubject, are_rivals, current_facts, is_current_fact, is_equal_text, statement_key,
};
use super::fact_writes::COMPARED_MAX;
use super::node_writes::KnowledgeNode;
use crate::memory::typed::MemoryError;
use crate::model::clock::Millis;
use crate::model::contradiction_check::StatementFeatures;
use crate::model::entity_extraction::normal_name;
use crate::model::identity::NodeId;
use crate::model::kind_specs::knowledge::CONFLICT_STATES;
use crate::model::tree::NodeType;
use crate::store::{Batch, NodeKey};

/// Opens and ends conflicts after what this write did to their statements.
pub(crate) fn settle_conflicts(batch: &mut Batch<'_>, now: Millis) -> Result<(), MemoryError> {
    let mut changed = KnowledgeNode::all(batch.changed_by_this_write(NodeType::Fact)?)?;
    changed.retain(|it| it.has("attribute") && is_current_fact(it, now));
    contest(batch, changed, now)?;
    end_settled(batch, now)
}

/// Ends the open conflicts whose statements this write changed and that contradict no more.
fn end_settled(batch: &mut Batch<'_>, now: Millis) -> Result<(), MemoryError> {
    for conflict in KnowledgeNode::all(batch.with_edge_to_changed(DISPUTES)?)? {
        if !is_open(&conflict) {
            continue;
        }
        let statements = statements_of(batch, &conflict)?;
        let standing: Vec<&KnowledgeNode> =
            statements.iter().filter(|it| !it.is_hidden()).collect();
        let is_between = |it: &&KnowledgeNode| standing.iter().any(|other| contradict(it, other));
        if standing.iter().any(is_between) {
            continue;
        }
        let end = ConflictEnd::Settled(left_over(&statements, &standing));
        end_conflict(batch, &mut conflict.clone(), end, None, now)?;
    }
    Ok(())
}

/// Returns whether two statements of a conflict contradict each other: somebody said so, unless
/// the facts show that they do not.
fn contradict(a: &KnowledgeNode, b: &KnowledgeNode) -> bool {
    let terms =
        |it: &KnowledgeNode| ["subject", "attribute"].map(|key| it.text(key).map(normal_name));
    let is_comparable = a.is_a(NodeType::Fact) && terms(a) == terms(b);
    a.id() != b.id() && (!is_comparable || are_rivals(a, b))
}

/// Returns the statement that is left of some, or the one that replaced all of them.
fn left_over(statements: &[KnowledgeNode], standing: &[&KnowledgeNode]) -> Option<NodeId> {
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

/// Opens a conflict between each of some facts and its rivals, unless there was one that is open or
/// was dismissed.
fn contest(
    batch: &mut Batch<'_>,
    changed: Vec<KnowledgeNode>,
    now: Millis,
) -> Result<(), MemoryError> {
    let changed_ids: BTreeSet<NodeId> = changed.iter().map(KnowledgeNode::id).collect();
    for (clusters, facts) in by_clusters(batch, changed)? {
        let mut of_attribute: BTreeMap<String, Vec<KnowledgeNode>> = BTreeMap::new();
        let keys: BTreeSet<String> = facts.iter().filter_map(key_of).collect();
        let mut all = current_facts(batch, &clusters, None, now)?;
        for key in keys {
            let known: BTreeSet<NodeId> = all.iter().map(KnowledgeNode::id).collect();
            let elsewhere = current_facts(batch, &[], Some(&key), now)?;
            all.extend(elsewhere.into_iter().filter(|it| !known.contains(&it.id())));
        }
        for fact in all {
            let attribute = fact.text("attribute").map(normal_name);
            of_attribute.entry(attribute.unwrap_or_default()).or_default().push(fact);
        }
        of_attribute.remove("");
        for facts in of_attribute.into_values().filter(|it| 1 < it.len()) {
            contest_rivals(batch, &facts, &changed_ids, now)?;
        }
    }
    Ok(())
}

fn key_of(fact: &KnowledgeNode) -> Option<String> {
    Some(statement_key(fact.text("subject")?, fact.text("attribute")?))
}

/// Divides facts by the clusters in which facts of their subjects are.
fn by_clusters(
    batch: &Batch<'_>,
    facts: Vec<KnowledgeNode>,
) -> Result<BTreeMap<Vec<NodeKey>, Vec<KnowledgeNode>>, MemoryError> {
    let mut of_subject: BTreeMap<String, Vec<NodeKey>> = BTreeMap::new();
    let mut by_clusters: BTreeMap<Vec<NodeKey>, Vec<KnowledgeNode>> = BTreeMap::new();
    for fact in facts {
        let subject = fact.text("subject").unwrap_or_default();
        if !of_subject.contains_key(subject) {
            let clusters = FactSubject::named(batch, subject)?.clusters(batch)?;
            let clusters = clusters.iter().map(|it| it.record.key).collect();
            of_subject.insert(subject.to_owned(), clusters);
        }
        let mut clusters = of_subject.get(subject).cloned().unwrap_or_default();
        clusters.extend(fact.record.place.parent);
        clusters.sort_unstable();
        clusters.dedup();
        by_clusters.entry(clusters).or_default().push(fact);
    }
    Ok(by_clusters)
}

/// Opens one conflict between those of some facts of one key that contradict each other.
fn contest_rivals(
    batch: &mut Batch<'_>,
    facts: &[KnowledgeNode],
    changed: &BTreeSet<NodeId>,
    now: Millis,
) -> Result<(), MemoryError> {
    let mut between: BTreeSet<NodeId> = BTreeSet::new();
    for fact in facts.iter().filter(|it| changed.contains(&it.id())) {
        let mut rivals = facts.iter().filter(|it| are_rivals(fact, it)).peekable();
        if rivals.peek().is_none() {
            continue;
        }
        let disputed = disputed_with(batch, fact.id())?;
        for rival in rivals.filter(|it| !disputed.contains(it.id().to_string().as_str())) {
            between.extend([fact.id(), rival.id()]);
        }
    }
    let mut between: Vec<KnowledgeNode> =
        facts.iter().filter(|it| between.contains(&it.id())).cloned().collect();
    if !between.is_empty() {
        open_conflict(batch, &mut between, "medium", None, now)?;
    }
    Ok(())
}

/// Returns the ids of what a node has an open conflict with, or a dismissed one.
fn disputed_with(batch: &Batch<'_>, id: NodeId) -> Result<BTreeSet<String>, MemoryError> {
    let mut conflicts = KnowledgeNode::all(batch.with_edge_to(id, &[DISPUTES])?)?;
    conflicts.retain(|it| it.text("conflict") != Some(CONFLICT_STATES[1]));
    Ok(conflicts.iter().flat_map(|it| it.linked(DISPUTES)).map(str::to_owned).collect())
}

/// Opens a conflict of low severity between each of some new facts without an attribute and the
/// facts of its subject that were there and have other values.
pub(super) fn contest_values(
    batch: &mut Batch<'_>,
    mut new: Vec<KnowledgeNode>,
    now: Millis,
) -> Result<(), MemoryError> {
    let all_new: BTreeSet<NodeId> = new.iter().map(KnowledgeNode::id).collect();
    new.retain(|it| !it.has("attribute") && is_current_fact(it, now));
    for (clusters, facts) in by_clusters(batch, new)? {
        let mut there = current_facts(batch, &clusters, None, now)?;
        there.retain(|it| !all_new.contains(&it.id()));
        let there: Vec<(KnowledgeNode, StatementFeatures)> = there
            .into_iter()
            .rev()
            .take(COMPARED_MAX)
            .map(|it| (it.clone(), StatementFeatures::of(&it.record.content)))
            .collect();
        for fact in facts {
            let words = StatementFeatures::of(&fact.record.content);
            let is_other = |it: &&(KnowledgeNode, StatementFeatures)| {
                let (other, features) = it;
                fact.validity().overlaps(other.validity())
                    && !is_equal_text(&fact.record.content, &other.record.content)
                    && words.may_contradict(features)
            };
            let mut between: Vec<KnowledgeNode> =
                there.iter().filter(is_other).map(|it| it.0.clone()).collect();
            if !between.is_empty() {
                between.push(fact.clone());
                open_conflict(batch, &mut between, "low", None, now)?;
            }
        }
    }
    Ok(())
}
