//! Parses JSON Lines: one record after the other, each a node or a turn of a conversation. A bad
//! record costs only itself.

use std::borrow::Cow;

use super::{JsonReader, deep_warning, keep};
use crate::ingest::parse::value_tree::{ValueArenaBuilder, ValueKind, ValueNodes, place_path};
use crate::ingest::parse::{Parsed, Warning, agent_transcript, toon};
use crate::text;

/// Maximum bytes reread per byte of text, for broken records that may be longer than a line.
const WASTE_FACTOR: usize = 8;

/// Maximum bad records that are named one by one.
const NAMED_MAX: usize = 20;

/// Parses a file of records, one per line or one after the other.
pub(in crate::ingest::parse) fn parse(source: &str) -> Parsed {
    let mut out = ValueArenaBuilder::default();
    let mut warnings = Vec::new();
    let mut too_deep = Vec::new();
    out.open(ValueKind::List, Cow::Borrowed(""), 0);
    let mut wasted = 0;
    let mut n_bad = 0_usize;
    let mut at = 0;
    let mut line_end = 0;
    while at < source.len() {
        let rest = &source[at..];
        let lead = rest.len() - rest.trim_start().len();
        at += lead;
        if at == source.len() {
            break;
        }
        if line_end <= at {
            line_end = source[at..].find('\n').map_or(source.len(), |len| at + len);
        }
        let may_waste = wasted < source.len().saturating_mul(WASTE_FACTOR);
        let read = match record(&source[..line_end], at, &mut out, &mut too_deep) {
            Err(_) if may_waste && line_end < source.len() => {
                let read = record(source, at, &mut out, &mut too_deep);
                wasted += read.as_ref().map_or_else(|far| far - at, |_| 0);
                read
            }
            read => read,
        };
        at = match read {
            Ok(end) => end,
            Err(_) => {
                n_bad += 1;
                if n_bad <= NAMED_MAX {
                    let what = "a record is not valid JSON; kept as text".to_owned();
                    warnings.push(Warning { line: text::line_number_at(source, at), what });
                }
                keep(&mut out, source, at..line_end);
                line_end
            }
        };
    }
    out.close(source.len());
    if NAMED_MAX < n_bad {
        let what = format!("{n_bad} records are not valid JSON; all are kept as text");
        warnings.push(Warning { line: 1, what });
    }
    warnings.extend(deep_warning(source, &too_deep));
    let repeated = out.repetitions();
    warnings.extend(
        repeated.map(|(at, what)| Warning { line: text::line_number_at(source, at), what }),
    );
    Parsed { tree: nodes(source, &mut out, &mut warnings).tree, warnings }
}

/// Reads the record at `at`; returns its end, or the offset at which it proved broken.
fn record<'a>(
    source: &'a str,
    at: usize,
    out: &mut ValueArenaBuilder<'a>,
    too_deep: &mut Vec<usize>,
) -> Result<usize, usize> {
    let mut reader = JsonReader::new(source, at);
    let mark = out.mark();
    let result = reader.value(out);
    // The rest of the line has to be another record.
    let follows = source.as_bytes().get(reader.at);
    match result {
        Ok(()) if follows.is_none_or(|it| it.is_ascii_whitespace() || b"{[\"".contains(it)) => {
            too_deep.append(&mut reader.too_deep);
            Ok(reader.at)
        }
        _ => {
            out.reset(mark);
            Err(reader.far.max(reader.at))
        }
    }
}

fn nodes(source: &str, out: &mut ValueArenaBuilder<'_>, warnings: &mut Vec<Warning>) -> ValueNodes {
    let mut nodes = ValueNodes::default();
    let records: Vec<usize> = out.data.children(0).collect();
    let is_talk = records.iter().any(|&it| agent_transcript::is_turn(&out.data, it));
    if records.is_empty() {
        return nodes;
    }
    if !is_talk && toon::ToonTable::of(&out.data, 0).is_some() {
        nodes.add(&out.data, 0, None, None);
        return nodes;
    }
    for (place, &record) in records.iter().enumerate() {
        if nodes.is_full() {
            let start = out.data.values[record].span.start;
            let what = "too many records; the rest is kept as text".to_owned();
            warnings.push(Warning { line: text::line_number_at(source, start), what });
            nodes.add_rest(source, start);
            break;
        }
        match agent_transcript::is_turn(&out.data, record) {
            true => agent_transcript::add(&mut out.data, record, place_path(place), &mut nodes),
            false => nodes.add(&out.data, record, None, Some(place_path(place))),
        }
    }
    nodes
}
