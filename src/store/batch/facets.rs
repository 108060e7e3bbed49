//! Facets in a write: the rows by which a typed node and its edges are found, made of its fields.
//!
//! Triggers make them for every writer, from the views `facet_made` and `typed_edge_made`. Setting
//! up and running their programs costs more than all else that is written of a small node. Here the
//! same rows are computed from the fields, and only differences are written; meanwhile the node is
//! in `facet_program`, and the triggers pass over it. Fields of other types than their kinds have
//! are left to the triggers.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{ToSql, params, types::ToSqlOutput};
use serde_json::{Map, Value};

use super::Batch;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::MEMORY_TYPES;
use crate::store::{NodeRowId, PreparedStatements, StoreError};

/// Members of fields whose values are facets, with the types of nodes that have them; all where
/// none is named.
const MEMBERS: &[(&str, &[NodeType])] = &[
    ("uuid", &[]),
    ("updated_at", &[]),
    ("importance", &[]),
    ("kind", &[]),
    ("topic", &[]),
    ("at", &[]),
    ("created_at", &MEMORY_TYPES),
    ("subject", &[NodeType::Concept]),
    ("conflict", &[NodeType::Conflict]),
];

/// Members whose items are facets, with the names of these.
const LISTS: &[(&str, &str)] = &[("tags", "tag"), ("names", "name")];

/// Members of a task's own object whose values are facets.
const MEMBERS_OF_TASKS: &[&str] = &["status", "completed_at"];

/// A value of a facet, as SQLite has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FacetValue {
    Integer(i64),
    Text(String),
}

impl ToSql for FacetValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            FacetValue::Integer(it) => it.to_sql(),
            FacetValue::Text(it) => it.to_sql(),
        }
    }
}

/// Facets and typed edges of one node.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NodeFacetAndEdgeRows {
    /// Names and values.
    facets: BTreeSet<(&'static str, FacetValue)>,
    /// Strengths by type and target.
    edges: BTreeMap<(String, String), f64>,
}

/// Facets of one node: names, and values as JSON.
pub(crate) type NodeFacetSet = BTreeSet<(String, String)>;

/// Returns the facets of a node; `None` where only the views tell them.
pub(crate) fn node_facet_set(
    node_type: NodeType,
    content_hash: &str,
    fields: Option<&str>,
) -> Option<NodeFacetSet> {
    let entry = |(name, value): (&'static str, FacetValue)| {
        let value = match value {
            FacetValue::Integer(it) => Value::from(it),
            FacetValue::Text(it) => Value::from(it),
        };
        (name.to_owned(), value.to_string())
    };
    let rows = NodeFacetAndEdgeRows::of(node_type, content_hash, fields)?;
    Some(rows.facets.into_iter().map(entry).collect())
}

impl NodeFacetAndEdgeRows {
    /// Returns the rows of a node; `None` where only the views tell them.
    pub(super) fn of(
        node_type: NodeType,
        content_hash: &str,
        fields: Option<&str>,
    ) -> Option<NodeFacetAndEdgeRows> {
        let Some(fields) = fields else { return Some(NodeFacetAndEdgeRows::default()) };
        let Ok(Value::Object(fields)) = serde_json::from_str(fields) else { return None };
        let mut rows = NodeFacetAndEdgeRows::default();
        rows.add("type", FacetValue::Text(node_type.as_str().to_owned()));
        rows.add("content_hash", FacetValue::Text(content_hash.to_owned()));
        rows.add("archived", FacetValue::Integer(is_archived(&fields).into()));
        for (name, types) in MEMBERS {
            if types.is_empty() || types.contains(&node_type) {
                rows.add_member(name, fields.get(*name))?;
            }
        }
        for (list, name) in LISTS {
            match fields.get(*list) {
                Some(Value::Array(items)) => {
                    items.iter().try_for_each(|it| rows.add_member(name, Some(it)))?;
                }
                Some(Value::Object(_)) => return None,
                other => rows.add_member(name, other)?,
            }
        }
        rows.add_by_type(node_type, &fields)?;
        rows.add_edges(fields.get("links"))?;
        Some(rows)
    }

    fn add(&mut self, name: &'static str, value: FacetValue) {
        self.facets.insert((name, value));
    }

    /// Adds a value, unless it is missing or no single one.
    fn add_member(&mut self, name: &'static str, value: Option<&Value>) -> Option<()> {
        let value = match value {
            None | Some(Value::Null | Value::Array(_) | Value::Object(_)) => return Some(()),
            Some(Value::Bool(it)) => FacetValue::Integer((*it).into()),
            Some(Value::Number(it)) => FacetValue::Integer(it.as_i64()?),
            Some(Value::String(it)) => FacetValue::Text(it.clone()),
        };
        self.add(name, value);
        Some(())
    }

    /// Adds what only some types have.
    fn add_by_type(&mut self, node_type: NodeType, fields: &Map<String, Value>) -> Option<()> {
        let is_gone = ["deleted", "superseded_by"].iter().any(|it| fields.contains_key(*it));
        let of_task = fields.get("task_metadata").filter(|_| node_type == NodeType::Task);
        for name in MEMBERS_OF_TASKS {
            self.add_member(name, of_task.and_then(|it| it.get(name)))?;
        }
        if MEMORY_TYPES.contains(&node_type) {
            let status = of_task.and_then(|it| it.get("status"));
            match fields.get("category").or(status) {
                None => self.add("category", FacetValue::Text("other".to_owned())),
                Some(Value::Null | Value::Array(_) | Value::Object(_)) => return None,
                category => self.add_member("category", category)?,
            }
        }
        if node_type == NodeType::Episode && !is_gone && !fields.contains_key("processed_in") {
            self.add("pending", FacetValue::Integer(1));
        }
        if node_type == NodeType::Fact
            && !is_gone
            && !fields.contains_key("valid_to")
            && let Some(Value::String(statement)) = fields.get("key")
        {
            self.add("statement", FacetValue::Text(statement.clone()));
        }
        Some(())
    }

    fn add_edges(&mut self, links: Option<&Value>) -> Option<()> {
        let links = match links {
            None => return Some(()),
            Some(Value::Array(links)) => links,
            Some(_) => return None,
        };
        for link in links {
            if let (Some(link_type), Some(target)) = (link["type"].as_str(), link["to"].as_str()) {
                let strength = link["strength"].as_f64().unwrap_or(1.0);
                let known = self.edges.entry((link_type.to_owned(), target.to_owned()));
                known.and_modify(|it| *it = it.max(strength)).or_insert(strength);
            }
        }
        Some(())
    }
}

fn is_archived(fields: &Map<String, Value>) -> bool {
    ["archived", "deleted"].iter().any(|it| fields.get(*it) == Some(&Value::Bool(true)))
        || ["superseded_by", "merged_into"].iter().any(|it| fields.contains_key(*it))
}

impl Batch<'_> {
    /// Runs statements that change a node, over which the triggers that make facets pass.
    pub(super) fn without_facet_triggers<T>(
        &mut self,
        node: NodeRowId,
        run: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        const CLAIM: &str = "INSERT INTO facet_program (node) VALUES (?1)";
        const RELEASE: &str = "DELETE FROM facet_program WHERE node = ?1";
        self.tx.run(CLAIM, [node.0], "make facets")?;
        // After an error the whole write is taken back.
        let done = run(self)?;
        self.tx.run(RELEASE, [node.0], "make facets")?;
        Ok(done)
    }

    /// Writes the differences between what a node had and what it has.
    pub(super) fn write_facets(
        &mut self,
        node: NodeRowId,
        old: &NodeFacetAndEdgeRows,
        new: &NodeFacetAndEdgeRows,
    ) -> Result<(), StoreError> {
        const REMOVE: &str = "DELETE FROM facet WHERE key = ?1 AND value = ?2 AND node = ?3";
        const ADD: &str = "INSERT OR IGNORE INTO facet (key, value, node) VALUES (?1, ?2, ?3)";
        const UNLINK: &str =
            "DELETE FROM typed_edge WHERE source = ?1 AND type = ?2 AND target = ?3";
        const LINK: &str = "
            INSERT INTO typed_edge (source, type, target, strength)
            VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (source, type, target) DO UPDATE SET strength = excluded.strength";
        let doing = "make facets";
        for (name, value) in old.facets.difference(&new.facets) {
            self.tx.run(REMOVE, params![name, value, node.0], doing)?;
        }
        for (name, value) in new.facets.difference(&old.facets) {
            self.tx.run(ADD, params![name, value, node.0], doing)?;
            if let ("name", FacetValue::Text(name)) = (*name, value) {
                self.known_names.add(name);
            }
        }
        for (link_type, target) in old.edges.keys().filter(|it| !new.edges.contains_key(*it)) {
            self.tx.run(UNLINK, params![node.0, link_type, target], doing)?;
        }
        for (edge, strength) in new.edges.iter().filter(|it| old.edges.get(it.0) != Some(it.1)) {
            self.tx.run(LINK, params![node.0, edge.0, edge.1, strength], doing)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
