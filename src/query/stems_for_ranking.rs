//! Stemmed texts: the stems in order, by which ranking compares texts.
//!
//! Stemming is rough: `compile`, `compiled` and `compiling` have one stem. That suffices to
//! compare the texts of one answer with each other and with the question; matching itself is done
//! by the full-text index. This module does no IO, and takes time linear in the texts.
//!
//! A search stems some 12,000 words, so endings are cut from a word's last eight bytes and only
//! hashes are kept: 20 ns a word, where a Snowball stemmer takes 170 ns and a string.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::text::spaceless_script_bigrams::{self, ByteClass, ScriptSpacing};

/// Bigrams taken from one run of a script without spaces.
const PAIRS_MAX: usize = 256;
/// Mean bytes of text per word, to reserve memory.
const BYTES_PER_WORD: usize = 5;
/// Least bytes of a stem.
const STEM_BYTES_MIN: usize = 4;

/// A suffix that stemming cuts: its bytes, and the mask that selects them in a word's last eight.
#[derive(Clone, Copy)]
struct Suffix {
    mask: u64,
    bytes: u64,
    len: usize,
}

impl Suffix {
    const fn new(text: &str) -> Suffix {
        let mut ending = Suffix { mask: 0, bytes: 0, len: text.len() };
        let mut at = 0;
        while at < text.len() {
            ending.mask = ending.mask << 8 | 0xff;
            ending.bytes = ending.bytes << 8 | text.as_bytes()[at] as u64;
            at += 1;
        }
        ending
    }
}

/// Returns the suffixes that end in this letter, longest first.
const fn endings(last: u8) -> &'static [Suffix] {
    macro_rules! endings {
        ($($text:literal)*) => { const { &[$(Suffix::new($text)),*] } };
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

/// The hash of a word's stem in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct StemHash(u64);

impl StemHash {
    /// Returns the stem of a word.
    pub(super) fn of(word: &str) -> StemHash {
        if word.is_ascii() {
            return StemHash::of_plain(word.as_bytes(), 0);
        }
        let letters: String = word.chars().flat_map(char::to_lowercase).collect();
        StemHash(hash(letters.bytes()))
    }

    /// Returns the stem of an ASCII word that begins at `begin` and ends the text.
    fn of_plain(text: &[u8], begin: usize) -> StemHash {
        let word = &text[begin..];
        let tail = tail(text) | u64::from_be_bytes([LOWER; CHUNK_BYTES]);
        let is_ending =
            |it: &&Suffix| STEM_BYTES_MIN + it.len <= word.len() && tail & it.mask == it.bytes;
        let ending = endings(tail as u8).iter().find(is_ending).map_or(0, |it| it.len);
        if (1..=CHUNK_BYTES).contains(&word.len()) {
            // The tail holds the whole word, and bytes before it.
            let letters = tail & u64::MAX >> (u64::BITS as usize - 8 * word.len());
            return StemHash(mixed(letters >> (8 * ending)));
        }
        StemHash(hash(word[..word.len() - ending].iter().map(|it| it | LOWER)))
    }
}

/// The bit that turns an ASCII letter into lower case; digits have it.
const LOWER: u8 = 0x20;
/// Bytes that are hashed at once.
const CHUNK_BYTES: usize = 8;

/// Returns the last eight bytes, padded with zeros at the front.
fn tail(text: &[u8]) -> u64 {
    match text.last_chunk::<CHUNK_BYTES>() {
        Some(tail) => u64::from_be_bytes(*tail),
        None => text.iter().fold(0, |tail, &it| tail << 8 | u64::from(it)),
    }
}

/// Hashes eight bytes at a time; a shorter rest is hashed as a number.
fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    let (mut hash, mut chunk) = (0, 0);
    for (nth, byte) in bytes.enumerate() {
        if 0 < nth && nth % CHUNK_BYTES == 0 {
            hash = mixed(hash ^ chunk);
            chunk = 0;
        }
        chunk = chunk << 8 | u64::from(byte);
    }
    mixed(hash ^ chunk)
}

/// Mixes a number by folding both halves of a 128-bit product. This is the mixing step of wyhash
/// (github.com/wangyi-fudan/wyhash), with its constants.
fn mixed(number: u64) -> u64 {
    let product = u128::from(number ^ 0xa076_1d64_78bd_642f) * 0xe703_7ed1_a0b4_28db;
    product as u64 ^ (product >> 64) as u64
}

/// A map from stems to values. A bitmap tells most stems that are missing: nearly all stems of a
/// text are, and a look at the bitmap takes a quarter of one at the map.
pub(super) struct StemHashMap<T> {
    values: HashMap<StemHash, T, BuildHasherDefault<IdentityHasher>>,
    bits: Vec<u64>,
}

/// Words of the bitmap of a [`StemHashMap`], 64 bits each.
const BITMAP_WORDS: usize = 256;

impl<T> Default for StemHashMap<T> {
    fn default() -> StemHashMap<T> {
        StemHashMap { values: HashMap::default(), bits: vec![0; BITMAP_WORDS] }
    }
}

impl<T> StemHashMap<T> {
    /// Returns the value of a stem.
    pub(super) fn get(&self, stem: &StemHash) -> Option<&T> {
        let (at, bit) = StemHashMap::<T>::place(stem);
        if self.bits[at] & bit == 0 { None } else { self.values.get(stem) }
    }

    /// Returns the value of a stem, which is set where it is missing.
    pub(super) fn get_or_insert(&mut self, stem: StemHash, value: impl FnOnce() -> T) -> &mut T {
        let (at, bit) = StemHashMap::<T>::place(&stem);
        self.bits[at] |= bit;
        self.values.entry(stem).or_insert_with(value)
    }

    /// Returns the number of stems.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns the word of the bitmap and the bit in it: bits of the hash that the map looks at
    /// last.
    fn place(stem: &StemHash) -> (usize, u64) {
        let at = (stem.0 >> 40) as usize;
        (at / 64 % BITMAP_WORDS, 1 << (at % 64))
    }
}

impl FromIterator<StemHash> for StemHashMap<()> {
    fn from_iter<I: IntoIterator<Item = StemHash>>(stems: I) -> StemHashMap<()> {
        let mut map = StemHashMap::default();
        stems.into_iter().for_each(|it| *map.get_or_insert(it, || ()) = ());
        map
    }
}

/// A hasher that returns its input: a stem is a hash already.
#[derive(Default)]
pub(super) struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 ^= hash(bytes.iter().copied());
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The stems of a node, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct StemmedText {
    stems: Vec<StemHash>,
    n_head: usize,
    n_lead: usize,
    is_question: bool,
}

impl StemmedText {
    /// Returns the stems of a node: those of `head` (label and breadcrumb), then those of its
    /// text.
    pub(super) fn of(head: &[&str], text: &str) -> StemmedText {
        let n_bytes = text.len() + head.iter().map(|it| it.len()).sum::<usize>();
        let stems = Vec::with_capacity(n_bytes / BYTES_PER_WORD);
        let is_question = is_question(text);
        let mut bag = StemmedText { stems, n_head: 0, n_lead: 0, is_question };
        head.iter().for_each(|it| bag.add(it));
        bag.n_head = bag.stems.len();
        let lead = lead_of(text);
        bag.add(lead);
        bag.n_lead = bag.stems.len() - bag.n_head;
        bag.add(&text[lead.len()..]);
        bag
    }

    /// Returns all stems.
    pub(super) fn stems(&self) -> &[StemHash] {
        &self.stems
    }

    /// Returns the stems of the text without the head.
    pub(super) fn text_stems(&self) -> &[StemHash] {
        &self.stems[self.n_head..]
    }

    /// Returns the stems of the lead: those of a name that the text begins with, before a colon.
    pub(super) fn lead_stems(&self) -> &[StemHash] {
        &self.stems[self.n_head..self.n_head + self.n_lead]
    }

    /// Returns whether the text ends in a question.
    pub(super) fn is_question(&self) -> bool {
        self.is_question
    }

    fn add(&mut self, text: &str) {
        let mut begin =
            spaceless_script_bigrams::char_class_end(text, 0, |it| it == ByteClass::Gap);
        while begin < text.len() {
            let mut end =
                spaceless_script_bigrams::char_class_end(text, begin, |it| it == ByteClass::Letter);
            match text.as_bytes().get(end) {
                Some(byte) if !byte.is_ascii() => {
                    // Include everything up to the next gap.
                    end = spaceless_script_bigrams::char_class_end(text, end, |it| {
                        it != ByteClass::Gap
                    });
                    self.add_any(&text[begin..end]);
                }
                Some(_) | None => {
                    self.stems.push(StemHash::of_plain(&text.as_bytes()[..end], begin))
                }
            }
            begin = spaceless_script_bigrams::char_class_end(text, end, |it| it == ByteClass::Gap);
        }
    }

    /// Adds the stems of a text in any script.
    fn add_any(&mut self, text: &str) {
        for segment in spaceless_script_bigrams::segments(text) {
            match segment.script {
                ScriptSpacing::Spaced => self.stems.push(StemHash::of(segment.text)),
                ScriptSpacing::Spaceless => {
                    let pairs = spaceless_script_bigrams::bigrams_of_run(segment.text, PAIRS_MAX);
                    self.stems.extend(pairs.iter().map(|it| StemHash::of(&String::from_iter(it))));
                }
            }
        }
    }
}

/// Returns the name at the beginning of a text, which says who speaks or what is told about:
/// `Ana Maria` of `Ana Maria: Hello` and of `**Ana Maria:** Hello`.
fn lead_of(text: &str) -> &str {
    const LEAD_BYTES_MAX: usize = 40;
    const WORDS_MAX: usize = 3;
    let begin = &text.as_bytes()[..text.len().min(LEAD_BYTES_MAX)];
    let is_end = |it: &u8| matches!(it, b':' | b'.' | b',' | b'?' | b'!' | b';' | b'/' | b'\n');
    let Some(end) = begin.iter().position(is_end).filter(|&it| begin[it] == b':') else {
        return "";
    };
    let is_spaced = matches!(text.as_bytes().get(end + 1), Some(b' ' | b'*' | b'_' | b'\n'));
    let lead = &text[..end];
    if is_spaced && lead.split_whitespace().nth(WORDS_MAX).is_none() { lead } else { "" }
}

/// Returns whether a text ends in a question mark, a remark in parentheses behind it aside.
fn is_question(text: &str) -> bool {
    let text = text.trim_end();
    let remark = text.strip_suffix(')').and_then(|it| it.rfind('('));
    let text = text[..remark.unwrap_or(text.len())].trim_end();
    text.trim_end_matches(['*', '_', '"', '\'', '”', '’']).ends_with(['?', '？'])
}

#[cfg(test)]
mod tests;
