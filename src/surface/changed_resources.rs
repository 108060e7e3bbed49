//! Changed resources: finds those whose content differs since the last check.
//!
//! Changes are read from the database rather than from the calls, so that commits of other
//! processes count, and writes without effect do not. A check costs one row while nothing has
//! changed.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::memory::typed::Collection;
use crate::memory::{Error, Memory};
use crate::model::clock::Millis;
use crate::store::StoreError;
use crate::store::reader::{ChangeCounters, Reader};

const GRAPH: &str = "remindb://graph";
const SNAPSHOTS: &str = "remindb://snapshots";
const TREE: &str = "remindb://tree";
const FILES: &str = "remindb://files";
const TEMPERATURE: &str = "remindb://temperature";

/// Changed by a scan of the source folder that changed the memory; the scanner reports it.
pub(crate) const RESCAN: &str = "remindb://rescan";
/// Changed by every log record; the log reports it.
pub(crate) const LOGS: &str = "remindb://logs";

/// The counters of the last check; `None` while nobody is subscribed.
#[derive(Debug, Default)]
pub(crate) struct ChangeWatch(Mutex<Option<Seen>>);

/// The state of a memory at a look.
#[derive(Clone, Copy, Debug)]
struct Seen {
    counters: ChangeCounters,
    /// Of each of [`Collection::ALL`].
    collections: [u64; Collection::ALL.len()],
}

impl Seen {
    /// Looks for the first time.
    fn new(reader: &Reader, now: Millis) -> Result<Seen, StoreError> {
        let mut collections = [0; Collection::ALL.len()];
        for (of, digest) in Collection::ALL.into_iter().zip(&mut collections) {
            *digest = of.digest(reader, now)?;
        }
        Ok(Seen { counters: reader.change_counters()?, collections })
    }

    /// Looks again, and returns the resources that show something else than before.
    fn update(&mut self, reader: &Reader, now: Millis) -> Result<Vec<&'static str>, StoreError> {
        let before = std::mem::replace(&mut self.counters, reader.change_counters()?);
        let mut changed = changed(reader, &before, &self.counters)?;
        let is_written = before.head != self.counters.head;
        let is_read = before.heats != self.counters.heats;
        for (of, digest) in Collection::ALL.into_iter().zip(&mut self.collections) {
            if is_written || is_read {
                let before = std::mem::replace(digest, of.digest(reader, now)?);
                // What an access alone brings into another collection is no news.
                let is_told = is_written || of == Collection::Recent;
                changed.extend((is_told && before != *digest).then_some(of.uri()));
            }
        }
        Ok(changed)
    }
}

impl ChangeWatch {
    /// Starts watching from now on, unless it has started.
    pub(crate) fn begin(&self, memory: &Memory) -> Result<(), Error> {
        // Nothing is read under the lock: reading may log, and a log is a resource.
        let now = memory.clock().now();
        let seen = memory.read(|reader| reader.at_one_state(|it| Seen::new(it, now)))?;
        self.lock().get_or_insert(seen);
        Ok(())
    }

    /// Stops watching.
    pub(crate) fn end(&self) {
        *self.lock() = None;
    }

    /// Returns the resources that changed since the last check.
    pub(crate) fn changed_resources(&self, memory: &Memory) -> Result<Vec<&'static str>, Error> {
        let before = *self.lock();
        let now = memory.clock().now();
        let (seen, changed) = memory.read(|reader| {
            reader.at_one_state(|reader| match before {
                None => Ok::<_, StoreError>((Seen::new(reader, now)?, Vec::new())),
                Some(mut seen) => {
                    let changed = seen.update(reader, now)?;
                    Ok((seen, changed))
                }
            })
        })?;
        *self.lock() = Some(seen);
        Ok(changed)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Seen>> {
        // A value that is replaced as a whole is whole at any time.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the resources that changed from `before` to `now`.
fn changed(
    reader: &Reader,
    before: &ChangeCounters,
    now: &ChangeCounters,
) -> Result<Vec<&'static str>, StoreError> {
    if before == now {
        return Ok(Vec::new());
    }
    let is_written = before.head != now.head;
    let is_filed = before.files != now.files
        || is_written && (now.head < before.head || reader.has_file_changes_since(before.head)?);
    let is_cooler = before.attended != now.attended && reader.has_cooling_nodes()?;
    let rows = [
        // A new or deleted file may resolve or unresolve a reference.
        (GRAPH, is_written || before.edges != now.edges || before.files != now.files),
        (SNAPSHOTS, is_written || before.oldest != now.oldest),
        (TREE, is_written),
        (FILES, is_filed),
        (TEMPERATURE, is_cooler || before.heats != now.heats),
    ];
    Ok(rows.into_iter().filter(|(_, is_changed)| *is_changed).map(|(uri, _)| uri).collect())
}

#[cfg(test)]
mod tests;
