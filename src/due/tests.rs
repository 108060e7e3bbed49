use super::*;

/// Plays a schedule: at each of the times, when it is due it is done at once.
#[track_caller]
fn fires(mut schedule: Schedule, at: &[i64], expected: &[i64]) {
    let mut fired = Vec::new();
    for &now in at {
        if schedule.is_due(Millis(now)) {
            schedule.done(Millis(now), Millis(now));
            fired.push(now);
        }
    }
    assert_eq!(fired, expected);
}

#[test]
fn the_first_is_due_at_once_and_then_each_interval() {
    fires(Schedule::every(100), &[7, 8, 106, 107, 108, 206, 207], &[7, 107, 207]);
}

#[test]
fn what_was_missed_is_done_once() {
    fires(Schedule::every(100), &[0, 100_000, 100_001, 100_100], &[0, 100_000, 100_100]);
}

#[test]
fn a_clock_that_steps_back_delays_by_one_interval() {
    fires(Schedule::every(100), &[1_000_000, 5, 104, 105], &[1_000_000, 105]);
    fires(Schedule::every(100), &[i64::MAX, i64::MIN, i64::MAX], &[i64::MAX, i64::MAX]);
}

#[test]
fn an_interval_of_nothing_is_not_taken_at_its_word() {
    fires(Schedule::every(0), &[0, 1, 9, 10, 11, 20], &[0, 10, 20]);
    fires(Schedule::every(-5), &[0, 9, 10], &[0, 10]);
}

#[test]
fn who_works_long_rests_as_long() {
    let mut schedule = Schedule::every(100);
    schedule.done(Millis(0), Millis(5_000));
    assert_eq!(schedule.sleep_ms(Millis(5_000)), 5_000);
    assert!(!schedule.is_due(Millis(9_999)));
    assert!(schedule.is_due(Millis(10_000)));
}

#[test]
fn a_new_interval_counts_from_the_last_time() {
    let mut schedule = Schedule::every(100_000);
    schedule.done(Millis(0), Millis(0));
    assert_eq!(schedule.sleep_ms(Millis(10)), SLEEP_MS_MAX, "it may change at any time");
    schedule.set(Some(500));
    assert_eq!(schedule.sleep_ms(Millis(10)), 490);
    schedule.set(Some(5));
    assert!(schedule.is_due(Millis(10)));
}

#[test]
fn nothing_is_due_while_paused() {
    let mut schedule = Schedule::every(100);
    schedule.set(None);
    assert!(!schedule.is_due(Millis(0)) && !schedule.is_due(Millis(i64::MAX)));
    assert_eq!(schedule.sleep_ms(Millis(0)), SLEEP_MS_MAX);
    schedule.set(Some(100));
    assert!(schedule.is_due(Millis(0)));
}

#[test]
fn once_it_may_be_sooner() {
    let mut schedule = Schedule::every(1_000);
    schedule.done(Millis(0), Millis(0));
    schedule.sooner(200);
    assert_eq!(schedule.sleep_ms(Millis(50)), 150);
    assert!(schedule.is_due(Millis(200)));
    schedule.done(Millis(200), Millis(200));
    assert_eq!(schedule.sleep_ms(Millis(200)), 1_000);
    schedule.sooner(5_000);
    assert_eq!(schedule.sleep_ms(Millis(200)), 1_000, "never later than the interval");
}
