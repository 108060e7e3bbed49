//! Files and folders that a walk passes over, by kind: formats that are not read, exclusions.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// Kinds with names of their own, in the order in which they are named: what people take for notes
/// comes first. The names are the singular and the plural.
const KINDS: [(&str, &str, &[&str]); 6] = [
    ("PDF", "PDFs", &["pdf"]),
    (
        "office document",
        "office documents",
        &[
            "doc", "docm", "docx", "dot", "dotx", "numbers", "odp", "ods", "odt", "pages", "pps",
            "ppsx", "ppt", "pptm", "pptx", "rtf", "xls", "xlsb", "xlsm", "xlsx",
        ],
    ),
    ("e-book", "e-books", &["azw", "azw3", "djvu", "epub", "fb2", "mobi"]),
    (
        "picture",
        "pictures",
        &["avif", "bmp", "gif", "heic", "ico", "jpeg", "jpg", "png", "svg", "tif", "tiff", "webp"],
    ),
    (
        "recording",
        "recordings",
        &["avi", "flac", "m4a", "mkv", "mov", "mp3", "mp4", "ogg", "opus", "wav", "webm"],
    ),
    ("archive", "archives", &["7z", "bz2", "gz", "rar", "tar", "tgz", "xz", "zip", "zst"]),
];

/// The first of [`KINDS`], which are documents: they are named however few they are.
const N_DOCUMENT_KINDS: usize = 3;

/// Kinds that a summary names at the most, beside documents.
const KINDS_SHOWN_MAX: usize = 4;

/// Characters of an ending at the most; what is longer is part of a name.
const ENDING_CHARS_MAX: usize = 10;

const EXCLUDED: &str = "excluded by an ignore file";
const NO_ENDING: &str = "without an ending";
const FOLDER: &str = "folder";

/// Whether the paths are kept, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DetailLevel {
    /// Only kinds are counted.
    #[default]
    Counts,
    /// Every path is kept.
    Paths,
}

/// The files and folders that a walk passed over. Names that begin with a dot are not counted: to
/// pass them over is the custom. Displayed as a line such as
/// `passed over: 5 files (3 PDFs, 2 .rs) and 1 folder`; empty if none is counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassedOverSummary {
    /// Files by kind: a name such as `PDF`, an ending such as `.rs`, or a reason.
    n_by_kind: BTreeMap<Cow<'static, str>, usize>,
    n_folders: usize,
    listing: DetailLevel,
    paths: Vec<PassedOverPath>,
}

/// A path that was passed over.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PassedOverPath {
    /// Relative to the root, `/` between segments; a folder's ends in `/`.
    pub path: String,
    /// Its kind: `PDF`, `.rs`, `folder`.
    pub kind: Cow<'static, str>,
}

impl PassedOverSummary {
    pub(super) fn new(listing: DetailLevel) -> PassedOverSummary {
        PassedOverSummary { listing, ..PassedOverSummary::default() }
    }

    /// Notes a file whose ending is none of those that are read.
    pub(super) fn note_unread(&mut self, path: &str) {
        self.note(path, kind_of(path));
    }

    /// Notes a file that an ignore file excludes.
    pub(super) fn note_excluded(&mut self, path: &str) {
        self.note(path, Cow::Borrowed(EXCLUDED));
    }

    /// Notes a folder that is not entered.
    pub(super) fn note_folder(&mut self, path: &str) {
        self.n_folders += usize::from(!is_hidden(path));
        if self.listing == DetailLevel::Paths {
            let path = format!("{path}/");
            self.paths.push(PassedOverPath { path, kind: Cow::Borrowed(FOLDER) });
        }
    }

    fn note(&mut self, path: &str, kind: Cow<'static, str>) {
        if self.listing == DetailLevel::Paths {
            self.paths.push(PassedOverPath { path: path.to_owned(), kind: kind.clone() });
        }
        if !is_hidden(path) {
            *self.n_by_kind.entry(kind).or_default() += 1;
        }
    }

    /// Puts the paths in order, each as `scrub` returns it.
    pub(crate) fn finish(&mut self, scrub: impl Fn(&str) -> String) {
        self.paths.iter_mut().for_each(|it| it.path = scrub(&it.path));
        self.paths.sort_unstable();
    }

    /// Returns whether nothing that counts was passed over.
    pub fn is_empty(&self) -> bool {
        self.n_by_kind.is_empty() && self.n_folders == 0
    }

    /// Returns the paths, in order; none unless the walk kept them.
    pub fn paths(&self) -> &[PassedOverPath] {
        &self.paths
    }

    /// Returns the numbers of files by kind, and that of folders, as JSON; the paths, too, if the
    /// walk kept them.
    pub fn to_json(&self) -> serde_json::Value {
        let n_files: usize = self.n_by_kind.values().sum();
        let mut json = serde_json::json!({
            "files": n_files, "folders": self.n_folders, "kinds": self.n_by_kind,
        });
        if self.listing == DetailLevel::Paths {
            let paths = self.paths.iter();
            json["paths"] =
                paths.map(|it| serde_json::json!({"path": it.path, "kind": it.kind})).collect();
        }
        json
    }
}

impl fmt::Display for PassedOverSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return Ok(());
        }
        f.write_str("passed over: ")?;
        let n_files: usize = self.n_by_kind.values().sum();
        if 0 < n_files {
            let kinds = self.named().join(", ");
            write!(f, "{} ({kinds})", counted(n_files, "file", "files"))?;
        }
        if 0 < n_files && 0 < self.n_folders {
            f.write_str(" and ")?;
        }
        if 0 < self.n_folders {
            f.write_str(&counted(self.n_folders, FOLDER, "folders"))?;
        }
        Ok(())
    }
}

impl PassedOverSummary {
    /// Returns the kinds with their numbers: documents, then the most frequent ones, then how many
    /// others there are.
    fn named(&self) -> Vec<String> {
        let rank = |kind: &str| {
            let documents = &KINDS[..N_DOCUMENT_KINDS];
            documents.iter().position(|it| it.0 == kind).unwrap_or(N_DOCUMENT_KINDS)
        };
        let mut kinds: Vec<(&str, usize)> =
            self.n_by_kind.iter().map(|(kind, n)| (&**kind, *n)).collect();
        kinds.sort_by_key(|&(kind, n)| (rank(kind), usize::MAX - n));
        let n_documents = kinds.iter().filter(|it| rank(it.0) < N_DOCUMENT_KINDS).count();
        let n_shown = match kinds.len() - n_documents {
            // A single other kind is named rather than counted.
            n if n <= KINDS_SHOWN_MAX + 1 => kinds.len(),
            _ => n_documents + KINDS_SHOWN_MAX,
        };
        let (shown, others) = kinds.split_at(n_shown);
        let mut named: Vec<String> = shown.iter().map(|&(kind, n)| counted_kind(kind, n)).collect();
        if !others.is_empty() {
            let n_others = others.iter().map(|it| it.1).sum();
            named.push(counted(n_others, "other", "others"));
        }
        named
    }
}

fn counted_kind(kind: &str, n: usize) -> String {
    let plural = KINDS.iter().find(|it| it.0 == kind).map_or(kind, |it| it.1);
    counted(n, kind, plural)
}

fn counted(n: usize, singular: &str, plural: &str) -> String {
    format!("{n} {}", if n == 1 { singular } else { plural })
}

fn is_hidden(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with('.'))
}

/// Returns the plural of a document's kind, such as `PDFs`; `None` for any other file.
pub(crate) fn document_kind(path: &str) -> Option<&'static str> {
    let kind = kind_of(path);
    KINDS[..N_DOCUMENT_KINDS].iter().find(|it| it.0 == kind).map(|it| it.1)
}

/// Returns the kind of a file by the ending of its name.
fn kind_of(path: &str) -> Cow<'static, str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() => ending.to_lowercase(),
        _ => return Cow::Borrowed(NO_ENDING),
    };
    if let Some((kind, _, _)) = KINDS.iter().find(|it| it.2.contains(&&*ending)) {
        return Cow::Borrowed(kind);
    }
    let is_ending = ending.chars().all(|it| it.is_alphanumeric() || "-_+~".contains(it));
    if ending.is_empty() || !is_ending || ENDING_CHARS_MAX < ending.chars().count() {
        return Cow::Borrowed(NO_ENDING);
    }
    Cow::Owned(format!(".{ending}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(paths: &[&str], line: &str) {
        let mut passed_over = PassedOverSummary::new(DetailLevel::Counts);
        for path in paths {
            match path.strip_suffix('/') {
                Some(folder) => passed_over.note_folder(folder),
                None => passed_over.note_unread(path),
            }
        }
        assert_eq!(passed_over.to_string(), line);
    }

    #[test]
    fn documents_are_named_by_their_kind() {
        check(&["a.pdf"], "passed over: 1 file (1 PDF)");
        check(
            &["x/a.PDF", "b.pdf", "c.docx", "d.xls", "e.epub"],
            "passed over: 5 files (2 PDFs, 2 office documents, 1 e-book)",
        );
    }

    #[test]
    fn a_document_is_named_before_what_is_more_frequent() {
        let paths = ["a.rs", "b.rs", "c.rs", "d.png", "e.pdf"];
        check(&paths, "passed over: 5 files (1 PDF, 3 .rs, 1 picture)");
    }

    #[test]
    fn rare_kinds_are_counted_together() {
        let paths = ["a.a", "a.a", "a.b", "a.b", "a.c", "a.c", "a.d", "a.d", "a.e"];
        check(&paths, "passed over: 9 files (2 .a, 2 .b, 2 .c, 2 .d, 1 .e)");
        let paths = [&paths[..], &["a.f"]].concat();
        check(&paths, "passed over: 10 files (2 .a, 2 .b, 2 .c, 2 .d, 2 others)");
    }

    #[test]
    fn a_name_may_have_no_ending() {
        let names = ["LICENSE", "x.y/Makefile", "a.", "v1.a b", "a.abcdefghijk"];
        check(&names, "passed over: 5 files (5 without an ending)");
    }

    #[test]
    fn names_that_begin_with_a_dot_are_not_counted() {
        check(&["target/", "x/node_modules/"], "passed over: 2 folders");
        check(&[".git/", "x/.remindb/", ".gitignore", "x/.a.swp"], "");
        check(&["target/", "a.rs"], "passed over: 1 file (1 .rs) and 1 folder");
    }
}
