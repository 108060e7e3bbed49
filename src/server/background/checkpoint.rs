//! The thread that copies a long log into the database, so that no answer waits for it.

use std::time::Duration;

use crate::server::Stop;
use crate::store::Log;

/// How long to sleep while no log is long; the commit that makes it so wakes the thread.
const SLEEP: Duration = Duration::from_secs(3600);

/// Copies the log whenever it is long, until it is told to stop.
pub(crate) fn run_checkpoints(log: &Log, stop: &Stop) {
    while !stop.is_set_or_woken(log.long_log(), SLEEP) {
        if let Err(error) = log.copy() {
            // The next commit rings again.
            log::warn!("the log was not copied: {error}");
        }
    }
}
