//! Open conflicts at a time: those that have run out, and the facts that are contested still.

use rusqlite::{Row, params};

use crate::model::clock::UnixMillis;
use crate::store::reader::{Reader, list};
use crate::store::{ErrorContext, NodeRowId, StoreError};

/// The condition that a node is not hidden and not over at a time.
macro_rules! stands_at {
    ($node:literal, $at:literal) => {
        concat!(
            "NOT EXISTS (
                 SELECT 1
                   FROM facet
                  WHERE facet.key = 'archived' AND facet.value = 1 AND facet.node = ",
            $node,
            ".key) AND ifnull(json_extract(",
            $node,
            ".fields, '$.valid_to') > ",
            $at,
            ", 1)"
        )
    };
}

/// The condition that a conflict disputes a fact that is over at a time.
macro_rules! disputes_what_is_over {
    ($conflict:literal, $at:literal) => {
        concat!(
            "EXISTS (
                 SELECT 1
                   FROM typed_edge AS of_over
                  CROSS JOIN node AS over ON over.id = of_over.target
                  WHERE of_over.source = ",
            $conflict,
            " AND of_over.type = 'disputes'
                  AND over.node_type = 'fact'
                  AND json_extract(over.fields, '$.valid_to') <= ",
            $at,
            ")"
        )
    };
}

pub(in crate::store) use disputes_what_is_over;

impl Reader {
    /// Returns the open conflicts that have run out at a time: statements are over by then, and at
    /// most one stands.
    pub(crate) fn lapsed_conflicts(&self, at: UnixMillis) -> Result<Vec<NodeRowId>, StoreError> {
        const LAPSED: &str = concat!(
            "
            SELECT state.node
              FROM facet AS state
             WHERE state.key = 'conflict'
               AND state.value = 'open'
               AND ",
            disputes_what_is_over!("state.node", "?1"),
            "
               AND (SELECT count(*)
                      FROM typed_edge AS edge
                     CROSS JOIN node AS statement ON statement.id = edge.target
                     WHERE edge.source = state.node
                       AND edge.type = 'disputes'
                       AND ",
            stands_at!("statement", "?1"),
            ") < 2
             ORDER BY state.node"
        );
        let read = |row: &Row<'_>| row.get(0).map(NodeRowId);
        self.all(LAPSED, [at.0], read).doing("look for conflicts that have run out")
    }

    /// Returns those facts that are contested at a time: another statement of an open conflict, not
    /// of low severity, stands then.
    pub(crate) fn contested_among(
        &self,
        facts: &[NodeRowId],
        at: UnixMillis,
    ) -> Result<Vec<NodeRowId>, StoreError> {
        const CONTESTED: &str = concat!(
            "
            SELECT DISTINCT fact.key
              FROM json_each(?1) AS wanted
             CROSS JOIN node AS fact ON fact.key = wanted.value
             CROSS JOIN typed_edge AS own ON own.target = fact.id AND own.type = 'disputes'
             CROSS JOIN facet AS state ON state.key = 'conflict'
                                      AND state.value = 'open'
                                      AND state.node = own.source
             CROSS JOIN node AS conflict ON conflict.key = own.source
             CROSS JOIN typed_edge AS edge ON edge.source = own.source
                                          AND edge.type = 'disputes'
                                          AND edge.target <> fact.id
             CROSS JOIN node AS other ON other.id = edge.target
             WHERE json_extract(conflict.fields, '$.severity') IS NOT 'low'
               AND ",
            stands_at!("other", "?2")
        );
        if facts.is_empty() {
            return Ok(Vec::new());
        }
        let read = |row: &Row<'_>| row.get(0).map(NodeRowId);
        self.all(CONTESTED, params![list(facts), at.0], read).doing("look for contested facts")
    }
}
