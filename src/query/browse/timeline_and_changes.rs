//! The timeline, the changes of a snapshot, and those of a node.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{CursorPage, Error, instant, numbers, position, quote_input};
use crate::query::{find_by_id, unified_diff};
use crate::store::reader::{BrowsedChange, BrowsedSnapshot, ChangeCounts, Reader};

/// Characters of each text that are compared.
const COMPARED_CHARS: usize = 20_000;

/// Characters of each side of a hunk.
const SIDE_CHARS: usize = 2_000;

/// Hunks of a change.
const HUNKS_MAX: usize = 20;

/// Bytes of the hunks of a change, as JSON, beyond which no more are listed.
const HUNKS_BYTES: usize = 64 * 1024;

/// Returns a page of snapshots with their numbers of changes, newest first, and the sums of these
/// by day.
pub(crate) fn timeline_document(
    reader: &Reader,
    before: Option<&str>,
    n_max: usize,
) -> Result<Value, Error> {
    let before = before.map_or(Ok(i64::MAX), |it| position("before", it))?;
    let snapshots = reader.snapshots_before(before, n_max + 1)?;
    let row = |it: &BrowsedSnapshot| {
        json!({
            "id": it.id,
            "parent_id": it.parent,
            "message": it.message,
            "created_at": instant(it.created_at),
            "is_head": it.is_head,
            "added": it.counts.added,
            "modified": it.counts.modified,
            "removed": it.counts.removed,
        })
    };
    let page = CursorPage::take(&snapshots, n_max, row, |it| it.id.to_string());
    let mut days: BTreeMap<String, (u64, ChangeCounts)> = BTreeMap::new();
    for snapshot in snapshots.iter().take(page.rows.len()) {
        let (n, sums) = days.entry(snapshot.created_at.day()).or_default();
        *n += 1;
        sums.added = sums.added.saturating_add(snapshot.counts.added);
        sums.modified = sums.modified.saturating_add(snapshot.counts.modified);
        sums.removed = sums.removed.saturating_add(snapshot.counts.removed);
    }
    let bucket = |(day, (n, sums)): (&String, &(u64, ChangeCounts))| {
        json!({
            "day": day,
            "snapshots": n,
            "added": sums.added,
            "modified": sums.modified,
            "removed": sums.removed,
        })
    };
    let buckets: Vec<Value> = days.iter().rev().map(bucket).collect();
    Ok(json!({"snapshots": page.rows, "buckets": buckets, "next": page.next}))
}

/// Returns a page of the changes of a snapshot, in the order of their recording.
pub(crate) fn changes_document(
    reader: &Reader,
    id: i64,
    after: Option<&str>,
    n_max: usize,
) -> Result<Value, Error> {
    let after = after.map_or(Ok(0), |it| position("after", it))?;
    if !reader.has_snapshot(id)? {
        return Err(Error::NotFound(format!("no snapshot {id}; the timeline lists them")));
    }
    let changes = reader.changes_after(id, after, (COMPARED_CHARS, n_max + 1))?;
    let row = |it: &BrowsedChange| {
        let (hunks, is_cut) = hunks(it);
        json!({
            "op": it.op,
            "id": it.id,
            "label": it.label,
            "source": it.path,
            "hunks": hunks,
            "cut": is_cut,
        })
    };
    let page = CursorPage::take(&changes, n_max, row, |it| it.seq.to_string());
    Ok(json!({"id": id, "changes": page.rows, "next": page.next}))
}

/// Returns a page of the changes of a node, newest first; the node may be removed.
pub(crate) fn history_document(
    reader: &Reader,
    id: &str,
    before: Option<&str>,
    n_max: usize,
) -> Result<Value, Error> {
    let moment = before.map_or(Ok([i64::MAX, i64::MAX]), |it| numbers("before", it))?;
    let known = find_by_id(reader, id)?.map(|it| it.id);
    let node = known.as_deref().unwrap_or(id);
    let changes =
        reader.changes_before(node, (moment[0], moment[1]), (COMPARED_CHARS, n_max + 1))?;
    if changes.is_empty() && known.is_none() {
        return Err(Error::NotFound(format!("no node `{}` is or was there", quote_input(id))));
    }
    let row = |it: &BrowsedChange| {
        let (hunks, is_cut) = hunks(it);
        json!({
            "snapshot": it.snapshot,
            "op": it.op,
            "message": it.message,
            "created_at": instant(it.created_at),
            "hunks": hunks,
            "cut": is_cut,
        })
    };
    let page = CursorPage::take(&changes, n_max, row, |it| format!("{}.{}", it.snapshot, it.seq));
    Ok(json!({"id": node, "history": page.rows, "next": page.next}))
}

/// Returns the hunks of a change, and whether something of them is left out.
fn hunks(change: &BrowsedChange) -> (Vec<Value>, bool) {
    let mut is_cut = change.is_cut;
    let mut side = |text: &str| match text.char_indices().nth(SIDE_CHARS) {
        None => text.to_owned(),
        Some((at, _)) => {
            is_cut = true;
            text[..at].to_owned()
        }
    };
    let all = unified_diff::hunk_sides(&change.old, &change.new);
    let (mut hunks, mut n_bytes) = (Vec::new(), 0);
    for (before, after) in all.iter().take(HUNKS_MAX) {
        let hunk = json!({"before": side(before), "after": side(after)});
        n_bytes += hunk.to_string().len();
        if HUNKS_BYTES < n_bytes {
            break;
        }
        hunks.push(hunk);
    }
    let is_cut = is_cut || hunks.len() < all.len();
    (hunks, is_cut)
}
