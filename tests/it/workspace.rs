//! Tests a root's own folder `.remindb/`: settings, initial temperatures, ignore rules.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::support::{Client, Folder, Ran};

const CONFIG: &str = "notes/.remindb/config.json";
const SEEDS: &str = "notes/.remindb/temperatures.json";

const NPM: &str = "npm_a1B2c3D4e5F6g7H8a1B2c3D4e5F6g7H8abcd";
const TICKET: &str = "TICKET-4711-secret";
const CUSTOM: &str =
    r#"{"redaction": {"custom": [{"kind": "ticket", "pattern": "TICKET-\\d+-\\w+"}]}}"#;
const PERMISSIVE: &str = r#"{"redaction": {"disable_builtin_kinds": ["npm_token"]}}"#;

/// Returns notes with one secret of a built-in kind and one of a kind that only settings define.
fn notes() -> Folder {
    Folder::new().file("notes/a.md", format!("# Keys\n\nUse {NPM} and {TICKET} here.\n"))
}

/// Compares the program's output about a folder with these settings.
#[track_caller]
fn check_settings(config: impl AsRef<[u8]>, expected: &str) {
    let folder = notes().file(CONFIG, config);
    let expected = format!("remindb: {expected}\n");
    for args in [
        vec!["compile", "notes", "--db", "memory.db"],
        vec!["serve", "--source", "notes", "--db", "memory.db"],
    ] {
        let ran = folder.run(args);
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", expected.as_str()));
        assert_eq!(ran.code, Some(2));
        assert_eq!(folder.names(), ["notes"], "nothing is made");
    }
}

/// Returns whether any file of the database contains the text.
fn is_stored(folder: &Folder, text: &str) -> bool {
    let all: Vec<u8> = ["memory.db", "memory.db-wal"]
        .iter()
        .flat_map(|it| fs::read(folder.path(it)).unwrap_or_default())
        .collect();
    all.windows(text.len()).any(|it| it == text.as_bytes())
}

fn compile(folder: &Folder, more: &[&str]) -> Ran {
    folder.run(["compile", "notes", "--db", "memory.db"].iter().chain(more))
}

/// Returns the temperatures of nodes by their label.
fn temperatures(folder: &Folder) -> Vec<(String, f64)> {
    let database = folder.database("memory.db");
    let sql = "SELECT label, ifnull(temperature, 0.5)
                 FROM node LEFT JOIN heat ON heat.node = key ORDER BY label";
    let mut query = database.prepare(sql).unwrap();
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn every_mistake_is_named_with_its_key() {
    let key = |key: &str, value: &str| {
        let mut text = value.to_owned();
        for name in key.split('.').rev() {
            text = format!("{{\"{name}\": {text}}}");
        }
        text
    };
    let size = "write it with its unit, as in \"512KB\", \"10MB\", \"1.5GiB\"";
    for (name, value, why) in [
        ("budgets.search", "0", "must be positive, not `0`".to_owned()),
        ("budgets.fetch", "-1", "must be positive, not `-1`".to_owned()),
        ("budgets.fetch_batch", "1.5", "must be a whole number, not `1.5`".to_owned()),
        ("budgets.related", "\"x\"", "must be a whole number, not `\"x\"`".to_owned()),
        ("compile.max_file_size", "\"0\"", "must be positive, not `\"0\"`".to_owned()),
        ("compile.max_file_size", "5", format!("is no size, `5`; {size}")),
        ("compile.max_parallelism", "0", "must be positive, not `0`".to_owned()),
        (
            "compile.wall_clock_timeout",
            "\"-1s\"",
            "must not be negative, as `\"-1s\"` is".to_owned(),
        ),
        ("rescan.interval", "\"0s\"", "must be positive, not `\"0s\"`".to_owned()),
        ("temperature.access_boost", "2", "must be between 0 and 1, not `2`".to_owned()),
        ("temperature.decay_rate", "-1", "must be 0 or above, not `-1`".to_owned()),
        ("server.logging.level", "\"loud\"", {
            "must be one of debug, info, warn, error, not `loud`".to_owned()
        }),
    ] {
        let expected = format!("`{name}` in .remindb/config.json {why}");
        let folder = notes().file(CONFIG, key(name, value));
        let ran = compile(&folder, &[]);
        assert_eq!(ran.stderr, format!("remindb: {expected}\n"));
        assert_eq!(ran.code, Some(2));
    }
    check_settings(
        r#"{"budgets": {"serch": 1}}"#,
        "unknown key \"serch\" in .remindb/config.json, under `budgets`; did you mean `search`?",
    );
    check_settings(
        "{\n\"budgets\": }",
        ".remindb/config.json is no JSON: expected value at line 2 column 12",
    );
}

#[test]
fn settings_that_cannot_be_read_are_named_and_nothing_hangs() {
    check_settings(
        b"{\n\xff}",
        ".remindb/config.json is not UTF-8, first at line 2; save it as UTF-8",
    );
    let bad = |make: &dyn Fn(&Folder), expected: Expect| {
        let folder = notes().file("notes/.remindb/other", "").file("outside.json", "{}");
        make(&folder);
        expected.assert_eq(&compile(&folder, &[]).transcript());
        let ran = folder.run(["serve", "--source", "notes", "--db", "memory.db"]);
        assert_eq!((ran.code, folder.names().len()), (Some(2), 2), "{}", ran.stderr);
    };
    bad(
        &|folder| symlink(folder.path("outside.json"), folder.path(CONFIG)).unwrap(),
        expect![[r#"
            ! remindb: .remindb/config.json is a link that leaves the folder, and is not followed; put a file there
            = 2
        "#]],
    );
    bad(
        &|folder| {
            assert!(Command::new("mkfifo").arg(folder.path(CONFIG)).status().unwrap().success());
        },
        expect![[r#"
            ! remindb: .remindb/config.json is no regular file; put one there or remove it
            = 2
        "#]],
    );
    bad(
        &|folder| fs::File::create(folder.path(SEEDS)).unwrap().set_len(1 << 30).unwrap(),
        expect![[r#"
            ! remindb: .remindb/temperatures.json is larger than 4194304 bytes; shorten it
            = 2
        "#]],
    );
}

#[test]
fn ignore_rules_that_cannot_be_read_let_nothing_in() {
    let folder = notes().file("outside", "*.md\n").file("notes/.remindb/other", "");
    let rules = folder.path("notes/.remindb/ignore");
    symlink(folder.path("outside"), &rules).unwrap();
    expect![[r#"
        ! remindb: .remindb/ignore is a link that leaves the folder, and is not followed; put a file there
        = 2
    "#]].assert_eq(&compile(&folder, &[]).transcript());
    fs::remove_file(&rules).unwrap();
    assert!(Command::new("mkfifo").arg(&rules).status().unwrap().success());
    expect![[r#"
        ! remindb: .remindb/ignore is no regular file; put one there or remove it
        = 2
    "#]]
    .assert_eq(&compile(&folder, &[]).transcript());
}

#[test]
fn only_a_trusted_folder_lets_secrets_in() {
    let folder = notes().file(CONFIG, PERMISSIVE);
    let ran = compile(&folder, &[]);
    assert_eq!(
        ran.stderr,
        "remindb: warning: .remindb/config.json: `redaction.disable_builtin_kinds` is not \
         followed: it would let secrets into the memory; start with --trust-workspace to allow \
         it\nremindb: warning: a.md:3: 1 secret was replaced by markers: npm_token\n"
    );
    assert!(!is_stored(&folder, NPM));
    fs::remove_file(folder.path("memory.db")).unwrap();
    assert_eq!(compile(&folder, &["--trust-workspace"]).stderr, "");
    assert!(is_stored(&folder, NPM));

    // However quiet the folder's settings make the server.
    let quiet = PERMISSIVE.replacen('{', r#"{"server": {"logging": {"level": "error"}}, "#, 1);
    let folder = notes().file(CONFIG, quiet);
    let client = Client::modern(&folder, &["--source", "notes", "--db", "memory.db"]);
    client.logged("`redaction.disable_builtin_kinds` is not followed");
    drop(client);

    let mut command = folder.command(["compile", "notes", "--db", "memory.db"]);
    let ran = Ran::of(&folder, command.env("REMINDB_TRUST_WORKSPACE", "1"));
    assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(0)));
    let mut command = folder.command(["compile", "notes", "--db", "memory.db"]);
    let ran = Ran::of(&folder, command.env("REMINDB_TRUST_WORKSPACE", "please"));
    assert_eq!(ran.stderr, "remindb: `REMINDB_TRUST_WORKSPACE` must be 0 or 1, not `please`\n");
}

#[test]
fn a_secret_of_ones_own_kind_is_replaced_at_every_door() {
    let folder = notes().file(CONFIG, CUSTOM);
    assert_eq!(compile(&folder, &["-m", TICKET]).code, Some(0));
    assert!(!is_stored(&folder, TICKET) && is_stored(&folder, "«redacted:ticket»"));

    let folder = notes().file(CONFIG, CUSTOM);
    let mut client = Client::legacy(&folder, &["--source", "notes", "--db", "memory.db"]);
    client.logged("compiled: 2 added");
    folder.write("notes/b.md", format!("Again {TICKET}.\n"));
    client.text("MemoryCompile", json!({"path": "b.md", "message": TICKET}));
    let found = client.text("MemorySearch", json!({"query": "again", "detail": "full"}));
    assert!(found.contains("Again «redacted:ticket»."), "{found}");
    client.end();
    assert!(!is_stored(&folder, TICKET));

    // A folder compiled before counts, too, though the server does not rescan it.
    let folder = notes().file(CONFIG, CUSTOM).file("other/c.md", "Other.\n");
    compile(&folder, &[]);
    let mut client = Client::legacy(&folder, &["--source", "other", "--db", "memory.db"]);
    folder.write("notes/b.md", format!("Again {TICKET}.\n"));
    let path = folder.path("notes/b.md");
    client.text("MemoryCompile", json!({"path": path}));
    client.end();
    assert!(!is_stored(&folder, TICKET));
}

#[test]
fn budgets_hold_where_the_call_names_none() {
    let text = "Words about budgets. ".repeat(300);
    let folder = notes()
        .file("notes/long.md", format!("# Long\n\n{text}\n\n{text}\n"))
        .file(CONFIG, r#"{"budgets": {"search": 60, "fetch": 50, "fetch_batch": 40}}"#);
    compile(&folder, &[]);
    let mut client = Client::legacy(&folder, &["--source", "notes", "--db", "memory.db"]);
    let query = json!({"query": "budgets", "detail": "full"});
    let small = client.text("MemorySearch", query.clone());
    let mut larger = query;
    larger["budget"] = json!(900);
    assert!(small.len() < 400 && 1000 < client.text("MemorySearch", larger).len());
    // The line below the breadcrumb begins with the id.
    let id = json!(small.lines().nth(1).unwrap().split([' ', '[']).next().unwrap());
    let short = client.text("MemoryFetch", json!({"anchor": id}));
    assert!(short.len() < 400, "{short}");
    assert!(400 < client.text("MemoryFetch", json!({"anchor": id, "budget": 500})).len());
    let short = client.text("MemoryFetchBatch", json!({"node_ids": [id]}));
    assert!(short.len() < 400, "{short}");

    // The next compile reads the settings, too.
    folder.write(CONFIG, r#"{"budgets": {"search": 900}}"#);
    client.text("MemoryCompile", json!({"path": "."}));
    let query = json!({"query": "budgets", "detail": "full"});
    assert!(1000 < client.text("MemorySearch", query).len());
    // A fault is reported once, and the last good settings stay.
    folder.write(CONFIG, "{");
    client.text("MemoryCompile", json!({"path": "."}));
    client.logged("the last good settings stay");
    client.end();
}

#[test]
fn access_boost_is_a_setting() {
    let folder = notes().file(CONFIG, r#"{"temperature": {"access_boost": 0.4}}"#);
    compile(&folder, &[]);
    let mut client = Client::legacy(&folder, &["--source", "notes", "--db", "memory.db"]);
    let found = client.text("MemorySearch", json!({"query": "use"}));
    let id = found.split("id=").nth(1).unwrap().split(' ').next().unwrap();
    client.text("MemoryFetch", json!({"anchor": id}));
    client.end();
    let hottest = temperatures(&folder).iter().map(|it| it.1).fold(0.0, f64::max);
    // The best hit of a search warms a tenth as much as a fetch.
    assert!((0.93..0.941).contains(&hottest), "{hottest}");
}

#[test]
fn seeds_count_at_birth_and_again_when_asked() {
    let folder = Folder::new()
        .file("notes/a.md", "Alpha.\n")
        .file("notes/b.md", "Beta.\n")
        .file("notes/c.md", "Gamma.\n")
        .file(SEEDS, r#"{"a.md": 0.9, "b.md": 0.8}"#);
    compile(&folder, &[]);
    let of = |a: f64, b: f64, c: f64| {
        vec![("Alpha.".to_owned(), a), ("Beta.".to_owned(), b), ("Gamma.".to_owned(), c)]
    };
    assert_eq!(temperatures(&folder), of(0.9, 0.8, 0.5));
    folder.write(SEEDS, r#"{"a.md": 0.3, "b.md": 0.2}"#);
    compile(&folder, &[]);
    assert_eq!(temperatures(&folder), of(0.9, 0.8, 0.5));

    let pin =
        "UPDATE heat SET pinned = 1 WHERE node = (SELECT key FROM node WHERE label = 'Beta.')";
    folder.database("memory.db").execute(pin, []).unwrap();
    expect![[r#"
        compiled: 0 added, 0 modified, 0 removed (0 ops)
        reseeded: 1 temperature
        = 0
    "#]]
    .assert_eq(&compile(&folder, &["--reseed-temperatures"]).transcript());
    assert_eq!(temperatures(&folder), of(0.3, 0.8, 0.5));
    assert_eq!(folder.facts("memory.db")["snapshots"], 1);

    folder.write(SEEDS, "{}");
    let ran = compile(&folder, &["--reseed-temperatures", "--json"]);
    let facts: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(facts["reseeded"], 0);
    folder.write(SEEDS, r#"{"a.md": 2}"#);
    expect![[r#"
        ! remindb: `a.md` in .remindb/temperatures.json must be between 0 and 1, not 2
        = 2
    "#]]
    .assert_eq(&compile(&folder, &[]).transcript());
    folder.assert_healthy("memory.db");
}

#[test]
fn the_server_seeds_what_is_born_under_it() {
    let folder = notes().file(SEEDS, r#"{"*": 0.7}"#);
    let mut client = Client::legacy(&folder, &["--source", "notes", "--db", "memory.db"]);
    client.logged("compiled: 2 added");
    folder.write("notes/b.md", "Later.\n");
    client.text("MemoryCompile", json!({"path": "b.md"}));
    client.end();
    assert!(temperatures(&folder).iter().all(|(_, it)| *it == 0.7));
}

#[test]
fn a_compile_that_takes_too_long_says_so_and_changes_nothing() {
    let folder = notes().file(CONFIG, r#"{"compile": {"wall_clock_timeout": "1ns"}}"#);
    expect![[r#"
        ! remindb: wall-clock timeout exceeded: `compile.wall_clock_timeout` is 1ns; nothing was changed
        = 2
    "#]].assert_eq(&compile(&folder, &[]).transcript());
    assert_eq!(folder.facts("memory.db")["nodes"], 0);
}

#[test]
fn gitignore_is_followed_by_option_only() {
    let folder = notes().file("notes/.gitignore", "drafts/\n").file("notes/drafts/d.md", "D.\n");
    assert_eq!(
        compile(&folder, &[]).stdout,
        "compiled: 3 added, 0 modified, 0 removed (3 ops), 1 warning\n"
    );
    assert_eq!(
        compile(&folder, &["--gitignore"]).stdout,
        "compiled: 0 added, 0 modified, 1 removed (1 ops)\n\
         passed over: 1 folder; --verbose lists them\n"
    );
}

#[test]
fn the_log_is_where_and_how_the_settings_say() {
    let config = r#"{"server": {"logging": {
        "level": "warn", "format": "json", "output_path": ".remindb/logs/server.log"}}}"#;
    let folder = notes().file(CONFIG, config);
    let client = Client::legacy(&folder, &["--source", "notes", "--db", "memory.db", "-v"]);
    client.end();
    let log = folder.path("notes/.remindb/logs/server.log");
    assert_eq!(log.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&log).unwrap();
    let levels: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["level"].clone())
        .collect();
    assert!(levels.contains(&json!("info")), "the operator's flag counts more: {text}");
}

#[test]
fn no_log_is_written_outside_the_folder_or_into_notes() {
    let logging =
        |path: &str| format!(r#"{{"server": {{"logging": {{"output_path": "{path}"}}}}}}"#);
    let serve = ["serve", "--source", "notes", "--db", "memory.db"];
    for path in ["../out.log", "/tmp/remindb-out.log", ".git/hooks/x.log", "a.md", "Makefile"] {
        let folder = notes().file(CONFIG, logging(path));
        let ran = folder.run(serve);
        assert!(ran.stderr.contains("`server.logging.output_path` is not followed"), "{path}");
        assert_eq!(ran.code, Some(0));
    }
    let folder = notes().file(CONFIG, logging("logs/x.log"));
    symlink("..", folder.path("notes/logs")).unwrap();
    folder.check_session(expect![[r#"
        $ serve --source notes --db memory.db
        ! remindb: `server.logging.output_path` in the settings is `logs/x.log`: a link is in it, and is not followed; name a path without
        = 2
    "#]]);
    let folder = notes().file(CONFIG, logging("x.log")).file("notes/mine.txt", "Mine.\n");
    symlink("mine.txt", folder.path("notes/x.log")).unwrap();
    folder.check_session(expect![[r#"
        $ serve --source notes --db memory.db
        ! remindb: `server.logging.output_path` in the settings is `x.log`: a link is in it, and is not followed; name a path without
        = 2
    "#]]);
    assert_eq!(fs::read_to_string(folder.path("notes/mine.txt")).unwrap(), "Mine.\n");
    let folder = notes().file(CONFIG, logging("a.md"));
    folder.check_session(expect![[r#"
        $ serve --source notes --db memory.db --trust-workspace
        ! remindb: `server.logging.output_path` in the settings is `a.md`: that is a note and would be compiled; let it end in `.log`
        = 2
    "#]]);
}

#[test]
fn no_port_is_opened_by_a_folder() {
    let http = r#"{"server": {"transport": "http", "listen": "0.0.0.0:80"}}"#;
    let folder = notes().file(CONFIG, http);
    let serve = ["serve", "--source", "notes", "--db", "memory.db"];
    let ran = folder.run(serve);
    assert!(ran.stderr.contains("`server.transport` is not followed: it would open a port"));
    assert!(ran.stderr.contains("`server.listen` is not followed"));
    assert_eq!(ran.code, Some(0));
    folder.check_session(expect![[r#"
        $ serve --source notes --db memory.db --trust-workspace
        ! remindb: `0.0.0.0:80` can be reached from other machines; give a token with --token-file FILE or REMINDB_TOKEN, or listen on 127.0.0.1
        = 2
    "#]]);
}

#[test]
fn a_person_is_told_by_every_command_that_writes_which_secrets_were_replaced() {
    let text = format!("Of {TICKET}.");
    let facts = json!([{"op": "topic", "name": text}]).to_string();
    let folder = notes().file(CONFIG, CUSTOM).file("facts.json", facts);
    folder.ok(["compile", "notes", "--db", "m.db"]);
    for args in [
        &["remember", &text] as &[&str],
        &["remember", "--json", "Again", &format!("--topic={TICKET}")],
        &["remember", "--type", "learning", &text],
        &["apply", "-f", "facts.json"],
        &["ingest", &text],
    ] {
        let ran = folder.run(args.iter().chain(&["--db", "m.db"]));
        assert_eq!(ran.code, Some(0), "{}", ran.transcript());
        let told = "remindb: secrets were replaced by markers: ticket\n";
        assert!(ran.stderr.ends_with(told), "{}", ran.transcript());
    }
    let ran = folder.run(["remember", "Nothing.", "--db", "m.db"]);
    assert!(!ran.stderr.contains("were replaced"), "{}", ran.transcript());
}

/// Calls a tool that gets a secret, and then one that gets none, and checks what each reply says.
#[track_caller]
fn check_told(client: &mut Client, tool: &str, arguments: &Value) {
    let reply = client.text(tool, arguments.clone());
    match serde_json::from_str::<Value>(&reply) {
        Ok(document) => assert_eq!(document["redacted"], json!(["ticket"]), "{tool}: {reply}"),
        Err(_) => {
            let told = "\nsecrets were replaced by markers: ticket";
            assert!(reply.ends_with(told), "{tool}: {reply}");
        }
    }
    let plain = arguments.to_string().replace(TICKET, "nothing");
    let reply = client.text(tool, serde_json::from_str(&plain).unwrap());
    assert!(!reply.contains("\"redacted\"") && !reply.contains("were replaced"), "{tool}: {reply}");
}

#[test]
fn an_agent_is_told_by_every_tool_that_writes_which_secrets_were_replaced() {
    let text = format!("Of {TICKET}.");
    let node = "SELECT id FROM node WHERE content LIKE 'Of %' LIMIT 1";
    for (set, calls) in [
        (
            "all",
            vec![
                ("MemoryWrite", json!({"payload": text})),
                ("MemoryRelate", json!({"source_id": "NODE", "target_label": TICKET})),
                ("MemorySummarize", json!({"node_id": "NODE", "summary": text})),
                ("MemoryCompile", json!({"path": "a.md", "message": text})),
                ("MemoryRemember", json!({"content": text})),
                ("MemoryIngest", json!({"content": text, "flush": true})),
                ("MemoryApply", json!({"operations": [{"op": "topic", "name": text}]})),
            ],
        ),
        (
            "memory",
            vec![
                ("store_memory", json!({"type": "learning", "content": text, "tags": [TICKET]})),
                ("update_memory", json!({"id": "UUID", "category": TICKET})),
            ],
        ),
        (
            "remind",
            vec![
                ("remember", json!({"content": text})),
                ("create_topic", json!({"name": text})),
                ("ingest", json!({"content": text})),
                ("flush_ingest", json!({"instructions": text})),
                ("consolidate", json!({"operations": [{"op": "remember", "content": text}]})),
                ("update_episode", json!({"episode_id": "NODE", "content": text})),
            ],
        ),
    ] {
        let folder = notes().file(CONFIG, CUSTOM);
        let args = ["--source", "notes", "--db", "memory.db", "--tools", set];
        let mut client = Client::legacy(&folder, &args);
        client.logged("compiled: 2 added");
        for (tool, arguments) in calls {
            let mut arguments = arguments.to_string();
            if arguments.contains("NODE") {
                let conn = folder.database("memory.db");
                let id: String = conn.query_row(node, [], |row| row.get(0)).unwrap();
                arguments = arguments.replace("NODE", &id);
            }
            if arguments.contains("UUID") {
                let found = client.text("query_memories", json!({"search": "of"}));
                let found: Value = serde_json::from_str(&found).unwrap();
                let id = found["memories"][0]["id"].as_str().unwrap();
                arguments = arguments.replace("UUID", id);
            }
            check_told(&mut client, tool, &serde_json::from_str(&arguments).unwrap());
        }
        client.end();
        assert!(!is_stored(&folder, TICKET), "{set}");
    }
}
