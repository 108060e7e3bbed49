//! A folder or file becomes memory: walk, parse, align, and exactly one snapshot of what differs.
//!
//! Every door comes through [`compile`]. A file that cannot be compiled costs only itself: its
//! nodes stay, its row says why, and so does the report. What did not change since the last compile
//! is neither read nor locked.

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
use crate::model::clock::{Clock, Millis};
use crate::model::identity::ContentHash;
pub use crate::query::CompileError;
use crate::query::render::to_one_line;
use crate::settings::initial_temperatures;
use crate::settings::workspace::{Workspace, WorkspaceError};
use crate::store::{Batch, CommitReport, StoreError, Writer};
use apply::FileGroups;
use plan::CompilePlan;
pub(crate) use rescan::RescanState;

/// Why a file is not compiled though its bytes can be read.
const PARSER_FAILED: &str = "the parser failed on it; please report the file";

/// A larger file is parsed while no other such is: on the way, it takes many times its size.
const ALONE_BYTES: i64 = 1024 * 1024;

/// What to compile, and how.
pub(crate) struct CompileRequest<'a> {
    /// A folder or a file, absolute.
    pub(crate) path: &'a Path,
    /// Message of the snapshot.
    pub(crate) message: &'a str,
    /// Threads that parse, at the most.
    pub(crate) n_threads: usize,
    /// Gives what the folder `.remindb/` of the root says that the path turns out to belong to.
    pub(crate) workspace: &'a dyn Fn(&Path) -> Result<Arc<Workspace>, WorkspaceError>,
    /// Which nodes get the temperatures that the root seeds.
    pub(crate) seeding: Seeding,
    /// Tells how long the compile has been running.
    pub(crate) clock: &'a Clock,
    /// Told how many of how many files are read; `false` gives up, and nothing is changed.
    pub(crate) progress: &'a dyn Fn(usize, usize) -> bool,
}

/// Which nodes get the temperature that is seeded for their file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Seeding {
    /// Those that are born.
    #[default]
    AtBirth,
    /// All that are not pinned.
    Again,
}

/// What a compile did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Nodes that were not there before.
    pub added: usize,
    /// Nodes whose text or place changed.
    pub modified: usize,
    /// Nodes that are gone.
    pub removed: usize,
    /// The snapshot that was made; `None` when nothing changed.
    pub snapshot: Option<i64>,
    /// Nodes that were given their file's temperature again; `None` when nobody asked for it.
    pub reseeded: Option<usize>,
    /// What was odd in the input, by file and line.
    pub warnings: Vec<FileWarning>,
    /// Files that are no longer there, by path.
    pub purged: Vec<Purged>,
}

/// A file that is no longer there, and that did not turn up under another name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Purged {
    /// Relative to the root, `/` between segments.
    pub path: String,
    /// Nodes that it had.
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
    /// The same facts as JSON.
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

/// Something odd in a file that was compiled, or why one was not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileWarning {
    /// Relative to the root, `/` between segments.
    pub path: String,
    /// Counted from 1, where one line is to blame.
    pub line: Option<u32>,
    /// What was odd, and what was done about it.
    pub what: String,
}

impl fmt::Display for FileWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A name may have a line break in it; a warning has none.
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

/// Makes the memory what the folder or file says now.
pub(crate) fn compile(
    writer: &Writer,
    request: &CompileRequest<'_>,
    now: Millis,
) -> Result<Report, CompileError> {
    let plan = planner::make(writer, request, None)?;
    carry_out(writer, request, plan, now)
}

/// The same for one who does it again and again: leaves alone what is being written, and never
/// takes a folder that is not there for one whose files were deleted.
pub(crate) fn rescan(
    writer: &Writer,
    request: &CompileRequest<'_>,
    watch: &mut RescanState,
    now: Millis,
) -> Result<Report, CompileError> {
    let mut plan = planner::make(writer, request, Some(watch))?;
    watch.defer(&mut plan, now);
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
    // Of many files, the list is let go as they are read.
    let changed = std::mem::take(&mut plan.changed);
    check_time(&plan, request, now)?;
    let oddities = plan.workspace.oddities().chain(plan.oddities.iter().cloned());
    let mut report = Report { warnings: oddities.map(Into::into).collect(), ..Report::default() };
    if changed.is_empty() && plan.is_done() && request.seeding == Seeding::AtBirth {
        return Ok(report);
    }
    let (((warnings, mut purged), reseeded), commit) = write(writer, request, &plan, changed, now)?;
    purged.sort();
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

/// What a compile writes: odd and vanished files, and how many nodes were given temperatures.
type Written = ((Vec<FileWarning>, Vec<Purged>), Option<usize>);

/// Reads the changed files on several threads, and writes what they say in one transaction.
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
                true => check_time(plan, request, now),
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
            let reseeded = reseed(batch, plan, request.seeding)?;
            check_time(plan, request, now).map(|()| (ingested, reseeded))
        })
    })
}

/// Refuses to go on after the time that the folder's settings give a compile.
fn check_time(
    plan: &CompilePlan,
    request: &CompileRequest<'_>,
    since: Millis,
) -> Result<(), CompileError> {
    match plan.workspace.config.compile.wall_clock_timeout {
        // The clock counts milliseconds: what is shorter is over at once.
        Some(limit)
            if limit.as_millis() <= request.clock.now().since(since).unsigned_abs().into() =>
        {
            Err(CompileError::TimedOut { limit })
        }
        _ => Ok(()),
    }
}

/// Gives all nodes below the path the temperatures of their files, if asked to; says how many.
fn reseed(
    batch: &mut Batch<'_>,
    plan: &CompilePlan,
    seeding: Seeding,
) -> Result<Option<usize>, StoreError> {
    if seeding == Seeding::AtBirth {
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

/// Refuses what no memory could be made from, before there is one; gives the root that a new one
/// would have.
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

/// A file as it was read: its words, or why there are none.
struct SourceFile {
    found: ScannedFile,
    /// Bytes read.
    size: usize,
    outcome: Result<(ContentHash, Parsed), String>,
}

impl SourceFile {
    /// The file as it is now, for one who writes: since it was read it may have become something
    /// newer, which another compile may have written already.
    fn latest(self, root: &Path, workspace: &Workspace) -> SourceFile {
        match scan::stat_file(&self.found.full(root)) {
            Ok(Some(stat)) if stat != self.found.stat => {
                read(ScannedFile { stat, ..self.found }, root, workspace)
            }
            // What is gone by now is for the next compile.
            _ => self,
        }
    }
}

fn read(found: ScannedFile, root: &Path, workspace: &Workspace) -> SourceFile {
    if !found.syntax.is_built_in() {
        let what = "this build reads no HTML; what the memory has of it stays".to_owned();
        return SourceFile { found, size: 0, outcome: Err(what) };
    }
    let bytes = match scan::read_file(&found.full(root), workspace.config.compile.max_file_size) {
        Ok(bytes) => bytes,
        Err(what) => return SourceFile { found, size: 0, outcome: Err(what) },
    };
    // A parser that panics is a bug of ours; it shall cost this file only.
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
