//! Tests the places of imported files.

use super::*;

#[track_caller]
fn check(root: &str, source_file: &str, expected: (&str, &str)) {
    let (root, path) = place(root, source_file);
    assert_eq!((root.as_str(), path.as_str()), expected);
}

#[test]
fn a_file_is_below_its_root() {
    check("/no/notes", "a.md", ("/no/notes", "a.md"));
    check("/no/notes", "sub\\a.md", ("/no/notes", "sub/a.md"));
    check("/no/notes", "./sub/../a.md", ("/no/notes", "a.md"));
    check("/no/notes", "/no/notes/sub/a.md", ("/no/notes", "sub/a.md"));
}

#[test]
fn a_file_elsewhere_has_its_folder_as_root() {
    check("/no/notes", "/no/other/a.md", ("/no/other", "a.md"));
    check("/no/notes", "../a.md", ("/no", "a.md"));
}
