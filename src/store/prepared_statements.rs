//! Runs statements that each connection prepares once, under the name of their step.

use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Row};

use super::{ErrorContext, StoreError};

/// The name of a step, which fits after "cannot".
type ErrorStepText = &'static str;

/// Runs prepared statements.
pub(crate) trait PreparedStatements {
    /// Prepares a statement at its first use.
    fn prepared(&self, sql: &str, doing: ErrorStepText) -> Result<CachedStatement<'_>, StoreError>;

    /// Changes rows, and returns how many.
    fn run(
        &self,
        sql: &str,
        params: impl Params,
        doing: ErrorStepText,
    ) -> Result<usize, StoreError> {
        self.prepared(sql, doing)?.execute(params).doing(doing)
    }

    /// Reads exactly one row.
    fn row<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
        doing: ErrorStepText,
    ) -> Result<T, StoreError> {
        self.prepared(sql, doing)?.query_row(params, read).doing(doing)
    }

    /// Reads the first row, if there is one.
    fn find<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
        doing: ErrorStepText,
    ) -> Result<Option<T>, StoreError> {
        self.prepared(sql, doing)?.query_row(params, read).optional().doing(doing)
    }

    /// Reads every row into a collection.
    fn rows<T, All: FromIterator<T>>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
        doing: ErrorStepText,
    ) -> Result<All, StoreError> {
        let mut query = self.prepared(sql, doing)?;
        let rows = query.query_map(params, read).and_then(Iterator::collect);
        rows.doing(doing)
    }

    /// Passes each row on as soon as it is read.
    fn each<T, E: From<StoreError>>(
        &self,
        sql: &str,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
        doing: ErrorStepText,
        mut each: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut query = self.prepared(sql, doing)?;
        let mut rows = query.query(params).doing(doing)?;
        while let Some(row) = rows.next().doing(doing)? {
            each(read(row).doing(doing)?)?;
        }
        Ok(())
    }

    /// Returns whether there is a row.
    fn has(
        &self,
        sql: &str,
        params: impl Params,
        doing: ErrorStepText,
    ) -> Result<bool, StoreError> {
        self.prepared(sql, doing)?.exists(params).doing(doing)
    }
}

impl PreparedStatements for Connection {
    fn prepared(&self, sql: &str, doing: ErrorStepText) -> Result<CachedStatement<'_>, StoreError> {
        self.prepare_cached(sql).doing(doing)
    }
}
