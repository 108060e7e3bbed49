//! What is in the memory, as a whole.

use serde_json::{Map, Value, json};

use super::{Output, QueryAnswer, QueryError, hundredths};
use crate::model::clock::Millis;
use crate::model::heat::HeatThresholds;
use crate::query::render::stats::{Audience, render_stats};
use crate::store::reader::{Reader, Stats};

/// Returns the facts about the whole memory.
pub(crate) fn stats(
    reader: &Reader,
    lines: HeatThresholds,
    now: Millis,
    output: Output,
) -> Result<QueryAnswer, QueryError> {
    let stats = reader.at_one_state(|reader| reader.stats(lines))?;
    let text = render_stats(&stats, Audience::Agent, now);
    Ok(QueryAnswer { text, structured: output.json(|| json(&stats)), warmed: Vec::new() })
}

fn json(stats: &Stats) -> Value {
    let by_type: Map<String, Value> =
        stats.by_type.iter().map(|(name, n)| (name.clone(), json!(n))).collect();
    let head = stats.head.as_ref().map(|it| {
        json!({
            "id": it.id,
            "cursor_hash": it.cursor_hash,
            "message": it.message,
            "created_at": it.created_at.0,
        })
    });
    let warm = stats.temperatures;
    json!({
        "database": stats.database(),
        "size_bytes": stats.size_bytes,
        "nodes": stats.n_nodes(),
        "tokens": stats.tokens,
        "by_type": by_type,
        "snapshots": stats.n_snapshots,
        "head": head,
        "temperature": {
            "average": hundredths(warm.average),
            "median": hundredths(warm.median),
            "hot": warm.n_hot,
            "hot_from": warm.lines.hot,
            "cold": warm.n_cold,
            "cold_below": warm.lines.cold,
            "pinned": warm.n_pinned,
        },
        "relations": {
            "resolved": stats.n_parsed + stats.n_manual,
            "parsed": stats.n_parsed,
            "manual": stats.n_manual,
            "pending": stats.n_pending,
        },
        "index_rows": stats.n_index_rows,
    })
}
