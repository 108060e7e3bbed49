//! Running leases for readers: they tell what other processes do to the same memory.

use rusqlite::{Row, params};

use super::Reader;
use crate::model::clock::UnixMillis;
use crate::store::work_leases::LEASE_MS;
use crate::store::{LeaseInForce, PreparedStatements, StoreError};

impl Reader {
    /// Returns the leases that somebody holds at `now`, by name.
    pub(crate) fn running_leases(&self, now: UnixMillis) -> Result<Vec<LeaseInForce>, StoreError> {
        const RUNNING: &str = "
            SELECT name, holder
              FROM lease
             WHERE ?1 < expires_at AND expires_at <= ?2
             ORDER BY name";
        let read = |row: &Row<'_>| Ok(LeaseInForce { name: row.get(0)?, holder: row.get(1)? });
        let params = params![now.0, now.0.saturating_add(LEASE_MS)];
        self.conn.rows(RUNNING, params, read, "read the leases")
    }
}
