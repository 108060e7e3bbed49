//! Compares tables whose rows follow from others with what they have to be, and makes them again.
//!
//! The view `x_made` says which rows the table `x` has to have, column by column.

use rusqlite::Connection;

use super::count;
use crate::store::{ErrorContext, StoreError};

/// Returns how many rows a table has that its view does not have, and how many it lacks.
pub(super) fn surplus_and_missing(
    conn: &Connection,
    table: &'static str,
) -> Result<(i64, i64), StoreError> {
    let beyond = |rows: &str, others: &str| {
        let sql =
            format!("SELECT count(*) FROM (SELECT * FROM {rows} EXCEPT SELECT * FROM {others})");
        count(conn, &sql)
    };
    let made = format!("{table}_made");
    Ok((beyond(table, &made)?, beyond(&made, table)?))
}

/// Gives a table the rows that its view says, each once.
pub(super) fn make_again(conn: &Connection, table: &'static str) -> Result<(), StoreError> {
    let sql = format!(
        "DELETE FROM {table};
         INSERT OR IGNORE INTO {table} SELECT * FROM {table}_made;"
    );
    conn.execute_batch(&sql).doing("make rows again that follow from others")
}
