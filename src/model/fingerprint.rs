//! The state of a memory as one number: a wrapping sum with one term a node.
//!
//! A term is xxh64 (seed 0) over these fields, each preceded by its length as 8 bytes,
//! little-endian (an absent field is the length `u64::MAX` and no bytes), in this order:
//!
//! 1. the id; 2. the parent: its id, or for the root of a file `ROOT:PATH` (the root's number and
//!    the
//!    file's path), or nothing; 3. the id of the sibling before it, if any; 4. the node type;
//! 5. the level; 6. the language; 7. the key path; 8. the format; 9. the label; 10. the content
//!    hash.
//!
//! So the fingerprint covers order, but not the rank's value; what a file is called, but not where
//! its root lies; what a node says, but not what a file once said, nor how warm it is. Being a sum,
//! it is kept up to date by taking the old terms away and adding the new ones.

use xxhash_rust::xxh64::Xxh64;

/// What a node contributes, apart from its surroundings: read from its row, or borrowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State<Text = String> {
    pub(crate) id: Text,
    pub(crate) node_type: Text,
    pub(crate) level: Option<u8>,
    pub(crate) lang: Option<Text>,
    pub(crate) key_path: Option<Text>,
    pub(crate) format: Text,
    pub(crate) label: Text,
    pub(crate) content_hash: Text,
}

/// The sum of the terms of `children`, which are all the children of `parent`, in order.
pub(crate) fn of_children<'a>(
    parent: Option<&str>,
    children: impl IntoIterator<Item = &'a State>,
) -> u64 {
    let mut sum: u64 = 0;
    let mut before: Option<&str> = None;
    for child in children {
        sum = sum.wrapping_add(term(parent, before, child));
        before = Some(&child.id);
    }
    sum
}

/// The term of one node.
pub(crate) fn term<Text: AsRef<str>>(
    parent: Option<&str>,
    before: Option<&str>,
    node: &State<Text>,
) -> u64 {
    let level = node.level.map(|it| it.to_string());
    let fields = [
        Some(node.id.as_ref()),
        parent,
        before,
        Some(node.node_type.as_ref()),
        level.as_deref(),
        node.lang.as_ref().map(Text::as_ref),
        node.key_path.as_ref().map(Text::as_ref),
        Some(node.format.as_ref()),
        Some(node.label.as_ref()),
        Some(node.content_hash.as_ref()),
    ];
    let mut hash = Xxh64::new(0);
    for field in fields {
        let length = field.map_or(u64::MAX, |it| it.len() as u64);
        hash.update(&length.to_le_bytes());
        hash.update(field.unwrap_or_default().as_bytes());
    }
    hash.digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: &str) -> State {
        State {
            id: id.to_owned(),
            node_type: "text".to_owned(),
            level: None,
            lang: None,
            key_path: None,
            format: "plain".to_owned(),
            label: "l".to_owned(),
            content_hash: "h".to_owned(),
        }
    }

    #[test]
    fn order_counts() {
        let (a, b) = (node("a"), node("b"));
        assert_ne!(of_children(None, [&a, &b]), of_children(None, [&b, &a]));
    }

    #[test]
    fn the_parent_counts() {
        let a = node("a");
        assert_ne!(of_children(None, [&a]), of_children(Some("1:x.md"), [&a]));
    }

    #[test]
    fn a_field_cannot_pose_as_its_neighbour() {
        let with_lang = State { lang: Some("x".to_owned()), ..node("a") };
        let with_key_path = State { key_path: Some("x".to_owned()), ..node("a") };
        assert_ne!(of_children(None, [&with_lang]), of_children(None, [&with_key_path]));
    }
}
