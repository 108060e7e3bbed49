//! Tests of databases whose log or index was deleted, while open and while closed.

use std::fs;

use super::*;
use crate::store::{IfMissing, Writer};

fn memory() -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    drop(Writer::open(&path, IfMissing::Create).unwrap());
    (dir, path)
}

fn names(dir: &tempfile::TempDir) -> Vec<String> {
    let entries = fs::read_dir(dir.path()).unwrap();
    let mut names: Vec<String> =
        entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn files_of_an_unopened_database_stay_unchanged() {
    let (dir, path) = memory();
    check(&path).unwrap();
    assert_eq!(names(&dir), ["memory.db"]);
    check(&dir.path().join("none.db")).unwrap();
    assert_eq!(names(&dir), ["memory.db"]);
    // The log of a copied database stays as it is.
    fs::write(with_suffix(&path, "-wal"), "no log").unwrap();
    check(&path).unwrap();
    assert_eq!(names(&dir), ["memory.db", "memory.db-wal"]);
    assert_eq!(fs::read_to_string(with_suffix(&path, "-wal")).unwrap(), "no log");
}

/// A refusal waits as long as a rival may take to open or close, so the cases wait at once.
#[test]
fn an_open_database_needs_its_log_and_index() {
    let refuse_without = |endings: &[&str]| {
        let (dir, path) = memory();
        let writer = Writer::open(&path, IfMissing::Refuse).unwrap();
        check(&path).unwrap();
        endings.iter().for_each(|it| fs::remove_file(with_suffix(&path, it)).unwrap());
        let error = check(&path).unwrap_err();
        assert!(matches!(&error, StoreError::Orphaned { missing, .. } if !missing.exists()));
        assert_eq!(names(&dir).len(), 3 - endings.len(), "{error}");
        drop(writer);
        check(&path).unwrap();
    };
    std::thread::scope(|scope| {
        for endings in [&["-wal"] as &[&str], &["-shm"], &["-wal", "-shm"]] {
            scope.spawn(move || refuse_without(endings));
        }
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_look_leaves_the_locks_of_an_open_database() {
    use crate::store::locks_on;
    let (_dir, path) = memory();
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch("CREATE TABLE note (text)").unwrap();
    assert_ne!(fs::metadata(with_suffix(&path, "-wal")).unwrap().len(), 0);
    let before = locks_on(&path);
    assert!(!before.is_empty());
    check(&path).unwrap();
    assert_eq!(locks_on(&path), before);
}
