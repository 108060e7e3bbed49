//! The database: the only module that knows SQL.
//!
//! One file, in WAL mode. [`Writer`] is the one connection of this process that writes;
//! [`reader::Reader`]s are connections that SQLite itself opened read-only. Everything that changes
//! the memory goes through [`Writer::write`]: one `BEGIN IMMEDIATE`, at most one snapshot, all or
//! nothing.

mod batch;
pub(crate) mod busy_handler;
pub(crate) mod checkpoint;
pub(crate) mod commit_outcome;
mod committed_wal_page_numbers;
pub(crate) mod connection;
pub(crate) mod damaged_wal_replay;
pub(crate) mod database_path_check;
#[cfg(test)]
pub(crate) mod database_version_testing;
mod descriptor_shortage;
mod error_advice;
pub(crate) mod file_identity_check;
pub(crate) mod hashes_before_repairs;
mod heat_rows;
mod heat_writer;
pub(crate) mod history_reader;
pub(crate) mod links;
mod lock_list;
mod missing_path;
mod moved_or_missing_database_messages;
pub(crate) mod node_columns;
pub(crate) mod node_insert;
pub(crate) mod past_states;
#[cfg(feature = "shared")]
mod portable_root_names;
mod prepared_statements;
#[cfg(target_os = "linux")]
mod readahead;
pub(crate) mod reader;
mod reader_pool;
pub(crate) mod record;
mod relaxed_durability_connection;
pub(crate) mod rename_noreplace;
pub(crate) mod replica_write_guard;
#[cfg(feature = "shared")]
pub(crate) mod replication;
mod replication_error;
pub(crate) mod schema;
mod schema_check_cache;
pub(crate) mod source_files;
pub(crate) mod unsafe_wal_open_refusal;
mod vector_writer;
mod work_leases;
pub(crate) mod write_lock_and_holder;
mod write_lock_waiter_signal;
mod writer;

use std::path::{Path, PathBuf};
use std::{fmt, io};

use rusqlite::Connection;
use rusqlite::types::FromSql;

pub(crate) use batch::{Batch, ChangedNodeCounts, ManualEdgeResolution, NewNode};
pub(crate) use batch::{
    FileNodeNames, NodeFacetSet, RequestReceipt, UnrelateOutcome, node_facet_set,
};
pub(crate) use database_path_check::{check_path, check_path_to_read};
use descriptor_shortage::{is_cause, with_cause};
use error_advice::ExternalErrorCause::{Refusal, State};
pub(crate) use error_advice::last_resort;
use error_advice::{advice, is_dangling, is_strange_value, schema_advice};
pub(crate) use heat_writer::{ColdNode, ColdNodesOffer, HeatIncrement, HeatWriter};
pub(crate) use history_reader::{
    ChangePosition, HistoryChange, HistoryExtent, NodeVersionWithoutText,
};
#[cfg(all(test, target_os = "linux"))]
pub(crate) use lock_list::locks_on;
pub(crate) use missing_path::is_missing;
pub(crate) use node_columns::{
    FIELDS, KEY_PATH, LANG, LEVEL, OptionalColumnValue, OptionalColumnValues,
};
pub(crate) use reader_pool::{ReaderPool, read_marked};
pub(crate) use record::{
    FileId, FileRow, ForgottenNodeTombstone, NearDuplicateCandidate, NodePlace, NodeRecord,
    NodeRowId, Root, RootId, UnplacedNodeData,
};
pub(crate) use vector_writer::VectorWriter;
pub(crate) use work_leases::{
    COMPILE_LEASE, ClaimableLeaseAge, LeaseInForce, LeaseManager, RESCAN_LEASE,
};
pub(crate) use writer::{CommitReport, Writer};
pub(crate) use {checkpoint::WriteAheadLog, prepared_statements::PreparedStatements};
pub use {replication_error::SharedError, write_lock_and_holder::LockHolder};

/// Returns the single value of a statement, which each connection prepares once.
fn one<T: FromSql>(conn: &Connection, sql: &'static str) -> rusqlite::Result<T> {
    conn.prepare_cached(sql)?.query_row([], |row| row.get(0))
}

/// An error of the database.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// SQLite refused a step. `doing` fits after "cannot".
    Sqlite {
        /// The step, as a verb phrase.
        doing: &'static str,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// Another process held the write lock for longer than this one waits.
    Locked {
        /// The step, as a verb phrase.
        doing: &'static str,
        /// The process.
        holder: LockHolder,
    },
    /// SQLite refused a commit so late that it may be kept after all.
    InDoubt {
        /// The step, as a verb phrase.
        doing: &'static str,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// The database does not exist and may not be created.
    Missing {
        /// The path without a database.
        path: PathBuf,
    },
    /// The system does not lead to what is at the path, or does not say whether anything is.
    Unreachable {
        /// The path.
        path: PathBuf,
        /// The symbolic link that leads nowhere, the path itself or its folder, and its target.
        link: Option<(PathBuf, PathBuf)>,
        /// The system's error.
        source: io::Error,
    },
    /// The database's folder does not exist.
    NoFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The file is not a memory: another program's database, or no database at all.
    Foreign {
        /// The file.
        path: PathBuf,
        /// The kind of file found instead, as a noun phrase.
        what: &'static str,
    },
    /// A file of the database was deleted, replaced or shortened while it was open.
    Moved {
        /// The database's path.
        path: PathBuf,
    },
    /// A write was committed to a file that was deleted, replaced or shortened meanwhile, and may
    /// be lost.
    Unkept {
        /// The database's path.
        path: PathBuf,
    },
    /// Another process has the database open, and its log or the log's index was deleted.
    Orphaned {
        /// The database.
        path: PathBuf,
        /// The file that was deleted.
        missing: PathBuf,
    },
    /// The database is an empty file, and its log is not.
    Emptied {
        /// The database.
        path: PathBuf,
        /// Its log.
        log: PathBuf,
    },
    /// The database is gone, and its log is not.
    Vanished {
        /// The database.
        path: PathBuf,
        /// Its log, which may lie beside a symbolic link to it.
        log: PathBuf,
    },
    /// A log lies beside a symbolic link to the database, where SQLite does not look for it.
    LogBesideLink {
        /// The symbolic link.
        link: PathBuf,
        /// The log beside it.
        log: PathBuf,
        /// The name at which SQLite looks for a log, and whether one is there or the database seems
        /// to be written after the log beside the link.
        expected: (PathBuf, bool),
    },
    /// The log, its index or the journal has a symbolic link in its place.
    LinkedLog {
        /// The name of the file.
        name: PathBuf,
    },
    /// The log, its index or the journal has something that is no file in its place.
    StrangeLog {
        /// The name of the file.
        name: PathBuf,
        /// The kind of thing found instead, as a noun phrase.
        what: &'static str,
    },
    /// The database has nothing yet, and the beginning of its log is damaged.
    Unread {
        /// The database.
        path: PathBuf,
        /// Its log.
        log: PathBuf,
    },
    /// The database took the place of another, whose log is still there.
    LogOfAnother {
        /// The database.
        path: PathBuf,
        /// The log of the former one.
        log: PathBuf,
    },
    /// SQLite would keep a database of this path in no file.
    Nowhere {
        /// The path.
        path: PathBuf,
    },
    /// The database has several hard links, each of which would have a log of its own.
    Linked {
        /// The database.
        path: PathBuf,
        /// The number of names.
        n_names: u64,
    },
    /// The database has a second name, under which a restore moves it aside, or did until it was
    /// interrupted.
    HalfRestored {
        /// The database.
        path: PathBuf,
        /// The second name.
        aside: PathBuf,
    },
    /// The database is mounted without its folder, so its log would be in another one.
    Mounted {
        /// The database.
        path: PathBuf,
    },
    /// The schema is not the one of its version: an object is foreign, altered or missing.
    SchemaMismatch {
        /// The file.
        path: PathBuf,
        /// The objects, as a list for a message.
        objects: String,
        /// Whether the doctor can restore it.
        is_restorable: bool,
    },
    /// The schema is newer than this build.
    TooNew {
        /// The file.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The newest version that this build knows.
        known: i64,
    },
    /// The schema is older than this build's, and reading does not change it.
    TooOld {
        /// The file.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The version that this build needs.
        needed: i64,
    },
    /// The rows contradict each other.
    Corrupt {
        /// The contradiction.
        what: String,
    },
    /// The memory is shared, and its log is not where it should be, or as it should be.
    Shared(SharedError),
    /// The linked SQLite is too old to be safe.
    OldSqlite {
        /// Its version.
        found: &'static str,
    },
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Sqlite { doing, source } => {
                write!(f, "cannot {doing}: {source}")?;
                match advice(source) {
                    Some((Refusal, advice)) => write!(f, "; nothing was changed; {advice}"),
                    Some((State, advice)) => write!(f, "; {advice}"),
                    None => Ok(()),
                }
            }
            StoreError::Locked { doing, holder } => write!(f, "cannot {doing}: {holder}"),
            StoreError::InDoubt { doing, source } => write!(
                f,
                "cannot {doing}: {source}; it may or may not be kept: look before you do it again"
            ),
            StoreError::Foreign { path, what } => write!(
                f,
                "`{}` is {what}, not a remindb memory; name another file with --db",
                path.display()
            ),
            StoreError::Missing { .. }
            | StoreError::Unreachable { .. }
            | StoreError::NoFolder { .. }
            | StoreError::Moved { .. }
            | StoreError::Unkept { .. }
            | StoreError::Orphaned { .. }
            | StoreError::Emptied { .. }
            | StoreError::Vanished { .. }
            | StoreError::LogBesideLink { .. }
            | StoreError::LinkedLog { .. }
            | StoreError::StrangeLog { .. }
            | StoreError::Unread { .. }
            | StoreError::LogOfAnother { .. }
            | StoreError::Nowhere { .. }
            | StoreError::Linked { .. }
            | StoreError::HalfRestored { .. }
            | StoreError::Mounted { .. } => self.fmt_identity(f),
            StoreError::SchemaMismatch { path, objects, is_restorable } => write!(
                f,
                "`{}` has another schema than remindb made ({objects}), so that whatever is read \
                 or written may be wrong; {}",
                path.display(),
                schema_advice(&path.display(), *is_restorable)
            ),
            StoreError::TooNew { path, found, known } => write!(
                f,
                "`{}` has schema {found}, newer than {known}, the newest this build knows; \
                 update the program",
                path.display()
            ),
            StoreError::TooOld { path, found, needed } => write!(
                f,
                "`{}` has schema {found}, and this build reads {needed}; `remindb doctor --fix` \
                 brings it up to date, and so does any command that opens it to write; a running \
                 server does not",
                path.display()
            ),
            StoreError::Corrupt { what } => {
                write!(f, "the database contradicts itself: {what}; run `remindb doctor`")
            }
            StoreError::Shared(error) => error.fmt(f),
            StoreError::OldSqlite { found } => write!(
                f,
                "linked with SQLite {found}, which can corrupt a database that several \
                 connections write; build with 3.51.3 or newer"
            ),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StoreError::Sqlite { source, .. } | StoreError::InDoubt { source, .. } => Some(source),
            StoreError::Shared(error) => Some(error),
            StoreError::Unreachable { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<SharedError> for StoreError {
    fn from(error: SharedError) -> StoreError {
        StoreError::Shared(error)
    }
}

impl StoreError {
    /// Returns whether another connection holds the lock, so that a later try may succeed.
    pub(crate) fn is_busy(&self) -> bool {
        match self {
            StoreError::Locked { .. } => true,
            StoreError::Sqlite { source, .. } => {
                source.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
            }
            _ => false,
        }
    }

    /// Returns whether the file or its rows are damaged.
    pub(crate) fn is_damage(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        match self {
            StoreError::Corrupt { .. } => true,
            StoreError::Sqlite { source, .. } => {
                is_strange_value(source)
                    || is_dangling(source)
                    || matches!(source.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
            }
            _ => false,
        }
    }

    /// Returns whether the system does not let this user read or write the file.
    pub(crate) fn is_forbidden(&self) -> bool {
        use rusqlite::ErrorCode::{CannotOpen, PermissionDenied, ReadOnly};
        match self {
            StoreError::Sqlite { source, .. } => {
                matches!(source.sqlite_error_code(), Some(CannotOpen | PermissionDenied | ReadOnly))
                    && !is_cause(source)
            }
            _ => false,
        }
    }

    /// Returns whether the system refused a step, which says nothing about the file.
    pub(crate) fn is_refusal(&self) -> bool {
        match self {
            StoreError::Sqlite { source, .. } => {
                matches!(advice(source), Some((Refusal, _)))
            }
            _ => false,
        }
    }

    /// Returns the text of an error after a change, without the claim that nothing was changed.
    pub(crate) fn after_a_change(&self) -> String {
        match self {
            StoreError::Sqlite { doing, source } => match advice(source) {
                Some((_, advice)) => format!("cannot {doing}: {source}; {advice}"),
                None => self.to_string(),
            },
            _ => self.to_string(),
        }
    }

    /// Returns whether the cause lies with the file or the system, where a person can act.
    pub(crate) fn is_outside(&self) -> bool {
        match self {
            StoreError::Sqlite { source, .. } => advice(source).is_some(),
            StoreError::InDoubt { .. }
            | StoreError::Locked { .. }
            | StoreError::Missing { .. }
            | StoreError::Unreachable { .. }
            | StoreError::Moved { .. }
            | StoreError::Unkept { .. }
            | StoreError::Orphaned { .. }
            | StoreError::Emptied { .. }
            | StoreError::Vanished { .. }
            | StoreError::LogBesideLink { .. }
            | StoreError::LinkedLog { .. }
            | StoreError::StrangeLog { .. }
            | StoreError::Unread { .. }
            | StoreError::LogOfAnother { .. }
            | StoreError::Linked { .. }
            | StoreError::HalfRestored { .. }
            | StoreError::Mounted { .. }
            | StoreError::Foreign { .. }
            | StoreError::TooNew { .. }
            | StoreError::TooOld { .. }
            | StoreError::Shared(_)
            | StoreError::SchemaMismatch { .. }
            | StoreError::Corrupt { .. } => true,
            _ => false,
        }
    }
}

/// Adds the name of the refused step to an error of SQLite, once, at the call.
pub(crate) trait ErrorContext<T> {
    fn doing(self, doing: &'static str) -> Result<T, StoreError>;
}

impl<T> ErrorContext<T> for rusqlite::Result<T> {
    fn doing(self, doing: &'static str) -> Result<T, StoreError> {
        self.map_err(|source| StoreError::Sqlite { doing, source: with_cause(source) })
    }
}

/// Whether opening may make a new database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IfMissing {
    Create,
    Refuse,
}

/// Returns the absolute path of a database, which stays good when the process changes its folder.
fn absolute_path(path: &Path) -> Result<PathBuf, StoreError> {
    let absolute = std::path::absolute(path);
    let absolute = absolute.map_err(|_| rusqlite::Error::InvalidPath(path.to_owned()));
    absolute.doing("find the folder of the database")
}

#[cfg(test)]
mod tests;
