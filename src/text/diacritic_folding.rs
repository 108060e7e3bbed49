//! Accents that the full-text index keeps: those of Greek and Cyrillic letters, strokes and
//! ligatures of Latin ones, and the vowel marks of Hebrew and Arabic, at which it splits words. It
//! keeps characters that stand for others, too: `ﬂ` of a PDF, full width, `ड़` in one or two parts.
//!
//! The index takes accents off Latin letters alone, so that `cafe` finds `café`. For words with
//! others, a node stores the plain word, too: `καλημερα` for `καλημέρα`, `שלום` for `שָׁלוֹם`,
//! `duong` for `đường`, whose other accents the index takes off. A question with accents looks for
//! both. This module does no IO.

use unicode_normalization::UnicodeNormalization;

use super::spaceless_script_bigrams;

/// Returns the plain forms of the words of `text` with accents that the index keeps, separated by
/// spaces; `None` without such a word.
pub(crate) fn plain_words(text: &str) -> Option<String> {
    if !has_kept_accents(text) {
        return None;
    }
    let mut words: Vec<String> = Vec::new();
    for word in spaceless_script_bigrams::segments(text).filter_map(|it| plain_word(it.text)) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    (!words.is_empty()).then(|| words.join(" "))
}

/// Returns a word in lower case without the accents that the index keeps; `None` if it has none, or
/// nothing else.
pub(crate) fn plain_word(word: &str) -> Option<String> {
    if !has_kept_accents(word) {
        return None;
    }
    let word = if word.contains(is_variant) { word.nfkc().collect() } else { word.to_owned() };
    let mut plain = String::with_capacity(word.len());
    for letter in word.chars().flat_map(char::to_lowercase) {
        match plain_letters(letter) {
            Some(letters) => plain.push_str(letters),
            None => plain.push(letter),
        }
    }
    (!plain.is_empty()).then_some(plain)
}

/// Returns whether a text has letters with accents that the index keeps, or such that stand for
/// others.
pub(crate) fn has_kept_accents(text: &str) -> bool {
    let may_be_kept = |it: &char| LIKELY.iter().any(|(first, last)| (first..=last).contains(&it));
    let is_kept =
        |it: char| is_variant(it) || it.to_lowercase().any(|it| plain_letters(it).is_some());
    !text.is_ascii() && text.chars().filter(may_be_kept).any(is_kept)
}

/// Returns the letters that a small letter is written with where accents cannot be.
fn plain_letters(letter: char) -> Option<&'static str> {
    let after = LETTERS.partition_point(|&(first, ..)| first <= letter);
    let (_, last, plain) = *LETTERS.get(after.checked_sub(1)?)?;
    (letter <= last).then_some(plain)
}

/// Returns whether a letter stands for others that texts are rather written with.
fn is_variant(letter: char) -> bool {
    matches!(
        letter,
        // Indic letters with a dot, which are composed of two.
        '\u{958}'..='\u{95f}' | '\u{9dc}'..='\u{9dd}' | '\u{9df}' | '\u{a33}' | '\u{a36}'
            | '\u{a59}'..='\u{a5b}' | '\u{a5e}' | '\u{b5c}'..='\u{b5d}'
            // Ligatures, letters with points, and forms of Arabic ones by their place.
            | '\u{fb00}'..='\u{fdfb}' | '\u{fe70}'..='\u{fefc}'
            // Digits and letters of full width.
            | '\u{ff10}'..='\u{ff19}' | '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}'
    )
}

/// Ranges with all letters that have such accents or stand for others, capitals included.
const LIKELY: [(char, char); 6] = [
    ('\u{c6}', '\u{167}'),
    ('\u{386}', '\u{4f9}'),
    ('\u{591}', '\u{6ed}'),
    ('\u{958}', '\u{b5d}'),
    ('\u{1e9e}', '\u{1ffc}'),
    ('\u{fb00}', '\u{ff5a}'),
];

/// Small letters with accents, and marks, ascending: the first, the last, and what is left.
const LETTERS: &[(char, char, &str)] = &[
    ('ß', 'ß', "ss"),
    ('æ', 'æ', "ae"),
    ('ð', 'ð', "d"),
    ('ø', 'ø', "o"),
    ('þ', 'þ', "th"),
    ('đ', 'đ', "d"),
    ('ħ', 'ħ', "h"),
    ('ı', 'ı', "i"),
    ('ł', 'ł', "l"),
    ('œ', 'œ', "oe"),
    ('ŧ', 'ŧ', "t"),
    ('ΐ', 'ΐ', "ι"),
    ('ά', 'ά', "α"),
    ('έ', 'έ', "ε"),
    ('ή', 'ή', "η"),
    ('ί', 'ί', "ι"),
    ('ΰ', 'ΰ', "υ"),
    ('ϊ', 'ϊ', "ι"),
    ('ϋ', 'ϋ', "υ"),
    ('ό', 'ό', "ο"),
    ('ύ', 'ύ', "υ"),
    ('ώ', 'ώ', "ω"),
    ('й', 'й', "и"),
    ('ѐ', 'ё', "е"),
    ('ѓ', 'ѓ', "г"),
    ('ї', 'ї', "і"),
    ('ќ', 'ќ', "к"),
    ('ѝ', 'ѝ', "и"),
    ('ў', 'ў', "у"),
    ('\u{4c2}', '\u{4c2}', "ж"),
    ('\u{4d1}', '\u{4d3}', "а"),
    ('\u{4d7}', '\u{4d7}', "е"),
    ('\u{4dd}', '\u{4dd}', "ж"),
    ('\u{4df}', '\u{4df}', "з"),
    ('\u{4e3}', '\u{4e5}', "и"),
    ('\u{4e7}', '\u{4e7}', "о"),
    ('\u{4ed}', '\u{4ed}', "э"),
    ('\u{4ef}', '\u{4f3}', "у"),
    ('\u{4f5}', '\u{4f5}', "ч"),
    ('\u{4f9}', '\u{4f9}', "ы"),
    // Points and cantillation marks of Hebrew.
    ('\u{591}', '\u{5bd}', ""),
    ('\u{5bf}', '\u{5bf}', ""),
    ('\u{5c1}', '\u{5c2}', ""),
    ('\u{5c4}', '\u{5c5}', ""),
    ('\u{5c7}', '\u{5c7}', ""),
    // Vowel marks and the stretching line of Arabic.
    ('\u{610}', '\u{61a}', ""),
    ('\u{640}', '\u{640}', ""),
    ('\u{64b}', '\u{65f}', ""),
    ('\u{670}', '\u{670}', ""),
    ('\u{6d6}', '\u{6dc}', ""),
    ('\u{6df}', '\u{6e4}', ""),
    ('\u{6e7}', '\u{6e8}', ""),
    ('\u{6ea}', '\u{6ed}', ""),
    // Polytonic Greek.
    ('\u{1f00}', '\u{1f0f}', "α"),
    ('\u{1f10}', '\u{1f1f}', "ε"),
    ('\u{1f20}', '\u{1f2f}', "η"),
    ('\u{1f30}', '\u{1f3f}', "ι"),
    ('\u{1f40}', '\u{1f4f}', "ο"),
    ('\u{1f50}', '\u{1f5f}', "υ"),
    ('\u{1f60}', '\u{1f6f}', "ω"),
    ('\u{1f70}', '\u{1f71}', "α"),
    ('\u{1f72}', '\u{1f73}', "ε"),
    ('\u{1f74}', '\u{1f75}', "η"),
    ('\u{1f76}', '\u{1f77}', "ι"),
    ('\u{1f78}', '\u{1f79}', "ο"),
    ('\u{1f7a}', '\u{1f7b}', "υ"),
    ('\u{1f7c}', '\u{1f7d}', "ω"),
    ('\u{1f80}', '\u{1f8f}', "α"),
    ('\u{1f90}', '\u{1f9f}', "η"),
    ('\u{1fa0}', '\u{1faf}', "ω"),
    ('\u{1fb0}', '\u{1fbc}', "α"),
    ('\u{1fc2}', '\u{1fcc}', "η"),
    ('\u{1fd0}', '\u{1fdb}', "ι"),
    ('\u{1fe0}', '\u{1fe3}', "υ"),
    ('\u{1fe4}', '\u{1fe5}', "ρ"),
    ('\u{1fe6}', '\u{1feb}', "υ"),
    ('\u{1fec}', '\u{1fec}', "ρ"),
    ('\u{1ff2}', '\u{1ffc}', "ω"),
];

#[cfg(test)]
mod tests;
