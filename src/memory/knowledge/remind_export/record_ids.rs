//! Names of nodes in the records of an export, and their edges by these names.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::memory::knowledge::arguments::KnowledgeResult;
use crate::model::tree::NodeType;
use crate::store::reader::{FieldFilter, KnowledgeRow, Reader};

/// Rows that are read at a time.
const STEP_ROWS: usize = 500;

/// The names by which records refer to nodes.
#[derive(Default)]
pub(super) struct RecordIds {
    /// The id in records of each node.
    ids: HashMap<String, String>,
    /// Names of topics.
    pub(super) topics: HashMap<String, String>,
    /// Titles of compiled files, by their ids as entities.
    pub(super) files: BTreeMap<String, String>,
}

/// Returns the nodes of a type that were merged into none, eldest first.
pub(super) fn rows(reader: &Reader, node_type: NodeType) -> KnowledgeResult<Vec<KnowledgeRow>> {
    let keys = reader.nodes_with(&[FieldFilter::text("type", node_type.as_str())])?;
    let mut all = Vec::with_capacity(keys.len());
    for some in keys.chunks(STEP_ROWS) {
        all.extend(reader.knowledge(some)?);
    }
    all.retain(|it| !it.has("merged_into"));
    Ok(all)
}

impl RecordIds {
    pub(super) fn read(reader: &Reader) -> KnowledgeResult<RecordIds> {
        let mut names = RecordIds::default();
        for node_type in [NodeType::Episode, NodeType::Concept, NodeType::Fact, NodeType::Conflict]
        {
            for row in rows(reader, node_type)? {
                let id = row.text("origin").unwrap_or(&row.id).to_owned();
                names.ids.insert(row.id, id);
            }
        }
        // Records of entities cannot say that one is deleted, and what names none is left out.
        for row in rows(reader, NodeType::Entity)?.into_iter().filter(|it| !it.is_gone()) {
            let id = format!("{}:{}", row.text("kind").unwrap_or("other"), row.title());
            names.ids.insert(row.id, id.to_lowercase());
        }
        names.add_files(reader)?;
        for row in rows(reader, NodeType::Topic)? {
            names.topics.insert(row.id.clone(), row.title().to_owned());
        }
        Ok(names)
    }

    /// Names the compiled files that something mentions; they become entities.
    fn add_files(&mut self, reader: &Reader) -> KnowledgeResult<()> {
        for node_type in [NodeType::Episode, NodeType::Fact] {
            for row in rows(reader, node_type)? {
                let links = row.fields.as_ref().and_then(|it| it.get("links")?.as_array());
                let ends = links.into_iter().flatten().filter_map(|it| it["to"].as_str());
                for id in ends {
                    if self.ids.contains_key(id) {
                        continue;
                    }
                    if let Some(node) = reader.knowledge_by_id(id)?.filter(|it| it.fields.is_none())
                    {
                        let name = format!("file:{}", node.title());
                        self.files.insert(name.clone(), node.title().to_owned());
                        self.ids.insert(id.to_owned(), name);
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn of(&self, id: &str) -> Option<&str> {
        self.ids.get(id).map(String::as_str)
    }

    pub(super) fn own<'a>(&'a self, row: &'a KnowledgeRow) -> &'a str {
        self.of(&row.id).unwrap_or(&row.id)
    }
}

/// An edge as fields have it, its end by its id in records.
pub(super) struct RecordLink<'a> {
    pub(super) link_type: &'a str,
    pub(super) to: &'a str,
    pub(super) strength: f64,
    pub(super) context: Option<&'a str>,
}

pub(super) fn links<'a>(row: &'a KnowledgeRow, names: &'a RecordIds) -> Vec<RecordLink<'a>> {
    let links = row.fields.as_ref().and_then(|it| it.get("links")?.as_array());
    let read = |it: &'a Value| {
        Some(RecordLink {
            link_type: it["type"].as_str()?,
            to: names.of(it["to"].as_str()?)?,
            strength: it["strength"].as_f64().unwrap_or(1.0),
            context: it["context"].as_str(),
        })
    };
    links.into_iter().flatten().filter_map(read).collect()
}
