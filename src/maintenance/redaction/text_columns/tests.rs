//! Compares the list of text columns with the schema.

use rusqlite::Connection;

use super::*;
use crate::store::schema::MIGRATIONS;

/// The index, which is built from `node` and rebuilt as a whole.
const INDEX: &str = "node_fts";

#[test]
fn every_column_of_text_is_scrubbed_or_listed_as_safe() {
    const TEXTS: &str = "
        SELECT t.name, c.name
          FROM sqlite_schema AS t
          JOIN pragma_table_info(t.name) AS c
         WHERE t.type = 'table'
           AND c.type NOT IN ('INTEGER', 'REAL')
         ORDER BY t.rowid, c.cid";
    let conn = Connection::open_in_memory().unwrap();
    MIGRATIONS.iter().for_each(|it| conn.execute_batch(it).unwrap());
    let mut query = conn.prepare(TEXTS).unwrap();
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let mut schema: Vec<(String, String)> = rows.map(Result::unwrap).collect();
    schema.retain(|(table, _)| !table.starts_with(INDEX) && !table.starts_with("sqlite_"));
    let listed: Vec<(String, String)> =
        all().iter().map(|it| (it.table.to_owned(), it.name.to_owned())).collect();
    schema.sort();
    let mut sorted = listed;
    sorted.sort();
    assert_eq!(sorted, schema);
}
