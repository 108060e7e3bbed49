//! The breadcrumb: a file's stem and the labels of the nodes above one, joined by ` / `.
//!
//! It is indexed for search, so that a paragraph is found by what it stands under, and it is
//! derived:
//! renaming a heading changes the trail of everything below it and the state of nothing.

use crate::model::tree::Tree;
use crate::text;

/// Characters of a trail; a longer one loses its middle, nearest ancestors stay.
const TRAIL_CHARS_MAX: usize = 400;

const SEPARATOR: &str = " / ";

/// Each node's trail, by index.
pub(crate) fn of_tree(path: &str, tree: &Tree) -> Vec<String> {
    let stem = stem(path);
    let mut trails: Vec<String> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        trails.push(match node.parent {
            None => stem.to_owned(),
            Some(parent) => under(&trails[parent], &tree.nodes[parent].label),
        });
    }
    trails
}

/// The trail of the topmost nodes of the file at `path`.
pub(crate) fn of_root(path: &str) -> String {
    stem(path).to_owned()
}

/// The trail of what stands under a node with this trail and label.
pub(crate) fn under(trail: &str, label: &str) -> String {
    match (trail.is_empty(), label.is_empty()) {
        (_, true) => return trail.to_owned(),
        (true, false) => return label.to_owned(),
        (false, false) => (),
    }
    let long = [trail, SEPARATOR, label].concat();
    // No character has less than a byte.
    if long.len() <= TRAIL_CHARS_MAX || long.chars().count() <= TRAIL_CHARS_MAX {
        return long;
    }
    let first = trail.split(SEPARATOR).next().unwrap_or("");
    format!("{}{SEPARATOR}…{SEPARATOR}{label}", text::cut(first, TRAIL_CHARS_MAX / 2))
}

/// A file's name without folders and ending.
pub(crate) fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

#[cfg(test)]
mod tests;
