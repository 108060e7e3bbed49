//! A text as a bag of words, which is what ranking compares texts by.
//!
//! Of a word only what its ending leaves counts, the same for `compile`, `compiled` and
//! `compiling`. Endings are cut roughly: that is enough to compare the texts of one answer with
//! each other and with the question, since what the memory finds at all is for the index to say.
//! This module does no IO, and takes time linear in the texts.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::grams::{self, Kind, Script};

/// Pairs of a run of a script without spaces.
const PAIRS_MAX: usize = 256;
/// Bytes of a text for each of its words, about.
const BYTES_PER_WORD: usize = 5;
/// Bytes of a word that an ending leaves at the least.
const STEM_BYTES_MIN: usize = 4;

/// An ending: the bytes of a word's last eight that it is about, and what they are.
#[derive(Clone, Copy)]
struct Ending {
    mask: u64,
    bytes: u64,
    len: usize,
}

impl Ending {
    const fn new(text: &str) -> Ending {
        let mut ending = Ending { mask: 0, bytes: 0, len: text.len() };
        let mut at = 0;
        while at < text.len() {
            ending.mask = ending.mask << 8 | 0xff;
            ending.bytes = ending.bytes << 8 | text.as_bytes()[at] as u64;
            at += 1;
        }
        ending
    }
}

/// Endings by their last letter, the longest first.
const fn endings(last: u8) -> &'static [Ending] {
    macro_rules! endings {
        ($($text:literal)*) => { const { &[$(Ending::new($text)),*] } };
    }
    match last {
        b's' => endings!["ations" "ments" "ings" "ions" "ies" "es" "s"],
        b'n' => endings!["ation" "ion"],
        b't' => endings!["ment"],
        b'y' => endings!["ally" "ly" "y"],
        b'g' => endings!["ing"],
        b'd' => endings!["ed"],
        b'l' => endings!["al"],
        b'e' => endings!["e"],
        _ => &[],
    }
}

/// What the ending of a word leaves, in lower case, by hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Stem(u64);

impl Stem {
    /// That of a word.
    pub(super) fn of(word: &str) -> Stem {
        if word.is_ascii() {
            return Stem::of_plain(word.as_bytes(), 0);
        }
        let letters = word.chars().flat_map(char::to_lowercase);
        Stem(letters.fold(Fnv::BASIS, |hash, it| hash.with(it as u32)).0)
    }

    /// That of the last word of a text, which is of ASCII and begins there.
    fn of_plain(text: &[u8], begin: usize) -> Stem {
        let word = &text[begin..];
        let tail = tail(text) | u64::from_be_bytes([LOWER; TAIL_BYTES]);
        let is_ending =
            |it: &&Ending| STEM_BYTES_MIN + it.len <= word.len() && tail & it.mask == it.bytes;
        let ending = endings(tail as u8).iter().find(is_ending).map_or(0, |it| it.len);
        let stem = &word[..word.len() - ending];
        Stem(stem.iter().fold(Fnv::BASIS, |hash, it| hash.with(u32::from(it | LOWER))).0)
    }
}

/// The bit that makes a letter of ASCII a lower one; digits have it.
const LOWER: u8 = 0x20;
/// Bytes in which an ending is looked for.
const TAIL_BYTES: usize = 8;

/// The last eight bytes; zeros stand before fewer.
fn tail(text: &[u8]) -> u64 {
    match text.last_chunk::<TAIL_BYTES>() {
        Some(tail) => u64::from_be_bytes(*tail),
        None => text.iter().fold(0, |tail, &it| tail << 8 | u64::from(it)),
    }
}

/// A hash that takes a few bytes well, one after the other: FNV-1a of 64 bits
/// (draft-eastlake-fnv-21, §2).
#[derive(Clone, Copy)]
struct Fnv(u64);

impl Fnv {
    const BASIS: Fnv = Fnv(0xcbf2_9ce4_8422_2325);
    const PRIME: u64 = 0x0100_0000_01b3;

    fn with(self, value: u32) -> Fnv {
        Fnv((self.0 ^ u64::from(value)).wrapping_mul(Fnv::PRIME))
    }
}

/// What is known of stems.
pub(super) type StemMap<T> = HashMap<Stem, T, BuildHasherDefault<AsItIs>>;

/// Takes a stem for its hash, which it is.
#[derive(Default)]
pub(super) struct AsItIs(u64);

impl Hasher for AsItIs {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(Fnv(self.0), |hash, &it| hash.with(it.into())).0;
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
        let mut begin = grams::run_end(text, 0, |it| it == Kind::Gap);
        while begin < text.len() {
            let mut end = grams::run_end(text, begin, |it| it == Kind::Letter);
            match text.as_bytes().get(end) {
                Some(byte) if !byte.is_ascii() => {
                    // With all that hangs together with it.
                    end = grams::run_end(text, end, |it| it != Kind::Gap);
                    self.add_any(&text[begin..end]);
                }
                Some(_) | None => self.stems.push(Stem::of_plain(&text.as_bytes()[..end], begin)),
            }
            begin = grams::run_end(text, end, |it| it == Kind::Gap);
        }
    }

    /// The same for text of any script.
    fn add_any(&mut self, text: &str) {
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
    use proptest::prelude::*;

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

    #[test]
    fn the_longest_ending_is_cut_that_leaves_four_letters() {
        assert_eq!(Stem::of("migrations"), Stem::of("migr"));
        assert_eq!(Stem::of("sections"), Stem::of("sect"));
        assert_eq!(Stem::of("rations"), Stem::of("ration"));
    }

    #[test]
    fn all_letters_of_a_long_word_count() {
        let (one, other) = ("x".repeat(500) + "a", "x".repeat(500) + "b");
        assert_ne!(Stem::of(&one), Stem::of(&other));
        assert_eq!(Stem::of(&(one.clone() + "ing")), Stem::of(&(one + "ed")));
    }

    proptest! {
        #[test]
        fn a_text_has_the_words_that_its_segments_are(text in "[a-zA-Z0-9 ,.é—日本語́\\PC]{0,60}") {
            let mut segments = Bag::default();
            segments.add_any(&text);
            prop_assert_eq!(Bag::of(&[], &text), segments);
        }
    }
}
