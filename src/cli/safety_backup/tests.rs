//! Tests what becomes of a backup when the removal fails.

use rusqlite::{Error, ffi};

use super::*;

/// Fails a removal after its backup, and returns whether that is still there, and the message.
fn failed(error: StoreError) -> (bool, String) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m.db.before-gc");
    fs::write(&path, "a copy").unwrap();
    let copy = SafetyBackup { path: Some(path.clone()), newest: 1, n_max: 5 };
    let Err(CommandError::Because(why)) = copy.after(Err::<(), _>(error)) else {
        panic!("it failed");
    };
    (path.exists(), why.replace(&dir.path().display().to_string(), "DIR"))
}

fn sqlite_error(code: i32) -> Error {
    Error::SqliteFailure(ffi::Error::new(code), None)
}

#[test]
fn a_backup_goes_where_the_lock_could_not_be_had() {
    let source = sqlite_error(ffi::SQLITE_BUSY);
    let (is_left, why) = failed(StoreError::Sqlite { doing: "begin a collection", source });
    assert!(!is_left);
    assert!(why.starts_with("cannot begin a collection: "), "{why}");
    assert!(why.ends_with("; nothing was changed"), "{why}");
}

#[test]
fn a_backup_goes_where_the_memory_was_refused() {
    let error = StoreError::NoFolder { path: "gone".into() };
    let why = error.to_string();
    assert_eq!(failed(error), (false, why));
}

#[test]
fn a_backup_stays_where_the_removal_may_be_kept() {
    let source = sqlite_error(ffi::SQLITE_IOERR);
    let (is_left, why) = failed(StoreError::InDoubt { doing: "commit the collection", source });
    assert!(is_left);
    assert!(why.contains("it may or may not be kept"), "{why}");
    assert!(why.ends_with("; backup: DIR/m.db.before-gc"), "{why}");
}
