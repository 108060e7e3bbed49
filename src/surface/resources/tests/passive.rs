//! Tests that reads have no effect, and show one state.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::*;
use crate::memory::AppendOrReplaceMode;
use crate::query::dashboard_documents::{self, TreeScope};

/// Returns a URI for every row, with existing values for `{…}`.
fn uris(fixture: &ResourceFixture) -> Vec<String> {
    let tree = fixture.value("remindb://tree");
    let id = tree["roots"][0]["id"].as_str().unwrap();
    let expand = |uri: &str| {
        uri.replace("{rootId}", id)
            .replace("{?depth}", "?depth=1")
            .replace("{?limit}", "?limit=3")
            .replace("{?limit,tags}", "?limit=3&tags=a")
            .replace("{?since,tags}", "?since=2025-01-01")
            .replace("{?tags}", "?tags=a,b")
            .replace("{?topic,limit}", "?limit=3")
            .replace("{?kind,pending,limit}", "?kind=fact&pending=true")
            .replace("{?status,limit}", "?status=all&limit=9")
            .replace("{?since,limit}", "?since=1&limit=5")
            .replace("{?budget}", "?budget=500")
            .replace("concepts/{id}", &format!("concepts/{}", fixture.concept()))
            .replace("entities/{id}", &format!("entities/{}", fixture.entity()))
            .replace("{?from}", "")
            .replace("{?of,after,limit}", "?limit=1")
            .replace("{?path,limit}", "")
            .replace("{?q,type,budget}", "?q=text&budget=100")
            .replace("{?direction,after,limit}", "?direction=both")
            .replace("{?before,limit}", "?limit=2")
            .replace("{?after,limit}", "?limit=2")
            .replace("node/{id}", &format!("node/{id}"))
            .replace("links/{id}", &format!("links/{id}"))
            .replace("history/{id}", &format!("history/{id}"))
            .replace("{id}/changes", "1/changes")
            .replace("{id}/diffs", "1/diffs")
            .replace("{id}", "nobody")
            .replace("{hash}", "nobody")
            .replace("{name}", "nobody")
    };
    RESOURCES.iter().map(|it| expand(it.uri)).collect()
}

impl ResourceFixture {
    /// Adds knowledge of every type.
    fn learn(&self) {
        use crate::memory::knowledge::{ApplyRequest, RememberRequest};
        let remember = json!({"items": [
            {"content": "The `pumps` leaked.", "topic": "Water"},
            {"content": "Pressure is 3 bar.", "kind": "fact", "subject": "pumps", "attribute": "p"},
            {"content": "Pressure is 4 bar.", "kind": "fact", "subject": "pumps", "attribute": "p"},
        ]});
        let remember = RememberRequest::parse(remember.as_object().unwrap()).unwrap();
        self.memory.remember(remember).unwrap();
        let apply = json!({"operations": [
            {"op": "concept", "title": "Pumps leak", "summary": "In winter.", "topic": "Water"},
        ]});
        let apply = ApplyRequest::parse(apply.as_object().unwrap()).unwrap();
        self.memory.apply(&apply).unwrap();
    }

    /// Returns the name of an entity; of nobody without one.
    fn entity(&self) -> String {
        let entities = self.value("remindb://entities");
        let first = entities["entities"][0].as_object();
        first.map_or("nobody".to_owned(), |it| format!("subject:{}", it["name"].as_str().unwrap()))
    }

    /// Returns the id of the newest concept; of nobody without one.
    fn concept(&self) -> String {
        let concepts = self.value("remindb://concepts");
        concepts["concepts"][0]["id"].as_str().unwrap_or("nobody").to_owned()
    }
}

fn bytes(fixture: &ResourceFixture) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(&fixture.folder)
        .unwrap()
        .map(|it| it.unwrap().path())
        .filter(|it| it.is_file())
        // This file holds the positions of log readers, and nothing of the memory.
        .filter(|it| !it.to_string_lossy().ends_with("-shm"))
        .map(|it| (it.display().to_string(), fs::read(&it).unwrap()))
        .collect();
    files.sort();
    files
}

fn check_reading_all(n_reads: usize) {
    let fixture =
        ResourceFixture::of(&[("a.md", "# One\n\nSee [[Two]].\n"), ("b.md", "# Two\n\nText.\n")]);
    fixture.learn();
    fixture.memory.attend(3_600_000).unwrap();
    let uris = uris(&fixture);
    let before = bytes(&fixture);
    let read = |uri: &String| fixture.try_read(uri).map_err(|error| error.to_string());
    let documents: Vec<_> = uris.iter().map(read).collect();
    for _ in 1..n_reads {
        for (uri, document) in uris.iter().zip(&documents) {
            assert_eq!(read(uri), *document, "{uri}");
        }
    }
    assert!(before == bytes(&fixture), "a file changed");
    let knowledge = fixture.value("remindb://conflicts");
    assert_eq!(knowledge["conflicts"][0]["facts"].as_array().unwrap().len(), 2);
}

#[test]
fn reading_everything_leaves_every_byte() {
    check_reading_all(5);
}

/// Runs writes, one after another, that change everything that can change.
fn write(fixture: &ResourceFixture, n_writes: usize) {
    for n in 0..n_writes {
        let text = format!("# Note {n}\n\nSee [[Note {}]] and [[One]].\n", n + 1);
        let answer = fixture.memory.write(&text, None, AppendOrReplaceMode::Append).unwrap();
        let id = answer.structured["node_id"].as_str().unwrap().to_owned();
        match n % 4 {
            0 => drop(fixture.memory.search("note", Some(500)).unwrap()),
            1 => drop(fixture.memory.pin(&id, None).unwrap()),
            2 => fixture.memory.attend(600_000).unwrap(),
            _ => drop(
                fixture.memory.forget(&id, crate::memory::ForgetChildrenMode::Cascade).unwrap(),
            ),
        }
        fixture.clock.advance(1_000);
    }
}

/// Checks that three documents of one state agree.
fn assert_documents_agree(fixture: &ResourceFixture) {
    let lines = fixture.view.thresholds();
    let (mut tree, mut warm, mut overview, mut graph) = Default::default();
    fixture
        .view
        .read(|reader| {
            dashboard_documents::write_tree(reader, TreeScope::Forest, &mut tree)?;
            std::thread::yield_now();
            dashboard_documents::write_temperatures(reader, lines, &mut warm)?;
            std::thread::yield_now();
            dashboard_documents::write_overview(
                reader,
                "",
                (lines, &Value::Null),
                START,
                &mut overview,
            )?;
            dashboard_documents::write_graph(reader, &mut graph)
        })
        .unwrap();
    let parse = |text: &String| -> Value { serde_json::from_str(text).unwrap() };
    let (tree, warm, overview, graph) =
        (parse(&tree), parse(&warm), parse(&overview), parse(&graph));
    let mut in_tree: Vec<(String, String)> = Vec::new();
    let mut tokens = 0;
    let mut open: Vec<&Value> = vec![&tree["roots"]];
    while let Some(nodes) = open.pop() {
        for node in nodes.as_array().unwrap() {
            in_tree.push((node["id"].to_string(), node["temperature"].to_string()));
            tokens += node["tokens"].as_u64().unwrap();
            open.push(&node["children"]);
        }
    }
    let nodes = warm["nodes"].as_array().unwrap();
    let mut by_heat: Vec<(String, String)> =
        nodes.iter().map(|it| (it["id"].to_string(), it["temperature"].to_string())).collect();
    in_tree.sort();
    by_heat.sort();
    assert_eq!(in_tree, by_heat);
    assert_eq!(overview["nodes"]["total"], nodes.len());
    assert_eq!(overview["nodes"]["tokens"], tokens);
    assert_eq!(overview["fts_rows"], nodes.len());
    for key in ["avg", "median", "hot", "cold", "pinned"] {
        assert_eq!(warm["summary"][key], overview["temperature"][key], "{key}");
    }
    let hot = |it: &&Value| lines.hot <= it["temperature"].as_f64().unwrap();
    assert_eq!(warm["summary"]["hot"], nodes.iter().filter(hot).count());
    let n = |key: &str| graph[key].as_array().unwrap().len();
    assert_eq!(overview["relations"]["total"], n("edges"));
    assert_eq!(overview["relations"]["pending"], n("pending"));
}

/// Compares a memory that is read while it is written with an unread twin.
fn check_beside_a_writer(n_writes: usize, n_reads: usize) {
    let notes: &[(&str, &str)] = &[("a.md", "# One\n\nSee [[Note 3]].\n")];
    let (watched, twin) = (ResourceFixture::of(notes), ResourceFixture::of(notes));
    let uris = uris(&watched);
    let is_done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                let mut n = 0;
                while n < n_reads / 2 || !is_done.load(Ordering::Relaxed) {
                    let uri = &uris[n % uris.len()];
                    let is_there = !uri.contains("nobody");
                    let read = watched.try_read(uri);
                    assert_eq!(read.is_ok(), is_there, "{uri} {read:?}");
                    if n % 40 == 0 {
                        assert_documents_agree(&watched);
                    }
                    n += 1;
                }
            });
        }
        write(&watched, n_writes);
        is_done.store(true, Ordering::Relaxed);
    });
    write(&twin, n_writes);
    assert_documents_agree(&watched);
    for uri in uris.iter().filter(|it| !it.contains("nobody")) {
        let name = |fixture: &ResourceFixture| fixture.shown(uri);
        assert_eq!(name(&watched), name(&twin), "{uri}");
    }
}

#[test]
fn a_watched_memory_is_what_it_would_be_unwatched() {
    check_beside_a_writer(12, 120);
}

#[test]
#[ignore = "minutes; `make watch`"]
fn ten_thousand_reads_beside_a_busy_writer_change_nothing() {
    check_beside_a_writer(400, 10_000);
    check_reading_all(1_000);
}
