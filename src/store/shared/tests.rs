//! Compares the table of tables with the schema.

use rusqlite::Connection;

use super::recorder::columns;
use super::tables::{TABLES, TableScope, shared_tables};
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

/// What a machine has for itself is listed by name: whoever adds a column to a shared table shares
/// it, unless it is added here.
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
         pulse replica"
    );
}
