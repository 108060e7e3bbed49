//! Redaction of incoming text: secrets are replaced before parsing, and again in the parsed tree.
//! The first pass prevents that parsing splits a secret, the second finds those that parsing
//! joins.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::export_marks::{self, ExportedFileOwner};
use crate::ingest::markdown_export_format::{self, ExportedNodeAttributes, ParsedExport};
use crate::ingest::parse::{self, Parsed, Syntax, Warning};
use crate::ingest::redact::Redactor;
use crate::text::{self, tokens};

/// Parses the bytes of a file, redacted.
///
/// Of an exported file, it returns the marks of the nodes, too.
pub(super) fn parse_bytes_redacted(
    (syntax, belong): (Syntax, Option<ExportedFileOwner>),
    bytes: &[u8],
    redactor: &Redactor,
) -> (Parsed, Option<Vec<ExportedNodeAttributes>>) {
    let (text, mut warnings) = parse::decode(bytes);
    let mut marks = None;
    let parse = |text: &str| match belong.filter(|_| markdown_export_format::is_exported(text)) {
        Some(belong) => {
            let ParsedExport { mut parsed, marks: mut found } =
                markdown_export_format::parse_export(text);
            let Parsed { tree, warnings } = &mut parsed;
            let redacting = (redactor, text);
            warnings.extend(export_marks::check_marks(tree, &mut found, belong, redacting));
            warnings.sort_by_key(|it| it.line);
            marks = Some(found);
            parsed
        }
        None => parse::parse(syntax, text),
    };
    let (_, mut parsed) = redacted(&text, redactor, parse);
    warnings.append(&mut parsed.warnings);
    (Parsed { warnings, ..parsed }, marks)
}

/// Returns a redacted text and its tree.
pub(crate) fn parse_text_redacted<'a>(
    syntax: Syntax,
    text: &'a str,
    redactor: &'a Redactor,
) -> (Cow<'a, str>, Parsed) {
    redacted(text, redactor, |text| parse::parse(syntax, text))
}

/// Redacts a text, parses it, and redacts its tree.
fn redacted<'a>(
    text: &'a str,
    redactor: &'a Redactor,
    parse: impl FnOnce(&str) -> Parsed,
) -> (Cow<'a, str>, Parsed) {
    let mut warnings = Vec::new();
    let scrubbed = redactor.scrub(text);
    let mut kinds: BTreeSet<String> = scrubbed.hits.iter().map(|it| it.kind.to_owned()).collect();
    let mut n_hits = scrubbed.hits.len();
    let mut parsed = parse(&scrubbed.text);
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
