//! The rows of a memory, as text: exactly, or what they mean.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

/// Tables whose rows change without a write of an agent: heat, clocks, leases, counters.
const BESIDE: [&str; 4] = ["heat", "memory", "lease", "pulse"];

/// What a person means by the memory, without times, ids and numbers of rows.
const MEANING: [&str; 9] = [
    "SELECT 'node', f.path, n.node_type, n.label, n.content
       FROM node AS n LEFT JOIN file AS f ON f.id = n.file",
    "SELECT 'field', n.label, key, value FROM facet AS f JOIN node AS n ON n.key = f.node
      WHERE f.key IN ('archived', 'tags', 'importance')",
    "SELECT 'pinned', n.label FROM node AS n JOIN heat AS h ON h.node = n.key WHERE h.pinned",
    "SELECT 'snapshot', id, iif(message GLOB 'store_memory:*', 'store_memory', message)
       FROM snapshot",
    "SELECT 'head', snapshot FROM cursor",
    "SELECT 'file', path, content_hash FROM file",
    "SELECT 'edge', origin, n.label, r.label, r.weight FROM reference AS r
       JOIN node AS n ON n.key = r.source",
    "SELECT 'tombstone', source_hash FROM tombstone",
    "SELECT 'view', name, query FROM custom_view",
];

/// The rows of a memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    /// Every row of every table, but for [`BESIDE`].
    pub(crate) rows: Vec<String>,
    pub(crate) meaning: Vec<String>,
}

impl State {
    /// Returns the state of a memory; an empty one where there is no file, or none with tables.
    pub(crate) fn of(path: &Path) -> State {
        if !path.exists() {
            return State::default();
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(path, flags).unwrap();
        let tables = all(
            &conn,
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'node_fts%'
              ORDER BY name",
        );
        if tables.is_empty() {
            return State::default();
        }
        let mut rows = Vec::new();
        for table in tables.iter().filter(|it| !BESIDE.contains(&it.as_str())) {
            let of_table = all(&conn, &format!("SELECT * FROM {table}"));
            rows.extend(of_table.into_iter().map(|it| format!("{table}: {it}")));
        }
        rows.sort();
        let mut meaning: Vec<String> = MEANING
            .iter()
            .filter(|sql| has_tables(&conn, sql))
            .flat_map(|it| all(&conn, it))
            .collect();
        meaning.sort();
        State { rows, meaning }
    }

    /// Returns the first difference in meaning.
    pub(crate) fn difference(&self, other: &State) -> String {
        let lacks = |a: &State, b: &State| {
            let row = a.meaning.iter().find(|it| !b.meaning.contains(it));
            row.map_or("nothing".to_owned(), |it| it.chars().take(200).collect())
        };
        format!("only one has {}; only the other has {}", lacks(self, other), lacks(other, self))
    }
}

/// Returns whether the schema has the tables of a query; an earlier one lacks some.
fn has_tables(conn: &Connection, sql: &str) -> bool {
    conn.prepare(sql).is_ok()
}

fn all(conn: &Connection, sql: &str) -> Vec<String> {
    let mut query = conn.prepare(sql).unwrap();
    let n_columns = query.column_count();
    let mut found = query.query([]).unwrap();
    let mut rows = Vec::new();
    while let Some(row) = found.next().unwrap() {
        let cells = (0..n_columns).map(|nth| match row.get_ref(nth).unwrap() {
            rusqlite::types::ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
            other => format!("{other:?}"),
        });
        rows.push(cells.collect::<Vec<_>>().join("|"));
    }
    rows
}
