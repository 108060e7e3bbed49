//! Typed nodes for readers: one by its UUID, many by their facets, and what lists are sorted by.
//!
//! Facets are read by ranges of their index, in the order of the nodes, so that lists of thousands
//! are intersected without reading a row of `node`.

use std::collections::HashMap;

use rusqlite::{Row, params};

use super::{Reader, list};
use crate::model::fields::Fields;
use crate::model::tree::NodeType;
use crate::store::{ErrorStep, NodeKey, StoreError, one};

/// Holds a value by which typed nodes are looked up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum FacetValue {
    Integer(i64),
    Text(String),
}

/// Holds a condition: nodes have that value under that key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Facet {
    pub(crate) key: &'static str,
    pub(crate) value: FacetValue,
}

impl Facet {
    /// Returns the condition of a text.
    pub(crate) fn text(key: &'static str, value: &str) -> Facet {
        Facet { key, value: FacetValue::Text(value.to_owned()) }
    }

    /// Returns the condition of an integer.
    pub(crate) fn integer(key: &'static str, value: i64) -> Facet {
        Facet { key, value: FacetValue::Integer(value) }
    }
}

/// Holds what is noted of the reads of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AccessCounts {
    /// In ms since the Unix epoch; `None`: it was never read.
    pub(crate) accessed_at: Option<i64>,
    pub(crate) access_count: u64,
}

/// Holds a typed node with its text, fields and reads.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TypedNode {
    pub(crate) key: NodeKey,
    /// The anchor.
    pub(crate) id: String,
    pub(crate) node_type: NodeType,
    pub(crate) content: String,
    pub(crate) fields: Fields,
    pub(crate) access: AccessCounts,
}

/// Reads access counts, which begin at that column.
pub(crate) fn read_access(row: &Row<'_>, at: usize) -> rusqlite::Result<AccessCounts> {
    let access_count: Option<i64> = row.get(at + 1)?;
    let access_count = access_count.unwrap_or(0).unsigned_abs();
    Ok(AccessCounts { accessed_at: row.get(at)?, access_count })
}

fn read_value(row: &Row<'_>, at: usize) -> rusqlite::Result<FacetValue> {
    Ok(match row.get_ref(at)? {
        rusqlite::types::ValueRef::Integer(it) => FacetValue::Integer(it),
        other => FacetValue::Text(other.as_str().unwrap_or_default().to_owned()),
    })
}

impl Reader {
    /// Returns the typed node of that UUID.
    #[cfg(test)]
    pub(crate) fn typed_by_uuid(&self, uuid: &str) -> Result<Option<TypedNode>, StoreError> {
        let keys = self.nodes_with(&[Facet::text("uuid", uuid)])?;
        Ok(self.typed_nodes(&keys[..keys.len().min(1)])?.pop())
    }

    /// Returns the typed nodes of those keys, in that order; keys of no such node are passed over.
    pub(crate) fn typed_nodes(&self, keys: &[NodeKey]) -> Result<Vec<TypedNode>, StoreError> {
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
            let parsed = (NodeType::parse(&node_type), Fields::parse_loosely(&fields));
            let (Some(node_type), Ok(fields)) = parsed else { return Ok(None) };
            Ok(Some(TypedNode {
                key: NodeKey(row.get(0)?),
                id: row.get(1)?,
                node_type,
                content: row.get(3)?,
                fields,
                access: read_access(row, 5)?,
            }))
        };
        let rows = self.all(NODES, [list(keys)], read).doing("read typed nodes")?;
        Ok(rows.into_iter().flatten().collect())
    }

    /// Returns the nodes that meet every condition, in the order of their keys; none for none.
    pub(crate) fn nodes_with(&self, facets: &[Facet]) -> Result<Vec<NodeKey>, StoreError> {
        let mut found: Option<Vec<NodeKey>> = None;
        for facet in facets {
            let with = self.nodes_of(facet)?;
            found = Some(match found {
                None => with,
                Some(found) => intersect(&found, &with),
            });
        }
        Ok(found.unwrap_or_default())
    }

    fn nodes_of(&self, facet: &Facet) -> Result<Vec<NodeKey>, StoreError> {
        const NODES: &str = "SELECT node FROM facet WHERE key = ?1 AND value = ?2 ORDER BY node";
        let read = |row: &Row<'_>| row.get(0).map(NodeKey);
        let nodes = match &facet.value {
            FacetValue::Integer(it) => self.all(NODES, params![facet.key, it], read),
            FacetValue::Text(it) => self.all(NODES, params![facet.key, it], read),
        };
        nodes.doing("look up a facet")
    }

    /// Returns those nodes, in that order, whose text has every word; words are in lower case.
    pub(crate) fn nodes_saying(
        &self,
        keys: &[NodeKey],
        words: &[String],
    ) -> Result<Vec<NodeKey>, StoreError> {
        const TEXTS: &str = "
            SELECT node.key, node.content
              FROM json_each(?1) AS wanted
             CROSS JOIN node ON node.key = wanted.value
             ORDER BY wanted.key";
        let read = |row: &Row<'_>| {
            let text = row.get_ref(1)?.as_str()?.to_lowercase();
            let has_all_words = words.iter().all(|it| text.contains(it));
            Ok(if has_all_words { Some(NodeKey(row.get(0)?)) } else { None })
        };
        let rows = self.all(TEXTS, [list(keys)], read).doing("search typed nodes")?;
        Ok(rows.into_iter().flatten().collect())
    }

    /// Returns the bytes of the texts and fields of all typed nodes.
    pub(crate) fn typed_bytes(&self) -> Result<u64, StoreError> {
        const BYTES: &str = "
            SELECT ifnull(sum(octet_length(content) + octet_length(fields)), 0)
              FROM node
             WHERE fields IS NOT NULL";
        let n_bytes: i64 = one(&self.conn, BYTES).doing("measure typed nodes")?;
        Ok(n_bytes.unsigned_abs())
    }

    /// Returns every node that has a value under that key, with the value, in the order of values.
    pub(crate) fn facet_values(
        &self,
        key: &'static str,
    ) -> Result<Vec<(NodeKey, FacetValue)>, StoreError> {
        const VALUES: &str = "SELECT node, value FROM facet WHERE key = ?1 ORDER BY value, node";
        let read = |row: &Row<'_>| Ok((NodeKey(row.get(0)?), read_value(row, 1)?));
        self.all(VALUES, [key], read).doing("read facets")
    }

    /// Returns the values of those nodes under that key.
    pub(crate) fn facet_values_of(
        &self,
        key: &'static str,
        nodes: &[NodeKey],
    ) -> Result<HashMap<NodeKey, FacetValue>, StoreError> {
        const VALUES: &str = "
            SELECT facet.node, facet.value
              FROM json_each(?2) AS wanted
             CROSS JOIN facet ON facet.node = wanted.value
             WHERE facet.key = ?1";
        let read = |row: &Row<'_>| Ok((NodeKey(row.get(0)?), read_value(row, 1)?));
        let rows = self.all(VALUES, params![key, list(nodes)], read).doing("read facets")?;
        Ok(rows.into_iter().collect())
    }

    /// Returns how many nodes have each value of a key.
    pub(crate) fn facet_counts(
        &self,
        key: &'static str,
    ) -> Result<Vec<(FacetValue, u64)>, StoreError> {
        const COUNTS: &str = "
            SELECT value, count(*) FROM facet WHERE key = ?1 GROUP BY value ORDER BY value";
        let read = |row: &Row<'_>| Ok((read_value(row, 0)?, row.get::<_, i64>(1)?.unsigned_abs()));
        self.all(COUNTS, [key], read).doing("count facets")
    }

    /// Returns what is noted of the reads of those nodes.
    pub(crate) fn access_counts(
        &self,
        nodes: &[NodeKey],
    ) -> Result<HashMap<NodeKey, AccessCounts>, StoreError> {
        const ACCESS: &str = "
            SELECT heat.node, heat.accessed_at, heat.access_count
              FROM json_each(?1) AS wanted
             CROSS JOIN heat ON heat.node = wanted.value
             WHERE heat.accessed_at IS NOT NULL";
        let read = |row: &Row<'_>| Ok((NodeKey(row.get(0)?), read_access(row, 1)?));
        let rows = self.all(ACCESS, [list(nodes)], read).doing("read access counts")?;
        Ok(rows.into_iter().collect())
    }
}

/// Returns what is in both lists, which are sorted.
fn intersect(a: &[NodeKey], b: &[NodeKey]) -> Vec<NodeKey> {
    let mut rest = b.iter().peekable();
    let is_in_b = |it: &&NodeKey| {
        while rest.next_if(|other| other < it).is_some() {}
        rest.peek() == Some(it)
    };
    a.iter().filter(is_in_b).copied().collect()
}
