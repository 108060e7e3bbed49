//! Imports the episodes, concepts and facts of Remind.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::fact_cluster_subject::subject_of;
use super::record_values::{LabelsByOwnerId, RecordValues, labels_of};
use super::{KnowledgeImporter, NodeToImport};
use crate::maintenance::transfer::{RemindRecord, RemindRecordLists};
use crate::memory::knowledge::contradicting_facts::is_equal_text;
use crate::memory::knowledge::fact_subject::{FactSubject, add_key, statement_key};
use crate::memory::knowledge::fact_writes::cluster_of;
use crate::memory::knowledge::node_writes::{
    NewNodePlace, StoredKnowledgeNode, add_edge, edge, find_node,
};
use crate::memory::typed::MemoryError;
use crate::model::clock::UnixMillis;
use crate::model::entity_extraction::{name_key, normal_name};
use crate::model::identity::NodeId;
use crate::model::node_fields;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::knowledge::{EVIDENCE, FACT_CLUSTER, LINKS_MAX};
use crate::model::validity::Validity;

/// The connections of episodes, by their ids.
pub(super) struct EpisodeEdges<'a> {
    mentions: HashMap<&'a str, Vec<&'a str>>,
    /// Concepts that have an episode as their source.
    supports: HashMap<String, Vec<&'a str>>,
    evidence: HashMap<&'a str, Vec<&'a RemindRecord>>,
    /// Facts that an episode states.
    states: HashMap<&'a str, Vec<&'a str>>,
}

impl<'a> EpisodeEdges<'a> {
    pub(super) fn of(records: &'a RemindRecordLists) -> EpisodeEdges<'a> {
        let pairs = |list: &str, from: &str, to: &str| {
            let mut pairs: HashMap<&str, Vec<&str>> = HashMap::new();
            for row in records.list(list) {
                if let (Some(from), Some(to)) = (row.text(from), row.text(to)) {
                    pairs.entry(from).or_default().push(to);
                }
            }
            pairs
        };
        let mut supports: HashMap<String, Vec<&str>> = HashMap::new();
        for concept in records.list("concepts") {
            for source in concept.texts("source_episodes") {
                supports.entry(source).or_default().extend(concept.text("id"));
            }
        }
        EpisodeEdges {
            mentions: pairs("mentions", "episode_id", "entity_id"),
            supports,
            evidence: super::record_values::by(records.list("evidence"), "episode_id"),
            states: pairs("facts", "source_episode_id", "id"),
        }
    }
}

impl KnowledgeImporter<'_, '_, '_> {
    /// Keeps a concept, without its edges.
    pub(super) fn concept(
        &mut self,
        record: &RemindRecord,
        labels: &LabelsByOwnerId<'_>,
    ) -> Result<(), MemoryError> {
        self.step()?;
        let Some(origin) = record.text("id") else {
            self.leave_out("concepts without an id");
            return Ok(());
        };
        let title = record.text("title").unwrap_or("Untitled");
        let mut fields = fields_of_concept(record, title);
        let (list, node_type) = ("concepts", NodeType::Concept);
        let is_cluster = record.text("concept_type") == Some(FACT_CLUSTER);
        let says_same = |it: &StoredKnowledgeNode| {
            normal_name(it.title()) == normal_name(title)
                || is_cluster && it.text("kind") == Some(FACT_CLUSTER)
        };
        let summary = record.text("summary");
        if self.is_there((list, node_type), record, summary, &fields, says_same)? {
            return Ok(());
        }
        fields.extend(dated(record));
        let mut labels = labels_of(record, labels);
        let topic = self.topic_of_record(record, &mut labels)?;
        fields.insert("names".to_owned(), json!([name_key(title)]));
        fields.insert("topic".to_owned(), topic.map(|it| it.to_string()).into());
        set_labels(&mut fields, labels);
        let mut content = summary.unwrap_or(title).to_owned();
        if is_cluster && let Some(subject) = self.free_subject_of(record)? {
            if summary.is_none() {
                content = subject.clone();
            }
            fields.insert("subject".to_owned(), name_key(&subject).into());
        }
        let below = self.below(topic)?;
        let (content, is_processed) = (content.as_str(), false);
        self.add(NodeToImport { list, origin, node_type, content, fields, is_processed, below })
            .map(drop)
    }

    /// Keeps a concept that was merged into another one, as a redirect. A file in which it stands
    /// by itself does not bring it back.
    pub(super) fn merged_concept(&mut self, record: &RemindRecord) -> Result<(), MemoryError> {
        let (list, node_type) = ("merged concepts", NodeType::Concept);
        let into = record.text("merged_into").and_then(|it| self.ids.get(it)).copied();
        let (Some(origin), Some(into)) = (record.text("id"), into) else {
            self.leave_out("concepts that were merged into what is not there");
            return Ok(());
        };
        let title = record.text("title").unwrap_or("Untitled");
        let says_same = |it: &StoredKnowledgeNode| normal_name(it.title()) == normal_name(title);
        if let Some(here) = self.earlier(record, node_type, says_same)? {
            self.claimed.insert(here.id());
            if !here.has("merged_into") {
                self.keep(list, origin, "it was merged into another one there; it is kept");
            } else {
                self.count(list, false);
            }
            return Ok(());
        }
        let mut fields = fields_of_concept(record, title);
        fields.extend(dated(record));
        fields.insert("names".to_owned(), json!([name_key(title)]));
        fields.insert("merged_into".to_owned(), into.to_string().into());
        let content = record.text("summary").unwrap_or(title);
        let (below, is_processed) = (NewNodePlace::Bucket(&[]), false);
        self.add(NodeToImport { list, origin, node_type, content, fields, is_processed, below })?;
        self.ids.insert(origin.to_owned(), into);
        Ok(())
    }

    fn below(&self, topic: Option<NodeId>) -> Result<NewNodePlace<'static>, MemoryError> {
        let Some(topic) = topic else { return Ok(NewNodePlace::Bucket(&[])) };
        let topic = find_node(self.batch, &topic.to_string())?;
        Ok(topic.map_or(NewNodePlace::Bucket(&[]), |it| NewNodePlace::Node(it.record.key)))
    }

    /// Keeps the facts of a cluster: its records, else the texts that it lists.
    pub(super) fn facts_of(
        &mut self,
        record: &RemindRecord,
        facts: &HashMap<&str, Vec<&RemindRecord>>,
        labels: &LabelsByOwnerId<'_>,
    ) -> Result<(), MemoryError> {
        let cluster = record.text("id").and_then(|it| self.ids.get(it)).copied();
        let (Some(cluster), Some(origin)) = (cluster, record.text("id")) else { return Ok(()) };
        let Some(node) = find_node(self.batch, &cluster.to_string())? else { return Ok(()) };
        let below = || NewNodePlace::Node(node.record.key);
        let of_entities = record.texts("entity_ids");
        let subject = subject_of(record).unwrap_or_else(|| node.title().to_owned());
        if let Some(facts) = facts.get(origin) {
            for fact in facts {
                self.fact(fact, &subject, labels, below())?;
            }
            return self.give_subject(record, cluster);
        }
        for (nth, text) in record.texts("specifics").iter().enumerate() {
            let mut fact = RemindRecord::new();
            fact.insert("id".to_owned(), format!("{origin}/{nth}").into());
            fact.insert("statement".to_owned(), text.as_str().into());
            fact.insert("entity_ids".to_owned(), of_entities.clone().into());
            for (name, of) in [("valid_from", "created_at"), ("created_at", "created_at")] {
                fact.insert(name.to_owned(), record.text(of).into());
            }
            self.fact(&fact, &subject, labels, below())?;
        }
        self.give_subject(record, cluster)
    }

    /// Keeps the facts whose clusters are not there below those of their subjects.
    pub(super) fn facts_without_cluster(
        &mut self,
        facts: &[RemindRecord],
        labels: &LabelsByOwnerId<'_>,
    ) -> Result<(), MemoryError> {
        for fact in facts {
            if fact.text("cluster_id").is_some_and(|it| self.ids.contains_key(it)) {
                continue;
            }
            let entity = match subject_of(fact) {
                Some(subject) => self.entity(&subject)?,
                None => None,
            };
            let entity = entity.map(|it| find_node(self.batch, &it.to_string())).transpose()?;
            let Some(entity) = entity.flatten() else {
                let origin = fact.text("id").unwrap_or("(without an id)");
                self.refuse("facts", origin, "its cluster is not there, and it names no entity");
                continue;
            };
            let mut subject = FactSubject::of(self.batch, &entity)?;
            let cluster = cluster_of(self.batch, &mut subject, None, self.now)?;
            let below = NewNodePlace::Node(cluster.record.key);
            self.fact(fact, subject.name(), labels, below)?;
        }
        Ok(())
    }

    fn fact(
        &mut self,
        record: &RemindRecord,
        subject: &str,
        labels: &LabelsByOwnerId<'_>,
        below: NewNodePlace<'_>,
    ) -> Result<(), MemoryError> {
        self.step()?;
        let (Some(origin), Some(text)) = (record.text("id"), record.text("statement")) else {
            self.leave_out("facts without an id or a statement");
            return Ok(());
        };
        let mut fields = fields_of_fact(record);
        let (list, node_type) = ("facts", NodeType::Fact);
        let subject = record.text("subject").unwrap_or(subject);
        let terms = [Some(subject), record.text("attribute")].map(|it| it.map(normal_name));
        let time = |name: &str| fields.get(name).and_then(Value::as_i64).map(UnixMillis);
        let held = Validity { from: time("valid_from"), to: time("valid_to") };
        let says_same = |it: &StoredKnowledgeNode| {
            is_equal_text(&it.record.content, text)
                && ["subject", "attribute"].map(|name| it.text(name).map(normal_name)) == terms
                && it.validity().overlaps(held)
        };
        if self.is_there((list, node_type), record, Some(text), &fields, says_same)? {
            return Ok(());
        }
        fields.extend(dated(record));
        set_labels(&mut fields, labels_of(record, labels));
        fields.insert("subject".to_owned(), subject.into());
        if let Some(attribute) = record.text("attribute") {
            fields.insert("key".to_owned(), statement_key(subject, attribute).into());
            add_key(&mut fields, subject);
        }
        if !fields.contains_key("valid_from") && fields["valid_to"].is_null() {
            fields.insert("valid_from".to_owned(), self.now.0.into());
        }
        for entity in record.texts("entity_ids") {
            if let Some(id) = self.entity(&entity)? {
                self.edge(&mut fields, edge("mentions", id, 1.0, None));
            }
        }
        let (content, is_processed) = (text, false);
        self.add(NodeToImport { list, origin, node_type, content, fields, is_processed, below })
            .map(drop)
    }

    /// Keeps an episode with what it mentions, supports and states.
    pub(super) fn episode(
        &mut self,
        record: &RemindRecord,
        labels: &LabelsByOwnerId<'_>,
        connections: &EpisodeEdges<'_>,
    ) -> Result<(), MemoryError> {
        self.step()?;
        let (Some(origin), Some(content)) = (record.text("id"), record.text("content")) else {
            self.leave_out("episodes without an id or a text");
            return Ok(());
        };
        let mut fields = fields_of_episode(record);
        let (list, node_type) = ("episodes", NodeType::Episode);
        if self.is_there((list, node_type), record, Some(content), &fields, |_| false)? {
            return self.edges_to_new(origin, connections);
        }
        let mut labels = labels_of(record, labels);
        let topic = self.topic_of_record(record, &mut labels)?;
        fields.extend(dated(record));
        let at = record.time("timestamp").or(record.time("created_at")).unwrap_or(self.now);
        fields.insert("at".to_owned(), at.0.into());
        fields.insert("topic".to_owned(), topic.map(|it| it.to_string()).into());
        set_labels(&mut fields, labels);
        self.edges_of_episode(origin, record, &mut fields, connections)?;
        let day = at.day();
        let bucket = [day.as_str()];
        let below = NewNodePlace::Bucket(&bucket);
        let is_processed = record.is_set("consolidated");
        self.add(NodeToImport { list, origin, node_type, content, fields, is_processed, below })
            .map(drop)
    }

    fn edges_of_episode(
        &mut self,
        origin: &str,
        record: &RemindRecord,
        fields: &mut Map<String, Value>,
        connections: &EpisodeEdges<'_>,
    ) -> Result<(), MemoryError> {
        let EpisodeEdges { mentions, supports, evidence, states } = connections;
        let own = record.texts("entity_ids");
        let rows = mentions.get(origin).into_iter().flatten().copied();
        let entities: Vec<&str> = own.iter().map(String::as_str).chain(rows).collect();
        let mut seen = HashSet::new();
        for entity in entities.into_iter().filter(|it| seen.insert(normal_name(it))) {
            if let Some(id) = self.entity(entity)? {
                self.edge(fields, edge("mentions", id, 1.0, None));
            }
        }
        for row in evidence.get(origin).into_iter().flatten() {
            let link_type = row.text("link_type").filter(|it| EVIDENCE.contains(it));
            let concept = row.text("concept_id").and_then(|it| self.ids.get(it)).copied();
            match (link_type, concept) {
                (Some(link_type), Some(concept)) => {
                    let strength = share(row, "strength", 0.5);
                    self.edge(fields, edge(link_type, concept, strength, row.text("note")));
                }
                _ => self.leave_out("edges to what is not there"),
            }
        }
        let sources = supports.get(origin).into_iter().flatten();
        for id in sources.chain(states.get(origin).into_iter().flatten()) {
            match self.ids.get(*id).copied() {
                Some(id) if !has_edge(fields, "supports", id) => {
                    self.edge(fields, edge("supports", id, 1.0, None));
                }
                Some(_) => (),
                None => self.leave_out("edges to what is not there"),
            }
        }
        Ok(())
    }

    /// Adds the edges of an episode that is here already to what this import made.
    fn edges_to_new(
        &mut self,
        origin: &str,
        connections: &EpisodeEdges<'_>,
    ) -> Result<(), MemoryError> {
        let EpisodeEdges { supports, evidence, states, .. } = connections;
        let mut edges = Vec::new();
        for row in evidence.get(origin).into_iter().flatten() {
            let link_type = row.text("link_type").filter(|it| EVIDENCE.contains(it));
            let ends = link_type.zip(row.text("concept_id"));
            let strength = share(row, "strength", 0.5);
            edges.extend(ends.map(|(of, to)| (of, to, strength, row.text("note"))));
        }
        let sources = supports.get(origin).into_iter().flatten();
        let sources = sources.chain(states.get(origin).into_iter().flatten());
        edges.extend(sources.map(|to| ("supports", *to, 1.0, None)));
        edges.retain(|it| self.ids.get(it.1).is_some_and(|it| self.made.contains(it)));
        for (link_type, to, strength, note) in edges {
            let edge = RemindRecord::from_iter([
                ("strength".to_owned(), strength.into()),
                ("context".to_owned(), note.into()),
            ]);
            self.link((origin, Some(to)), Some(link_type), &edge)?;
        }
        Ok(())
    }

    /// Adds an edge to fields, unless they have as many as fit.
    pub(super) fn edge(&mut self, fields: &mut Map<String, Value>, link: Value) {
        let n_links = node_fields::list(fields, "links").len();
        if LINKS_MAX <= n_links {
            return self.leave_out(format!("edges of nodes that have {LINKS_MAX} already"));
        }
        add_edge(fields, link);
        self.count("edges", true);
    }
}

/// Returns whether fields have an edge of a type to a node.
pub(super) fn has_edge(fields: &Map<String, Value>, link_type: &str, to: NodeId) -> bool {
    let to = to.to_string();
    let links = node_fields::list(fields, "links");
    links.iter().any(|it| it["type"] == link_type && it["to"] == to.as_str())
}

/// Returns the fields that a concept has by its record alone.
fn fields_of_concept(record: &RemindRecord, title: &str) -> Map<String, Value> {
    let mut fields = fields_of_deletion(record);
    let kind = record.text("concept_type").unwrap_or("pattern");
    fields.insert("kind".to_owned(), kind.into());
    fields.insert("title".to_owned(), title.into());
    fields.insert("confidence".to_owned(), share(record, "confidence", 0.5).into());
    fields.insert("conditions".to_owned(), record.text("conditions").into());
    for name in ["exceptions", "tags"] {
        let texts = record.texts(name);
        fields.insert(name.to_owned(), (!texts.is_empty()).then_some(texts).into());
    }
    fields.insert("note".to_owned(), record.text("lineage_note").into());
    fields.insert("metadata".to_owned(), rest_of_concept(record));
    fields
}

/// Returns the fields that a fact has by its record alone.
fn fields_of_fact(record: &RemindRecord) -> Map<String, Value> {
    let mut fields = fields_of_deletion(record);
    for name in ["attribute", "asserted_by", "source_ref"] {
        fields.insert(name.to_owned(), record.text(name).into());
    }
    // The end of one that was deleted without an end is its deletion.
    let (to, deleted_at) = (record.time("valid_to"), record.time("deleted_at"));
    let to = to.filter(|_| deleted_at.is_none() || to != deleted_at);
    // What has an end and no beginning held always until then.
    let created = record.time("created_at").filter(|_| to.is_none());
    if let Some(from) = record.time("valid_from").or(created) {
        fields.insert("valid_from".to_owned(), from.0.into());
    }
    fields.insert("valid_to".to_owned(), to.map(|it| it.0).into());
    fields
}

/// Returns the fields that an episode has by its record alone.
fn fields_of_episode(record: &RemindRecord) -> Map<String, Value> {
    let mut fields = fields_of_deletion(record);
    let kind = record.text("episode_type").unwrap_or("observation");
    fields.insert("kind".to_owned(), kind.into());
    for name in ["title", "source_type", "asserted_by", "source_ref"] {
        fields.insert(name.to_owned(), record.text(name).into());
    }
    let confidence = share(record, "confidence", 1.0);
    fields.insert("confidence".to_owned(), (confidence < 1.0).then_some(confidence).into());
    fields.insert("metadata".to_owned(), metadata_of_episode(record));
    fields
}

fn fields_of_deletion(record: &RemindRecord) -> Map<String, Value> {
    let is_deleted = record.text("deleted_at").map(|_| true);
    Map::from_iter([("deleted".to_owned(), is_deleted.into())])
}

/// Returns the times of a record as fields.
fn dated(record: &RemindRecord) -> Map<String, Value> {
    let created = record.time("created_at");
    let updated = record.time("updated_at").or(created);
    let mut fields = Map::new();
    for (name, at) in [("created_at", created), ("updated_at", updated)] {
        let at: Option<UnixMillis> = at;
        if let Some(at) = at {
            fields.insert(name.to_owned(), at.0.into());
        }
    }
    fields
}

/// Returns a number from 0 to 1.
pub(super) fn share(record: &RemindRecord, name: &str, default: f64) -> f64 {
    record.number(name).map_or(default, |it| it.clamp(0.0, 1.0))
}

fn set_labels(fields: &mut Map<String, Value>, labels: Map<String, Value>) {
    if !labels.is_empty() {
        fields.insert("labels".to_owned(), labels.into());
    }
}

/// Returns the metadata of an episode with its summary.
fn metadata_of_episode(record: &RemindRecord) -> Value {
    let mut metadata = match record.get("metadata") {
        Some(Value::Object(it)) => it.clone(),
        _ => Map::new(),
    };
    if let Some(summary) = record.text("summary") {
        metadata.insert("summary".to_owned(), summary.into());
    }
    if metadata.is_empty() { Value::Null } else { metadata.into() }
}

/// Returns what a concept has beside what is a field: its quotes, and whether it is no advice.
fn rest_of_concept(record: &RemindRecord) -> Value {
    let mut rest = Map::new();
    let quotes = record.texts("evidence");
    if !quotes.is_empty() {
        rest.insert("evidence".to_owned(), quotes.into());
    }
    if record.get("actionable") == Some(&Value::Bool(false)) {
        rest.insert("actionable".to_owned(), false.into());
    }
    if rest.is_empty() { Value::Null } else { rest.into() }
}
