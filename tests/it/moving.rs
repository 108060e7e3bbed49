//! Tests transfers of whole memories through the program.
//!
//! A transferred memory equals its source, and no existing one is ever lost.

mod busy;
mod forced;
mod markdown;
mod secrets;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use expect_test::expect;
use serde_json::json;

use super::random_cases::Dice;
use super::support::{Client, Folder, Ran, finish};

/// Returns a folder with a memory of two snapshots, the second of which replaced text.
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

/// Returns the output of a run, without times and fingerprints.
fn transcript(ran: &Ran) -> String {
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
    .assert_eq(&transcript(&ran));
    assert_eq!(mode(&folder.path("b.db")), 0o600);
    folder.assert_healthy("b.db");
    let before = fs::read(folder.path("b.db")).unwrap();
    folder.check_session(expect![[r#"
        $ backup b.db --db m.db
        ! remindb: `b.db` exists; name another file, or move it away
        = 2
    "#]]);
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
    .assert_eq(&transcript(&ran));
    let is_draft = |name: &String| name.ends_with(".draft");
    assert!(!folder.names().iter().any(is_draft), "{:?}", folder.names());
}

#[test]
fn a_backup_over_its_own_memory_is_refused() {
    let folder = memory();
    folder.check_session(expect![[r#"
        $ backup m.db --force --db m.db
        ! remindb: `m.db` cannot be both source and destination
        = 2
    "#]]);
    folder.assert_healthy("m.db");
}

#[test]
fn nothing_is_written_over_a_part_of_a_memory() {
    let folder = memory();
    let mut server = Client::legacy(&folder, &["--db", "m.db"]);
    server.text("MemoryWrite", json!({"payload": "In the log."}));
    drop(server.kill());
    for command in ["backup", "export"] {
        for part in ["m.db-wal", "m.db-journal"] {
            let ran = folder.run([command, part, "--force", "--db", "m.db"]);
            assert_eq!(ran.code, Some(2), "{command} {part}");
            assert_eq!(
                ran.stderr,
                format!("remindb: `{part}` is a part of the database `m.db`; name another file\n")
            );
        }
    }
    assert!(folder.ok(["search", "log", "--db", "m.db"]).contains("In the log."));
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
    .assert_eq(&transcript(&ran));
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
    assert_eq!(folder.facts(safety)["nodes"], folder.facts("m.db")["nodes"]);
}

/// A client that has seen a snapshot's number must not be led to another one by it.
#[test]
fn no_number_comes_again_after_a_restore() {
    let folder = memory();
    folder.ok(["backup", "b.db", "--db", "m.db"]);
    let head = || folder.facts("m.db")["head"]["id"].as_i64().unwrap();
    let write = |text: &str| drop(folder.ok(["write", text, "--db", "m.db"]));
    let restore = || drop(folder.ok(["restore", "b.db", "--db", "m.db"]));
    (0..3).for_each(|it| write(&format!("Text {it}.")));
    let last = head();
    restore();
    assert_eq!(head(), last - 3);
    write("Another text.");
    assert_eq!(head(), last + 1);
    restore();
    write("A third one.");
    assert_eq!(head(), last + 2);
    folder.assert_healthy("m.db");
}

#[test]
fn a_damaged_backup_is_not_restored() {
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

/// A kill while a damaged memory is moved aside leaves it with two names, and its log beside one.
#[test]
#[cfg(unix)]
fn an_interrupted_restore_of_a_damaged_memory_is_completed_by_the_next_one() {
    const ASIDE: &str = "m.db.20260102T030405Z-1.damaged";
    let folder = memory();
    folder.ok(["backup", "b.db", "--db", "m.db"]);
    let bytes = fs::read(folder.path("m.db")).unwrap();
    for log in [Some("m.db"), Some(ASIDE), None] {
        fs::write(folder.path("m.db"), [&bytes[..4096], &[7; 8192]].concat()).unwrap();
        fs::hard_link(folder.path("m.db"), folder.path(ASIDE)).unwrap();
        if let Some(name) = log {
            folder.write(format!("{name}-wal"), "the log");
        }
        let says = format!(
            "`m.db` has the name `DIR/{ASIDE}`, too: a restore is moving it aside, or was \
             interrupted; where none is running, `remindb restore BACKUP --db m.db` completes it"
        );
        for command in ["search x", "doctor", "write x", "gc", "salvage m.db --out n.db"] {
            let db = if command.contains("out") { "" } else { " --db m.db" };
            let ran = folder.run(format!("{command}{db}").split(' '));
            let is_said = ran.stderr.contains(&says);
            assert!(ran.code == Some(2) && is_said, "{command}: {}", ran.transcript());
        }
        let ran = folder.run(["search", "x", "--db", ASIDE]);
        assert!(ran.stderr.contains("/m.db` completes it"), "{}", ran.transcript());
        assert_eq!(folder.run(["restore", "b.db", "--db", ASIDE]).code, Some(2));
        let ran = folder.run(["restore", "b.db", "--db", "m.db"]);
        assert_eq!(ran.code, Some(0), "{}", ran.transcript());
        let kept = format!("kept what was there: DIR/{ASIDE}\n");
        assert!(ran.stdout.starts_with(&kept), "{}", ran.stdout);
        folder.assert_healthy("m.db");
        assert_eq!(fs::read(folder.path(ASIDE)).unwrap()[4096..], [7; 8192]);
        if log.is_some() {
            let log = folder.path(format!("{ASIDE}-wal"));
            assert_eq!(fs::read(&log).unwrap(), b"the log");
            fs::remove_file(log).unwrap();
        }
        fs::remove_file(folder.path(ASIDE)).unwrap();
    }
}

/// Another log than that of the memory is never replaced, and the memory waits until it is gone.
#[test]
#[cfg(unix)]
fn a_restore_that_fails_while_it_moves_a_damaged_memory_says_what_completes_it() {
    const ASIDE: &str = "m.db.20260102T030405Z.damaged";
    let folder = memory();
    folder.ok(["backup", "b.db", "--db", "m.db"]);
    fs::hard_link(folder.path("m.db"), folder.path(ASIDE)).unwrap();
    let [one, two] = ["m.db-wal".to_owned(), format!("{ASIDE}-wal")];
    folder.write(&one, "one");
    folder.write(&two, "two");
    let ran = folder.run(["restore", "b.db", "--db", "m.db"]);
    assert_eq!(
        ran.transcript(),
        "! remindb: cannot set aside `m.db-wal`: File exists (os error 17); nothing was restored: \
         `remindb restore BACKUP --db m.db` again completes it\n= 2\n"
    );
    assert_eq!([one, two].map(|it| fs::read(folder.path(it)).unwrap()), [b"one", b"two"]);
    fs::remove_file(folder.path(format!("{ASIDE}-wal"))).unwrap();
    folder.ok(["restore", "b.db", "--db", "m.db"]);
    folder.assert_healthy("m.db");
}

/// The copy of the memory has its name before the pages of the backup are written.
#[test]
fn a_restore_for_which_there_is_no_room_leaves_no_copy() {
    let folder = memory();
    let small = folder.names();
    folder.ok(["backup", "b.db", "--db", "m.db"]);
    let n_bytes = fs::metadata(folder.path("b.db")).unwrap().len();
    let before = folder.facts("m.db");
    // Room for each file, but not for a log of all pages, whose frames have heads.
    let line = format!(
        "ulimit -f {}; exec '{}' restore b.db --db m.db",
        n_bytes.div_ceil(512),
        env!("CARGO_BIN_EXE_remindb")
    );
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &line]).current_dir(folder.path("")).stdin(std::process::Stdio::null());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let ran = Ran::of(&folder, &mut command);
    assert_eq!(ran.code, Some(2), "{}", ran.transcript());
    let is_copied = ran.stderr.contains("cannot copy pages") && ran.stderr.contains("nothing was");
    assert!(is_copied && !ran.stderr.contains("a copy"), "{}", ran.stderr);
    let is_log = |it: &String| it.ends_with("-wal") || it.ends_with("-shm");
    let names: Vec<String> = folder.names().into_iter().filter(|it| !is_log(it)).collect();
    assert_eq!(names, [&["b.db".to_owned()], &small[..]].concat());
    assert_eq!(folder.facts("m.db"), before);
}

#[test]
fn an_export_and_its_import_are_the_same_memory() {
    let folder = memory();
    folder.ok(["search", "writes", "--db", "m.db"]);
    let heat = "
        INSERT OR REPLACE INTO heat (node, temperature, at, pinned, accessed_at)
        VALUES (2, 0.1 + 0.2, 0, 1, 7)";
    folder.database("m.db").execute(heat, []).unwrap();
    folder.ok(["export", "a.jsonl", "--db", "m.db"]);
    assert_eq!(mode(&folder.path("a.jsonl")), 0o600);
    let ran = folder.run(["import", "a.jsonl", "--db", "n.db"]);
    assert!(ran.stdout.starts_with("imported: 3 nodes"), "{}", ran.transcript());
    assert_eq!(mode(&folder.path("n.db")), 0o600);
    folder.assert_healthy("n.db");
    assert_eq!(folder.ok(["export", "--db", "n.db"]), folder.ok(["export", "-", "--db", "m.db"]));
    assert_eq!(folder.facts("n.db")["head"], folder.facts("m.db")["head"]);
    // The export has the rows of files: nothing is read again.
    folder.check_session(expect![[r#"
        $ compile notes --db n.db
        compiled: 0 added, 0 modified, 0 removed (0 ops)
        = 0
    "#]]);
}

#[test]
fn an_import_goes_into_an_empty_memory_only() {
    let folder = memory();
    folder.ok(["export", "a.jsonl", "--db", "m.db"]);
    folder.check_session(expect![[r#"
        $ import a.jsonl --db m.db
        ! remindb: `m.db` holds a memory of 3 nodes; name a new database with --db, or move it away
        = 2
    "#]]);
    // A server of an empty memory may have it open.
    folder.write("empty/.keep", "");
    let empty = folder.path("empty").display().to_string();
    let mut server = Client::legacy(&folder, &["--db", "n.db", "--source", &empty]);
    server.text("MemoryStats", json!({}));
    let ran = folder.run(["import", "a.jsonl", "--db", "n.db"]);
    assert_eq!(ran.code, Some(0), "{}", ran.transcript());
    let found = server.text("MemorySearch", json!({"query": "writes"}));
    assert!(found.contains("One writes"), "{found}");
    server.end();
    folder.assert_healthy("n.db");
}

#[test]
fn a_backup_while_others_write_is_one_state_of_them() {
    let folder = memory();
    let conn = rusqlite::Connection::open(folder.path("m.db")).unwrap();
    conn.busy_timeout(super::support::TIMEOUT).unwrap();
    conn.pragma_update(None, "wal_autocheckpoint", 5).unwrap();
    let add = "INSERT INTO heat (node, temperature, at) SELECT key, 0.5, 0 FROM node";
    assert!(conn.execute(add, []).unwrap() > 1, "the first backup has two rows to compare");
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let writer = std::thread::Builder::new().spawn(move || {
        let mut n = 0;
        // The writer always changes both rows together.
        while stopped.try_recv().is_err() {
            n += 1;
            let sql = format!(
                "BEGIN IMMEDIATE; UPDATE heat SET access_count = {n} WHERE node = 1;
                 UPDATE heat SET access_count = {n} WHERE node = 2; COMMIT"
            );
            conn.execute_batch(&sql).unwrap();
        }
    });
    for nth in 0..3 {
        let name = format!("b{nth}.db");
        folder.ok(["backup", &name, "--db", "m.db"]);
        let counts = "SELECT count(DISTINCT access_count) FROM heat WHERE node < 3";
        let n: i64 = folder.database(&name).query_row(counts, [], |row| row.get(0)).unwrap();
        assert_eq!(n, 1, "{name} is a mix");
        folder.assert_healthy(&name);
    }
    stop.send(()).unwrap();
    writer.unwrap().join().unwrap();
}

/// An unfinished copy holds what a collection is about to forget.
#[test]
fn a_copy_that_a_kill_left_goes_with_the_next_collection() {
    for choice in ["--backup", "--no-backup"] {
        let folder = memory();
        folder.write("notes/b.md", "# Later\n\nMore.\n");
        folder.ok(["compile", "notes", "--db", "m.db"]);
        folder.write(".m.db.before.0.draft", "What is forgotten.");
        folder.ok(["gc", "--keep", "1", choice, "--db", "m.db"]);
        let is_draft = |name: &String| name.ends_with(".draft");
        assert!(!folder.names().iter().any(is_draft), "{choice}: {:?}", folder.names());
    }
}

#[test]
fn a_restore_that_is_killed_leaves_the_old_state_or_the_new() {
    let folder = memory();
    folder.ok(["backup", "b.db", "--db", "m.db"]);
    let old = folder.facts("b.db")["head"]["id"].clone();
    folder.write("notes/b.md", "# Later\n\nMore.\n");
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let new = folder.facts("m.db")["head"]["id"].clone();
    assert_ne!(old, new);
    let mut dice = Dice::new(7);
    for _ in 0..12 {
        let child = folder.command(["restore", "b.db", "--db", "m.db"]).spawn().unwrap();
        let pid = child.id();
        // Spins for a random time, so that the kill comes at any instant.
        let mut sum = 0_u64;
        for nth in 0..dice.below(20_000_000) as u64 {
            sum = std::hint::black_box(sum.wrapping_add(nth));
        }
        let _ = std::process::Command::new("kill").args(["-s", "KILL", &pid.to_string()]).output();
        finish(child);
        folder.assert_healthy("m.db");
        let n_drafts = folder.names().iter().filter(|it| it.ends_with(".draft")).count();
        assert!(n_drafts < 3, "what a kill leaves piles up: {:?}", folder.names());
        let now = folder.facts("m.db")["head"]["id"].clone();
        assert!(now == old || now == new, "{now}");
    }
}

#[test]
fn a_full_disk_is_an_error_and_leaves_the_old_state() {
    let folder = memory();
    folder.ok(["backup", "b.db", "--db", "m.db"]);
    folder.ok(["export", "a.jsonl", "--db", "m.db"]);
    let before = (folder.names(), folder.facts("m.db"));
    let program = env!("CARGO_BIN_EXE_remindb");
    for args in [
        "backup c.db --db m.db",
        "restore b.db --db m.db",
        "import a.jsonl --db c.db",
        "doctor --fix --db b.db",
    ] {
        if args.starts_with("doctor") {
            folder.database("b.db").execute("UPDATE memory SET fingerprint = 5", []).unwrap();
        }
        // The limit is in units of 512 or 1024 bytes: less than any of these files.
        let line = format!("ulimit -f 60; exec '{program}' {args}");
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &line]).current_dir(folder.path("")).stdin(std::process::Stdio::null());
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let ran = Ran::of(&folder, &mut command);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{args}: {}", ran.stderr);
        assert!(ran.stderr.contains("cannot") || ran.stderr.contains("full"), "{}", ran.stderr);
    }
    let is_ours = |it: &String| !it.ends_with("-wal") && !it.ends_with("-shm");
    let names = |names: Vec<String>| names.into_iter().filter(is_ours).collect::<Vec<_>>();
    assert_eq!(names(folder.names()), names(before.0));
    folder.assert_healthy("m.db");
    assert_eq!(folder.facts("m.db")["head"], before.1["head"]);
}
