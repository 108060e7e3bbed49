//! Receipts of requests with a key: the answers that the same requests get again.
//!
//! A receipt is valid in the states that follow its request. A rollback to an earlier state keeps
//! the row, which is valid again once that rollback is undone. So rollbacks are recorded, and the
//! lookup goes back from the newest snapshot, at each rollback to its target.

use rusqlite::{Row, params};

use super::Batch;
use crate::store::{PreparedStatements, StoreError};

/// The answer to an earlier request with a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestReceipt {
    /// Hash of the request.
    pub(crate) request: String,
    pub(crate) snapshot: Option<i64>,
    /// JSON of ids and numbers.
    pub(crate) answer: String,
}

impl Batch<'_> {
    /// Returns the valid receipt of a key, by the key's hash.
    pub(crate) fn receipt(&self, name: &str) -> Result<Option<RequestReceipt>, StoreError> {
        const FIND: &str = "
            SELECT since, request, snapshot, answer
              FROM receipt
             WHERE name = ?1
             ORDER BY since DESC";
        let read = |row: &Row<'_>| {
            let kept =
                RequestReceipt { request: row.get(1)?, snapshot: row.get(2)?, answer: row.get(3)? };
            Ok((row.get(0)?, kept))
        };
        let all: Vec<(i64, RequestReceipt)> =
            self.tx.rows(FIND, [name], read, "look for receipts")?;
        for (since, receipt) in all {
            if self.follows(since)? {
                return Ok(Some(receipt));
            }
        }
        Ok(None)
    }

    /// Keeps the receipt of a key.
    pub(crate) fn keep_receipt(
        &self,
        name: &str,
        receipt: &RequestReceipt,
    ) -> Result<(), StoreError> {
        const KEEP: &str = "
            INSERT OR REPLACE INTO receipt (name, since, request, snapshot, answer, created_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let RequestReceipt { request, snapshot, answer } = receipt;
        let since = snapshot.map_or_else(|| self.newest_snapshot(), Ok)?;
        let row = params![name, since, request, snapshot, answer, self.now.0];
        self.tx.run(KEEP, row, "keep a receipt").map(drop)
    }

    /// Notes that the state is that of an earlier snapshot again.
    pub(crate) fn note_rollback(&self, target: i64) -> Result<(), StoreError> {
        const NOTE: &str = "INSERT OR REPLACE INTO restored (snapshot, target) VALUES (?1, ?2)";
        let own = self.changed_snapshot().map_or_else(|| self.newest_snapshot(), Ok)?;
        self.tx.run(NOTE, [own, target], "note a rollback").map(drop)
    }

    /// Drops the receipts and the rollbacks after a snapshot for good.
    pub(super) fn drop_receipts_after(&self, target: i64) -> Result<(), StoreError> {
        const RECEIPTS: &str = "DELETE FROM receipt WHERE ?1 < since";
        const ROLLBACKS: &str = "DELETE FROM restored WHERE ?1 < snapshot";
        self.tx.run(RECEIPTS, [target], "drop receipts")?;
        self.tx.run(ROLLBACKS, [target], "drop noted rollbacks").map(drop)
    }

    /// Returns whether the state before this write has what was done up to a snapshot.
    fn follows(&self, snapshot: i64) -> Result<bool, StoreError> {
        const LAST: &str = "
            SELECT target
              FROM restored
             WHERE ?1 < snapshot AND snapshot <= ?2
             ORDER BY snapshot DESC
             LIMIT 1";
        let mut at = self.newest_snapshot()?;
        while snapshot <= at {
            let read = |row: &Row<'_>| row.get(0);
            let target = self.tx.find(LAST, [snapshot, at], read, "look for rollbacks")?;
            // A target that is later than its rollback is of no writer.
            match target.filter(|it| *it < at) {
                Some(target) => at = target,
                None => return Ok(true),
            }
        }
        Ok(false)
    }
}
