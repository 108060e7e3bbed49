//! Kills while an agent writes to files: each is whole, and has every acknowledged word.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use serde_json::json;

use crate::random_cases::{Dice, env_number};
use crate::support::{Client, Folder};

const ARGS: [&str; 5] = ["--db", "m.db", "--source", "notes", "--write-back"];

/// Servers that are killed, and the writes that each gets.
const ROUNDS: usize = 6;
const WRITES_MAX: usize = 5;

/// Longest life of a server after its last request.
const MOMENT_US_MAX: usize = 12_000;

/// Bytes of the file that each write replaces: enough that half of it would be seen.
const PARTS: usize = 400;

#[test]
fn a_kill_leaves_a_whole_file_with_every_acknowledged_word() {
    let mut dice = Dice::new(env_number("REMINDB_CRASH_SEED").unwrap_or(11));
    let parts = |nth: usize| format!("Part {nth} of the note, which stays as it is.\n\n");
    let text = (0..PARTS).map(parts).collect::<String>();
    let folder = Folder::new().file("notes/a.md", format!("# A\n\n{text}# Log\n\nBegin.\n"));
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let sql = "SELECT id FROM node WHERE label = 'Log'";
    let log: String = folder.database("m.db").query_row(sql, [], |row| row.get(0)).unwrap();
    let (mut n_writes, mut written, mut kept) = (0, BTreeSet::new(), BTreeSet::new());
    for _ in 0..ROUNDS {
        let mut client = Client::legacy(&folder, &ARGS);
        let mut asked = Vec::new();
        for _ in 0..=dice.below(WRITES_MAX) {
            n_writes += 1;
            let payload = format!("Word {n_writes}x said.");
            // In the file, or as a note of its own.
            let anchor = if dice.one_in(3) { "" } else { &log };
            let arguments = json!({"payload": payload, "anchor": anchor});
            let params = json!({"name": "MemoryWrite", "arguments": arguments});
            asked.push((client.request("tools/call", params), n_writes));
        }
        let mut replies = Vec::new();
        for _ in 0..dice.below(asked.len() + 1) {
            replies.push(client.line());
        }
        let moment = Duration::from_micros(dice.below(MOMENT_US_MAX) as u64);
        replies.extend(client.line_within(moment));
        replies.extend(client.kill());
        for (id, nth) in asked {
            // A file that a kill left ahead of the memory is not written until it is compiled.
            let is_done = |it: &&serde_json::Value| it["id"] == id && it["result"].is_object();
            if let Some(reply) = replies.iter().find(is_done) {
                let is_overlay = reply.to_string().contains("kept as overlay");
                if is_overlay {
                    kept.insert(nth)
                } else {
                    written.insert(nth)
                };
            }
        }
        check(&folder, &text, &written);
    }
    assert!(!written.is_empty());
    let memory = folder.ok(["export", "--db", "m.db"]);
    for nth in written.iter().chain(&kept) {
        assert!(memory.contains(&format!("Word {nth}x said.")), "{nth} is in no node or history");
    }
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let again = folder.ok(["compile", "notes", "--db", "m.db"]);
    assert!(again.starts_with("compiled: 0 added, 0 modified, 0 removed"), "{again}");
    folder.assert_healthy("m.db");
}

/// Checks that the file begins and ends as it should, and that no acknowledged word is missing.
#[track_caller]
fn check(folder: &Folder, text: &str, written: &BTreeSet<usize>) {
    let file = fs::read_to_string(folder.path("notes/a.md")).unwrap();
    let rest = file.strip_prefix(&format!("# A\n\n{text}# Log\n\nBegin.\n"));
    let rest = rest.unwrap_or_else(|| panic!("a.md is not whole: {} bytes", file.len()));
    let is_whole = |it: &str| it.is_empty() || it.starts_with("Word ") && it.ends_with("x said.");
    assert!(rest.trim().split("\n\n").all(is_whole), "{rest}");
    let mut all = file.clone();
    if let Ok(entries) = fs::read_dir(folder.path("notes/agents")) {
        for entry in entries {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|it| it == "md") {
                let note = fs::read_to_string(path).unwrap();
                assert!(is_whole(note.trim_end()) && note.ends_with('\n'), "{note}");
                all += &note;
            }
        }
    }
    let lost: Vec<&usize> =
        written.iter().filter(|it| !all.contains(&format!("Word {it}x said."))).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
}
