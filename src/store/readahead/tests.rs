//! Tests readahead, and that it keeps the locks of SQLite.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;

use super::*;
use crate::store::{IfMissing, ReaderPool, Writer};

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
    let of_the_file = format!(":{} ", fs::metadata(&path).unwrap().ino());
    // The list is read in pieces: while others take and release locks, a line may be missing in it,
    // or be there twice under two numbers.
    let locks = || -> BTreeSet<String> {
        let lists = (0..20).map(|_| fs::read_to_string("/proc/locks").unwrap());
        let all = lists.collect::<Vec<String>>().concat();
        let of_the_file = all.lines().filter(|it| it.contains(&of_the_file));
        of_the_file.filter_map(|it| it.split_once(": ")).map(|it| it.1.to_owned()).collect()
    };
    let before = locks();
    read_ahead_file(&path, || false).unwrap();
    assert_eq!(locks(), before);
}
