//! Keeps the memory current while serving. The source folder is scanned at the start and then every
//! interval, by the ordinary compile.
//!
//! Of several processes that serve one folder, the holder of the lease scans; the others see its
//! results in the database. A process that starts scans once in any case, since the holder may be
//! dead. A scan without changes writes nothing but, now and then, the lease.

mod status;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub(crate) use status::{RescanStatus, ScanReport, SharedRescanStatus};

use crate::ingest::scan::DetailLevel;
use crate::memory::compile::{
    CompileRequest, InitialTemperaturesFor, Report, SLICE_BYTES, UnsettledFileDeferral,
};
use crate::memory::{Error, Memory};
use crate::model::clock::{Stopwatch, UnixMillis};
use crate::model::identity::ContentHash;
use crate::model::schedule::Schedule;
use crate::server::StopSignal;
use crate::server::jsonl_files::JsonlSink;
use crate::settings::config;
use crate::store::{ClaimableLeaseAge, LeaseManager, RESCAN_LEASE, SharedError, StoreError};

/// The log of scans, in the source folder's own folder.
const LOG_FILE: &str = "rescan.jsonl";

/// Milliseconds until the first scan is retried, when another process may be in the middle of one.
const RETRY_MS: i64 = 1_000;

/// Maximum warnings of one scan that are logged.
const WARNINGS_LOGGED_MAX: usize = 100;

/// The settings that may change while serving.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LiveRescanSettings {
    pub(crate) rescan: config::RescanSettings,
    /// The log of scans.
    pub(crate) files: config::JsonlLogFileSettings,
}

/// The rescanner of one source folder.
pub(crate) struct Rescanner {
    source: PathBuf,
    n_threads: usize,
    /// Read before every scan.
    settings: Box<dyn Fn(&Memory) -> LiveRescanSettings + Send>,
    leases: Arc<LeaseManager>,
    /// Name of the lease.
    lease: String,
    schedule: Schedule,
    /// Started at the first look at the schedule.
    stopwatch: Option<Stopwatch>,
    watch: UnsettledFileDeferral,
    log: JsonlSink,
    latest: SharedRescanStatus,
    /// Warnings of the last scan, which are not repeated while they last.
    warnings: BTreeSet<String>,
    /// Called when a scan changed the memory.
    on_change: Box<dyn Fn() + Send>,
}

impl Rescanner {
    /// Returns a rescanner of `source`, which is absolute and canonical.
    pub(crate) fn new(
        source: &Path,
        n_threads: usize,
        leases: Arc<LeaseManager>,
        settings: impl Fn(&Memory) -> LiveRescanSettings + Send + 'static,
    ) -> Rescanner {
        // A path may hold something that nobody should read in the database.
        let lease = format!("{RESCAN_LEASE}{}", ContentHash::of(&source.to_string_lossy()));
        Rescanner {
            source: source.to_owned(),
            n_threads,
            schedule: Schedule::every(0),
            stopwatch: None,
            settings: Box::new(settings),
            leases,
            lease,
            watch: UnsettledFileDeferral::default(),
            log: JsonlSink::new(source, LOG_FILE),
            latest: SharedRescanStatus::default(),
            warnings: BTreeSet::new(),
            on_change: Box::new(|| ()),
        }
    }

    /// Adds a listener that is called when a scan changed the memory. By then the scan is the
    /// latest.
    pub(crate) fn with_listener(self, on_change: impl Fn() + Send + 'static) -> Rescanner {
        Rescanner { on_change: Box::new(on_change), ..self }
    }

    /// Returns a handle on the result of the latest scan.
    pub(crate) fn latest(&self) -> SharedRescanStatus {
        self.latest.clone()
    }

    /// Scans whenever a scan is due, until stopped.
    pub(crate) fn run(mut self, memory: &Memory, stop: &StopSignal) {
        loop {
            self.scan_if_due(memory, stop);
            let elapsed = self.elapsed(memory);
            let sleep_ms = self.schedule.sleep_ms(elapsed);
            if stop.is_set_within(Duration::from_millis(sleep_ms.unsigned_abs())) {
                break;
            }
        }
        if let Err(error) = self.leases.release(&self.lease) {
            log::warn!("the lease was not given back: {error}");
        }
    }

    /// Scans if a scan is due and no other process scans; returns whether it did.
    pub(crate) fn scan_if_due(&mut self, memory: &Memory, stop: &StopSignal) -> bool {
        let settings = (self.settings)(memory);
        let is_started = self.watch.is_started();
        // The setting is about further scans; the first one is the purpose of `--source`.
        let is_on = settings.rescan.enabled || !is_started;
        self.schedule.set(is_on.then(|| millis(settings.rescan.interval)));
        self.watch.set_settle_ms(millis(settings.rescan.settle));
        let began = self.elapsed(memory);
        if stop.is_set() || !self.schedule.is_due(began) {
            return false;
        }
        let claim = if is_started {
            ClaimableLeaseAge::Expired
        } else {
            ClaimableLeaseAge::NotRenewedLately
        };
        let is_held =
            self.leases.take(&self.lease, claim, memory.clock().now()).unwrap_or_else(|error| {
                self.log_new_warnings([format!("the folder is not scanned: {error}")]);
                false
            });
        let has_scanned = is_held && self.scan(memory, &settings, stop);
        let ended = self.elapsed(memory);
        self.schedule.done(began, ended);
        if !has_scanned && !is_started {
            self.schedule.shorten_next(RETRY_MS);
        }
        if 0 < self.watch.n_unsettled() {
            self.schedule.shorten_next(millis(settings.rescan.settle));
        }
        has_scanned
    }

    /// Returns the time since the first look at the schedule, as a clock that nobody sets.
    fn elapsed(&mut self, memory: &Memory) -> UnixMillis {
        let stopwatch = self.stopwatch.get_or_insert_with(|| memory.clock().stopwatch());
        UnixMillis(stopwatch.elapsed_ms())
    }

    /// Scans once; returns whether the scan ended, good or bad.
    fn scan(&mut self, memory: &Memory, settings: &LiveRescanSettings, stop: &StopSignal) -> bool {
        let stopwatch = memory.clock().stopwatch();
        let run_at = memory.clock().now().0.div_euclid(1_000);
        let is_started = self.watch.is_started();
        let message = if is_started || self.is_known(memory) { "rescan" } else { "initial" };
        let request = CompileRequest {
            path: &self.source,
            message,
            n_threads: self.n_threads,
            workspace: &|root| memory.workspace_of(root),
            temperatures_for: InitialTemperaturesFor::NewNodes,
            listing: DetailLevel::Counts,
            stopwatch: memory.clock().stopwatch(),
            slice_bytes: SLICE_BYTES,
            progress: &|_, _| !stop.is_set(),
        };
        let watch = &mut self.watch;
        let outcome = catch_unwind(AssertUnwindSafe(|| memory.rescan(&request, watch)));
        let report = match outcome {
            Ok(Ok(report)) => {
                let took_ms = stopwatch.elapsed_ms();
                self.log_report(&report, took_ms, is_started);
                ScanReport { run_at, ..ScanReport::from(report) }
            }
            Ok(Err(Error::Compile(error))) if error.is_given_up() => return false,
            Ok(Err(Error::Store(error))) if error.is_busy() => {
                log::debug!("the folder is not scanned now: {error}");
                return false;
            }
            Ok(Err(Error::Store(StoreError::Shared(error @ SharedError::Compiled { .. })))) => {
                log::debug!("the folder is not scanned here: {error}");
                return false;
            }
            Ok(Err(error)) => self.failed(memory, run_at, &error.to_string()),
            Err(_) => self.failed(memory, run_at, "the scan panicked; please report it"),
        };
        self.publish(settings, report);
        true
    }

    /// Returns whether the folder was ever compiled, by itself or as a part of another.
    fn is_known(&self, memory: &Memory) -> bool {
        let is_around =
            |root: &str| self.source.starts_with(root) || Path::new(root).starts_with(&self.source);
        memory.roots().is_ok_and(|roots| roots.iter().any(|it| is_around(&it.path)))
    }

    fn log_report(&mut self, report: &Report, took_ms: i64, is_started: bool) {
        self.log_new_warnings(report.warnings.iter().map(ToString::to_string));
        match (is_started, report.snapshot) {
            (true, None) => log::debug!("{report} took_ms={took_ms}"),
            _ => log::info!("{report} took_ms={took_ms}"),
        }
        if !is_started && !report.passed_over.is_empty() {
            log::info!("{}; `remindb inspect --skipped` lists them", report.passed_over);
        }
    }

    fn failed(&mut self, memory: &Memory, run_at: i64, error: &str) -> ScanReport {
        let error = memory.workspace().redactor.scrub(error).text.into_owned();
        self.log_new_warnings([format!("the folder was not scanned: {error}")]);
        ScanReport { run_at, error, ..ScanReport::default() }
    }

    /// Logs the warnings that the last scan did not have.
    fn log_new_warnings(&mut self, warnings: impl IntoIterator<Item = String>) {
        let now: BTreeSet<String> = warnings.into_iter().collect();
        let mut added = now.difference(&self.warnings);
        for warning in added.by_ref().take(WARNINGS_LOGGED_MAX) {
            log::warn!("{warning}");
        }
        match added.count() {
            0 => (),
            n_more => log::warn!("… {n_more} more warnings"),
        }
        self.warnings = now;
    }

    /// Publishes the result of a scan, and logs it if configured.
    fn publish(&mut self, settings: &LiveRescanSettings, report: ScanReport) {
        if settings.files.enabled {
            let written = self.log.append(&report.to_line(), settings.files.max_file_size);
            let unwritten = written.err().map(|it| format!("the scan was not written down: {it}"));
            if let Some(warning) = unwritten.filter(|it| self.warnings.insert(it.clone())) {
                log::warn!("{warning}");
            }
        }
        let warnings = self.warnings.iter().cloned().collect();
        let is_change = report.is_change();
        self.latest.set(RescanStatus {
            interval: settings.rescan.interval,
            last: report,
            warnings,
        });
        if is_change {
            (self.on_change)();
        }
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
