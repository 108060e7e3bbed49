//! Compile: reads a folder or file and writes its changes, a small one as one snapshot.
//!
//! All callers use [`compile`]. A file that cannot be compiled affects only itself: its nodes
//! stay, and its row and the report give the reason. Files unchanged since the last compile are
//! neither read nor locked.

mod agent_edit_alignment;
pub(crate) mod agent_edit_write_back;
mod apply_slice;
mod compile_planner;
mod export_marks;
mod file_being_compiled;
mod file_groups_by_moved_text;
mod moved_tombstones;
mod plan;
mod read_and_parse;
mod redacted_namesakes;
mod redaction;
mod transaction_split;
mod unsettled_file_deferral;
mod write_in_slices;

pub(crate) use redaction::parse_text_redacted;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use serde_json::json;

use crate::ingest::parse::Syntax;
use crate::ingest::scan::{self, DetailLevel, PassedOverSummary};
use crate::model::clock::{Stopwatch, UnixMillis};
pub use crate::query::CompileError;
use crate::query::render::to_label;
use crate::settings::initial_temperatures;
use crate::settings::root_settings::{RootSettings, RootSettingsError};
use crate::store::Writer;
use plan::CompilePlan;
pub(crate) use unsettled_file_deferral::UnsettledFileDeferral;

/// The reason for a file on which the parser panicked.
const PARSER_FAILED: &str = "the parser failed on it; please report the file";

/// Bytes of source that are written in one transaction.
pub(crate) const SLICE_BYTES: usize = 16 * 1024 * 1024;

/// Plans of one compile at the most.
const PLANS_MAX: usize = 5;

/// A request for a compile.
pub(crate) struct CompileRequest<'a> {
    /// The absolute path of a folder or a file.
    pub(crate) path: &'a Path,
    /// The message of the snapshot.
    pub(crate) message: &'a str,
    /// The greatest number of parsing threads.
    pub(crate) n_threads: usize,
    /// Loads the settings of a root, once the root of the path is known.
    pub(crate) workspace: &'a dyn Fn(&Path) -> Result<Arc<RootSettings>, RootSettingsError>,
    /// The nodes that get initial temperatures.
    pub(crate) temperatures_for: InitialTemperaturesFor,
    /// Whether the report names what was passed over, or only counts it.
    pub(crate) listing: DetailLevel,
    /// Started with the request, for the time limit.
    pub(crate) stopwatch: Stopwatch,
    /// Bytes of source that are written in one transaction and one snapshot at the most.
    pub(crate) slice_bytes: usize,
    /// Called with the number of files read and of all files; `false` cancels. What was written by
    /// then is kept.
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
    pub purged: Vec<DeletedFile>,
    /// Files in formats that are not read, and what is excluded.
    pub passed_over: PassedOverSummary,
}

/// A file that was deleted rather than renamed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct DeletedFile {
    /// Relative to the root, `/` between segments.
    pub path: String,
    /// Nodes of the file.
    pub nodes: usize,
}

/// Prints the counts; the alternate form, for people, leaves their sum out.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { added, modified, removed, .. } = self;
        write!(f, "compiled: {added} added, {modified} modified, {removed} removed")?;
        if !f.alternate() {
            write!(f, " ({} ops)", added + modified + removed)?;
        }
        match self.warnings.len() {
            0 => Ok(()),
            1 => write!(f, ", 1 warning"),
            n => write!(f, ", {n} warnings"),
        }
    }
}

impl Report {
    /// Adds what a later compile did.
    fn add(&mut self, later: Report) {
        self.added += later.added;
        self.modified += later.modified;
        self.removed += later.removed;
        self.snapshot = later.snapshot.or(self.snapshot);
        self.reseeded = later.reseeded.map(|it| it + self.reseeded.unwrap_or(0)).or(self.reseeded);
        self.warnings.extend(later.warnings);
        self.purged.extend(later.purged);
        if self.passed_over.is_empty() {
            self.passed_over = later.passed_over;
        }
    }

    /// Returns the paths that it names.
    fn paths_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let purged = self.purged.iter_mut().map(|it| &mut it.path);
        self.warnings.iter_mut().map(|it| &mut it.path).chain(purged)
    }

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
        if !self.passed_over.is_empty() {
            facts["passed_over"] = self.passed_over.to_json();
        }
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
        let (path, what) = (to_label(&self.path), to_label(&self.what));
        match self.line {
            Some(line) => write!(f, "{path}:{line}: {what}"),
            None => write!(f, "{path}: {what}"),
        }
    }
}

impl From<scan::SkippedPath> for FileWarning {
    fn from(it: scan::SkippedPath) -> FileWarning {
        FileWarning { path: it.path, line: it.line, what: it.what }
    }
}

impl From<RootSettingsError> for CompileError {
    fn from(error: RootSettingsError) -> CompileError {
        CompileError::Settings { what: error.to_string() }
    }
}

/// Updates the memory to the present state of the folder or file.
pub(crate) fn compile(
    writer: &Writer,
    request: &CompileRequest<'_>,
    now: UnixMillis,
) -> Result<Report, CompileError> {
    place_root(writer, request)?;
    let mut report = compile_others(writer, request, now)?;
    let plan = || compile_planner::make_plan(writer, request, None);
    report.add(plan_and_carry_out(writer, request, plan, now)?);
    Ok(report)
}

/// Compiles the other roots of an exported folder, in order of their numbers.
fn compile_others(
    writer: &Writer,
    request: &CompileRequest<'_>,
    now: UnixMillis,
) -> Result<Report, CompileError> {
    let mut report = Report::default();
    for folder in compile_planner::other_roots(request.path) {
        let request = CompileRequest {
            path: &request.path.join(&folder),
            stopwatch: request.stopwatch.clone(),
            ..*request
        };
        let plan = || compile_planner::make_plan(writer, &request, None);
        let mut part = plan_and_carry_out(writer, &request, plan, now)?;
        for path in part.paths_mut() {
            *path = format!("{folder}/{path}");
        }
        report.add(part);
    }
    Ok(report)
}

/// Compiles a watched folder: defers files still being written, and refuses a missing folder.
pub(crate) fn rescan(
    writer: &Writer,
    request: &CompileRequest<'_>,
    watch: &mut UnsettledFileDeferral,
    now: UnixMillis,
) -> Result<Report, CompileError> {
    place_root(writer, request)?;
    let mut report = compile_others(writer, request, now)?;
    let plan = || {
        let mut plan = compile_planner::make_plan(writer, request, Some(watch))?;
        watch.defer(&mut plan, &request.stopwatch, now);
        Ok(plan)
    };
    report.add(plan_and_carry_out(writer, request, plan, now)?);
    watch.start();
    Ok(report)
}

/// Finds the root of a shared memory that lies at the path on this machine.
fn place_root(writer: &Writer, request: &CompileRequest<'_>) -> Result<(), CompileError> {
    #[cfg(feature = "shared")]
    if writer.sharing().is_some()
        && let Ok(root) = compile_planner::root_at_first(request.path)
    {
        writer.place_root(&root)?;
    }
    let _ = (writer, request);
    Ok(())
}

/// Makes a plan and carries it out; a plan that others overtook is made again.
fn plan_and_carry_out(
    writer: &Writer,
    request: &CompileRequest<'_>,
    mut plan: impl FnMut() -> Result<CompilePlan, CompileError>,
    now: UnixMillis,
) -> Result<Report, CompileError> {
    for _ in 1..PLANS_MAX {
        match carry_out(writer, request, plan()?, now) {
            Err(CompileError::Overtaken) => (),
            outcome => return outcome,
        }
    }
    carry_out(writer, request, plan()?, now)
}

fn carry_out(
    writer: &Writer,
    request: &CompileRequest<'_>,
    mut plan: CompilePlan,
    now: UnixMillis,
) -> Result<Report, CompileError> {
    let changed = std::mem::take(&mut plan.changed);
    request.check_time(&plan)?;
    let skipped = plan.workspace.skipped().chain(plan.skipped.iter().cloned());
    let mut report = Report { warnings: skipped.map(Into::into).collect(), ..Report::default() };
    report.passed_over = std::mem::take(&mut plan.passed_over);
    let is_idle = changed.is_empty() && plan.is_done();
    if is_idle && request.temperatures_for == InitialTemperaturesFor::NewNodes {
        return Ok(report);
    }
    #[cfg(feature = "shared")]
    writer.claim_root(&plan.root)?;
    write_in_slices::write(writer, request, &plan, changed, (&mut report, now))?;
    report.purged.sort_unstable();
    if report.reseeded == Some(0) {
        let what = match plan.workspace.initial_temperatures.is_empty() {
            true => "there are no temperatures in it; none was changed",
            false => "it names no file that was compiled; no temperature was changed",
        };
        let (path, what) = (initial_temperatures::TEMPERATURES_FILE.to_owned(), what.to_owned());
        report.warnings.push(FileWarning { path, line: None, what });
    }
    Ok(report)
}

impl CompileRequest<'_> {
    /// Fails if the caller cancels, or after the time limit.
    fn check(&self, plan: &CompilePlan, n_done: usize, n_files: usize) -> Result<(), CompileError> {
        match (self.progress)(n_done, n_files) {
            true => self.check_time(plan),
            false => Err(CompileError::GivenUp),
        }
    }

    /// Fails after the time limit of the folder's settings.
    fn check_time(&self, plan: &CompilePlan) -> Result<(), CompileError> {
        match plan.workspace.config.compile.wall_clock_timeout {
            // The clock counts milliseconds: a shorter limit is over at once.
            Some(limit)
                if limit.as_millis() <= self.stopwatch.elapsed_ms().unsigned_abs().into() =>
            {
                Err(CompileError::TimedOut { limit })
            }
            _ => Ok(()),
        }
    }
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
    compile_planner::root_at_first(path)
}

/// Returns an error for a file that its root's settings leave out.
pub(crate) fn check_new_file(path: &Path, workspace: &RootSettings) -> Result<(), CompileError> {
    compile_planner::check_code(path, workspace)
}

#[cfg(test)]
mod tests;
