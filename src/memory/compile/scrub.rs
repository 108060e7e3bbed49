//! Redaction of incoming text: secrets are replaced before parsing, and again in the parsed tree.
//! The first pass prevents that parsing splits a secret, the second finds those that parsing
//! joins.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::ingest::parse::{self, Parsed, Syntax, Warning};
use crate::ingest::redact::Redactor;
use crate::text::{self, tokens};

/// Parses the bytes of a file, redacted.
pub(super) fn parse_bytes_redacted(syntax: Syntax, bytes: &[u8], redactor: &Redactor) -> Parsed {
    let (text, mut warnings) = parse::decode(bytes);
    let (_, mut parsed) = parse_text_redacted(syntax, &text, redactor);
    warnings.append(&mut parsed.warnings);
    Parsed { warnings, ..parsed }
}

/// Returns a redacted text and its tree.
pub(crate) fn parse_text_redacted<'a>(
    syntax: Syntax,
    text: &'a str,
    redactor: &'a Redactor,
) -> (Cow<'a, str>, Parsed) {
    let mut warnings = Vec::new();
    let scrubbed = redactor.scrub(text);
    let mut kinds: BTreeSet<String> = scrubbed.hits.iter().map(|it| it.kind.to_owned()).collect();
    let mut n_hits = scrubbed.hits.len();
    let mut parsed = parse::parse(syntax, &scrubbed.text);
    let mut scrub = |text: &mut String| {
        let scrubbed = redactor.scrub(text);
        if scrubbed.hits.is_empty() {
            return false;
        }
        n_hits += scrubbed.hits.len();
        kinds.extend(scrubbed.hits.iter().map(|it| it.kind.to_owned()));
        *text = scrubbed.text.into_owned();
        true
    };
    for node in &mut parsed.tree.nodes {
        if scrub(&mut node.content) {
            node.token_count = tokens::count(&node.content);
        }
        if scrub(&mut node.label) {
            node.label = text::truncate_chars(&node.label, text::LABEL_CHARS_MAX);
        }
        node.lang.as_mut().map(&mut scrub);
        node.key_path.as_mut().map(&mut scrub);
    }
    for warning in &mut parsed.warnings {
        scrub(&mut warning.what);
    }
    if 0 < n_hits {
        let line = scrubbed.hits.first().map_or(1, |it| text::line_number_at(text, it.range.start));
        let noun = if n_hits == 1 { "secret was" } else { "secrets were" };
        let kinds: Vec<String> = kinds.into_iter().collect();
        let what = format!("{n_hits} {noun} replaced by markers: {}", kinds.join(", "));
        warnings.push(Warning { line, what });
    }
    warnings.append(&mut parsed.warnings);
    (scrubbed.text, Parsed { warnings, ..parsed })
}
