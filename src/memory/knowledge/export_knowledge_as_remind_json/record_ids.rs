//! Names of nodes in the records of an export, and their edges.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

use crate::memory::knowledge::arguments::KnowledgeResult;
use crate::memory::knowledge::entity_resolution::MERGED_MAX;
use crate::model::tree::NodeType;
use crate::store::reader::{FieldFilter, KnowledgeRow, Reader};

/// Rows that are read at a time.
const STEP_ROWS: usize = 500;

/// The names by which records refer to nodes.
#[derive(Default)]
pub(super) struct RecordIds {
    /// The id in records of each node, and the type of its record.
    ids: HashMap<String, (String, NodeType)>,
    /// Names of topics.
    pub(super) topics: HashMap<String, String>,
    /// Titles of compiled files, by their ids as entities.
    pub(super) files: BTreeMap<String, String>,
}

/// Returns the nodes of a type that were merged into none, eldest first.
pub(super) fn rows(reader: &Reader, node_type: NodeType) -> KnowledgeResult<Vec<KnowledgeRow>> {
    let mut all = all_rows(reader, node_type)?;
    all.retain(|it| !it.has("merged_into"));
    Ok(all)
}

/// Returns the nodes of a type, eldest first.
fn all_rows(reader: &Reader, node_type: NodeType) -> KnowledgeResult<Vec<KnowledgeRow>> {
    let keys = reader.nodes_with(&[FieldFilter::text("type", node_type.as_str())])?;
    let mut all = Vec::with_capacity(keys.len());
    for some in keys.chunks(STEP_ROWS) {
        all.extend(reader.knowledge(some)?);
    }
    Ok(all)
}

impl RecordIds {
    pub(super) fn read(reader: &Reader) -> KnowledgeResult<RecordIds> {
        let mut names = RecordIds::default();
        for node_type in [NodeType::Episode, NodeType::Concept, NodeType::Fact, NodeType::Conflict]
        {
            names.add_records(node_type, rows(reader, node_type)?);
        }
        // Records of entities cannot say that one is deleted, and what names none is left out.
        for row in rows(reader, NodeType::Entity)?.into_iter().filter(|it| !it.is_gone()) {
            let id = format!("{}:{}", row.text("kind").unwrap_or("other"), row.title());
            names.ids.insert(row.id, (id.to_lowercase(), NodeType::Entity));
        }
        names.add_files(reader)?;
        for node_type in [NodeType::Episode, NodeType::Concept, NodeType::Fact, NodeType::Entity] {
            names.add_merged(&all_rows(reader, node_type)?);
        }
        for row in rows(reader, NodeType::Topic)? {
            let title = row.title().to_owned();
            if !row.is_gone() {
                names.ids.insert(row.id.clone(), (format!("topic {title}"), NodeType::Topic));
            }
            names.topics.insert(row.id, title);
        }
        Ok(names)
    }

    /// Names nodes by the ids of the records that they were imported from, else by their own. What
    /// comes from another memory may have an id that a node of this one has, too.
    fn add_records(&mut self, node_type: NodeType, rows: Vec<KnowledgeRow>) {
        let (own, imported): (Vec<_>, Vec<_>) = rows.into_iter().partition(|it| !it.has("origin"));
        let mut taken: HashSet<String> = own.iter().map(|it| it.id.clone()).collect();
        let own = own.into_iter().map(|it| (it.id.clone(), (it.id, node_type)));
        self.ids.extend(own);
        for row in imported {
            let further = (2..).map(|nth| format!("{}-{nth}", row.id));
            let origin = row.text("origin").map(str::to_owned);
            let mut ids = origin.into_iter().chain([row.id.clone()]).chain(further);
            let id = ids.find(|it| !taken.contains(it)).unwrap_or_default();
            taken.insert(id.clone());
            self.ids.insert(row.id, (id, node_type));
        }
    }

    /// Names what was merged into another node by the record of that one.
    fn add_merged(&mut self, rows: &[KnowledgeRow]) {
        let into: BTreeMap<&str, &str> =
            rows.iter().filter_map(|it| Some((&*it.id, it.text("merged_into")?))).collect();
        for id in into.keys() {
            let mut standing = *id;
            for _ in 0..MERGED_MAX {
                standing = into.get(standing).copied().unwrap_or(standing);
            }
            if let Some(record) = self.ids.get(standing).cloned() {
                self.ids.insert((*id).to_owned(), record);
            }
        }
    }

    /// Names the compiled files that something mentions; they become entities.
    fn add_files(&mut self, reader: &Reader) -> KnowledgeResult<()> {
        for node_type in [NodeType::Episode, NodeType::Fact] {
            for row in rows(reader, node_type)? {
                for id in row.list("links").iter().filter_map(|it| it["to"].as_str()) {
                    if self.ids.contains_key(id) {
                        continue;
                    }
                    if let Some(node) = reader.knowledge_by_id(id)?.filter(|it| it.fields.is_none())
                    {
                        let name = format!("file:{}", node.title());
                        self.files.insert(name.clone(), node.title().to_owned());
                        self.ids.insert(id.to_owned(), (name, NodeType::Entity));
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn of(&self, id: &str) -> Option<&str> {
        self.record_of(id).map(|it| it.0)
    }

    /// Returns the id in records of a node, and the type of its record.
    pub(super) fn record_of(&self, id: &str) -> Option<(&str, NodeType)> {
        self.ids.get(id).map(|(id, node_type)| (id.as_str(), *node_type))
    }

    pub(super) fn own<'a>(&'a self, row: &'a KnowledgeRow) -> &'a str {
        self.of(&row.id).unwrap_or(&row.id)
    }
}

/// An edge as fields have it.
pub(super) struct LinkInNodeFields<'a> {
    pub(super) link_type: &'a str,
    /// The id of the node at its end.
    pub(super) to: &'a str,
    pub(super) strength: f64,
    pub(super) context: Option<&'a str>,
}

pub(super) fn links(row: &KnowledgeRow) -> Vec<LinkInNodeFields<'_>> {
    row.list("links").iter().filter_map(link).collect()
}

fn link(link: &Value) -> Option<LinkInNodeFields<'_>> {
    Some(LinkInNodeFields {
        link_type: link["type"].as_str()?,
        to: link["to"].as_str()?,
        strength: link["strength"].as_f64().unwrap_or(1.0),
        context: link["context"].as_str(),
    })
}
