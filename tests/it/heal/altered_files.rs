//! Tests nodes that were put into another file, and folders that were called otherwise, by no
//! program of ours.

use std::fs;

use super::altered_nodes::altered;
use super::{memory, tamper};
use crate::support::Folder;

/// Returns the files of all nodes, by id.
fn files(folder: &Folder, db: &str) -> Vec<(String, Option<i64>)> {
    let conn = folder.database(db);
    let mut query = conn.prepare("SELECT id, file FROM node ORDER BY id").unwrap();
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    query.query_map([], read).unwrap().map(Result::unwrap).collect()
}

/// Returns a memory of files, and of an agent's text below a heading of one.
fn memory_of_files() -> Folder {
    let folder = memory();
    let heading = "SELECT id FROM node WHERE label = 'Note 8'";
    let id: String = folder.database("m.db").query_row(heading, [], |row| row.get(0)).unwrap();
    folder.ok(["write", "Agents say so, too.", "--anchor", &id, "--db", "m.db"]);
    folder
}

/// The fingerprint proves what is above a node, and the file of what is below nothing.
#[test]
fn an_altered_file_of_a_node_is_named_and_given_back() {
    let sound = memory_of_files();
    let notes = sound.path("notes");
    for (change, name) in [
        ("file = 4 WHERE content LIKE 'Note 8 says 3%'", "\"Note 8 says 3, so so"),
        ("file = NULL WHERE content LIKE 'Note 8 says 3%'", "\"Note 8 says 3, so so"),
        ("file = 4 WHERE content = 'Agents say so, too.'", "\"Agents say so, too.\""),
        ("file = 4 WHERE label = 'Part 3' AND file = 9", "\"Part 3\""),
        ("file = 4 WHERE label = 'Note 8'", "\"Note 8\""),
        ("file = NULL WHERE label = 'Note 8'", "\"Note 8\""),
        ("file = 99 WHERE label = 'Note 8'", "\"Note 8\""),
    ] {
        let folder = altered(&sound, &[change]);
        let examined = folder.run(["doctor", "--db", "m.db"]);
        assert_eq!(examined.code, Some(1), "{change}: {}", examined.stdout);
        let named = "nodes are of another file than the node above: `";
        assert!(examined.stdout.contains(named), "{change}: {}", examined.stdout);
        let salvaged = folder.ok(["salvage", "m.db", "--out", "new.db"]);
        let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
        for (db, report) in [("m.db", fixed), ("new.db", salvaged)] {
            assert!(report.contains(name), "{change}: {report}");
            folder.assert_healthy(db);
            assert_eq!(files(&folder, db), files(&sound, "m.db"), "{change}");
            let compiled = folder.ok(["compile", notes.to_str().unwrap(), "--db", db]);
            assert_eq!(compiled, "compiled: 0 added, 0 modified, 0 removed (0 ops)\n", "{change}");
        }
    }
}

/// A node that is below no other one and has none below is known by its breadcrumb.
#[test]
fn an_altered_file_of_a_lone_node_costs_neither_its_id_nor_a_snapshot() {
    let sound = memory();
    sound.write("notes/a.md", "---\ntitle: A\n---\n\n# A\n\nAll of it.\n");
    sound.write("notes/b.md", "Nothing but a text.\n");
    sound.ok(["compile", "notes", "--db", "m.db"]);
    let notes = sound.path("notes");
    for node in ["node_type = 'preamble'", "content = 'Nothing but a text.'"] {
        for file in ["4", "NULL", "-1", "4611686018427387904"] {
            let folder = altered(&sound, &[&format!("file = {file} WHERE {node}")]);
            folder.ok(["doctor", "--fix", "--db", "m.db"]);
            folder.assert_healthy("m.db");
            assert_eq!(files(&folder, "m.db"), files(&sound, "m.db"), "{node}: {file}");
            let compiled = folder.ok(["compile", notes.to_str().unwrap(), "--db", "m.db"]);
            assert_eq!(compiled, "compiled: 0 added, 0 modified, 0 removed (0 ops)\n");
            folder.ok(["rollback", "1", "--db", "m.db"]);
        }
    }
}

/// Of the nodes beside each other, the one whose breadcrumb is the rarest is the stray one.
#[test]
fn a_lone_node_that_was_put_into_a_file_of_many_goes_back() {
    let sound = memory();
    let texts: Vec<String> = (0..40).map(|nth| format!("Day {nth} went by.\n")).collect();
    sound.write("notes/a-log.md", texts.join("\n"));
    sound.write("notes/b.md", "Nothing but a text.\n");
    sound.write("notes/empty.md", "");
    sound.ok(["compile", "notes", "--db", "m.db"]);
    let change = "file = (SELECT id FROM file WHERE path = 'a-log.md')
                  WHERE content = 'Nothing but a text.'";
    let folder = altered(&sound, &[change]);
    let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
    assert!(fixed.contains("is of its file again"), "{fixed}");
    folder.assert_healthy("m.db");
    assert_eq!(files(&folder, "m.db"), files(&sound, "m.db"));
    folder.ok(["rollback", "1", "--db", "m.db"]);
}

/// The next compile brings a file's node back, and earlier states are led to by the present one.
#[test]
fn an_altered_column_of_a_file_costs_no_snapshot() {
    let sound = memory();
    sound.write("notes/a.md", "# A\n\n```rust\nfn a() {}\n```\n\n```rust\nfn b() {}\n```\n");
    sound.ok(["compile", "notes", "--db", "m.db"]);
    let before = sound.facts("m.db")["head"].clone();
    for change in [
        "level = 2 WHERE label = 'A'",
        "level = NULL WHERE label = 'A'",
        "lang = 'rusu' WHERE content = 'fn a() {}'",
        "lang = NULL WHERE content = 'fn a() {}'",
        "key_path = 'a.b' WHERE label = 'Note 8'",
        "format = 'toon' WHERE label = 'Note 8'",
    ] {
        let folder = altered(&sound, &[change]);
        let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
        assert!(fixed.contains("is again what HEAD's fingerprint proves"), "{change}: {fixed}");
        folder.assert_healthy("m.db");
        assert_eq!(folder.facts("m.db")["head"], before, "{change}");
        folder.ok(["rollback", "1", "--db", "m.db"]);
    }
}

/// A node of a file that goes has nothing to do with the one that was said to be of it.
#[test]
fn a_file_that_a_stray_node_was_put_into_can_go() {
    let folder = memory();
    tamper(&folder, "UPDATE node SET file = 4 WHERE content LIKE 'Note 8 says 3%'");
    let path = "SELECT path FROM file WHERE id = 4";
    let path: String = folder.database("m.db").query_row(path, [], |row| row.get(0)).unwrap();
    fs::remove_file(folder.path(format!("notes/{path}"))).unwrap();
    let refused = folder.run(["compile", "notes", "--db", "m.db"]);
    assert!(refused.stderr.contains("run `remindb doctor --fix`"), "{}", refused.transcript());
    folder.ok(["doctor", "--fix", "--db", "m.db"]);
    let compiled = folder.ok(["compile", "notes", "--db", "m.db"]);
    assert_eq!(compiled, "compiled: 0 added, 0 modified, 25 removed (25 ops)\n");
    folder.assert_healthy("m.db");
}

/// Every snapshot has the path, so that none could be restored under another one.
#[test]
fn an_altered_path_of_a_file_comes_back_and_costs_no_snapshot() {
    let sound = memory_of_files();
    for path in ["'77.md'", "'8.mz'", "'lost/8.md'", "CAST(x'41ff42' AS TEXT)"] {
        fs::copy(sound.path("m.db"), sound.path("altered.db")).unwrap();
        let set = format!("UPDATE file SET path = {path} WHERE path = '8.md'");
        sound.database("altered.db").execute_batch(&set).unwrap();
        let salvaged = sound.ok(["salvage", "altered.db", "--out", "new.db"]);
        let fixed = sound.ok(["doctor", "--fix", "--db", "altered.db"]);
        for (db, report) in [("altered.db", fixed), ("new.db", salvaged)] {
            assert!(report.contains("is again `8.md`"), "{path}: {report}");
            sound.assert_healthy(db);
            let compiled = sound.ok(["compile", "notes", "--db", db]);
            assert_eq!(compiled, "compiled: 0 added, 0 modified, 0 removed (0 ops)\n", "{path}");
            sound.ok(["rollback", "1", "--db", db]);
        }
        fs::remove_file(sound.path("new.db")).unwrap();
    }
}

/// The next compile would add every file again under a second root.
#[test]
fn an_altered_path_of_a_folder_comes_back_from_the_history() {
    let sound = memory_of_files();
    // One is a folder, too, with a file of the same name.
    sound.write("noteq/8.md", "# Another note\n");
    let altered = ["notez", "noteq"].map(|it| format!("replace(path, 'notes', '{it}')"));
    for path in altered.iter().map(String::as_str).chain(["'x' || substr(path, 2)"]) {
        fs::copy(sound.path("m.db"), sound.path("altered.db")).unwrap();
        let set = format!("UPDATE root SET path = {path}");
        sound.database("altered.db").execute_batch(&set).unwrap();
        let examined = sound.run(["doctor", "--db", "altered.db"]);
        let named = "was altered; its files are in `DIR/notes`\n";
        assert!(examined.stdout.contains(named), "{}", examined.stdout);
        let fixed = sound.ok(["doctor", "--fix", "--db", "altered.db"]);
        assert!(fixed.contains("(fixed: a compile root is again `"), "{fixed}");
        sound.assert_healthy("altered.db");
        let compiled = sound.ok(["compile", "notes", "--db", "altered.db"]);
        assert_eq!(compiled, "compiled: 0 added, 0 modified, 0 removed (0 ops)\n");
    }
}

/// A file of a common name is no proof: the next compile would take all others out.
#[test]
fn a_folder_with_one_file_of_the_same_name_is_not_the_altered_one() {
    let folder = memory_of_files();
    folder.write("other/8.md", "# Note 8\n");
    let other = folder.path("other");
    let altered = format!(
        "UPDATE root SET path = path || 'z';
         UPDATE snapshot SET compile_root = '{}' WHERE compile_root <> ''",
        other.display()
    );
    tamper(&folder, &altered);
    let examined = folder.run(["doctor", "--db", "m.db"]).stdout;
    assert!(examined.contains("⚠ stale_compile_root   1/1 compile roots no longer"), "{examined}");
}

#[test]
fn a_folder_that_is_gone_is_a_warning_beside_a_repaired_one() {
    let folder = memory();
    folder.write("more/a.md", "# More\n\nSo much more.\n");
    folder.ok(["compile", "more", "--db", "m.db"]);
    fs::remove_dir_all(folder.path("more")).unwrap();
    let examined = folder.ok(["doctor", "--db", "m.db"]);
    assert!(examined.contains("⚠ stale_compile_root   1/2 compile roots no longer"), "{examined}");
    tamper(&folder, "UPDATE root SET path = path || 'z' WHERE path LIKE '%notes'");
    let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
    let line = fixed.lines().find(|it| it.contains("stale_compile_root")).unwrap();
    assert!(line.starts_with("⚠ ") && line.contains("1/2 compile roots no longer"), "{line}");
    assert!(line.contains("(repaired, but for the warning: a compile root is again"), "{line}");
}

/// A change whose id was altered says nothing of a node that is gone.
#[test]
fn an_altered_id_of_a_change_is_no_lost_node() {
    let folder = memory();
    tamper(
        &folder,
        "UPDATE diff SET node_id = 'x' || substr(node_id, 2) || '!'
          WHERE snapshot = 1 AND seq = 7;
         UPDATE node SET content_hash = '0123456789abcdef' WHERE key = 7",
    );
    let examined = folder.run(["doctor", "--db", "m.db"]);
    assert!(!examined.stdout.contains("nodes are gone"), "{}", examined.stdout);
    assert!(examined.stdout.contains("changes do not say what a node was"), "{}", examined.stdout);
}
