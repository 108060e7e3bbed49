//! Tells files apart whose redacted paths are equal: each one gets the path that the memory has for
//! it.
//!
//! Such paths are numbered: `PATH`, `PATH (2)`. A file has the row with its size and time of
//! change, if that is one to one; else a row with its bytes; else the next row in the order of the
//! real names, or a new number. This module reads files, and changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::ingest::redact::{MARKER, number_redacted, split_redacted_number};
use crate::ingest::scan::{self, ScannedFile};
use crate::model::identity::ContentHash;
use crate::store::FileRow;

/// A row, and its path in the root that is compiled.
pub(super) type KnownFile<'a> = (&'a FileRow, &'a str);

/// Returns a stored path without the number that tells it from equal ones.
pub(super) fn unnumbered(path: &str) -> &str {
    split_redacted_number(path).map_or(path, |it| it.0)
}

/// Gives files in the order of their real names, whose paths are redacted, paths of their own.
pub(super) fn tell_apart(
    found: Vec<ScannedFile>,
    known: &[KnownFile<'_>],
    (root, bytes_max): (&Path, Option<u64>),
) -> Vec<ScannedFile> {
    let (redacted, mut told): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|it| it.path.contains(MARKER));
    let mut namesakes: BTreeMap<String, Vec<ScannedFile>> = BTreeMap::new();
    for file in redacted {
        namesakes.entry(file.path.clone()).or_default().push(file);
    }
    let mut rows: BTreeMap<&str, Vec<KnownFile<'_>>> = BTreeMap::new();
    for &(row, path) in known {
        // A file that has the numbered path itself, as in an export, is no namesake.
        let is_itself = path == unnumbered(path) || namesakes.contains_key(path);
        rows.entry(if is_itself { path } else { unnumbered(path) }).or_default().push((row, path));
    }
    let mut taken: BTreeSet<String> = known.iter().map(|it| it.1.to_owned()).collect();
    taken.extend(namesakes.keys().filter(|it| split_redacted_number(it).is_some()).cloned());
    for (path, files) in namesakes {
        let mut rows = rows.remove(path.as_str()).unwrap_or_default();
        rows.sort_by_key(|(row, path)| (row.is_gone, split_redacted_number(path).map(|it| it.1)));
        let is_new = rows.is_empty() && split_redacted_number(&path).is_some();
        let paths =
            if is_new { vec![Some(&*path)] } else { paths(&files, rows, (root, bytes_max)) };
        for (file, known) in files.iter().zip(paths) {
            let name = known.map_or_else(
                || number_redacted(&path, |it| taken.insert(it.to_owned())),
                str::to_owned,
            );
            told.push(ScannedFile { path: name, ..file.clone() });
        }
    }
    told.sort_by(|a, b| a.path.cmp(&b.path));
    told
}

/// Returns the paths of the rows of namesakes; those of deleted files are the last of them.
fn paths<'a>(
    files: &[ScannedFile],
    mut free: Vec<KnownFile<'a>>,
    (root, bytes_max): (&Path, Option<u64>),
) -> Vec<Option<&'a str>> {
    let mut paths = vec![None; files.len()];
    let is_only_one = files.len() == 1 && free.len() <= 1;
    for (nth, file) in files.iter().enumerate().filter(|_| !is_only_one) {
        let is_like = |stat| stat == file.stat;
        let mut rows =
            (0..free.len()).filter(|&at| !free[at].0.is_gone && is_like(free[at].0.stat));
        if let (Some(at), None) = (rows.next(), rows.next())
            && files.iter().filter(|it| is_like(it.stat)).count() == 1
        {
            paths[nth] = Some(free.remove(at).1);
        }
    }
    for (nth, file) in files.iter().enumerate().filter(|_| !is_only_one) {
        if paths[nth].is_some() || free.is_empty() {
            continue;
        }
        let Ok(bytes) = scan::read_file(root, file, bytes_max) else { continue };
        let hash = Some(ContentHash::of_bytes(&bytes));
        if let Some(at) = free.iter().position(|it| it.0.content_hash == hash) {
            paths[nth] = Some(free.remove(at).1);
        }
    }
    let mut rest = free.into_iter().map(|it| it.1);
    paths.into_iter().map(|it| it.or_else(|| rest.next())).collect()
}
