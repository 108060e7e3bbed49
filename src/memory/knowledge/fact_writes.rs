//! Facts in a write: statements about a subject, each valid for a time.
//!
//! A subject has one cluster, a concept whose children are its facts. Subject and attribute are the
//! key of a statement: two current statements of one key are contested, unless the later one
//! supersedes. Without an attribute, values are compared, and what differs is a conflict of low
//! severity that contests nothing.

use serde_json::{Map, Value};

use super::conflict_writes::{close, open_conflict};
use super::contradicting_facts::{facts_saying, is_current_fact, is_equal_text};
use super::fact_subject::FactSubject;
use super::node_writes::{
    NewKnowledgeNode, NewNodePlace, StoredKnowledgeNode, add_edge, add_mentions, add_node, edge,
    set_bounds, set_fields,
};
use crate::memory::typed::MemoryError;
use crate::model::clock::UnixMillis;
use crate::model::contradicting_statement_values::StatementFeatures;
use crate::model::entity_extraction::{name_key, normal_name, normal_statement};
use crate::model::identity::NodeId;
use crate::model::node_fields;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::knowledge::{FACT_CLUSTER, LINKS_MAX};
use crate::model::validity::Validity;
use crate::store::{Batch, NodeRowId};
use crate::text::tokens;

/// Facts of a cluster that are compared with one statement, the newest ones.
pub(super) const COMPARED_MAX: usize = 500;

/// Facts that an answer says a new one may contradict, at most; the newest ones.
const COLLISIONS_MAX: usize = 10;

/// Facts that are looked through for those of a subject, and that one which supersedes takes the
/// place of, at most.
const LOOKED_THROUGH_MAX: usize = 10_000;

/// A statement to be kept.
pub(super) struct NewFact<'a> {
    pub(super) text: &'a str,
    pub(super) token_count: u32,
    pub(super) subject: &'a FactSubject,
    pub(super) attribute: Option<&'a str>,
    pub(super) held: Validity,
    /// The bounds of that time which somebody gave.
    pub(super) given: Validity,
    /// Whether it takes the place of current statements that contradict it.
    pub(super) supersedes: bool,
    pub(super) mentions: &'a [NodeId],
    pub(super) topic: Option<&'a StoredKnowledgeNode>,
    pub(super) asserted_by: Option<&'a str>,
    pub(super) source_ref: Option<&'a str>,
    /// The fact that says it already, where it is known.
    pub(super) known: Option<&'a StoredKnowledgeNode>,
}

/// The effect of a statement.
#[derive(Debug)]
pub(super) struct FactOutcome {
    pub(super) fact: StoredKnowledgeNode,
    /// Whether it was not there before.
    pub(super) is_new: bool,
    pub(super) conflict: Option<NodeId>,
    /// The newest facts that may contradict it, eldest first.
    pub(super) collisions: Vec<NodeId>,
}

/// Keeps a statement below the cluster of its subject.
pub(super) fn state_fact(
    batch: &mut Batch<'_>,
    new: &NewFact<'_>,
    now: UnixMillis,
) -> Result<FactOutcome, MemoryError> {
    let mut subject = new.subject.clone();
    let mut clusters = subject.find_clusters(batch)?;
    if clusters.is_empty() {
        clusters.push(add_cluster(batch, subject.name(), new.topic, now)?);
    }
    let mut held = new.held;
    let keys = new.attribute.map_or(Vec::new(), |it| subject.keys(it));
    // One that supersedes without an end takes the place of what has ended after its own beginning,
    // too. One with an end would take the rest of that along.
    let supersedes_all = new.supersedes && held.to.is_none();
    let since = held.from.filter(|_| supersedes_all).map_or(now, |it| it.min(now));
    let mut there = match new.attribute {
        Some(attribute) => {
            let n_max = if new.supersedes { LOOKED_THROUGH_MAX } else { LINKS_MAX };
            let mut there = subject.current_facts(batch, attribute, n_max, since)?;
            if there.len() == n_max {
                // One that says the same is found, however old it is.
                let mut equal = subject.current_facts_saying(batch, attribute, new.text, since)?;
                equal.retain(|it| there.iter().all(|known| known.id() != it.id()));
                there.splice(0..0, equal);
            }
            subject.add_keys(batch, &mut there, now)?;
            there
        }
        None => near_facts(batch, new, (&subject, &clusters), since)?,
    };
    if let Some(known) = new.known
        && there.iter().all(|it| it.id() != known.id())
    {
        there.push(known.clone());
    }
    let is_it = |it: &StoredKnowledgeNode| {
        is_current_fact(it, now)
            && is_equal_text(&it.record.content, new.text)
            && held.overlaps(it.validity())
    };
    if let Some(at) = there.iter().position(is_it) {
        let fact = there.swap_remove(at);
        return state_again(batch, new, fact, there, now);
    }
    there.retain(|it| held.overlaps(it.validity()));
    let none = Vec::new();
    let (mut rivals, mut collisions) =
        if new.attribute.is_some() { (there, none) } else { (none, there) };
    if new.supersedes {
        rivals.append(&mut collisions);
        held.to = end_before_planned(&mut rivals, held, now);
    }
    let fact = add_fact(batch, &NewFact { held, ..*new }, keys, &clusters[0], now)?;
    settle_rivals(batch, new, fact, (rivals, collisions), now)
}

/// Returns the facts of a subject that are not over by a time and say the same as a new one, or
/// that it may contradict, newest first; for one that supersedes also those that it corrects in
/// letter case alone.
fn near_facts(
    batch: &Batch<'_>,
    new: &NewFact<'_>,
    (subject, clusters): (&FactSubject, &[StoredKnowledgeNode]),
    since: UnixMillis,
) -> Result<Vec<StoredKnowledgeNode>, MemoryError> {
    let text = new.text;
    let shared = subject.find_shared_clusters(batch)?;
    let below: Vec<NodeRowId> = clusters.iter().chain(&shared).map(|it| it.record.key).collect();
    let mut near = newest_facts(batch, (subject, &below))?;
    // One that says the same is found, however old it is.
    let mut equal = facts_saying(batch, text)?;
    equal.retain(|it| {
        it.record.place.parent.is_some_and(|key| below.contains(&key))
            && near.iter().all(|known| known.id() != it.id())
    });
    subject.retain_own(batch, &mut equal)?;
    near.append(&mut equal);
    let (words, statement) = (StatementFeatures::of(text), normal_statement(text));
    let is_near = |it: &StoredKnowledgeNode| {
        normal_statement(&it.record.content) == statement
            || words.has_values()
                && words.may_contradict(&StatementFeatures::of(&it.record.content))
            || new.supersedes && normal_name(&it.record.content) == normal_name(text)
    };
    near.retain(|it| is_current_fact(it, since) && is_near(it));
    Ok(near)
}

/// Returns the newest facts of a subject below some clusters, which hold those of others, too.
fn newest_facts(
    batch: &Batch<'_>,
    (subject, below): (&FactSubject, &[NodeRowId]),
) -> Result<Vec<StoredKnowledgeNode>, MemoryError> {
    let mut n_read = COMPARED_MAX;
    loop {
        let found = batch.living_facts_below(below, n_read)?;
        let is_all = found.len() < n_read || n_read == LOOKED_THROUGH_MAX;
        let mut facts = StoredKnowledgeNode::all(found)?;
        subject.retain_own(batch, &mut facts)?;
        if is_all || COMPARED_MAX <= facts.len() {
            facts.truncate(COMPARED_MAX);
            return Ok(facts);
        }
        n_read = (n_read * 8).min(LOOKED_THROUGH_MAX);
    }
}

/// States a fact again that is there: it takes the bounds and the mentions that are given, and
/// begins as early as anybody says. With `supersede` it takes the place of others.
fn state_again(
    batch: &mut Batch<'_>,
    new: &NewFact<'_>,
    mut fact: StoredKnowledgeNode,
    mut others: Vec<StoredKnowledgeNode>,
    now: UnixMillis,
) -> Result<FactOutcome, MemoryError> {
    let known = fact.validity();
    let from = match (known.from, new.held.from) {
        (Some(known), Some(new)) => Some(known.min(new)),
        (Some(known), None) => Some(known),
        (None, _) => new.given.from,
    };
    let mut held = Validity { from, to: new.given.to.or(known.to) };
    let is_rival = |it: Validity| !it.is_over(now) && held.overlaps(it);
    others.retain(|it| new.supersedes && is_rival(it.validity()));
    if new.supersedes {
        held.to = end_before_planned(&mut others, held, now);
    }
    set_fields(batch, &mut fact, |it| set_bounds(it, held), now)?;
    add_mentions(batch, &mut fact, new.mentions, now)?;
    let outcome = settle_rivals(batch, &NewFact { held, ..*new }, fact, (others, Vec::new()), now)?;
    Ok(FactOutcome { is_new: false, ..outcome })
}

/// Takes out of the rivals of a fact that supersedes what is planned for a later time; returns the
/// end of the fact, which is where that begins.
fn end_before_planned(
    rivals: &mut Vec<StoredKnowledgeNode>,
    held: Validity,
    now: UnixMillis,
) -> Option<UnixMillis> {
    let is_planned = |it: &mut StoredKnowledgeNode| {
        !it.validity().is_begun(now) && held.from < it.time("valid_from")
    };
    let planned: Vec<StoredKnowledgeNode> = rivals.extract_if(.., is_planned).collect();
    planned.iter().filter_map(|it| it.time("valid_from")).chain(held.to).min()
}

/// Closes the rivals of a new fact, or contests all of them.
fn settle_rivals(
    batch: &mut Batch<'_>,
    new: &NewFact<'_>,
    mut fact: StoredKnowledgeNode,
    (mut rivals, mut candidates): (Vec<StoredKnowledgeNode>, Vec<StoredKnowledgeNode>),
    now: UnixMillis,
) -> Result<FactOutcome, MemoryError> {
    if new.supersedes {
        for old in &mut rivals {
            close(batch, old, fact.id(), new.held.from.unwrap_or(now), now)?;
        }
        // Those that are replaced name what replaced them, too.
        let n_links = node_fields::list(&fact.fields, "links").len();
        let told = rivals.iter().rev().take(LINKS_MAX.saturating_sub(n_links));
        let links: Vec<Value> = told.map(|it| edge("supersedes", it.id(), 1.0, None)).collect();
        let link = |it: &mut Map<String, Value>| links.into_iter().for_each(|to| add_edge(it, to));
        set_fields(batch, &mut fact, link, now)?;
        rivals.clear();
    }
    let mut conflict = None;
    let mut collisions = Vec::new();
    if !rivals.is_empty() {
        collisions = newest_ids(&rivals);
        rivals.push(fact.clone());
        conflict = Some(open_conflict(batch, &mut rivals, "medium", None, now)?);
        fact = rivals.pop().unwrap_or(fact);
    } else if !candidates.is_empty() {
        candidates.reverse();
        collisions = newest_ids(&candidates);
        candidates.push(fact.clone());
        conflict = Some(open_conflict(batch, &mut candidates, "low", None, now)?);
    }
    Ok(FactOutcome { fact, is_new: true, conflict, collisions })
}

/// Returns the ids of the last ones of some facts that are told.
fn newest_ids(facts: &[StoredKnowledgeNode]) -> Vec<NodeId> {
    let n_passed_over = facts.len().saturating_sub(COLLISIONS_MAX);
    facts[n_passed_over..].iter().map(StoredKnowledgeNode::id).collect()
}

fn add_fact(
    batch: &mut Batch<'_>,
    new: &NewFact<'_>,
    keys: Vec<String>,
    cluster: &StoredKnowledgeNode,
    now: UnixMillis,
) -> Result<StoredKnowledgeNode, MemoryError> {
    let mut fields = Map::new();
    let texts = [
        ("subject", Some(new.subject.name())),
        ("attribute", new.attribute),
        ("key", keys.first().map(String::as_str)),
        ("asserted_by", new.asserted_by),
        ("source_ref", new.source_ref),
    ];
    for (name, value) in texts {
        fields.insert(name.to_owned(), value.into());
    }
    if !keys.is_empty() {
        fields.insert("names".to_owned(), keys.into());
    }
    set_bounds(&mut fields, new.held);
    new.mentions.iter().for_each(|it| add_edge(&mut fields, edge("mentions", *it, 1.0, None)));
    let added = NewKnowledgeNode {
        node_type: NodeType::Fact,
        content: new.text,
        token_count: new.token_count,
        fields,
    };
    add_node(batch, added, NewNodePlace::Node(cluster.record.key), now)
}

/// Returns the cluster of a subject, the eldest of several; it is made if there is none.
pub(super) fn cluster_of(
    batch: &mut Batch<'_>,
    subject: &mut FactSubject,
    topic: Option<&StoredKnowledgeNode>,
    now: UnixMillis,
) -> Result<StoredKnowledgeNode, MemoryError> {
    match subject.find_clusters(batch)?.into_iter().next() {
        Some(cluster) => Ok(cluster),
        None => add_cluster(batch, subject.name(), topic, now),
    }
}

/// Adds the cluster of a subject.
fn add_cluster(
    batch: &mut Batch<'_>,
    subject: &str,
    topic: Option<&StoredKnowledgeNode>,
    now: UnixMillis,
) -> Result<StoredKnowledgeNode, MemoryError> {
    let mut fields = Map::new();
    fields.insert("kind".to_owned(), FACT_CLUSTER.into());
    fields.insert("title".to_owned(), format!("Facts about {subject}").into());
    fields.insert("subject".to_owned(), name_key(subject).into());
    fields.insert("confidence".to_owned(), 1.0.into());
    fields.insert("topic".to_owned(), super::entity_resolution::topic_field(topic));
    let token_count = tokens::count(subject);
    let new =
        NewKnowledgeNode { node_type: NodeType::Concept, content: subject, token_count, fields };
    let below = topic.map_or(NewNodePlace::Bucket(&[]), |it| NewNodePlace::Node(it.record.key));
    add_node(batch, new, below, now)
}
