use super::*;

/// Checks that a schedule that is polled at the times `at` runs at the times `expected`.
#[track_caller]
fn check_runs(mut schedule: Schedule, at: &[i64], expected: &[i64]) {
    let mut fired = Vec::new();
    for &now in at {
        if schedule.is_due(UnixMillis(now)) {
            schedule.done(UnixMillis(now), UnixMillis(now));
            fired.push(now);
        }
    }
    assert_eq!(fired, expected);
}

#[test]
fn a_new_schedule_is_due_at_once_and_then_each_interval() {
    check_runs(Schedule::every(100), &[7, 8, 106, 107, 108, 206, 207], &[7, 107, 207]);
}

#[test]
fn missed_runs_are_made_up_once() {
    check_runs(Schedule::every(100), &[0, 100_000, 100_001, 100_100], &[0, 100_000, 100_100]);
}

#[test]
fn a_clock_that_steps_back_delays_by_one_interval() {
    check_runs(Schedule::every(100), &[1_000_000, 5, 104, 105], &[1_000_000, 105]);
    check_runs(Schedule::every(100), &[i64::MAX, i64::MIN, i64::MAX], &[i64::MAX, i64::MAX]);
}

#[test]
fn a_zero_interval_counts_as_the_minimum() {
    check_runs(Schedule::every(0), &[0, 1, 9, 10, 11, 20], &[0, 10, 20]);
    check_runs(Schedule::every(-5), &[0, 9, 10], &[0, 10]);
}

#[test]
fn long_runs_are_followed_by_as_long_a_rest() {
    let mut schedule = Schedule::every(100);
    schedule.done(UnixMillis(0), UnixMillis(5_000));
    assert_eq!(schedule.sleep_ms(UnixMillis(5_000)), 5_000);
    assert!(!schedule.is_due(UnixMillis(9_999)));
    assert!(schedule.is_due(UnixMillis(10_000)));
}

#[test]
fn a_new_interval_counts_from_the_last_time() {
    let mut schedule = Schedule::every(100_000);
    schedule.done(UnixMillis(0), UnixMillis(0));
    assert_eq!(schedule.sleep_ms(UnixMillis(10)), SLEEP_MS_MAX, "it may change at any time");
    schedule.set(Some(500));
    assert_eq!(schedule.sleep_ms(UnixMillis(10)), 490);
    schedule.set(Some(5));
    assert!(schedule.is_due(UnixMillis(10)));
}

#[test]
fn nothing_is_due_while_paused() {
    let mut schedule = Schedule::every(100);
    schedule.set(None);
    assert!(!schedule.is_due(UnixMillis(0)) && !schedule.is_due(UnixMillis(i64::MAX)));
    assert_eq!(schedule.sleep_ms(UnixMillis(0)), SLEEP_MS_MAX);
    schedule.set(Some(100));
    assert!(schedule.is_due(UnixMillis(0)));
}

#[test]
fn the_next_run_may_be_brought_forward() {
    let mut schedule = Schedule::every(1_000);
    schedule.done(UnixMillis(0), UnixMillis(0));
    schedule.shorten_next(200);
    assert_eq!(schedule.sleep_ms(UnixMillis(50)), 150);
    assert!(schedule.is_due(UnixMillis(200)));
    schedule.done(UnixMillis(200), UnixMillis(200));
    assert_eq!(schedule.sleep_ms(UnixMillis(200)), 1_000);
    schedule.shorten_next(5_000);
    assert_eq!(schedule.sleep_ms(UnixMillis(200)), 1_000, "never later than the interval");
}

/// Returns the notifications for changes at these times, polled at every deadline until `end`.
fn notifications(changes: &[i64], window_ms: i64, end: i64) -> Vec<i64> {
    let mut debounce = NotificationThrottle::default();
    let mut fired = Vec::new();
    let mut look = |debounce: &mut NotificationThrottle, now| {
        if debounce.fire(UnixMillis(now), window_ms) {
            fired.push(now);
        }
    };
    let mut now = 0;
    for &change in changes.iter().chain([&end]) {
        while let Some(left_ms) = debounce.left_ms(UnixMillis(now), window_ms) {
            if change < now + left_ms {
                break;
            }
            now += left_ms;
            look(&mut debounce, now);
        }
        now = change;
        if change != end {
            debounce.note();
            look(&mut debounce, now);
        }
    }
    fired
}

#[test]
fn a_first_change_fires_at_once_and_a_burst_once_more() {
    assert!(notifications(&[], 500, 60_000).is_empty());
    assert_eq!(notifications(&[7], 500, 60_000), [7]);
    assert_eq!(notifications(&[7, 8, 9, 400], 500, 60_000), [7, 507]);
    assert_eq!(notifications(&[7, 507, 1007, 9000], 500, 60_000), [7, 507, 1007, 9000]);
    assert_eq!(notifications(&[7, 8], 0, 60_000), [7, 8]);
}

#[test]
fn ten_minutes_of_changes_fire_once_a_window_and_once_after_the_last() {
    let changes: Vec<i64> = (0..60_000).map(|idx| idx * 10).collect();
    let fired = notifications(&changes, 500, 700_000);
    let expected: Vec<i64> = (0..=1_200).map(|idx| idx * 500).collect();
    assert_eq!(fired, expected);
    assert_eq!(changes.last(), Some(&599_990));
}

#[test]
fn a_clock_that_steps_back_delays_a_notification_by_one_window() {
    let mut debounce = NotificationThrottle::default();
    debounce.note();
    assert!(debounce.fire(UnixMillis(1_000_000), 500));
    debounce.note();
    assert_eq!(debounce.left_ms(UnixMillis(5), 500), Some(500));
    assert!(debounce.fire(UnixMillis(505), 500));
    assert_eq!(debounce.left_ms(UnixMillis(506), 500), None);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(256))]

    #[test]
    fn debounce_fires_soon_enough_and_never_too_often(
        gaps in proptest::collection::vec(0..1500_i64, 0..60),
        window_ms in 0..700_i64,
    ) {
        let mut changes: Vec<i64> = Vec::new();
        for gap in gaps {
            changes.push(changes.last().copied().unwrap_or(0) + gap);
        }
        let fired = notifications(&changes, window_ms, 1_000_000);
        for &change in &changes {
            // Each change is announced within a window, and at once after quiet.
            let heard = fired.iter().find(|it| change <= **it).copied();
            let before = fired.iter().rev().find(|it| **it < change).copied();
            let latest = before.map_or(change, |it| change.max(it + window_ms));
            proptest::prop_assert!(heard.is_some_and(|it| it <= latest), "{change}: {fired:?}");
        }
        if 0 < window_ms {
            proptest::prop_assert!(fired.windows(2).all(|two| two[0] + window_ms <= two[1]));
        }
        // Nothing is announced twice, nor without a change.
        for idx in 0..fired.len() {
            let since = idx.checked_sub(1).map_or(i64::MIN, |it| fired[it]);
            let is_new = |it: &&i64| since <= **it && **it <= fired[idx];
            proptest::prop_assert!(changes.iter().any(|it| is_new(&it)));
        }
        let last = changes.last().copied();
        let n_after = fired.iter().filter(|it| last.is_some_and(|last| last <= **it)).count();
        let n_at_last = changes.iter().filter(|it| Some(**it) == last).count();
        proptest::prop_assert!(n_after == usize::from(last.is_some()) || 1 < n_at_last);
    }
}
