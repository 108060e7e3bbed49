//! Restores altered rows of the list of tables.
//!
//! A table has its name twice in its row of `sqlite_schema`, and its definition. Two of the three
//! that are those of the schema tell which table the row is of; its first page stays.

use rusqlite::{Connection, params};

use crate::store::schema::{comparison, newest, version};
use crate::store::{PreparedStatements, StoreError};

/// Gives altered rows their names and definitions back, and returns the tables. The connection
/// allows writing to the schema, and is to be opened anew where there are any.
pub(super) fn restore(conn: &Connection) -> Result<Vec<String>, StoreError> {
    const RESTORE: &str = "
        UPDATE sqlite_schema
           SET type = 'table', name = ?1, tbl_name = ?1, sql = ?2
         WHERE rootpage <> 0
           AND 2 <= (name = ?1) + (tbl_name = ?1) + (sql = ?2)
           AND (type <> 'table' OR name <> ?1 OR tbl_name <> ?1 OR sql <> ?2)";
    // The number itself may be altered.
    let version = version(conn)?;
    let version = if (1..=newest()).contains(&version) { version } else { newest() };
    let mut restored = Vec::new();
    for (object, definition) in comparison::statements(version)? {
        if object.kind == "table"
            && 0 < conn.run(RESTORE, params![object.name, definition], "read the list of tables")?
        {
            restored.push(object.name);
        }
    }
    Ok(restored)
}
