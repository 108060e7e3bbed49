//! Tests the course of an examination: its progress, and its end before the last check.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::memory::{AppendOrReplaceMode, Memory};

/// Lines of a text that keeps SQLite busy for more than [`INSTRUCTIONS`].
const LINES: usize = 2_000;

fn memory() -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m.db");
    let memory = Memory::create(&path).unwrap();
    let text: String = (0..LINES).map(|nth| format!("Paragraph {nth}.\n\n")).collect();
    memory.write(&text, None, AppendOrReplaceMode::Append).unwrap();
    (dir, path)
}

/// Returns the outcome when somebody waits for so many looks.
fn examined(path: &Path, n_looks: usize) -> (Option<DoctorReport>, usize) {
    let looks = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&looks);
    let is_over: IsCancelledFn =
        Arc::new(move || n_looks <= counted.fetch_add(1, Ordering::Relaxed));
    let report = examine_until(path, &is_over).unwrap();
    (report, looks.load(Ordering::Relaxed))
}

#[test]
fn an_examination_ends_when_nobody_waits_for_it() {
    let (_dir, path) = memory();
    let (report, n_looks) = examined(&path, usize::MAX);
    assert_eq!(report, Some(examine(&path).unwrap()));
    assert!(CHECKS.len() < n_looks, "{n_looks}");
    for n in [0, 1, n_looks / 2] {
        let (report, n_looks_then) = examined(&path, n);
        assert_eq!(report, None);
        // One more in each check that is begun, and one at the end.
        assert!(n_looks_then <= n + CHECKS.len() + 1, "{n}: {n_looks_then}");
    }
}

#[test]
fn progress_counts_the_checks() {
    let (_dir, path) = memory();
    let seen = RefCell::new(Vec::new());
    let report = examine_aloud(&path, &|n, of| seen.borrow_mut().push((n, of))).unwrap();
    let n_checks = report.checks.len() as u64;
    assert_eq!(*seen.borrow(), (0..n_checks).map(|n| (n, n_checks)).collect::<Vec<_>>());
}
