//! Nodes as a tree, and their temperatures.

use serde::Serialize;

use super::{Error, JsonDestination, JsonList};
use crate::model::heat::HeatThresholds;
use crate::query::node_by_id;
use crate::store::reader::{Reader, TreeRow};
use crate::text::terminal_safe_json::json_text;

/// The part of the tree to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TreeScope<'a> {
    /// The whole tree.
    Forest,
    /// A node and the nodes below it.
    Below {
        /// The node's id.
        root: &'a str,
        /// Levels below it; `None`: all.
        levels: Option<u64>,
    },
}

/// A node without its children, which come last.
#[derive(Serialize)]
struct TreeNode<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    node_type: &'a str,
    label: &'a str,
    depth: u64,
    tokens: u64,
    temperature: f64,
    source: &'a str,
}

/// Writes nodes, each within its parent.
pub(crate) fn write_tree(
    reader: &Reader,
    extent: TreeScope<'_>,
    out: JsonDestination<'_>,
) -> Result<(), Error> {
    let attended = reader.attended()?;
    // One node is open for each depth from `top` on.
    let mut n_open: u64 = 0;
    let mut top = 0;
    let mut is_first = true;
    out.write_str("{\"roots\":[")?;
    let mut grow = |node: TreeRow| {
        // In a damaged tree a node may be above the first one.
        while 0 < n_open && node.depth < top + n_open {
            out.write_str("]}")?;
            n_open -= 1;
            is_first = false;
        }
        if n_open == 0 {
            top = node.depth;
        }
        if !is_first {
            out.write_char(',')?;
        }
        let branch = json_text(&TreeNode {
            id: &node.id,
            node_type: &node.node_type,
            label: &node.label,
            depth: node.depth,
            tokens: node.tokens,
            temperature: node.heat.now(attended),
            source: node.path.as_deref().unwrap_or_default(),
        });
        let branch = branch.strip_suffix('}').unwrap_or(&branch);
        write!(out, "{branch},\"children\":[")?;
        n_open += 1;
        is_first = true;
        Ok::<(), Error>(())
    };
    match extent {
        TreeScope::Forest => reader.each_placed(&mut grow)?,
        TreeScope::Below { root, levels } => {
            let levels = levels.unwrap_or(u64::MAX);
            if !reader.each_placed_in(root, levels, &mut grow)? {
                let root = node_by_id(reader, root)?.id;
                reader.each_placed_in(&root, levels, &mut grow)?;
            }
        }
    }
    for _ in 0..n_open {
        out.write_str("]}")?;
    }
    Ok(out.write_str("]}")?)
}

#[derive(Serialize)]
struct OverallHeatSummary {
    avg: f64,
    median: f64,
    hot: u64,
    cold: u64,
    pinned: u64,
    cold_threshold: f64,
    hot_threshold: f64,
}

#[derive(Serialize)]
struct NodeTemperature<'a> {
    id: &'a str,
    label: &'a str,
    temperature: f64,
    pinned: bool,
}

/// Writes a summary of the temperatures, then each node's.
pub(crate) fn write_temperatures(
    reader: &Reader,
    lines: HeatThresholds,
    out: JsonDestination<'_>,
) -> Result<(), Error> {
    let attended = reader.attended()?;
    let warm = reader.temperatures(lines)?;
    let summary = OverallHeatSummary {
        avg: warm.average,
        median: warm.median,
        hot: warm.n_hot,
        cold: warm.n_cold,
        pinned: warm.n_pinned,
        cold_threshold: lines.cold,
        hot_threshold: lines.hot,
    };
    write!(out, "{{\"summary\":{},\"nodes\":[", json_text(&summary))?;
    let mut spots = JsonList::new(&mut *out);
    reader.each_heat(|node| {
        spots.push(&NodeTemperature {
            id: &node.id,
            label: &node.label,
            temperature: node.heat.now(attended),
            pinned: node.heat.pinned,
        })
    })?;
    Ok(out.write_str("]}")?)
}
