//! Tests of logs made frame by frame.

use super::*;

const PAGE_BYTES: u32 = 512;

/// Returns a log of frames, each of a page, the size of the database after a commit, and a salt.
fn logged(frames: &[(u32, u32, u8)]) -> Option<CommittedWalPageNumbers> {
    let number = |it: u32| it.to_be_bytes();
    let mut bytes = [[0; 4], [0; 4], number(PAGE_BYTES), [0; 4], [1; 4], [1; 4], [0; 4], [0; 4]];
    bytes[0] = [0x37, 0x7f, 0x06, 0x82];
    let mut bytes = bytes.concat();
    for &(page, n_pages, salt) in frames {
        let head = [number(page), number(n_pages), [salt; 4], [salt; 4], [9; 4], [9; 4]];
        bytes.extend(head.concat());
        bytes.extend([7; PAGE_BYTES as usize]);
    }
    let log = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(log.path(), bytes).unwrap();
    CommittedWalPageNumbers::read(log.path()).unwrap()
}

/// Asserts that the database is whole from a number of pages on.
#[track_caller]
fn check(frames: &[(u32, u32, u8)], n_pages_min: u64) {
    let logged = logged(frames).unwrap();
    for n_pages in 0..10 {
        let n_bytes = n_pages * u64::from(PAGE_BYTES);
        assert_eq!(logged.complete(n_bytes), n_pages_min <= n_pages, "{n_pages}");
    }
}

#[test]
fn pages_beyond_the_end_of_the_file_are_in_the_log() {
    check(&[(1, 0, 1), (5, 0, 1), (6, 6, 1)], 4);
    check(&[(6, 6, 1), (5, 6, 1)], 4);
    check(&[(1, 6, 1)], 6);
    // An empty file is a new database to SQLite, whatever its log has.
    check(&[(1, 0, 1), (2, 2, 1)], 1);
}

#[test]
fn only_committed_frames_of_this_log_count() {
    check(&[(1, 5, 1), (4, 0, 1), (5, 0, 1)], 5);
    check(&[(1, 5, 1), (5, 5, 2)], 5);
    check(&[(9, 9, 1), (1, 3, 1)], 3);
    assert_eq!(logged(&[]), None);
    assert_eq!(logged(&[(1, 0, 1), (2, 0, 1)]), None);
    assert_eq!(logged(&[(1, 1, 2)]), None);
}

#[test]
fn the_page_of_the_locks_is_in_no_log() {
    let log = |n_pages, pages: &[u64]| CommittedWalPageNumbers {
        salts: [1; 8],
        page_bytes: 65_536,
        n_pages,
        pages: pages.iter().copied().collect(),
    };
    let before = 16_384 * 65_536;
    assert!(log(16_386, &[16_386]).complete(before));
    assert!(!log(16_387, &[16_386]).complete(before));
}
