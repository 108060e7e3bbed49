//! What heat promises for any stored value, any boost and any clock.

use proptest::prelude::*;

use super::*;

const HOUR: i64 = 3_600_000;

fn heat() -> impl Strategy<Value = Heat> {
    (any_number(), any::<i64>(), any::<bool>()).prop_map(|(temperature, at, pinned)| Heat {
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
    fn a_pinned_node_stands_still(heat in heat(), now in any::<i64>(), later in any::<i64>()) {
        let pinned = Heat { pinned: true, ..heat };
        prop_assert_eq!(pinned.now(later), pinned.now(now));
    }

    #[test]
    fn time_never_warms(heat in heat(), now in any::<i64>(), later in any::<i64>()) {
        prop_assert!(heat.now(later.max(now)) <= heat.now(now.min(later)));
    }

    #[test]
    fn the_warmer_never_ranks_lower(
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
fn an_unread_node_is_cold_after_33_attended_hours() {
    let heat = Heat::birth(0);
    assert!(HOT_MIN <= heat.now(0));
    assert!(heat.now(HOUR) < HOT_MIN);
    assert!((heat.now(HOUR) - 0.475_614_712).abs() < 1e-9);
    assert!(COLD_MAX < heat.now(32 * HOUR));
    assert!(heat.now(33 * HOUR) < COLD_MAX);
}

#[test]
fn four_reads_make_a_node_as_hot_as_can_be() {
    let heat = (0..4).fold(Heat::birth(0), |heat, _| heat.warmed(ACCESS_BOOST, 0));
    assert_eq!(heat.temperature, 1.0);
}

#[test]
fn a_clock_that_stepped_back_cools_nothing() {
    assert_eq!(Heat::birth(HOUR).now(0), BIRTH);
    assert_eq!(Heat::birth(HOUR).warmed(ACCESS_BOOST, 0).at, HOUR);
}

#[test]
fn the_coldest_keeps_three_tenths_of_its_relevance() {
    assert!((score(10.0, 0.0) - 3.0).abs() < 1e-12);
    assert!((score(10.0, 1.0) - 10.0).abs() < 1e-12);
}

#[test]
fn the_rate_is_the_speed_of_the_memory_clock() {
    // At twice the rate, an hour cools as two do.
    let twice = clock_ms(HOUR, 2.0 * DECAY_PER_HOUR);
    assert_eq!(twice, 2 * HOUR);
    assert_eq!(Heat::birth(0).now(twice), BIRTH * (-2.0 * DECAY_PER_HOUR).exp());
    assert_eq!(clock_ms(HOUR, 0.0), 0);
    assert_eq!(clock_ms(-1, 1.0), 0);
    assert_eq!(clock_ms(HOUR, f64::NAN), 0);
    assert_eq!(clock_ms(HOUR, f64::MAX), i64::MAX);
}
