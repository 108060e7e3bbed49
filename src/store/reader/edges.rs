//! Edges: resolved references and the edges of knowledge, followed in either direction.

use rusqlite::{Row, params};

use super::{Reader, limit, list};
use crate::store::{ErrorContext, NodeRowId, StoreError};

/// The direction in which edges are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EdgeDirection {
    /// From source to target.
    Out,
    /// From target to source.
    In,
}

/// An edge between two nodes, in the direction followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Edge {
    pub(crate) from: NodeRowId,
    pub(crate) to: NodeRowId,
    /// Weight of the heaviest reference between the two, or strength of the edge.
    pub(crate) weight: f64,
}

impl Reader {
    /// Returns the edges of nodes, without those from a node to itself; at most `n_max`.
    pub(crate) fn edges(
        &self,
        of: &[NodeRowId],
        way: EdgeDirection,
        weight_min: f64,
        n_max: usize,
    ) -> Result<Vec<Edge>, StoreError> {
        const OUT: &str = "
            SELECT source, target, max(weight)
              FROM (SELECT reference.source, reference.target, reference.weight
                      FROM json_each(?1) AS wanted
                      JOIN reference ON reference.source = wanted.value
                     WHERE reference.target IS NOT NULL
                       AND reference.target <> reference.source
                       AND ?2 <= reference.weight
                     UNION ALL
                    SELECT edge.source, node.key, edge.strength
                      FROM json_each(?1) AS wanted
                     CROSS JOIN typed_edge AS edge ON edge.source = wanted.value
                     CROSS JOIN node ON node.id = edge.target
                     WHERE node.key <> edge.source
                       AND ?2 <= edge.strength
                     LIMIT ?3)
             GROUP BY source, target";
        const IN: &str = "
            SELECT target, source, max(weight)
              FROM (SELECT reference.source, reference.target, reference.weight
                      FROM json_each(?1) AS wanted
                      JOIN reference ON reference.target = wanted.value
                     WHERE reference.target <> reference.source
                       AND ?2 <= reference.weight
                     UNION ALL
                    SELECT edge.source, node.key, edge.strength
                      FROM json_each(?1) AS wanted
                     CROSS JOIN node ON node.key = wanted.value
                     CROSS JOIN typed_edge AS edge ON edge.target = node.id
                     WHERE edge.source <> node.key
                       AND ?2 <= edge.strength
                     LIMIT ?3)
             GROUP BY target, source";
        let read = |row: &Row<'_>| {
            let (from, to) = (NodeRowId(row.get(0)?), NodeRowId(row.get(1)?));
            Ok(Edge { from, to, weight: row.get(2)? })
        };
        let sql = if way == EdgeDirection::Out { OUT } else { IN };
        self.all(sql, params![list(of), weight_min, limit(n_max)], read).doing("follow edges")
    }
}
