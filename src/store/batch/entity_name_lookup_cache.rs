//! The names of the entities of a memory, read at once by a write that looks up many.
//!
//! A text has some forty runs of words that may be names, of which hardly one is known. Each is a
//! look into the facets; those of a whole changeset cost more than reading all names. What one
//! write has read is kept for the next one, as long as no other process writes in between.

use std::collections::HashSet;

use rusqlite::Row;

use super::Batch;
use crate::store::{PreparedStatements, StoreError};

/// Names that are looked up one by one before all are read for the first time.
const LOOKED_UP_MIN: usize = 512;

/// Names that take as long to read as one takes to be looked up, or fewer.
const READ_PER_LOOK_UP: usize = 8;

/// Names of an unusually large memory, which are never read at once.
const READ_MAX: usize = 1 << 16;

/// Names that are kept for the next write, at most.
const KEPT_MAX: usize = 1 << 14;

/// The names of entities in the memory that a write knows.
#[derive(Debug)]
pub(super) enum KnownEntityNames {
    /// Nothing. `n_looked_up` were looked up so far; from `n_due` on, all are read.
    Unread { n_looked_up: usize, n_due: usize },
    /// All of them, and perhaps some that a write took back.
    All(HashSet<String>),
}

/// The names of entities that a write knew at its end, and the state that they are of.
#[derive(Debug)]
pub(in crate::store) struct EntityNamesAtHead {
    version: EntityNameCacheVersion,
    names: HashSet<String>,
}

/// The snapshot of HEAD, the fingerprint of the state, and the number that grows with each repair
/// and restore: those tell of every change of the nodes' names.
type EntityNameCacheVersion = (i64, i64, i64);

impl Default for KnownEntityNames {
    fn default() -> KnownEntityNames {
        KnownEntityNames::Unread { n_looked_up: 0, n_due: LOOKED_UP_MIN }
    }
}

impl KnownEntityNames {
    /// Adds a name that a node was given.
    pub(super) fn add(&mut self, name: &str) {
        if let KnownEntityNames::All(names) = self {
            names.insert(name.to_owned());
        }
    }
}

impl Batch<'_> {
    /// Takes up the names that the write before knew, if nobody else has written since.
    pub(in crate::store) fn take_up_names(
        &mut self,
        kept: Option<EntityNamesAtHead>,
    ) -> Result<(), StoreError> {
        if let Some(EntityNamesAtHead { version, names }) = kept
            && self.name_cache_version()? == Some(version)
        {
            self.known_names = KnownEntityNames::All(names);
        }
        Ok(())
    }

    /// Returns the names that a finished write knows, for the next one.
    pub(in crate::store) fn names_for_next_write(
        &mut self,
    ) -> Result<Option<EntityNamesAtHead>, StoreError> {
        Ok(match std::mem::take(&mut self.known_names) {
            KnownEntityNames::All(names) if names.len() <= KEPT_MAX => {
                self.name_cache_version()?.map(|version| EntityNamesAtHead { version, names })
            }
            _ => None,
        })
    }

    fn name_cache_version(&self) -> Result<Option<EntityNameCacheVersion>, StoreError> {
        const HEAD: &str = "
            SELECT cursor.snapshot, memory.fingerprint, pulse.views
              FROM cursor, memory, pulse
             WHERE cursor.name = 'HEAD'";
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        self.tx.find(HEAD, [], read, "read HEAD")
    }

    /// Returns those of some names that the memory may have.
    pub(crate) fn possibly_known(&mut self, names: Vec<String>) -> Result<Vec<String>, StoreError> {
        const NAMES: &str =
            "SELECT DISTINCT value FROM facet WHERE key = 'name' AND '' <= value LIMIT ?1";
        if let KnownEntityNames::Unread { n_looked_up, n_due } = &mut self.known_names {
            *n_looked_up += names.len();
            if *n_looked_up < *n_due {
                return Ok(names);
            }
            let n_max = (*n_looked_up * READ_PER_LOOK_UP).min(READ_MAX);
            *n_due = *n_looked_up * 2;
            let limit = i64::try_from(n_max).unwrap_or(i64::MAX);
            let all: Vec<String> =
                self.tx.rows(NAMES, [limit], |row| row.get(0), "read all names")?;
            if all.len() < n_max {
                self.known_names = KnownEntityNames::All(all.into_iter().collect());
            }
        }
        Ok(match &self.known_names {
            KnownEntityNames::Unread { .. } => names,
            KnownEntityNames::All(known) => {
                names.into_iter().filter(|it| known.contains(it)).collect()
            }
        })
    }
}
