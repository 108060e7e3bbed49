//! The thread that records the sessions of clients in the ledgers.
//!
//! Begin and end of a session are written at once, and its activity, if any, once in an interval
//! and at the end: a crash costs no client and no more than one interval of counting.

use std::time::Duration;

use crossbeam_channel::Receiver;

use crate::mcp::QUIET_TARGET;
use crate::model::clock::{Clock, UnixMillis};
use crate::model::schedule::Schedule;
use crate::server::StopSignal;
use crate::server::client_presence_and_history::{
    ChangedSessionsToPersist, ClientSessionRecord, LiveSessionRegistry,
};
use crate::server::jsonl_files::ClientConnectionLedgers;

/// Lines after which the ledgers are compacted.
const COMPACT_LINES: usize = 1_000;

/// Maximum entries that wait for a writable folder; older ones are dropped.
const PENDING_MAX: usize = 1_000;

/// Records sessions until stopped; then once more, when every session has ended.
pub(crate) fn run_session_history(
    registry: &LiveSessionRegistry,
    history_changes: &Receiver<()>,
    history: &ClientConnectionLedgers,
    interval: Duration,
    clock: &Clock,
    stop: &StopSignal,
) {
    let interval_ms = i64::try_from(interval.as_millis()).unwrap_or(i64::MAX);
    let mut schedule = Schedule::every(interval_ms);
    let stopwatch = clock.stopwatch();
    let elapsed = || UnixMillis(stopwatch.elapsed_ms());
    let mut ledger = ClientLedgerAppender {
        history,
        pending: Vec::new(),
        n_lines: COMPACT_LINES,
        last_error: None,
    };
    loop {
        let began = elapsed();
        let which = if schedule.is_due(began) {
            ChangedSessionsToPersist::All
        } else {
            ChangedSessionsToPersist::Urgent
        };
        ledger.write(registry.take_changed(which, clock.now()));
        let ended = elapsed();
        if which == ChangedSessionsToPersist::All {
            schedule.done(began, ended);
        }
        let wait = Duration::from_millis(schedule.sleep_ms(ended).unsigned_abs());
        if stop.is_set_or_woken(history_changes, wait) {
            break;
        }
    }
    let now = clock.now();
    registry.close(now);
    ledger.write(registry.take_changed(ChangedSessionsToPersist::All, now));
}

/// Appends entries to the ledgers, and keeps those that are still to be added.
struct ClientLedgerAppender<'a> {
    history: &'a ClientConnectionLedgers,
    pending: Vec<ClientSessionRecord>,
    /// Lines since the last compaction.
    n_lines: usize,
    /// The last error, which is not logged again while it lasts.
    last_error: Option<String>,
}

impl ClientLedgerAppender<'_> {
    fn write(&mut self, news: Vec<ClientSessionRecord>) {
        self.pending.extend(news);
        let n_waiting = self.pending.len();
        self.pending.drain(..n_waiting.saturating_sub(PENDING_MAX));
        let mut outcome = self.history.append(&mut self.pending);
        let n_written = n_waiting.saturating_sub(self.pending.len());
        if 0 < n_written {
            log::debug!(target: QUIET_TARGET, "sessions written down n={n_written}");
        }
        self.n_lines += n_written;
        if COMPACT_LINES <= self.n_lines {
            self.n_lines = 0;
            outcome = outcome.and(self.history.compact());
        }
        let last_error = outcome.err().map(|it| it.to_string());
        if let Some(error) = last_error.as_ref().filter(|it| self.last_error.as_ref() != Some(it)) {
            log::warn!("sessions were not written down: {error}");
        }
        self.last_error = last_error;
    }
}

#[cfg(test)]
mod tests;
