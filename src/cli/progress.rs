//! Progress of long work: a line on the terminal that is overwritten in place.

use std::cell::Cell;
use std::io::Write;

use super::Context;
use crate::model::clock::{Clock, Millis};

/// Time in ms before progress is shown.
const DELAY_MS: i64 = 300;

/// Least time in ms between two progress lines.
const EVERY_MS: i64 = 100;

/// A progress line, shown only if stderr is a terminal.
pub(super) struct ProgressLine {
    is_shown: bool,
    /// The activity and its unit: `compiling`, `files`.
    words: (&'static str, &'static str),
    clock: Clock,
    started: Millis,
    last: Cell<Option<Millis>>,
}

impl ProgressLine {
    pub(super) fn new(
        context: &Context<'_>,
        verb: &'static str,
        unit: &'static str,
    ) -> ProgressLine {
        let clock = context.clock.clone();
        ProgressLine {
            is_shown: context.is_err_terminal,
            words: (verb, unit),
            started: clock.now(),
            clock,
            last: Cell::new(None),
        }
    }

    pub(super) fn note(&self, n_done: u64, n_all: u64) {
        if !self.is_shown {
            return;
        }
        let now = self.clock.now();
        let is_due = match self.last.get() {
            None => DELAY_MS <= now.since(self.started),
            Some(last) => EVERY_MS <= now.since(last),
        };
        if is_due {
            self.last.set(Some(now));
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
