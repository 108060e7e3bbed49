//! Full-text matches, and the columns that ranking reads of them.
//!
//! Matching reads the index alone and is cheap. One statement reads the columns of all nodes to be
//! ranked.

use std::collections::HashMap;

use rusqlite::types::Value;
use rusqlite::{Row, params, params_from_iter};
use serde::Deserialize;

use super::filter::{NodeFilter, changed_at, meets_filter};
use super::{Reader, limit, list};
use crate::model::clock::UnixMillis;
use crate::model::heat::StoredHeat;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::IMPORTANCES;
use crate::store::error_advice::is_broken_index;
use crate::store::heat_rows::{self, heat_columns};
use crate::store::record::read_tokens;
use crate::store::{ErrorContext, NodeRowId, StoreError, one};

/// Characters of a text that ranking reads.
const BEGINNING_CHARS: usize = 400;

/// Characters of front matter that ranking reads.
const FRONT_MATTER_CHARS: usize = 1_000;
/// Siblings that are read of a section at once; more are looked up one by one.
const SIBLINGS_MAX: usize = 64;
/// Siblings before and after a node.
const REACH: usize = 2;

/// A node that full-text search found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MatchedNode {
    pub(crate) key: NodeRowId,
    pub(crate) parent: Option<NodeRowId>,
    /// Its rank among its siblings.
    pub(crate) position: i64,
    pub(crate) is_heading: bool,
    pub(crate) heat: StoredHeat,
    /// Of its text.
    pub(crate) tokens: u32,
    /// Of a typed memory.
    pub(crate) memory: Option<TypedRankingFields>,
}

/// The siblings around a node, nearest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SiblingsForRanking {
    /// Number of children of its parent, at most 64.
    pub(crate) n: usize,
    pub(crate) before: Vec<NodeRowId>,
    pub(crate) after: Vec<NodeRowId>,
}

/// Holds the fields of a typed memory that ranking reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypedRankingFields {
    /// How much it matters: 0 most.
    pub(crate) importance_rank: usize,
    pub(crate) updated_at: Option<UnixMillis>,
}

impl TypedRankingFields {
    /// Reads only these members of a node's fields; those that cannot be read have defaults.
    fn parse(fields: &str) -> TypedRankingFields {
        #[derive(Default, Deserialize)]
        struct RankingFieldsJson<'a> {
            importance: Option<&'a str>,
            updated_at: Option<i64>,
        }
        let members: RankingFieldsJson<'_> = serde_json::from_str(fields).unwrap_or_default();
        let rank = IMPORTANCES.iter().position(|it| Some(*it) == members.importance);
        TypedRankingFields {
            importance_rank: rank.unwrap_or(IMPORTANCES.len() / 2),
            updated_at: members.updated_at.map(UnixMillis),
        }
    }
}

/// The start of a text, with label and breadcrumb, as the row has them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NodeTextStart<'a> {
    pub(crate) label: &'a str,
    pub(crate) breadcrumb: &'a str,
    /// The first 400 characters of its text.
    pub(crate) beginning: &'a str,
}

impl<'a> NodeTextStart<'a> {
    fn new(label: &'a str, breadcrumb: &'a str, content: &'a str) -> NodeTextStart<'a> {
        let end = match content.as_bytes().get(..BEGINNING_CHARS) {
            // No text with fewer bytes has more characters.
            None => content.len(),
            Some(beginning) if beginning.is_ascii() => BEGINNING_CHARS,
            Some(_) => content.char_indices().nth(BEGINNING_CHARS).map_or(content.len(), |it| it.0),
        };
        NodeTextStart { label, breadcrumb, beginning: &content[..end] }
    }
}

/// The order of matches, by age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchAgeOrder {
    EldestFirst,
    NewestFirst,
}

/// A query of matching nodes by age: all of them, or those that meet a filter.
macro_rules! having {
    ($filter:expr, $order:literal) => {
        concat!(
            "SELECT node_fts.rowid FROM node_fts WHERE node_fts MATCH ?1",
            $filter,
            " ORDER BY node_fts.rowid ",
            $order,
            " LIMIT ?2"
        )
    };
}

/// A query of the best matches with their scores: all of them, or those that meet a filter.
macro_rules! ranked {
    ($filter:expr) => {
        concat!(
            "SELECT node_fts.rowid, bm25(node_fts) FROM node_fts WHERE node_fts MATCH ?1",
            $filter,
            " ORDER BY 2 LIMIT ?2"
        )
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
        filter: &NodeFilter<'_>,
        age: MatchAgeOrder,
        n_max: usize,
    ) -> Result<Option<Vec<NodeRowId>>, StoreError> {
        const NODE: [&str; 2] = [having!("", "ASC"), having!("", "DESC")];
        const NODE_MEETING: [&str; 2] = [
            having!(meets_filter!("node_fts.rowid"), "ASC"),
            having!(meets_filter!("node_fts.rowid"), "DESC"),
        ];
        let at = usize::from(age == MatchAgeOrder::NewestFirst);
        let read = |row: &Row<'_>| row.get(0).map(NodeRowId);
        self.matched((expression, n_max), filter, (NODE[at], NODE_MEETING[at]), read)
    }

    /// Returns the best matches of `expression`, each with its score: higher is better, never
    /// negative. `None` when it is no full-text expression.
    pub(crate) fn matches(
        &self,
        expression: &str,
        filter: &NodeFilter<'_>,
        n_max: usize,
    ) -> Result<Option<Vec<(NodeRowId, f64)>>, StoreError> {
        let read = |row: &Row<'_>| {
            let rank: f64 = row.get(1)?;
            Ok((NodeRowId(row.get(0)?), (-rank).max(0.0)))
        };
        let sql = (ranked!(""), ranked!(meets_filter!("node_fts.rowid")));
        self.matched((expression, n_max), filter, sql, read)
    }

    /// Runs one of two queries, the second where some nodes do not meet the filter.
    fn matched<T>(
        &self,
        (expression, n_max): (&str, usize),
        filter: &NodeFilter<'_>,
        (of_all, of_meeting): (&'static str, &'static str),
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<Vec<T>>, StoreError> {
        let n_max = limit(n_max);
        parsed(if filter.is_met_by_all() {
            self.all(of_all, params![expression, n_max], read)
        } else {
            let first = [Value::Text(expression.to_owned()), Value::Integer(n_max)];
            let params = params_from_iter(first.into_iter().chain(filter.values()));
            self.all(of_meeting, params, read)
        })
    }

    /// Returns the columns that ranking reads of nodes, in the order of `keys`, with the result of
    /// `words`.
    pub(crate) fn load_matches<T>(
        &self,
        keys: &[NodeRowId],
        words: impl Fn(NodeTextStart<'_>) -> T,
    ) -> Result<Vec<(MatchedNode, T)>, StoreError> {
        const FOUND: &str = concat!(
            "SELECT n.key, n.parent, n.node_type = 'heading', ",
            heat_columns!(),
            ", n.label, n.trail, n.content, n.fields, n.token_count, n.position
              FROM json_each(?1) AS wanted
             CROSS JOIN node AS n ON n.key = wanted.value
              LEFT JOIN heat AS h ON h.node = n.key"
        );
        let read = |row: &Row<'_>| {
            let text = |column: usize| Ok::<_, rusqlite::Error>(row.get_ref(column)?.as_str()?);
            let fields = row.get_ref(9)?.as_str_or_null()?;
            let memory = fields.map(TypedRankingFields::parse);
            let node = MatchedNode { memory, ..read_found(row, 10)? };
            Ok((node, words(NodeTextStart::new(text(6)?, text(7)?, text(8)?))))
        };
        self.all(FOUND, [list(keys)], read).doing("read matches")
    }

    /// Returns the beginning of the front matter of each node's file, where it has any.
    pub(crate) fn front_matter(
        &self,
        keys: &[NodeRowId],
    ) -> Result<HashMap<NodeRowId, String>, StoreError> {
        const FRONT_MATTER: &str = "
            SELECT n.key, substr(front.content, 1, ?2)
              FROM json_each(?1) AS wanted
              JOIN node AS n ON n.key = wanted.value
              JOIN node AS front ON front.key = (
                   SELECT key FROM node
                    WHERE file = n.file AND parent IS NULL
                    ORDER BY position LIMIT 1)
             WHERE front.node_type = 'preamble'";
        let params = params![list(keys), limit(FRONT_MATTER_CHARS)];
        let read = |row: &Row<'_>| Ok((NodeRowId(row.get(0)?), row.get(1)?));
        let rows = self.all(FRONT_MATTER, params, read).doing("read front matter")?;
        Ok(rows.into_iter().collect())
    }

    /// Returns the nodes of the files of these nodes that meet a filter; at most `n_max` nodes are
    /// looked at.
    pub(crate) fn nodes_of_files_with(
        &self,
        keys: &[NodeRowId],
        filter: &NodeFilter<'_>,
        n_max: usize,
    ) -> Result<Vec<NodeRowId>, StoreError> {
        const NODES: &str = concat!(
            "WITH RECURSIVE below (key) AS (
                 SELECT top.key
                   FROM json_each(?1) AS wanted
                   JOIN node AS own ON own.key = wanted.value
                   JOIN node AS top ON top.file = own.file AND top.parent IS NULL
                  UNION ALL
                 SELECT node.key
                   FROM below
                   JOIN node ON node.parent = below.key
                  LIMIT ?2
             )
             SELECT key FROM below WHERE true",
            meets_filter!("below.key")
        );
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let first = [list(keys), Value::Integer(limit(n_max))];
        let params = params_from_iter(first.into_iter().chain(filter.values()));
        self.all(NODES, params, |row| row.get(0).map(NodeRowId)).doing("read the nodes of files")
    }

    /// Returns the text that follows each node: a heading's first child, another node's next
    /// sibling.
    ///
    /// A heading in that place is no text and is left out; so is a typed memory, which says nothing
    /// about the node before it.
    pub(crate) fn following_texts(
        &self,
        keys: &[NodeRowId],
        node_type: Option<NodeType>,
    ) -> Result<HashMap<NodeRowId, MatchedNode>, StoreError> {
        const BEHIND: &str = concat!(
            "SELECT n.key, n.parent, 0, ",
            heat_columns!(),
            ", before.key, n.token_count, n.position
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
             WHERE n.node_type <> 'heading'
               AND (?2 IS NULL OR n.node_type = ?2)
               AND n.fields IS NULL
               AND before.fields IS NULL"
        );
        let params = params![list(keys), node_type.map(NodeType::as_str)];
        let read = |row: &Row<'_>| Ok((NodeRowId(row.get(6)?), read_found(row, 7)?));
        let rows = self.all(BEHIND, params, read).doing("read following texts")?;
        Ok(rows.into_iter().collect())
    }

    /// Returns the siblings around nodes, which stand at `positions` under `parent`. Only a bounded
    /// part of the index of siblings is read.
    pub(crate) fn siblings_around(
        &self,
        parent: NodeRowId,
        positions: &[i64],
    ) -> Result<Vec<SiblingsForRanking>, StoreError> {
        const FIRST: &str =
            "SELECT key, position FROM node WHERE parent = ?1 ORDER BY position LIMIT ?2";
        const BEFORE: &str = "
            SELECT key FROM node
             WHERE parent = ?1 AND position < ?2
             ORDER BY position DESC LIMIT ?3";
        const AFTER: &str = "
            SELECT key FROM node
             WHERE parent = ?1 AND position > ?2
             ORDER BY position LIMIT ?3";
        let read = |row: &Row<'_>| Ok((NodeRowId(row.get(0)?), row.get::<_, i64>(1)?));
        let first: Vec<(NodeRowId, i64)> =
            self.all(FIRST, params![parent.0, limit(SIBLINGS_MAX)], read).doing("read siblings")?;
        let n = first.len();
        let around = |position: &i64| {
            if n < SIBLINGS_MAX {
                let at = first.partition_point(|it| it.1 < *position);
                let is_there = first.get(at).is_some_and(|it| it.1 == *position);
                let before = first[..at].iter().rev().take(REACH).map(|it| it.0).collect();
                let after = &first[at + usize::from(is_there)..];
                let after = after.iter().take(REACH).map(|it| it.0).collect();
                return Ok(SiblingsForRanking { n, before, after });
            }
            let beside = |sql: &'static str| {
                let params = params![parent.0, position, limit(REACH)];
                self.all(sql, params, |row| row.get(0).map(NodeRowId)).doing("read siblings")
            };
            Ok(SiblingsForRanking { n, before: beside(BEFORE)?, after: beside(AFTER)? })
        };
        positions.iter().map(around).collect()
    }
}

/// Maps the error of an expression that full-text search cannot parse to `None`.
fn parsed<T>(found: rusqlite::Result<T>) -> Result<Option<T>, StoreError> {
    match found {
        Err(ref error @ rusqlite::Error::SqliteFailure(it, _))
            if it.code == rusqlite::ErrorCode::Unknown && !is_broken_index(error) =>
        {
            Ok(None)
        }
        found => found.map(Some).doing("search"),
    }
}

fn read_found(row: &Row<'_>, tokens: usize) -> rusqlite::Result<MatchedNode> {
    Ok(MatchedNode {
        tokens: read_tokens(row, tokens)?,
        position: row.get(tokens + 1)?,
        key: NodeRowId(row.get(0)?),
        parent: row.get::<_, Option<i64>>(1)?.map(NodeRowId),
        is_heading: row.get(2)?,
        heat: heat_rows::read_heat(row, 3)?,
        memory: None,
    })
}
