//! The deadline of a query: SQLite ends the statement that runs when it passes, or soon after
//! nobody waits for the answer any more.
//!
//! Every question of this program takes milliseconds. One that takes longer than the deadline reads
//! a damaged or a hostile file, and would keep its thread for good.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;

use crate::model::clock::{Clock, Stopwatch};
use crate::store::{ErrorContext, StoreError};

/// Longest time of one question, in ms.
const QUERY_MS_MAX: i64 = 30_000;

/// Instructions of SQLite's virtual machine between two looks at the clock, about 0.1 ms; far more
/// where some of them compare the places of many words.
const INSTRUCTIONS: i32 = 1_000;

/// Returns whether nobody waits for an answer any more.
pub(crate) type IsCancelledFn = Arc<dyn Fn() -> bool + Send + Sync>;

/// The connection's question; `None` between questions.
#[derive(Clone, Default)]
pub(super) struct QueryDeadline(Arc<Mutex<Option<RunningQuestion>>>);

struct RunningQuestion {
    /// Its time so far.
    stopwatch: Stopwatch,
    is_cancelled: Option<IsCancelledFn>,
}

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

    /// Ends the statements of the question once `is_cancelled`, too.
    pub(super) fn end_when(&self, is_cancelled: &IsCancelledFn) {
        if let Some(question) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            question.is_cancelled = Some(Arc::clone(is_cancelled));
        }
    }

    /// Ends the question.
    pub(super) fn end(&self) {
        self.set(None);
    }

    fn set(&self, stopwatch: Option<Stopwatch>) {
        // The value is replaced as a whole.
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) =
            stopwatch.map(|stopwatch| RunningQuestion { stopwatch, is_cancelled: None });
    }

    /// Returns whether the statement that runs is to end.
    fn has_passed(&self) -> bool {
        let question = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        question.as_ref().is_some_and(|it| {
            QUERY_MS_MAX <= it.stopwatch.elapsed_ms()
                || it.is_cancelled.as_ref().is_some_and(|is_cancelled| is_cancelled())
        })
    }
}

#[cfg(test)]
mod tests;
