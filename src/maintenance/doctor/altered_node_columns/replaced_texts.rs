//! Texts that were altered together with their hashes: such a text is like an agent's.
//!
//! The latest change of a node has the hash of the text that it gave it. Where the history was
//! collected, the index of fields may have it, and a file's text has that of what the file said. An
//! agent's words whose change is lost look the same, so that HEAD's fingerprint has to prove it.
//!
//! A history that is older than the nodes would prove the base below such words. So nothing is
//! believed where snapshots were lost, or of a node whose base the history has for no change of it.

use std::collections::HashMap;

use rusqlite::{Connection, Row};

use super::former_value_candidates::CONTENT_HASH;
use super::{FormerColumnsHypothesis, PresentNode};
use crate::store::{PreparedStatements, StoreError};

/// The nodes whose texts may be others than at HEAD, each with the hash that it may have had.
#[derive(Default)]
pub(super) struct ReplacedTexts {
    /// Nodes of which a change or the index of fields tells.
    pub(super) told: Vec<FormerColumnsHypothesis>,
    /// Nodes of which nothing tells but the hash of what their file said.
    of_files: Vec<FormerColumnsHypothesis>,
    /// Nodes with the former text of their file, which the history has below an agent's words.
    doubtful: Vec<FormerColumnsHypothesis>,
}

impl ReplacedTexts {
    /// Compares the hash of every text with what other rows tell of it.
    pub(super) fn of(conn: &Connection) -> Result<ReplacedTexts, StoreError> {
        const FORMER: &str = "
            WITH told AS (
                SELECT key,
                       coalesce((SELECT new_hash
                                   FROM diff
                                  WHERE node_id = node.id
                                  ORDER BY snapshot DESC, seq DESC
                                  LIMIT 1),
                                (SELECT value
                                   FROM facet
                                  WHERE facet.key = 'content_hash' AND facet.node = node.key
                                    AND typeof(value) = 'text')) AS hash
                  FROM node)
            SELECT node.key, ifnull(hash, source_hash), hash IS NOT NULL,
                   source_hash IS ifnull(hash, source_hash)
                   AND source_hash IN (SELECT hash FROM blob)
              FROM told
              JOIN node ON node.key = told.key
             WHERE content_hash <> ifnull(hash, source_hash)
               AND NOT (source_hash IS ifnull(hash, source_hash)
                        AND source_hash IN (SELECT hash FROM blob)
                        AND source_hash NOT IN (SELECT old_hash FROM diff
                                                 WHERE old_hash IS NOT NULL))";
        const HAS_LOST_SNAPSHOTS: &str = "
            SELECT EXISTS (SELECT 1 FROM sqlite_sequence
                            WHERE name = 'snapshot'
                              AND (SELECT max(id) FROM snapshot) < seq)";
        let read = |row: &Row<'_>| Ok((row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?)));
        let former: Vec<(i64, (String, bool, bool))> =
            conn.rows(FORMER, [], read, "compare texts with their latest changes")?;
        let former: HashMap<i64, (String, bool, bool)> = former.into_iter().collect();
        let mut replaced = ReplacedTexts::default();
        let is_history_older = || {
            conn.row(HAS_LOST_SNAPSHOTS, [], |row| row.get(0), "compare the numbers of snapshots")
        };
        if former.is_empty() || is_history_older()? {
            return Ok(replaced);
        }
        PresentNode::each(conn, |node| {
            let Some((hash, is_told, is_doubtful)) = former.get(&node.key) else { return Ok(()) };
            let kind = match (is_doubtful, is_told) {
                (true, _) => &mut replaced.doubtful,
                (false, true) => &mut replaced.told,
                (false, false) => &mut replaced.of_files,
            };
            kind.extend(node.hypotheses(vec![vec![(CONTENT_HASH, Some(hash.clone()))]]));
            Ok(())
        })?;
        Ok(replaced)
    }

    /// Returns all of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &FormerColumnsHypothesis> {
        self.told.iter().chain(&self.of_files).chain(&self.doubtful)
    }

    /// Returns the sets that are believed together, the likelier ones first.
    pub(super) fn sets(&self) -> [Vec<&FormerColumnsHypothesis>; 4] {
        let ReplacedTexts { told, of_files, doubtful } = self;
        let (none, all): (&[_], &[_]) = (&[], doubtful);
        [(none, none), (&of_files[..], none), (none, all), (&of_files[..], all)]
            .map(|(files, doubtful)| told.iter().chain(files).chain(doubtful).collect())
    }
}
