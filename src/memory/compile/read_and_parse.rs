//! Reads and parses the files of a compile. A file that cannot be read or parsed has the reason.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use super::export_marks::ExportedFileOwner;
use super::plan::CompilePlan;
use super::{PARSER_FAILED, redaction};
use crate::ingest::markdown_export_format::ExportedNodeAttributes;
use crate::ingest::parse::Parsed;
use crate::ingest::scan::{self, ScannedFile};
use crate::model::identity::ContentHash;

/// Least bytes that a file counts for: its tree takes memory, too.
const FILE_BYTES_MIN: usize = 4 * 1024;

/// Larger files are parsed one at a time.
const ALONE_BYTES: i64 = 1024 * 1024;

/// Returns the bytes that a file of a size counts for.
pub(super) fn weight(size: i64) -> usize {
    usize::try_from(size).unwrap_or(0).max(FILE_BYTES_MIN)
}

/// A file that was read: its parsed content, or the reason why there is none.
pub(super) struct FileReadOutcome {
    pub(super) found: ScannedFile,
    pub(super) outcome: Result<(ContentHash, Parsed), String>,
    /// The marks of its nodes, if it is an exported file.
    pub(super) marks: Option<Vec<ExportedNodeAttributes>>,
}

impl FileReadOutcome {
    /// Returns the file in its present state, read again if it changed meanwhile. Another compile
    /// may have written the newer state already.
    pub(super) fn latest(self, plan: &CompilePlan) -> FileReadOutcome {
        match scan::stat_file(&self.found.full(&plan.scope.root)) {
            Ok(Some(stat)) if stat != self.found.stat => {
                read(ScannedFile { stat, ..self.found }, plan)
            }
            // A file deleted meanwhile is left to the next compile.
            _ => self,
        }
    }
}

/// Reads and parses files on up to `n_threads` threads, and hands them to `consume` in order. Large
/// ones are parsed one at a time, since that takes many times their size.
pub(super) fn read_all<A>(
    files: Vec<ScannedFile>,
    n_threads: usize,
    plan: &CompilePlan,
    consume: impl FnOnce(&mut dyn Iterator<Item = FileReadOutcome>) -> A,
) -> A {
    let n_threads_max =
        plan.workspace.config.compile.max_parallelism.map_or(usize::MAX, |it| it as usize);
    let alone = Mutex::new(());
    let read = |it: ScannedFile| {
        let is_large = ALONE_BYTES < it.stat.size;
        let turn = is_large.then(|| alone.lock().unwrap_or_else(PoisonError::into_inner));
        let source = read(it, plan);
        drop(turn);
        source
    };
    scan::map_in_order(files, n_threads.min(n_threads_max), read, consume)
}

fn read(found: ScannedFile, plan: &CompilePlan) -> FileReadOutcome {
    let (root, workspace) = (&plan.scope.root, &plan.workspace);
    if !found.syntax.is_built_in() {
        let what = "this build reads no HTML; what the memory has of it stays".to_owned();
        return FileReadOutcome { found, outcome: Err(what), marks: None };
    }
    let bytes = match scan::read_file(root, &found, workspace.config.compile.max_file_size) {
        Ok(bytes) => bytes,
        Err(what) => return FileReadOutcome { found, outcome: Err(what), marks: None },
    };
    let belong = plan.exported.as_ref().map(|it| match it.is_of_agents(&found.path) {
        true => ExportedFileOwner::OfAgents,
        false => ExportedFileOwner::OfFile,
    });
    // A panic in a parser is our bug; it must affect this file only.
    let parsed = catch_unwind(AssertUnwindSafe(|| {
        redaction::parse_bytes_redacted((found.syntax, belong), &bytes, &workspace.redactor)
    }));
    match parsed {
        Ok((parsed, marks)) => {
            let outcome = Ok((ContentHash::of_bytes(&bytes), parsed));
            FileReadOutcome { found, outcome, marks }
        }
        Err(_) => FileReadOutcome { found, outcome: Err(PARSER_FAILED.to_owned()), marks: None },
    }
}
