//! Tests the cache sizes of connections.

use super::*;
use crate::store::Writer;

#[test]
fn only_the_writer_keeps_many_pages() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    let writer = Writer::open(&path, IfMissing::Create).unwrap();
    assert_eq!(cache_kib(&writer.lock()), CACHE_KIB);
    assert_eq!(cache_kib(&open_reader(&path).unwrap()), CACHE_BESIDE_KIB);
    assert_eq!(cache_kib(&open_beside(&path, Duration::ZERO).unwrap()), CACHE_BESIDE_KIB);
}
