//! Read-only handles: a memory that can be queried without any effect on it.
//!
//! A [`ReadOnlyMemory`] can query the database on connections that SQLite opened read-only, read
//! the clock and the settings, and ask the process for its facts. It holds no way to write, to
//! warm a node, to take a lease or to make a snapshot, so nothing built on it can. None of its
//! files names anything that could; a test reads them.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use crate::maintenance::doctor;
use crate::model::clock::{Clock, UnixMillis};
use crate::model::heat::{HeatThresholds, LiveRatesReader};
use crate::store::reader::{IsCancelledFn, Reader};
use crate::store::{ReaderPool, StoreError};

/// A read-only handle on a memory: it warms no node and blocks nobody.
///
/// ```
/// # let folder = std::env::temp_dir().join(format!("remindb-look-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let memory = remindb::Memory::create(&folder.join("memory.db"))?;
/// let view = memory.read_only();
/// assert_eq!(view.resource("remindb://tree")?, r#"{"roots":[]}"#);
/// # drop((view, memory));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It cannot write, nor query as an agent does, which warms the nodes shown:
///
/// ```compile_fail,E0599
/// fn write(view: &remindb::ReadOnlyMemory) {
///     view.write(None, "text", remindb::AppendOrReplaceMode::Append);
/// }
/// ```
/// ```compile_fail,E0599
/// fn warm(view: &remindb::ReadOnlyMemory) {
///     view.search("text", None);
/// }
/// ```
#[derive(Clone)]
pub struct ReadOnlyMemory {
    readers: Arc<ReaderPool>,
    clock: Clock,
    rates: LiveRatesReader,
    process: Arc<dyn ServerStatus>,
    /// Whether nobody waits for what is read any more.
    is_over: IsCancelledFn,
}

/// A fact that the process knows and the database does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerFactKey<'a> {
    /// The space of a shared memory, and where its replica stands.
    Space,
    /// The latest scan of the source folder.
    Rescan,
    /// The latest log records.
    Logs,
    /// The clients that are attached, as a list.
    Sessions,
    /// All known clients, as a list.
    Clients,
    /// A client, by its hash.
    Client(&'a str),
    /// The log files of sessions, as a list.
    SessionLogs,
    /// A log file, by its session.
    SessionLogContents(&'a str),
}

/// The names that complete the URI of a resource: of clients, or of sessions with a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamesForUriCompletion {
    /// Clients, by their hashes.
    Clients,
    /// Sessions that have a log file.
    SessionLogs,
}

/// The read half of the state that a process keeps beside its memory.
pub(crate) trait ServerStatus: Send + Sync {
    /// Returns a fact in the layout of the clients; `None`: there is nothing of that name.
    ///
    /// # Errors
    ///
    /// The files that hold it cannot be read; the text gives the reason.
    fn fact(&self, fact: ServerFactKey<'_>) -> Result<Option<Value>, String>;

    /// Returns all names of a kind, in their order.
    fn names(&self, of: NamesForUriCompletion) -> Vec<String>;

    /// Returns whether the process only looks at a memory that others may serve.
    fn is_observer(&self) -> bool {
        false
    }
}

/// A process without state beside its memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NoServerStatus;

impl ServerStatus for NoServerStatus {
    fn fact(&self, fact: ServerFactKey<'_>) -> Result<Option<Value>, String> {
        Ok(match fact {
            ServerFactKey::Rescan => Some(serde_json::json!({
                "interval_s": 0,
                "last_meta": {
                    "run_at": 0, "error": "", "added": 0, "modified": 0, "removed": 0,
                    "purged_files": [],
                },
            })),
            ServerFactKey::Space => Some(Value::Null),
            ServerFactKey::Logs => Some(serde_json::json!({"records": [], "dropped": 0})),
            ServerFactKey::Sessions | ServerFactKey::Clients | ServerFactKey::SessionLogs => {
                Some(Value::Array(Vec::new()))
            }
            ServerFactKey::Client(_) | ServerFactKey::SessionLogContents(_) => None,
        })
    }

    fn names(&self, _: NamesForUriCompletion) -> Vec<String> {
        Vec::new()
    }
}

impl ReadOnlyMemory {
    pub(super) fn new(
        readers: Arc<ReaderPool>,
        clock: Clock,
        rates: LiveRatesReader,
        process: Arc<dyn ServerStatus>,
    ) -> ReadOnlyMemory {
        ReadOnlyMemory { readers, clock, rates, process, is_over: Arc::new(|| false) }
    }

    /// Opens the memory at `path` in a process that only reads it.
    ///
    /// # Errors
    ///
    /// There is no memory, or it is not of this build's schema.
    pub(crate) fn open(
        path: &Path,
        clock: Clock,
        rates: LiveRatesReader,
        process: Arc<dyn ServerStatus>,
    ) -> Result<ReadOnlyMemory, StoreError> {
        Ok(ReadOnlyMemory::new(Arc::new(ReaderPool::open(path)?), clock, rates, process))
    }

    /// Returns a handle whose long work ends soon after `is_over`.
    #[must_use]
    pub(crate) fn until(
        &self,
        is_over: impl Fn() -> bool + Send + Sync + 'static,
    ) -> ReadOnlyMemory {
        ReadOnlyMemory { is_over: Arc::new(is_over), ..self.clone() }
    }

    /// Runs all queries of `question` on one state of the memory.
    pub(crate) fn read<T, E: From<StoreError>>(
        &self,
        question: impl FnOnce(&Reader) -> Result<T, E>,
    ) -> Result<T, E> {
        self.readers.read(|reader| {
            reader.end_when(&self.is_over);
            reader.at_one_state(question)
        })
    }

    /// Runs the doctor; returns `None` when nobody waits for the report any more.
    pub(crate) fn examine(&self) -> Result<Option<doctor::DoctorReport>, StoreError> {
        doctor::examine_until(self.readers.current_path()?, &self.is_over)
    }

    /// Returns the full path of the database.
    pub(crate) fn path(&self) -> &Path {
        self.readers.path()
    }

    /// Returns the time.
    pub(crate) fn now(&self) -> UnixMillis {
        self.clock.now()
    }

    /// Returns the temperatures at which a node is called cold or hot.
    pub(crate) fn thresholds(&self) -> HeatThresholds {
        self.rates.get().thresholds()
    }

    /// Returns the facts of the process.
    pub(crate) fn process(&self) -> &dyn ServerStatus {
        &*self.process
    }
}
