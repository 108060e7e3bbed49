//! Filters: conditions on the nodes that a search, a tree or a walk shows.
//!
//! Only typed memories have tags, a status and an importance, so that such a condition leaves out
//! every other node.

use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};
use serde_json::json;

use super::{Reader, list};
use crate::model::clock::UnixMillis;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::TypedNodeSchema;
use crate::store::{ErrorContext, NodeRowId, PreparedStatements, StoreError};

/// Tells whether archived memories are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ArchivedVisibility {
    #[default]
    Hidden,
    Shown,
}

/// Holds conditions on nodes; by default all nodes but archived memories meet them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NodeFilter<'a> {
    pub(crate) node_type: Option<NodeType>,
    /// All of which a memory has.
    pub(crate) tags: &'a [String],
    pub(crate) status: Option<&'a str>,
    pub(crate) importance: Option<&'a str>,
    /// The first moment of its last change, as in [`changed_at`].
    pub(crate) since: Option<UnixMillis>,
    /// The last moment of its last change.
    pub(crate) until: Option<UnixMillis>,
    pub(crate) archived: ArchivedVisibility,
}

impl NodeFilter<'_> {
    /// Returns the names of conditions that only typed memories meet.
    pub(crate) fn of_memories(&self) -> Vec<&'static str> {
        let given = [
            ("tags", !self.tags.is_empty()),
            ("status", self.status.is_some()),
            ("importance", self.importance.is_some()),
        ];
        given.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name).collect()
    }

    /// Returns whether it has a condition on the time of the last change.
    pub(crate) fn is_timed(&self) -> bool {
        self.since.is_some() || self.until.is_some()
    }

    /// Returns whether every node meets it.
    pub(super) fn is_met_by_all(&self) -> bool {
        *self == NodeFilter { archived: ArchivedVisibility::Shown, ..NodeFilter::default() }
    }

    /// Returns the values of [`meets_filter`], from the first on.
    pub(super) fn values(&self) -> [Value; 8] {
        let text = |it: Option<&str>| it.map_or(Value::Null, |it| Value::Text(it.to_owned()));
        let is_typed = self.node_type.and_then(TypedNodeSchema::of).is_some();
        let node_type = text(self.node_type.map(NodeType::as_str));
        let (typed, noted) =
            if is_typed { (node_type, Value::Null) } else { (Value::Null, node_type) };
        let bound = |at: Option<UnixMillis>, none: i64| match self.is_timed() {
            true => Value::Integer(at.map_or(none, |it| it.0)),
            false => Value::Null,
        };
        [
            Value::Integer((self.archived == ArchivedVisibility::Shown).into()),
            text(self.status),
            text(self.importance),
            typed,
            Value::Text(json!(self.tags).to_string()),
            bound(self.since, i64::MIN),
            bound(self.until, i64::MAX),
            noted,
        ]
    }
}

/// The time, in ms since the Unix epoch, at which the text of the node of key `$node` last changed.
///
/// A typed memory has it in its fields. Of another node it is the time of the last snapshot that
/// added it or changed its text; the first snapshot of the history where it is not older than the
/// node. A text that is the file's own is no newer than the file.
macro_rules! changed_at {
    ($node:literal) => {
        concat!(
            "(SELECT ifnull(
                  (SELECT value
                     FROM facet
                    WHERE node = changed.key
                      AND key = 'updated_at'
                      AND typeof(value) = 'integer'),
                  min(ifnull((SELECT mtime / 1000000
                                FROM file
                               WHERE id = changed.file
                                 AND changed.source_hash = changed.content_hash),
                             9223372036854775807),
                      ifnull((SELECT created_at
                                FROM diff
                                JOIN snapshot ON snapshot.id = diff.snapshot
                               WHERE diff.node_id = changed.id
                                 AND diff.op <> 'rank'
                                 AND diff.old_hash IS NOT diff.new_hash
                               ORDER BY diff.snapshot DESC
                               LIMIT 1),
                             (SELECT created_at FROM snapshot ORDER BY id LIMIT 1))))
               FROM node AS changed
              WHERE changed.key = ",
            $node,
            ")"
        )
    };
}

pub(super) use changed_at;

/// The condition that the node of key `$node` meets a filter, whose values are the parameters from
/// `?3` on. Only the type of a note is read from its row, last of all.
macro_rules! meets_filter {
    ($node:literal) => {
        concat!(
            " AND (?3 OR NOT EXISTS (
                  SELECT 1 FROM facet WHERE key = 'archived' AND value = 1 AND node = ",
            $node,
            "))
              AND (?4 IS NULL OR EXISTS (
                  SELECT 1 FROM facet WHERE key = 'status' AND value = ?4 AND node = ",
            $node,
            "))
              AND (?5 IS NULL OR EXISTS (
                  SELECT 1 FROM facet WHERE key = 'importance' AND value = ?5 AND node = ",
            $node,
            "))
              AND (?6 IS NULL OR EXISTS (
                  SELECT 1 FROM facet WHERE key = 'type' AND value = ?6 AND node = ",
            $node,
            "))
              AND NOT EXISTS (
                  SELECT 1
                    FROM json_each(?7) AS tag
                   WHERE NOT EXISTS (
                       SELECT 1 FROM facet WHERE key = 'tag' AND value = tag.value AND node = ",
            $node,
            "))
              AND (?8 IS NULL OR ",
            changed_at!($node),
            " BETWEEN ?8 AND ?9)
              AND (?10 IS NULL OR (SELECT node_type FROM node WHERE key = ",
            $node,
            ") = ?10)"
        )
    };
}

pub(super) use meets_filter;

/// The condition that node `n` is not archived, or that `$shown` is true. Notes pass by the first
/// look at their row.
macro_rules! unless_archived {
    ($shown:literal) => {
        concat!(
            " AND (n.fields IS NULL OR ",
            $shown,
            " OR NOT EXISTS (
                  SELECT 1 FROM facet WHERE key = 'archived' AND value = 1 AND node = n.key))"
        )
    };
}

pub(in crate::store) use unless_archived;

impl Reader {
    /// Returns the filter without the condition on archived memories where there are none.
    pub(crate) fn simplified<'a>(
        &self,
        filter: NodeFilter<'a>,
    ) -> Result<NodeFilter<'a>, StoreError> {
        match filter.archived {
            ArchivedVisibility::Hidden if !self.has_archived()? => {
                Ok(NodeFilter { archived: ArchivedVisibility::Shown, ..filter })
            }
            _ => Ok(filter),
        }
    }

    /// Returns whether a memory meets a filter of memories, or one of the newest nodes another.
    pub(crate) fn has_node_meeting(&self, filter: &NodeFilter<'_>) -> Result<bool, StoreError> {
        const NODES_MAX: i64 = 100_000;
        const MEMORY: &str = concat!(
            "SELECT 1
               FROM facet AS typed
              WHERE typed.key = ?1",
            meets_filter!("typed.node"),
            " LIMIT ?2"
        );
        const NEWEST: &str = concat!(
            "SELECT 1
               FROM (SELECT key FROM node WHERE ?1 IS NOT NULL ORDER BY key DESC LIMIT ?2) AS newest
              WHERE true",
            meets_filter!("newest.key"),
            " LIMIT 1"
        );
        let is_typed = filter.node_type.and_then(TypedNodeSchema::of).is_some();
        let (sql, n_max) = match is_typed || !filter.of_memories().is_empty() {
            true => (MEMORY, 1),
            false => (NEWEST, NODES_MAX),
        };
        let first = [Value::Text("type".to_owned()), Value::Integer(n_max)];
        let values = params_from_iter(first.into_iter().chain(filter.values()));
        let met = self.all(sql, values, |_| Ok(()));
        Ok(!met.doing("look for nodes that meet the conditions")?.is_empty())
    }

    /// Returns those nodes that are archived, in the order of their keys.
    pub(crate) fn archived_among(&self, nodes: &[NodeRowId]) -> Result<Vec<NodeRowId>, StoreError> {
        const ARCHIVED: &str = "
            SELECT facet.node
              FROM json_each(?1) AS wanted
             CROSS JOIN facet ON facet.key = 'archived'
                             AND facet.value = 1
                             AND facet.node = wanted.value
             ORDER BY facet.node";
        if !self.has_archived()? {
            return Ok(Vec::new());
        }
        let read = |row: &Row<'_>| row.get(0).map(NodeRowId);
        self.all(ARCHIVED, [list(nodes)], read).doing("look for archived memories")
    }

    fn has_archived(&self) -> Result<bool, StoreError> {
        const ANY: &str = "SELECT 1 FROM facet WHERE key = 'archived' AND value = 1 LIMIT 1";
        self.conn.has(ANY, [], "look for archived memories")
    }
}
