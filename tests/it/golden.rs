//! Tests the whole memory of one small folder against a stored copy.
//!
//! The folder has a little of everything; the copy has the tree, labels, types, formats,
//! temperatures and edges.

use std::fmt::Write;

use expect_test::expect;
use rusqlite::Connection;

use crate::support::Folder;

const HOME: &str = "---\ntitle: Home\ntags: [a, b, c, d, e]\n---\n# Home\n\n\
                    See [[Setup; w=2]] and [[Later]].\n\n- one\n- two\n";
const GUIDE: &str = "# Guide\n\n## Setup\n\nRun it. Then stop.\n\n```sh\nmake\n```\n";
const CONFIG: &str = r#"{"port": 8080, "users":[{"id":1,"n":"al"},{"id":2,"n":"bo"},{"id":3,"n":"cy"},{"id":4,"n":"di"},{"id":5,"n":"ed"}]}"#;

fn golden() -> Folder {
    Folder::new()
        .file("notes/README.md", HOME)
        .file("notes/docs/guide.md", GUIDE)
        .file("notes/docs/cfg.json", CONFIG)
        .file("notes/vendor/v.md", "# no\n")
        .file("notes/.remindb/temperatures.json", r#"{"docs":{"*":0.7},"README.md":0.9}"#)
}

/// Returns every node in the order of the notes: depth, type and format, label, text, temperature.
fn tree(db: &Connection) -> String {
    const SQL: &str = "
        WITH RECURSIVE below (key, depth, path) AS (
            SELECT node.key, 1, printf('%s %012d', file.path, node.position)
              FROM node JOIN file ON file.id = node.file WHERE node.parent IS NULL
             UNION ALL
            SELECT node.key, depth + 1, below.path || printf(' %012d', node.position)
              FROM below JOIN node ON node.parent = below.key
        )
        SELECT file.path, depth, node_type, format, coalesce(' ' || lang, ''), label, content,
               ifnull(temperature, 0.5)
          FROM below JOIN node USING (key) JOIN file ON file.id = node.file
          LEFT JOIN heat ON heat.node = node.key
         ORDER BY below.path";
    let mut out = String::new();
    let mut statement = db.prepare(SQL).unwrap();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let text = |at: usize| row.get::<_, String>(at).unwrap();
        let (depth, heat): (u8, f64) = (row.get(1).unwrap(), row.get(7).unwrap());
        let (file, indent, kind) = (text(0), "  ".repeat(depth.into()), text(2));
        let (format, lang, label, content) = (text(3), text(4), text(5), text(6));
        writeln!(out, "{file}{indent}{kind}/{format}{lang}: {label} = {content:?} at {heat:.1}")
            .unwrap();
    }
    out
}

/// Returns every reference: its source, its text and its target.
fn edges(db: &Connection) -> String {
    const SQL: &str = "
        SELECT printf('%s -> %s (%s, %s, w=%s)', source.content, coalesce(target.label, '?'),
                      reference.label, origin, weight)
          FROM reference
          JOIN node AS source ON source.key = reference.source
          LEFT JOIN node AS target ON target.key = reference.target
         ORDER BY 1";
    let mut statement = db.prepare(SQL).unwrap();
    let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    rows.map(|it| it.unwrap() + "\n").collect()
}

#[test]
fn the_golden_folder_becomes_the_tree_it_always_became() {
    let folder = golden();
    folder.check_session(expect![[r#"
        $ compile notes --db m.db
        compiled: 11 added, 0 modified, 0 removed (11 ops)
        passed over: 1 folder; --verbose lists them
        = 0
    "#]]);
    let db = folder.database("m.db");
    expect![[r#"
        README.md  preamble/plain: Preamble: title = "title: Home" at 0.9
        README.md    list/toon: tags[5] = "tags[5]: a,b,c,d,e" at 0.9
        README.md  heading/plain: Home = "Home" at 0.9
        README.md    text/plain: See [[Setup]] and [[Later]]. = "See [[Setup; w=2]] and [[Later]]." at 0.9
        README.md    list/plain: 2-item list: one = "- one\n- two" at 0.9
        docs/cfg.json  kv/plain: port = "port: 8080" at 0.7
        docs/cfg.json    list/toon: users[5]{id,n} = "users[5]{id,n}:\n  1,al\n  2,bo\n  3,cy\n  4,di\n  5,ed" at 0.7
        docs/guide.md  heading/plain: Guide = "Guide" at 0.7
        docs/guide.md    heading/plain: Setup = "Setup" at 0.7
        docs/guide.md      text/plain: Run it. = "Run it. Then stop." at 0.7
        docs/guide.md      code/plain sh: Code (sh): make = "make" at 0.7
    "#]].assert_eq(&tree(&db));
    expect![[r#"
        See [[Setup; w=2]] and [[Later]]. -> ? (Later, parsed, w=1.0)
        See [[Setup; w=2]] and [[Later]]. -> Setup (Setup, parsed, w=2.0)
    "#]]
    .assert_eq(&edges(&db));
}

#[test]
fn the_golden_edit_is_one_node_more_and_one_other_text() {
    let folder = golden();
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let edited = GUIDE.replace("Run it. Then stop.", "Run it twice.") + "\n## Later\n";
    folder.write("notes/docs/guide.md", edited);
    folder.check_session(expect![[r#"
        $ compile notes --db m.db
        compiled: 1 added, 1 modified, 0 removed (2 ops)
        passed over: 1 folder; --verbose lists them
        = 0
    "#]]);
    let db = folder.database("m.db");
    let guide: String =
        tree(&db).lines().filter(|it| it.contains("guide")).map(|it| format!("{it}\n")).collect();
    expect![[r#"
        docs/guide.md  heading/plain: Guide = "Guide" at 0.7
        docs/guide.md    heading/plain: Setup = "Setup" at 0.7
        docs/guide.md      text/plain: Run it twice. = "Run it twice." at 0.7
        docs/guide.md      code/plain sh: Code (sh): make = "make" at 0.7
        docs/guide.md    heading/plain: Later = "Later" at 0.7
    "#]]
    .assert_eq(&guide);
    expect![[r#"
        See [[Setup; w=2]] and [[Later]]. -> Later (Later, parsed, w=1.0)
        See [[Setup; w=2]] and [[Later]]. -> Setup (Setup, parsed, w=2.0)
    "#]]
    .assert_eq(&edges(&db));
    let ops: Vec<String> = db
        .prepare("SELECT op FROM diff WHERE snapshot = 2 ORDER BY 1")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(ops, ["add", "mod"]);
    folder.check_session(expect![[r#"
        $ compile notes --db m.db
        compiled: 0 added, 0 modified, 0 removed (0 ops)
        passed over: 1 folder; --verbose lists them
        = 0
    "#]]);
    drop(db);
    folder.assert_healthy("m.db");
}
