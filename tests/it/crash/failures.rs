//! Tests failures of the file system: no room, no file, another file, half a log.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::random_cases::Dice;
use crate::support::{Client, Folder, Ran};

/// Returns whether a text is a node's.
fn is_there(folder: &Folder, text: &str) -> bool {
    let conn = folder.database("m.db");
    let sql = "SELECT count(*) FROM node WHERE content = ?1";
    0 < conn.query_row(sql, [text], |row| row.get::<_, i64>(0)).unwrap()
}

/// Returns a command of the program with a limit on the size of files, in blocks.
pub(super) fn limited(folder: &Folder, n_blocks: usize, args: &[&str]) -> Command {
    let n_blocks = n_blocks.to_string();
    folder.wrapped(&["sh", "-c", "ulimit -f \"$0\"; exec \"$@\"", &n_blocks], args)
}

/// Writes and compiles with a limit on the size of files.
///
/// Each call succeeds or fails without a change, and questions are answered.
#[track_caller]
fn write_in(n_blocks: usize, base: &Folder) {
    const WRITES: usize = 6;
    let folder = Folder::new().file("m.db", fs::read(base.path("m.db")).unwrap());
    folder.write("notes/a.md", "One of the words in a note.\n\n".repeat(200));
    let args = ["serve", "--db", "m.db", "--source", "notes", "--rescan-interval", "1h"];
    let mut command = limited(&folder, n_blocks, &args);
    let texts: Vec<String> =
        (0..WRITES).map(|nth| format!("Text {nth}: {}.", "words and more ".repeat(200))).collect();
    let mut client = Client::of(&mut command).shake_hands();
    let mut written = Vec::new();
    for text in &texts {
        let reply = client.call("MemoryWrite", json!({"payload": text}));
        assert!(!reply.is_error || reply.text.contains("nothing was changed"), "{}", reply.text);
        written.push(!reply.is_error);
        let found = client.text("MemorySearch", json!({"query": "before", "budget": 200}));
        assert!(found.contains("What was there before."), "{n_blocks}: {found}");
    }
    let compiled = client.call("MemoryCompile", json!({"path": "."}));
    let text = &compiled.text;
    assert!(!compiled.is_error || text.contains("nothing was changed"), "{n_blocks}: {text}");
    client.close();
    assert_eq!(client.wait().code(), Some(0), "{n_blocks}");
    folder.assert_healthy("m.db");
    for (text, is_written) in texts.iter().zip(written) {
        assert_eq!(is_there(&folder, text.trim_end()), is_written, "{n_blocks}: {text}");
    }
    // There is room again.
    let mut client = Client::legacy(&folder, &["--db", "m.db", "--source", "notes"]);
    client.text("MemoryWrite", json!({"payload": "At last."}));
    client.text("MemoryCompile", json!({"path": "."}));
    client.end();
    assert!(is_there(&folder, "At last.") && is_there(&folder, "One of the words in a note."));
    folder.assert_healthy("m.db");
}

/// Runs [`write_in`] for sizes in a range, and returns their number.
#[track_caller]
pub(super) fn fill(sizes: std::ops::Range<usize>, step: usize) -> usize {
    let base = Folder::new();
    let mut client = Client::legacy(&base, &["--db", "m.db"]);
    client.text("MemoryWrite", json!({"payload": "What was there before."}));
    client.end();
    // A smaller file cannot even be opened for writing, which is reported at once.
    let least = 64;
    let mut n_sizes = 0;
    for n_blocks in sizes.step_by(step) {
        n_sizes += 1;
        match n_blocks < least {
            true => refuse_in(n_blocks),
            false => write_in(n_blocks, &base),
        }
    }
    n_sizes
}

/// Creates a memory without room for it: none is left, and a later try with room succeeds.
#[track_caller]
fn refuse_in(n_blocks: usize) {
    let folder = Folder::new().file("notes/a.md", "Words of a note.\n");
    let args = ["compile", "notes", "--db", "m.db"];
    let ran = Ran::of(&folder, &mut limited(&folder, n_blocks, &args));
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("nothing was changed"), "{}", ran.stderr);
    folder.ok(args);
    folder.assert_healthy("m.db");
    assert!(is_there(&folder, "Words of a note."));
}

#[test]
fn where_a_file_may_not_grow_a_write_is_an_error_that_changed_nothing() {
    fill(8..600, 150);
}

/// Truncates or overwrites the log at so many places; returns the number of cuts.
#[track_caller]
pub(super) fn tear(n_cuts: usize) -> usize {
    const WRITES: usize = 12;
    let folder = Folder::new();
    let mut client = Client::legacy(&folder, &["--db", "m.db", "--structured"]);
    let log = |name: &str| folder.path(format!("{name}-wal"));
    let mut states: Vec<(usize, Value)> = Vec::new();
    for nth in 0..WRITES {
        let payload = format!("# Heading {nth}\n\nBelow it: {}.\n", "words ".repeat(40 * nth));
        client.text("MemoryWrite", json!({"payload": payload}));
        let facts = client.call("MemoryStats", json!({})).result;
        let head = facts["structuredContent"]["head"]["cursor_hash"].clone();
        assert!(head.is_string(), "{facts}");
        states.push((fs::metadata(log("m.db")).unwrap().len() as usize, head));
    }
    client.kill();
    let whole = fs::read(log("m.db")).unwrap();
    let mut dice = Dice::new(7);
    // The first state has the schema, at least.
    let first = states[0].0;
    for nth in 0..n_cuts {
        let cut = first + dice.below(whole.len() - first + 1);
        let mut torn = whole.clone();
        match nth % 3 {
            0 => torn.truncate(cut),
            1 => torn[cut..].fill(0),
            _ => {
                let end = whole.len().min(cut + 512);
                torn[cut..end].iter_mut().for_each(|byte| *byte = !*byte);
            }
        }
        fs::copy(folder.path("m.db"), folder.path("torn.db")).unwrap();
        fs::write(log("torn.db"), torn).unwrap();
        folder.assert_healthy("torn.db");
        let conn = folder.database("torn.db");
        let head = "SELECT cursor_hash FROM snapshot ORDER BY id DESC LIMIT 1";
        let head: String = conn.query_row(head, [], |row| row.get(0)).unwrap();
        let expected = states.iter().rev().find(|it| it.0 <= cut).unwrap();
        assert_eq!(json!(head), expected.1, "cut at {cut} of {}", whole.len());
    }
    n_cuts
}

#[test]
fn a_torn_log_gives_the_state_of_its_last_whole_write() {
    tear(24);
}

#[test]
fn a_database_that_was_deleted_or_replaced_is_neither_read_nor_written() {
    for is_replaced in [false, true] {
        let folder = Folder::new();
        let mut client = Client::legacy(&folder, &["--db", "m.db"]);
        client.text("MemoryWrite", json!({"payload": "Before."}));
        let [db, aside]: [PathBuf; 2] = ["m.db", "aside.db"].map(|it| folder.path(it));
        fs::rename(&db, &aside).unwrap();
        if is_replaced {
            fs::write(&db, "").unwrap();
        }
        for (tool, arguments) in [
            ("MemoryWrite", json!({"payload": "Lost."})),
            ("MemorySearch", json!({"query": "before"})),
        ] {
            let reply = client.call(tool, arguments);
            assert!(
                reply.is_error && reply.text.contains("deleted, replaced or shortened"),
                "{}",
                reply.text
            );
        }
        assert_eq!(db.exists(), is_replaced);
        // Put back under its name, the file is used again.
        fs::rename(&aside, &db).unwrap();
        client.text("MemoryWrite", json!({"payload": "After."}));
        client.end();
        folder.assert_healthy("m.db");
        assert!(is_there(&folder, "Before.") && is_there(&folder, "After."));
        assert!(!is_there(&folder, "Lost."));
    }
}

#[test]
fn a_folder_that_cannot_be_listed_is_not_one_without_notes() {
    for n_descriptors in ["4", "5", "6", "7", "8", "9", "10", "11", "12", "14", "16", "20"] {
        let folder = Folder::new().file("notes/a.md", "A note.\n");
        let shell = ["sh", "-c", "ulimit -n \"$0\"; exec \"$@\"", n_descriptors];
        let mut compile = folder.wrapped(&shell, &["compile", "notes", "--db", "m.db"]);
        let ran = Ran::of(&folder, &mut compile);
        let is_whole = ran.stdout.starts_with("compiled: 1 added");
        let is_named = ran.stderr.contains("a.md: cannot read it");
        assert!(
            ran.code != Some(0) || is_whole || is_named,
            "{n_descriptors}: {}",
            ran.transcript()
        );
    }
}

/// The step that lacks a descriptor may be any; one is to watch the files, which are all there.
#[test]
fn a_process_without_a_free_descriptor_says_so_and_writes_nothing() {
    let folder = Folder::new();
    folder.ok(["write", "Before.", "--db", "m.db"]);
    let mut refusals = Vec::new();
    for n_descriptors in (4..=20).map(|it: u32| it.to_string()) {
        let shell = ["sh", "-c", "ulimit -n \"$0\"; exec \"$@\"", &n_descriptors];
        let text = format!("With {n_descriptors} descriptors.");
        let mut write = folder.wrapped(&shell, &["write", &text, "--db", "m.db"]);
        let ran = Ran::of(&folder, &mut write);
        assert_eq!(is_there(&folder, &text), ran.code == Some(0), "{}", ran.transcript());
        match ran.code {
            Some(0) => (),
            // The system found none to load the program.
            Some(127) => assert!(ran.stderr.contains("loading"), "{}", ran.transcript()),
            _ => refusals.push(ran.stderr),
        }
    }
    let is_named = |it: &&String| it.contains("no free file descriptor");
    assert_eq!(refusals.iter().find(|it| !is_named(it)), None);
    assert!(refusals.iter().any(|it| it.contains("cannot watch the log")), "{refusals:?}");
    assert!(is_there(&folder, "Before."));
    folder.assert_healthy("m.db");
}

#[test]
#[cfg(target_os = "linux")]
fn a_server_without_a_free_descriptor_does_not_say_that_its_log_is_gone_for_good() {
    use rustix::process::{Pid, Resource, getrlimit, prlimit};
    let folder = Folder::new();
    let mut client = Client::legacy(&folder, &["--db", "m.db"]);
    client.text("MemoryWrite", json!({"payload": "Before."}));
    let server = Pid::from_raw(client.pid().try_into().unwrap());
    let limit = getrlimit(Resource::Nofile);
    let without = rustix::process::Rlimit { current: Some(3), ..limit };
    fs::remove_file(folder.path("m.db-wal")).unwrap();
    prlimit(server, Resource::Nofile, without).unwrap();
    let reply = client.call("MemoryWrite", json!({"payload": "Lost."}));
    assert!(reply.is_error && reply.text.contains("no free file descriptor"), "{}", reply.text);
    assert!(!folder.path("m.db-wal").exists());
    prlimit(server, Resource::Nofile, limit).unwrap();
    let reply = client.call("MemoryWrite", json!({"payload": "Lost."}));
    assert!(reply.is_error && reply.text.contains("start again"), "{}", reply.text);
    assert!(folder.path("m.db-wal").exists(), "it was put back");
    client.end();
    folder.assert_healthy("m.db");
    assert!(is_there(&folder, "Before.") && !is_there(&folder, "Lost."));
}
