//! Lists of memories: filtered by facets, sorted by one of five values, cut to a page.

use std::collections::HashMap;

use super::request::{QueryRequest, SortDirection, SortKey};
use super::typed_memory::TypedMemory;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::{IMPORTANCES, MEMORY_TYPES};
use crate::store::reader::{FieldFilter, FilterValue, Reader};
use crate::store::{NodeRowId, StoreError};

/// Nodes up to which facets are looked up node by node; beyond that, all of a key are read.
const LOOKUPS_MAX: usize = 2_000;

/// Holds a page of memories, and how many there are in all.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MemoryPage {
    pub(crate) memories: Vec<TypedMemory>,
    /// That meet the conditions.
    pub(crate) total: u64,
    pub(crate) limit: u64,
    pub(crate) offset: u64,
    pub(crate) has_more: bool,
}

/// Returns the memories that meet every condition, a page of them; it counts no access.
pub(crate) fn list_memories(
    reader: &Reader,
    request: &QueryRequest,
) -> Result<MemoryPage, StoreError> {
    reader.at_one_state(|it| query(it, request)).map(|(page, _)| page)
}

/// Returns a page with the nodes that it shows.
pub(super) fn query(
    reader: &Reader,
    request: &QueryRequest,
) -> Result<(MemoryPage, Vec<NodeRowId>), StoreError> {
    let mut found = meeting(reader, request)?;
    if let Some(search) = &request.search {
        found = saying(reader, found, search)?;
    }
    let total = found.len() as u64;
    let sorted = sorted(reader, found, request.sort_by, request.sort_order)?;
    let (offset, limit) = (request.offset, request.limit);
    let as_index = |it: u64| usize::try_from(it).unwrap_or(usize::MAX);
    let page: Vec<NodeRowId> =
        sorted.into_iter().skip(as_index(offset)).take(as_index(limit)).collect();
    let memories: Vec<TypedMemory> =
        reader.typed_nodes(&page)?.iter().map(TypedMemory::of).collect();
    let has_more = offset.saturating_add(page.len() as u64) < total;
    Ok((MemoryPage { memories, total, limit, offset, has_more }, page))
}

/// The nodes that meet the conditions, apart from the search.
pub(super) fn meeting(
    reader: &Reader,
    request: &QueryRequest,
) -> Result<Vec<NodeRowId>, StoreError> {
    let mut facets: Vec<FieldFilter> = Vec::new();
    facets.extend(request.tags.iter().map(|it| FieldFilter::text("tag", it)));
    let texts = [
        ("category", &request.category),
        ("status", &request.status),
        ("importance", &request.importance),
    ];
    for (key, value) in texts {
        facets.extend(value.iter().map(|it| FieldFilter::text(key, it)));
    }
    let types = match &request.memory_type {
        Some(of_type) => std::slice::from_ref(of_type),
        None => &MEMORY_TYPES,
    };
    reader.typed_with(&facets, types, request.archived)
}

/// Keeps the nodes whose text has every word, in any case.
fn saying(
    reader: &Reader,
    keys: Vec<NodeRowId>,
    search: &str,
) -> Result<Vec<NodeRowId>, StoreError> {
    let words: Vec<String> = search.split_whitespace().map(str::to_lowercase).collect();
    if words.is_empty() {
        return Ok(keys);
    }
    reader.nodes_saying(&keys, &words)
}

/// A value to sort by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SortValue {
    first: i64,
    created_at: i64,
    uuid: String,
}

/// Equal values are in the order in which memories were made, then in that of their ids.
pub(super) fn sorted(
    reader: &Reader,
    keys: Vec<NodeRowId>,
    by: SortKey,
    order: SortDirection,
) -> Result<Vec<NodeRowId>, StoreError> {
    let firsts = match by {
        SortKey::CreatedAt => HashMap::new(),
        SortKey::UpdatedAt => integers(reader, "updated_at", &keys)?,
        SortKey::Importance => values(reader, "importance", &keys)?
            .into_iter()
            .map(|(key, value)| (key, importance(&value)))
            .collect(),
        SortKey::AccessedAt => accesses(reader, &keys)?,
        SortKey::AccessCount => {
            let access = reader.access_counts(&keys)?.into_iter();
            access.map(|(key, it)| (key, it.access_count as i64)).collect()
        }
    };
    let if_none = match by {
        SortKey::CreatedAt | SortKey::AccessedAt => SortValueFallback::CreatedAt,
        _ => SortValueFallback::Zero,
    };
    sorted_by(reader, keys, (&firsts, if_none), order)
}

/// Returns when each of those was last read; none of a memory that never was.
pub(super) fn accesses(
    reader: &Reader,
    keys: &[NodeRowId],
) -> Result<HashMap<NodeRowId, i64>, StoreError> {
    let access = reader.access_counts(keys)?.into_iter();
    Ok(access.filter_map(|(key, it)| Some((key, it.accessed_at?))).collect())
}

/// Stands for a value that a memory does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SortValueFallback {
    CreatedAt,
    Zero,
}

/// Sorts by those values; equal ones as [`sorted`] does.
pub(super) fn sorted_by(
    reader: &Reader,
    keys: Vec<NodeRowId>,
    (firsts, if_none): (&HashMap<NodeRowId, i64>, SortValueFallback),
    order: SortDirection,
) -> Result<Vec<NodeRowId>, StoreError> {
    let created = integers(reader, "created_at", &keys)?;
    let of = |values: &HashMap<NodeRowId, i64>, key| values.get(&key).copied().unwrap_or(0);
    let mut rows: Vec<(SortValue, NodeRowId)> = Vec::with_capacity(keys.len());
    for key in keys {
        let created_at = of(&created, key);
        let first = match if_none {
            SortValueFallback::CreatedAt => firsts.get(&key).copied().unwrap_or(created_at),
            SortValueFallback::Zero => of(firsts, key),
        };
        rows.push((SortValue { first, created_at, uuid: String::new() }, key));
    }
    rows.sort_unstable();
    // Ids are read only where they decide.
    let is_tied = |at: usize| {
        let value = |at: usize| rows.get(at).map(|it| &it.0);
        value(at) == value(at + 1) || 0 < at && value(at) == value(at - 1)
    };
    let tied: Vec<NodeRowId> =
        (0..rows.len()).filter(|at| is_tied(*at)).map(|at| rows[at].1).collect();
    if !tied.is_empty() {
        let uuids = values(reader, "uuid", &tied)?;
        for (value, key) in &mut rows {
            if let Some(FilterValue::Text(uuid)) = uuids.get(key) {
                value.uuid.clone_from(uuid);
            }
        }
        rows.sort_unstable();
    }
    if order == SortDirection::Descending {
        rows.reverse();
    }
    Ok(rows.into_iter().map(|(_, key)| key).collect())
}

fn importance(value: &FilterValue) -> i64 {
    let FilterValue::Text(word) = value else { return 0 };
    let rank = IMPORTANCES.iter().rev().position(|it| it == word);
    rank.map_or(0, |it| it as i64 + 1)
}

fn values(
    reader: &Reader,
    key: &'static str,
    of: &[NodeRowId],
) -> Result<HashMap<NodeRowId, FilterValue>, StoreError> {
    match of.len() {
        0..=LOOKUPS_MAX => reader.facet_values_of(key, of),
        _ => Ok(reader.facet_values(key)?.into_iter().collect()),
    }
}

pub(super) fn integers(
    reader: &Reader,
    key: &'static str,
    of: &[NodeRowId],
) -> Result<HashMap<NodeRowId, i64>, StoreError> {
    let values = values(reader, key, of)?.into_iter();
    Ok(values
        .filter_map(|(key, value)| match value {
            FilterValue::Integer(it) => Some((key, it)),
            FilterValue::Text(_) => None,
        })
        .collect())
}

/// Returns UUIDs of memories of a type, least important and longest unread first; archived ones
/// do not count.
pub(super) fn suggestions(
    reader: &Reader,
    of_type: NodeType,
    n_max: usize,
) -> Result<Vec<String>, StoreError> {
    let request = QueryRequest { memory_type: Some(of_type), ..QueryRequest::default() };
    let keys = meeting(reader, &request)?;
    let mut memories: Vec<TypedMemory> =
        reader.typed_nodes(&keys)?.iter().map(TypedMemory::of).collect();
    memories.sort_by_key(|it| {
        (std::cmp::Reverse(it.importance_rank()), it.accessed_at, it.created_at, it.id.clone())
    });
    Ok(memories.into_iter().take(n_max).map(|it| it.id).collect())
}
