//! The thread that consolidates episodes by the user's provider.
//!
//! The loop only waits; [`ConsolidationDueState`] decides. One server of those on a file does it,
//! the holder of the lease, which is renewed while the provider thinks. A failure leaves the
//! episodes pending.

use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, bounded};

use crate::memory::knowledge::ConsolidateRequest;
use crate::memory::{Error, Memory};
use crate::model::consolidation_schedule::{
    ConsolidationDueState, ConsolidationRules, EpisodeBacklog,
};
use crate::providers::ProviderClient;
use crate::server::{StopSignal, spawn};
use crate::store::{ClaimableLeaseAge, LeaseManager};

/// Milliseconds between two looks at what waits.
const LOOK: Duration = Duration::from_secs(5);
/// Time between two renewals of the lease.
const RENEWAL: Duration = Duration::from_secs(30);
/// The name of the lease.
const LEASE: &str = "consolidate";

/// Consolidates whenever it is due, until stopped.
pub(crate) fn run_consolidations(
    memory: &Memory,
    provider: &ProviderClient,
    leases: &Arc<LeaseManager>,
    stop: &StopSignal,
) {
    let mut pace = ConsolidationDueState::default();
    loop {
        match turn(memory, provider, leases, &mut pace, stop) {
            // Episodes that still wait are looked at again at once.
            Ok(true) if !stop.is_set() => continue,
            Ok(_) => (),
            Err(error) => log::warn!("episodes are not consolidated: {error}"),
        }
        if stop.is_set_within(LOOK) {
            return;
        }
    }
}

/// Consolidates one worksheet, if it is due; returns whether it did.
pub(super) fn turn(
    memory: &Memory,
    provider: &ProviderClient,
    leases: &Arc<LeaseManager>,
    pace: &mut ConsolidationDueState,
    stop: &StopSignal,
) -> Result<bool, Error> {
    let settings = memory.consolidation_settings();
    let rules = ConsolidationRules {
        threshold: settings.threshold().into(),
        idle_ms: i64::try_from(settings.idle.as_millis()).unwrap_or(i64::MAX),
    };
    let now = memory.clock().now();
    if !pace.is_due(seen(memory)?, rules, now) {
        return Ok(false);
    }
    if !leases.take(LEASE, ClaimableLeaseAge::Expired, now)? {
        return Ok(false);
    }
    let outcome = with_renewals(memory, leases, || {
        let pause = |wait: Duration| stop.is_set_within(wait);
        memory.consolidate_by(provider, &ConsolidateRequest::of_all(), &pause)
    });
    leases.release(LEASE)?;
    match outcome {
        Ok(Some(report)) => {
            let (n, left) = (&report["episodes_processed"], &report["pending"]["total"]);
            log::info!("consolidated episodes={n} left={left} by {}", provider.name());
            pace.succeeded(seen(memory)?.newest);
            Ok(true)
        }
        Ok(None) => Ok(false),
        Err(error) => {
            let asked = error.asked_wait().and_then(|it| i64::try_from(it.as_millis()).ok());
            let wait_ms = pace.failed(memory.clock().now(), asked);
            log::warn!(
                "episodes go on waiting, for {} s at least: {}: {error}",
                wait_ms / 1_000,
                provider.name()
            );
            Ok(false)
        }
    }
}

fn seen(memory: &Memory) -> Result<EpisodeBacklog, Error> {
    memory.read(|reader| {
        let newest = reader.versions().snapshots()?.last;
        Ok(EpisodeBacklog { newest, n_pending: reader.pending_episodes(None)? })
    })
}

/// Does long work while another thread renews the lease.
fn with_renewals<T>(memory: &Memory, leases: &Arc<LeaseManager>, work: impl FnOnce() -> T) -> T {
    let (working, over) = bounded::<()>(0);
    let (leases, clock) = (Arc::clone(leases), memory.clock().clone());
    let renewing = spawn("lease", move || {
        while over.recv_timeout(RENEWAL) == Err(RecvTimeoutError::Timeout) {
            if let Err(error) = leases.take(LEASE, ClaimableLeaseAge::Expired, clock.now()) {
                log::warn!("the lease was not renewed: {error}");
            }
        }
    });
    let outcome = work();
    drop(working);
    // Without a thread for it, another server may do the same work, which the base refuses.
    if let Ok(thread) = renewing {
        super::super::join(thread);
    }
    outcome
}

#[cfg(test)]
#[cfg(feature = "providers")]
mod tests;
