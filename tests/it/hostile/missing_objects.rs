//! Tests memories that lack an object of their schema: what it would do is not done.
//!
//! Every command refuses them and names what is missing. The doctor makes again what holds no rows
//! of its own, and rebuilds the rest from other rows.

use std::fs;

use serde_json::json;

use super::super::support::{Client, Folder};

/// Tables whose rows follow from others, or mean nothing once their process is gone.
const REBUILT: [&str; 15] = [
    "change_count",
    "facet",
    "facet_program",
    "file_name",
    "lease",
    "node_fts",
    "node_fts_config",
    "node_fts_data",
    "node_fts_docsize",
    "node_fts_idx",
    "pulse",
    "running_total",
    "typed_edge",
    "vector",
    "wanted",
];

/// Returns a memory that has rows in the tables that are rebuilt, as one file.
fn memory() -> Folder {
    let folder = Folder::new().file(
        "notes/a.md",
        "# Billing\n\nKnows the billing service, see [[Ledger]] and [[Nowhere]].\n",
    );
    folder.write("notes/b.md", "# Ledger\n\nAlias of the books.\n");
    folder.ok(["compile", "notes", "--db", "first.db"]);
    folder.write("notes/b.md", "# Ledger\n\nAlias of all books.\n");
    folder.ok(["compile", "notes", "--db", "first.db"]);
    folder.ok(["remember", "--type", "core", "Ana is on call.", "--db", "first.db"]);
    folder.ok(["backup", "sound.db", "--db", "first.db"]);
    folder
}

/// Returns kind and name of every object of the schema that can be dropped.
fn objects(folder: &Folder) -> Vec<(String, String)> {
    const OBJECTS: &str = "
        SELECT type, name
          FROM sqlite_schema
         WHERE name NOT LIKE 'sqlite_%'
         ORDER BY type, name";
    let conn = folder.database("sound.db");
    let mut query = conn.prepare(OBJECTS).unwrap();
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Makes `m.db` a copy of the sound memory without the object.
fn drop_object(folder: &Folder, kind: &str, name: &str) {
    fs::copy(folder.path("sound.db"), folder.path("m.db")).unwrap();
    let conn = folder.database("m.db");
    let statement = format!("PRAGMA foreign_keys = OFF; DROP {kind} {name}");
    conn.execute_batch(&statement).unwrap();
}

/// Returns the rows of every table that is rebuilt from others. Those of the index depend on how it
/// was built, and changes without a count are counted when somebody asks.
fn rebuilt_rows(folder: &Folder, db: &str) -> Vec<String> {
    let conn = folder.database(db);
    let tables = ["facet", "file_name", "running_total", "typed_edge", "wanted"];
    let rows = |table: &str| {
        let mut query = conn.prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2")).unwrap();
        let n_columns = query.column_count();
        let read = |row: &rusqlite::Row<'_>| {
            let value = |nth| Ok(format!("{:?}", row.get_ref(nth)?));
            (0..n_columns).map(value).collect::<rusqlite::Result<Vec<String>>>()
        };
        let rows: Vec<_> = query.query_map([], read).unwrap().map(Result::unwrap).collect();
        format!("{table}: {rows:?}")
    };
    tables.map(rows).into()
}

/// The advice where the doctor makes the object again.
const REPAIR: &str = "`remindb doctor --fix --db m.db` restores it, after a backup";
/// The advice where the rows of a table are lost.
const SALVAGE: &str = "; that cannot be put right in place; restore a backup, or read what can be \
                       read: remindb salvage m.db --out NEW.db";

/// Every command that reads or writes names the object with the advice, and leaves the file as it
/// is.
#[track_caller]
fn assert_refused(folder: &Folder, named: &str, advice: &str) {
    let before = fs::read(folder.path("m.db")).unwrap();
    let commands: [&[&str]; 2] = [
        &["search", "billing", "--db", "m.db"],
        &["remember", "--type", "core", "Ben is on call.", "--db", "m.db"],
    ];
    for args in commands {
        let ran = folder.run(args);
        assert_eq!((ran.stdout.as_str(), ran.code), ("", Some(2)), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(named), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(advice), "{args:?}: {}", ran.stderr);
    }
    assert!(fs::read(folder.path("m.db")).unwrap() == before, "{named}: the file was changed");
}

/// The memory is what it was: searches find, writes are found.
#[track_caller]
fn assert_works(folder: &Folder, named: &str) {
    folder.assert_healthy("m.db");
    assert_eq!(rebuilt_rows(folder, "m.db"), rebuilt_rows(folder, "sound.db"), "{named}");
    let mut client = Client::modern(folder, &["--db", "m.db", "--tools", "all,memory"]);
    let hits = client.text("MemorySearch", json!({"query": "billing service"}));
    assert!(hits.contains("Knows the billing service"), "{named}: {hits}");
    let said = json!({"type": "core", "content": "Ben fixes the boiler."});
    client.text("store_memory", said);
    let hits = client.text("MemorySearch", json!({"query": "boiler"}));
    assert!(hits.contains("Ben fixes the boiler."), "{named}: {hits}");
    client.end();
    folder.assert_healthy("m.db");
}

#[test]
fn a_missing_index_trigger_or_view_is_named_and_made_again() {
    let folder = memory();
    for (kind, name) in objects(&folder).iter().filter(|it| it.0 != "table") {
        drop_object(&folder, kind, name);
        let named = format!("missing {kind} `{name}`");
        assert_refused(&folder, &named, REPAIR);
        let found = folder.run(["doctor", "--db", "m.db"]);
        assert_eq!(found.code, Some(1), "{named}: {}", found.transcript());
        assert!(found.stdout.contains(&named), "{}", found.stdout);
        folder.ok(["doctor", "--fix", "--db", "m.db"]);
        assert_works(&folder, &named);
    }
}

#[test]
fn a_missing_table_is_named_and_rebuilt_where_its_rows_follow_from_others() {
    let folder = memory();
    let tables = objects(&folder).into_iter().filter(|it| it.0 == "table").map(|it| it.1);
    for table in tables {
        drop_object(&folder, "table", &table);
        let named = format!("missing table `{table}`");
        let is_rebuilt = REBUILT.contains(&table.as_str());
        assert_refused(&folder, &named, if is_rebuilt { REPAIR } else { SALVAGE });
        let found = folder.run(["doctor", "--db", "m.db"]);
        assert_eq!(found.code, Some(1), "{named}: {}", found.transcript());
        assert!(found.stdout.contains(&named), "{named}: {}", found.stdout);
        let before = fs::read(folder.path("m.db")).unwrap();
        let fixed = folder.run(["doctor", "--fix", "--db", "m.db"]);
        if is_rebuilt {
            assert_eq!(fixed.code, Some(0), "{named}: {}", fixed.transcript());
            assert_works(&folder, &named);
        } else {
            assert_eq!(fixed.code, Some(2), "{named}: {}", fixed.transcript());
            let advice = "remindb salvage m.db --out NEW.db";
            assert!(fixed.stderr.contains(advice), "{named}: {}", fixed.stderr);
            assert!(fs::read(folder.path("m.db")).unwrap() == before, "{named}: it was changed");
            folder.ok(["salvage", "m.db", "--out", "new.db"]);
            folder.assert_healthy("new.db");
            fs::remove_file(folder.path("new.db")).unwrap();
            let restored = folder.run(["restore", "sound.db", "--db", "m.db"]);
            assert_eq!(restored.code, Some(0), "{named}: {}", restored.transcript());
            let moved = ") and was moved aside; restart the servers that have it open";
            assert!(restored.stderr.contains(&format!("damaged ({named}")), "{}", restored.stderr);
            assert!(restored.stderr.contains(moved), "{named}: {}", restored.stderr);
            assert_works(&folder, &named);
        }
    }
}

#[test]
fn a_replica_whose_tables_are_lost_is_one_after_the_restore() {
    const JOIN: &str = "
        INSERT INTO replica (one, url, epoch, seq, hash) VALUES (1, 'postgres://h/d', 1, 7, x'01');
        DROP TABLE blob;";
    let folder = memory();
    fs::copy(folder.path("sound.db"), folder.path("m.db")).unwrap();
    folder.database("m.db").execute_batch(JOIN).unwrap();
    folder.ok(["restore", "sound.db", "--db", "m.db"]);
    const PLACE: &str = "SELECT url || ' ' || seq || ' ' || unpublished FROM replica";
    let place: String = folder.database("m.db").query_row(PLACE, [], |row| row.get(0)).unwrap();
    assert_eq!(place, "postgres://h/d 7 restore");
}

#[test]
fn a_repair_of_the_schema_says_of_no_other_check_that_it_failed() {
    let folder = memory();
    for (table, checks) in [
        ("lease", &["schema_objects"][..]),
        ("wanted", &["references", "schema_objects"]),
        ("facet", &["facets", "schema_objects"]),
    ] {
        drop_object(&folder, "table", table);
        let report = folder.ok(["doctor", "--fix", "--db", "m.db"]);
        let fixed = report.lines().filter(|it| it.contains("(fixed"));
        let mut names: Vec<&str> = fixed.filter_map(|it| it.split_whitespace().nth(1)).collect();
        names.sort_unstable();
        assert_eq!(names, checks, "{table}: {report}");
    }
}

/// Nothing is dropped that could be made again, where the repair is refused for another table.
#[test]
fn a_repair_that_is_refused_for_one_table_leaves_the_others() {
    for lost in ["DROP TABLE receipt", "ALTER TABLE receipt ADD COLUMN z INTEGER"] {
        let folder = memory();
        fs::copy(folder.path("sound.db"), folder.path("m.db")).unwrap();
        let conn = folder.database("m.db");
        const ALTER: &str = "
            ALTER TABLE vector ADD COLUMN x INTEGER;
            ALTER TABLE facet ADD COLUMN y INTEGER;
            CREATE TRIGGER spy AFTER INSERT ON node BEGIN DELETE FROM node; END;";
        conn.execute_batch(&format!("{ALTER} {lost}")).unwrap();
        drop(conn);
        let (before, names) = (fs::read(folder.path("m.db")).unwrap(), folder.names());
        let refused = folder.run(["doctor", "--fix", "--db", "m.db"]);
        assert_eq!(refused.code, Some(2), "{lost}: {}", refused.transcript());
        for said in [
            "altered table `facet`",
            "altered table `vector`",
            "table `receipt`",
            "that cannot be put right in place, so nothing was changed; restore a backup",
        ] {
            assert!(refused.stderr.contains(said), "{lost}: {}", refused.stderr);
        }
        assert!(fs::read(folder.path("m.db")).unwrap() == before, "{lost}: it was changed");
        assert_eq!(folder.names(), names, "{lost}");
    }
}

/// Without its trigger, the vector of an old text stays when the text changes.
#[test]
fn vectors_that_may_be_of_old_texts_go_and_the_repair_says_who_makes_new_ones() {
    let folder = memory();
    let fixed = |change: &str| {
        fs::copy(folder.path("sound.db"), folder.path("m.db")).unwrap();
        let conn = folder.database("m.db");
        const VECTORS: &str = "INSERT INTO vector SELECT key, 1, x'01' FROM node;";
        conn.execute_batch(&format!("{VECTORS} {change}")).unwrap();
        drop(conn);
        let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
        folder.assert_healthy("m.db");
        let count = |table: &str| -> i64 {
            let count = format!("SELECT count(*) FROM {table}");
            folder.database("m.db").query_row(&count, [], |row| row.get(0)).unwrap()
        };
        let is_noted = fixed.contains(
            "is ours  (fixed: vectors that texts had are gone; a server with `embeddings` makes \
             new ones when it starts, or after the next change)",
        );
        assert_eq!(is_noted, fixed.contains("vectors"), "{change}: {fixed}");
        (is_noted, count("vector"), count("node"))
    };
    for change in [
        "DROP TRIGGER vector_of_old_text",
        "DROP TRIGGER vector_of_no_text",
        "DROP TRIGGER vector_of_old_text;
         CREATE TRIGGER vector_of_old_text AFTER UPDATE ON node WHEN false BEGIN SELECT 1; END",
        "DROP TABLE vector",
        "ALTER TABLE vector ADD COLUMN x INTEGER",
    ] {
        let (is_noted, n_vectors, _) = fixed(change);
        assert!(is_noted && n_vectors == 0, "{change}: {n_vectors}");
    }
    for change in ["DROP TRIGGER facet_make", "DELETE FROM vector; DROP TRIGGER vector_of_old_text"]
    {
        let (is_noted, n_vectors, n_nodes) = fixed(change);
        let is_kept = n_vectors == if change.starts_with("DELETE") { 0 } else { n_nodes };
        assert!(!is_noted && is_kept, "{change}: {n_vectors}");
    }
}

#[test]
fn a_text_that_the_index_lacks_without_its_triggers_is_found_after_the_repair() {
    let folder = memory();
    fs::copy(folder.path("sound.db"), folder.path("m.db")).unwrap();
    let conn = folder.database("m.db");
    let triggers = objects(&folder).into_iter().filter(|it| it.0 == "trigger");
    let drops: Vec<String> = triggers.map(|it| format!("DROP TRIGGER {};", it.1)).collect();
    conn.execute_batch(&drops.concat()).unwrap();
    const FORGET: &str = "
        INSERT INTO node_fts (node_fts, rowid, label, content, trail, grams)
        SELECT 'delete', key, label, content, trail, grams FROM node WHERE content LIKE 'Ana %'";
    assert_eq!(conn.execute(FORGET, []).unwrap(), 1);
    drop(conn);
    let named = "missing trigger `facet_make`, missing trigger `facet_node_added`";
    assert_refused(&folder, named, REPAIR);
    folder.ok(["doctor", "--fix", "--db", "m.db"]);
    folder.assert_healthy("m.db");
    let hits = folder.ok(["search", "call", "--db", "m.db"]);
    assert!(hits.contains("Ana is on call."), "{hits}");
}

#[test]
fn a_server_whose_trigger_is_dropped_acknowledges_nothing() {
    let folder = memory();
    fs::copy(folder.path("sound.db"), folder.path("m.db")).unwrap();
    let mut client = Client::modern(&folder, &["--db", "m.db"]);
    client.text("MemoryWrite", json!({"payload": "Knows the invoices."}));
    folder.database("m.db").execute_batch("DROP TRIGGER node_fts_insert").unwrap();
    for (tool, arguments) in [
        ("MemoryWrite", json!({"payload": "Knows the receipts."})),
        ("MemorySearch", json!({"query": "invoices"})),
    ] {
        let reply = client.call(tool, arguments);
        let why = "(missing trigger `node_fts_insert`)";
        assert!(reply.is_error && reply.text.contains(why), "{tool}: {}", reply.text);
    }
    client.end();
}
