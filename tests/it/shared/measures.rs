//! Measures a shared memory: round trips, lag, and writes and reads beside those of a local one.
//!
//! `REMINDB_PROGRAM` names a release build; without one, what is measured is a debug build.

use std::time::{Duration, Instant};

use serde_json::json;

use super::proxy::Proxy;
use super::server::Postgres;
use super::{command, machine, ok, published, say, serve, wait_for};
use crate::support::Client;

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn took(call: impl FnOnce()) -> Duration {
    let began = Instant::now();
    call();
    began.elapsed()
}

/// Counts questions that follow an answer, whatever the machine's load.
#[test]
#[ignore = "needs PostgreSQL: make shared"]
fn a_write_takes_two_round_trips() {
    const ADDED: Duration = Duration::from_millis(20);
    const N_WRITES: u64 = 20;
    let postgres = Postgres::start();
    let proxy = Proxy::before(postgres.port);
    let (folder, _) = published(&postgres, "team");
    let mut a = serve(&folder, "m.db", &postgres.url(proxy.port, "team"), &[]);
    say(&mut a, "The first one signs in").unwrap();
    proxy.delay(ADDED);
    let before = proxy.trips();
    let times = (0..N_WRITES)
        .map(|nth| took(|| drop(say(&mut a, &format!("Far away {nth}")).unwrap())))
        .collect();
    let n_trips = proxy.trips() - before;
    println!("{N_WRITES} writes: {n_trips} round trips, p50 {:?} at {ADDED:?}", median(times));
    assert_eq!(n_trips, 2 * N_WRITES);
    a.end();
}

/// One run, in turns: the ratio tells, not the machine.
#[test]
#[ignore = "needs PostgreSQL: make shared"]
fn a_write_is_not_much_slower_than_a_local_one_and_a_read_is_no_slower() {
    const N_CALLS: usize = 300;
    let postgres = Postgres::start();
    let (folder, url) = published(&postgres, "team");
    ok(&folder, &["compile", "notes", "--db", "local.db"]);
    let mut shared = serve(&folder, "m.db", &url, &[]);
    let mut local = Client::of(&mut command(&folder, &["serve", "--db", "local.db"])).shake_hands();
    let (mut writes, mut reads) = ([vec![], vec![]], [vec![], vec![]]);
    for nth in 0..N_CALLS {
        for (which, client) in [&mut shared, &mut local].into_iter().enumerate() {
            let text = format!("Statement {nth} of a machine");
            writes[which].push(took(|| drop(say(client, &text).unwrap())));
        }
    }
    for nth in 0..N_CALLS {
        for (which, client) in [&mut shared, &mut local].into_iter().enumerate() {
            let query = json!({"query": format!("statement {nth}")});
            reads[which].push(took(|| drop(client.text("MemorySearch", query))));
        }
    }
    let [shared_write, local_write] = writes.map(median);
    let [shared_read, local_read] = reads.map(median);
    let ratio = |one: Duration, other: Duration| one.as_secs_f64() / other.as_secs_f64();
    let (write, read) = (ratio(shared_write, local_write), ratio(shared_read, local_read));
    println!("write p50 {shared_write:?}, local {local_write:?}: {write:.2} times");
    println!("read p50 {shared_read:?}, local {local_read:?}: {read:.2} times");
    // A debug build spends its time elsewhere; a busy machine swaps who waits.
    assert!(write < 4.0 && read < 1.5, "{write} {read}");
    shared.end();
    local.end();
}

#[test]
#[ignore = "needs PostgreSQL: make shared"]
fn what_is_written_is_on_the_other_machine_at_once() {
    let postgres = Postgres::start();
    let (folder, url) = published(&postgres, "team");
    let other = machine();
    let mut a = serve(&folder, "m.db", &url, &[]);
    let mut b = serve(&other, "r.db", &url, &[]);
    say(&mut a, "Both are there").unwrap();
    wait_for(&mut b, "both", "Both are there");
    let lags = (0..40).map(|nth| {
        say(&mut a, &format!("Lagging{nth} is told")).unwrap();
        wait_for(&mut b, &format!("lagging{nth}"), &format!("Lagging{nth} is told"))
    });
    let lag = median(lags.collect());
    println!("lag p50 {lag:?}, of which a search is a part");
    assert!(lag < Duration::from_millis(50));
    a.end();
    b.end();
}

/// 11,000 files of seven nodes each.
#[test]
#[ignore = "needs PostgreSQL, and a minute: make shared"]
fn a_new_replica_of_77000_nodes_joins_in_seconds() {
    let postgres = Postgres::start();
    let folder = machine();
    for nth in 0..11_000 {
        let part =
            |it: usize| format!("Paragraph {it} of note {nth} says {} things.\n\n", it * nth);
        let text: String = (0..6).map(part).collect();
        folder.write(format!("many/{}/n{nth}.md", nth % 100), format!("# Note {nth}\n\n{text}"));
    }
    ok(&folder, &["compile", "many", "--db", "big.db"]);
    let url = postgres.url(postgres.port, "big");
    ok(&folder, &["space", "create", &url, "--db", "big.db"]);
    let other = machine();
    let time = took(|| drop(ok(&other, &["space", "join", &url, "--db", "r.db"])));
    let conn = other.database("r.db");
    let n_nodes: i64 = conn.query_row("SELECT count(*) FROM node", [], |row| row.get(0)).unwrap();
    println!("{n_nodes} nodes joined in {time:?}");
    assert!(77_000 <= n_nodes, "{n_nodes}");
    super::assert_same(&folder.path("big.db"), &other.path("r.db"));
    // An idle machine takes two seconds.
    assert!(time < Duration::from_secs(60), "{time:?}");
}
