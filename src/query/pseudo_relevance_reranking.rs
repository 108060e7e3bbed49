//! Pseudo-relevance feedback: scores sections by words that the best sections have in common.
//!
//! A question names its subject with a few words; texts about it use more. Words that are frequent
//! in the best few sections and rare in the other matches characterize the subject. A section with
//! many of them is about it, even where it shares few words with the question itself. Only the
//! matches are counted: no statistics of the whole memory are needed.
//!
//! Stemming is rough, which suffices to compare the texts of one answer. This module does no IO,
//! and takes time linear in the texts.

use std::sync::LazyLock;

use super::stems_for_ranking::{StemHash, StemHashMap, StemmedText};
use super::{function_words, sort_by_worth};

/// Least number of sections: fewer do not tell what is special about the best.
pub(super) const SECTIONS_MIN: usize = 10;
/// Sections to learn words from.
const BEST_MAX: usize = 5;
/// Words to learn.
const WORDS_MAX: usize = 30;
/// Saturation of repeated use of a word; `k1` of BM25.
const SATURATION: f64 = 1.2;
/// Weight of the length penalty; `b` of BM25.
const LENGTH_PART: f64 = 0.6;

/// A word of the best sections, numbered in order of appearance.
type WordId = usize;

/// Returns how similar each section is to the best ones; `None` when there are too few. `worth` is
/// the match score of each section.
pub(super) fn expansion_scores(sections: &[Vec<&StemmedText>], worth: &[f64]) -> Option<Vec<f64>> {
    let length =
        |texts: &Vec<&StemmedText>| texts.iter().map(|it| it.text_stems().len() as u32).sum();
    let lengths: Vec<u32> = sections.iter().map(length).collect();
    let mut best: Vec<usize> = (0..lengths.len()).filter(|&it| lengths[it] != 0).collect();
    if best.len() < SECTIONS_MIN {
        return None;
    }
    sort_by_worth(&mut best, &|it| worth[it]);
    best.truncate(BEST_MAX);
    let counted = FeedbackWordCounts::of(sections, &best, lengths);
    let subject = counted.subject(&best, worth);
    let alike = (0..sections.len()).map(|section| {
        counted.weighed(section).map(|(word, weight)| subject[word] * weight).sum::<f64>()
    });
    Some(alike.collect())
}

/// Stop words: letters, digits and function words.
static STOP_WORDS: LazyLock<StemHashMap<()>> = LazyLock::new(|| {
    let letters = ('a'..='z').chain('0'..='9').map(|it| StemHash::of(it.encode_utf8(&mut [0; 4])));
    let function_words = function_words::FUNCTION_WORDS.iter().map(|it| StemHash::of(it));
    letters.chain(function_words).collect()
});

/// Counts, in all sections, of the words of the best ones, which feed back.
struct FeedbackWordCounts {
    /// Number of sections with each word.
    n_sections: Vec<u32>,
    /// The words of each section with their counts.
    counts: Vec<Vec<(WordId, u32)>>,
    /// Number of words of each section, counted or not.
    lengths: Vec<u32>,
    /// Sections that have any words.
    n_full: usize,
    n_words: u64,
}

impl FeedbackWordCounts {
    fn of(sections: &[Vec<&StemmedText>], best: &[usize], lengths: Vec<u32>) -> FeedbackWordCounts {
        let mut words: StemHashMap<WordId> = StemHashMap::default();
        let stems = best.iter().flat_map(|&it| &sections[it]).flat_map(|it| it.text_stems());
        for &stem in stems.filter(|it| STOP_WORDS.get(it).is_none()) {
            let next = words.len();
            words.get_or_insert(stem, || next);
        }
        let mut n_sections = vec![0; words.len()];
        // Of one section at a time.
        let mut n_times = vec![0; words.len()];
        let count = |texts: &Vec<&StemmedText>| {
            let mut met: Vec<WordId> = Vec::new();
            for stem in texts.iter().flat_map(|it| it.text_stems()) {
                if let Some(&word) = words.get(stem) {
                    if n_times[word] == 0 {
                        met.push(word);
                    }
                    n_times[word] += 1;
                }
            }
            met.into_iter().map(|it| (it, std::mem::take(&mut n_times[it]))).collect()
        };
        let counts: Vec<Vec<(WordId, u32)>> = sections.iter().map(count).collect();
        for &(word, _) in counts.iter().flatten() {
            n_sections[word] += 1;
        }
        let n_full = lengths.iter().filter(|&&it| it != 0).count();
        let n_words = lengths.iter().copied().map(u64::from).sum();
        FeedbackWordCounts { n_sections, counts, lengths, n_full, n_words }
    }

    /// Returns the weight of each word for the subject, 0 for most.
    fn subject(&self, best: &[usize], worth: &[f64]) -> Vec<f64> {
        let mut weights = vec![0.0; self.n_sections.len()];
        for &section in best {
            for (word, weight) in self.weighed(section) {
                weights[word] += worth[section] * weight * self.rarity(word);
            }
        }
        let mut order: Vec<WordId> = (0..weights.len()).filter(|&it| 0.0 < weights[it]).collect();
        sort_by_worth(&mut order, &|it| weights[it]);
        let mut subject = vec![0.0; weights.len()];
        for &word in order.iter().take(WORDS_MAX) {
            subject[word] = weights[word];
        }
        subject
    }

    /// Returns a section's words with their saturated counts.
    fn weighed(&self, section: usize) -> impl Iterator<Item = (WordId, f64)> + '_ {
        let mean = self.n_words as f64 / self.n_full.max(1) as f64;
        let length = f64::from(self.lengths[section]) / mean.max(1.0);
        let damping = SATURATION * (1.0 - LENGTH_PART + LENGTH_PART * length);
        self.counts[section].iter().map(move |&(word, n)| {
            let n = f64::from(n);
            (word, n * (SATURATION + 1.0) / (n + damping))
        })
    }

    /// Returns the inverse document frequency of a word among the sections.
    fn rarity(&self, word: WordId) -> f64 {
        ((self.n_full as f64 + 1.0) / (f64::from(self.n_sections[word]) + 0.5)).ln().max(0.0)
    }
}

#[cfg(test)]
mod tests;
