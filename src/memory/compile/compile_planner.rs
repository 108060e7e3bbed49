//! Makes the plan of a compile: finds the root that owns the path and the changed files.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::moved_tombstones::absent_files;
use super::plan::{CompilePlan, CompileScope};
use super::redacted_namesakes::{self, KnownFile, unnumbered};
use super::unsettled_file_deferral::UnsettledFileDeferral;
use super::{CompileError, CompileRequest, PARSER_FAILED};
use crate::ingest::markdown_export_format::{FoldersByRoot, RootWithinExport};
use crate::ingest::parse::Syntax;
use crate::ingest::redact::{MARKER, Redactor};
use crate::ingest::scan::{
    self, CodeFiles, DetailLevel, GitignoreMode, IgnoreRules, ScannedFile, SkippedPath,
};
use crate::settings::root_settings::RootSettings;
use crate::store::{FileRow, Root, Writer};

/// Compares the folder with the rows of its files. With `watch`, a missing folder is an error, and
/// files that failed are read again only after a change.
pub(super) fn make_plan(
    writer: &Writer,
    request: &CompileRequest<'_>,
    watch: Option<&mut UnsettledFileDeferral>,
) -> Result<CompilePlan, CompileError> {
    let path = request.path;
    let roots = writer.roots()?;
    let (full, kind) = resolve(path)?;
    if matches!(kind, PathKind::File) && Syntax::of(&full.to_string_lossy()).is_none() {
        return Err(CompileError::Unsupported { path: path.to_owned() });
    }
    // A root's path is stored the same way whatever its settings are.
    let mut scope = scope(&roots, &full, &kind, &Redactor::builtin())?;
    let workspace = (request.workspace)(&scope.root)?;
    check_code(&full, &workspace)?;
    let (redactor, exported) = (&workspace.redactor, RootWithinExport::find(&scope.root));
    let (rules, mut skipped) = load_rules(&scope.root, &workspace)?;
    let rows = writer.files_at(&scope.root_text)?;
    let mut plan = CompilePlan { root: scope.root_text.clone(), roots, ..CompilePlan::default() };
    let is_ignored = rules.is_ignored(&scope.path, matches!(kind, PathKind::Folder));
    if let Some(path) = exported.as_ref().and_then(|it| it.path_of(&scope.path)) {
        scope.path = path;
    }
    // From here on, paths are redacted as they are stored.
    scope.path = redactor.scrub(&scope.path).text.into_owned();
    let mut nested = nested(writer, &plan.roots, &scope)?;
    nested.retain(|(_, path)| exported.as_ref().is_none_or(|it| it.path_of(path).is_some()));
    let recheck = match &watch {
        Some(watch) if watch.is_started() => {
            FailedFileRecheck::IfOtherwise { bytes_max: workspace.config.compile.max_file_size }
        }
        _ => FailedFileRecheck::Always,
    };
    let is_folder = matches!(kind, PathKind::Folder);
    let others = if is_folder { None } else { walk_namesakes(&rules, &scope, &rows) };
    let mut walk = match kind {
        PathKind::Gone(source) => {
            if watch.is_some() || !rows.iter().any(|row| scope.covers(unnumbered(&row.path))) {
                return Err(CompileError::NoSource { path: path.to_owned(), source });
            }
            others.unwrap_or_default()
        }
        _ if is_ignored => {
            skipped.push(exclusion(scope.path.clone(), &workspace));
            others.unwrap_or_default()
        }
        PathKind::File | PathKind::Folder => {
            others.unwrap_or_else(|| scan::walk_folder(&rules, &full, request.listing))
        }
    };
    if let Some(watch) = watch.filter(|_| is_folder) {
        let own = rows.iter().filter(|row| scope.covers(&row.path));
        let newest = own.chain(nested.iter().map(|(row, _)| row)).map(|row| row.stat.mtime).max();
        watch.check_folder(&full, walk.found.len(), newest)?;
    }
    if let Some(exported) = &exported {
        name_as_before(&mut walk, &scope.root, exported);
    }
    let asked = if is_folder { None } else { Some(&*full) };
    name_as_stored(&mut walk, &mut scope, (&rows, &nested), (&workspace, asked));
    skipped.extend(walk.skipped);
    plan.skipped = skipped;
    plan.passed_over = walk.passed_over;
    plan.exported = exported;
    plan.forgotten_in_absent = absent_files(writer, (&plan, &scope), &rows, &walk.found)?;
    compare(&mut plan, &scope, (rows, nested), walk.found, &walk.unseen, recheck);
    plan.scope = scope;
    plan.workspace = workspace;
    Ok(plan)
}

/// Returns the warning that an ignore file excludes the path that is compiled.
fn exclusion(path: String, settings: &RootSettings) -> SkippedPath {
    let by = match settings.gitignore() {
        GitignoreMode::Unread => scan::IGNORE_FILE,
        GitignoreMode::Followed => "an ignore file",
    };
    let what = format!("{by} excludes it; nothing is compiled");
    SkippedPath { path, line: None, what }
}

/// Reads the rules of a root, as its settings want them.
fn load_rules(
    root: &Path,
    settings: &RootSettings,
) -> Result<(IgnoreRules, Vec<SkippedPath>), CompileError> {
    let (rules, skipped) = IgnoreRules::load(root, settings.gitignore())
        .map_err(|what| CompileError::Settings { what })?;
    Ok((rules.with_code(settings.code_files()), skipped))
}

/// Refuses a file of source code where the settings leave those out.
pub(super) fn check_code(path: &Path, settings: &RootSettings) -> Result<(), CompileError> {
    let is_code = matches!(Syntax::of(&path.to_string_lossy()), Some(Syntax::Code(_)));
    match is_code && path.is_file() && settings.code_files() == CodeFiles::PassedOver {
        true => Err(CompileError::Unsupported { path: path.to_owned() }),
        false => Ok(()),
    }
}

/// When to read a file again that failed and looks the same.
#[derive(Clone, Copy, Debug)]
enum FailedFileRecheck {
    Always,
    /// If it can be opened now, being no larger than that, or the reason differs.
    IfOtherwise {
        bytes_max: Option<u64>,
    },
}

impl FailedFileRecheck {
    /// Returns whether a file that looks unchanged needs no further work.
    fn is_done(self, row: &FileRow, file: &ScannedFile, root: &Path) -> bool {
        match (&row.error, self) {
            (None, _) => row.content_hash.is_some(),
            (Some(_), FailedFileRecheck::Always) => false,
            (Some(error), FailedFileRecheck::IfOtherwise { bytes_max }) => {
                match scan::open_file(root, file, bytes_max) {
                    Ok(_) => error == PARSER_FAILED || !file.syntax.is_built_in(),
                    Err(what) => what == *error,
                }
            }
        }
    }
}

#[derive(Debug)]
enum PathKind {
    File,
    Folder,
    Gone(std::io::Error),
}

/// Returns the root of `path` in a memory without roots.
pub(super) fn root_at_first(path: &Path) -> Result<PathBuf, CompileError> {
    let (full, kind) = resolve(path)?;
    Ok(scope(&[], &full, &kind, &Redactor::builtin())?.root)
}

/// Resolves links in a path; returns it and its kind.
fn resolve(path: &Path) -> Result<(PathBuf, PathKind), CompileError> {
    match path.canonicalize() {
        // A folder that cannot be listed is not one without notes.
        Ok(full) if full.is_dir() => match scan::stat_folder(&full) {
            Ok(_) => Ok((full, PathKind::Folder)),
            Err(source) => Err(CompileError::NoSource { path: path.to_owned(), source }),
        },
        Ok(full) => Ok((full, PathKind::File)),
        Err(source) => {
            // A deleted path is resolved by its folder, to find its row.
            let folder = path.parent().and_then(|it| it.canonicalize().ok());
            match (folder, path.file_name()) {
                (Some(folder), Some(name)) => Ok((folder.join(name), PathKind::Gone(source))),
                _ => Err(CompileError::NoSource { path: path.to_owned(), source }),
            }
        }
    }
}

/// Returns the scope of `full`: its root is the nearest known one whose rules include it, else the
/// folder itself. Roots are compared by their redacted paths, as they are stored.
fn scope(
    roots: &[Root],
    full: &Path,
    kind: &PathKind,
    redactor: &Redactor,
) -> Result<CompileScope, CompileError> {
    let stored = |path: &Path| path.to_str().map(|it| redactor.scrub(it).text.into_owned());
    let is_root = |path: &Path| {
        stored(path).is_some_and(|text| roots.iter().any(|it| it.path == text)) && owns(path, full)
    };
    let root = match (full.ancestors().find(|it| is_root(it)), kind) {
        (Some(root), _) => root,
        (None, PathKind::Folder) => full,
        (None, _) => full.parent().unwrap_or(full),
    };
    let not_utf8 = || CompileError::NotUtf8 { path: full.to_owned() };
    Ok(CompileScope {
        root_text: stored(root).ok_or_else(not_utf8)?,
        path: scan::relative_path(root, full).ok_or_else(not_utf8)?,
        root: root.to_owned(),
    })
}

fn owns(root: &Path, full: &Path) -> bool {
    let Some(path) = scan::relative_path(root, full) else {
        return false;
    };
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    let last = path.rsplit('/').next().unwrap_or("");
    let is_last_skipped = full.is_dir() && scan::is_skipped_folder(last);
    let is_skipped =
        !folders.is_empty() && folders.split('/').any(scan::is_skipped_folder) || is_last_skipped;
    path.is_empty() || !is_skipped
}

/// Returns the folders of an exported folder that are roots of their own, in order of number.
pub(super) fn other_roots(path: &Path) -> Vec<String> {
    let index = if path.is_dir() { FoldersByRoot::read(path) } else { None };
    let folders = index.as_ref().map(|it| it.other_folders().map(str::to_owned).collect());
    let folders: Vec<String> = folders.unwrap_or_default();
    folders.into_iter().filter(|it| path.join(it).is_dir()).collect()
}

/// Gives the files of an exported folder the paths that they had; leaves out its index, and what
/// is in another root.
fn name_as_before(walk: &mut scan::ScanResult, root: &Path, exported: &RootWithinExport) {
    for file in std::mem::take(&mut walk.found) {
        match exported.path_of(&file.path) {
            Some(path) if path == file.path => walk.found.push(file),
            Some(path) => {
                let elsewhere = Some(file.full(root).into());
                walk.found.push(ScannedFile { path, elsewhere, ..file });
            }
            None => (),
        }
    }
    walk.unseen = walk.unseen.iter().filter_map(|it| exported.path_of(it)).collect();
    sort_and_dedup(walk, "its original is beside it, and counts; remove one of them");
}

/// Walks the whole root where the path of the one file of the scope is redacted, and the memory has
/// rows of such a path: which one is the file's is known by the others.
fn walk_namesakes(
    rules: &IgnoreRules,
    scope: &CompileScope,
    rows: &[FileRow],
) -> Option<scan::ScanResult> {
    let is_namesake = |it: &FileRow| !it.is_gone && unnumbered(&it.path) == scope.path;
    (scope.path.contains(MARKER) && rows.iter().any(is_namesake))
        .then(|| scan::walk_folder(rules, &scope.root, DetailLevel::Counts))
}

/// Gives the files of a scan the paths that the memory has for them. `asked` is the one file of the
/// scope.
fn name_as_stored(
    walk: &mut scan::ScanResult,
    scope: &mut CompileScope,
    (rows, nested): (&[FileRow], &[(FileRow, String)]),
    (workspace, asked): (&RootSettings, Option<&Path>),
) {
    let nested = nested.iter().map(|(row, path)| (row, path.as_str()));
    let known: Vec<KnownFile<'_>> =
        rows.iter().map(|it| (it, it.path.as_str())).chain(nested).collect();
    let reading = (&*scope.root, workspace.config.compile.max_file_size);
    scrub_paths(walk, &workspace.redactor, &known, reading);
    if let Some(full) = asked.filter(|_| scope.path.contains(MARKER)) {
        narrow(walk, scope, &known, full);
    }
}

/// Redacts the paths of a scan, each one in its own way; the files keep their real ones to be read.
fn scrub_paths(
    walk: &mut scan::ScanResult,
    redactor: &Redactor,
    known: &[KnownFile<'_>],
    (root, bytes_max): (&Path, Option<u64>),
) {
    let clean = |path: &mut String| {
        if let Cow::Owned(scrubbed) = redactor.scrub(path).text {
            *path = scrubbed;
        }
    };
    walk.unseen.iter_mut().for_each(clean);
    // Any of its namesakes may be the one that could not be read.
    let is_unseen = |path: &&str| walk.unseen.iter().any(|it| it == unnumbered(path));
    let unseen: Vec<&str> = known.iter().map(|it| it.1).filter(is_unseen).collect();
    walk.unseen.extend(unseen.into_iter().map(str::to_owned));
    walk.passed_over.finish(|path| redactor.scrub(path).text.into_owned());
    walk.skipped.iter_mut().for_each(|it| clean(&mut it.path));
    let mut n_scrubbed = 0;
    for file in &mut walk.found {
        if let Cow::Owned(scrubbed) = redactor.scrub(&file.path).text {
            file.elsewhere = Some(file.full(root).into());
            file.path = scrubbed;
            n_scrubbed += 1;
        }
    }
    if 0 < n_scrubbed {
        let found = std::mem::take(&mut walk.found);
        walk.found = redacted_namesakes::tell_apart(found, known, (root, bytes_max));
    }
}

/// Narrows a scan to the one file that is compiled, and the scope to the path that it has among its
/// namesakes; that of a deleted file is one that no other has.
fn narrow(
    walk: &mut scan::ScanResult,
    scope: &mut CompileScope,
    known: &[KnownFile<'_>],
    full: &Path,
) {
    let is_found = |path: &str| walk.found.iter().any(|it| it.path == path);
    let is_it =
        |it: &&KnownFile<'_>| !it.0.is_gone && unnumbered(it.1) == scope.path && !is_found(it.1);
    let path = match walk.found.iter().find(|it| it.full(&scope.root) == full) {
        Some(file) => Some(file.path.clone()),
        None => known.iter().find(is_it).map(|it| it.1.to_owned()),
    };
    scope.path = path.unwrap_or_else(|| std::mem::take(&mut scope.path));
    walk.found.retain(|it| scope.covers(&it.path));
    walk.unseen.retain(|it| scope.covers(it));
    walk.skipped.retain(|it| scope.covers(&it.path));
    walk.passed_over = scan::PassedOverSummary::default();
}

/// Sorts the files of a scan by path; of several with one path, the first one stays.
fn sort_and_dedup(walk: &mut scan::ScanResult, what: &str) {
    walk.found.sort_by(|a, b| a.path.cmp(&b.path));
    for file in std::mem::take(&mut walk.found) {
        if walk.found.last().is_none_or(|it| it.path != file.path) {
            walk.found.push(file);
        } else {
            let what = what.to_owned();
            walk.skipped.push(SkippedPath { path: file.path, line: None, what });
        }
    }
}

/// Returns the files of roots below this one, with the paths that they would have here.
fn nested(
    writer: &Writer,
    roots: &[Root],
    scope: &CompileScope,
) -> Result<Vec<(FileRow, String)>, CompileError> {
    let mut files = Vec::new();
    for root in roots {
        let Some(prefix) = scan::relative_path(Path::new(&scope.root_text), Path::new(&root.path))
        else {
            continue;
        };
        if prefix.is_empty() {
            continue;
        }
        for row in writer.files(root.id)? {
            let path = format!("{prefix}/{}", row.path);
            if scope.covers(&path) {
                files.push((row, path));
            }
        }
    }
    Ok(files)
}

/// Compares the found files, ordered by path, with the rows of the root and of nested ones.
fn compare(
    plan: &mut CompilePlan,
    scope: &CompileScope,
    (rows, nested): (Vec<FileRow>, Vec<(FileRow, String)>),
    found: Vec<ScannedFile>,
    unseen: &[String],
    recheck: FailedFileRecheck,
) {
    let is_found = |path: &str| found.binary_search_by(|it| it.path.as_str().cmp(path)).is_ok();
    let mut known: BTreeMap<&str, &FileRow> =
        rows.iter().map(|it| (it.path.as_str(), it)).collect();
    let is_unseen = |path: &str| {
        unseen.iter().any(|it| {
            it.is_empty()
                || path == it
                || path.strip_prefix(it.as_str()).is_some_and(|rest| rest.starts_with('/'))
        })
    };
    for row in &rows {
        let may_be_there = is_found(&row.path) || is_unseen(&row.path);
        if !may_be_there && !row.is_gone && scope.covers(&row.path) {
            plan.vanished.push(row.clone());
        }
    }
    for (row, path) in nested {
        let is_there = scope.root.join(&path).exists();
        match (is_found(&path), known.contains_key(path.as_str())) {
            (true, false) => plan.adopted.push((row, path)),
            // A deleted file of which something stays belongs to the root that would compile it
            // again.
            (false, false) if row.is_gone => plan.adopted.push((row, path)),
            (_, _) if row.is_gone => (),
            // Two rows for one file: the one of this root stays.
            (true, true) => plan.vanished.push(row),
            (false, _) if !is_there && !is_unseen(&path) => plan.vanished.push(row),
            (false, _) => (),
        }
    }
    for (row, path) in &plan.adopted {
        known.insert(path, row);
    }
    let (mut changed, mut new) = (Vec::new(), Vec::new());
    for file in found {
        match known.get(file.path.as_str()) {
            Some(row) if row.stat == file.stat && recheck.is_done(row, &file, &scope.root) => {
                let what = row.error.clone();
                let odd = |what| SkippedPath { path: file.path.clone(), line: None, what };
                plan.skipped.extend(what.map(odd));
            }
            Some(_) => changed.push(file),
            None => new.push(file),
        }
    }
    plan.n_new = new.len();
    changed.append(&mut new);
    plan.changed = changed;
}
