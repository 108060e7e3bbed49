use std::fmt;

use super::*;
use crate::store::reader::database_builder_testing::{TestDatabaseBuilder, work_of};
use crate::store::reader::{ArchivedVisibility, SiblingRangeAfterPage};

/// Returns a reader over files of two hundred nodes each.
fn large(n_files: usize) -> Reader {
    let mut sketch = TestDatabaseBuilder::new();
    for file in 0..n_files {
        sketch.file(&format!("{file:03}.md"));
        sketch.node(0, "heading", &format!("file {file}"));
        for at in 0..199 {
            sketch.node(1 + at % 3, "text", &format!("text {file} {at}"));
        }
    }
    sketch.done()
}

fn shown(text: &str) -> i64 {
    i64::try_from(text.matches("{\"id\"").count()).unwrap()
}

#[test]
fn documents_read_no_more_than_they_show() {
    let reader = large(100);
    let mut text = String::new();
    let all = work_of(|| write_tree(&reader, TreeScope::Forest, &mut text).unwrap());
    assert_eq!(shown(&text), 20_000);
    let root = reader.roots(ArchivedVisibility::Hidden, 1).unwrap().remove(0).id;
    for (levels, n_nodes) in [(1, 68), (2, 134), (3, 200), (9, 200)] {
        text.clear();
        let extent = TreeScope::Below { root: &root, levels: Some(levels) };
        let work = work_of(|| write_tree(&reader, extent, &mut text).unwrap());
        assert_eq!(shown(&text), n_nodes);
        assert!(work < 100 * n_nodes, "{work} steps for {n_nodes} nodes");
    }
    assert!(all < 100 * 20_000, "{all} steps for all nodes");
}

#[test]
fn neighbours_are_found_without_a_full_scan() {
    let reader = large(100);
    let root = reader.roots(ArchivedVisibility::Hidden, 1).unwrap().remove(0).key;
    let work = work_of(|| {
        let below = reader.descendants(root, 1, 10).unwrap();
        let leaf = reader.descendants(root, 9, 200).unwrap().pop().unwrap().key;
        assert_eq!((below.len(), reader.ancestors(leaf, 64).unwrap().is_empty()), (10, false));
        assert!(reader.descendants(leaf, 9, 10).unwrap().is_empty());
    });
    assert!(work < 20_000, "{work} steps among 20,000 nodes");
}

#[test]
fn no_more_is_counted_than_asked_for() {
    let reader = large(100);
    let keys: Vec<_> =
        reader.roots(ArchivedVisibility::Hidden, 60).unwrap().iter().map(|it| it.key).collect();
    let work = work_of(|| {
        let extent = reader
            .subtree_size(&keys, SiblingRangeAfterPage::Roots(60), ArchivedVisibility::Hidden, 200)
            .unwrap();
        assert_eq!((extent.n_nodes, extent.is_at_least), (200, true));
    });
    // The children of two hundred nodes are thousands.
    assert!(work < 60_000, "{work} steps");
}

#[test]
fn only_shown_snapshots_are_read() {
    let sketch = TestDatabaseBuilder::new();
    sketch.run(
        "WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers LIMIT 2000)
         INSERT INTO snapshot (cursor_hash, message, compile_root, created_at)
         SELECT 'c', 'm', '', n FROM numbers",
    );
    let reader = sketch.done();
    let mut text = String::new();
    let few = work_of(|| write_snapshots(&reader, Some(3), &mut text).unwrap());
    assert_eq!(shown(&text), 3);
    assert!(few < 200, "{few} steps for 3 snapshots");
}

#[test]
fn a_full_receiver_ends_the_reading() {
    struct Small(usize);
    impl Write for Small {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0 = self.0.checked_sub(text.len()).ok_or(fmt::Error)?;
            Ok(())
        }
    }
    let reader = large(10);
    let work = work_of(|| {
        let full = write_tree(&reader, TreeScope::Forest, &mut Small(5_000));
        assert!(matches!(full, Err(Error::Unavailable(_))));
    });
    assert!(work < 10_000, "{work} steps for 5,000 bytes");
}

#[test]
fn a_cycle_of_parents_ends_the_walk() {
    let mut sketch = TestDatabaseBuilder::new();
    sketch.file("a.md");
    let (one, two) = (sketch.node(0, "heading", "one"), sketch.node(1, "text", "two"));
    sketch.run("UPDATE node SET parent = 2 WHERE key = 1");
    let reader = sketch.done();
    for id in [one, two] {
        let extent = TreeScope::Below { root: &id, levels: None };
        let error = write_tree(&reader, extent, &mut String::new()).unwrap_err();
        assert!(matches!(error, Error::Store(_)));
    }
    let mut text = String::new();
    write_tree(&reader, TreeScope::Forest, &mut text).unwrap();
    assert_eq!(text, "{\"roots\":[]}");
}

#[test]
fn a_deep_tree_needs_no_deep_stack() {
    let mut sketch = TestDatabaseBuilder::new();
    sketch.file("a.md");
    for depth in 0..10_000 {
        sketch.node(depth.min(1), "text", "deep");
    }
    sketch.run("UPDATE node SET parent = key - 1 WHERE key > 1");
    let reader = sketch.done();
    let mut text = String::new();
    write_tree(&reader, TreeScope::Forest, &mut text).unwrap();
    assert_eq!(shown(&text), 10_000);
    assert!(text.ends_with("]}]}]}]}"));
}
