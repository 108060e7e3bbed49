use expect_test::{Expect, expect};

use super::*;

/// Checks candidates given as `(key, parent, relevance, temperature)`; parent 0 is none.
#[track_caller]
fn check(candidates: &[(i64, i64, f64, f64)], ranks: Expect) {
    let candidates: Vec<RankCandidate<'_>> = candidates
        .iter()
        .map(|&(key, parent, relevance, temperature)| RankCandidate {
            key: NodeRowId(key),
            parent: (parent != 0).then_some(NodeRowId(parent)),
            is_heading: key == 9,
            relevance,
            turn: TurnFeatures::default(),
            tokens: 90,
            temperature,
            bag: None,
            memory_weight: None,
        })
        .collect();
    let ranks_text: Vec<String> = rank_candidates(&candidates, &relevance_scores(&candidates))
        .into_iter()
        .map(|(at, score)| format!("{} {score:.2}", candidates[at].key.0))
        .collect();
    ranks.assert_eq(&ranks_text.join(", "));
}

#[test]
fn the_best_match_at_birth_scores_the_same_everywhere() {
    check(&[(1, 0, 7.0, 0.5), (2, 0, 3.5, 0.5)], expect!["1 0.65, 2 0.32"]);
    check(&[(1, 0, 1e-6, 0.5)], expect!["1 0.65"]);
    check(&[(1, 0, 0.0, 0.5), (2, 0, 0.0, 0.5)], expect!["1 0.65, 2 0.65"]);
}

#[test]
fn warmth_decides_between_equals_and_only_there() {
    check(&[(1, 0, 5.0, 0.1), (2, 0, 5.0, 0.9)], expect!["2 0.93, 1 0.37"]);
    check(&[(1, 0, 5.0, 0.0), (2, 0, 1.0, 1.0)], expect!["1 0.30, 2 0.20"]);
}

#[test]
fn neighbours_of_a_good_hit_rank_before_strangers() {
    check(
        &[(1, 9, 8.0, 0.5), (2, 9, 1.0, 0.5), (3, 7, 1.5, 0.5)],
        expect!["1 0.65, 2 0.13, 3 0.12"],
    );
}

#[test]
fn a_heading_passes_relevance_to_its_section() {
    check(
        &[(9, 0, 8.0, 0.5), (2, 9, 1.0, 0.5), (3, 7, 1.5, 0.5)],
        expect!["9 0.65, 2 0.13, 3 0.12"],
    );
}

#[test]
fn one_section_does_not_fill_an_answer() {
    check(
        &[(1, 9, 8.0, 0.5), (2, 9, 8.0, 0.5), (3, 9, 8.0, 0.5), (4, 7, 5.0, 0.5)],
        expect!["1 0.65, 2 0.32, 4 0.31, 3 0.16"],
    );
}

#[test]
fn scores_are_finite_for_any_numbers() {
    let odd = [f64::NAN, f64::INFINITY, -1.0, f64::MAX];
    let candidates: Vec<RankCandidate<'_>> = odd
        .iter()
        .map(|&it| RankCandidate {
            key: NodeRowId(1),
            parent: None,
            is_heading: false,
            relevance: it,
            temperature: it,
            turn: TurnFeatures::default(),
            tokens: 90,
            bag: None,
            memory_weight: None,
        })
        .collect();
    let ranked = rank_candidates(&candidates, &relevance_scores(&candidates));
    assert!(ranked.iter().all(|(_, score)| !(1.0 < *score || *score < 0.0)));
}

#[test]
fn memories_are_sections_of_their_own_with_weights() {
    let memory = |key: i64, memory_weight: f64| RankCandidate {
        key: NodeRowId(key),
        parent: Some(NodeRowId(9)),
        is_heading: false,
        relevance: 8.0,
        temperature: 0.5,
        turn: TurnFeatures::default(),
        tokens: 90,
        bag: None,
        memory_weight: Some(memory_weight),
    };
    let all = [memory(1, 0.85), memory(2, 1.0), memory(3, 1.15)];
    let ranked = rank_candidates(&all, &relevance_scores(&all));
    let shown = ranked.iter().map(|(at, score)| format!("{} {score:.2}", all[*at].key.0));
    expect!["3 0.75, 2 0.65, 1 0.55"].assert_eq(&shown.collect::<Vec<_>>().join(", "));
}

#[test]
fn a_memory_weighs_by_importance_and_age() {
    const DAY_MS: i64 = 86_400_000;
    let now = UnixMillis(1_000 * DAY_MS);
    let weight = |importance_rank: usize, days: i64| {
        let updated_at = Some(UnixMillis(now.0 - days * DAY_MS));
        format!("{:.3}", memory_weight(TypedRankingFields { importance_rank, updated_at }, now))
    };
    assert_eq!([0, 1, 2].map(|it| weight(it, 0)), ["1.150", "1.000", "0.850"]);
    assert_eq!([30, 60, 900].map(|it| weight(1, it)), ["0.750", "0.625", "0.500"]);
    // A clock that was set back makes nothing heavier.
    assert_eq!(weight(1, -90), "1.000");
    let unknown = TypedRankingFields { importance_rank: 7, updated_at: None };
    assert!((memory_weight(unknown, now) - 0.85).abs() < 1e-9);
}

/// Returns the first of two turns, or texts of prose without siblings, by the sign of one.
fn first_of_two(n_siblings: usize, signs: [TurnFeatures; 2]) -> NodeRowId {
    let turn = |(key, signs): (i64, TurnFeatures)| RankCandidate {
        key: NodeRowId(key),
        parent: Some(NodeRowId(9)),
        is_heading: false,
        relevance: 8.0,
        turn: TurnFeatures { n_siblings, ..signs },
        tokens: 20,
        temperature: 0.5,
        bag: None,
        memory_weight: None,
    };
    let all: Vec<RankCandidate<'_>> = (1..).zip(signs).map(turn).collect();
    let ranked = rank_candidates(&all, &relevance_scores(&all));
    all[ranked[0].0].key
}

#[test]
fn a_turn_that_asks_ranks_behind_one_that_tells() {
    let asking = TurnFeatures { is_question: true, ..TurnFeatures::default() };
    assert_eq!(first_of_two(30, [asking, TurnFeatures::default()]), NodeRowId(2));
    assert_eq!(first_of_two(0, [asking, TurnFeatures::default()]), NodeRowId(1));
}

#[test]
fn a_turn_that_opens_its_section_ranks_before_others() {
    let opening = TurnFeatures { is_opening: true, ..TurnFeatures::default() };
    assert_eq!(first_of_two(30, [TurnFeatures::default(), opening]), NodeRowId(2));
    assert_eq!(first_of_two(0, [TurnFeatures::default(), opening]), NodeRowId(1));
}
