//! Statistics of the whole memory.

use serde_json::{Map, Value, json};

use super::{Answer, Error, QueryOptions, hundredths};
use crate::query::render::stats::{Audience, render_stats};
use crate::store::reader::{Reader, Stats};

/// Returns the statistics of the whole memory.
pub(super) fn stats(reader: &Reader, options: &QueryOptions) -> Result<Answer, Error> {
    let stats = reader.stats(options.lines, options.now)?;
    let text = render_stats(&stats, Audience::Agent, options.now);
    Ok(Answer::plain(text, options.output, || json(&stats)))
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
