//! Opens connections, with every setting that this room's promises rest on.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, Transaction};

use super::write_lock_and_holder::name_stopped;
use super::{
    ErrorContext, IfMissing, StoreError, busy_handler, check_path, check_path_to_read, schema,
    unsafe_wal_open_refusal,
};

/// Page cache of the writing connection in KiB: while many nodes are inserted, and otherwise.
const CACHE_OF_MANY_KIB: i64 = 20 * 1024;
const CACHE_KIB: i64 = 8 * 1024;

/// Page cache of a connection that reads or warms, in KiB: enough for one question.
///
/// A commit empties the caches of all other connections, so a larger one would mostly be filled and
/// thrown away, which takes longer than reading the pages again.
const CACHE_BESIDE_KIB: i64 = 256;

/// Bytes of the log that stay when it begins anew: a large write leaves a large log.
const LOG_BYTES_MAX: i64 = 8 * 1024 * 1024;

/// Bytes of the largest value that is written or read: the text of one node.
const VALUE_BYTES_MAX: i32 = 512 * 1024 * 1024;

/// Prepared statements that a connection keeps.
const STATEMENTS_MAX: usize = 128;

/// Tries to switch to WAL while other processes open the same new file.
const WAL_TRIES_MAX: usize = 100;

/// Opens the writing connection, creating and migrating the file as needed.
pub(crate) fn open_writer(path: &Path, if_missing: IfMissing) -> Result<Connection, StoreError> {
    writer_at(path, if_missing).map_err(|error| name_stopped(error, path))
}

fn writer_at(path: &Path, if_missing: IfMissing) -> Result<Connection, StoreError> {
    let mut conn = open_to_write(path, if_missing, busy_handler::LONG)?;
    schema::check_is_ours(&conn, path)?;
    switch_to_wal(&conn)?;
    // An acknowledged write survives a loss of power, not only of the process.
    set_up_writer(&conn, "FULL")?;
    schema::migrate(&mut conn, path)?;
    schema::drop_statistics(&conn)?;
    Ok(conn)
}

/// Opens a writing connection to a memory of this build's schema version, for a process that must
/// not wait: neither for others longer than `wait`, nor for the disk. Its writes stay in the log
/// until another connection copies them into the file, or it calls [`copy_log_on_close`].
pub(super) fn open_hasty_writer(path: &Path, wait: Duration) -> Result<Connection, StoreError> {
    let conn = open_to_write(path, IfMissing::Refuse, wait)?;
    schema::check(&conn, path)?;
    set_up_writer(&conn, "NORMAL")?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        .map(drop)
        .doing("leave the log as it is")?;
    Ok(conn)
}

/// Makes the connection copy the log into the file when it is the last one to close.
pub(super) fn copy_log_on_close(conn: &Connection) {
    if let Err(error) = conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false) {
        log::warn!("cannot shorten the log: {error}");
    }
}

fn open_to_write(
    path: &Path,
    if_missing: IfMissing,
    wait: Duration,
) -> Result<Connection, StoreError> {
    schema::check_sqlite()?;
    check_path(path, if_missing)?;
    unsafe_wal_open_refusal::check(path)?;
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if if_missing == IfMissing::Create {
        create_private(path);
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    let mut conn = Connection::open_with_flags(path, flags).doing("open the database")?;
    busy_handler::set_busy_timeout(&mut conn, wait)?;
    distrust(&conn)?;
    prepare_once(&conn)?;
    Ok(conn)
}

fn set_up_writer(conn: &Connection, durability: &str) -> Result<(), StoreError> {
    conn.pragma_update(None, "synchronous", durability).doing("set the level of durability")?;
    conn.pragma_update(None, "foreign_keys", true).doing("turn foreign keys on")?;
    conn.pragma_update(None, "temp_store", "MEMORY").doing("keep temporary tables in memory")?;
    set_cache(conn, CACHE_KIB)?;
    conn.pragma_update_and_check(None, "journal_size_limit", LOG_BYTES_MAX, |_| Ok(()))
        .doing("limit the log")
}

/// Creates an empty file that only its user can read; SQLite gives its log the same mode.
///
/// Errors are left to SQLite, which tries the same and explains itself.
fn create_private(path: &Path) {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let _ = options.open(path);
}

/// A larger page cache of the writing connection, for as long as this value lives.
#[derive(Debug)]
pub(super) struct LargePageCache<'c>(&'c Connection);

impl LargePageCache<'_> {
    pub(super) fn of(conn: &Connection) -> Result<LargePageCache<'_>, StoreError> {
        set_cache(conn, CACHE_OF_MANY_KIB)?;
        Ok(LargePageCache(conn))
    }
}

impl Drop for LargePageCache<'_> {
    fn drop(&mut self) {
        if let Err(error) = set_cache(self.0, CACHE_KIB) {
            log::warn!("{error}");
        }
    }
}

fn set_cache(conn: &Connection, kib: i64) -> Result<(), StoreError> {
    conn.pragma_update(None, "cache_size", -kib).doing("set the cache size")
}

/// Returns the bound of a connection's page cache, which SQLite counts in KiB below zero.
#[cfg(test)]
pub(super) fn cache_kib(conn: &Connection) -> i64 {
    -conn.pragma_query_value(None, "cache_size", |row| row.get::<_, i64>(0)).unwrap()
}

/// Opens a connection to an existing file with only the busy handler set.
///
/// For drafts, for the doctor, and for notes beside the writer.
pub(crate) fn open_existing(path: &Path, doing: &'static str) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut conn = Connection::open_with_flags(path, flags).doing(doing)?;
    // Another process may be recovering the file after a crash; this one cannot go on without it.
    busy_handler::set_busy_timeout(&mut conn, busy_handler::LONG)?;
    Ok(conn)
}

/// Opens a connection beside the writer for data that may be lost with the power.
///
/// It does not wait for the disk, and for other connections no longer than `wait`.
pub(super) fn open_beside(path: &Path, wait: Duration) -> Result<Connection, StoreError> {
    let conn = open_existing(path, "open the database")?;
    distrust(&conn)?;
    conn.pragma_update(None, "synchronous", "NORMAL").doing("set the level of durability")?;
    conn.pragma_update(None, "foreign_keys", true).doing("turn foreign keys on")?;
    set_cache(&conn, CACHE_BESIDE_KIB)?;
    conn.busy_timeout(wait).doing("set the waiting time")?;
    Ok(conn)
}

/// Opens a connection that cannot write to a memory of this build's schema version.
pub(crate) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    open_reader_within(path, busy_handler::LONG)
}

/// Opens a connection that cannot write, and waits for others up to `wait`.
pub(super) fn open_reader_within(path: &Path, wait: Duration) -> Result<Connection, StoreError> {
    reader_at(path, wait).map_err(|error| name_stopped(error, path))
}

fn reader_at(path: &Path, wait: Duration) -> Result<Connection, StoreError> {
    let conn = open_read_only(path, wait)?;
    distrust(&conn)?;
    conn.pragma_update(None, "query_only", true).doing("forbid writes")?;
    prepare_once(&conn)?;
    schema::check(&conn, path)?;
    set_cache(&conn, CACHE_BESIDE_KIB)?;
    Ok(conn)
}

/// Opens a memory of any schema version for examination; refuses other files. SQLite opens the file
/// read-only; temporary tables are possible.
pub(crate) fn open_to_examine(path: &Path) -> Result<Connection, StoreError> {
    let conn = open_read_only(path, busy_handler::LONG)?;
    schema::check_is_memory(&conn, path)?;
    Ok(conn)
}

/// Begins a read transaction on the present state. SQLite by itself takes the state of the first
/// query and, where each step of a copy is one, that of the last.
pub(crate) fn begin_read<'c>(
    conn: &'c Connection,
    doing: &'static str,
) -> Result<Transaction<'c>, StoreError> {
    let state = conn.unchecked_transaction().doing(doing)?;
    state.pragma_query_value(None, "schema_version", |_| Ok(())).doing(doing)?;
    Ok(state)
}

/// Opens the file read-only.
fn open_read_only(path: &Path, wait: Duration) -> Result<Connection, StoreError> {
    schema::check_sqlite()?;
    check_path_to_read(path)?;
    unsafe_wal_open_refusal::check(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut conn = Connection::open_with_flags(path, flags).doing("open the database to read")?;
    busy_handler::set_busy_timeout(&mut conn, wait)?;
    Ok(conn)
}

/// Makes SQLite distrust the bytes of the file: SQL cannot write the schema or the tables of an
/// index, cells are checked before they are read, and no value is larger than [`VALUE_BYTES_MAX`].
fn distrust(conn: &Connection) -> Result<(), StoreError> {
    const DOING: &str = "make SQLite check the file";
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).doing(DOING)?;
    conn.pragma_update(None, "cell_size_check", true).doing(DOING)?;
    conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX).doing(DOING).map(drop)
}

/// Runs a step in which SQL writes the tables behind an index in the temporary database.
pub(crate) fn with_index_tables<T>(
    conn: &Connection,
    step: impl FnOnce() -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let is_defensive = conn.db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)?;
    let outcome = step();
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, is_defensive)?;
    outcome
}

/// Makes SQLite prepare statements once, whatever values they get.
///
/// Otherwise it plans many of them anew for each value, which takes longer than running them.
pub(super) fn prepare_once(conn: &Connection) -> Result<(), StoreError> {
    conn.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .map(drop)
        .doing("keep the plans of statements")
}

/// Switches the file to WAL, a property of the file that the first connection sets. SQLite does not
/// wait when rivals switch at the same time, so this waits for them in a transaction and checks
/// again.
fn switch_to_wal(conn: &Connection) -> Result<(), StoreError> {
    for _ in 0..WAL_TRIES_MAX {
        let mode: rusqlite::Result<String> =
            conn.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0));
        match mode {
            Err(rusqlite::Error::SqliteFailure(error, _))
                if error.code == rusqlite::ErrorCode::DatabaseBusy =>
            {
                conn.execute_batch("BEGIN IMMEDIATE; ROLLBACK")
                    .doing("wait for another process")?;
            }
            other => return other.map(drop).doing("switch to write-ahead logging"),
        }
    }
    Err(StoreError::Corrupt { what: "another process keeps the file from WAL mode".to_owned() })
}

#[cfg(test)]
mod tests;
