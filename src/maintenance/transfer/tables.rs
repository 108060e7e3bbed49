//! Which tables a memory is made of, and which are made from those.
//!
//! A new table of the schema is one line here; a test fails until it has one.

use rusqlite::{Connection, Row};

use crate::store::{Prepared, StoreError};

/// Tables that move, in the order in which their rows are written out: none refers to a later one.
pub(super) const MOVED: &[&str] = &[
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
];

/// Tables that do not: what is in them follows from the others, or means nothing elsewhere.
#[cfg(test)]
pub(super) const DERIVED: &[&str] = &["node_fts", "lease", "pulse", "facet", "facet_made"];

/// A table of the schema, as this database has it.
pub(super) struct TableSchema {
    pub(super) name: &'static str,
    pub(super) columns: Vec<TableColumn>,
}

/// A column of a table.
pub(super) struct TableColumn {
    pub(super) name: String,
    /// What stands for a value that is not given, as SQL.
    default: Option<String>,
    /// Where it stands in the primary key, counted from 1; 0 outside.
    key_idx: i64,
}

/// What to do with a row whose key is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnConflict {
    Fail,
    Ignore,
}

impl TableSchema {
    /// Every table that moves.
    pub(super) fn all(conn: &Connection) -> Result<Vec<TableSchema>, StoreError> {
        MOVED.iter().map(|name| TableSchema::read(conn, name)).collect()
    }

    /// The same table as another database has it: those of its columns that are known here.
    pub(super) fn as_in(&self, conn: &Connection) -> Result<TableSchema, StoreError> {
        let mut there = TableSchema::read(conn, self.name)?;
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

    /// Reads every row, by key. The one place that makes SQL of the schema: names only.
    pub(super) fn select(&self) -> String {
        let TableSchema { name, .. } = self;
        format!("SELECT {} FROM {name} ORDER BY {}", self.names(), self.key().join(", "))
    }

    /// Adds a row of all columns; a value that is not given is the column's default.
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

    /// The columns of the primary key, first to last.
    pub(super) fn key(&self) -> Vec<&str> {
        let mut key: Vec<&TableColumn> = self.columns.iter().filter(|it| 0 < it.key_idx).collect();
        key.sort_by_key(|it| it.key_idx);
        key.into_iter().map(|it| it.name.as_str()).collect()
    }

    pub(super) fn names(&self) -> String {
        self.columns.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(", ")
    }
}
