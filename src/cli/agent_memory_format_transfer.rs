//! Imports and exports typed memories as files of the agent memory format.

use std::fs;
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};

use super::progress::ProgressLine;
use super::{CommandError, CommandOutcome, CommandStreamsAndClock, typed_memory_output};
use crate::ingest::scan;
use crate::maintenance::transfer::{AtomicFolder, IfExists, TransferError};
use crate::memory::dry_run::WriteOrDryRun;
use crate::memory::typed::{
    ARCHIVE, FILES, INDEX, LineDefaults, MemoryExportLayout, MemoryImportReport, PlannedExportFile,
    read_lines,
};
use crate::store::reader::Reader;

/// Memories whose lines are written at a time.
const STEP_MEMORIES: usize = 500;

/// A file of the agent memory format, found below a folder.
struct AgentMemoryJsonlFile {
    /// Relative to the folder.
    path: PathBuf,
    /// As messages name it.
    shown: String,
    of: LineDefaults,
}

pub(super) fn import(
    folder: &Path,
    db: &Path,
    mode: WriteOrDryRun,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let files = found_in(folder)?;
    if files.is_empty() {
        let names = FILES.map(|(name, _)| name).join(", ");
        let folder = folder.display();
        let what =
            format!("no memories in `{folder}`: it has none of {names}, also below {ARCHIVE}/");
        return Err(CommandError::Because(what));
    }
    let mut lines = Vec::new();
    for file in &files {
        let opened = open(folder, file)?;
        read_lines(&mut BufReader::new(opened), &file.shown, file.of, &mut lines)
            .map_err(|error| cannot_read(&file.shown, &error))?;
    }
    let target = typed_memory_output::open_to_import(db, mode, context)?;
    let name = folder.canonicalize().ok();
    let name = name.as_deref().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let progress = ProgressLine::new(context, "importing", "lines");
    let imported = target.memory().import_memories(
        lines,
        &format!("import:{name} of agent-memory"),
        mode,
        &mut |n_done, n_all| {
            progress.note(n_done, n_all);
        },
    );
    progress.clear();
    let MemoryImportReport { n_added, n_updated, n_unchanged, n_secrets, refused, snapshot } =
        imported?;
    for line in &refused {
        // The import is done, even if this cannot be written.
        let _ = writeln!(context.err, "{line}");
    }
    let noun = if refused.len() == 1 { "line" } else { "lines" };
    let n_refused = refused.len();
    let counts = format!(
        "{n_added} added, {n_updated} updated, {n_unchanged} unchanged, {n_refused} bad {noun}"
    );
    typed_memory_output::tell_import("", &counts, (mode, snapshot), db, context)?;
    if 0 < n_secrets {
        context.say(format_args!("secrets replaced by markers: {n_secrets}\n"))?;
    }
    Ok(CommandOutcome::Done)
}

pub(super) fn export(
    db: &Path,
    folder: &Path,
    is_force: bool,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let reader = Reader::open(db)?;
    let if_there = if is_force { IfExists::Replace } else { IfExists::Refuse };
    let mut draft = AtomicFolder::of(folder, if_there)?;
    let progress = ProgressLine::new(context, "exporting", "memories");
    let written = reader.at_one_state(|reader| write(reader, &mut draft, &progress));
    progress.clear();
    let (n_memories, n_files) = written?;
    // Memories that are archived no longer must not come back with a later import.
    let stale = if folder.is_dir() { found_in(folder)? } else { Vec::new() };
    let stale: Vec<PathBuf> = stale.into_iter().map(|it| it.path).collect();
    draft.publish(db, &stale)?;
    let folder = folder.display();
    context
        .say(format_args!("exported: {n_memories} memories in {n_files} files, to {folder}\n"))?;
    Ok(CommandOutcome::Done)
}

/// Writes every file, the index last; returns the number of memories and of files.
fn write(
    reader: &Reader,
    draft: &mut AtomicFolder,
    progress: &ProgressLine,
) -> Result<(usize, usize), CommandError> {
    let output = |error: io::Error| CommandError::from(TransferError::Output(error));
    let export = MemoryExportLayout::plan(reader)?;
    let n_memories = export.n_memories();
    let mut n_done = 0;
    for PlannedExportFile { path, memories } in &export.files {
        draft.write(path, |file| {
            for some in memories.chunks(STEP_MEMORIES) {
                let lines = PlannedExportFile::lines(reader, some)?;
                file.write_all(lines.as_bytes()).map_err(output)?;
                n_done += some.len();
                progress.note(n_done as u64, n_memories as u64);
            }
            Ok::<(), CommandError>(())
        })?;
    }
    draft.write(INDEX, |file| file.write_all(export.index().as_bytes()).map_err(output))?;
    Ok((n_memories, export.files.len()))
}

/// Returns the files of memories that are there, in the order in which they are read.
fn found_in(folder: &Path) -> Result<Vec<AgentMemoryJsonlFile>, CommandError> {
    if !folder.is_dir() {
        let what = format!("no folder `{}`", folder.display());
        return Err(CommandError::Because(what));
    }
    let mut places = vec![(PathBuf::new(), false)];
    let archive = folder.join(ARCHIVE);
    if archive.is_dir() {
        let cannot = |error: io::Error| cannot_read(&archive.display().to_string(), &error);
        let mut years = Vec::new();
        for entry in fs::read_dir(&archive).map_err(cannot)? {
            let name = entry.map_err(cannot)?.file_name();
            if name.len() == 4 && name.to_string_lossy().bytes().all(|it| it.is_ascii_digit()) {
                years.push(name);
            }
        }
        years.sort_unstable();
        places.extend(years.into_iter().map(|it| (Path::new(ARCHIVE).join(it), true)));
    }
    let mut found = Vec::new();
    for (place, archived) in places {
        for (name, memory_type) in FILES {
            let path = place.join(name);
            let full = folder.join(&path);
            let shown = full.display().to_string();
            match fs::metadata(&full) {
                Ok(it) if it.is_file() => {
                    found.push(AgentMemoryJsonlFile {
                        path,
                        shown,
                        of: LineDefaults { memory_type, archived },
                    });
                }
                Ok(_) => {
                    let what = format!("`{shown}` is no regular file; move it away");
                    return Err(CommandError::Because(what));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => (),
                Err(error) => return Err(cannot_read(&shown, &error)),
            }
        }
    }
    Ok(found)
}

/// Opens a file of memories; nothing that a link leads to is a part of the folder.
fn open(folder: &Path, file: &AgentMemoryJsonlFile) -> Result<fs::File, CommandError> {
    match scan::open_below(folder, &file.path) {
        Ok(Some(opened)) => Ok(opened),
        Err(error) if error.kind() != io::ErrorKind::NotADirectory => {
            Err(cannot_read(&file.shown, &error))
        }
        Ok(None) | Err(_) => Err(CommandError::Because(format!(
            "`{}` is a link or behind one, and no link is followed; put the file itself there",
            file.shown
        ))),
    }
}

fn cannot_read(what: &str, error: &io::Error) -> CommandError {
    CommandError::Because(format!("cannot read `{what}`: {error}"))
}
