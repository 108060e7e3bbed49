//! Backups before something is removed for good: made beside the memory, the newest of them kept.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::atomic_file::resolve_symlink;
use super::backup::{backup_as_is, safety_draft};
use super::{FileErrorContext, TransferError, with_suffix};

/// The ends of the names of such backups.
const ENDS: [&str; 3] = [".before-gc", ".before-redact", ".before-restore"];

/// Characters of the time in a name: `20261122T011749Z`.
const STAMP_CHARS: usize = 16;

/// A removal that cannot be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DestructiveOperation {
    Gc,
    Redact,
}

/// Copies the memory at `db` before a removal; returns the copy's path. `stamp` is part of its
/// name.
pub(crate) fn backup_before(
    db: &Path,
    of: DestructiveOperation,
    stamp: &str,
) -> Result<PathBuf, TransferError> {
    let db = resolve_symlink(db)?;
    let [gc, redact, _] = ENDS;
    let end = match of {
        DestructiveOperation::Gc => gc,
        DestructiveOperation::Redact => redact,
    };
    let dest = free_name(&db, stamp, end);
    backup_as_is(&db, &dest)?;
    Ok(dest)
}

/// Returns a name for a copy of the memory at `db` that no file has: with a number where there is
/// one of the same second.
pub(super) fn free_name(db: &Path, stamp: &str, end: &str) -> PathBuf {
    let name = |nth: u32| match nth {
        0 => with_suffix(db, &format!(".{stamp}{end}")),
        nth => with_suffix(db, &format!(".{stamp}-{nth}{end}")),
    };
    (0..).map(name).find(|it| it.symlink_metadata().is_err()).unwrap_or(name(0))
}

/// Deletes an unfinished copy, which a kill left beside the memory at `db`.
pub(crate) fn drop_unfinished_backup(db: &Path) -> Result<(), TransferError> {
    safety_draft(&resolve_symlink(db)?).map(drop)
}

/// Deletes the oldest backups of the memory at `db` that were made before removals and restores,
/// until `n_max` are left; returns the paths of the deleted ones.
///
/// `made`, the backup that was made just now, stays: times in names may be those of a clock that
/// was ahead.
pub(crate) fn prune_backups(
    db: &Path,
    made: &Path,
    n_max: usize,
) -> Result<Vec<PathBuf>, TransferError> {
    let db = resolve_symlink(db)?;
    let (Some(folder), Some(name)) = (db.parent(), db.file_name().and_then(OsStr::to_str)) else {
        return Ok(Vec::new());
    };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut backups = Vec::new();
    for entry in fs::read_dir(folder).on("list", folder)? {
        let entry = entry.on("list", folder)?;
        let age = entry.file_name().to_str().and_then(|it| age_of(name, it));
        if let Some((stamp, nth)) = age
            && entry.file_type().is_ok_and(|it| it.is_file())
            && Some(entry.file_name().as_os_str()) != made.file_name()
        {
            backups.push((stamp, nth, entry.path()));
        }
    }
    backups.sort();
    // What was set aside as damaged is no backup, and takes no place among them.
    let made = made.file_name().and_then(OsStr::to_str);
    let n_made = usize::from(made.is_some_and(|it| age_of(name, it).is_some()));
    let n_old = backups.len().saturating_sub(n_max.saturating_sub(n_made));
    let old: Vec<PathBuf> = backups.into_iter().take(n_old).map(|(_, _, path)| path).collect();
    for path in &old {
        fs::remove_file(path).on("delete the backup", path)?;
    }
    Ok(old)
}

/// Returns when the backup of that name was made, and which one of that second it is; `None` for
/// other files.
fn age_of(db: &str, name: &str) -> Option<(String, u32)> {
    let rest = name.strip_prefix(db)?.strip_prefix('.')?;
    let rest = ENDS.iter().find_map(|end| rest.strip_suffix(end))?;
    let (stamp, nth) = match rest.split_once('-') {
        None => (rest, 0),
        Some((stamp, nth)) => (stamp, nth.parse().ok()?),
    };
    let is_stamp = stamp.len() == STAMP_CHARS
        && stamp.bytes().enumerate().all(|(at, it)| match at {
            8 => it == b'T',
            15 => it == b'Z',
            _ => it.is_ascii_digit(),
        });
    is_stamp.then(|| (stamp.to_owned(), nth))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_backups_before_removals_are_deleted_oldest_first() {
        let dir = tempfile::tempdir().unwrap();
        let names = [
            "m.db",
            "m.db.20260101T000000Z.backup",
            "m.db.20260101T000000Z.before-gc",
            "m.db.20260102T000000Z-2.before-gc",
            "m.db.20260102T000000Z-10.before-gc",
            "m.db.20260102T000000Z.before-redact",
            "m.db.20260103T000000Z.before-restore",
            "m.db.20260103T000000Z.damaged",
            "m.db.2026.before-gc",
            "other.db.20250101T000000Z.before-gc",
            "x.m.db.20250101T000000Z.before-gc",
        ];
        names.iter().for_each(|it| fs::write(dir.path().join(it), "").unwrap());
        let in_folder = |name: &str| dir.path().join(name);
        let prune = |n_max| -> Vec<String> {
            let made = in_folder("m.db.20260103T000000Z.before-restore");
            let old = prune_backups(&in_folder("m.db"), &made, n_max).unwrap();
            let file_name = |it: PathBuf| it.file_name().unwrap().to_str().unwrap().to_owned();
            old.into_iter().map(file_name).collect()
        };
        assert_eq!(prune(5), [""; 0]);
        let expected = ["m.db.20260101T000000Z.before-gc", "m.db.20260102T000000Z.before-redact"];
        assert_eq!(prune(3), expected);
        assert_eq!(prune(1), [names[3], names[4]]);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), names.len() - 4);
    }

    #[test]
    fn the_backup_that_was_just_made_stays_beside_those_of_a_clock_that_was_ahead() {
        let dir = tempfile::tempdir().unwrap();
        let [db, ahead, made] =
            ["m.db", "m.db.20990101T000000Z.before-gc", "m.db.20260101T000000Z.before-gc"]
                .map(|it| dir.path().join(it));
        for it in [&db, &ahead, &made] {
            fs::write(it, "").unwrap();
        }
        assert_eq!(prune_backups(&db, &made, 2).unwrap(), [""; 0].map(PathBuf::from));
        assert_eq!(prune_backups(&db, &made, 1).unwrap(), [ahead]);
        assert!(made.exists());
        let damaged = dir.path().join("m.db.20260102T000000Z.damaged");
        assert_eq!(prune_backups(&db, &damaged, 1).unwrap(), [""; 0].map(PathBuf::from));
        assert_eq!(
            free_name(&db, "20260101T000000Z", ".before-gc"),
            with_suffix(&db, ".20260101T000000Z-1.before-gc")
        );
    }
}
