//! BM25: scores how well each text matches a question.
//!
//! BM25 (Robertson, Zaragoza: The Probabilistic Relevance Framework, 2009, §3) runs over label,
//! breadcrumb and the beginning of the text: each word counts by its rarity, repeated use
//! saturates, and long texts are penalized. A word that the index knows to be in a text counts at
//! least once, even if it occurs after that beginning or has an ending that stemming does not cut.
//!
//! This module does no IO, and takes time linear in the texts.

use super::bag_of_words::{BagOfWords, Stem};

/// Saturation of repeated use of a word; `k1` in the literature.
const SATURATION: f64 = 1.2;
/// Weight of the length penalty; `b` in the literature.
const LENGTH_PART: f64 = 0.75;

/// A term of a question.
pub(super) struct QueryTerm {
    /// The stems of its forms; none unless the term is a single word.
    pub(super) stems: Vec<Stem>,
    /// The inverse document frequency.
    pub(super) rarity: f64,
}

/// A text to score.
pub(super) struct Bm25Document<'a> {
    pub(super) bag: &'a BagOfWords,
    /// The terms that the index found in it, one bit each.
    pub(super) has: u64,
}

/// Returns what each term adds to the score of each text: not negative, and comparable within one
/// question.
pub(super) fn bm25_scores(question: &[QueryTerm], texts: &[Bm25Document<'_>]) -> Vec<Vec<f64>> {
    let length = |it: &Bm25Document<'_>| it.bag.stems().len() as f64;
    let mean = texts.iter().map(length).sum::<f64>() / texts.len().max(1) as f64;
    let score = |text: &Bm25Document<'_>| {
        let part = length(text) / mean.max(1.0);
        let damping = SATURATION * (1.0 - LENGTH_PART + LENGTH_PART * part);
        let weight = |(nth, sought): (usize, &QueryTerm)| {
            let is_sought = |it: &&Stem| sought.stems.contains(it);
            let n_seen = match sought.stems.is_empty() {
                true => 0,
                false => text.bag.stems().iter().filter(is_sought).count(),
            };
            let n = n_seen.max(usize::from(text.has & (1 << nth) != 0)) as f64;
            sought.rarity * n * (SATURATION + 1.0) / (n + damping)
        };
        question.iter().enumerate().map(weight).collect()
    };
    texts.iter().map(score).collect()
}

#[cfg(test)]
mod tests;
