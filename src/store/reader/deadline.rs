//! The deadline of a query: SQLite ends the statement that runs when it passes.
//!
//! Every question of this program takes milliseconds. One that takes longer than the deadline reads
//! a damaged or a hostile file, and would keep its thread for good.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::store::{ErrorStep, StoreError};

/// Longest time of one question.
pub(crate) const QUERY_MAX: Duration = Duration::from_secs(30);

/// Instructions of SQLite's virtual machine between two looks at the clock, about 1 ms.
const INSTRUCTIONS: i32 = 10_000;

/// The instant at which the connection's statements end; `None` for never.
#[derive(Clone, Debug, Default)]
pub(super) struct Deadline(Arc<Mutex<Option<Instant>>>);

impl Deadline {
    /// Makes the connection keep the deadline that is set.
    pub(super) fn attach(&self, conn: &mut Connection) -> Result<(), StoreError> {
        let deadline = self.clone();
        conn.progress_handler(INSTRUCTIONS, Some(move || deadline.has_passed()))
            .doing("set the longest time of a query")
    }

    /// Sets the deadline, or none.
    pub(super) fn set(&self, deadline: Option<Instant>) {
        // An instant is whole at every moment.
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = deadline;
    }

    fn has_passed(&self) -> bool {
        let deadline = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        deadline.is_some_and(|it| it <= Instant::now())
    }
}

#[cfg(test)]
mod tests;
