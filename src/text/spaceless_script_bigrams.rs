//! Character bigrams, by which scripts written without spaces can be searched.
//!
//! Full-text search splits text at spaces and punctuation. It takes whole sentences of Chinese,
//! Japanese, Korean, Thai, Lao, Khmer and Burmese for one word. So a node also stores, for every
//! run of such characters, its pairs: `日本語` becomes `日本 本語 語`. The last character is kept alone so
//! that every character begins a term. A query of one character is a prefix, of two a pair, of more
//! a phrase of pairs ([`fts_pattern`]).
//!
//! Words of other scripts that touch a run (`Rustの所有権`) are added as whole terms, since the index
//! sees them only as the beginning of one long word. Combining marks are left out on both sides:
//! the index takes them for separators.
//! This module does no IO.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Characters of a run that a query uses; further ones find nothing more.
const PATTERN_CHARS_MAX: usize = 64;

/// The kind of script of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScriptSpacing {
    /// Letters and digits of a script that puts spaces between words.
    Spaced,
    /// Letters of a script written without spaces.
    Spaceless,
}

/// A maximal run of letters and digits of one kind of script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScriptRun<'a> {
    /// The text; a spaceless one may hold combining marks.
    pub(crate) text: &'a str,
    /// Its kind of script.
    pub(crate) script: ScriptSpacing,
    /// Whether it follows the segment before it directly.
    pub(crate) is_glued: bool,
}

/// Returns the bigrams of every spaceless run of `text`, separated by spaces; `None` without such a
/// run.
pub(crate) fn bigrams(text: &str) -> Option<String> {
    if !may_have_spaceless_run(text) {
        return None;
    }
    let mut pairs = String::new();
    let mut has_run = false;
    let mut segments = segments(text).peekable();
    while let Some(segment) = segments.next() {
        match segment.script {
            ScriptSpacing::Spaceless => {
                has_run = true;
                push_pairs(&mut pairs, segment.text);
            }
            ScriptSpacing::Spaced => {
                if segment.is_glued || segments.peek().is_some_and(|next| next.is_glued) {
                    push_word(&mut pairs, segment.text.chars());
                }
            }
        }
    }
    has_run.then_some(pairs)
}

/// Returns whether `text` may have a spaceless run.
pub(crate) fn may_have_spaceless_run(text: &str) -> bool {
    !text.is_ascii() && text.chars().any(|it| !it.is_ascii() && holds(SPACELESS, it))
}

/// Returns the full-text query that finds `run` inside a longer run. It is a prefix, a pair or a
/// phrase of pairs. `None` when the run has no character of its own.
pub(crate) fn fts_pattern(run: &str) -> Option<String> {
    let letters: Vec<char> = letters(run).take(PATTERN_CHARS_MAX).collect();
    match letters[..] {
        [] => None,
        [only] => Some(format!("\"{only}\"*")),
        _ => {
            let mut phrase = String::from("\"");
            for (at, pair) in letters.windows(2).enumerate() {
                if 0 < at {
                    phrase.push(' ');
                }
                phrase.extend(pair);
            }
            phrase.push('"');
            Some(phrase)
        }
    }
}

/// Returns the bigrams of `run`, at most `max` of them.
pub(crate) fn bigrams_of_run(run: &str, max: usize) -> Vec<[char; 2]> {
    let letters: Vec<char> = letters(run).take(max.saturating_add(1)).collect();
    letters.windows(2).map(|it| [it[0], it[1]]).collect()
}

/// Returns the number of characters of a run without its marks.
pub(crate) fn n_letters(run: &str) -> usize {
    letters(run).count()
}

/// Returns the forms in which a text may be written: composed, and in parts where they differ.
pub(crate) fn canonical_forms(text: &str) -> Vec<String> {
    let (composed, parts): (String, String) = (text.nfc().collect(), text.nfd().collect());
    if composed == parts { vec![composed] } else { vec![composed, parts] }
}

/// Returns the segments of `text`, in order.
pub(crate) fn segments(text: &str) -> ScriptRuns<'_> {
    ScriptRuns { text, at: 0, end_of_last: None }
}

/// Iterator over [`ScriptRun`]s.
#[derive(Clone, Debug)]
pub(crate) struct ScriptRuns<'a> {
    text: &'a str,
    at: usize,
    end_of_last: Option<usize>,
}

impl<'a> Iterator for ScriptRuns<'a> {
    type Item = ScriptRun<'a>;

    fn next(&mut self) -> Option<ScriptRun<'a>> {
        self.at = char_class_end(self.text, self.at, |it| it == ByteClass::Gap);
        // ASCII text is scanned by a table.
        let end = char_class_end(self.text, self.at, |it| it == ByteClass::Letter);
        if self.at < end && self.text.as_bytes().get(end).is_none_or(u8::is_ascii) {
            let start = std::mem::replace(&mut self.at, end);
            let is_glued = self.end_of_last.replace(end) == Some(start);
            let text = &self.text[start..end];
            return Some(ScriptRun { text, script: ScriptSpacing::Spaced, is_glued });
        }
        let rest = &self.text[self.at..];
        let mut found: Option<(usize, ScriptSpacing)> = None;
        let mut end = self.text.len();
        for (offset, letter) in rest.char_indices() {
            let at = self.at + offset;
            let script = match class(letter) {
                BigramCharClass::Letter(script) => Some(script),
                // A mark belongs to the letter before it.
                BigramCharClass::Mark => found.map(|(_, script)| script),
                BigramCharClass::Gap => None,
            };
            match (found, script) {
                (None, Some(script)) => found = Some((at, script)),
                (Some((_, inside)), _) if script != Some(inside) => {
                    end = at;
                    break;
                }
                _ => (),
            }
        }
        self.at = end;
        let (start, script) = found?;
        let is_glued = self.end_of_last == Some(start);
        self.end_of_last = Some(end);
        Some(ScriptRun { text: &self.text[start..end], script, is_glued })
    }
}

/// The class of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteClass {
    Gap,
    /// A letter or a digit of ASCII.
    Letter,
    /// A part of a character beyond ASCII.
    Beyond,
}

const KINDS: [ByteClass; 256] = {
    let mut kinds = [ByteClass::Beyond; 256];
    let mut byte = 0;
    while byte < 128 {
        let is_letter = (byte as u8).is_ascii_alphanumeric();
        kinds[byte] = if is_letter { ByteClass::Letter } else { ByteClass::Gap };
        byte += 1;
    }
    kinds
};

/// Returns the end of the run of bytes from `begin` on whose kinds match.
pub(crate) fn char_class_end(
    text: &str,
    begin: usize,
    is_one: impl Fn(ByteClass) -> bool,
) -> usize {
    let bytes = text.as_bytes();
    let mut end = begin;
    while bytes.get(end).is_some_and(|&it| is_one(KINDS[usize::from(it)])) {
        end += 1;
    }
    end
}

fn push_pairs(pairs: &mut String, run: &str) {
    let mut before: Option<char> = None;
    for letter in letters(run) {
        if let Some(before) = before {
            push_word(pairs, [before, letter].into_iter());
        }
        before = Some(letter);
    }
    if let Some(last) = before {
        push_word(pairs, std::iter::once(last));
    }
}

fn push_word(pairs: &mut String, word: impl Iterator<Item = char>) {
    if !pairs.is_empty() {
        pairs.push(' ');
    }
    pairs.extend(word);
}

/// Returns the composed characters of a run without its marks, however it is encoded.
fn letters(run: &str) -> impl Iterator<Item = char> + '_ {
    run.nfc().filter(|&letter| !is_mark(letter))
}

/// The class of a character, which decides the bigrams that it is part of.
enum BigramCharClass {
    Letter(ScriptSpacing),
    Mark,
    Gap,
}

fn class(letter: char) -> BigramCharClass {
    if letter.is_ascii() {
        return match letter.is_ascii_alphanumeric() {
            true => BigramCharClass::Letter(ScriptSpacing::Spaced),
            false => BigramCharClass::Gap,
        };
    }
    if is_mark(letter) {
        BigramCharClass::Mark
    } else if holds(SPACELESS, letter) {
        BigramCharClass::Letter(ScriptSpacing::Spaceless)
    } else if letter.is_alphanumeric() {
        BigramCharClass::Letter(ScriptSpacing::Spaced)
    } else {
        BigramCharClass::Gap
    }
}

/// Returns whether a character belongs to the letter before it: a combining mark, or a joiner.
fn is_mark(letter: char) -> bool {
    matches!(letter, '\u{200c}' | '\u{200d}') || is_combining_mark(letter)
}

fn holds(ranges: &[(u32, u32)], letter: char) -> bool {
    let code = u32::from(letter);
    let after = ranges.partition_point(|&(first, _)| first <= code);
    0 < after && code <= ranges[after - 1].1
}

/// Letters and digits of scripts written without spaces, ascending. Their marks are taken out
/// first.
const SPACELESS: &[(u32, u32)] = &[
    (0x0E01, 0x0E3A), // Thai
    (0x0E40, 0x0E4E),
    (0x0E50, 0x0E59),
    (0x0E81, 0x0EDF), // Lao
    (0x1000, 0x1049), // Myanmar
    (0x1050, 0x109D),
    (0x1100, 0x11FF), // Hangul, in parts
    (0x1780, 0x17D3), // Khmer
    (0x17D7, 0x17D7),
    (0x17DC, 0x17DD),
    (0x17E0, 0x17E9),
    (0x3005, 0x3007), // Han: iteration mark, closing mark, zero
    (0x3021, 0x3029),
    (0x3031, 0x3035), // Kana repeat marks
    (0x3038, 0x303C),
    (0x3041, 0x3096), // Hiragana
    (0x309D, 0x309F),
    (0x30A1, 0x30FA), // Katakana
    (0x30FC, 0x30FF),
    (0x3105, 0x312F), // Bopomofo
    (0x3131, 0x318E), // Hangul
    (0x31A0, 0x31BF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF), // Han
    (0x4E00, 0x9FFF),
    (0xA960, 0xA97C),
    (0xA9E0, 0xA9FE), // Myanmar
    (0xAA60, 0xAA7F),
    (0xAC00, 0xD7A3), // Hangul syllables
    (0xD7B0, 0xD7FB),
    (0xF900, 0xFAFF), // Han
    (0xFF66, 0xFF9F), // Katakana, half width
    (0xFFA0, 0xFFDC), // Hangul, half width
    (0x1B000, 0x1B16F),
    (0x20000, 0x2FA1F),
    (0x30000, 0x323AF),
];

#[cfg(test)]
mod tests;
