//! Tests limits and archiving: settings and their sources, the commands, a server's tick, backups.

use expect_test::expect;
use serde_json::{Value, json};

use super::memories::OFFER;
use super::support::{Client, Folder, Ran};

/// Stores so many memories of a type, eldest first, whose contents are their numbers.
fn store(folder: &Folder, memory_type: &str, n: usize) {
    let mut client = Client::modern(folder, &OFFER);
    for nth in 0..n {
        let args = json!({"type": memory_type, "content": format!("{memory_type} {nth}")});
        client.text("store_memory", args);
    }
    client.end();
}

/// Runs a command with variables of the environment, `NAME=text`.
fn with(folder: &Folder, variables: &[&str], args: &str) -> Ran {
    let mut command = folder.command(args.split(' '));
    for variable in variables {
        let (name, text) = variable.split_once('=').unwrap();
        command.env(name, text);
    }
    Ran::of(folder, &mut command)
}

/// How many memories an archive would archive.
#[track_caller]
fn n_beyond(folder: &Folder, variables: &[&str]) -> u64 {
    let ran = with(folder, variables, "archive --dry-run --json --db m.db");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    serde_json::from_str::<Value>(&ran.stdout).unwrap()["archived"].as_u64().unwrap()
}

#[test]
fn archive_says_what_it_archives_and_is_undone_by_one_rollback() {
    let folder = Folder::new();
    store(&folder, "task", 3);
    folder.check_session(expect![[r#"
        $ archive --db m.db
        archived 0 memories
        = 0
    "#]]);
    let limit = ["MAX_TASKS=1"];
    let dry = with(&folder, &limit, "archive --dry-run --db m.db");
    assert_eq!(dry.transcript(), "would archive 2 memories: 0 learnings, 2 tasks\n= 0\n");
    let done = with(&folder, &limit, "archive --db m.db");
    assert_eq!(done.transcript(), "archived 2 memories: 0 learnings, 2 tasks (snapshot #4)\n= 0\n");
    let again = with(&folder, &limit, "archive --json --db m.db");
    expect![[r#"
        {
          "dry_run": false,
          "archived": 0,
          "learnings": [],
          "tasks": [],
          "skipped": [],
          "snapshot": null
        }
        = 0
    "#]]
    .assert_eq(&again.transcript());
    let mut client = Client::modern(&folder, &OFFER);
    let left = |client: &mut Client| {
        let page = client.text("query_memories", json!({"type": "task"}));
        serde_json::from_str::<Value>(&page).unwrap()["total"].clone()
    };
    assert_eq!(left(&mut client), 1);
    client.text("MemoryRollback", json!({"snapshot_id": 3}));
    assert_eq!(left(&mut client), 3);
    client.end();
    folder.assert_healthy("m.db");
}

#[test]
fn days_replace_the_ages_of_the_settings() {
    let folder = Folder::new();
    store(&folder, "learning", 2);
    let archived = |args: &str| {
        let ran = with(&folder, &["AUTO_ARCHIVE_LEARNINGS_DAYS=1"], args);
        ran.stdout.lines().next().unwrap_or(&ran.stderr).to_owned()
    };
    assert_eq!(archived("archive --days 1 --db m.db"), "archived 0 memories");
    let zero = "would archive 2 memories: 2 learnings, 0 tasks";
    assert_eq!(archived("archive --days 0 --dry-run --db m.db"), zero);
    folder.check_session(expect![[r#"
        $ archive --days 36501 --db m.db
        ! remindb: `--days` must be from 0 to 36500, not 36501; see `remindb help archive`
        = 2
    "#]]);
    folder.check_session(expect![[r#"
        $ archive --days many --db m.db
        ! remindb: `--days` needs a whole number, not `many`; see `remindb help archive`
        = 2
    "#]]);
    folder.check_session(expect![[r#"
        $ archive --db nowhere.db
        ! remindb: no database at `nowhere.db`; make one with `remindb compile FOLDER --db nowhere.db`
        = 2
    "#]]);
}

#[test]
fn the_environment_counts_before_the_user_and_the_user_before_the_default() {
    let folder = Folder::new();
    store(&folder, "task", 5);
    assert_eq!(n_beyond(&folder, &[]), 0);
    folder.write("settings/remindb/config.json", r#"{"memory": {"max_tasks": 4}}"#);
    assert_eq!(n_beyond(&folder, &[]), 1);
    assert_eq!(n_beyond(&folder, &["MAX_TASKS=2"]), 3);
    assert_eq!(n_beyond(&folder, &["MAX_TASKS="]), 1, "an empty variable is not set");
    assert_eq!(n_beyond(&folder, &["XDG_CONFIG_HOME=relative"]), 0, "it is not absolute");
    for (variables, why) in [
        (["MAX_TASKS=none"], "`MAX_TASKS` must be a whole number from 1 to 1000000, not `none`"),
        (["ENABLE_AUTO_ARCHIVAL=x"], "`ENABLE_AUTO_ARCHIVAL` must be true, 1, false or 0, not `x`"),
        (["MAX_BACKUPS=0"], "`MAX_BACKUPS` must be a whole number from 1 to 1000, not `0`"),
    ] {
        for args in ["archive --db m.db", "serve --db m.db", "restore m.db --db new.db"] {
            let ran = with(&folder, &variables, args);
            assert_eq!((ran.code, ran.stderr), (Some(2), format!("remindb: {why}\n")), "{args}");
        }
    }
    let ran = with(&folder, &["LOG_LEVEL=loud"], "serve --db m.db");
    let why = "`LOG_LEVEL` must be one of debug, info, warn, error, not `loud`";
    assert_eq!((ran.code, ran.stderr), (Some(2), format!("remindb: {why}\n")));
    folder.write("settings/remindb/config.json", r#"{"memory": {"max_task": 4}}"#);
    folder.check_session(expect![[r#"
        $ archive --db m.db
        ! remindb: unknown key "max_task" in DIR/settings/remindb/config.json, under `memory`; did you mean `max_tasks`?
        = 2
    "#]]);
    std::fs::remove_file(folder.path("settings/remindb/config.json")).unwrap();
    std::fs::create_dir(folder.path("settings/remindb/config.json")).unwrap();
    folder.check_session(expect![[r#"
        $ archive --db m.db
        ! remindb: cannot read `DIR/settings/remindb/config.json`: it is no regular file
        = 2
    "#]]);
}

/// Stores core memories until one is refused; returns how many there are then.
fn n_core(folder: &Folder, variables: &[&str], args: &[&str]) -> usize {
    let mut command = folder.command([&["serve"], &OFFER[..], args].concat());
    for variable in variables {
        let (name, text) = variable.split_once('=').unwrap();
        command.env(name, text);
    }
    let mut client = Client::of(&mut command).shake_hands();
    let n = (0..20).take_while(|nth| {
        let args = json!({"type": "core", "content": format!("core {nth}")});
        let reply = client.call("store_memory", args);
        assert_eq!(reply.is_error, reply.text.contains("LIMIT_EXCEEDED"), "{}", reply.text);
        !reply.is_error
    });
    let n = n.count();
    client.end();
    n
}

#[test]
fn a_server_follows_its_folder_only_where_it_is_trusted() {
    let limit = |n: usize| format!(r#"{{"memory": {{"max_core": {n}}}}}"#);
    let check = |variables: &[&str], args: &[&str], n: usize| {
        let folder = Folder::new().file("notes/.remindb/config.json", limit(3));
        folder.write("settings/remindb/config.json", limit(5));
        let args = [&["--source", "notes"], args].concat();
        assert_eq!(n_core(&folder, variables, &args), n, "{variables:?} {args:?}");
    };
    check(&[], &[], 5);
    check(&[], &["--trust-workspace"], 3);
    check(&["MAX_CORE_MEMORIES=7"], &["--trust-workspace"], 7);
    let folder = Folder::new().file("notes/.remindb/config.json", limit(3));
    let mut client = Client::legacy(&folder, &["--db", "m.db", "--source", "notes"]);
    client.logged(
        "`memory` is not followed: it would refuse or archive memories that are not of this \
         folder alone; start with --trust-workspace to allow it",
    );
    client.close();
    client.wait();
}

#[test]
fn a_user_has_every_setting_of_a_folder() {
    let folder = Folder::new().file("notes/a.md", "# A\n\nThe token is T-12345.\n");
    let custom = r#"{"redaction": {"custom": [{"kind": "ticket", "pattern": "T-\\d+"}]}}"#;
    folder.write("settings/remindb/config.json", custom);
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let said = folder.ok(["search", "token", "--db", "m.db"]);
    assert!(said.contains("«redacted:ticket»"), "{said}");
}

#[test]
fn a_user_names_the_log_of_a_server_without_a_folder() {
    let folder = Folder::new();
    let log = folder.path("logs/server.log");
    let settings = json!({"server": {"logging": {"output_path": log}}});
    folder.write("settings/remindb/config.json", settings.to_string());
    let mut command = folder.command(["serve", "--db", "m.db"]);
    let client = Client::of(command.env("LOG_LEVEL", "INFO")).shake_hands();
    client.end();
    let logged = std::fs::read_to_string(&log).unwrap();
    assert!(logged.contains("a new memory was made at `m.db`"), "{logged}");
    // The environment counts before the settings.
    folder.write("other/remindb/config.json", r#"{"server": {"logging": {"level": "info"}}}"#);
    let mut command = folder.command(["serve", "--db", "n.db"]);
    command.env("LOG_LEVEL", "error").env("XDG_CONFIG_HOME", folder.path("other"));
    let mut client = Client::of(&mut command).shake_hands();
    client.close();
    client.wait();
    assert_eq!(client.log_line(), None);
}

#[test]
fn the_manual_has_each_key_with_its_variable() {
    let rows = [
        ("max_core", "MAX_CORE_MEMORIES"),
        ("max_learnings", "MAX_LEARNINGS"),
        ("max_tasks", "MAX_TASKS"),
        ("archive_learnings_days", "AUTO_ARCHIVE_LEARNINGS_DAYS"),
        ("archive_tasks_days", "AUTO_ARCHIVE_TASKS_DAYS"),
        ("auto_archive", "ENABLE_AUTO_ARCHIVAL"),
        ("backup", "BACKUP_ENABLED"),
        ("max_backups", "MAX_BACKUPS"),
    ];
    let [config, cli] = ["config", "cli"].map(|it| {
        let path = format!("{}/docs/{it}.md", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).unwrap()
    });
    // Each key is one that the program knows.
    let folder = Folder::new();
    for (key, variable) in rows {
        assert!(config.contains(&format!("| `memory.{key}` |")), "{key}");
        assert!(cli.contains(&format!("| `{variable}` | sets `memory.{key}` |")), "{variable}");
        let bad = json!({"memory": {key: "bad"}});
        folder.write("settings/remindb/config.json", bad.to_string());
        let ran = folder.run(["serve", "--db", "m.db"]);
        assert!(ran.stderr.contains(&format!("`memory.{key}` in ")), "{}", ran.stderr);
        std::fs::remove_file(folder.path("settings/remindb/config.json")).unwrap();
        let ran = with(&folder, &[&format!("{variable}=bad")], "serve --db m.db");
        assert!(
            ran.stderr.starts_with(&format!("remindb: `{variable}` must be")),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn memory_dir_is_the_folder_of_the_memory() {
    let folder = Folder::new().file("notes/a.md", "# A\n\nSay hello.\n");
    let of = |variables: &[&str], args: &str| with(&folder, variables, args);
    let dir = ["MEMORY_DIR=deep/memories"];
    assert_eq!(of(&dir, "compile notes").code, Some(0));
    assert!(folder.path("deep/memories/memory.db").is_file());
    assert!(of(&dir, "search hello").stdout.contains("Say hello."));
    assert!(!folder.path("notes.db").exists());
    let both = ["MEMORY_DIR=elsewhere", "REMINDB_DB=deep/memories/memory.db"];
    assert!(of(&both, "search hello").stdout.contains("Say hello."));
    let flag = of(&["MEMORY_DIR=elsewhere"], "compile notes --db m.db");
    assert_eq!(flag.code, Some(0), "{}", flag.stderr);
    assert!(folder.path("m.db").is_file());
    assert!(!folder.path("elsewhere").exists());
    let none = of(&["MEMORY_DIR=elsewhere"], "search hello");
    assert_eq!(none.code, Some(2));
    assert!(none.stderr.contains("no database at `elsewhere/memory.db`"), "{}", none.stderr);
}

#[test]
fn a_tick_archives_in_one_snapshot_and_announces_it() {
    let folder = Folder::new();
    store(&folder, "learning", 4);
    folder.write(
        "settings/remindb/config.json",
        r#"{"temperature": {"tick_interval": "250ms"}, "memory": {"max_learnings": 4}}"#,
    );
    let mut client = Client::legacy(&folder, &OFFER);
    for name in ["learnings", "tasks/active", "core"] {
        let uri = format!("memory://{name}");
        assert_eq!(client.ask("resources/subscribe", json!({"uri": uri}))["result"], json!({}));
    }
    // The fifth learning is announced at once, and with the tick the first one goes.
    client.request(
        "tools/call",
        json!({"name": "store_memory", "arguments": {
            "type": "learning", "content": "learning 4",
        }}),
    );
    client.logged("archived 1 memory: 1 learning, 0 tasks; snapshot=6");
    let mut shown = Value::Null;
    while shown != 4 {
        let line = client.line();
        if line["method"] == "notifications/resources/updated" {
            assert_eq!(line["params"]["uri"], "memory://learnings");
            let read = client.ask("resources/read", json!({"uri": "memory://learnings"}));
            let text = read["result"]["contents"][0]["text"].as_str().unwrap();
            shown = serde_json::from_str::<Value>(text).unwrap()["count"].clone();
        }
    }
    let page = client.text("query_memories", json!({"archived": true}));
    let page: Value = serde_json::from_str(&page).unwrap();
    assert_eq!(page["memories"][0]["content"], "learning 0");
    client.close();
    client.wait();
    folder.assert_healthy("m.db");
}

#[test]
fn nothing_is_archived_where_the_settings_forbid_it() {
    let folder = Folder::new();
    store(&folder, "learning", 2);
    folder.write(
        "settings/remindb/config.json",
        r#"{"temperature": {"tick_interval": "250ms", "cold_threshold": 1, "notify_threshold": 1}}"#,
    );
    let mut command = folder.command(["serve", "--verbose"].iter().chain(&OFFER));
    command.env("MAX_LEARNINGS", "1").env("ENABLE_AUTO_ARCHIVAL", "false");
    let mut client = Client::of(&mut command).shake_hands();
    assert_eq!(
        client.ask("resources/subscribe", json!({"uri": "remindb://temperature"}))["result"],
        json!({})
    );
    // Two ticks, by which nodes cooled.
    for _ in 0..2 {
        while client.line()["params"]["uri"] != "remindb://temperature" {}
    }
    let page = client.text("query_memories", json!({"archived": true}));
    assert_eq!(serde_json::from_str::<Value>(&page).unwrap()["total"], 0);
    client.close();
    client.wait();
}

#[test]
fn views_are_defined_listed_and_removed() {
    let folder = Folder::new();
    store(&folder, "task", 2);
    folder.check_session(expect![[r#"
        $ view-query --db m.db
        = 0
    "#]]);
    folder.check_session(expect![[r#"
        $ view-query python type=task tags=python,web --db m.db
        made: memory://custom/python, which shows 0
        = 0
    "#]]);
    let words = r#"search="task  1" category='a b' limit=5"#;
    assert_eq!(
        folder.ok(["view-query", "one", words, "--db", "m.db"]),
        "made: memory://custom/one, which shows 0\n"
    );
    assert_eq!(
        folder.ok(["view-query", "one", "search='task 1'", "--db", "m.db", "--json"]),
        "{\n  \"name\": \"one\",\n  \"uri\": \"memory://custom/one\",\n  \"query\": {\n    \
         \"search\": \"task 1\"\n  },\n  \"created\": false,\n  \"count\": 1\n}\n"
    );
    folder.ok(["view-query", "all", "", "--db", "m.db"]);
    folder.check_session(expect![[r#"
        $ view-query --db m.db
        memory://custom/all
        memory://custom/one  search="task 1"
        memory://custom/python  type=task tags=python,web
        = 0
    "#]]);
    folder.check_session(expect![[r#"
        $ view-query --remove python --db m.db
        removed: python
        = 0
    "#]]);
    folder.check_session(expect![[r#"
        $ view-query --remove python --db m.db
        ! remindb: no view `python`; there are all, one
        = 2
    "#]]);
    let listed: Value =
        serde_json::from_str(&folder.ok(["view-query", "--json", "--db", "m.db"])).unwrap();
    assert_eq!(
        listed,
        json!([
            {"name": "all", "uri": "memory://custom/all", "query": {}},
            {"name": "one", "uri": "memory://custom/one", "query": {"search": "task 1"}},
        ])
    );
}

#[test]
fn a_bad_view_ends_with_code_2_and_changes_nothing() {
    let folder = Folder::new();
    store(&folder, "task", 1);
    let long = "a".repeat(65);
    for args in [
        &["Upper", "type=task"][..],
        &["under_score", "type=task"],
        &["", "type=task"],
        &[long.as_str(), "type=task"],
        &["v", "type=note"],
        &["v", "colour=red"],
        &["v", "type"],
        &["v", "search=\"open"],
        &["v", "limit=1001"],
        &["v", "status=blocked type=core"],
        &["v"],
        &["--remove", "v", "extra"],
        &["--remove", "UPPER"],
        &["v", "type=task", "--what"],
    ] {
        let ran = folder.run([&["view-query"], args, &["--db", "m.db"]].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{args:?}: {}", ran.stderr);
    }
    assert_eq!(folder.ok(["view-query", "--db", "m.db"]), "");
    folder.check_session(expect![[r#"
        $ view-query v type=task --db nowhere.db
        ! remindb: no database at `nowhere.db`; make one with `remindb compile FOLDER --db nowhere.db`
        = 2
    "#]]);
}

#[test]
fn views_move_with_the_memory() {
    let folder = Folder::new();
    store(&folder, "task", 1);
    folder.ok(["view-query", "mine", "type=task search=TICKET-7", "--db", "m.db"]);
    let expected = "memory://custom/mine  type=task search=TICKET-7\n";
    let views = |db: &str| folder.ok(["view-query", "--db", db]);
    assert_eq!(views("m.db"), expected);
    folder.ok(["export", "m.jsonl", "--db", "m.db"]);
    folder.ok(["import", "m.jsonl", "--db", "imported.db"]);
    assert_eq!(views("imported.db"), expected);
    folder.ok(["export", "again.jsonl", "--db", "imported.db"]);
    let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
    assert_eq!(bytes("again.jsonl"), bytes("m.jsonl"));
    folder.ok(["backup", "backup.db", "--db", "m.db"]);
    folder.ok(["view-query", "--remove", "mine", "--db", "m.db"]);
    folder.ok(["restore", "backup.db", "--db", "m.db"]);
    assert_eq!(views("m.db"), expected);
    folder.ok(["salvage", "m.db", "--out", "salvaged.db"]);
    assert_eq!(views("salvaged.db"), expected);
    folder.ok(["gc", "--db", "m.db"]);
    folder.ok(["doctor", "--fix", "--db", "m.db"]);
    assert_eq!(views("m.db"), expected);
    // A kind of secret that was not known when the view was made.
    let custom = r#"{"redaction": {"custom": [{"kind": "word", "pattern": "TICKET-\\d"}]}}"#;
    folder.write("kinds/.remindb/config.json", custom);
    folder.ok(["redact", "--source", "kinds", "--db", "m.db"]);
    assert_eq!(views("m.db"), "memory://custom/mine  type=task search=«redacted:word»\n");
    folder.assert_healthy("m.db");
}

/// The names of backups in the folder.
fn backups(folder: &Folder) -> Vec<String> {
    folder.names().into_iter().filter(|it| it.contains(".before-")).collect()
}

/// A memory of three snapshots and a secret.
fn careless() -> Folder {
    let folder = Folder::new();
    for nth in 0..3 {
        folder.write("notes/a.md", format!("# A\n\nVersion {nth} of TICKET-{nth}.\n"));
        folder.date("notes/a.md", nth);
        folder.ok(["compile", "notes", "--db", "m.db"]);
    }
    let custom = r#"{"redaction": {"custom": [{"kind": "ticket", "pattern": "TICKET-\\d"}]}}"#;
    folder.write("kinds/.remindb/config.json", custom);
    folder
}

#[test]
fn gc_keeps_a_backup_of_what_it_forgets() {
    let folder = careless();
    for args in ["gc --db m.db", "gc --keep 1 --dry-run --db m.db", "gc --keep 9 --db m.db"] {
        folder.ok(args.split(' '));
        assert_eq!(backups(&folder), [""; 0], "{args} forgets nothing");
    }
    folder.ok("gc --keep 2 --no-backup --db m.db".split(' '));
    with(&folder, &["BACKUP_ENABLED=false"], "gc --keep 2 --db m.db");
    assert_eq!(backups(&folder), [""; 0]);
    let ran = folder.run("gc --keep 1 --db m.db".split(' '));
    let names = backups(&folder);
    assert_eq!(ran.stderr, format!("remindb: backup: {}; it holds what was forgotten\n", names[0]));
    assert_eq!(names.len(), 1);
    assert_eq!(
        (&folder.facts("m.db")["snapshots"], &folder.facts(&names[0])["snapshots"]),
        (&json!(1), &json!(2))
    );
    folder.ok(["restore", &names[0], "--db", "m.db"]);
    assert_eq!(folder.facts("m.db")["snapshots"], 2);
}

#[test]
fn a_removal_that_is_refused_leaves_no_backup() {
    const REPLICA: &str = "
        INSERT INTO replica (one, url, epoch, seq, hash)
        VALUES (1, 'postgres://db.example/space', 1, 0, x'')";
    const TRIGGER: &str = "CREATE TRIGGER spy AFTER DELETE ON node BEGIN SELECT 1; END";
    for (refused, args, why) in [
        (REPLICA, "gc --keep 1 --db m.db", "postgres://db.example/space"),
        (TRIGGER, "redact --backup --source kinds --db m.db", "foreign trigger `spy`"),
    ] {
        let folder = careless();
        folder.database("m.db").execute_batch(refused).unwrap();
        let ran = folder.run(args.split(' '));
        assert_eq!(ran.code, Some(2), "{args}: {}", ran.stderr);
        assert!(ran.stderr.contains(why), "{args}: {}", ran.stderr);
        assert_eq!(backups(&folder), [""; 0], "{args}");
    }
}

#[test]
fn redact_makes_a_backup_only_where_somebody_asks_for_it() {
    for (variables, flag, n) in [
        (&[][..], "", 0),
        (&[][..], " --backup", 1),
        (&["BACKUP_ENABLED=1"][..], "", 1),
        (&["BACKUP_ENABLED=1"][..], " --no-backup", 0),
        (&["BACKUP_ENABLED=1"][..], " --dry-run", 0),
    ] {
        let folder = careless();
        let ran = with(&folder, variables, &format!("redact --source kinds --db m.db{flag}"));
        assert_eq!(backups(&folder).len(), n, "{variables:?}{flag}");
        assert_eq!(
            ran.stderr.contains("it holds the secrets: delete it"),
            n == 1,
            "{}",
            ran.stderr
        );
    }
    let folder = careless();
    folder.ok("redact --backup --db m.db".split(' '));
    assert_eq!(backups(&folder), [""; 0], "there was no secret");
}

#[test]
fn the_newest_backups_are_kept() {
    let folder = careless();
    folder.ok(["backup", "b.db", "--db", "m.db"]);
    for nth in 1..=7 {
        folder.write(format!("m.db.2020010{nth}T000000Z.before-gc"), "");
    }
    folder.write("m.db.20200101T000000Z.backup", "");
    folder.ok(["restore", "b.db", "--db", "m.db"]);
    let names = backups(&folder);
    assert_eq!(names.len(), 5);
    assert!(names[0].contains("20200104") && names[4].contains("before-restore"), "{names:?}");
    assert!(folder.path("m.db.20200101T000000Z.backup").exists());
    with(&folder, &["MAX_BACKUPS=2"], "gc --keep 1 --db m.db");
    let names = backups(&folder);
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names[0].contains("before-") && names[1].contains("before-"), "{names:?}");
    // A restore always makes one; where no backups are wanted, none is counted and deleted.
    folder.ok(["restore", "b.db", "--db", "other.db"]);
    folder.write("other.db.20200101T000000Z.before-gc", "");
    let ran =
        with(&folder, &["BACKUP_ENABLED=false", "MAX_BACKUPS=1"], "restore b.db --db other.db");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let names = backups(&folder).into_iter().filter(|it| it.starts_with("other."));
    assert_eq!(names.count(), 2);
}
