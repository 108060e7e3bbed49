//! Tests queries of the reading connection.

use expect_test::expect;

use super::database_builder_testing::TestDatabaseBuilder;
use super::*;
use crate::model::clock::UnixMillis;
use crate::model::file_stat::FileStat;
use crate::store::{IfMissing, Writer};

const LOOK: FileStat = FileStat { size: 1, mtime: 1 };

fn add_file(writer: &Writer, path: &str) {
    let added: Result<_, StoreError> = writer.write("test", "", UnixMillis(0), |batch| {
        let root = batch.root("/notes")?;
        batch.add_file(root, path, LOOK)
    });
    added.unwrap();
}

fn ids(heads: &[NodeSummary]) -> Vec<&str> {
    heads.iter().map(|it| it.label.as_str()).collect()
}

#[test]
fn several_questions_see_one_state() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    let writer = Writer::open(&path, IfMissing::Create).unwrap();
    let reader = Reader::open(&path).unwrap();
    add_file(&writer, "a.md");
    let seen: Result<_, StoreError> = reader.at_one_state(|reader| {
        let before = reader.files()?.len();
        add_file(&writer, "b.md");
        let nested: Result<_, StoreError> = reader.at_one_state(|it| Ok(it.files()?.len()));
        Ok((before, nested?))
    });
    assert_eq!(seen.unwrap(), (1, 1));
    assert_eq!(reader.files().unwrap().len(), 2);
}

#[test]
fn a_reader_cannot_write() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    drop(Writer::open(&path, IfMissing::Create).unwrap());
    let reader = Reader::open(&path).unwrap();
    for sql in [
        "DELETE FROM memory",
        "CREATE TABLE x (y)",
        "CREATE TEMP TABLE x (y)",
        "PRAGMA user_version = 9",
        "PRAGMA query_only = 0; DELETE FROM memory",
        "INSERT INTO node_fts (node_fts) VALUES ('rebuild')",
    ] {
        assert!(reader.conn.execute_batch(sql).is_err(), "{sql}");
    }
    let missing = Reader::open(&dir.path().join("mistyped.db"));
    assert!(matches!(missing, Err(StoreError::Missing { .. })));
    assert!(!dir.path().join("mistyped.db").exists());
}

#[test]
fn files_come_in_the_order_of_their_paths() {
    let reader = TestDatabaseBuilder::of(
        "text Born to an agent\n= b.md\nheading B\n  text B1\n= a/z.md\nheading AZ\nheading AZ2\n",
    );
    assert_eq!(
        ids(&reader.roots(ArchivedVisibility::Hidden, 99).unwrap()),
        ["AZ", "AZ2", "B", "Born to an agent"]
    );
    assert_eq!(ids(&reader.roots(ArchivedVisibility::Hidden, 3).unwrap()), ["AZ", "AZ2", "B"]);
    let rest = reader
        .subtree_size(&[], SiblingRangeAfterPage::Roots(2), ArchivedVisibility::Hidden, 99)
        .unwrap();
    assert_eq!((rest.n_nodes, rest.is_at_least), (3, false));
    let rest = reader
        .subtree_size(&[], SiblingRangeAfterPage::Roots(4), ArchivedVisibility::Hidden, 99)
        .unwrap();
    assert_eq!(rest, SubtreeSize::default());
}

#[test]
fn a_family_is_found_from_each_of_its_members() {
    let reader = TestDatabaseBuilder::of(
        "= a.md\nheading top\n  text one\n  heading two\n    text deep\n      text deeper\n  text three\n",
    );
    let top = &reader.roots(ArchivedVisibility::Hidden, 1).unwrap()[0];
    let children = reader.children(top.key, ArchivedVisibility::Hidden, 99).unwrap();
    assert_eq!(ids(&children), ["one", "two", "three"]);
    assert_eq!(
        ids(&reader.children(top.key, ArchivedVisibility::Hidden, 2).unwrap()),
        ["one", "two"]
    );
    assert_eq!(ids(&reader.siblings(&children[1], 99).unwrap()), ["one", "three"]);
    assert_eq!(ids(&reader.siblings(top, 99).unwrap()), [] as [&str; 0]);
    let below = reader.descendants(children[1].key, 9, 99).unwrap();
    assert_eq!(ids(&below), ["deep", "deeper"]);
    assert_eq!(ids(&reader.descendants(children[1].key, 1, 99).unwrap()), ["deep"]);
    assert_eq!(ids(&reader.descendants(top.key, 9, 3).unwrap()).len(), 3);
    assert_eq!(ids(&reader.ancestors(below[1].key, 99).unwrap()), ["deep", "two", "top"]);
    let rest = SiblingRangeAfterPage::Children(top.key, children[0].position);
    assert_eq!(reader.subtree_size(&[], rest, ArchivedVisibility::Hidden, 99).unwrap().n_nodes, 4);
    let capped = reader
        .subtree_size(&[top.key], SiblingRangeAfterPage::Nothing, ArchivedVisibility::Hidden, 2)
        .unwrap();
    assert_eq!((capped.n_nodes, capped.is_at_least), (2, true));
}

#[test]
fn a_bad_expression_is_no_failure() {
    let reader = TestDatabaseBuilder::of("text words\n");
    for text in ["(", "\"", "a AND", "nowhere : a", "NEAR(", "", &"(".repeat(1 << 16)] {
        assert_eq!(reader.matches(text, &NodeFilter::default(), 9).unwrap(), None, "{text:.20}");
    }
    assert_eq!(
        reader.matches("words", &NodeFilter::default(), 9).unwrap().map(|it| it.len()),
        Some(1)
    );
    assert_eq!(
        reader.matches("\"\" OR words", &NodeFilter::default(), 9).unwrap().map(|it| it.len()),
        Some(1)
    );
}

#[test]
fn a_file_with_an_error_keeps_its_row() {
    let mut sketch = TestDatabaseBuilder::new();
    sketch.file("bad.md");
    sketch.file("good.md");
    sketch.node(0, "text", "two words");
    sketch.run("UPDATE file SET error = 'not text' WHERE path = 'bad.md'");
    let reader = sketch.done();
    let files: Vec<String> = reader
        .files()
        .unwrap()
        .into_iter()
        .map(|it| format!("{} {} {} {:?}", it.path, it.n_nodes, it.tokens, it.error))
        .collect();
    assert_eq!(files, ["bad.md 0 0 Some(\"not text\")", "good.md 1 2 None"]);
    let block =
        crate::query::render::source_files_by_folder::render_files(&reader.files().unwrap());
    expect![[r#"
        === Files ===
        /notes
        ├── bad.md (0 nodes, 0 tok) error: not text
        └── good.md (1 node, 2 tok)
    "#]]
    .assert_eq(&block);
}

#[test]
fn of_a_text_the_first_400_characters_are_weighed_whatever_their_bytes() {
    for (letter, n_letters) in [("x", 9), ("x", 400), ("x", 401), ("語", 399), ("語", 5_000)] {
        let mut sketch = TestDatabaseBuilder::new();
        sketch.file("a.md");
        sketch.node(0, "text", &letter.repeat(n_letters));
        let found =
            sketch.done().load_matches(&[NodeRowId(1)], |it| it.beginning.chars().count()).unwrap();
        assert_eq!(found[0].1, n_letters.min(400), "{letter} × {n_letters}");
    }
}
