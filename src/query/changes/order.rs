//! Who stands elsewhere among its siblings. Ranks do not tell: a node that went away and came back
//! to its place has another one, and so has everybody after a renumbering.

use std::collections::{HashMap, HashSet};

use crate::query::Error;
use crate::store::NodeVersion;
use crate::store::reader::{Reader, SnapshotRange};

/// Parent, or root and path of the file.
type FamilyKey = (Option<String>, Option<i64>, Option<String>);

/// What was found out about families so far.
#[derive(Default)]
pub(super) struct Orders {
    moved: HashMap<FamilyKey, HashSet<String>>,
}

impl Orders {
    /// Whether a node that stands under the same parent at both ends of a range has changed sides
    /// with a sibling of which that is true, too.
    pub(super) fn is_moved(
        &mut self,
        reader: &Reader,
        range: SnapshotRange,
        id: &str,
        side: &NodeVersion,
    ) -> Result<bool, Error> {
        let family = family(side);
        if !self.moved.contains_key(&family) {
            let moved = moved(reader, range, side)?;
            self.moved.insert(family.clone(), moved);
        }
        Ok(self.moved[&family].contains(id))
    }
}

fn family(side: &NodeVersion) -> FamilyKey {
    match &side.parent {
        Some(parent) => (Some(parent.clone()), None, None),
        None => (None, side.root, side.path.clone()),
    }
}

fn moved(
    reader: &Reader,
    range: SnapshotRange,
    of: &NodeVersion,
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
    both.sort();
    // In the old order: whoever is now behind somebody that follows, or before one that precedes.
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
