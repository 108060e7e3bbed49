//! Tests what people and programs see of a space, and reads that are to be fresh.

use std::time::Duration;

use serde_json::{Value, json};

use super::proxy::Proxy;
use super::server::Postgres;
use super::{command, machine, ok, published, run, say, serve};
use crate::support::Client;

fn overview(client: &mut Client) -> Value {
    let reply = client.ask("resources/read", json!({"uri": "remindb://overview"}));
    let text = reply["result"]["contents"][0]["text"].as_str().unwrap();
    serde_json::from_str(text).unwrap()
}

#[test]
#[ignore = "needs PostgreSQL: make shared"]
fn the_overview_shows_the_space_its_lag_and_its_leases() {
    let postgres = Postgres::start();
    let (folder, url) = published(&postgres, "team");
    let source = folder.path("notes").to_string_lossy().into_owned();
    let mut a = serve(&folder, "m.db", &url, &["--source", &source]);
    folder.write("notes/b.md", "# B\n\nCompiled by the server.\n");
    a.text("MemoryCompile", json!({"path": "b.md"}));
    // The follower looks at the log when the write is told.
    let space = loop {
        let space = overview(&mut a)["space"].clone();
        if space["leases"][0].is_object() && space["standing"] == "in_step" {
            break space;
        }
    };
    assert_eq!((&space["space"], &space["lag"]), (&json!(url), &json!(0)));
    assert_eq!(space["leases"][0]["name"], "compile:notes");
    let holder = postgres.sql("SELECT holder FROM lease");
    assert_eq!(space["leases"][0]["holder"], json!(holder));
    a.end();
    // A memory of one file says nothing of spaces.
    ok(&folder, &["compile", "notes", "--db", "alone.db"]);
    let mut alone = Client::of(&mut command(&folder, &["serve", "--db", "alone.db"])).shake_hands();
    assert!(overview(&mut alone).get("space").is_none());
    alone.end();
}

/// The news comes late here, and a fresh read does not wait for it.
#[test]
#[ignore = "needs PostgreSQL: make shared"]
fn a_fresh_read_sees_what_any_machine_was_told() {
    let postgres = Postgres::start();
    let proxy = Proxy::before(postgres.port);
    let (folder, url) = published(&postgres, "team");
    let other = machine();
    ok(&other, &["space", "join", &url, "--db", "r.db"]);
    let far = postgres.url(proxy.port, "team");
    let mut a = serve(&folder, "m.db", &url, &[]);
    let mut b = serve(&other, "r.db", &far, &["--fresh"]);
    proxy.delay(Duration::from_millis(40));
    for nth in 0..10 {
        say(&mut a, &format!("Newest{nth} of all")).unwrap();
        let found = b.text("MemorySearch", json!({"query": format!("newest{nth}")}));
        assert!(found.contains(&format!("Newest{nth} of all")), "{found}");
    }
    proxy.take_down();
    let reply = b.call("MemorySearch", json!({"query": "newest"}));
    assert!(reply.is_error && reply.text.contains("`--fresh`"), "{}", reply.text);
    b.end();
    proxy.bring_up();
    say(&mut a, "Written while nobody follows").unwrap();
    let stale = run(&other, &["search", "nobody follows", "--db", "r.db"]);
    assert!(!stale.stdout.contains("nobody follows"), "{}", stale.stdout);
    let fresh = ok(&other, &["search", "nobody follows", "--db", "r.db", "--fresh"]);
    assert!(fresh.contains("nobody follows"), "{fresh}");
    a.end();
    postgres.stop();
    let away = run(&other, &["search", "newest", "--db", "r.db", "--fresh"]);
    assert_eq!(away.code, Some(2));
    assert!(away.stderr.contains("reads without `--fresh` go on"), "{}", away.stderr);
    ok(&other, &["search", "newest1", "--db", "r.db"]);
    let alone = run(&other, &["search", "x", "--db", "none.db", "--fresh"]);
    assert_eq!(alone.code, Some(2), "{}", alone.stdout);
}
