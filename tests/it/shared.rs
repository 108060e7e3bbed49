//! Tests one memory on many machines, with a PostgreSQL of their own: `make shared` runs them.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "real servers take real time, and what was measured is told"
)]

mod encryption;
mod measures;
mod proxy;
mod seen;
mod server;
mod sign_in;
mod storm;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::support::{Client, Folder, Ran, signal};
use proxy::Proxy;
use server::{PASSWORD, Postgres};

/// Returns a folder whose password file a program can use.
fn machine() -> Folder {
    let folder = Folder::new().file("notes/a.md", "# A\n\nOne.\n");
    Postgres::password_file(&folder.path("pgpass"), "127.0.0.1");
    folder
}

/// Returns a command of a machine, which knows the password by a file.
fn command(folder: &Folder, args: &[&str]) -> Command {
    let mut command = folder.command(args);
    command.env("PGPASSFILE", folder.path("pgpass"));
    command
}

fn run(folder: &Folder, args: &[&str]) -> Ran {
    Ran::of(folder, &mut command(folder, args))
}

#[track_caller]
fn ok(folder: &Folder, args: &[&str]) -> String {
    let ran = run(folder, args);
    assert_eq!(ran.code, Some(0), "{args:?}: {}{}", ran.stdout, ran.stderr);
    ran.stdout
}

fn serve(folder: &Folder, db: &str, url: &str, more: &[&str]) -> Client {
    let mut args = vec!["serve", "--db", db, "--shared", url];
    args.extend(more);
    Client::of(&mut command(folder, &args)).shake_hands()
}

/// Publishes the notes of a machine as a space.
fn published(postgres: &Postgres, space: &str) -> (Folder, String) {
    let (folder, url) = (machine(), postgres.url(postgres.port, space));
    ok(&folder, &["compile", "notes", "--db", "m.db"]);
    ok(&folder, &["space", "create", &url, "--db", "m.db"]);
    (folder, url)
}

fn status(folder: &Folder, db: &str) -> (Option<i32>, Value) {
    let ran = run(folder, &["space", "status", "--json", "--db", db]);
    (ran.code, serde_json::from_str(&ran.stdout).unwrap_or(Value::Null))
}

fn say(client: &mut Client, text: &str) -> Result<Value, String> {
    let reply = client.call("MemoryWrite", json!({"payload": text}));
    if reply.is_error { Err(reply.text) } else { Ok(reply.result) }
}

/// Waits until a question is answered with these words, and returns how long that took.
#[track_caller]
fn wait_for(client: &mut Client, query: &str, text: &str) -> Duration {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(30) {
        let found = client.text("MemorySearch", json!({"query": query}));
        if found.contains(text) {
            return began.elapsed();
        }
    }
    panic!("`{text}` did not come");
}

/// Every shared row of a replica, but for what the machine has for itself.
fn rows(path: &Path) -> Vec<String> {
    const QUERIES: [&str; 16] = [
        "SELECT id, name FROM root ORDER BY 1",
        "SELECT id, root, path, content_hash, error, gone FROM file ORDER BY 1",
        "SELECT * FROM file_name ORDER BY 1, 2",
        "SELECT * FROM tombstone ORDER BY 1, 2",
        "SELECT * FROM node ORDER BY 1",
        "SELECT * FROM span ORDER BY 1",
        "SELECT * FROM reference ORDER BY 1",
        "SELECT * FROM wanted ORDER BY 1, 2",
        "SELECT fingerprint FROM memory",
        "SELECT id, parent, cursor_hash, message, created_at FROM snapshot ORDER BY 1",
        "SELECT * FROM cursor ORDER BY 1",
        "SELECT * FROM diff ORDER BY 1, 2",
        "SELECT * FROM change_count ORDER BY 1",
        "SELECT * FROM blob ORDER BY 1",
        "SELECT node, temperature FROM heat WHERE pinned ORDER BY 1",
        "SELECT epoch, seq, hex(hash) FROM replica",
    ];
    let conn = rusqlite::Connection::open(path).unwrap();
    conn.execute_batch("INSERT INTO node_fts (node_fts, rank) VALUES ('integrity-check', 1)")
        .unwrap();
    let mut all = Vec::new();
    for sql in QUERIES {
        let mut query = conn.prepare(sql).unwrap();
        let n_columns = query.column_count();
        let mut rows = query.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let values = (0..n_columns).map(|nth| format!("{:?}", row.get_ref(nth).unwrap()));
            all.push(format!("{sql}: {}", values.collect::<Vec<_>>().join(" ")));
        }
    }
    all
}

#[track_caller]
fn assert_same(one: &Path, other: &Path) {
    let (one, other) = (rows(one), rows(other));
    if one != other {
        let there: BTreeSet<&String> = other.iter().collect();
        let lacks: Vec<&String> = one.iter().filter(|it| !there.contains(it)).take(5).collect();
        panic!("{lacks:#?}");
    }
}

#[test]
#[ignore = "needs PostgreSQL: make shared"]
fn what_one_machine_writes_another_one_reads() {
    let postgres = Postgres::start();
    let (folder, url) = published(&postgres, "team");
    let other = machine();
    let joined = ok(&other, &["space", "join", &url, "--db", "r.db"]);
    assert_eq!(joined, format!("`r.db` is a replica of {url} now\n"));
    let mut a = serve(&folder, "m.db", &url, &[]);
    let mut b = serve(&other, "r.db", &url, &[]);
    assert!(b.text("MemorySearch", json!({"query": "one"})).contains("One."));
    let mut lags: Vec<Duration> = Vec::new();
    for nth in 0..20 {
        say(&mut a, &format!("Lagging{nth} is told")).unwrap();
        lags.push(wait_for(&mut b, &format!("lagging{nth}"), &format!("Lagging{nth} is told")));
    }
    lags.sort();
    println!("lag p50 {:?}", lags[10]);
    say(&mut b, "From the other machine").unwrap();
    wait_for(&mut a, "other machine", "From the other machine");
    let space = a.ask("resources/read", json!({"uri": "remindb://space"}));
    let text = space["result"]["contents"][0]["text"].as_str().unwrap();
    let facts: Value = serde_json::from_str(text).unwrap();
    assert_eq!((&facts["space"], &facts["standing"]), (&json!(url), &json!("in_step")));
    // Nobody sees the password in the list of processes.
    for client in [&a, &b] {
        let line = std::fs::read(format!("/proc/{}/cmdline", client.pid())).unwrap();
        assert!(!String::from_utf8_lossy(&line).contains(PASSWORD));
    }
    a.end();
    b.end();
    assert_eq!(status(&folder, "m.db").0, Some(0));
    assert_same(&folder.path("m.db"), &other.path("r.db"));
    folder.assert_healthy("m.db");
    other.assert_healthy("r.db");
    let alone = run(&folder, &["remember", "Not so", "--db", "m.db"]);
    assert_eq!(alone.code, Some(2));
    assert!(alone.stderr.contains("is a replica of"), "{}", alone.stderr);
    ok(&folder, &["space", "leave", "--db", "m.db"]);
    ok(&folder, &["remember", "Its own again", "--db", "m.db"]);
}

#[test]
#[ignore = "needs PostgreSQL: make shared"]
fn a_space_that_is_not_there_is_refused_and_so_is_a_wrong_password() {
    let postgres = Postgres::start();
    let (folder, url) = published(&postgres, "team");
    let unknown = postgres.url(postgres.port, "unknown");
    for args in [
        &["serve", "--db", "n.db", "--shared", &unknown][..],
        &["space", "join", &unknown, "--db", "n.db"],
    ] {
        let ran = run(&folder, args);
        assert_eq!(ran.code, Some(2));
        assert!(ran.stderr.contains("remindb space create"), "{}", ran.stderr);
        assert!(!folder.path("n.db").exists());
    }
    let again = run(&folder, &["space", "create", &url, "--db", "m.db"]);
    assert_eq!(again.code, Some(2), "{}", again.stderr);
    let other = machine();
    ok(&other, &["compile", "notes", "--db", "o.db"]);
    let taken = run(&other, &["space", "create", &url, "--db", "o.db"]);
    assert!(taken.stderr.contains("already"), "{}", taken.stderr);
    other.write("pgpass", "*:*:*:*:wrong\n");
    let wrong = run(&other, &["space", "join", &url, "--db", "r.db"]);
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong.stderr.contains("password") && !wrong.stderr.contains("wrong"),
        "{}",
        wrong.stderr
    );
}

#[test]
#[ignore = "needs PostgreSQL: make shared"]
fn offline_reads_go_on_and_writes_are_refused_in_time() {
    let postgres = Postgres::start();
    let proxy = Proxy::before(postgres.port);
    let (folder, _) = published(&postgres, "team");
    let url = postgres.url(proxy.port, "team");
    let mut a = serve(&folder, "m.db", &url, &[]);
    say(&mut a, "While it is there").unwrap();
    proxy.take_down();
    let began = Instant::now();
    let refused = say(&mut a, "While it is away").unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert_eq!(
        refused,
        "cannot write: PostgreSQL at 127.0.0.1 is not reachable; nothing was written; reads go on"
    );
    assert!(a.text("MemorySearch", json!({"query": "while there"})).contains("While it is there"));
    proxy.bring_up();
    // A moment after a failure, no new try is made.
    let began = Instant::now();
    while say(&mut a, "It is back").is_err() {
        assert!(began.elapsed() < Duration::from_secs(10));
    }
    // A server starts without its log, too.
    a.end();
    proxy.take_down();
    let mut a = serve(&folder, "m.db", &url, &[]);
    assert!(a.text("MemorySearch", json!({"query": "back"})).contains("It is back"));
    a.end();
}

#[test]
#[ignore = "needs PostgreSQL: make shared"]
fn a_rewound_log_is_noticed_and_a_rebase_keeps_every_word() {
    let postgres = Postgres::start();
    for (n_lost, has_new) in [(1, false), (10, false), (1, true), (10, true)] {
        let space = format!("s{n_lost}{has_new}");
        let (folder, url) = published(&postgres, &space);
        let other = machine();
        ok(&other, &["space", "join", &url, "--db", "r.db"]);
        let mut a = serve(&folder, "m.db", &url, &[]);
        let mut b = serve(&other, "r.db", &url, &[]);
        for nth in 0..12 {
            say(&mut a, &format!("Word{nth} of before")).unwrap();
        }
        wait_for(&mut b, "word11", "Word11 of before");
        postgres.sql(&format!(
            "DELETE FROM log WHERE space = '{space}' AND seq > 12 - {n_lost};
             UPDATE space SET head = 12 - {n_lost}, hash = (SELECT hash FROM log
                 WHERE space = '{space}' AND seq = 12 - {n_lost} AND hash IS NOT NULL)
              WHERE name = '{space}'"
        ));
        if has_new {
            let third = machine();
            let mut c = serve(&third, "c.db", &url, &[]);
            say(&mut c, "A new one on top").unwrap();
            c.end();
        }
        for client in [&mut a, &mut b] {
            let why = say(client, "Never written").unwrap_err();
            assert!(why.contains("this replica and the log differ since entry"), "{why}");
            assert!(why.contains("see remindb space join --rebase"), "{why}");
            let found = client.text("MemorySearch", json!({"query": "word11"}));
            assert!(found.contains("Word11 of before"));
        }
        a.end();
        b.end();
        let (code, facts) = status(&folder, "m.db");
        assert_eq!((code, &facts["standing"]), (Some(1), &json!("diverged")));
        ok(&folder, &["space", "join", &url, "--db", "m.db", "--rebase"]);
        assert_eq!(status(&folder, "m.db").0, Some(0));
        let old = ok(&folder, &["search", "word11", "--db", "m.db.before-1"]);
        assert!(old.contains("Word11 of before"), "{old}");
        let mut a = serve(&folder, "m.db", &url, &[]);
        say(&mut a, "Goes on").unwrap();
        a.end();
    }
}

#[test]
#[ignore = "needs PostgreSQL: make shared"]
fn of_two_clones_only_the_holder_compiles() {
    let postgres = Postgres::start();
    let (folder, url) = published(&postgres, "team");
    let git = "[remote \"origin\"]\n\turl = https://git.example/team/notes\n";
    let (one, two) = (machine(), machine());
    for (clone, text) in [(&one, "# B\n\nMain.\n"), (&two, "# B\n\nBranch.\n")] {
        clone.write("clone/.git/config", git);
        clone.write("clone/b.md", text);
        ok(clone, &["space", "join", &url, "--db", "r.db"]);
    }
    drop(folder);
    let source = one.path("clone").to_string_lossy().into_owned();
    let mut a = serve(&one, "r.db", &url, &["--source", &source]);
    wait_for(&mut a, "main", "Main.");
    let holder = postgres.sql("SELECT holder FROM lease WHERE name LIKE 'compile:%'");
    let refused = run(&two, &["compile", "clone", "--db", "r.db", "--shared"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(refused.stderr.contains(&holder), "{} {holder}", refused.stderr);
    let pid = a.pid();
    signal(pid, "KILL");
    drop(a.kill());
    let refused = run(&two, &["compile", "clone", "--db", "r.db", "--shared"]);
    assert_eq!(refused.code, Some(1), "the lease of a dead one lasts: {}", refused.stderr);
    // Time passes.
    postgres.sql("UPDATE lease SET expires_at = now() - interval '1 second'");
    ok(&two, &["compile", "clone", "--db", "r.db", "--shared"]);
    let found = ok(&two, &["search", "branch", "--db", "r.db"]);
    assert!(found.contains("Branch."), "{found}");
    let roots = postgres.sql("SELECT count(*) FROM lease WHERE name LIKE 'compile:%'");
    assert_eq!(roots, "0", "a compile gives its lease back");
    let own = one.path("").to_string_lossy().into_owned();
    let log = postgres.sql("SELECT count(*) FROM log");
    assert_ne!(log, "0");
    let leaks = postgres
        .sql(&format!("SELECT count(*) FROM log WHERE position('{own}'::bytea IN body) > 0"));
    assert_eq!(leaks, "0", "a path of a machine is in the log");
}

#[test]
#[ignore = "needs PostgreSQL: make shared"]
fn a_server_takes_over_what_a_dead_one_compiled() {
    let postgres = Postgres::start();
    let (folder, url) = published(&postgres, "team");
    let other = machine();
    ok(&other, &["space", "join", &url, "--db", "r.db"]);
    folder.write("notes/b.md", "# B\n\nMain.\n");
    other.write("notes/b.md", "# B\n\nBranch.\n");
    let watching = |of: &Folder| {
        let notes = of.path("notes").to_string_lossy().into_owned();
        ["--source".to_owned(), notes, "--rescan-interval".to_owned(), "200ms".to_owned()]
    };
    let more = watching(&folder);
    let mut a = serve(&folder, "m.db", &url, &more.each_ref().map(String::as_str));
    wait_for(&mut a, "main", "Main.");
    let more = watching(&other);
    let mut b = serve(&other, "r.db", &url, &more.each_ref().map(String::as_str));
    wait_for(&mut b, "main", "Main.");
    const LASTS: &str = "SELECT bool_and(expires_at <= now() + interval '90 seconds') FROM lease";
    assert_eq!(postgres.sql(LASTS), "t");
    signal(a.pid(), "KILL");
    drop(a.kill());
    assert!(!b.text("MemorySearch", json!({"query": "branch"})).contains("Branch."));
    // Time passes.
    postgres.sql("UPDATE lease SET expires_at = now() - interval '1 second'");
    wait_for(&mut b, "branch", "Branch.");
    b.end();
    assert_eq!(postgres.sql("SELECT count(*) FROM lease"), "0", "it was given back");
}

/// The server goes away between the old file and the new one.
#[test]
#[ignore = "needs PostgreSQL: make shared"]
fn a_rebase_that_fails_leaves_the_file_where_it_was() {
    let postgres = Postgres::start();
    let (folder, url) = published(&postgres, "team");
    ok(&folder, &["compile", "notes", "--db", "own.db"]);
    postgres.sql("ALTER TABLE image RENAME TO away");
    let ran = run(&folder, &["space", "join", &url, "--db", "own.db", "--rebase"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    ok(&folder, &["search", "one", "--db", "own.db"]);
    assert!(!folder.path("own.db.before-1").exists());
    postgres.sql("ALTER TABLE away RENAME TO image");
    let joined = ok(&folder, &["space", "join", &url, "--db", "own.db", "--rebase"]);
    assert!(joined.starts_with("the old file is `own.db.before-1` now\n"), "{joined}");
    ok(&folder, &["search", "one", "--db", "own.db.before-1"]);
    folder.assert_healthy("own.db");
}

#[test]
#[ignore = "needs PostgreSQL: make shared"]
fn a_first_join_that_fails_leaves_nothing_that_the_next_one_refuses() {
    let postgres = Postgres::start();
    let (_, url) = published(&postgres, "team");
    let other = machine();
    postgres.sql("ALTER TABLE image RENAME TO away");
    let ran = run(&other, &["compile", "notes", "--shared", &url, "--db", "r.db"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    assert!(!other.path("r.db").exists());
    postgres.sql("ALTER TABLE away RENAME TO image");
    let mut server = serve(&other, "r.db", &url, &[]);
    say(&mut server, "Joined after all").unwrap();
    server.end();
}

#[test]
#[ignore = "needs PostgreSQL: make shared"]
fn a_restored_backup_begins_the_log_anew_and_others_follow() {
    let postgres = Postgres::start();
    let (folder, url) = published(&postgres, "team");
    let other = machine();
    ok(&folder, &["backup", "old.db", "--db", "m.db"]);
    let mut b = serve(&other, "r.db", &url, &[]);
    say(&mut b, "Before the restore").unwrap();
    let (code, facts) = status(&folder, "m.db");
    assert_eq!((code, &facts["lag"]), (Some(1), &json!(1)));
    let mut a = serve(&folder, "m.db", &url, &[]);
    wait_for(&mut a, "restore", "Before the restore");
    a.end();
    let restored = run(&folder, &["restore", "old.db", "--db", "m.db"]);
    assert_eq!(restored.code, Some(0), "{}", restored.stderr);
    assert!(restored.stderr.contains("remindb space image"), "{}", restored.stderr);
    assert_eq!(status(&folder, "m.db").1["standing"], json!("unpublished"));
    ok(&folder, &["space", "image", "--db", "m.db"]);
    assert_eq!(postgres.sql("SELECT count(*) FROM log"), "0");
    say(&mut b, "After the restore").unwrap();
    b.end();
    let cut = ok(&folder, &["space", "cut", "--db", "m.db"]);
    assert!(cut.contains("0 entries"), "{cut}");
    let mut a = serve(&folder, "m.db", &url, &[]);
    wait_for(&mut a, "after", "After the restore");
    assert!(!a.text("MemorySearch", json!({"query": "before"})).contains("Before the restore"));
    a.end();
    assert_same(&folder.path("m.db"), &other.path("r.db"));
}
