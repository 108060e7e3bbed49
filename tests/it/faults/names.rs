//! Files that are unlinked, replaced or linked under a server.
//!
//! What a server acknowledges is in the file at the memory's name, or, where that was replaced, in
//! the file that was moved aside. From then on it acknowledges nothing.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::Tally;
use crate::support::{Client, Folder};

const WRITES: usize = 6;

/// A change of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Unlink,
    /// Another file takes the name, with the same bytes; the first one is moved aside.
    ReplaceByCopy,
    /// An empty file takes the name; the first one is moved aside.
    ReplaceByNothing,
    /// A second name for the file.
    Link,
    /// Moved aside and back.
    AndBack,
}

const ACTS: [Act; 5] =
    [Act::Unlink, Act::ReplaceByCopy, Act::ReplaceByNothing, Act::Link, Act::AndBack];

/// Changes each name at each moment, and ends the server in both ways.
pub(crate) fn sweep(n_each: u64) -> Tally {
    let mut tally = Tally::default();
    for ending in ["", "-wal", "-shm"] {
        for act in ACTS {
            for at in 0..WRITES.min(usize::try_from(n_each).unwrap()) {
                for is_killed in [false, true] {
                    let (outcome, complaints) = play(ending, act, at, is_killed);
                    tally.note(true, outcome, complaints, |it| {
                        format!("m.db{ending}: {act:?} before write {at}, killed={is_killed}: {it}")
                    });
                }
            }
        }
    }
    tally
}

fn play(ending: &str, act: Act, at: usize, is_killed: bool) -> (&'static str, Vec<String>) {
    let folder = Folder::new();
    let mut client = Client::legacy(&folder, &["--db", "m.db"]);
    let [name, aside] = ["m.db", "aside.db"].map(|it| folder.path(format!("{it}{ending}")));
    let mut acknowledged = Vec::new();
    let mut n_after = 0;
    client.text("MemoryWrite", json!({"payload": "The first one."}));
    acknowledged.push("The first one.".to_owned());
    for nth in 0..WRITES {
        if nth == at {
            perform(act, &name, &aside);
        }
        let text = format!("Number {nth}.");
        let reply = client.call("MemoryWrite", json!({"payload": text}));
        if !reply.is_error {
            n_after += usize::from(at <= nth);
            acknowledged.push(text);
        }
    }
    match is_killed {
        true => drop(client.kill()),
        false => client.end(),
    }
    let mut complaints = Vec::new();
    if let Some(db) = rescue(&folder, ending, act) {
        let ran = folder.run(["doctor", "--db", &db]);
        if ran.code != Some(0) {
            complaints.push(ran.transcript());
        }
        let conn = folder.database(&db);
        for text in &acknowledged {
            let sql = "SELECT count(*) FROM node WHERE content = ?1";
            if conn.query_row(sql, [text], |row| row.get::<_, i64>(0)) != Ok(1) {
                complaints.push(format!("acknowledged and lost: {text}"));
            }
        }
    } else if 0 < n_after {
        complaints.push(format!("{n_after} writes acknowledged in a file without a name"));
    }
    (if n_after == 0 { "refused from then on" } else { "gone on" }, complaints)
}

fn perform(act: Act, name: &Path, aside: &Path) {
    match act {
        Act::Unlink => fs::remove_file(name).unwrap(),
        Act::ReplaceByCopy => {
            fs::rename(name, aside).unwrap();
            fs::copy(aside, name).map(drop).unwrap();
        }
        Act::ReplaceByNothing => {
            fs::rename(name, aside).unwrap();
            fs::write(name, "").unwrap();
        }
        Act::Link => fs::hard_link(name, aside).unwrap(),
        Act::AndBack => {
            fs::rename(name, aside).unwrap();
            fs::rename(aside, name).unwrap();
        }
    }
}

/// Puts the file that was moved aside back to its name, as a person would; returns the name of the
/// memory, or `None` where the person deleted it.
fn rescue(folder: &Folder, ending: &str, act: Act) -> Option<String> {
    let [name, aside]: [PathBuf; 2] =
        ["m.db", "aside.db"].map(|it| folder.path(format!("{it}{ending}")));
    match act {
        Act::Unlink if ending.is_empty() => return None,
        Act::Unlink | Act::AndBack => (),
        Act::Link => fs::remove_file(aside).unwrap(),
        Act::ReplaceByCopy | Act::ReplaceByNothing => fs::rename(aside, name).unwrap(),
    }
    Some("m.db".to_owned())
}
