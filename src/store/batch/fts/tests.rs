//! Tests for large writes: what one sets aside, and small writes beside its segments.

use std::collections::BTreeSet;

use super::*;
use crate::model::clock::UnixMillis;
use crate::model::tree::{ContentFormat, NodeType};
use crate::store::connection::cache_kib;
use crate::store::node_columns::FIELDS;
use crate::store::reader::database_builder_testing::TOTALS_OFF;
use crate::store::{
    IfMissing, OptionalColumnValue, OptionalColumnValues, UnplacedNodeData, Writer,
};

#[test]
fn a_large_write_leaves_no_large_cache() {
    let dir = tempfile::tempdir().unwrap();
    let writer = Writer::open(&dir.path().join("memory.db"), IfMissing::Create).unwrap();
    let before = cache_kib(&writer.lock());
    for fails in [false, true] {
        let written = writer.write("m", "", UnixMillis(0), |batch| {
            batch.defer_indexing()?;
            assert!(before < cache_kib(batch.tx));
            let planned = StoreError::Corrupt { what: "as planned".to_owned() };
            if fails { Err(planned) } else { Ok(()) }
        });
        assert_eq!(written.is_err(), fails);
        assert_eq!(cache_kib(&writer.lock()), before);
    }
}

/// Returns the ids of the pages of the index.
fn pages(writer: &Writer) -> BTreeSet<i64> {
    writer.lock().rows("SELECT id FROM node_fts_data", [], |row| row.get(0), "look").unwrap()
}

/// Inserts a node of many different words.
fn insert(batch: &mut Batch<'_>, nth: usize, n_words: usize) -> Result<(), StoreError> {
    let words = (0..n_words).map(|word| format!("word{} ", (nth * 7919 + word * 31) % 50_000));
    let content: String = words.collect();
    let data = UnplacedNodeData {
        node_type: NodeType::Text,
        format: ContentFormat::Plain,
        label: "a node",
        content: &content,
        token_count: 1,
        attributes: OptionalColumnValues::default(),
    };
    batch.insert_typed_node(&data, &["@notes"]).map(drop)
}

/// Asserts that the index has each node once, and that each is counted once.
fn check_index(writer: &Writer) {
    const CHECK: &str = "INSERT INTO node_fts (node_fts, rank) VALUES ('integrity-check', 1)";
    writer.lock().execute(CHECK, []).unwrap();
    let n_off: i64 = one(&writer.lock(), TOTALS_OFF).unwrap();
    assert_eq!(n_off, 0);
}

#[test]
fn nodes_that_are_indexed_before_the_end_are_not_indexed_again() {
    for n_waiting in 0..5 {
        let dir = tempfile::tempdir().unwrap();
        let writer = Writer::open(&dir.path().join("memory.db"), IfMissing::Create).unwrap();
        let many = writer.write::<_, StoreError>("m", "", UnixMillis(0), |batch| {
            batch.defer_indexing()?;
            (0..1_000).try_for_each(|nth| insert(batch, nth, 1))?;
            batch.index_waiting()?;
            (0..n_waiting).try_for_each(|nth| insert(batch, nth, 2))
        });
        many.unwrap();
        check_index(&writer);
    }
}

#[test]
fn no_small_write_merges_the_segments_of_a_first_compile() {
    let dir = tempfile::tempdir().unwrap();
    let writer = Writer::open(&dir.path().join("memory.db"), IfMissing::Create).unwrap();
    let many = writer.write::<_, StoreError>("m", "", UnixMillis(0), |batch| {
        batch.defer_indexing()?;
        (0..3_000).try_for_each(|nth| insert(batch, nth, 300))
    });
    many.unwrap();
    let n_pages = pages(&writer).len();
    assert!(800 < n_pages, "{n_pages}");
    for nth in 0..100 {
        let before = pages(&writer);
        writer
            .write::<_, StoreError>("m", "", UnixMillis(0), |batch| insert(batch, nth, 5))
            .unwrap();
        let n_new = pages(&writer).difference(&before).count();
        assert!(n_new < n_pages / 2, "write {nth} wrote {n_new} pages, of {n_pages}");
    }
    check_index(&writer);
}

#[test]
fn a_typed_node_has_its_facets_within_a_large_write() {
    const FACETS: &str = "SELECT group_concat(key || '=' || value, ' ') FROM facet";
    let dir = tempfile::tempdir().unwrap();
    let writer = Writer::open(&dir.path().join("memory.db"), IfMissing::Create).unwrap();
    let fields =
        OptionalColumnValue::Text(r#"{"uuid":"u1","tags":["a"],"archived":false}"#.to_owned());
    let data = UnplacedNodeData {
        node_type: NodeType::Core,
        format: ContentFormat::Plain,
        label: "Rust",
        content: "Rust is used.",
        token_count: 4,
        attributes: OptionalColumnValues::default().with(FIELDS, Some(fields)),
    };
    let written = writer.write("m", "", UnixMillis(0), |batch| {
        batch.defer_indexing()?;
        batch.insert_typed_node(&data, &["Memories"])?;
        let within: String = one(batch.tx, FACETS).doing("look")?;
        Ok::<_, StoreError>(within)
    });
    let (within, _) = written.unwrap();
    assert!(within.contains("uuid=u1") && within.contains("tag=a"), "{within}");
    let after: String = one(&writer.lock(), FACETS).unwrap();
    assert_eq!(after, within);
}

/// Inserts a node whose facets are computed here, so that the trigger passes over it.
fn insert_typed(batch: &mut Batch<'_>, content: &str) -> Result<NodeRowId, StoreError> {
    let fields = OptionalColumnValue::Text(r#"{"title":"a node"}"#.to_owned());
    let data = UnplacedNodeData {
        node_type: NodeType::Episode,
        format: ContentFormat::Plain,
        label: content,
        content,
        token_count: 1,
        attributes: OptionalColumnValues::default().with(FIELDS, Some(fields)),
    };
    batch.insert_typed_node(&data, &["@log"]).map(|it| it.0)
}

#[test]
fn the_typed_nodes_of_one_write_are_one_segment() {
    let dir = tempfile::tempdir().unwrap();
    let writer = Writer::open(&dir.path().join("memory.db"), IfMissing::Create).unwrap();
    let made = writer.write::<_, StoreError>("m", "", UnixMillis(0), |batch| {
        let first = insert_typed(batch, "wort 0")?;
        assert_eq!(batch.matching_nodes("wort", 9)?, [], "it waits");
        (1..50).try_for_each(|nth| insert_typed(batch, &format!("wort {nth}")).map(drop))?;
        Ok(first)
    });
    let (first, _) = made.unwrap();
    check_index(&writer);
    // The headings of the bucket, which the trigger indexes, are in the segment before.
    let n_segments: i64 =
        one(&writer.lock(), "SELECT count(DISTINCT segid) FROM node_fts_idx").unwrap();
    assert!(n_segments <= 2, "{n_segments}");
    let found =
        writer.write::<_, StoreError>("", "", UnixMillis(0), |it| it.matching_nodes("wort", 9));
    assert_eq!(found.unwrap().0[0], first);
}

#[test]
fn a_typed_node_that_waits_may_change_and_go() {
    let dir = tempfile::tempdir().unwrap();
    let writer = Writer::open(&dir.path().join("memory.db"), IfMissing::Create).unwrap();
    let made = writer.write::<_, StoreError>("m", "", UnixMillis(0), |batch| {
        for nth in 0..4 {
            let node = insert_typed(batch, &format!("before {nth}"))?;
            let old = batch.at(node)?.expect("it was just made");
            match nth {
                0 => batch.forget(&old)?,
                1 => {
                    let label = format!("after {nth}");
                    let new = UnplacedNodeData { label: &label, content: &label, ..old.data() };
                    batch.set_agent_text(&old, &new)?;
                }
                2 => batch.defer_indexing()?,
                _ => (),
            }
        }
        Ok(())
    });
    made.unwrap();
    check_index(&writer);
    let n_found = |word: &str| {
        let read = |it: &mut Batch<'_>| it.matching_nodes(word, 9).map(|it| it.len());
        writer.write::<_, StoreError>("", "", UnixMillis(0), read).unwrap().0
    };
    assert_eq!((n_found("before"), n_found("after")), (2, 1));
}
