//! Cutting: the useful beginning of a text that is longer than its room.
//!
//! Prose ends with a sentence, code and lists with a line, where one fits; else with a word. The
//! name of a speaker and a few letters are of no use. This module does no IO.

use super::is_full_stop;

/// Least bytes of a useful beginning, behind the name of a speaker.
const USEFUL_BYTES_MIN: usize = 20;
/// Bytes in which the name of a speaker ends.
const LEAD_BYTES_MAX: usize = 40;
/// Words before a full stop that ends no sentence, beside single letters.
const ABBREVIATIONS: [&str; 8] = ["dr", "fig", "mr", "mrs", "ms", "prof", "st", "vs"];

/// Returns the longest useful beginning of prose that ends with a sentence, else with a word; an
/// empty one if there is none.
pub(crate) fn cut_at_sentence(text: &str) -> &str {
    cut_at(text, text.char_indices().rev().find_map(|it| useful(text, sentence_end(text, it)?)))
}

/// Returns the longest useful beginning that ends with a line, else with a word; an empty one if
/// there is none.
pub(crate) fn cut_at_line(text: &str) -> &str {
    cut_at(text, text.rfind('\n').and_then(|it| useful(text, it)))
}

fn cut_at(text: &str, end: Option<usize>) -> &str {
    // A script without spaces ends anywhere.
    let word_end = || useful(text, text.rfind(char::is_whitespace).unwrap_or(text.len()));
    text[..end.or_else(word_end).unwrap_or(0)].trim_end()
}

/// Returns the end of the sentence whose last sign is that character.
fn sentence_end(text: &str, (at, sign): (usize, char)) -> Option<usize> {
    let behind = &text[at + sign.len_utf8()..];
    // Looked for behind the sign of an end alone, since a text may be one run of closing signs.
    let closed = || behind.trim_start_matches(is_closing);
    match sign {
        _ if is_full_stop(sign) => Some(text.len() - closed().len()),
        '.' if is_abbreviation(&text[..at]) => None,
        '.' | '!' | '?' | '…' => {
            let rest = Some(closed()).filter(|it| it.starts_with(char::is_whitespace))?;
            Some(text.len() - rest.len())
        }
        '\n' => behind.starts_with('\n').then_some(at),
        _ => None,
    }
}

fn is_closing(it: char) -> bool {
    matches!(it, '"' | '\'' | '”' | '’' | '»' | ')' | ']' | '*' | '_' | '」' | '』')
}

/// Returns whether a text ends with a single letter, as `e.g` does, or with an abbreviation.
fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit(|it: char| !it.is_alphanumeric()).next().unwrap_or_default();
    let is_letter = word.chars().count() == 1 && word.starts_with(char::is_alphabetic);
    is_letter || ABBREVIATIONS.iter().any(|it| it.eq_ignore_ascii_case(word))
}

/// Returns an end if enough of the text is before it, the name of a speaker aside.
fn useful(text: &str, end: usize) -> Option<usize> {
    let lead = &text[..text.floor_char_boundary(LEAD_BYTES_MAX)];
    let n_lead = lead.find(": ").map_or(0, |it| it + ": ".len());
    let n_bytes = text[..end].trim_end().len().saturating_sub(n_lead);
    (USEFUL_BYTES_MIN <= n_bytes).then_some(end)
}

#[cfg(test)]
mod tests;
