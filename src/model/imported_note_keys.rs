//! Keys of imported notes: their place in the tree, and the mark that finds one again.

use super::identity::ContentHash;

/// The root of imported notes; below it are the programs, and below those their notes.
pub(crate) const IMPORTED_ROOT: &str = "@imported";

/// Returns the mark of a note: its key, with a hash of its text.
pub(crate) fn note_mark(key: &str, text: ContentHash) -> String {
    format!("{key}#{text}")
}

/// Returns the key in a mark.
pub(crate) fn note_key(mark: &str) -> Option<&str> {
    mark.rsplit_once('#').map(|(key, _)| key)
}

/// Returns the hash of a note's key in a program.
pub(crate) fn note_hash(program: &str, key: &str) -> ContentHash {
    ContentHash::of(&format!("{program}\0{key}"))
}
