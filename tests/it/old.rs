//! Tests the import of a database of remindb 0.3.
//!
//! Everything with an equivalent arrives, the rest is counted, and the old file stays as it is.

use std::fs;

use expect_test::expect;
use rusqlite::{Connection, params};
use serde_json::json;

use super::support::{Client, Folder, Ran};

/// The tables of remindb 0.3.5.
const SCHEMA: &str = "
    PRAGMA foreign_keys = OFF;
    PRAGMA journal_mode = WAL;
    CREATE TABLE schema_migrations (version TEXT PRIMARY KEY, applied_at INTEGER);
    CREATE TABLE nodes (
        id TEXT PRIMARY KEY, parent_id TEXT REFERENCES nodes (id) ON DELETE CASCADE,
        source_file TEXT NOT NULL, node_type TEXT NOT NULL, depth INTEGER NOT NULL,
        label TEXT NOT NULL, content TEXT NOT NULL, format TEXT NOT NULL DEFAULT 'plain',
        token_count INTEGER NOT NULL, content_hash TEXT NOT NULL,
        temperature REAL NOT NULL DEFAULT 0.5, access_count INTEGER NOT NULL DEFAULT 0,
        last_accessed_at INTEGER, created_at INTEGER NOT NULL DEFAULT 0,
        updated_at INTEGER NOT NULL DEFAULT 0, pinned INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE snapshots (
        id INTEGER PRIMARY KEY AUTOINCREMENT, cursor_hash TEXT NOT NULL UNIQUE,
        parent_id INTEGER REFERENCES snapshots (id), message TEXT, created_at INTEGER NOT NULL,
        compile_root TEXT NOT NULL DEFAULT '');
    CREATE TABLE diffs (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        snapshot_id INTEGER NOT NULL REFERENCES snapshots (id), node_id TEXT NOT NULL,
        op TEXT NOT NULL, old_hash TEXT, new_hash TEXT, old_content TEXT, new_content TEXT,
        old_parent_id TEXT, old_source_file TEXT, old_node_type TEXT, old_depth INTEGER,
        old_label TEXT, old_format TEXT, old_token_count INTEGER);
    CREATE TABLE cursors (id TEXT PRIMARY KEY, snapshot_id INTEGER, updated_at INTEGER);
    CREATE TABLE relations (
        id INTEGER PRIMARY KEY, source_node_id TEXT NOT NULL, target_node_id TEXT NOT NULL,
        weight REAL NOT NULL DEFAULT 1.0, origin TEXT NOT NULL, created_at INTEGER,
        UNIQUE (source_node_id, target_node_id, origin));
    CREATE TABLE pending_relations (
        id INTEGER PRIMARY KEY, source_node_id TEXT NOT NULL, target_label TEXT,
        target_source TEXT, target_id_hint TEXT, weight REAL NOT NULL DEFAULT 1.0,
        origin TEXT NOT NULL, created_at INTEGER);
    CREATE VIRTUAL TABLE nodes_fts USING fts5 (
        label, content, node_type, content = 'nodes', tokenize = 'porter unicode61');
    CREATE TRIGGER nodes_ai AFTER INSERT ON nodes BEGIN
        INSERT INTO nodes_fts (rowid, label, content, node_type)
        VALUES (new.rowid, new.label, new.content, new.node_type);
    END;";

/// Id, parent, file, type, depth, label, content, temperature: the nodes that 0.3.5 makes of
/// [`notes`].
type OldNode =
    (&'static str, &'static str, &'static str, &'static str, i64, &'static str, &'static str, f64);

const NODES: &[OldNode] = &[
    ("HaG76r01Cal", "", "README.md", "preamble", 1, "Preamble: title", "title: Home", 0.9),
    ("3pIWNpLTzhR", "", "README.md", "heading", 1, "Home", "Home", 0.9),
    (
        "JQApbPK9qLp",
        "3pIWNpLTzhR",
        "README.md",
        "text",
        2,
        "See [[Setup]] and [[Later]].",
        "See [[Setup]] and [[Later]].",
        0.9,
    ),
    ("HWXuLKz4Tp8", "3pIWNpLTzhR", "README.md", "list", 2, "2-item list: one", "- one\n- two", 0.9),
    ("HIeMDW5Y3WO", "", "docs/guide.md", "heading", 1, "Guide", "Guide", 0.7),
    ("0nyx1JGLzdx", "HIeMDW5Y3WO", "docs/guide.md", "heading", 2, "Setup", "Setup", 0.7),
    (
        "IeDdYRahrY5",
        "0nyx1JGLzdx",
        "docs/guide.md",
        "text",
        3,
        "Run it",
        "Run it. An agent says: twice.",
        0.25,
    ),
    ("FNgbBbSZrAx", "0nyx1JGLzdx", "docs/guide.md", "code", 3, "Code (sh): make", "sh\nmake", 0.7),
    ("9c76X9FLT5Q", "", "mcp:write", "text", 1, "hello", "hello", 0.5),
    (
        "not an id",
        "",
        "mcp:write",
        "zebra",
        1,
        "odd",
        "password = \"correct-horse-9Batteries\"",
        7.5,
    ),
];

fn notes() -> Folder {
    Folder::new()
        .file(
            "notes/README.md",
            "---\ntitle: Home\n---\n# Home\n\nSee [[Setup; w=2]] and [[Later]].\n\n- one\n- two\n",
        )
        .file(
            "notes/docs/guide.md",
            "# Guide\n\n## Setup\n\nRun it. Then stop.\n\n```sh\nmake\n```\n",
        )
}

/// Returns the old database, still open: its latest writes are only in its log.
fn old(folder: &Folder) -> Connection {
    let conn = Connection::open(folder.path("old.db")).unwrap();
    conn.execute_batch(SCHEMA).unwrap();
    for (id, parent, file, node_type, depth, label, content, temperature) in NODES {
        let parent = Some(parent).filter(|it| !it.is_empty());
        conn.execute(
            "INSERT INTO nodes (id, parent_id, source_file, node_type, depth, label, content,
                                token_count, content_hash, temperature, access_count,
                                last_accessed_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, 'h', ?8, 3, 1700000000)",
            params![id, parent, file, node_type, depth, label, content, temperature],
        )
        .unwrap();
    }
    let root = folder.path("notes").display().to_string();
    conn.execute(
        "INSERT INTO snapshots VALUES (1, '15deece8fa397b32', NULL, 'first', 1700000000, ?1)",
        [&root],
    )
    .unwrap();
    conn.execute_batch(
        "INSERT INTO snapshots VALUES (2, 'ddb7eed296ff2636', 1, 'agent', 1700000100, '');
         INSERT INTO snapshots VALUES (3, 'aaaaaaaaaaaaaaaa', 2, 'forget', 1700000200, '');
         INSERT INTO diffs (snapshot_id, node_id, op, old_hash, new_hash, old_content, new_content)
         SELECT 1, id, 'add', '', content_hash, '', content FROM nodes WHERE source_file <> 'mcp:write';
         UPDATE diffs SET new_content = 'Run it. Then stop.' WHERE node_id = 'IeDdYRahrY5';
         INSERT INTO diffs (snapshot_id, node_id, op, old_hash, new_hash, old_content, new_content,
                            old_parent_id, old_source_file, old_node_type, old_depth, old_label,
                            old_format, old_token_count)
         VALUES (2, 'IeDdYRahrY5', 'mod', 'x', 'y', 'Run it. Then stop.',
                 'Run it. An agent says: twice.', '0nyx1JGLzdx', 'docs/guide.md', 'text', 3,
                 'Run it.', 'plain', 5);
         INSERT INTO diffs (snapshot_id, node_id, op, old_hash, new_hash, old_content, new_content)
         VALUES (3, 'KULV85J9hZ0', 'rem', 'x', '', 'token ghp_16C7e42F292c6912E7710c838347Ae178B4a', ''),
                (9, 'KULV85J9hZ0', 'rem', 'x', '', 'of a snapshot that is gone', '');
         INSERT INTO cursors VALUES ('HEAD', 3, 1700000200);
         UPDATE nodes SET pinned = 1 WHERE id = 'HWXuLKz4Tp8';
         UPDATE nodes SET created_at = 1700000000;
         INSERT INTO relations VALUES (1, 'JQApbPK9qLp', '0nyx1JGLzdx', 2.0, 'parsed', 1700000000),
                                      (2, '9c76X9FLT5Q', 'HIeMDW5Y3WO', 0.5, 'manual', 0),
                                      (3, 'HWXuLKz4Tp8', 'HIeMDW5Y3WO', 1.0, 'parsed', 0);
         INSERT INTO pending_relations VALUES (1, 'JQApbPK9qLp', 'Later', NULL, NULL, 3.0, 'parsed', 0),
                                              (2, '9c76X9FLT5Q', 'Nowhere', NULL, NULL, 1.0, 'manual', 1700000000);",
    )
    .unwrap();
    conn
}

/// Returns a query's rows, a line each.
fn rows(folder: &Folder, sql: &str) -> String {
    let conn = folder.database("m.db");
    let mut query = conn.prepare(sql).unwrap();
    let lines = query.query_map([], |row| row.get::<_, String>(0)).unwrap();
    lines.map(|it| it.unwrap() + "\n").collect()
}

/// Returns the output of a run, without the fingerprint.
fn transcript(ran: &Ran) -> String {
    let text = ran.transcript();
    let (head, tail) = text.split_once("state ").unwrap();
    format!("{head}state STATE{}", &tail[16..])
}

#[test]
fn an_old_memory_is_imported_and_leftovers_are_reported() {
    let folder = notes();
    let conn = old(&folder);
    let bytes = |name: &str| fs::read(folder.path(name)).unwrap();
    let before = (folder.names(), bytes("old.db"), bytes("old.db-wal"));
    let ran = folder.run(["import", "--from", "old.db", "--db", "m.db"]);
    expect![[r#"
        imported: 10 nodes, 3 snapshots, 10 changes, 4 links, state STATE, to m.db
        secrets replaced by markers: 2
        what was not mapped exactly:
        - 2 changes did not say where a node stood among its siblings; it is last
        - 1 changes from before the old program noted what a node was
        - 1 changes of a snapshot that is missing were left out
        - 1 ids that are not 11 letters and digits were replaced
        - 2 links no longer say when they were made
        - 1 links that no text has any more were left out
        - 10 nodes no longer say when they were made; the history says when they changed
        - 1 nodes of a type that is not known here are text now
        - 1 nodes whose text an agent changed keep it until their file changes
        - 2 snapshots cannot be restored: 0.3 did not note what their nodes were
        - 1 temperatures outside of 0 to 1 were brought back into it
        = 0
    "#]]
    .assert_eq(&transcript(&ran));
    fs::rename(folder.path("m.db"), folder.path("notes/m")).unwrap();
    let after = (folder.names(), bytes("old.db"), bytes("old.db-wal"));
    fs::rename(folder.path("notes/m"), folder.path("m.db")).unwrap();
    assert!(before == after, "the old database was changed: {:?} {:?}", before.0, after.0);
    drop(conn);
    folder.assert_healthy("m.db");
    let nodes = "
        SELECT node.id || ' ' || ifnull(file.path, '-') || ' ' || node_type || ' '
               || ifnull(level, '') || ifnull(lang, '') || ' ' || temperature || ' ' || pinned
               || ' ' || access_count || ' ' || (source_hash IS node.content_hash) || ' ' || label
          FROM node
          JOIN heat ON heat.node = node.key
          LEFT JOIN file ON file.id = node.file
         ORDER BY node.key";
    expect![[r#"
        HaG76r01Cal README.md preamble  0.9 0 3 1 Preamble: title
        3pIWNpLTzhR README.md heading 1 0.9 0 3 1 Home
        JQApbPK9qLp README.md text  0.9 0 3 1 See [[Setup]] and [[Later]].
        HWXuLKz4Tp8 README.md list  0.9 1 3 1 2-item list: one
        HIeMDW5Y3WO docs/guide.md heading 1 0.7 0 3 1 Guide
        0nyx1JGLzdx docs/guide.md heading 2 0.7 0 3 1 Setup
        IeDdYRahrY5 docs/guide.md text  0.25 0 3 0 Run it
        FNgbBbSZrAx docs/guide.md code sh 0.7 0 3 1 Code (sh): make
        9c76X9FLT5Q - text  0.5 0 3 0 hello
        KYlXlSKWY0B - text  1.0 0 3 0 odd
    "#]]
    .assert_eq(&rows(&folder, nodes));
    let links = "
        SELECT node.id || ' ' || origin || ' ' || reference.label || ' ' || reference.weight || ' '
               || ifnull(other.id, 'pending')
          FROM reference
          JOIN node ON node.key = reference.source
          LEFT JOIN node AS other ON other.key = reference.target
         ORDER BY reference.id";
    expect![[r#"
        JQApbPK9qLp parsed Later 3.0 pending
        JQApbPK9qLp parsed Setup 2.0 0nyx1JGLzdx
        9c76X9FLT5Q manual  0.5 HIeMDW5Y3WO
        9c76X9FLT5Q manual Nowhere 1.0 pending
    "#]]
    .assert_eq(&rows(&folder, links));
    let history = "
        SELECT snapshot.id || ' ' || message || ' ' || created_at || ' ' || ifnull(op, '') || ' '
               || ifnull(node_id, '') || ' ' || ifnull(old_path, '') || ' ' || ifnull(content, '')
          FROM snapshot
          LEFT JOIN diff ON diff.snapshot = snapshot.id AND diff.op <> 'add'
          LEFT JOIN blob ON blob.hash = diff.old_hash
         WHERE snapshot.id < 4
         ORDER BY snapshot.id";
    expect![[r#"
        1 first 1700000000000    
        2 agent 1700000100000 mod IeDdYRahrY5 docs/guide.md Run it. Then stop.
        3 forget 1700000200000 rem KULV85J9hZ0  token «redacted:github_pat»
    "#]]
    .assert_eq(&rows(&folder, history));
}

#[test]
fn the_next_compile_aligns_with_what_moved_in() {
    let folder = notes();
    drop(old(&folder));
    folder.ok(["import", "--from", "old.db", "--db", "m.db"]);
    folder.check_session(expect![[r#"
        $ compile notes --db m.db
        compiled: 0 added, 1 modified, 0 removed (1 ops)
        = 0
        $ compile notes --db m.db
        compiled: 0 added, 0 modified, 0 removed (0 ops)
        = 0
    "#]]);
    folder.assert_healthy("m.db");
    let nodes = "
        SELECT node.id || ' ' || temperature || ' ' || pinned || ' ' || content
          FROM node JOIN heat ON heat.node = node.key ORDER BY node.key";
    expect![[r#"
        HaG76r01Cal 0.9 0 title: Home
        3pIWNpLTzhR 0.9 0 Home
        JQApbPK9qLp 0.9 0 See [[Setup; w=2]] and [[Later]].
        HWXuLKz4Tp8 0.9 1 - one
        - two
        HIeMDW5Y3WO 0.7 0 Guide
        0nyx1JGLzdx 0.7 0 Setup
        IeDdYRahrY5 0.25 0 Run it. An agent says: twice.
        FNgbBbSZrAx 0.7 0 make
        9c76X9FLT5Q 0.5 0 hello
        KYlXlSKWY0B 1.0 0 password = "«redacted:env_secret_assignment»"
    "#]]
    .assert_eq(&rows(&folder, nodes));
    // The block changes: now the file wins.
    folder.write(
        "notes/docs/guide.md",
        "# Guide\n\n## Setup\n\nRun it. Then rest.\n\n```sh\nmake\n```\n",
    );
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let text = rows(&folder, "SELECT content FROM node WHERE content LIKE 'Run it%'");
    assert_eq!(text, "Run it. Then rest.\n");
}

#[test]
fn a_foreign_database_is_refused_and_makes_nothing() {
    let folder = Folder::new().file("tax.txt", "these are my tax returns").file("a.md", "# A\n");
    folder.ok(["compile", "a.md", "--db", "new.db"]);
    drop(Connection::open(folder.path("other.db")).unwrap().execute_batch("CREATE TABLE x (y)"));
    let before = folder.names();
    for old in ["tax.txt", "new.db", "other.db", "none.db"] {
        let ran = folder.run(["import", "--from", old, "--db", "m.db"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{old}");
        assert!(ran.stderr.contains(old), "{}", ran.stderr);
    }
    assert_eq!(folder.names(), before);
}

/// Adds changes as later versions of 0.3 noted them: with what a node was.
fn add_changes(conn: &Connection) {
    conn.execute_batch(
        "INSERT INTO snapshots VALUES (4, 'bbbbbbbbbbbbbbbb', 3, 'more', 1700000300, '');
         INSERT INTO snapshots VALUES (5, 'cccccccccccccccc', 4, 'less', 1700000400, '');
         INSERT INTO snapshots VALUES (6, 'dddddddddddddddd', 5, 'other', 1700000500, '');
         INSERT INTO diffs (snapshot_id, node_id, op, new_hash, new_content)
         VALUES (4, '2VgCsaabXuA', 'add', 'x', 'A way back.'),
                (4, 'CcmAyyl2G1t', 'add', 'x', 'And another.');
         INSERT INTO diffs (snapshot_id, node_id, op, old_hash, new_hash, old_content, new_content,
                            old_parent_id, old_source_file, old_node_type, old_depth, old_label,
                            old_format, old_token_count)
         VALUES (5, '2VgCsaabXuA', 'rem', 'x', '', 'A way back.', '', '0nyx1JGLzdx',
                 'docs/guide.md', 'text', 3, 'A way back.', 'plain', 4),
                (5, 'CcmAyyl2G1t', 'rem', 'x', '', 'And another.', '', '0nyx1JGLzdx',
                 'docs/guide.md', 'text', 3, 'And another.', 'plain', 4),
                (6, 'FNgbBbSZrAx', 'mod', 'x', 'y', 'sh' || char(10) || 'cmake',
                 'sh' || char(10) || 'make', '0nyx1JGLzdx', 'docs/guide.md', 'code', 3,
                 'Code (sh): cmake', 'plain', 3);
         UPDATE cursors SET snapshot_id = 6;",
    )
    .unwrap();
}

#[test]
fn an_imported_history_can_be_read_compared_and_restored() {
    let folder = notes();
    let conn = old(&folder);
    add_changes(&conn);
    drop(conn);
    folder.ok(["import", "--from", "old.db", "--db", "m.db"]);
    folder.assert_healthy("m.db");
    let ids = rows(&folder, "SELECT id FROM node UNION SELECT node_id FROM diff ORDER BY 1");
    let mut client = Client::modern(&folder, &["--db", "m.db"]);
    for node_id in ids.lines() {
        client.text("MemoryHistory", json!({"anchor": node_id}));
    }
    for from in 0..=7 {
        client.text("MemoryDelta", json!({"since_snapshot": from}));
        for to in from.max(1)..=7 {
            let pair = json!({"from_snapshot_id": from, "to_snapshot_id": to});
            client.text("MemoryDiff", pair);
        }
    }
    let tree = |client: &mut Client| {
        let tree = client.text("MemoryTree", json!({"root": "0nyx1JGLzdx"}));
        let label = |it: &str| it.trim().split(" (").next().unwrap().to_owned();
        tree.lines().map(label).collect::<Vec<_>>()
    };
    // Nothing says what the node was that snapshot 3 removed.
    for target in [1, 2] {
        let reply = client.call("MemoryRollback", json!({"snapshot_id": target}));
        assert!(reply.is_error, "{target}");
        let why = format!("snapshot {target} cannot be restored: it is of remindb 0.3");
        assert!(reply.text.contains(&why), "{}", reply.text);
    }
    client.text("MemoryRollback", json!({"snapshot_id": 4}));
    assert_eq!(
        tree(&mut client),
        [
            "[heading] Setup",
            "[text] Run it",
            "[code] Code",
            "[text] And another.",
            "[text] A way back."
        ]
    );
    for target in [3, 5, 6, 7] {
        client.text("MemoryRollback", json!({"snapshot_id": target}));
    }
    assert_eq!(tree(&mut client).len(), 3);
    client.end();
    folder.ok(["redact", "--db", "m.db"]);
    folder.assert_healthy("m.db");
}

/// Nodes of no file had several names of files that are none; here they are one group.
#[test]
fn nodes_of_several_sources_that_are_no_files_have_one_order() {
    let folder = notes();
    let conn = old(&folder);
    add_changes(&conn);
    conn.execute_batch(
        "INSERT INTO nodes (id, source_file, node_type, depth, label, content, token_count,
                            content_hash, temperature)
         VALUES ('4e2LtvwBzxA', '', 'text', 1, 'One.', 'One.', 1, 'h', .5),
                ('5e2LtvwBzxA', 'mcp:note', 'text', 1, 'Two.', 'Two.', 1, 'h', .5),
                ('6e2LtvwBzxA', './docs/guide.md', 'text', 1, 'Three.', 'Three.', 1, 'h', .5);",
    )
    .unwrap();
    drop(conn);
    folder.ok(["import", "--from", "old.db", "--db", "m.db"]);
    folder.assert_healthy("m.db");
    const SHARED: &str = "
        SELECT group_concat(label)
          FROM node
         GROUP BY parent, file, position
        HAVING 1 < count(*)";
    assert_eq!(rows(&folder, SHARED), "");
    folder.ok(["rollback", "4", "--db", "m.db"]);
    folder.assert_healthy("m.db");
    folder.ok(["undo", "--db", "m.db"]);
    folder.assert_healthy("m.db");
}

#[test]
fn a_snapshot_whose_number_leaves_no_room_gets_the_next_one() {
    let folder = notes();
    let conn = old(&folder);
    add_changes(&conn);
    conn.execute_batch(
        "PRAGMA foreign_keys = OFF;
         UPDATE snapshots SET id = 9223372036854775807 WHERE id = 6;
         UPDATE diffs SET snapshot_id = 9223372036854775807 WHERE snapshot_id = 6;
         UPDATE cursors SET snapshot_id = 9223372036854775807;",
    )
    .unwrap();
    let said = folder.ok(["import", "--from", "old.db", "--db", "m.db"]);
    let note = "- 1 snapshots whose number left no room for others have the next\n";
    assert!(said.contains(note), "{said}");
    assert!(!said.contains("HEAD was missing"), "{said}");
    let number = "SELECT CAST(id AS TEXT) FROM snapshot WHERE message = 'other'";
    assert_eq!(rows(&folder, number), "6\n");
    folder.ok(["write", "There is room for more.", "--db", "m.db"]);
    folder.assert_healthy("m.db");
}

#[test]
fn values_that_a_broken_old_memory_lacks_are_counted() {
    let folder = notes();
    let conn = old(&folder);
    conn.execute_batch(
        "PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = replace(sql, 'NOT NULL', '');
         PRAGMA writable_schema = RESET;
         UPDATE nodes SET content = NULL WHERE label = 'Setup';
         UPDATE nodes SET label = NULL, depth = NULL WHERE label = 'Guide';
         UPDATE snapshots SET created_at = 'yesterday' WHERE id = 2;
         UPDATE diffs SET node_id = NULL WHERE id = 1;
         UPDATE diffs SET new_content = NULL WHERE id = 2;
         UPDATE cursors SET snapshot_id = NULL;",
    )
    .unwrap();
    drop(conn);
    let said = folder.ok(["import", "--from", "old.db", "--db", "m.db"]);
    for note in [
        "- 2 nodes lacked a file, a label, a text or a number, which is empty or 0 now\n",
        "- 1 snapshots lacked their time or folder\n",
        "- 1 changes of no node were left out\n",
        "- 1 texts of changes were missing and are empty in the history\n",
        "- 1 HEAD was missing and is the newest snapshot now\n",
    ] {
        assert!(said.contains(note), "{note}: {said}");
    }
    folder.assert_healthy("m.db");
}
