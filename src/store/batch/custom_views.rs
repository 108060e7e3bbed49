//! Custom views in a write. They are settings of the memory, and make no snapshot.

use rusqlite::params;

use super::Batch;
use crate::store::{PreparedStatements, StoreError};

impl Batch<'_> {
    /// Returns how many custom views there are.
    pub(crate) fn n_custom_views(&self) -> Result<i64, StoreError> {
        const COUNT: &str = "SELECT count(*) FROM custom_view";
        self.tx.row(COUNT, [], |row| row.get(0), "count the custom views")
    }

    /// Returns whether there is a custom view of that name.
    pub(crate) fn has_custom_view(&self, name: &str) -> Result<bool, StoreError> {
        const VIEW: &str = "SELECT 1 FROM custom_view WHERE name = ?1";
        self.tx.has(VIEW, [name], "look for a custom view")
    }

    /// Gives a custom view its conditions, a JSON object; makes it where there is none.
    pub(crate) fn set_custom_view(&self, name: &str, query: &str) -> Result<(), StoreError> {
        const SET: &str = "
            INSERT INTO custom_view (name, query) VALUES (?1, ?2)
                ON CONFLICT (name) DO UPDATE SET query = ?2 WHERE query <> ?2";
        self.tx.run(SET, params![name, query], "keep a custom view").map(drop)
    }

    /// Removes a custom view; returns whether there was one.
    pub(crate) fn remove_custom_view(&self, name: &str) -> Result<bool, StoreError> {
        const REMOVE: &str = "DELETE FROM custom_view WHERE name = ?1";
        Ok(0 < self.tx.run(REMOVE, [name], "remove a custom view")?)
    }
}
