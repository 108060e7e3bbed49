//! The distribution of temperatures, with the warmest and the coldest nodes.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{Error, node_row};
use crate::model::clock::UnixMillis;
use crate::model::heat::{BIRTH_TEMPERATURE, HeatThresholds};
use crate::store::NodeRowId;
use crate::store::reader::{BrowsedNode, Reader};

/// Returns the temperatures of all nodes; of many, they may be a minute old.
pub(crate) fn heat_document(
    reader: &Reader,
    lines: HeatThresholds,
    now: UnixMillis,
) -> Result<Value, Error> {
    let sums = reader.heat_sums(lines.cold, now)?;
    let attended = reader.attended()?;
    let rows = |keys: &[NodeRowId]| -> Result<Vec<Value>, Error> {
        let mut nodes: HashMap<NodeRowId, BrowsedNode> =
            reader.browsed(keys)?.into_iter().map(|it| (it.key, it)).collect();
        let nodes = keys.iter().filter_map(|key| nodes.remove(key));
        Ok(nodes.map(|it| node_row(&it, attended)).collect())
    };
    Ok(json!({
        "bins": sums.bins,
        "never_read": sums.n_nodes.saturating_sub(sums.n_read),
        "read": sums.n_read,
        "cold": sums.n_cold,
        "pinned": sums.n_pinned,
        "warmest": rows(&sums.warmest)?,
        "coldest": rows(&sums.coldest)?,
        "cold_threshold": lines.cold,
        "hot_threshold": lines.hot,
        "born": BIRTH_TEMPERATURE,
    }))
}
