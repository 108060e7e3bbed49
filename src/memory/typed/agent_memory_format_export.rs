//! Exports memories as lines: which file has which memories, and their lines.
//!
//! Memories are in the order in which they were made, to the second as lines show it, then in that
//! of their ids. So the export of an import is the same, byte for byte.

use std::collections::{BTreeMap, HashMap};

use serde_json::json;

use super::jsonl::{FILES, file_of};
use super::{ErrorCode, MemoryError, TypedMemory};
use crate::model::clock::UnixMillis;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::MEMORY_TYPES;
use crate::store::reader::{FieldFilter, FilterValue, Reader};
use crate::store::{NodeRowId, StoreError};

/// Version of the format of the index.
const VERSION: u64 = 1;

/// Holds what an export has: the files, and the index of all memories.
#[derive(Clone, Debug)]
pub(crate) struct MemoryExportLayout {
    /// The three of every export, then those of archived memories by year.
    pub(crate) files: Vec<PlannedExportFile>,
    entries: Vec<ExportIndexEntry>,
}

/// A file of an export, by its path below the folder.
#[derive(Clone, Debug)]
pub(crate) struct PlannedExportFile {
    pub(crate) path: String,
    pub(crate) memories: Vec<NodeRowId>,
}

/// A memory of the index, in the order of the members.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ExportIndexEntry {
    created_at: String,
    id: String,
    key: NodeRowId,
    memory_type: &'static str,
    file: String,
    archived: bool,
}

impl MemoryExportLayout {
    /// Returns what an export of the present state has.
    pub(crate) fn plan(reader: &Reader) -> Result<MemoryExportLayout, MemoryError> {
        let created: HashMap<NodeRowId, FilterValue> =
            reader.facet_values("created_at")?.into_iter().collect();
        let ids: HashMap<NodeRowId, FilterValue> =
            reader.facet_values("uuid")?.into_iter().collect();
        let mut entries = Vec::new();
        for memory_type in MEMORY_TYPES {
            for (key, archived) in memories_of(reader, memory_type)? {
                let (Some(FilterValue::Integer(at)), Some(FilterValue::Text(id))) =
                    (created.get(&key), ids.get(&key))
                else {
                    return Err(unreadable(1));
                };
                let (created_at, id) = (UnixMillis(*at).to_second(), id.clone());
                let year = created_at.split('-').next().filter(|_| archived);
                let file = file_of(memory_type, year);
                let memory_type = memory_type.as_str();
                entries.push(ExportIndexEntry { created_at, id, key, memory_type, file, archived });
            }
        }
        entries.sort_unstable();
        let mut archives: BTreeMap<&str, Vec<NodeRowId>> = BTreeMap::new();
        for entry in &entries {
            archives.entry(&entry.file).or_default().push(entry.key);
        }
        let mut files = Vec::new();
        for (path, _) in FILES {
            let memories = archives.remove(path).unwrap_or_default();
            files.push(PlannedExportFile { path: path.to_owned(), memories });
        }
        let archives = archives.into_iter();
        files.extend(
            archives.map(|(path, it)| PlannedExportFile { path: path.to_owned(), memories: it }),
        );
        Ok(MemoryExportLayout { files, entries })
    }

    /// Returns the number of memories.
    pub(crate) fn n_memories(&self) -> usize {
        self.entries.len()
    }

    /// Returns the text of the index.
    pub(crate) fn index(&self) -> String {
        let rows = self.entries.iter().map(|it| {
            let ExportIndexEntry { id, memory_type, file, archived, .. } = it;
            json!({"id": id, "type": memory_type, "file": file, "archived": archived})
        });
        let rows: Vec<_> = rows.collect();
        format!("{}\n", json!({"version": VERSION, "memories": rows}))
    }
}

impl PlannedExportFile {
    /// Returns the lines of some of the file's memories.
    pub(crate) fn lines(reader: &Reader, memories: &[NodeRowId]) -> Result<String, MemoryError> {
        let nodes = reader.typed_nodes(memories)?;
        if nodes.len() != memories.len() {
            return Err(unreadable(memories.len().abs_diff(nodes.len())));
        }
        Ok(nodes.iter().map(|it| format!("{}\n", TypedMemory::of(it).to_json())).collect())
    }
}

/// Returns the memories of a type, and whether each is archived.
fn memories_of(
    reader: &Reader,
    memory_type: NodeType,
) -> Result<Vec<(NodeRowId, bool)>, StoreError> {
    let mut found = Vec::new();
    for archived in [false, true] {
        let of_type = FieldFilter::text("type", memory_type.as_str());
        let facets = [of_type, FieldFilter::integer("archived", archived.into())];
        found.extend(reader.nodes_with(&facets)?.into_iter().map(|it| (it, archived)));
    }
    Ok(found)
}

fn unreadable(n_memories: usize) -> MemoryError {
    let what = format!("{n_memories} or more memories cannot be read; run `remindb doctor`");
    MemoryError::new(ErrorCode::CorruptedData, what)
}
