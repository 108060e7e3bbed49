//! Writes a compile in slices of whole files, each in a transaction and a snapshot of its own.
//!
//! Files are read and parsed between the transactions, while others may write. A slice takes as
//! many parts of the compile as fit into its bytes, and fewer bytes after one that took long. What
//! was written stays if the compile ends early, and the next one goes on.

use std::collections::BTreeMap;

use super::apply::{self, Slice};
use super::parts::Part;
use super::plan::CompilePlan;
use super::source::{self, SourceFile};
use super::survey::{self, Survey};
use super::{CompileError, CompileRequest, InitialTemperaturesFor, Report};
use crate::ingest::scan::ScannedFile;
use crate::model::clock::Millis;
use crate::store::{Batch, FileId, StoreError, Writer};

/// Time in ms for which a slice may lock the memory. After a longer one, the next is smaller.
const LOCKED_MS_MAX: i64 = 150;

/// Divisor of a slice's bytes that no long lock exceeds.
const SHRINKING_MAX: usize = 16;

/// Files whose temperatures are set together.
const RESEEDED_MAX: usize = 256;

/// Writes the changes of a plan and of its files, and completes the report.
pub(super) fn write(
    writer: &Writer,
    request: &CompileRequest<'_>,
    plan: &CompilePlan,
    changed: Vec<ScannedFile>,
    (report, now): (&mut Report, Millis),
) -> Result<(), CompileError> {
    let n_files = changed.len();
    let Survey { parts, files, n_read } = survey::divide(writer, request, plan, changed)?;
    let mut run = SliceRun {
        writer,
        request,
        plan,
        now,
        message: plan.workspace.redactor.scrub(request.message).text.into_owned(),
        report,
        n_read,
        n_reads: n_read + n_files,
        n_kept: 0,
    };
    let place = (plan.scope.root.as_path(), &*plan.workspace);
    let outcome =
        source::read_all(files, request.n_threads, place, |files| run.write_parts(parts, files));
    match outcome.and_then(|()| run.reseed()) {
        Err(cause) if run.report.snapshot.is_some() => {
            let (n_kept, cause) = (run.n_kept, Box::new(cause));
            Err(CompileError::Unfinished { n_kept, n_files, cause })
        }
        outcome => outcome,
    }
}

struct SliceRun<'a> {
    writer: &'a Writer,
    request: &'a CompileRequest<'a>,
    plan: &'a CompilePlan,
    now: Millis,
    message: String,
    report: &'a mut Report,
    /// Files read so far and in all, counted each time.
    n_read: usize,
    n_reads: usize,
    /// Files of committed slices.
    n_kept: usize,
}

impl SliceRun<'_> {
    fn write_parts(
        &mut self,
        parts: Vec<Part>,
        files: &mut dyn Iterator<Item = SourceFile>,
    ) -> Result<(), CompileError> {
        let mut parts = parts.into_iter().peekable();
        let mut bytes_max = self.request.slice_bytes;
        while parts.peek().is_some() {
            let mut slice = Slice::default();
            let mut n_parts = 0;
            while let Some(part) =
                parts.next_if(|it| n_parts == 0 || slice.bytes + it.bytes <= bytes_max)
            {
                n_parts += 1;
                slice.bytes += part.bytes;
                slice.vanished.extend(part.vanished);
                slice.adopted.extend(part.adopted);
                for source in (&mut *files).take(part.n_files) {
                    self.n_read += 1;
                    self.request.check(self.plan, self.n_read, self.n_reads)?;
                    slice.files.push(source);
                }
            }
            slice.is_last = parts.peek().is_none();
            let locked_ms = self.write_slice(slice)?;
            if parts.peek().is_some() {
                self.writer.give_way()?;
            }
            bytes_max = next_bytes_max(bytes_max, locked_ms, self.request.slice_bytes);
        }
        Ok(())
    }

    /// Writes a slice, and returns the time in ms for which the memory was locked.
    fn write_slice(&mut self, slice: Slice) -> Result<i64, CompileError> {
        let (plan, now, stopwatch) = (self.plan, self.now, &self.request.stopwatch);
        let n_files = slice.files.len();
        let mut locked_at = 0;
        let ((warnings, purged), commit) =
            self.writer.write_slice(&self.message, &plan.root, now, |batch| {
                locked_at = stopwatch.elapsed_ms();
                apply::apply_slice(batch, plan, slice, now)
            })?;
        let locked_ms = stopwatch.elapsed_ms() - locked_at;
        self.n_kept += n_files;
        let report = &mut *self.report;
        report.warnings.extend(warnings);
        report.purged.extend(purged);
        report.added += commit.counts.added;
        report.modified += commit.counts.modified;
        report.removed += commit.counts.removed;
        report.snapshot = commit.snapshot.or(report.snapshot);
        Ok(locked_ms)
    }

    /// Sets all nodes below the path to their files' initial temperatures, if requested.
    fn reseed(&mut self) -> Result<(), CompileError> {
        if self.request.temperatures_for == InitialTemperaturesFor::NewNodes {
            return Ok(());
        }
        let mut temperatures: Vec<(FileId, f64)> = Vec::new();
        let files = self.writer.files_at(&self.plan.root)?;
        for file in files.iter().filter(|it| self.plan.scope.covers(&it.path)) {
            let temperature = self.plan.workspace.initial_temperatures.of(&file.path);
            temperatures.extend(temperature.map(|it| (file.id, it)));
        }
        let mut n_nodes = 0;
        for files in temperatures.chunks(RESEEDED_MAX) {
            self.request.check_time(self.plan)?;
            let files: BTreeMap<FileId, f64> = files.iter().copied().collect();
            let set = |batch: &mut Batch<'_>| batch.reseed(&files);
            n_nodes += self.writer.write::<_, StoreError>("", "", self.now, set)?.0;
        }
        self.report.reseeded = Some(n_nodes);
        Ok(())
    }
}

/// Returns the bytes of the next slice: as many as could be written in time, at most `bytes_most`.
fn next_bytes_max(bytes: usize, locked_ms: i64, bytes_most: usize) -> usize {
    let locked_ms = usize::try_from(locked_ms).unwrap_or(1).max(1);
    let in_time = bytes.saturating_mul(LOCKED_MS_MAX as usize) / locked_ms;
    in_time.clamp(bytes_most / SHRINKING_MAX, bytes_most)
}
