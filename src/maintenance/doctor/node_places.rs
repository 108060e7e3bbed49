//! Compares the file and the breadcrumb of each node with its place, from which they follow.
//!
//! So a parent, a file or a breadcrumb that somebody else altered is told by the others. Which of
//! them it was is not known: the node stays where it is, and is named.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::{Connection, Row, params};

use super::text_hashes::node_name;
use super::{CheckStatus, count, first_few, verdict};
use crate::model::breadcrumb;
use crate::store::{PreparedStatements, StoreError};

/// Most nodes above a node, each of which gets its breadcrumb before the next one.
const DEPTH_MAX: usize = 1_000;

/// A node whose file or breadcrumb is not that of its place.
struct MisplacedNode {
    key: i64,
    parent: Option<i64>,
    name: String,
    file: Option<i64>,
    breadcrumb: String,
}

/// Checks the file and the breadcrumb of every node.
pub(super) fn examine(conn: &Connection, _: &Path) -> Result<(CheckStatus, String), StoreError> {
    let n = count(conn, "SELECT count(*) FROM node")?;
    let names = topmost(&misplaced(conn)?);
    let bad = format!(
        "{} of {n} nodes have another file or other titles above them than their place: {}",
        names.len(),
        first_few(&names)
    );
    let fine = format!("{n} nodes have the file and the titles of their place");
    Ok(verdict(names.is_empty(), fine, bad))
}

/// Gives each node the file and the breadcrumb of its place; returns a note that names the nodes.
pub(super) fn repair(conn: &Connection) -> Result<Vec<String>, StoreError> {
    const SET: &str = "UPDATE node SET file = ?2, trail = ?3 WHERE key = ?1";
    let mut open = misplaced(conn)?;
    let names = topmost(&open);
    for _ in 0..DEPTH_MAX {
        for it in &open {
            conn.run(SET, params![it.key, it.file, it.breadcrumb], "set the titles above a node")?;
        }
        open = misplaced(conn)?;
        if open.is_empty() {
            break;
        }
    }
    Ok(vec![format!(
        "nodes whose place, file or titles above were altered stay where they are now: {}",
        first_few(&names)
    )])
}

/// Returns the nodes whose breadcrumb is not that of their place, and those of agents that are not
/// in the file of what they stand below.
fn misplaced(conn: &Connection) -> Result<Vec<MisplacedNode>, StoreError> {
    const PLACES: &str = "
        SELECT node.key, node.parent, node.id, node.label, node.file, node.trail,
               node.source_hash IS NULL, parent.key IS NOT NULL, parent.file, parent.trail,
               parent.label, file.path
          FROM node
          LEFT JOIN node AS parent ON parent.key = node.parent
          LEFT JOIN file ON file.id = node.file";
    let read = |row: &Row<'_>| {
        let (file, is_of_agent, is_below): (Option<i64>, bool, bool) =
            (row.get(4)?, row.get(6)?, row.get(7)?);
        let (right_file, right) = match is_below {
            true => {
                let (above, label) = (row.get_ref(9)?.as_str()?, row.get_ref(10)?.as_str()?);
                let of_parent = if is_of_agent { row.get(8)? } else { file };
                (of_parent, breadcrumb::child_breadcrumb(above, label))
            }
            false => {
                let path = row.get_ref(11)?.as_str_or_null()?;
                (file, path.map(breadcrumb::root_breadcrumb).unwrap_or_default())
            }
        };
        if file == right_file && row.get_ref(5)?.as_str()? == right {
            return Ok(None);
        }
        let (id, label): (String, String) = (row.get(2)?, row.get(3)?);
        Ok(Some(MisplacedNode {
            key: row.get(0)?,
            parent: row.get(1)?,
            name: node_name(&id, &label),
            file: right_file,
            breadcrumb: right,
        }))
    };
    let nodes: Vec<Option<MisplacedNode>> = conn.rows(PLACES, [], read, "read the places")?;
    Ok(nodes.into_iter().flatten().collect())
}

/// Returns the names of nodes whose parent is none of them: what is below one follows it.
fn topmost(nodes: &[MisplacedNode]) -> Vec<String> {
    let keys: BTreeSet<i64> = nodes.iter().map(|it| it.key).collect();
    let is_below = |it: &&MisplacedNode| it.parent.is_some_and(|it| keys.contains(&it));
    nodes.iter().filter(|it| !is_below(it)).map(|it| it.name.clone()).collect()
}
