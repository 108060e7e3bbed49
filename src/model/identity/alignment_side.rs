//! One side of an alignment with its indexes: children, and hashes of texts and subtrees.

use std::hash::{Hash, Hasher};

use xxhash_rust::xxh64::Xxh64;

use crate::model::identity::AlignmentNode;
use crate::model::tree::NodeType;

/// A side's nodes with a virtual root above the roots, whose index is the number of nodes.
pub(super) struct AlignmentSide<'a> {
    nodes: &'a [AlignmentNode<'a>],
    parents: Vec<usize>,
    /// The start of each node's children in `children`; one more entry marks the end.
    starts: Vec<usize>,
    children: Vec<usize>,
    /// The position of each node among its siblings.
    ranks: Vec<usize>,
    own: Vec<u64>,
    subtrees: Vec<u64>,
}

impl<'a> AlignmentSide<'a> {
    /// Builds the indexes of a side. A parent that does not precede its child counts as the virtual
    /// root.
    pub(super) fn new(nodes: &'a [AlignmentNode<'a>]) -> AlignmentSide<'a> {
        let root = nodes.len();
        let parents: Vec<usize> = (nodes.iter().enumerate())
            .map(|(at, node)| node.parent.filter(|&parent| parent < at).unwrap_or(root))
            .collect();
        let mut starts = vec![0; root + 2];
        for &parent in &parents {
            starts[parent + 1] += 1;
        }
        for at in 0..=root {
            starts[at + 1] += starts[at];
        }
        let mut filled = starts.clone();
        let mut children = vec![0; root];
        let mut ranks = vec![0; root];
        for (at, &parent) in parents.iter().enumerate() {
            children[filled[parent]] = at;
            ranks[at] = filled[parent] - starts[parent];
            filled[parent] += 1;
        }
        let own = nodes.iter().map(own_key).collect();
        let mut it =
            AlignmentSide { nodes, parents, starts, children, ranks, own, subtrees: vec![0; root] };
        for at in (0..root).rev() {
            it.subtrees[at] = it.subtree_key(at);
        }
        it
    }

    /// Returns the number of nodes, which is the index of the virtual root.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn node(&self, at: usize) -> &'a AlignmentNode<'a> {
        &self.nodes[at]
    }

    pub(super) fn parent(&self, at: usize) -> usize {
        self.parents[at]
    }

    pub(super) fn children(&self, at: usize) -> &[usize] {
        &self.children[self.starts[at]..self.starts[at + 1]]
    }

    pub(super) fn rank(&self, at: usize) -> usize {
        self.ranks[at]
    }

    /// Returns a hash of type and text.
    pub(super) fn own(&self, at: usize) -> u64 {
        self.own[at]
    }

    /// Returns a hash of type and text of the node and all below it. Heading levels are left out,
    /// so that a section stays the same one level deeper.
    pub(super) fn subtree_hash(&self, at: usize) -> u64 {
        self.subtrees[at]
    }

    pub(super) fn is_heading(&self, at: usize) -> bool {
        self.nodes[at].node_type == NodeType::Heading
    }

    /// Returns whether the node has no text, so that equal hashes mean nothing.
    pub(super) fn is_blank(&self, at: usize) -> bool {
        is_blank(&self.nodes[at])
    }

    /// Returns whether the node is mainly a container: a heading, or an empty node.
    pub(super) fn is_frame(&self, at: usize) -> bool {
        self.is_heading(at) || self.is_blank(at)
    }

    /// Returns whether the node is a frame with children.
    pub(super) fn is_holder(&self, at: usize) -> bool {
        self.is_frame(at) && !self.children(at).is_empty()
    }

    /// Returns a heading's label without case, marks and closing punctuation; `None` if that is
    /// empty.
    pub(super) fn heading_key(&self, at: usize) -> Option<u64> {
        if !self.is_heading(at) {
            return None;
        }
        let label = match self.nodes[at].label.trim() {
            "" => self.nodes[at].content,
            label => label,
        };
        let marks = ['*', '_', '`', '~'];
        let plain: String = label.chars().filter(|it| !marks.contains(it)).collect();
        let plain = plain.trim_matches(|it: char| it.is_whitespace() || ":.,;!?".contains(it));
        let mut hasher = Xxh64::new(0);
        for word in plain.split_whitespace() {
            word.to_lowercase().hash(&mut hasher);
        }
        (!plain.is_empty()).then(|| hasher.finish())
    }

    fn subtree_key(&self, at: usize) -> u64 {
        let mut hasher = Xxh64::new(1);
        self.own[at].hash(&mut hasher);
        for &child in self.children(at) {
            self.subtrees[child].hash(&mut hasher);
        }
        hasher.finish()
    }
}

fn own_key(node: &AlignmentNode<'_>) -> u64 {
    let mut hasher = Xxh64::new(0);
    node.node_type.as_str().hash(&mut hasher);
    node.hash.0.hash(&mut hasher);
    if node.node_type == NodeType::Heading && node.content.trim().is_empty() {
        node.label.hash(&mut hasher);
    }
    hasher.finish()
}

fn is_blank(node: &AlignmentNode<'_>) -> bool {
    let has_label = node.node_type == NodeType::Heading && !node.label.trim().is_empty();
    node.content.trim().is_empty() && !has_label
}
