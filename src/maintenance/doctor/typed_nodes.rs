//! Typed nodes in the doctor: their fields, the index of what they are looked up by, and the custom
//! views of them.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::{Connection, Row};
use serde_json::Value;

use super::{CheckStatus, count, derived_tables, first, verdict};
use crate::model::node_fields::CanonicalFields;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::{TypedNodeSchema, is_view_name};
use crate::store::{ErrorContext, PreparedStatements, StoreError};

/// Reads the fields of all typed nodes.
pub(super) const FIELDS: &str =
    "SELECT key, id, node_type, fields FROM node WHERE fields IS NOT NULL";

/// Reads the fields of all nodes: they must be canonical, and should be valid for the node's kind.
pub(super) fn fields(conn: &Connection, _: &Path) -> Result<(CheckStatus, String), StoreError> {
    let mut query = conn.prepare(FIELDS).doing("read the fields")?;
    let mut rows = query.query([]).doing("read the fields")?;
    let (mut n, mut broken, mut invalid) = (0, Vec::new(), Vec::new());
    while let Some(row) = rows.next().doing("read the fields")? {
        let text = |at| row.get::<_, String>(at).doing("read the fields");
        let (id, node_type, fields) = (text(1)?, text(2)?, text(3)?);
        n += 1;
        let complaint = |why: &dyn std::fmt::Display| format!("`{id}`: {why}");
        match (
            CanonicalFields::parse(&fields),
            NodeType::parse(&node_type).and_then(TypedNodeSchema::of),
        ) {
            (Err(error), _) => broken.push(complaint(&error)),
            (Ok(_), None) => {
                invalid.push(complaint(&format!("a node of type {node_type} has no fields")));
            }
            (Ok(fields), Some(kind)) => match kind.check(&fields) {
                Ok(()) => (),
                Err(error) => invalid.push(complaint(&error)),
            },
        }
    }
    drop(rows);
    if broken.is_empty() && !invalid.is_empty() {
        let what = format!("{} of {n} nodes have odd fields: {}", invalid.len(), first(&invalid));
        return Ok((CheckStatus::Warn, what));
    }
    let bad = format!("{} of {n} nodes have broken fields: {}", broken.len(), first(&broken));
    Ok(verdict(broken.is_empty(), format!("{n} nodes have sound fields"), bad))
}

/// Compares the index of facets with what the fields say.
pub(super) fn facets(conn: &Connection, _: &Path) -> Result<(CheckStatus, String), StoreError> {
    let (n_surplus, n_missing) = derived_tables::surplus_and_missing(conn, "facet")?;
    let n = count(conn, "SELECT count(*) FROM facet")?;
    let bad = format!("{n_missing} facets are missing, {n_surplus} are of no field");
    Ok(verdict(n_surplus + n_missing == 0, format!("{n} facets follow the fields"), bad))
}

/// Returns the nodes whose index of facets has not what their fields say.
pub(super) fn nodes_off_index(conn: &Connection) -> Result<BTreeSet<i64>, StoreError> {
    const NODES: &str = "
        SELECT node
          FROM (SELECT key, value, node FROM facet EXCEPT SELECT key, value, node FROM facet_made)
         UNION
        SELECT node
          FROM (SELECT key, value, node FROM facet_made EXCEPT SELECT key, value, node FROM facet)";
    let nodes: Vec<i64> = conn.rows(NODES, [], |row| row.get(0), "compare the facets")?;
    Ok(nodes.into_iter().collect())
}

/// Compares the index of typed edges with what the fields say.
pub(super) fn typed_edges(
    conn: &Connection,
    _: &Path,
) -> Result<(CheckStatus, String), StoreError> {
    let (n_surplus, n_missing) = derived_tables::surplus_and_missing(conn, "typed_edge")?;
    let n = count(conn, "SELECT count(*) FROM typed_edge")?;
    let bad = format!("{n_missing} typed edges are missing, {n_surplus} are of no field");
    Ok(verdict(n_surplus + n_missing == 0, format!("{n} typed edges follow the fields"), bad))
}

/// Returns the names of the custom views whose name or conditions are invalid, and how many views
/// there are in all.
fn broken_views(conn: &Connection) -> Result<(Vec<String>, usize), StoreError> {
    const VIEWS: &str = "SELECT name, query FROM custom_view ORDER BY name";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let mut views: Vec<(String, String)> = conn.rows(VIEWS, [], read, "read the custom views")?;
    let n = views.len();
    views.retain(|(name, query)| {
        !is_view_name(name) || !matches!(serde_json::from_str(query), Ok(Value::Object(_)))
    });
    Ok((views.into_iter().map(|(name, _)| name).collect(), n))
}

/// Reads the custom views: their names, and the form of their conditions.
pub(super) fn custom_views(
    conn: &Connection,
    _: &Path,
) -> Result<(CheckStatus, String), StoreError> {
    let (broken, n) = broken_views(conn)?;
    let broken: Vec<String> = broken.iter().map(|name| format!("`{name}`")).collect();
    let bad = format!("{} of {n} custom views are broken: {}", broken.len(), first(&broken));
    Ok(verdict(broken.is_empty(), format!("{n} custom views are sound"), bad))
}

/// Removes the custom views that nobody can read.
pub(super) fn drop_broken_views(conn: &Connection) -> Result<(), StoreError> {
    const DROP: &str = "DELETE FROM custom_view WHERE name = ?1";
    for name in broken_views(conn)?.0 {
        conn.run(DROP, [&name], "remove a custom view")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
