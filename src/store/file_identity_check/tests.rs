//! Tests of each change of the names.

use super::*;
use crate::store::{IfMissing, Writer};

const OPENED: DatabaseWalShmInodes = [Some(inode(1)), Some(inode(2)), Some(inode(3))];

const fn inode(number: u64) -> FileIdentity {
    FileIdentity { device: 7, number, born: None }
}

#[test]
fn each_change_of_a_name_is_told_apart() {
    let check = |nth: usize, now: Option<FileIdentity>, expected: FileReplacedOrUnlinked| {
        let mut files = OPENED;
        files[nth] = now;
        assert_eq!(FileReplacedOrUnlinked::between(OPENED, files), Some(expected));
    };
    assert_eq!(FileReplacedOrUnlinked::between(OPENED, OPENED), None);
    check(0, None, FileReplacedOrUnlinked::Replaced(0));
    check(0, Some(inode(9)), FileReplacedOrUnlinked::Replaced(0));
    check(
        0,
        Some(FileIdentity { device: 8, number: 1, born: None }),
        FileReplacedOrUnlinked::Replaced(0),
    );
    check(1, None, FileReplacedOrUnlinked::LogUnlinked);
    check(1, Some(inode(9)), FileReplacedOrUnlinked::Replaced(1));
    check(2, None, FileReplacedOrUnlinked::IndexUnlinked);
    check(2, Some(inode(9)), FileReplacedOrUnlinked::Replaced(2));
    // Of several changes, a replaced file counts first, then an unlinked log.
    assert_eq!(
        FileReplacedOrUnlinked::between(OPENED, [None; 3]),
        Some(FileReplacedOrUnlinked::Replaced(0))
    );
    assert_eq!(
        FileReplacedOrUnlinked::between(OPENED, [OPENED[0], None, None]),
        Some(FileReplacedOrUnlinked::LogUnlinked)
    );
    let begun_anew = [OPENED[0], None, Some(inode(9))];
    assert_eq!(
        FileReplacedOrUnlinked::between(OPENED, begun_anew),
        Some(FileReplacedOrUnlinked::Replaced(2))
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_log_that_was_unlinked_is_put_back_whole() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    let writer = Writer::open(&path, IfMissing::Create).unwrap();
    let log = with_suffix(&path, "-wal");
    let before = fs::read(&log).unwrap();
    fs::remove_file(&log).unwrap();
    assert!(writer.file_identity().check().is_err());
    assert!(!log.exists());
    writer.file_identity().confirm(&writer.lock()).unwrap();
    assert_eq!(fs::read(&log).unwrap(), before);
    // The symbolic link leads to another file from now on.
    assert!(writer.file_identity().check().is_err());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
}

#[test]
#[cfg(target_os = "linux")]
fn an_empty_file_in_place_of_the_log_gives_way_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    let writer = Writer::open(&path, IfMissing::Create).unwrap();
    let log = with_suffix(&path, "-wal");
    let before = fs::read(&log).unwrap();
    fs::remove_file(&log).unwrap();
    fs::write(&log, "").unwrap();
    assert!(writer.file_identity().check().is_err());
    writer.file_identity().confirm(&writer.lock()).unwrap();
    assert_eq!(fs::read(&log).unwrap(), before);
    // Others go on with it and copy it into the database, which must not be undone.
    let other = Connection::open(&path).unwrap();
    other.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    assert_eq!(fs::metadata(&log).unwrap().len(), 0);
    assert!(writer.file_identity().confirm(&writer.lock()).is_err());
    drop(writer);
    assert_eq!(fs::metadata(&log).unwrap().len(), 0);
}

#[test]
#[cfg(target_os = "linux")]
fn a_log_that_lost_its_name_with_its_index_is_kept_under_another() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    let writer = Writer::open(&path, IfMissing::Create).unwrap();
    let [log, index, kept] = ["-wal", "-shm", "-wal.kept"].map(|it| with_suffix(&path, it));
    let before = fs::read(&log).unwrap();
    for file in [&log, &index] {
        fs::remove_file(file).unwrap();
        fs::write(file, "").unwrap();
    }
    drop(writer);
    assert_eq!(fs::metadata(&log).unwrap().len(), 0);
    assert_eq!(fs::read(&kept).unwrap(), before);
}

#[test]
#[cfg(target_os = "linux")]
fn a_database_in_place_of_another_is_not_read_with_its_log() {
    let dir = tempfile::tempdir().unwrap();
    let [path, other] = ["memory.db", "other.db"].map(|it| dir.path().join(it));
    let attend = |path: &Path, ms: i64| {
        let writer = Writer::open(path, IfMissing::Create).unwrap();
        writer.lock().execute("UPDATE memory SET attended = ?1", [ms]).unwrap();
        writer
    };
    drop(attend(&other, 7));
    let writer = attend(&path, 5);
    let [log, kept] = ["-wal", "-wal.kept"].map(|it| with_suffix(&path, it));
    let held = fs::read(&log).unwrap();
    fs::rename(&other, &path).unwrap();
    assert!(matches!(writer.file_identity().check(), Err(StoreError::Moved { .. })));
    drop(writer);
    assert_eq!((log.exists(), fs::read(&kept).unwrap()), (false, held));
    let conn = Writer::open(&path, IfMissing::Refuse).unwrap();
    let attended = conn.lock().query_row("SELECT attended FROM memory", [], |row| row.get(0));
    assert_eq!(attended, Ok(7));
}

#[test]
fn a_copy_in_place_of_a_database_keeps_its_log() {
    let dir = tempfile::tempdir().unwrap();
    let [path, copy] = ["memory.db", "copy.db"].map(|it| dir.path().join(it));
    let writer = Writer::open(&path, IfMissing::Create).unwrap();
    writer.lock().execute_batch("UPDATE memory SET attended = 5").unwrap();
    fs::copy(&path, &copy).unwrap();
    fs::rename(&copy, &path).unwrap();
    drop(writer);
    let conn = Writer::open(&path, IfMissing::Refuse).unwrap();
    let attended = conn.lock().query_row("SELECT attended FROM memory", [], |row| row.get(0));
    assert_eq!(attended, Ok(5));
}

/// Opens a memory, replaces its log and the index, and closes it; returns what the log held.
#[cfg(target_os = "linux")]
fn log_of_a_memory_whose_log_was_replaced(path: &Path) -> Vec<u8> {
    let writer = Writer::open(path, IfMissing::Create).unwrap();
    writer.lock().execute_batch("UPDATE memory SET attended = attended + 1").unwrap();
    let [log, index] = ["-wal", "-shm"].map(|it| with_suffix(path, it));
    let held = fs::read(&log).unwrap();
    for file in [&log, &index] {
        fs::remove_file(file).unwrap();
        fs::write(file, "").unwrap();
    }
    drop(writer);
    fs::remove_file(&log).unwrap();
    fs::remove_file(&index).unwrap();
    held
}

#[test]
#[cfg(target_os = "linux")]
fn each_log_that_was_replaced_is_kept_under_a_name_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    drop(Writer::open(&path, IfMissing::Create).unwrap());
    let names = ["-wal.kept", "-wal.kept-2", "-wal.kept-3"].map(|it| with_suffix(&path, it));
    fs::write(&names[1], "a file of somebody else").unwrap();
    let held = [(); 2].map(|()| log_of_a_memory_whose_log_was_replaced(&path));
    assert_ne!(held[0], held[1]);
    assert_eq!(fs::read(&names[0]).unwrap(), held[0]);
    assert_eq!(fs::read_to_string(&names[1]).unwrap(), "a file of somebody else");
    assert_eq!(fs::read(&names[2]).unwrap(), held[1]);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 4, "and no draft is left");
}

#[test]
#[cfg(target_os = "linux")]
fn the_draft_of_another_process_is_no_kept_log() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    let others = ["-wal.kept.draft", "-wal.kept.1-0.draft"].map(|it| with_suffix(&path, it));
    for draft in &others {
        fs::write(draft, "the half of a log").unwrap();
    }
    let held = log_of_a_memory_whose_log_was_replaced(&path);
    assert_eq!(fs::read(with_suffix(&path, "-wal.kept")).unwrap(), held);
    for draft in &others {
        assert_eq!(fs::read_to_string(draft).unwrap(), "the half of a log");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn who_keep_one_log_at_the_same_time_leave_one_whole_copy() {
    const KEEPERS: usize = 8;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    let writers = [(); KEEPERS].map(|()| Writer::open(&path, IfMissing::Create).unwrap());
    writers[0].lock().execute_batch("UPDATE memory SET attended = attended + 1").unwrap();
    let [log, index] = ["-wal", "-shm"].map(|it| with_suffix(&path, it));
    let held = fs::read(&log).unwrap();
    for file in [&log, &index] {
        fs::remove_file(file).unwrap();
        fs::write(file, "").unwrap();
    }
    let start = std::sync::Barrier::new(KEEPERS);
    std::thread::scope(|scope| {
        for writer in &writers {
            scope.spawn(|| {
                start.wait();
                writer.file_identity().keep_replaced_log();
            });
        }
    });
    assert_eq!(fs::read(with_suffix(&path, "-wal.kept")).unwrap(), held);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 4, "one copy, and no draft");
}

#[test]
#[cfg(unix)]
fn a_symbolic_link_in_place_of_the_log_is_another_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    let writer = Writer::open(&path, IfMissing::Create).unwrap();
    let (log, aside) = (with_suffix(&path, "-wal"), dir.path().join("aside"));
    fs::rename(&log, &aside).unwrap();
    std::os::unix::fs::symlink(&aside, &log).unwrap();
    let error = writer.file_identity().check_locked().unwrap_err();
    assert!(matches!(error, StoreError::Moved { .. }), "{error}");
    drop(writer);
    assert!(log.is_symlink() && aside.exists());
}

#[test]
#[cfg(unix)]
fn a_database_that_is_moved_away_and_linked_back_is_another_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    let writer = Writer::open(&path, IfMissing::Create).unwrap();
    let moved = dir.path().join("moved.db");
    fs::rename(&path, &moved).unwrap();
    std::os::unix::fs::symlink(&moved, &path).unwrap();
    // Who opens it by the link looks for the log beside the file.
    let error = writer.file_identity().check_locked().unwrap_err();
    assert!(matches!(error, StoreError::Moved { .. }), "{error}");
    fs::rename(&moved, &path).unwrap();
    writer.file_identity().check_locked().unwrap();
}

#[test]
fn a_name_that_another_file_has_is_left_alone() {
    for ending in ["", "-wal", "-shm"] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("memory.db");
        let writer = Writer::open(&path, IfMissing::Create).unwrap();
        let name = with_suffix(&path, ending);
        fs::rename(&name, dir.path().join("aside")).unwrap();
        fs::write(&name, "another").unwrap();
        let error = writer.file_identity().confirm(&writer.lock()).unwrap_err();
        assert!(matches!(error, StoreError::Unkept { .. }), "{error}");
        drop(writer);
        assert_eq!(fs::read_to_string(&name).unwrap(), "another");
        if !ending.is_empty() {
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 4, "nothing was removed");
        }
    }
}
