//! `remindb import --from NAME PATH`: adds what another program remembers, once.

use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use super::progress::ProgressLine;
use super::{CommandError, CommandOutcome, CommandStreamsAndClock, typed_memory_output};
use crate::ingest::conversation::each_spoken;
use crate::ingest::foreign::{
    ForeignFileOrigin, ForeignReader, ImportableProgram, NoteCollector, SessionMetadata,
    add_session,
};
use crate::ingest::scan;
use crate::maintenance::transfer::each_opencode_session;
use crate::memory::Memory;
use crate::memory::dry_run::WriteOrDryRun;
use crate::memory::foreign_notes_import::ForeignImportReport;
use crate::model::clock::UnixMillis;
use crate::query::render::to_one_line;

/// Bytes of notes that are written at a time.
const STEP_BYTES: usize = 32 * 1024 * 1024;

/// Folders below one another, at most.
const DEPTH_MAX: usize = 32;

/// Bytes of a file that names a project, at most.
const PROJECT_BYTES_MAX: u64 = 4_096;

/// The database of a program that keeps one.
const OPENCODE: (&str, &str) = ("opencode", "opencode.db");

/// A file to read, and how.
struct FoundFile {
    path: PathBuf,
    /// Below the folder of the import, with `/` between names.
    below: String,
    /// `None`: the database of OpenCode.
    reader: Option<ForeignReader>,
}

pub(super) fn import(
    source: &'static ImportableProgram,
    path: Option<PathBuf>,
    db: &Path,
    mode: WriteOrDryRun,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let path = path.map_or_else(|| of_home(source), Ok)?;
    let files = found_in(source, &path)?;
    if files.is_empty() {
        let why = format!(
            "no memories of {} in `{}`; what is read: {}",
            source.name,
            path.display(),
            source.files
        );
        return Err(CommandError::Because(why));
    }
    let target = typed_memory_output::open_to_import(db, mode, context)?;
    let memory = target.memory();
    let progress = ProgressLine::new(context, "importing", "files");
    let mut notes = NoteCollector::default();
    let mut sum = ForeignImportReport::default();
    for (nth, file) in files.iter().enumerate() {
        progress.note(nth as u64, files.len() as u64);
        read(source, file, &mut notes);
        let n_bytes: usize = notes.notes.iter().flat_map(|it| &it.texts).map(String::len).sum();
        if STEP_BYTES < n_bytes {
            keep(memory, source, &mut notes, mode, &mut sum)?;
        }
    }
    notes.finish();
    keep(memory, source, &mut notes, mode, &mut sum)?;
    progress.clear();
    for line in &notes.refused {
        // The import is done, even if this cannot be written.
        let _ = writeln!(context.err, "{}", to_one_line(line));
    }
    report(source, &notes, &sum, db, mode, context)
}

fn report(
    source: &ImportableProgram,
    notes: &NoteCollector,
    sum: &ForeignImportReport,
    db: &Path,
    mode: WriteOrDryRun,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let &ForeignImportReport { n_added, n_updated, n_unchanged, n_forgotten, n_secrets, snapshot } =
        sum;
    let n_refused = notes.refused.len() + notes.n_unnamed;
    let bad = match n_refused {
        0 => String::new(),
        1 => ", 1 piece could not be read".to_owned(),
        n => format!(", {n} pieces could not be read"),
    };
    let gone = match n_forgotten {
        0 => String::new(),
        n => format!(", {n} forgotten before"),
    };
    let counts =
        format!("{n_added} added, {n_updated} updated, {n_unchanged} unchanged{gone}{bad}");
    let of = format!(" notes of {}", source.name);
    typed_memory_output::tell_import(&of, &counts, (mode, snapshot), db, context)?;
    if 0 < n_secrets {
        context.say(format_args!("secrets replaced by markers: {n_secrets}\n"))?;
    }
    Ok(CommandOutcome::Done)
}

/// Writes the notes that are ready, and adds up what was done.
fn keep(
    memory: &Memory,
    source: &ImportableProgram,
    notes: &mut NoteCollector,
    mode: WriteOrDryRun,
    sum: &mut ForeignImportReport,
) -> Result<(), CommandError> {
    let mut ready = std::mem::take(&mut notes.notes);
    ready.sort_by(|a, b| a.started.cmp(&b.started));
    let done = memory.import_notes(source.name, ready, mode)?;
    sum.n_added += done.n_added;
    sum.n_updated += done.n_updated;
    sum.n_unchanged += done.n_unchanged;
    sum.n_forgotten += done.n_forgotten;
    sum.n_secrets += done.n_secrets;
    sum.snapshot = done.snapshot.or(sum.snapshot);
    Ok(())
}

fn read(source: &'static ImportableProgram, found: &FoundFile, notes: &mut NoteCollector) {
    let shown = found.path.display().to_string();
    let project = project_of(&found.path);
    let project = project.as_deref();
    let file = ForeignFileOrigin { path: &found.below, shown: &shown, project, source };
    let Some(reader) = found.reader else { return read_opencode(&file, &found.path, notes) };
    match scan::open_regular(&found.path) {
        Ok(opened) => reader(&file, &mut BufReader::new(opened), notes),
        Err(error) => notes.refuse(&shown, error),
    }
}

/// Returns the project of a session of Gemini CLI, which a file above it names.
fn project_of(session: &Path) -> Option<String> {
    let named = session.parent()?.parent()?.join(".project_root");
    let path = scan::read_regular_text(&named, PROJECT_BYTES_MAX).ok()?;
    Some(path.trim().to_owned()).filter(|it| !it.is_empty())
}

fn read_opencode(file: &ForeignFileOrigin<'_>, db: &Path, notes: &mut NoteCollector) {
    let read = each_opencode_session(db, &mut |session| {
        let mut said = Vec::new();
        session.records.iter().for_each(|it| each_spoken(it, &mut said));
        let facts = SessionMetadata {
            id: Some(session.id),
            project: Some(session.folder),
            started: Some(UnixMillis(session.created_ms).rfc3339()[..16].to_owned()),
            title: Some(session.title).filter(|it| !it.starts_with("New session")),
        };
        add_session(file, facts, said, notes);
    });
    if let Err(error) = read {
        notes.refuse(file.shown, error);
    }
}

/// Returns the folder of a program below the home.
fn of_home(source: &ImportableProgram) -> Result<PathBuf, CommandError> {
    let home = std::env::var_os("HOME").filter(|it| !it.is_empty() && !source.home.is_empty());
    let folder = home.map(|it| Path::new(&it).join(source.home));
    let name = source.name;
    match folder {
        Some(folder) if folder.exists() => Ok(folder),
        folder => {
            let missing = folder.map(|it| format!("there is no `{}`; ", it.display()));
            Err(CommandError::Because(format!(
                "{}`--from {name}` needs the file or folder to import: {}",
                missing.unwrap_or_default(),
                source.files
            )))
        }
    }
}

/// Returns the files to read, by name.
fn found_in(
    source: &'static ImportableProgram,
    path: &Path,
) -> Result<Vec<FoundFile>, CommandError> {
    let cannot = |error: std::io::Error| {
        CommandError::Because(format!("cannot read `{}`: {error}", path.display()))
    };
    let mut found = Vec::new();
    if fs::metadata(path).map_err(cannot)?.is_dir() {
        fs::read_dir(path).map_err(cannot)?;
        walk(source, path, "", DEPTH_MAX, &mut found);
    } else {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        found.extend(found_file(source, path.to_owned(), name));
    }
    Ok(found)
}

fn walk(
    source: &'static ImportableProgram,
    folder: &Path,
    below: &str,
    depth: usize,
    found: &mut Vec<FoundFile>,
) {
    let mut entries: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let below = if below.is_empty() { name } else { format!("{below}/{name}") };
        let path = entry.path();
        match entry.file_type() {
            Ok(it) if it.is_dir() && 0 < depth => walk(source, &path, &below, depth - 1, found),
            // A link may lead anywhere, but one to a file is somebody's wish.
            Ok(it) if it.is_file() || it.is_symlink() && path.is_file() => {
                found.extend(found_file(source, path, below));
            }
            _ => (),
        }
    }
}

fn found_file(
    source: &'static ImportableProgram,
    path: PathBuf,
    below: String,
) -> Option<FoundFile> {
    let is_database = source.name == OPENCODE.0 && path.file_name()? == OPENCODE.1;
    let reader = (source.reader)(&below);
    (is_database || reader.is_some()).then_some(FoundFile { path, below, reader })
}
