use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use super::support::{Client, Folder, finish};

fn compiled() -> Folder {
    let folder = Folder::new()
        .file("notes/store.md", "# Store\n\nOne connection writes.\n")
        .file("notes/people.md", "# People\n\nAna is on call in odd weeks.\n");
    folder.ok(["compile", "notes", "--db", "m.db"]);
    folder
}

/// Runs a command on the memory.
#[track_caller]
fn ok(folder: &Folder, args: &[&str]) -> String {
    folder.ok(args.iter().copied().chain(["--db", "m.db"]))
}

#[test]
fn a_command_answers_as_its_tool_does() {
    let folder = compiled();
    ok(&folder, &["relate", "store.md", "people.md", "--weight", "2"]);
    let calls = [
        (vec!["tree"], "MemoryTree", json!({})),
        (
            vec!["tree", "store.md", "--depth", "1", "--budget", "30"],
            "MemoryTree",
            json!({"root": "store.md", "depth": 1, "budget": 30}),
        ),
        (vec!["fetch", "store.md"], "MemoryFetch", json!({"anchor": "store.md"})),
        (
            vec!["fetch", "store.md", "people.md", "--budget", "20"],
            "MemoryFetchBatch",
            json!({"node_ids": ["store.md", "people.md"], "budget": 20}),
        ),
        (
            vec!["related", "people.md", "--direction", "in", "--weight-min", "1.5"],
            "MemoryRelated",
            json!({"anchor": "people.md", "direction": "in", "weight_min": 1.5}),
        ),
        (vec!["delta", "0", "--detail"], "MemoryDelta", json!({"detail": true})),
        (vec!["diff", "0", "1"], "MemoryDiff", json!({"from_snapshot_id": 0, "to_snapshot_id": 1})),
    ];
    let answers: Vec<(String, Value)> = calls
        .iter()
        .map(|(args, ..)| {
            let json: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
            (ok(&folder, args), serde_json::from_str(&ok(&folder, &json)).unwrap())
        })
        .collect();
    for ((args, tool, arguments), (text, json)) in calls.iter().zip(answers) {
        // A tool warms what it shows, and a command does not: each has a new memory.
        let folder = compiled();
        ok(&folder, &["relate", "store.md", "people.md", "--weight", "2"]);
        let mut client = Client::modern(&folder, &["--db", "m.db", "--structured"]);
        let reply = client.call(tool, arguments.clone());
        assert_eq!(text.trim_end(), reply.text.trim_end(), "{args:?}");
        assert_eq!(json, reply.result["structuredContent"], "{args:?}");
        client.end();
    }
}

#[test]
fn a_change_whose_answer_cannot_be_written_is_not_called_undone() {
    let folder = compiled();
    let mut write = folder.command(["write", "Kept.", "--db", "m.db"]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let ran = finish(write.stdout(full).stderr(Stdio::piped()).spawn().unwrap());
    assert_eq!(ran.status.code(), Some(2));
    let told = String::from_utf8(ran.stderr).unwrap();
    assert!(told.starts_with("remindb: cannot write the answer: "), "{told}");
    assert!(told.ends_with("; what the command did is not undone\n"), "{told}");
    assert!(ok(&folder, &["search", "kept"]).contains("Kept."));
}

#[test]
fn each_of_many_writers_is_told_how_to_undo_its_own_change() {
    const PARENTS: &str = "SELECT id, parent FROM snapshot WHERE message = 'write:' || ?1";
    let folder = compiled();
    let told: Vec<String> = std::thread::scope(|scope| {
        let write = |of: usize| {
            let folder = &folder;
            move || -> Vec<String> {
                (0..5).map(|nth| ok(folder, &["write", &format!("Text {nth} of {of}.")])).collect()
            }
        };
        let writers: Vec<_> = (0..4).map(|of| scope.spawn(write(of))).collect();
        writers.into_iter().flat_map(|it| it.join().unwrap()).collect()
    });
    assert_eq!(told.len(), 20);
    let conn = folder.database("m.db");
    for text in told {
        let id = text.split_whitespace().nth(2).unwrap();
        let (own, before): (i64, i64) =
            conn.query_row(PARENTS, [id], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let line = format!("to undo: remindb rollback {before} --db 'm.db'");
        assert_eq!(text.lines().last(), Some(&line[..]), "snapshot {own}");
    }
}

#[test]
fn a_change_is_made_and_can_be_undone_as_it_says() {
    let folder = compiled();
    let wrote = ok(&folder, &["write", "--anchor", "people.md", "Ben", "is", "on", "leave."]);
    let (line, undo) = wrote.trim_end().split_once('\n').unwrap();
    let id = &line["wrote node ".len()..][..11];
    assert_eq!(undo, "to undo: remindb rollback 1 --db 'm.db'");
    assert!(ok(&folder, &["search", "leave"]).contains(id));
    let pinned = ok(&folder, &["pin", id, "--temperature", "0.9"]);
    assert_eq!(pinned, format!("pinned node {id} at temperature 0.9\n"));
    assert_eq!(ok(&folder, &["unpin", id]), format!("unpinned node {id}\n"));
    let summary = ok(&folder, &["summarize", id, "Ben", "is", "away."]);
    assert!(summary.contains("to undo: remindb rollback 2"), "{summary}");
    assert!(ok(&folder, &["history", id]).contains("new: Ben is away."));
    let related = ok(&folder, &["relate", id, "store.md"]);
    assert!(related.starts_with(&format!("edge created (resolved): {id} -> ")), "{related}");
    assert!(ok(&folder, &["unrelate", id, "store.md"]).starts_with("edge removed"));
    let none = folder.run(["unrelate", id, "store.md", "--db", "m.db"]).stderr;
    assert!(none.contains("; `remindb related` shows which there are"), "{none}");
    let forgot: Value = serde_json::from_str(&ok(&folder, &["forget", id, "--json"])).unwrap();
    assert_eq!(forgot["affected"], 1);
    let rolled = ok(&folder, &["rollback", "2"]);
    assert!(rolled.contains("to undo: remindb rollback 4"), "{rolled}");
    assert!(ok(&folder, &["search", "leave"]).contains(id));
    // What is dropped cannot come back.
    let dropped = ok(&folder, &["rollback", "2", "--drop-after"]);
    assert!(!dropped.contains("to undo"), "{dropped}");
    folder.assert_healthy("m.db");
}

#[test]
fn a_text_may_come_from_standard_input() {
    let folder = compiled();
    let mut command = folder.command(["write", "-", "--db", "m.db"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"# Plan\n\nTwo - dashes.\n").unwrap();
    let output = finish(child);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains("[heading] Plan (id="), "{text}");
    assert!(ok(&folder, &["search", "dashes"]).contains("Two - dashes."));
}

#[test]
fn a_mistake_is_one_line_and_changes_nothing() {
    let folder = compiled();
    for (args, what) in [
        (&["fetch", "nothing"][..], "remindb: no node `nothing`"),
        (&["tree", "--budget", "many"], "`budget` must be an integer"),
        (&["forget", "store.md"], "has 1 child; mode `cascade`"),
        (&["forget", "store.md", "--mode", "all"], "`mode` must be one of strict"),
        (&["rollback", "99"], "99"),
        (&["write", "x", "--mode", "replace"], "nothing to replace"),
    ] {
        let ran = folder.run(args.iter().copied().chain(["--db", "m.db"]));
        assert_eq!(ran.code, Some(2), "{args:?}");
        assert!(ran.stderr.contains(what) && ran.stderr.lines().count() == 1, "{}", ran.stderr);
    }
    assert_eq!(folder.run(["tree", "--db", "none.db"]).code, Some(2));
    assert!(!folder.path("none.db").exists());
    assert!(ok(&folder, &["stats"]).contains("Nodes:                4 ("));
}
