//! Tests repairs of rows that no program of ours writes: bytes that are no text, numbers beyond all
//! bounds, and rows of the whole memory that are missing.

use std::collections::BTreeMap;
use std::fs;

use expect_test::expect;
use serde_json::{Value, json};

use super::{PAGE_BYTES, check, memory, tamper};
use crate::support::{Client, Folder};

/// The largest integer, after which SQLite has none for a new row.
const LARGEST: i64 = i64::MAX;

/// Gives the newest snapshot an id.
fn number_newest_snapshot(id: i64) -> String {
    format!(
        "UPDATE diff SET snapshot = {id} WHERE snapshot = 2;
         UPDATE change_count SET snapshot = {id} WHERE snapshot = 2;
         UPDATE cursor SET snapshot = {id};
         UPDATE snapshot SET id = {id} WHERE id = 2"
    )
}

/// Gives a node a key.
fn number_node(key: i64) -> String {
    format!(
        "UPDATE heat SET node = {key} WHERE node = 30; UPDATE span SET node = {key} WHERE node = 30;
         UPDATE node SET parent = {key} WHERE parent = 30;
         UPDATE node SET key = {key} WHERE key = 30;
         INSERT INTO node_fts (node_fts) VALUES ('rebuild')"
    )
}

#[test]
fn a_sequence_of_snapshots_without_a_next_one_begins_after_the_last() {
    for value in [LARGEST.to_string(), (-5).to_string(), "'many'".to_owned()] {
        check(
            &format!("UPDATE sqlite_sequence SET seq = {value}"),
            expect![[r#"
                row_keys: fixed
                = 0
            "#]],
        );
    }
}

#[test]
fn rows_with_too_large_keys_get_the_next_free_ones() {
    for id in [LARGEST, LARGEST - 1] {
        check(
            &number_newest_snapshot(id),
            expect![[r#"
                row_keys: fixed
                = 0
            "#]],
        );
        check(
            &number_node(id),
            expect![[r#"
                fts5_sync: fixed
                row_keys: fixed
                = 0
            "#]],
        );
    }
}

#[test]
fn a_snapshot_that_got_another_number_can_be_restored() {
    let folder = memory();
    let hashes = "SELECT cursor_hash FROM snapshot ORDER BY id";
    let hashes = || -> Vec<String> {
        let conn = folder.database("m.db");
        let mut query = conn.prepare(hashes).unwrap();
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let before = hashes();
    tamper(&folder, &number_newest_snapshot(LARGEST));
    folder.ok(["doctor", "--fix", "--db", "m.db"]);
    assert_eq!(hashes(), before);
    folder.ok(["rollback", "1", "--db", "m.db"]);
    assert_eq!(hashes()[2], before[0]);
    folder.assert_healthy("m.db");
}

#[test]
fn missing_rows_of_the_whole_memory_are_made_again() {
    check(
        "DELETE FROM pulse",
        expect![[r#"
            single_rows: fixed
            = 0
        "#]],
    );
    check(
        "DELETE FROM memory",
        expect![[r#"
            single_rows: fixed
            fingerprint: fixed
            = 0
        "#]],
    );
}

#[test]
fn counters_beyond_all_bounds_begin_again() {
    check(
        &format!("UPDATE pulse SET heats = {LARGEST}, views = {}", -LARGEST),
        expect![[r#"
            single_rows: fixed
            = 0
        "#]],
    );
    check(
        &format!("UPDATE memory SET attended = {LARGEST}, ticked_at = {LARGEST}"),
        expect![[r#"
            single_rows: fixed
            = 0
        "#]],
    );
}

#[test]
fn numbers_of_nodes_beyond_all_bounds_are_given_again() {
    check(
        &format!("UPDATE node SET token_count = {LARGEST}"),
        expect![[r#"
            node_rows: fixed
            running_totals: fixed
            = 0
        "#]],
    );
    check(
        "UPDATE node SET token_count = 4294967295",
        expect![[r#"
            node_rows: fixed
            = 0
        "#]],
    );
    check(
        &format!("UPDATE diff SET old_tokens = {LARGEST}, old_position = {LARGEST}"),
        expect![[r#"
            history_rows: fixed
            = 0
        "#]],
    );
}

#[test]
fn an_index_that_cannot_be_opened_is_made_again() {
    for sql in [
        "DELETE FROM node_fts_config",
        "UPDATE node_fts_config SET v = 99 WHERE k = 'version'",
        "DELETE FROM node_fts_data WHERE id = 10",
        "DELETE FROM node_fts_data WHERE 10 < id",
    ] {
        check(
            sql,
            expect![[r#"
                fts5_sync: fixed
                integrity_check: fixed
                = 0
            "#]],
        );
    }
}

/// An index whose page is that of a table is sound to SQLite as long as it has no entry.
#[test]
fn an_index_whose_page_is_of_a_table_is_made_again() {
    let folder = memory();
    let root = |name: &str| -> usize {
        let root = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        let read = |row: &rusqlite::Row<'_>| row.get::<_, u32>(0);
        folder.database("m.db").query_row(root, [name], read).unwrap() as usize
    };
    let (index, table) = (root("tombstone_by_file") - 1, root("root") - 1);
    let mut bytes = fs::read(folder.path("m.db")).unwrap();
    bytes.copy_within(table * PAGE_BYTES..(table + 1) * PAGE_BYTES, index * PAGE_BYTES);
    fs::write(folder.path("m.db"), bytes).unwrap();
    let fixed = folder.run(["doctor", "--fix", "--db", "m.db"]);
    assert_eq!(fixed.code, Some(0), "{}", fixed.transcript());
    folder.ok(["write", "New words.", "--db", "m.db"]);
    folder.ok(["compile", "notes", "--db", "m.db"]);
    folder.assert_healthy("m.db");
}

/// A write to a damaged memory fails with the command that says more.
#[test]
fn errors_of_damaged_rows_name_the_doctor() {
    let folder = memory();
    fs::rename(folder.path("m.db"), folder.path("sound.db")).unwrap();
    for (sql, args) in [
        (format!("UPDATE sqlite_sequence SET seq = {LARGEST}"), ["write", "new words"]),
        (number_newest_snapshot(LARGEST), ["write", "new words"]),
        (number_node(LARGEST), ["write", "new words"]),
        ("DELETE FROM memory".to_owned(), ["write", "new words"]),
        ("DELETE FROM memory".to_owned(), ["search", "says"]),
        ("DELETE FROM pulse".to_owned(), ["inspect", "--tree"]),
        ("DELETE FROM node_fts_config".to_owned(), ["write", "new words"]),
        ("DELETE FROM node_fts_config".to_owned(), ["search", "says"]),
        ("DELETE FROM node_fts_data WHERE id = 10".to_owned(), ["write", "new words"]),
        (format!("UPDATE node SET token_count = {LARGEST}"), ["search", "says"]),
        (format!("UPDATE node SET token_count = -{LARGEST}"), ["inspect", "--tree"]),
    ] {
        fs::copy(folder.path("sound.db"), folder.path("m.db")).unwrap();
        tamper(&folder, &sql);
        let ran = folder.run(args.iter().chain(&["--db", "m.db"]));
        assert_eq!(ran.code, Some(2), "{sql}, {args:?}: {}", ran.transcript());
        assert!(ran.stderr.contains("remindb doctor"), "{sql}, {args:?}: {}", ran.stderr);
    }
}

/// A server shows times and counts that no program of ours writes, and the doctor brings them
/// within their bounds.
#[test]
fn times_and_counts_beyond_all_bounds_end_no_answer() {
    let folder = memory_of_all_kinds();
    folder.ok(["pin", "9.md", "--db", "m.db"]);
    fs::rename(folder.path("m.db"), folder.path("sound.db")).unwrap();
    for (columns, check) in [
        ("snapshot SET created_at = NUMBER", "number_ranges"),
        ("change_count SET added = NUMBER, modified = NUMBER, removed = NUMBER", "number_ranges"),
        ("heat SET access_count = NUMBER, accessed_at = NUMBER", "number_ranges"),
        ("heat SET at = NUMBER, pinned = NUMBER, full_at = NUMBER", "number_ranges"),
        ("file SET gone = NUMBER", "number_ranges"),
        ("span SET start_byte = NUMBER, end_byte = NUMBER", "number_ranges"),
        ("reference SET weight = NUMBER", "number_ranges"),
        ("facet SET value = NUMBER WHERE typeof(value) = 'integer'", "facets"),
        ("running_total SET n_rows = NUMBER, tokens = NUMBER", "running_totals"),
    ] {
        for number in [LARGEST, i64::MIN] {
            let sql = format!("UPDATE {}", columns.replace("NUMBER", &number.to_string()));
            fs::copy(folder.path("sound.db"), folder.path("m.db")).unwrap();
            tamper(&folder, &sql);
            assert_every_read_answers(&folder, &sql, |it| it.get("error").is_none());
            let examined = folder.run(["doctor", "--db", "m.db"]);
            assert!(examined.stdout.contains(&format!("✗ {check} ")), "{sql}: {}", examined.stdout);
            folder.run(["doctor", "--fix", "--db", "m.db"]);
            folder.assert_healthy("m.db");
        }
    }
}

/// A damaged number of tokens is an error that names the doctor, or a sum that ends somewhere.
#[test]
fn tokens_beyond_all_bounds_are_no_internal_error() {
    let folder = memory_of_all_kinds();
    fs::rename(folder.path("m.db"), folder.path("sound.db")).unwrap();
    for tokens in [LARGEST, i64::MIN, u32::MAX.into(), -5] {
        for nodes in ["true", "key IN (SELECT min(key) FROM node GROUP BY node_type)"] {
            let sql = format!("UPDATE node SET token_count = {tokens} WHERE {nodes}");
            fs::copy(folder.path("sound.db"), folder.path("m.db")).unwrap();
            tamper(&folder, &sql);
            assert_every_read_answers(&folder, &sql, |reply| {
                let reply = reply.to_string();
                !reply.contains("internal error")
                    && (!reply.contains("cannot ") || reply.contains("remindb doctor"))
            });
            folder.ok(["doctor", "--fix", "--db", "m.db"]);
            folder.assert_healthy("m.db");
        }
    }
}

/// Asks every tool and resource that reads numbers, and checks what they answer.
#[track_caller]
fn assert_every_read_answers(folder: &Folder, damage: &str, is_fine: impl Fn(&Value) -> bool) {
    let connection = folder.database("m.db");
    let sql = "SELECT id FROM node WHERE parent IS NOT NULL ORDER BY key LIMIT 1";
    let id: String = connection.query_row(sql, [], |row| row.get(0)).unwrap();
    drop(connection);
    let mut client = Client::modern(folder, &["--db", "m.db", "--tools", "all,memory"]);
    let tools = [
        ("MemoryStats", json!({})),
        ("MemoryTree", json!({})),
        ("MemorySearch", json!({"query": "says", "detail": "full", "dates": true})),
        ("MemoryFetch", json!({"anchor": id})),
        ("MemoryFetchBatch", json!({"node_ids": [id], "budget": 5})),
        ("MemoryRelated", json!({"anchor": id})),
        ("MemoryHistory", json!({"anchor": id})),
        ("MemoryDelta", json!({})),
        ("MemoryRecall", json!({"query": "says"})),
        ("MemoryReview", json!({"task": "health"})),
        ("get_memory_stats", json!({})),
        ("query_memories", json!({})),
    ];
    for (name, arguments) in tools {
        let reply = client.ask("tools/call", json!({"name": name, "arguments": arguments}));
        assert!(is_fine(&reply), "{damage}: {name}: {reply}");
    }
    for uri in ["overview", "tree", "files", "snapshots", "timeline", "heat", "episodes"] {
        let reply = client.ask("resources/read", json!({"uri": format!("remindb://{uri}")}));
        assert!(is_fine(&reply), "{damage}: {uri}: {reply}");
    }
    client.end();
}

/// Returns a memory with rows in most tables.
fn memory_of_all_kinds() -> Folder {
    let folder = memory();
    folder.ok(["remember", "Redis listens on 6380.", "--type", "learning", "--db", "m.db"]);
    folder.ok(["view-query", "all", "type=learning", "--db", "m.db"]);
    let forgotten = "SELECT id FROM node WHERE content LIKE 'Note 5 says 5%'";
    let id: String = folder.database("m.db").query_row(forgotten, [], |row| row.get(0)).unwrap();
    folder.ok(["forget", &id, "--db", "m.db"]);
    folder
}

/// Returns the columns of texts by table, of those that hold any and are no index.
fn text_columns(folder: &Folder) -> BTreeMap<String, Vec<String>> {
    const COLUMNS: &str = "
        SELECT found.name, info.name
          FROM sqlite_schema AS found
          JOIN pragma_table_info (found.name) AS info
         WHERE found.type = 'table' AND found.rootpage <> 0 AND info.type = 'TEXT'
           AND found.name NOT GLOB 'node_fts*' AND found.name NOT GLOB 'sqlite_*'
         ORDER BY found.name, info.cid";
    let conn = folder.database("m.db");
    let mut columns = BTreeMap::<String, Vec<String>>::new();
    let mut query = conn.prepare(COLUMNS).unwrap();
    let mut rows = query.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let (table, column): (String, String) = (row.get(0).unwrap(), row.get(1).unwrap());
        let texts = format!("SELECT count({column}) FROM {table}");
        if 0 < conn.query_row(&texts, [], |row| row.get::<_, i64>(0)).unwrap() {
            columns.entry(table).or_default().push(column);
        }
    }
    columns
}

#[test]
fn bytes_that_are_no_text_are_mended_in_every_table_at_once() {
    let folder = memory_of_all_kinds();
    fs::copy(folder.path("m.db"), folder.path("sound.db")).unwrap();
    for (table, columns) in text_columns(&folder) {
        fs::copy(folder.path("sound.db"), folder.path("m.db")).unwrap();
        for column in &columns {
            // Two rows get the same bytes, so that unique values stay unique.
            let sql = format!(
                "UPDATE OR IGNORE {table} SET {column} = CAST(x'41ff42' AS TEXT)
                  WHERE {column} IN (
                        SELECT {column} FROM {table} WHERE {column} IS NOT NULL LIMIT 2)"
            );
            let conn = folder.database("m.db");
            conn.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON")
                .unwrap();
            conn.execute_batch(&sql).unwrap();
        }
        let found = folder.run(["doctor", "--db", "m.db"]);
        let named = found.stdout.lines().find(|it| it.contains("text_encoding")).unwrap();
        for column in columns.iter().take(5) {
            assert!(named.contains(&format!("`{table}.{column}`")), "{named}");
        }
        let fixed = folder.run(["doctor", "--fix", "--db", "m.db"]);
        assert_eq!(fixed.code, Some(0), "{table}: {}", fixed.transcript());
        folder.ok(["compile", "notes", "--db", "m.db"]);
        folder.ok(["write", "New words.", "--db", "m.db"]);
        folder.assert_healthy("m.db");
    }
}

#[test]
fn a_salvage_keeps_rows_whose_bytes_are_no_text_and_says_so() {
    let folder = memory();
    tamper(&folder, "UPDATE file SET path = CAST(x'41ff42' AS TEXT) WHERE id = 3");
    let ran = folder.run(["salvage", "m.db", "--out", "new.db"]);
    assert_eq!(ran.code, Some(0), "{}", ran.transcript());
    assert!(ran.stdout.contains("- file: bytes that are no text became `�`\n"), "{}", ran.stdout);
    let n_files = |db| -> i64 {
        folder.database(db).query_row("SELECT count(*) FROM file", [], |row| row.get(0)).unwrap()
    };
    assert_eq!(n_files("new.db"), n_files("m.db"));
    folder.assert_healthy("new.db");
}
