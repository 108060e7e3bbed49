//! The state of a replica: where it stands, how far behind it is, and who holds which lease.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use super::space_log::{PostgresSpaceLog, RootCompileLease};
use crate::store::SharedError;
use crate::store::replication::{Replica, Sequencer, WriterReplication, check_standing};

/// The standing of a replica beside its log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReplicaSyncStatus {
    /// It has every entry.
    InStep,
    /// It lacks some.
    Behind,
    /// It and the log differ.
    Diverged,
    /// The server is not reachable, or was not asked yet.
    #[default]
    Offline,
    /// A change past the log waits to be published.
    Unpublished,
}

/// Facts about a replica and its space.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ReplicaStatus {
    pub(crate) space: String,
    pub(crate) standing: ReplicaSyncStatus,
    pub(crate) epoch: i64,
    pub(crate) seq: i64,
    /// The log's last entry; `None`: the server was not reachable.
    pub(crate) head: Option<i64>,
    /// Entries that the replica lacks.
    pub(crate) lag: Option<i64>,
    pub(crate) leases: Vec<RootCompileLease>,
    /// The reason why it does not follow.
    pub(crate) problem: Option<String>,
}

impl ReplicaStatus {
    /// Returns the facts that the file itself knows.
    pub(crate) fn of_file(replica: &Replica) -> ReplicaStatus {
        ReplicaStatus {
            space: replica.url.clone(),
            epoch: replica.place.epoch,
            seq: replica.place.seq,
            ..ReplicaStatus::default()
        }
    }
}

/// The latest facts, which the follower keeps.
#[derive(Clone, Debug, Default)]
pub(crate) struct LatestReplicaStatus(Arc<Mutex<ReplicaStatus>>);

impl LatestReplicaStatus {
    pub(crate) fn get(&self) -> ReplicaStatus {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, facts: ReplicaStatus) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = facts;
    }
}

/// Returns the facts of an open replica.
pub(super) fn space_facts(
    sharing: &WriterReplication,
    keeper: &PostgresSpaceLog,
    problem: Option<String>,
) -> ReplicaStatus {
    match sharing.replica() {
        Ok(replica) => ReplicaStatus { problem, ..facts_of(&replica, keeper) },
        Err(error) => {
            ReplicaStatus { problem: Some(error.to_string()), ..ReplicaStatus::default() }
        }
    }
}

/// Compares a replica with its log.
pub(crate) fn facts_of(replica: &Replica, keeper: &PostgresSpaceLog) -> ReplicaStatus {
    let place = replica.place;
    let mut facts = ReplicaStatus::of_file(replica);
    let head = match keeper.head() {
        Ok(head) => head,
        Err(error) => {
            facts.problem = Some(error.to_string());
            return facts;
        }
    };
    facts.head = Some(head.place.seq);
    let is_epoch = head.place.epoch == place.epoch;
    facts.lag = is_epoch.then(|| (head.place.seq - place.seq).max(0));
    facts.leases = keeper.leases().unwrap_or_default();
    let next = match is_epoch && place.seq < head.place.seq {
        true => keeper.parts(place.epoch, (place.seq, i64::MAX)).map(|it| it.into_iter().next()),
        false => Ok(None),
    };
    let checked = next.and_then(|next| check_standing(replica, &head, next.as_ref()));
    facts.standing = match &checked {
        Err(SharedError::Unpublished { .. }) => ReplicaSyncStatus::Unpublished,
        Err(_) => ReplicaSyncStatus::Diverged,
        Ok(()) if is_epoch && facts.lag == Some(0) => ReplicaSyncStatus::InStep,
        Ok(()) => ReplicaSyncStatus::Behind,
    };
    facts.problem = checked.err().map(|it| it.to_string());
    facts
}
