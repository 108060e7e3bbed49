//! Measures a server as its client sees it: start and answers.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::corpus::Dice;
use crate::floor::{self, LINE, MATCHES, Mirror, TEXT};
use crate::process::{Server, forget, own_cpu_ms, wall_ms};
use crate::questions::{Question, everywhere};
use crate::table::{Bound, Figure, NONE};
use crate::{Outcome, doing, folder_in_ram, mean, median, percentile};

const STARTS: usize = 21;
/// Number of times that all questions are asked.
const PASSES: usize = 3;
/// Number of nodes that are fetched, and outlined.
const CALLS: usize = 200;
const TREES: usize = 20;
const WRITES: usize = 100;
const FLAT: Bound = Bound { growth: Some(2.0), ..NONE };
const IDLE: Bound = Bound { most_ever: Some(12.0), ..FLAT };
const OF_P99: Bound = Bound { ratio: Some(5.0), ..NONE };

/// Measures the time from the start of the process to its first answer, and its memory then.
pub(crate) fn start(db: &Path) -> Outcome<Vec<Figure>> {
    let (mut starts, mut floors, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let (server, ms) = Server::start(db)?;
        starts.push(ms);
        memory.push(server.memory_mb());
        server.end()?;
        floors.push(wall_ms(|| floor::process(db))?);
    }
    Ok(vec![
        Figure::new("start to first answer / bare process", "ms", median(starts))
            .above(median(floors))
            .within(Bound { ratio: Some(3.0), most_ever: Some(5.0), ..FLAT }),
        Figure::new("idle memory", "MB", median(memory)).within(IDLE),
    ])
}

/// Measures all kinds of answers.
pub(crate) fn answers(db: &Path, questions: &[Question]) -> Outcome<Vec<Figure>> {
    let mut figures = searches(db, questions)?;
    let copy = db.with_extension("mirror");
    let mut mirror = Mirror::of(db, &copy)?;
    let conn = floor::reader(db)?;
    let (mut server, _) = Server::start(db)?;
    let pings = (0..CALLS).map(|_| server.ping()).collect::<Outcome<Vec<_>>>()?;
    figures.push(Figure::new("empty round trip", "ms", median(pings)));
    doing("fetch, look around, write");
    for (what, tool, any, n, sql) in [
        ("fetch", "MemoryFetch", "node_type <> 'preamble'", CALLS, TEXT),
        ("subtree", "MemoryTree", "node_type = 'heading'", CALLS, LINE),
    ] {
        let nodes = some_nodes(&conn, any, n)?;
        let key = if tool == "MemoryTree" { "root" } else { "anchor" };
        let asked: Vec<Value> = nodes.iter().map(|id| json!({ key: id })).collect();
        figures.extend(reads(&mut server, &conn, what, (tool, sql), &asked)?);
    }
    let asked = vec![json!({}); TREES];
    figures.extend(reads(&mut server, &conn, "full tree", ("MemoryTree", LINE), &asked)?);
    figures.extend(writes(&mut server, &conn, &mut mirror)?);
    figures.push(Figure::new("memory after all of these", "MB", server.memory_mb()));
    server.end()?;
    for ending in ["mirror", "mirror-wal", "mirror-shm"] {
        let _ = fs::remove_file(db.with_extension(ending));
    }
    figures.push(write_in_ram(db)?);
    Ok(figures)
}

/// Whether the file is in the system's page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cache {
    Warm,
    Cold,
}

/// The cost of asking all questions.
struct Asked {
    walls: Vec<f64>,
    cpu_ms: f64,
    bare_walls: Vec<f64>,
    bare_cpu_ms: f64,
    read_mb: f64,
}

/// Asks a newly started server all questions, several times over.
///
/// Each is asked in turn with the bare query on a newly opened connection.
fn ask(db: &Path, questions: &[Question], cache: Cache) -> Outcome<Asked> {
    let mut asked = Asked {
        walls: Vec::new(),
        cpu_ms: 0.0,
        bare_walls: Vec::new(),
        bare_cpu_ms: 0.0,
        read_mb: 0.0,
    };
    let prepare = || if cache == Cache::Cold { forget(db) } else { Ok(()) };
    for _ in 0..PASSES {
        prepare()?;
        let (mut server, _) = Server::start(db)?;
        let before = server.cpu_ms()?;
        for question in questions {
            let arguments = json!({ "query": question.text });
            asked.walls.push(server.call("MemorySearch", &arguments)?.1);
        }
        asked.cpu_ms += server.cpu_ms()? - before;
        asked.read_mb += server.read_mb() / PASSES as f64;
        server.end()?;
        prepare()?;
        asked.bare_cpu_ms += own_cpu_ms(|| {
            let conn = floor::reader(db)?;
            for question in questions {
                let once = || floor::read(&conn, MATCHES, &[&question.expression]);
                asked.bare_walls.push(wall_ms(once)?);
            }
            Ok(())
        })?;
    }
    Ok(asked)
}

fn searches(db: &Path, questions: &[Question]) -> Outcome<Vec<Figure>> {
    doing("search");
    let warm = ask(db, questions, Cache::Warm)?;
    doing("search a file that is only on disk");
    let cold = ask(db, questions, Cache::Cold)?;
    let everywhere: Vec<Question> = (0..10).map(|_| everywhere()).collect();
    let all = ask(db, &everywhere, Cache::Warm)?;
    let n = warm.walls.len() as f64;
    let p50 = percentile(&warm.walls, 50);
    let p99 = |asked: &Asked| percentile(&asked.walls, 99);
    let bare_p99 = |asked: &Asked| percentile(&asked.bare_walls, 99);
    let first = |walls: &[f64]| median(walls.chunks(questions.len()).map(|it| it[0]).collect());
    let most = Some(10.0);
    Ok(vec![
        Figure::new("search p50 / bare full-text query", "ms", p50)
            .above(percentile(&warm.bare_walls, 50))
            .within(Bound { ratio: Some(3.0), most: Some(2.0), ..NONE }),
        Figure::new("search p99, server just started / p50", "ms", p99(&warm))
            .beside(p50)
            .at_least(bare_p99(&warm))
            .within(Bound { most, ..OF_P99 }),
        Figure::new("search p99, server just started / bare", "ms", p99(&warm))
            .beside(bare_p99(&warm)),
        Figure::new("search p99, file only on disk / bare", "ms", p99(&cold))
            .above(bare_p99(&cold))
            .within(Bound { most, ..NONE }),
        Figure::new("first search, file only on disk / bare", "ms", first(&cold.walls))
            .beside(first(&cold.bare_walls)),
        Figure::new("read from the disk for that", "MB", cold.read_mb),
        Figure::new("search, mean CPU / bare", "ms", warm.cpu_ms / n).beside(warm.bare_cpu_ms / n),
        Figure::new("search for a word of every node / bare", "ms", percentile(&all.walls, 50))
            .beside(percentile(&all.bare_walls, 50)),
    ])
}

/// Measures calls for nodes, in turn with reading the rows of the nodes shown.
fn reads(
    server: &mut Server,
    conn: &Connection,
    what: &str,
    (tool, sql): (&str, &str),
    asked: &[Value],
) -> Outcome<Vec<Figure>> {
    let (mut walls, mut floors, mut shown) = (Vec::new(), Vec::new(), Vec::new());
    for arguments in asked {
        let (answer, ms) = server.call(tool, arguments)?;
        walls.push(ms);
        let answer: Value = serde_json::from_str(&answer)?;
        let mut ids = BTreeSet::new();
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        collect_ids(text, &mut ids);
        let ids: Vec<&str> = ids.into_iter().collect();
        shown.push(ids.len() as f64);
        floors.push(wall_ms(|| floor::read(conn, sql, &ids))?);
    }
    let (p50, p99) = (percentile(&walls, 50), percentile(&walls, 99));
    let n_shown = mean(&shown);
    // An outline does more than read rows: it follows the tree.
    let (ratio, of_p99) = match tool {
        "MemoryTree" => (NONE, NONE),
        _ => (Bound { ratio: Some(3.0), ..NONE }, OF_P99),
    };
    Ok(vec![
        Figure::new(&format!("{what} p50 / its rows read"), "ms", p50)
            .above(percentile(&floors, 50))
            .within(ratio),
        Figure::new(&format!("{what} p99 / p50"), "ms", p99)
            .beside(p50)
            .at_least(percentile(&floors, 99))
            .within(of_p99),
        Figure::new(&format!("{what} p99 / bare"), "ms", p99).beside(percentile(&floors, 99)),
        Figure::new(&format!("{what}, nodes shown"), "", n_shown),
        Figure::new(&format!("{what}, each node"), "µs", 1000.0 * p50 / n_shown.max(1.0))
            .within(FLAT),
    ])
}

/// Characters of an id.
const ID_CHARS: usize = 11;

/// Collects the ids of the nodes that a text names, in lines `… (id=ID …)` and entries `ID[…] …`.
fn collect_ids<'a>(text: &'a str, ids: &mut BTreeSet<&'a str>) {
    let named = text.split("(id=").skip(1);
    ids.extend(named.filter_map(|it| it.split([' ', ')']).next()));
    let begin = text.lines().filter_map(|it| it.split([' ', '[']).next());
    let is_id = |it: &&str| it.len() == ID_CHARS && it.bytes().all(|it| it.is_ascii_alphanumeric());
    ids.extend(begin.filter(is_id));
}

/// Measures writes to a copy in RAM: the part of a write that does not wait for a disk.
fn write_in_ram(db: &Path) -> Outcome<Figure> {
    let dir = folder_in_ram()?;
    let (copy, copy_of_copy) = (dir.path().join("one.db"), dir.path().join("other.db"));
    fs::copy(db, &copy)?;
    let mut mirror = Mirror::of(&copy, &copy_of_copy)?;
    let conn = floor::reader(&copy)?;
    let (mut server, _) = Server::start(&copy)?;
    let (walls, floors) = write_below_headings(&mut server, &conn, &mut mirror)?;
    server.end()?;
    Ok(Figure::new("write p50, file in RAM / same rows written", "ms", percentile(&walls, 50))
        .above(percentile(&floors, 50))
        .within(Bound { most: Some(0.5), ..NONE }))
}

/// Measures writes below headings, in turn with writing the same rows to a copy.
fn writes(server: &mut Server, conn: &Connection, mirror: &mut Mirror) -> Outcome<Vec<Figure>> {
    let (walls, floors) = write_below_headings(server, conn, mirror)?;
    let (p50, p99) = (percentile(&walls, 50), percentile(&walls, 99));
    Ok(vec![
        Figure::new("write p50 / same rows written", "ms", p50)
            .above(percentile(&floors, 50))
            .within(Bound { ratio: Some(3.0), ..NONE }),
        Figure::new("write p99 / p50", "ms", p99)
            .beside(p50)
            .at_least(percentile(&floors, 99))
            .within(OF_P99),
        Figure::new("write p99 / bare", "ms", p99).beside(percentile(&floors, 99)),
    ])
}

/// Returns the times of writes, and of writing the same rows to a copy.
fn write_below_headings(
    server: &mut Server,
    conn: &Connection,
    mirror: &mut Mirror,
) -> Outcome<(Vec<f64>, Vec<f64>)> {
    let (mut walls, mut floors) = (Vec::new(), Vec::new());
    for (nth, id) in some_nodes(conn, "node_type = 'heading'", WRITES)?.iter().enumerate() {
        let payload = format!("Noted number {nth}: the quick brown fox jumps over the lazy dog.");
        let arguments = json!({ "anchor": id, "payload": payload });
        walls.push(server.call("MemoryWrite", &arguments)?.1);
        let news = mirror.news(conn)?;
        floors.push(wall_ms(|| mirror.write(&news))?);
    }
    Ok((walls, floors))
}

/// Returns ids of `n` nodes spread over the memory.
fn some_nodes(conn: &Connection, which: &str, n: usize) -> Outcome<Vec<String>> {
    let n_keys: i64 = conn.query_row("SELECT max(key) FROM node", [], |row| row.get(0))?;
    let sql = format!("SELECT id FROM node WHERE key >= ?1 AND {which} ORDER BY key LIMIT 1");
    let mut query = conn.prepare(&sql)?;
    let mut dice = Dice::of(1);
    let mut ids = Vec::new();
    while ids.len() < n {
        let mut rows = query.query([dice.below(n_keys as usize) as i64])?;
        if let Some(row) = rows.next()? {
            ids.push(row.get(0)?);
        }
    }
    Ok(ids)
}
