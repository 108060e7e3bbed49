//! Examines a memory and repairs it, after a backup.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::doctor::{self, CheckResult, CheckStatus, DoctorReport, RepairOutcomes};
use super::transfer::{self, TransferError};
use crate::model::clock::UnixMillis;
use crate::store::file_identity_check::OpenedFiles;
use crate::store::{IfMissing, StoreError, connection, last_resort};

/// Rounds of repairs; one can uncover a fault that another one repairs.
const ROUNDS_MAX: usize = 8;

/// Examines the memory and repairs what fails. Before any repair it makes a copy, and passes the
/// copy's path to `announce`.
pub(crate) fn repair(
    path: &Path,
    now: UnixMillis,
    announce: &mut dyn FnMut(&Path),
) -> Result<DoctorReport, TransferError> {
    let mut found = doctor::examine(path)?;
    if found.status() != CheckStatus::Fail {
        return Ok(found);
    }
    if let Some(why) = doctor::why_unrestorable(path)? {
        return Err(TransferError::Refused(format!("{why}; {}", last_resort(&path.display()))));
    }
    let backup = backup_of(path, now);
    transfer::backup_as_is(path, &backup)?;
    announce(&backup);
    let mut tried = RepairOutcomes::new();
    if found.checks.iter().any(|it| it.name == doctor::SCHEMA_OBJECTS && it.is_bad()) {
        let notes = doctor::restore_schema(path).map_err(|error| unrestored(&error, path))?;
        tried.insert(doctor::SCHEMA_OBJECTS, Ok(notes));
        // Without a table, most checks were not made.
        found = examine_again(path)?;
    }
    let conn = connection::open_writer(path, IfMissing::Refuse)?;
    let mut report = repair_until_sound(&conn, path, now, &found, &mut tried)?;
    drop(conn);
    for check in &mut report.checks {
        let was_bad = found.checks.iter().any(|it| it.name == check.name && it.is_bad());
        check.fix = outcome(check, was_bad, tried.remove(check.name), path);
    }
    Ok(report)
}

/// Returns the refusal where the schema was not restored.
fn unrestored(error: &StoreError, path: &Path) -> TransferError {
    TransferError::Refused(match error {
        StoreError::SchemaMismatch { objects, .. } => format!(
            "{objects}: that cannot be put right in place, so nothing was changed; {}",
            last_resort(&path.display())
        ),
        error => doctor::unrepaired(error, path),
    })
}

/// Returns the outcome of the repair of a check, which was run again after it.
fn outcome(
    check: &CheckResult,
    was_bad: bool,
    tried: Option<Result<Vec<String>, String>>,
    path: &Path,
) -> Option<Result<Vec<String>, String>> {
    match (tried, check.status) {
        // Opening it for writing migrated the schema.
        (None, CheckStatus::Pass | CheckStatus::Warn) if was_bad => Some(Ok(Vec::new())),
        (None, CheckStatus::Fail) => Some(Err(advice(check, path))),
        (None, _) => None,
        // What failed was mended with something else.
        (Some(Err(_)), CheckStatus::Pass) => Some(Ok(Vec::new())),
        (Some(Err(error)), _) => Some(Err(error)),
        (Some(Ok(_)), CheckStatus::Fail) => Some(Err(advice(check, path))),
        (Some(Ok(notes)), _) => Some(Ok(notes)),
    }
}

/// Repairs what fails, round by round, as long as a round changes what the checks find.
fn repair_until_sound(
    conn: &Connection,
    path: &Path,
    now: UnixMillis,
    found: &DoctorReport,
    tried: &mut RepairOutcomes,
) -> Result<DoctorReport, TransferError> {
    let file_identity = OpenedFiles::of(path)?;
    let (mut bad, mut n_rounds) = (bad_checks(found), 0);
    loop {
        for (name, outcome) in doctor::repair_failed(conn, path, now) {
            let mut notes = tried.remove(name).and_then(Result::ok).unwrap_or_default();
            let add = |more: Vec<String>| {
                notes.extend(more);
                notes
            };
            tried.insert(name, outcome.map(add));
        }
        file_identity.confirm(conn)?;
        let report = examine_again(path)?;
        let still_bad = bad_checks(&report);
        n_rounds += 1;
        if still_bad.is_empty() || still_bad == bad || n_rounds == ROUNDS_MAX {
            return Ok(report);
        }
        bad = still_bad;
    }
}

/// Examines a memory that was changed.
fn examine_again(path: &Path) -> Result<DoctorReport, TransferError> {
    doctor::examine(path).map_err(|error| {
        let why = error.after_a_change();
        TransferError::Refused(format!("repairs were made, and could not be looked at: {why}"))
    })
}

/// Returns the failed checks, and what each found.
fn bad_checks(report: &DoctorReport) -> Vec<(&'static str, String)> {
    let bad = report.checks.iter().filter(|it| it.is_bad());
    bad.map(|it| (it.name, it.detail.clone())).collect()
}

fn backup_of(path: &Path, now: UnixMillis) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".bak.{}", now.0.saturating_mul(1_000_000)));
    name.into()
}

fn advice(check: &CheckResult, path: &Path) -> String {
    match check.name {
        "integrity_check" => format!("pages are damaged; {}", last_resort(&path.display())),
        doctor::SCHEMA_OBJECTS => format!("{}; restore a backup", check.detail),
        _ => format!("it still fails; {}", last_resort(&path.display())),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{CheckResult, CheckStatus, outcome};

    fn failed(status: CheckStatus) -> Option<Result<Vec<String>, String>> {
        let check = CheckResult { name: "fields", status, detail: String::new(), fix: None };
        outcome(&check, true, Some(Err("the disk is full".to_owned())), Path::new("m.db"))
    }

    #[test]
    fn a_failed_repair_is_no_success_unless_the_check_passes() {
        let error = Some(Err("the disk is full".to_owned()));
        assert_eq!(failed(CheckStatus::Fail), error);
        assert_eq!(failed(CheckStatus::Warn), error);
        assert_eq!(failed(CheckStatus::Pass), Some(Ok(Vec::new())));
    }
}
