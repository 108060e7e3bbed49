//! Redaction: replaces secrets by markers, before anything is stored.
//!
//! [`Redactor::scrub`] works on any text: the raw text of a file before it is parsed, a node's
//! content, a label, a path, a message. It promises that
//!
//! - the result has no known secret: scrubbing again changes nothing;
//! - existing markers of known kinds stay, and nothing is matched across one;
//! - matches that overlap become one marker, which names the kind of the longest, and among
//!   equals of the most specific;
//! - only the value of an assignment is replaced, so that JSON stays JSON;
//! - time is linear in the text.
//!
//! Clean text costs one pass of one automaton over all triggers. No IO, no state.

mod assignment;
mod assignment_surroundings;
mod assignment_verdict;
mod custom_kinds;
mod key_name;
mod numbered_paths;
mod pem;
mod prefilter;
#[cfg(test)]
mod quality_measurement;
mod secret_columns;
mod secret_kinds;
#[cfg(test)]
mod tests;
mod value_checks;
mod value_span;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use regex::Regex;

pub(crate) use custom_kinds::CustomKind;
pub(crate) use numbered_paths::{number_redacted, split_redacted_number};
use prefilter::PrefilterHits;
pub(crate) use secret_kinds::KINDS;
use secret_kinds::{RULES, SecretPattern};

/// Maximum passes. Replacing can uncover a match only for odd custom patterns; after the last pass,
/// a remaining match takes everything around it up to the next markers.
const PASSES_MAX: usize = 8;

/// Bytes before a key in which a word must announce an AWS secret.
const AWS_BYTES_MAX: usize = 96;

/// The kinds of secrets to find, built once per configuration and shared.
#[derive(Debug)]
pub(crate) struct Redactor {
    /// Whether each row's kind is enabled.
    enabled: [bool; RULES.len()],
    custom: Vec<(String, Regex)>,
}

/// A text without secrets.
#[derive(Debug)]
pub(crate) struct RedactionResult<'a> {
    /// The text, borrowed if it had no secrets.
    pub(crate) text: Cow<'a, str>,
    /// The replaced secrets, in order and disjoint.
    pub(crate) hits: Vec<SecretHit<'a>>,
}

/// The place and kind of a replaced secret, without the secret itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SecretHit<'a> {
    /// The kind that the marker names.
    pub(crate) kind: &'a str,
    /// The replaced bytes of the original text.
    pub(crate) range: Range<usize>,
    /// Quotes around the marker that keep the notation valid, or nothing.
    quote: &'static str,
}

/// A match before overlaps are merged.
#[derive(Clone, Debug)]
struct SecretMatch {
    range: Range<usize>,
    /// Bytes of the whole match, names included.
    weight: usize,
    /// Row of the table, then the custom kinds.
    row: usize,
    quote: &'static str,
}

/// A fault in a configuration of redaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RedactConfigError {
    /// No built-in kind has that name.
    UnknownKind {
        /// The name.
        kind: String,
    },
    /// A custom kind's name is not allowed in a marker.
    BadName {
        /// The name.
        kind: String,
    },
    /// A custom kind's pattern is no regular expression.
    BadPattern {
        /// The name of the kind.
        kind: String,
        /// The fault of the pattern.
        why: String,
    },
    /// More custom kinds than one configuration may have.
    TooMany {
        /// Number of custom kinds.
        n_custom: usize,
    },
}

impl Redactor {
    /// Returns a redactor for all built-in kinds.
    pub(crate) fn builtin() -> Redactor {
        Redactor { enabled: [true; RULES.len()], custom: Vec::new() }
    }

    /// Returns a redactor for the built-in kinds except `disabled`, and for the `custom` ones.
    pub(crate) fn new(
        disabled: &[String],
        custom: &[CustomKind],
    ) -> Result<Redactor, RedactConfigError> {
        let mut redactor = Redactor::builtin();
        for kind in disabled {
            if !KINDS.contains(&kind.as_str()) {
                return Err(RedactConfigError::UnknownKind { kind: kind.clone() });
            }
            for (enabled, rule) in redactor.enabled.iter_mut().zip(&RULES) {
                *enabled &= rule.kind != kind;
            }
        }
        redactor.custom = custom_kinds::compile(custom)?;
        Ok(redactor)
    }

    /// Replaces every secret in `text` by a marker.
    pub(crate) fn scrub<'a>(&'a self, text: &'a str) -> RedactionResult<'a> {
        let mut hits: Vec<SecretHit<'a>> = Vec::new();
        let mut out = Cow::Borrowed(text);
        for pass in 0..PASSES_MAX {
            let parts = self.parts(&out);
            let mut found: Vec<SecretHit<'a>> = Vec::new();
            for SpanOutsideRedactionMarkers { gap, sites, cells } in parts {
                let start = found.len();
                self.find_in_gap(&out, &gap, &sites, &cells, &mut found);
                if start < found.len() && pass + 1 == PASSES_MAX {
                    found.truncate(start + 1);
                    found[start].range = gap;
                    found[start].quote = "";
                }
            }
            if found.is_empty() {
                break;
            }
            hits = merge(hits, found);
            out = Cow::Owned(replace(text, &hits));
        }
        RedactionResult { text: out, hits }
    }

    /// Returns whether `text` has a secret that [`Redactor::scrub`] would replace.
    #[allow(dead_code, reason = "tests and fuzz targets ask it")]
    pub(crate) fn has_secret(&self, text: &str) -> bool {
        let mut found = Vec::new();
        self.parts(text).into_iter().any(|part| {
            self.find_in_gap(text, &part.gap, &part.sites, &part.cells, &mut found);
            !found.is_empty()
        })
    }

    /// Returns the stretches between the markers of `text`, with their tables. A table may have
    /// markers in it, so that its head and its rows are in different stretches.
    fn parts(&self, text: &str) -> Vec<SpanOutsideRedactionMarkers> {
        let mut heads: Vec<usize> = Vec::new();
        let mut parts: Vec<SpanOutsideRedactionMarkers> = Vec::new();
        for gap in self.gaps(text) {
            let sites = PrefilterHits::in_text(&text[gap.clone()]);
            // Most texts have neither markers nor candidates.
            if gap.len() == text.len() && sites.is_empty() && self.custom.is_empty() {
                return parts;
            }
            heads.extend(sites.heads.iter().map(|at| at + gap.start));
            parts.push(SpanOutsideRedactionMarkers { gap, sites, cells: Vec::new() });
        }
        if !heads.is_empty() && self.enabled[ASSIGNMENT] {
            let mut cells = secret_columns::find(text, &heads);
            cells.sort_by_key(|it| it.value.start);
            let mut cells = cells.into_iter().peekable();
            for part in &mut parts {
                while let Some(cell) = cells.next_if(|it| it.value.end <= part.gap.end) {
                    if part.gap.start <= cell.value.start {
                        part.cells.push(cell);
                    }
                }
            }
        }
        parts
    }

    /// Returns the stretches between the markers of `text`.
    fn gaps<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
        let mut start = 0;
        let mut from = 0;
        std::iter::from_fn(move || {
            while let Some(marker) = next_marker(text, from) {
                from = marker + MARKER.len();
                let kind = text[from..].split('»').next().unwrap_or("");
                let kind = &kind[..kind.floor_char_boundary(custom_kinds::NAME_BYTES_MAX + 1)];
                let closed = text[from + kind.len()..].starts_with('»');
                if closed && self.is_kind(kind) {
                    let gap = start..marker;
                    from += kind.len() + '»'.len_utf8();
                    start = from;
                    if !gap.is_empty() {
                        return Some(gap);
                    }
                }
            }
            let gap = start..text.len();
            (start, from) = (gap.end, gap.end);
            (!gap.is_empty()).then_some(gap)
        })
    }

    /// Returns whether a marker may name `kind`. That is a known kind, or one of another
    /// configuration, whose name is only small letters and hides nothing.
    fn is_kind(&self, kind: &str) -> bool {
        KINDS.contains(&kind)
            || self.custom.iter().any(|(custom, _)| custom == kind)
            || (1..=40).contains(&kind.len())
                && kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    }

    fn kind(&self, row: usize) -> &str {
        match RULES.get(row) {
            Some(rule) => rule.kind,
            None => self.custom.get(row - RULES.len()).map_or("", |(kind, _)| kind),
        }
    }

    /// Appends the merged matches of one stretch, in order.
    fn find_in_gap<'a>(
        &'a self,
        text: &str,
        gap: &Range<usize>,
        sites: &PrefilterHits,
        cells: &[secret_columns::SecretCell],
        hits: &mut Vec<SecretHit<'a>>,
    ) {
        let mut found: Vec<SecretMatch> = Vec::new();
        let part = &text[gap.clone()];
        for row in (0..RULES.len()).filter(|row| sites.rows[*row] && self.enabled[*row]) {
            find_rule(row, part, sites, &mut found);
        }
        for found in &mut found {
            found.range = found.range.start + gap.start..found.range.end + gap.start;
        }
        found.extend(cells.iter().map(|cell| SecretMatch {
            range: cell.value.clone(),
            weight: cell.value.len(),
            row: ASSIGNMENT,
            quote: cell.quote,
        }));
        for (idx, (_, regex)) in self.custom.iter().enumerate() {
            // The text before the stretch is visible, so that `^` is the beginning of the text.
            let head = &text[..gap.end];
            let mut from = gap.start;
            while let Some(at) = regex.find_at(head, from) {
                let row = RULES.len() + idx;
                if !at.is_empty() {
                    found.push(SecretMatch { range: at.range(), weight: at.len(), row, quote: "" });
                    from = at.end();
                } else if at.end() == gap.end {
                    break;
                } else {
                    from = head.ceil_char_boundary(at.end() + 1);
                }
            }
        }
        found.sort_unstable_by_key(|at| (at.range.start, std::cmp::Reverse(at.range.end), at.row));
        let mut found = found.into_iter();
        let Some(mut best) = found.next() else { return };
        let mut range = best.range.clone();
        for next in found {
            if range.end <= next.range.start {
                hits.push(self.hit(&best, range));
                range = next.range.clone();
                best = next;
                continue;
            }
            range.end = range.end.max(next.range.end);
            if (best.weight, next.row) < (next.weight, best.row) {
                best = next;
            }
        }
        hits.push(self.hit(&best, range));
    }

    fn hit(&self, best: &SecretMatch, range: Range<usize>) -> SecretHit<'_> {
        let quote = if best.range == range { best.quote } else { "" };
        SecretHit { kind: self.kind(best.row), range, quote }
    }
}

impl fmt::Display for RedactConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RedactConfigError::UnknownKind { kind } => {
                write!(f, "`{kind}` is no built-in kind of secret; ")?;
                match crate::text::suggest::suggest(kind, KINDS) {
                    Some(near) => write!(f, "did you mean `{near}`?"),
                    None => write!(f, "the kinds are {}", KINDS.join(", ")),
                }
            }
            RedactConfigError::BadName { kind } if kind.is_empty() => {
                write!(f, "a custom kind of secret has no name; give it a `kind`")
            }
            RedactConfigError::BadName { kind } => write!(
                f,
                "`{kind}` cannot name a kind of secret; use at most {} letters, digits, `_`, `-`, \
                 `.`",
                custom_kinds::NAME_BYTES_MAX
            ),
            RedactConfigError::BadPattern { kind, why } => {
                write!(f, "the pattern of kind `{kind}` is no regular expression: {why}")
            }
            RedactConfigError::TooMany { n_custom } => write!(
                f,
                "{n_custom} custom kinds of secrets are too many; keep {} at the most",
                custom_kinds::KINDS_MAX
            ),
        }
    }
}

impl std::error::Error for RedactConfigError {}

/// The row of assigned secrets, which columns of secrets share.
const ASSIGNMENT: usize = RULES.len() - 1;

/// Returns the start of the first marker from `from` on.
fn next_marker(text: &str, from: usize) -> Option<usize> {
    // One character is found faster than several, and most texts have none of it.
    let mut quotes = text[from..].match_indices('«').map(|(at, _)| from + at);
    quotes.find(|at| text[*at..].starts_with(MARKER))
}

/// The start of a marker.
pub(crate) const MARKER: &str = "«redacted:";

/// A stretch of text without markers.
struct SpanOutsideRedactionMarkers {
    gap: Range<usize>,
    sites: PrefilterHits,
    /// The secret cells of tables in it.
    cells: Vec<secret_columns::SecretCell>,
}

/// Appends the matches of one rule in `text`.
fn find_rule(row: usize, text: &str, sites: &PrefilterHits, found: &mut Vec<SecretMatch>) {
    let rule = &RULES[row];
    match rule.shape {
        SecretPattern::Assignment => {
            found.extend(assignment::find(text, &sites.names).into_iter().map(|at| SecretMatch {
                weight: at.value.end - at.begin,
                range: at.value,
                row,
                quote: at.quote,
            }))
        }
        SecretPattern::Pem => found.extend(pem::find(text).into_iter().map(|range| SecretMatch {
            weight: range.len(),
            range,
            row,
            quote: "",
        })),
        SecretPattern::AwsSecret => find_aws_secrets(row, text, &sites.aws, found),
        SecretPattern::Token(_) | SecretPattern::Address(_) | SecretPattern::Header(_) => {
            let Some(regex) = rule.regex() else { return };
            for captures in regex.captures_iter(text) {
                let Some(all) = captures.get(0) else { continue };
                let part = captures.get(1);
                let (range, is_stand_in) = match (rule.shape, part) {
                    (SecretPattern::Token(_), Some(part)) => (part.range(), false),
                    (SecretPattern::Header(_), Some(part)) => {
                        (part.range(), value_checks::is_placeholder(part.as_str()))
                    }
                    (_, part) => {
                        let stands_in =
                            |part: regex::Match<'_>| value_checks::is_variable(part.as_str());
                        (all.range(), part.is_some_and(stands_in))
                    }
                };
                if !is_stand_in {
                    found.push(SecretMatch { range, weight: all.len(), row, quote: "" });
                }
            }
        }
    }
}

/// Appends the secret keys of AWS, which have no mark of their own. They are 40 random characters,
/// announced shortly before.
fn find_aws_secrets(row: usize, text: &str, announced: &[usize], found: &mut Vec<SecretMatch>) {
    let bytes = text.as_bytes();
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let mut done = 0;
    for &end in announced {
        let limit = bytes.len().min(end.saturating_add(AWS_BYTES_MAX));
        let mut at = end.max(done);
        while at < limit {
            let n_run = bytes[at..].iter().take(41).take_while(|byte| is_part(byte)).count();
            let begins = at == 0 || !is_part(&bytes[at - 1]);
            let key = at..at + n_run;
            if n_run == 40
                && begins
                && is_aws_secret(&text[key.clone()])
                && bytes.get(key.end) != Some(&b'=')
            {
                found.push(SecretMatch { range: key.clone(), weight: 40, row, quote: "" });
                done = key.end;
            }
            at += n_run.max(1);
        }
    }
}

fn is_aws_secret(key: &str) -> bool {
    let has = |test: fn(&u8) -> bool| key.as_bytes().iter().any(test);
    has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_digit)
        && key.bytes().filter(|byte| *byte == b'/').count() < 6
        && 4.2 <= value_checks::entropy(key)
}

/// Returns `text` with a marker in place of each hit.
fn replace(text: &str, hits: &[SecretHit<'_>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for hit in hits {
        out.push_str(&text[done..hit.range.start]);
        out.push_str(&hit.marker());
        done = hit.range.end;
    }
    out.push_str(&text[done..]);
    out
}

/// Merges `hits` in the original text with hits `found` in the redacted text. Both are returned as
/// hits in the original text. The quotes of a marker are in no original: a marker with a hit in
/// them loses its quotes.
fn merge<'a>(mut hits: Vec<SecretHit<'a>>, found: Vec<SecretHit<'a>>) -> Vec<SecretHit<'a>> {
    // The spans of the markers in the new text.
    let mut markers: Vec<Range<usize>> = Vec::with_capacity(hits.len());
    let (mut out_at, mut text_at) = (0, 0);
    for hit in &hits {
        let start = out_at + hit.range.start - text_at;
        (out_at, text_at) = (start + hit.marker().len(), hit.range.end);
        markers.push(start..out_at);
    }
    let mut merged = Vec::with_capacity(hits.len() + found.len());
    for mut next in found {
        let n_before = markers.partition_point(|it| it.start < next.range.start);
        let (mut out_at, mut text_at) = (0, 0);
        if let Some(before) = n_before.checked_sub(1) {
            (out_at, text_at) = (markers[before].end, hits[before].range.end);
            if next.range.start < out_at {
                hits[before].quote = "";
            }
        }
        let shift = |at: usize| at.max(out_at) - out_at + text_at;
        let mut range = shift(next.range.start)..shift(next.range.end);
        if let Some(after) = hits.get_mut(n_before)
            && after.range.start < range.end
        {
            range.end = after.range.start;
            after.quote = "";
        }
        if !range.is_empty() {
            next.range = range;
            merged.push(next);
        }
    }
    merged.append(&mut hits);
    merged.sort_by_key(|hit| hit.range.start);
    merged
}

impl SecretHit<'_> {
    /// Returns the marker as written in the text.
    pub(crate) fn marker(&self) -> String {
        format!("{quote}{MARKER}{kind}»{quote}", quote = self.quote, kind = self.kind)
    }
}
