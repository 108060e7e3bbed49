//! Compares the schema with the one that was checked last, once per read and per write.
//!
//! While a process runs, another one may add a trigger, which acts on whatever is written, or
//! migrate the file for a newer build. Numbers in the file's header change with both: reading them
//! takes microseconds, and the whole schema is checked where they differ. Under the write lock,
//! nobody changes them after the look.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;

use super::{ErrorContext, StoreError, one, schema};

/// The header at the last check of the whole schema that succeeded.
#[derive(Debug, Default)]
pub(super) struct SchemaCheckCache(Mutex<Option<SchemaHeader>>);

/// The numbers of a file's header that change with its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SchemaHeader {
    /// SQLite's counter of changes of the schema.
    cookie: i64,
    user_version: i64,
    application_id: i64,
}

impl SchemaCheckCache {
    /// Refuses a file whose schema is not, or no longer, this build's; `path` is for the error.
    pub(super) fn check(&self, conn: &Connection, path: &Path) -> Result<(), StoreError> {
        let found = SchemaHeader::read(conn)?;
        // The header is replaced as a whole.
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *known() == Some(found) {
            return Ok(());
        }
        schema::check(conn, path)?;
        *known() = Some(found);
        Ok(())
    }
}

impl SchemaHeader {
    fn read(conn: &Connection) -> Result<SchemaHeader, StoreError> {
        let number = |pragma| one(conn, pragma).doing("read the schema version");
        Ok(SchemaHeader {
            cookie: number("PRAGMA schema_version")?,
            user_version: number("PRAGMA user_version")?,
            application_id: number("PRAGMA application_id")?,
        })
    }
}

#[cfg(test)]
mod tests;
