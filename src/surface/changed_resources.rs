//! Changed resources: finds those whose content differs since the last check.
//!
//! Changes are read from the database rather than from the calls, so that commits of other
//! processes count, and writes without effect do not. A check costs one row while nothing has
//! changed.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::memory::typed::{CollectionName, CustomView};
use crate::memory::{Error, ReadOnlyMemory};
use crate::model::clock::UnixMillis;
use crate::store::StoreError;
use crate::store::reader::{ChangeDetectionCounters, Reader};

const GRAPH_URI: &str = "remindb://graph";
const SNAPSHOTS_URI: &str = "remindb://snapshots";
const TREE_URI: &str = "remindb://tree";
const FILES_URI: &str = "remindb://files";
const TEMPERATURE_URI: &str = "remindb://temperature";
const HEAT_URI: &str = "remindb://heat";
const TIMELINE_URI: &str = "remindb://timeline";

/// Resources of knowledge, each with the types of nodes that it shows.
const KNOWLEDGE: &[(&str, &[&str])] = &[
    ("remindb://review", &["episode", "concept", "topic", "entity", "conflict", "fact"]),
    ("remindb://topics", &["topic", "episode", "concept"]),
    ("remindb://concepts", &["concept"]),
    ("remindb://episodes", &["episode", "entity"]),
    ("remindb://entities", &["entity", "episode", "fact"]),
    ("remindb://conflicts", &["conflict", "fact", "concept"]),
    ("remindb://bootstrap", &["concept", "fact", "conflict", "episode", "topic", "entity"]),
    ("remindb://events", &["episode", "concept", "fact", "topic", "entity", "conflict"]),
];

/// Changed by a scan of the source folder that changed the memory; the scanner reports it.
pub(crate) const RESCAN_URI: &str = "remindb://rescan";
/// Changed by every log record; the log reports it.
pub(crate) const LOGS_URI: &str = "remindb://logs";

/// The URI of a resource that shows something else.
type ChangedUri = Cow<'static, str>;

/// The counters of the last check; `None` while nobody is subscribed.
#[derive(Debug, Default)]
pub(crate) struct ChangeWatch(Mutex<Option<LastSeenState>>);

/// The state of a memory at a look.
#[derive(Clone, Debug)]
struct LastSeenState {
    counters: ChangeDetectionCounters,
    /// Of each of [`CollectionName::ALL`].
    collections: [u64; CollectionName::ALL.len()],
    /// Of each custom view that can be read, by its URI.
    views: BTreeMap<String, u64>,
}

impl LastSeenState {
    /// Looks for the first time.
    fn new(reader: &Reader, now: UnixMillis) -> Result<LastSeenState, StoreError> {
        let mut collections = [0; CollectionName::ALL.len()];
        for (of, digest) in CollectionName::ALL.into_iter().zip(&mut collections) {
            *digest = of.digest(reader, now)?;
        }
        Ok(LastSeenState {
            counters: reader.change_counters()?,
            collections,
            views: views(reader)?,
        })
    }

    /// Looks again, and returns the resources that show something else than before.
    fn update(&mut self, reader: &Reader, now: UnixMillis) -> Result<Vec<ChangedUri>, StoreError> {
        let before = std::mem::replace(&mut self.counters, reader.change_counters()?);
        let mut changed: Vec<ChangedUri> = changed(reader, &before, &self.counters)?
            .into_iter()
            .map(ChangedUri::Borrowed)
            .collect();
        let is_written = !before.is_same_head(&self.counters);
        if is_written {
            changed.extend(changed_knowledge(reader, &before)?);
        }
        let is_read = before.heats != self.counters.heats;
        let is_redefined = before.views != self.counters.views;
        for (of, digest) in CollectionName::ALL.into_iter().zip(&mut self.collections) {
            if is_written || is_read {
                let before = std::mem::replace(digest, of.digest(reader, now)?);
                // What an access alone brings into another collection is no news.
                let is_told = is_written || of == CollectionName::Recent;
                changed.extend((is_told && before != *digest).then_some(of.uri().into()));
            }
        }
        if is_written || is_read || is_redefined {
            let before = std::mem::replace(&mut self.views, views(reader)?);
            if is_written || is_redefined {
                let uris: BTreeSet<&String> = before.keys().chain(self.views.keys()).collect();
                let differs = |it: &&String| before.get(*it) != self.views.get(*it);
                changed.extend(uris.into_iter().filter(differs).map(|it| it.clone().into()));
            }
        }
        Ok(changed)
    }
}

/// Returns the resources of knowledge that show something else.
fn changed_knowledge(
    reader: &Reader,
    before: &ChangeDetectionCounters,
) -> Result<impl Iterator<Item = ChangedUri>, StoreError> {
    // A history that was cut back does not say what went.
    let is_cut_back = !reader.has_gone_on_from(before)?;
    let types = reader.types_changed_since(before.head)?;
    let shows =
        move |of: &&(&str, &[&str])| is_cut_back || of.1.iter().any(|it| types.contains(*it));
    Ok(KNOWLEDGE.iter().filter(shows).map(|it| it.0.into()))
}

/// Returns what each custom view shows, as a number by its URI. A view that cannot be read shows
/// nothing that could change.
fn views(reader: &Reader) -> Result<BTreeMap<String, u64>, StoreError> {
    let views = CustomView::all(reader)?.into_iter();
    Ok(views.filter_map(|it| Some((it.uri(), it.digest(reader).ok()?))).collect())
}

impl ChangeWatch {
    /// Starts watching from now on, unless it has started.
    pub(crate) fn begin(&self, view: &ReadOnlyMemory) -> Result<(), Error> {
        // Nothing is read under the lock: reading may log, and a log is a resource.
        let now = view.now();
        let seen = view.read(|reader| LastSeenState::new(reader, now))?;
        self.lock().get_or_insert(seen);
        Ok(())
    }

    /// Starts watching; without success, changes before the first check go unnoticed.
    pub(super) fn begin_or_warn(&self, view: &ReadOnlyMemory) {
        if let Err(error) = self.begin(view) {
            log::warn!("the memory is not watched yet: {error}");
        }
    }

    /// Stops watching.
    pub(crate) fn end(&self) {
        *self.lock() = None;
    }

    /// Returns the resources that changed since the last check.
    pub(crate) fn changed_resources(
        &self,
        view: &ReadOnlyMemory,
    ) -> Result<Vec<ChangedUri>, Error> {
        let before = self.lock().clone();
        let now = view.now();
        let (seen, changed) = view.read(|reader| match before {
            None => Ok::<_, StoreError>((LastSeenState::new(reader, now)?, Vec::new())),
            Some(mut seen) => {
                let changed = seen.update(reader, now)?;
                Ok((seen, changed))
            }
        })?;
        *self.lock() = Some(seen);
        Ok(changed)
    }

    fn lock(&self) -> MutexGuard<'_, Option<LastSeenState>> {
        // A value that is replaced as a whole is whole at any time.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the resources that changed from `before` to `now`.
fn changed(
    reader: &Reader,
    before: &ChangeDetectionCounters,
    now: &ChangeDetectionCounters,
) -> Result<Vec<&'static str>, StoreError> {
    if before == now {
        return Ok(Vec::new());
    }
    let is_written = !before.is_same_head(now);
    let is_filed = before.files != now.files
        || is_written
            && (!reader.has_gone_on_from(before)? || reader.has_file_changes_since(before.head)?);
    let is_retold = is_written || before.oldest != now.oldest;
    let is_cooler = before.attended != now.attended && reader.has_cooling_nodes()?;
    let is_warmed = is_cooler || before.heats != now.heats;
    let rows = [
        // A new or deleted file may resolve or unresolve a reference.
        (GRAPH_URI, is_written || before.edges != now.edges || before.files != now.files),
        (SNAPSHOTS_URI, is_retold),
        (TIMELINE_URI, is_retold),
        (TREE_URI, is_written),
        (FILES_URI, is_filed),
        (TEMPERATURE_URI, is_warmed),
        // New nodes are among the counted.
        (HEAT_URI, is_warmed || is_written),
    ];
    Ok(rows.into_iter().filter(|(_, is_changed)| *is_changed).map(|(uri, _)| uri).collect())
}

#[cfg(test)]
mod tests;
