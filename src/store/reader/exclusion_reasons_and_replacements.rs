//! The reasons why searches leave nodes out, and the nodes that took the place of replaced ones.
//!
//! An episode stands for the facts that it states. It is superseded or deleted once all of them
//! are.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Row, params};

use super::{NodeSummary, Reader, list};
use crate::model::clock::UnixMillis;
use crate::store::{ErrorContext, NodeRowId, PreparedStatements, StoreError};

const DELETED: &str = "deleted";
const MERGED: &str = "merged";
const SUPERSEDED: &str = "superseded";

/// Reasons why a node is left out; in SQL they are their numbers, from 1.
pub(crate) const LEFT_OUT_REASONS: [&str; 4] = ["archived", DELETED, MERGED, SUPERSEDED];

/// A node with the reason why it, or a fact that it states, is left out.
struct LeftOutNode {
    key: NodeRowId,
    /// The node itself, or the fact.
    node: NodeRowId,
    reason: Option<&'static str>,
}

impl Reader {
    /// Marks the nodes that searches leave out at a time with the reason: `archived`, `deleted`,
    /// `superseded` or `merged`; as `superseded` or `deleted` also the episodes that state nothing
    /// else.
    pub(crate) fn mark_left_out<'n>(
        &self,
        nodes: impl IntoIterator<Item = &'n mut NodeSummary>,
        at: UnixMillis,
    ) -> Result<(), StoreError> {
        let mut nodes: Vec<&mut NodeSummary> = nodes.into_iter().collect();
        let keys: Vec<NodeRowId> = nodes.iter().map(|it| it.key).collect();
        let reasons = reasons_by_node(&self.left_out_among(&keys, at)?);
        for node in &mut nodes {
            node.left_out_as = reasons.get(&node.key).copied();
        }
        Ok(())
    }

    /// Returns those nodes that were replaced at a time, each with what took its place: the nodes
    /// that replaced it or its facts one after another, and the episodes that state these.
    pub(crate) fn replacements_among(
        &self,
        nodes: &[NodeRowId],
        at: UnixMillis,
    ) -> Result<Vec<(NodeRowId, NodeRowId)>, StoreError> {
        const CHAINS: &str = "
            WITH RECURSIVE chain (start, key, id, node_type) AS (
                SELECT node.key, node.key, node.id, node.node_type
                  FROM json_each(?1) AS wanted
                 CROSS JOIN node ON node.key = wanted.value
                 UNION
                SELECT chain.start, next.key, next.id, next.node_type
                  FROM chain
                 CROSS JOIN node ON node.key = chain.key
                 CROSS JOIN node AS next
                         ON next.id = coalesce(json_extract(node.fields, '$.superseded_by'),
                                               json_extract(node.fields, '$.merged_into'))
                 UNION
                SELECT chain.start, next.key, next.id, next.node_type
                  FROM chain
                 CROSS JOIN typed_edge AS edge ON edge.target = chain.id
                                              AND edge.type = 'supersedes'
                 CROSS JOIN node AS next ON next.key = edge.source)
            SELECT start, key
              FROM chain
             WHERE key <> start
             UNION
            SELECT start, edge.source
              FROM chain
             CROSS JOIN typed_edge AS edge ON edge.target = chain.id AND edge.type = 'supports'
             WHERE key <> start AND node_type = 'fact'";
        let left_out = self.left_out_among(nodes, at)?;
        let reasons = reasons_by_node(&left_out);
        let is_replaced = |it: &&LeftOutNode| {
            reasons.get(&it.key).is_some_and(|it| [MERGED, SUPERSEDED].contains(it))
        };
        let replaced: Vec<&LeftOutNode> = left_out.iter().filter(is_replaced).collect();
        let starts: Vec<NodeRowId> = replaced.iter().map(|it| it.node).collect();
        if starts.is_empty() {
            return Ok(Vec::new());
        }
        let read = |row: &Row<'_>| Ok((NodeRowId(row.get(0)?), NodeRowId(row.get(1)?)));
        let chains: Vec<(NodeRowId, NodeRowId)> =
            self.all(CHAINS, [list(&starts)], read).doing("look for replacements")?;
        let pairs = |it: &LeftOutNode| -> Vec<(NodeRowId, NodeRowId)> {
            let by = chains.iter().filter(|(start, by)| *start == it.node && *by != it.key);
            by.map(|(_, by)| (it.key, *by)).collect()
        };
        let pairs: BTreeSet<(NodeRowId, NodeRowId)> =
            replaced.into_iter().flat_map(pairs).collect();
        Ok(pairs.into_iter().collect())
    }

    /// Returns those nodes that may be left out, and the facts that they state, with the reasons
    /// why they are at a time.
    fn left_out_among(
        &self,
        nodes: &[NodeRowId],
        at: UnixMillis,
    ) -> Result<Vec<LeftOutNode>, StoreError> {
        // Most nodes are passed over by their facets, without a look at their rows. A fact holds
        // until its time ends, even if its replacement is known.
        const LEFT_OUT: &str = "
            WITH said (key, node) AS (
                SELECT wanted.value, wanted.value
                  FROM json_each(?1) AS wanted
                 WHERE EXISTS (
                       SELECT 1
                         FROM facet
                        WHERE facet.key = 'archived'
                          AND facet.value = 1
                          AND facet.node = wanted.value)
                    OR EXISTS (
                       SELECT 1
                         FROM facet
                        WHERE facet.key = 'type'
                          AND facet.value = 'fact'
                          AND facet.node = wanted.value)
                 UNION ALL
                SELECT edge.source, fact.key
                  FROM json_each(?1) AS wanted
                 CROSS JOIN typed_edge AS edge ON edge.source = wanted.value
                                              AND edge.type = 'supports'
                 CROSS JOIN node AS fact ON fact.id = edge.target AND fact.node_type = 'fact')
            SELECT said.key, said.node,
                   CASE WHEN json_extract(n.fields, '$.deleted') THEN 2
                        WHEN json_type(n.fields, '$.merged_into') IS NOT NULL THEN 3
                        WHEN n.node_type <> 'fact'
                         AND json_type(n.fields, '$.superseded_by') IS NOT NULL
                         AND ifnull(json_extract(n.fields, '$.superseded_at') <= ?2, 1) THEN 4
                        WHEN n.node_type = 'fact'
                         AND json_type(n.fields, '$.superseded_by') IS NOT NULL
                         AND (json_type(n.fields, '$.valid_to') IS NULL
                           OR json_extract(n.fields, '$.valid_to') <= ?2
                           OR json_extract(n.fields, '$.valid_to')
                           <= json_extract(n.fields, '$.valid_from')) THEN 4
                        WHEN n.node_type = 'fact'
                         AND json_extract(n.fields, '$.valid_to') <= ?2
                         AND EXISTS (
                             SELECT 1
                               FROM typed_edge
                              WHERE typed_edge.target = n.id
                                AND typed_edge.type = 'supersedes') THEN 4
                        WHEN json_extract(n.fields, '$.archived') THEN 1
                        ELSE 0
                   END
              FROM said
             CROSS JOIN node AS n ON n.key = said.node
             WHERE json_valid(n.fields)";
        if !self.may_leave_out()? {
            return Ok(Vec::new());
        }
        let read = |row: &Row<'_>| {
            let number = usize::from(row.get::<_, u8>(2)?);
            let reason = number.checked_sub(1).and_then(|it| LEFT_OUT_REASONS.get(it)).copied();
            Ok(LeftOutNode { key: NodeRowId(row.get(0)?), node: NodeRowId(row.get(1)?), reason })
        };
        self.all(LEFT_OUT, params![list(nodes), at.0], read).doing("read why nodes are left out")
    }

    /// Returns whether a memory has anything that is left out now or with time.
    fn may_leave_out(&self) -> Result<bool, StoreError> {
        const ANY: &str = "
            SELECT 1 FROM facet WHERE key = 'archived' AND value = 1
             UNION ALL
            SELECT 1 FROM facet WHERE key = 'type' AND value = 'fact'
             LIMIT 1";
        self.conn.has(ANY, [], "look for what is left out")
    }
}

/// Returns the reason of each node that is left out: its own, else that of all facts it states,
/// of which `superseded` comes before `deleted`.
fn reasons_by_node(found: &[LeftOutNode]) -> BTreeMap<NodeRowId, &'static str> {
    let (own, stated): (Vec<&LeftOutNode>, Vec<&LeftOutNode>) =
        found.iter().partition(|it| it.node == it.key);
    let stale_as = |it: &LeftOutNode| it.reason.filter(|it| [DELETED, SUPERSEDED].contains(it));
    let standing: BTreeSet<NodeRowId> =
        stated.iter().filter(|it| stale_as(it).is_none()).map(|it| it.key).collect();
    let stale = stated.iter().filter(|it| !standing.contains(&it.key));
    let mut stale: Vec<(NodeRowId, &str)> =
        stale.filter_map(|it| Some((it.key, stale_as(it)?))).collect();
    // The last reason of a node counts.
    stale.sort_unstable();
    let mut reasons: BTreeMap<NodeRowId, &str> = stale.into_iter().collect();
    reasons.extend(own.iter().filter_map(|it| Some((it.key, it.reason?))));
    reasons
}
