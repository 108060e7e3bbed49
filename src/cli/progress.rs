//! Progress of long work: a line on the terminal that is overwritten in place.

use std::cell::Cell;
use std::io::Write;

use super::CommandStreamsAndClock;
use crate::model::clock::Stopwatch;

/// Time in ms before progress is shown.
const DELAY_MS: i64 = 300;

/// Least time in ms between two progress lines.
const EVERY_MS: i64 = 100;

/// A progress line, shown only if stderr is a terminal.
pub(super) struct ProgressLine {
    is_shown: bool,
    /// The activity and its unit: `compiling`, `files`.
    words: (&'static str, &'static str),
    stopwatch: Stopwatch,
    /// Milliseconds from the start to the last line.
    last: Cell<Option<i64>>,
}

impl ProgressLine {
    pub(super) fn new(
        context: &CommandStreamsAndClock<'_>,
        verb: &'static str,
        unit: &'static str,
    ) -> ProgressLine {
        ProgressLine {
            is_shown: context.err.is_terminal(),
            words: (verb, unit),
            stopwatch: context.clock.stopwatch(),
            last: Cell::new(None),
        }
    }

    pub(super) fn note(&self, n_done: u64, n_all: u64) {
        if !self.is_shown {
            return;
        }
        let elapsed_ms = self.stopwatch.elapsed_ms();
        let is_due = match self.last.get() {
            None => DELAY_MS <= elapsed_ms,
            Some(last) => EVERY_MS <= elapsed_ms - last,
        };
        if is_due {
            self.last.set(Some(elapsed_ms));
            let (verb, unit) = self.words;
            let percent = n_done.saturating_mul(100) / n_all.max(1);
            let _ =
                write!(std::io::stderr(), "\r\x1b[K{verb}: {n_done}/{n_all} {unit} ({percent} %)");
        }
    }

    pub(super) fn clear(&self) {
        if self.last.get().is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
