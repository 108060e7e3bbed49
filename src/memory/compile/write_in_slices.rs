//! Writes a compile in slices of whole files, each in a transaction and a snapshot of its own.
//!
//! A slice ends soon after another writer began to wait, before a file that takes long to read,
//! and after its bytes. What was written stays if the compile ends early, and the next
//! one goes on.

use std::collections::{BTreeMap, VecDeque};
use std::iter::Peekable;
use std::vec::IntoIter;

use super::apply_slice::{self, Slice};
use super::file_groups_by_moved_text::FileGroup;
use super::plan::CompilePlan;
use super::read_and_parse::{self, FileReadOutcome};
use super::transaction_split::{self, CompileParts};
use super::{CompileError, CompileRequest, InitialTemperaturesFor, Report};
use crate::ingest::scan::ScannedFile;
use crate::model::clock::UnixMillis;
use crate::store::{Batch, FileId, StoreError, Writer};

/// Time in ms after which a slice ends if others wait.
const AWAITED_MS_MAX: i64 = 50;

/// Bytes of source that are read together. More in one part are not read within a transaction.
const GROUP_BYTES: usize = 1024 * 1024;

/// Bytes of source from which on indexing is deferred.
const MANY_BYTES: usize = 128 * 1024;

/// Bytes of source for each page of the full-text index that a large compile merges in the end.
///
/// That is the whole index after a first compile, and a part of it where most was there before.
const BYTES_PER_MERGED_PAGE: usize = 2 * 1024;

/// Files whose temperatures are set together.
const RESEEDED_MAX: usize = 256;

/// Writes the changes of a plan and of its files, and completes the report.
pub(super) fn write(
    writer: &Writer,
    request: &CompileRequest<'_>,
    plan: &CompilePlan,
    changed: Vec<ScannedFile>,
    (report, now): (&mut Report, UnixMillis),
) -> Result<(), CompileError> {
    let n_files = changed.len();
    let CompileParts { parts, files, n_read } =
        transaction_split::divide(writer, request, plan, changed)?;
    let outcome = read_and_parse::read_all(files, request.n_threads, plan, |files| {
        let n_bytes: usize = parts.iter().map(|it| it.bytes).sum();
        let is_large = MANY_BYTES <= n_bytes;
        let parts = parts.into_iter().peekable();
        let mut reader = FileGroupReader {
            request,
            plan,
            parts,
            files,
            group: VecDeque::new(),
            bytes_left: n_bytes,
            is_large,
            n_read,
            n_reads: n_read + n_files,
        };
        let mut n_kept = 0;
        while !reader.is_done() {
            let written = write_slice(writer, &mut reader, report, now);
            n_kept += written.map_err(|cause| cause.after(n_kept, n_files, report))?;
            if !reader.is_done() {
                writer.give_way()?;
            }
        }
        if is_large {
            let n_pages = i64::try_from(n_bytes / BYTES_PER_MERGED_PAGE).unwrap_or(i64::MAX);
            writer.merge_index(n_pages)?;
        }
        Ok(())
    });
    outcome.and_then(|()| reseed(writer, request, plan, report, now))
}

impl CompileError {
    /// Returns the error of a compile that had written a part of its files.
    fn after(self, n_kept: usize, n_files: usize, report: &Report) -> CompileError {
        match report.snapshot {
            Some(_) => CompileError::Unfinished { n_kept, n_files, cause: Box::new(self) },
            None => self,
        }
    }
}

/// The parts still to be written, and their files.
struct FileGroupReader<'a> {
    request: &'a CompileRequest<'a>,
    plan: &'a CompilePlan,
    parts: Peekable<IntoIter<FileGroup>>,
    files: &'a mut dyn Iterator<Item = FileReadOutcome>,
    /// Parts that were read.
    group: VecDeque<Slice>,
    bytes_left: usize,
    /// Whether there were many bytes.
    is_large: bool,
    /// Files read so far and in all, counted each time.
    n_read: usize,
    n_reads: usize,
}

impl FileGroupReader<'_> {
    fn is_done(&mut self) -> bool {
        self.group.is_empty() && self.parts.peek().is_none()
    }

    /// Returns the bytes of the next part, if there is one.
    fn next_bytes(&mut self) -> Option<usize> {
        self.group.front().map(|it| it.bytes).or_else(|| self.parts.peek().map(|it| it.bytes))
    }

    /// Reads a group of parts, at least one, if none is left.
    fn fill(&mut self) -> Result<(), CompileError> {
        let bytes_max = GROUP_BYTES.min(self.request.slice_bytes);
        let mut bytes = 0;
        loop {
            let in_group = |it: &FileGroup| bytes == 0 || bytes + it.bytes <= bytes_max;
            let Some(part) = self.parts.next_if(in_group) else { break };
            bytes += part.bytes;
            let mut files = Vec::with_capacity(part.n_files);
            for source in (&mut *self.files).take(part.n_files) {
                self.n_read += 1;
                self.request.check(self.plan, self.n_read, self.n_reads)?;
                files.push(source);
            }
            let FileGroup { vanished, adopted, bytes, .. } = part;
            self.group.push_back(Slice { vanished, adopted, files, bytes });
        }
        Ok(())
    }
}

/// Writes as many parts as fit into a slice, and returns the number of their files.
fn write_slice(
    writer: &Writer,
    reader: &mut FileGroupReader<'_>,
    report: &mut Report,
    now: UnixMillis,
) -> Result<usize, CompileError> {
    let (plan, request) = (reader.plan, reader.request);
    if reader.group.is_empty() {
        reader.fill()?;
    }
    // A long compile keeps its right among all machines.
    #[cfg(feature = "shared")]
    writer.claim_root(&plan.root)?;
    let message = plan.workspace.redactor.scrub(request.message).text;
    let (mut n_files, mut bytes) = (0, 0);
    let (mut warnings, mut purged) = (Vec::new(), Vec::new());
    let slice_bytes = writer.slice_bytes(request.slice_bytes);
    let ((), commit) = writer.write(&message, &plan.root, now, |batch| {
        let begun_at = request.stopwatch.elapsed_ms();
        if report.snapshot.is_none() && plan.is_overtaken(&batch.roots()?) {
            return Err(CompileError::Overtaken);
        }
        if MANY_BYTES <= reader.bytes_left {
            batch.defer_indexing()?;
        }
        let number = plan.exported.as_ref().and_then(|it| it.number);
        let root = batch.root_with(&plan.root, number)?;
        while let Some(slice) = reader.group.pop_front() {
            n_files += slice.files.len();
            bytes += slice.bytes;
            reader.bytes_left -= slice.bytes;
            let outcome = apply_slice::apply_slice(batch, (plan, root), slice, now)?;
            warnings.extend(outcome.0);
            purged.extend(outcome.1);
            let Some(next) = reader.next_bytes() else {
                if reader.is_large {
                    batch.lift_segments();
                }
                break;
            };
            let is_awaited = || {
                let took_ms = request.stopwatch.elapsed_ms() - begun_at;
                AWAITED_MS_MAX <= took_ms && writer.is_awaited()
            };
            if slice_bytes < bytes.saturating_add(next) || is_awaited() {
                break;
            }
            if reader.group.is_empty() {
                batch.flush_if_large()?;
                if GROUP_BYTES < next {
                    break;
                }
                reader.fill()?;
                if is_awaited() {
                    break;
                }
            }
        }
        Ok::<_, CompileError>(())
    })?;
    report.warnings.extend(warnings);
    report.purged.extend(purged);
    report.added += commit.counts.added;
    report.modified += commit.counts.modified;
    report.removed += commit.counts.removed;
    report.snapshot = commit.snapshot.or(report.snapshot);
    Ok(n_files)
}

/// Sets all nodes below the path to their files' initial temperatures, if requested.
fn reseed(
    writer: &Writer,
    request: &CompileRequest<'_>,
    plan: &CompilePlan,
    report: &mut Report,
    now: UnixMillis,
) -> Result<(), CompileError> {
    if request.temperatures_for == InitialTemperaturesFor::NewNodes {
        return Ok(());
    }
    let mut temperatures: Vec<(FileId, f64)> = Vec::new();
    let files = writer.files_at(&plan.root)?;
    for file in files.iter().filter(|it| plan.scope.covers(&it.path)) {
        let temperature = plan.workspace.initial_temperatures.of(&file.path);
        temperatures.extend(temperature.map(|it| (file.id, it)));
    }
    let mut n_nodes = 0;
    for files in temperatures.chunks(RESEEDED_MAX) {
        request.check_time(plan)?;
        let files: BTreeMap<FileId, f64> = files.iter().copied().collect();
        let set = |batch: &mut Batch<'_>| batch.reseed(&files);
        n_nodes += writer.write::<_, StoreError>("", "", now, set)?.0;
    }
    report.reseeded = Some(n_nodes);
    Ok(())
}
