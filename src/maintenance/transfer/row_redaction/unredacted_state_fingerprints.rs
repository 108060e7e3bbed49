//! Computes the fingerprints that imported rows have without redaction, by which altered states are
//! told from genuine ones.
//!
//! Temporary views show the values that markers replaced. They are in memory, as the values are.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};
use serde_json::{Map, Value};

use crate::maintenance::transfer::transferred_tables::TableSchema;
use crate::store::{ErrorContext, PreparedStatements, StoreError, past_states};

/// The tables that states are made of, and the two columns that name a row of them.
const STATE_TABLES: [(&str, [&str; 2]); 3] =
    [("file", ["id", "id"]), ("node", ["key", "key"]), ("diff", ["snapshot", "seq"])];

/// Long columns that the fingerprint does not cover: texts count by their hash, breadcrumbs not at
/// all.
const UNCOVERED: [&str; 2] = ["content", "trail"];

/// A text that a marker replaced, with the name of its row.
type UnredactedTextOfRow = ([i64; 2], String);

/// Values that markers replaced, by table and column, for the fingerprints without markers.
#[derive(Default)]
pub(super) struct ReplacedValuesForFingerprints(
    BTreeMap<(&'static str, String), Vec<UnredactedTextOfRow>>,
);

impl ReplacedValuesForFingerprints {
    /// Notes a value of a row, if states are made of it.
    pub(super) fn note(
        &mut self,
        table: &str,
        row: &Map<String, Value>,
        (column, value): (&str, &str),
    ) {
        let Some(&(table, key)) = STATE_TABLES.iter().find(|it| it.0 == table) else { return };
        let key = key.map(|it| row.get(it).and_then(Value::as_i64));
        if let [Some(first), Some(second)] = key
            && !UNCOVERED.contains(&column)
        {
            self.note_at(table, [first, second], (column, value));
        }
    }

    /// Notes a value of the row with this key. The first one of a row counts.
    pub(super) fn note_at(
        &mut self,
        table: &'static str,
        key: [i64; 2],
        (column, value): (&str, &str),
    ) {
        self.0.entry((table, column.to_owned())).or_default().push((key, value.to_owned()));
    }

    /// Returns every snapshot with the fingerprint of its state before redaction, as
    /// [`past_states::fingerprints`].
    pub(super) fn fingerprints(&self, conn: &Connection) -> Result<Vec<(i64, u64)>, StoreError> {
        const MAKE: &str = "
            CREATE TEMP TABLE former (
                place TEXT, first INTEGER, second INTEGER, value TEXT NOT NULL,
                PRIMARY KEY (place, first, second)
            ) WITHOUT ROWID";
        const ADD: &str = "
            INSERT OR IGNORE INTO former (place, first, second, value) VALUES (?1, ?2, ?3, ?4)";
        const DOING: &str = "show what was imported";
        let views = self.views(conn)?;
        conn.execute_batch(MAKE).doing(DOING)?;
        for ((table, column), values) in &self.0 {
            let place = format!("{table}.{column}");
            for ([first, second], value) in values {
                conn.run(ADD, params![place, first, second, value], DOING)?;
            }
        }
        for (table, select) in &views {
            conn.execute_batch(&format!("CREATE TEMP VIEW {table} AS {select}")).doing(DOING)?;
        }
        let fingerprints = past_states::fingerprints(conn)?;
        for (table, _) in &views {
            conn.execute_batch(&format!("DROP VIEW temp.{table}")).doing(DOING)?;
        }
        conn.execute_batch("DROP TABLE temp.former").doing(DOING)?;
        Ok(fingerprints)
    }

    /// Returns the tables with a replaced value, and statements that read them as they were. Only
    /// names of the schema become SQL.
    fn views(&self, conn: &Connection) -> Result<Vec<(&'static str, String)>, StoreError> {
        let mut views = Vec::new();
        for table in TableSchema::all(conn)? {
            let name = table.name;
            let Some((_, [first, second])) = STATE_TABLES.iter().find(|it| it.0 == name) else {
                continue;
            };
            let is_replaced = |column: &str| self.0.contains_key(&(name, column.to_owned()));
            if !table.columns.iter().any(|it| is_replaced(&it.name)) {
                continue;
            }
            let shown = table.columns.iter().map(|it| match (is_replaced(&it.name), &it.name) {
                (false, column) => column.clone(),
                (true, column) => format!(
                    "ifnull((SELECT value FROM temp.former
                              WHERE place = '{name}.{column}'
                                AND first = {name}.{first} AND second = {name}.{second}),
                            {column}) AS {column}"
                ),
            });
            let shown: Vec<String> = shown.collect();
            views.push((name, format!("SELECT {} FROM main.{name}", shown.join(", "))));
        }
        Ok(views)
    }
}
