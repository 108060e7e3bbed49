//! Imports the records of Remind: each becomes a node with its fields, all in one snapshot.
//!
//! A node keeps the id that its record had in the field `origin`, by which a later import knows it
//! and leaves it as it is. Records that cannot be kept are named with the reason; values that do
//! not fit, and ends of edges that are not there, are counted.

mod edges;
mod episodes_concepts_facts;
mod fact_cluster_subject;
mod record_values;

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value};

use super::conflict_update_after_write::settle_statements;
use super::entity_resolution::{
    EntityLookupOutcome, add_alias, add_entity, entity_of_name, is_deleted_topic, known_entity,
    known_topic, topic_named,
};
use super::node_writes::{
    NewKnowledgeNode, NewNodePlace, StoredKnowledgeNode, add_node, checked, find_node, set_fields,
};
use crate::maintenance::transfer::{RemindRecord, RemindRecordLists};
use crate::memory::Memory;
use crate::memory::dry_run::WriteOrDryRun;
use crate::memory::typed::MemoryError;
use crate::model::clock::UnixMillis;
use crate::model::entity_extraction::NamedEntity;
use crate::model::identity::NodeId;
use crate::model::node_fields;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::{TypedNodeSchema, ValueType, is_uuid};
use crate::store::Batch;
use crate::text::{self, tokens};
use record_values::RecordValues;

/// Characters of a value that can be an id and no secret.
const ID_CHARS_MAX: usize = 11;

/// Records that are named with the reason why they were not imported, at most.
const REFUSED_MAX: usize = 1_000;

/// Holds what an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KnowledgeImportReport {
    /// Nodes and edges that were made, by kind.
    pub(crate) added: BTreeMap<&'static str, usize>,
    /// Records whose nodes were there already, by kind.
    pub(crate) known: BTreeMap<&'static str, usize>,
    /// Records whose nodes were there already and say something else, by kind.
    pub(crate) differing: BTreeMap<&'static str, usize>,
    /// `LIST/ID: what differs` of each of them.
    pub(crate) kept: Vec<String>,
    /// Parts that were left out, with their number.
    pub(crate) left_out: BTreeMap<String, usize>,
    /// `LIST/ID: reason` of each record that was not imported.
    pub(crate) refused: Vec<String>,
    /// Secrets that became markers.
    pub(crate) n_secrets: usize,
    pub(crate) snapshot: Option<i64>,
}

impl Memory {
    /// Imports records in one snapshot with that message; `progress` gets those done and all.
    pub(crate) fn import_remind(
        &self,
        records: RemindRecordLists,
        message: &str,
        mode: WriteOrDryRun,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<KnowledgeImportReport, MemoryError> {
        let redactor = &self.workspace().redactor;
        let mut n_secrets = 0;
        let records = records.map_texts(&mut |text| {
            if is_uuid(text) || text.len() <= ID_CHARS_MAX {
                return text.to_owned();
            }
            let scrubbed = redactor.scrub(text);
            n_secrets += scrubbed.hits.len();
            scrubbed.text.into_owned()
        });
        let now = self.clock.now();
        let (mut report, snapshot) = self.write_or_count(mode, "", now, |batch| {
            batch.set_message(redactor.scrub(message).text.into_owned());
            let known = batch.origins()?.into_iter().collect();
            let report = KnowledgeImportReport::default();
            let mut import = KnowledgeImporter {
                batch,
                now,
                known,
                ids: HashMap::new(),
                read: HashSet::new(),
                claimed: HashSet::new(),
                made: HashSet::new(),
                with_replacement: HashSet::new(),
                told: HashSet::new(),
                progress,
                n_done: (0, 0),
                report,
            };
            import.all(&records)?;
            let report = import.report;
            settle_statements(batch, &[], now)?;
            Ok::<_, MemoryError>(report)
        })?;
        if 0 < records.n_unreadable {
            report.left_out.insert("records that cannot be read".to_owned(), records.n_unreadable);
        }
        report.n_secrets = n_secrets;
        report.snapshot = snapshot;
        Ok(report)
    }
}

/// An import that is under way.
struct KnowledgeImporter<'a, 'b, 'c> {
    batch: &'a mut Batch<'b>,
    now: UnixMillis,
    /// Nodes of earlier imports by the ids of their records.
    known: HashMap<String, NodeId>,
    /// Nodes by the ids of the records.
    ids: HashMap<String, NodeId>,
    /// Records that were looked at, as `LIST/ID`.
    read: HashSet<String>,
    /// Nodes that a record is of.
    claimed: HashSet<NodeId>,
    /// Nodes that this import made.
    made: HashSet<NodeId>,
    /// Records that say themselves what replaced them.
    with_replacement: HashSet<String>,
    /// Records whose nodes were told to be kept as they are.
    told: HashSet<String>,
    progress: &'c mut dyn FnMut(u64, u64),
    n_done: (u64, u64),
    report: KnowledgeImportReport,
}

/// A node that is to be made of a record.
struct NodeToImport<'a> {
    /// The list that the record is in.
    list: &'static str,
    origin: &'a str,
    node_type: NodeType,
    content: &'a str,
    fields: Map<String, Value>,
    /// Whether it is processed with this import.
    is_processed: bool,
    below: NewNodePlace<'a>,
}

impl KnowledgeImporter<'_, '_, '_> {
    fn all(&mut self, records: &RemindRecordLists) -> Result<(), MemoryError> {
        let n_all = ["episodes", "concepts", "facts"].map(|it| records.list(it).len() as u64);
        self.n_done.1 = n_all.iter().sum();
        for topic in records.list("topics") {
            self.topic(topic)?;
        }
        for entity in records.list("entities") {
            if let Some(id) = entity.text("id") {
                let made = entity.time("created_at").unwrap_or(self.now);
                self.entity_made(id, entity.text("display_name"), made)?;
                self.aliases_of(id, entity)?;
            }
        }
        let labels = record_values::labels(records.list("labels"));
        let facts = record_values::by(records.list("facts"), "cluster_id");
        for concept in records.list("concepts") {
            self.concept(concept, &labels)?;
            self.facts_of(concept, &facts, &labels)?;
        }
        for concept in records.list("merged_concepts") {
            self.merged_concept(concept)?;
        }
        self.facts_without_cluster(records.list("facts"), &labels)?;
        let connections = episodes_concepts_facts::EpisodeEdges::of(records);
        for episode in records.list("episodes") {
            self.episode(episode, &labels, &connections)?;
        }
        self.connect(records)
    }

    fn count(&mut self, what: &'static str, is_new: bool) {
        let of = if is_new { &mut self.report.added } else { &mut self.report.known };
        *of.entry(what).or_default() += 1;
    }

    fn leave_out(&mut self, what: impl Into<String>) {
        *self.report.left_out.entry(what.into()).or_default() += 1;
    }

    fn refuse(&mut self, list: &str, origin: &str, why: &str) {
        if self.report.refused.len() < REFUSED_MAX {
            self.report.refused.push(about_record(list, origin, why));
        } else {
            self.leave_out("further records that were refused");
        }
    }

    fn step(&mut self) -> Result<(), MemoryError> {
        self.n_done.0 += 1;
        if self.n_done.0.is_multiple_of(100) {
            (self.progress)(self.n_done.0, self.n_done.1);
        }
        Ok(self.batch.flush_if_large()?)
    }

    fn topic(&mut self, record: &RemindRecord) -> Result<(), MemoryError> {
        let (id, name) = (record.text("id"), record.text("name").or(record.text("id")));
        let (Some(id), Some(name)) = (id, name) else {
            self.leave_out("topics without a name");
            return Ok(());
        };
        // A new concept or episode of it makes another topic of that name.
        if is_deleted_topic(self.batch, name)? {
            self.keep("topics", id, "it is deleted here, and stays so");
            return Ok(());
        }
        let topic = self.topic_of(name, record.text("description"))?;
        if let Some(topic) = topic {
            self.ids.insert(format!("topic {id}"), topic);
            self.names_of_topic(topic, record)?;
        }
        Ok(())
    }

    /// Has a topic found by the further names of its record that no other topic has.
    fn names_of_topic(&mut self, topic: NodeId, record: &RemindRecord) -> Result<(), MemoryError> {
        let Some(mut topic) = find_node(self.batch, &topic.to_string())? else { return Ok(()) };
        let mut free = Vec::new();
        for hash in record.texts("name_hashes") {
            if self.batch.with_facet(NodeType::Topic, "name", &hash)?.is_empty() {
                free.push(Value::from(hash));
            }
        }
        let add = |fields: &mut Map<String, Value>| {
            if let Some(Value::Array(names)) = fields.get_mut("names") {
                names.extend(free);
            }
        };
        let at = topic.time("updated_at").unwrap_or(self.now);
        set_fields(self.batch, &mut topic, add, at).map(drop)
    }

    /// Returns the topic of a name, made if it is new; none where the name is none.
    fn topic_of(
        &mut self,
        name: &str,
        description: Option<&str>,
    ) -> Result<Option<NodeId>, MemoryError> {
        if let Some(id) = self.ids.get(&format!("topic {name}")) {
            return Ok(Some(*id));
        }
        let is_new = known_topic(self.batch, name)?.is_none();
        match topic_named(self.batch, name, description, self.now) {
            Ok(topic) => {
                self.ids.insert(format!("topic {name}"), topic.id());
                self.count("topics", is_new);
                Ok(Some(topic.id()))
            }
            Err(error) if error.code.is_outside() => Err(error),
            Err(_) => {
                self.leave_out("topics whose names have neither letters nor digits");
                Ok(None)
            }
        }
    }

    /// Returns the topic of a record: the one that it names, else that of its label `topic`. It is
    /// no label any more.
    fn topic_of_record(
        &mut self,
        record: &RemindRecord,
        labels: &mut Map<String, Value>,
    ) -> Result<Option<NodeId>, MemoryError> {
        let named = match record.contains_key("topic_id") {
            true => record.text("topic_id"),
            false => node_fields::list(labels, "topic").first().and_then(Value::as_str),
        };
        let Some(named) = named.map(str::to_owned) else { return Ok(None) };
        let topic = self.topic_of(&named, None)?;
        if topic.is_some()
            && let Some(Value::Array(values)) = labels.get_mut("topic")
        {
            values.retain(|it| *it != named.as_str());
            if values.is_empty() {
                labels.shift_remove("topic");
            }
        }
        Ok(topic)
    }

    /// Returns the entity of `type:name`, made now if it is new.
    fn entity(&mut self, id: &str) -> Result<Option<NodeId>, MemoryError> {
        self.entity_made(id, None, self.now)
    }

    fn entity_made(
        &mut self,
        id: &str,
        name: Option<&str>,
        at: UnixMillis,
    ) -> Result<Option<NodeId>, MemoryError> {
        if let Some(known) = self.ids.get(id) {
            return Ok(Some(*known));
        }
        let Some(named) = record_values::named_entity(id, name) else {
            self.leave_out("entities without a name");
            return Ok(None);
        };
        let node = match entity_of_name(self.batch, &named)? {
            EntityLookupOutcome::Present(node) => {
                self.count("entities", false);
                node
            }
            EntityLookupOutcome::Deleted(node) => {
                let why = format!("{} is deleted here, and stays so", node.id());
                self.keep("entities", id, &why);
                node
            }
            EntityLookupOutcome::Unknown => {
                self.count("entities", true);
                add_entity(self.batch, &named, at)?
            }
        };
        self.ids.insert(id.to_owned(), node.id());
        Ok(Some(node.id()))
    }

    /// Gives an entity the further names of its record that nothing else has.
    fn aliases_of(&mut self, id: &str, record: &RemindRecord) -> Result<(), MemoryError> {
        let metadata = record.get("metadata").and_then(Value::as_object);
        let aliases = metadata.map_or(Vec::new(), |it| it.texts("aliases"));
        for alias in aliases {
            let entity = self.ids.get(id).map(NodeId::to_string);
            let entity = entity.map(|it| find_node(self.batch, &it)).transpose()?.flatten();
            let named = record_values::named_entity(id, Some(&alias));
            if let (Some(mut entity), Some(named)) = (entity, named)
                && entity.is_a(NodeType::Entity)
                && !entity.is_hidden()
                && known_entity(self.batch, &NamedEntity { name: alias.clone(), ..named })?
                    .is_none()
            {
                add_alias(self.batch, &mut entity, &alias, self.now)?;
            }
        }
        Ok(())
    }

    /// Returns the node that a record is of: this memory's own, that of an earlier import, or one
    /// with its id that says the same.
    ///
    /// An id is made of a text, so that another memory has it for what it says with these words.
    fn earlier(
        &self,
        record: &RemindRecord,
        node_type: NodeType,
        says_same: impl FnOnce(&StoredKnowledgeNode) -> bool,
    ) -> Result<Option<StoredKnowledgeNode>, MemoryError> {
        let Some(origin) = record.text("id") else { return Ok(None) };
        let find = |id: NodeId| -> Result<Option<StoredKnowledgeNode>, MemoryError> {
            let node = find_node(self.batch, &id.to_string())?;
            Ok(node.filter(|it| it.is_a(node_type)))
        };
        let with_id = match NodeId::parse(origin).filter(|it| !self.claimed.contains(it)) {
            Some(id) => find(id)?,
            None => None,
        };
        let made = record.time("created_at");
        let is_made_then =
            |it: &StoredKnowledgeNode| made.is_some() && it.time("created_at") == made;
        if let Some(own) = &with_id
            && is_made_then(own)
            && !own.has("origin")
        {
            return Ok(with_id);
        }
        match self.known.get(origin) {
            Some(known) => find(*known),
            None => Ok(with_id.filter(|it| is_made_then(it) || says_same(it))),
        }
    }

    /// Returns whether the node of a record is there already. One that says something else than
    /// the record is kept as it is, and told; a second record of an id is refused.
    fn is_there(
        &mut self,
        (list, node_type): (&'static str, NodeType),
        record: &RemindRecord,
        content: Option<&str>,
        fields: &Map<String, Value>,
        says_same: impl FnOnce(&StoredKnowledgeNode) -> bool,
    ) -> Result<bool, MemoryError> {
        let Some(origin) = record.text("id") else { return Ok(false) };
        if !self.read.insert(format!("{list}/{origin}")) {
            self.refuse(list, origin, "a record before it has its id");
            return Ok(true);
        }
        let Some(node) = self.earlier(record, node_type, says_same)? else { return Ok(false) };
        let id = node.id();
        self.claim(origin, &node)?;
        let left_out = std::mem::take(&mut self.report.left_out);
        let fitting = self.fitting(node_type, fields.clone());
        self.report.left_out = left_out;
        let mut differing: Vec<&str> = fields.keys().map(String::as_str).collect();
        differing
            .retain(|it| !record_values::is_same_field(it, node.fields.get(*it), fitting.get(*it)));
        if content.is_some_and(|it| it != node.record.content) {
            differing.insert(0, "text");
        }
        if differing.is_empty() {
            self.count(list, false);
            return Ok(true);
        }
        self.keep(list, origin, &format!("{id} differs in {}; it is kept", differing.join(", ")));
        Ok(true)
    }

    /// Tells that what is here was kept as it is, though its record says something else.
    fn keep(&mut self, list: &'static str, origin: &str, why: &str) {
        if !self.told.insert(format!("{list}/{origin}")) {
            return;
        }
        *self.report.differing.entry(list).or_default() += 1;
        if self.report.kept.len() < REFUSED_MAX {
            self.report.kept.push(about_record(list, origin, why));
        }
    }

    /// Makes the node of a record, unless it is there; none where it cannot be kept.
    fn add(&mut self, new: NodeToImport<'_>) -> Result<Option<StoredKnowledgeNode>, MemoryError> {
        let NodeToImport { list, origin, node_type, content, mut fields, is_processed, below } =
            new;
        let n_chars = content.chars().count();
        let n_max = TypedNodeSchema::of(node_type).map_or(0, |it| it.content_chars_max);
        if content.trim().is_empty() || n_max < n_chars {
            let why = format!("its text has {n_chars} characters; 1 to {n_max} fit");
            self.refuse(list, origin, &why);
            return Ok(None);
        }
        fields.insert("origin".to_owned(), origin.into());
        let mut fields = self.fitting(node_type, fields);
        if is_processed {
            // A snapshot that nothing comes into must not be made.
            fields.insert("processed_in".to_owned(), 1.into());
            if let Err(error) = checked(node_type, fields.clone()) {
                self.refuse(list, origin, &error.message);
                return Ok(None);
            }
            fields.insert("processed_in".to_owned(), self.batch.own_snapshot()?.into());
        }
        let token_count = tokens::count(content);
        let new = NewKnowledgeNode { node_type, content, token_count, fields };
        let node = match add_node(self.batch, new, below, self.now) {
            Ok(node) => node,
            Err(error) if error.code.is_outside() => return Err(error),
            Err(error) => {
                self.refuse(list, origin, &error.message);
                return Ok(None);
            }
        };
        self.claim(origin, &node)?;
        self.made.insert(node.id());
        self.count(list, true);
        Ok(Some(node))
    }

    /// Returns the fields that their kind allows; longer texts are cut, other values left out.
    fn fitting(&mut self, node_type: NodeType, fields: Map<String, Value>) -> Map<String, Value> {
        let keys = TypedNodeSchema::of(node_type).map_or(&[][..], |it| it.keys);
        let mut kept = Map::new();
        for (name, value) in fields.into_iter().filter(|(_, it)| !it.is_null()) {
            let Some(key) = keys.iter().find(|it| it.name == name) else { continue };
            let is_blank = value.as_str().is_some_and(|it| it.trim().is_empty());
            match (key.value_type.check(&value), key.value_type) {
                _ if is_blank => (),
                (Ok(()), _) => drop(kept.insert(name, value)),
                (Err(_), ValueType::Text { chars_max }) if value.is_string() => {
                    self.leave_out(format!("ends of the `{name}` of a {node_type}"));
                    let text = value.as_str().unwrap_or_default();
                    kept.insert(name, text::truncate_chars(text, chars_max).into());
                }
                _ => self.leave_out(format!("values of `{name}` of a {node_type}")),
            }
        }
        kept
    }
}

/// Returns a line about a record.
fn about_record(list: &str, origin: &str, what: &str) -> String {
    let origin = text::truncate_chars(&text::fold_whitespace(origin), 100);
    format!("{list}/{origin}: {what}")
}
