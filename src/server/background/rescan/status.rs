//! The result of the latest scan, kept in memory and replaced as a whole.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use crate::memory::compile::{DeletedFile, Report};

/// The status of rescans, shared between the scanning thread and its observers.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedRescanStatus(Arc<Mutex<RescanStatus>>);

impl SharedRescanStatus {
    /// Returns the present status; the default before the first scan.
    pub(crate) fn get(&self) -> RescanStatus {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set(&self, status: RescanStatus) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = status;
    }
}

/// The interval of scans, and the result of the last one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RescanStatus {
    pub(crate) interval: Duration,
    pub(crate) last: ScanReport,
    /// The skipped paths and lines of the folder, by path.
    pub(crate) warnings: Vec<String>,
}

impl RescanStatus {
    /// Returns the JSON envelope that clients know.
    pub(crate) fn to_json(&self) -> Value {
        let interval_s = match self.interval.subsec_nanos() {
            0 => json!(self.interval.as_secs()),
            _ => json!(self.interval.as_secs_f64()),
        };
        json!({"interval_s": interval_s, "last_meta": self.last})
    }
}

/// The result of one scan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ScanReport {
    /// Seconds since the Unix epoch; 0 before the first.
    pub(crate) run_at: i64,
    /// The reason of its failure; empty on success.
    pub(crate) error: String,
    pub(crate) added: usize,
    pub(crate) modified: usize,
    pub(crate) removed: usize,
    /// Removed files, by path.
    pub(crate) purged_files: Vec<DeletedFile>,
}

impl ScanReport {
    /// Returns whether the scan changed the memory.
    pub(super) fn is_change(&self) -> bool {
        0 < self.added + self.modified + self.removed || !self.purged_files.is_empty()
    }

    /// Returns one line of JSON.
    pub(crate) fn to_line(&self) -> String {
        json!(self).to_string()
    }
}

impl From<Report> for ScanReport {
    fn from(report: Report) -> ScanReport {
        let Report { added, modified, removed, purged, .. } = report;
        ScanReport { added, modified, removed, purged_files: purged, ..ScanReport::default() }
    }
}
