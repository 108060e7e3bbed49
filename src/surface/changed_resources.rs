//! What of a memory changed since the last look, as the resources that show it.
//!
//! It is read off the database and not off the calls, so that what another process commits counts,
//! and a write that changed nothing does not. A look costs one row while nothing has changed.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::memory::{Error, Memory};
use crate::store::StoreError;
use crate::store::reader::{ChangeCounters, Reader};

const GRAPH: &str = "remindb://graph";
const SNAPSHOTS: &str = "remindb://snapshots";
const TREE: &str = "remindb://tree";
const FILES: &str = "remindb://files";
const TEMPERATURE: &str = "remindb://temperature";

/// Changes when a scan of the source folder changed the memory: who scans says so.
pub(crate) const RESCAN: &str = "remindb://rescan";
/// Changes with every record: who keeps them says so.
pub(crate) const LOGS: &str = "remindb://logs";

/// What was seen at the last look; nothing while nobody wants to know.
#[derive(Debug, Default)]
pub(crate) struct ChangeWatch(Mutex<Option<ChangeCounters>>);

impl ChangeWatch {
    /// What happens from here on counts, unless it does already.
    pub(crate) fn begin(&self, memory: &Memory) -> Result<(), Error> {
        // Nothing is read under the lock: reading may log, and a log is a resource.
        let now = memory.read(Reader::change_counters)?;
        self.lock().get_or_insert(now);
        Ok(())
    }

    /// What happened until now, and what happens from here on, is nothing to anybody.
    pub(crate) fn end(&self) {
        *self.lock() = None;
    }

    /// The resources that show something else than at the last look.
    pub(crate) fn changed_resources(&self, memory: &Memory) -> Result<Vec<&'static str>, Error> {
        let before = *self.lock();
        let (now, changed) = memory.read(|reader| {
            reader.at_one_state(|reader| {
                let now = reader.change_counters()?;
                let changed = before.map(|before| changed(reader, &before, &now)).transpose()?;
                Ok::<_, StoreError>((now, changed.unwrap_or_default()))
            })
        })?;
        *self.lock() = Some(now);
        Ok(changed)
    }

    fn lock(&self) -> MutexGuard<'_, Option<ChangeCounters>> {
        // A value that is replaced as a whole is whole at any time.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The resources that show something else after `now` than after `before`.
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
        // A file that comes or goes may be what a reference waits for.
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
