//! Vector search: the nodes whose vectors are near to that of a question.

use std::collections::HashSet;

use crate::model::vector::{self, QueryVector};
use crate::store::reader::{NodeFilter, Reader};
use crate::store::{NodeRowId, StoreError};

/// Nodes that are near beside those of words.
const NEAR_MAX: usize = 60;

/// Returns the nodes of a filter that are nearest in meaning, with their nearness from 0 to 1. It
/// is absolute: comparable between questions, and 0 for what most of a memory is.
pub(super) fn nearest_in_meaning(
    reader: &Reader,
    meaning: &QueryVector,
    filter: &NodeFilter<'_>,
) -> Result<Vec<(NodeRowId, f64)>, StoreError> {
    nearest_meeting(reader, meaning, |keys| reader.meeting(keys, filter))
}

/// Returns the nodes that are nearest in meaning of those that meet a condition, however many
/// others are nearer. `meeting` returns which of some nodes do.
pub(crate) fn nearest_meeting(
    reader: &Reader,
    meaning: &QueryVector,
    meeting: impl Fn(&[NodeRowId]) -> Result<Vec<NodeRowId>, StoreError>,
) -> Result<Vec<(NodeRowId, f64)>, StoreError> {
    let mut cosines = Vec::new();
    reader.scan_vectors(meaning.model, |key, data| {
        cosines.extend(meaning.vector.cosine(data).map(|it| (key, it)));
    })?;
    let near = vector::by_nearness(cosines);
    let (mut rest, mut n_looked_at) = (&near[..], NEAR_MAX);
    let mut nearest = Vec::new();
    while !rest.is_empty() && nearest.len() < NEAR_MAX {
        let (some, others) = rest.split_at(n_looked_at.min(rest.len()));
        let keys: Vec<NodeRowId> = some.iter().map(|it| it.0).collect();
        let met: HashSet<NodeRowId> = meeting(&keys)?.into_iter().collect();
        nearest.extend(some.iter().filter(|it| met.contains(&it.0)));
        // Where few of them meet it, more are looked at at once.
        (rest, n_looked_at) = (others, 4 * n_looked_at);
    }
    nearest.truncate(NEAR_MAX);
    Ok(nearest)
}
