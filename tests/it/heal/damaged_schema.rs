//! Tests bytes of the list of tables that were altered by no program.

use std::fs;

use super::{PAGE_BYTES, memory, tamper};

/// Sets of one row of the list, by the table whose row it is.
const ALTERED: [(&str, &str); 10] = [
    ("node", "name = 'Node'"),
    ("node", "name = 'oode'"),
    ("node", "name = CAST(x'ee6f6465' AS TEXT)"),
    ("node", "tbl_name = 'Node'"),
    ("node", "sql = replace(sql, 'TABLE node', 'TABLE Node')"),
    ("node", "sql = replace(sql, 'TABLE node', 'TABLE oode')"),
    ("node", "sql = replace(sql, 'label ', 'lable ')"),
    ("node", "type = 'Table'"),
    ("diff", "name = 'Diff'"),
    ("facet", "name = 'Facet'"),
];

#[test]
fn a_table_whose_name_was_altered_keeps_its_rows_and_is_salvaged() {
    let sound = memory();
    sound.ok(["remember", "--type", "core", "Ana is on call.", "--db", "m.db"]);
    fs::rename(sound.path("m.db"), sound.path("sound.db")).unwrap();
    let folder = &sound;
    let rows = |db: &str, table: &str| -> i64 {
        let count = format!("SELECT count(*) FROM {table}");
        folder.database(db).query_row(&count, [], |row| row.get(0)).unwrap()
    };
    for (table, altered) in ALTERED {
        fs::copy(folder.path("sound.db"), folder.path("m.db")).unwrap();
        tamper(
            folder,
            &format!(
                "PRAGMA writable_schema = ON;
                 UPDATE sqlite_schema SET {altered} WHERE type = 'table' AND name = '{table}'"
            ),
        );
        let before = fs::read(folder.path("m.db")).unwrap();
        let fixed = folder.run(["doctor", "--fix", "--db", "m.db"]);
        if fixed.code != Some(0) {
            let advice = "remindb salvage";
            assert!(fixed.transcript().contains(advice), "{altered}: {}", fixed.transcript());
        }
        fs::write(folder.path("m.db"), before).unwrap();
        let salvaged = folder.ok(["salvage", "m.db", "--out", "new.db"]);
        let named = format!("- the list of tables: `{table}` was altered\n");
        assert!(salvaged.contains(&named), "{altered}: {salvaged}");
        assert!(!salvaged.contains("is gone"), "{altered}: {salvaged}");
        folder.assert_healthy("new.db");
        for table in ["node", "diff", "blob", "facet", "snapshot"] {
            assert_eq!(rows("new.db", table), rows("sound.db", table), "{altered}: {table}");
        }
        fs::remove_file(folder.path("new.db")).unwrap();
    }
}

/// The doctor shows an older schema as the present one, and reports on it whatever page is bad.
#[test]
fn an_older_memory_with_a_damaged_page_is_examined_and_healed() {
    const OLDER: &str = "
        DROP INDEX node_of_file;
        DROP INDEX snapshot_by_parent;
        DROP TRIGGER total_node_added;
        DROP TRIGGER total_node_removed;
        DROP TRIGGER total_node_changed;
        DROP TRIGGER total_reference_added;
        DROP TRIGGER total_reference_removed;
        DROP TRIGGER total_reference_changed;
        DROP VIEW running_total_made;
        DROP TABLE running_total;
        PRAGMA user_version = 21;";
    const PAGE: &str = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let folder = memory();
    tamper(&folder, OLDER);
    let looked = folder.run(["doctor", "--db", "m.db"]).stdout;
    let failed: Vec<&str> = looked.lines().filter(|it| it.starts_with('✗')).skip(1).collect();
    assert!(matches!(failed[..], [it] if it.starts_with("✗ schema_version ")), "{looked}");
    let sound = fs::read(folder.path("m.db")).unwrap();
    // The place of an index's first entry, or a whole page.
    for (damaged, bytes_of_page, is_healed) in
        [("reference_by_source", 8..10, true), ("blob", 0..PAGE_BYTES, false)]
    {
        fs::write(folder.path("m.db"), &sound).unwrap();
        let page: i64 =
            folder.database("m.db").query_row(PAGE, [damaged], |row| row.get(0)).unwrap();
        let mut bytes = sound.clone();
        bytes[(page as usize - 1) * PAGE_BYTES..][bytes_of_page].fill(0);
        fs::write(folder.path("m.db"), bytes).unwrap();
        let looked = folder.run(["doctor", "--db", "m.db"]);
        assert_eq!(looked.code, Some(1), "{damaged}: {}", looked.transcript());
        assert!(looked.stdout.contains("✗ integrity_check "), "{damaged}: {}", looked.stdout);
        if is_healed {
            folder.ok(["doctor", "--fix", "--db", "m.db"]);
            folder.assert_healthy("m.db");
        }
    }
}

#[test]
fn a_repair_drops_no_foreign_table_while_one_of_ours_is_missing() {
    let folder = memory();
    tamper(&folder, "PRAGMA legacy_alter_table = ON; ALTER TABLE diff RENAME TO notes");
    let before = fs::read(folder.path("m.db")).unwrap();
    let fixed = folder.run(["doctor", "--fix", "--db", "m.db"]);
    assert_eq!(fixed.code, Some(2), "{}", fixed.transcript());
    assert!(
        fixed.stderr.contains("foreign table `notes`, missing table `diff`, ")
            && fixed.stderr.contains(": a foreign table may be the missing one with its rows")
            && fixed.stderr.contains("nothing was changed; restore a backup, or read what can"),
        "{}",
        fixed.stderr
    );
    assert_eq!(fs::read(folder.path("m.db")).unwrap(), before);
}

/// The list of tables says of each object which table it belongs to. SQLite compares most of them.
#[test]
fn the_table_of_an_object_is_restored_or_the_memory_is_salvaged() {
    let folder = memory();
    fs::rename(folder.path("m.db"), folder.path("sound.db")).unwrap();
    for (object, table, is_seen_by_sqlite) in [
        ("sqlite_autoindex_file_1", "heat", false),
        ("diff_by_node", "Diff", false),
        ("node_fts_insert", "nodE", false),
        ("blob", "BLOB", false),
        ("diff_by_node", "heat", true),
        ("node_fts_insert", "heat", true),
        ("facet_made", "heat", true),
        ("node", "heat", true),
    ] {
        fs::copy(folder.path("sound.db"), folder.path("m.db")).unwrap();
        tamper(
            &folder,
            &format!(
                "PRAGMA writable_schema = ON;
                 UPDATE sqlite_schema SET tbl_name = '{table}' WHERE name = '{object}'"
            ),
        );
        let found = folder.run(["doctor", "--db", "m.db"]).transcript();
        assert!(found.contains(object), "{object}: {found}");
        if is_seen_by_sqlite {
            assert!(found.contains("remindb salvage"), "{object}: {found}");
        } else {
            folder.ok(["doctor", "--fix", "--db", "m.db"]);
            folder.assert_healthy("m.db");
        }
        folder.ok(["salvage", "m.db", "--out", "new.db"]);
        folder.assert_healthy("new.db");
        let sound = folder.facts("sound.db");
        for (db, fact) in [("m.db", "head"), ("new.db", "head"), ("new.db", "nodes")] {
            if db == "new.db" || !is_seen_by_sqlite {
                assert_eq!(folder.facts(db)[fact], sound[fact], "{object}: {db}");
            }
        }
        fs::remove_file(folder.path("new.db")).unwrap();
    }
}
