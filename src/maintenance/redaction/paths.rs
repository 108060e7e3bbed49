//! Where things stand: paths of roots and files, now and in the history, and the breadcrumbs that
//! begin with them.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::params;

use super::RedactionWork;
use crate::model::breadcrumb;
use crate::store::{ErrorStep, StoreError};

impl RedactionWork<'_> {
    /// Scrubs the paths of roots and files. Returns the keys of files that have another one now.
    pub(super) fn paths(&mut self) -> Result<Vec<i64>, StoreError> {
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

    /// Snapshots name their root as it was called then.
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
        let mut query = self.tx.prepare(PATHS).doing("read the paths")?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
        let mut by_root: BTreeMap<Option<i64>, Vec<String>> = BTreeMap::new();
        for row in rows.doing("read the paths")? {
            let (root, path) = row.doing("read the paths")?;
            by_root.entry(root).or_default().push(path);
        }
        let mut changed = Vec::new();
        for (root, paths) in by_root {
            for (old, new) in self.scrub_paths(paths) {
                let row = params![root, old, new];
                let mut set = self.tx.prepare_cached(SET).doing("scrub a path")?;
                let files = set.query_map(row, |row| row.get::<_, i64>(0)).doing("scrub a path")?;
                for file in files {
                    changed.push(file.doing("scrub a path")?);
                }
                self.redaction.n_others += 1;
                self.tx.execute(SET_OLD, row).doing("scrub an old path")?;
            }
        }
        Ok(changed)
    }

    /// The paths that change, old and new. Two that become the same are told apart by a number.
    fn scrub_paths(&mut self, paths: Vec<String>) -> Vec<(String, String)> {
        let mut taken: BTreeSet<String> = paths.iter().cloned().collect();
        let mut changed = Vec::new();
        for old in paths {
            let Some((scrubbed, _)) = self.scrub(&old) else { continue };
            let mut new = scrubbed.clone();
            let mut nth = 1;
            while !taken.insert(new.clone()) {
                nth += 1;
                new = format!("{scrubbed} ({nth})");
            }
            changed.push((old, new));
        }
        changed
    }

    /// Makes the breadcrumbs anew below nodes and files that are called otherwise now.
    pub(super) fn breadcrumbs(
        &mut self,
        relabelled: Vec<i64>,
        restemmed: &[i64],
    ) -> Result<(), StoreError> {
        const TOP: &str = "
            SELECT node.key, file.path, node.trail
              FROM node
              JOIN file ON file.id = node.file
             WHERE node.parent IS NULL
               AND file.id = ?1";
        const BELOW: &str = "
            SELECT child.key, parent.trail, parent.label, child.trail
              FROM node AS child
              JOIN node AS parent ON parent.key = child.parent
             WHERE parent.key = ?1";
        let mut open: Vec<i64> = relabelled.into_iter().rev().collect();
        for file in restemmed {
            let mut query = self.tx.prepare_cached(TOP).doing("read the trails")?;
            let rows = query
                .query_map([file], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                .doing("read the trails")?;
            for row in rows.collect::<Result<Vec<_>, _>>().doing("read the trails")? {
                let (key, path, old): (i64, String, String) = row;
                if self.set_breadcrumb(key, &old, breadcrumb::root_breadcrumb(&path))? {
                    open.push(key);
                }
            }
        }
        while let Some(parent) = open.pop() {
            let mut query = self.tx.prepare_cached(BELOW).doing("read the trails")?;
            let rows = query
                .query_map([parent], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
                .doing("read the trails")?;
            for row in rows.collect::<Result<Vec<_>, _>>().doing("read the trails")? {
                let (key, above, label, old): (i64, String, String, String) = row;
                if self.set_breadcrumb(key, &old, breadcrumb::child_breadcrumb(&above, &label))? {
                    open.push(key);
                }
            }
        }
        Ok(())
    }

    /// Whether it changed.
    fn set_breadcrumb(
        &mut self,
        key: i64,
        old: &str,
        breadcrumb: String,
    ) -> Result<bool, StoreError> {
        const SET: &str = "UPDATE node SET trail = ?2 WHERE key = ?1";
        let breadcrumb = self.scrub(&breadcrumb).map_or(breadcrumb, |(scrubbed, _)| scrubbed);
        if breadcrumb == old {
            return Ok(false);
        }
        self.tx
            .prepare_cached(SET)
            .and_then(|mut it| it.execute(params![key, breadcrumb]))
            .doing("change a trail")?;
        Ok(true)
    }
}
