//! Names nodes that are gone although no change removed them.

use rusqlite::{Connection, Row};

use super::text_hashes::node_name;
use super::{first_few, shown};
use crate::model::identity::NodeId;
use crate::store::{PreparedStatements, StoreError};

/// Returns the number of lost nodes and the first ones, with the newest labels that the history
/// has, for a message; `None` where there are none.
pub(super) fn named(conn: &Connection) -> Result<Option<String>, StoreError> {
    const LOST: &str = "
        SELECT DISTINCT node_id,
               ifnull((SELECT old_label
                         FROM diff
                        WHERE node_id = last.node_id AND old_label IS NOT NULL
                        ORDER BY snapshot DESC, seq DESC
                        LIMIT 1), '')
          FROM diff AS last
         WHERE new_hash IS NOT NULL
           AND node_id NOT IN (SELECT id FROM node)
           AND NOT EXISTS (
               SELECT 1
                 FROM diff AS later
                WHERE later.node_id = last.node_id
                  AND (later.snapshot, later.seq) > (last.snapshot, last.seq))
         ORDER BY node_id";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let mut lost: Vec<(String, String)> = conn.rows(LOST, [], read, "look for lost nodes")?;
    // What is no id is the fault of a change, not of a node.
    lost.retain(|it| NodeId::parse(&it.0).is_some());
    let name = |(id, label): &(String, String)| match label.is_empty() {
        true => format!("`{}`", shown(id)),
        false => node_name(id, label),
    };
    let nodes: Vec<String> = lost.iter().map(name).collect();
    let n = nodes.len();
    Ok((0 < n).then(|| format!("{n} nodes are gone that no change removed: {}", first_few(&nodes))))
}
