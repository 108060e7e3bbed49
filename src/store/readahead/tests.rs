//! Tests readahead, and that it keeps the locks of SQLite.

use super::*;
use crate::store::{IfMissing, ReaderPool, Writer, locks_on};

#[test]
fn a_file_is_read_to_its_end_unless_it_is_large_or_time_is_over() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let asked = |n_bytes: u64, is_over: bool| {
        file.as_file().set_len(n_bytes).unwrap();
        read_ahead_file(file.path(), || is_over).unwrap()
    };
    assert_eq!(asked(0, false), 0);
    assert_eq!(asked(4_097, false), 4_097);
    assert_eq!(asked(FILE_BYTES_MAX, false), FILE_BYTES_MAX);
    assert_eq!(asked(FILE_BYTES_MAX, true), 0);
    assert_eq!(asked(FILE_BYTES_MAX + 1, false), 0);
}

#[test]
fn readahead_keeps_sqlites_locks() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    let writer = Writer::open(&path, IfMissing::Create).unwrap();
    let _readers = ReaderPool::new(&path, writer.file_identity()).unwrap();
    let before = locks_on(&path);
    read_ahead_file(&path, || false).unwrap();
    assert_eq!(locks_on(&path), before);
}
