//! Scrubs paths of roots and files, now and in the history.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Row, params};

use super::{MemoryRedactor, breadcrumbs};
use crate::ingest::redact::number_redacted;
use crate::store::{ErrorContext, PreparedStatements, StoreError};

impl MemoryRedactor<'_> {
    /// Scrubs the paths of roots and files. Returns the keys of the renamed files.
    pub(super) fn scrub_all_paths(&mut self) -> Result<Vec<i64>, StoreError> {
        self.roots()?;
        self.compile_roots()?;
        self.files()
    }

    fn roots(&mut self) -> Result<(), StoreError> {
        const SET: &str = "UPDATE root SET path = ?2 WHERE path = ?1";
        let paths = self.distinct("SELECT path FROM root ORDER BY id")?;
        for (old, new) in self.scrub_paths(paths) {
            self.redaction.n_others +=
                self.tx.execute(SET, params![old, new]).doing("scrub a root's path")?;
        }
        Ok(())
    }

    /// Scrubs the root paths in snapshots, which name their root as of then.
    fn compile_roots(&mut self) -> Result<(), StoreError> {
        const SET: &str = "UPDATE snapshot SET compile_root = ?2 WHERE compile_root = ?1";
        let paths = self.distinct("SELECT DISTINCT compile_root FROM snapshot")?;
        for old in paths {
            if let Some((new, _)) = self.scrub(&old) {
                self.redaction.n_others +=
                    self.tx.execute(SET, params![old, new]).doing("scrub a snapshot's root")?;
            }
        }
        Ok(())
    }

    fn files(&mut self) -> Result<Vec<i64>, StoreError> {
        const PATHS: &str = "
            SELECT root, path FROM file
             UNION
            SELECT old_root, old_path FROM diff WHERE old_path IS NOT NULL
             ORDER BY 1, 2";
        const SET: &str = "UPDATE file SET path = ?3 WHERE root IS ?1 AND path = ?2 RETURNING id";
        const SET_OLD: &str =
            "UPDATE diff SET old_path = ?3 WHERE old_root IS ?1 AND old_path = ?2";
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let paths: Vec<(Option<i64>, String)> = self.tx.rows(PATHS, [], read, "read the paths")?;
        let mut by_root: BTreeMap<Option<i64>, Vec<String>> = BTreeMap::new();
        for (root, path) in paths {
            by_root.entry(root).or_default().push(path);
        }
        let mut changed = Vec::new();
        for (root, paths) in by_root {
            for (old, new) in self.scrub_paths(paths) {
                let row = params![root, old, new];
                let files: Vec<i64> = self.tx.rows(SET, row, |it| it.get(0), "scrub a path")?;
                changed.extend(files);
                self.redaction.n_others += 1;
                self.tx.execute(SET_OLD, row).doing("scrub an old path")?;
            }
        }
        Ok(changed)
    }

    /// Returns the paths that change, old and new. Numbers distinguish paths that become equal.
    fn scrub_paths(&mut self, paths: Vec<String>) -> Vec<(String, String)> {
        let mut taken: BTreeSet<String> = paths.iter().cloned().collect();
        let mut changed = Vec::new();
        for old in paths {
            let Some((scrubbed, _)) = self.scrub(&old) else { continue };
            let new = number_redacted(&scrubbed, |it| taken.insert(it.to_owned()));
            changed.push((old, new));
        }
        changed
    }

    /// Updates the breadcrumbs below renamed nodes and files.
    pub(super) fn update_breadcrumbs(
        &mut self,
        relabelled: Vec<i64>,
        restemmed: &[i64],
    ) -> Result<(), StoreError> {
        let tx = self.tx;
        let mut scrub = |it: &str| self.scrub(it).map(|(scrubbed, _)| scrubbed);
        breadcrumbs::update(tx, relabelled, restemmed, &mut scrub).map(drop)
    }
}
