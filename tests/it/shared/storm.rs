//! The storm: 16 writers on 4 replicas, kills, stops and cuts among them; nothing acknowledged is
//! lost, nothing called failed is there, and all replicas are the same in the end.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use super::server::Postgres;
use super::{Proxy, command, machine, ok, published, rows, status};
use crate::random_cases::{Dice, env_number};
use crate::support::{Client, Folder};

const N_REPLICAS: usize = 4;
const N_WRITERS: usize = 16;

/// The answers that the writers got.
#[derive(Default)]
struct Told {
    /// Texts by the snapshot that was acknowledged.
    acknowledged: BTreeMap<String, i64>,
    failed: Vec<String>,
    n_doubts: usize,
    n_ended: usize,
    reasons: BTreeMap<String, usize>,
}

struct Storm {
    postgres: Postgres,
    proxy: Proxy,
    machines: Vec<Folder>,
    told: Mutex<Told>,
    pids: Mutex<BTreeMap<usize, u32>>,
    is_over: AtomicBool,
}

/// Ends the storm when it is dropped.
struct Over<'s>(&'s AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
#[ignore = "needs PostgreSQL, and minutes: make shared"]
fn a_storm_loses_nothing_and_leaves_all_replicas_the_same() {
    let seconds = env_number("STORM_S").unwrap_or(120);
    let first = env_number("STORM_SEED").unwrap_or(1);
    for seed in first..first + env_number("STORM_SEEDS").unwrap_or(3) {
        storm(seed, Duration::from_secs(seconds));
    }
}

fn storm(seed: u64, duration: Duration) {
    let postgres = Postgres::start();
    let proxy = Proxy::before(postgres.port);
    let (first, url) = published(&postgres, "storm");
    let mut machines = vec![first];
    for _ in 1..N_REPLICAS {
        let machine = machine();
        ok(&machine, &["space", "join", &url, "--db", "m.db"]);
        machines.push(machine);
    }
    let storm = Arc::new(Storm {
        postgres,
        proxy,
        machines,
        told: Mutex::default(),
        pids: Mutex::default(),
        is_over: AtomicBool::new(false),
    });
    std::thread::scope(|scope| {
        for writer in 0..N_WRITERS {
            let storm = Arc::clone(&storm);
            scope.spawn(move || write(&storm, writer, seed));
        }
        // Also when the weather fails: the writers end.
        let over = Over(&storm.is_over);
        weather(&storm, seed, duration);
        drop(over);
    });
    judge(&storm, seed);
}

/// Writes until the storm is over, in a process that may end at any time.
fn write(storm: &Storm, writer: usize, seed: u64) {
    let mut dice = Dice::new(seed * 1_000 + writer as u64 + 1);
    let folder = &storm.machines[writer % N_REPLICAS];
    // Half of them are behind a network that is cut now and then.
    let port = if writer % 8 < 4 { storm.postgres.port } else { storm.proxy.port };
    let url = storm.postgres.url(port, "storm");
    let mut nth = 0;
    while !storm.is_over.load(Ordering::Relaxed) {
        let args = [
            "serve",
            "--db",
            "m.db",
            "--shared",
            &url,
            "--source",
            "notes",
            "--rescan-interval",
            "1h",
        ];
        let mut client = Client::of(&mut command(folder, &args));
        storm.pids.lock().unwrap().insert(writer, client.pid());
        let hello = json!({"protocolVersion": "2025-11-25"});
        let is_up = client.ask_unless_ended("initialize", hello).is_some();
        while is_up && !storm.is_over.load(Ordering::Relaxed) {
            nth += 1;
            let is_on = match dice.below(40) {
                0 if writer < N_REPLICAS => compile(&mut client, folder, nth),
                1 if writer == N_REPLICAS => roll_back(&mut client, &mut dice),
                _ => say(storm, &mut client, &format!("Writer{writer}x{nth} of seed {seed}")),
            };
            if !is_on {
                break;
            }
        }
        storm.pids.lock().unwrap().remove(&writer);
        drop(client.kill());
    }
}

/// Writes one text; returns false when the process has ended.
fn say(storm: &Storm, client: &mut Client, text: &str) -> bool {
    let reply = client.call_unless_ended("MemoryWrite", json!({"payload": text}));
    let mut told = storm.told.lock().unwrap();
    let Some(reply) = reply else {
        told.n_ended += 1;
        return false;
    };
    if !reply.is_error {
        let of = |text: &str| {
            text.split("snapshot ").nth(1)?.split(|it: char| !it.is_numeric()).next()?.parse().ok()
        };
        told.acknowledged.insert(text.to_owned(), of(&reply.text).unwrap_or(0));
    } else if reply.text.contains("may or may not") {
        told.n_doubts += 1;
    } else {
        told.failed.push(text.to_owned());
        let reason: String = reply.text.chars().filter(|it| !it.is_numeric()).take(90).collect();
        *told.reasons.entry(reason).or_default() += 1;
        drop(told);
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

fn compile(client: &mut Client, folder: &Folder, nth: u64) -> bool {
    folder.write(format!("notes/n{}.md", nth % 5), format!("# Note\n\nVersion {nth}.\n"));
    client.call_unless_ended("MemoryCompile", json!({"path": "."})).is_some()
}

fn roll_back(client: &mut Client, dice: &mut Dice) -> bool {
    let arguments = json!({"snapshot_id": 1 + dice.below(5)});
    client.call_unless_ended("MemoryRollback", arguments).is_some()
}

/// Kills, stops and cuts.
fn weather(storm: &Storm, seed: u64, duration: Duration) {
    let mut dice = Dice::new(seed * 7_919 + 1);
    let began = Instant::now();
    let (mut n_kills, mut n_restarts, mut n_cuts, mut n_stops) = (0, 0, 0, 0);
    while began.elapsed() < duration {
        std::thread::sleep(Duration::from_millis(200 + dice.below(1_500) as u64));
        let victim = {
            let pids = storm.pids.lock().unwrap();
            let all: Vec<u32> = pids.values().copied().collect();
            dice.pick_if_any(&all)
        };
        let send = |pid: u32, name: &str| {
            let _ =
                std::process::Command::new("kill").args(["-s", name, &pid.to_string()]).status();
        };
        match (dice.below(10), victim) {
            (0..4, Some(pid)) => {
                send(pid, "KILL");
                n_kills += 1;
            }
            (4..6, Some(pid)) => {
                send(pid, "STOP");
                std::thread::sleep(Duration::from_millis(500 + dice.below(3_000) as u64));
                send(pid, "CONT");
                n_stops += 1;
            }
            (6..9, _) => {
                storm.proxy.cut();
                n_cuts += 1;
            }
            _ => {
                storm.postgres.kill();
                storm.postgres.launch();
                n_restarts += 1;
            }
        }
    }
    println!("{n_kills} kills, {n_stops} stops, {n_cuts} cuts, {n_restarts} kills of the server");
}

/// Looks at what is left.
fn judge(storm: &Storm, seed: u64) {
    let mut all = Vec::new();
    for machine in &storm.machines {
        let began = Instant::now();
        // A replica that follows is in step.
        let url = storm.postgres.url(storm.postgres.port, "storm");
        let mut client = super::serve(machine, "m.db", &url, &[]);
        while status(machine, "m.db").0 != Some(0) {
            assert!(began.elapsed() < Duration::from_secs(200), "{:?}", status(machine, "m.db"));
        }
        client.close();
        client.end();
        machine.assert_healthy("m.db");
        all.push(rows(&machine.path("m.db")));
    }
    for (nth, rows) in all.iter().enumerate().skip(1) {
        let lacks: Vec<&String> = all[0].iter().filter(|it| !rows.contains(it)).take(3).collect();
        assert!(*rows == all[0], "replica {nth} differs: {lacks:#?}");
    }
    let told = storm.told.lock().unwrap();
    let conn = storm.machines[0].database("m.db");
    let has = |text: &str| -> bool {
        let sql = "SELECT EXISTS (SELECT 1 FROM node WHERE content = ?1)
                       OR EXISTS (SELECT 1 FROM blob WHERE content = ?1)";
        conn.query_row(sql, [text], |row| row.get(0)).unwrap()
    };
    let lost: Vec<&String> = told.acknowledged.keys().filter(|it| !has(it)).collect();
    let kept: Vec<&String> = told.failed.iter().filter(|it| has(it)).collect();
    println!(
        "seed {seed}: {} acknowledged, {} lost; {} failed, {} of them there; {} in doubt, {} ended",
        told.acknowledged.len(),
        lost.len(),
        told.failed.len(),
        kept.len(),
        told.n_doubts,
        told.n_ended
    );
    println!("{:#?}", told.reasons);
    assert!(lost.is_empty() && kept.is_empty(), "lost {lost:?}, there {kept:?}");
    assert!(100 < told.acknowledged.len());
}
