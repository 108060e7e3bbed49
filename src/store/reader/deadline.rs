//! The deadline of a query: SQLite ends the statement that runs when it passes.
//!
//! Every question of this program takes milliseconds. One that takes longer than the deadline reads
//! a damaged or a hostile file, and would keep its thread for good.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;

use crate::model::clock::{Clock, Stopwatch};
use crate::store::{ErrorContext, StoreError};

/// Longest time of one question, in ms.
const QUERY_MS_MAX: i64 = 30_000;

/// Instructions of SQLite's virtual machine between two looks at the clock, about 1 ms.
const INSTRUCTIONS: i32 = 10_000;

/// The time of the connection's question so far; `None` between questions.
#[derive(Clone, Debug, Default)]
pub(super) struct QueryDeadline(Arc<Mutex<Option<Stopwatch>>>);

impl QueryDeadline {
    /// Makes the connection keep the deadline that is set.
    pub(super) fn attach(&self, conn: &mut Connection) -> Result<(), StoreError> {
        let deadline = self.clone();
        conn.progress_handler(INSTRUCTIONS, Some(move || deadline.has_passed()))
            .doing("set the longest time of a query")
    }

    /// Begins a question.
    pub(super) fn begin(&self) {
        self.set(Some(Clock::System.stopwatch()));
    }

    /// Ends the question.
    pub(super) fn end(&self) {
        self.set(None);
    }

    fn set(&self, stopwatch: Option<Stopwatch>) {
        // The value is replaced as a whole.
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = stopwatch;
    }

    fn has_passed(&self) -> bool {
        let began = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        began.as_ref().is_some_and(|it| QUERY_MS_MAX <= it.elapsed_ms())
    }
}

#[cfg(test)]
mod tests;
