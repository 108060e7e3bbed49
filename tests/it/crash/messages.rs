//! Tests that errors are true: nothing changed where they claim so, and doubts are reported.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use super::failures::limited;
use crate::random_cases::Dice;
use crate::support::{Client, Folder, Ran};

const SNAPSHOTS: u64 = 3;

/// Returns a memory of some snapshots, with numbers that a setting makes secret from now on.
fn careless() -> Folder {
    let folder = Folder::new();
    let mut dice = Dice::new(3);
    for nth in 1..=SNAPSHOTS {
        for note in 0..20 {
            let words: String = (0..500).map(|_| format!("w{} ", dice.below(5_000))).collect();
            let version = ["first", "second", "third"][nth as usize - 1];
            let text = format!(
                "# Note {note}\n\nIt is ticket QX-1000{note:02} in its {version} version.\n\n{words}\n"
            );
            folder.write(format!("notes/{note}.md"), text);
            folder.date(format!("notes/{note}.md"), nth);
        }
        folder.ok(["compile", "notes", "--db", "m.db"]);
    }
    let kinds = json!({"redaction": {"custom": [{"kind": "ticket", "pattern": "QX-[0-9]{6}"}]}});
    folder.write("notes/.remindb/config.json", kinds.to_string());
    folder
}

/// Returns whether the text is in any file of the memory.
fn is_in_the_bytes(folder: &Folder, text: &str) -> bool {
    ["m.db", "m.db-wal"].iter().any(|name| {
        let bytes = fs::read(folder.path(name)).unwrap_or_default();
        bytes.windows(text.len()).any(|it| it == text.as_bytes())
    })
}

/// Runs a command with several limits on the size of files. `is_done` checks whether the memory was
/// changed. Each outcome has to occur.
#[track_caller]
fn check(args: &[&str], secret: &str, is_done: impl Fn(&Folder) -> bool) {
    let base = careless();
    let n_bytes = fs::metadata(base.path("m.db")).unwrap().len() as usize;
    let mut seen = [0; 3];
    for nth in 1..=24 {
        let folder = Folder::new().file("m.db", fs::read(base.path("m.db")).unwrap());
        folder.write("notes/.remindb/config.json", {
            fs::read(base.path("notes/.remindb/config.json")).unwrap()
        });
        let n_blocks = n_bytes / 512 * nth / 16;
        let ran = Ran::of(&folder, &mut limited(&folder, n_blocks, args));
        let shown = format!("{n_blocks} blocks: {}", ran.transcript());
        let is_unchanged = shown.contains("nothing was changed");
        assert_eq!(is_done(&folder), !is_unchanged, "{shown}");
        match ran.code {
            Some(2) => {
                assert!(is_unchanged, "{shown}");
                seen[0] += 1;
            }
            Some(1) => {
                assert!(
                    shown.contains("left in the file") && shown.contains("run this again"),
                    "{shown}"
                );
                seen[1] += 1;
            }
            _ => seen[2] += 1,
        }
        folder.assert_healthy("m.db");
        // Again, with room.
        folder.ok(args);
        assert!(is_done(&folder) && !is_in_the_bytes(&folder, secret), "{shown}");
    }
    assert!(seen.iter().all(|it| 0 < *it), "{seen:?}");
}

#[test]
fn gc_that_could_not_write_the_file_anew_says_what_it_did() {
    let is_done = |folder: &Folder| folder.facts("m.db")["snapshots"] == json!(1);
    check(&["gc", "--keep", "1", "--no-backup", "--db", "m.db"], "first version", is_done);
}

#[test]
fn gc_without_room_for_a_backup_changes_nothing() {
    let folder = careless();
    let n_bytes = fs::metadata(folder.path("m.db")).unwrap().len() as usize;
    let before = folder.names();
    let args = ["gc", "--keep", "1", "--db", "m.db"];
    let ran = Ran::of(&folder, &mut limited(&folder, n_bytes / 512 / 2, &args));
    assert_eq!(ran.code, Some(2), "{}", ran.transcript());
    assert!(ran.stderr.starts_with("remindb: no backup could be made: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("nothing was changed; --no-backup"), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("nothing was changed").count(), 1, "{}", ran.stderr);
    assert_eq!(folder.facts("m.db")["snapshots"], json!(SNAPSHOTS));
    let is_left =
        |it: &String| !before.contains(it) && !it.ends_with("-shm") && !it.ends_with("-wal");
    let left: Vec<String> = folder.names().into_iter().filter(is_left).collect();
    assert_eq!(left, [""; 0]);
}

#[test]
fn redact_that_could_not_write_the_file_anew_says_what_it_did() {
    let is_done = |folder: &Folder| {
        let conn = folder.database("m.db");
        let sql = "SELECT NOT EXISTS (SELECT 1 FROM node WHERE content LIKE '%QX-1%')";
        conn.query_row(sql, [], |row| row.get::<_, bool>(0)).unwrap()
    };
    check(&["redact", "--source", "notes", "--db", "m.db"], "QX-1000", is_done);
}

/// Builds a library that makes `fsync` and `fdatasync` fail while a file exists.
///
/// It is preloaded; `None` where there is no compiler.
fn failing_sync(folder: &Folder, name: &str) -> Option<PathBuf> {
    let source = format!(
        "#include <errno.h>\n#include <unistd.h>\n\
         static int fail(void) {{ if (access(\"{name}\", F_OK)) return 0; errno = EIO; return -1; }}\n\
         int fsync(int fd) {{ (void)fd; return fail(); }}\n\
         int fdatasync(int fd) {{ (void)fd; return fail(); }}\n"
    );
    folder.write("shim.c", source);
    let [source, library] = ["shim.c", "shim.so"].map(|it| folder.path(it));
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", "-o"]).args([&library, &source]);
    compile.status().is_ok_and(|it| it.success()).then_some(library)
}

#[test]
#[cfg(target_os = "linux")]
fn a_commit_whose_sync_failed_may_or_may_not_be_kept() {
    let folder = Folder::new();
    let Some(library) = failing_sync(&folder, "fail") else {
        eprintln!("skipped: there is no C compiler");
        return;
    };
    let mut command = folder.command(["serve", "--db", "m.db"]);
    let mut client = Client::of(command.env("LD_PRELOAD", library)).shake_hands();
    client.text("MemoryWrite", json!({"payload": "Before."}));
    folder.write("fail", "");
    let reply = client.call("MemoryWrite", json!({"payload": "In doubt."}));
    assert!(reply.is_error, "{}", reply.text);
    assert!(reply.text.contains("may or may not be kept"), "{}", reply.text);
    assert!(!reply.text.contains("nothing was changed"), "{}", reply.text);
    drop(client.kill());
    fs::remove_file(folder.path("fail")).unwrap();
    folder.assert_healthy("m.db");
    let conn = folder.database("m.db");
    let kept: Vec<String> = conn
        .prepare("SELECT content FROM node ORDER BY key")
        .and_then(|mut it| it.query_map([], |row| row.get(0))?.collect())
        .unwrap();
    // Its pages were in the log before the sync failed.
    assert_eq!(kept, ["Before.", "In doubt."]);
}
