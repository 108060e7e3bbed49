//! Parses HTML into nodes: the visible text of a page, block by block.
//!
//! Every element is a block, an item, a part of a line, or always a node (code, tables, formulas,
//! media, headings). A run of text is a paragraph in any element. What scripts do is unknown, so
//! the content of `noscript` is text, and so is anything hidden until a script shows it.
//!
//! The title is the root: a heading without a level above all others, unless the first heading of
//! level 1 has the same text. Boilerplate ([`boilerplate`]) is left out, with one warning.

mod boilerplate;
mod dom;
mod html_table_to_tsv;
mod inline;
mod inline_run;
mod math;
mod preformatted;
mod superlinear_tag_filter;
mod walk;

use super::node_tree_builder::NodeTreeBuilder;
use super::{Parsed, Warning, label};
use crate::model::tree::{Node, NodeType};
use crate::text;
use dom::{Dom, ROOT};
use walk::HtmlWalk;

/// Maximum bytes of a file; a larger one is kept as plain text.
const BYTES_MAX: usize = 1 << 30;

/// Maximum nodes of a file; the rest is kept as plain text.
const NODES_MAX: usize = 200_000;

/// Parses an HTML file.
pub(super) fn parse(source: &str) -> Parsed {
    let mut outline = NodeTreeBuilder::default();
    if BYTES_MAX < source.len() {
        let what = format!("more than {BYTES_MAX} bytes; kept as plain text");
        let node =
            Node { span: 0..source.len(), label: label::of_markup(source), ..Node::default() };
        outline.add(Node { content: source.to_owned(), ..node }, Some(0));
        return Parsed { tree: outline.tree, warnings: vec![Warning { line: 1, what }] };
    }
    let (mut dom, mut warnings) = superlinear_tag_filter::build_dom(source);
    let boilerplate = boilerplate::find_boilerplate(&dom, source);
    dom.left_out = boilerplate.left_out;
    warnings.extend(boilerplate.warning);
    add_title(&dom, &mut outline);
    warnings.append(&mut HtmlWalk::new(&dom, source, &mut outline).run());
    Parsed { tree: outline.tree, warnings }
}

/// Makes the title the root, unless the first main heading has the same text.
fn add_title(dom: &Dom, outline: &mut NodeTreeBuilder) {
    let Some(id) = dom.descendants(ROOT).find(|&id| dom.html_name(id) == "title") else { return };
    let title = text::fold_whitespace(&dom.inner_text(id));
    if title.is_empty() {
        return;
    }
    let mut at = dom.first_child(ROOT);
    while let Some(id) = at {
        let is_left_out = dom.left_out.contains(&id);
        if !is_left_out && dom.html_name(id) == "h1" {
            if text::fold_whitespace(&dom.inner_text(id)) == title {
                return;
            }
            break;
        }
        at = if is_left_out { dom.after(id, ROOT) } else { dom.next(id, ROOT) };
    }
    outline.open(Node {
        node_type: NodeType::Heading,
        span: dom.span(id),
        label: text::truncate_chars(&title, text::LABEL_CHARS_MAX),
        content: title,
        ..Node::default()
    });
}

#[cfg(test)]
mod tests;
