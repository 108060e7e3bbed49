//! Tells paths apart that become equal by redaction: all but the first get numbers, as those that
//! `redact` renames.

use std::collections::HashMap;

use crate::ingest::redact::number_redacted;

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
        number_redacted(scrubbed, |it| {
            let former = self.0.entry((scope, it.to_owned())).or_insert_with(|| old.to_owned());
            former == old
        })
    }
}
