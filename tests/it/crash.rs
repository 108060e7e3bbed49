//! Tests durability: kills at any instant, rival servers, full disks and truncated logs.
//!
//! Acknowledged writes are kept; others are kept completely or not at all, and the doctor finds
//! nothing wrong. `make crash` runs the same tests with other numbers, which the environment gives.

mod archiving;
mod failures;
mod identity;
mod messages;
mod overwritten;
mod typed;
mod write_back;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use super::random_cases::Dice;
use super::support::{Client, Folder};

const ARGS: [&str; 6] = ["--db", "m.db", "--source", "notes", "--rescan-interval", "20ms"];

/// Number of notes in an ordeal, and of the parts of each.
const NOTES: usize = 4;
const PARTS: usize = 30;

/// Calls between the start of a server and its end.
const CALLS_MAX: usize = 8;

/// Longest life of a server after the last reply that its client waited for.
const MOMENT_US_MAX: usize = 12_000;

/// A memory whose servers are killed, and the writes acknowledged so far.
struct Ordeal {
    folder: Folder,
    dice: Dice,
    /// Number of requested writes.
    n_writes: usize,
    /// The acknowledged writes.
    written: BTreeSet<usize>,
    /// Version of each note.
    noted: [usize; NOTES],
    /// Version of each note at the last acknowledged compile.
    compiled: [usize; NOTES],
    n_compiles: usize,
}

/// The effect that a request's acknowledgement promises.
enum Asked {
    Write(usize),
    Compile([usize; NOTES]),
}

impl Ordeal {
    fn new(seed: u64) -> Ordeal {
        let mut ordeal = Ordeal {
            folder: Folder::new(),
            dice: Dice::new(seed),
            n_writes: 0,
            written: BTreeSet::new(),
            noted: [0; NOTES],
            compiled: [0; NOTES],
            n_compiles: 0,
        };
        (0..NOTES).for_each(|note| ordeal.edit(note));
        ordeal
    }

    /// Writes the next version of a note, in one step.
    fn edit(&mut self, note: usize) {
        self.noted[note] += 1;
        let version = self.noted[note];
        let part =
            |nth: usize| format!("{version}: part {nth} of note {note} in this version.\n\n");
        self.folder.write("draft", (0..PARTS).map(part).collect::<String>());
        fs::create_dir_all(self.folder.path("notes")).unwrap();
        let path = format!("notes/{note}.md");
        fs::rename(self.folder.path("draft"), self.folder.path(&path)).unwrap();
        self.folder.date(path, version as u64);
    }

    /// Starts a server, sends it random requests, and kills it at a random instant.
    fn round(&mut self) {
        let mut client = Client::legacy(&self.folder, &ARGS);
        let mut asked = BTreeMap::new();
        for _ in 0..=self.dice.below(CALLS_MAX) {
            let (name, arguments, promise) = match self.dice.below(6) {
                0 => {
                    // A change for the rescan to find.
                    let note = self.dice.below(NOTES);
                    self.edit(note);
                    continue;
                }
                1 => {
                    let note = self.dice.below(NOTES);
                    self.edit(note);
                    ("MemoryCompile", json!({"path": "."}), Asked::Compile(self.noted))
                }
                _ => {
                    self.n_writes += 1;
                    let [one, two] = halves(self.n_writes);
                    let payload = format!("{one}\n\n{two}");
                    ("MemoryWrite", json!({"payload": payload}), Asked::Write(self.n_writes))
                }
            };
            let params = json!({"name": name, "arguments": arguments});
            asked.insert(client.request("tools/call", params), promise);
        }
        for _ in 0..self.dice.below(asked.len() + 1) {
            let reply = client.line();
            self.acknowledge(&reply, &mut asked);
        }
        let moment = Duration::from_micros(self.dice.below(MOMENT_US_MAX) as u64);
        let last = client.line_within(moment);
        for reply in last.into_iter().chain(client.kill()) {
            self.acknowledge(&reply, &mut asked);
        }
    }

    #[track_caller]
    fn acknowledge(&mut self, reply: &Value, asked: &mut BTreeMap<u64, Asked>) {
        let Some(promise) = reply["id"].as_u64().and_then(|id| asked.remove(&id)) else { return };
        assert!(reply["result"].is_object(), "{reply}");
        assert_eq!(reply["result"].get("isError"), None, "{reply}");
        match promise {
            Asked::Write(nth) => drop(self.written.insert(nth)),
            Asked::Compile(versions) => {
                self.n_compiles += 1;
                for (compiled, version) in self.compiled.iter_mut().zip(versions) {
                    *compiled = version.max(*compiled);
                }
            }
        }
    }

    /// Asserts that every acknowledged write is kept, and none by half.
    #[track_caller]
    fn check(&self) {
        self.folder.assert_healthy("m.db");
        let conn = self.folder.database("m.db");
        let list = |sql| -> Vec<(String, String)> {
            let mut query = conn.prepare(sql).unwrap();
            let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            rows.map(Result::unwrap).collect()
        };
        let written: BTreeSet<String> = list("SELECT content, '' FROM node WHERE file IS NULL")
            .into_iter()
            .map(|it| it.0)
            .collect();
        for nth in 1..=self.n_writes {
            let [one, two] = halves(nth).map(|it| written.contains(&it));
            assert_eq!(one, two, "write {nth} is there by half");
            assert!(one || !self.written.contains(&nth), "write {nth} was acknowledged");
        }
        let mut notes: [Vec<usize>; NOTES] = Default::default();
        for (path, content) in
            list("SELECT file.path, content FROM node JOIN file ON file.id = node.file")
        {
            let note: usize = path.trim_end_matches(".md").parse().unwrap();
            notes[note].push(content.split_once(':').unwrap().0.parse().unwrap());
        }
        for (note, versions) in notes.iter().enumerate() {
            let version = versions.first().copied().unwrap_or(0);
            assert!(versions.iter().all(|it| *it == version), "note {note}: {versions:?}");
            assert!(version == 0 || versions.len() == PARTS, "note {note}: {versions:?}");
            assert!(self.compiled[note] <= version, "note {note} was compiled");
        }
        let unsealed =
            list("SELECT id || '', message FROM snapshot WHERE length(cursor_hash) <> 16");
        assert_eq!(unsealed, []);
    }
}

/// Returns the two paragraphs of a write.
fn halves(nth: usize) -> [String; 2] {
    ["begins", "ends"].map(|it| format!("Here {it} what was written as number {nth}."))
}

/// Runs ordeals, and returns the number of kills and of acknowledged writes and compiles.
#[track_caller]
fn kill_servers(seeds: std::ops::Range<u64>, n_kills: usize) -> (usize, usize, usize) {
    let mut sum = (0, 0, 0);
    for seed in seeds {
        let mut ordeal = Ordeal::new(seed);
        for _ in 0..n_kills {
            ordeal.round();
            ordeal.check();
            sum.0 += 1;
        }
        ordeal.folder.ok(["compile", "notes", "--db", "m.db"]);
        ordeal.compiled = ordeal.noted;
        ordeal.check();
        sum.1 += ordeal.written.len();
        sum.2 += ordeal.n_compiles;
    }
    sum
}

#[test]
fn acknowledged_writes_survive_kills() {
    let (_, n_writes, n_compiles) = kill_servers(0..2, 8);
    assert!(0 < n_writes && 0 < n_compiles, "{n_writes} writes, {n_compiles} compiles");
}

/// Starts servers at once on a memory that does not exist, and lets all of them write.
#[track_caller]
fn write_at_once(n_processes: usize, n_writes: usize) {
    let folder = Folder::new().file("notes/a.md", "# A\n\nThe text of a.\n");
    std::thread::scope(|scope| {
        for process in 0..n_processes {
            let folder = &folder;
            scope.spawn(move || {
                let mut client = Client::legacy(folder, &ARGS);
                for nth in 0..n_writes {
                    let payload = format!("Server {process} says number {nth}.");
                    client.text("MemoryWrite", json!({"payload": payload}));
                }
                client.close();
                assert_eq!(client.wait().code(), Some(0));
                while let Some(line) = client.log_line() {
                    assert!(!line.contains("ERROR") && !line.contains("WARN"), "{line}");
                }
            });
        }
    });
    folder.assert_healthy("m.db");
    let facts = folder.facts("m.db");
    let n_all = n_processes * n_writes;
    assert_eq!((&facts["nodes"], &facts["snapshots"]), (&json!(n_all + 2), &json!(n_all + 1)));
}

#[test]
fn servers_that_write_at_once_lose_nothing() {
    write_at_once(4, 25);
}

/// The tests of `make crash`.
mod long {
    use super::{archiving, failures, kill_servers, typed, write_at_once};
    use crate::random_cases::env_number;

    /// Kills of servers of one memory before the next one begins.
    const KILLS_OF_ONE: usize = 25;

    #[test]
    #[ignore = "takes minutes"]
    fn kills_lose_no_acknowledged_write() {
        let n_kills: usize = env_number("CRASH_KILLS").unwrap_or(500);
        let n_memories = n_kills.div_ceil(KILLS_OF_ONE) as u64;
        let seed = env_number("CRASH_SEED").unwrap_or(1_000);
        let (n_kills, n_writes, n_compiles) = kill_servers(seed..seed + n_memories, KILLS_OF_ONE);
        println!("{n_kills} kills: {n_writes} writes, {n_compiles} compiles acknowledged, 0 lost");
    }

    #[test]
    #[ignore = "takes minutes"]
    fn archives() {
        let n_kills = env_number("CRASH_ARCHIVES").unwrap_or(200);
        let [n_none, n_all] = archiving::kill_archives(1_000, n_kills);
        println!("{n_kills} kills: {n_none} left no archive, {n_all} a whole one, 0 a half");
        let [n_stored, n_archives] = archiving::kill_archiving_servers(1_000, n_kills / 10);
        println!("{n_stored} memories acknowledged, {n_archives} archives, 0 lost");
    }

    #[test]
    #[ignore = "takes minutes"]
    fn killed_imports_and_stores_lose_nothing() {
        let n_kills = env_number("CRASH_MEMORY_KILLS").unwrap_or(100);
        let seed = env_number("CRASH_SEED").unwrap_or(1_000);
        let (n_whole, n_none) = typed::kill_imports(seed, n_kills);
        let n_acknowledged = typed::kill_stores(seed, n_kills);
        println!("{n_kills} kills of imports: {n_whole} whole, {n_none} not at all, 0 by half");
        println!("{n_kills} kills of servers: {n_acknowledged} calls acknowledged, 0 lost");
    }

    #[test]
    #[ignore = "takes minutes"]
    fn rivals_lose_no_write() {
        let n_processes = env_number("CRASH_PROCESSES").unwrap_or(16);
        let n_writes = env_number("CRASH_WRITES").unwrap_or(200);
        write_at_once(n_processes, n_writes);
        println!("{n_processes} servers × {n_writes} writes: all there, no error");
    }

    #[test]
    #[ignore = "takes minutes"]
    fn a_write_that_finds_no_room_is_an_error() {
        println!("{} sizes of files: all of a call, or an error", failures::fill(2..702, 14));
    }

    #[test]
    #[ignore = "takes minutes"]
    fn a_cut_log_gives_the_last_whole_write() {
        let n_cuts = failures::tear(env_number("CRASH_CUTS").unwrap_or(500));
        println!("{n_cuts} cuts through a log: the state of the last whole write");
    }
}
