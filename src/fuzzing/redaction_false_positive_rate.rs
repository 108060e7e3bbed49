//! False alarms of redaction in a real folder: each hit, and how many there are in 1,000 files.
//!
//! `make alarms FOLDER=…` runs it; the default is what cargo has unpacked on this machine.
//! Published sources have no secrets, so that a hit is a false alarm unless it was made for a test,
//! as a key is.

use std::fs;
use std::path::{Path, PathBuf};

use crate::ingest::redact::Redactor;

/// Maximum bytes of a file that is read, as a compile reads by default.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Maximum characters that are shown of a hit.
const SHOWN_CHARS_MAX: usize = 60;

#[test]
#[ignore = "reads a folder of this machine; `make alarms`"]
fn alarms_in_a_folder() {
    let folder = std::env::var_os("FOLDER").filter(|it| !it.is_empty());
    let folder = folder.map_or_else(registry, PathBuf::from);
    let redactor = Redactor::builtin();
    let (mut n_files, mut n_with_hits, mut n_hits) = (0_usize, 0_usize, 0_usize);
    for path in files(&folder) {
        let Some(text) = text_of(&path) else { continue };
        n_files += 1;
        let hits = redactor.scrub(&text).hits;
        n_with_hits += usize::from(!hits.is_empty());
        n_hits += hits.len();
        for hit in hits {
            let shown = path.strip_prefix(&folder).unwrap_or(&path).display();
            let line = text[..hit.range.start].matches('\n').count() + 1;
            let before: Vec<char> = text[..hit.range.start].chars().rev().take(30).collect();
            let before: String = before.into_iter().rev().collect();
            let value: String = text[hit.range.clone()].chars().take(SHOWN_CHARS_MAX).collect();
            println!("{shown}:{line}: {}: {:?}", hit.kind, format!("{before}◊{value}◊"));
        }
    }
    let rate = n_with_hits as f64 * 1000.0 / n_files.max(1) as f64;
    println!("{n_files} files, {n_hits} hits in {n_with_hits} files: {rate:.2} in 1,000 files");
}

fn registry() -> PathBuf {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    home.unwrap_or_default().join("registry/src")
}

/// Returns the text of a file that has one.
fn text_of(path: &Path) -> Option<String> {
    let size = fs::metadata(path).ok()?.len();
    let text = (size <= FILE_BYTES_MAX).then(|| fs::read_to_string(path).ok()).flatten()?;
    (!text.contains('\0')).then_some(text)
}

/// Returns the files below a folder, by name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .map(|it| it.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    entries.sort();
    let mut found = Vec::new();
    for path in entries {
        match path.symlink_metadata() {
            Ok(it) if it.is_dir() => found.append(&mut files(&path)),
            Ok(it) if it.is_file() => found.push(path),
            _ => (),
        }
    }
    found
}
