//! Tests commands that read a whole memory while another process writes all the time.

use serde_json::json;

use super::memory;
use crate::support::{Client, Folder};

/// Runs `body` while a server writes one text after the other; returns the number of writes.
fn while_writing(folder: &Folder, body: impl FnOnce()) -> usize {
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let writer = scope.spawn(move || {
            let mut client = Client::legacy(folder, &["--db", "m.db"]);
            let mut n = 0;
            while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
                n += 1;
                let payload = format!("# Heading {n}\n\nText {n} of many words.");
                client.text("MemoryWrite", json!({"payload": payload}));
            }
            client.end();
            n
        });
        body();
        drop(stop);
        writer.join().unwrap()
    })
}

#[test]
fn copies_and_examinations_are_of_one_state() {
    let folder = memory();
    let n_writes = while_writing(&folder, || {
        for nth in 0..8 {
            folder.ok(["backup", &format!("b{nth}.db"), "--db", "m.db"]);
            folder.ok(["doctor", "--db", "m.db"]);
            folder.ok(["export", &format!("e{nth}.jsonl"), "--db", "m.db"]);
            let redacted = folder.ok(["redact", "--db", "m.db"]);
            assert_eq!(redacted, "no secret was found; nothing is left in the file\n");
        }
    });
    assert!(8 < n_writes, "{n_writes}");
    for nth in 0..8 {
        folder.assert_healthy(&format!("b{nth}.db"));
        let (export, db) = (format!("e{nth}.jsonl"), format!("e{nth}.db"));
        folder.ok(["import", &export, "--db", &db]);
        folder.assert_healthy(&db);
    }
    folder.assert_healthy("m.db");
}

/// Waits for both commands at once, as long as each waits.
#[test]
#[cfg(target_os = "linux")]
fn whoever_is_in_the_way_is_named() {
    let folder = memory();
    folder.ok(["backup", "b.db", "--db", "m.db"]);
    folder.ok(["backup", "r.db", "--db", "m.db"]);
    folder.ok(["write", "Words in the log.", "--db", "r.db"]);
    let (writer, reader) = (folder.database("m.db"), folder.database("r.db"));
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    reader.execute_batch("PRAGMA journal_mode = WAL; BEGIN; SELECT count(*) FROM node").unwrap();
    let (restored, redacted) = std::thread::scope(|scope| {
        let restore = scope.spawn(|| folder.run(["restore", "b.db", "--db", "m.db"]));
        let redact = scope.spawn(|| folder.run(["redact", "--db", "r.db"]));
        (restore.join().unwrap(), redact.join().unwrap())
    });
    let me = format!("process {} (`", std::process::id());
    assert_eq!(restored.code, Some(2));
    let error = restored.stderr;
    assert!(error.contains(&me) && error.contains("has been writing for a long time"), "{error}");
    assert_eq!(redacted.code, Some(1), "{}", redacted.transcript());
    let left = "no secret was found; this is left to do:\n✗ the write-ahead log could not be \
                emptied, since process ";
    assert!(redacted.stdout.starts_with(left), "{}", redacted.stdout);
    assert!(redacted.stdout.contains(&me), "{}", redacted.stdout);
}

#[test]
fn a_safety_copy_is_made_while_others_write() {
    let folder = memory();
    folder.ok(["backup", "b.db", "--db", "m.db"]);
    while_writing(&folder, || {
        for _ in 0..3 {
            folder.ok(["restore", "b.db", "--db", "m.db"]);
            // The name of the next copy has another second.
            let is_copy = |it: &String| it.ends_with(".before-restore");
            for copy in folder.names().into_iter().filter(is_copy) {
                folder.assert_healthy(&copy);
                std::fs::remove_file(folder.path(&copy)).unwrap();
            }
        }
    });
    folder.assert_healthy("m.db");
}
