//! A text as a bag of words, which is what ranking compares texts by.
//!
//! Of a word only what its ending leaves counts, the same for `compile`, `compiled` and
//! `compiling`. Endings are cut roughly: that is enough to compare the texts of one answer with
//! each other and with the question, since what the memory finds at all is for the index to say.
//! This module does no IO, and takes time linear in the texts.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use xxhash_rust::xxh64::xxh64;

use crate::grams::{self, Script};

/// Pairs of a run of a script without spaces.
const PAIRS_MAX: usize = 256;
/// Endings by their last letter, the longest first.
const fn endings(last: u8) -> &'static [&'static str] {
    match last {
        b's' => &["ations", "ments", "ings", "ions", "ies", "es", "s"],
        b'n' => &["ation", "ion"],
        b't' => &["ment"],
        b'y' => &["ally", "ly", "y"],
        b'g' => &["ing"],
        b'd' => &["ed"],
        b'l' => &["al"],
        b'e' => &["e"],
        _ => &[],
    }
}

/// Bytes of a text for each of its words, about.
const BYTES_PER_WORD: usize = 5;
/// Bytes of a word that count.
const WORD_BYTES_MAX: usize = 64;
/// Bytes of a word that an ending leaves at the least.
const STEM_BYTES_MIN: usize = 4;

/// What the ending of a word leaves, in lower case, by hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Stem(u64);

impl Stem {
    /// That of a word.
    pub(super) fn of(word: &str) -> Stem {
        let mut lower = [0; WORD_BYTES_MAX];
        if !word.is_ascii() {
            let lower: String = word.chars().flat_map(char::to_lowercase).collect();
            return Stem(xxh64(lower.as_bytes(), 0));
        }
        let word = &word.as_bytes()[..word.len().min(WORD_BYTES_MAX)];
        let lower = &mut lower[..word.len()];
        lower.copy_from_slice(word);
        lower.make_ascii_lowercase();
        let is_ending =
            |it: &&&str| STEM_BYTES_MIN + it.len() <= lower.len() && lower.ends_with(it.as_bytes());
        let endings = endings(lower.last().copied().unwrap_or_default());
        let ending = endings.iter().find(is_ending).map_or(0, |it| it.len());
        Stem(xxh64(&lower[..lower.len() - ending], 0))
    }
}

/// What is known of stems.
pub(super) type StemMap<T> = HashMap<Stem, T, BuildHasherDefault<AsItIs>>;

/// Takes a stem for its hash, which it is.
#[derive(Default)]
pub(super) struct AsItIs(u64);

impl Hasher for AsItIs {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh64(bytes, self.0);
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The words of a node, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Bag {
    stems: Vec<Stem>,
    n_head: usize,
}

impl Bag {
    /// That of a node: of what stands above its text, and of the text.
    pub(super) fn of(head: &[&str], text: &str) -> Bag {
        let n_bytes = text.len() + head.iter().map(|it| it.len()).sum::<usize>();
        let stems = Vec::with_capacity(n_bytes / BYTES_PER_WORD);
        let mut bag = Bag { stems, n_head: 0 };
        head.iter().for_each(|it| bag.add(it));
        bag.n_head = bag.stems.len();
        bag.add(text);
        bag
    }

    /// All of its words.
    pub(super) fn all(&self) -> &[Stem] {
        &self.stems
    }

    /// Those of the text.
    pub(super) fn text(&self) -> &[Stem] {
        &self.stems[self.n_head..]
    }

    fn add(&mut self, text: &str) {
        for segment in grams::segments(text) {
            match segment.script {
                Script::Spaced => self.stems.push(Stem::of(segment.text)),
                Script::Spaceless => {
                    let pairs = grams::pairs(segment.text, PAIRS_MAX);
                    self.stems.extend(pairs.iter().map(|it| Stem::of(it)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_cut() {
        assert_eq!(Stem::of("Compiling"), Stem::of("compiled"));
        assert_eq!(Stem::of("leases"), Stem::of("lease"));
        assert_eq!(Stem::of("Ärger"), Stem::of("ärger"));
        assert_ne!(Stem::of("bus"), Stem::of("bu"));
        assert_ne!(Stem::of(""), Stem::of("s"));
    }

    #[test]
    fn scripts_without_spaces_have_their_pairs() {
        assert_eq!(Bag::of(&["Rust"], "日本語").text(), [Stem::of("日本"), Stem::of("本語")]);
    }
}
