//! Tests of memories as folders of Markdown, through the program.

use std::fs;

use expect_test::expect;

use crate::support::Folder;

/// Returns the fingerprint of the newest snapshot.
fn state(folder: &Folder, db: &str) -> String {
    let sql = "SELECT cursor_hash FROM snapshot ORDER BY id DESC LIMIT 1";
    folder.database(db).query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Lists the files below a folder, by path.
fn files(folder: &Folder, below: &str) -> Vec<String> {
    let mut open = vec![below.to_owned()];
    let mut files = Vec::new();
    while let Some(path) = open.pop() {
        for entry in fs::read_dir(folder.path(&path)).unwrap() {
            let name = format!("{path}/{}", entry.unwrap().file_name().to_string_lossy());
            if folder.path(&name).is_dir() { open.push(name) } else { files.push(name) }
        }
    }
    files.sort();
    files
}

/// Returns a memory of two roots, with what agents added, replaced, forgot, pinned and linked.
fn memory() -> Folder {
    let folder = Folder::new()
        .file("docs/a.md", "---\ntitle: Home\n---\n# Store\n\nOne writes.\n\n- x\n- y\n\nBye.\n")
        .file("docs/c.json", "{\"port\": 80, \"users\": [{\"id\": 1}, {\"id\": 2}]}")
        .file("docs/remindb.md", "# Not an index\n")
        .file("more/t.csv", "a,b\n1,2\n");
    for args in [
        &["compile", "docs"][..],
        &["compile", "more"],
        &["write", "Agents write `too`.", "--anchor", "a.md"],
        &["write", "# A note\n\nWithout a file.\n\n```sh\nmake\n```"],
        &["write", "A plain one."],
        &["remember", "--type", "core", "--tag", "t", "I like tea -- and <!-- comments -->."],
        &["remember", "--topic", "Tea", "-e", "tool:kettle", "The kettle broke."],
    ] {
        folder.ok(args.iter().copied().chain(["--db", "m.db"]));
    }
    let id = |label: &str| -> String {
        let sql = "SELECT id FROM node WHERE label = ?1";
        folder.database("m.db").query_row(sql, [label], |row| row.get(0)).unwrap()
    };
    let (text, bye, store) = (id("One writes."), id("Bye."), id("Store"));
    folder.ok(["write", "Two write.", "--anchor", &text, "--mode", "replace", "--db", "m.db"]);
    folder.ok(["forget", &bye, "--db", "m.db"]);
    folder.ok(["pin", &store, "--db", "m.db"]);
    folder.ok(["relate", &store, &text, "--weight", "0.5", "--db", "m.db"]);
    folder
}

#[test]
fn a_memory_survives_as_markdown() {
    let folder = memory();
    folder.ok(["export", "--format", "markdown", "out", "--db", "m.db"]);
    let names = files(&folder, "out");
    assert!(names.iter().all(|it| it.ends_with(".md")), "{names:?}");
    folder.ok(["compile", "out", "--db", "copy.db"]);
    assert_eq!(state(&folder, "copy.db"), state(&folder, "m.db"));
    folder.assert_healthy("copy.db");
    let marks = "
        SELECT group_concat(id || weight, ' ')
          FROM (SELECT node.id, weight FROM reference JOIN node ON node.key = target
                 WHERE origin = 'manual'
                 UNION ALL
                SELECT node.id, 'pinned' FROM heat JOIN node ON node.key = heat.node WHERE pinned)";
    let read = |db: &str| -> String {
        folder.database(db).query_row(marks, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(read("copy.db"), read("m.db"));
    folder.check_session(expect![[r#"
        $ compile out --db copy.db
        compiled: 0 added, 0 modified, 0 removed (0 ops)
        = 0
    "#]]);
    // An export of the copy is the same but for the numbers of its roots.
    folder.ok(["export", "--format", "markdown", "again", "--db", "copy.db"]);
    for name in names {
        let (one, other) = (folder.path(&name), folder.path(name.replacen("out", "again", 1)));
        assert_eq!(fs::read_to_string(one).unwrap(), fs::read_to_string(other).unwrap(), "{name}");
    }
}

#[test]
fn an_export_goes_to_an_empty_folder_only() {
    let folder = memory();
    folder.write("full/x.txt", "mine");
    fs::create_dir(folder.path("empty")).unwrap();
    folder.check_session(expect![[r#"
        $ export --format markdown full --db m.db
        ! remindb: `full` is not empty; name another folder
        = 2
        $ export --format markdown full --force --db m.db
        ! remindb: `--format markdown` replaces nothing: leave `--force` out, and name a folder that is empty or absent; see `remindb help export`
        = 2
        $ export --format markdown --db m.db
        ! remindb: `export` needs the folder for the files of `--format markdown`; see `remindb help export`
        = 2
        $ export --format word x --db m.db
        ! remindb: no format `word`; there are `markdown`, `agent-memory` and `remind`, and without `--format` everything goes to one file; see `remindb help export`
        = 2
        $ export --format markdown empty --db m.db
        exported: 24 nodes in 14 files, to empty
        = 0
    "#]]);
    assert_eq!(files(&folder, "full"), ["full/x.txt"]);
}

#[test]
fn a_path_that_leads_out_of_the_folder_is_refused_and_repaired() {
    for path in ["../home/a.md", "/tmp/remindb-absolute.md", "x/../../a.md"] {
        let folder = Folder::new().file("notes/a.md", "# Do\n\nAs I say.\n");
        folder.ok(["compile", "notes", "--db", "m.db"]);
        folder.database("m.db").execute("UPDATE file SET path = ?1", [path]).unwrap();
        let ran = folder.run(["export", "--format", "markdown", "out", "--db", "m.db"]);
        assert_eq!(
            ran.stderr,
            format!(
                "remindb: `{path}` leads out of the folder; nothing was written; see `remindb \
                 doctor`\n"
            )
        );
        assert!(!folder.path("out").exists());

        let looked = folder.run(["doctor", "--db", "m.db"]).stdout;
        let found =
            format!("✗ file_paths           1 of 1 files are not below their root: `{path}`");
        assert!(looked.contains(&found), "{looked}");
        folder.ok(["export", "e.jsonl", "--db", "m.db"]);
        for copy in [["import", "e.jsonl"], ["restore", "m.db"]] {
            let ran = folder.run([copy[0], copy[1], "--db", "copy.db"]);
            assert!(ran.stderr.contains("file_paths: 1 of 1 files"), "{}", ran.stderr);
            assert!(!folder.path("copy.db").exists());
        }
        folder.ok(["salvage", "m.db", "--out", "salvaged.db"]);
        folder.assert_healthy("salvaged.db");
        folder.ok(["doctor", "--fix", "--db", "m.db"]);
        folder.assert_healthy("m.db");
        folder.ok(["export", "--format", "markdown", "out", "--db", "m.db"]);
        assert_eq!(files(&folder, "out").len(), 2);
    }
}
