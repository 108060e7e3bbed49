//! Typed memories by the command line, and as files of the agent memory format.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::support::{Client, Folder, Ran, finish};

const OFFER: [&str; 4] = ["--db", "m.db", "--tools", "memory,all"];

const CORE: &str = r#"{"content":"Likes green tea","id":"00000000-0000-4000-8000-000000000001","updated_at":"2026-01-03T10:00:00+01:00","created_at":"2026-01-01T10:00:00","accessed_at":"2026-01-04T10:00:00.5Z","access_count":5,"tags":["tea","drink","tea"],"importance":"high","category":"preference"}"#;

const TASKS: [&str; 3] = [
    r#"{"type":"task","id":"00000000-0000-4000-8000-000000000003","content":"Schiff 🚢 taufen","created_at":"2026-01-02T10:00:00Z","task_metadata":{"outcome":"done","status":"completed","completed_at":"2026-01-05T10:00:00Z"}}"#,
    r#"{"type":"task","id":"00000000-0000-4000-8000-000000000002","content":"Two\nlines","created_at":"2026-01-02T10:00:00Z","task_metadata":{"status":"blocked","blockers":["review"]}}"#,
    r#"{"type":"task","id":"00000000-0000-4000-8000-00000000000x","content":"No id"}"#,
];

const OLD: &str = r#"{"id":"00000000-0000-4000-8000-000000000004","content":"Once said","created_at":"2024-12-31T23:30:00-01:00","archived":true}"#;

/// Returns a folder with files of memories: CRLF, any order of keys, a bad line, an archive.
fn files() -> Folder {
    Folder::new()
        .file("in/core_memories.jsonl", format!("\u{feff}{CORE}\r\n\r\n"))
        .file("in/tasks.jsonl", TASKS.join("\n"))
        .file("in/index.json", "no index at all")
        .file("in/archive/2024/learnings.jsonl", OLD)
        .file("in/archive/notes.txt", "not read")
        .file("in/README.md", "not read")
}

fn imported() -> Folder {
    let folder = files();
    folder.ok(["import", "--from", "agent-memory", "in", "--db", "m.db"]);
    folder
}

/// Returns the files below a folder with their texts.
fn texts(folder: &Folder, dir: &str) -> String {
    let mut files = Vec::new();
    let mut waiting = vec![folder.path(dir)];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { waiting.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    let base = folder.path(dir);
    let show = |path: &std::path::PathBuf| {
        let name = path.strip_prefix(&base).unwrap().display().to_string();
        format!("== {name}\n{}", fs::read_to_string(path).unwrap())
    };
    files.iter().map(show).collect()
}

/// Runs the program with a text on its standard input.
fn run_with_input(folder: &Folder, args: &[&str], input: &[u8]) -> Ran {
    let mut child = folder.command(args).stdin(Stdio::piped()).spawn().unwrap();
    // The program may end without reading it.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = finish(child);
    let text = |it: Vec<u8>| String::from_utf8(it).unwrap();
    Ran { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code() }
}

/// Compares a transcript in which ids and days are replaced.
#[track_caller]
fn check(ran: &Ran, expected: Expect) {
    let is_id = |it: &str| it.len() == 36 && it.split('-').count() == 5;
    let is_day = |it: &str| it.len() == 10 && it.split('-').count() == 3;
    let plain = |word: &str| match word {
        it if is_id(it) => "ID".to_owned(),
        it if is_day(it) => "DAY".to_owned(),
        it => it.to_owned(),
    };
    let line = |line: &str| line.split(' ').map(plain).collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = ran.transcript().lines().map(line).collect();
    expected.assert_eq(&(lines.join("\n") + "\n"));
}

#[track_caller]
fn query(client: &mut Client, ask: Value) -> Value {
    serde_json::from_str(&client.text("query_memories", ask)).unwrap()
}

#[test]
fn what_is_remembered_is_shown_with_the_way_back() {
    let folder = Folder::new();
    let args = ["remember", "--db", "m.db", "--type", "core", "--tag", "tea", "Likes", "green tea"];
    check(
        &folder.run(args),
        expect![[r#"
            stored in the new database m.db:
            [core] Likes green tea
              ID other · medium · DAY
              #tea
            to undo: remindb forget ID --db 'm.db'
            = 0
        "#]],
    );
    check(
        &folder.run(args),
        expect![[r#"
            already there, nothing was changed:
            [core] Likes green tea
              ID other · medium · DAY
              #tea
            = 0
        "#]],
    );
    let args =
        "remember --db m.db --type task --status blocked --importance high --category work -";
    let args: Vec<&str> = args.split(' ').collect();
    check(
        &run_with_input(&folder, &args, b"Ship it,\nAKIAIOSFODNN7EXAMPLE is the key\r\n"),
        expect![[r#"
            stored in m.db:
            [task] Ship it, «redacted:aws_access_key» is the key
              ID work · high · DAY
            to undo: remindb forget ID --db 'm.db'
            ! remindb: secrets were replaced by markers: aws_access_key
            = 0
        "#]],
    );
    let args = ["remember", "--db", "m.db", "--type", "learning", "--json", "--", "-1 is no size"];
    let answer: Value = serde_json::from_str(&folder.ok(args)).unwrap();
    assert_eq!((&answer["created"], &answer["id"]), (&json!(true), &answer["memory"]["id"]));
    assert_eq!(answer["memory"]["content"], "-1 is no size");
    assert_eq!(folder.facts("m.db")["snapshots"], 3);

    // The ways back are true.
    let mut client = Client::modern(&folder, &OFFER);
    client.text("delete_memory", json!({"id": answer["id"]}));
    assert_eq!(query(&mut client, json!({}))["total"], 2);
    client.text("MemoryRollback", json!({"snapshot_id": 1}));
    assert_eq!(query(&mut client, json!({}))["memories"][0]["content"], "Likes green tea");
    client.end();
    folder.assert_healthy("m.db");
}

#[test]
fn what_cannot_be_remembered_is_explained_and_makes_nothing() {
    let folder = Folder::new();
    folder.check_session(expect![[r#"
        $ remember --tag drinks tea
        ! remindb: `--tag` is for `--type core`, learning or task
        = 2
    "#]]);
    folder.check_session(expect![[r#"
        $ remember --type core --topic drinks tea
        ! remindb: `--topic` and `--entity` are for episodes, not for `--type core`, learning or task
        = 2
    "#]]);
    folder.check_session(expect![[r#"
        $ remember --type core
        ! remindb: `remember` needs the text to remember, or `-` for standard input; see `remindb help remember`
        = 2
    "#]]);
    folder.check_session(expect![[r#"
            $ remember --type rumour tea
            ! remindb: `kind` must be core, learning, task or one of observation, decision, question, meta, preference, outcome, fact
            = 2
        "#]]);
    folder.check_session(expect![[r#"
            $ remember --type core --status blocked tea
            ! remindb: `--status` is for `--type task`, not for `core`
            = 2
        "#]]);
    folder.check_session(expect![[r#"
            $ remember --type task --status open tea
            ! remindb: `task_metadata.status` must be one of completed, in-progress, blocked
            = 2
        "#]]);
    let long = ["remember", "--type", "core", &"x".repeat(5_001)];
    check(
        &folder.run(long),
        expect![[r#"
            ! remindb: `content` has 5001 characters; at most 5000 fit
            = 2
        "#]],
    );
    let input = ["remember", "--type", "core", "-"];
    for (bytes, why) in [
        (&b"\n \n"[..], "`content` is blank"),
        (b"\xff\xfe", "cannot read standard input: it is not UTF-8"),
        (&vec![b'x'; 1024 * 1024 + 1], "it has more than 1048576 bytes"),
    ] {
        let ran = run_with_input(&folder, &input, bytes);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
    }
    folder.check_session(expect![[r#"
        $ memories
        ! remindb: no memory in `DIR`, above it or at `DIR/.data/remindb/memory.db`; make one with `remindb compile FOLDER`, or name one with --db
        = 2
    "#]]);
    assert_eq!(folder.names(), [] as [&str; 0]);
}

#[test]
fn one_core_memory_too_many_names_others_on_the_command_line() {
    let lines = (0..1_001).map(|nth| {
        let id = format!("00000000-0000-4000-8000-{nth:012}");
        format!(
            "{}\n",
            json!({"id": id, "content": format!("Fact {nth}"), "created_at": "2026-01-01"})
        )
    });
    let folder = Folder::new().file("in/core_memories.jsonl", lines.collect::<String>());
    folder.check_session(expect![[r#"
            $ import --from agent-memory in --db m.db
            imported: 1000 added, 0 updated, 0 unchanged, 1 bad line, snapshot 1, to m.db
            ! in/core_memories.jsonl:1001: there are 1000 core memories, the most there may be; archive one first
            = 0
        "#]]);
    check(
        &folder.run(["remember", "--db", "m.db", "--type", "core", "One more"]),
        expect![[r#"
            ! remindb: there are 1000 core memories, the most there may be; archive one first; the least important ones are 00000000-0000-4000-8000-000000000000, 00000000-0000-4000-8000-000000000001, 00000000-0000-4000-8000-000000000002, 00000000-0000-4000-8000-000000000003, ID
            = 2
        "#]],
    );
}

#[test]
fn kinds_of_secrets_of_the_compiled_folder_are_found() {
    let kinds = json!({"redaction": {"custom": [{"kind": "ticket", "pattern": "QX-[0-9]{6}"}]}});
    let folder = Folder::new()
        .file("notes/.remindb/config.json", kinds.to_string())
        .file("notes/a.md", "# A\n")
        .file("in/learnings.jsonl", OLD.replace("Once said", "Once said QX-654321"));
    folder.ok(["compile", "notes", "--db", "m.db"]);
    folder.ok(["remember", "--db", "m.db", "--type", "core", "It is QX-123456"]);
    let said = folder.ok(["import", "--from", "agent-memory", "in", "--db", "m.db"]);
    assert!(said.contains("secrets replaced by markers: 1\n"), "{said}");
    let args = ["remember", "--db", "other.db", "--type", "core", "It is QX-123456"];
    let ran = Ran::of(&folder, folder.command(args).env("REMINDB_SOURCE", "notes"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for db in ["m.db", "other.db"] {
        for flags in [&[][..], &["--archived"]] {
            let shown = folder.run([&["memories", "--db", db], flags].concat()).stdout;
            assert!(!shown.contains("QX-"), "{shown}");
        }
    }
    let ran = Ran::of(&folder, folder.command(args).env("REMINDB_SOURCE", "typo"));
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
}

#[test]
fn memories_are_listed_by_every_condition() {
    let folder = imported();
    let before =
        folder
            .database("m.db")
            .query_row("SELECT total(access_count) FROM heat", [], |row| row.get::<_, f64>(0));
    folder.check_session(expect![[r#"
            $ memories --db m.db
            [core] Likes green tea
              00000000-0000-4000-8000-000000000001 preference · high · 2026-01-03
              #tea #drink
            [task] Schiff 🚢 taufen
              00000000-0000-4000-8000-000000000003 completed · medium · 2026-01-02
            [task] Two lines
              00000000-0000-4000-8000-000000000002 blocked · medium · 2026-01-02
            3 memories
            = 0
        "#]]);
    folder.check_session(expect![[r#"
            $ memories --db m.db --archived
            [learning] Once said
              00000000-0000-4000-8000-000000000004 other · medium · 2025-01-01 · archived
            1 memory
            = 0
        "#]]);
    folder.check_session(expect![[r#"
            $ memories --db m.db --sort-by created_at --sort-order asc --limit 1 --offset 1
            [task] Two lines
              00000000-0000-4000-8000-000000000002 blocked · medium · 2026-01-02
            number 2 of 3 memories; more: --offset 2
            = 0
        "#]]);
    folder.check_session(expect![[r#"
        $ memories --db m.db --offset 9
        3 memories, none behind --offset 9
        = 1
    "#]]);
    folder.check_session(expect![[r#"
        $ memories --db m.db --search coffee
        no memories
        = 1
    "#]]);
    for (flags, n) in [
        ("--type task", 2),
        ("--type learning", 0),
        ("--type task --status blocked", 1),
        ("--tag tea --tag drink", 1),
        ("--tag tea --tag ship", 0),
        ("--importance high", 1),
        ("--category preference", 1),
        ("--search LINES", 1),
    ] {
        let args = format!("memories --db m.db --json {flags}");
        let ran = folder.run(args.split(' '));
        let page: Value = serde_json::from_str(&ran.stdout).unwrap();
        let keys: Vec<&str> = page.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["memories", "total", "limit", "offset", "has_more"]);
        assert_eq!((&page["total"], &page["limit"]), (&json!(n), &json!(20)), "{flags}");
        assert_eq!(ran.code, Some(if n == 0 { 1 } else { 0 }), "{flags}");
    }
    for (flags, why) in [
        ("--type note", "`type` must be one of core, learning, task"),
        ("--status open", "no status `open`; a task is one of completed, in-progress, blocked"),
        ("--type core --status blocked", "`--status` is for tasks, and `--type` is core"),
        ("--sort-by size", "`sort_by` must be one of"),
        ("--importance huge", "`importance` must be one of"),
        ("--limit 0", "`--limit` needs 1 or more"),
        ("--search", "missing argument"),
        ("tea", "`memories` does not take `tea`"),
    ] {
        let ran = folder.run(format!("memories --db m.db {flags}").split(' '));
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{flags}");
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
    }
    // Nothing was counted or changed.
    let after =
        folder
            .database("m.db")
            .query_row("SELECT total(access_count) FROM heat", [], |row| row.get::<_, f64>(0));
    assert_eq!(after, before);
    assert_eq!(folder.facts("m.db")["snapshots"], 1);
}

#[test]
fn an_import_names_each_bad_line_and_comes_again_without_effect() {
    let folder = files();
    folder.check_session(expect![[r#"
            $ import --from agent-memory in --db m.db
            imported: 4 added, 0 updated, 0 unchanged, 1 bad line, snapshot 1, to m.db
            ! in/tasks.jsonl:3: `id` must be a UUID
            = 0
        "#]]);
    folder.check_session(expect![[r#"
            $ import --from agent-memory in --db m.db
            imported: 0 added, 0 updated, 4 unchanged, 1 bad line, no snapshot, to m.db
            ! in/tasks.jsonl:3: `id` must be a UUID
            = 0
        "#]]);
    folder.write("in/core_memories.jsonl", CORE.replace("2026-01-03", "2026-01-04"));
    folder.check_session(expect![[r#"
            $ import --from agent-memory in --db m.db
            imported: 0 added, 1 updated, 3 unchanged, 1 bad line, snapshot 2, to m.db
            ! in/tasks.jsonl:3: `id` must be a UUID
            = 0
        "#]]);
    folder.assert_healthy("m.db");
}

#[test]
#[cfg(unix)]
fn an_import_follows_no_link_in_its_folder() {
    let folder = Folder::new().file("in/tasks.jsonl", "").file("outside/2025/tasks.jsonl", OLD);
    std::os::unix::fs::symlink("../outside", folder.path("in/archive")).unwrap();
    folder.check_session(expect![[r#"
        $ import --from agent-memory in --db m.db
        ! remindb: `in/archive/2025/tasks.jsonl` is a link or behind one, and no link is followed; put the file itself there
        = 2
    "#]]);
    fs::remove_file(folder.path("in/archive")).unwrap();
    let [link, target] = ["in/learnings.jsonl", "../outside/2025/tasks.jsonl"];
    std::os::unix::fs::symlink(target, folder.path(link)).unwrap();
    folder.check_session(expect![[r#"
        $ import --from agent-memory in --db m.db
        ! remindb: `in/learnings.jsonl` is a link or behind one, and no link is followed; put the file itself there
        = 2
    "#]]);
    assert!(!folder.path("m.db").exists());
}

#[test]
fn an_import_without_files_makes_no_database() {
    let folder = Folder::new().file("in/index.json", "{}").file("in/archive/x/tasks.jsonl", OLD);
    folder.check_session(expect![[r#"
        $ import --from agent-memory in --db m.db
        ! remindb: no memories in `in`: it has none of core_memories.jsonl, learnings.jsonl, tasks.jsonl, also below archive/
        = 2
    "#]]);
    folder.check_session(expect![[r#"
        $ import --from agent-memory typo --db m.db
        ! remindb: no folder `typo`
        = 2
    "#]]);
    folder.check_session(expect![[r#"
        $ import --from agent-memory
        ! remindb: `import` needs the folder to import, behind `--from agent-memory`; see `remindb help import`
        = 2
    "#]]);
    fs::create_dir(folder.path("in/tasks.jsonl")).unwrap();
    folder.check_session(expect![[r#"
        $ import --from agent-memory in --db m.db
        ! remindb: `in/tasks.jsonl` is no regular file; move it away
        = 2
    "#]]);
    assert_eq!(folder.names(), ["in"]);
}

#[test]
fn an_export_has_every_memory_in_a_fixed_order() {
    let folder = imported();
    folder.check_session(expect![[r#"
        $ export --format agent-memory out --db m.db
        exported: 4 memories in 4 files, to out
        = 0
    "#]]);
    expect![[r#"
        == archive/2025/learnings.jsonl
        {"id":"00000000-0000-4000-8000-000000000004","type":"learning","content":"Once said","category":"other","created_at":"2025-01-01T00:30:00Z","updated_at":"2025-01-01T00:30:00Z","accessed_at":"2025-01-01T00:30:00Z","access_count":0,"tags":[],"importance":"medium","archived":true}
        == core_memories.jsonl
        {"id":"00000000-0000-4000-8000-000000000001","type":"core","content":"Likes green tea","category":"preference","created_at":"2026-01-01T10:00:00Z","updated_at":"2026-01-03T09:00:00Z","accessed_at":"2026-01-04T10:00:00Z","access_count":5,"tags":["tea","drink"],"importance":"high","archived":false}
        == index.json
        {"version":1,"memories":[{"id":"00000000-0000-4000-8000-000000000004","type":"learning","file":"archive/2025/learnings.jsonl","archived":true},{"id":"00000000-0000-4000-8000-000000000001","type":"core","file":"core_memories.jsonl","archived":false},{"id":"00000000-0000-4000-8000-000000000002","type":"task","file":"tasks.jsonl","archived":false},{"id":"00000000-0000-4000-8000-000000000003","type":"task","file":"tasks.jsonl","archived":false}]}
        == learnings.jsonl
        == tasks.jsonl
        {"id":"00000000-0000-4000-8000-000000000002","type":"task","content":"Two\nlines","category":"blocked","created_at":"2026-01-02T10:00:00Z","updated_at":"2026-01-02T10:00:00Z","accessed_at":"2026-01-02T10:00:00Z","access_count":0,"tags":[],"importance":"medium","archived":false,"task_metadata":{"status":"blocked","blockers":["review"]}}
        {"id":"00000000-0000-4000-8000-000000000003","type":"task","content":"Schiff 🚢 taufen","category":"completed","created_at":"2026-01-02T10:00:00Z","updated_at":"2026-01-02T10:00:00Z","accessed_at":"2026-01-02T10:00:00Z","access_count":0,"tags":[],"importance":"medium","archived":false,"task_metadata":{"status":"completed","completed_at":"2026-01-05T10:00:00Z","outcome":"done"}}
    "#]].assert_eq(&texts(&folder, "out"));
    let mode = |path: &str| fs::metadata(folder.path(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        ["out", "out/archive/2025", "out/tasks.jsonl", "out/index.json"].map(mode),
        [0o700, 0o700, 0o600, 0o600]
    );
    folder.ok(["import", "--from", "agent-memory", "out", "--db", "b.db"]);
    folder.ok(["export", "--format", "agent-memory", "again", "--db", "b.db"]);
    assert_eq!(texts(&folder, "again"), texts(&folder, "out"));
    folder.assert_healthy("b.db");
}

#[test]
fn an_export_replaces_nothing_unless_it_is_told_to() {
    let folder = imported();
    let export = "export --format agent-memory out --db m.db";
    folder.write("out/notes.txt", "mine\n");
    folder.write("out/archive/1999/tasks.jsonl", OLD);
    folder.write("out/archive/1999/other.jsonl", "mine\n");
    folder.write("out/tasks.jsonl", "old");
    let before = texts(&folder, "out");
    folder.check_session(expect![[r#"
        $ export --format agent-memory out --db m.db
        ! remindb: `out` is not empty; name another folder, or replace its files by --force
        = 2
    "#]]);
    assert_eq!(texts(&folder, "out"), before);
    folder.ok((export.to_owned() + " --force").split(' '));
    let after = texts(&folder, "out");
    let names: Vec<&str> = after.lines().filter_map(|it| it.strip_prefix("== ")).collect();
    assert_eq!(
        names,
        [
            "archive/1999/other.jsonl",
            "archive/2025/learnings.jsonl",
            "core_memories.jsonl",
            "index.json",
            "learnings.jsonl",
            "notes.txt",
            "tasks.jsonl",
        ]
    );
    folder.ok(["export", "--format", "agent-memory", "new", "--db", "m.db"]);
    assert!(after.contains(&fs::read_to_string(folder.path("new/tasks.jsonl")).unwrap()));

    // An empty folder is filled, a file is none, and without a folder nothing is made.
    fs::create_dir(folder.path("empty")).unwrap();
    folder.ok(["export", "--format", "agent-memory", "empty", "--db", "m.db"]);
    assert_eq!(texts(&folder, "empty"), texts(&folder, "new"));
    for (args, why) in [
        (
            "export --format agent-memory in/README.md --force --db m.db",
            "`in/README.md` is no folder",
        ),
        ("export --format agent-memory no/such --db m.db", "cannot write `no/such`"),
        ("export --format agent-memory x --db typo.db", "no database at `typo.db`"),
        ("export --format agent-memory --db m.db", "`export` needs the folder"),
        (
            "export --format csv x --db m.db",
            "no format `csv`; there are `markdown`, `agent-memory` and `remind`",
        ),
    ] {
        let ran = folder.run(args.split(' '));
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{args}");
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
    }
    let is_left = |name: &String| name.ends_with(".draft") || name == "x" || name == "no";
    assert!(!folder.names().iter().any(is_left), "{:?}", folder.names());
}

#[test]
fn what_a_killed_export_left_is_used_again() {
    let folder = imported();
    folder.write(".out.0.draft/core_memories.jsonl", "half");
    folder.write("empty/.export.0.draft/archive/1999/tasks.jsonl", "half");
    for out in ["out", "empty"] {
        folder.ok(["export", "--format", "agent-memory", out, "--db", "m.db"]);
    }
    assert_eq!(texts(&folder, "empty"), texts(&folder, "out"));
    assert!(!folder.names().iter().any(|it| it.ends_with(".draft")), "{:?}", folder.names());
    // One that another process works on is left alone.
    folder.write(".new.0.draft/core_memories.jsonl", "half");
    let lock = fs::File::open(folder.path(".new.0.draft")).unwrap();
    lock.lock().unwrap();
    folder.ok(["export", "--format", "agent-memory", "new", "--db", "m.db"]);
    assert_eq!(texts(&folder, ".new.0.draft"), "== core_memories.jsonl\nhalf");
    assert_eq!(texts(&folder, "new"), texts(&folder, "out"));
}

#[test]
fn a_memory_without_memories_is_exported_and_imported() {
    let folder = Folder::new().file("notes/a.md", "# A\n");
    folder.ok(["compile", "notes", "--db", "m.db"]);
    folder.ok(["export", "--format", "agent-memory", "out", "--db", "m.db"]);
    expect![[r#"
        == core_memories.jsonl
        == index.json
        {"version":1,"memories":[]}
        == learnings.jsonl
        == tasks.jsonl
    "#]]
    .assert_eq(&texts(&folder, "out"));
    folder.check_session(expect![[r#"
        $ import --from agent-memory out --db m.db
        imported: 0 added, 0 updated, 0 unchanged, 0 bad lines, no snapshot, to m.db
        = 0
    "#]]);
}

#[test]
fn a_server_sees_what_is_imported_and_remembered_beside_it() {
    let folder = files();
    let mut client = Client::legacy(&folder, &OFFER);
    client.text("store_memory", json!({"type": "core", "content": "Stored before"}));
    let uri = json!({"uri": "memory://core"});
    assert_eq!(client.ask("resources/subscribe", uri)["result"], json!({}));
    folder.ok(["import", "--from", "agent-memory", "in", "--db", "m.db"]);
    let woken = client.line();
    assert_eq!(woken["params"]["uri"], "memory://core", "{woken}");
    client.text("store_memory", json!({"type": "learning", "content": "Stored after"}));
    folder.ok(["remember", "--db", "m.db", "--type", "task", "Remembered"]);
    assert_eq!(query(&mut client, json!({}))["total"], 6);
    assert_eq!(query(&mut client, json!({"archived": true}))["total"], 1);
    let shown = folder.ok(["memories", "--db", "m.db", "--search", "stored"]);
    assert!(shown.ends_with("2 memories\n"), "{shown}");
    folder.ok(["export", "--format", "agent-memory", "out", "--db", "m.db"]);
    assert_eq!(fs::read_to_string(folder.path("out/tasks.jsonl")).unwrap().lines().count(), 3);
    drop(client);
    folder.assert_healthy("m.db");
}

/// Runs in a terminal made by `script`, which not every machine has.
#[test]
fn memories_are_coloured_on_a_terminal_alone() {
    let folder = imported();
    assert!(!folder.ok(["memories", "--db", "m.db"]).contains('\x1b'));
    let line = format!("'{}' memories --db m.db", env!("CARGO_BIN_EXE_remindb"));
    let mut command = std::process::Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).current_dir(folder.path(""));
    command.env("TERM", "xterm").env_remove("NO_COLOR");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(child) = command.spawn() else { return };
    let painted = String::from_utf8(finish(child).stdout).unwrap();
    assert!(painted.contains("\x1b[33m[core]\x1b[0m Likes green tea"), "{painted:?}");
}
