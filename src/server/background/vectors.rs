//! The thread that gives vectors to texts, by the source that the user named.
//!
//! The loop only waits. Texts are looked for after each change of the memory, by one server of
//! those on a file. A source that fails is left alone, each time for longer.

use std::sync::Arc;
use std::time::Duration;

use crate::memory::{Error, Memory};
use crate::model::vector::model_number;
use crate::providers::ProviderClient;
use crate::server::StopSignal;
use crate::store::reader::ChangeDetectionCounters;
use crate::store::{ClaimableLeaseAge, LeaseManager, NodeRowId};

/// Time between two looks for changes.
const LOOK: Duration = Duration::from_secs(2);
/// The first and the longest wait after a failure.
const WAIT_MIN: Duration = Duration::from_secs(10);
const WAIT_MAX: Duration = Duration::from_secs(600);
/// The name of the lease.
const LEASE: &str = "vectors";

/// Gives vectors to texts until stopped.
pub(crate) fn run_vectors(
    memory: &Memory,
    source: &ProviderClient,
    leases: &Arc<LeaseManager>,
    stop: &StopSignal,
) {
    let mut seen = None;
    let mut wait = LOOK;
    loop {
        match fill(memory, source, leases, &mut seen, stop) {
            Ok(()) => wait = LOOK,
            Err(why) => {
                wait = if wait == LOOK { WAIT_MIN } else { (2 * wait).min(WAIT_MAX) };
                let seconds = wait.as_secs();
                log::warn!("texts get no vectors for {seconds} s: {}: {why}", source.name());
            }
        }
        if stop.is_set_within(wait) {
            return;
        }
    }
}

/// Gives vectors to all texts, if something changed since they were complete.
pub(super) fn fill(
    memory: &Memory,
    source: &ProviderClient,
    leases: &Arc<LeaseManager>,
    seen: &mut Option<ChangeDetectionCounters>,
    stop: &StopSignal,
) -> Result<(), String> {
    let told = |error: Error| error.to_string();
    let newest = memory.read(|reader| Ok::<_, Error>(reader.change_counters()?)).map_err(told)?;
    let is_held = || {
        leases
            .take(LEASE, ClaimableLeaseAge::Expired, memory.clock().now())
            .map_err(|it| it.to_string())
    };
    // A restored backup has the vectors of its time, and perhaps those of another model.
    let same_file = seen.filter(|it| it.views == newest.views);
    if same_file.is_some_and(|it| it.is_same_head(&newest)) || !is_held()? {
        return Ok(());
    }
    let writer = memory.vector_writer().map_err(told)?;
    if same_file.is_none() {
        writer.drop_others(model_number(source.model())).map_err(|it| it.to_string())?;
    }
    let pause = |wait: Duration| stop.is_set_within(wait);
    let mut from = NodeRowId(0);
    while !stop.is_set() && is_held()? {
        match memory.embed_some(source, &writer, from, &pause).map_err(|it| it.to_string())? {
            Some(next) => from = next,
            None => {
                *seen = Some(newest);
                break;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
#[cfg(feature = "providers")]
mod tests;
