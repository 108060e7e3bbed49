//! Reads and adds rows of heat, with a default for nodes without one.
//!
//! A node without a row has the heat of a node inserted at the beginning of the memory clock, like
//! most nodes of a first compile. It gets a row when it is read, when its temperature is set, and
//! when it becomes cold, since cold nodes are found by their rows. All nodes up to the key
//! `memory.heated` have rows.

use rusqlite::{Connection, Row, params};

use super::{ErrorContext, NodeRowId, PreparedStatements, StoreError, one};
use crate::model::heat::StoredHeat;

/// Nodes that get rows in one transaction as they become cold.
const GIVEN_MAX: i64 = 1_000;

/// The columns of a node's heat, in the order of [`read_heat`].
///
/// `h` is its heat row, if it has one; without one, the values are those of [`untouched`].
macro_rules! heat_columns {
    () => {
        "ifnull(h.temperature, 0.5), ifnull(h.at, 0), ifnull(h.pinned, 0)"
    };
}
pub(super) use heat_columns;

/// Reads a heat, which begins at column `at`.
pub(super) fn read_heat(row: &Row<'_>, at: usize) -> rusqlite::Result<StoredHeat> {
    Ok(StoredHeat { temperature: row.get(at)?, at: row.get(at + 1)?, pinned: row.get(at + 2)? })
}

/// Returns the heat of a node without a row.
pub(super) fn untouched() -> StoredHeat {
    StoredHeat::birth(0)
}

/// Returns the reading of the memory clock, in attended milliseconds.
pub(super) fn memory_clock(conn: &Connection) -> Result<i64, StoreError> {
    const ATTENDED: &str = "SELECT attended FROM memory";
    one(conn, ATTENDED).doing("read the memory clock")
}

/// Returns the key up to which all nodes have rows.
pub(super) fn heat_rows_end(conn: &Connection) -> Result<NodeRowId, StoreError> {
    const HEATED: &str = "SELECT heated FROM memory";
    one(conn, HEATED).map(NodeRowId).doing("read the last row of heat")
}

/// Returns the heat of a node's row; `None` where it has no row.
pub(super) fn heat_row_of(
    conn: &Connection,
    node: NodeRowId,
) -> Result<Option<StoredHeat>, StoreError> {
    const NOTED: &str = "SELECT temperature, at, pinned FROM heat WHERE node = ?1";
    conn.find(NOTED, [node.0], |row| read_heat(row, 0), "read a temperature")
}

/// Gives a node a heat row, unless it has one, and returns its heat.
///
/// `None` when there is no such node.
pub(super) fn ensure_heat_row(
    conn: &Connection,
    node: NodeRowId,
) -> Result<Option<StoredHeat>, StoreError> {
    const GIVE: &str = "
        INSERT INTO heat (node, temperature, at, full_at)
        SELECT key, ?2, ?3, ?4 FROM node WHERE key = ?1";
    if let Some(heat) = heat_row_of(conn, node)? {
        return Ok(Some(heat));
    }
    let heat = untouched();
    let n_given = conn.run(
        GIVE,
        params![node.0, heat.temperature, heat.at, heat.full_at()],
        "give a node a temperature",
    )?;
    Ok((0 < n_given).then_some(heat))
}

/// Returns whether there may be a node without a row.
pub(super) fn has_untouched(conn: &Connection) -> Result<bool, StoreError> {
    const NEXT: &str = "
        SELECT EXISTS (SELECT 1 FROM node WHERE (SELECT heated FROM memory) < key)";
    one(conn, NEXT).doing("find nodes without heat")
}

/// Gives rows to the next nodes without one.
pub(super) fn add_next_heat_rows(conn: &Connection) -> Result<(), StoreError> {
    const LAST: &str = "
        SELECT max(key)
          FROM (SELECT key
                  FROM node
                 WHERE (SELECT heated FROM memory) < key
                 ORDER BY key
                 LIMIT ?1)";
    const GIVE: &str = "
        INSERT INTO heat (node, temperature, at, full_at)
        SELECT key, ?2, ?3, ?4
          FROM node
         WHERE (SELECT heated FROM memory) < key AND key <= ?1
         ORDER BY key
            ON CONFLICT (node) DO NOTHING";
    const NOTE: &str = "UPDATE memory SET heated = ?1";
    let doing = "give nodes temperatures";
    let last: Option<i64> = conn.row(LAST, [GIVEN_MAX], |row| row.get(0), doing)?;
    let Some(last) = last else { return Ok(()) };
    let heat = untouched();
    conn.run(GIVE, params![last, heat.temperature, heat.at, heat.full_at()], doing)?;
    conn.run(NOTE, [last], doing).map(drop)
}

#[cfg(test)]
mod tests;
