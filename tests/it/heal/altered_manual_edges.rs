//! Tests the repair of altered edges that were made by hand, which no text repeats.

use super::altered_nodes::altered_by;
use super::*;

/// Returns a memory with an edge to a label, one to an id, and one that waits for its node.
fn memory_with_edges() -> Folder {
    let folder = memory();
    let [from, to] = ["Note 1", "Note 7"].map(|it| id_of(&folder, it));
    let relate = |args: &[&str]| {
        folder.ok([["relate", &from].as_slice(), args, &["--db", "m.db"]].concat());
    };
    relate(&["--target-label", "Note 4", "--weight", "2.5"]);
    relate(&[&to]);
    relate(&["--target-label", "Some day"]);
    folder
}

fn id_of(folder: &Folder, label: &str) -> String {
    const ID: &str = "SELECT id FROM node WHERE label = ?1 AND node_type = 'heading'";
    folder.database("m.db").query_row(ID, [label], |row| row.get(0)).unwrap()
}

/// Returns the edges made by hand: their words, their weights and their targets.
fn edges(folder: &Folder, db: &str) -> Vec<String> {
    const EDGES: &str = "
        SELECT concat_ws(' ', origin, form, label, id_hint, weight,
                         (SELECT id FROM node WHERE key = target))
          FROM reference
         WHERE origin <> 'parsed'
         ORDER BY id";
    let conn = folder.database(db);
    let mut query = conn.prepare(EDGES).unwrap();
    query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// Alters rows, and returns the memory after its repair with the reports of the check, the repair
/// and a salvage.
fn repair(sound: &Folder, statements: &str) -> (Folder, [(&'static str, String); 3]) {
    let folder = altered_by(sound, statements);
    let examined = folder.run(["doctor", "--db", "m.db"]);
    assert_eq!(examined.code, Some(1), "{statements}: {}", examined.stdout);
    let salvaged = folder.ok(["salvage", "m.db", "--out", "salvaged.db"]);
    let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
    for db in ["m.db", "salvaged.db"] {
        folder.assert_healthy(db);
    }
    let reports = [("check", examined.stdout), ("salvage", salvaged), ("repair", fixed)];
    (folder, reports)
}

#[test]
fn an_altered_edge_made_by_hand_is_named_and_given_back() {
    let sound = memory_with_edges();
    let (from, before) = (id_of(&sound, "Note 1"), edges(&sound, "m.db"));
    let set = |set: &str, label: &str| {
        format!("UPDATE reference SET {set} WHERE origin = 'manual' AND label = '{label}'")
    };
    let other_id = "id_hint = (SELECT id FROM node WHERE label = 'Note 8' LIMIT 1)";
    for (statements, to) in [
        (set("label = 'Nope 4'", "Note 4"), "`Nope 4`"),
        (set("label = 'Note 5'", "Note 4"), "`Note 5`"),
        (set("label = 'Note 5', target = NULL", "Note 4"), "`Note 5`"),
        (set("id_hint = 'x' || substr(id_hint, 2)", ""), "`x"),
        (set(other_id, ""), &format!("`{}`", id_of(&sound, "Note 8"))),
        (set("label = 'Some dax'", "Some day"), "`Some dax`"),
        (set("origin = 'lanual'", "Note 4"), "`Note 4`"),
        (set("origin = 'parsed'", "Note 4"), "`Note 4`"),
        (set("form = 'manuel'", "Some day"), "`Some day`"),
        (set("origin = 'lanual', form = 'manuel'", "Some day"), "`Some day`"),
    ] {
        let (folder, reports) = repair(&sound, &statements);
        for (name, report) in reports {
            let named = format!("the edge from `{from}` \"Note 1\" to {to}");
            assert!(report.contains(&named), "{statements}: {name}: {report}");
        }
        for db in ["m.db", "salvaged.db"] {
            assert_eq!(edges(&folder, db), before, "{statements}: {db}");
        }
    }
}

/// Two altered values of an edge leave nothing that proves the others.
#[test]
fn an_edge_made_by_hand_of_which_nothing_proves_the_target_waits_and_is_named() {
    let sound = memory_with_edges();
    let statements = "
        UPDATE wanted
           SET name = name + 1
         WHERE reference = (SELECT id FROM reference WHERE label = 'Note 4' AND origin = 'manual');
        UPDATE reference SET label = 'Nope 4' WHERE label = 'Note 4' AND origin = 'manual'";
    let (folder, [_, salvage, repair]) = repair(&sound, statements);
    let (from, to) = (id_of(&sound, "Note 1"), id_of(&sound, "Note 4"));
    let named =
        format!("the edge from `{from}` \"Note 1\" to `Nope 4` led to `{to}` \"Note 4\", and");
    for (name, report) in [salvage, repair] {
        assert!(report.contains(&named), "{name}: {report}");
    }
    for db in ["m.db", "salvaged.db"] {
        assert_eq!(edges(&folder, db)[0], "manual manual Nope 4 2.5", "{db}");
    }
}

/// The words and their names prove the target that was altered.
#[test]
fn an_altered_target_of_an_edge_made_by_hand_follows_its_words() {
    let sound = memory_with_edges();
    let statements = "
        UPDATE reference SET target = 1 WHERE label = 'Note 4' AND origin = 'manual'";
    let (folder, _) = repair(&sound, statements);
    assert_eq!(edges(&folder, "m.db"), edges(&sound, "m.db"));
}
