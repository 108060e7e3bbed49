//! The thread that copies a long write-ahead log into the database, so that no answer waits for it.

use std::time::Duration;

use crate::server::StopSignal;
use crate::store::WriteAheadLog;

/// Time to sleep while the log is short; the commit that makes it long wakes the thread.
const SLEEP: Duration = Duration::from_secs(3600);

/// Copies the log whenever it is long, until stopped.
pub(crate) fn run_checkpoints(log: &WriteAheadLog, stop: &StopSignal) {
    while !stop.is_set_or_woken(log.long_log(), SLEEP) {
        if let Err(error) = log.copy() {
            // The next commit wakes the thread again.
            log::warn!("the log was not copied: {error}");
        }
    }
}
