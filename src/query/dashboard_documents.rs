//! Dashboard documents: the whole memory as JSON with fixed keys, streamed row by row.
//!
//! Keys, their order and their presence are fixed. Nothing here warms a node. Each function writes
//! one document, which is invalid after an error.

mod graph;
mod node_tree;
mod snapshots;

use std::fmt::Write;

use serde::Serialize;
use serde_json::{Map, Value};

pub(crate) use graph::write_graph;
pub(crate) use node_tree::{TreeScope, write_temperatures, write_tree};
pub(crate) use snapshots::{write_diffs, write_snapshots};

use super::Error;
use crate::model::clock::UnixMillis;
use crate::model::heat::HeatThresholds;
use crate::store::StoreError;
use crate::store::reader::Reader;
use crate::text;
use crate::text::terminal_safe_json::json_text;

/// The sink of a document.
type JsonDestination<'a> = &'a mut dyn Write;

/// A JSON list, written value by value.
struct JsonList<'a> {
    out: JsonDestination<'a>,
    is_empty: bool,
}

impl<'a> JsonList<'a> {
    fn new(out: JsonDestination<'a>) -> JsonList<'a> {
        JsonList { out, is_empty: true }
    }

    fn push(&mut self, value: &impl Serialize) -> Result<(), Error> {
        if !std::mem::replace(&mut self.is_empty, false) {
            self.out.write_char(',')?;
        }
        Ok(self.out.write_str(&json_text(value))?)
    }
}

#[derive(Serialize)]
struct Overview<'a> {
    db_path: &'a str,
    db_bytes: u64,
    nodes: NodeCounts,
    snapshots: SnapshotsSummary<'a>,
    temperature: TemperatureSummary,
    relations: OverviewReferenceCounts,
    fts_rows: u64,
    /// The space of a shared memory.
    #[serde(skip_serializing_if = "Value::is_null")]
    space: &'a Value,
}

#[derive(Serialize)]
struct NodeCounts {
    total: u64,
    by_type: Map<String, Value>,
    tokens: u64,
}

#[derive(Default, Serialize)]
struct SnapshotsSummary<'a> {
    count: u64,
    head_id: i64,
    cursor_hash: &'a str,
    latest_message: &'a str,
    latest_age_s: i64,
}

#[derive(Serialize)]
struct TemperatureSummary {
    avg: f64,
    median: f64,
    hot: u64,
    cold: u64,
    pinned: u64,
}

#[derive(Serialize)]
struct OverviewReferenceCounts {
    total: u64,
    by_origin: Map<String, Value>,
    pending: u64,
}

/// Writes the statistics of the whole memory.
pub(crate) fn write_overview(
    reader: &Reader,
    path: &str,
    (lines, space): (HeatThresholds, &Value),
    now: UnixMillis,
    out: JsonDestination<'_>,
) -> Result<(), Error> {
    let stats = reader.stats(lines, now)?;
    let snapshots =
        stats.head.as_ref().map_or_else(SnapshotsSummary::default, |head| SnapshotsSummary {
            count: stats.n_snapshots,
            head_id: head.id,
            cursor_hash: &head.cursor_hash,
            latest_message: &head.message,
            latest_age_s: now.since(head.created_at) / 1000,
        });
    let warm = stats.temperatures;
    let origins = [("parsed", stats.n_parsed), ("manual", stats.n_manual)];
    let origins = origins.into_iter().filter(|(_, n)| 0 < *n);
    let overview = Overview {
        db_path: path,
        db_bytes: stats.size_bytes,
        nodes: NodeCounts {
            total: stats.n_nodes(),
            by_type: stats.by_type.iter().map(|(name, n)| (name.clone(), (*n).into())).collect(),
            tokens: stats.tokens,
        },
        snapshots,
        temperature: TemperatureSummary {
            avg: warm.average,
            median: warm.median,
            hot: warm.n_hot,
            cold: warm.n_cold,
            pinned: warm.n_pinned,
        },
        relations: OverviewReferenceCounts {
            total: stats.n_parsed + stats.n_manual,
            by_origin: origins.map(|(name, n)| (name.to_owned(), n.into())).collect(),
            pending: stats.n_pending,
        },
        fts_rows: stats.n_index_rows,
        space,
    };
    Ok(out.write_str(&json_text(&overview))?)
}

/// Completes a node id: ids that begin with the prefix, then nodes whose label does.
pub(crate) fn complete_node_ids(
    reader: &Reader,
    prefix: &str,
    n_max: usize,
) -> Result<Vec<String>, StoreError> {
    let mut ids = reader.ids_from(prefix, n_max)?;
    // A prefix longer than any label matches none.
    let is_short = prefix.chars().nth(text::LABEL_CHARS_MAX).is_none();
    if is_short && prefix.chars().any(char::is_alphanumeric) {
        let label = format!("label : ^ \"{}\" *", prefix.replace('"', "\"\""));
        for id in reader.ids_matching(&label, n_max)? {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids.truncate(n_max);
    }
    Ok(ids)
}

#[derive(Serialize)]
struct FileListEntry<'a> {
    path: &'a str,
    nodes: u64,
    tokens: u64,
}

/// Writes the source files, by root.
pub(crate) fn write_file_list(reader: &Reader, out: JsonDestination<'_>) -> Result<(), Error> {
    let mut root: Option<String> = None;
    out.write_str("{\"roots\":[")?;
    reader.each_file(|file| {
        let next = FileListEntry { path: &file.path, nodes: file.n_nodes, tokens: file.tokens };
        if root.as_ref() == Some(&file.root) {
            out.write_char(',')?;
        } else {
            let end = if root.is_some() { "]}," } else { "" };
            write!(out, "{end}{{\"root\":{},\"files\":[", json_text(&file.root))?;
            root = Some(file.root.clone());
        }
        out.write_str(&json_text(&next))?;
        Ok::<(), Error>(())
    })?;
    let end = if root.is_some() { "]}" } else { "" };
    Ok(write!(out, "{end}]}}")?)
}

#[cfg(test)]
mod tests;
