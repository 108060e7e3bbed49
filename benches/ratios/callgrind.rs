//! Counts the instructions of the hot paths, which are the same on every machine.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::footprint::sqlite_symbols;
use crate::process::{Server, program};
use crate::questions::Question;
use crate::table::Figure;
use crate::{Outcome, floor};

/// Searches, fetches and writes whose mean is taken.
const CALLS: usize = 20;

/// Counts of instructions, in millions.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    all: f64,
    /// Instructions of SQLite's own functions, without the C library's that they call.
    of_sqlite: f64,
}

/// Counts the instructions of compiling `notes`, and of a search, a fetch and a write in the result.
pub(crate) fn figures(notes: &Path, dir: &Path, asked: &[Question]) -> Outcome<Vec<Figure>> {
    let sqlite = sqlite_symbols()?;
    let (out, db) = (dir.join("callgrind.out"), dir.join("callgrind.db"));
    let status = valgrind(&out)
        .args(["compile".as_ref(), notes.as_os_str(), "--db".as_ref(), db.as_os_str()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|error| format!("`valgrind` cannot be run: {error}"))?;
    if !status.success() {
        return Err("the compile failed under valgrind".into());
    }
    let compile = read(&out, &sqlite)?;
    let served = |tool: &str, calls: &[Value]| -> Outcome<Counted> {
        let (mut server, _) = Server::of(valgrind(&out).args(["serve", "--db"]).arg(&db))?;
        for arguments in calls {
            server.call(tool, arguments)?;
        }
        server.end()?;
        read(&out, &sqlite)
    };
    let idle = served("MemorySearch", &[])?;
    let searches: Vec<Value> =
        asked.iter().take(CALLS).map(|it| json!({ "query": it.text })).collect();
    let fetches = anchors(&floor::reader(&db)?)?;
    let mean = |calls: Counted| Counted {
        all: (calls.all - idle.all) / CALLS as f64,
        of_sqlite: (calls.of_sqlite - idle.of_sqlite) / CALLS as f64,
    };
    let search = mean(served("MemorySearch", &searches)?);
    let fetch = mean(served("MemoryFetch", &fetches)?);
    let write = |it: &Question| json!({ "payload": format!("Noted: {}.", it.text) });
    let writes: Vec<Value> = asked.iter().take(CALLS).map(write).collect();
    let write = mean(served("MemoryWrite", &writes)?);
    let figure = |what: &str, it: Counted| {
        Figure::new(&format!("{what} / SQLite's own"), "10⁶", it.all).beside(it.of_sqlite)
    };
    Ok(vec![
        figure("compile", compile),
        figure("start to end of a server", idle),
        figure("search, mean", search),
        figure("fetch, mean", fetch),
        figure("write, mean", write),
    ])
}

fn anchors(conn: &Connection) -> Outcome<Vec<Value>> {
    let n: i64 = conn.query_row("SELECT max(key) FROM node", [], |row| row.get(0))?;
    let id = |nth: usize| -> Outcome<Value> {
        let key = 1 + nth as i64 * (n - 1) / CALLS as i64;
        let sql = "SELECT id FROM node WHERE key >= ?1 LIMIT 1";
        let id: String = conn.query_row(sql, [key], |row| row.get(0))?;
        Ok(json!({ "anchor": id }))
    };
    (0..CALLS).map(id).collect()
}

fn valgrind(out: &Path) -> Command {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--quiet", "--demangle=no"]);
    valgrind.arg(format!("--callgrind-out-file={}", out.display())).arg(program());
    valgrind
}

/// Sums the costs in callgrind's output.
///
/// Below each `fn=` there are lines of a position and a cost. The line after `calls=` is the cost
/// of the called function, which is counted at its own `fn=`.
fn read(out: &Path, sqlite: &HashSet<String>) -> Outcome<Counted> {
    let text = fs::read_to_string(out)?;
    let mut names: HashMap<&str, bool> = HashMap::new();
    let (mut is_of_sqlite, mut is_call) = (false, false);
    let mut counted = Counted::default();
    for line in text.lines() {
        if let Some(function) = line.strip_prefix("fn=") {
            let (id, name) = function.split_once(' ').unwrap_or((function, ""));
            if !name.is_empty() {
                names.insert(id, is_one_of(name, sqlite));
            }
            is_of_sqlite = names.get(id).copied().unwrap_or(false);
        } else if let Some(called) = line.strip_prefix("cfn=") {
            // A name is written out at its first occurrence, even as that of a called function.
            if let Some((id, name)) = called.split_once(' ') {
                names.insert(id, is_one_of(name, sqlite));
            }
        } else if line.starts_with("calls=") {
            is_call = true;
        } else if line.starts_with(|it: char| it.is_ascii_digit() || "+-*".contains(it)) {
            let cost = line.split(' ').nth(1).and_then(|it| it.parse::<f64>().ok());
            let cost = if is_call { 0.0 } else { cost.unwrap_or(0.0) / 1e6 };
            is_call = false;
            counted.all += cost;
            counted.of_sqlite += if is_of_sqlite { cost } else { 0.0 };
        }
    }
    Ok(counted)
}

/// Returns whether a name is one of `symbols`. Recursive calls have a number after the name, and
/// parts of a function a suffix.
fn is_one_of(name: &str, symbols: &HashSet<String>) -> bool {
    symbols.contains(name.split(['.', '\'']).next().unwrap_or(name))
}
