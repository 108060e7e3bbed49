//! Observes the status of a space for a process that only looks at its replica: it writes nothing,
//! not even its address.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::SpaceStatusPollerFn;
use super::replica_opening::{check_same_space, keeper_of, replica_at};
use crate::cli::CommandError;
use crate::cli::args::SharedSpaceFlags;
use crate::server::StopSignal;
use crate::server::postgres::{LatestReplicaStatus, ReplicaStatus, facts_of};
use crate::server::server_facts::ReplicaStatusFn;
use crate::store::SharedError;

/// Time between two looks at the log.
const LOOK: Duration = Duration::from_secs(5);

/// Returns what is shown of a file's space: with the flag, the log is looked at now and then, and
/// without, nobody is called.
pub(in crate::cli) fn observed_space(
    flag: Option<&SharedSpaceFlags>,
    db: &Path,
) -> Result<(ReplicaStatusFn, Option<SpaceStatusPollerFn>), CommandError> {
    let replica = replica_at(db)?;
    let Some(flag) = flag else {
        let db = db.to_owned();
        let known = move || {
            let replica = replica_at(&db).ok().flatten();
            let facts = replica.map(|it| ReplicaStatus::of_file(&it));
            serde_json::to_value(facts).unwrap_or_default()
        };
        return Ok((replica.map(|_| Arc::new(known) as _), None));
    };
    let replica = replica.ok_or(SharedError::NoReplica)?;
    let keeper = keeper_of(flag.url.as_ref().unwrap_or(&replica.url))?;
    check_same_space(&replica, &keeper)?;
    let status = LatestReplicaStatus::default();
    let shown = status.clone();
    let db = db.to_owned();
    let look = move |stop: &StopSignal| {
        loop {
            if let Ok(Some(replica)) = replica_at(&db) {
                status.set(facts_of(&replica, &keeper));
            }
            if stop.is_set_within(LOOK) {
                break;
            }
        }
    };
    let fact = move || serde_json::to_value(shown.get()).unwrap_or_default();
    Ok((Some(Arc::new(fact)), Some(Box::new(look))))
}
