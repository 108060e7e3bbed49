//! Lines and entries in the layouts that clients know.
//!
//! One-line fields stay on one line: control characters in labels and paths become spaces. A text
//! on a line with facts is a label, a value or a quote, and none of these can be taken for facts:
//! [`to_label`], [`to_value`], [`to_quote`]. No line begins with white space that another ended
//! with, so that the tokens of a reply are the sum of the tokens of its pieces. This module does no
//! IO.

pub(crate) mod entry;
pub(crate) mod source_files_by_folder;
pub(crate) mod stats;
pub(crate) mod write_confirmation;

use std::borrow::Cow;

use crate::store::reader::NodeSummary;
use crate::text;

/// Beginnings of the facts of a line.
const FACTS_BEGIN: [&str; 3] = ["(id=", "(file=", "(tok="];

/// The fields of a node's line besides its label.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeLineFields<'a> {
    pub(crate) head: &'a NodeSummary,
    /// Whether the line names the file.
    pub(crate) file: FileNameVisibility,
    pub(crate) temperature: f64,
    pub(crate) score: Option<f64>,
    /// The share of the question that it has.
    pub(crate) relevance: Option<f64>,
}

/// Whether a line names the file or leaves it to the lines above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileNameVisibility {
    Yes,
    No,
}

/// Formats a node as `[text] label (id=… file=… score=0.55 relevance=0.80 temp=0.50 tok=602)`,
/// without a line break.
pub(crate) fn render_line(facts: NodeLineFields<'_>) -> String {
    let head = facts.head;
    let mut line = begin(head, facts.file);
    if let Some(score) = facts.score {
        line.push_str(&format!(" score={score:.2}"));
    }
    if let Some(relevance) = facts.relevance {
        line.push_str(&format!(" relevance={relevance:.2}"));
    }
    if let Some(at) = head.changed_at {
        line.push_str(&format!(" changed={}", at.day()));
    }
    line.push_str(&format!(" temp={:.2} tok={})", facts.temperature, head.tokens));
    line
}

/// Formats a node as `[heading] Beta (id=… file=a.md hop=1 weight=1.00 temp=0.65 tok=1)`, without
/// a line break.
pub(crate) fn render_related(
    head: &NodeSummary,
    hop: u32,
    weight: f64,
    temperature: f64,
) -> String {
    let mut line = begin(head, FileNameVisibility::Yes);
    line.push_str(&format!(" hop={hop} weight={weight:.2}"));
    line.push_str(&format!(" temp={temperature:.2} tok={})", head.tokens));
    line
}

/// Formats the beginning of a line: `[text] label (id=… file=…`.
fn begin(head: &NodeSummary, named: FileNameVisibility) -> String {
    let left_out = head.left_out_as.map_or(String::new(), |it| format!(" {it}"));
    let mut line = format!("[{}{left_out}] ", head.node_type);
    if !head.label.is_empty() {
        line.push_str(&to_label(&head.label));
        line.push(' ');
    }
    line.push_str(&format!("(id={}", head.id));
    push_file(&mut line, head, named);
    line
}

/// Formats the count and size of omitted entries: `… 7 more hits, 312 tokens`.
pub(crate) fn render_left_out(n: usize, noun: &str, tokens: u64, unit: &str) -> String {
    format!("… {}, {} {unit}", counted(n as u64, noun), render_count(tokens))
}

/// Formats `1 more node`, `2 more nodes`.
fn counted(n: u64, noun: &str) -> String {
    let ending = if n == 1 { "" } else { "s" };
    format!("{} more {noun}{ending}", render_count(n))
}

/// Formats folded nodes: `… 14 more nodes, 2.1k tok`; `… 10k+ more nodes, 1.2M+ tok` where
/// counting stopped.
pub(crate) fn render_folded(n: u64, tokens: u64, is_at_least: bool) -> String {
    if is_at_least {
        return format!("… {}+ more nodes, {}+ tok", render_count(n), render_count(tokens));
    }
    format!("… {}, {} tok", counted(n, "node"), render_count(tokens))
}

/// Formats a count as `999`, `2.1k`, `14k`, `1.5M`.
pub(crate) fn render_count(n: u64) -> String {
    let scaled = |unit: u64, letter: char| {
        let tenths = n / (unit / 10);
        match (tenths / 10, tenths % 10) {
            (whole, 0) => format!("{whole}{letter}"),
            (whole, tenth) => format!("{whole}.{tenth}{letter}"),
        }
    };
    match n {
        0..1_000 => n.to_string(),
        1_000..1_000_000 => scaled(1_000, 'k'),
        1_000_000..1_000_000_000 => scaled(1_000_000, 'M'),
        _ => scaled(1_000_000_000, 'G'),
    }
}

/// Puts `text` on one line: control characters and line separators become spaces. Invisible
/// format characters are left out, and selectors of a look behind signs of ASCII, which have one.
pub(crate) fn to_one_line(text: &str) -> Cow<'_, str> {
    let is_break = |it: char| it.is_control() || text::is_line_separator(it);
    if !text
        .contains(|it| is_break(it) || text::is_invisible(it) || text::is_variation_selector(it))
    {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len());
    for it in text.chars().filter(|&it| !text::is_invisible(it)) {
        // `#️⃣` is a key.
        let is_plain = |it: char| it.is_ascii() && !matches!(it, '#' | '*' | '0'..='9');
        if text::is_variation_selector(it) && line.chars().next_back().is_none_or(is_plain) {
            continue;
        }
        line.push(if is_break(it) { ' ' } else { it });
    }
    Cow::Owned(line)
}

/// Puts a label on one line, where it cannot be taken for the facts that follow it: they begin
/// with a bracket, a name and `=`.
pub(crate) fn to_label(text: &str) -> String {
    without_facts(&to_one_line(text), ' ')
}

/// Puts a label on one line of a message, whose ids stand between backticks.
pub(crate) fn to_name(text: &str) -> String {
    to_label(text).replace('`', "'")
}

/// Puts a text behind facts: further lines get an indent, and none of them has facts.
pub(crate) fn to_text_below(text: &str, indent: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(to_label).collect();
    lines.join(&format!("\n{indent}"))
}

/// Writes a value of a fact: in quotes if it could be taken for more than one.
pub(crate) fn to_value(text: &str) -> String {
    match text.is_empty() || text.contains(|it| ends_a_value(it) || it.is_control()) {
        false => to_one_line(text).into_owned(),
        true => to_quote(text),
    }
}

fn ends_a_value(it: char) -> bool {
    it.is_whitespace() || matches!(it, '"' | '\\' | '(' | ')' | '=' | ';' | '`' | '→')
}

/// Writes a text in quotes, on one line. A backslash stands before a quote, a backslash and the
/// `=` of what looks like facts.
pub(crate) fn to_quote(text: &str) -> String {
    let text = to_one_line(text).replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", without_facts(&text, '\\'))
}

/// Returns whether a part of a line could be taken for its facts.
fn has_facts(line: &str) -> bool {
    FACTS_BEGIN.iter().any(|it| line.contains(it))
}

/// Puts a mark before the `=` of each beginning of facts.
fn without_facts(line: &str, mark: char) -> String {
    let mut line = line.to_owned();
    for begin in FACTS_BEGIN {
        if line.contains(begin) {
            line = line.replace(begin, &format!("{}{mark}=", begin.trim_end_matches('=')));
        }
    }
    line
}

fn push_file(line: &mut String, head: &NodeSummary, named: FileNameVisibility) {
    if let (FileNameVisibility::Yes, Some(path)) = (named, &head.path) {
        line.push_str(&format!(" file={}", to_value(path)));
    }
}

#[cfg(test)]
mod tests;
