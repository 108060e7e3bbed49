//! Former ids: those of removed nodes, which a text gets that comes back.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use rusqlite::{Row, params};

use super::Batch;
use crate::model::identity::{ContentHash, NodeId};
use crate::model::tree::NodeType;
use crate::store::{NodeRecord, PreparedStatements, StoreError};

/// The place of a former id among those of its text, the best first: the latest compile, in the
/// order of documents by the files' paths.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FormerIdRank {
    /// The last snapshot of its compile, or the one of an agent's write; the largest number for
    /// this write.
    latest: Reverse<i64>,
    path: Option<String>,
    snapshot: Reverse<i64>,
    /// Removals are recorded from the end of a document, children before their parents.
    place: i64,
}

/// The former ids of a text that were not tried yet.
#[derive(Debug, Default)]
pub(super) struct FormerIds {
    all: BTreeMap<FormerIdRank, NodeId>,
    by_path: HashMap<String, BTreeMap<FormerIdRank, NodeId>>,
}

impl FormerIds {
    fn insert(&mut self, rank: FormerIdRank, id: NodeId) {
        if let Some(path) = rank.path.clone() {
            self.by_path.entry(path).or_default().insert(rank.clone(), id);
        }
        self.all.insert(rank, id);
    }

    /// Takes the best id for a text of the file at `path`: one that it had in that file, if there
    /// is one. An id may come twice.
    pub(super) fn take(&mut self, path: &str) -> Option<NodeId> {
        let own = self.by_path.get_mut(path).and_then(BTreeMap::pop_first);
        own.or_else(|| self.all.pop_first()).map(|(_, id)| id)
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
    ) -> Result<Vec<NodeId>, StoreError> {
        let rows = self.former_rows(node_type, hash, n_max)?;
        Ok(rows.into_iter().map(|it| it.1).collect())
    }

    /// Collects all former ids of a text; `None` without any.
    pub(super) fn all_former_ids(
        &self,
        (node_type, hash): (NodeType, ContentHash),
    ) -> Result<Option<FormerIds>, StoreError> {
        let mut ids = FormerIds::default();
        for (rank, id) in self.former_rows(node_type, hash, u32::MAX)? {
            ids.insert(rank, id);
        }
        Ok(Some(ids).filter(|it| !it.all.is_empty()))
    }

    /// Adds the id of a node that was just removed to those of its text, if they are known: they
    /// are not asked for again at each file of one template.
    pub(super) fn note_former_id(&mut self, old: &NodeRecord) -> Result<(), StoreError> {
        const PATH: &str = "SELECT path FROM file WHERE id = ?1";
        let Some(snapshot) = self.snapshot else { return Ok(()) };
        if !self.former.contains_key(&(old.node_type, old.content_hash)) {
            return Ok(());
        }
        let path = match old.place.file {
            Some(file) => self.tx.find(PATH, [file.0], |row| row.get(0), "read a file's path")?,
            None => None,
        };
        let (latest, snapshot) = (Reverse(i64::MAX), Reverse(snapshot));
        let rank = FormerIdRank { latest, path, snapshot, place: -self.next_seq };
        if let Some(ids) = self.former.get_mut(&(old.node_type, old.content_hash)) {
            ids.insert(rank, old.id);
        }
        Ok(())
    }

    fn former_rows(
        &self,
        node_type: NodeType,
        hash: ContentHash,
        n_max: u32,
    ) -> Result<Vec<(FormerIdRank, NodeId)>, StoreError> {
        // All slices of a compile have its time.
        const FORMER: &str = "
            SELECT node_id, latest, old_path, snapshot, place
              FROM (SELECT node_id, old_path, snapshot, iif(op = 'rem', -seq, seq) AS place,
                           iif(compile_root <> '' AND compile_root = ?4 AND created_at = ?5
                               OR snapshot = ?6,
                               9223372036854775807,
                               max(snapshot) OVER (
                                   PARTITION BY created_at,
                                                iif(compile_root = '', snapshot, compile_root)
                               )) AS latest
                      FROM diff
                      JOIN snapshot ON snapshot.id = diff.snapshot
                     WHERE old_hash = ?1
                       AND old_type = ?2)
             ORDER BY latest DESC, old_path, snapshot DESC, place
             LIMIT ?3";
        let (hash, node_type) = (hash.to_string(), node_type.as_str());
        let of = params![hash, node_type, n_max, self.compile_root, self.now.0, self.snapshot];
        let read = |row: &Row<'_>| {
            let (latest, path) = (Reverse(row.get(1)?), row.get(2)?);
            let (snapshot, place) = (Reverse(row.get(3)?), row.get(4)?);
            Ok((row.get(0)?, FormerIdRank { latest, path, snapshot, place }))
        };
        let rows: Vec<(String, FormerIdRank)> =
            self.tx.rows(FORMER, of, read, "search the history")?;
        let mut seen = HashSet::new();
        let known = rows.into_iter().filter_map(|(id, rank)| Some((rank, NodeId::parse(&id)?)));
        Ok(known.filter(|(_, id)| seen.insert(*id)).collect())
    }
}
