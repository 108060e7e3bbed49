//! When to consolidate: enough episodes wait, nothing changed for a while, and the last failure is
//! long enough ago. Values only: the time and what was seen are arguments.

use crate::model::clock::UnixMillis;

/// The first wait after a failure; it doubles with each further one.
const WAIT_MS_MIN: i64 = 60_000;
/// Longest wait after a failure.
const WAIT_MS_MAX: i64 = 3_600_000;

/// The state of a memory, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EpisodeBacklog {
    /// The newest snapshot, whoever made it.
    pub(crate) newest: i64,
    pub(crate) n_pending: u64,
}

/// The rules that decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConsolidationRules {
    /// Pending episodes that are enough.
    pub(crate) threshold: u64,
    /// Time without a change that is long enough.
    pub(crate) idle_ms: i64,
}

/// The state that decides whether a consolidation is due: the last change seen, and the failures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ConsolidationDueState {
    /// The newest snapshot seen, and when it was first seen.
    seen: Option<(i64, UnixMillis)>,
    n_failures: u32,
    /// The last failure, and the wait after it.
    failed: Option<(UnixMillis, i64)>,
}

impl ConsolidationDueState {
    /// Returns whether to consolidate now. The clock may step back, which never makes it wait
    /// longer than the rules say.
    pub(crate) fn is_due(
        &mut self,
        pending: EpisodeBacklog,
        rules: ConsolidationRules,
        now: UnixMillis,
    ) -> bool {
        let since = match self.seen {
            Some((newest, since)) if newest == pending.newest => since.min(now),
            _ => now,
        };
        self.seen = Some((pending.newest, since));
        self.failed = self.failed.map(|(at, wait_ms)| (at.min(now), wait_ms));
        let is_waiting = self.failed.is_some_and(|(at, wait_ms)| now.since(at) < wait_ms);
        !is_waiting && rules.threshold <= pending.n_pending && rules.idle_ms <= now.since(since)
    }

    /// Records a success that made a snapshot, which is no change to wait for.
    pub(crate) fn succeeded(&mut self, newest: i64) {
        let since = self.seen.map_or(UnixMillis(0), |it| it.1);
        *self = ConsolidationDueState { seen: Some((newest, since)), n_failures: 0, failed: None };
    }

    /// Records a failure, and how long the provider asks to be left alone; returns the wait.
    pub(crate) fn failed(&mut self, now: UnixMillis, asked_ms: Option<i64>) -> i64 {
        let usual_ms = WAIT_MS_MIN.saturating_mul(1 << self.n_failures.min(10)).min(WAIT_MS_MAX);
        let wait_ms = asked_ms.unwrap_or(0).clamp(usual_ms, 24 * WAIT_MS_MAX);
        self.n_failures = self.n_failures.saturating_add(1);
        self.failed = Some((now, wait_ms));
        wait_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: ConsolidationRules = ConsolidationRules { threshold: 5, idle_ms: 60_000 };

    fn due(pace: &mut ConsolidationDueState, newest: i64, n_pending: u64, at_s: i64) -> bool {
        pace.is_due(EpisodeBacklog { newest, n_pending }, RULES, UnixMillis(at_s * 1_000))
    }

    #[test]
    fn enough_episodes_and_quiet_begin_it() {
        let mut pace = ConsolidationDueState::default();
        assert!(!due(&mut pace, 1, 9, 0), "seen for the first time");
        assert!(!due(&mut pace, 1, 9, 59));
        assert!(due(&mut pace, 1, 9, 60));
        assert!(!due(&mut pace, 2, 9, 61), "somebody writes");
        assert!(!due(&mut pace, 3, 9, 120));
        assert!(due(&mut pace, 3, 5, 180));
        assert!(!due(&mut pace, 3, 4, 500), "too few wait");
    }

    #[test]
    fn its_own_snapshot_is_no_reason_to_wait() {
        let mut pace = ConsolidationDueState::default();
        due(&mut pace, 1, 60, 0);
        assert!(due(&mut pace, 1, 60, 60));
        pace.succeeded(2);
        assert!(due(&mut pace, 2, 35, 61));
    }

    #[test]
    fn failures_space_it_out_up_to_an_hour() {
        let mut pace = ConsolidationDueState::default();
        due(&mut pace, 1, 9, 0);
        let waits: Vec<i64> =
            (0..9).map(|_| pace.failed(UnixMillis(100_000), None) / 60_000).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert!(!due(&mut pace, 1, 9, 100 + 3_599));
        assert!(due(&mut pace, 1, 9, 100 + 3_600));
        pace.succeeded(2);
        assert_eq!(pace.failed(UnixMillis(0), Some(7_200_000)), 7_200_000, "as asked");
        assert_eq!(pace.failed(UnixMillis(0), Some(1)), 120_000, "no sooner than usual");
    }

    #[test]
    fn a_clock_that_steps_back_does_not_stop_it() {
        let mut pace = ConsolidationDueState::default();
        due(&mut pace, 1, 9, 1_000_000);
        pace.failed(UnixMillis(1_000_000_000), None);
        assert!(!due(&mut pace, 1, 9, 0));
        assert!(due(&mut pace, 1, 9, 60));
    }
}
