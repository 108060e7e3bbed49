//! Birth ids and alignment: a node's first state decides its id, and edits keep it.
//!
//! An id is a number of 64 bits in base62, 11 digits (`0-9A-Za-z`, most significant first). A node
//! that is born of a file has, from the highest on, the highest 10 bits of xxh64 (seed 0) of its
//! folder's path, the highest 10 of that of its file's path, and the lowest 44 of its own hash.
//! What a compile writes together is together in each index of ids. An agent's node has all 64 bits
//! of its own hash, which is xxh64 (seed 0) over these bytes in this order:
//!
//! 1. the node type's name; 2. a zero byte;
//! 3. the file's path relative to its root, `/` as separator, UTF-8, or `mcp:write` of an agent's;
//!    4. a zero byte;
//! 5. the content as stored; 6. a zero byte;
//! 7. the ordinal among nodes that agree in 1, 3 and 5, in decimal.
//!
//! Alignment finds the old node that each node of a recompiled file is. [`align`] works inside one
//! file, [`renames`] and [`moves`] between the files of one compile. All three are pure and
//! deterministic, and take near-linear time for any input.
//!
//! This module does no IO.

mod across_files;
mod alignment;
mod alignment_side;
mod approximate_lcs;
mod similarity;

#[cfg(test)]
mod tests;

pub(crate) use across_files::{MOVE_BYTES_MIN, UnmatchedNode, moves, renames};
pub(crate) use alignment::align;
pub(crate) use approximate_lcs::pair_in_order;

use std::collections::HashMap;
use std::fmt;

use xxhash_rust::xxh64::{Xxh64, xxh64};

use crate::model::tree::NodeType;

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Bits of the folder's path in an id, and as many of the file's.
const PATH_BITS: u32 = 10;

/// Bits of the node's own hash in the id of a node that is born of a file.
const OWN_BITS: u32 = 64 - 2 * PATH_BITS;

/// A node's anchor: 11 base62 characters outside, the number inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(pub u64);

impl NodeId {
    /// Number of characters of an id.
    pub(crate) const ID_CHARS: usize = 11;

    /// The path in the birth ids of agents' nodes, and of all others that are born of no file.
    pub(crate) const AGENT_PATH: &'static str = "mcp:write";

    /// Parses an id as `Display` writes it; anything else is `None`.
    pub(crate) fn parse(text: &str) -> Option<NodeId> {
        if text.len() != NodeId::ID_CHARS {
            return None;
        }
        let mut value: u64 = 0;
        for byte in text.bytes() {
            let digit = DIGITS.iter().position(|&it| it == byte)?;
            value = value.checked_mul(62)?.checked_add(digit as u64)?;
        }
        Some(NodeId(value))
    }

    /// Computes the id of a new node.
    pub(crate) fn birth(node_type: NodeType, path: &str, content: &str, ordinal: u32) -> NodeId {
        let mut hash = Xxh64::new(0);
        for part in [node_type.as_str(), path, content] {
            hash.update(part.as_bytes());
            hash.update(&[0]);
        }
        hash.update(ordinal.to_string().as_bytes());
        let own = hash.digest();
        if path == NodeId::AGENT_PATH {
            return NodeId(own);
        }
        let folder = path.rsplit_once('/').map_or("", |it| it.0);
        let highest = |path: &str| xxh64(path.as_bytes(), 0) >> (64 - PATH_BITS);
        let place = highest(folder) << PATH_BITS | highest(path);
        NodeId(place << OWN_BITS | own & (u64::MAX >> (64 - OWN_BITS)))
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(std::str::from_utf8(&digits(self.0)).expect("digits are ASCII"))
    }
}

/// Formats a hash as an id.
pub(crate) fn base62(hash: u64) -> String {
    digits(hash).map(char::from).iter().collect()
}

/// Returns whether a text has the form of an id.
pub(crate) fn is_base62(text: &str) -> bool {
    text.len() == NodeId::ID_CHARS && text.bytes().all(|it| it.is_ascii_alphanumeric())
}

/// Returns the digits of a number in base 62, the most significant first.
fn digits(number: u64) -> [u8; NodeId::ID_CHARS] {
    let mut digits = [0; NodeId::ID_CHARS];
    let mut rest = number;
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[(rest % 62) as usize];
        rest /= 62;
    }
    digits
}

/// xxh64 (seed 0) of a text; 16 lowercase hex digits outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ContentHash(pub u64);

impl ContentHash {
    /// Returns the hash of `text`.
    pub(crate) fn of(text: &str) -> ContentHash {
        ContentHash::of_bytes(text.as_bytes())
    }

    /// Returns the hash of raw bytes.
    pub(crate) fn of_bytes(bytes: &[u8]) -> ContentHash {
        ContentHash(xxh64(bytes, 0))
    }

    /// Parses a hash as `Display` writes it.
    pub(crate) fn parse(text: &str) -> Option<ContentHash> {
        if text.len() != 16 {
            return None;
        }
        u64::from_str_radix(text, 16).ok().map(ContentHash)
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A node on one side of an alignment, with the index of its parent on that side. Sides are in
/// document order, parents before children.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AlignmentNode<'a> {
    /// Index of the parent on the same side.
    pub parent: Option<usize>,
    /// The node's type; nodes of different types never match.
    pub node_type: NodeType,
    /// Heading level.
    pub level: Option<u8>,
    /// The node's label.
    pub label: &'a str,
    /// The node's text.
    pub content: &'a str,
    /// Hash of the base text.
    pub hash: ContentHash,
}

/// Indexes the earlier texts of old nodes, to recognise a node that returns to one. The resemblance
/// to its present text does not matter. The caller looks up only texts that no old node has now.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextHistoryIndex {
    nodes_by_text: HashMap<(NodeType, ContentHash), Vec<usize>>,
}

impl TextHistoryIndex {
    /// Adds a former text of the old node at `old_idx`, by its hash. Call it with the most recent
    /// text first.
    pub(crate) fn insert(&mut self, node_type: NodeType, hash: ContentHash, old_idx: usize) {
        self.nodes_by_text.entry((node_type, hash)).or_default().push(old_idx);
    }

    /// Returns the old nodes that once had this text, most recent first.
    pub(crate) fn nodes_with(&self, node_type: NodeType, hash: ContentHash) -> &[usize] {
        self.nodes_by_text.get(&(node_type, hash)).map_or(&[], Vec::as_slice)
    }

    /// Returns whether no former text is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes_by_text.is_empty()
    }
}
