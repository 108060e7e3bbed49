//! Tests of logs that SQLite wrote, with bytes changed.

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use tempfile::TempDir;

use super::*;

/// A database whose three commits are in its log.
struct LoggedDatabase(TempDir);

impl LoggedDatabase {
    fn new() -> LoggedDatabase {
        let made = LoggedDatabase(tempfile::tempdir().unwrap());
        let conn = Connection::open(made.path("a.db")).unwrap();
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
        conn.execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE note (text);
             INSERT INTO note VALUES ('one');
             INSERT INTO note VALUES ('two');",
        )
        .unwrap();
        drop(conn);
        made
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn log(&self) -> std::path::PathBuf {
        self.path("a.db-wal")
    }

    fn damage(&self, at: usize, n_bytes: usize) {
        let mut bytes = std::fs::read(self.log()).unwrap();
        bytes[at..at + n_bytes].fill(b'x');
        std::fs::write(self.log(), bytes).unwrap();
    }

    fn has_unread_commits(&self) -> bool {
        has_unread_commits(&self.log(), &self.path("a.db")).unwrap()
    }

    /// Returns the notes that SQLite reads.
    fn notes(&self) -> Option<String> {
        let conn = Connection::open(self.path("a.db")).unwrap();
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
        conn.query_row("SELECT group_concat(text) FROM note", [], |row| row.get(0)).ok()
    }
}

#[test]
fn a_sound_log_has_no_unread_commits() {
    let made = LoggedDatabase::new();
    assert!(has_no_table(&made.path("a.db")));
    assert!(!made.has_unread_commits());
    // What follows the first commit is no beginning.
    made.damage(std::fs::read(made.log()).unwrap().len() - 10, 10);
    assert!(!made.has_unread_commits());
    assert_eq!(made.notes().as_deref(), Some("one"));
}

#[test]
fn commits_behind_a_damaged_beginning_are_found_and_replayed() {
    for (at, n_bytes) in [(0, 4), (0, HEAD_BYTES), (12, 1), (HEAD_BYTES + 8, 16), (3000, 9)] {
        let made = LoggedDatabase::new();
        made.damage(at, n_bytes);
        assert!(made.has_unread_commits(), "{at}, {n_bytes}");
        assert_eq!(made.notes(), None);
        assert!(0 < replay(&made.log(), &made.path("a.db")).unwrap());
        std::fs::remove_file(made.log()).unwrap();
        assert_eq!(made.notes().as_deref(), Some("one,two"), "{at}, {n_bytes}");
    }
}

#[test]
fn a_log_without_a_commit_has_nothing_unread() {
    let made = LoggedDatabase::new();
    let log = std::fs::read(made.log()).unwrap();
    for n_bytes in [0, 7, HEAD_BYTES, HEAD_BYTES + FRAME_BYTES] {
        std::fs::write(made.log(), &log[..n_bytes]).unwrap();
        assert!(!made.has_unread_commits(), "{n_bytes}");
    }
    std::fs::write(made.log(), vec![b'x'; HEAD_BYTES + 9 * FRAME_BYTES]).unwrap();
    assert!(!made.has_unread_commits());
}
