//! Typed nodes for readers: one by its UUID, many by their facets, and what lists are sorted by.
//!
//! Facets are read by ranges of their index, in the order of the nodes, so that lists of thousands
//! are intersected without reading a row of `node`.

use std::collections::HashMap;
use std::fmt;

use rusqlite::{Row, params};

use super::{Reader, limit, list};
use crate::model::node_fields::{CanonicalFields, CanonicalFieldsError};
use crate::model::tree::NodeType;
use crate::store::record::read_id;
use crate::store::{ErrorContext, NodeRowId, PreparedStatements, StoreError};

/// Holds a value by which typed nodes are looked up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum FilterValue {
    Integer(i64),
    Text(String),
}

/// Holds a condition: nodes have that value under that key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldFilter {
    pub(crate) key: &'static str,
    pub(crate) value: FilterValue,
}

impl FieldFilter {
    /// Returns the condition of a text.
    pub(crate) fn text(key: &'static str, value: &str) -> FieldFilter {
        FieldFilter { key, value: FilterValue::Text(value.to_owned()) }
    }

    /// Returns the condition of an integer.
    pub(crate) fn integer(key: &'static str, value: i64) -> FieldFilter {
        FieldFilter { key, value: FilterValue::Integer(value) }
    }
}

/// Holds what is noted of the reads of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AccessStats {
    /// In ms since the Unix epoch; `None`: it was never read.
    pub(crate) accessed_at: Option<i64>,
    pub(crate) access_count: u64,
}

/// Holds a typed node with its text, fields and reads.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TypedNode {
    pub(crate) key: NodeRowId,
    /// The anchor.
    pub(crate) id: String,
    pub(crate) node_type: NodeType,
    pub(crate) content: String,
    pub(crate) fields: CanonicalFields,
    pub(crate) access: AccessStats,
}

/// Reads access counts, which begin at that column.
pub(crate) fn read_access(row: &Row<'_>, at: usize) -> rusqlite::Result<AccessStats> {
    let access_count: Option<i64> = row.get(at + 1)?;
    let access_count = access_count.unwrap_or(0).unsigned_abs();
    Ok(AccessStats { accessed_at: row.get(at)?, access_count })
}

/// Returns the error of a memory whose fields are damaged.
pub(crate) fn unreadable(id: impl fmt::Display, error: &CanonicalFieldsError) -> StoreError {
    StoreError::Corrupt { what: format!("memory `{id}` cannot be read: {error}") }
}

fn read_value(row: &Row<'_>, at: usize) -> rusqlite::Result<FilterValue> {
    Ok(match row.get_ref(at)? {
        rusqlite::types::ValueRef::Integer(it) => FilterValue::Integer(it),
        other => FilterValue::Text(other.as_str().unwrap_or_default().to_owned()),
    })
}

impl Reader {
    /// Returns the typed node of that UUID.
    #[cfg(test)]
    pub(crate) fn typed_by_uuid(&self, uuid: &str) -> Result<Option<TypedNode>, StoreError> {
        let keys = self.nodes_with(&[FieldFilter::text("uuid", uuid)])?;
        Ok(self.typed_nodes(&keys[..keys.len().min(1)])?.pop())
    }

    /// Returns the id of the removed node that had that UUID last.
    pub(crate) fn removed_by_uuid(&self, uuid: &str) -> Result<Option<String>, StoreError> {
        const REMOVED: &str = "
            SELECT node_id
              FROM diff
             WHERE old_fields IS NOT NULL
               AND op = 'rem'
               AND json_valid(old_fields)
               AND json_extract(old_fields, '$.uuid') = ?1
             ORDER BY snapshot DESC, seq DESC
             LIMIT 1";
        self.conn.find(REMOVED, [uuid], |row| read_id(row, 0), "look for a removed memory")
    }

    /// Returns the typed nodes of those keys, in that order; keys of no such node are passed over.
    ///
    /// # Errors
    ///
    /// The fields of one of them cannot be read: a list without it would not say so.
    pub(crate) fn typed_nodes(&self, keys: &[NodeRowId]) -> Result<Vec<TypedNode>, StoreError> {
        const NODES: &str = "
            SELECT node.key, node.id, node.node_type, node.content, node.fields,
                   heat.accessed_at, heat.access_count
              FROM json_each(?1) AS wanted
             CROSS JOIN node ON node.key = wanted.value
              LEFT JOIN heat ON heat.node = node.key
             WHERE node.fields IS NOT NULL
             ORDER BY wanted.key";
        let read = |row: &Row<'_>| {
            let (node_type, fields): (String, String) = (row.get(2)?, row.get(4)?);
            let id = read_id(row, 1)?;
            let Some(node_type) = NodeType::parse(&node_type) else { return Ok(Ok(None)) };
            let fields = match CanonicalFields::parse_loosely(&fields) {
                Ok(fields) => fields,
                Err(error) => return Ok(Err(unreadable(&id, &error))),
            };
            Ok(Ok(Some(TypedNode {
                key: NodeRowId(row.get(0)?),
                id,
                node_type,
                content: row.get(3)?,
                fields,
                access: read_access(row, 5)?,
            })))
        };
        let rows = self.all(NODES, [list(keys)], read).doing("read typed nodes")?;
        rows.into_iter().filter_map(Result::transpose).collect()
    }

    /// Returns the nodes that meet every condition, in the order of their keys; none for none.
    pub(crate) fn nodes_with(&self, filters: &[FieldFilter]) -> Result<Vec<NodeRowId>, StoreError> {
        let mut found: Option<Vec<NodeRowId>> = None;
        for filter in filters {
            let with = self.first_nodes_of(filter, usize::MAX)?;
            found = Some(match found {
                None => with,
                Some(found) => intersect(&found, &with),
            });
        }
        Ok(found.unwrap_or_default())
    }

    /// Returns the nodes of those types that meet every condition and are archived or are not, in
    /// the order of their keys.
    ///
    /// Where a condition has few nodes, the others are looked up for these alone.
    pub(crate) fn typed_with(
        &self,
        filters: &[FieldFilter],
        types: &[NodeType],
        is_archived: bool,
    ) -> Result<Vec<NodeRowId>, StoreError> {
        const FEW: usize = 500;
        let mut filters = filters.to_vec();
        if is_archived {
            filters.push(FieldFilter::integer("archived", 1));
        }
        let mut few = None;
        for (nth, filter) in filters.iter().enumerate() {
            let nodes = self.first_nodes_of(filter, FEW + 1)?;
            if nodes.len() <= FEW {
                few = Some((nth, nodes));
                break;
            }
        }
        let of_types: Vec<FieldFilter> =
            types.iter().map(|it| FieldFilter::text("type", it.as_str())).collect();
        let mut found = match few {
            Some((nth, mut nodes)) => {
                filters.remove(nth);
                for filter in &filters {
                    nodes = self.having(nodes, std::slice::from_ref(filter))?;
                }
                self.having(nodes, &of_types)?
            }
            None => {
                let mut nodes = Vec::new();
                for of_type in &of_types {
                    nodes.extend(self.first_nodes_of(of_type, usize::MAX)?);
                }
                nodes.sort_unstable();
                for filter in &filters {
                    nodes = intersect(&nodes, &self.first_nodes_of(filter, usize::MAX)?);
                }
                nodes
            }
        };
        if !is_archived {
            let archived = self.archived_among(&found)?;
            found.retain(|it| archived.binary_search(it).is_err());
        }
        Ok(found)
    }

    /// Returns the nodes of a type with the greatest integers under a key, at least `from`, with
    /// these; archived ones are left out. There are `n_max` or more where there are so many: those
    /// that are equal to the last one, too. `None`: too many are equal to it.
    pub(crate) fn greatest_typed(
        &self,
        key: &'static str,
        of_type: NodeType,
        from: i64,
        n_max: usize,
    ) -> Result<Option<Vec<(NodeRowId, i64)>>, StoreError> {
        const EQUAL_MAX: usize = 64;
        const GREATEST: &str = "
            SELECT facet.node, facet.value
              FROM facet
             WHERE facet.key = ?1
               AND ?3 <= facet.value
               AND typeof(facet.value) = 'integer'
               AND (SELECT node_type FROM node WHERE key = facet.node) = ?2
               AND NOT EXISTS (
                   SELECT 1 FROM facet AS a
                    WHERE a.key = 'archived' AND a.value = 1 AND a.node = facet.node)
             ORDER BY facet.value DESC
             LIMIT ?4";
        let params = params![key, of_type.as_str(), from, limit(n_max + EQUAL_MAX)];
        let read = |row: &Row<'_>| Ok((NodeRowId(row.get(0)?), row.get::<_, i64>(1)?));
        let mut found = self.all(GREATEST, params, read).doing("read the greatest facets")?;
        if found.len() <= n_max {
            return Ok(Some(found));
        }
        let least = found[n_max - 1].1;
        let is_cut =
            found.len() == n_max + EQUAL_MAX && found.last().is_some_and(|it| it.1 == least);
        if is_cut {
            return Ok(None);
        }
        found.retain(|it| least <= it.1);
        Ok(Some(found))
    }

    /// Returns the first nodes that meet a condition, in the order of their keys.
    fn first_nodes_of(
        &self,
        filter: &FieldFilter,
        n_max: usize,
    ) -> Result<Vec<NodeRowId>, StoreError> {
        const NODES: &str = "
            SELECT node FROM facet WHERE key = ?1 AND value = ?2 ORDER BY node LIMIT ?3";
        let n_max = limit(n_max);
        let read = |row: &Row<'_>| row.get(0).map(NodeRowId);
        let nodes = match &filter.value {
            FilterValue::Integer(it) => self.all(NODES, params![filter.key, it, n_max], read),
            FilterValue::Text(it) => self.all(NODES, params![filter.key, it, n_max], read),
        };
        nodes.doing("look up a facet")
    }

    /// Keeps those nodes that meet one of some conditions, which have one key.
    fn having(
        &self,
        nodes: Vec<NodeRowId>,
        any: &[FieldFilter],
    ) -> Result<Vec<NodeRowId>, StoreError> {
        const HAVING: &str = "
            SELECT wanted.value
              FROM json_each(?1) AS wanted
             WHERE EXISTS (
                 SELECT 1
                   FROM facet
                  WHERE facet.node = wanted.value
                    AND facet.key = ?2
                    AND facet.value IN (SELECT value FROM json_each(?3)))
             ORDER BY wanted.key";
        let value = |it: &FieldFilter| match &it.value {
            FilterValue::Integer(it) => serde_json::Value::from(*it),
            FilterValue::Text(it) => serde_json::Value::from(it.as_str()),
        };
        let Some(FieldFilter { key, .. }) = any.first() else { return Ok(Vec::new()) };
        let values: serde_json::Value = any.iter().map(value).collect();
        let params = params![list(&nodes), key, values.to_string()];
        let read = |row: &Row<'_>| row.get(0).map(NodeRowId);
        self.all(HAVING, params, read).doing("look up facets")
    }

    /// Returns those nodes, in that order, whose text has every word; words are in lower case.
    pub(crate) fn nodes_saying(
        &self,
        keys: &[NodeRowId],
        words: &[String],
    ) -> Result<Vec<NodeRowId>, StoreError> {
        const TEXTS: &str = "
            SELECT node.key, node.content
              FROM json_each(?1) AS wanted
             CROSS JOIN node ON node.key = wanted.value
             ORDER BY wanted.key";
        let read = |row: &Row<'_>| {
            let text = row.get_ref(1)?.as_str()?.to_lowercase();
            let has_all_words = words.iter().all(|it| text.contains(it));
            Ok(if has_all_words { Some(NodeRowId(row.get(0)?)) } else { None })
        };
        let rows = self.all(TEXTS, [list(keys)], read).doing("search typed nodes")?;
        Ok(rows.into_iter().flatten().collect())
    }

    /// Returns the bytes of the texts and fields of the nodes of those types.
    pub(crate) fn typed_bytes(&self, types: &[NodeType]) -> Result<u64, StoreError> {
        const BYTES: &str = "
            SELECT ifnull(sum(octet_length(content) + octet_length(fields)), 0)
              FROM node
             WHERE fields IS NOT NULL
               AND node_type IN (SELECT value FROM json_each(?1))";
        let n_bytes: i64 =
            self.conn.row(BYTES, [names(types)], |row| row.get(0), "measure typed nodes")?;
        Ok(n_bytes.unsigned_abs())
    }

    /// Returns every node that has a value under that key, with the value, in the order of values.
    pub(crate) fn facet_values(
        &self,
        key: &'static str,
    ) -> Result<Vec<(NodeRowId, FilterValue)>, StoreError> {
        const VALUES: &str = "SELECT node, value FROM facet WHERE key = ?1 ORDER BY value, node";
        let read = |row: &Row<'_>| Ok((NodeRowId(row.get(0)?), read_value(row, 1)?));
        self.all(VALUES, [key], read).doing("read facets")
    }

    /// Returns the values of those nodes under that key.
    pub(crate) fn facet_values_of(
        &self,
        key: &'static str,
        nodes: &[NodeRowId],
    ) -> Result<HashMap<NodeRowId, FilterValue>, StoreError> {
        const VALUES: &str = "
            SELECT facet.node, facet.value
              FROM json_each(?2) AS wanted
             CROSS JOIN facet ON facet.node = wanted.value
             WHERE facet.key = ?1";
        let read = |row: &Row<'_>| Ok((NodeRowId(row.get(0)?), read_value(row, 1)?));
        let rows = self.all(VALUES, params![key, list(nodes)], read).doing("read facets")?;
        Ok(rows.into_iter().collect())
    }

    /// Returns how many nodes of those types have each value of a key.
    pub(crate) fn facet_counts(
        &self,
        key: &'static str,
        types: &[NodeType],
    ) -> Result<Vec<(FilterValue, u64)>, StoreError> {
        const COUNTS: &str = "
            SELECT facet.value, count(*)
              FROM facet
             WHERE facet.key = ?1
               AND EXISTS (
                   SELECT 1
                     FROM facet AS of_type
                    WHERE of_type.node = facet.node
                      AND of_type.key = 'type'
                      AND of_type.value IN (SELECT value FROM json_each(?2)))
             GROUP BY facet.value
             ORDER BY facet.value";
        let read = |row: &Row<'_>| Ok((read_value(row, 0)?, row.get::<_, i64>(1)?.unsigned_abs()));
        self.all(COUNTS, params![key, names(types)], read).doing("count facets")
    }

    /// Returns what is noted of the reads of those nodes.
    pub(crate) fn access_counts(
        &self,
        nodes: &[NodeRowId],
    ) -> Result<HashMap<NodeRowId, AccessStats>, StoreError> {
        const ACCESS: &str = "
            SELECT heat.node, heat.accessed_at, heat.access_count
              FROM json_each(?1) AS wanted
             CROSS JOIN heat ON heat.node = wanted.value
             WHERE heat.accessed_at IS NOT NULL";
        let read = |row: &Row<'_>| Ok((NodeRowId(row.get(0)?), read_access(row, 1)?));
        let rows = self.all(ACCESS, [list(nodes)], read).doing("read access counts")?;
        Ok(rows.into_iter().collect())
    }
}

/// Returns the names of types as a list in JSON.
fn names(types: &[NodeType]) -> String {
    let names: Vec<&str> = types.iter().map(|it| it.as_str()).collect();
    serde_json::Value::from(names).to_string()
}

/// Returns what is in both lists, which are sorted.
fn intersect(a: &[NodeRowId], b: &[NodeRowId]) -> Vec<NodeRowId> {
    let mut rest = b.iter().peekable();
    let is_in_b = |it: &&NodeRowId| {
        while rest.next_if(|other| other < it).is_some() {}
        rest.peek() == Some(it)
    };
    a.iter().filter(is_in_b).copied().collect()
}
