//! The state of a memory as one number: a wrapping sum with one term a node.
//!
//! A term is xxh64 (seed 0) over these fields, each preceded by its length as 8 bytes,
//! little-endian (an absent field is the length `u64::MAX` and no bytes), in this order:
//!
//! 1. the id; 2. the parent: its id, or for the root of a file `ROOT:PATH` (the root's number and
//!    the file's path), or nothing; 3. the id of the sibling before it, if any; 4. the node type;
//! 5. the level; 6. the language; 7. the key path; 8. the format; 9. the label; 10. the content
//!    hash; then, for each optional value that is present, its column's name and the value.
//!
//! So the fingerprint covers the order, but not the value of the order key; a file's path, but not
//! the folder of its root; a node's text, but not its base text, nor its heat. Being a sum, it is
//! kept up to date by subtracting the old terms and adding the new ones.

use std::borrow::Cow;

use xxhash_rust::xxh64::Xxh64;

/// A node's own part of its term, apart from its surroundings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NodeState<'a> {
    pub(crate) id: Cow<'a, str>,
    /// Fields 4 to 10.
    pub(crate) fields: Vec<Option<Cow<'a, str>>>,
    /// Optional values that are present, by column.
    pub(crate) given: Vec<(&'static str, Cow<'a, str>)>,
}

/// Number of fields besides the id that every state has.
const FIELDS: usize = 7;

impl<'a> NodeState<'a> {
    /// Returns a state without fields yet.
    pub(crate) fn new(id: Cow<'a, str>) -> NodeState<'a> {
        NodeState { id, fields: Vec::with_capacity(FIELDS), given: Vec::new() }
    }
}

/// Returns the sum of the terms of `children`, which are all the children of `parent`, in order.
pub(crate) fn sum_of_children<'a>(
    parent: Option<&str>,
    children: impl IntoIterator<Item = &'a NodeState<'static>>,
) -> u64 {
    let mut sum: u64 = 0;
    let mut before: Option<&str> = None;
    for child in children {
        sum = sum.wrapping_add(term_of_node(parent, before, child));
        before = Some(&child.id);
    }
    sum
}

/// Returns the term of one node.
pub(crate) fn term_of_node(
    parent: Option<&str>,
    before: Option<&str>,
    node: &NodeState<'_>,
) -> u64 {
    hash_of_node(parent, before, node, node.given.len()).digest()
}

/// Looks for a byte of a node's last optional value with which the node would have a term; returns
/// its place and the byte.
///
/// Most of what is hashed is the same for all of them, and is hashed once.
pub(crate) fn find_byte_of_term(
    parent: Option<&str>,
    before: Option<&str>,
    node: &NodeState<'_>,
    term: u64,
) -> Option<(usize, u8)> {
    let (name, value) = node.given.last()?;
    let bytes = value.as_bytes();
    let mut hash = hash_of_node(parent, before, node, node.given.len() - 1);
    add_field(&mut hash, Some(name));
    hash.update(&(bytes.len() as u64).to_le_bytes());
    for at in 0..bytes.len() {
        let has_term = |byte: &u8| {
            let mut version = hash.clone();
            version.update(&[*byte]);
            version.update(&bytes[at + 1..]);
            version.digest() == term
        };
        if let Some(byte) = (b' '..=b'~').find(has_term) {
            return Some((at, byte));
        }
        hash.update(&bytes[at..=at]);
    }
    None
}

/// Hashes a node with its first optional values.
fn hash_of_node(
    parent: Option<&str>,
    before: Option<&str>,
    node: &NodeState<'_>,
    n_given: usize,
) -> Xxh64 {
    let mut hash = Xxh64::new(0);
    for field in [Some(&*node.id), parent, before] {
        add_field(&mut hash, field);
    }
    for field in &node.fields {
        add_field(&mut hash, field.as_deref());
    }
    for (name, value) in &node.given[..n_given] {
        add_field(&mut hash, Some(name));
        add_field(&mut hash, Some(value));
    }
    hash
}

fn add_field(hash: &mut Xxh64, field: Option<&str>) {
    let length = field.map_or(u64::MAX, |it| it.len() as u64);
    hash.update(&length.to_le_bytes());
    hash.update(field.unwrap_or_default().as_bytes());
}

#[cfg(test)]
mod tests;
