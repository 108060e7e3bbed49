//! The database: the only module that knows SQL.
//!
//! One file, in WAL mode. [`Writer`] is the one connection of this process that writes;
//! [`reader::Reader`]s are connections that SQLite itself opened read-only. Everything that changes
//! the memory goes through [`Writer::write`]: one `BEGIN IMMEDIATE`, at most one snapshot, all or
//! nothing.

#[cfg(target_os = "linux")]
mod ahead;
mod batch;
mod checkpoint;
pub(crate) mod columns;
pub(crate) mod doctor;
pub(crate) mod files;
pub(crate) mod gc;
pub(crate) mod heal;
mod heat_rows;
mod history;
pub(crate) mod insert;
mod lease;
pub(crate) mod links;
pub(crate) mod moving;
pub(crate) mod past;
pub(crate) mod patience;
pub(crate) mod pragma;
mod prepared;
pub(crate) mod reader;
mod readers;
pub(crate) mod record;
pub(crate) mod redaction;
pub(crate) mod schema;
#[cfg(test)]
pub(crate) mod testing;
mod warmer;
mod whereabouts;
mod writer;

use std::fmt;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::types::FromSql;

pub(crate) use batch::{Batch, Counts, Edge, NewNode, Unrelated};
pub(crate) use checkpoint::Log;
pub(crate) use columns::{Attribute, Attributes, LANG};
pub(crate) use history::{Change, Moment, Side, Snapshots};
pub(crate) use lease::{Claim, Leases};
pub(crate) use prepared::Prepared;
pub(crate) use readers::Readers;
pub(crate) use record::{
    FileId, FileRow, Look, NodeData, NodeKey, NodeRecord, Place, Root, RootId, Tombstone,
};
pub(crate) use warmer::{ColdNode, Offer, Warmer, Warmth};
pub(crate) use writer::{Commit, Writer};

/// The one value that a statement gives, which is prepared once for each connection.
fn one<T: FromSql>(conn: &Connection, sql: &'static str) -> rusqlite::Result<T> {
    conn.prepare_cached(sql)?.query_row([], |row| row.get(0))
}

/// What can go wrong in the database.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// SQLite refused a step. `doing` fits after "cannot".
    Sqlite {
        /// The step, as a verb phrase.
        doing: &'static str,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The database does not exist, and was not to be made.
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The folder that the database should stand in does not exist.
    NoFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The file is there, but it is no memory: another program's database, or no database at all.
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        what: &'static str,
    },
    /// The file was deleted or replaced while it was open.
    Moved {
        /// Where it stood.
        path: PathBuf,
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
    /// The rows contradict each other.
    Corrupt {
        /// What does not fit.
        what: String,
    },
    /// The SQLite that this program was linked with is too old to be safe.
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
                    Some(advice) => write!(f, "; {advice}"),
                    None => Ok(()),
                }
            }
            StoreError::Missing { path } => write!(
                f,
                "no database at `{}`; make one with `remindb compile FOLDER --db {}`",
                path.display(),
                path.display()
            ),
            StoreError::NoFolder { path } => {
                write!(f, "no folder `{}` to keep the database in; make it first", path.display())
            }
            StoreError::Foreign { path, what } => write!(
                f,
                "`{}` is {what}, not a remindb memory; name another file with --db",
                path.display()
            ),
            StoreError::Moved { path } => write!(
                f,
                "`{}` was deleted or replaced while it was open; put it back, or start again",
                path.display()
            ),
            StoreError::TooNew { path, found, known } => write!(
                f,
                "`{}` has schema {found}, newer than {known}, the newest this build knows; \
                 update the program",
                path.display()
            ),
            StoreError::Corrupt { what } => {
                write!(f, "the database contradicts itself: {what}; run `remindb doctor`")
            }
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
            StoreError::Sqlite { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl StoreError {
    /// Whether another process or connection writes, and waiting would have helped.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(
            self,
            StoreError::Sqlite { source: rusqlite::Error::SqliteFailure(error, _), .. }
                if error.code == rusqlite::ErrorCode::DatabaseBusy
        )
    }

    /// Whether the cause lies with the file or the system, where a person can do something.
    pub(crate) fn is_outside(&self) -> bool {
        match self {
            StoreError::Sqlite { source, .. } => advice(source).is_some(),
            StoreError::Missing { .. } | StoreError::Moved { .. } | StoreError::Corrupt { .. } => {
                true
            }
            _ => false,
        }
    }
}

/// What to do about it, where the cause lies outside of the program.
fn advice(error: &rusqlite::Error) -> Option<&'static str> {
    use rusqlite::ErrorCode;
    match error.sqlite_error_code()? {
        ErrorCode::DatabaseCorrupt => Some(
            "the file is damaged: restore a backup with `remindb restore`, or read what can be \
             read with `remindb salvage`",
        ),
        ErrorCode::DatabaseBusy => {
            Some("another process has been writing for a long time; try again later")
        }
        ErrorCode::DiskFull => Some("nothing was changed; make room on the disk"),
        ErrorCode::SystemIoFailure => {
            Some("nothing was changed; is the disk full, or a file as large as it may get?")
        }
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen => {
            Some("nothing was changed; this user has to be able to write the file and its folder")
        }
        _ => None,
    }
}

/// Names the step that SQLite refused, once, at the call.
pub(crate) trait Doing<T> {
    fn doing(self, doing: &'static str) -> Result<T, StoreError>;
}

impl<T> Doing<T> for rusqlite::Result<T> {
    fn doing(self, doing: &'static str) -> Result<T, StoreError> {
        self.map_err(|source| StoreError::Sqlite { doing, source })
    }
}

/// Whether opening may make a new database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IfMissing {
    Create,
    Refuse,
}

/// Looks at the path before SQLite does, so that a mistyped one creates nothing.
pub(crate) fn check_path(path: &Path, if_missing: IfMissing) -> Result<(), StoreError> {
    let found = std::fs::metadata(path);
    match (found, if_missing) {
        (Ok(it), _) if it.is_dir() => {
            Err(StoreError::Foreign { path: path.to_owned(), what: "a folder" })
        }
        (Ok(_), _) => Ok(()),
        (Err(_), IfMissing::Refuse) => Err(StoreError::Missing { path: path.to_owned() }),
        (Err(_), IfMissing::Create) => {
            let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
            match folder {
                Some(folder) if !folder.is_dir() => {
                    Err(StoreError::NoFolder { path: folder.to_owned() })
                }
                _ => Ok(()),
            }
        }
    }
}

#[cfg(test)]
mod tests;
