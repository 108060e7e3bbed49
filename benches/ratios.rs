//! What remindb takes, as ratios to the least work that any program would have to do here.
//!
//! Each figure is the median of several runs within this one process, and its floor is measured in
//! turn with it, so that a busy machine slows both. `make bench` prints the table; nothing asserts.

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use rusqlite::Connection;
use rusqlite::types::Value;

const FILES: usize = 2_000;
const RUNS: usize = 5;
const PROGRAM: &str = env!("CARGO_BIN_EXE_remindb");

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let dir = tempfile::tempdir()?;
    let notes = dir.path().join("notes");
    let bytes = write_notes(&notes)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{FILES} notes, {} KiB; medians of {RUNS} runs\n", bytes / 1024)?;
    writeln!(out, "{:<44} {:>9} {:>9} {:>7}", "what", "ms", "floor ms", "ratio")?;
    let mut row = |what: &str, figure: (f64, f64)| {
        let (ms, floor) = figure;
        writeln!(out, "{what:<44} {ms:>9.1} {floor:>9.1} {:>7.1}", ms / floor)
    };
    let db = dir.path().join("memory.db");
    row("first compile / inserting the same rows", first_compile(dir.path(), &notes, &db)?)?;
    row("compile, nothing changed / walk and stat", unchanged(&notes, &db)?)?;
    row("one file changed / compile, nothing changed", one_changed(&notes, &db)?)?;
    row("search over MCP / the bare FTS5 query", search(&db)?)?;
    row("start to first answer / start and open", start(&db)?)?;
    Ok(())
}

/// Notes with headings, paragraphs, lists and code, no two alike.
fn write_notes(notes: &Path) -> Outcome<usize> {
    const WORDS: [&str; 12] = [
        "store", "writer", "budget", "token", "index", "anchor", "heading", "snapshot", "memory",
        "reader", "agent", "search",
    ];
    let mut bytes = 0;
    for file in 0..FILES {
        let mut text = format!("# Note {file}\n\n");
        for section in 0..6 {
            text += &format!("## {} {section}\n\n", WORDS[(file + section) % WORDS.len()]);
            for nth in 0..40 {
                text += WORDS[(file * 7 + section * 5 + nth * nth) % WORDS.len()];
                text += if nth % 11 == 10 { ".\n" } else { " " };
            }
            text += &format!(
                "\n\n- item {file}\n- item {section}\n\n```sh\nrun {file} {section}\n```\n\n"
            );
        }
        let folder = notes.join(format!("folder{}", file % 20));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("{file}.md")), &text)?;
        bytes += text.len();
    }
    Ok(bytes)
}

fn ms(work: impl FnOnce() -> Outcome<()>) -> Outcome<f64> {
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
    let started = Instant::now();
    work()?;
    Ok(started.elapsed().as_secs_f64() * 1000.0)
}

/// Medians of a figure and its floor, run in turn.
fn paired(
    mut figure: impl FnMut() -> Outcome<f64>,
    mut floor: impl FnMut() -> Outcome<f64>,
) -> Outcome<(f64, f64)> {
    let (mut figures, mut floors) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        figures.push(figure()?);
        floors.push(floor()?);
    }
    Ok((median(figures), median(floors)))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn compile(notes: &Path, db: &Path) -> Outcome<()> {
    let run = Command::new(PROGRAM).arg("compile").arg(notes).arg("--db").arg(db).output()?;
    if run.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&run.stderr).into()) }
}

fn first_compile(dir: &Path, notes: &Path, db: &Path) -> Outcome<(f64, f64)> {
    compile(notes, db)?;
    let rows = Rows::read(db)?;
    let (fresh, copy) = (dir.join("fresh.db"), dir.join("copy.db"));
    paired(
        || {
            let _ = fs::remove_file(&fresh);
            ms(|| compile(notes, &fresh))
        },
        || {
            let _ = fs::remove_file(&copy);
            ms(|| rows.write(&copy))
        },
    )
}

/// The rows of a memory, and the schema that they go into.
struct Rows {
    schema: Vec<String>,
    tables: Vec<(&'static str, Vec<Vec<Value>>)>,
}

impl Rows {
    fn read(db: &Path) -> Outcome<Rows> {
        let conn = Connection::open(db)?;
        let mut query = conn.prepare(
            "SELECT sql FROM sqlite_schema
              WHERE sql IS NOT NULL AND name NOT LIKE 'node_fts_%' AND name NOT LIKE 'sqlite_%'
                 OR type = 'trigger'",
        )?;
        let schema = query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let mut tables = Vec::new();
        for table in ["root", "file", "node", "heat", "span", "snapshot", "diff"] {
            let mut query = conn.prepare(&format!("SELECT * FROM {table}"))?;
            let n_columns = query.column_count();
            let rows = query.query_map([], |row| (0..n_columns).map(|it| row.get(it)).collect())?;
            tables.push((table, rows.collect::<Result<_, _>>()?));
        }
        Ok(Rows { schema, tables })
    }

    /// Inserts all of them in one transaction, as the program's own settings have it.
    fn write(&self, db: &Path) -> Outcome<()> {
        let mut conn = Connection::open(db)?;
        conn.pragma_update(None, "journal_mode", "WAL")?;
        conn.pragma_update(None, "synchronous", "FULL")?;
        conn.pragma_update(None, "cache_size", -8192)?;
        let tx = conn.transaction()?;
        for sql in &self.schema {
            tx.execute_batch(sql)?;
        }
        for (table, rows) in &self.tables {
            let Some(first) = rows.first() else { continue };
            let marks = vec!["?"; first.len()].join(", ");
            let mut insert = tx.prepare(&format!("INSERT INTO {table} VALUES ({marks})"))?;
            for row in rows {
                insert.execute(rusqlite::params_from_iter(row))?;
            }
        }
        Ok(tx.commit()?)
    }
}

fn unchanged(notes: &Path, db: &Path) -> Outcome<(f64, f64)> {
    paired(
        || ms(|| compile(notes, db)),
        || {
            ms(|| {
                let mut folders = vec![notes.to_owned()];
                while let Some(folder) = folders.pop() {
                    for entry in fs::read_dir(folder)? {
                        let path = entry?.path();
                        let metadata = fs::metadata(&path)?;
                        if metadata.is_dir() {
                            folders.push(path);
                        }
                        black_box(metadata.len());
                    }
                }
                Ok(())
            })
        },
    )
}

fn one_changed(notes: &Path, db: &Path) -> Outcome<(f64, f64)> {
    let mut nth = 0;
    let note = notes.join("folder7/7.md");
    paired(
        || {
            nth += 1;
            let text = fs::read_to_string(&note)?;
            fs::write(&note, format!("{text}\n\nOne more paragraph, number {nth}.\n"))?;
            ms(|| compile(notes, db))
        },
        || ms(|| compile(notes, db)),
    )
}

/// A server to talk to over its streams.
fn ask(db: &Path, requests: &[String], mut answered: impl FnMut(usize)) -> Outcome<()> {
    let mut server = Command::new(PROGRAM)
        .args(["serve", "--db"])
        .arg(db)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut to = server.stdin.take().ok_or("no stdin")?;
    let mut from = BufReader::new(server.stdout.take().ok_or("no stdout")?);
    let mut line = String::new();
    for (nth, request) in requests.iter().enumerate() {
        writeln!(to, "{request}")?;
        line.clear();
        from.read_line(&mut line)?;
        answered(nth);
    }
    drop(to);
    server.wait()?;
    Ok(())
}

const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;

fn search(db: &Path) -> Outcome<(f64, f64)> {
    const CALLS: usize = 50;
    const BARE: &str = "
        SELECT rowid FROM node_fts
         WHERE node_fts MATCH '\"writer\" OR \"budget\"'
         ORDER BY bm25(node_fts, 4.0, 1.0, 0.5, 1.0)
         LIMIT 300";
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"MemorySearch","arguments":{"query":"writer budget"}}}"#;
    let mut requests = vec![HELLO.to_owned()];
    requests.extend(vec![call.to_owned(); CALLS]);
    let conn = Connection::open(db)?;
    paired(
        || {
            let mut started = None;
            let mut took = 0.0;
            ask(db, &requests, |nth| {
                #[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
                let now = Instant::now();
                let first = *started.get_or_insert(now);
                if nth == CALLS {
                    took = now.duration_since(first).as_secs_f64() * 1000.0;
                }
            })?;
            Ok(took / CALLS as f64)
        },
        || {
            let took = ms(|| {
                let mut query = conn.prepare(BARE)?;
                for _ in 0..CALLS {
                    let keys: Vec<i64> =
                        query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
                    black_box(keys);
                }
                Ok(())
            })?;
            Ok(took / CALLS as f64)
        },
    )
}

fn start(db: &Path) -> Outcome<(f64, f64)> {
    let version = || ms(|| Ok(Command::new(PROGRAM).arg("--version").output().map(drop)?));
    paired(
        || ms(|| ask(db, &[HELLO.to_owned()], |_| ())),
        || {
            let process = version()?;
            let opened = ms(|| {
                let conn = Connection::open(db)?;
                black_box(
                    conn.query_row("SELECT count(*) FROM root", [], |row| row.get::<_, i64>(0))?,
                );
                Ok(())
            })?;
            Ok(process + opened)
        },
    )
}
