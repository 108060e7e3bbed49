//! Conflicts on a worksheet: their statements, and a sheet of the open ones.

use serde_json::{Value, json};

use super::{
    CONFLICTS_MAX, EDGES_MAX, TEXT_CHARS_MAX, Worksheet, WorksheetRequest, operation_forms,
};
use crate::memory::knowledge::arguments::KnowledgeResult;
use crate::memory::knowledge::conflict_writes::DISPUTES;
use crate::memory::knowledge::deleted_flag_in_json::marked_if_deleted;
use crate::memory::knowledge::resource_json::n_open_conflicts;
use crate::model::clock::UnixMillis;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::knowledge::CONFLICT_STATES;
use crate::store::NodeRowId;
use crate::store::reader::{KnowledgeRow, Reader};
use crate::text::truncate_chars;

/// Characters of a statement in a conflict, at least.
const STATEMENT_CHARS_MIN: usize = 10;

/// Returns the newest of these conflicts.
pub(super) fn open_conflicts(
    reader: &Reader,
    now: UnixMillis,
) -> KnowledgeResult<Vec<KnowledgeRow>> {
    let open = ("conflict", CONFLICT_STATES[0]);
    let lapsed = reader.lapsed_conflicts(now)?;
    let mut keys = reader.newest_with(NodeType::Conflict, open, CONFLICTS_MAX + lapsed.len())?;
    keys.retain(|it| lapsed.binary_search(it).is_err());
    keys.truncate(CONFLICTS_MAX);
    keys.reverse();
    Ok(reader.knowledge(&keys)?)
}

/// Adds a conflict with its statements, which are cut until it fits into that share.
pub(super) fn add_conflict(
    sheet: &mut Worksheet,
    reader: &Reader,
    (conflict, share): (&KnowledgeRow, f64),
) -> KnowledgeResult<bool> {
    let mut n_chars = TEXT_CHARS_MAX / 4;
    while STATEMENT_CHARS_MIN <= n_chars {
        if sheet.add("conflicts", share, conflict_json(reader, conflict, n_chars)?) {
            return Ok(true);
        }
        n_chars /= 2;
    }
    Ok(false)
}

/// Returns a conflict with its statements, each cut to a number of characters.
fn conflict_json(
    reader: &Reader,
    conflict: &KnowledgeRow,
    n_chars: usize,
) -> KnowledgeResult<Value> {
    let mut edges = reader.typed_edges_from(&[conflict.key], EDGES_MAX)?;
    edges.retain(|it| it.link_type == DISPUTES);
    let targets: Vec<NodeRowId> = edges.iter().map(|it| it.target).collect();
    let facts: Vec<Value> = reader
        .knowledge(&targets)?
        .iter()
        .map(|it| {
            let shown = json!({
                "id": it.id,
                "text": truncate_chars(&it.content, n_chars),
                "valid_from": it.time("valid_from").map(UnixMillis::to_second),
            });
            marked_if_deleted(it, shown)
        })
        .collect();
    Ok(json!({
        "id": conflict.id,
        "severity": conflict.text("severity"),
        "about": truncate_chars(&conflict.content, n_chars),
        "facts": facts,
        "note": conflict.text("note").map(|it| truncate_chars(it, n_chars)),
    }))
}

pub(super) fn conflicts_sheet(
    reader: &Reader,
    request: &WorksheetRequest,
    (base, now): (i64, UnixMillis),
) -> KnowledgeResult<Value> {
    let total = n_open_conflicts(reader, now)?;
    let mut sheet = Worksheet::new(
        json!({
            "task": "conflicts",
            "base": base,
            "pending": {"total": total, "shown": 0},
            "conflicts": [],
            "operations": operation_forms(Some(&["resolve", "dismiss", "supersede", "update"])),
            "example": [{"op": "resolve", "id": "CONFLICT", "winner": "FACT", "note": "why"}],
        }),
        request.budget,
    );
    let mut n_shown = 0;
    for conflict in open_conflicts(reader, now)? {
        if !add_conflict(&mut sheet, reader, (&conflict, 1.0))? {
            break;
        }
        n_shown += 1;
    }
    sheet.set_shown(n_shown);
    Ok(sheet.finish())
}
