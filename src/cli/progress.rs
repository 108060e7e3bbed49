//! How far long work is: a line on the terminal that is overwritten in place.

use std::cell::Cell;
use std::io::Write;

use super::World;
use crate::model::clock::{Clock, Millis};

/// Work that takes longer shows how far it is.
const PATIENCE_MS: i64 = 300;

/// Shortest time between two progress lines.
const EVERY_MS: i64 = 100;

/// Shows nothing unless somebody watches stderr.
pub(super) struct Progress {
    is_shown: bool,
    /// What is done, and to what: `compiling`, `files`.
    words: (&'static str, &'static str),
    clock: Clock,
    started: Millis,
    last: Cell<Option<Millis>>,
}

impl Progress {
    pub(super) fn new(world: &World<'_>, verb: &'static str, unit: &'static str) -> Progress {
        let clock = world.clock.clone();
        Progress {
            is_shown: world.is_err_terminal,
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
            None => PATIENCE_MS <= now.since(self.started),
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
