//! Tests of source code, which comes in by a setting.

use std::fs;
use std::path::Path;

use expect_test::expect;

use crate::support::Folder;

const SOURCE: &str = "\
use std::fmt;

/// Opens the quasar valve.
pub fn open(valve: &Valve) -> bool {
    valve.turn(41.7)
}

pub struct Valve;

impl Valve {
    fn turn(&self, by: f64) -> bool {
        0.0 < by
    }

    fn close(&self) {}
}
";

const SETTING: &str = r#"{"compile": {"code": true}}"#;

fn compiled() -> Folder {
    let folder = Folder::new()
        .file("work/src/valve.rs", SOURCE)
        .file("work/a.md", "# A\n")
        .file("work/.remindb/config.json", SETTING);
    folder.ok(["compile", "work", "--db", "m.db"]);
    folder
}

/// Returns the ids of nodes by their labels.
fn ids(folder: &Folder) -> Vec<(String, String)> {
    let db = folder.database("m.db");
    let mut query = db.prepare("SELECT label, id FROM node ORDER BY label, id").unwrap();
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

#[test]
fn source_code_is_passed_over_without_the_setting() {
    let folder = Folder::new().file("work/valve.rs", SOURCE).file("work/a.md", "# A\n");
    folder.check_session(expect![[r#"
        $ compile work --db m.db
        compiled: 1 added, 0 modified, 0 removed (1 ops)
        passed over: 1 file (1 .rs); --verbose lists them
        = 0
        $ compile work/valve.rs --db m.db
        $ compile work/valve.rs --db other.db
        ! remindb: cannot compile `DIR/work/valve.rs`: source code is read only where `compile.code` is true in the settings; set it in .remindb/config.json of the folder
        = 2
    "#]]);
    assert!(!folder.path("other.db").exists());
}

#[test]
fn definitions_are_found_by_their_comments_and_names() {
    let folder = compiled();
    let tree = folder.ok(["tree", "--db", "m.db"]);
    let shown: Vec<&str> = tree.lines().map(|it| it.split(" (id=").next().unwrap()).collect();
    assert_eq!(
        shown,
        [
            "[heading] A",
            "[code] Code (rust): use std::fmt;",
            "[code] pub fn open(valve: &Valve) -> bool",
            "[code] pub struct Valve",
            "[code] impl Valve",
            "  [code] fn turn(&self, by: f64) -> bool",
            "  [code] fn close(&self)",
        ]
    );
    let found = folder.ok(["search", "quasar", "--db", "m.db"]);
    assert!(found.starts_with("[code] pub fn open"), "{found}");
    let passed_over = folder.ok(["inspect", "--skipped", "--db", "m.db"]);
    assert!(!passed_over.contains("valve.rs"), "{passed_over}");
    // One file alone, and the same again.
    let again = folder.ok(["compile", "work/src/valve.rs", "--db", "m.db"]);
    assert_eq!(again, "compiled: 0 added, 0 modified, 0 removed (0 ops)\n");
    fs::write(folder.path("work/.remindb/config.json"), "{}").unwrap();
    let without = folder.ok(["compile", "work", "--db", "m.db"]);
    assert!(without.starts_with("compiled: 0 added, 0 modified, 6 removed"), "{without}");
    folder.assert_healthy("m.db");
}

#[test]
fn ids_of_definitions_survive_edits_around_and_in_them() {
    let folder = compiled();
    let before = ids(&folder);
    let edited = SOURCE
        .replace("use std::fmt;", "use std::fmt;\nuse std::io;\n\nfn first() {}")
        .replace("valve.turn(41.7)", "let by = 41.8;\n    valve.turn(by)")
        .replace("    fn close", "    fn stop(&self) {}\n\n    fn close");
    folder.write("work/src/valve.rs", &edited);
    let told = folder.ok(["compile", "work", "--db", "m.db"]);
    assert_eq!(told, "compiled: 2 added, 2 modified, 0 removed (4 ops)\n");
    let after = ids(&folder);
    for (label, id) in before {
        let is_there = after.iter().any(|it| it.1 == id && (it.0 == label || it.0.contains("use")));
        assert!(is_there, "{label}: {after:?}");
    }
    folder.write("work/src/valve.rs", SOURCE);
    folder.ok(["compile", "work", "--db", "m.db"]);
    let sql = "SELECT count(DISTINCT cursor_hash) FROM snapshot";
    let n_states: i64 = folder.database("m.db").query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(n_states, 2, "the first text gives the first state");
}

#[test]
fn source_code_is_redacted_and_survives_as_markdown() {
    let folder = compiled();
    let secret = "ghp_q0W8eRt5yUi3oPa7sDf2gHj6kLz9xCv4bN1m";
    folder.write("work/key.py", format!("def key():\n    return \"{secret}\"\n"));
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/code");
    for entry in fs::read_dir(seeds).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        folder.write(format!("work/all/{name}"), fs::read(&path).unwrap());
    }
    folder.ok(["compile", "work", "--db", "m.db"]);
    let all = folder.ok(["inspect", "--tree", "--json", "--db", "m.db"]);
    assert!(!all.contains(secret) && all.contains("def key()"));
    folder.ok(["export", "--format", "markdown", "out", "--db", "m.db"]);
    folder.ok(["compile", "out", "--db", "copy.db"]);
    let state = |db: &str| -> String {
        let sql = "SELECT cursor_hash FROM snapshot ORDER BY id DESC LIMIT 1";
        folder.database(db).query_row(sql, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(state("copy.db"), state("m.db"));
    folder.assert_healthy("copy.db");
}
