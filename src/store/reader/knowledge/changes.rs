//! Changes of nodes of knowledge in the history, with their fields before and after.

use std::collections::BTreeSet;

use rusqlite::{Row, params};

use crate::model::clock::UnixMillis;
use crate::model::tree::NodeType;
use crate::store::reader::{Reader, limit};
use crate::store::record::{read_id, read_name, read_type};
use crate::store::{ErrorContext, StoreError};

/// A change of a node that has fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnowledgeChange {
    pub(crate) snapshot: i64,
    pub(crate) seq: i64,
    pub(crate) op: String,
    pub(crate) id: String,
    pub(crate) node_type: String,
    pub(crate) label: String,
    /// As stored; none before it was added.
    pub(crate) old_fields: Option<String>,
    /// None after it was removed.
    pub(crate) new_fields: Option<String>,
    pub(crate) message: String,
    pub(crate) at: UnixMillis,
}

/// The type of the node of a change `d`; `n` is the node, if it is there.
macro_rules! changed_type {
    () => {
        "ifnull(d.old_type,
                ifnull((SELECT next.old_type
                          FROM diff AS next
                         WHERE next.node_id = d.node_id
                           AND (next.snapshot, next.seq) > (d.snapshot, d.seq)
                         ORDER BY next.snapshot, next.seq
                         LIMIT 1),
                       n.node_type))"
    };
}

impl Reader {
    /// Returns changes of nodes of some types after a place in the history, eldest first, at most
    /// `n_max`.
    pub(crate) fn knowledge_changes(
        &self,
        (snapshot, seq): (i64, i64),
        types: &[NodeType],
        n_max: usize,
    ) -> Result<Vec<KnowledgeChange>, StoreError> {
        const CHANGES: &str = concat!(
            "
            SELECT d.snapshot, d.seq, d.op, d.node_id, ",
            changed_type!(),
            " AS changed_type, ifnull(n.label, ifnull(d.old_label, '')), d.old_fields,
                   ifnull((SELECT next.old_fields
                             FROM diff AS next
                            WHERE next.node_id = d.node_id
                              AND (next.snapshot, next.seq) > (d.snapshot, d.seq)
                            ORDER BY next.snapshot, next.seq
                            LIMIT 1),
                          n.fields),
                   s.message, s.created_at
              FROM diff AS d
             CROSS JOIN snapshot AS s ON s.id = d.snapshot
              LEFT JOIN node AS n ON n.id = d.node_id
             WHERE (d.snapshot, d.seq) > (?1, ?2)
               AND d.op <> 'rank'
               AND changed_type IN (SELECT value FROM json_each(?3))
             ORDER BY d.snapshot, d.seq
             LIMIT ?4"
        );
        let names: Vec<&str> = types.iter().map(|it| it.as_str()).collect();
        let names = serde_json::Value::from(names).to_string();
        let read = |row: &Row<'_>| {
            Ok(KnowledgeChange {
                snapshot: row.get(0)?,
                seq: row.get(1)?,
                op: read_name(row, 2)?,
                id: read_id(row, 3)?,
                node_type: read_type(row, 4)?,
                label: row.get(5)?,
                old_fields: row.get(6)?,
                new_fields: row.get(7)?,
                message: row.get(8)?,
                at: UnixMillis(row.get(9)?),
            })
        };
        self.all(CHANGES, params![snapshot, seq, names, limit(n_max)], read).doing("list changes")
    }

    /// Returns the types of the nodes that changed after a snapshot.
    pub(crate) fn types_changed_since(
        &self,
        snapshot: i64,
    ) -> Result<BTreeSet<String>, StoreError> {
        const TYPES: &str = concat!(
            "SELECT DISTINCT ",
            changed_type!(),
            "
              FROM diff AS d
              LEFT JOIN node AS n ON n.id = d.node_id
             WHERE d.snapshot > ?1
               AND d.op <> 'rank'"
        );
        let read = |row: &Row<'_>| row.get::<_, Option<String>>(0);
        let types = self.all(TYPES, [snapshot], read).doing("list changed types")?;
        Ok(types.into_iter().flatten().collect())
    }
}
