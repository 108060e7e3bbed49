//! Subjects of facts: the things that they are about, by all of their names.
//!
//! All names of an entity are one subject. A fact has a key for each of them, and is found by any.
//! A compiled file has names that other files may have, too: its heading, by which earlier builds
//! named it, and its path, if another root has that. By these it is the subject only of facts that
//! mention it, or whose name leads to it, and what mentions a file of another root is about that
//! one.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::conflict_writes::keys_of_fact;
use super::contradicting_facts::{facts_saying, retain_standing};
use super::entity_resolution::{entity_title, known_entity, present_one};
use super::node_writes::{StoredKnowledgeNode, find_node, set_fields};
use crate::memory::typed::MemoryError;
use crate::model::clock::UnixMillis;
use crate::model::entity_extraction::{NamedEntity, name_key, normal_name};
use crate::model::identity::NodeId;
use crate::model::node_fields;
use crate::model::tree::NodeType;
use crate::store::{Batch, FileNodeNames, NodeRecord};

/// Names of a subject by which its facts are found, at most.
pub(super) const NAMES_MAX: usize = 20;

/// A thing that facts are about.
#[derive(Clone, Debug, Default)]
pub(super) struct FactSubject {
    /// Its own name, and the others that texts tell.
    names: Vec<String>,
    /// Hashes of all names, those too that no text tells any more.
    hashes: Vec<String>,
    /// The node of a compiled file that it is, and the names of that.
    file: Option<(NodeId, FileNodeNames)>,
}

impl FactSubject {
    /// Returns the subject that an entity is.
    pub(super) fn of(
        batch: &Batch<'_>,
        entity: &StoredKnowledgeNode,
    ) -> Result<FactSubject, MemoryError> {
        let hashes = node_fields::list(&entity.fields, "names").iter();
        let hashes = hashes.filter_map(|it| it.as_str().map(str::to_owned)).collect();
        let file = match entity.record.place.file {
            Some(_) => batch.file_names(entity.record.key)?.map(|it| (entity.id(), it)),
            None => None,
        };
        let mut subject = FactSubject { names: Vec::new(), hashes, file };
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

    /// Returns the subject of a name, known as an entity or not.
    pub(super) fn named(batch: &Batch<'_>, name: &str) -> Result<FactSubject, MemoryError> {
        let entity = match NamedEntity::parse(name) {
            Some(named) => known_entity(batch, &named)?,
            None => None,
        };
        let mut subject = match &entity {
            Some(entity) => FactSubject::of(batch, entity)?,
            None => FactSubject::default(),
        };
        subject.add_name(name);
        Ok(subject)
    }

    /// Returns the subject of a fact.
    pub(super) fn of_fact(
        batch: &Batch<'_>,
        fact: &StoredKnowledgeNode,
    ) -> Result<FactSubject, MemoryError> {
        FactSubject::of_fact_about(batch, fact, batch.nodes_of_files(&fact.linked("mentions"))?)
    }

    /// Returns the subject of a fact that mentions those nodes of files.
    fn of_fact_about(
        batch: &Batch<'_>,
        fact: &StoredKnowledgeNode,
        files: Vec<NodeRecord>,
    ) -> Result<FactSubject, MemoryError> {
        for file in StoredKnowledgeNode::all(files)? {
            let subject = FactSubject::of(batch, &file)?;
            if subject.is_of(batch, fact)? {
                return Ok(subject);
            }
        }
        FactSubject::named(batch, fact.text("subject").unwrap_or_default())
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

    /// Returns whether a fact is about it, by whatever name.
    pub(super) fn is_of(
        &self,
        batch: &Batch<'_>,
        fact: &StoredKnowledgeNode,
    ) -> Result<bool, MemoryError> {
        let name = fact.text("subject").unwrap_or_default();
        let is_named = self.hashes.contains(&name_key(name)) || self.is_shared_name(name);
        Ok(is_named && self.admits(batch, fact)?)
    }

    /// Returns whether it has a name that other files may have, too.
    fn is_shared_name(&self, name: &str) -> bool {
        let hash = name_key(name);
        let further = self.file.iter().flat_map(|(_, it)| &it.further);
        !self.hashes.contains(&hash) && further.into_iter().any(|it| name_key(it) == hash)
    }

    /// Returns whether a fact that is found by a name is about this subject, and not about another
    /// file of that name.
    fn admits(&self, batch: &Batch<'_>, fact: &StoredKnowledgeNode) -> Result<bool, MemoryError> {
        let Some((id, file)) = &self.file else { return Ok(true) };
        let mentions = fact.linked("mentions");
        let is_mentioned = mentions.contains(&id.to_string().as_str());
        let name = fact.text("subject").unwrap_or_default();
        let is_shared = self.is_shared_name(name);
        if !is_mentioned {
            let roots = match file.has_other_roots {
                true => batch.roots_of(&mentions, &file.path)?,
                false => Vec::new(),
            };
            let is_of_another = !roots.is_empty() && !roots.contains(&file.root);
            return Ok(!is_of_another && (!is_shared || self.is_found_by(batch, name)?));
        }
        if !is_shared {
            return Ok(true);
        }
        let hash = Value::from(name_key(name));
        for other in &mentions {
            let Some(node) = find_node(batch, other)?.filter(|it| it.id() != *id) else { continue };
            let is_named = node_fields::list(&node.fields, "names").contains(&hash);
            let file = batch.file_names(node.record.key)?;
            let further = file.iter().flat_map(|it| it.further.iter().chain([&it.own]));
            if is_named || further.into_iter().any(|it| hash == name_key(it)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether a name of a file leads to it.
    fn is_found_by(&self, batch: &Batch<'_>, name: &str) -> Result<bool, MemoryError> {
        let Some(named) = NamedEntity::parse(name).filter(|it| it.kind == "file") else {
            return Ok(false);
        };
        let found = known_entity(batch, &named)?.map(|it| it.id());
        Ok(found.is_some() && found == self.file_id())
    }

    /// Returns the node of a compiled file that it is.
    fn file_id(&self) -> Option<NodeId> {
        self.file.as_ref().map(|it| it.0)
    }

    /// Returns the keys of statements of an attribute by any of its names, those too that other
    /// files may have.
    pub(super) fn all_keys(&self, attribute: &str) -> Vec<String> {
        let shared = self.file.iter().flat_map(|(_, it)| &it.further);
        let shared = shared.map(|it| statement_key(it, attribute));
        self.keys(attribute).into_iter().chain(shared).collect()
    }

    /// Returns its newest current facts of an attribute by any of its names, at most `n_max` and
    /// eldest first.
    pub(super) fn current_facts(
        &self,
        batch: &Batch<'_>,
        attribute: &str,
        n_max: usize,
        now: UnixMillis,
    ) -> Result<Vec<StoredKnowledgeNode>, MemoryError> {
        let keys = self.all_keys(attribute);
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let mut facts = Vec::new();
        let mut before = None;
        loop {
            let page = batch.newest_living_with_keys(&keys, before, n_max)?;
            let is_last = page.len() < n_max;
            before = page.last().map(|it| it.key);
            let mut page = StoredKnowledgeNode::all(page)?;
            page.retain(|it| it.is_a(NodeType::Fact));
            retain_standing(batch, &mut page, now)?;
            self.retain_own(batch, &mut page)?;
            facts.append(&mut page);
            if is_last || n_max <= facts.len() {
                facts.truncate(n_max);
                facts.reverse();
                return Ok(facts);
            }
        }
    }

    /// Returns its current facts of an attribute that say a text, however old they are.
    pub(super) fn current_facts_saying(
        &self,
        batch: &Batch<'_>,
        attribute: &str,
        text: &str,
        now: UnixMillis,
    ) -> Result<Vec<StoredKnowledgeNode>, MemoryError> {
        let keys = self.all_keys(attribute);
        let is_of_key = |key: &str| keys.iter().any(|it| it == key);
        let mut facts = facts_saying(batch, text)?;
        facts.retain(|it| it.has("attribute") && keys_of_fact(it).into_iter().any(is_of_key));
        retain_standing(batch, &mut facts, now)?;
        self.retain_own(batch, &mut facts)?;
        Ok(facts)
    }

    /// Takes those out of some facts, found by its names, that are about another file.
    pub(super) fn retain_own(
        &self,
        batch: &Batch<'_>,
        facts: &mut Vec<StoredKnowledgeNode>,
    ) -> Result<(), MemoryError> {
        let mut own = Vec::with_capacity(facts.len());
        for fact in facts.drain(..) {
            if self.admits(batch, &fact)? {
                own.push(fact);
            }
        }
        *facts = own;
        Ok(())
    }

    /// Has facts found by its own name that have one which other files may have, too.
    pub(super) fn add_keys(
        &self,
        batch: &mut Batch<'_>,
        facts: &mut [StoredKnowledgeNode],
        now: UnixMillis,
    ) -> Result<(), MemoryError> {
        for fact in facts {
            if self.is_shared_name(fact.text("subject").unwrap_or_default()) {
                set_fields(batch, fact, |it| add_key(it, self.name()), now)?;
            }
        }
        Ok(())
    }

    /// Returns the concepts that hold its facts, eldest first. If the eldest was made for another
    /// subject, that one's name is added.
    pub(super) fn find_clusters(
        &mut self,
        batch: &Batch<'_>,
    ) -> Result<Vec<StoredKnowledgeNode>, MemoryError> {
        let hashes: Vec<&str> = self.hashes.iter().map(String::as_str).collect();
        let mut clusters = clusters_of(batch, &hashes)?;
        if self.file.as_ref().is_some_and(|(_, it)| it.has_other_roots) {
            clusters = self.with_own_facts(batch, clusters, EmptyClusterOwnership::Own)?;
        }
        if let Some(first) = clusters.first()
            && let Some(other) = subject_of_cluster(batch, first)?
        {
            self.add_name(&other);
        }
        Ok(clusters)
    }

    /// Returns the concepts that hold facts of it by names that other files may have, too.
    pub(super) fn find_shared_clusters(
        &self,
        batch: &Batch<'_>,
    ) -> Result<Vec<StoredKnowledgeNode>, MemoryError> {
        let Some((_, file)) = &self.file else { return Ok(Vec::new()) };
        let hashes: Vec<String> = file.further.iter().map(|it| name_key(it)).collect();
        clusters_of(batch, &hashes.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Returns the clusters whose facts are not those of another file.
    fn with_own_facts(
        &self,
        batch: &Batch<'_>,
        clusters: Vec<StoredKnowledgeNode>,
        empty: EmptyClusterOwnership,
    ) -> Result<Vec<StoredKnowledgeNode>, MemoryError> {
        let mut own = Vec::new();
        for cluster in clusters {
            let facts = batch.living_facts_below(&[cluster.record.key], NAMES_MAX)?;
            let facts = StoredKnowledgeNode::all(facts)?;
            let mut is_own = facts.is_empty() && empty == EmptyClusterOwnership::Own;
            for fact in &facts {
                is_own = is_own || self.admits(batch, fact)?;
            }
            if is_own {
                own.push(cluster);
            }
        }
        Ok(own)
    }
}

/// Whether clusters without facts are those of a subject that has their name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EmptyClusterOwnership {
    Own,
    OfOthers,
}

/// The subjects of the facts of one write, by their names and, where files are among them, by what
/// the facts mention.
#[derive(Default)]
pub(super) struct FactSubjectCache {
    subjects: BTreeMap<(String, Vec<String>), FactSubject>,
    /// The files that facts are about, by the ids of the facts.
    files: BTreeMap<NodeId, Option<NodeId>>,
}

impl FactSubjectCache {
    pub(super) fn of(
        &mut self,
        batch: &Batch<'_>,
        fact: &StoredKnowledgeNode,
    ) -> Result<&mut FactSubject, MemoryError> {
        let name = fact.text("subject").unwrap_or_default();
        let mut mentions = fact.linked("mentions");
        let files = batch.nodes_of_files(&mentions)?;
        if files.is_empty() {
            mentions.clear();
        }
        let mentions = mentions.into_iter().map(str::to_owned).collect();
        Ok(match self.subjects.entry((name.to_owned(), mentions)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(FactSubject::of_fact_about(batch, fact, files)?),
        })
    }

    /// Returns whether two facts, found by the names of the first one's subject, are of one
    /// subject. Where they have one name, they are unless each is about a file of its own.
    pub(super) fn is_one(
        &mut self,
        batch: &Batch<'_>,
        (subject, fact): (&FactSubject, &StoredKnowledgeNode),
        other: &StoredKnowledgeNode,
    ) -> Result<bool, MemoryError> {
        if subject.admits(batch, other)? {
            return Ok(true);
        }
        let [name, of_other] = [fact, other].map(|it| it.text("subject").unwrap_or_default());
        if name_key(name) != name_key(of_other) || !subject.is_shared_name(name) {
            return Ok(false);
        }
        if !self.files.contains_key(&other.id()) {
            let file = self.of(batch, other)?.file_id();
            self.files.insert(other.id(), file);
        }
        Ok(self.files.get(&other.id()) == Some(&None))
    }
}

/// Returns the concepts that hold the facts of subjects, eldest first.
fn clusters_of(
    batch: &Batch<'_>,
    hashes: &[&str],
) -> Result<Vec<StoredKnowledgeNode>, MemoryError> {
    let known = batch.with_any_facet(NodeType::Concept, "subject", hashes)?;
    let mut clusters: Vec<StoredKnowledgeNode> = Vec::new();
    for cluster in StoredKnowledgeNode::all(known)? {
        if let Some(cluster) = present_one(batch, cluster)?
            && clusters.iter().all(|it| it.id() != cluster.id())
        {
            clusters.push(cluster);
        }
    }
    Ok(clusters)
}

/// Returns the other clusters of the subject that a cluster has under a name, as its facts say,
/// hidden or not: a file of another root may have the name, too.
pub(super) fn other_clusters(
    batch: &Batch<'_>,
    cluster: &StoredKnowledgeNode,
    hash: &str,
) -> Result<Vec<StoredKnowledgeNode>, MemoryError> {
    let mut facts = StoredKnowledgeNode::all(batch.children_of(cluster.record.key)?)?;
    let is_named =
        |it: &StoredKnowledgeNode| it.text("subject").is_some_and(|it| name_key(it) == hash);
    facts.retain(|it| it.is_a(NodeType::Fact) && is_named(it));
    let mut cache = FactSubjectCache::default();
    for fact in facts.iter().take(NAMES_MAX) {
        cache.of(batch, fact)?;
    }
    let mut subjects: Vec<FactSubject> = cache.subjects.into_values().collect();
    let content = &cluster.record.content;
    if subjects.is_empty() && name_key(content) == hash {
        subjects.push(FactSubject::named(batch, content)?);
    }
    let mut clusters = Vec::new();
    for subject in &mut subjects {
        clusters.append(&mut subject.find_clusters(batch)?);
        let shared = subject.find_shared_clusters(batch)?;
        clusters.append(&mut subject.with_own_facts(
            batch,
            shared,
            EmptyClusterOwnership::OfOthers,
        )?);
    }
    if subjects.is_empty() {
        clusters = clusters_of(batch, &[hash])?;
    }
    let mut seen = BTreeSet::from([cluster.id()]);
    clusters.retain(|it| seen.insert(it.id()));
    Ok(clusters)
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
