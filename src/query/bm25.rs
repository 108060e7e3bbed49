//! How well a text matches a question, by how often it has each of its words.
//!
//! BM25 (Robertson, Zaragoza: The Probabilistic Relevance Framework, 2009, §3) over label,
//! breadcrumb and the beginning of the text: each word counts by its rarity, more uses of it count
//! less and less, and length counts against a text. A word that the index knows to be in a text is
//! there at least once, even where it stands behind the beginning or has an ending that is not cut
//! here.
//!
//! This module does no IO, and takes time linear in the texts.

use super::bag_of_words::{BagOfWords, Stem};

/// How soon a further use of a word counts less; `k1` in the literature.
const SATURATION: f64 = 1.2;
/// How much of a text's length counts against it; `b` in the literature.
const LENGTH_PART: f64 = 0.75;

/// What a question looks for.
pub(super) struct QueryTerm {
    /// `None` for what is no single word.
    pub(super) stem: Option<Stem>,
    /// What it is worth.
    pub(super) rarity: f64,
}

/// A text to weigh.
pub(super) struct ScoredText<'a> {
    pub(super) bag: &'a BagOfWords,
    /// What it is known to have, a bit for each.
    pub(super) has: u64,
}

/// How well each text matches: not negative, and comparable with each other.
pub(super) fn bm25_scores(question: &[QueryTerm], texts: &[ScoredText<'_>]) -> Vec<f64> {
    let length = |it: &ScoredText<'_>| it.bag.all().len() as f64;
    let mean = texts.iter().map(length).sum::<f64>() / texts.len().max(1) as f64;
    let score = |text: &ScoredText<'_>| {
        let part = length(text) / mean.max(1.0);
        let damping = SATURATION * (1.0 - LENGTH_PART + LENGTH_PART * part);
        let weight = |(nth, sought): (usize, &QueryTerm)| {
            let n_seen = sought
                .stem
                .map_or(0, |stem| text.bag.all().iter().filter(|&&it| it == stem).count());
            let n = n_seen.max(usize::from(text.has & (1 << nth) != 0)) as f64;
            sought.rarity * n * (SATURATION + 1.0) / (n + damping)
        };
        question.iter().enumerate().map(weight).sum()
    };
    texts.iter().map(score).collect()
}

#[cfg(test)]
mod tests;
