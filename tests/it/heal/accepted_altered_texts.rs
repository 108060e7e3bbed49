//! Tests what happens to a file, and to an agent's words in it, between the repair of an altered
//! text and the next compile.
//!
//! The repair takes the altered text as it is, and the compile brings the true one back. Until
//! then the node is known by the hash of what its file said.

use std::fs;

use rusqlite::Row;

use super::tamper;
use crate::support::Folder;

const LIMITS: &str = "# Limits\n\nA hundred a minute, and no more than that.\n\n## Quota\n\n\
                      Ten a day.\n\nSee it.\n\n## Rest\n\nNone on Sundays.\n\nSee it.\n";

/// An agent's words over "Ten a day.", and below "Quota".
const OVERLAY: &str = "Agents know of eleven a day.";
const NOTE: &str = "Agents add this.";

/// What somebody does to the notes.
type ChangeOfNotes<'a> = &'a dyn Fn(&Folder);

/// Returns a memory of one file and one that refers to it, with an agent's words in it.
fn memory() -> Folder {
    let folder = Folder::new();
    folder.write("notes/limits.md", LIMITS);
    folder.write("notes/other.md", "# Other\n\nMore is in [[Limits]].\n");
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let at = |beginning: &str| id_of(&folder, beginning);
    write(&folder, &[&at("Ten a day."), "--mode", "replace", OVERLAY]);
    write(&folder, &[&at("Quota"), "--mode", "append", NOTE]);
    folder
}

fn write(folder: &Folder, args: &[&str]) {
    folder.ok(["write", "--db", "m.db", "--anchor"].iter().chain(args).copied());
}

fn id_of(folder: &Folder, beginning: &str) -> String {
    const ID: &str = "SELECT id FROM node WHERE content LIKE ?1 || '%' ORDER BY key LIMIT 1";
    folder.database("m.db").query_row(ID, [beginning], |row| row.get(0)).unwrap()
}

/// Returns each node with its parent and its text, without those of the other file.
fn nodes(folder: &Folder) -> Vec<(String, Option<String>, String)> {
    const NODES: &str = "
        SELECT node.id, parent.id, node.content
          FROM node
          JOIN file ON file.id = node.file
          LEFT JOIN node AS parent ON parent.key = node.parent
         WHERE file.path <> 'other.md'
         ORDER BY node.id";
    let conn = folder.database("m.db");
    let mut query = conn.prepare(NODES).unwrap();
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    query.query_map([], read).unwrap().map(Result::unwrap).collect()
}

/// Alters the texts of nodes, as a failing disk does, and accepts them.
#[track_caller]
fn alter_and_accept(folder: &Folder, ids: &[String]) {
    for (nth, id) in ids.iter().enumerate() {
        tamper(folder, &format!("UPDATE node SET content = '{nth} zebras.' WHERE id = '{id}'"));
    }
    let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
    assert!(fixed.contains("the next compile reads limits.md again; altered: `"), "{fixed}");
    folder.assert_healthy("m.db");
}

#[track_caller]
fn compile(folder: &Folder) -> String {
    let said = folder.ok(["compile", "notes", "--db", "m.db"]);
    folder.assert_healthy("m.db");
    said
}

#[test]
fn a_file_that_is_renamed_in_between_keeps_its_nodes_and_an_agents_words() {
    let all = ["A hundred", "Limits", "Quota", "See it", "Rest", "None on"];
    for altered in all.iter().map(|it| vec![*it]).chain([all.to_vec()]) {
        let folder = memory();
        let sound = nodes(&folder);
        let ids: Vec<String> = altered.iter().map(|it| id_of(&folder, it)).collect();
        alter_and_accept(&folder, &ids);
        fs::rename(folder.path("notes/limits.md"), folder.path("notes/moved.md")).unwrap();
        compile(&folder);
        assert_eq!(nodes(&folder), sound, "{altered:?}");
    }
}

/// A failing disk alters a text more than once.
#[test]
fn texts_that_were_altered_twice_are_known_by_what_their_file_said() {
    let folder = memory();
    let sound = nodes(&folder);
    let all = ["A hundred", "Limits", "Quota", "See it", "Rest", "None on"];
    let ids: Vec<String> = all.iter().map(|it| id_of(&folder, it)).collect();
    alter_and_accept(&folder, &ids);
    tamper(&folder, "UPDATE node SET content = replace(content, 'zebras', 'lions')");
    folder.ok(["doctor", "--fix", "--db", "m.db"]);
    folder.assert_healthy("m.db");
    fs::rename(folder.path("notes/limits.md"), folder.path("notes/moved.md")).unwrap();
    compile(&folder);
    assert_eq!(nodes(&folder), sound);
    // The texts of the first repair are nowhere; those before it are back.
    assert_eq!(folder.run(["rollback", "4", "--db", "m.db"]).code, Some(2));
    folder.ok(["rollback", "3", "--db", "m.db"]);
    folder.ok(["rollback", "1", "--db", "m.db"]);
    folder.assert_healthy("m.db");
}

#[test]
fn a_text_that_its_file_has_twice_comes_back_where_it_was() {
    const BOTH: &str = "SELECT id FROM node WHERE content = 'See it.' ORDER BY key";
    for nth in [0, 1] {
        for is_other_overlaid in [false, true] {
            let folder = memory();
            let conn = folder.database("m.db");
            let mut query = conn.prepare(BOTH).unwrap();
            let both = query.query_map([], |row| row.get(0)).unwrap();
            let both: Vec<String> = both.map(Result::unwrap).collect();
            if is_other_overlaid {
                write(&folder, &[&both[1 - nth], "--mode", "replace", "Agents see it."]);
            }
            let sound = nodes(&folder);
            alter_and_accept(&folder, &both[nth..=nth]);
            compile(&folder);
            assert_eq!(nodes(&folder), sound, "{nth} {is_other_overlaid}");
        }
    }
}

#[test]
fn a_text_that_its_file_lost_in_between_takes_the_states_that_need_it_along() {
    let without = LIMITS.replace("A hundred a minute, and no more than that.\n\n", "");
    let moved = "# Other\n\nMore is in [[Limits]].\n\nA hundred a minute, and no more than that.\n";
    let cases: [(&str, ChangeOfNotes); 5] = [
        ("edited", &|it| it.write("notes/limits.md", LIMITS.replace("A hundred", "Sixty"))),
        ("removed", &|it| it.write("notes/limits.md", &without)),
        ("rewritten", &|it| it.write("notes/limits.md", "# All\n\nNothing is as it was.\n")),
        ("deleted", &|it| fs::remove_file(it.path("notes/limits.md")).unwrap()),
        ("moved", &|it| {
            it.write("notes/limits.md", &without);
            it.write("notes/other.md", moved);
        }),
    ];
    for (what, change) in cases {
        let folder = memory();
        let id = id_of(&folder, "A hundred");
        alter_and_accept(&folder, std::slice::from_ref(&id));
        change(&folder);
        compile(&folder);
        let refused = folder.run(["rollback", "1", "--db", "m.db"]);
        if what == "moved" {
            assert_eq!(id_of(&folder, "A hundred"), id);
            assert_eq!(refused.code, Some(0), "{}", refused.transcript());
        } else {
            let says = refused.stderr.contains("cannot be restored");
            assert!(refused.code == Some(2) && says, "{what}: {}", refused.transcript());
        }
        folder.assert_healthy("m.db");
    }
}

#[test]
fn an_accepted_text_that_an_agent_forgets_stays_forgotten() {
    let folder = memory();
    let id = id_of(&folder, "A hundred");
    alter_and_accept(&folder, std::slice::from_ref(&id));
    folder.ok(["forget", &id, "--db", "m.db"]);
    folder.assert_healthy("m.db");
    let without = nodes(&folder);
    assert_eq!(compile(&folder), "compiled: 0 added, 0 modified, 0 removed (0 ops)\n");
    assert_eq!(nodes(&folder), without);
    assert_eq!(folder.run(["rollback", "1", "--db", "m.db"]).code, Some(2));
}

#[test]
fn an_agents_words_over_an_accepted_text_stay_above_that_of_the_file() {
    let folder = memory();
    let id = id_of(&folder, "A hundred");
    alter_and_accept(&folder, std::slice::from_ref(&id));
    write(&folder, &[&id, "--mode", "replace", "Agents say sixty a minute."]);
    folder.assert_healthy("m.db");
    let written = nodes(&folder);
    assert_eq!(compile(&folder), "compiled: 0 added, 0 modified, 0 removed (0 ops)\n");
    assert_eq!(nodes(&folder), written);
    // The file's text below it is known again: its next change wins.
    folder.write("notes/limits.md", LIMITS.replace("A hundred", "Two hundred"));
    compile(&folder);
    assert_eq!(id_of(&folder, "Two hundred"), id);
}

/// The history tells what the file said, so that the compile needs it.
#[test]
fn gc_keeps_the_history_that_the_next_compile_needs() {
    const STAY: &str = "⚠ 3 snapshot(s) more stay until `remindb compile` has read";
    let folder = memory();
    let id = id_of(&folder, "A hundred");
    alter_and_accept(&folder, std::slice::from_ref(&id));
    write(&folder, &[&id, "--mode", "replace", "Agents say sixty a minute."]);
    write(&folder, &[&id_of(&folder, "Rest"), "--mode", "append", "Agents rest."]);
    let written = nodes(&folder);
    for _ in 0..2 {
        let said = folder.ok(["gc", "--keep", "1", "--db", "m.db"]);
        assert!(said.contains(STAY), "{said}");
        folder.assert_healthy("m.db");
    }
    assert_eq!(compile(&folder), "compiled: 0 added, 0 modified, 0 removed (0 ops)\n");
    assert_eq!(nodes(&folder), written);
    let said = folder.ok(["gc", "--keep", "1", "--db", "m.db"]);
    assert!(said.contains("1 snapshot left") && !said.contains("stay"), "{said}");
}
