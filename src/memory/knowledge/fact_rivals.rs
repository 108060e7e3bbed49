//! Rivals in a write: facts that say something else of one subject and attribute for the same time.
//!
//! All names of an entity are one subject, and all clusters of these names hold its facts.

use std::collections::BTreeSet;

use super::entity_resolution::{known_entity, present_one};
use super::node_writes::KnowledgeNode;
use crate::memory::typed::MemoryError;
use crate::model::clock::Millis;
use crate::model::entity_extraction::{NamedEntity, name_key, normal_name};
use crate::model::tree::NodeType;
use crate::store::{Batch, NodeKey};

/// A thing that facts are about.
#[derive(Clone, Debug)]
pub(super) struct FactSubject {
    pub(super) name: String,
    /// Hashes of all its names.
    keys: BTreeSet<String>,
}

impl FactSubject {
    /// Returns the subject that an entity is.
    pub(super) fn of(entity: &KnowledgeNode) -> FactSubject {
        let names = entity.fields.get("names").and_then(|it| it.as_array()).into_iter().flatten();
        let mut keys: BTreeSet<String> =
            names.filter_map(|it| it.as_str().map(str::to_owned)).collect();
        keys.insert(name_key(entity.title()));
        FactSubject { name: entity.title().to_owned(), keys }
    }

    /// Returns the subject of a name, known as an entity or not.
    pub(super) fn named(batch: &Batch<'_>, name: &str) -> Result<FactSubject, MemoryError> {
        let entity = match NamedEntity::parse(name) {
            Some(named) => known_entity(batch, &named)?,
            None => None,
        };
        let mut subject = entity.as_ref().map_or_else(
            || FactSubject { name: name.to_owned(), keys: BTreeSet::new() },
            FactSubject::of,
        );
        subject.keys.insert(name_key(name));
        Ok(subject)
    }

    /// Returns the concepts that hold its facts, eldest first.
    pub(super) fn clusters(&self, batch: &Batch<'_>) -> Result<Vec<KnowledgeNode>, MemoryError> {
        let keys: Vec<&str> = self.keys.iter().map(String::as_str).collect();
        let known = batch.with_any_facet(NodeType::Concept, "subject", &keys)?;
        let mut clusters: Vec<KnowledgeNode> = Vec::new();
        for cluster in KnowledgeNode::all(known)? {
            if let Some(cluster) = present_one(batch, cluster)?
                && clusters.iter().all(|it| it.id() != cluster.id())
            {
                clusters.push(cluster);
            }
        }
        Ok(clusters)
    }
}

/// Returns the key of a statement.
pub(super) fn statement_key(subject: &str, attribute: &str) -> String {
    name_key(&format!("{}\u{1f}{}", normal_name(subject), normal_name(attribute)))
}

/// Returns whether a fact is neither hidden nor over.
pub(super) fn is_current_fact(fact: &KnowledgeNode, now: Millis) -> bool {
    !fact.is_hidden() && !fact.validity().is_over(now)
}

pub(super) fn is_equal_text(a: &str, b: &str) -> bool {
    normal_name(a) == normal_name(b)
}

/// Returns whether two facts of one subject and attribute cannot both hold.
pub(super) fn are_rivals(a: &KnowledgeNode, b: &KnowledgeNode) -> bool {
    a.id() != b.id()
        && a.validity().overlaps(b.validity())
        && !is_equal_text(&a.record.content, &b.record.content)
}

/// Returns the current facts of clusters, and those elsewhere of a key, eldest first.
pub(super) fn current_facts(
    batch: &Batch<'_>,
    clusters: &[NodeKey],
    key: Option<&str>,
    now: Millis,
) -> Result<Vec<KnowledgeNode>, MemoryError> {
    let mut facts = KnowledgeNode::all(batch.living_facts_below(clusters)?)?;
    let elsewhere = match key {
        Some(key) => batch.with_facet(NodeType::Fact, "statement", key)?,
        None => Vec::new(),
    };
    for fact in KnowledgeNode::all(elsewhere)? {
        let parent = fact.record.place.parent;
        if parent.is_some_and(|it| clusters.contains(&it)) {
            continue;
        }
        let parent = parent.map(|it| batch.at(it)).transpose()?.flatten();
        // What is below a deleted cluster is gone with it.
        if !parent.map(KnowledgeNode::of).transpose()?.is_some_and(|it| it.is_hidden()) {
            facts.push(fact);
        }
    }
    facts.retain(|it| is_current_fact(it, now));
    facts.sort_by_key(|it| it.record.key);
    Ok(facts)
}
