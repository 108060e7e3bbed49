//! What remindb takes, beside the least work that any program would have to do here.
//!
//! `make bench` prints the table; nothing asserts. Each figure is a median, and its floor is
//! measured in turn with it, so that a busy machine slows both. `N=` sets the number of notes
//! (2,000: 16 MB), `MILLION=1` adds a memory of a million nodes, `JSON=path` keeps the figures. It
//! needs `/proc`.

mod corpus;
mod floor;
mod process;

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use floor::Rows;
use process::{PROGRAM, Server, Took, compile, now, own_cpu_ms};
use rusqlite::Connection;
use serde_json::{Value, json};

const FILES: usize = 2_000;
/// Notes that have a million nodes together, about.
const FILES_OF_A_MILLION: usize = 30_000;
const RUNS: usize = 5;
const CALLS: usize = 200;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let n_files = env_number("N").unwrap_or(FILES);
    let dir = tempfile::tempdir()?;
    let mut table = Table::default();
    let (notes, db) = (dir.path().join("notes"), dir.path().join("memory.db"));
    let bytes = corpus::write(&notes, n_files)?;
    table.say(format!("{n_files} notes, {} KiB; medians", bytes / 1024))?;
    compiles(&mut table, dir.path(), &notes, &db)?;
    table.row(
        "database size / source size",
        "MiB",
        mib(&db)?,
        Some(bytes as f64 / 1048576.0),
        "",
    )?;
    table.row("binary", "MiB", mib(Path::new(PROGRAM))?, None, "")?;
    let empty = dir.path().join("empty.db");
    let nothing = dir.path().join("nothing");
    fs::create_dir(&nothing)?;
    compile(&nothing, &empty)?;
    serving(&mut table, "empty", &empty)?;
    serving(&mut table, &nodes(&db)?, &db)?;
    growth(&mut table, dir.path(), n_files)?;
    if std::env::var_os("MILLION").is_some() {
        let (notes, db) = (dir.path().join("many"), dir.path().join("million.db"));
        corpus::write(&notes, FILES_OF_A_MILLION)?;
        let took = compile(&notes, &db)?;
        let named = nodes(&db)?;
        table.row(&format!("first compile, CPU, {named}"), "ms", took.cpu_ms, None, "")?;
        table.row(&format!("first compile, peak, {named}"), "MiB", took.peak_mib, None, "64")?;
        let (changed, _) = one_changed(&notes, &db)?;
        table.row(&format!("one file changed, {named}"), "ms", changed, None, "")?;
        serving(&mut table, &named, &db)?;
    }
    table.keep()
}

/// Rows as they are printed and kept.
#[derive(Default)]
struct Table {
    kept: Vec<Value>,
}

impl Table {
    fn say(&mut self, what: String) -> Outcome<()> {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{what}\n")?;
        let (figure, floor, bound) = ("figure", "floor", "bound");
        writeln!(out, "{:<52} {figure:>10} {floor:>10} {:>7} {bound:>8}", "what", "ratio")?;
        Ok(())
    }

    /// `bound` is that of the design: of the ratio with an ×, else of the figure.
    fn row(
        &mut self,
        what: &str,
        unit: &str,
        figure: f64,
        floor: Option<f64>,
        bound: &str,
    ) -> Outcome<()> {
        let ratio = floor.map(|it| figure / it);
        let text = |it: Option<f64>| it.map_or(String::new(), |it| format!("{it:.1}"));
        let (floor_text, ratio_text) = (text(floor), text(ratio));
        let what_text = format!("{what}, {unit}");
        let mut out = std::io::stdout().lock();
        writeln!(
            out,
            "{what_text:<52} {figure:>10.1} {floor_text:>10} {ratio_text:>7} {bound:>8}"
        )?;
        self.kept.push(json!({
            "what": what, "unit": unit, "figure": figure, "floor": floor, "ratio": ratio,
            "bound": bound,
        }));
        Ok(())
    }

    fn keep(&self) -> Outcome<()> {
        match std::env::var_os("JSON") {
            Some(path) => Ok(fs::write(path, serde_json::to_string_pretty(&self.kept)?)?),
            None => Ok(()),
        }
    }
}

fn compiles(table: &mut Table, dir: &Path, notes: &Path, db: &Path) -> Outcome<()> {
    compile(notes, db)?;
    let rows = Rows::read(db)?;
    let (fresh, copy) = (dir.join("fresh.db"), dir.join("copy.db"));
    let (mut tooks, mut floors) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        remove(&fresh);
        tooks.push(compile(notes, &fresh)?);
        remove(&copy);
        floors.push(own_cpu_ms(|| rows.write(&copy))?);
    }
    drop(rows);
    let of = |tooks: &[Took], it: fn(&Took) -> f64| median(tooks.iter().map(it).collect());
    let floor = median(floors);
    table.row("first compile, CPU", "ms", of(&tooks, |it| it.cpu_ms), Some(floor), "2×")?;
    table.row("first compile, wall", "ms", of(&tooks, |it| it.wall_ms), None, "")?;
    table.row("first compile, peak memory", "MiB", of(&tooks, |it| it.peak_mib), None, "64")?;
    let (mut tooks, mut floors) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        tooks.push(compile(notes, db)?);
        floors.push(wall_ms(|| floor::walk(notes))?);
    }
    let (unchanged, floor) = (of(&tooks, |it| it.wall_ms), median(floors));
    table.row("nothing changed", "ms", unchanged, Some(floor), "2×")?;
    let (changed, cpu) = one_changed(notes, db)?;
    table.row("one file changed / nothing changed", "ms", changed, Some(unchanged), "+20 ms")?;
    table.row("one file changed, CPU", "ms", cpu, None, "100")
}

fn one_changed(notes: &Path, db: &Path) -> Outcome<(f64, f64)> {
    let note = notes.join("folder0/note7.md");
    let (mut walls, mut cpus) = (Vec::new(), Vec::new());
    for nth in 0..RUNS {
        let text = fs::read_to_string(&note)?;
        fs::write(&note, format!("{text}\n\nOne more paragraph, number {nth}.\n"))?;
        let took = compile(notes, db)?;
        walls.push(took.wall_ms);
        cpus.push(took.cpu_ms);
    }
    Ok((median(walls), median(cpus)))
}

/// What a client sees of a memory: the start, and the answers.
fn serving(table: &mut Table, named: &str, db: &Path) -> Outcome<()> {
    let (mut starts, mut floors) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let (server, ms) = Server::start(db)?;
        server.end()?;
        starts.push(ms);
        floors.push(wall_ms(|| {
            Command::new(PROGRAM).arg("--version").output()?;
            let conn = Connection::open(db)?;
            floor::query(&conn, "SELECT count(*) FROM root")
        })?);
    }
    let floor = Some(median(floors));
    table.row(&format!("start to first answer, {named}"), "ms", median(starts), floor, "3×")?;
    let (mut server, _) = Server::start(db)?;
    table.row(&format!("idle memory, {named}"), "MiB", server.memory_mib(), None, "12")?;
    let conn = Connection::open(db)?;
    let id = conn.query_row("SELECT id FROM node WHERE node_type = 'heading' LIMIT 1", [], |row| {
        row.get::<_, String>(0)
    });
    if let Ok(id) = id {
        answers(table, named, &mut server, &conn, &id)?;
    }
    server.end()
}

fn answers(
    table: &mut Table,
    named: &str,
    server: &mut Server,
    conn: &Connection,
    id: &str,
) -> Outcome<()> {
    const SEARCH: &str = "
        SELECT rowid FROM node_fts
         WHERE node_fts MATCH '\"vedi\" OR \"lomu\"'
         ORDER BY bm25(node_fts, 4.0, 1.0, 0.5, 1.0)
         LIMIT 300";
    const WRITE: &str = "SELECT count(*) FROM cursor";
    let fetch = format!("SELECT content FROM node WHERE id = '{id}'");
    let tree =
        format!("SELECT label FROM node WHERE parent = (SELECT key FROM node WHERE id = '{id}')");
    let anchor = format!(r#"{{"anchor":"{id}"}}"#);
    let calls: [(&str, &str, Arguments<'_>, &str); 4] = [
        ("search", "MemorySearch", &|_| r#"{"query":"vedi lomu"}"#.to_owned(), SEARCH),
        ("fetch", "MemoryFetch", &|_| anchor.clone(), &fetch),
        ("tree", "MemoryTree", &|_| format!(r#"{{"root":"{id}"}}"#), &tree),
        (
            "write",
            "MemoryWrite",
            &|nth| format!(r#"{{"anchor":"{id}","payload":"Noted number {nth}."}}"#),
            WRITE,
        ),
    ];
    for (what, tool, arguments, bare) in calls {
        let (mut figures, mut floors) = (Vec::new(), Vec::new());
        let n_calls = if what == "write" { CALLS / 10 } else { CALLS };
        for nth in 0..n_calls {
            match server.call(tool, &arguments(nth)) {
                Ok((_, ms)) => figures.push(ms),
                Err(error) => {
                    writeln!(std::io::stdout(), "{what}: {error}")?;
                    break;
                }
            }
            floors.push(wall_ms(|| floor::query(conn, bare))?);
        }
        if figures.is_empty() {
            continue;
        }
        figures.sort_by(f64::total_cmp);
        let p99 = figures[figures.len() * 99 / 100];
        let floor = (what != "write").then(|| median(floors));
        table.row(&format!("{what} p50, {named}"), "ms", median(figures), floor, "3×")?;
        table.row(&format!("{what} p99, {named}"), "ms", p99, None, "")?;
    }
    Ok(())
}

/// The arguments of a call, by its number.
type Arguments<'a> = &'a dyn Fn(usize) -> String;

/// The same at a sixteenth, a quarter and all of the notes.
fn growth(table: &mut Table, dir: &Path, n_files: usize) -> Outcome<()> {
    let mut first = None;
    for factor in [1, 4, 16] {
        let (notes, db) = (dir.join(format!("x{factor}")), dir.join(format!("x{factor}.db")));
        corpus::write(&notes, n_files * factor / 16)?;
        let took = compile(&notes, &db)?;
        let base: Took = *first.get_or_insert(took);
        let named = format!("{factor}× notes / 1×");
        table.row(&format!("CPU, {named}"), "ms", took.cpu_ms, Some(base.cpu_ms), "")?;
        table.row(&format!("peak, {named}"), "MiB", took.peak_mib, Some(base.peak_mib), "")?;
    }
    Ok(())
}

fn nodes(db: &Path) -> Outcome<String> {
    let conn = Connection::open(db)?;
    let n: i64 = conn.query_row("SELECT count(*) FROM node", [], |row| row.get(0))?;
    Ok(format!("{n} nodes"))
}

fn remove(db: &Path) {
    for ending in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(PathBuf::from(format!("{}{ending}", db.display())));
    }
}

fn mib(path: &Path) -> Outcome<f64> {
    Ok(fs::metadata(path)?.len() as f64 / 1048576.0)
}

fn wall_ms(work: impl FnOnce() -> Outcome<()>) -> Outcome<f64> {
    let started = now();
    work()?;
    Ok(started.elapsed().as_secs_f64() * 1000.0)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

fn env_number(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.parse().ok()
}
