//! Tests the work that foreign objects are.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::memory::Memory;

/// Instructions of SQLite's virtual machine between two counts.
const INSTRUCTIONS: i32 = 100;

/// Returns the work of dropping so many foreign views, in instructions of SQLite.
fn work_of_views(n_views: usize) -> u64 {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m.db");
    drop(Memory::create(&path).unwrap());
    let mut conn = Connection::open(&path).unwrap();
    let views: String =
        (0..n_views).map(|nth| format!("CREATE VIEW v{nth} AS SELECT 1;")).collect();
    conn.execute_batch(&format!("BEGIN; {views} COMMIT")).unwrap();
    let n_counts = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&n_counts);
    let count = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        false
    };
    conn.progress_handler(INSTRUCTIONS, Some(count)).unwrap();
    conn.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(restore_within(&conn, &path).unwrap(), [] as [String; 0]);
    conn.execute_batch("COMMIT").unwrap();
    assert_eq!(differences(&conn, version(&conn).unwrap()).unwrap(), []);
    n_counts.load(Ordering::Relaxed)
}

#[test]
fn the_work_of_a_foreign_view_does_not_grow_with_their_number() {
    let [none, few, many] = [0, 200, 800].map(work_of_views);
    assert!(many - none < 5 * (few - none), "{none}, {few}, {many}");
}
