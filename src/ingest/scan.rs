//! Scans a folder: the files that belong to a root, their stats, and their bytes.
//!
//! The result of a walk is in byte order of paths, so that it depends on nothing but the folder. A
//! walk never follows a link to a folder or out of the root, never opens anything but regular
//! files, and never fails for one entry: an unreadable entry is reported, and its known
//! state is kept.

mod file_compare_and_swap;
mod ignore_rules;
mod open_nofollow;
mod open_regular_file;
mod own_open_database_files;
mod passed_over;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use crossbeam_channel::{Receiver, Sender};
use file_compare_and_swap::file_of_leftover;
pub(crate) use file_compare_and_swap::{create_file, read_to_change, remove_file, replace_file};
use ignore::{DirEntry, WalkBuilder};
pub(crate) use ignore_rules::{CodeFiles, GitignoreMode, IgnoreRules};
pub(crate) use open_regular_file::{
    open_own, open_regular, open_unless_open, read_regular, read_regular_text, stat_own,
};
pub(crate) use own_open_database_files::{FileIdentity, OwnOpenDatabaseFiles};
pub(crate) use passed_over::{DetailLevel, document_kind};
pub use passed_over::{PassedOverPath, PassedOverSummary};

use crate::ingest::parse::Syntax;
use crate::model::file_stat::FileStat;

/// Folders that are never entered, beside those whose name begins with a dot.
pub(crate) const SKIPPED_FOLDERS: [&str; 8] =
    ["Pods", "__pycache__", "bower_components", "dist", "node_modules", "target", "vendor", "venv"];

/// The name of a root's own folder, of its settings and its memory.
pub(crate) const OWN_FOLDER: &str = ".remindb";

/// Path of a root's ignore rules.
pub(crate) const IGNORE_FILE: &str = ".remindb/ignore";

/// Maximum bytes of a file that is read.
const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// A path that was skipped, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SkippedPath {
    /// Relative to the root, `/` between segments.
    pub(crate) path: String,
    pub(crate) line: Option<u32>,
    pub(crate) what: String,
}

/// Returns whether a walk from above would not enter the folder of this name.
pub(crate) fn is_skipped_folder(name: &str) -> bool {
    name.starts_with('.') || SKIPPED_FOLDERS.contains(&name)
}

/// A file that belongs to a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScannedFile {
    /// Relative to the root, `/` between segments.
    pub(crate) path: String,
    /// Its real path if not at `path`: the target of a link, or a name that holds a secret.
    pub(crate) elsewhere: Option<Box<Path>>,
    pub(crate) syntax: Syntax,
    pub(crate) stat: FileStat,
}

impl ScannedFile {
    /// Returns its full path, given the root's.
    pub(crate) fn full<'a>(&'a self, root: &Path) -> Cow<'a, Path> {
        match &self.elsewhere {
            Some(full) => Cow::Borrowed(full),
            None => Cow::Owned(root.join(&self.path)),
        }
    }
}

/// The result of a walk, each list in order of path; skipped lines of ignore files come last.
#[derive(Debug, Default)]
pub(crate) struct ScanResult {
    pub(crate) found: Vec<ScannedFile>,
    /// Relative paths of folders and files that could not be read, whose known state is kept.
    pub(crate) unseen: Vec<String>,
    pub(crate) skipped: Vec<SkippedPath>,
    /// Files and folders that are not read by their names, or excluded.
    pub(crate) passed_over: PassedOverSummary,
}

/// Walks `start`, a folder or file at or below the root of `rules`.
pub(crate) fn walk_folder(rules: &IgnoreRules, start: &Path, listing: DetailLevel) -> ScanResult {
    let mut walk = ScanResult::default();
    let passed_over = Arc::new(Mutex::new(PassedOverSummary::new(listing)));
    let inside = ScanFilter { rules: rules.clone(), passed_over: passed_over.clone() };
    let entries = WalkBuilder::new(start)
        .standard_filters(false)
        .follow_links(false)
        .filter_entry(move |entry| inside.admits(entry))
        .build();
    for entry in entries {
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|it| it.is_dir()) => (),
            Ok(entry) => walk.note(rules, &entry, &passed_over),
            Err(error) => {
                let path = failing_path(&error).unwrap_or(start);
                let path = relative_path(&rules.root, path).unwrap_or_default();
                let what = format!("cannot look at it: {}", root_cause(&error));
                walk.skipped.push(SkippedPath { path: path.clone(), line: None, what });
                walk.unseen.push(path);
            }
        }
    }
    walk.found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    walk.unseen.sort_unstable();
    walk.skipped.sort_unstable();
    let mut of_rules = rules.take_skipped_lines();
    of_rules.sort_unstable();
    walk.skipped.extend(of_rules);
    walk.passed_over = std::mem::take(&mut *lock(&passed_over));
    walk
}

/// Decides which entries of a walk are seen, and notes the others.
struct ScanFilter {
    rules: IgnoreRules,
    passed_over: Arc<Mutex<PassedOverSummary>>,
}

impl ScanFilter {
    fn admits(&self, entry: &DirEntry) -> bool {
        let is_dir = entry.file_type().is_some_and(|it| it.is_dir());
        let name = entry.file_name().to_str();
        let is_skipped = is_dir && 0 < entry.depth() && name.is_some_and(is_skipped_folder);
        let path = below(&self.rules.root, entry.path());
        if !is_skipped && self.rules.admits(&path, is_dir) {
            return true;
        }
        let mut passed_over = lock(&self.passed_over);
        if is_dir {
            passed_over.note_folder(&path);
        } else {
            passed_over.note_excluded(&path);
        }
        false
    }
}

fn below<'a>(root: &Path, path: &'a Path) -> Cow<'a, str> {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy()
}

fn lock(passed_over: &Mutex<PassedOverSummary>) -> std::sync::MutexGuard<'_, PassedOverSummary> {
    passed_over.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ScanResult {
    fn note(
        &mut self,
        rules: &IgnoreRules,
        entry: &DirEntry,
        passed_over: &Mutex<PassedOverSummary>,
    ) {
        let (full, is_link) = (entry.path(), entry.path_is_symlink());
        let is_read = |it: &Syntax| rules.code == CodeFiles::Read || !matches!(it, Syntax::Code(_));
        let Some(syntax) = Syntax::of(&full.to_string_lossy()).filter(is_read) else {
            let is_changed =
                |it: &str| matches!(Syntax::of(it), Some(Syntax::Markdown | Syntax::Text));
            if file_of_leftover(full).is_some_and(is_changed) {
                let what = "left by a change that was interrupted, and maybe a version that was \
                            saved meanwhile; compare it with the file, then delete it";
                let path = below(&rules.root, full).into_owned();
                self.skipped.push(SkippedPath { path, line: None, what: what.to_owned() });
                return;
            }
            lock(passed_over).note_unread(&below(&rules.root, full));
            return;
        };
        let Some(path) = relative_path(&rules.root, full) else {
            let what = "the name is not UTF-8; rename the file to have it compiled".to_owned();
            let path = full.strip_prefix(&rules.root).unwrap_or(full);
            let path = path.to_string_lossy().into_owned();
            self.skipped.push(SkippedPath { path, line: None, what });
            return;
        };
        let elsewhere = is_link.then(|| target(&rules.root, full));
        match stat_file(full).and_then(|stat| Ok((stat, elsewhere.transpose()?))) {
            Ok((Some(stat), None)) => {
                self.found.push(ScannedFile { path, elsewhere: None, syntax, stat });
            }
            Ok((Some(stat), Some(LinkTarget::Inside(target)))) => {
                let elsewhere = Some(target.into_boxed_path());
                self.found.push(ScannedFile { path, elsewhere, syntax, stat });
            }
            Ok((stat, elsewhere)) => {
                let what = match (stat, elsewhere) {
                    (Some(_), Some(LinkTarget::OwnFile)) => {
                        "a link into `.remindb`, which has no notes; not followed"
                    }
                    // A link must not give access to files outside the folder.
                    (Some(_), _) => "a link that leaves the folder; not followed",
                    (None, _) => "neither a file nor a link to one; passed over",
                };
                self.skipped.push(SkippedPath { path, line: None, what: what.to_owned() });
            }
            Err(error) => {
                let what = format!("cannot look at it: {error}");
                self.skipped.push(SkippedPath { path: path.clone(), line: None, what });
                self.unseen.push(path);
            }
        }
    }
}

/// Returns the stats of the file at `path`; `None` if it is no regular file. Links are followed.
pub(crate) fn stat_file(path: &Path) -> io::Result<Option<FileStat>> {
    let metadata = fs::metadata(path)?;
    Ok(metadata.is_file().then(|| stat_of(&metadata)))
}

/// The target of a link.
enum LinkTarget {
    Inside(PathBuf),
    /// A file in `.remindb/`, such as the memory.
    OwnFile,
    Outside,
}

fn target(root: &Path, link: &Path) -> io::Result<LinkTarget> {
    let full = link.canonicalize()?;
    let root = root.canonicalize()?;
    let Ok(below) = full.strip_prefix(root) else { return Ok(LinkTarget::Outside) };
    let is_own = below.components().any(|it| it.as_os_str() == OWN_FOLDER);
    Ok(if is_own { LinkTarget::OwnFile } else { LinkTarget::Inside(full) })
}

fn stat_of(metadata: &Metadata) -> FileStat {
    let since_epoch = metadata.modified().ok().and_then(|it| it.duration_since(UNIX_EPOCH).ok());
    FileStat {
        size: i64::try_from(metadata.len()).unwrap_or(i64::MAX),
        mtime: since_epoch.and_then(|it| i64::try_from(it.as_nanos()).ok()).unwrap_or(0),
    }
}

/// Returns `path` relative to `root`, `/` between segments; `None` if it is outside or not UTF-8.
pub(crate) fn relative_path(root: &Path, path: &Path) -> Option<String> {
    let segments = path.strip_prefix(root).ok()?.components();
    let segments: Option<Vec<&str>> = segments.map(|it| it.as_os_str().to_str()).collect();
    Some(segments?.join("/"))
}

/// Returns whether a stored path names a file below its root, wherever the root is.
pub(crate) fn is_below_root(path: &str) -> bool {
    let is_name = |it: &str| !matches!(it, "" | "." | "..");
    let is_plain = |it: Component<'_>| matches!(it, Component::Normal(_));
    !path.contains('\0')
        && path.split('/').all(is_name)
        && Path::new(path).components().all(is_plain)
}

/// Opens a regular file and returns its size, too. It refuses a file that became a link since the
/// walk or is behind one, one too large to be a note, and one larger than `bytes_max`.
pub(crate) fn open_file(
    root: &Path,
    file: &ScannedFile,
    bytes_max: Option<u64>,
) -> Result<(File, u64), String> {
    let bad = |error: io::Error| match error.kind() {
        io::ErrorKind::NotADirectory => "it is behind a link or a file now; not read".to_owned(),
        _ => format!("cannot read it: {error}"),
    };
    let full = file.full(root);
    let opened =
        open_nofollow::open(root, full.strip_prefix(root).unwrap_or(&full)).map_err(bad)?;
    let Some(file) = opened else { return Err("it is no regular file any more".to_owned()) };
    let n_bytes = file.metadata().map_err(bad)?.len();
    if FILE_BYTES_MAX < n_bytes {
        let mib = n_bytes / (1024 * 1024);
        let max = FILE_BYTES_MAX / (1024 * 1024);
        return Err(format!("{mib} MiB are too large; split it into files of up to {max} MiB"));
    }
    if let Some(max) = bytes_max.filter(|max| *max < n_bytes) {
        return Err(format!(
            "skipped: it has {n_bytes} bytes, and `compile.max_file_size` allows {max}"
        ));
    }
    Ok((file, n_bytes))
}

/// Returns the bytes of a file; refuses the same files as [`open_file`].
pub(crate) fn read_file(
    root: &Path,
    file: &ScannedFile,
    bytes_max: Option<u64>,
) -> Result<Vec<u8>, String> {
    let (file, n_bytes) = open_file(root, file, bytes_max)?;
    let mut bytes = Vec::with_capacity(usize::try_from(n_bytes).map_or(0, |it| it + 1));
    // It may grow while it is read.
    let read = file.take(FILE_BYTES_MAX).read_to_end(&mut bytes);
    read.map_err(|error| format!("cannot read it: {error}"))?;
    Ok(bytes)
}

/// The device and inode of a folder; another folder at the same path has another id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FolderIdentity(u64, u64);

/// The id of a folder, and its modification time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EmptiedFolderCheckStat {
    pub(crate) id: FolderIdentity,
    pub(crate) is_empty: bool,
    /// Time of the last change of its entries, in nanoseconds since the Unix epoch.
    pub(crate) mtime: i64,
}

/// Returns the stats of a folder without walking it.
pub(crate) fn stat_folder(path: &Path) -> io::Result<EmptiedFolderCheckStat> {
    let is_empty = fs::read_dir(path)?.next().transpose()?.is_none();
    let metadata = fs::metadata(path)?;
    Ok(EmptiedFolderCheckStat {
        id: folder_id(&metadata),
        is_empty,
        mtime: stat_of(&metadata).mtime,
    })
}

#[cfg(unix)]
fn folder_id(metadata: &Metadata) -> FolderIdentity {
    use std::os::unix::fs::MetadataExt;
    FolderIdentity(metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn folder_id(_: &Metadata) -> FolderIdentity {
    FolderIdentity(0, 0)
}

/// Opens the regular file at `path`, relative to `root`, and follows no link on the way; `None` if
/// there is something else, such as a link.
pub(crate) fn open_below(root: &Path, path: &Path) -> io::Result<Option<File>> {
    open_nofollow::open(root, path)
}

/// Returns the bytes of a file of the root itself, such as its settings; `None` if there is none.
/// It may come from a stranger: anything but a regular file, a file too large, or a link that
/// leaves the root is refused before it is opened.
pub(crate) fn read_root_file(
    root: &Path,
    name: &str,
    bytes_max: usize,
) -> Result<Option<Vec<u8>>, String> {
    let bad = |error: io::Error| format!("cannot read {name}: {error}");
    let is_absent = |error: &io::Error| {
        matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
    };
    let path = root.join(name);
    let full = match path.symlink_metadata().and_then(|_| path.canonicalize()) {
        Ok(full) => full,
        Err(error) if is_absent(&error) && !path.is_symlink() => return Ok(None),
        Err(error) => return Err(bad(error)),
    };
    let root = root.canonicalize().map_err(bad)?;
    let Ok(below) = full.strip_prefix(&root) else {
        return Err(format!(
            "{name} is a link that leaves the folder, and is not followed; put a file there"
        ));
    };
    let too_large = || format!("{name} is larger than {bytes_max} bytes; shorten it");
    let Some(file) = open_nofollow::open(&root, below).map_err(bad)? else {
        return Err(format!("{name} is no regular file; put one there or remove it"));
    };
    if (bytes_max as u64) < file.metadata().map_err(bad)?.len() {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    file.take(bytes_max as u64 + 1).read_to_end(&mut bytes).map_err(bad)?;
    if bytes_max < bytes.len() { Err(too_large()) } else { Ok(Some(bytes)) }
}

fn failing_path(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            failing_path(err)
        }
        ignore::Error::Loop { child, .. } => Some(child),
        _ => None,
    }
}

fn root_cause(error: &ignore::Error) -> String {
    // The walk adds the full path, which is known already and may be private.
    match error.io_error().and_then(io::Error::raw_os_error) {
        Some(code) => io::Error::from_raw_os_error(code).to_string(),
        None => error.to_string(),
    }
}

/// Runs `work` over `items` on `n_threads` threads, and hands the results to `consume` in order. At
/// most a few results wait at any time, so memory stays bounded.
pub(crate) fn map_in_order<T: Send, R: Send, A>(
    items: Vec<T>,
    n_threads: usize,
    work: impl Fn(T) -> R + Sync,
    consume: impl FnOnce(&mut dyn Iterator<Item = R>) -> A,
) -> A {
    let n_threads = n_threads.clamp(1, items.len().max(1));
    let (item_in, item_out) = crossbeam_channel::unbounded::<(usize, T)>();
    let (result_in, result_out) = crossbeam_channel::unbounded::<(usize, R)>();
    std::thread::scope(|scope| {
        for _ in 0..n_threads {
            let (item_out, result_in, work) = (item_out.clone(), result_in.clone(), &work);
            scope.spawn(move || {
                for (nth, item) in item_out {
                    if result_in.send((nth, work(item))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(result_in);
        let mut results = OrderedResults {
            items: items.into_iter().enumerate(),
            item_in: Some(item_in),
            result_out,
            waiting: BTreeMap::new(),
            next: 0,
        };
        for _ in 0..2 * n_threads {
            results.feed();
        }
        consume(&mut results)
    })
}

struct OrderedResults<T, R> {
    items: std::iter::Enumerate<std::vec::IntoIter<T>>,
    /// Gone when the last item was sent, which ends the workers.
    item_in: Option<Sender<(usize, T)>>,
    result_out: Receiver<(usize, R)>,
    waiting: BTreeMap<usize, R>,
    next: usize,
}

impl<T, R> OrderedResults<T, R> {
    fn feed(&mut self) {
        match self.items.next() {
            Some(item) => {
                if let Some(item_in) = &self.item_in {
                    // The workers live as long as this end does.
                    let _ = item_in.send(item);
                }
            }
            None => self.item_in = None,
        }
    }
}

impl<T, R> Iterator for OrderedResults<T, R> {
    type Item = R;

    fn next(&mut self) -> Option<R> {
        while !self.waiting.contains_key(&self.next) {
            let (nth, result) = self.result_out.recv().ok()?;
            self.waiting.insert(nth, result);
        }
        let result = self.waiting.remove(&self.next);
        self.next += 1;
        self.feed();
        result
    }
}

#[cfg(test)]
mod tests;
