//! Rivals in a write: facts that say something else of one subject and attribute for the same time.
//!
//! All names of an entity are one subject. A fact has a key for each of them, and is found by any.

use serde_json::{Map, Value, json};

use super::entity_resolution::{entity_title, known_entity, present_one};
use super::node_writes::{StoredKnowledgeNode, find_node};
use crate::memory::typed::MemoryError;
use crate::model::clock::UnixMillis;
use crate::model::entity_extraction::{NamedEntity, name_key, normal_name};
use crate::model::identity::NodeId;
use crate::model::tree::NodeType;
use crate::store::Batch;

/// Names of a subject by which its facts are found, at most.
const NAMES_MAX: usize = 20;

/// A thing that facts are about.
#[derive(Clone, Debug)]
pub(super) struct FactSubject {
    /// Its own name, and the others that texts tell.
    names: Vec<String>,
    /// Hashes of all names, those too that no text tells any more.
    hashes: Vec<String>,
}

impl FactSubject {
    /// Returns the subject that an entity is. A compiled file is one by its path alone, since other
    /// files may have its heading.
    pub(super) fn of(
        batch: &Batch<'_>,
        entity: &StoredKnowledgeNode,
    ) -> Result<FactSubject, MemoryError> {
        let hashes = entity.fields.get("names").and_then(|it| it.as_array()).into_iter().flatten();
        let hashes = hashes.filter_map(|it| it.as_str().map(str::to_owned)).collect();
        let mut subject = FactSubject { names: Vec::new(), hashes };
        let lines: Vec<&str> = entity.record.content.lines().collect();
        let known: Vec<&str> =
            lines.into_iter().filter(|it| subject.hashes.contains(&name_key(it))).collect();
        subject.add_name(&entity_title(batch, entity)?);
        known.into_iter().for_each(|it| subject.add_name(it));
        Ok(subject)
    }

    /// Returns the subject that a caller names by an id, `kind:name` or a name.
    pub(super) fn given(batch: &Batch<'_>, text: &str) -> Result<FactSubject, MemoryError> {
        let node = match NodeId::parse(text) {
            Some(_) => find_node(batch, text)?,
            None => None,
        };
        match node {
            Some(node) => FactSubject::of(batch, &node),
            None => FactSubject::named(batch, text),
        }
    }

    /// Returns whether it has a name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.hashes.contains(&name_key(name))
    }

    /// Returns the subject of a name, known as an entity or not.
    pub(super) fn named(batch: &Batch<'_>, name: &str) -> Result<FactSubject, MemoryError> {
        let entity = match NamedEntity::parse(name) {
            Some(named) => known_entity(batch, &named)?,
            None => None,
        };
        let none = || FactSubject { names: Vec::new(), hashes: Vec::new() };
        let mut subject = match &entity {
            Some(entity) => FactSubject::of(batch, entity)?,
            None => none(),
        };
        subject.add_name(name);
        Ok(subject)
    }

    /// Adds a name, unless it has it.
    pub(super) fn add_name(&mut self, name: &str) {
        let hash = name_key(name);
        if self.names.len() < NAMES_MAX && self.names.iter().all(|it| name_key(it) != hash) {
            self.names.push(name.trim().to_owned());
        }
        if !self.hashes.contains(&hash) {
            self.hashes.push(hash);
        }
    }

    /// Returns its own name.
    pub(super) fn name(&self) -> &str {
        self.names.first().map_or("", String::as_str)
    }

    /// Returns the keys of statements of an attribute, the first one by its own name.
    pub(super) fn keys(&self, attribute: &str) -> Vec<String> {
        self.names.iter().map(|it| statement_key(it, attribute)).collect()
    }

    /// Returns the concepts that hold its facts, eldest first. If the eldest was made for another
    /// subject, that one's name is added.
    pub(super) fn find_clusters(
        &mut self,
        batch: &Batch<'_>,
    ) -> Result<Vec<StoredKnowledgeNode>, MemoryError> {
        let hashes: Vec<&str> = self.hashes.iter().map(String::as_str).collect();
        let known = batch.with_any_facet(NodeType::Concept, "subject", &hashes)?;
        let mut clusters: Vec<StoredKnowledgeNode> = Vec::new();
        for cluster in StoredKnowledgeNode::all(known)? {
            if let Some(cluster) = present_one(batch, cluster)?
                && clusters.iter().all(|it| it.id() != cluster.id())
            {
                clusters.push(cluster);
            }
        }
        if let Some(first) = clusters.first()
            && let Some(other) = subject_of_cluster(batch, first)?
        {
            self.add_name(&other);
        }
        Ok(clusters)
    }
}

/// Returns the name of the subject that a cluster was made for, as one of its facts has it.
pub(super) fn subject_of_cluster(
    batch: &Batch<'_>,
    cluster: &StoredKnowledgeNode,
) -> Result<Option<String>, MemoryError> {
    let Some(hash) = cluster.text("subject") else { return Ok(None) };
    let is_it = |it: &str| name_key(it) == hash;
    if is_it(&cluster.record.content) {
        return Ok(Some(cluster.record.content.clone()));
    }
    let facts =
        StoredKnowledgeNode::all(batch.living_facts_below(&[cluster.record.key], NAMES_MAX)?)?;
    Ok(facts.iter().filter_map(|it| it.text("subject")).find(|it| is_it(it)).map(str::to_owned))
}

/// Gives the fields of a fact the key of its attribute with a further name of its subject.
pub(super) fn add_key(fields: &mut Map<String, Value>, subject: &str) {
    let Some(attribute) = fields.get("attribute").and_then(Value::as_str) else { return };
    let key = Value::from(statement_key(subject, attribute));
    if let Value::Array(keys) = fields.entry("names").or_insert_with(|| json!([]))
        && !keys.contains(&key)
        && keys.len() < NAMES_MAX
    {
        keys.push(key);
    }
}

/// Returns the key of a statement.
pub(super) fn statement_key(subject: &str, attribute: &str) -> String {
    name_key(&format!("{}\u{1f}{}", normal_name(subject), normal_name(attribute)))
}

/// Returns whether a fact is neither hidden nor over.
pub(super) fn is_current_fact(fact: &StoredKnowledgeNode, now: UnixMillis) -> bool {
    !fact.is_hidden() && !fact.validity().is_over(now)
}

pub(super) fn is_equal_text(a: &str, b: &str) -> bool {
    normal_name(a) == normal_name(b)
}

/// Returns whether two facts of one subject and attribute cannot both hold.
pub(super) fn are_rivals(a: &StoredKnowledgeNode, b: &StoredKnowledgeNode) -> bool {
    a.id() != b.id()
        && a.validity().overlaps(b.validity())
        && !is_equal_text(&a.record.content, &b.record.content)
}

/// Returns the current facts that have one of some keys, eldest first.
pub(super) fn current_facts_of(
    batch: &Batch<'_>,
    keys: &[String],
    now: UnixMillis,
) -> Result<Vec<StoredKnowledgeNode>, MemoryError> {
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let mut facts = Vec::new();
    for fact in StoredKnowledgeNode::all(batch.living_facts_of(&keys)?)? {
        if is_current_fact(&fact, now) && !is_below_hidden(batch, &fact)? {
            facts.push(fact);
        }
    }
    Ok(facts)
}

/// Returns whether the cluster of a fact is deleted or replaced: the fact is gone with it.
pub(super) fn is_below_hidden(
    batch: &Batch<'_>,
    fact: &StoredKnowledgeNode,
) -> Result<bool, MemoryError> {
    let parent = fact.record.place.parent.map(|it| batch.at(it)).transpose()?.flatten();
    Ok(parent.map(StoredKnowledgeNode::of).transpose()?.is_some_and(|it| it.is_hidden()))
}
