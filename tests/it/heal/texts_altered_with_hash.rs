//! Tests texts that were altered together with their hashes, by no program of ours.
//!
//! Such a text is like an agent's, which a compile keeps. The fingerprint of the state and the
//! latest change of the node tell the two apart. What they do not prove stays.

use std::fs;

use xxhash_rust::xxh64::xxh64;

use super::altered_nodes::altered;
use crate::support::Folder;

/// A text of a file, an agent's over that of a file, an agent's own, a remembered one.
const FILE: &str = "Note 8 says 3";
const OVERLAY: &str = "Agents know of 7";
const OWN: &str = "Cats sleep.";
const REMEMBERED: &str = "Ana is on call.";

fn hash(text: &str) -> String {
    format!("{:016x}", xxh64(text.as_bytes(), 0))
}

/// Returns a memory of a hundred nodes, with a history, as one file.
fn memory() -> Folder {
    super::memory_of(2..9, 7, "so so")
}

/// Returns a memory with texts of files and of agents.
fn texts_of_all() -> Folder {
    let folder = memory();
    overlay(&folder, "Note 7 says 5", OVERLAY);
    folder.ok(["write", OWN, "--db", "m.db"]);
    folder.ok(["remember", REMEMBERED, "--db", "m.db"]);
    folder
}

/// Writes an agent's text over that of a node.
fn overlay(folder: &Folder, beginning: &str, text: &str) {
    let id = id_of(folder, "m.db", beginning);
    folder.ok(["write", "--anchor", &id, "--mode", "replace", text, "--db", "m.db"]);
}

fn id_of(folder: &Folder, db: &str, beginning: &str) -> String {
    const ID: &str = "SELECT id FROM node WHERE content LIKE ?1 || '%'";
    folder.database(db).query_row(ID, [beginning], |row| row.get(0)).unwrap()
}

/// Returns the change that gives a node another text, with its hash, and more.
fn replace(beginning: &str, text: &str, more: &str) -> String {
    let hash = hash(text);
    format!(
        "content = '{text}', content_hash = '{hash}' {} WHERE content LIKE '{beginning}%'",
        more.replace("ITS", &format!("'{hash}'"))
    )
}

/// Returns the change that loses the changes of a node's text.
fn lose(beginning: &str) -> String {
    format!(
        "content = content;
         DELETE FROM diff
          WHERE op = 'mod'
            AND node_id = (SELECT id FROM node WHERE content LIKE '{beginning}%')"
    )
}

/// Returns ids and texts; ids alone of the nodes that are left out.
fn texts(folder: &Folder, db: &str, but: &[&str]) -> Vec<(String, String)> {
    let conn = folder.database(db);
    let mut query = conn.prepare("SELECT id, content FROM node ORDER BY id").unwrap();
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let all = query.query_map([], read).unwrap().map(Result::unwrap);
    let is_in = |it: &(String, String)| !but.iter().any(|but| it.1.starts_with(but));
    all.filter(is_in).collect()
}

/// Alters a memory, repairs it in one go and by a salvage, and compiles the notes. Returns the
/// folder and both reports, by database.
#[track_caller]
fn repair(sound: &Folder, changes: &[String]) -> (Folder, Vec<(&'static str, String)>) {
    let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
    let folder = altered(sound, &changes);
    let salvaged = folder.ok(["salvage", "m.db", "--out", "new.db"]);
    let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
    for db in ["m.db", "new.db"] {
        folder.assert_healthy(db);
        folder.ok(["compile", sound.path("notes").to_str().unwrap(), "--db", db]);
        folder.assert_healthy(db);
    }
    (folder, vec![("m.db", fixed), ("new.db", salvaged)])
}

/// Asserts that altered texts of files are named, and that all texts are again what they were.
#[track_caller]
fn check_file(sound: &Folder, changes: &[String]) {
    let (folder, reports) = repair(sound, changes);
    for (db, report) in reports {
        assert!(report.contains("altered: `"), "{db} {changes:?}: {report}");
        assert_eq!(texts(&folder, db, &[]), texts(sound, "m.db", &[]), "{db} {changes:?}");
    }
}

/// Asserts that an agent's altered text is named as such, and stays as it is.
#[track_caller]
fn check_agent(sound: &Folder, changes: &[String], before: &str, now: &str) {
    let id = id_of(sound, "m.db", before);
    let (folder, reports) = repair(sound, changes);
    for (db, report) in reports {
        let named = |it: &&str| it.contains(&id) && it.contains("an agent's words, kept as they");
        let is_named = report.lines().flat_map(|it| it.split("; ")).any(|it| named(&it));
        assert!(is_named && !report.contains("altered: `"), "{db} {changes:?}: {report}");
        assert_eq!(id_of(&folder, db, now), id, "{db} {changes:?}");
        let others = texts(sound, "m.db", &[before]);
        assert_eq!(texts(&folder, db, &[now]), others, "{db} {changes:?}");
    }
}

#[test]
fn replaced_texts_of_files_are_named_and_come_back() {
    let sound = texts_of_all();
    check_file(&sound, &[replace(FILE, "Zebras.", "")]);
    check_file(&sound, &[replace(FILE, "Zebras.", ""), replace("Note 2 says 1,", "Lions.", "")]);
    let many = (0..6).flat_map(|nth| [(5, nth), (6, nth)]);
    let many =
        many.map(|(file, nth)| (format!("Note {file} says {nth},"), format!("Lion {file}{nth}.")));
    let many: Vec<String> = many.map(|(from, to)| replace(&from, &to, "")).collect();
    check_file(&sound, &[many, vec![replace(FILE, "Zebras.", "")]].concat());
    // The same text twice.
    let of_another = "(content, content_hash, token_count, label) =
        (SELECT content, content_hash, token_count, label FROM node
          WHERE content LIKE 'Note 4 says 1,%')";
    let twice = format!("{of_another} WHERE content LIKE 'Note 3 says 1,%'");
    check_file(&sound, &[twice.replace(", label", "")]);
}

#[test]
fn replaced_texts_beside_other_altered_columns_come_back() {
    let sound = texts_of_all();
    let text = replace(FILE, "Zebras.", "");
    let label = "label = 'Nobody wrote this' WHERE label = 'Note 4'".to_owned();
    check_file(&sound, &[text.clone(), label.clone()]);
    let of_agent = format!("label = 'Nobody wrote this' WHERE content = '{OWN}'");
    check_file(&sound, &[text, label, of_agent, replace("Note 2 says 1,", "Lions.", "")]);
}

/// The hash of a base text is no part of the fingerprint; the history tells whose text it was.
#[test]
fn replaced_texts_of_files_come_back_whatever_their_base_is() {
    let sound = texts_of_all();
    for base in [", source_hash = ITS", ", source_hash = '0123456789abcdef'"] {
        check_file(&sound, &[replace(FILE, "Zebras.", base)]);
        check_file(
            &sound,
            &[replace(FILE, "Zebras.", base), replace("Note 2 says 1,", "Lions.", base)],
        );
    }
}

#[test]
fn a_replaced_text_of_an_agent_is_named_and_kept() {
    let sound = texts_of_all();
    for text in [OVERLAY, OWN, REMEMBERED] {
        check_agent(&sound, &[replace(text, "Zebras.", "")], text, "Zebras.");
    }
}

/// A base that was altered as well makes no text of an agent's one of a file.
#[test]
fn a_replaced_text_of_an_agent_is_kept_whatever_its_base_is() {
    let sound = texts_of_all();
    let bases = ["ITS", "'0123456789abcdef'"].map(|it| format!(", source_hash = {it}"));
    for base in &bases {
        for text in [OVERLAY, OWN, REMEMBERED] {
            check_agent(&sound, &[replace(text, "Zebras.", base)], text, "Zebras.");
        }
    }
    let file = fs::read_to_string(sound.path("notes/7.md")).unwrap();
    let base = file.lines().find(|it| it.starts_with("Note 7 says 5")).unwrap();
    check_agent(&sound, &[replace(OVERLAY, base, "")], OVERLAY, base);
}

/// A file that says what an agent wrote brings it back.
#[test]
fn a_replaced_text_of_an_agent_comes_back_where_its_file_has_it() {
    let sound = texts_of_all();
    let file = fs::read_to_string(sound.path("notes/7.md")).unwrap();
    let base = file.lines().find(|it| it.starts_with("Note 7 says 5")).unwrap();
    sound.write("notes/7.md", file.replace(base, OVERLAY));
    sound.ok(["compile", "notes", "--db", "m.db"]);
    let (folder, reports) = repair(&sound, &[replace(OVERLAY, "Zebras.", "")]);
    for (db, report) in reports {
        assert!(report.contains(&id_of(&sound, "m.db", OVERLAY)), "{db}: {report}");
        assert_eq!(texts(&folder, db, &[]), texts(&sound, "m.db", &[]), "{db}");
    }
}

/// Nothing proves what an agent's text was whose label was altered as well.
#[test]
fn a_replaced_text_with_another_label_is_named_and_kept() {
    let sound = texts_of_all();
    for text in [OVERLAY, OWN] {
        let id = id_of(&sound, "m.db", text);
        let (folder, reports) = repair(&sound, &[replace(text, "Zebras.", ", label = 'Zebras.'")]);
        for (db, report) in reports {
            let named =
                format!("other rows contradict these nodes, which are taken as they are: `{id}`");
            assert!(report.contains(&named), "{db} {text}: {report}");
            assert_eq!(id_of(&folder, db, "Zebras."), id, "{db}");
        }
    }
}

/// Where the history was collected, the hash of its base text tells what a file's text was.
#[test]
fn replaced_texts_of_files_come_back_without_a_history() {
    let sound = texts_of_all();
    sound.ok(["gc", "--keep", "1", "--db", "m.db"]);
    check_file(&sound, &[replace(FILE, "Zebras.", "")]);
    check_file(&sound, &[replace(FILE, "Zebras.", ""), replace("Note 2 says 1,", "Lions.", "")]);
    let three = [FILE, "Note 2 says 1,", "Note 6 says 4,"];
    let three: Vec<String> = three.iter().map(|it| replace(it, &format!("No {it}"), "")).collect();
    check_file(&sound, &three);
    // The index of fields has the hash of a remembered text.
    check_agent(&sound, &[replace(REMEMBERED, "Zebras.", "")], REMEMBERED, "Zebras.");
    // Nothing tells what an agent's text was that has none.
    for text in [OVERLAY, OWN] {
        let (folder, reports) = repair(&sound, &[replace(text, "Zebras.", "")]);
        for (db, report) in reports {
            assert!(!report.contains("altered: `"), "{text}: {report}");
            assert_eq!(id_of(&folder, db, "Zebras."), id_of(&sound, "m.db", text));
        }
    }
}

/// An agent's text whose change is lost looks like a replaced one, and is none.
#[test]
fn replaced_texts_are_proven_beside_an_agents_whose_change_is_lost() {
    let sound = texts_of_all();
    let mut changes = vec![lose(OVERLAY)];
    for it in [FILE, "Note 2 says 1,", "Note 6 says 4,"] {
        changes.push(replace(it, &format!("No {it}"), ""));
        check_file(&sound, &changes);
    }
    overlay(&sound, "Note 5 says 5", "Agents know as well");
    changes.push(lose("Agents know as well"));
    check_file(&sound, &changes);
}

/// One or two texts are proven beside sound ones that their history contradicts.
#[test]
fn replaced_texts_are_proven_beside_a_note_whose_last_change_is_lost() {
    let sound = texts_of_all();
    let note = id_of(&sound, "m.db", OWN);
    sound.ok(["write", "--anchor", &note, "--mode", "replace", "Cats eat.", "--db", "m.db"]);
    let mut changes = vec![lose("Cats eat.")];
    for it in [FILE, "Note 2 says 1,"] {
        changes.push(replace(it, &format!("No {it}"), ""));
        check_file(&sound, &changes);
    }
}

/// A log that was lost after a part of it was copied leaves a history that is older than the nodes.
#[test]
fn an_agents_text_stays_whose_snapshot_is_lost() {
    const BEFORE: &str = "SELECT id, cursor_hash FROM snapshot ORDER BY id DESC LIMIT 1 OFFSET 1";
    for base in ["", "DELETE FROM blob", "DELETE FROM sqlite_sequence"] {
        let sound = memory();
        overlay(&sound, "Note 7 says 5", OVERLAY);
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let (id, hash): (i64, String) = sound.database("m.db").query_row(BEFORE, [], read).unwrap();
        let kept = u64::from_str_radix(&hash, 16).unwrap().cast_signed();
        let lose = format!(
            "content = content;
             DELETE FROM diff WHERE {id} < snapshot;
             DELETE FROM change_count WHERE {id} < snapshot;
             UPDATE cursor SET snapshot = {id};
             DELETE FROM snapshot WHERE {id} < id;
             UPDATE memory SET fingerprint = {kept};
             {base}"
        );
        let folder = altered(&sound, &[&lose]);
        folder.ok(["doctor", "--fix", "--db", "m.db"]);
        folder.assert_healthy("m.db");
        folder.ok(["compile", sound.path("notes").to_str().unwrap(), "--db", "m.db"]);
        assert_eq!(texts(&folder, "m.db", &[]), texts(&sound, "m.db", &[]), "{base}");
    }
}

#[test]
fn an_agents_text_stays_whose_change_is_lost() {
    let sound = texts_of_all();
    let label = |of: &str| format!("label = 'Nobody wrote this' WHERE content LIKE '{of}%'");
    let hopeless = format!("lang = 'q', level = 3 WHERE content = '{OWN}'");
    for changes in [
        vec![lose(OVERLAY)],
        vec![lose(OVERLAY), label(OVERLAY)],
        vec![lose(OVERLAY), label(OVERLAY), hopeless.clone()],
        vec![lose(OVERLAY), label(OVERLAY), replace(OWN, "Zebras.", ""), hopeless.clone()],
        vec![lose(OVERLAY), hopeless, replace(FILE, "Zebras.", "")],
        vec![lose(OVERLAY), label(OVERLAY), lose(OWN), replace(OWN, "Zebras.", "")],
        vec![lose(OVERLAY), format!("content = content; DELETE FROM node WHERE content = '{OWN}'")],
    ] {
        let (folder, reports) = repair(&sound, &changes);
        for (db, report) in reports {
            let id = id_of(&sound, "m.db", OVERLAY);
            assert_eq!(id_of(&folder, db, OVERLAY), id, "{db} {changes:?}: {report}");
        }
    }
}

#[test]
fn agents_texts_stay_whose_changes_are_all_lost() {
    let sound = memory();
    for nth in 0..7 {
        overlay(&sound, &format!("Note 8 says {nth},"), &format!("Agents know of {nth}."));
    }
    let mut changes: Vec<String> =
        (0..7).map(|nth| lose(&format!("Agents know of {nth}."))).collect();
    changes
        .push("content = content; DELETE FROM node WHERE content LIKE 'Note 7 says 3%'".to_owned());
    let (folder, reports) = repair(&sound, &changes);
    for (db, _) in reports {
        let all = texts(&folder, db, &[]);
        assert_eq!(all.iter().filter(|it| it.1.starts_with("Agents know")).count(), 7, "{db}");
    }
}
