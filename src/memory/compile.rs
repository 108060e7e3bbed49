//! Compile: reads a folder or file and writes its changes as one snapshot.
//!
//! All callers use [`compile`]. A file that cannot be compiled affects only itself: its nodes
//! stay, and its row and the report give the reason. Files unchanged since the last compile are
//! neither read nor locked.

mod apply;
mod overlay;
mod plan;
mod planner;
mod rescan;
mod scrub;
mod work;

pub(crate) use scrub::parse_text_redacted;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde_json::json;

use crate::ingest::parse::{Parsed, Syntax};
use crate::ingest::scan::{self, ScannedFile};
use crate::model::clock::{Millis, Stopwatch};
use crate::model::identity::ContentHash;
pub use crate::query::CompileError;
use crate::query::render::to_one_line;
use crate::settings::initial_temperatures;
use crate::settings::workspace::{Workspace, WorkspaceError};
use crate::store::{Batch, CommitReport, StoreError, Writer};
use apply::FileGroups;
use plan::CompilePlan;
pub(crate) use rescan::RescanState;

/// The reason for a file on which the parser panicked.
const PARSER_FAILED: &str = "the parser failed on it; please report the file";

/// Larger files are parsed one at a time: parsing takes many times their size.
const ALONE_BYTES: i64 = 1024 * 1024;

/// A request for a compile.
pub(crate) struct CompileRequest<'a> {
    /// The absolute path of a folder or a file.
    pub(crate) path: &'a Path,
    /// The message of the snapshot.
    pub(crate) message: &'a str,
    /// The greatest number of parsing threads.
    pub(crate) n_threads: usize,
    /// Loads the settings of a root, once the root of the path is known.
    pub(crate) workspace: &'a dyn Fn(&Path) -> Result<Arc<Workspace>, WorkspaceError>,
    /// The nodes that get initial temperatures.
    pub(crate) temperatures_for: InitialTemperaturesFor,
    /// Started with the request, for the time limit.
    pub(crate) stopwatch: Stopwatch,
    /// Called with the number of files read and of all files; `false` cancels, and nothing
    /// changes.
    pub(crate) progress: &'a dyn Fn(usize, usize) -> bool,
}

/// The nodes that get the initial temperature of their file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum InitialTemperaturesFor {
    /// New nodes.
    #[default]
    NewNodes,
    /// All nodes that are not pinned.
    AllNodes,
}

/// The result of a compile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Nodes added.
    pub added: usize,
    /// Nodes whose text or place changed.
    pub modified: usize,
    /// Nodes removed.
    pub removed: usize,
    /// The new snapshot; `None` when nothing changed.
    pub snapshot: Option<i64>,
    /// Nodes set to their file's initial temperature again; `None` unless requested.
    pub reseeded: Option<usize>,
    /// Warnings about the input, by file and line.
    pub warnings: Vec<FileWarning>,
    /// Deleted files, by path.
    pub purged: Vec<Purged>,
}

/// A file that was deleted rather than renamed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Purged {
    /// Relative to the root, `/` between segments.
    pub path: String,
    /// Nodes of the file.
    pub nodes: usize,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { added, modified, removed, .. } = self;
        let n_ops = added + modified + removed;
        write!(f, "compiled: {added} added, {modified} modified, {removed} removed ({n_ops} ops)")?;
        match self.warnings.len() {
            0 => Ok(()),
            1 => write!(f, ", 1 warning"),
            n => write!(f, ", {n} warnings"),
        }
    }
}

impl Report {
    /// Returns the report as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        let warnings: Vec<serde_json::Value> = self
            .warnings
            .iter()
            .map(|it| json!({"path": it.path, "line": it.line, "what": it.what}))
            .collect();
        let mut facts = json!({
            "added": self.added,
            "modified": self.modified,
            "removed": self.removed,
            "snapshot": self.snapshot,
            "warnings": warnings,
        });
        if let Some(reseeded) = self.reseeded {
            facts["reseeded"] = reseeded.into();
        }
        facts
    }
}

/// A warning about a compiled file, or the reason why one was not compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileWarning {
    /// Relative to the root, `/` between segments.
    pub path: String,
    /// Counted from 1; `None` where no single line is to blame.
    pub line: Option<u32>,
    /// The oddity, and its handling.
    pub what: String,
}

impl fmt::Display for FileWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A file name may have a line break in it; a warning has none.
        let path = to_one_line(&self.path);
        match self.line {
            Some(line) => write!(f, "{path}:{line}: {}", self.what),
            None => write!(f, "{path}: {}", self.what),
        }
    }
}

impl From<scan::SkippedPath> for FileWarning {
    fn from(it: scan::SkippedPath) -> FileWarning {
        FileWarning { path: it.path, line: it.line, what: it.what }
    }
}

impl From<WorkspaceError> for CompileError {
    fn from(error: WorkspaceError) -> CompileError {
        CompileError::Settings { what: error.to_string() }
    }
}

/// Updates the memory to the present state of the folder or file.
pub(crate) fn compile(
    writer: &Writer,
    request: &CompileRequest<'_>,
    now: Millis,
) -> Result<Report, CompileError> {
    let plan = planner::make_plan(writer, request, None)?;
    carry_out(writer, request, plan, now)
}

/// Compiles a watched folder: defers files still being written, and refuses a missing folder.
pub(crate) fn rescan(
    writer: &Writer,
    request: &CompileRequest<'_>,
    watch: &mut RescanState,
    now: Millis,
) -> Result<Report, CompileError> {
    let mut plan = planner::make_plan(writer, request, Some(watch))?;
    watch.defer(&mut plan, &request.stopwatch, now);
    let report = carry_out(writer, request, plan, now)?;
    watch.start();
    Ok(report)
}

fn carry_out(
    writer: &Writer,
    request: &CompileRequest<'_>,
    mut plan: CompilePlan,
    now: Millis,
) -> Result<Report, CompileError> {
    // The list of files is freed while they are read.
    let changed = std::mem::take(&mut plan.changed);
    check_time(&plan, request)?;
    let skipped = plan.workspace.skipped().chain(plan.skipped.iter().cloned());
    let mut report = Report { warnings: skipped.map(Into::into).collect(), ..Report::default() };
    if changed.is_empty()
        && plan.is_done()
        && request.temperatures_for == InitialTemperaturesFor::NewNodes
    {
        return Ok(report);
    }
    let (((warnings, mut purged), reseeded), commit) = write(writer, request, &plan, changed, now)?;
    purged.sort_unstable();
    report.warnings.extend(warnings);
    report.purged = purged;
    if reseeded == Some(0) {
        let what = match plan.workspace.initial_temperatures.is_empty() {
            true => "there are no temperatures in it; none was changed",
            false => "it names no file that was compiled; no temperature was changed",
        };
        let (path, what) = (initial_temperatures::TEMPERATURES_FILE.to_owned(), what.to_owned());
        report.warnings.push(FileWarning { path, line: None, what });
    }
    report.reseeded = reseeded;
    report.added = commit.counts.added;
    report.modified = commit.counts.modified;
    report.removed = commit.counts.removed;
    report.snapshot = commit.snapshot;
    Ok(report)
}

/// The parts of a report that the transaction yields: warnings and deleted files, then nodes
/// reseeded.
type Written = ((Vec<FileWarning>, Vec<Purged>), Option<usize>);

/// Reads the changed files on several threads, and writes the changes in one transaction.
fn write(
    writer: &Writer,
    request: &CompileRequest<'_>,
    plan: &CompilePlan,
    changed: Vec<ScannedFile>,
    now: Millis,
) -> Result<(Written, CommitReport), CompileError> {
    let Workspace { config, redactor, .. } = &*plan.workspace;
    let message = redactor.scrub(request.message).text;
    let n_files = changed.len();
    let n_known = n_files.saturating_sub(plan.n_new);
    let bytes = changed.iter().map(|it| it.stat.size).sum();
    let n_threads = config.compile.max_parallelism.map_or(usize::MAX, |it| it as usize);
    let alone = Mutex::new(());
    let read = |it: ScannedFile| {
        let is_large = ALONE_BYTES < it.stat.size;
        let turn = is_large.then(|| alone.lock().unwrap_or_else(PoisonError::into_inner));
        let source = read(it, &plan.scope.root, &plan.workspace);
        drop(turn);
        source
    };
    scan::map_in_order(changed, request.n_threads.min(n_threads), read, |files| {
        let stopped = Cell::new(Ok(()));
        let mut n_done = 0;
        let mut files = files.take_while(|_| {
            n_done += 1;
            let stop = match (request.progress)(n_done, n_files) {
                true => check_time(plan, request),
                false => Err(CompileError::GivenUp),
            };
            let goes_on = stop.is_ok();
            stopped.set(stop);
            goes_on
        });
        let mut groups = FileGroups { files: &mut files, n_known, bytes };
        let first = groups.next();
        writer.write(&message, &plan.root, now, |batch| {
            let ingested = apply::apply_plan(batch, plan, first, groups, now)?;
            stopped.replace(Ok(()))?;
            let reseeded = reseed(batch, plan, request.temperatures_for)?;
            check_time(plan, request).map(|()| (ingested, reseeded))
        })
    })
}

/// Fails after the time limit of the folder's settings.
fn check_time(plan: &CompilePlan, request: &CompileRequest<'_>) -> Result<(), CompileError> {
    match plan.workspace.config.compile.wall_clock_timeout {
        // The clock counts milliseconds: a shorter limit is over at once.
        Some(limit)
            if limit.as_millis() <= request.stopwatch.elapsed_ms().unsigned_abs().into() =>
        {
            Err(CompileError::TimedOut { limit })
        }
        _ => Ok(()),
    }
}

/// Sets all nodes below the path to their files' initial temperatures, if requested; returns their
/// number.
fn reseed(
    batch: &mut Batch<'_>,
    plan: &CompilePlan,
    temperatures_for: InitialTemperaturesFor,
) -> Result<Option<usize>, StoreError> {
    if temperatures_for == InitialTemperaturesFor::NewNodes {
        return Ok(None);
    }
    let root = batch.root(&plan.root)?;
    let mut temperatures = BTreeMap::new();
    for file in batch.files(root)?.into_iter().filter(|it| plan.scope.covers(&it.path)) {
        if let Some(temperature) = plan.workspace.initial_temperatures.of(&file.path) {
            temperatures.insert(file.id, temperature);
        }
    }
    let n_nodes = batch.reseed(&temperatures)?;
    Ok(Some(n_nodes))
}

/// Returns the root that a new memory would have, or an error if none is possible.
pub(crate) fn check_new_root(path: &Path) -> Result<PathBuf, CompileError> {
    let metadata = path.metadata().map_err(|source| {
        let path = path.to_owned();
        CompileError::NoSource { path, source }
    })?;
    if !metadata.is_dir() && Syntax::of(&path.to_string_lossy()).is_none() {
        return Err(CompileError::Unsupported { path: path.to_owned() });
    }
    planner::root_at_first(path)
}

/// A file that was read: its parsed content, or the reason why there is none.
struct SourceFile {
    found: ScannedFile,
    /// Bytes read.
    size: usize,
    outcome: Result<(ContentHash, Parsed), String>,
}

impl SourceFile {
    /// Returns the file in its present state, read again if it changed meanwhile. Another compile
    /// may have written the newer state already.
    fn latest(self, root: &Path, workspace: &Workspace) -> SourceFile {
        match scan::stat_file(&self.found.full(root)) {
            Ok(Some(stat)) if stat != self.found.stat => {
                read(ScannedFile { stat, ..self.found }, root, workspace)
            }
            // A file deleted meanwhile is left to the next compile.
            _ => self,
        }
    }
}

fn read(found: ScannedFile, root: &Path, workspace: &Workspace) -> SourceFile {
    if !found.syntax.is_built_in() {
        let what = "this build reads no HTML; what the memory has of it stays".to_owned();
        return SourceFile { found, size: 0, outcome: Err(what) };
    }
    let bytes = match scan::read_file(root, &found, workspace.config.compile.max_file_size) {
        Ok(bytes) => bytes,
        Err(what) => return SourceFile { found, size: 0, outcome: Err(what) },
    };
    // A panic in a parser is our bug; it must affect this file only.
    let parsed = catch_unwind(AssertUnwindSafe(|| {
        scrub::parse_bytes_redacted(found.syntax, &bytes, &workspace.redactor)
    }));
    let outcome = match parsed {
        Ok(parsed) => Ok((ContentHash::of_bytes(&bytes), parsed)),
        Err(_) => Err(PARSER_FAILED.to_owned()),
    };
    SourceFile { found, size: bytes.len(), outcome }
}

#[cfg(test)]
mod tests;
