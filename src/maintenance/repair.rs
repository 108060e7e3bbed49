//! Examines a memory and repairs it, after a backup.

use std::path::{Path, PathBuf};

use super::doctor::{self, CheckResult, CheckStatus, DoctorReport};
use super::transfer::{self, TransferError};
use crate::model::clock::Millis;
use crate::store::file_identity_check::OpenedFiles;
use crate::store::{IfMissing, StoreError, connection};

/// Examines the memory and repairs what fails. Before any repair it makes a copy, and passes the
/// copy's path to `announce`.
pub(crate) fn repair(
    path: &Path,
    now: Millis,
    announce: &mut dyn FnMut(&Path),
) -> Result<DoctorReport, TransferError> {
    let found = doctor::examine(path)?;
    if found.status() != CheckStatus::Fail {
        return Ok(found);
    }
    let backup = backup_of(path, now);
    transfer::backup_as_is(path, &backup)?;
    announce(&backup);
    if found.checks.iter().any(|it| it.name == doctor::SCHEMA_OBJECTS && it.is_bad()) {
        doctor::drop_foreign_objects(path)?;
    }
    let conn = connection::open_writer(path, IfMissing::Refuse).map_err(|error| match error {
        StoreError::ForeignObjects { objects, .. } => TransferError::Refused(format!(
            "{objects}: that cannot be put right in place; read what can be read: \
             remindb salvage {} --out NEW.db",
            path.display()
        )),
        error => error.into(),
    })?;
    let file_identity = OpenedFiles::of(path)?;
    let mut tried = doctor::repair_failed(&conn, path, now);
    file_identity.confirm(&conn)?;
    drop(conn);
    let mut report = doctor::examine(path).map_err(|error| {
        let why = error.after_a_change();
        TransferError::Refused(format!("repairs were made, and could not be looked at: {why}"))
    })?;
    for check in &mut report.checks {
        let was_bad = found.checks.iter().any(|it| it.name == check.name && it.is_bad());
        check.fix = match (tried.remove(check.name), check.status) {
            // Opening it for writing migrated the schema.
            (None, CheckStatus::Pass | CheckStatus::Warn) if was_bad => Some(Ok(Vec::new())),
            (None, _) => None,
            (Some(Err(error)), _) => Some(Err(error)),
            (Some(Ok(_)), CheckStatus::Fail) => Some(Err(advice(check, path))),
            (Some(Ok(notes)), _) => Some(Ok(notes)),
        };
    }
    Ok(report)
}

fn backup_of(path: &Path, now: Millis) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".bak.{}", now.0.saturating_mul(1_000_000)));
    name.into()
}

fn advice(check: &CheckResult, path: &Path) -> String {
    match check.name {
        "integrity_check" => format!(
            "pages are damaged; restore a backup, or read what can be read: \
             remindb salvage {} --out NEW.db",
            path.display()
        ),
        doctor::SCHEMA_OBJECTS => format!("{}; restore a backup", check.detail),
        _ => "it still fails".to_owned(),
    }
}
