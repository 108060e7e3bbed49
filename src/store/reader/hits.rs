//! Full-text matches, and the columns that ranking reads of them.
//!
//! Matching reads the index alone and is cheap. One statement reads the columns of all nodes to be
//! ranked.

use std::collections::HashMap;

use rusqlite::{Row, params};

use super::{Reader, limit, list};
use crate::model::heat::Heat;
use crate::model::tree::NodeType;
use crate::store::heat_rows::{self, heat_columns};
use crate::store::{ErrorStep, NodeKey, StoreError, one};

/// Characters of a text that ranking reads.
const BEGINNING_CHARS: usize = 400;

/// A node that full-text search found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MatchedNode {
    pub(crate) key: NodeKey,
    pub(crate) parent: Option<NodeKey>,
    pub(crate) is_heading: bool,
    pub(crate) heat: Heat,
}

/// Label, breadcrumb and the beginning of the text, as the row has them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NodeWords<'a> {
    pub(crate) label: &'a str,
    pub(crate) breadcrumb: &'a str,
    /// The first 400 characters of its text.
    pub(crate) beginning: &'a str,
}

impl<'a> NodeWords<'a> {
    fn new(label: &'a str, breadcrumb: &'a str, content: &'a str) -> NodeWords<'a> {
        let end = match content.as_bytes().get(..BEGINNING_CHARS) {
            // No text with fewer bytes has more characters.
            None => content.len(),
            Some(beginning) if beginning.is_ascii() => BEGINNING_CHARS,
            Some(_) => content.char_indices().nth(BEGINNING_CHARS).map_or(content.len(), |it| it.0),
        };
        NodeWords { label, breadcrumb, beginning: &content[..end] }
    }
}

/// The order of matches, by age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchOrder {
    EldestFirst,
    NewestFirst,
}

/// A query of matching nodes, all of them or those of one type, by age.
macro_rules! having {
    ($of_type:expr, $order:literal) => {
        concat!(
            "SELECT node_fts.rowid FROM node_fts WHERE node_fts MATCH ?1",
            $of_type,
            " ORDER BY node_fts.rowid ",
            $order,
            " LIMIT ?2"
        )
    };
}

/// A condition on the type, which is read after the index has matched.
macro_rules! of_type {
    () => {
        " AND (SELECT node_type FROM node WHERE key = node_fts.rowid) = ?3"
    };
}

impl Reader {
    /// Returns the number of nodes ever created, removed ones included.
    pub(crate) fn n_ever_created(&self) -> Result<u64, StoreError> {
        const NEWEST: &str = "SELECT ifnull(max(key), 0) FROM node";
        let newest: i64 = one(&self.conn, NEWEST).doing("read the newest key")?;
        Ok(newest.unsigned_abs())
    }

    /// Returns the nodes that match `expression`, at most `n_max`; `None` when it is no full-text
    /// expression.
    pub(crate) fn matching(
        &self,
        expression: &str,
        node_type: Option<NodeType>,
        age: MatchOrder,
        n_max: usize,
    ) -> Result<Option<Vec<NodeKey>>, StoreError> {
        let (n_max, of_type) = (limit(n_max), node_type.map(NodeType::as_str));
        let read = |row: &Row<'_>| row.get(0).map(NodeKey);
        parsed(match (of_type, age) {
            (None, MatchOrder::EldestFirst) => {
                self.all(having!("", "ASC"), params![expression, n_max], read)
            }
            (None, MatchOrder::NewestFirst) => {
                self.all(having!("", "DESC"), params![expression, n_max], read)
            }
            (Some(it), MatchOrder::EldestFirst) => {
                self.all(having!(of_type!(), "ASC"), params![expression, n_max, it], read)
            }
            (Some(it), MatchOrder::NewestFirst) => {
                self.all(having!(of_type!(), "DESC"), params![expression, n_max, it], read)
            }
        })
    }

    /// Returns the best matches of `expression`, each with its score: higher is better, never
    /// negative. `None` when it is no full-text expression.
    pub(crate) fn matches(
        &self,
        expression: &str,
        node_type: Option<NodeType>,
        n_max: usize,
    ) -> Result<Option<Vec<(NodeKey, f64)>>, StoreError> {
        const ANY: &str = "
            SELECT rowid, bm25(node_fts)
              FROM node_fts
             WHERE node_fts MATCH ?1
             ORDER BY 2
             LIMIT ?2";
        const OF_TYPE: &str = "
            SELECT node_fts.rowid, bm25(node_fts)
              FROM node_fts
             CROSS JOIN node ON node.key = node_fts.rowid
             WHERE node_fts MATCH ?1
               AND node.node_type = ?3
             ORDER BY 2
             LIMIT ?2";
        let n_max = limit(n_max);
        let read = |row: &Row<'_>| {
            let rank: f64 = row.get(1)?;
            Ok((NodeKey(row.get(0)?), (-rank).max(0.0)))
        };
        parsed(match node_type {
            None => self.all(ANY, params![expression, n_max], read),
            Some(it) => self.all(OF_TYPE, params![expression, n_max, it.as_str()], read),
        })
    }

    /// Returns the columns that ranking reads of nodes, in the order of `keys`, with the result of
    /// `words`.
    pub(crate) fn load_matches<T>(
        &self,
        keys: &[NodeKey],
        words: impl Fn(NodeWords<'_>) -> T,
    ) -> Result<Vec<(MatchedNode, T)>, StoreError> {
        const FOUND: &str = concat!(
            "SELECT n.key, n.parent, n.node_type = 'heading', ",
            heat_columns!(),
            ", n.label, n.trail, n.content
              FROM json_each(?1) AS wanted
             CROSS JOIN node AS n ON n.key = wanted.value
              LEFT JOIN heat AS h ON h.node = n.key"
        );
        let read = |row: &Row<'_>| {
            let text = |column: usize| Ok::<_, rusqlite::Error>(row.get_ref(column)?.as_str()?);
            Ok((read_found(row)?, words(NodeWords::new(text(6)?, text(7)?, text(8)?))))
        };
        self.all(FOUND, [list(keys)], read).doing("read matches")
    }

    /// Returns the text that follows each node: a heading's first child, another node's next
    /// sibling.
    ///
    /// A heading in that place is no text and is left out.
    pub(crate) fn following_texts(
        &self,
        keys: &[NodeKey],
        node_type: Option<NodeType>,
    ) -> Result<HashMap<NodeKey, MatchedNode>, StoreError> {
        const BEHIND: &str = concat!(
            "SELECT n.key, n.parent, 0, ",
            heat_columns!(),
            ", before.key
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
             WHERE n.node_type <> 'heading' AND (?2 IS NULL OR n.node_type = ?2)"
        );
        let params = params![list(keys), node_type.map(NodeType::as_str)];
        let read = |row: &Row<'_>| Ok((NodeKey(row.get(6)?), read_found(row)?));
        let rows = self.all(BEHIND, params, read).doing("read following texts")?;
        Ok(rows.into_iter().collect())
    }
}

/// Maps the error of an expression that full-text search cannot parse to `None`.
fn parsed<T>(found: rusqlite::Result<T>) -> Result<Option<T>, StoreError> {
    match found {
        Err(rusqlite::Error::SqliteFailure(error, _))
            if error.code == rusqlite::ErrorCode::Unknown =>
        {
            Ok(None)
        }
        found => found.map(Some).doing("search"),
    }
}

fn read_found(row: &Row<'_>) -> rusqlite::Result<MatchedNode> {
    Ok(MatchedNode {
        key: NodeKey(row.get(0)?),
        parent: row.get::<_, Option<i64>>(1)?.map(NodeKey),
        is_heading: row.get(2)?,
        heat: heat_rows::read_heat(row, 3)?,
    })
}
