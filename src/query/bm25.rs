//! BM25: scores how well each text matches a question.
//!
//! BM25 (Robertson, Zaragoza: The Probabilistic Relevance Framework, 2009, §3) runs over label,
//! breadcrumb and the beginning of the text: each word counts by its rarity, repeated use
//! saturates, and long texts are penalized. A word that the index knows to be in a text counts at
//! least once, even if it occurs after that beginning or has an ending that stemming does not cut.
//!
//! Of the words of a kind, such as `violin` of `instrument`, the one that is worth most counts. The
//! index knows how rare all of them are together; each is rarer by its share of the scored texts.
//!
//! This module does no IO, and takes time linear in the texts.

use super::stems_for_ranking::{StemHash, StemHashMap, StemmedText};

/// Saturation of repeated use of a word; `k1` in the literature.
const SATURATION: f64 = 1.2;
/// Weight of the length penalty; `b` in the literature.
const LENGTH_PART: f64 = 0.75;

/// A term of a question.
pub(super) struct QueryTerm {
    /// Words of which the best counts, each as the stems of its forms; none of a phrase.
    pub(super) words: Vec<Vec<StemHash>>,
    /// The inverse document frequency of all of them, weighted.
    pub(super) rarity: f64,
    pub(super) weight: f64,
}

/// A text to score.
pub(super) struct Bm25Document<'a> {
    pub(super) bag: &'a StemmedText,
    /// The terms that the index found in it, one bit each.
    pub(super) has: u64,
}

/// Returns what each term adds to the score of each text: not negative, and comparable within one
/// question.
pub(super) fn bm25_scores(question: &[QueryTerm], texts: &[Bm25Document<'_>]) -> Vec<Vec<f64>> {
    let length = |it: &Bm25Document<'_>| it.bag.stems().len() as f64;
    let mean = texts.iter().map(length).sum::<f64>() / texts.len().max(1) as f64;
    let (words, counts) = count_words(question, texts);
    let score = |(text, counts): (&Bm25Document<'_>, &Vec<(usize, u32)>)| {
        let part = length(text) / mean.max(1.0);
        let damping = SATURATION * (1.0 - LENGTH_PART + LENGTH_PART * part);
        let saturated = |n: u32| f64::from(n) * (SATURATION + 1.0) / (f64::from(n) + damping);
        let known = |(nth, it): (usize, &QueryTerm)| match text.has & (1 << nth) {
            0 => 0.0,
            _ => it.rarity * saturated(1),
        };
        let mut scores: Vec<f64> = question.iter().enumerate().map(known).collect();
        for &(word, n) in counts {
            let QueryWordIdf { term, rarity } = words[word];
            scores[term] = scores[term].max(rarity * saturated(n));
        }
        scores
    };
    texts.iter().zip(&counts).map(score).collect()
}

/// A word of the query, with its inverse document frequency among the matches.
struct QueryWordIdf {
    term: usize,
    rarity: f64,
}

/// Returns the words of all terms, and those of each text with their counts.
fn count_words(
    question: &[QueryTerm],
    texts: &[Bm25Document<'_>],
) -> (Vec<QueryWordIdf>, Vec<Vec<(usize, u32)>>) {
    let mut words: Vec<QueryWordIdf> = Vec::new();
    let mut by_stem: StemHashMap<Vec<usize>> = StemHashMap::default();
    for (term, it) in question.iter().enumerate() {
        for stems in &it.words {
            for stem in stems {
                let places = by_stem.get_or_insert(*stem, Vec::new);
                if places.last() != Some(&words.len()) {
                    places.push(words.len());
                }
            }
            words.push(QueryWordIdf { term, rarity: it.rarity });
        }
    }
    let mut met: Vec<usize> = Vec::new();
    let count = |text: &Bm25Document<'_>| {
        met.clear();
        met.extend(text.bag.stems().iter().filter_map(|it| by_stem.get(it)).flatten());
        met.sort_unstable();
        met.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect()
    };
    let counts: Vec<Vec<(usize, u32)>> = texts.iter().map(count).collect();
    let (mut n_texts, mut n_any) = (vec![0_u32; words.len()], vec![0_u32; question.len()]);
    for counts in &counts {
        counts.iter().for_each(|it| n_texts[it.0] += 1);
        let of_term = counts.chunk_by(|a, b| words[a.0].term == words[b.0].term);
        of_term.for_each(|it| n_any[words[it[0].0].term] += 1);
    }
    for (word, n) in words.iter_mut().zip(n_texts) {
        let part = (f64::from(n_any[word.term]) + 0.5) / (f64::from(n) + 0.5);
        word.rarity += question[word.term].weight * part.ln();
    }
    (words, counts)
}

#[cfg(test)]
mod tests;
