//! Updates the breadcrumbs that follow from scrubbed labels and paths.

use std::collections::HashSet;

use rusqlite::{Connection, Row, params};

use crate::model::breadcrumb;
use crate::store::{PreparedStatements, StoreError};

/// Updates the breadcrumbs below renamed nodes and files, given by their keys; returns whether any
/// changed. `scrub` replaces secrets that only a breadcrumb shows.
pub(in crate::maintenance) fn update(
    conn: &Connection,
    relabelled: Vec<i64>,
    restemmed: &[i64],
    scrub: &mut dyn FnMut(&str) -> Option<String>,
) -> Result<bool, StoreError> {
    const TOP: &str = "
        SELECT node.key, file.path, node.trail
          FROM node
          JOIN file ON file.id = node.file
         WHERE node.parent IS NULL
           AND file.id = ?1";
    const BELOW: &str = "
        SELECT child.key, parent.trail, parent.label, child.trail
          FROM node AS child
          JOIN node AS parent ON parent.key = child.parent
         WHERE parent.key = ?1";
    const SET: &str = "UPDATE node SET trail = ?2 WHERE key = ?1";
    let mut set = |key: i64, old: &str, breadcrumb: String| {
        let breadcrumb = scrub(&breadcrumb).unwrap_or(breadcrumb);
        if breadcrumb == old {
            return Ok(false);
        }
        conn.run(SET, params![key, breadcrumb], "change a trail").map(|_| true)
    };
    let mut is_changed = false;
    let mut starts: Vec<i64> = relabelled;
    let read = "read the trails";
    for file in restemmed {
        let top = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let tops: Vec<(i64, String, String)> = conn.rows(TOP, [file], top, read)?;
        for (key, path, old) in tops {
            if set(key, &old, breadcrumb::root_breadcrumb(&path))? {
                starts.push(key);
                is_changed = true;
            }
        }
    }
    for start in starts {
        // Nodes of an altered memory may be below themselves.
        let (mut open, mut seen) = (vec![start], HashSet::from([start]));
        while let Some(parent) = open.pop() {
            let child = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
            let children: Vec<(i64, String, String, String)> =
                conn.rows(BELOW, [parent], child, read)?;
            for (key, above, label, old) in children {
                if seen.insert(key) && set(key, &old, breadcrumb::child_breadcrumb(&above, &label))?
                {
                    open.push(key);
                    is_changed = true;
                }
            }
        }
    }
    Ok(is_changed)
}
