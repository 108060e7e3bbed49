//! Tests of look-ups of knowledge: how they are run.

use super::*;
use crate::store::{IfMissing, Writer};

/// Otherwise each new fact of a subject reads all that there are.
#[test]
fn the_newest_facts_are_read_without_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::open(&folder.path().join("memory.db"), IfMissing::Create).unwrap();
    let plan = writer.write("", "", UnixMillis(0), |batch| {
        let plan = format!("EXPLAIN QUERY PLAN {}", NEWEST_FACTS.text());
        batch.tx.rows(&plan, [1, 1], |row| row.get(3), "explain")
    });
    let steps: Vec<String> = plan.unwrap().0;
    assert!(steps[0].contains("INDEX node_by_parent"), "{steps:?}");
    assert!(steps.iter().all(|it| !it.contains("ORDER BY")), "{steps:?}");
}
