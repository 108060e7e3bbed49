//! What the best sections of an answer have in common, and how much of that the others have.
//!
//! A question names a thing with a few words; what is written about it uses more. The words that
//! the best few sections use often, and the rest of what was found seldom, stand for the question's
//! subject: a section with many of them is about it, even where it shares few words with the
//! question itself. All that is counted is what was found, so no figure of the whole memory is
//! needed.
//!
//! Endings are cut roughly: for comparing texts of one answer with each other that is enough. This
//! module does no IO, and takes time linear in the texts.

use super::bag::{Bag, Stem, StemMap};
use super::{rank, words};

/// Fewer sections than this are too few to tell what is special about the best.
pub(super) const SECTIONS_MIN: usize = 10;
/// The sections that are learned from.
const BEST_MAX: usize = 5;
/// The words that are learned.
const WORDS_MAX: usize = 30;
/// How soon a further use of a word in a section counts less.
const SATURATION: f64 = 1.2;
/// How much of a section's length counts against it.
const LENGTH_PART: f64 = 0.6;

/// A word, by the order in which words were met.
type Word = usize;

/// How alike each section is to the best ones, relative to the most alike; `None` when there are
/// too few. `worth` is how well each matches.
pub(super) fn likeness(sections: &[Vec<&Bag>], worth: &[f64]) -> Option<Vec<f64>> {
    let mut bags = Sections::new();
    for texts in sections {
        bags.add(texts);
    }
    if bags.n_full < SECTIONS_MIN {
        return None;
    }
    let subject = subject(&bags, worth);
    let alike = (0..sections.len()).map(|section| {
        bags.weighed(section).map(|(word, weight)| subject[word] * weight).sum::<f64>()
    });
    Some(rank::normalized(alike.collect()))
}

/// What each word says of the subject, 0 for most.
fn subject(bags: &Sections, worth: &[f64]) -> Vec<f64> {
    let mut best: Vec<usize> = (0..worth.len()).filter(|&it| bags.lengths[it] != 0).collect();
    best.sort_by(|&a, &b| worth[b].total_cmp(&worth[a]));
    best.truncate(BEST_MAX);
    let mut said = vec![0.0; bags.n_sections.len()];
    for section in best {
        for (word, weight) in bags.weighed(section) {
            said[word] += worth[section] * weight * bags.rarity(word);
        }
    }
    let mut order: Vec<Word> = (0..said.len()).filter(|&it| 0.0 < said[it]).collect();
    order.sort_by(|&a, &b| said[b].total_cmp(&said[a]));
    let mut subject = vec![0.0; said.len()];
    for &word in order.iter().take(WORDS_MAX) {
        subject[word] = said[word];
    }
    subject
}

/// The words of each section, counted.
struct Sections {
    /// Nothing for a word that says nothing by itself.
    words: StemMap<Option<Word>>,
    /// In how many sections each word is.
    n_sections: Vec<u32>,
    /// Each section's words, and how often it has them.
    counts: Vec<Vec<(Word, u32)>>,
    /// Words of each section.
    lengths: Vec<u32>,
    /// Sections that have words at all.
    n_full: usize,
    n_words: u64,
}

impl Sections {
    fn new() -> Sections {
        let letters = ('a'..='z').chain('0'..='9').map(|it| Stem::of(it.encode_utf8(&mut [0; 4])));
        let function_words = words::FUNCTION_WORDS.iter().map(|it| Stem::of(it));
        Sections {
            words: letters.chain(function_words).map(|it| (it, None)).collect(),
            n_sections: Vec::new(),
            counts: Vec::new(),
            lengths: Vec::new(),
            n_full: 0,
            n_words: 0,
        }
    }

    fn add(&mut self, texts: &[&Bag]) {
        let stems = texts.iter().flat_map(|it| it.text());
        let mut met: Vec<Word> = Vec::new();
        for &stem in stems {
            let next = self.n_sections.len();
            let word = *self.words.entry(stem).or_insert(Some(next));
            if word == Some(next) {
                self.n_sections.push(0);
            }
            met.extend(word);
        }
        met.sort_unstable();
        let counts: Vec<(Word, u32)> =
            met.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect();
        for &(word, _) in &counts {
            self.n_sections[word] += 1;
        }
        self.n_full += usize::from(!met.is_empty());
        self.n_words += met.len() as u64;
        self.lengths.push(met.len() as u32);
        self.counts.push(counts);
    }

    /// A section's words with what its uses of them count.
    fn weighed(&self, section: usize) -> impl Iterator<Item = (Word, f64)> + '_ {
        let mean = self.n_words as f64 / self.n_full.max(1) as f64;
        let length = f64::from(self.lengths[section]) / mean.max(1.0);
        let damping = SATURATION * (1.0 - LENGTH_PART + LENGTH_PART * length);
        self.counts[section].iter().map(move |&(word, n)| {
            let n = f64::from(n);
            (word, n * (SATURATION + 1.0) / (n + damping))
        })
    }

    /// High for a word that few sections have.
    fn rarity(&self, word: Word) -> f64 {
        ((self.n_full as f64 + 1.0) / (f64::from(self.n_sections[word]) + 0.5)).ln().max(0.0)
    }
}

#[cfg(test)]
mod tests;
