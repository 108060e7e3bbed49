//! Edges and conflicts of an import, once all of its nodes are there.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::episodes_concepts_facts::{has_edge, share};
use super::record_values::RecordValues;
use super::{KnowledgeImporter, NodeToImport};
use crate::maintenance::transfer::{RemindRecord, RemindRecordLists};
use crate::memory::knowledge::conflict_writes::{DISPUTES, open_conflict};
use crate::memory::knowledge::contradicting_facts::is_current_fact;
use crate::memory::knowledge::entity_resolution::present_one;
use crate::memory::knowledge::node_writes::{
    NewNodePlace, StoredKnowledgeNode, add_edge, edge, find_node, is_unlinked, set_fields,
};
use crate::memory::typed::MemoryError;
use crate::model::clock::UnixMillis;
use crate::model::identity::NodeId;
use crate::model::node_fields;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::knowledge::{CONFLICT_STATES, LINKS_MAX, SEVERITIES};

/// Characters of the type of an edge, at most.
const TYPE_CHARS_MAX: usize = 100;

/// Replacements one after another that are looked at, at most.
const REPLACED_MAX: usize = 1_000;

impl KnowledgeImporter<'_, '_, '_> {
    /// Notes the node of a record. What refers to the record leads to the node that took it in.
    pub(super) fn claim(
        &mut self,
        origin: &str,
        node: &StoredKnowledgeNode,
    ) -> Result<(), MemoryError> {
        let standing = present_one(self.batch, node.clone())?;
        let id = standing.map_or(node.id(), |it| it.id());
        self.ids.insert(origin.to_owned(), id);
        self.claimed.insert(node.id());
        Ok(())
    }

    /// Connects what was imported.
    pub(super) fn connect(&mut self, records: &RemindRecordLists) -> Result<(), MemoryError> {
        for list in ["episodes", "concepts", "facts"] {
            for record in records.list(list) {
                if record.contains_key("superseded_by") {
                    self.with_replacement.extend(record.text("id").map(str::to_owned));
                }
                self.mark_replaced_by_record(record)?;
            }
        }
        for concept in records.list("concepts") {
            let from = concept.text("id").unwrap_or_default();
            for relation in concept.objects("relations") {
                self.link((from, relation.text("target_id")), relation.text("type"), relation)?;
            }
            let parent = concept.text("parent_id");
            if parent.is_some() {
                self.link((from, parent), Some("derived_from"), concept)?;
            }
        }
        for row in records.list("relations") {
            let from = row.text("source_id").unwrap_or_default();
            self.link((from, row.text("target_id")), row.text("type"), row)?;
        }
        for row in records.list("entity_relations") {
            let from = row.text("source_id").unwrap_or_default();
            self.link((from, row.text("target_id")), row.text("relation_type"), row)?;
        }
        for row in records.list("edges") {
            let from = row.text("source_id").unwrap_or_default();
            self.link((from, row.text("target_id")), row.text("type"), row)?;
        }
        let others = records.list("other_conflicts");
        for (conflict, between) in
            conflicts_of_pairs(records.list("conflicts").iter().chain(others))
        {
            self.conflict(conflict, &between)?;
        }
        for concept in records.list("concepts") {
            self.conflicts_within(concept)?;
        }
        Ok(())
    }

    fn node(&self, origin: &str) -> Result<Option<StoredKnowledgeNode>, MemoryError> {
        match self.ids.get(origin) {
            Some(id) => find_node(self.batch, &id.to_string()),
            None => Ok(None),
        }
    }

    /// Adds an edge between two records, unless it is there.
    pub(super) fn link(
        &mut self,
        (from, to): (&str, Option<&str>),
        link_type: Option<&str>,
        record: &RemindRecord,
    ) -> Result<(), MemoryError> {
        let target = to.and_then(|it| self.ids.get(it)).copied();
        let (Some(mut source), Some(target)) = (self.node(from)?, target) else {
            self.leave_out("edges to what is not there");
            return Ok(());
        };
        let link_type = link_type.unwrap_or("related_to");
        let link_type = crate::text::truncate_chars(link_type, TYPE_CHARS_MAX);
        if source.id() == target || has_edge(&source.fields, &link_type, target) {
            return Ok(());
        }
        if is_unlinked(&source.fields, &link_type, target) {
            let which = format!("{from} {link_type} {}", to.unwrap_or_default());
            self.keep("edges", &which, "it was unlinked here, and stays so");
            return Ok(());
        }
        let is_told = to.is_some_and(|it| self.with_replacement.contains(it));
        if link_type == "supersedes" && !source.has("deleted") && !is_told {
            if !self.mark_replaced_by_edge(&source, target)? {
                return Ok(());
            }
            let Some(marked) = self.node(from)? else { return Ok(()) };
            source = marked;
        }
        if source.fields.is_empty() {
            self.leave_out("edges that begin at a note");
            return Ok(());
        }
        let n_links = node_fields::list(&source.fields, "links").len();
        if LINKS_MAX <= n_links {
            self.leave_out(format!("edges of nodes that have {LINKS_MAX} already"));
            return Ok(());
        }
        let context = record.text("context");
        let link = edge(&link_type, target, share(record, "strength", 0.5), context);
        self.change(&mut source, |it| add_edge(it, link))?;
        self.count("edges", true);
        Ok(())
    }

    /// Changes the fields of a node, and leaves its times as they are.
    pub(super) fn change(
        &mut self,
        node: &mut StoredKnowledgeNode,
        change: impl FnOnce(&mut Map<String, Value>),
    ) -> Result<(), MemoryError> {
        let at = node.time("updated_at").unwrap_or(self.now);
        set_fields(self.batch, node, change, at).map(drop)
    }

    /// Notes by which node that of a record was replaced, if the record says so.
    fn mark_replaced_by_record(&mut self, record: &RemindRecord) -> Result<(), MemoryError> {
        let Some(by) = record.text("superseded_by") else { return Ok(()) };
        let (Some(old), Some(by)) =
            (self.node(record.text("id").unwrap_or_default())?, self.node(by)?)
        else {
            self.leave_out("edges to what is not there");
            return Ok(());
        };
        let at = record.time("superseded_at").or(record.time("valid_to")).unwrap_or(self.now);
        self.mark_replaced(old, &by, at).map(drop)
    }

    /// Notes that the end of an edge was replaced when the node of its beginning came; returns
    /// whether it is so.
    fn mark_replaced_by_edge(
        &mut self,
        by: &StoredKnowledgeNode,
        old: NodeId,
    ) -> Result<bool, MemoryError> {
        let Some(old) = find_node(self.batch, &old.to_string())? else { return Ok(false) };
        let began = by.time("valid_from").or(by.time("at")).or(by.time("created_at"));
        self.mark_replaced(old, by, began.unwrap_or(self.now))
    }

    /// Has a node replaced by another one of its type, unless it is replaced already, or what
    /// replaces the other one leads back to it. One that was here before is kept as it is, and
    /// told; returns whether it is not.
    fn mark_replaced(
        &mut self,
        mut old: StoredKnowledgeNode,
        by: &StoredKnowledgeNode,
        at: UnixMillis,
    ) -> Result<bool, MemoryError> {
        let is_known = old.has("superseded_by") || old.has("merged_into");
        if is_known || !by.is_a(old.record.node_type) || self.leads_to(by, old.id())? {
            return Ok(true);
        }
        let mut held = old.validity();
        held.to = held.to.or(Some(held.from.unwrap_or(at).max(at)));
        let is_fact = old.is_a(NodeType::Fact);
        let holds_on = is_fact && !held.is_over(self.now) && !held.is_empty();
        if holds_on && old.validity() == held && has_edge(&by.fields, "supersedes", old.id()) {
            return Ok(true);
        }
        if !self.made.contains(&old.id()) {
            let list = match old.record.node_type {
                NodeType::Episode => "episodes",
                NodeType::Concept => "concepts",
                _ => "facts",
            };
            let id = old.id();
            let origin = old.text("origin").map_or_else(|| id.to_string(), str::to_owned);
            self.keep(
                list,
                &origin,
                &format!("{id} was replaced by {} there; it is kept", by.id()),
            );
            return Ok(false);
        }
        if holds_on {
            let link = edge("supersedes", old.id(), 1.0, None);
            self.change(&mut by.clone(), |it| add_edge(it, link))?;
        }
        self.change(&mut old, |it| {
            if is_fact {
                it.insert("valid_to".to_owned(), held.to.map(|it| it.0).into());
            }
            if !holds_on {
                it.insert("superseded_by".to_owned(), by.id().to_string().into());
                it.insert("superseded_at".to_owned(), at.0.into());
            }
        })?;
        Ok(true)
    }

    /// Returns whether a node is another one, or was replaced by it in some steps.
    fn leads_to(&self, node: &StoredKnowledgeNode, other: NodeId) -> Result<bool, MemoryError> {
        let mut at = node.clone();
        for _ in 0..REPLACED_MAX {
            if at.id() == other {
                return Ok(true);
            }
            let Some(next) = at.text("superseded_by") else { return Ok(false) };
            match find_node(self.batch, next)? {
                Some(next) => at = next,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    fn conflict(&mut self, record: &RemindRecord, between: &[String]) -> Result<(), MemoryError> {
        let Some(origin) = record.text("id") else {
            self.leave_out("conflicts without an id");
            return Ok(());
        };
        if let Some(here) = self.earlier(record, NodeType::Conflict, |_| false)? {
            self.note_known_conflict(record, origin, &here);
            return Ok(());
        }
        let mut disputed = Vec::new();
        for id in between {
            disputed.extend(self.node(id)?);
        }
        if disputed.is_empty() {
            self.refuse("conflicts", origin, "nothing that it is about is there");
            return Ok(());
        }
        if let Some(here) = self.known_conflict(&disputed)? {
            self.note_known_conflict(record, origin, &here);
            return Ok(());
        }
        let status = status_of(record);
        let severity =
            record.text("severity").and_then(|it| SEVERITIES.iter().find(|word| **word == it));
        let severity = severity.copied().unwrap_or("medium");
        let mut fields = Map::new();
        fields.insert("conflict".to_owned(), status.into());
        fields.insert("severity".to_owned(), severity.into());
        fields.insert("note".to_owned(), record.text("resolution_note").into());
        let winner = record.text("winning_fact_id").and_then(|it| self.ids.get(it));
        fields.insert("winner".to_owned(), winner.map(NodeId::to_string).into());
        for (name, of) in [
            ("created_at", "created_at"),
            ("updated_at", "created_at"),
            ("resolved_at", "resolved_at"),
        ] {
            if let Some(at) = record.time(of) {
                fields.insert(name.to_owned(), at.0.into());
            }
        }
        for node in &disputed {
            self.edge(&mut fields, edge(DISPUTES, node.id(), 1.0, None));
        }
        let content = record.text("description").unwrap_or("conflict");
        let (list, node_type, below) = ("conflicts", NodeType::Conflict, NewNodePlace::Bucket(&[]));
        let is_processed = false;
        self.add(NodeToImport { list, origin, node_type, content, fields, is_processed, below })?;
        if status == CONFLICT_STATES[0] && severity != "low" {
            self.contest(disputed)?;
        }
        Ok(())
    }

    /// Counts a conflict that is here already; one that is open, resolved or dismissed here stays
    /// so.
    fn note_known_conflict(
        &mut self,
        record: &RemindRecord,
        origin: &str,
        here: &StoredKnowledgeNode,
    ) {
        self.claimed.insert(here.id());
        let (status, there) = (here.text("conflict").unwrap_or_default(), status_of(record));
        if status == there {
            self.count("conflicts", false);
        } else {
            let why = format!("{} is {status} here and {there} there; it is kept", here.id());
            self.keep("conflicts", origin, &why);
        }
    }

    /// Returns the conflict about all of these, be it open, resolved or dismissed.
    fn known_conflict(
        &self,
        disputed: &[StoredKnowledgeNode],
    ) -> Result<Option<StoredKnowledgeNode>, MemoryError> {
        let Some(first) = disputed.first() else { return Ok(None) };
        let known = StoredKnowledgeNode::all(self.batch.with_edge_to(&[first.id()], DISPUTES)?)?;
        let is_about_all = |conflict: &StoredKnowledgeNode| {
            let ids = conflict.linked(DISPUTES);
            disputed.iter().all(|it| ids.contains(&it.id().to_string().as_str()))
        };
        Ok(known.into_iter().find(is_about_all))
    }

    fn contest(&mut self, disputed: Vec<StoredKnowledgeNode>) -> Result<(), MemoryError> {
        for mut fact in disputed.into_iter().filter(|it| it.is_a(NodeType::Fact)) {
            if !fact.has("valid_to") {
                self.change(&mut fact, |it| drop(it.insert("contested".to_owned(), true.into())))?;
            }
        }
        Ok(())
    }

    /// Opens the conflicts that a cluster notes between texts of its facts.
    fn conflicts_within(&mut self, record: &RemindRecord) -> Result<(), MemoryError> {
        let noted = record.objects("conflicts");
        if noted.is_empty() {
            return Ok(());
        }
        let Some(cluster) = self.node(record.text("id").unwrap_or_default())? else {
            return Ok(());
        };
        let facts = StoredKnowledgeNode::all(self.batch.children_of(cluster.record.key)?)?;
        for conflict in noted {
            let texts = [conflict.text("fact_a"), conflict.text("fact_b")];
            let mut between: Vec<StoredKnowledgeNode> = facts
                .iter()
                .filter(|it| {
                    it.is_a(NodeType::Fact) && texts.contains(&Some(it.record.content.as_str()))
                })
                .cloned()
                .collect();
            if between.len() < 2 {
                self.leave_out("conflicts between facts that are not there");
                continue;
            }
            let is_over = |it: &StoredKnowledgeNode| !is_current_fact(it, self.now);
            if self.known_conflict(&between)?.is_some() || between.iter().any(is_over) {
                self.count("conflicts", false);
                continue;
            }
            let reason = conflict.text("reason");
            open_conflict(self.batch, &mut between, "medium", reason, self.now)?;
            self.count("conflicts", true);
        }
        Ok(())
    }
}

/// Returns the state of a conflict, as its record has it.
fn status_of(record: &RemindRecord) -> &'static str {
    let status = record.text("status");
    CONFLICT_STATES.iter().find(|it| status == Some(it)).unwrap_or(&CONFLICT_STATES[0])
}

/// Returns the records of conflicts, each with the ids of what it is about. Records have at most
/// two facts; those by which an export tells of more, `ID`, `ID/2`, `ID/3`, are one conflict again.
fn conflicts_of_pairs<'a>(
    records: impl Iterator<Item = &'a RemindRecord>,
) -> Vec<(&'a RemindRecord, Vec<String>)> {
    let mut conflicts: Vec<(&'a RemindRecord, Vec<String>)> = Vec::new();
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    let mut records: Vec<&RemindRecord> = records.collect();
    // The files of a folder come in any order.
    records.sort_by_key(|it| further_pair(it).map(|(_, nth)| nth));
    for record in records {
        let facts = [record.text("fact_a_id"), record.text("fact_b_id")];
        let mut between: Vec<String> = facts.into_iter().flatten().map(str::to_owned).collect();
        for further in ["between", "concept_ids"] {
            if between.is_empty() {
                between = record.texts(further);
            }
        }
        let id = record.text("id").unwrap_or_default();
        let first = further_pair(record).and_then(|(first, _)| by_id.get(first));
        match first.map(|nth| &mut conflicts[*nth]) {
            Some((first, ids)) if first.get("status") == record.get("status") => {
                between.retain(|it| !ids.contains(it));
                ids.append(&mut between);
            }
            _ => {
                by_id.insert(id, conflicts.len());
                conflicts.push((record, between));
            }
        }
    }
    conflicts
}

/// Returns the `ID` and the `N` of a record whose id is `ID/N`.
fn further_pair(record: &RemindRecord) -> Option<(&str, usize)> {
    let (first, nth) = record.text("id")?.rsplit_once('/')?;
    Some((first, nth.parse().ok()?))
}
