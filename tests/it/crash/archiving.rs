//! Kills while memories are archived, and rivals meanwhile: all of an archive or none of it.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::memories::OFFER;
use crate::random_cases::Dice;
use crate::support::{Client, Folder};

const LEARNINGS: usize = 150;

/// Longest life of a command that archives.
const MOMENT_US_MAX: usize = 120_000;

/// A memory with more learnings than [`limits`] allow, as bytes.
fn full() -> Vec<u8> {
    let folder = Folder::new();
    let mut client = Client::modern(&folder, &OFFER);
    for nth in 0..LEARNINGS {
        let args = json!({"type": "learning", "content": format!("Learning {nth}")});
        client.text("store_memory", args);
    }
    client.end();
    std::fs::read(folder.path("m.db")).unwrap()
}

/// The contents of learnings: those that are archived, and the others.
fn contents(folder: &Folder) -> [BTreeSet<String>; 2] {
    const LEARNINGS: &str = "
        SELECT content
          FROM node
          JOIN facet ON facet.node = node.key AND facet.key = 'archived' AND facet.value = ?1
         WHERE node_type = 'learning'";
    let conn = folder.database("m.db");
    let mut query = conn.prepare(LEARNINGS).unwrap();
    [1, 0].map(|is_archived| {
        let rows = query.query_map([is_archived], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    })
}

/// Asserts that each snapshot of an archive changed as many memories as its message says.
#[track_caller]
fn check_snapshots(folder: &Folder) -> usize {
    const ARCHIVES: &str = "
        SELECT message, (SELECT count(*) FROM diff WHERE snapshot = snapshot.id)
          FROM snapshot
         WHERE message LIKE 'archive: %'";
    let conn = folder.database("m.db");
    let mut query = conn.prepare(ARCHIVES).unwrap();
    let rows = query.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)));
    let rows: Vec<(String, i64)> = rows.unwrap().map(Result::unwrap).collect();
    for (message, n_changes) in &rows {
        let begin = format!("archive: {n_changes} memor");
        assert!(message.starts_with(&begin), "{message}: {n_changes} changes");
    }
    rows.len()
}

/// Kills archives at random instants; returns how many left nothing, and how many everything.
#[track_caller]
pub(super) fn kill_archives(seed: u64, n_kills: usize) -> [usize; 2] {
    let bytes = full();
    let mut dice = Dice::new(seed);
    let mut n = [0; 2];
    for _ in 0..n_kills {
        let folder = Folder::new().file("m.db", &bytes);
        let mut command = folder.command(["archive", "--db", "m.db"]);
        command.env("MAX_LEARNINGS", "1").stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (_sender, nothing) = std::sync::mpsc::channel::<()>();
        // Nobody sends: the moment passes.
        let _ = nothing.recv_timeout(Duration::from_micros(dice.below(MOMENT_US_MAX) as u64));
        // It may have ended already.
        let _ = child.kill();
        child.wait().unwrap();
        folder.assert_healthy("m.db");
        let n_archived = contents(&folder)[0].len();
        assert!([0, LEARNINGS - 1].contains(&n_archived), "half an archive: {n_archived}");
        assert_eq!(check_snapshots(&folder), usize::from(0 < n_archived));
        n[usize::from(0 < n_archived)] += 1;
    }
    n
}

/// Kills servers that archive at each tick while a client stores; returns the number of
/// acknowledged memories and of archives.
#[track_caller]
pub(super) fn kill_archiving_servers(seed: u64, n_kills: usize) -> [usize; 2] {
    let folder = Folder::new();
    folder.write("settings/remindb/config.json", {
        r#"{"temperature": {"tick_interval": "250ms"}, "memory": {"max_learnings": 1}}"#
    });
    let mut dice = Dice::new(seed);
    let mut acknowledged = BTreeSet::new();
    let mut n_asked = 0;
    for _ in 0..n_kills {
        let mut client = Client::legacy(&folder, &OFFER);
        let mut asked = std::collections::BTreeMap::new();
        // Around a tick.
        let moment = Duration::from_millis(200 + dice.below(150) as u64);
        for _ in 0..20 {
            n_asked += 1;
            let content = format!("Learning {n_asked}");
            let args = json!({"type": "learning", "content": content});
            let params = json!({"name": "store_memory", "arguments": args});
            asked.insert(client.request("tools/call", params), content);
        }
        let mut note = |line: Value| {
            if let Some(content) = line["id"].as_u64().and_then(|id| asked.remove(&id)) {
                assert_eq!(line["result"].get("isError"), None, "{line}");
                acknowledged.insert(content);
            }
        };
        (0..20).for_each(|_| note(client.line()));
        // No further line comes: this is the moment.
        client.line_within(moment).into_iter().chain(client.kill()).for_each(&mut note);
        folder.assert_healthy("m.db");
        let [archived, others] = contents(&folder);
        let all: BTreeSet<String> = archived.union(&others).cloned().collect();
        assert!(acknowledged.is_subset(&all), "an acknowledged memory is lost");
        check_snapshots(&folder);
    }
    [acknowledged.len(), check_snapshots(&folder)]
}

#[test]
fn a_killed_archive_leaves_all_of_it_or_nothing() {
    assert_eq!(kill_archives(1, 6).iter().sum::<usize>(), 6);
}

#[test]
fn servers_that_are_killed_while_they_archive_lose_nothing() {
    let [n_acknowledged, _] = kill_archiving_servers(1, 4);
    assert_eq!(n_acknowledged, 80);
}

#[test]
fn archives_beside_a_server_that_stores_lose_nothing() {
    const STORES: usize = 60;
    let folder = Folder::new();
    folder.ok(["compile", "--db", "m.db", "."]);
    std::thread::scope(|scope| {
        let storing = scope.spawn(|| {
            let mut client = Client::modern(&folder, &OFFER);
            for nth in 0..STORES {
                let args = json!({"type": "learning", "content": format!("Learning {nth}")});
                client.text("store_memory", args);
            }
            client.end();
        });
        let mut n_archived = 0;
        // Once nothing is stored any more, one archive takes all that is left.
        let mut is_last = false;
        while !is_last {
            is_last = storing.is_finished();
            let mut command = folder.command(["archive", "--json", "--db", "m.db"]);
            command.env("MAX_LEARNINGS", "1");
            let ran = crate::support::Ran::of(&folder, &mut command);
            assert_eq!(ran.code, Some(0), "{}", ran.stderr);
            let report: Value = serde_json::from_str(&ran.stdout).unwrap();
            n_archived += report["archived"].as_u64().unwrap() as usize;
        }
        assert_eq!(n_archived, STORES - 1);
    });
    let [archived, others] = contents(&folder);
    assert_eq!((archived.len(), others.len()), (STORES - 1, 1));
    assert!(others.contains(&format!("Learning {}", STORES - 1)), "{others:?}");
    check_snapshots(&folder);
    folder.assert_healthy("m.db");
}
