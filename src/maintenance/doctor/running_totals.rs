//! Compares the running totals with the rows that they count.

use std::path::Path;

use rusqlite::{Connection, Row};

use super::{CheckStatus, first_few, verdict};
use crate::store::{PreparedStatements, StoreError};

/// Checks each total of nodes and references.
pub(super) fn examine(conn: &Connection, _: &Path) -> Result<(CheckStatus, String), StoreError> {
    const OFF: &str = "
        SELECT DISTINCT counted || 's of kind ' || kind
          FROM (SELECT * FROM (SELECT counted, kind, n_rows, tokens FROM running_total
                                WHERE n_rows <> 0 OR tokens <> 0
                               EXCEPT
                               SELECT counted, kind, n_rows, tokens FROM running_total_made)
                 UNION ALL
                SELECT * FROM (SELECT counted, kind, n_rows, tokens FROM running_total_made
                               EXCEPT
                               SELECT counted, kind, n_rows, tokens FROM running_total))
         ORDER BY 1";
    let read = |row: &Row<'_>| row.get(0);
    let off: Vec<String> = conn.rows(OFF, [], read, "compare the totals")?;
    let bad = format!("other numbers than there are rows: {}", first_few(&off));
    let fine = "nodes and references are as many as the totals say".to_owned();
    Ok(verdict(off.is_empty(), fine, bad))
}
