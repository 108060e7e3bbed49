//! Connections beside the writer's, for data that may be lost with the power.
//!
//! They do not wait for the disk. The schema is checked in each transaction, as the writer's is;
//! the files are when one opens, and by its users before each piece of work.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::file_identity_check::OpenedFiles;
use super::{ErrorContext, StoreError, connection, schema};

/// A connection beside the writer's that does not wait for the disk.
pub(super) struct RelaxedDurabilityConnection {
    conn: Connection,
    opened_files: Arc<OpenedFiles>,
}

impl RelaxedDurabilityConnection {
    /// Opens a connection to the database whose files this process has open. It waits for others no
    /// longer than `wait`.
    pub(super) fn open(
        path: &Path,
        opened_files: &Arc<OpenedFiles>,
        wait: Duration,
    ) -> Result<RelaxedDurabilityConnection, StoreError> {
        opened_files.check()?;
        let conn = connection::open_beside(path, wait)?;
        schema::check(&conn, path)?;
        Ok(RelaxedDurabilityConnection { conn, opened_files: Arc::clone(opened_files) })
    }

    /// Begins a transaction that writes, in a schema that was checked.
    pub(super) fn begin_write(&self, doing: &'static str) -> Result<Transaction<'_>, StoreError> {
        // Another writer often has the lock, and callers try again; so the holder is not looked up.
        let begun = Transaction::new_unchecked(&self.conn, TransactionBehavior::Immediate);
        let tx = begun.doing(doing)?;
        self.opened_files.check_schema(&tx)?;
        Ok(tx)
    }
}

impl Deref for RelaxedDurabilityConnection {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.conn
    }
}

impl DerefMut for RelaxedDurabilityConnection {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.conn
    }
}

impl Drop for RelaxedDurabilityConnection {
    fn drop(&mut self) {
        self.opened_files.leave(&self.conn);
    }
}
