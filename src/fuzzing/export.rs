//! Exported files of any content: every block is read, and what is printed of it is read back as it
//! was. The same holds for the index of an exported folder.

use crate::ingest::markdown_export_format::{
    ExportedNodeAttributes, FILE_HEADER, FoldersByRoot, ParsedExport, parse_export, push_node,
};
use crate::model::identity::{ContentHash, NodeId};
use crate::model::tree::Node;

/// Panics when `data` as an exported file or an index violates an invariant.
pub fn export(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Some(index) = FoldersByRoot::parse(&text) {
        assert_eq!(FoldersByRoot::parse(&index.text()), Some(index), "an index changes");
    }
    let ParsedExport { parsed, mut marks } = parse_export(&text);
    assert_eq!(parsed.tree.nodes.len(), marks.len());
    assert_eq!(parse_export(&text).parsed, parsed, "two ways to read it");
    let n_lines = 1 + text.lines().count();
    for warning in &parsed.warnings {
        assert!((1..=n_lines).contains(&(warning.line as usize)), "{warning:?}");
    }
    // A block that a person added gets its id from the memory.
    for (nth, (marks, node)) in (1..).zip(marks.iter_mut().zip(&parsed.tree.nodes)) {
        marks.id.get_or_insert(NodeId(nth));
        marks.exported_hash = Some(ContentHash::of(&node.content));
    }
    let mut printed = format!("{FILE_HEADER}\n\n");
    for ((node, depth), marks) in parsed.tree.nodes.iter().zip(parsed.tree.depths()).zip(&marks) {
        push_node(&mut printed, node, depth, marks);
    }
    let again = parse_export(&printed);
    assert_eq!(again.parsed.warnings, [], "{printed}");
    let said = |nodes: Vec<Node>,
                marks: Vec<ExportedNodeAttributes>|
     -> Vec<(Node, ExportedNodeAttributes)> {
        let plain = |it: Node| Node { span: 0..0, ..it };
        nodes.into_iter().map(plain).zip(marks).collect()
    };
    let (before, after) =
        (said(parsed.tree.nodes, marks), said(again.parsed.tree.nodes, again.marks));
    assert_eq!(after, before, "{printed}");
}
