//! Tests what a look at the log tells about a lost commit.

use super::*;

fn place(epoch: i64, seq: i64, hash: u8) -> LogPosition {
    LogPosition { epoch, seq, hash: LogHash([hash; 32]) }
}

#[track_caller]
fn check(
    sought: (LogPosition, Option<u8>),
    (head, entry, image): (LogPosition, Option<u8>, Option<u8>),
    expected: Option<bool>,
) {
    let hash = |it: u8| LogHash([it; 32]);
    let found = FoundLog { head, entry: entry.map(hash), image: image.map(hash) };
    let sought = SoughtCommit { place: sought.0, image: sought.1.map(hash) };
    assert_eq!(sought.is_in(&found), expected);
}

#[test]
fn an_entry_is_kept_where_the_log_has_it() {
    let own = (place(1, 5, 7), None);
    check(own, (place(1, 5, 7), Some(7), None), Some(true));
    check(own, (place(1, 9, 1), Some(7), None), Some(true));
    check(own, (place(1, 4, 1), None, None), Some(false));
    check(own, (place(1, 5, 8), Some(8), None), Some(false));
    check(own, (place(1, 9, 1), Some(8), None), Some(false));
}

/// Others may have written, published an image and cut the log meanwhile.
#[test]
fn an_entry_whose_place_was_deleted_is_in_doubt() {
    let own = (place(1, 5, 7), None);
    check(own, (place(1, 9, 1), None, Some(3)), None);
    check(own, (place(2, 0, 1), None, Some(3)), None);
    check(own, (place(2, 5, 7), None, Some(3)), None);
}

/// An image of the present end moves no head.
#[test]
fn an_image_is_kept_where_it_is_and_not_where_only_the_place_is_the_same() {
    let own = (place(1, 5, 7), Some(9));
    check(own, (place(1, 5, 7), Some(7), Some(9)), Some(true));
    check(own, (place(1, 5, 7), Some(7), None), Some(false));
    check(own, (place(1, 5, 7), Some(7), Some(8)), Some(false));
    check(own, (place(1, 6, 1), Some(7), None), None);
    let epoch = (place(2, 0, 4), Some(9));
    check(epoch, (place(1, 5, 7), None, None), Some(false));
    check(epoch, (place(2, 0, 4), None, Some(9)), Some(true));
    check(epoch, (place(2, 0, 5), None, Some(8)), Some(false));
    check(epoch, (place(3, 0, 5), None, None), None);
}
