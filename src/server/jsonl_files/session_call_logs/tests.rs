use std::fs;
use std::os::unix::fs::symlink;

use expect_test::expect;
use serde_json::json;

use super::*;

const BOTH: JsonlLogFileSettings = JsonlLogFileSettings { enabled: true, max_file_size: 400 };

fn record(n: i64) -> SessionLogRecord {
    SessionLogRecord::new(
        &format!("mcp call tool=MemoryTree elapsed_ms={n}"),
        "DEBUG",
        UnixMillis(n),
    )
}

#[test]
fn a_record_is_read_back_unchanged() {
    let home = tempfile::tempdir().unwrap();
    let logs = SessionLogs::new(Some(home.path()), &BOTH);
    assert_eq!((logs.index().unwrap(), logs.read("a").unwrap()), (vec![], None));
    let plain = SessionLogRecord::new("odd", "WARN", UnixMillis(1));
    for record in [&record(1500), &plain] {
        logs.append("a", record).unwrap();
    }
    let text = fs::read_to_string(home.path().join(".remindb/logs/a.log")).unwrap();
    expect![[r#"
        {"time":"1970-01-01T00:00:01.5Z","level":"DEBUG","msg":"mcp call","fields":{"tool":"MemoryTree","elapsed_ms":1500}}
        {"time":"1970-01-01T00:00:00.001Z","level":"WARN","msg":"odd"}
    "#]]
    .assert_eq(&text);
    fs::write(home.path().join(".remindb/logs/a.log"), text + "cut o").unwrap();
    let log = logs.read("a").unwrap().unwrap();
    assert_eq!(log.entries, [record(1500), plain]);
    assert_eq!(json!(log)["session_id"], "a");
}

#[test]
fn a_full_log_is_rotated_once_and_marked_in_the_index() {
    let home = tempfile::tempdir().unwrap();
    let logs = SessionLogs::new(Some(home.path()), &BOTH);
    (0..12).for_each(|n| logs.append("a", &record(n)).unwrap());
    logs.append("b", &record(0)).unwrap();
    let folder = home.path().join(".remindb/logs");
    fs::create_dir(folder.join("folder.log")).unwrap();
    fs::write(folder.join("notes.txt"), "").unwrap();
    symlink("/etc/passwd", folder.join("link.log")).unwrap();
    let index = logs.index().unwrap();
    let index: Vec<_> = index.iter().map(|it| (it.session_id.as_str(), it.rotated)).collect();
    assert_eq!(index, [("a", true), ("b", false)]);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 6);
    for id in ["", "*", "..", "../config", "a.log", "a.log.1", "folder", "link", "c"] {
        assert!(!matches!(logs.read(id), Ok(Some(_))), "{id}");
    }
}

#[test]
fn no_id_leaves_the_folder() {
    assert_eq!(slug("k7f3-A_9.c"), "k7f3-A_9.c");
    assert_eq!(slug("../../é\0"), "..-..---");
    assert_eq!((slug(""), slug(&"x".repeat(99)).len()), ("session".to_owned(), 64));
}

#[test]
fn disabled_logs_write_nothing() {
    let home = tempfile::tempdir().unwrap();
    SessionLogs::new(Some(home.path()), &JsonlLogFileSettings::default())
        .append("a", &record(1))
        .unwrap();
    SessionLogs::new(None, &BOTH).append("a", &record(1)).unwrap();
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn the_oldest_logs_are_pruned() {
    let home = tempfile::tempdir().unwrap();
    let logs = SessionLogs::new(Some(home.path()), &BOTH);
    let name = |n: usize| format!("{n:011}");
    let path = |name: &str| home.path().join(".remindb/logs").join(name);
    for n in 0..LOGS_MAX + 2 {
        logs.append(&name(n), &record(1)).unwrap();
        let at = UNIX_EPOCH + std::time::Duration::from_secs(n as u64);
        fs::File::open(path(&format!("{}.log", name(n)))).unwrap().set_modified(at).unwrap();
    }
    fs::write(path(&format!("{}.log.1", name(0))), "").unwrap();
    logs.append("mine", &record(1)).unwrap();
    logs.prune().unwrap();
    let left = logs.index().unwrap();
    assert_eq!(left.len(), LOGS_MAX + 1);
    assert_eq!(
        (left[0].session_id.as_str(), left.last().unwrap().session_id.as_str()),
        (&*name(2), "mine")
    );
    assert!(!path(&format!("{}.log.1", name(0))).exists());
}

#[test]
fn no_log_of_another_folder_is_pruned_through_a_link() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join(".remindb")).unwrap();
    fs::create_dir(home.path().join("theirs")).unwrap();
    symlink("../theirs", home.path().join(".remindb/logs")).unwrap();
    for nth in 0..LOGS_MAX + 5 {
        fs::write(home.path().join(format!("theirs/{nth:011}.log")), "").unwrap();
    }
    let error = SessionLogs::new(Some(home.path()), &BOTH).prune().unwrap_err().to_string();
    assert!(error.ends_with(".remindb/logs` is not used: it is a link or no folder"), "{error}");
    assert_eq!(fs::read_dir(home.path().join("theirs")).unwrap().count(), LOGS_MAX + 5);
}
