//! Scrubs labels, which may show a secret of their text without the context by which it was
//! detected, or cut off at their end.

use crate::text;

/// A secret in one text: its kind and its characters.
pub(in crate::maintenance) type SecretWithKind = (String, String);

/// Endings of shortened labels: of this program and of remindb 0.3.
const CUT_MARKS: [&str; 2] = ["…", "..."];

/// Shortest beginning of a secret that is recognized at the end of a shortened label, in
/// characters.
const CUT_CHARS_MIN: usize = 4;

/// Shortest beginning at the end of a label without a mark: shorter ones may be ordinary words.
const UNMARKED_CUT_CHARS_MIN: usize = 12;

/// Returns a label without its own secrets, which `scrub` replaces, and those found in its text;
/// `None` when there were none.
pub(in crate::maintenance) fn scrub_label(
    label: &str,
    found: &[SecretWithKind],
    scrub: &mut dyn FnMut(&str) -> Option<String>,
) -> Option<String> {
    let mut out = label.to_owned();
    for (kind, secret) in found {
        let secret = text::fold_whitespace(secret);
        out = replace_words(&out, &secret, kind);
        let marked = CUT_MARKS.iter().find_map(|it| out.strip_suffix(it));
        let (stem, n_chars_min) = match marked {
            Some(stem) => (stem, CUT_CHARS_MIN),
            None => (out.as_str(), UNMARKED_CUT_CHARS_MIN),
        };
        if let Some(end) = cut_end(stem, &secret, n_chars_min) {
            out = format!("{}«redacted:{kind}»", &stem[..end]);
        }
    }
    if let Some(scrubbed) = scrub(&out) {
        out = scrubbed;
    }
    (out != label).then(|| text::truncate_chars(&out, text::LABEL_CHARS_MAX))
}

/// Returns `text` with `secret` replaced wherever it is not part of a longer word.
fn replace_words(text: &str, secret: &str, kind: &str) -> String {
    if secret.chars().nth(CUT_CHARS_MIN).is_none() {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in text.match_indices(secret) {
        let end = at + secret.len();
        let is_inside = |it: char| it.is_alphanumeric() || it == '_';
        let is_part = text[..at].ends_with(is_inside)
            || text[..at].ends_with("«redacted:")
            || text[end..].starts_with(is_inside);
        if !is_part {
            out.push_str(&text[done..at]);
            out.push_str(&format!("«redacted:{kind}»"));
            done = end;
        }
    }
    out.push_str(&text[done..]);
    out
}

/// Returns the start of the longest beginning of `secret` with which `stem` ends, if it has
/// `n_chars_min` characters.
fn cut_end(stem: &str, secret: &str, n_chars_min: usize) -> Option<usize> {
    let heads = secret.char_indices().skip(n_chars_min).map(|(at, _)| at);
    let head = heads.filter(|&at| stem.ends_with(&secret[..at])).max()?;
    let begin = stem.len() - head;
    (!stem[..begin].ends_with(char::is_alphanumeric)).then_some(begin)
}

#[cfg(test)]
mod tests;
