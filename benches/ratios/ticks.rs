//! Measures a server's background work: rescans of the folder, and ticks of the memory clock.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::process::{Server, now, own_cpu_ms, program, sleep_us};
use crate::table::Figure;
use crate::{Outcome, floor};

const INTERVAL_MS: u64 = 100;
/// Duration of the observation.
const WATCHED_MS: u64 = 4_000;
const FLOOR_RUNS: usize = 20;
/// Longest wait for the first scan.
const FIRST_SCAN_MS_MAX: u64 = 60_000;

pub(crate) fn figures(notes: &Path, db: &Path) -> Outcome<Vec<Figure>> {
    let often = format!("{INTERVAL_MS}ms");
    let log = json!({ "rescan_files": { "enabled": true } });
    let rescan = watched(notes, db, &often, &json!({ "server": log }))?;
    // The kernel counts in steps of milliseconds, so short work is repeated.
    let walks_ms = own_cpu_ms(|| (0..FLOOR_RUNS).try_for_each(|_| floor::walk(notes)))?;
    let ticking = json!({ "server": log, "temperature": { "tick_interval": often } });
    let decay = watched(notes, db, "1h", &ticking)?;
    let n_ticks = decay.ms / INTERVAL_MS as f64;
    let copy = db.with_extension("ticks");
    fs::copy(db, &copy)?;
    let moved_ms = own_cpu_ms(|| floor::tick(&copy, 100 * FLOOR_RUNS))?;
    for ending in ["ticks", "ticks-wal", "ticks-shm"] {
        let _ = fs::remove_file(db.with_extension(ending));
    }
    Ok(vec![
        Figure::new("rescan tick, CPU / walk of the folder", "ms", rescan.cpu_ms / rescan.n_scans)
            .beside(walks_ms / FLOOR_RUNS as f64),
        Figure::new("decay tick, CPU / one row written", "ms", decay.cpu_ms / n_ticks)
            .beside(moved_ms / (100 * FLOOR_RUNS) as f64),
    ])
}

struct Watched {
    ms: f64,
    cpu_ms: f64,
    n_scans: f64,
}

/// Starts a server on the folder, waits for its first scan, and observes it.
fn watched(notes: &Path, db: &Path, rescan: &str, settings: &Value) -> Outcome<Watched> {
    let own = notes.join(".remindb");
    fs::create_dir_all(&own)?;
    fs::write(own.join("config.json"), settings.to_string())?;
    let mut serve = Command::new(program());
    serve.arg("serve").arg("--db").arg(db).arg("--source").arg(notes);
    let (mut server, _) = Server::of(serve.args(["--rescan-interval", rescan]))?;
    let n_scans = || {
        let text = fs::read_to_string(own.join("rescan.jsonl")).unwrap_or_default();
        text.lines().count() as f64
    };
    let started = now();
    while n_scans() < 1.0 {
        if u128::from(FIRST_SCAN_MS_MAX) < started.elapsed().as_millis() {
            return Err("the first scan takes too long".into());
        }
        sleep_us(10_000);
    }
    server.ping()?;
    let (cpu_ms, n_before, started) = (server.cpu_ms()?, n_scans(), now());
    sleep_us(1000 * WATCHED_MS);
    let watched = Watched {
        ms: started.elapsed().as_secs_f64() * 1000.0,
        cpu_ms: server.cpu_ms()? - cpu_ms,
        n_scans: (n_scans() - n_before).max(1.0),
    };
    server.end()?;
    fs::remove_dir_all(own)?;
    Ok(watched)
}
