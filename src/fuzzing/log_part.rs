//! Parts of a shared log with any bytes: their steps end, and written again they are the same.

use crate::store::replication::rewrite_part;

/// Panics when `data` as a part of an entry violates an invariant.
pub fn log_part(data: &[u8]) {
    let Some(written) = rewrite_part(data) else { return };
    assert_eq!(rewrite_part(&written).as_ref(), Some(&written), "a part changes as it is written");
}
