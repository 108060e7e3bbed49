//! Tests memories from strangers: files whose schema has code of its own.
//!
//! Nothing of it runs. The foreign objects are named, and the doctor takes them out.

use std::fs;

use serde_json::json;

use super::super::support::{Client, Folder, Ran};

/// Deletes each new text, though its writer is told that it is kept.
const DELETE: &str = "
    CREATE TRIGGER thief AFTER INSERT ON node BEGIN
        DELETE FROM node WHERE key = new.key;
    END";

/// Copies each text to where neither redaction nor garbage collection looks.
const COPY: &str = "
    CREATE TABLE hoard (text TEXT);
    CREATE TRIGGER spy AFTER INSERT ON node BEGIN INSERT INTO hoard VALUES (new.content); END";

/// Answers a question of the program without end.
const ENDLESS_VIEW: &str = "
    DROP VIEW facet_made;
    CREATE VIEW facet_made AS
        WITH RECURSIVE endless (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM endless)
        SELECT n AS node, n AS key, n AS value FROM endless;
    CREATE TRIGGER facet_make INSTEAD OF INSERT ON facet_made BEGIN
        INSERT INTO facet (key, value, node) SELECT key, value, node FROM facet_made;
    END";

/// Takes the place of a table.
const ENDLESS_NODE: &str = "
    PRAGMA foreign_keys = OFF;
    DROP TABLE heat;
    CREATE VIEW heat AS
        WITH RECURSIVE endless (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM endless)
        SELECT n AS node, 1.0 AS temperature, n AS at FROM endless";

/// Returns a folder with a memory, in which somebody ran `sql`.
fn folder_with(sql: &str) -> Folder {
    let folder = Folder::new().file("notes/a.md", "# Billing\n\nKnows the billing service.\n");
    folder.ok(["compile", "notes", "--db", "m.db"]);
    folder.database("m.db").execute_batch(sql).unwrap();
    folder
}

/// The advice where the doctor can restore the schema, and where it cannot.
const REPAIR: &str = "remindb doctor --fix --db";
const SALVAGE: &str = "that cannot be put right in place; restore a backup, or read what can be \
                       read: remindb salvage m.db --out NEW.db";

/// Asserts that a command names the objects with the advice, and neither runs them nor changes a byte.
#[track_caller]
fn assert_refused(folder: &Folder, args: &[&str], objects: &str, advice: &str) {
    let before = fs::read(folder.path("m.db")).unwrap();
    let Ran { stdout, stderr, code } = folder.run(args);
    assert_eq!((stdout.as_str(), code), ("", Some(2)), "{args:?}: {stderr}");
    assert!(stderr.contains(&format!("({objects})")), "{args:?}: {stderr}");
    assert!(stderr.contains(advice), "{args:?}: {stderr}");
    assert_eq!(fs::read(folder.path("m.db")).unwrap(), before, "{args:?}");
}

#[track_caller]
fn assert_taken_out(sql: &str, objects: &str) {
    let folder = folder_with(sql);
    let commands: [&[&str]; 6] = [
        &["search", "billing", "--db", "m.db"],
        &["compile", "notes", "--db", "m.db"],
        &["serve", "--db", "m.db"],
        &["export", "out.json", "--db", "m.db"],
        &["gc", "--older-than", "0d", "--db", "m.db"],
        &["redact", "--db", "m.db"],
    ];
    for args in commands {
        assert_refused(&folder, args, objects, REPAIR);
    }
    let found = folder.run(["doctor", "--db", "m.db"]);
    assert_eq!(found.code, Some(1));
    assert!(
        found.stdout.contains(&format!("schema_objects       {objects}\n")),
        "{}",
        found.stdout
    );
    let healed = folder.run(["doctor", "--fix", "--db", "m.db"]);
    assert_eq!(healed.code, Some(0), "{}\n{}", healed.stdout, healed.stderr);
    assert!(healed.stdout.contains("is ours  (fixed)"), "{}", healed.stdout);
    folder.assert_healthy("m.db");
    let hits = folder.ok(["search", "billing", "--db", "m.db"]);
    assert!(hits.contains("Knows the billing service."), "{hits}");
}

#[test]
fn a_trigger_that_deletes_is_named_and_taken_out() {
    assert_taken_out(DELETE, "foreign trigger `thief`");
}

#[test]
fn a_trigger_that_copies_goes_with_its_copies() {
    assert_taken_out(COPY, "foreign table `hoard`, foreign trigger `spy`");
}

/// A table of a module that this program does not have.
const UNKNOWN_MODULE: &str = "
    PRAGMA writable_schema = ON;
    INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql)
    VALUES ('table', 'odd', 'odd', 0, 'CREATE VIRTUAL TABLE odd USING nowhere (a)')";

#[test]
fn a_table_of_an_unknown_module_is_taken_out() {
    assert_taken_out(UNKNOWN_MODULE, "foreign table `odd`");
    let folder = folder_with(UNKNOWN_MODULE);
    folder.ok(["salvage", "m.db", "--out", "new.db"]);
    folder.assert_healthy("new.db");
}

#[test]
fn a_table_of_an_odd_name_is_taken_out() {
    assert_taken_out(
        "CREATE TABLE \"an \"\"odd\"\" name\" (\"a, b\" TEXT);
         INSERT INTO \"an \"\"odd\"\" name\" VALUES (CAST(x'ff' AS TEXT))",
        "foreign table `an \"odd\" name`",
    );
}

/// The name of a trigger is not letter for letter the one of its definition: SQLite cannot drop it.
#[test]
fn what_cannot_be_taken_out_needs_a_salvage() {
    let folder = folder_with(
        "PRAGMA writable_schema = ON;
         UPDATE sqlite_schema
            SET sql = replace(sql, 'pulse_heat_noted', 'Pulse_heat_noted')
          WHERE name = 'pulse_heat_noted'",
    );
    let ran = folder.run(["doctor", "--fix", "--db", "m.db"]);
    assert_eq!(ran.code, Some(2), "{}", ran.transcript());
    assert!(ran.stderr.contains("no such trigger: pulse_heat_noted; "), "{}", ran.stderr);
    assert!(ran.stderr.contains("remindb salvage m.db --out NEW.db"), "{}", ran.stderr);
    folder.ok(["salvage", "m.db", "--out", "new.db"]);
    folder.assert_healthy("new.db");
}

/// SQLite drops no view of such a name.
#[test]
fn a_view_of_a_reserved_name_is_taken_out() {
    assert_taken_out(
        "PRAGMA writable_schema = ON;
         INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql)
         VALUES ('view', 'sqlite_odd', 'sqlite_odd', 0, 'CREATE VIEW sqlite_odd AS SELECT 1')",
        "foreign view `sqlite_odd`",
    );
}

/// Asserts that the doctor changes nothing, and that a salvage reads the memory.
#[track_caller]
fn assert_salvaged_not_repaired(folder: &Folder) {
    let before = fs::read(folder.path("m.db")).unwrap();
    let fixed = folder.run(["doctor", "--fix", "--db", "m.db"]);
    assert_eq!(fixed.code, Some(2), "{}", fixed.transcript());
    assert!(fixed.stderr.contains("nothing was changed; restore a backup, "), "{}", fixed.stderr);
    assert_eq!(fs::read(folder.path("m.db")).unwrap(), before);
    folder.ok(["salvage", "m.db", "--out", "new.db"]);
    folder.assert_healthy("new.db");
    let hits = folder.ok(["search", "billing", "--db", "new.db"]);
    assert!(hits.contains("Knows the billing service."), "{hits}");
}

#[test]
fn a_table_of_a_reserved_name_needs_a_salvage() {
    let folder = folder_with(
        "CREATE TABLE odd (text TEXT);
         PRAGMA writable_schema = ON;
         UPDATE sqlite_schema
            SET name = 'sqlite_odd', tbl_name = 'sqlite_odd', sql = 'CREATE TABLE sqlite_odd (text)'
          WHERE name = 'odd'",
    );
    let objects = "foreign table `sqlite_odd`";
    assert_refused(&folder, &["search", "billing", "--db", "m.db"], objects, SALVAGE);
    assert_salvaged_not_repaired(&folder);
}

#[test]
fn a_wrong_number_of_the_schema_is_put_right() {
    let newest: i64 = folder_with("")
        .database("m.db")
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    for number in [0, -1, 1, 12, newest - 1] {
        let folder = folder_with("");
        let sound = folder.facts("m.db");
        folder.database("m.db").pragma_update(None, "user_version", number).unwrap();
        let objects = format!("number {number} on the objects of schema {newest}");
        for args in [["search", "billing", "--db", "m.db"], ["compile", "notes", "--db", "m.db"]] {
            assert_refused(&folder, &args, &objects, REPAIR);
        }
        let found = folder.run(["doctor", "--db", "m.db"]).stdout;
        assert!(found.contains(&format!("schema_objects       {objects}\n")), "{found}");
        folder.ok(["doctor", "--fix", "--db", "m.db"]);
        folder.assert_healthy("m.db");
        assert_eq!(folder.facts("m.db"), sound, "{number}");
    }
}

#[test]
fn nothing_is_dropped_where_the_schema_is_of_no_version() {
    let folder = folder_with("CREATE VIEW odd AS SELECT 1; PRAGMA user_version = 0");
    let refused = folder.run(["compile", "notes", "--db", "m.db"]);
    assert!(refused.stderr.contains(SALVAGE), "{}", refused.stderr);
    assert_salvaged_not_repaired(&folder);
}

#[test]
fn a_virtual_table_goes_with_the_tables_behind_it() {
    let folder = folder_with(
        "CREATE VIRTUAL TABLE hoard USING fts5 (text); INSERT INTO hoard VALUES ('kept here')",
    );
    folder.ok(["doctor", "--fix", "--db", "m.db"]);
    folder.assert_healthy("m.db");
}

#[test]
fn a_backup_with_foreign_objects_is_named_when_it_is_refused() {
    let folder = folder_with(DELETE);
    fs::rename(folder.path("m.db"), folder.path("b.db")).unwrap();
    let ran = folder.run(["restore", "b.db", "--db", "m.db"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.starts_with("remindb: `b.db` has another schema"), "{}", ran.stderr);
    assert!(ran.stderr.contains("`remindb doctor --fix --db b.db`"), "{}", ran.stderr);
    folder.ok(["doctor", "--fix", "--db", "b.db"]);
    folder.ok(["restore", "b.db", "--db", "m.db"]);
    folder.assert_healthy("m.db");
}

#[test]
fn a_view_without_end_is_made_again() {
    assert_taken_out(ENDLESS_VIEW, "altered trigger `facet_make`, altered view `facet_made`");
}

/// Nothing reads the view, which would not end; salvage reads every other table.
#[test]
fn a_view_in_the_place_of_a_table_needs_a_salvage() {
    let folder = folder_with(ENDLESS_NODE);
    let objects = "missing table `heat`, foreign view `heat`, missing index `heat_to_announce`, \
                   missing trigger `heat_rearm`, missing trigger `pulse_heat`, 1 more";
    assert_refused(&folder, &["search", "billing", "--db", "m.db"], objects, SALVAGE);
    let found = folder.run(["doctor", "--db", "m.db"]);
    assert_eq!(found.code, Some(1));
    assert!(found.stdout.contains("not checked: "), "{}", found.stdout);
    folder.ok(["salvage", "m.db", "--out", "new.db"]);
    folder.assert_healthy("new.db");
    let hits = folder.ok(["search", "billing", "--db", "new.db"]);
    assert!(hits.contains("Knows the billing service."), "{hits}");
}

/// Changes the schema of a memory that a server has open: each of its answers says why it is
/// refused.
#[track_caller]
fn assert_refused_by_a_server(sql: &str, why: &str) {
    let folder = folder_with("");
    let mut client = Client::modern(&folder, &["--db", "m.db"]);
    client.text("MemoryWrite", json!({"payload": "Knows the invoices."}));
    client.text("MemorySearch", json!({"query": "invoices"}));
    let conn = folder.database("m.db");
    conn.execute_batch(sql).unwrap();
    let calls = [
        ("MemoryWrite", json!({"payload": "Knows the receipts."})),
        ("MemoryRemember", json!({"content": "Knows the refunds."})),
        ("MemorySearch", json!({"query": "invoices"})),
        ("MemoryRecall", json!({"query": "invoices"})),
        ("MemoryTree", json!({})),
        ("MemoryCompile", json!({"path": "notes"})),
    ];
    for (tool, arguments) in calls {
        let reply = client.call(tool, arguments);
        assert!(reply.is_error && reply.text.contains(why), "{tool}: {}", reply.text);
    }
    let read = client.ask("resources/read", json!({"uri": "remindb://tree"}));
    assert!(read["error"].to_string().contains(why), "{read}");
    const WRITTEN: &str = "SELECT count(*) FROM node WHERE content LIKE '%re%s.'";
    assert_eq!(conn.query_row(WRITTEN, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    drop(conn);
    client.end();
}

#[test]
fn a_server_under_which_a_trigger_comes_acknowledges_nothing() {
    assert_refused_by_a_server(DELETE, "(foreign trigger `thief`)");
}

#[test]
fn a_server_under_which_a_newer_build_migrates_says_so() {
    assert_refused_by_a_server("PRAGMA user_version = 99", "has schema 99, newer than ");
}
