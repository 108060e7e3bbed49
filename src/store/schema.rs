//! Schema versions: append-only SQL files, applied in order, each once.
//!
//! `application_id` marks a file as a remindb memory, `user_version` counts the [`MIGRATIONS`]
//! applied to it. A file with more migrations than this build knows is refused. The check and the
//! migrations share one transaction, so that two processes starting at once agree.

pub(crate) mod comparison;

use std::path::Path;

use comparison::{SchemaDifference, SchemaRemedy};
use rusqlite::Connection;

use super::write_lock_and_holder::begin_write;
use super::{ErrorContext, PreparedStatements, StoreError, links};

/// `rmdb` in ASCII.
pub(crate) const APPLICATION_ID: i64 = 0x726d_6462;

/// Every migration ever shipped, oldest first.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("sql/0001_init.sql"),
    include_str!("sql/0002_links.sql"),
    include_str!("sql/0003_lease.sql"),
    include_str!("sql/0004_tombstone.sql"),
    include_str!("sql/0005_versions.sql"),
    include_str!("sql/0006_heat.sql"),
    include_str!("sql/0007_pulse.sql"),
    include_str!("sql/0008_bound.sql"),
    include_str!("sql/0009_untouched.sql"),
    include_str!("sql/0010_fields.sql"),
    include_str!("sql/0011_views.sql"),
    include_str!("sql/0012_facet_programs.sql"),
    include_str!("sql/0013_knowledge.sql"),
    include_str!("sql/0014_replica.sql"),
    include_str!("sql/0015_change_count.sql"),
    include_str!("sql/0016_vector.sql"),
    include_str!("sql/0017_forgotten_note.sql"),
    include_str!("sql/0018_facets_in_one_pass.sql"),
    include_str!("sql/0019_index_of_claimed.sql"),
    include_str!("sql/0020_receipts_outlive_snapshots.sql"),
    include_str!("sql/0021_index_has_strengths.sql"),
    include_str!("sql/0022_running_totals.sql"),
    include_str!("sql/0023_indexes_of_references.sql"),
];

/// The first schema with references: texts in older ones were not parsed for them.
const LINKS_SINCE: i64 = 2;

/// Temporary views that show an older schema as if it had what a later one added, which is empty:
/// the first schema that needs none, and the statements that make and drop them.
const SUPPLIED: &[(i64, &str, &str)] = &[
    (
        10,
        "CREATE TEMP VIEW node AS SELECT *, NULL AS fields FROM main.node;
         CREATE TEMP VIEW diff AS SELECT *, NULL AS old_fields FROM main.diff;
         CREATE TEMP VIEW facet (key, value, node) AS SELECT NULL, NULL, NULL WHERE false;
         CREATE TEMP VIEW facet_made (key, value, node) AS SELECT NULL, NULL, NULL WHERE false;",
        "DROP VIEW temp.node;
         DROP VIEW temp.diff;
         DROP VIEW temp.facet;
         DROP VIEW temp.facet_made;",
    ),
    (
        11,
        "CREATE TEMP VIEW custom_view (name, query) AS SELECT NULL, NULL WHERE false;",
        "DROP VIEW temp.custom_view;",
    ),
    (
        13,
        "CREATE TEMP VIEW typed_edge (source, type, target, strength) AS
             SELECT NULL, NULL, NULL, NULL WHERE false;
         CREATE TEMP VIEW typed_edge_made (source, type, target, strength) AS
             SELECT NULL, NULL, NULL, NULL WHERE false;
         CREATE TEMP VIEW receipt (name, request, snapshot, answer) AS
             SELECT NULL, NULL, NULL, NULL WHERE false;",
        "DROP VIEW temp.typed_edge;
         DROP VIEW temp.typed_edge_made;
         DROP VIEW temp.receipt;",
    ),
    (
        15,
        "CREATE TEMP VIEW change_count (snapshot, added, modified, removed) AS
             SELECT NULL, NULL, NULL, NULL WHERE false;",
        "DROP VIEW temp.change_count;",
    ),
    (
        16,
        "CREATE TEMP VIEW vector (node, model, data) AS SELECT NULL, NULL, NULL WHERE false;",
        "DROP VIEW temp.vector;",
    ),
    (
        22,
        "CREATE TEMP VIEW running_total_made (counted, kind, n_rows, tokens) AS
             SELECT 'node', node_type, count(*), CAST(total(token_count) AS INTEGER)
               FROM main.node
              GROUP BY node_type
              UNION ALL
             SELECT 'reference', iif(target IS NULL, 'pending', origin), count(*), 0
               FROM main.reference
              GROUP BY 2;
         CREATE TEMP VIEW running_total AS SELECT * FROM temp.running_total_made;",
        "DROP VIEW temp.running_total;
         DROP VIEW temp.running_total_made;",
    ),
];

/// SQLite 3.51.3; older ones can corrupt a database when a WAL is reset under two connections.
const SQLITE_VERSION_MIN: i32 = 3_051_003;

/// Returns the migrations to apply.
fn migrations() -> &'static [&'static str] {
    #[cfg(test)]
    if let Some(scratch) = super::database_version_testing::scratch() {
        return scratch.migrations;
    }
    MIGRATIONS
}

/// Returns the newest schema that this build knows.
pub(crate) fn newest() -> i64 {
    migrations().len() as i64
}

/// Refuses to run on an SQLite that is not safe.
pub(crate) fn check_sqlite() -> Result<(), StoreError> {
    if rusqlite::version_number() < SQLITE_VERSION_MIN {
        return Err(StoreError::OldSqlite { found: rusqlite::version() });
    }
    Ok(())
}

/// The kind of database that a file's header declares.
enum DatabaseKind {
    /// An empty file.
    Empty,
    /// A memory of that schema version.
    Memory(i64),
}

fn examine(conn: &Connection, path: &Path) -> Result<DatabaseKind, StoreError> {
    let foreign = |what| StoreError::Foreign { path: path.to_owned(), what };
    let n_tables = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0));
    let n_tables: i64 = match n_tables {
        Err(rusqlite::Error::SqliteFailure(error, _))
            if error.code == rusqlite::ErrorCode::NotADatabase =>
        {
            return Err(foreign("no SQLite database"));
        }
        other => other.doing("read the schema")?,
    };
    let id: i64 = pragma(conn, "application_id")?;
    let version: i64 = pragma(conn, "user_version")?;
    match (id, n_tables) {
        (APPLICATION_ID, _) if newest() < version => {
            Err(StoreError::TooNew { path: path.to_owned(), found: version, known: newest() })
        }
        (APPLICATION_ID, _) => Ok(DatabaseKind::Memory(version)),
        (0, 0) => Ok(DatabaseKind::Empty),
        _ => Err(foreign("a database of another program")),
    }
}

/// Returns the number of migrations that made the database.
pub(crate) fn version(conn: &Connection) -> Result<i64, StoreError> {
    pragma(conn, "user_version")
}

fn pragma(conn: &Connection, name: &str) -> Result<i64, StoreError> {
    conn.pragma_query_value(None, name, |row| row.get(0)).doing("read the schema version")
}

/// Refuses files that are no memory of this build's schema version; changes nothing.
pub(crate) fn check(conn: &Connection, path: &Path) -> Result<(), StoreError> {
    match examine(conn, path)? {
        DatabaseKind::Memory(version) if version == newest() => {
            refuse_mismatch(conn, path, version)
        }
        DatabaseKind::Memory(found) => {
            refuse_mismatch(conn, path, found)?;
            Err(StoreError::TooOld { path: path.to_owned(), found, needed: newest() })
        }
        DatabaseKind::Empty => Err(StoreError::Missing { path: path.to_owned() }),
    }
}

/// Runs queries on a memory of any schema; columns that an older one lacks are null.
///
/// The views are temporary: nothing is written to the file, and none are left. Where SQLite refuses
/// to drop one, which it does after it met a damaged page, they show the same until the connection
/// ends: that is no reason to keep back an answer.
pub(crate) fn as_newest<T, E: From<StoreError>>(
    conn: &Connection,
    ask: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    const VIEWS: &str = "SELECT 1 FROM temp.sqlite_schema WHERE type = 'view'";
    let version = pragma(conn, "user_version")?;
    let supplied = || SUPPLIED.iter().filter(|(since, ..)| version < *since);
    if supplied().next().is_none() || conn.has(VIEWS, [], "look for views")? {
        return ask();
    }
    for (_, make, _) in supplied() {
        conn.execute_batch(make).doing("show an older schema")?;
    }
    let answer = ask();
    for (.., drop) in supplied() {
        let _ = conn.execute_batch(drop);
    }
    answer
}

/// Refuses files that are no memory; accepts older schemas, too.
pub(crate) fn check_is_memory(conn: &Connection, path: &Path) -> Result<(), StoreError> {
    match examine(conn, path)? {
        DatabaseKind::Memory(_) => Ok(()),
        DatabaseKind::Empty => Err(StoreError::Missing { path: path.to_owned() }),
    }
}

/// Refuses foreign databases and other schemas before any setting is written; accepts an empty
/// file.
pub(super) fn check_is_ours(conn: &Connection, path: &Path) -> Result<(), StoreError> {
    match examine(conn, path)? {
        DatabaseKind::Memory(version) => refuse_mismatch(conn, path, version),
        DatabaseKind::Empty => Ok(()),
    }
}

/// Refuses a memory whose objects are not those of its version. A foreign one would run with the
/// next statement; what a missing one keeps, such as the full-text index, would fall behind.
fn refuse_mismatch(conn: &Connection, path: &Path, version: i64) -> Result<(), StoreError> {
    let differences = comparison::differences(conn, version)?;
    if differences.is_empty() {
        return Ok(());
    }
    let remedy = comparison::remedy(conn, version, &differences)?;
    Err(mismatch(path, version, &differences, remedy))
}

/// Refuses a memory whose schema cannot be made right in place without a loss of rows; returns how
/// it can, and `None` where it is right.
pub(crate) fn refuse_unrestorable(
    conn: &Connection,
    path: &Path,
) -> Result<Option<SchemaRemedy>, StoreError> {
    let version = version(conn)?;
    let differences = comparison::differences(conn, version)?;
    if differences.is_empty() {
        return Ok(None);
    }
    match comparison::remedy(conn, version, &differences)? {
        SchemaRemedy::Nothing => Err(mismatch(path, version, &differences, SchemaRemedy::Nothing)),
        remedy => Ok(Some(remedy)),
    }
}

/// Refuses a memory whose schema a repair did not make right.
pub(crate) fn refuse_unrepaired(conn: &Connection, path: &Path) -> Result<(), StoreError> {
    let version = version(conn)?;
    let differences = comparison::differences(conn, version)?;
    match differences.is_empty() {
        true => Ok(()),
        false => Err(mismatch(path, version, &differences, SchemaRemedy::Nothing)),
    }
}

fn mismatch(
    path: &Path,
    version: i64,
    differences: &[SchemaDifference],
    remedy: SchemaRemedy,
) -> StoreError {
    StoreError::SchemaMismatch {
        path: path.to_owned(),
        objects: comparison::named(version, differences, remedy),
        is_restorable: remedy != SchemaRemedy::Nothing,
    }
}

/// Applies the migrations that lead from one version to another.
fn apply(conn: &Connection, from: i64, to: i64) -> Result<(), StoreError> {
    let count = |version| usize::try_from(version).unwrap_or(0);
    for migration in migrations().iter().take(count(to)).skip(count(from)) {
        conn.execute_batch(migration).doing("bring the schema up to date")?;
    }
    Ok(())
}

/// Drops statistics of the planner, which another program has made: forged ones make SQLite read
/// all rows where it needs a few, and those of texts keep samples of what is forgotten.
pub(crate) fn drop_statistics(conn: &Connection) -> Result<(), StoreError> {
    const ARE_THERE: &str = "
        SELECT count(*) FROM sqlite_schema WHERE name IN ('sqlite_stat1', 'sqlite_stat4')";
    const DROP: &str = "DROP TABLE IF EXISTS sqlite_stat1; DROP TABLE IF EXISTS sqlite_stat4";
    const DOING: &str = "drop statistics";
    let n: i64 = conn.query_row(ARE_THERE, [], |row| row.get(0)).doing(DOING)?;
    if 0 < n { conn.execute_batch(DROP).doing(DOING) } else { Ok(()) }
}

/// Migrates the file to the newest schema.
pub(crate) fn migrate(conn: &mut Connection, path: &Path) -> Result<(), StoreError> {
    if matches!(examine(conn, path)?, DatabaseKind::Memory(version) if version == newest()) {
        return Ok(());
    }
    let tx = begin_write(conn, "lock the database for a new schema")?;
    // Examined again under the lock: another process may have migrated it meanwhile.
    let seen = match examine(&tx, path)? {
        DatabaseKind::Empty => 0,
        DatabaseKind::Memory(version) => version,
    };
    apply(&tx, seen, newest())?;
    if (1..LINKS_SINCE).contains(&seen) {
        links::read_all(&tx)?;
    }
    tx.pragma_update(None, "application_id", APPLICATION_ID).doing("name the file")?;
    tx.pragma_update(None, "user_version", newest()).doing("note the schema version")?;
    tx.commit().doing("commit the new schema")
}
