//! Vector search: the nodes whose vectors are near to that of a question.

use crate::model::vector::{self, QueryVector};
use crate::store::reader::{NodeFilter, Reader};
use crate::store::{NodeKey, StoreError};

/// Nodes that are near beside those of words.
const NEAR_MAX: usize = 60;

/// Returns the nodes of a filter that are nearest in meaning, with their nearness from 0 to 1. It
/// is absolute: comparable between questions, and 0 for what most of a memory is.
pub(crate) fn nearest_in_meaning(
    reader: &Reader,
    meaning: &QueryVector,
    filter: &NodeFilter<'_>,
) -> Result<Vec<(NodeKey, f64)>, StoreError> {
    let mut cosines = Vec::new();
    reader.scan_vectors(meaning.model, |key, data| {
        cosines.extend(meaning.vector.cosine(data).map(|it| (key, it)));
    })?;
    let near = vector::nearest(cosines, NEAR_MAX);
    let keys: Vec<NodeKey> = near.iter().map(|it| it.0).collect();
    let met = reader.meeting(&keys, filter)?;
    Ok(near.into_iter().filter(|it| met.contains(&it.0)).collect())
}
