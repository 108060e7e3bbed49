//! Tests leases between rival holders.

use super::*;
use crate::store::{IfMissing, Writer};

struct Rivals {
    _dir: tempfile::TempDir,
    writer: Writer,
    path: std::path::PathBuf,
    ann: LeaseManager,
    ben: LeaseManager,
}

fn rivals() -> Rivals {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    let writer = Writer::open(&path, IfMissing::Create).unwrap();
    let [ann, ben] =
        ["ann", "ben"].map(|it| LeaseManager::open(&path, writer.file_identity(), it).unwrap());
    Rivals { _dir: dir, writer, path, ann, ben }
}

#[track_caller]
fn check_take(who: &LeaseManager, at: i64, expected: bool) {
    assert_eq!(
        who.take("heat", ClaimableLeaseAge::Expired, UnixMillis(at)).unwrap(),
        expected,
        "{} at {at}",
        who.holder
    );
}

#[test]
fn one_at_a_time_holds_a_lease() {
    let Rivals { _dir, ann, ben, .. } = &rivals();
    check_take(ann, 0, true);
    check_take(ben, 1, false);
    check_take(ann, 2, true);
    assert!(
        ben.take("rescan", ClaimableLeaseAge::Expired, UnixMillis(3)).unwrap(),
        "another name is another lease"
    );
}

#[test]
fn a_lease_that_is_renewed_lasts() {
    let Rivals { _dir, ann, ben, .. } = &rivals();
    for at in (0..1_000_000).step_by(30_000) {
        check_take(ann, at, true);
        check_take(ben, at + 29_999, false);
    }
}

#[test]
fn a_dead_holders_lease_expires() {
    let Rivals { _dir, ann, ben, .. } = &rivals();
    check_take(ann, 0, true);
    check_take(ben, LEASE_MS - 1, false);
    check_take(ben, LEASE_MS, true);
    check_take(ann, LEASE_MS + 1, false);
}

#[test]
fn a_released_lease_is_free() {
    let Rivals { _dir, ann, ben, .. } = &rivals();
    check_take(ann, 0, true);
    ben.release("heat").unwrap();
    check_take(ben, 1, false);
    ann.release("heat").unwrap();
    check_take(ben, 2, true);
}

#[test]
fn a_new_process_takes_over_an_idle_lease() {
    let Rivals { _dir, ann, ben, .. } = &rivals();
    check_take(ann, 0, true);
    let start = |at| ben.take("heat", ClaimableLeaseAge::NotRenewedLately, UnixMillis(at)).unwrap();
    assert!(!start(FRESH_MS), "ann may be in the middle of it");
    assert!(start(FRESH_MS + 1));
    check_take(ann, FRESH_MS + 2, false);
}

#[test]
fn a_step_of_the_clock_keeps_nobody_out() {
    let Rivals { _dir, ann, ben, .. } = &rivals();
    const YEAR_MS: i64 = 365 * 24 * 3_600_000;
    check_take(ann, YEAR_MS, true);
    check_take(ben, 0, true);
    check_take(ann, 1, false);
    check_take(ann, i64::MAX, true);
    check_take(ben, i64::MIN, true);
}

#[test]
fn a_held_lease_is_not_written() {
    let Rivals { _dir, writer: _writer, path, ann, ben } = &rivals();
    check_take(ann, 0, true);
    let wal = path.with_extension("db-wal");
    let before = std::fs::metadata(&wal).unwrap().len();
    for at in 1..100 {
        check_take(ann, at, true);
        check_take(ben, at, false);
    }
    assert_eq!(std::fs::metadata(&wal).unwrap().len(), before);
}

#[test]
fn a_busy_database_grants_no_lease() {
    let Rivals { _dir, path, ann, .. } = &rivals();
    let busy = Connection::open(path).unwrap();
    busy.execute_batch("BEGIN IMMEDIATE").unwrap();
    check_take(ann, 0, false);
    ann.release("heat").unwrap();
    drop(busy);
    check_take(ann, 1, true);
}
