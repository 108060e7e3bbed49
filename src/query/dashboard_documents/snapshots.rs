//! The history: snapshots, and the changes of each.

use serde::Serialize;

use super::{Error, JsonDestination, JsonList};
use crate::store::reader::Reader;

#[derive(Serialize)]
struct SnapshotListEntry<'a> {
    id: i64,
    parent_id: Option<i64>,
    message: &'a str,
    compile_root: &'a str,
    /// Creation time in seconds.
    created_at: i64,
    is_head: bool,
}

/// Writes the newest `n_max` snapshots, newest first; `None`: all.
pub(crate) fn write_snapshots(
    reader: &Reader,
    n_max: Option<usize>,
    out: JsonDestination<'_>,
) -> Result<(), Error> {
    out.write_str("{\"snapshots\":[")?;
    let mut list = JsonList::new(&mut *out);
    reader.each_snapshot(n_max.unwrap_or(usize::MAX), |it| {
        list.push(&SnapshotListEntry {
            id: it.id,
            parent_id: it.parent,
            message: &it.message,
            compile_root: &it.compile_root,
            created_at: it.created_at.0.div_euclid(1000),
            is_head: it.is_head,
        })
    })?;
    Ok(out.write_str("]}")?)
}

#[derive(Serialize)]
struct NodeDiffEntry<'a> {
    op: &'a str,
    node_id: &'a str,
    old_hash: &'a str,
    new_hash: &'a str,
    old_content: &'a str,
    new_content: &'a str,
}

/// Writes the changes of a snapshot; an unknown one has none.
pub(crate) fn write_diffs(
    reader: &Reader,
    snapshot: i64,
    out: JsonDestination<'_>,
) -> Result<(), Error> {
    write!(out, "{{\"snapshot_id\":{snapshot},\"diffs\":[")?;
    let mut list = JsonList::new(&mut *out);
    reader.each_edit(snapshot, |it| {
        list.push(&NodeDiffEntry {
            op: &it.op,
            node_id: &it.node_id,
            old_hash: it.old_hash.as_deref().unwrap_or_default(),
            new_hash: it.new_hash.as_deref().unwrap_or_default(),
            old_content: it.old_content.as_deref().unwrap_or_default(),
            new_content: it.new_content.as_deref().unwrap_or_default(),
        })
    })?;
    Ok(out.write_str("]}")?)
}
