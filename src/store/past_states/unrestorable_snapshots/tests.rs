//! Tests of unrestorable snapshots: how they are looked for.

use super::*;
use crate::store::{IfMissing, Writer};

/// Otherwise the compile after a repair reads the whole history for each text.
#[test]
fn the_snapshots_of_one_node_are_found_by_its_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    drop(Writer::open(&path, IfMissing::Create).unwrap());
    let plan = format!("EXPLAIN QUERY PLAN {WITHOUT_TEXTS_OF_NODE}");
    let conn = Connection::open(&path).unwrap();
    let steps: Vec<String> = conn.rows(&plan, ["", ""], |row| row.get(3), "explain").unwrap();
    assert!(steps[0].contains("lost USING INDEX diff_by_node"), "{steps:?}");
    let is_sought = |it: &&String| it.starts_with("S") && !it.starts_with("SEARCH");
    assert_eq!(steps.iter().find(is_sought), None, "{steps:?}");
}
