//! A folder or file becomes memory: walk, parse, align, and exactly one snapshot of what differs.
//!
//! Every door comes through [`compile`]. A file that cannot be compiled costs only itself: its
//! nodes stay, its row says why, and so does the report. What did not change since the last compile
//! is neither read nor locked.

mod clean;
mod ingest;
mod plan;
mod voices;

pub(crate) use clean::parse_text;

use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::clock::Millis;
use crate::identity::ContentHash;
use crate::parse::{Parsed, Syntax};
use crate::redact::Redactor;
use crate::render::one_line;
use crate::scan::{self, Found};
use crate::store::{StoreError, Writer};

/// What to compile, and how.
pub(crate) struct Request<'a> {
    /// A folder or a file, absolute.
    pub(crate) path: &'a Path,
    /// Message of the snapshot.
    pub(crate) message: &'a str,
    /// Threads that parse.
    pub(crate) n_threads: usize,
    /// What must not be stored.
    pub(crate) redactor: &'a Redactor,
    /// Told how many of how many files are read; `false` gives up, and nothing is changed.
    pub(crate) progress: &'a dyn Fn(usize, usize) -> bool,
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
    /// What was odd in the input, by file and line.
    pub warnings: Vec<FileWarning>,
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
        json!({
            "added": self.added,
            "modified": self.modified,
            "removed": self.removed,
            "snapshot": self.snapshot,
            "warnings": warnings,
        })
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
        let path = one_line(&self.path);
        match self.line {
            Some(line) => write!(f, "{path}:{line}: {}", self.what),
            None => write!(f, "{path}: {}", self.what),
        }
    }
}

impl From<scan::Oddity> for FileWarning {
    fn from(it: scan::Oddity) -> FileWarning {
        FileWarning { path: it.path, line: it.line, what: it.what }
    }
}

/// Why nothing was compiled.
#[derive(Debug)]
#[non_exhaustive]
pub enum CompileError {
    /// There is no such file or folder, and none is known.
    NoSource {
        /// As asked for.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file's format is not understood.
    Unsupported {
        /// The file.
        path: PathBuf,
    },
    /// Whoever asked for it asked to stop.
    GivenUp,
    /// The path cannot be written as text.
    NotUtf8 {
        /// The path.
        path: PathBuf,
    },
    /// The database refused.
    Store(StoreError),
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::NoSource { path, source } => {
                write!(f, "cannot compile `{}`: {source}", path.display())
            }
            CompileError::Unsupported { path } => write!(
                f,
                "cannot compile `{}`: not a format that is understood; name a folder, or a file \
                 that ends in {}",
                path.display(),
                Syntax::endings().map(|it| format!(".{it}")).collect::<Vec<_>>().join(", ")
            ),
            CompileError::NotUtf8 { path } => write!(
                f,
                "cannot compile `{}`: the path is not UTF-8; rename what is not",
                path.display()
            ),
            CompileError::GivenUp => f.write_str("the compile was stopped; nothing was changed"),
            CompileError::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CompileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CompileError::NoSource { source, .. } => Some(source),
            CompileError::Store(error) => Some(error),
            CompileError::Unsupported { .. }
            | CompileError::NotUtf8 { .. }
            | CompileError::GivenUp => None,
        }
    }
}

impl From<StoreError> for CompileError {
    fn from(error: StoreError) -> CompileError {
        CompileError::Store(error)
    }
}

/// Makes the memory what the folder or file says now.
pub(crate) fn compile(
    writer: &Writer,
    request: &Request<'_>,
    now: Millis,
) -> Result<Report, CompileError> {
    let redactor = request.redactor;
    let plan = plan::make(writer, request.path, redactor)?;
    let message = redactor.scrub(request.message).text;
    let mut report = Report {
        warnings: plan.oddities.iter().cloned().map(Into::into).collect(),
        ..Report::default()
    };
    if plan.is_done() {
        return Ok(report);
    }
    let root = plan.root.clone();
    let n_files = plan.changed.len();
    let outcome = scan::in_order(
        plan.changed.clone(),
        request.n_threads,
        |it| read(it, redactor),
        |files| {
            let is_given_up = Cell::new(false);
            let mut n_done = 0;
            let mut files = files.take_while(|_| {
                n_done += 1;
                is_given_up.set(!(request.progress)(n_done, n_files));
                !is_given_up.get()
            });
            let first = ingest::first_group(&mut files);
            writer.write(&message, &root, now, |batch| {
                let warnings = ingest::ingest(batch, &plan, first, &mut files, now)?;
                if is_given_up.get() { Err(CompileError::GivenUp) } else { Ok(warnings) }
            })
        },
    );
    let (warnings, commit) = outcome?;
    report.warnings.extend(warnings);
    report.added = commit.counts.added;
    report.modified = commit.counts.modified;
    report.removed = commit.counts.removed;
    report.snapshot = commit.snapshot;
    Ok(report)
}

/// Refuses what no memory could be made from, before there is one.
pub(crate) fn refuse_at_once(path: &Path) -> Result<(), CompileError> {
    let metadata = path.metadata().map_err(|source| {
        let path = path.to_owned();
        CompileError::NoSource { path, source }
    })?;
    if metadata.is_dir() || Syntax::of(&path.to_string_lossy()).is_some() {
        return Ok(());
    }
    Err(CompileError::Unsupported { path: path.to_owned() })
}

/// A file as it was read: its words, or why there are none.
struct Source {
    found: Found,
    /// Bytes read.
    size: usize,
    outcome: Result<(ContentHash, Parsed), String>,
}

fn read(found: Found, redactor: &Redactor) -> Source {
    let bytes = match scan::read(&found.full) {
        Ok(bytes) => bytes,
        Err(what) => return Source { found, size: 0, outcome: Err(what) },
    };
    // A parser that panics is a bug of ours; it shall cost this file only.
    let parsed =
        catch_unwind(AssertUnwindSafe(|| clean::parse_bytes(found.syntax, &bytes, redactor)));
    let outcome = match parsed {
        Ok(parsed) => Ok((ContentHash::of_bytes(&bytes), parsed)),
        Err(_) => Err("the parser failed on it; please report the file".to_owned()),
    };
    Source { found, size: bytes.len(), outcome }
}

#[cfg(test)]
mod tests;
