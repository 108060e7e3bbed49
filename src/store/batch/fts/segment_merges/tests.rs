//! Tests that no commit pays for a large merge, and that segments stay few.

use super::*;
use crate::model::clock::UnixMillis;
use crate::model::tree::Node;
use crate::store::{Batch, IfMissing, NodePlace, StoreError, UnplacedNodeData, Writer};

const NOWHERE: NodePlace = NodePlace { file: None, parent: None, position: 0 };

/// Returns a text of words that no other number has.
fn text(nth: usize) -> Node {
    let words: Vec<String> = (0..40).map(|it| format!("w{:x}", nth * 40 + it)).collect();
    Node { label: format!("Text {nth}"), content: words.join(" "), ..Node::default() }
}

fn write(
    writer: &Writer,
    texts: std::ops::Range<usize>,
    body: impl Fn(&mut Batch<'_>) -> Result<(), StoreError>,
) {
    let add = |batch: &mut Batch<'_>| {
        body(batch)?;
        for nth in texts {
            let place = NodePlace { position: nth as i64, ..NOWHERE };
            batch.insert_agent_node(&UnplacedNodeData::of(&text(nth)), place)?;
        }
        Ok(())
    };
    writer.write::<_, StoreError>("m", "", UnixMillis(0), add).unwrap();
}

/// Returns the pages that a write of one small text adds to the log.
fn pages_of_a_write(writer: &Writer, nth: usize) -> i64 {
    let frames = || {
        let read = |row: &rusqlite::Row<'_>| row.get::<_, i64>(1);
        writer.lock().query_row("PRAGMA wal_checkpoint(NOOP)", [], read).unwrap()
    };
    let before = frames();
    write(writer, nth..nth + 1, |_| Ok(()));
    // A log that began anew has the pages of this write alone.
    if before <= frames() { frames() - before } else { frames() }
}

fn n_segments(writer: &Writer) -> usize {
    levels(&writer.lock()).unwrap().iter().map(|it| it.segments.len()).sum()
}

#[test]
fn no_write_pays_for_a_large_merge() {
    let dir = tempfile::tempdir().unwrap();
    let writer = Writer::open(&dir.path().join("memory.db"), IfMissing::Create).unwrap();
    for nth in 0..4 {
        write(&writer, nth * 1_000..(nth + 1) * 1_000, |batch| {
            batch.defer_indexing()?;
            if nth == 3 {
                batch.lift_segments();
            }
            Ok(())
        });
    }
    let large: i64 = levels(&writer.lock()).unwrap().iter().flat_map(|it| &it.segments).sum();
    assert!(400 < large, "the index has {large} pages");
    let pages: Vec<i64> = (0..300).map(|nth| pages_of_a_write(&writer, 4_000 + nth)).collect();
    let most = *pages.iter().max().unwrap();
    assert!(most < 250, "{most} pages in {pages:?}");
    let n_segments = n_segments(&writer);
    assert!(n_segments < 60, "{n_segments} segments");
    let check = "INSERT INTO node_fts (node_fts, rank) VALUES ('integrity-check', 1)";
    writer.lock().execute(check, []).unwrap();
}

#[test]
fn a_merge_that_a_large_write_began_can_be_completed() {
    let dir = tempfile::tempdir().unwrap();
    let writer = Writer::open(&dir.path().join("memory.db"), IfMissing::Create).unwrap();
    for nth in 0..2 {
        write(&writer, nth * 1_000..(nth + 1) * 1_000, |batch| {
            batch.defer_indexing()?;
            if nth == 1 {
                batch.lift_segments();
            }
            Ok(())
        });
    }
    assert!(1 < n_segments(&writer));
    writer.merge_index(0).unwrap();
    assert!(1 < n_segments(&writer), "it has a limit");
    writer.merge_index(i64::MAX).unwrap();
    assert_eq!(n_segments(&writer), 1);
    assert_eq!(merge_on(&writer.lock()).unwrap(), 0);
}

#[test]
fn a_level_that_earlier_builds_did_not_call_full_is_merged() {
    let dir = tempfile::tempdir().unwrap();
    let writer = Writer::open(&dir.path().join("memory.db"), IfMissing::Create).unwrap();
    const SET: &str = "INSERT INTO node_fts (node_fts, rank) VALUES (?1, ?2)";
    for setting in [("usermerge", 15), ("automerge", 0)] {
        writer.lock().execute(SET, params![setting.0, setting.1]).unwrap();
    }
    let n_lowest = || levels(&writer.lock()).unwrap()[0].segments.len();
    for nth in 0..FULL - 1 {
        write(&writer, nth..nth + 1, |_| Ok(()));
    }
    assert_eq!(n_lowest(), FULL - 1);
    write(&writer, FULL..FULL + 1, |_| Ok(()));
    write(&writer, FULL + 1..FULL + 2, |_| Ok(()));
    assert!(n_lowest() <= 2, "{} segments", n_lowest());
}

#[test]
fn a_compile_leaves_segments_to_its_end_unless_they_are_very_many() {
    let dir = tempfile::tempdir().unwrap();
    let writer = Writer::open(&dir.path().join("memory.db"), IfMissing::Create).unwrap();
    let add = |nth: usize| {
        let entry = "INSERT INTO node_fts (rowid, label) VALUES (?1, 'one more')";
        writer.lock().execute(entry, [1_000 + nth as i64]).unwrap();
    };
    write(&writer, 0..1, |batch| batch.defer_indexing());
    (n_segments(&writer)..FULL_OF_MANY - 1).for_each(add);
    assert!(!merge_many(&writer.lock()).unwrap());
    add(FULL_OF_MANY);
    assert!(merge_many(&writer.lock()).unwrap());
    assert!(!merge_many(&writer.lock()).unwrap());
    assert_eq!(n_segments(&writer), 1);
}

#[test]
fn the_structure_is_read_as_it_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let writer = Writer::open(&dir.path().join("memory.db"), IfMissing::Create).unwrap();
    assert_eq!(levels(&writer.lock()).unwrap(), []);
    for nth in 0..3 {
        write(&writer, nth..nth + 1, |_| Ok(()));
    }
    let lowest = SegmentLevel { n_merging: 0, segments: vec![1, 1, 1] };
    assert_eq!(levels(&writer.lock()).unwrap(), [lowest]);
    assert_eq!(parse(&[1]), None);
    assert_eq!(varint(&mut [0x81, 0x00].as_slice()), Some(128));
}
