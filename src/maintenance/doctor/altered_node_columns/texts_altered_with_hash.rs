//! Finds the nodes whose texts were altered together with their hashes: such a text is like an
//! agent's.
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

/// The rows that tell the hash which a text had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FormerHashWitness {
    /// A change, or the index of fields.
    Record,
    /// The hash of what the file said, and nothing else.
    File,
    /// The text of the file, which the history has as it does below an agent's words.
    KeptBase,
}

/// Holds the nodes whose texts may be others than at HEAD, with the hashes that they may have had.
#[derive(Default)]
pub(super) struct TextsAlteredWithHash(Vec<(FormerHashWitness, FormerColumnsHypothesis)>);

impl TextsAlteredWithHash {
    /// Compares the hash of every text with what other rows tell of it.
    pub(super) fn of(conn: &Connection) -> Result<TextsAlteredWithHash, StoreError> {
        let former = former_hashes(conn)?;
        let mut texts = Vec::new();
        if !former.is_empty() && !has_lost_snapshots(conn)? {
            PresentNode::each(conn, |node| {
                if let Some((witness, hash)) = former.get(&node.key) {
                    let states = vec![vec![(CONTENT_HASH, Some(hash.clone()))]];
                    texts.extend(node.hypotheses(states).into_iter().map(|it| (*witness, it)));
                }
                Ok(())
            })?;
        }
        Ok(TextsAlteredWithHash(texts))
    }

    /// Returns those that a change or the index of fields contradicts.
    pub(super) fn contradicted(&self) -> impl Iterator<Item = &FormerColumnsHypothesis> {
        self.of_witnesses(&[FormerHashWitness::Record])
    }

    /// Returns all of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &FormerColumnsHypothesis> {
        self.0.iter().map(|(_, it)| it)
    }

    /// Returns the sets that are believed together, the likelier ones first.
    pub(super) fn sets(&self) -> impl Iterator<Item = Vec<&FormerColumnsHypothesis>> {
        use FormerHashWitness::{File, KeptBase, Record};
        const SETS: [&[FormerHashWitness]; 4] =
            [&[Record], &[Record, File], &[Record, KeptBase], &[Record, File, KeptBase]];
        SETS.iter().map(|it| self.of_witnesses(it).collect())
    }

    fn of_witnesses<'a>(
        &'a self,
        witnesses: &'a [FormerHashWitness],
    ) -> impl Iterator<Item = &'a FormerColumnsHypothesis> {
        self.0.iter().filter(|(witness, _)| witnesses.contains(witness)).map(|(_, it)| it)
    }
}

/// Returns the hashes that texts may have had, other than the present ones, by node.
fn former_hashes(
    conn: &Connection,
) -> Result<HashMap<i64, (FormerHashWitness, String)>, StoreError> {
    const FORMER: &str = "
        WITH recorded AS (
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
              FROM node),
        former AS (
            SELECT node.key, hash IS NOT NULL AS is_recorded,
                   ifnull(hash, source_hash) AS hash,
                   source_hash IS ifnull(hash, source_hash)
                   AND source_hash IN (SELECT hash FROM blob) AS is_kept_base
              FROM recorded
              JOIN node ON node.key = recorded.key
             WHERE content_hash <> ifnull(hash, source_hash))
        SELECT key, hash, is_recorded, is_kept_base
          FROM former
         WHERE NOT is_kept_base
            OR hash IN (SELECT old_hash FROM diff WHERE old_hash IS NOT NULL)";
    let read = |row: &Row<'_>| {
        let witness = match (row.get(2)?, row.get(3)?) {
            (_, true) => FormerHashWitness::KeptBase,
            (true, false) => FormerHashWitness::Record,
            (false, false) => FormerHashWitness::File,
        };
        Ok((row.get(0)?, (witness, row.get(1)?)))
    };
    let former: Vec<(i64, (FormerHashWitness, String))> =
        conn.rows(FORMER, [], read, "compare texts with their latest changes")?;
    Ok(former.into_iter().collect())
}

/// Returns whether there were snapshots after the newest one.
fn has_lost_snapshots(conn: &Connection) -> Result<bool, StoreError> {
    const HAS_LOST: &str = "
        SELECT EXISTS (SELECT 1
                         FROM sqlite_sequence
                        WHERE name = 'snapshot' AND (SELECT max(id) FROM snapshot) < seq)";
    conn.row(HAS_LOST, [], |row| row.get(0), "compare the numbers of snapshots")
}
