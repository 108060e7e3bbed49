//! Examines a memory and repairs it, after a backup.

use std::path::{Path, PathBuf};

use super::doctor::{self, Check, Report, Status};
use super::transfer::{self, MoveError};
use crate::model::clock::Millis;
use crate::store::file_identity::Whereabouts;
use crate::store::{IfMissing, connection};

/// Examines the memory and repairs what fails. If anything does, a copy is made first, and
/// `announce` is told where it is.
pub(crate) fn heal(
    path: &Path,
    now: Millis,
    announce: &mut dyn FnMut(&Path),
) -> Result<Report, MoveError> {
    let found = doctor::examine(path)?;
    if found.status() != Status::Fail {
        return Ok(found);
    }
    let backup = backup_of(path, now);
    transfer::backup_as_is(path, &backup)?;
    announce(&backup);
    let conn = connection::open_writer(path, IfMissing::Refuse)?;
    let whereabouts = Whereabouts::of(path)?;
    let mut tried = doctor::mend(&conn, path, now);
    whereabouts.confirm(&conn)?;
    drop(conn);
    let mut report = doctor::examine(path)?;
    for check in &mut report.checks {
        let was_bad = found.checks.iter().any(|it| it.name == check.name && it.is_bad());
        check.fix = match (tried.remove(check.name), check.status) {
            // Opening it for writing brought the schema up to date.
            (None, Status::Pass | Status::Warn) if was_bad => Some(Ok(())),
            (None, _) => None,
            (Some(Err(error)), _) => Some(Err(error)),
            (Some(Ok(())), Status::Fail) => Some(Err(advice(check, path))),
            (Some(Ok(())), _) => Some(Ok(())),
        };
    }
    Ok(report)
}

fn backup_of(path: &Path, now: Millis) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".bak.{}", now.0.saturating_mul(1_000_000)));
    name.into()
}

fn advice(check: &Check, path: &Path) -> String {
    match check.name {
        "integrity_check" => format!(
            "pages are damaged; restore a backup, or read what can be read: \
             remindb salvage {} --out NEW.db",
            path.display()
        ),
        _ => "it still fails".to_owned(),
    }
}
