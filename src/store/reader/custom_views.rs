//! Custom views for readers: conditions on typed memories, by their names.

use rusqlite::Row;

use super::Reader;
use crate::store::{PreparedStatements, StoreError};

/// Holds a custom view as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CustomViewRow {
    pub(crate) name: String,
    /// The conditions, as a JSON object.
    pub(crate) query: String,
}

impl Reader {
    /// Returns every custom view, by name.
    pub(crate) fn custom_views(&self) -> Result<Vec<CustomViewRow>, StoreError> {
        const VIEWS: &str = "SELECT name, query FROM custom_view ORDER BY name";
        let read = |row: &Row<'_>| Ok(CustomViewRow { name: row.get(0)?, query: row.get(1)? });
        self.conn.rows(VIEWS, [], read, "read the custom views")
    }

    /// Returns the conditions of a custom view, as a JSON object.
    pub(crate) fn custom_view(&self, name: &str) -> Result<Option<String>, StoreError> {
        const VIEW: &str = "SELECT query FROM custom_view WHERE name = ?1";
        self.conn.find(VIEW, [name], |row| row.get(0), "read a custom view")
    }
}
