//! Tests kills while typed memories are stored, imported and exported.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::failures::limited;
use crate::random_cases::Dice;
use crate::support::{Client, Folder, Ran};

/// Memories of an import.
const LINES: usize = 400;

/// Longest life of a server after the last reply that its client waited for.
const MOMENT_US_MAX: usize = 8_000;

/// Returns a folder with a memory of one stored task, and with files to import.
fn base() -> Folder {
    let line = |nth: usize| {
        let id = format!("00000000-0000-4000-8000-{nth:012}");
        let memory = json!({
            "id": id, "content": format!("Imported number {nth}"), "created_at": "2026-01-01",
            "tags": [format!("t{}", nth % 7)], "archived": nth.is_multiple_of(5), "access_count": nth % 3,
        });
        format!("{memory}\n")
    };
    let lines = |of: usize| (0..LINES).filter(|it| it % 3 == of).map(line).collect::<String>();
    let folder = Folder::new()
        .file("in/core_memories.jsonl", lines(0))
        .file("in/learnings.jsonl", lines(1))
        .file("in/archive/2026/tasks.jsonl", lines(2));
    folder.ok(["remember", "--db", "base.db", "--type", "task", "Stored before"]);
    folder
}

/// Returns the contents of all memories, each of which has all of its facets.
#[track_caller]
fn contents(folder: &Folder) -> BTreeSet<String> {
    folder.assert_healthy("m.db");
    let conn = folder.database("m.db");
    let mut query = conn.prepare("SELECT content FROM node WHERE fields IS NOT NULL").unwrap();
    let contents = query.query_map([], |row| row.get(0)).unwrap();
    contents.map(Result::unwrap).collect()
}

/// Kills a process after a part of the time that it takes; returns its output.
fn kill_within(mut child: Child, whole: Duration, dice: &mut Dice) -> String {
    let mut stdout = child.stdout.take().unwrap();
    let moment = whole.mul_f64(dice.below(1_100) as f64 / 1_000.0);
    let (sender, ended) = std::sync::mpsc::channel();
    crate::support::spawn(move || {
        let mut said = String::new();
        let _ = stdout.read_to_string(&mut said);
        let _ = sender.send(said);
    });
    // Nothing comes before the end, so this waits for the moment or for the end.
    let said = ended.recv_timeout(moment);
    let _ = child.kill();
    child.wait().unwrap();
    said.unwrap_or_else(|_| ended.recv().unwrap())
}

/// Returns how long a command takes, so that kills can come at any part of it.
#[expect(clippy::disallowed_methods, reason = "nothing that is checked depends on it")]
fn measure(folder: &Folder, args: &[&str]) -> Duration {
    let start = Instant::now();
    folder.ok(args);
    start.elapsed()
}

fn copy_base(folder: &Folder) {
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(folder.path(format!("m.db{suffix}")));
    }
    fs::copy(folder.path("base.db"), folder.path("m.db")).unwrap();
}

/// Kills imports, and returns how many were there afterwards, and how many were not.
#[track_caller]
pub(super) fn kill_imports(seed: u64, n_kills: usize) -> (usize, usize) {
    let folder = base();
    let args = ["import", "--from", "agent-memory", "in", "--db", "m.db"];
    copy_base(&folder);
    let whole = measure(&folder, &args);
    let all = contents(&folder);
    assert_eq!(all.len(), LINES + 1);
    let mut dice = Dice::new(seed);
    let mut seen = (0, 0);
    for nth in 0..n_kills {
        copy_base(&folder);
        let said = kill_within(folder.command(args).spawn().unwrap(), whole, &mut dice);
        let there = contents(&folder);
        assert!(there.contains("Stored before"), "kill {nth}");
        let is_there = there.len() == LINES + 1;
        assert!(is_there || there.len() == 1, "kill {nth}: {} by half", there.len());
        assert!(is_there || !said.contains("imported"), "kill {nth}: {said}");
        // Again, to the end.
        let said = folder.ok(args);
        let n_added = if is_there { 0 } else { LINES };
        assert!(said.contains(&format!("imported: {n_added} added")), "kill {nth}: {said}");
        assert_eq!(contents(&folder), all);
        if is_there { seen.0 += 1 } else { seen.1 += 1 }
    }
    seen
}

#[test]
fn an_import_that_is_killed_is_whole_or_not_at_all() {
    kill_imports(1, 8);
}

/// Returns the names and texts of the files of an export; `None` where there is none.
fn exported(folder: &Folder, out: &str) -> Option<BTreeMap<String, String>> {
    let read = |name: &str| fs::read_to_string(folder.path(out).join(name));
    let names = ["core_memories.jsonl", "learnings.jsonl", "tasks.jsonl", "index.json"];
    let archives = names.iter().map(|it| format!("archive/2026/{it}"));
    let names = names.iter().map(|it| (*it).to_owned()).chain(archives);
    let files = names.filter_map(|it| Some((it.clone(), read(&it).ok()?)));
    folder.path(out).exists().then(|| files.collect())
}

#[test]
fn an_export_that_is_killed_is_whole_or_not_at_all() {
    let folder = base();
    copy_base(&folder);
    folder.ok(["import", "--from", "agent-memory", "in", "--db", "m.db"]);
    let args = |out: &'static str| ["export", "--format", "agent-memory", out, "--db", "m.db"];
    let whole = measure(&folder, &args("reference"));
    let reference = exported(&folder, "reference").unwrap();
    assert_eq!(reference.len(), 7);
    let mut dice = Dice::new(2);
    for nth in 0..12 {
        let _ = fs::remove_dir_all(folder.path("out"));
        let said = kill_within(folder.command(args("out")).spawn().unwrap(), whole, &mut dice);
        let there = exported(&folder, "out");
        assert!(there.as_ref().is_none_or(|it| *it == reference), "kill {nth}");
        assert!(there.is_some() || !said.contains("exported"), "kill {nth}: {said}");
    }
    let _ = fs::remove_dir_all(folder.path("out"));
    folder.ok(args("out"));
    assert_eq!(exported(&folder, "out").unwrap(), reference);
    let is_draft = |it: &String| it.ends_with(".draft");
    assert!(!folder.names().iter().any(is_draft), "{:?}", folder.names());
}

#[test]
fn an_export_over_another_that_is_killed_leaves_whole_files() {
    let folder = base();
    folder.ok(["export", "--format", "agent-memory", "old", "--db", "base.db"]);
    copy_base(&folder);
    folder.ok(["import", "--from", "agent-memory", "in", "--db", "m.db"]);
    folder.ok(["export", "--format", "agent-memory", "new", "--db", "m.db"]);
    let [old, new] = ["old", "new"].map(|it| exported(&folder, it).unwrap());
    let args = ["export", "--format", "agent-memory", "out", "--force", "--db", "m.db"];
    let whole = measure(&folder, &args);
    let mut dice = Dice::new(5);
    for nth in 0..12 {
        fs::remove_dir_all(folder.path("out")).unwrap();
        for (name, text) in &old {
            folder.write(format!("out/{name}"), text);
        }
        let said = kill_within(folder.command(args).spawn().unwrap(), whole, &mut dice);
        let there = exported(&folder, "out").unwrap();
        match there.get("index.json") {
            // The index goes first and comes last.
            Some(index) if *index == new["index.json"] => assert_eq!(there, new, "kill {nth}"),
            Some(_) => assert_eq!(there, old, "kill {nth}"),
            None => {
                let is_whole =
                    |(name, it): (&String, &String)| *it == new[name] || *it == old[name];
                assert!(there.iter().all(is_whole), "kill {nth}");
            }
        }
        assert!(there == new || !said.contains("exported"), "kill {nth}: {said}");
        folder.ok(args);
        assert_eq!(exported(&folder, "out").unwrap(), new);
        let names = fs::read_dir(folder.path("out")).unwrap();
        assert_eq!(names.count(), 5, "kill {nth}: a draft is left");
    }
}

#[test]
fn an_export_without_room_leaves_nothing() {
    let folder = base();
    copy_base(&folder);
    folder.ok(["import", "--from", "agent-memory", "in", "--db", "m.db"]);
    fs::create_dir(folder.path("empty")).unwrap();
    for (out, n_names) in [("out", None), ("empty", Some(0))] {
        let args = ["export", "--format", "agent-memory", out, "--db", "m.db"];
        let ran = Ran::of(&folder, &mut limited(&folder, 64, &args));
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
        assert!(ran.stderr.contains("cannot write the export"), "{}", ran.stderr);
        let names = fs::read_dir(folder.path(out)).ok().map(Iterator::count);
        assert_eq!(names, n_names);
    }
    let is_draft = |it: &String| it.ends_with(".draft");
    assert!(!folder.names().iter().any(is_draft), "{:?}", folder.names());
}

#[test]
fn an_import_without_room_changes_nothing() {
    let folder = base();
    copy_base(&folder);
    let args = ["import", "--from", "agent-memory", "in", "--db", "m.db"];
    let ran = Ran::of(&folder, &mut limited(&folder, 512, &args));
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("nothing was changed"), "{}", ran.stderr);
    assert_eq!(contents(&folder).len(), 1);
    folder.ok(args);
    assert_eq!(contents(&folder).len(), LINES + 1);
}

/// What a reply promises.
enum Promise {
    Stored(usize),
    Version(usize),
}

/// Kills servers while memories are stored and one of them is updated; returns the number of
/// acknowledged calls.
#[track_caller]
pub(super) fn kill_stores(seed: u64, n_kills: usize) -> usize {
    let folder = Folder::new();
    let said = folder.ok(["remember", "--db", "m.db", "--type", "core", "--json", "Version 0"]);
    let id = serde_json::from_str::<Value>(&said).unwrap()["id"].clone();
    let mut dice = Dice::new(seed);
    let (mut n_stored, mut n_versions) = (0, 0);
    let (mut stored, mut version, mut n_acknowledged) = (BTreeSet::new(), 0, 0);
    for kill in 0..n_kills {
        let mut client = Client::modern(&folder, &["--db", "m.db", "--tools", "memory"]);
        let mut asked = BTreeMap::new();
        for _ in 0..=dice.below(8) {
            let (name, arguments, promise) = if dice.one_in(3) {
                n_versions += 1;
                let content = format!("Version {n_versions}");
                (
                    "update_memory",
                    json!({"id": id, "content": content}),
                    Promise::Version(n_versions),
                )
            } else {
                n_stored += 1;
                let args =
                    json!({"type": "task", "content": format!("Task {n_stored}"), "tags": ["a"]});
                ("store_memory", args, Promise::Stored(n_stored))
            };
            let call = json!({"name": name, "arguments": arguments});
            asked.insert(client.request("tools/call", call), promise);
            if dice.one_in(2) {
                continue;
            }
            let reply = client.line();
            n_acknowledged += acknowledge(&reply, &mut asked, &mut stored, &mut version);
        }
        let moment = Duration::from_micros(dice.below(MOMENT_US_MAX) as u64);
        let last = client.line_within(moment);
        for reply in last.into_iter().chain(client.kill()) {
            n_acknowledged += acknowledge(&reply, &mut asked, &mut stored, &mut version);
        }
        let there = contents(&folder);
        for nth in &stored {
            assert!(there.contains(&format!("Task {nth}")), "kill {kill}: task {nth}");
        }
        let is_version = |it: &&String| it.starts_with("Version ");
        let versions: Vec<&String> = there.iter().filter(is_version).collect();
        assert_eq!(versions.len(), 1, "kill {kill}: {versions:?}");
        // Calls run in parallel, so that a later version may be replaced by an earlier one that
        // was still waiting; the first one was replaced by any.
        assert!(version == 0 || versions[0] != "Version 0", "kill {kill}: {versions:?}");
    }
    n_acknowledged
}

fn acknowledge(
    reply: &Value,
    asked: &mut BTreeMap<u64, Promise>,
    stored: &mut BTreeSet<usize>,
    version: &mut usize,
) -> usize {
    let Some(promise) = reply["id"].as_u64().and_then(|id| asked.remove(&id)) else { return 0 };
    assert!(reply["result"]["content"][0]["text"].is_string(), "{reply}");
    assert_ne!(reply["result"]["isError"], json!(true), "{reply}");
    match promise {
        Promise::Stored(nth) => drop(stored.insert(nth)),
        Promise::Version(nth) => *version = nth.max(*version),
    }
    1
}

#[test]
fn acknowledged_memories_survive_kills() {
    assert!(0 < kill_stores(3, 10));
}

#[test]
fn what_was_said_to_be_remembered_survives_kills() {
    let folder = Folder::new();
    let args = |text: &'static str| ["remember", "--db", "m.db", "--type", "learning", text];
    let whole = measure(&folder, &args("First"));
    let mut dice = Dice::new(4);
    const TEXTS: [&str; 6] = ["One", "Two", "Three", "Four", "Five", "Six"];
    for text in TEXTS {
        let said = kill_within(folder.command(args(text)).spawn().unwrap(), whole, &mut dice);
        let there = contents(&folder);
        assert!(there.contains("First"));
        assert!(there.contains(text) || !said.contains("to undo"), "{text}: {said}");
    }
}
