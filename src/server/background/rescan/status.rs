//! What the latest scan did, as a value that outlives it: kept in memory, replaced as a whole.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use crate::memory::compile::{Purged, Report};

/// The latest scan, shared between the thread that scans and whoever asks.
#[derive(Clone, Debug, Default)]
pub(crate) struct LatestScan(Arc<Mutex<RescanStatus>>);

impl LatestScan {
    /// As it is now; the default before the first scan.
    pub(crate) fn get(&self) -> RescanStatus {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set(&self, status: RescanStatus) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = status;
    }
}

/// How often the folder is scanned, and what came of it last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RescanStatus {
    pub(crate) interval: Duration,
    pub(crate) last: ScanReport,
    /// What is odd in the folder, by path.
    pub(crate) warnings: Vec<String>,
}

impl RescanStatus {
    /// The envelope that clients know.
    pub(crate) fn to_json(&self) -> Value {
        let interval_s = match self.interval.subsec_nanos() {
            0 => json!(self.interval.as_secs()),
            _ => json!(self.interval.as_secs_f64()),
        };
        json!({"interval_s": interval_s, "last_meta": self.last})
    }
}

/// What one scan did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ScanReport {
    /// Seconds since the Unix epoch; 0 before the first.
    pub(crate) run_at: i64,
    /// Why it failed; empty when it did not.
    pub(crate) error: String,
    pub(crate) added: usize,
    pub(crate) modified: usize,
    pub(crate) removed: usize,
    /// By path.
    pub(crate) purged_files: Vec<Purged>,
}

impl ScanReport {
    /// Whether the scan changed the memory.
    pub(super) fn is_change(&self) -> bool {
        0 < self.added + self.modified + self.removed || !self.purged_files.is_empty()
    }

    /// One line of JSON.
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
