//! Lists the tables that transfers copy, and those that are derived from them.
//!
//! A new table of the schema is one line here; a test fails until it has one.

use rusqlite::{Connection, Row};

use crate::store::{PreparedStatements, StoreError};

/// Tables that are transferred, in the order of export: none refers to a later one.
pub(super) const TRANSFERRED_TABLES: &[&str] = &[
    "memory",
    "root",
    "file",
    "file_name",
    "tombstone",
    "node",
    "heat",
    "span",
    "reference",
    "wanted",
    "snapshot",
    "cursor",
    "diff",
    "blob",
    "custom_view",
    "forgotten_note",
];

/// Tables that are not: their rows follow from others, or mean nothing elsewhere.
#[cfg(test)]
pub(super) const DERIVED_TABLES: &[&str] = &[
    "node_fts",
    "lease",
    "pulse",
    "facet",
    "facet_made",
    "facet_program",
    "facet_change",
    "typed_edge",
    "typed_edge_made",
    "receipt",
    "restored",
    "change_count",
    "running_total",
    "running_total_made",
    "vector",
    "replica",
];

/// A table's schema in one database.
pub(super) struct TableSchema {
    pub(super) name: &'static str,
    pub(super) columns: Vec<TableColumn>,
}

/// A column of a table.
pub(super) struct TableColumn {
    pub(super) name: String,
    /// The column's default value, as SQL.
    default: Option<String>,
    /// Position in the primary key, counted from 1; 0 outside.
    key_idx: i64,
}

/// The treatment of a row whose key exists already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnConflict {
    Fail,
    Ignore,
}

impl TableSchema {
    /// Returns every table that is transferred.
    pub(super) fn all(conn: &Connection) -> Result<Vec<TableSchema>, StoreError> {
        TRANSFERRED_TABLES.iter().map(|name| TableSchema::read(conn, name)).collect()
    }

    /// Returns the table as another database has it, with the columns known here.
    pub(super) fn in_database(&self, conn: &Connection) -> Result<TableSchema, StoreError> {
        const IS_TABLE: &str =
            "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1 AND rootpage <> 0";
        let mut there = TableSchema::read(conn, self.name)?;
        if !conn.has(IS_TABLE, [self.name], "read the schema")? {
            // A view or a virtual table under that name would run whatever it holds.
            there.columns.clear();
        }
        there.columns.retain(|it| self.columns.iter().any(|known| known.name == it.name));
        Ok(there)
    }

    fn read(conn: &Connection, name: &'static str) -> Result<TableSchema, StoreError> {
        const COLUMNS: &str =
            "SELECT name, dflt_value, pk FROM pragma_table_info (?1) ORDER BY cid";
        let read = |row: &Row<'_>| {
            Ok(TableColumn { name: row.get(0)?, default: row.get(1)?, key_idx: row.get(2)? })
        };
        Ok(TableSchema { name, columns: conn.rows(COLUMNS, [name], read, "read the schema")? })
    }

    /// Returns a statement that reads every row, by key. Only names of the schema become SQL.
    pub(super) fn select(&self) -> String {
        let TableSchema { name, .. } = self;
        format!("SELECT {} FROM {name} ORDER BY {}", self.names(), self.key().join(", "))
    }

    /// Returns a statement that adds a row; a missing value becomes the column's default.
    pub(super) fn insert(&self, on_conflict: OnConflict) -> String {
        let values: Vec<String> = (1..)
            .zip(&self.columns)
            .map(|(nth, column)| match &column.default {
                Some(default) => format!("ifnull(?{nth}, {default})"),
                None => format!("?{nth}"),
            })
            .collect();
        let verb = match on_conflict {
            OnConflict::Fail => "INSERT",
            OnConflict::Ignore => "INSERT OR IGNORE",
        };
        let TableSchema { name, .. } = self;
        format!("{verb} INTO {name} ({}) VALUES ({})", self.names(), values.join(", "))
    }

    /// Returns the columns of the primary key, first to last.
    pub(super) fn key(&self) -> Vec<&str> {
        let mut key: Vec<&TableColumn> = self.columns.iter().filter(|it| 0 < it.key_idx).collect();
        key.sort_unstable_by_key(|it| it.key_idx);
        key.into_iter().map(|it| it.name.as_str()).collect()
    }

    pub(super) fn names(&self) -> String {
        self.columns.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(", ")
    }
}
