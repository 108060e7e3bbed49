//! The thread that keeps a replica in step with its log, and renews what this process leases.

use super::replica_status::{LatestReplicaStatus, space_facts};
use super::space_log::{LogWaitOutcome, PostgresSpaceLog};
use crate::memory::Memory;
use crate::server::StopSignal;
use std::time::Duration;

/// Milliseconds between two looks at a log whose server sends no notifications.
const POLL_MS: u64 = 1_000;

/// Milliseconds between two looks where it does: one may be lost.
const LOOK_MS: i64 = 5_000;

/// Milliseconds of one wait, after which a stop is noticed.
const WAIT_MS: i64 = 200;

/// Milliseconds after a failure until the next try; twice as many after each further one.
const BACKOFF_MS_MIN: u64 = 250;
const BACKOFF_MS_MAX: u64 = 8_000;

/// Follows the log until stopped.
pub(crate) fn run_follower(
    memory: &Memory,
    keeper: &PostgresSpaceLog,
    status: &LatestReplicaStatus,
    stop: &StopSignal,
) {
    let Some(sharing) = memory.sharing() else { return };
    let mut backoff_ms = BACKOFF_MS_MIN;
    let mut problem = None;
    let mut is_told = true;
    while !stop.is_set() {
        let followed = sharing.follow().map_err(|error| error.to_string());
        if followed == Ok(true) && !is_told {
            // What stands between has dropped the connection, and told nobody.
            keeper.listen_again();
        }
        let followed = followed.and_then(|_| keeper.renew_leases().map_err(|it| it.to_string()));
        let now = followed.err();
        status.set(space_facts(sharing, keeper, now.clone()));
        match (&now, &problem) {
            (Some(why), _) if problem.as_ref() != Some(why) => {
                log::warn!("the space is not followed: {why}");
            }
            (None, Some(_)) => log::info!("the space is followed again"),
            _ => (),
        }
        problem = now;
        if problem.is_some() {
            if stop.is_set_within(Duration::from_millis(backoff_ms)) {
                break;
            }
            backoff_ms = (2 * backoff_ms).min(BACKOFF_MS_MAX);
        } else {
            backoff_ms = BACKOFF_MS_MIN;
            is_told = wait_for_news(keeper, stop) != LogWaitOutcome::Nothing;
        }
    }
    keeper.release_leases();
}

/// Waits until there may be new entries, or a while.
fn wait_for_news(keeper: &PostgresSpaceLog, stop: &StopSignal) -> LogWaitOutcome {
    for _ in 0..LOOK_MS / WAIT_MS {
        match keeper.is_news_within(WAIT_MS) {
            LogWaitOutcome::Unknown => {
                stop.is_set_within(Duration::from_millis(POLL_MS));
                return LogWaitOutcome::Unknown;
            }
            LogWaitOutcome::Nothing if !stop.is_set() => (),
            outcome => return outcome,
        }
    }
    LogWaitOutcome::Nothing
}
