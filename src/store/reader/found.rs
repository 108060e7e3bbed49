//! What full-text search finds, and what ranking needs to know of it.
//!
//! One statement answers for all of the nodes: how well each matches comes from the index, the rest
//! from the beginning of its row. Nothing is read that only those need that are shown in the end.

use std::collections::HashMap;

use rusqlite::{Row, params};

use super::{Reader, limit, list};
use crate::heat::Heat;
use crate::store::{Doing, NodeKey, StoreError};
use crate::tree::NodeType;

/// A node that full-text search found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) key: NodeKey,
    /// Higher is better; never negative.
    pub(crate) relevance: f64,
    pub(crate) parent: Option<NodeKey>,
    pub(crate) is_heading: bool,
    pub(crate) heat: Heat,
}

/// What the index finds, as `m`, and what is known of it.
macro_rules! found {
    ($from:literal) => {
        concat!(
            "
            SELECT m.key, m.rank, n.parent, n.node_type = 'heading',
                   ifnull(h.temperature, 0.5), ifnull(h.at, 0), ifnull(h.pinned, 0)
              FROM (",
            $from,
            ") AS m
             CROSS JOIN node AS n ON n.key = m.key
              LEFT JOIN heat AS h ON h.node = n.key"
        )
    };
}

impl Reader {
    /// The nodes that `expression` matches, best first; `None` when it is no full-text expression.
    pub(crate) fn matches(
        &self,
        expression: &str,
        node_type: Option<NodeType>,
        n_max: usize,
    ) -> Result<Option<Vec<Found>>, StoreError> {
        // Weights of label, content, trail and grams.
        const ANY: &str = found!(
            "
            SELECT rowid AS key, rank
              FROM node_fts
             WHERE node_fts MATCH ?1
               AND rank MATCH 'bm25(1.0, 1.0, 1.0, 1.0)'
             ORDER BY rank
             LIMIT ?2"
        );
        const OF_TYPE: &str = found!(
            "
            SELECT node_fts.rowid AS key, node_fts.rank AS rank
              FROM node_fts
              JOIN node ON node.key = node_fts.rowid
             WHERE node_fts MATCH ?1
               AND rank MATCH 'bm25(1.0, 1.0, 1.0, 1.0)'
               AND node.node_type = ?3
             ORDER BY node_fts.rank
             LIMIT ?2"
        );
        let n_max = limit(n_max);
        let found = match node_type {
            None => self.all(ANY, params![expression, n_max], read_found),
            Some(it) => self.all(OF_TYPE, params![expression, n_max, it.as_str()], read_found),
        };
        match found {
            Ok(mut found) => {
                // They come in this order, but the join does not promise it.
                found.sort_by(|a, b| b.relevance.total_cmp(&a.relevance));
                Ok(Some(found))
            }
            // What full-text search cannot parse, it reports as the plain error.
            Err(rusqlite::Error::SqliteFailure(error, _))
                if error.code == rusqlite::ErrorCode::Unknown =>
            {
                Ok(None)
            }
            Err(error) => Err(error).doing("search"),
        }
    }

    /// What stands right behind each of those nodes and is no heading: below a heading, or next to
    /// anything else.
    pub(crate) fn behind(
        &self,
        keys: &[NodeKey],
        node_type: Option<NodeType>,
    ) -> Result<HashMap<NodeKey, Found>, StoreError> {
        const BEHIND: &str = "
            SELECT n.key, 0.0, n.parent, 0,
                   ifnull(h.temperature, 0.5), ifnull(h.at, 0), ifnull(h.pinned, 0), before.key
              FROM json_each(?1) AS wanted
              JOIN node AS before ON before.key = wanted.value
              JOIN node AS n ON n.key = CASE before.node_type
                   WHEN 'heading' THEN (
                       SELECT key FROM node WHERE parent = before.key ORDER BY position LIMIT 1
                   )
                   ELSE (
                       SELECT key FROM node
                        WHERE parent = before.parent AND position > before.position
                        ORDER BY position LIMIT 1
                   )
                   END
              LEFT JOIN heat AS h ON h.node = n.key
             WHERE n.node_type <> 'heading' AND (?2 IS NULL OR n.node_type = ?2)";
        let params = params![list(keys), node_type.map(NodeType::as_str)];
        let read = |row: &Row<'_>| Ok((NodeKey(row.get(7)?), read_found(row)?));
        let rows = self.all(BEHIND, params, read).doing("read what stands behind")?;
        Ok(rows.into_iter().collect())
    }

    /// The first characters of those nodes' texts.
    pub(crate) fn beginnings(
        &self,
        keys: &[NodeKey],
        n_chars: u32,
    ) -> Result<HashMap<NodeKey, String>, StoreError> {
        const BEGINNINGS: &str = "
            SELECT n.key, substr(n.content, 1, ?2)
              FROM json_each(?1) AS wanted
              JOIN node AS n ON n.key = wanted.value";
        let read = |row: &Row<'_>| Ok((NodeKey(row.get(0)?), row.get(1)?));
        let rows: Vec<(NodeKey, String)> =
            self.all(BEGINNINGS, params![list(keys), n_chars], read).doing("read texts")?;
        Ok(rows.into_iter().collect())
    }
}

fn read_found(row: &Row<'_>) -> rusqlite::Result<Found> {
    let rank: f64 = row.get(1)?;
    Ok(Found {
        key: NodeKey(row.get(0)?),
        relevance: (-rank).max(0.0),
        parent: row.get::<_, Option<i64>>(2)?.map(NodeKey),
        is_heading: row.get(3)?,
        heat: Heat { temperature: row.get(4)?, at: row.get(5)?, pinned: row.get(6)? },
    })
}
