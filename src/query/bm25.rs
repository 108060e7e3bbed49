//! How well a text matches a question, by how often it has each of its words.
//!
//! BM25 (Robertson, Zaragoza: The Probabilistic Relevance Framework, 2009, §3) over label, trail
//! and the beginning of the text: each word counts by its rarity, more uses of it count less and
//! less, and length counts against a text. A word that the index knows to be in a text is there at
//! least once, even where it stands behind the beginning or has an ending that is not cut here.
//!
//! This module does no IO, and takes time linear in the texts.

use super::bag_of_words::{Bag, Stem};

/// How soon a further use of a word counts less; `k1` in the literature.
const SATURATION: f64 = 1.2;
/// How much of a text's length counts against it; `b` in the literature.
const LENGTH_PART: f64 = 0.75;

/// What a question looks for.
pub(super) struct Sought {
    /// `None` for what is no single word.
    pub(super) stem: Option<Stem>,
    /// What it is worth.
    pub(super) rarity: f64,
}

/// A text to weigh.
pub(super) struct Text<'a> {
    pub(super) bag: &'a Bag,
    /// What it is known to have, a bit for each.
    pub(super) has: u64,
}

/// How well each text matches: not negative, and comparable with each other.
pub(super) fn relevance(question: &[Sought], texts: &[Text<'_>]) -> Vec<f64> {
    let length = |it: &Text<'_>| it.bag.all().len() as f64;
    let mean = texts.iter().map(length).sum::<f64>() / texts.len().max(1) as f64;
    let weigh = |text: &Text<'_>| {
        let part = length(text) / mean.max(1.0);
        let damping = SATURATION * (1.0 - LENGTH_PART + LENGTH_PART * part);
        let weight = |(nth, sought): (usize, &Sought)| {
            let n_seen = sought
                .stem
                .map_or(0, |stem| text.bag.all().iter().filter(|&&it| it == stem).count());
            let n = n_seen.max(usize::from(text.has & (1 << nth) != 0)) as f64;
            sought.rarity * n * (SATURATION + 1.0) / (n + damping)
        };
        question.iter().enumerate().map(weight).sum()
    };
    texts.iter().map(weigh).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which texts match best, of a question for `lease` and, twice as rare, `lock`.
    #[track_caller]
    fn check(texts: &[(&str, u64)], best: &[usize]) {
        let sought = |word, rarity| Sought { stem: Some(Stem::of(word)), rarity };
        let bags: Vec<(Bag, u64)> =
            texts.iter().map(|&(text, has)| (Bag::of(&[], text), has)).collect();
        let texts: Vec<Text<'_>> = bags.iter().map(|(bag, has)| Text { bag, has: *has }).collect();
        let found = relevance(&[sought("lease", 1.0), sought("lock", 2.0)], &texts);
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by(|&a, &b| found[b].total_cmp(&found[a]));
        assert_eq!(order, best, "{found:?}");
    }

    #[test]
    fn rare_words_count_more_and_both_most() {
        check(&[("a lease here", 0), ("a lock here", 0), ("locks and leases", 0)], &[2, 1, 0]);
    }

    #[test]
    fn more_uses_count_and_length_counts_against() {
        check(&[("lock and key", 0), ("lock, locks, locked", 0)], &[1, 0]);
        check(&[("a lock, and a long text about something else", 0), ("a lock", 0)], &[1, 0]);
    }

    #[test]
    fn what_the_index_knows_is_there() {
        check(&[("nothing of it", 0), ("nothing of it", 0b10), ("a lease", 0)], &[1, 2, 0]);
    }

    #[test]
    fn nothing_is_worth_nothing() {
        check(&[("", 0), ("", 0)], &[0, 1]);
        assert_eq!(relevance(&[], &[]), Vec::<f64>::new());
    }
}
