//! Former ids: those of removed nodes, which a text gets that comes back.

use std::collections::{HashMap, HashSet};

use rusqlite::{Row, params};

use super::Batch;
use crate::model::identity::{ContentHash, NodeId};
use crate::model::tree::NodeType;
use crate::store::{PreparedStatements, StoreError};

/// An id that a text had, and the path of its node's file then.
pub(crate) struct FormerId {
    pub(crate) id: NodeId,
    path: Option<String>,
}

/// The former ids of a text that were not tried yet.
#[derive(Default)]
pub(super) struct FormerIds {
    /// The ids of each file, the best last.
    by_path: HashMap<String, Vec<NodeId>>,
    /// All of them, the best last.
    all: Vec<NodeId>,
}

impl FormerIds {
    /// Collects ids, of which the first is the best.
    pub(super) fn of(former: Vec<FormerId>) -> FormerIds {
        let mut ids = FormerIds::default();
        for FormerId { id, path } in former.into_iter().rev() {
            ids.all.push(id);
            if let Some(path) = path {
                ids.by_path.entry(path).or_default().push(id);
            }
        }
        ids
    }

    /// Takes the best id for a text of the file at `path`: one that it had in that file, if there
    /// is one. An id may come twice.
    pub(super) fn take(&mut self, path: &str) -> Option<NodeId> {
        self.by_path.get_mut(path).and_then(Vec::pop).or_else(|| self.all.pop())
    }
}

impl Batch<'_> {
    /// Returns the ids of nodes that had exactly this text earlier, latest first; at most `n_max`.
    ///
    /// Those of one compile are in document order by the files' paths, in however many slices it
    /// was written.
    pub(crate) fn former_ids(
        &self,
        node_type: NodeType,
        hash: ContentHash,
        n_max: u32,
    ) -> Result<Vec<FormerId>, StoreError> {
        // All slices of a compile have its time. Removals are recorded from the end of a document,
        // children before their parents.
        const FORMER: &str = "
            SELECT node_id, old_path
              FROM (SELECT snapshot, node_id, old_path, op, seq,
                           max(snapshot) OVER (
                               PARTITION BY created_at,
                                            iif(compile_root = '', snapshot, compile_root)
                           ) AS latest
                      FROM diff
                      JOIN snapshot ON snapshot.id = diff.snapshot
                     WHERE old_hash = ?1
                       AND old_type = ?2)
             ORDER BY latest DESC, old_path, snapshot DESC, iif(op = 'rem', -seq, seq)
             LIMIT ?3";
        let of = params![hash.to_string(), node_type.as_str(), n_max];
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let rows: Vec<(String, Option<String>)> =
            self.tx.rows(FORMER, of, read, "search the history")?;
        let mut seen = HashSet::new();
        let known = rows.into_iter().filter_map(|(id, path)| Some((NodeId::parse(&id)?, path)));
        let latest = known.filter(|(id, _)| seen.insert(*id));
        Ok(latest.map(|(id, path)| FormerId { id, path }).collect())
    }
}
