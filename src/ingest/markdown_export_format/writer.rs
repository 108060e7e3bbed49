//! Prints nodes: a marker and a block each, which [`super::parse_export`] reads back as they were.

use super::ExportedNodeAttributes;
use super::marker::{self, AttributesToWriteInMarker, NodeTextForm};
use crate::model::tree::{ContentFormat, Node, NodeType};
use crate::text::label_of_text;

/// Appends a node at a depth below the top of its file.
pub(crate) fn push_node(
    out: &mut String,
    node: &Node,
    depth: usize,
    marks: &ExportedNodeAttributes,
) {
    let form = form_of(node);
    let usual = marker::usual_form(node.node_type, node.format);
    let is_code = node.node_type == NodeType::Code && form == NodeTextForm::Fenced;
    let info = match node.lang.as_deref() {
        Some(lang) if is_code && is_info(lang) => lang,
        _ => info_of(node),
    };
    let is_shown = is_code && !node.content.is_empty() && !info.is_empty();
    let is_heading = form == NodeTextForm::Heading && !node.content.is_empty();
    let explicit = AttributesToWriteInMarker {
        label: node.label != label_of_text(&node.content),
        lang: node.lang.as_deref() != is_shown.then_some(info),
        level: is_heading == node.level.is_none(),
        fence: form == NodeTextForm::Fenced && usual != NodeTextForm::Fenced,
    };
    out.push_str(&marker::print(node, depth, marks, explicit));
    out.push('\n');
    if !node.content.is_empty() {
        match form {
            NodeTextForm::Heading => {
                out.push_str(&"#".repeat(node.level.unwrap_or(1).into()));
                out.push(' ');
                out.push_str(&node.content);
                out.push('\n');
            }
            NodeTextForm::Plain => {
                out.push_str(&node.content);
                out.push('\n');
            }
            NodeTextForm::Fenced => {
                push_fenced(out, info, &node.content);
            }
        }
    }
    out.push('\n');
}

/// Returns the form in which a node's text survives.
fn form_of(node: &Node) -> NodeTextForm {
    let content = node.content.as_str();
    let usual = marker::usual_form(node.node_type, node.format);
    let survives = match usual {
        NodeTextForm::Heading => {
            !content.contains(['\n', '\r'])
                && content.trim() == content
                && !content.starts_with('#')
                && !content.ends_with('#')
        }
        NodeTextForm::Plain => survives_plainly(content),
        NodeTextForm::Fenced => true,
    };
    if survives { usual } else { NodeTextForm::Fenced }
}

/// Returns whether a text is found again between two markers, or is empty.
fn survives_plainly(content: &str) -> bool {
    let is_blank = |line: Option<&str>| line.is_some_and(|it| it.trim().is_empty());
    content.is_empty()
        || !content.contains('\r')
            && !content.lines().any(marker::is_marker)
            && !is_blank(content.split('\n').next())
            && !is_blank(content.rsplit('\n').next())
}

fn push_fenced(out: &mut String, info: &str, content: &str) {
    let longest = content.split(|it| it != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    for part in [&fence, info, "\n", content, "\n", &fence, "\n"] {
        out.push_str(part);
    }
}

/// Returns whether a language may follow a fence and is found there again.
fn is_info(lang: &str) -> bool {
    !lang.is_empty() && lang.bytes().all(|it| it.is_ascii_alphanumeric() || b"_+#.-".contains(&it))
}

/// Returns the language by which other programs show a text that is no code.
fn info_of(node: &Node) -> &'static str {
    match (node.node_type, node.format) {
        (NodeType::Code, ContentFormat::Plain) => "",
        (_, ContentFormat::Toon) => "toon",
        (_, ContentFormat::Latex) => "latex",
        (_, ContentFormat::Mathml) => "xml",
        (_, ContentFormat::Svg | ContentFormat::Canvas) => "svg",
        (NodeType::Kv | NodeType::Preamble, _) => "yaml",
        _ => "",
    }
}
