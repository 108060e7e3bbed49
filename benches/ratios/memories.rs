//! Measures typed memories beside notes: storing, querying, their resources, and what they cost
//! the notes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::corpus::Dice;
use crate::floor::{self, Mirror};
use crate::process::{Server, program, wall_ms};
use crate::questions::Question;
use crate::serving;
use crate::table::{Bound, Figure, NONE};
use crate::{Outcome, doing, folder_in_ram, percentile};

/// Memories by type; of core ones there may be a thousand.
const MEMORIES: [(&str, usize); 3] = [("core", 900), ("learning", 5_100), ("task", 4_000)];
const TAGS: usize = 40;
const CALLS: usize = 200;
const READS: usize = 50;

const RESOURCES: [&str; 5] = [
    "memory://recent",
    "memory://core",
    "memory://learnings",
    "memory://tasks/active",
    "memory://tasks/completed",
];

/// Columns that a query for a text with two tags needs, by their index.
const QUERY: &str = "
    SELECT node.content, node.fields
      FROM facet AS a
      JOIN facet AS b ON b.key = 'tag' AND b.value = 'all' AND b.node = a.node
      JOIN facet AS live ON live.key = 'archived' AND live.value = 0 AND live.node = a.node
      JOIN facet AS at ON at.node = a.node AND at.key = 'updated_at'
      JOIN node ON node.key = a.node
     WHERE a.key = 'tag' AND a.value = ?1 AND node.content LIKE '%harbour%'
     ORDER BY at.value DESC
     LIMIT 10";

const CORE: &str = "
    SELECT node.content, node.fields
      FROM facet
      JOIN node ON node.key = facet.node
     WHERE facet.key = 'type' AND facet.value = ?1
     LIMIT 1000";

/// Adds memories to a copy of `db`, and measures calls on them and on the notes beside them.
pub(crate) fn figures(db: &Path, questions: &[Question]) -> Outcome<Vec<Figure>> {
    let typed = db.with_extension("typed");
    remove(&typed);
    fs::copy(db, &typed)?;
    doing("store memories");
    fill(&typed)?;
    let mut figures = serving::start(&typed)?;
    figures.extend(writes(&typed)?);
    figures.extend(reads(&typed)?);
    doing("search notes beside memories, and memories beside notes");
    figures.extend(searches(db, &typed, questions)?);
    doing("write, fetch and look around, with and without memories beside the notes");
    figures.extend(notes_beside(db, &typed)?);
    remove(&typed);
    Ok(figures)
}

/// A server that offers all tools, and archives nothing by itself.
fn server(db: &Path) -> Outcome<Server> {
    let mut serve = Command::new(program());
    serve.args(["serve", "--tools", "all,memory", "--db"]).arg(db);
    Ok(Server::of(serve.env("ENABLE_AUTO_ARCHIVAL", "false"))?.0)
}

fn memory(memory_type: &str, nth: usize) -> Value {
    let mut dice = Dice::of(nth);
    let words = ["harbour", "lamp", "ledger", "invoice", "garden", "release", "migration"];
    let some: Vec<&str> = (0..12).map(|_| words[dice.below(words.len())]).collect();
    let importance = ["high", "medium", "low"][dice.below(3)];
    let mut memory = json!({
        "type": memory_type,
        "content": format!("Memory {nth} is about {}.", some.join(", ")),
        "tags": ["all", format!("tag{}", dice.below(TAGS))],
        "importance": importance,
    });
    if memory_type == "task" {
        let status = ["completed", "in-progress", "blocked"][dice.below(3)];
        memory["task_metadata"] = json!({"status": status, "outcome": "as it was planned"});
    }
    memory
}

fn fill(db: &Path) -> Outcome<()> {
    let mut server = server(db)?;
    let mut nth = 0;
    for (memory_type, n) in MEMORIES {
        for _ in 0..n {
            nth += 1;
            server.call("store_memory", &memory(memory_type, nth))?;
        }
    }
    server.end()
}

/// Measures storing and updating, in turn with writing the same rows to a copy.
fn writes(db: &Path) -> Outcome<Vec<Figure>> {
    doing("store and update beside them");
    let copy = db.with_extension("mirror");
    let mut mirror = Mirror::of(db, &copy)?;
    let conn = floor::reader(db)?;
    let mut server = server(db)?;
    let (mut stores, mut floors, mut updates) = (Vec::new(), Vec::new(), Vec::new());
    for nth in 0..CALLS {
        let stored = memory("learning", 1_000_000 + nth);
        let (answer, ms) = server.call("store_memory", &stored)?;
        stores.push(ms);
        let news = mirror.news(&conn)?;
        floors.push(wall_ms(|| mirror.write(&news))?);
        let change = json!({"id": id_of(&answer)?, "tags": ["all", "later"], "importance": "low"});
        updates.push(server.call("update_memory", &change)?.1);
        // The copy needs its snapshots for those that follow.
        let news = mirror.news(&conn)?;
        mirror.write(&news)?;
    }
    server.end()?;
    remove(&copy);
    let p50 = |of: &[f64]| percentile(of, 50);
    let most = |ms: f64| Bound { most: Some(ms), ..NONE };
    Ok(vec![
        Figure::new("store_memory p50 / same rows written", "ms", p50(&stores))
            .above(p50(&floors))
            .within(Bound { ratio: Some(3.0), ..most(3.0) }),
        Figure::new("store_memory p99 / p50", "ms", percentile(&stores, 99))
            .beside(p50(&stores))
            .at_least(percentile(&floors, 99)),
        Figure::new("update_memory p50 / store_memory", "ms", p50(&updates))
            .beside(p50(&stores))
            .within(most(3.0)),
    ])
}

fn id_of(answer: &str) -> Outcome<String> {
    let answer: Value = serde_json::from_str(answer)?;
    let body = answer["result"]["content"][0]["text"].as_str().ok_or("no text")?;
    let body: Value = serde_json::from_str(body)?;
    Ok(body["id"].as_str().ok_or("no id")?.to_owned())
}

fn reads(db: &Path) -> Outcome<Vec<Figure>> {
    doing("query, and read their resources");
    let conn = floor::reader(db)?;
    let mut server = server(db)?;
    let (mut queries, mut floors, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for nth in 0..CALLS {
        let tag = format!("tag{}", nth % TAGS);
        let by = ["created_at", "updated_at", "accessed_at", "importance", "access_count"][nth % 5];
        let ask = json!({"search": "harbour", "tags": ["all", tag], "sort_by": by});
        queries.push(server.call("query_memories", &ask)?.1);
        floors.push(wall_ms(|| floor::read(&conn, QUERY, &[&tag]))?);
        let ask = json!({"search": "harbour lamp", "tags": ["all"], "sort_by": by});
        if nth % 4 == 0 {
            all.push(server.call("query_memories", &ask)?.1);
        }
    }
    let p50 = |of: &[f64]| percentile(of, 50);
    let most = |ms: f64| Bound { most: Some(ms), ..NONE };
    let mut figures = vec![
        Figure::new("query_memories p50, text and two tags / bare", "ms", p50(&queries))
            .above(p50(&floors))
            .within(most(5.0)),
        Figure::new("query_memories p99 / p50", "ms", percentile(&queries, 99))
            .beside(p50(&queries)),
        Figure::new("query_memories p50, a tag of all of them", "ms", p50(&all)),
    ];
    let stats = (0..READS).map(|_| Ok(server.call("get_memory_stats", &json!({}))?.1));
    figures.push(Figure::new(
        "get_memory_stats p50",
        "ms",
        p50(&stats.collect::<Outcome<Vec<_>>>()?),
    ));
    let floor = |_| wall_ms(|| floor::read(&conn, CORE, &["core"]));
    let floor = p50(&(0..READS).map(floor).collect::<Outcome<Vec<_>>>()?);
    for uri in RESOURCES {
        let reads = (0..READS).map(|_| server.read(uri)).collect::<Outcome<Vec<_>>>()?;
        figures.push(
            Figure::new(&format!("{uri} p50 / rows read"), "ms", p50(&reads))
                .above(floor)
                .within(most(10.0)),
        );
    }
    figures.push(Figure::new("memory after all of these", "MB", server.memory_mb()));
    server.end()?;
    Ok(figures)
}

/// Measures the same questions with and without memories beside the notes, in turn.
fn searches(db: &Path, typed: &Path, questions: &[Question]) -> Outcome<Vec<Figure>> {
    let (mut without, mut with) = (server(db)?, server(typed)?);
    let (mut alone, mut beside, mut of_tasks) = (Vec::new(), Vec::new(), Vec::new());
    for question in questions {
        let ask = json!({ "query": question.text });
        alone.push(without.call("MemorySearch", &ask)?.1);
        beside.push(with.call("MemorySearch", &ask)?.1);
        let ask = json!({"query": "harbour lamp release", "type": "task", "status": "blocked"});
        of_tasks.push(with.call("MemorySearch", &ask)?.1);
    }
    let p50 = |of: &[f64]| percentile(of, 50);
    // One that is archived turns the condition on, which the others do not pay for.
    let (answer, _) = with.call("store_memory", &memory("learning", 2_000_000))?;
    with.call("delete_memory", &json!({"id": id_of(&answer)?}))?;
    let hiding =
        questions.iter().map(|it| Ok(with.call("MemorySearch", &json!({ "query": it.text }))?.1));
    let hiding = hiding.collect::<Outcome<Vec<_>>>()?;
    without.end()?;
    with.end()?;
    let bytes = |of: &Path| Ok::<f64, std::io::Error>(fs::metadata(of)?.len() as f64 / 1e6);
    let n: i64 = Connection::open(typed)?.query_row(
        "SELECT count(*) FROM facet WHERE key = 'uuid'",
        [],
        |row| row.get(0),
    )?;
    let size_kb = (bytes(typed)? - bytes(db)?) * 1000.0 / n as f64;
    Ok(vec![
        Figure::new("search of notes p50 / without memories", "ms", p50(&beside))
            .beside(p50(&alone)),
        Figure::new("and where one is archived / without", "ms", p50(&hiding)).beside(p50(&alone)),
        Figure::new("search of blocked tasks p50", "ms", p50(&of_tasks)),
        Figure::new("database, each memory", "kB", size_kb),
    ])
}

/// Measures other calls on notes with and without memories beside them, in turn. The copies are in
/// RAM, so that no write waits for a disk.
fn notes_beside(db: &Path, typed: &Path) -> Outcome<Vec<Figure>> {
    let dir = folder_in_ram()?;
    let (untyped_copy, typed_copy) = (dir.path().join("untyped.db"), dir.path().join("typed.db"));
    fs::copy(db, &untyped_copy)?;
    fs::copy(typed, &typed_copy)?;
    let conn = floor::reader(db)?;
    let mut ids = conn.prepare("SELECT id FROM node WHERE file NOT NULL LIMIT ?1")?;
    let ids = ids.query_map([CALLS as i64], |row| row.get::<_, String>(0))?;
    let ids = ids.collect::<Result<Vec<String>, _>>()?;
    let (mut without, mut with) = (server(&untyped_copy)?, server(&typed_copy)?);
    let mut rows: [(&str, Vec<f64>, Vec<f64>); 3] =
        ["write", "fetch", "tree"].map(|it| (it, Vec::new(), Vec::new()));
    for (nth, id) in ids.iter().enumerate() {
        let mut dice = Dice::of(3_000_000 + nth);
        let words: Vec<String> = (0..20).map(|_| format!("word{}", dice.below(5_000))).collect();
        let calls = [
            ("MemoryWrite", json!({"payload": format!("Note {nth}: {}.", words.join(" "))})),
            ("MemoryFetch", json!({"anchor": id, "budget": 500})),
            ("MemoryTree", json!({"root": id, "budget": 500})),
        ];
        for ((tool, args), (_, alone, beside)) in calls.iter().zip(&mut rows) {
            alone.push(without.call(tool, args)?.1);
            beside.push(with.call(tool, args)?.1);
        }
    }
    without.end()?;
    with.end()?;
    let figure = |(name, alone, beside): &(&str, Vec<f64>, Vec<f64>)| {
        let name = format!("{name} of notes p50 / without memories");
        Figure::new(&name, "ms", percentile(beside, 50)).beside(percentile(alone, 50))
    };
    Ok(rows.iter().map(figure).collect())
}

fn remove(db: &Path) {
    for ending in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(PathBuf::from(format!("{}{ending}", db.display())));
    }
}
