//! The order of hits of which some replaced others: what holds comes before what it replaced.

use std::collections::BTreeSet;

/// Returns the order of `n` hits in which each that was replaced comes after all that took its
/// place: those behind it move up to right before it. Pairs are of the replaced one and one of
/// those. Other hits keep their order.
pub(crate) fn replacements_first(n: usize, pairs: &BTreeSet<(usize, usize)>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    let replaced: BTreeSet<usize> = pairs.iter().map(|it| it.0).collect();
    for old in replaced {
        let Some(at) = order.iter().position(|it| *it == old) else { continue };
        let (by, others): (Vec<usize>, Vec<usize>) =
            order.split_off(at).into_iter().partition(|it| pairs.contains(&(old, *it)));
        order.extend(by);
        order.extend(others);
    }
    order
}

/// Returns the scores of hits in an order, where none is less than the next one's.
pub(crate) fn descending(mut scores: Vec<f64>) -> Vec<f64> {
    for at in (1..scores.len()).rev() {
        scores[at - 1] = scores[at - 1].max(scores[at]);
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(n: usize, pairs: &[(usize, usize)], order: &[usize]) {
        assert_eq!(replacements_first(n, &pairs.iter().copied().collect()), order);
    }

    #[test]
    fn what_took_a_place_comes_before_what_had_it() {
        check(3, &[], &[0, 1, 2]);
        check(4, &[(1, 3)], &[0, 3, 1, 2]);
        check(3, &[(2, 0)], &[0, 1, 2]);
        check(4, &[(0, 1), (0, 3)], &[1, 3, 0, 2]);
    }

    #[test]
    fn one_after_another_comes_newest_first() {
        check(3, &[(0, 1), (0, 2), (1, 2)], &[2, 1, 0]);
        check(3, &[(1, 0), (1, 2), (0, 2)], &[2, 0, 1]);
    }

    #[test]
    fn two_that_replace_each_other_have_an_order() {
        check(2, &[(0, 1), (1, 0)], &[0, 1]);
    }

    #[test]
    fn scores_never_rise() {
        assert_eq!(descending(vec![0.5, 0.9, 0.2]), [0.9, 0.9, 0.2]);
    }
}
