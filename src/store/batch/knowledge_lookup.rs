//! Nodes of knowledge in a write, found by facets and edges.

use std::cmp::Reverse;

use rusqlite::{Row, params};

use super::Batch;
use crate::model::clock::UnixMillis;
use crate::model::identity::NodeId;
use crate::model::tree::NodeType;
use crate::store::node_columns::SqlTemplate;
use crate::store::reader::{disputes_what_is_over, limit};
use crate::store::{ErrorContext, NodeRecord, NodeRowId, PreparedStatements, StoreError};

/// Nodes that one look-up returns, at most.
const FOUND_MAX: i64 = 10_000;

/// The newest facts below a node; an index has them in this order, so that no others are read.
static NEWEST_FACTS: SqlTemplate = SqlTemplate::new(
    "
    SELECT {record}
      FROM node
     WHERE node.parent = ?1
       AND node.node_type = 'fact'
       AND EXISTS (
           SELECT 1
             FROM facet
            WHERE facet.key = 'archived' AND facet.value = 0 AND facet.node = node.key)
     ORDER BY node.position DESC, node.key DESC
     LIMIT ?2",
);

impl Batch<'_> {
    /// Returns the nodes of a type that have a value under a key, eldest first.
    pub(crate) fn with_facet(
        &self,
        node_type: NodeType,
        key: &str,
        value: &str,
    ) -> Result<Vec<NodeRecord>, StoreError> {
        self.with_any_facet(node_type, key, &[value])
    }

    /// Returns the number of nodes of a type that have a value under a key.
    pub(crate) fn count_with_facet(
        &self,
        node_type: NodeType,
        key: &str,
        value: &str,
    ) -> Result<u32, StoreError> {
        const COUNT: &str = "
            SELECT count(*)
              FROM facet
             CROSS JOIN facet AS of_type ON of_type.key = 'type'
                                        AND of_type.value = ?1
                                        AND of_type.node = facet.node
             WHERE facet.key = ?2 AND facet.value = ?3";
        let params = params![node_type.as_str(), key, value];
        self.tx.query_row(COUNT, params, |row| row.get(0)).doing("count nodes of knowledge")
    }

    /// Returns the nodes of a type that have one of some values under a key, eldest first.
    pub(crate) fn with_any_facet(
        &self,
        node_type: NodeType,
        key: &str,
        values: &[&str],
    ) -> Result<Vec<NodeRecord>, StoreError> {
        static FIND: SqlTemplate = SqlTemplate::new(
            "
            SELECT {record}
              FROM (SELECT DISTINCT facet.node AS found
                      FROM json_each(?3) AS wanted
                     CROSS JOIN facet ON facet.key = ?2 AND facet.value = wanted.value
                     CROSS JOIN facet AS of_type ON of_type.key = 'type'
                                                AND of_type.value = ?1
                                                AND of_type.node = facet.node
                     LIMIT ?4)
             CROSS JOIN node ON node.key = found
             ORDER BY node.key",
        );
        let values = serde_json::Value::from(values).to_string();
        let params = params![node_type.as_str(), key, values, FOUND_MAX];
        self.records(&FIND, params, "look up nodes of knowledge")
    }

    /// Returns the nodes with an edge of a type to one of some nodes, eldest first.
    pub(crate) fn with_edge_to(
        &self,
        targets: &[NodeId],
        link_type: &str,
    ) -> Result<Vec<NodeRecord>, StoreError> {
        static FIND: SqlTemplate = SqlTemplate::new(
            "
            SELECT {record}
              FROM (SELECT DISTINCT source AS found
                      FROM json_each(?1) AS wanted
                     CROSS JOIN typed_edge ON target = wanted.value AND typed_edge.type = ?2
                     LIMIT ?3)
             CROSS JOIN node ON node.key = found
             ORDER BY node.key",
        );
        let targets: Vec<String> = targets.iter().map(NodeId::to_string).collect();
        let params = params![serde_json::Value::from(targets).to_string(), link_type, FOUND_MAX];
        self.records(&FIND, params, "look up typed edges")
    }

    /// Returns the nodes of some ids, in their order; those that are not there are left out.
    pub(crate) fn nodes_of(&self, ids: &[&str]) -> Result<Vec<NodeRecord>, StoreError> {
        static FIND: SqlTemplate = SqlTemplate::new(
            "
            SELECT {record}
              FROM json_each(?1) AS wanted
             CROSS JOIN node ON node.id = wanted.value
             ORDER BY wanted.key",
        );
        self.records(&FIND, [serde_json::Value::from(ids).to_string()], "look up nodes")
    }

    /// Returns the nodes with an edge to a node.
    pub(crate) fn with_any_edge_to(&self, target: NodeId) -> Result<Vec<NodeRecord>, StoreError> {
        static FIND: SqlTemplate = SqlTemplate::new(
            "
            SELECT {record}
              FROM (SELECT DISTINCT source AS found FROM typed_edge WHERE target = ?1 LIMIT ?2)
             CROSS JOIN node ON node.key = found
             ORDER BY node.key",
        );
        self.records(&FIND, params![target.to_string(), FOUND_MAX], "look up typed edges")
    }

    /// Returns the newest facts of keys that are neither deleted nor replaced, eldest first: at
    /// most `n_new` more than a look-up returns.
    pub(crate) fn living_facts_of(
        &self,
        keys: &[&str],
        n_new: usize,
    ) -> Result<Vec<NodeRecord>, StoreError> {
        let n_max = n_new.saturating_add(FOUND_MAX as usize);
        let mut found = self.newest_living_with_keys(keys, None, n_max)?;
        found.retain(|it| it.node_type == NodeType::Fact);
        found.reverse();
        Ok(found)
    }

    /// Returns the newest nodes before one that have a key of facts and are neither deleted nor
    /// replaced, newest first.
    pub(crate) fn newest_living_with_keys(
        &self,
        keys: &[&str],
        before: Option<NodeRowId>,
        n_max: usize,
    ) -> Result<Vec<NodeRecord>, StoreError> {
        // Facts of earlier builds have no names; of them, those without an end have statements.
        static FIND: SqlTemplate = SqlTemplate::new(
            "
            SELECT {record}
              FROM (SELECT DISTINCT facet.node AS found
                      FROM json_each(?1) AS wanted
                     CROSS JOIN facet ON facet.key IN ('name', 'statement')
                                     AND facet.value = wanted.value
                                     AND facet.node < ?2
                     CROSS JOIN facet AS living ON living.key = 'archived'
                                               AND living.value = 0
                                               AND living.node = facet.node
                     ORDER BY found DESC
                     LIMIT ?3)
             CROSS JOIN node ON node.key = found
             ORDER BY node.key DESC",
        );
        let keys = serde_json::Value::from(keys).to_string();
        let before = before.map_or(i64::MAX, |it| it.0);
        self.records(&FIND, params![keys, before, limit(n_max)], "look up facts")
    }

    /// Returns the newest facts below nodes that are neither deleted nor replaced, at most `n_max`.
    pub(crate) fn living_facts_below(
        &self,
        clusters: &[NodeRowId],
        n_max: usize,
    ) -> Result<Vec<NodeRecord>, StoreError> {
        let limit = limit(n_max);
        let mut facts = Vec::new();
        for cluster in clusters {
            facts.append(&mut self.records(&NEWEST_FACTS, [cluster.0, limit], "look up facts")?);
        }
        if 1 < clusters.len() {
            // Each cluster counts positions by itself.
            facts.sort_by_key(|it| Reverse(it.key));
            facts.truncate(n_max);
        }
        Ok(facts)
    }

    /// Returns the texts of the newest facts below a node that are neither deleted nor replaced.
    pub(crate) fn texts_of_newest_facts(
        &self,
        cluster: NodeRowId,
        n_max: usize,
    ) -> Result<Vec<(NodeRowId, String)>, StoreError> {
        const TEXTS: &str = "
            SELECT node.key, node.content
              FROM node
             WHERE node.parent = ?1
               AND node.node_type = 'fact'
               AND EXISTS (
                   SELECT 1
                     FROM facet
                    WHERE facet.key = 'archived' AND facet.value = 0 AND facet.node = node.key)
             ORDER BY node.position DESC
             LIMIT ?2";
        let n_max = i64::try_from(n_max).unwrap_or(FOUND_MAX);
        let read = |row: &Row<'_>| Ok((NodeRowId(row.get(0)?), row.get(1)?));
        self.tx.rows(TEXTS, [cluster.0, n_max], read, "look up facts")
    }

    /// Returns the facts that this write added or changed, eldest first.
    pub(crate) fn facts_changed_by_this_write(&mut self) -> Result<Vec<NodeRecord>, StoreError> {
        static FIND: SqlTemplate = SqlTemplate::new(
            "
            SELECT {record}
              FROM (SELECT DISTINCT node_id FROM diff WHERE snapshot = ?1 AND op IN ('add', 'mod'))
             CROSS JOIN node ON node.id = node_id
             WHERE node.node_type = 'fact'
             ORDER BY node.key",
        );
        let snapshot = self.changed_snapshot().filter(|_| self.changes_facts);
        let Some(snapshot) = snapshot else { return Ok(Vec::new()) };
        self.record_waiting_inserts()?;
        self.records(&FIND, [snapshot], "look up changed nodes")
    }

    /// Returns the nodes with an edge of a type to what this write changed or removed, eldest
    /// first.
    pub(crate) fn with_edge_to_changed(
        &self,
        link_type: &str,
    ) -> Result<Vec<NodeRecord>, StoreError> {
        static FIND: SqlTemplate = SqlTemplate::new(
            "
            SELECT {record}
              FROM (SELECT DISTINCT source AS found
                      FROM diff
                     CROSS JOIN typed_edge ON target = node_id AND type = ?2
                     WHERE snapshot = ?1
                       AND op IN ('mod', 'rem'))
             CROSS JOIN node ON node.key = found
             ORDER BY node.key",
        );
        let snapshot = self.changed_snapshot().filter(|_| self.changes_known_nodes);
        let Some(snapshot) = snapshot else { return Ok(Vec::new()) };
        self.records(&FIND, params![snapshot, link_type], "look up typed edges")
    }

    /// Returns the nodes with an edge of a type to a node of a type that this write removed, eldest
    /// first.
    pub(crate) fn with_edge_to_forgotten(
        &self,
        node_type: NodeType,
        link_type: &str,
    ) -> Result<Vec<NodeRecord>, StoreError> {
        static FIND: SqlTemplate = SqlTemplate::new(
            "
            SELECT {record}
              FROM (SELECT DISTINCT source AS found
                      FROM diff
                     CROSS JOIN typed_edge ON target = node_id AND type = ?2
                     WHERE snapshot = ?1
                       AND op = 'rem'
                       AND old_type = ?3)
             CROSS JOIN node ON node.key = found
             ORDER BY node.key",
        );
        let Some(snapshot) = self.changed_snapshot().filter(|_| 0 < self.counts().removed) else {
            return Ok(Vec::new());
        };
        let params = params![snapshot, link_type, node_type.as_str()];
        self.records(&FIND, params, "look up typed edges")
    }

    /// Returns the open conflicts that dispute a fact which is over at a time, eldest first.
    pub(crate) fn conflicts_of_what_is_over(
        &self,
        at: UnixMillis,
    ) -> Result<Vec<NodeRecord>, StoreError> {
        static FIND: SqlTemplate = SqlTemplate::new(concat!(
            "
            SELECT {record}
              FROM facet AS state
             CROSS JOIN node ON node.key = state.node
             WHERE state.key = 'conflict'
               AND state.value = 'open'
               AND ",
            disputes_what_is_over!("state.node", "?1"),
            "
             ORDER BY node.key"
        ));
        self.records(&FIND, [at.0], "look for conflicts that have run out")
    }

    /// Returns the nodes that were imported, by the ids of their records.
    pub(crate) fn origins(&self) -> Result<Vec<(String, NodeId)>, StoreError> {
        const ORIGINS: &str = "
            SELECT json_extract(node.fields, '$.origin'), node.id
              FROM facet
             CROSS JOIN node ON node.key = facet.node
             WHERE facet.key = 'type'
               AND facet.value IN ('episode', 'concept', 'fact', 'conflict')
               AND json_type(node.fields, '$.origin') = 'text'";
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, String>(1)?));
        let all: Vec<(String, String)> =
            self.tx.rows(ORIGINS, [], read, "look for what was imported")?;
        let known = |(origin, id): (String, String)| Some((origin, NodeId::parse(&id)?));
        Ok(all.into_iter().filter_map(known).collect())
    }

    /// Returns how many episodes are not processed.
    pub(crate) fn n_pending(&self) -> Result<u64, StoreError> {
        const COUNT: &str = "SELECT count(*) FROM facet WHERE key = 'pending' AND value = 1";
        let read = |row: &Row<'_>| row.get::<_, i64>(0);
        self.tx.row(COUNT, [], read, "count pending episodes").map(i64::unsigned_abs)
    }

    /// Returns the newest snapshot; 0 before the first one.
    pub(crate) fn newest_snapshot(&self) -> Result<i64, StoreError> {
        const HEAD: &str = "
            SELECT ifnull((SELECT snapshot FROM cursor WHERE name = 'HEAD'), 0)";
        self.tx.row(HEAD, [], |row| row.get(0), "read HEAD")
    }

    /// Returns the last snapshot before this write that changed a node; 0 where none is known.
    pub(crate) fn last_change_before_this(&self, id: NodeId) -> Result<i64, StoreError> {
        const LAST: &str = "
            SELECT ifnull(max(snapshot), 0)
              FROM diff
             WHERE node_id = ?1
               AND op <> 'rank'
               AND snapshot < ifnull(?2, 9223372036854775807)";
        let params = params![id.to_string(), self.snapshot];
        self.tx.row(LAST, params, |row| row.get(0), "look for the last change")
    }
}

#[cfg(test)]
mod tests;
