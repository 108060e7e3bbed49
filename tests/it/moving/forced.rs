//! Tests that `--force` replaces regular files, and nothing else.

use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::process::{Command, Stdio};

use expect_test::expect;
use serde_json::json;

use super::memory;
use crate::support::{Client, Folder, finish};

/// Returns a memory beside a named pipe.
fn beside_a_pipe() -> Folder {
    let folder = memory();
    let made = Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap();
    assert!(made.success());
    folder
}

fn is_pipe(folder: &Folder) -> bool {
    fs::symlink_metadata(folder.path("pipe")).unwrap().file_type().is_fifo()
}

#[test]
fn an_export_is_written_into_a_pipe() {
    let folder = beside_a_pipe();
    folder.ok(["export", "plain", "--db", "m.db"]);
    symlink("pipe", folder.path("to-pipe")).unwrap();
    for dest in ["pipe", "to-pipe"] {
        let mut reader = Command::new("cat");
        reader.arg(folder.path("pipe")).stdout(Stdio::piped());
        let reader = reader.spawn().unwrap();
        folder.ok(["export", dest, "--force", "--db", "m.db"]);
        assert!(is_pipe(&folder));
        assert!(finish(reader).stdout == fs::read(folder.path("plain")).unwrap());
    }
}

#[test]
fn an_export_is_written_into_a_device() {
    let folder = memory();
    // A device of our own: a mistake must not cost the machine's.
    let made = Command::new("mknod").arg(folder.path("null")).args(["c", "1", "3"]).output();
    if !made.is_ok_and(|it| it.status.success()) {
        eprintln!("skipped: this user cannot make a device");
        return;
    }
    folder.check_session(expect![[r#"
        $ backup null --force --db m.db
        ! remindb: `null` is no regular file, and no other is replaced; name another
        = 2
    "#]]);
    folder.ok(["export", "null", "--force", "--db", "m.db"]);
    let made = Command::new("mknod").arg(folder.path("full")).args(["c", "1", "7"]).status();
    assert!(made.unwrap().success());
    folder.check_session(expect![[r#"
        $ export full --force --db m.db
        ! remindb: cannot write `full`: No space left on device (os error 28)
        = 2
    "#]]);
    let kind = fs::symlink_metadata(folder.path("null")).unwrap().file_type();
    assert!(kind.is_char_device());
}

#[test]
fn only_regular_files_are_replaced_by_backups() {
    let folder = beside_a_pipe();
    symlink("pipe", folder.path("to-pipe")).unwrap();
    symlink("nothing", folder.path("to-nothing")).unwrap();
    folder.check_session(expect![[r#"
        $ backup pipe --force --db m.db
        ! remindb: `pipe` is no regular file, and no other is replaced; name another
        = 2
        $ backup to-pipe --force --db m.db
        ! remindb: `to-pipe` is no regular file, and no other is replaced; name another
        = 2
    "#]]);
    for command in ["backup", "export"] {
        let ran = folder.run([command, "to-nothing", "--force", "--db", "m.db"]);
        assert_eq!(
            ran.transcript(),
            "! remindb: `to-nothing` is a symbolic link to nothing; name another file, or remove \
             it\n= 2\n"
        );
    }
    assert!(is_pipe(&folder) && !folder.path("nothing").exists());
    // Without --force, nothing at all is changed.
    folder.check_session(expect![[r#"
        $ export pipe --db m.db
        ! remindb: `pipe` exists; name another file, or move it away
        = 2
    "#]]);
}

/// What has the name of a draft stays, and nobody waits for it.
#[test]
fn drafts_are_made_beside_what_has_their_names() {
    let folder = memory().file(".backup.0.draft/kept.md", "It is kept.");
    for name in [".folder.0.draft", ".lines.0.draft"] {
        let made = Command::new("mkfifo").arg(folder.path(name)).status().unwrap();
        assert!(made.success());
    }
    symlink("elsewhere", folder.path(".lines.1.draft")).unwrap();
    folder.ok(["backup", "backup", "--db", "m.db"]);
    folder.ok(["export", "folder", "--format", "markdown", "--db", "m.db"]);
    folder.ok(["export", "lines", "--db", "m.db"]);
    assert_eq!(fs::read_to_string(folder.path(".backup.0.draft/kept.md")).unwrap(), "It is kept.");
    assert!(!folder.path("elsewhere").exists());
    assert!(folder.path(".lines.1.draft").is_symlink());
}

/// Copies of backups by hard links, as rotations make them, are not written to.
#[test]
fn a_backup_of_two_names_is_read() {
    let folder = memory();
    folder.ok(["backup", "b.db", "--db", "m.db"]);
    fs::hard_link(folder.path("b.db"), folder.path("weekly.db")).unwrap();
    let bytes = fs::read(folder.path("b.db")).unwrap();
    folder.ok(["restore", "weekly.db", "--db", "m.db"]);
    folder.ok(["salvage", "b.db", "--out", "s.db"]);
    folder.assert_healthy("b.db");
    assert!(fs::read(folder.path("b.db")).unwrap() == bytes);
    let refused = folder.run(["write", "more", "--db", "b.db"]);
    assert!(refused.stderr.contains("has 2 names (hard links)"), "{}", refused.stderr);
}

#[test]
fn a_symbolic_link_stays_and_its_target_is_replaced() {
    let folder = memory().file("deep/b.db", "old").file("deep/e.jsonl", "old");
    for (link, target) in [("b.db", "deep/b.db"), ("e.jsonl", "deep/e.jsonl")] {
        symlink(target, folder.path(link)).unwrap();
    }
    folder.ok(["backup", "b.db", "--force", "--db", "m.db"]);
    folder.ok(["export", "e.jsonl", "--force", "--db", "m.db"]);
    for (link, target) in [("b.db", "deep/b.db"), ("e.jsonl", "deep/e.jsonl")] {
        assert!(folder.path(link).is_symlink());
        assert!(1_000 < fs::metadata(folder.path(target)).unwrap().len());
    }
    folder.assert_healthy("b.db");
    // A damaged file behind a link is moved aside in its own folder.
    fs::rename(folder.path("m.db"), folder.path("deep/m.db")).unwrap();
    symlink("deep/m.db", folder.path("m.db")).unwrap();
    let mut bytes = fs::read(folder.path("deep/m.db")).unwrap();
    bytes[4096..].fill(7);
    fs::write(folder.path("deep/m.db"), &bytes).unwrap();
    folder.ok(["restore", "b.db", "--db", "m.db"]);
    assert!(folder.path("m.db").is_symlink());
    folder.assert_healthy("deep/m.db");
    let aside: Vec<String> = fs::read_dir(folder.path("deep"))
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .filter(|it| it.ends_with(".damaged"))
        .collect();
    assert_eq!(aside.len(), 1, "{aside:?}");
    assert!(fs::read(folder.path(format!("deep/{}", aside[0]))).unwrap() == bytes);
}

#[test]
fn a_pipe_is_no_memory_and_nobody_waits_for_it() {
    let folder = beside_a_pipe();
    for args in [
        &["search", "x", "--db", "pipe"] as &[&str],
        &["serve", "--db", "pipe"],
        &["backup", "b.db", "--db", "pipe"],
        &["restore", "pipe", "--db", "m.db"],
        &["restore", "m.db", "--db", "pipe"],
        &["salvage", "pipe", "--out", "new.db"],
    ] {
        let ran = folder.run(args);
        let is_told = ran.stderr.contains("`pipe` is a pipe or a device, not a remindb memory");
        assert!(is_told && ran.code == Some(2), "{args:?}: {}", ran.transcript());
    }
    assert!(is_pipe(&folder));
}

#[test]
fn only_regular_files_are_replaced_in_a_folder() {
    let folder = memory();
    let export = ["export", "--format", "agent-memory", "out", "--force", "--db", "m.db"];
    folder.ok(export);
    fs::rename(folder.path("out/tasks.jsonl"), folder.path("elsewhere")).unwrap();
    symlink("../elsewhere", folder.path("out/tasks.jsonl")).unwrap();
    let before = fs::read(folder.path("out/index.json")).unwrap();
    let ran = folder.run(export);
    assert_eq!(ran.code, Some(2));
    let refusal = "`out/tasks.jsonl` is no regular file, and no other is replaced; move it away";
    assert!(ran.stderr.contains(refusal), "{}", ran.stderr);
    assert!(folder.path("out/tasks.jsonl").is_symlink());
    assert_eq!(fs::read(folder.path("out/index.json")).unwrap(), before);
}

#[test]
fn no_export_replaces_its_own_memory_or_has_its_log_moved_away() {
    let folder = Folder::new();
    let mut client = Client::legacy(&folder, &["--db", "m.db"]);
    client.text("MemoryWrite", json!({"payload": "What was acknowledged."}));
    // The log has all of it.
    drop(client.kill());
    symlink("m.db", folder.path("link")).unwrap();
    for dest in ["m.db", "./m.db", "link"] {
        for format in [&[][..], &["--format", "remind"]] {
            let args = ["export", dest, "--force", "--db", "m.db"];
            let ran = folder.run(args.iter().chain(format));
            assert_eq!(ran.stderr, "remindb: `m.db` cannot be both source and destination\n");
            assert_eq!(ran.code, Some(2));
        }
    }
    folder.ok(["write", "Another.", "--db", "n.db"]);
    let ran = folder.run(["export", "m.db", "--force", "--db", "n.db"]);
    let says = "`m.db-wal` belongs to a database that is in use or was not closed, and may hold what \
                was written to it last; name another file";
    assert!(ran.stderr.contains(says), "{}", ran.stderr);
    assert!(folder.ok(["search", "acknowledged", "--db", "m.db"]).contains("What was ack"));
    fs::create_dir(folder.path("memories")).unwrap();
    fs::rename(folder.path("n.db"), folder.path("memories/tasks.jsonl")).unwrap();
    let own = "memories/tasks.jsonl";
    let ran =
        folder.run(["export", "--format", "agent-memory", "memories", "--force", "--db", own]);
    let says = format!("remindb: `{own}` cannot be both source and destination\n");
    assert_eq!((ran.code, ran.stderr), (Some(2), says));
    folder.assert_healthy(own);
}

#[test]
fn nothing_behind_a_link_among_exported_memories_is_removed() {
    for link in ["memories/archive", "memories/archive/2025"] {
        let folder = Folder::new()
            .file("elsewhere/learnings.jsonl", "{}\n")
            .file("elsewhere/2025/learnings.jsonl", "{}\n");
        folder.ok(["remember", "--type", "learning", "Tea is green.", "--db", "m.db"]);
        folder.ok(["export", "--format", "agent-memory", "memories", "--db", "m.db"]);
        let index = fs::read(folder.path("memories/index.json")).unwrap();
        fs::create_dir_all(folder.path(link).parent().unwrap()).unwrap();
        symlink(folder.path("elsewhere"), folder.path(link)).unwrap();
        let ran = folder.run([
            "export",
            "--format",
            "agent-memory",
            "memories",
            "--force",
            "--db",
            "m.db",
        ]);
        assert_eq!(
            ran.stderr,
            format!(
                "remindb: `{link}` is a link, and nothing behind it is changed; move it away\n"
            )
        );
        for name in ["elsewhere/learnings.jsonl", "elsewhere/2025/learnings.jsonl"] {
            assert_eq!(fs::read_to_string(folder.path(name)).unwrap(), "{}\n");
        }
        assert_eq!(fs::read(folder.path("memories/index.json")).unwrap(), index);
    }
}
