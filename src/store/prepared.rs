//! Runs statements that each connection prepares once, under the name of their step.

use rusqlite::{Connection, OptionalExtension, Params, Row};

use super::{Doing, StoreError};

/// Runs prepared statements; `doing` fits after "cannot".
pub(crate) trait Prepared {
    /// Changes rows, and returns how many.
    fn run(&self, sql: &str, params: impl Params, doing: Step) -> Result<usize, StoreError>;

    /// Reads the one row that there is.
    fn row<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
        doing: Step,
    ) -> Result<T, StoreError>;

    /// Reads the first row, if there is one.
    fn find<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
        doing: Step,
    ) -> Result<Option<T>, StoreError>;

    /// Reads every row into a collection.
    fn rows<T, All: FromIterator<T>>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
        doing: Step,
    ) -> Result<All, StoreError>;

    /// Tells whether there is a row.
    fn has(&self, sql: &str, params: impl Params, doing: Step) -> Result<bool, StoreError>;
}

/// The name of a step, as a verb phrase.
type Step = &'static str;

impl Prepared for Connection {
    fn run(&self, sql: &str, params: impl Params, doing: Step) -> Result<usize, StoreError> {
        self.prepare_cached(sql).and_then(|mut it| it.execute(params)).doing(doing)
    }

    fn row<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
        doing: Step,
    ) -> Result<T, StoreError> {
        self.prepare_cached(sql).and_then(|mut it| it.query_row(params, read)).doing(doing)
    }

    fn find<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
        doing: Step,
    ) -> Result<Option<T>, StoreError> {
        self.prepare_cached(sql)
            .and_then(|mut it| it.query_row(params, read).optional())
            .doing(doing)
    }

    fn rows<T, All: FromIterator<T>>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
        doing: Step,
    ) -> Result<All, StoreError> {
        let mut query = self.prepare_cached(sql).doing(doing)?;
        let rows = query.query_map(params, read).and_then(Iterator::collect);
        rows.doing(doing)
    }

    fn has(&self, sql: &str, params: impl Params, doing: Step) -> Result<bool, StoreError> {
        self.prepare_cached(sql).and_then(|mut it| it.exists(params)).doing(doing)
    }
}
