//! The steps of a compile, their costs, and those that need no more than the batch.

use std::collections::BTreeMap;

use super::work::FileWork;
use super::{CompileError, SourceFile, groups};
use crate::model::clock::Millis;
use crate::model::file_stat::FileStat;
use crate::model::identity::ContentHash;
use crate::store::{Batch, FileId, FileRow, NodeRecord, RootId};

/// Least age in ms of a trusted file time. A file written just before its stat may be written
/// again without looking different.
const MTIME_TRUST_MS: i64 = 10;

/// Greatest lead in ms that a fast clock may explain. A later time was set on purpose, and a later
/// write will differ from it.
const MTIME_AHEAD_MS: i64 = 60_000;

/// A part of a compile that is not divided.
pub(super) enum Step {
    /// Takes over a file of a nested root, under a path here.
    Adopt(FileRow, String),
    /// Reads the nodes of a vanished file.
    Vanish(FileRow),
    /// Matches vanished files with those read, given as paths with the hashes of their texts.
    Settle(Vec<(String, Vec<ContentHash>)>),
    /// Gives a vanished file its new path.
    Rename(FileRow, String),
    /// Aligns a file, at a cost.
    Align(Box<SourceFile>, usize),
    /// Matches text that moved between files.
    Match,
    Apply(Box<Aligned>),
    /// Ends the list of files.
    Finish,
    /// Writes the files that take nodes from others.
    Exchange,
    /// Removes what is left in each file.
    RemoveTheRest,
    Remove(Ending, Vec<NodeRecord>),
    Reseed(BTreeMap<FileId, f64>),
}

impl Step {
    /// Returns the work of a step, in bytes of source.
    pub(super) fn cost(&self) -> usize {
        match self {
            Step::Adopt(..) | Step::Vanish(_) | Step::Rename(..) => groups::weight(0),
            Step::Remove(_, nodes) => groups::weight(nodes.iter().map(|it| it.content.len()).sum()),
            Step::Apply(it) => groups::weight(it.work.size),
            Step::Align(_, cost) => *cost,
            Step::Settle(_) | Step::Match => 0,
            Step::Finish | Step::Exchange | Step::RemoveTheRest => 0,
            Step::Reseed(files) => files.len() * groups::weight(0) / 4,
        }
    }
}

/// An aligned file, and the time of its alignment in transactions before which others had written.
pub(super) struct Aligned {
    pub(super) work: FileWork,
    pub(super) at: usize,
}

/// A file that loses the nodes of the pool at the end of a compile.
pub(super) struct Ending {
    pub(super) file: FileId,
    pub(super) outcome: EndOutcome,
}

pub(super) enum EndOutcome {
    /// The file, as it was known, is gone; it had so many nodes.
    Gone(FileRow, usize),
    /// The file, whose row has no hash, gets its hash.
    Finished(FileStat, ContentHash),
}

/// Returns those of some file nodes that are still in their files, as they are now.
pub(super) fn still_there(
    batch: &Batch<'_>,
    nodes: Vec<NodeRecord>,
) -> Result<Vec<NodeRecord>, CompileError> {
    let mut present = Vec::with_capacity(nodes.len());
    for node in nodes {
        let now = batch.at(node.key)?;
        present.extend(now.filter(|it| {
            it.id == node.id && it.place.file == node.place.file && it.source_hash.is_some()
        }));
    }
    Ok(present)
}

/// Gives a vanished file the path of a new one. Its text has to be aligned again, since the stored
/// hash is that of the old file.
pub(super) fn rename(
    batch: &mut Batch<'_>,
    root: RootId,
    row: &FileRow,
    path: &str,
) -> Result<(), CompileError> {
    if !batch.is_unchanged_file(row)? {
        return Ok(());
    }
    match batch.file_row(root, path)? {
        // The file is back under a former name.
        Some(known) => {
            batch.merge_file(row.id, known.id)?;
            batch.note_unfinished(known.id)?;
            batch.mark_file_gone(row.id)?;
        }
        None => {
            batch.move_file(row, root, path)?;
            batch.note_unfinished(row.id)?;
        }
    }
    Ok(())
}

/// Returns a file's size and time, without a time that is too recent to be trusted.
pub(super) fn trusted(stat: FileStat, now: Millis) -> FileStat {
    let age_ms = now.0.saturating_sub(stat.mtime / 1_000_000);
    let is_recent = (-MTIME_AHEAD_MS..MTIME_TRUST_MS).contains(&age_ms);
    if is_recent { FileStat { mtime: 0, ..stat } } else { stat }
}
