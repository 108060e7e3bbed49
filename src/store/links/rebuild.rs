//! Rebuilds all references and names, for a memory that has none or wrong ones.

use rusqlite::{Connection, Row, params};

use super::{DirtyRefs, KeyWatermarks, name, read_reference, read_text, reference_columns, want};
use crate::model::links::reference::Reference;
use crate::store::{ErrorContext, PreparedStatements, StoreError};

/// Parses all texts of a memory that was made before references were stored.
pub(crate) fn read_all(conn: &Connection) -> Result<(), StoreError> {
    const NODES: &str = "SELECT key, node_type, label, content FROM node ORDER BY key";
    const NAME: &str = "UPDATE node SET name = ?2 WHERE key = ?1";
    // Everything is new.
    let mut dirty_refs = DirtyRefs::since(KeyWatermarks::default());
    conn.each(NODES, [], read_text, "read all texts", |(key, references, label)| {
        dirty_refs.add_references(conn, key, &references)?;
        conn.run(NAME, params![key.0, name(&label)], "name a node").map(drop)
    })?;
    dirty_refs.settle(conn)
}

/// Parses all texts again, after texts were replaced or where stored references are wrong.
///
/// Replaced are texts of nodes, labels, paths or manual references.
pub(crate) fn read_again(conn: &Connection) -> Result<(), StoreError> {
    const FORGET: &str = "
        DELETE FROM reference WHERE origin = 'parsed';
        DELETE FROM wanted;
        DELETE FROM file_name";
    const BY_HAND: &str = concat!("SELECT ", reference_columns!(), ", id FROM reference");
    conn.execute_batch(FORGET).doing("forget references")?;
    let read = |row: &Row<'_>| Ok((read_reference(row)?, row.get(7)?));
    let by_hand: Vec<(Reference, i64)> = conn.rows(BY_HAND, [], read, "read references")?;
    for (reference, id) in &by_hand {
        want(conn, *id, reference)?;
    }
    read_all(conn)
}
