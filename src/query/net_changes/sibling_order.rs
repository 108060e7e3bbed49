//! Sibling order: finds the nodes that moved among their siblings. Order keys do not tell: they
//! differ after a renumbering, and after a node moved away and back.

use std::collections::{HashMap, HashSet};

use crate::query::Error;
use crate::store::NodeVersionWithoutText;
use crate::store::reader::{Reader, SnapshotRange};

/// Parent, or root and path of the file.
type SiblingsKey = (Option<String>, Option<i64>, Option<String>);

/// The nodes that moved, by family; computed once for each.
#[derive(Default)]
pub(super) struct MovedSiblings {
    moved: HashMap<SiblingsKey, HashSet<String>>,
}

impl MovedSiblings {
    /// Returns whether a node with the same parent at both ends of a range swapped order with such
    /// a sibling.
    pub(super) fn is_moved(
        &mut self,
        reader: &Reader,
        range: SnapshotRange,
        id: &str,
        side: &NodeVersionWithoutText,
    ) -> Result<bool, Error> {
        let family = family(side);
        if !self.moved.contains_key(&family) {
            let moved = moved(reader, range, side)?;
            self.moved.insert(family.clone(), moved);
        }
        Ok(self.moved[&family].contains(id))
    }
}

fn family(side: &NodeVersionWithoutText) -> SiblingsKey {
    match &side.parent {
        Some(parent) => (Some(parent.clone()), None, None),
        None => (None, side.root, side.path.clone()),
    }
}

fn moved(
    reader: &Reader,
    range: SnapshotRange,
    of: &NodeVersionWithoutText,
) -> Result<HashSet<String>, Error> {
    let mut both: Vec<(i64, i64, String)> = Vec::new();
    for id in reader.siblings_since(of, range.from)? {
        let sides = (
            reader.versions().version_at(&id, range.from)?,
            reader.versions().version_at(&id, range.to)?,
        );
        let (Some(old), Some(new)) = sides else { continue };
        if family(&old) == family(of) && family(&new) == family(of) {
            both.push((old.position, new.position, id));
        }
    }
    both.sort_unstable();
    // In the old order: each node that is now after one of its successors, or before one of its
    // predecessors.
    let mut least_behind = vec![i64::MAX; both.len() + 1];
    for (at, (_, new, _)) in both.iter().enumerate().rev() {
        least_behind[at] = least_behind[at + 1].min(*new);
    }
    let mut most_before = i64::MIN;
    let mut moved = HashSet::new();
    for (at, (_, new, id)) in both.into_iter().enumerate() {
        if new < most_before || least_behind[at + 1] < new {
            moved.insert(id);
        }
        most_before = most_before.max(new);
    }
    Ok(moved)
}
