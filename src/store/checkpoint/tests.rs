//! Tests of copying the log: its time and its thread.

use std::path::Path;

use rusqlite::config::DbConfig;

use super::*;
use crate::store::{IfMissing, Writer};

/// Pages of each write.
const PAGES: i32 = 500;

/// Writes this many pages.
const WRITE: &str = "
    INSERT INTO blob (hash, content) VALUES (hex(randomblob(8)), hex(zeroblob(2048 * ?1)))";

/// Returns a new memory and its path.
fn memory() -> (tempfile::TempDir, PathBuf, Writer) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    let writer = Writer::open(&path, IfMissing::Create).unwrap();
    (dir, path, writer)
}

/// Writes this many pages, a few at a time, and returns whether the log was long meanwhile.
fn write(writer: &Writer, n_pages: i32) -> bool {
    for _ in 0..n_pages / PAGES {
        writer.lock().execute(WRITE, [PAGES]).unwrap();
    }
    writer.log().long_log().try_recv().is_ok()
}

/// Returns the pages of the file itself, without the log.
fn copied(path: &Path) -> i32 {
    (std::fs::metadata(path).unwrap().len() / 4096).try_into().unwrap()
}

#[test]
fn a_long_log_waits_for_the_checkpoint_thread() {
    let (_dir, path, writer) = memory();
    assert!(!write(&writer, LONG_PAGES / 2));
    assert!(write(&writer, LONG_PAGES));
    assert!(copied(&path) < PAGES);
    writer.log().copy().unwrap();
    assert!(LONG_PAGES < copied(&path));
    // The log begins anew.
    assert!(!write(&writer, LONG_PAGES / 2));
}

#[test]
fn a_very_long_log_is_checkpointed_by_the_writer() {
    let (_dir, path, writer) = memory();
    assert!(write(&writer, TOO_LONG_PAGES + PAGES));
    assert!(TOO_LONG_PAGES <= copied(&path));
}

#[test]
fn a_hasty_writer_leaves_a_short_log_and_no_long_one() {
    const WAIT: Duration = Duration::from_millis(50);
    const WRITE: &str = "INSERT INTO blob VALUES (?1, printf('%.*c', 4096 * ?2, 'x'))";
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    drop(Writer::open(&path, IfMissing::Create).unwrap());
    let log_pages = |n_pages: i32| {
        let hasty = Writer::open_hastily(&path, WAIT).unwrap();
        hasty.lock().execute(WRITE, [n_pages * 2, n_pages]).unwrap();
        drop(hasty);
        std::fs::metadata(path.with_extension("db-wal")).map_or(0, |it| it.len() / 4096)
    };
    assert!(100 < log_pages(100));
    // The next process reads the log before it writes.
    assert!(300 < log_pages(200));
    let reader = Connection::open(&path).unwrap();
    reader.execute_batch("SELECT count(*) FROM blob").unwrap();
    assert!(1_300 < log_pages(LONG_PAGES_OF_HASTE), "another connection can copy it");
    reader.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    drop(reader);
    assert_eq!(log_pages(1), 0);
}

#[test]
fn pages_of_an_open_reader_are_copied_when_it_has_gone() {
    let (_dir, path, writer) = memory();
    let reader = Connection::open(&path).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM blob").unwrap();
    assert!(write(&writer, LONG_PAGES + PAGES));
    writer.log().copy().unwrap();
    assert!(copied(&path) < PAGES);
    drop(reader);
    assert!(write(&writer, PAGES), "the log is still long");
    writer.log().copy().unwrap();
    assert!(LONG_PAGES < copied(&path));
}

/// Otherwise each commit would be followed by a copy for as long as others write meanwhile.
#[test]
fn a_log_that_cannot_begin_anew_is_copied_now_and_then() {
    const FEW: i32 = 20;
    let (_dir, path, writer) = memory();
    let reader = Connection::open(&path).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM blob").unwrap();
    assert!(write(&writer, LONG_PAGES + PAGES));
    let is_to_be_copied = || {
        writer.lock().execute(WRITE, [FEW]).unwrap();
        writer.log().long_log().try_recv().is_ok()
    };
    let n_copies = (0..TOO_LONG_PAGES / FEW / 4).filter(|_| is_to_be_copied()).count();
    assert!((2..=4).contains(&n_copies), "{n_copies}");
    // The next log is copied once it is long, too.
    drop(reader);
    writer.log().copy().unwrap();
    assert!(!write(&writer, LONG_PAGES / 2));
    assert!(write(&writer, LONG_PAGES));
}

#[test]
fn a_foreign_checkpoint_is_not_blocked() {
    let (_dir, _path, writer) = memory();
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                writer.log().copy().unwrap();
            }
        });
        for _ in 0..4 {
            write(&writer, PAGES);
            let could = writer.scrub();
            is_over.store(!matches!(could, Ok(true)), std::sync::atomic::Ordering::Relaxed);
            assert!(could.unwrap());
        }
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}
