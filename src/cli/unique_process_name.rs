//! The name of this process, which no other one has.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// Returns a unique name for this process, even among machines with equal process ids.
pub(super) fn process_name() -> String {
    let random = RandomState::new().build_hasher().finish();
    format!("{}-{random:016x}", std::process::id())
}
