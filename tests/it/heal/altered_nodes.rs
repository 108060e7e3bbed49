//! Tests nodes whose texts, labels or fields were altered by no program of ours.

use std::fs;

use serde_json::json;

use super::{memory, tamper, text_like};
use crate::support::{Client, Folder};

/// Alters a digit of a file's text, as a failing disk does.
fn flip_a_digit(folder: &Folder) {
    tamper(
        folder,
        "UPDATE node SET content = replace(content, 'Note 8 says 3', 'Note 8 says 4')
          WHERE content LIKE 'Note 8 says 3%'",
    );
}

#[test]
fn an_altered_text_of_a_file_is_named_and_read_again() {
    let folder = memory();
    let before = folder.facts("m.db")["head"]["cursor_hash"].clone();
    flip_a_digit(&folder);
    let found = folder.run(["doctor", "--db", "m.db"]);
    let named = "1 of 401 texts differ from their hash: `";
    assert!(
        found.stdout.contains(named) && found.stdout.contains("\" of 8.md\n"),
        "{}",
        found.stdout
    );
    let fixed = folder.run(["doctor", "--fix", "--db", "m.db"]);
    assert!(
        fixed.stdout.contains("(fixed: the next compile reads 8.md again; altered: `")
            && fixed.stdout.contains("` \"Note 8 says 3, so so"),
        "{}",
        fixed.stdout
    );
    let compiled = folder.ok(["compile", "notes", "--db", "m.db"]);
    assert_eq!(compiled, "compiled: 0 added, 1 modified, 0 removed (1 ops)\n");
    assert!(text_like(&folder, "m.db", "Note 8 says 3").starts_with("Note 8 says 3"));
    assert_eq!(folder.facts("m.db")["head"]["cursor_hash"], before, "it is what it was");
}

#[test]
fn a_text_of_a_file_that_was_altered_with_its_hash_is_read_again() {
    let folder = memory();
    flip_a_digit(&folder);
    tamper(
        &folder,
        "UPDATE node SET content_hash = '0123456789abcdef' WHERE content LIKE 'Note 8 says 4%'",
    );
    let fixed = folder.run(["doctor", "--fix", "--db", "m.db"]);
    let says = "(fixed: the next compile reads 8.md again; altered: `";
    assert!(fixed.stdout.contains(says), "{}", fixed.stdout);
    folder.ok(["compile", "notes", "--db", "m.db"]);
    assert!(text_like(&folder, "m.db", "Note 8 says 3").starts_with("Note 8 says 3"));
    folder.assert_healthy("m.db");
}

/// An agent's text over that of a file stays, since it is nowhere else.
#[test]
fn an_altered_text_over_that_of_a_file_is_kept() {
    let folder = memory();
    let id: String = folder
        .database("m.db")
        .query_row("SELECT id FROM node WHERE content LIKE 'Note 8 says 3%'", [], |row| row.get(0))
        .unwrap();
    let mut client = Client::modern(&folder, &["--db", "m.db"]);
    client.text("MemoryWrite", json!({"anchor": id, "payload": "An agent knows better."}));
    client.end();
    tamper(
        &folder,
        "UPDATE node SET content_hash = '0123456789abcdef'
          WHERE content = 'An agent knows better.'",
    );
    let fixed = folder.run(["doctor", "--fix", "--db", "m.db"]);
    let says = "the hash of its text is again what HEAD's fingerprint proves";
    assert!(fixed.stdout.contains(says), "{}", fixed.stdout);
    folder.ok(["compile", "notes", "--db", "m.db"]);
    assert_eq!(text_like(&folder, "m.db", "An agent"), "An agent knows better.");
}

#[test]
fn an_altered_text_is_named_by_a_salvage_and_read_again() {
    let folder = memory();
    flip_a_digit(&folder);
    let ran = folder.run(["salvage", "m.db", "--out", "new.db"]);
    assert!(ran.stdout.contains("- the next compile reads 8.md again\n"), "{}", ran.transcript());
    let node = "SELECT '- altered: `' || id || '` \"' || label || '\" of 8.md' FROM node
                 WHERE content LIKE 'Note 8 says 4%'";
    let named: String = folder.database("new.db").query_row(node, [], |row| row.get(0)).unwrap();
    assert!(ran.stdout.contains(&named), "{named}: {}", ran.transcript());
    let compiled = folder.ok(["compile", "notes", "--db", "new.db"]);
    assert_eq!(compiled, "compiled: 0 added, 1 modified, 0 removed (1 ops)\n");
    assert!(text_like(&folder, "new.db", "Note 8 says 3").starts_with("Note 8 says 3"));
}

#[test]
fn an_altered_label_of_a_file_is_given_back() {
    let folder = memory();
    tamper(&folder, "UPDATE node SET label = 'Nobody wrote this' WHERE label = 'Note 8'");
    let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
    assert!(fixed.contains("\"Nobody wrote this\": its label and fields are again"), "{fixed}");
    let compiled = folder.ok(["compile", "notes", "--db", "m.db"]);
    assert_eq!(compiled, "compiled: 0 added, 0 modified, 0 removed (0 ops)\n");
    folder.assert_healthy("m.db");
}

/// A hostile file may have any label, id or path.
#[test]
fn a_report_stays_short_whatever_the_file_has() {
    let folder = memory();
    let long = "replace(hex(zeroblob(20000)), '00', 'so ')";
    for change in [
        format!("UPDATE node SET label = {long} WHERE label = 'Note 8'"),
        format!("UPDATE node SET id = {long} WHERE label = 'Note 7'"),
        format!("UPDATE file SET path = {long} WHERE path = '6.md'"),
        format!("UPDATE node SET node_type = {long} WHERE label = 'Note 5'"),
        format!("UPDATE diff SET old_label = {long} WHERE op = 'rem'"),
    ] {
        tamper(&folder, &change);
    }
    for args in [&["doctor"][..], &["doctor", "--json"], &["doctor", "--fix"]] {
        let ran = folder.run(args.iter().copied().chain(["--db", "m.db"]));
        assert!(ran.transcript().len() < 10_000, "{args:?}: {} bytes", ran.transcript().len());
    }
    folder.assert_healthy("m.db");
}

/// An agent's words are in no file: the repair says where earlier ones are.
#[test]
fn an_altered_text_of_an_agent_is_named_with_its_history() {
    let folder = memory();
    let mut client = Client::modern(&folder, &["--db", "m.db"]);
    let written = client.text("MemoryWrite", json!({"payload": "Deploy at 3 by hand."}));
    let id = written.split_whitespace().nth(2).unwrap().to_owned();
    client.text("MemoryWrite", json!({"anchor": id, "payload": "Deploy at 4 by hand."}));
    client.end();
    tamper(
        &folder,
        "UPDATE node SET content = 'Deploy at 5 by hand.' WHERE content LIKE 'Deploy at%'",
    );
    let fixed = folder.run(["doctor", "--fix", "--db", "m.db"]);
    let note = format!(
        "`{id}` \"Deploy at 4 by hand.\": an agent's words, kept as they are now; the \
                 history has the earlier ones"
    );
    assert!(fixed.stdout.contains(&note), "{}", fixed.stdout);
    folder.assert_healthy("m.db");
}

/// An agent's label and fields are in no file, and their hash is a part of the fingerprint.
#[test]
fn an_altered_label_or_field_of_an_agent_is_named_and_given_back() {
    let sound = memory();
    let write = |args: &[&str]| sound.ok(args.iter().copied().chain(["--db", "m.db"]));
    write(&["write", "# Deploy\n\nDeploy at 3 by hand. Then tell the channel."]);
    write(&["remember", "--type", "task", "--status", "blocked", "Move to port 6380."]);
    let task: String = sound
        .database("m.db")
        .query_row("SELECT id FROM node WHERE node_type = 'task'", [], |row| row.get(0))
        .unwrap();
    // The history gets the fields.
    write(&["write", "--anchor", &task, "Move to port 6381."]);
    write(&["remember", "--type", "core", "--category", "fact", "Ana is on call."]);
    let heading = "label = 'Deplay' WHERE label = 'Deploy'";
    let text = "label = 'Deploy at 8 by hand.' WHERE label = 'Deploy at 3 by hand.'";
    let status = "fields = replace(fields, 'blocked', 'finished') WHERE fields LIKE '%blocked%'";
    for (changes, names) in [
        (vec![heading], vec!["\"Deplay\""]),
        (vec![text], vec!["\"Deploy at 8 by hand.\""]),
        (vec![status], vec!["\"Move to port 6381.\""]),
        (vec![heading, status], vec!["\"Deplay\"", "\"Move to port 6381.\""]),
        (
            vec![heading, text, status, "label = 'Note 18' WHERE label = 'Note 8'"],
            vec!["\"Deplay\"", "\"Deploy at 8 by hand.\"", "\"Move to port 6381.\"", "\"Note 18\""],
        ),
    ] {
        let folder = altered(&sound, &changes);
        let before = sound.facts("m.db")["head"]["cursor_hash"].clone();
        let examined = folder.run(["doctor", "--db", "m.db"]).stdout;
        let salvaged = folder.ok(["salvage", "m.db", "--out", "salvaged.db"]);
        let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
        for (name, report) in
            names.iter().flat_map(|it| [(it, &examined), (it, &salvaged), (it, &fixed)])
        {
            assert!(report.contains(name), "{changes:?}: {report}");
        }
        for db in ["m.db", "salvaged.db"] {
            folder.assert_healthy(db);
            assert_eq!(folder.facts(db)["head"]["cursor_hash"], before, "{changes:?}");
        }
    }
}

/// What the history does not have may be in the index of fields.
#[test]
fn an_altered_field_is_given_back_from_the_index_of_fields() {
    let sound = memory();
    sound.ok(["remember", "--type", "learning", "Redis listens on 6380.", "--db", "m.db"]);
    let importance = "fields = replace(fields, 'medium', 'low') WHERE fields LIKE '%medium%'";
    let folder = altered(&sound, &[importance]);
    let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
    assert!(fixed.contains("\"Redis listens on 6380.\": its label and fields are"), "{fixed}");
    folder.assert_healthy("m.db");
    assert_eq!(
        folder.facts("m.db")["head"]["cursor_hash"],
        sound.facts("m.db")["head"]["cursor_hash"]
    );
}

/// One altered byte can end a text's being JSON, and the index of fields has all values.
#[test]
fn broken_fields_of_an_agent_are_named_and_given_back() {
    let sound = memory();
    let text = ["remember", "--type", "core", "--tag", "duty", "Ana is on call.", "--db", "m.db"];
    sound.ok(text);
    let before = sound.facts("m.db")["head"]["cursor_hash"].clone();
    let node = "WHERE node_type = 'core'";
    for broken in [
        "replace(fields, '\"importance\"', '\"importance7')",
        "'x' || substr(fields, 2)",
        "substr(fields, 1, length(fields) - 1) || '['",
        "'nothing is left of it'",
        "replace(fields, 'created_at', 'breated_at')",
        "replace(fields, '\"duty\"', '\"dutz\"')",
    ] {
        let folder = altered(&sound, &[&format!("fields = {broken} {node}")]);
        let salvaged = folder.ok(["salvage", "m.db", "--out", "salvaged.db"]);
        let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
        for (db, report) in [("m.db", &fixed), ("salvaged.db", &salvaged)] {
            let named = "\"Ana is on call.\": its label and fields are again those";
            assert!(report.contains(named), "{broken}: {report}");
            folder.assert_healthy(db);
            assert_eq!(folder.facts(db)["head"]["cursor_hash"], before, "{broken}");
        }
    }
}

/// The index has the kind and the names of an entity, and not its title.
#[test]
fn broken_fields_that_cannot_be_given_back_are_reported_with_their_text() {
    let sound = memory();
    sound.ok(["remember", "The deploy failed.", "-e", "file:deploy.sh", "--db", "m.db"]);
    let broken = "fields = 'half ' || substr(fields, 9) WHERE node_type = 'entity'";
    let folder = altered(&sound, &[broken]);
    let fields = |db| -> String {
        const FIELDS: &str = "SELECT fields FROM node WHERE node_type = 'entity'";
        folder.database(db).query_row(FIELDS, [], |row| row.get(0)).unwrap()
    };
    let before = fields("m.db");
    let salvaged = folder.ok(["salvage", "m.db", "--out", "salvaged.db"]);
    let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
    for (db, report) in [("m.db", &fixed), ("salvaged.db", &salvaged)] {
        let named = format!(
            "\"deploy.sh\": its fields were damaged, they are now what the index of fields has; \
             were: {before}"
        );
        assert!(report.contains(&named), "{report}");
        folder.assert_healthy(db);
        assert!(fields(db).contains("\"kind\":\"file\""), "{}", fields(db));
    }
}

/// Asserts that the doctor names what was altered in a sound memory, and that its repair and a
/// salvage give it back with a note.
#[track_caller]
fn assert_given_back(sound: &Folder, change: &str, named: &str, note: &str) {
    let before = &sound.facts("m.db")["head"]["cursor_hash"];
    let folder = altered(sound, &[change]);
    let examined = folder.run(["doctor", "--db", "m.db"]).stdout;
    assert!(examined.contains(named), "{change}: {examined}");
    let salvaged = folder.ok(["salvage", "m.db", "--out", "salvaged.db"]);
    let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
    for (db, report) in [("m.db", &fixed), ("salvaged.db", &salvaged)] {
        assert!(report.contains(note), "{change}: {report}");
        folder.assert_healthy(db);
        assert_eq!(folder.facts(db)["head"]["cursor_hash"], *before, "{change}");
    }
}

/// Returns a memory with knowledge, none of whose nodes has an earlier version.
fn memory_of_knowledge() -> Folder {
    let folder = memory();
    folder.ok(["remember", "Saw it at noon.", "--topic", "net 5", "--db", "m.db"]);
    folder
}

/// Neither the history nor the index has all fields of knowledge.
#[test]
fn a_field_that_no_other_row_has_is_given_back_if_it_is_a_title_or_one_byte_off() {
    let sound = memory_of_knowledge();
    for (replaced, node_type, label) in [
        ("'\"title\":\"net 5', '\"title\":\"net 6'", "topic", "net 5"),
        ("'\"title\":\"net 5', '\"title\":\"office'", "topic", "net 5"),
        ("'\"created_at\":1', '\"created_at\":2'", "topic", "net 5"),
        ("'\"created_at\":1', '\"created_at\":7'", "episode", "Saw it at noon."),
    ] {
        let change =
            format!("fields = replace(fields, {replaced}) WHERE node_type = '{node_type}'");
        let named = format!("\"{label}\"");
        let note = format!("{named}: its label and fields are again those");
        assert_given_back(&sound, &change, &named, &note);
    }
}

/// The history leads to the states before the altered nodes came.
#[test]
fn altered_fields_that_nothing_proves_are_among_the_nodes_that_the_history_points_to() {
    let sound = memory_of_knowledge();
    let change = "fields = replace(fields, '\"created_at\":1', '\"created_at\":2') \
                  WHERE node_type IN ('topic', 'episode')";
    let folder = altered(&sound, &[change]);
    let snapshots = sound.facts("m.db")["head"]["id"].to_string();
    let examined = folder.run(["doctor", "--db", "m.db"]).stdout;
    let lost = format!("no rollback leads to these snapshots any more: {snapshots}\n");
    assert!(examined.contains(&lost), "{examined}");
    let salvaged = folder.ok(["salvage", "m.db", "--out", "salvaged.db"]);
    let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
    for report in [examined, salvaged, fixed] {
        assert!(report.contains("the history points to"), "{report}");
        for label in ["\"net 5\"", "\"Saw it at noon.\""] {
            assert!(report.contains(label), "{label}: {report}");
        }
        assert!(!report.contains("\"Note 1\""), "{report}");
    }
    folder.assert_healthy("m.db");
    folder.assert_healthy("salvaged.db");
}

/// Returns a memory with agents' nodes: a section with code, and a text under a file's heading.
fn memory_of_agents() -> Folder {
    let folder = memory();
    let write = |args: &[&str]| folder.ok(args.iter().copied().chain(["--db", "m.db"]));
    write(&["write", "# Deploy\n\nDeploy at 3 by hand.\n\n```rust\nfn deploy() {}\n```\n"]);
    write(&["write", "# Other\n\nNothing else.\n"]);
    folder
}

/// No file has the columns of an agent's node, and the fingerprint proves what they were.
#[test]
fn an_altered_type_level_language_or_key_path_of_an_agent_is_named_and_given_back() {
    let sound = memory_of_agents();
    let text = "WHERE content = 'Deploy at 3 by hand.'";
    let heading = "WHERE label = 'Deploy'";
    let code = "WHERE content LIKE 'fn deploy%'";
    for (change, name, column) in [
        (format!("node_type = 'list' {text}"), "Deploy at 3 by hand.", "type"),
        (format!("node_type = 'tex4' {text}"), "Deploy at 3 by hand.", "type"),
        (format!("level = 3 {heading}"), "Deploy", "level"),
        (format!("level = NULL {heading}"), "Deploy", "level"),
        (format!("lang = 'rusu' {code}"), "Code (rust): fn deploy() {}", "language"),
        (format!("lang = 'python' {code}"), "Code (rust): fn deploy() {}", "language"),
        (format!("lang = NULL {code}"), "Code (rust): fn deploy() {}", "language"),
        (format!("key_path = 'a.b' {text}"), "Deploy at 3 by hand.", "key path"),
        (format!("format = 'toon' {text}"), "Deploy at 3 by hand.", "format"),
    ] {
        let note = format!("\"{name}\": its {column} is again what HEAD's fingerprint proves");
        assert_given_back(&sound, &change, "; 1 altered nodes: `", &note);
    }
}

/// No other code has its language, and no earlier version its label.
#[test]
fn an_altered_label_or_language_of_code_is_given_back() {
    let folder = Folder::new().file("notes/a.md", "# Make\n\n```just\nbuild: test\n```\n");
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let before = folder.facts("m.db")["head"]["cursor_hash"].clone();
    let code = "WHERE node_type = 'code'";
    for (change, name, column) in [
        ("label = 'Nobody wrote this'", "Nobody wrote this", "label and fields are"),
        ("lang = 'python'", "Code (just): build: test", "language is"),
        ("lang = NULL", "Code (just): build: test", "language is"),
    ] {
        let folder = altered(&folder, &[&format!("{change} {code}")]);
        let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
        assert!(fixed.contains(&format!("\"{name}\": its {column} again")), "{change}: {fixed}");
        assert_eq!(folder.facts("m.db")["head"]["cursor_hash"], before, "{change}");
        folder.assert_healthy("m.db");
    }
}

/// The type decides whether a compile knows a node again.
#[test]
fn an_altered_type_of_a_file_costs_no_id() {
    let sound = memory();
    for altered_type in ["list", "tex4"] {
        let change = format!("node_type = '{altered_type}' WHERE content LIKE 'Note 8 says 3%'");
        let folder = altered(&sound, &[&change]);
        let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
        assert!(fixed.contains("its type is again what HEAD's fingerprint proves"), "{fixed}");
        let compiled =
            folder.ok(["compile", sound.path("notes").to_str().unwrap(), "--db", "m.db"]);
        assert_eq!(compiled, "compiled: 0 added, 0 modified, 0 removed (0 ops)\n");
        folder.assert_healthy("m.db");
    }
}

#[test]
fn an_altered_count_of_tokens_of_an_agent_is_named() {
    let sound = memory_of_agents();
    let folder = altered(&sound, &["token_count = 3 WHERE content = 'Deploy at 3 by hand.'"]);
    let named = "\"Deploy at 3 by hand.\" (tokens)";
    let examined = folder.run(["doctor", "--db", "m.db"]);
    assert_eq!(examined.code, Some(1), "{}", examined.stdout);
    assert!(
        examined.stdout.contains("counts other tokens than its text has"),
        "{}",
        examined.stdout
    );
    let salvaged = folder.ok(["salvage", "m.db", "--out", "salvaged.db"]);
    let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
    for (db, report) in [("m.db", &fixed), ("salvaged.db", &salvaged)] {
        assert!(report.contains(named), "{report}");
        folder.assert_healthy(db);
    }
}

/// What a file's node lost is not taken from the agent's one below it.
#[test]
fn a_lost_file_of_a_heading_does_not_spread_to_the_texts_below() {
    let sound = memory();
    let heading = "SELECT id FROM node WHERE label = 'Part 3' AND source_hash IS NOT NULL LIMIT 1";
    let id: String = sound.database("m.db").query_row(heading, [], |row| row.get(0)).unwrap();
    sound.ok(["write", "Agents say so, too.", "--anchor", &id, "--db", "m.db"]);
    let folder = altered(&sound, &[&format!("file = NULL WHERE id = '{id}'")]);
    folder.run(["doctor", "--fix", "--db", "m.db"]);
    let file = |folder: &Folder| -> Option<i64> {
        const FILE: &str = "SELECT file FROM node WHERE content = 'Agents say so, too.'";
        folder.database("m.db").query_row(FILE, [], |row| row.get(0)).unwrap()
    };
    assert!(file(&sound).is_some());
    assert_eq!(file(&folder), file(&sound));
}

/// Returns a copy of a memory whose nodes were changed as a failing disk does: without a trigger.
pub(super) fn altered(sound: &Folder, changes: &[&str]) -> Folder {
    let changes: Vec<String> = changes.iter().map(|it| format!("UPDATE node SET {it}")).collect();
    altered_by(sound, &changes.join(";"))
}

/// Returns a copy of a memory on which statements were run without a trigger.
pub(super) fn altered_by(sound: &Folder, statements: &str) -> Folder {
    let folder = Folder::new();
    fs::copy(sound.path("m.db"), folder.path("m.db")).unwrap();
    let conn = folder.database("m.db");
    let read = |sql: &str| -> Vec<String> {
        let mut query = conn.prepare(sql).unwrap();
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let drops = read("SELECT 'DROP TRIGGER ' || name FROM sqlite_schema WHERE type = 'trigger'");
    let triggers = read("SELECT sql FROM sqlite_schema WHERE type = 'trigger'");
    conn.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    conn.execute_batch(&drops.join(";")).unwrap();
    conn.execute_batch(statements).unwrap();
    conn.execute_batch(&triggers.join(";")).unwrap();
    drop(conn);
    folder
}
