//! Tests texts that were altered together with their hashes, by no program of ours.
//!
//! Such a text is like an agent's, which a compile keeps. The fingerprint of the state and the
//! latest change of the node tell the two apart.

use serde_json::json;

use super::altered_nodes::altered;
use super::memory;
use crate::support::{Client, Folder};

const TEXT: &str = "content, content_hash, token_count";

/// Returns the change that gives nodes the columns of another one.
fn swap(columns: &str, from: &str, to: &str) -> String {
    format!(
        "({columns}) = (SELECT {columns} FROM node WHERE content LIKE '{from}%')
          WHERE content LIKE '{to}%'"
    )
}

fn texts(folder: &Folder, db: &str) -> Vec<(String, String)> {
    let conn = folder.database(db);
    let mut query = conn.prepare("SELECT id, content FROM node ORDER BY id").unwrap();
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    query.query_map([], read).unwrap().map(Result::unwrap).collect()
}

#[test]
fn a_replaced_text_of_a_file_is_named_and_comes_back() {
    let sound = memory();
    sound.ok(["remember", "Ana is on call.", "--db", "m.db"]);
    let notes = sound.path("notes");
    let two =
        [swap(TEXT, "Note 8 says 4", "Note 8 says 3"), swap(TEXT, "Note 7 says 3", "Note 6 says")];
    for (changes, n) in [
        (&[swap(TEXT, "Note 8 says 4", "Note 8 says 3")][..], 1),
        (&[swap(&format!("{TEXT}, label"), "Note 8 says 4", "Note 8 says 3")], 1),
        (&[swap(&format!("{TEXT}, source_hash"), "Note 8 says 4", "Note 8 says 3")], 1),
        (&two, 13),
    ] {
        let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
        let folder = altered(&sound, &changes);
        let salvaged = folder.ok(["salvage", "m.db", "--out", "new.db"]);
        let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
        for (db, report) in [("m.db", fixed), ("new.db", salvaged)] {
            assert!(report.contains("altered: `"), "{changes:?}: {report}");
            folder.assert_healthy(db);
            let compiled = folder.ok(["compile", notes.to_str().unwrap(), "--db", db]);
            let expected = format!("compiled: 0 added, {n} modified, 0 removed ({n} ops)\n");
            assert_eq!(compiled, expected, "{changes:?}: {report}");
            assert_eq!(texts(&folder, db), texts(&sound, "m.db"), "{changes:?}");
        }
    }
}

#[test]
fn a_replaced_text_of_an_agent_is_named_and_kept() {
    let sound = memory();
    for text in ["Ana is on call.", "Ben sleeps."] {
        sound.ok(["remember", text, "--db", "m.db"]);
    }
    let folder = altered(&sound, &[&swap(TEXT, "Ben", "Ana")]);
    let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
    let named = "\"Ana is on call.\": an agent's words, kept as they are now";
    assert!(fixed.contains(named), "{fixed}");
    folder.assert_healthy("m.db");
}

/// A damaged history tells of no replaced text: agents' words over those of files stay.
#[test]
fn agents_texts_whose_changes_are_lost_stay() {
    let sound = memory();
    let mut client = Client::modern(&sound, &["--db", "m.db"]);
    for (id, text) in texts(&sound, "m.db").iter().filter(|it| it.1.starts_with("Note 8")) {
        client.text("MemoryWrite", json!({"anchor": id, "payload": format!("Agents know {text}")}));
    }
    client.end();
    let of_agents = |folder: &Folder, db: &str| -> Vec<(String, String)> {
        texts(folder, db).into_iter().filter(|it| it.1.starts_with("Agents know")).collect()
    };
    let lost = "content = content;
        DELETE FROM diff WHERE op = 'mod' AND snapshot > 2;
        DELETE FROM node WHERE content LIKE 'Note 7 says 3%'";
    let folder = altered(&sound, &[lost]);
    folder.ok(["salvage", "m.db", "--out", "new.db"]);
    folder.ok(["doctor", "--fix", "--db", "m.db"]);
    let notes = sound.path("notes");
    for db in ["m.db", "new.db"] {
        folder.assert_healthy(db);
        folder.ok(["compile", notes.to_str().unwrap(), "--db", db]);
        assert_eq!(of_agents(&folder, db), of_agents(&sound, "m.db"), "{db}");
    }
}
