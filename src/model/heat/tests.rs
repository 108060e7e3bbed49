//! Properties of heat for any stored value, any boost and any clock.

use proptest::prelude::*;

use super::*;

const HOUR: i64 = 3_600_000;

fn heat() -> impl Strategy<Value = StoredHeat> {
    (any_number(), any::<i64>(), any::<bool>()).prop_map(|(temperature, at, pinned)| StoredHeat {
        temperature,
        at,
        pinned,
    })
}

fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => -0.5..1.5,
        1 => any::<f64>(),
        1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, f64::MAX]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn temperatures_stay_in_bounds(heat in heat(), by in any_number(), now in any::<i64>()) {
        prop_assert!((0.0..=1.0).contains(&heat.now(now)));
        prop_assert!((0.0..=1.0).contains(&heat.warmed(by, now).temperature));
    }

    #[test]
    fn warming_never_lowers(
        heat in heat(), by in any_number(), now in any::<i64>(), later in any::<i64>(),
    ) {
        let warmed = heat.warmed(by, now);
        let later = later.max(now);
        // Rounding alone may differ in the last place.
        prop_assert!(heat.now(later) <= warmed.now(later) + 1e-12);
    }

    #[test]
    fn a_pinned_node_keeps_its_temperature(heat in heat(), now in any::<i64>(), later in any::<i64>()) {
        let pinned = StoredHeat { pinned: true, ..heat };
        prop_assert_eq!(pinned.now(later), pinned.now(now));
    }

    #[test]
    fn time_never_warms(heat in heat(), now in any::<i64>(), later in any::<i64>()) {
        prop_assert!(heat.now(later.max(now)) <= heat.now(now.min(later)));
    }

    #[test]
    fn a_node_is_cold_once_its_curve_crossed_the_threshold(
        temperature in 0.0..=1.0_f64, line in 0.0..=1.0_f64, age_hours in 0_i64..200,
    ) {
        let heat = StoredHeat { temperature, at: 5 * HOUR, pinned: false };
        let reading = (5 + age_hours) * HOUR;
        // On the line itself rounding decides.
        prop_assume!(1e-9 < (heat.now(reading) - line).abs());
        prop_assert_eq!(heat.now(reading) < line, heat.full_at() < cold_before(line, reading));
    }

    #[test]
    fn indexed_numbers_are_finite_for_any_heat(heat in heat(), line in any_number()) {
        prop_assert!(heat.full_at().is_finite());
        prop_assert!(cold_before(line, heat.at).is_finite());
    }

    #[test]
    fn a_pin_moves_no_temperature(heat in heat(), now in any::<i64>(), pinned: bool) {
        let now = now.max(heat.at);
        prop_assert_eq!(heat.with_pin(pinned, now).now(now), heat.now(now));
    }

    #[test]
    fn no_rate_overflows_the_clock(rate in any_number(), elapsed in any::<i64>()) {
        let rates = HeatParameters { decay_per_hour: rate, ..HeatParameters::default() };
        prop_assert!((0.0..=COOLING_MS_MAX).contains(&rates.cooling_ms(elapsed)));
        prop_assert_eq!(HeatParameters { is_enabled: false, ..rates }.cooling_ms(elapsed), 0.0);
    }

    #[test]
    fn servers_share_the_time_between_them(
        // Which of three servers reads the clock next, and after how long.
        looks in prop::collection::vec((0_usize..3, 0_i64..5 * 60_000), 1..60),
    ) {
        let rates = HeatParameters::default();
        let mut paces = [MemoryClockSchedule::new(0); 3];
        let (mut now, mut ticked_at, mut attended) = (0, 0, 0);
        for (who, after) in looks {
            now += after;
            for pace in &mut paces {
                pace.note(now, &rates);
            }
            if let Some(due) = paces[who].due(&rates) {
                attended += due.uncounted_ms(now - ticked_at);
                ticked_at = now;
                paces[who].settle();
            }
            prop_assert!((attended - ticked_at).abs() <= 64, "{attended} of {ticked_at}");
        }
    }

    #[test]
    fn the_warmer_node_never_ranks_lower(
        relevance in any_number(), one in any_number(), other in any_number(),
    ) {
        prop_assert!(score(relevance, one).is_finite());
        prop_assert!(0.0 <= score(relevance, one));
        if one <= other {
            prop_assert!(score(relevance, one) <= score(relevance, other));
        }
    }
}

#[test]
fn a_jump_of_time_counts_as_about_one_tick() {
    let rates = HeatParameters::default();
    let mut pace = MemoryClockSchedule::new(0);
    pace.note(1000 * HOUR, &rates);
    let due = pace.due(&rates).unwrap();
    assert!(due.real_ms < rates.tick_ms + HOUR / 60, "{due:?}");
    pace.settle();
    // After a step back, no time passes until the old reading is reached.
    pace.note(0, &rates);
    assert_eq!(pace.rest(), None);
}

#[test]
fn a_tick_is_due_once_an_interval() {
    let rates = HeatParameters { tick_ms: 1000, ..HeatParameters::default() };
    let mut pace = MemoryClockSchedule::new(0);
    assert_eq!(pace.wait_ms(&rates), 1000);
    pace.note(600, &rates);
    assert_eq!((pace.due(&rates), pace.wait_ms(&rates)), (None, 400));
    // The rate of each part of the time is the one that was set then.
    pace.note(1100, &HeatParameters { decay_per_hour: 0.1, ..rates });
    assert_eq!(pace.due(&rates), Some(PendingAttendedTime { real_ms: 1100, cooling_ms: 1600.0 }));
    pace.settle();
    assert_eq!((pace.due(&rates), pace.rest()), (None, None));
}

#[test]
fn an_unread_node_is_cold_after_33_attended_hours() {
    let heat = StoredHeat::birth(0);
    assert!(HOT_MIN <= heat.now(0));
    assert!(heat.now(HOUR) < HOT_MIN);
    assert!((heat.now(HOUR) - 0.475_614_712).abs() < 1e-9);
    assert!(COLD_MAX < heat.now(32 * HOUR));
    assert!(heat.now(33 * HOUR) < COLD_MAX);
}

#[test]
fn four_reads_reach_full_heat() {
    let heat = (0..4).fold(StoredHeat::birth(0), |heat, _| {
        heat.warmed(HeatParameters::default().access_boost, 0)
    });
    assert_eq!(heat.temperature, 1.0);
}

#[test]
fn a_clock_that_stepped_back_cools_nothing() {
    assert_eq!(StoredHeat::birth(HOUR).now(0), BIRTH_TEMPERATURE);
    assert_eq!(StoredHeat::birth(HOUR).warmed(0.15, 0).at, HOUR);
}

#[test]
fn the_coldest_node_keeps_three_tenths_of_its_relevance() {
    assert!((score(10.0, 0.0) - 3.0).abs() < 1e-12);
    assert!((score(10.0, 1.0) - 10.0).abs() < 1e-12);
}
