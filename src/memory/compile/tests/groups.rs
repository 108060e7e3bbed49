//! Tests for groups: the bytes aligned together are bounded.

use super::super::SourceFile;
use super::super::groups::FileGroups;
use crate::ingest::parse::Syntax;
use crate::ingest::scan::ScannedFile;
use crate::model::file_stat::FileStat;

/// Returns how many files of `size` bytes form one group.
fn n_together(size: usize, n_files: usize, n_known: usize) -> usize {
    let source = |nth: usize| {
        let path = format!("{nth}.md");
        let syntax = Syntax::of(&path).unwrap();
        let stat = FileStat { size: size as i64, mtime: 0 };
        let outcome = Err("not read".to_owned());
        SourceFile { found: ScannedFile { path, elsewhere: None, syntax, stat }, size, outcome }
    };
    let mut files = (0..n_files).map(source);
    FileGroups { files: &mut files, n_known }.next().len()
}

#[test]
fn a_group_has_files_of_a_mebibyte_and_one_at_the_least() {
    assert_eq!(n_together(64 * 1024, 100, 0), 16);
    assert_eq!(n_together(9_000_000, 100, 0), 1);
    assert_eq!(n_together(64 * 1024, 3, 0), 3);
}

#[test]
fn known_files_make_larger_groups() {
    assert_eq!(n_together(64 * 1024, 1_000, 1_000), 256);
    assert_eq!(n_together(64 * 1024, 1_000, 20), 20);
}

#[test]
fn many_files_of_a_few_bytes_are_no_one_group() {
    assert_eq!(n_together(50, 100_000, 0), 256);
    assert_eq!(n_together(0, 100_000, 100_000), 4_096);
}
