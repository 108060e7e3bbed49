//! Tests imports of small old databases, whose rows a test states.

use std::path::PathBuf;

use expect_test::{Expect, expect};

use super::*;

/// Tables with the columns that matter here; the import takes defaults for others.
const SCHEMA: &str = "
    CREATE TABLE nodes (
        id TEXT PRIMARY KEY, parent_id TEXT, source_file TEXT, node_type TEXT, label TEXT,
        content TEXT);
    CREATE TABLE snapshots (id INTEGER PRIMARY KEY, message TEXT, compile_root TEXT);
    CREATE TABLE diffs (
        id INTEGER PRIMARY KEY, snapshot_id INTEGER, node_id TEXT, op TEXT, old_content TEXT,
        new_content TEXT, old_source_file TEXT, old_node_type TEXT, old_label TEXT,
        old_format TEXT);
    CREATE TABLE relations (
        id INTEGER PRIMARY KEY, source_node_id TEXT, target_node_id TEXT, origin TEXT);
    CREATE TABLE pending_relations (
        id INTEGER PRIMARY KEY, source_node_id TEXT, target_label TEXT, target_source TEXT,
        target_id_hint TEXT, origin TEXT);";

struct OldMemory {
    dir: tempfile::TempDir,
}

impl OldMemory {
    /// Makes an old database of `rows`, which are SQL.
    fn new(rows: &str) -> OldMemory {
        let old = OldMemory { dir: tempfile::tempdir().unwrap() };
        let conn = Connection::open(old.path("old.db")).unwrap();
        conn.execute_batch(SCHEMA).unwrap();
        conn.execute_batch(rows).unwrap();
        old
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Imports it; the new memory is sound.
    fn import(&self) -> V03ImportReport {
        let (old, db) = (self.path("old.db"), self.path("m.db"));
        let now = UnixMillis(1_800_000_000_000);
        import_old(&old, &db, &Redactor::builtin(), now, &mut |_, _| ()).unwrap()
    }

    /// Finds no part of [`TOKEN`] in the new file.
    #[track_caller]
    fn check_bytes(&self) {
        let bytes = fs::read(self.path("m.db")).unwrap();
        assert!(!bytes.windows(8).any(|it| it == &TOKEN.as_bytes()[..8]), "a secret is left");
    }

    /// Compares the rows of the new memory that a query with one column returns.
    #[track_caller]
    fn check(&self, sql: &str, expected: Expect) {
        let conn = Connection::open(self.path("m.db")).unwrap();
        let mut query = conn.prepare(sql).unwrap();
        let rows = query.query_map([], |row| row.get::<_, Option<String>>(0)).unwrap();
        let lines: Vec<String> = rows.map(|it| it.unwrap().unwrap_or_default()).collect();
        expected.assert_eq(&lines.join("\n"));
    }
}

/// Two headings were alike, until one changed and another went.
const EQUAL_TEXTS: &str = "
    INSERT INTO nodes VALUES
        ('HaG76r01Cal', NULL, 'a.md', 'heading', 'Usage', 'Usage'),
        ('3pIWNpLTzhR', NULL, 'b.md', 'heading', 'Other', 'Other');
    INSERT INTO snapshots VALUES (1, 'm', '/no/notes'), (2, 'm', '/no/notes');
    INSERT INTO diffs (snapshot_id, node_id, op, new_content) VALUES
        (1, 'HaG76r01Cal', 'add', 'Usage'),
        (1, '3pIWNpLTzhR', 'add', 'Usage'),
        (1, 'KULV85J9hZ0', 'add', 'Usage');
    INSERT INTO diffs (snapshot_id, node_id, op, old_content, new_content, old_source_file,
                       old_node_type, old_label, old_format) VALUES
        (2, '3pIWNpLTzhR', 'mod', 'Usage', 'Other', 'b.md', 'heading', 'Usage', 'plain'),
        (2, 'KULV85J9hZ0', 'rem', 'Usage', NULL, 'b.md', 'heading', 'Usage', 'plain');";

#[test]
fn a_former_text_that_another_node_has_is_kept() {
    let old = OldMemory::new(EQUAL_TEXTS);
    let imported = old.import();
    assert_eq!((imported.n_nodes, imported.n_snapshots), (2, 2));
    old.check("SELECT content FROM blob", expect!["Usage"]);
}

#[test]
fn a_files_text_below_an_agents_is_kept_if_another_node_has_it() {
    let old = OldMemory::new(EQUAL_TEXTS);
    let conn = Connection::open(old.path("old.db")).unwrap();
    // The change was an agent's.
    conn.execute_batch("UPDATE snapshots SET compile_root = '' WHERE id = 2").unwrap();
    drop(conn);
    old.import();
    let base = "
        SELECT blob.content FROM node JOIN blob ON blob.hash = source_hash
         WHERE source_hash <> content_hash";
    old.check(base, expect!["Usage"]);
}

#[test]
fn a_text_that_its_node_still_has_is_kept_once() {
    let old = OldMemory::new(
        "INSERT INTO nodes VALUES ('HaG76r01Cal', NULL, 'a.md', 'text', 'One', 'One');
         INSERT INTO snapshots VALUES (1, 'm', '/no/notes');
         INSERT INTO diffs (snapshot_id, node_id, op, new_content) VALUES
             (1, 'HaG76r01Cal', 'add', 'One');",
    );
    old.import();
    old.check("SELECT content FROM blob", expect![""]);
}

const TOKEN: &str = "ghp_x9Kd72LmQpZr4TvWb81NcYhJ5sGfEa3UoP6i";

/// Labels show the beginning of a token of their text, as the old program cut it, and as others do.
#[test]
fn a_secret_that_a_label_was_cut_through_leaves_no_beginning() {
    let text = format!("The deploy token of the build machine in the cellar is {TOKEN} for ever.");
    let (marked, unmarked) = (format!("{}...", &text[..77]), &text[..80]);
    let old = OldMemory::new(&format!(
        "INSERT INTO nodes VALUES
             ('HaG76r01Cal', NULL, 'mcp:write', 'text', '{marked}', '{text}'),
             ('3pIWNpLTzhR', NULL, 'mcp:write', 'text', '{unmarked}', '{text}'),
             ('JQApbPK9qLp', 'HaG76r01Cal', 'mcp:write', 'text', 'below', 'below');
         INSERT INTO snapshots VALUES (1, 'm', ''), (2, 'm', '');
         INSERT INTO diffs (snapshot_id, node_id, op, old_content, old_source_file, old_node_type,
                            old_label, old_format)
         VALUES (2, 'KULV85J9hZ0', 'rem', '{text}', 'mcp:write', 'text', '{marked}', 'plain');
         INSERT INTO pending_relations (source_node_id, target_label, origin)
         VALUES ('JQApbPK9qLp', '{marked}', 'manual');"
    ));
    old.import();
    let labels = "
        SELECT label FROM node UNION ALL SELECT old_label FROM diff UNION ALL
        SELECT trail FROM node WHERE trail <> '' UNION ALL SELECT label FROM reference";
    old.check(
        labels,
        expect![[r#"
        The deploy token of the build machine in the cellar is «redacted:github_pat»
        The deploy token of the build machine in the cellar is «redacted:github_pat»
        below
        The deploy token of the build machine in the cellar is «redacted:github_pat»
        The deploy token of the build machine in the cellar is «redacted:github_pat»
        The deploy token of the build machine in the cellar is «redacted:github_pat»"#]],
    );
    old.check_bytes();
}

#[test]
fn a_secret_in_the_name_of_a_folder_is_replaced() {
    let old = OldMemory::new(&format!(
        "INSERT INTO nodes VALUES ('HaG76r01Cal', NULL, 'a.md', 'text', 'One', 'One');
         INSERT INTO snapshots VALUES (1, 'm', '/no/{TOKEN}');
         INSERT INTO diffs (snapshot_id, node_id, op, new_content) VALUES
             (1, 'HaG76r01Cal', 'add', 'One');"
    ));
    // The root of a file is that of its compile, so it counts once.
    assert_eq!(old.import().n_secrets, 2);
    old.check("SELECT path FROM root", expect!["/no/«redacted:github_pat»"]);
    old.check(
        "SELECT compile_root FROM snapshot WHERE id = 1",
        expect!["/no/«redacted:github_pat»"],
    );
    old.check_bytes();
}

#[test]
fn folders_and_files_stay_distinct_when_their_names_become_equal() {
    let other = TOKEN.replace('x', "y");
    let old = OldMemory::new(&format!(
        "INSERT INTO nodes VALUES
             ('HaG76r01Cal', NULL, 'a.md', 'text', 'One', 'One'),
             ('3pIWNpLTzhR', NULL, '/no/{other}/a.md', 'text', 'Two', 'Two'),
             ('JQApbPK9qLp', NULL, '{TOKEN}.md', 'text', 'Three', 'Three'),
             ('HIeMDW5Y3WO', NULL, '{other}.md', 'text', 'Four', 'Four'),
             ('0nyx1JGLzdx', NULL, './{other}.md', 'text', 'Five', 'Five');
         INSERT INTO snapshots VALUES (1, 'm', '/no/{TOKEN}');"
    ));
    old.import();
    let files = "
        SELECT group_concat(content) || ': ' || root.path || ' ' || file.path
          FROM node JOIN file ON file.id = node.file JOIN root ON root.id = file.root
         GROUP BY file.id";
    old.check(
        files,
        expect![[r#"
        One: /no/«redacted:github_pat» a.md
        Two: /no/«redacted:github_pat» (2) a.md
        Three: /no/«redacted:github_pat» «redacted:github_pat».md
        Four,Five: /no/«redacted:github_pat» «redacted:github_pat».md (2)"#]],
    );
}
