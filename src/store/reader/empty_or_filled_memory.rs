//! Whether the memory holds anything yet.

use rusqlite::params;

use super::Reader;
use crate::model::clock::UnixMillis;
use crate::store::work_leases::{COMPILE_LEASE, LEASE_MS, RESCAN_LEASE};
use crate::store::{PreparedStatements, StoreError};

/// The state of a memory before and after its first text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PopulationState {
    /// Nothing is in it.
    Empty,
    /// Nothing is in it, and a server compiles its folder for the first time.
    Begun,
    /// It has nodes.
    Filled,
}

impl Reader {
    /// Returns whether the memory has a node, or a process is about to add the first ones.
    pub(crate) fn filling(&self, now: UnixMillis) -> Result<PopulationState, StoreError> {
        // A compile adds its root in the snapshot that adds the nodes.
        const FILLING: &str = "
            SELECT CASE
                   WHEN EXISTS (SELECT 1 FROM node) THEN 2
                   WHEN EXISTS (SELECT 1 FROM root) THEN 0
                   WHEN EXISTS (SELECT 1
                                  FROM lease
                                 WHERE (name GLOB ?1 || '*' OR name GLOB ?4 || '*')
                                   AND expires_at > ?2
                                   AND expires_at <= ?2 + ?3) THEN 1
                   ELSE 0
                   END";
        let of = params![RESCAN_LEASE, now.0, LEASE_MS, COMPILE_LEASE];
        let state: Option<i64> =
            self.conn.find(FILLING, of, |row| row.get(0), "see what is there")?;
        Ok(match state {
            Some(2) => PopulationState::Filled,
            Some(1) => PopulationState::Begun,
            _ => PopulationState::Empty,
        })
    }
}
