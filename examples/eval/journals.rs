//! Evaluates search on journals and conversations, with questions of our own.
//!
//! The answer is often in the node next to the paragraph that names the thing.
//! `tests/data/eval/questions.txt` has a line for each question: the question, ` => `, and a part
//! of the answer. A hit is right when the text of its node has that part. Each question is asked
//! twice: of the index alone, node by node with its own `bm25()`, and of the program.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use serde_json::json;

use crate::agent::Agent;
use crate::measure::{Row, Table};
use crate::{Result, compile, ored, still_folder};

/// Asks every question, with and without the ranking that follows full-text search.
pub(crate) fn evaluate(program: &Path) -> Result<Table> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/eval");
    let questions = fs::read_to_string(folder.join("questions.txt"))?;
    let place = tempfile::tempdir()?;
    let (notes, db) = (place.path().join("notes"), place.path().join("memory.db"));
    still_folder(&notes)?;
    for entry in fs::read_dir(folder.join("notes"))? {
        let entry = entry?;
        fs::copy(entry.path(), notes.join(entry.file_name()))?;
    }
    compile(program, &notes, &db)?;
    let conn = Connection::open_with_flags(&db, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let contents: HashMap<String, String> = conn
        .prepare("SELECT id, content FROM node")?
        .query_map([], read)?
        .collect::<rusqlite::Result<_>>()?;
    let mut agent = Agent::start(program, &notes, &db)?;
    let names = ["answer is the best hit", "answer in the best 3", "answer in the best 5", "MRR"];
    let mut rows =
        names.map(|name| Row { name: name.to_owned(), baseline: Vec::new(), ours: Vec::new() });
    for line in questions.lines().filter(|it| !it.is_empty()) {
        let (question, answer) =
            line.split_once(" => ").ok_or_else(|| format!("no answer in `{line}`"))?;
        if !contents.values().any(|it| it.contains(answer)) {
            return Err(format!("no note says `{answer}`").into());
        }
        let place_in = |ids: &[String]| {
            ids.iter().position(|id| contents.get(id).is_some_and(|it| it.contains(answer)))
        };
        let plain = figures(place_in(&plain_ranking(&conn, question)?));
        let hits = agent.search(json!({"query": question}))?.hits;
        let ours = figures(place_in(&hits.into_iter().map(|it| it.id).collect::<Vec<_>>()));
        for ((row, plain), ours) in rows.iter_mut().zip(plain).zip(ours) {
            row.baseline.push(plain);
            row.ours.push(ours);
        }
    }
    agent.stop()?;
    let title = format!("Journals and conversations: {} questions", rows[0].ours.len());
    Ok(Table { title, baseline: "by node", rows: rows.into(), ..Table::default() })
}

/// Returns the nodes as the index alone ranks them.
fn plain_ranking(conn: &Connection, question: &str) -> Result<Vec<String>> {
    const RANKED: &str = "
        SELECT node.id
          FROM node_fts
          JOIN node ON node.key = node_fts.rowid
         WHERE node_fts MATCH ?1
         ORDER BY bm25(node_fts)
         LIMIT 20";
    let mut query = conn.prepare(RANKED)?;
    let ids = query.query_map([ored(question)], |row| row.get(0))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

/// Returns whether the answer was first, in the first 3 and in the first 5, and its reciprocal
/// rank.
fn figures(place: Option<usize>) -> [f64; 4] {
    let within = |n: usize| f64::from(u8::from(place.is_some_and(|it| it < n)));
    [within(1), within(3), within(5), place.map_or(0.0, |it| 1.0 / (it as f64 + 1.0))]
}
