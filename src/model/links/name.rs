//! Names of nodes and files, and the places that they may denote.

use unicode_normalization::char::is_combining_mark;
use xxhash_rust::xxh64::xxh64;

use crate::text;

/// A node that a name may denote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinkCandidate<Id> {
    /// The node.
    pub(crate) id: Id,
    /// Path of its file with `/`, beginning with the name of the root, which no path leaves. Empty
    /// for a node of no file.
    pub(crate) path: String,
    /// Its label.
    pub(crate) label: String,
    /// Whether it is a heading.
    pub(crate) is_heading: bool,
}

/// The resolution of a reference: a node, nothing, or several candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LinkResolution<Id> {
    /// A node.
    Node(Id),
    /// Nothing yet.
    Missing,
    /// Several nodes, equally near.
    Ambiguous(Vec<Id>),
}

/// A name as a hash: equal for names that may denote the same, and for hardly any others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LinkNameHash(pub(crate) i64);

impl LinkNameHash {
    /// Returns the hash of a label, a heading's fragment, or a file's name, title or alias.
    pub(crate) fn of(name: &str) -> LinkNameHash {
        let key = fold_name(name);
        let slug = slug(&key);
        LinkNameHash::hash(if slug.is_empty() { &key } else { &slug })
    }

    /// Returns the hash of a node's id.
    pub(crate) fn of_id(id: &str) -> LinkNameHash {
        LinkNameHash::hash(id)
    }

    /// Returns the hash of the name `self` within the file called `file`.
    pub(crate) fn qualified_by(self, file: LinkNameHash) -> LinkNameHash {
        let (file, own) = (file.0.to_le_bytes(), self.0.to_le_bytes());
        LinkNameHash(xxh64(&[file, own].concat(), 1).cast_signed())
    }

    fn hash(text: &str) -> LinkNameHash {
        LinkNameHash(xxh64(text.as_bytes(), 0).cast_signed())
    }
}

/// Folds a name for comparison: case in all scripts, white space to one space.
pub(crate) fn fold_name(name: &str) -> String {
    // Only letters have case.
    if name.is_ascii() || name.chars().all(|it| it.is_ascii() || !it.is_alphabetic()) {
        let mut key = text::fold_whitespace(name);
        key.make_ascii_lowercase();
        return key;
    }
    // By way of upper case, `ß` equals `SS`, and every sigma the others.
    text::fold_whitespace(&text::fold_whitespace(name).to_uppercase().to_lowercase())
}

/// Returns the fragment that renderers make of a heading with that key.
pub(super) fn slug(key: &str) -> String {
    let mut slug = String::with_capacity(key.len());
    let mut rest = key;
    while !rest.is_empty() {
        let stays = |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_');
        let n_stay = rest.bytes().take_while(|it| stays(it)).count();
        slug.push_str(&rest[..n_stay]);
        let mut after = rest[n_stay..].chars();
        match after.next() {
            Some(' ') => slug.push('-'),
            Some(at) if at.is_alphanumeric() || is_combining_mark(at) => slug.push(at),
            _ => (),
        }
        rest = after.as_str();
    }
    slug
}
