//! Tells paths apart that become equal by redaction: all but the first get numbers, as those that
//! `redact` renames.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The paths among which one is unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::maintenance::transfer) enum PathScope {
    Roots,
    /// Files below the root with this key, in the past, too.
    Files(Option<i64>),
}

/// Former paths, by their scope and the redacted path.
#[derive(Default)]
pub(super) struct RedactedPaths(HashMap<(PathScope, String), String>);

impl RedactedPaths {
    /// Returns the path that `old` has now; it is `scrubbed` where no other has that.
    pub(super) fn name(&mut self, scope: PathScope, old: &str, scrubbed: &str) -> String {
        let mut new = scrubbed.to_owned();
        let mut nth = 1;
        loop {
            match self.0.entry((scope, new.clone())) {
                Entry::Vacant(free) => {
                    free.insert(old.to_owned());
                    return new;
                }
                Entry::Occupied(taken) if taken.get() == old => return new,
                Entry::Occupied(_) => (),
            }
            nth += 1;
            new = format!("{scrubbed} ({nth})");
        }
    }
}
