//! Parses Markdown into nodes, region by region.
//!
//! Blocks at the top level become nodes under the innermost open heading. The blocks that are
//! always nodes (code, tables, markup, formulas, headings) become children of the list, quote or
//! footnote around them.

mod inline_to_markdown;
mod masked_parser_input;
mod oversized_source_split;
mod table;
mod verbatim_block_text;
mod walk;

use std::ops::Range;

use super::list_quote_footnote_writer::NESTING_MAX;
use super::node_tree_builder::NodeTreeBuilder;
use super::{Parsed, Warning, front_matter, label};
use crate::model::tree::{Node, NodeType};
use crate::text;
#[cfg(any(test, fuzzing))]
pub(crate) use masked_parser_input::options;

use masked_parser_input::{WikilinkPipeMaskedMarkdown, mask_pipes};
use oversized_source_split::MarkdownOrVerbatimRegion;
use walk::MarkdownWalk;

/// Maximum nodes of a file; the rest is kept as plain text.
const NODES_MAX: usize = 200_000;

/// Parses a Markdown file.
pub(super) fn parse(text: &str) -> Parsed {
    let mut outline = NodeTreeBuilder::default();
    let mut warnings = Vec::new();
    let mut warn = |at: usize, what: String| {
        warnings.push(Warning { line: text::line_number_at(text, at), what });
    };
    let body_start = front_matter::parse(text, &mut outline, &mut warn);
    let regions = oversized_source_split::regions(text, body_start);
    if 1 < regions
        .iter()
        .filter(|region| matches!(region, MarkdownOrVerbatimRegion::Markdown(_)))
        .count()
    {
        let what = format!(
            "{} bytes are read section by section; a link to a definition in another section stays \
             as written",
            text.len()
        );
        warn(0, what);
    }
    for region in regions {
        let (end, read_to) = match region {
            MarkdownOrVerbatimRegion::Plain(range) => {
                let n = range.len();
                warn(range.start, format!("a line of {n} bytes is kept as plain text"));
                add_plain(&mut outline, text, range.clone());
                (range.end, range.end)
            }
            MarkdownOrVerbatimRegion::Code { info, range } => {
                let code = text[range.clone()].to_owned();
                let node = code_node(&text[info], code, outline.parent(), range.clone());
                outline.add(node, Some(range.start));
                (range.end, range.end)
            }
            MarkdownOrVerbatimRegion::Markdown(range) => {
                let masked = mask_pipes(&text[range.clone()]);
                let source =
                    WikilinkPipeMaskedMarkdown { text: &text[range.clone()], parsed: &masked };
                let mut walk = MarkdownWalk::new(source, range.start, &mut outline);
                let read_to = range.start + walk.run();
                if let Some(at) = walk.flattened_at {
                    let what = format!(
                        "lists and quotes nest deeper than {NESTING_MAX} levels or repeat too \
                         much indentation; what is deeper is flattened"
                    );
                    warn(range.start + at, what);
                }
                (range.end, read_to)
            }
        };
        if read_to < end || NODES_MAX <= outline.tree.nodes.len() {
            if !text[read_to..].trim().is_empty() {
                let what = format!("{NODES_MAX} nodes are made; the rest is kept as plain text");
                warn(read_to, what);
                add_plain(&mut outline, text, read_to..text.len());
            }
            break;
        }
    }
    Parsed { tree: outline.tree, warnings }
}

/// Keeps a stretch of the source unchanged.
fn add_plain(outline: &mut NodeTreeBuilder, text: &str, range: Range<usize>) {
    let words = &text[range.clone()];
    if words.trim().is_empty() {
        return;
    }
    let lead = words.len() - words.trim_start_matches(['\n', '\r']).len();
    let content = words.trim_matches(['\n', '\r']).to_owned();
    let node = Node {
        parent: outline.parent(),
        span: range.clone(),
        label: label::of_markdown(&content),
        content,
        ..Node::default()
    };
    outline.add(node, Some(range.start + lead));
}

/// Returns a node of code, whose language is the first word of the info string.
fn code_node(info: &str, content: String, parent: Option<usize>, span: Range<usize>) -> Node {
    Node {
        parent,
        node_type: NodeType::Code,
        lang: info.split_whitespace().next().map(str::to_owned),
        span,
        label: label::of_code(info, &content),
        content,
        ..Node::default()
    }
}
