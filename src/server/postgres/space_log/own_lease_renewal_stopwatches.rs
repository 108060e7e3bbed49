//! The leases that this process holds, with the time since each was renewed.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::clock::{Clock, Stopwatch};

/// Milliseconds after which a lease is renewed; it expires after three times as many.
const RENEW_MS: i64 = 30_000;

/// The leases that this process holds, as far as it knows.
#[derive(Debug, Default)]
pub(super) struct OwnLeaseRenewalStopwatches(BTreeMap<String, Stopwatch>);

impl OwnLeaseRenewalStopwatches {
    /// Notes that a lease was taken or renewed.
    pub(super) fn note(&mut self, name: &str) {
        self.0.insert(name.to_owned(), Clock::System.stopwatch());
    }

    /// Notes that another process has a lease.
    pub(super) fn forget(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// Returns whether a lease is held and need not be renewed yet.
    pub(super) fn is_fresh(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|it| it.elapsed_ms() < RENEW_MS)
    }

    /// Returns whether some lease has to be renewed.
    pub(super) fn is_due(&self) -> bool {
        self.0.values().any(|it| RENEW_MS <= it.elapsed_ms())
    }

    /// Notes that these leases were renewed, and all others lost.
    pub(super) fn renewed(&mut self, names: &BTreeSet<String>) {
        self.0.retain(|name, _| names.contains(name));
        names.iter().for_each(|it| self.note(it));
    }

    /// Forgets all leases, and returns whether there were any.
    pub(super) fn forget_all(&mut self) -> bool {
        !std::mem::take(&mut self.0).is_empty()
    }
}
