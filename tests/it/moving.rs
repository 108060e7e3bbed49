//! Whole memories on the move, through the program: what arrives is what left, and what was there is
//! never lost.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use expect_test::expect;
use serde_json::json;

use super::support::{Client, Folder, Ran};

/// A folder with a memory of two snapshots, the second of which replaced text.
fn memory() -> Folder {
    let folder = Folder::new().file("notes/a.md", "# Store\n\nOne writes, `many` read.\n\n- x\n");
    folder.ok(["compile", "notes", "--db", "m.db"]);
    folder.write("notes/a.md", "# Store\n\nOne writes, many read, none waits.\n\n- x\n");
    folder.ok(["compile", "notes", "--db", "m.db"]);
    folder
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// What a run said, without times and numbers of states.
fn said(ran: &Ran) -> String {
    let text = ran.transcript();
    let mut words: Vec<String> = Vec::new();
    for line in text.lines() {
        let words_of_line: Vec<&str> = line.split(' ').collect();
        let plain = words_of_line.iter().enumerate().map(|(idx, word)| {
            let is_state = 0 < idx && words_of_line[idx - 1] == "state";
            let is_stamped = word.starts_with("m.db.2");
            match word {
                _ if is_state => "STATE,".to_owned(),
                word if is_stamped => {
                    format!("m.db.TIME.{}", word.rsplit('.').next().unwrap())
                }
                word => (*word).to_owned(),
            }
        });
        words.push(plain.collect::<Vec<_>>().join(" "));
    }
    words.join("\n") + "\n"
}

#[test]
fn a_backup_is_one_private_file_and_replaces_nothing() {
    let folder = memory();
    let ran = folder.run(["backup", "b.db", "--db", "m.db"]);
    expect![[r#"
        backed up: 3 nodes, state STATE, to b.db
        = 0
    "#]]
    .assert_eq(&said(&ran));
    assert_eq!(mode(&folder.path("b.db")), 0o600);
    folder.assert_healthy("b.db");
    let before = fs::read(folder.path("b.db")).unwrap();
    folder.check(
        "backup b.db --db m.db",
        expect![[r#"
            ! remindb: `b.db` exists; name another file, or move it away
            = 2
        "#]],
    );
    assert!(fs::read(folder.path("b.db")).unwrap() == before);
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(folder.path(format!("b.db{suffix}")));
    }
    folder.ok(["backup", "b.db", "--force", "--db", "m.db"]);
    let ran = folder.run(["backup", "--db", "m.db"]);
    expect![[r#"
        backed up: 3 nodes, state STATE, to m.db.TIME.backup
        = 0
    "#]]
    .assert_eq(&said(&ran));
    let is_draft = |name: &String| name.ends_with(".draft");
    assert!(!folder.names().iter().any(is_draft), "{:?}", folder.names());
}

#[test]
fn a_backup_over_its_own_memory_is_refused() {
    let folder = memory();
    folder.check(
        "backup m.db --force --db m.db",
        expect![[r#"
            ! remindb: `m.db` cannot be both source and destination
            = 2
        "#]],
    );
    folder.assert_healthy("m.db");
}

#[test]
fn a_server_goes_on_with_what_was_restored() {
    let folder = memory();
    folder.ok(["backup", "b.db", "--db", "m.db"]);
    let mut server = Client::legacy(&folder, &["--db", "m.db"]);
    folder.write("notes/later.md", "# Zanzibar\n");
    let notes = folder.path("notes").display().to_string();
    server.text("MemoryCompile", json!({"path": notes}));
    let found = server.text("MemorySearch", json!({"query": "zanzibar"}));
    assert!(found.contains("Zanzibar"), "{found}");

    let ran = folder.run(["restore", "b.db", "--db", "m.db"]);
    expect![[r#"
        kept what was there: m.db.TIME.before-restore
        restored: 3 nodes, state STATE, to m.db
        = 0
    "#]]
    .assert_eq(&said(&ran));
    let found = server.text("MemorySearch", json!({"query": "zanzibar"}));
    assert!(!found.contains("Zanzibar"), "{found}");
    server.text("MemoryCompile", json!({"path": notes}));
    let found = server.text("MemorySearch", json!({"query": "zanzibar"}));
    assert!(found.contains("Zanzibar"), "{found}");
    server.end();
    folder.assert_healthy("m.db");

    let names = folder.names();
    let safety = names.iter().find(|it| it.ends_with(".before-restore")).unwrap();
    assert_eq!(mode(&folder.path(safety)), 0o600);
    assert_eq!(folder.facts(safety)["nodes"]["total"], folder.facts("m.db")["nodes"]["total"]);
}

#[test]
fn what_is_no_sound_memory_is_not_restored() {
    let folder = memory().file("tax.txt", "please do not overwrite this");
    let before = folder.facts("m.db");
    for (source, db) in [("none.db", "m.db"), ("tax.txt", "m.db"), ("m.db", "tax.txt")] {
        let ran = folder.run(["restore", source, "--db", db]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{source} {db}");
    }
    assert_eq!(fs::read(folder.path("tax.txt")).unwrap(), b"please do not overwrite this");
    folder.ok(["backup", "b.db", "--db", "m.db"]);
    folder.database("b.db").execute_batch("UPDATE node SET content = 'forged'").unwrap();
    let ran = folder.run(["restore", "b.db", "--db", "m.db"]);
    let what = "`b.db` is not sound: content_hashes";
    assert!(ran.stderr.contains(what) && ran.code == Some(2), "{}", ran.transcript());
    assert_eq!(folder.facts("m.db"), before);
}

#[test]
fn a_damaged_memory_is_moved_aside_for_a_backup() {
    let folder = memory();
    folder.ok(["backup", "b.db", "--db", "m.db"]);
    let mut bytes = fs::read(folder.path("m.db")).unwrap();
    bytes[4096..40_960].fill(0);
    fs::write(folder.path("m.db"), &bytes).unwrap();
    let ran = folder.run(["restore", "b.db", "--db", "m.db"]);
    assert!(ran.stderr.contains("is damaged"), "{}", ran.transcript());
    folder.assert_healthy("m.db");
    let names = folder.names();
    let aside = names.iter().find(|it| it.ends_with(".damaged")).unwrap();
    assert!(fs::read(folder.path(aside)).unwrap() == bytes);
}
