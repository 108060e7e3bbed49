//! Tests the page cache after a large write.

use super::*;
use crate::model::clock::Millis;
use crate::store::connection::cache_kib;
use crate::store::{IfMissing, Writer};

#[test]
fn a_large_write_leaves_no_large_cache() {
    let dir = tempfile::tempdir().unwrap();
    let writer = Writer::open(&dir.path().join("memory.db"), IfMissing::Create).unwrap();
    let before = cache_kib(&writer.lock());
    for fails in [false, true] {
        let written = writer.write("m", "", Millis(0), |batch| {
            batch.defer_indexing()?;
            assert!(before < cache_kib(batch.tx));
            let planned = StoreError::Corrupt { what: "as planned".to_owned() };
            if fails { Err(planned) } else { Ok(()) }
        });
        assert_eq!(written.is_err(), fails);
        assert_eq!(cache_kib(&writer.lock()), before);
    }
}
