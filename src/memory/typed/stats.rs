//! The facts about all memories, archived ones included.

use std::cmp::Reverse;

use serde_json::{Map, Value, json};

use crate::model::clock::UnixMillis;
use crate::model::typed_node_field_schemas::{IMPORTANCES, MEMORY_TYPES};
use crate::store::StoreError;
use crate::store::reader::{FilterValue, Reader};

/// Tags that are named, at most.
const TAGS_MAX: usize = 10;

/// Holds the facts about all memories.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MemoryStats {
    pub(crate) n_memories: u64,
    /// By type, in the order of the types.
    pub(crate) by_type: Vec<(&'static str, u64)>,
    /// By importance, most first.
    pub(crate) by_importance: Vec<(&'static str, u64)>,
    pub(crate) n_archived: u64,
    /// Of texts and fields.
    pub(crate) n_bytes: u64,
    pub(crate) oldest: Option<UnixMillis>,
    pub(crate) newest: Option<UnixMillis>,
    /// UUID and count of the memory that was read most; the eldest of several.
    pub(crate) most_accessed: Option<(String, u64)>,
    /// The most frequent tags, those of equal counts by name.
    pub(crate) top_tags: Vec<(String, u64)>,
}

pub(super) fn stats(reader: &Reader) -> Result<MemoryStats, StoreError> {
    let types = reader.facet_counts("type", &MEMORY_TYPES)?;
    let importances = reader.facet_counts("importance", &MEMORY_TYPES)?;
    let of = |counts: &[(FilterValue, u64)], word: &str| {
        let is_it = |(it, _): &&(FilterValue, u64)| *it == FilterValue::Text(word.to_owned());
        counts.iter().find(is_it).map_or(0, |(_, n)| *n)
    };
    let by_type = MEMORY_TYPES.map(|it| (it.as_str(), of(&types, it.as_str())));
    let archived = reader.facet_counts("archived", &MEMORY_TYPES)?.into_iter();
    let created = reader.facet_values("created_at")?;
    let time = |it: Option<&(_, FilterValue)>| match it {
        Some((_, FilterValue::Integer(at))) => Some(UnixMillis(*at)),
        _ => None,
    };
    let nodes: Vec<_> = created.iter().map(|(node, _)| *node).collect();
    let access = reader.access_counts(&nodes)?;
    let counted = nodes.iter().filter_map(|it| Some((access.get(it)?.access_count, *it)));
    // The first of equal ones is the eldest.
    let most = counted.reduce(|best, it| if best.0 < it.0 { it } else { best });
    let most_accessed = match most {
        Some((n, node)) => match reader.facet_values_of("uuid", &[node])?.remove(&node) {
            Some(FilterValue::Text(uuid)) => Some((uuid, n)),
            _ => None,
        },
        None => None,
    };
    let mut tags: Vec<(String, u64)> = Vec::new();
    for (tag, n) in reader.facet_counts("tag", &MEMORY_TYPES)? {
        if let FilterValue::Text(tag) = tag {
            tags.push((tag, n));
        }
    }
    tags.sort_by(|a, b| (Reverse(a.1), &a.0).cmp(&(Reverse(b.1), &b.0)));
    tags.truncate(TAGS_MAX);
    Ok(MemoryStats {
        n_memories: by_type.iter().map(|(_, n)| n).sum(),
        by_type: by_type.to_vec(),
        by_importance: IMPORTANCES.iter().map(|it| (*it, of(&importances, it))).collect(),
        n_archived: archived.filter(|(it, _)| *it == FilterValue::Integer(1)).map(|(_, n)| n).sum(),
        n_bytes: reader.typed_bytes(&MEMORY_TYPES)?,
        oldest: time(created.first()),
        newest: time(created.last()),
        most_accessed,
        top_tags: tags,
    })
}

impl MemoryStats {
    /// Returns the answer of `get_memory_stats`.
    pub(crate) fn to_json(&self) -> Value {
        let counts = |of: &[(&str, u64)]| -> Map<String, Value> {
            of.iter().map(|(name, n)| ((*name).to_owned(), Value::from(*n))).collect()
        };
        let most = self.most_accessed.as_ref();
        let tags = self.top_tags.iter().map(|(tag, count)| json!({"tag": tag, "count": count}));
        json!({
            "total_memories": self.n_memories,
            "by_type": counts(&self.by_type),
            "by_importance": counts(&self.by_importance),
            "archived_count": self.n_archived,
            // To two places.
            "total_storage_kb": (self.n_bytes as f64 / 1024.0 * 100.0).round() / 100.0,
            "oldest_memory": self.oldest.map(UnixMillis::to_second),
            "newest_memory": self.newest.map(UnixMillis::to_second),
            "most_accessed": most.map(|(id, n)| json!({"id": id, "access_count": n})),
            "top_tags": tags.collect::<Vec<Value>>(),
        })
    }
}
