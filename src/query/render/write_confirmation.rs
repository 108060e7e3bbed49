//! Written nodes, one line each.

use super::to_label;
use crate::model::identity::NodeId;
use crate::model::tree::NodeType;

/// Formats a line break and `[text] label (id=…)`, indented.
pub(crate) fn render_written_line(
    depth: usize,
    node_type: NodeType,
    label: &str,
    id: NodeId,
) -> String {
    let indent = "  ".repeat(depth);
    match label.is_empty() {
        true => format!("\n{indent}[{node_type}] (id={id})"),
        false => format!("\n{indent}[{node_type}] {} (id={id})", to_label(label)),
    }
}
