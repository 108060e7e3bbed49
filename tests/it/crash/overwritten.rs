//! Tests other files that were written over those of a memory, as `cp` does it, or left beside a
//! log.

use std::fs;

use serde_json::json;

use crate::support::{Client, Folder};

/// A memory with a backup, and a server that has written since.
fn served() -> (Folder, Client) {
    let folder = Folder::new();
    folder.ok(["write", "In the backup.", "--db", "m.db"]);
    folder.ok(["backup", "backup.db", "--db", "m.db"]);
    let mut client = Client::legacy(&folder, &["--db", "m.db"]);
    client.text("MemoryWrite", json!({"payload": "Since the backup."}));
    (folder, client)
}

fn copy(folder: &Folder, from: &str, to: &str) {
    fs::copy(folder.path(from), folder.path(to)).unwrap();
}

/// Asserts that the memory is sound, and has these texts and no others.
#[track_caller]
fn assert_has(folder: &Folder, db: &str, texts: &[&str]) {
    folder.assert_healthy(db);
    let conn = folder.database(db);
    let mut query = conn.prepare("SELECT content FROM node ORDER BY content").unwrap();
    let found: Vec<String> =
        query.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(found, texts);
}

/// Asserts that the server writes on, also after another process copied the log.
#[track_caller]
fn assert_goes_on(folder: &Folder, mut client: Client) {
    client.text("MemoryWrite", json!({"payload": "After."}));
    folder.database("m.db").execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    client.text("MemoryWrite", json!({"payload": "After a checkpoint."}));
    client.end();
    let texts = ["After a checkpoint.", "After.", "In the backup.", "Since the backup."];
    assert_has(folder, "m.db", &texts);
}

#[test]
fn behind_a_backup_that_was_copied_over_the_database_nothing_is_acknowledged_or_read() {
    let (folder, mut client) = served();
    copy(&folder, "backup.db", "m.db");
    for (tool, args) in [
        ("MemoryWrite", json!({"payload": "After."})),
        ("MemorySearch", json!({"query": "backup"})),
    ] {
        let reply = client.call(tool, args);
        assert!(reply.is_error && reply.text.contains("`m.db` was deleted, replaced"), "{tool}");
    }
    client.end();
    assert_has(&folder, "m.db", &["In the backup."]);
    copy(&folder, "m.db-wal.kept", "look.db-wal");
    assert!(fs::metadata(folder.path("look.db-wal")).unwrap().len() > 0);
}

#[test]
fn a_backup_beside_the_log_that_a_kill_left_is_not_read_with_it() {
    let (folder, client) = served();
    drop(client.kill());
    fs::rename(folder.path("backup.db"), folder.path("m.db")).unwrap();
    copy(&folder, "m.db", "backup.db");
    for args in [["serve"].as_slice(), &["search", "backup"], &["doctor"], &["write", "more"]] {
        let ran = folder.run(args.iter().chain(&["--db", "m.db"]));
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stdout);
        let says = "`m.db` took the place of another file, whose log `";
        assert!(ran.stderr.contains(says), "{args:?}: {}", ran.stderr);
    }
    let salvaged = folder.run(["salvage", "m.db", "--out", "new.db"]);
    let says = "the log: it is that of another file, and was left out";
    assert!(salvaged.stdout.contains(says), "{} {}", salvaged.stdout, salvaged.stderr);
    assert_has(&folder, "new.db", &["In the backup."]);
    folder.ok(["restore", "backup.db", "--db", "m.db"]);
    assert_has(&folder, "m.db", &["In the backup."]);
    // Without the restore, the log is moved away by hand.
    let (folder, client) = served();
    drop(client.kill());
    copy(&folder, "backup.db", "m.db");
    ["-wal", "-shm"]
        .iter()
        .for_each(|it| fs::remove_file(folder.path(format!("m.db{it}"))).unwrap());
    assert_has(&folder, "m.db", &["In the backup."]);
}

/// An older log has frames of a state that is no more.
#[test]
fn behind_a_log_that_another_was_copied_over_nothing_is_acknowledged() {
    let (folder, client) = served();
    copy(&folder, "m.db-wal", "older.log");
    client.end();
    let mut client = Client::legacy(&folder, &["--db", "m.db"]);
    client.text("MemoryWrite", json!({"payload": "It is lost with its log."}));
    copy(&folder, "older.log", "m.db-wal");
    for nth in 0..2 {
        let reply = client.call("MemoryWrite", json!({"payload": format!("After, {nth}.")}));
        assert!(reply.is_error && reply.text.contains("m.db-wal` was deleted"), "{}", reply.text);
    }
    let database = fs::read(folder.path("m.db")).unwrap();
    client.end();
    assert!(fs::read(folder.path("m.db")).unwrap() == database, "nothing was copied into it");
}

/// What was at the name meanwhile is not taken for the database.
#[test]
fn a_database_that_comes_back_after_another_goes_on() {
    let (folder, mut client) = served();
    let [database, aside] = ["m.db", "aside.db"].map(|it| folder.path(it));
    fs::rename(&database, &aside).unwrap();
    copy(&folder, "backup.db", "m.db");
    let reply = client.call("MemoryWrite", json!({"payload": "Meanwhile."}));
    assert!(reply.is_error, "{}", reply.text);
    fs::rename(&aside, &database).unwrap();
    assert_goes_on(&folder, client);
}

/// Whoever sets the time of the file, or copies the log, changes nothing.
#[test]
fn a_database_that_is_touched_goes_on() {
    let (folder, client) = served();
    let database = fs::File::options().write(true).open(folder.path("m.db")).unwrap();
    database.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert_goes_on(&folder, client);
}
