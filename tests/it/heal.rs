//! Tests repairs by the doctor, and salvage from damaged files.
//!
//! The doctor repairs rows after a backup; salvage copies the readable rows of a damaged file into
//! a new memory.

mod accepted_altered_texts;
mod altered_files;
mod altered_history;
mod altered_keys;
mod altered_manual_edges;
mod altered_nodes;
mod damaged_rows;
mod damaged_schema;
mod dangling_rows;
mod texts_altered_with_hash;

use std::fs;
use std::ops::Range;
use std::path::PathBuf;

use expect_test::expect;
use serde_json::{Value, json};

use super::support::{Client, Folder, Ran};

const PAGE_BYTES: usize = 4096;

/// Returns a memory of some hundred nodes, with a history, as one file.
fn memory() -> Folder {
    memory_of(0..16, 12, &"so ".repeat(40))
}

/// Returns a memory of notes, each of which says something in so many parts.
fn memory_of(notes: Range<usize>, n_parts: usize, something: &str) -> Folder {
    let folder = Folder::new();
    for nth in notes {
        let text: Vec<String> = (0..n_parts)
            .map(|it| format!("## Part {it}\n\nNote {nth} says {it}, {something}.\n"))
            .collect();
        folder.write(format!("notes/{nth}.md"), format!("# Note {nth}\n\n{}", text.join("\n")));
    }
    folder.ok(["compile", "notes", "--db", "first.db"]);
    folder.write("notes/9.md", "# Note 9\n\nAll is said in [[Note 3]].\n");
    folder.ok(["compile", "notes", "--db", "first.db"]);
    folder.ok(["backup", "m.db", "--db", "first.db"]);
    folder
}

/// Changes rows without the program.
fn tamper(folder: &Folder, sql: &str) {
    let conn = folder.database("m.db");
    conn.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    conn.execute_batch(sql).unwrap();
}

fn backups(folder: &Folder) -> Vec<PathBuf> {
    let names = folder.names();
    names.iter().filter(|it| it.starts_with("m.db.bak.")).map(|it| folder.path(it)).collect()
}

/// Returns the text of the node whose text begins so.
fn text_like(folder: &Folder, db: &str, beginning: &str) -> String {
    const TEXT: &str = "SELECT content FROM node WHERE content LIKE ?1 || '%'";
    folder.database(db).query_row(TEXT, [beginning], |row| row.get(0)).unwrap()
}

/// Tampers, and compares the failed checks, the outcome of their repairs, and the exit code.
#[track_caller]
fn check(sql: &str, expected: expect_test::Expect) {
    let folder = memory();
    tamper(&folder, sql);
    let before = fs::read(folder.path("m.db")).unwrap();
    let looked = folder.run(["doctor", "--db", "m.db"]);
    assert_eq!(looked.code, Some(1), "{}", looked.stdout);
    assert!(fs::read(folder.path("m.db")).unwrap() == before, "looking changed the file");
    let ran = folder.run(["doctor", "--fix", "--json", "--db", "m.db"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let mut table = String::new();
    for check in report["checks"].as_array().unwrap() {
        if let Some(error) = check["fix_error"].as_str() {
            table += &format!("{}: {error}\n", check["name"].as_str().unwrap());
        } else if check["fix_applied"] == true {
            table += &format!("{}: fixed\n", check["name"].as_str().unwrap());
        }
    }
    table += &format!("= {}\n", ran.code.unwrap());
    expected.assert_eq(&table);
    folder.assert_healthy("m.db");
    let [backup] = &backups(&folder)[..] else { panic!("{:?}", folder.names()) };
    assert!(ran.stderr.contains(".bak."), "{}", ran.stderr);
    let backup = folder.run([std::ffi::OsStr::new("doctor"), "--db".as_ref(), backup.as_os_str()]);
    assert_eq!(backup.stdout, looked.stdout, "the backup is what was there");
    // A repaired memory compiles like any other.
    folder.write("notes/new.md", "# Fresh\n");
    folder.ok(["compile", "notes", "--db", "m.db"]);
    folder.assert_healthy("m.db");
}

#[test]
fn a_lost_index_is_built_again() {
    let sql = "INSERT INTO node_fts (node_fts) VALUES ('delete-all')";
    check(
        sql,
        expect![[r#"
        fts5_sync: fixed
        = 0
    "#]],
    );
}

#[test]
fn nodes_without_a_parent_or_below_themselves_become_roots() {
    check(
        "UPDATE node SET parent = 99999 WHERE key IN (7, 9)",
        expect![[r#"
            orphan_parent_id: fixed
            foreign_keys: fixed
            history_rows: fixed
            fingerprint: fixed
            = 0
        "#]],
    );
    check(
        "UPDATE node SET parent = 31 WHERE key = 30; UPDATE node SET parent = 30 WHERE key = 31;
         UPDATE node SET parent = 60 WHERE key = 60",
        expect![[r#"
            parent_cycles: fixed
            history_rows: fixed
            fingerprint: fixed
            = 0
        "#]],
    );
}

#[test]
fn references_that_lead_nowhere_are_read_again() {
    check(
        "INSERT INTO reference (source, origin, form, label, weight, target)
         VALUES (1, 'parsed', 'wiki', 'forged', 1, 2), (1, 'manual', 'manual', 'Note 3', 1, NULL)",
        expect![[r#"
            references: fixed
            = 0
        "#]],
    );
}

#[test]
fn history_that_refers_to_nothing_is_mended() {
    check(
        "UPDATE cursor SET snapshot = 555;
         INSERT INTO diff (snapshot, seq, op, node_id) VALUES (77, 1, 'add', 'aaaaaaaaaaa')",
        expect![[r#"
            head_cursor: fixed
            dangling_diffs: fixed
            foreign_keys: fixed
            fingerprint: fixed
            = 0
        "#]],
    );
}

#[test]
fn a_cursor_of_another_name_goes() {
    check(
        "UPDATE cursor SET name = 'HEAE'",
        expect![[r#"
            head_cursor: fixed
            fingerprint: fixed
            = 0
        "#]],
    );
}

#[test]
fn tables_behind_the_index_with_checks_of_their_own_are_made_again() {
    check(
        "PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = replace(sql, 'sz BLOB', 'sz BLOB CHECK (sz IS NULL)')
          WHERE name = 'node_fts_docsize'",
        expect![[r#"
            fts5_sync: fixed
            schema_objects: fixed
            = 0
        "#]],
    );
}

#[test]
fn statistics_that_another_program_made_go() {
    const TABLES: &str = "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'sqlite_stat_'";
    let folder = Folder::new().file("notes/a.md", "# A\n\nText.\n");
    folder.ok(["compile", "notes", "--db", "m.db"]);
    folder.database("m.db").execute_batch("ANALYZE").unwrap();
    let n_tables =
        || folder.database("m.db").query_row(TABLES, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_ne!(n_tables(), 0);
    folder.ok(["gc", "--db", "m.db"]);
    assert_eq!(n_tables(), 0);
}

#[test]
fn a_temperature_of_no_node_is_in_no_ones_way() {
    let folder = memory();
    tamper(
        &folder,
        "INSERT INTO heat (node, temperature, at) SELECT max(key) + 1, 0.9, 0 FROM node;
         UPDATE memory SET heated = (SELECT max(node) FROM heat)",
    );
    folder.ok(["write", "New words.", "--db", "m.db"]);
    folder.ok(["doctor", "--fix", "--db", "m.db"]);
    folder.assert_healthy("m.db");
}

#[test]
fn rows_that_refer_to_nothing_are_removed() {
    check(
        "INSERT INTO span VALUES (44444, 1, 2); UPDATE memory SET heated = 3;
         INSERT INTO heat (node, temperature, at) VALUES (4, 9, 0); DELETE FROM file WHERE id = 2",
        expect![[r#"
            foreign_keys: fixed
            heat_rows: fixed
            fingerprint: fixed
            = 0
        "#]],
    );
}

#[test]
fn repaired_temperatures_decide_when_nodes_are_cold() {
    let folder = memory();
    tamper(&folder, "INSERT INTO heat (node, temperature, at, full_at) VALUES (4, -9, 0, 7)");
    folder.ok(["doctor", "--fix", "--db", "m.db"]);
    let mended: (f64, Option<f64>) = folder
        .database("m.db")
        .query_row("SELECT temperature, full_at FROM heat WHERE node = 4", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert_eq!(mended, (0.0, None), "the next tick works it out");
}

#[test]
fn files_of_a_lost_folder_go_and_leave_their_nodes() {
    check(
        "DELETE FROM root; UPDATE snapshot SET compile_root = ''",
        expect![[r#"
            foreign_keys: fixed
            history_rows: fixed
            fingerprint: fixed
            = 0
        "#]],
    );
}

#[test]
fn references_are_read_from_the_texts_again() {
    check(
        "DELETE FROM reference; DELETE FROM wanted",
        expect![[r#"
        references: fixed
        = 0
    "#]],
    );
    check(
        "INSERT INTO reference (source, origin, form, label, weight)
         VALUES (1, 'manual', 'manual', 'Note 4', 2.0);
         UPDATE reference SET target = 1; DELETE FROM wanted; DELETE FROM file_name;
         UPDATE node SET name = 7",
        expect![[r#"
            references: fixed
            = 0
        "#]],
    );
}

#[test]
fn texts_changed_by_other_programs_are_accepted() {
    check(
        "UPDATE node SET content = 'forged', node_type = 'zebra' WHERE key = 11;
         UPDATE node SET id = 'no id' WHERE key = 12;
         UPDATE blob SET content = 'forged, too'",
        expect![[r#"
            node_rows: fixed
            history_rows: fixed
            fingerprint: fixed
            content_hashes: fixed
            = 0
        "#]],
    );
}

#[test]
fn a_repair_is_reported_as_text() {
    let folder = memory();
    tamper(&folder, "UPDATE memory SET fingerprint = 5");
    let ran = folder.run(["doctor", "--fix", "--db", "m.db"]);
    let lines: Vec<&str> = ran.stdout.lines().filter(|it| it.contains("fixed")).collect();
    assert!(matches!(lines[..], [line] if line.starts_with("✓ fingerprint ")), "{}", ran.stdout);
    assert_eq!(folder.facts("m.db")["snapshots"], 2, "only the note of it was wrong");
}

#[test]
fn a_sound_memory_is_left_alone() {
    let folder = memory();
    let before = fs::read(folder.path("m.db")).unwrap();
    folder.ok(["doctor", "--fix", "--db", "m.db"]);
    assert!(fs::read(folder.path("m.db")).unwrap() == before);
    assert!(backups(&folder).is_empty());
}

/// Damages a copy of the file, salvages it, and returns the output.
#[track_caller]
fn salvage(folder: &Folder, damage: impl FnOnce(&mut Vec<u8>)) -> Ran {
    let mut bytes = fs::read(folder.path("m.db")).unwrap();
    damage(&mut bytes);
    fs::write(folder.path("x.db"), &bytes).unwrap();
    let ran = folder.run(["salvage", "x.db", "--out", "new.db"]);
    assert!(fs::read(folder.path("x.db")).unwrap() == bytes, "the damaged file was changed");
    assert!(!folder.names().iter().any(|it| it.ends_with(".draft")), "{:?}", folder.names());
    ran
}

/// Returns the page with the needle's first occurrence.
fn page_of(bytes: &[u8], needle: &str) -> usize {
    let found = bytes.windows(needle.len()).position(|it| it == needle.as_bytes());
    found.expect("the text is in the file") / PAGE_BYTES
}

#[test]
fn rows_around_a_lost_page_are_salvaged() {
    let folder = memory();
    let all = folder.facts("m.db")["nodes"].as_u64().unwrap();
    let ran = salvage(&folder, |bytes| {
        let page = page_of(bytes, "Note 8 says 3");
        bytes[page * PAGE_BYTES..][..PAGE_BYTES].fill(0);
    });
    assert_eq!(ran.code, Some(0), "{}", ran.transcript());
    assert!(ran.stdout.contains("- node: ") && ran.stdout.contains("nodes are lost"));
    folder.assert_healthy("new.db");
    let left = folder.facts("new.db")["nodes"].as_u64().unwrap();
    assert!(all - 40 < left && left < all, "{left} of {all}");
    // A compile of the notes restores the lost nodes.
    folder.ok(["compile", "notes", "--db", "new.db"]);
    assert_eq!(folder.facts("new.db")["nodes"], all);
}

/// No temperature and no place in a file tells of an agent's node.
#[test]
fn a_salvage_counts_every_lost_node() {
    let folder = memory();
    let texts: Vec<String> =
        (0..100).map(|nth| format!("## Plan {nth}\n\nAgent {nth} plans {nth}.")).collect();
    folder.ok(["write", &texts.join("\n\n"), "--db", "m.db"]);
    let all = folder.facts("m.db")["nodes"].as_u64().unwrap();
    for needle in ["Agent 50 plans 50", "Note 8 says 3"] {
        let ran = salvage(&folder, |bytes| {
            let page = page_of(bytes, needle);
            bytes[page * PAGE_BYTES..][..PAGE_BYTES].fill(0);
        });
        let n_lost = all - folder.facts("new.db")["nodes"].as_u64().unwrap();
        assert!(0 < n_lost);
        assert!(ran.stdout.contains(&format!("- {n_lost} nodes are lost\n")), "{}", ran.stdout);
        fs::remove_file(folder.path("new.db")).unwrap();
    }
}

#[test]
fn a_file_that_was_cut_off_is_salvaged_up_to_there() {
    let folder = memory();
    let ran = salvage(&folder, |bytes| bytes.truncate(bytes.len() / 2 + 777));
    assert_eq!(ran.code, Some(0), "{}", ran.transcript());
    folder.assert_healthy("new.db");
}

#[test]
fn a_lost_head_is_given_again() {
    let folder = memory();
    let ran = salvage(&folder, |bytes| bytes[..100].fill(0));
    assert!(ran.stdout.ends_with("every row could be read\n"), "{}", ran.transcript());
    folder.assert_healthy("new.db");
}

#[test]
fn a_lost_list_of_tables_is_that_of_a_new_memory() {
    let folder = memory();
    let all = folder.facts("m.db")["nodes"].clone();
    let ran = salvage(&folder, |bytes| bytes[..PAGE_BYTES].fill(0));
    assert!(ran.stdout.contains("the list of tables"), "{}", ran.transcript());
    folder.assert_healthy("new.db");
    assert_eq!(folder.facts("new.db")["nodes"], all);
}

#[test]
fn a_file_that_is_no_memory_any_more_is_reported() {
    let folder = memory();
    let ran = salvage(&folder, |bytes| bytes.fill(b'x'));
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("restore a backup"), "{}", ran.stderr);
    assert!(!folder.path("new.db").exists());
    let ran = salvage(&folder, |bytes| bytes.clear());
    assert!(ran.stderr.contains("nothing to salvage"), "{}", ran.stderr);
}

#[test]
fn damage_is_reported_with_advice_and_makes_no_file() {
    let folder = memory();
    let mut bytes = fs::read(folder.path("m.db")).unwrap();
    let page = page_of(&bytes, "Note 8 says 3");
    bytes[page * PAGE_BYTES..][..PAGE_BYTES].fill(0);
    fs::write(folder.path("m.db"), &bytes).unwrap();
    for args in [["inspect", "--tree"], ["search", "Note"], ["backup", "b.db"]] {
        let ran = folder.run(args.iter().chain(&["--db", "m.db"]));
        if ran.code != Some(0) {
            assert!(ran.stderr.contains("is damaged"), "{args:?}: {}", ran.stderr);
        }
    }
    assert!(!folder.path("b.db").exists());
    let ran = folder.run(["doctor", "--fix", "--db", "m.db"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("remindb salvage"), "{}", ran.stdout);
}

/// Bytes that are no text are damage, and are reported as such by every door.
#[test]
fn bytes_that_are_no_text_are_named_and_mended() {
    for column in ["content", "label", "trail"] {
        let folder = memory();
        tamper(
            &folder,
            &format!(
                "UPDATE node SET {column} = CAST(x'41ff42' AS TEXT)
                  WHERE content LIKE 'Note 8 says 3%'"
            ),
        );
        let mut client = Client::modern(&folder, &["--db", "m.db"]);
        let asked = json!({"name": "MemoryTree", "arguments": {"depth": 9}});
        for reply in [
            client.ask("tools/call", asked),
            client.ask("resources/read", json!({"uri": "remindb://tree"})),
        ] {
            assert!(!reply.to_string().contains("internal error"), "{column}: {reply}");
        }
        client.end();
        let found = folder.run(["doctor", "--db", "m.db"]);
        assert_eq!(found.code, Some(1), "{column}: {}", found.stdout);
        let fixed = folder.run(["doctor", "--fix", "--db", "m.db"]);
        assert_eq!(fixed.code, Some(0), "{column}: {}", fixed.stdout);
        folder.assert_healthy("m.db");
        folder.ok(["compile", "notes", "--db", "m.db"]);
        assert!(
            text_like(&folder, "m.db", "Note 8 says 3").starts_with("Note 8 says 3"),
            "{column}"
        );
        folder.assert_healthy("m.db");
    }
}
