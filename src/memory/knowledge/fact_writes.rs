//! Facts in a write: statements about a subject, each valid for a time, and the conflicts between
//! them.
//!
//! A subject has one cluster, a concept whose children are its facts. Subject and attribute are the
//! key of a statement: two current statements of one key are contested, unless the later one
//! supersedes. Without an attribute, values are compared, and what differs is a conflict of low
//! severity that contests nothing.

use serde_json::{Map, Value, json};

use super::node_writes::{
    KnowledgeNode, NewKnowledgeNode, NewNodeParent, add_edge, add_node, edge, find_node, set_fields,
};
use crate::memory::typed::MemoryError;
use crate::model::clock::Millis;
use crate::model::contradiction_check::StatementFeatures;
use crate::model::entity_extraction::{name_key, normal_name};
use crate::model::identity::NodeId;
use crate::model::kind_specs::knowledge::{CONFLICT_STATES, FACT_CLUSTER};
use crate::model::tree::NodeType;
use crate::store::Batch;
use crate::text::tokens;

/// The type of the edges from a conflict to its statements.
pub(super) const DISPUTES: &str = "disputes";

/// Facts of a cluster whose values are compared, the newest ones.
const COMPARED_MAX: usize = 500;

/// A statement to be kept.
pub(super) struct NewFact<'a> {
    pub(super) text: &'a str,
    pub(super) token_count: u32,
    pub(super) subject: &'a str,
    pub(super) attribute: Option<&'a str>,
    pub(super) valid_from: Millis,
    pub(super) valid_to: Option<Millis>,
    /// Whether it takes the place of current statements of its key.
    pub(super) supersedes: bool,
    pub(super) mentions: &'a [NodeId],
    pub(super) topic: Option<&'a KnowledgeNode>,
    pub(super) asserted_by: Option<&'a str>,
    pub(super) source_ref: Option<&'a str>,
}

/// The effect of a statement.
#[derive(Debug)]
pub(super) struct FactOutcome {
    pub(super) fact: KnowledgeNode,
    pub(super) conflict: Option<NodeId>,
    /// Facts that may contradict it.
    pub(super) collisions: Vec<NodeId>,
}

/// Keeps a statement below the cluster of its subject.
pub(super) fn state_fact(
    batch: &mut Batch<'_>,
    new: &NewFact<'_>,
    now: Millis,
) -> Result<FactOutcome, MemoryError> {
    let cluster = cluster_of(batch, new.subject, new.topic, now)?;
    let key = new.attribute.map(|it| statement_key(new.subject, it));
    let mut rivals = Vec::new();
    let mut collisions = Vec::new();
    match &key {
        Some(key) => {
            let found = batch.with_facet(NodeType::Fact, "statement", key)?;
            rivals = KnowledgeNode::all(found)?;
            rivals.retain(|it| overlaps(it, new));
        }
        None => {
            let words = StatementFeatures::of(new.text);
            let children = KnowledgeNode::all(batch.children_of(cluster.record.key)?)?;
            for fact in children.into_iter().rev().take(COMPARED_MAX) {
                let is_current = fact.is_a(NodeType::Fact) && is_current_fact(&fact);
                if is_current && is_equal_text(&fact.record.content, new.text) {
                    rivals.push(fact);
                } else if is_current
                    && words.may_contradict(&StatementFeatures::of(&fact.record.content))
                {
                    collisions.push(fact);
                }
            }
        }
    }
    if let Some(at) = rivals.iter().position(|it| is_equal_text(&it.record.content, new.text)) {
        let fact = rivals.swap_remove(at);
        return Ok(FactOutcome { fact, conflict: None, collisions: Vec::new() });
    }
    let fact = add_fact(batch, new, key.as_deref(), &cluster, now)?;
    settle_rivals(batch, new, fact, (rivals, collisions), now)
}

/// Closes the rivals of a new fact, or contests all of them.
fn settle_rivals(
    batch: &mut Batch<'_>,
    new: &NewFact<'_>,
    mut fact: KnowledgeNode,
    (mut rivals, mut candidates): (Vec<KnowledgeNode>, Vec<KnowledgeNode>),
    now: Millis,
) -> Result<FactOutcome, MemoryError> {
    if new.supersedes {
        for old in &mut rivals {
            close_fact(batch, old, fact.id(), new.valid_from, now)?;
        }
        let links: Vec<Value> =
            rivals.iter().map(|it| edge("supersedes", it.id(), 1.0, None)).collect();
        set_fields(
            batch,
            &mut fact,
            |it| links.into_iter().for_each(|link| add_edge(it, link)),
            now,
        )?;
        rivals.clear();
    }
    let mut conflict = None;
    let mut collisions = Vec::new();
    if !rivals.is_empty() {
        collisions = rivals.iter().map(KnowledgeNode::id).collect();
        rivals.push(fact.clone());
        conflict = Some(open_conflict(batch, &mut rivals, "medium", None, now)?);
        fact = rivals.pop().unwrap_or(fact);
    } else if !candidates.is_empty() && !new.supersedes {
        collisions = candidates.iter().map(KnowledgeNode::id).collect();
        candidates.push(fact.clone());
        conflict = Some(open_conflict(batch, &mut candidates, "low", None, now)?);
    }
    Ok(FactOutcome { fact, conflict, collisions })
}

fn add_fact(
    batch: &mut Batch<'_>,
    new: &NewFact<'_>,
    key: Option<&str>,
    cluster: &KnowledgeNode,
    now: Millis,
) -> Result<KnowledgeNode, MemoryError> {
    let mut fields = Map::new();
    let texts = [
        ("subject", Some(new.subject)),
        ("attribute", new.attribute),
        ("key", key),
        ("asserted_by", new.asserted_by),
        ("source_ref", new.source_ref),
    ];
    for (name, value) in texts {
        fields.insert(name.to_owned(), value.into());
    }
    fields.insert("valid_from".to_owned(), new.valid_from.0.into());
    fields.insert("valid_to".to_owned(), new.valid_to.map(|it| it.0).into());
    new.mentions.iter().for_each(|it| add_edge(&mut fields, edge("mentions", *it, 1.0, None)));
    let added = NewKnowledgeNode {
        node_type: NodeType::Fact,
        content: new.text,
        token_count: new.token_count,
        fields,
    };
    add_node(batch, added, NewNodeParent::Node(cluster.record.key), now)
}

/// Returns the cluster of a subject, which is made if it is new.
pub(super) fn cluster_of(
    batch: &mut Batch<'_>,
    subject: &str,
    topic: Option<&KnowledgeNode>,
    now: Millis,
) -> Result<KnowledgeNode, MemoryError> {
    let name = name_key(subject);
    let known = KnowledgeNode::all(batch.with_facet(NodeType::Concept, "subject", &name)?)?;
    if let Some(cluster) = known.into_iter().find(|it| !it.is_hidden()) {
        return Ok(cluster);
    }
    let mut fields = Map::new();
    fields.insert("kind".to_owned(), FACT_CLUSTER.into());
    fields.insert("title".to_owned(), format!("Facts about {subject}").into());
    fields.insert("subject".to_owned(), name.into());
    fields.insert("confidence".to_owned(), 1.0.into());
    fields.insert("topic".to_owned(), super::entity_resolution::topic_field(topic));
    let token_count = tokens::count(subject);
    let new =
        NewKnowledgeNode { node_type: NodeType::Concept, content: subject, token_count, fields };
    let below = topic.map_or(NewNodeParent::Bucket(&[]), |it| NewNodeParent::Node(it.record.key));
    add_node(batch, new, below, now)
}

/// Returns the key of a statement.
pub(super) fn statement_key(subject: &str, attribute: &str) -> String {
    name_key(&format!("{}\u{1f}{}", normal_name(subject), normal_name(attribute)))
}

/// Returns whether a fact is neither closed nor hidden.
pub(super) fn is_current_fact(fact: &KnowledgeNode) -> bool {
    !fact.is_hidden() && !fact.has("valid_to")
}

/// Returns whether a statement that has no end is valid at a time with a new one.
fn overlaps(old: &KnowledgeNode, new: &NewFact<'_>) -> bool {
    let from = old.time("valid_from").unwrap_or(Millis(i64::MIN));
    new.valid_to.is_none_or(|it| from < it)
}

pub(super) fn is_equal_text(a: &str, b: &str) -> bool {
    normal_name(a) == normal_name(b)
}

/// Ends the validity of a fact that another one replaces.
pub(super) fn close_fact(
    batch: &mut Batch<'_>,
    fact: &mut KnowledgeNode,
    by: NodeId,
    at: Millis,
    now: Millis,
) -> Result<(), MemoryError> {
    // A fact that began later than its replacement was never valid.
    let from = fact.time("valid_from").unwrap_or(at);
    let change = |it: &mut Map<String, Value>| {
        it.entry("valid_to").or_insert_with(|| at.0.max(from.0).into());
        it.insert("superseded_by".to_owned(), by.to_string().into());
        it.insert("superseded_at".to_owned(), now.0.into());
        it.shift_remove("contested");
    };
    set_fields(batch, fact, change, now).map(drop)
}

/// Opens a conflict between nodes, or adds them to one that is open between some of them. Facts
/// are contested but for low severity.
pub(super) fn open_conflict(
    batch: &mut Batch<'_>,
    between: &mut [KnowledgeNode],
    severity: &str,
    note: Option<&str>,
    now: Millis,
) -> Result<NodeId, MemoryError> {
    let mut known = None;
    for node in &*between {
        let conflicts = open_conflicts_of(batch, node.id())?;
        known = known.or(conflicts.into_iter().find(|it| it.text("severity") == Some(severity)));
    }
    let links: Vec<Value> = between.iter().map(|it| edge(DISPUTES, it.id(), 1.0, None)).collect();
    let id = match known {
        Some(mut conflict) => {
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
            fields.insert("links".to_owned(), json!(links));
            fields.insert("note".to_owned(), note.into());
            let token_count = tokens::count(&content);
            let new = NewKnowledgeNode {
                node_type: NodeType::Conflict,
                content: &content,
                token_count,
                fields,
            };
            add_node(batch, new, NewNodeParent::Bucket(&[]), now)?.id()
        }
    };
    if severity != "low" {
        for fact in between.iter_mut().filter(|it| it.is_a(NodeType::Fact)) {
            set_fields(
                batch,
                fact,
                |it| drop(it.insert("contested".to_owned(), true.into())),
                now,
            )?;
        }
    }
    Ok(id)
}

/// Returns the open conflicts that dispute a node.
pub(super) fn open_conflicts_of(
    batch: &Batch<'_>,
    id: NodeId,
) -> Result<Vec<KnowledgeNode>, MemoryError> {
    let mut conflicts = KnowledgeNode::all(batch.with_edge_to(id, &[DISPUTES])?)?;
    conflicts.retain(|it| it.text("conflict") == Some(CONFLICT_STATES[0]) && !it.is_hidden());
    Ok(conflicts)
}

/// Returns the line that stands for a conflict: the key of its statements, or their subject.
fn conflict_line(between: &[KnowledgeNode]) -> String {
    let Some(first) = between.first() else { return "conflict".to_owned() };
    match (first.text("subject"), first.text("attribute")) {
        (Some(subject), Some(attribute)) => format!("{subject} / {attribute}"),
        (Some(subject), None) => format!("values of {subject}"),
        (None, _) => format!("conflict of {}", first.title()),
    }
}

/// Returns whether a fact is contested by an open conflict beside one that is about to end.
pub(super) fn is_contested_beside(
    batch: &Batch<'_>,
    fact: NodeId,
    ending: NodeId,
) -> Result<bool, MemoryError> {
    let conflicts = open_conflicts_of(batch, fact)?;
    Ok(conflicts.iter().any(|it| it.id() != ending && it.text("severity") != Some("low")))
}

/// Ends a conflict: the winner becomes current and the others are closed, or all stay current.
pub(super) fn end_conflict(
    batch: &mut Batch<'_>,
    conflict: &mut KnowledgeNode,
    winner: Option<NodeId>,
    note: Option<&str>,
    now: Millis,
) -> Result<(), MemoryError> {
    let ids: Vec<String> = conflict.linked(DISPUTES).into_iter().map(str::to_owned).collect();
    let mut statements = Vec::new();
    for id in &ids {
        statements.extend(find_node(batch, id)?);
    }
    let of_winner = statements.iter().find(|it| Some(it.id()) == winner);
    let from = of_winner.and_then(|it| it.time("valid_from"));
    for statement in &mut statements {
        let id = statement.id();
        match winner {
            Some(winner) if winner != id => {
                let began = statement.time("valid_from");
                // The older statement held until the newer one began.
                let at = from.filter(|it| began < Some(*it)).unwrap_or(now);
                close_fact(batch, statement, winner, at, now)?;
            }
            _ if is_contested_beside(batch, id, conflict.id())? => (),
            _ => {
                set_fields(batch, statement, |it| drop(it.shift_remove("contested")), now)?;
            }
        }
    }
    let state = CONFLICT_STATES[if winner.is_some() { 1 } else { 2 }];
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
