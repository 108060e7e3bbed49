//! Measures writes beside a compile in another process, and kills such compiles.
//!
//! `make beside` prints the figures; `BESIDE_NOTES` and `BESIDE_KILLS` give other numbers.

use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::random_cases::{Dice, env_number};
use super::support::{Client, Folder, finish, signal};

/// Time between the beginnings of two writes.
const PERIOD: Duration = Duration::from_millis(50);

#[expect(clippy::disallowed_methods, reason = "it measures")]
fn now() -> Instant {
    Instant::now()
}

fn write_notes(folder: &Folder, n_notes: usize) {
    let mut dice = Dice::new(1);
    for nth in 0..n_notes {
        let mut text = format!("# Note {nth}\n\n");
        for part in 0..4 {
            let words: Vec<String> = (0..40).map(|_| format!("w{:x}", dice.below(6_000))).collect();
            let link = dice.below(n_notes);
            text += &format!("## Part {part}\n\n{}\n\nSee [[Note {link}]].\n\n", words.join(" "));
        }
        folder.write(format!("notes/{}/{nth}.md", nth / 100), text);
    }
}

fn start_compile(folder: &Folder, db: &str) -> Child {
    let mut command = folder.command(["compile", "notes", "--db", db]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Returns a memory's fingerprint and its number of nodes.
fn state(folder: &Folder, db: &str) -> (Value, Value) {
    let facts = folder.facts(db);
    (facts["head"]["cursor_hash"].clone(), facts["nodes"].clone())
}

#[test]
#[ignore = "takes minutes"]
fn writes_beside_a_compile() {
    let folder = Folder::new();
    write_notes(&folder, env_number("BESIDE_NOTES").unwrap_or(50_000));
    let mut client = Client::legacy(&folder, &["--db", "m.db"]);
    client.call("MemoryWrite", json!({"payload": "# Journal\n"}));
    let (start, mut compile) = (now(), start_compile(&folder, "m.db"));
    let (mut took, mut log_bytes) = (Vec::new(), 0);
    while compile.try_wait().unwrap().is_none() {
        let begun = now();
        client.call("MemoryWrite", json!({"payload": format!("Line {}.", took.len())}));
        took.push(begun.elapsed());
        log_bytes = log_bytes.max(fs::metadata(folder.path("m.db-wal")).map_or(0, |it| it.len()));
        // Nothing else is sent: this waits for the next period.
        client.line_within(PERIOD.saturating_sub(begun.elapsed()));
    }
    let seconds = start.elapsed().as_secs();
    client.end();
    folder.assert_healthy("m.db");
    took.sort_unstable();
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize];
    println!(
        "{} writes beside {seconds} s of a compile: p50={:?} p99={:?} max={:?}, log {} MB",
        took.len(),
        at(0.5),
        at(0.99),
        at(1.0),
        log_bytes / 1_000_000
    );
}

#[test]
#[ignore = "takes minutes"]
fn killed_compiles_go_on() {
    let folder = Folder::new();
    write_notes(&folder, env_number("BESIDE_KILLED_NOTES").unwrap_or(5_000));
    let start = now();
    finish(start_compile(&folder, "whole.db"));
    let whole_ms = start.elapsed().as_millis() as usize;
    // Someone always seems to wait, so that the slices are small.
    let waiting = fs::File::open(folder.path("")).unwrap();
    waiting.lock_shared().unwrap();
    let mut dice = Dice::new(2);
    let mut n_early = 0;
    let n_kills = env_number("BESIDE_KILLS").unwrap_or(10);
    for nth in 0..n_kills {
        let db = &format!("{nth}.db");
        let begun = now();
        let mut compile = start_compile(&folder, db);
        let moment = Duration::from_millis(dice.below(2 * whole_ms) as u64);
        while begun.elapsed() < moment && compile.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        if compile.try_wait().unwrap().is_none() {
            n_early += 1;
            signal(compile.id(), "KILL");
        }
        finish(compile);
        folder.ok(["compile", "notes", "--db", db]);
        folder.assert_healthy(db);
        assert_eq!(state(&folder, db), state(&folder, "whole.db"), "{moment:?}");
    }
    println!("{n_kills} kills, {n_early} before the end: the same memory each time");
}
