//! Compares the table of tables with the schema.

use rusqlite::Connection;

use super::change_recorder::columns;
use super::table_scopes::{TABLES, TableScope, shared_tables};
use crate::store::schema::MIGRATIONS;

fn memory() -> Connection {
    let conn = Connection::open_in_memory().unwrap();
    MIGRATIONS.iter().for_each(|it| conn.execute_batch(it).unwrap());
    conn
}

/// A new table has to choose, here.
#[test]
fn every_table_is_shared_or_local_or_derived() {
    const NAMES: &str = "
        SELECT name
          FROM sqlite_schema
         WHERE type IN ('table', 'view')
           AND name NOT GLOB 'node_fts_*'
           AND name NOT GLOB 'sqlite_*'
         ORDER BY name";
    let conn = memory();
    let mut query = conn.prepare(NAMES).unwrap();
    let there: Vec<String> =
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut listed: Vec<&str> = TABLES.iter().map(|it| it.0).collect();
    listed.sort_unstable();
    assert_eq!(listed, there);
}

#[test]
fn keys_and_local_columns_are_those_of_the_schema() {
    const KEY: &str = "SELECT name FROM pragma_table_info (?1) WHERE 0 < pk ORDER BY pk";
    const COLUMNS: &str = "SELECT count(*) FROM pragma_table_info (?1)";
    let conn = memory();
    for table in shared_tables() {
        let mut query = conn.prepare(KEY).unwrap();
        let key: Vec<String> =
            query.query_map([table.name], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert_eq!(key, table.key, "{}", table.name);
        let n_columns: i64 = conn.query_row(COLUMNS, [table.name], |row| row.get(0)).unwrap();
        let shared = columns(&conn, &table).unwrap();
        assert_eq!((shared.len() + table.local.len()) as i64, n_columns, "{}", table.name);
        let translated = table.translated.iter().map(|it| it.name);
        assert!(translated.into_iter().all(|it| shared.iter().any(|shared| shared == it)));
    }
}

/// Otherwise a write of many rows looks through all of its notes for each.
#[test]
fn notes_are_found_by_their_keys() {
    const PLAN: &str = "
        EXPLAIN QUERY PLAN
        SELECT 1
          FROM node
         WHERE EXISTS (SELECT 1 FROM changed_node WHERE changed_node.key = node.key)";
    let conn = memory();
    super::change_recorder::ChangeRecorder::attach(&conn).unwrap();
    let mut query = conn.prepare(PLAN).unwrap();
    let steps = query.query_map([], |row| row.get::<_, String>(3)).unwrap().map(Result::unwrap);
    let steps: Vec<String> = steps.collect();
    let is_found = |it: &String| it.contains("changed_node") && it.contains("USING PRIMARY KEY");
    assert!(steps.iter().any(is_found), "{steps:?}");
}

/// Lists local columns by name: a new column of a shared table is shared unless it is added here.
#[test]
fn paths_and_looks_at_files_stay_on_their_machine() {
    let local = |(name, scope): &(&str, TableScope)| match scope {
        TableScope::Shared(table) => {
            table.local.iter().map(|it| format!("{name}.{}", it.name)).collect()
        }
        TableScope::Local => vec![(*name).to_owned()],
        TableScope::Derived => Vec::new(),
    };
    let local: Vec<String> = TABLES.iter().flat_map(local).collect();
    assert_eq!(
        local.join(" "),
        "root.path file.size file.mtime memory.attended memory.ticked_at memory.heated heat lease \
         pulse replica vector"
    );
}

/// How a change that is no [`crate::store::Writer::write`] stays the same on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passage {
    /// It is the log's own way, or goes through it.
    Log,
    /// It changes what each machine has for itself, or nothing.
    Local,
    /// It fills a new file, which is nobody's replica.
    NewFile,
    /// It marks the replica, which an image as a new epoch then publishes.
    NewEpoch,
}

/// The files with a connection or a transaction of their own: whoever adds one chooses here.
const PASSAGES: &[(&str, Passage)] = &[
    ("cli/shared_space_flags/replica_opening.rs", Passage::Local),
    ("cli/space.rs", Passage::Local),
    ("maintenance/doctor/repairs.rs", Passage::NewEpoch),
    // Objects of the schema are no rows, and replicas have none that no migration made.
    ("maintenance/doctor/schema_objects.rs", Passage::Local),
    // A dry run.
    ("maintenance/gc.rs", Passage::Local),
    // It runs the repairs.
    ("maintenance/repair_after_backup.rs", Passage::Local),
    ("maintenance/redaction.rs", Passage::NewEpoch),
    ("maintenance/transfer/atomic_file.rs", Passage::NewFile),
    ("maintenance/transfer/backup.rs", Passage::NewFile),
    ("maintenance/transfer/database_jsonl_import.rs", Passage::NewFile),
    // Databases of other programs, which are only read.
    ("maintenance/transfer/opencode_reader.rs", Passage::Local),
    ("maintenance/transfer/foreign_remind_reader.rs", Passage::Local),
    ("maintenance/transfer/restore.rs", Passage::NewEpoch),
    ("maintenance/transfer/salvage.rs", Passage::NewFile),
    ("maintenance/transfer/v03.rs", Passage::NewFile),
    // Connections for heat, leases and vectors; the one for the log is in `replication.rs`.
    ("store/relaxed_durability_connection.rs", Passage::Local),
    ("store/checkpoint.rs", Passage::Local),
    ("store/connection.rs", Passage::Local),
    // It begins transactions for the others.
    ("store/file_identity_check.rs", Passage::Local),
    ("store/heat_writer.rs", Passage::Local),
    ("store/heat_writer/cold_notifications.rs", Passage::Local),
    ("store/work_leases.rs", Passage::Local),
    // Reads of one state.
    ("store/reader.rs", Passage::Local),
    ("store/replica_write_guard.rs", Passage::NewEpoch),
    // A space names its schema: entries of another one are not written.
    ("store/schema.rs", Passage::Local),
    ("store/schema/comparison.rs", Passage::Local),
    ("store/replication.rs", Passage::Log),
    ("store/vector_writer.rs", Passage::Local),
    ("store/unsafe_wal_open_refusal.rs", Passage::Local),
    ("store/writer.rs", Passage::Log),
];

#[test]
fn what_bypasses_the_log_is_local_or_begins_a_new_epoch() {
    const DOORS: [&str; 9] = [
        "begin_write(",
        "unchecked_transaction(",
        "transaction_with_behavior(",
        ".transaction(",
        "open_beside(",
        "RelaxedDurabilityConnection::open(",
        "open_existing(",
        "open_writer(",
        "Connection::open",
    ];
    let src = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut folders = vec![src.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(&src).unwrap().to_str().unwrap().to_owned();
            let is_test = ["tests", "testing", "in_process", "fuzzing"];
            if is_test.iter().any(|it| name.contains(it)) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            let is_door = |line: &str| {
                !line.trim_start().starts_with("//") && DOORS.iter().any(|it| line.contains(it))
            };
            if code.lines().any(is_door) {
                let marks = ["mark_unpublished", "carry_replica"];
                let is_marked = marks.iter().any(|it| code.contains(it));
                found.push((name, is_marked));
            }
        }
    }
    found.sort();
    let mut listed: Vec<(String, bool)> = PASSAGES
        .iter()
        .map(|(name, passage)| ((*name).to_owned(), *passage == Passage::NewEpoch))
        .collect();
    listed.sort();
    assert_eq!(found, listed);
}
