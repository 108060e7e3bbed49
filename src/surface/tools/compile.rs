//! `MemoryCompile`: compiles files from the folders that the user allows.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::ingest::scan::DetailLevel;
use crate::mcp::{Args, CallContext, HandlerError, ToolReply};
use crate::memory::Answer;
use crate::memory::compile::{CompileRequest, InitialTemperaturesFor, SLICE_BYTES};
use crate::query::render::to_name;
use crate::surface::MemoryHandler;
use crate::surface::tools::replaced_secrets;

/// Progress reports of one compile.
const PROGRESS_MAX: usize = 100;
/// Warnings that the text of a reply names.
const WARNINGS_SHOWN_MAX: usize = 10;

pub(super) fn compile(
    tools: &MemoryHandler,
    args: &Args,
    call: &CallContext,
) -> Result<ToolReply, HandlerError> {
    let asked = args.text("path").unwrap_or_default();
    let path = admitted(tools, asked)?;
    let default = tools.memory.compile_message(asked);
    let request = CompileRequest {
        path: &path,
        message: args.text("message").filter(|it| !it.is_empty()).unwrap_or(&default),
        n_threads: tools.n_threads,
        workspace: &|root| tools.memory.workspace_of(root),
        temperatures_for: InitialTemperaturesFor::NewNodes,
        listing: DetailLevel::Counts,
        stopwatch: tools.memory.clock().stopwatch(),
        slice_bytes: SLICE_BYTES,
        progress: &|n_done, n_files| {
            // A client needs to see progress, not every step.
            if n_done.is_multiple_of(n_files.div_ceil(PROGRESS_MAX).max(1)) || n_done == n_files {
                call.progress(n_done as u64, Some(n_files as u64), "files");
            }
            !call.is_cancelled()
        },
    };
    let report = tools.memory.compile_as(&request)?;
    let mut text = report.to_string();
    if !report.passed_over.is_empty() {
        text += &format!("\n{}; `remindb inspect --skipped` lists them", report.passed_over);
    }
    for warning in report.warnings.iter().take(WARNINGS_SHOWN_MAX) {
        text.push_str(&format!("\nwarning: {warning}"));
    }
    if let Some(n @ 1..) = report.warnings.len().checked_sub(WARNINGS_SHOWN_MAX) {
        text.push_str(&format!("\n… {n} more warnings"));
    }
    let answer = Answer::plain(text, tools.memory.output(), || report.to_json());
    Ok(replaced_secrets::tell(&tools.memory, args, answer).into())
}

pub(super) fn output() -> Value {
    let count = json!({"type": "integer"});
    let counts = ["added", "modified", "removed"];
    let properties: serde_json::Map<String, Value> =
        counts.iter().map(|it| ((*it).to_owned(), count.clone())).collect();
    json!({"type": "object", "properties": properties, "required": counts})
}

/// Bytes of the longest path that Linux takes.
const PATH_BYTES_MAX: usize = 4096;

/// Returns the resolved path, if this server may read it. It may read its source folder, folders
/// compiled before, and those that the operator allows.
fn admitted(tools: &MemoryHandler, asked: &str) -> Result<PathBuf, HandlerError> {
    if asked.is_empty() {
        return Err(HandlerError::BadArgument("`path` is empty; name a file or folder".to_owned()));
    }
    if PATH_BYTES_MAX < asked.len() {
        let why =
            format!("`path` has {} bytes; no path has more than {PATH_BYTES_MAX}", asked.len());
        return Err(HandlerError::BadArgument(why));
    }
    let roots = tools.memory.roots()?;
    let mut homes: Vec<PathBuf> = tools.source.iter().cloned().collect();
    homes.extend(roots.iter().map(|it| PathBuf::from(&it.path)));
    homes.extend(tools.allowed.iter().cloned());
    homes.dedup();
    let path = match (Path::new(asked), homes.first()) {
        (path, _) if path.is_absolute() => path.to_owned(),
        (path, Some(home)) => home.join(path),
        (_, None) => {
            let why = format!(
                "`{}` is relative to nothing; give an absolute path, or start the server with \
                 --source",
                to_name(asked)
            );
            return Err(HandlerError::BadArgument(why));
        }
    };
    let full = in_full(&path);
    match full.filter(|full| homes.iter().any(|home| full.starts_with(home))) {
        // The checked path is the one read, even if a link changes meanwhile.
        Some(full) => Ok(full),
        None => {
            log::warn!("refused to compile what lies outside of the folders that may be read");
            let homes: Vec<String> = homes.iter().map(|it| format!("`{}`", it.display())).collect();
            let why = match homes.len() {
                0 => "start it with --source FOLDER to let it".to_owned(),
                _ => format!("it may read {}", homes.join(", ")),
            };
            Err(HandlerError::BadArgument(format!(
                "`{}` lies outside of what this server may read; {why}",
                to_name(asked)
            )))
        }
    }
}

/// Resolves links in a path; a missing path is resolved by its nearest existing folder. A path
/// with `..` below a missing folder has no resolution.
fn in_full(path: &Path) -> Option<PathBuf> {
    let mut missing = Vec::new();
    let mut above = path;
    loop {
        if let Ok(full) = above.canonicalize() {
            return Some(missing.iter().rev().fold(full, |full, name| full.join(name)));
        }
        missing.push(above.file_name()?);
        above = above.parent()?;
    }
}
