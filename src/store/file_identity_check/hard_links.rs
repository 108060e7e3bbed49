//! Checks that a database has one name, in the folder of its log.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use crate::ingest::scan::FileIdentity;
use crate::store::StoreError;

/// The end of the name under which a restore moves a damaged database aside: `DB.TIME.damaged`.
pub(crate) const ASIDE: &str = ".damaged";

/// The facts that decide whether a database's name is the only way to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct HardLinkFacts {
    /// Number of hard links of the file.
    n_names: u64,
    /// Whether the file is mounted by itself; `None` where the system does not tell.
    is_mounted: Option<bool>,
    is_on_device_of_folder: bool,
}

/// Refuses a database whose log would be where other processes do not look for it.
///
/// That is beside another hard link, or in another folder.
pub(in crate::store) fn check_links(path: &Path, database: &Metadata) -> Result<(), StoreError> {
    judge(path, links_of(path, database))
}

fn judge(path: &Path, links: HardLinkFacts) -> Result<(), StoreError> {
    let path = path.to_owned();
    // The device is weaker evidence: on some file systems, files have other devices than their
    // folders.
    if links.is_mounted.unwrap_or(!links.is_on_device_of_folder) {
        return Err(StoreError::Mounted { path });
    }
    check_names(&path, links.n_names)
}

/// Refuses a database of several names, whose log lies beside one of them.
pub(super) fn check_names(path: &Path, n_names: u64) -> Result<(), StoreError> {
    match n_names {
        0 | 1 => Ok(()),
        n_names => Err(match unfinished_restore(path).filter(|_| n_names == 2) {
            Some((path, aside)) => StoreError::HalfRestored { path, aside },
            None => StoreError::Linked { path: path.to_owned(), n_names },
        }),
    }
}

/// Returns the database and its second name, under which a restore moves it aside, where `path` is
/// one of the two.
fn unfinished_restore(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let full = path.canonicalize().ok()?;
    let file = |it: &Path| fs::symlink_metadata(it).ok().map(|it| FileIdentity::of(&it));
    let is_same = |it: &PathBuf| file(it) == file(&full);
    if let Some(db) = name_before_restore(&full).filter(is_same) {
        return Some((db, full));
    }
    let entries = fs::read_dir(full.parent()?).ok()?.flatten().map(|it| it.path());
    let is_of_full = |it: &PathBuf| name_before_restore(it).is_some_and(|it| it == full);
    let aside = entries.filter(is_of_full).find(is_same)?;
    Some((path.to_owned(), aside))
}

/// Returns the path of the database that was moved aside to `path` by its name.
fn name_before_restore(path: &Path) -> Option<PathBuf> {
    let (db, time) = path.file_name()?.to_str()?.strip_suffix(ASIDE)?.rsplit_once('.')?;
    let (day, clock) = time.split_once('T')?;
    let is_time = day.bytes().all(|it| it.is_ascii_digit()) && clock.contains('Z');
    is_time.then(|| path.with_file_name(db))
}

#[cfg(unix)]
pub(super) fn n_names(database: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(database)
}

#[cfg(not(unix))]
pub(super) fn n_names(_: &Metadata) -> u64 {
    1
}

#[cfg(unix)]
fn links_of(path: &Path, database: &Metadata) -> HardLinkFacts {
    use std::os::unix::fs::MetadataExt;
    let folder = path.canonicalize().ok().and_then(|it| std::fs::metadata(it.parent()?).ok());
    HardLinkFacts {
        n_names: n_names(database),
        is_mounted: is_mounted(path),
        is_on_device_of_folder: folder.is_none_or(|it| it.dev() == database.dev()),
    }
}

#[cfg(not(unix))]
fn links_of(_: &Path, _: &Metadata) -> HardLinkFacts {
    HardLinkFacts { n_names: 1, is_mounted: None, is_on_device_of_folder: true }
}

#[cfg(target_os = "linux")]
fn is_mounted(path: &Path) -> Option<bool> {
    use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};
    let found = statx(CWD, path, AtFlags::empty(), StatxFlags::BASIC_STATS).ok()?;
    let is_known = found.stx_attributes_mask.contains(StatxAttributes::MOUNT_ROOT);
    is_known.then(|| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

#[cfg(all(unix, not(target_os = "linux")))]
fn is_mounted(_: &Path) -> Option<bool> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_has_one_name_in_the_folder_of_its_log() {
        let alone =
            HardLinkFacts { n_names: 1, is_mounted: Some(false), is_on_device_of_folder: true };
        let judged = |links| judge(Path::new("m.db"), links).map_err(|it| it.to_string());
        let linked = "`m.db` has 2 names (hard links), and what is written under one is lost to the \
                      others; keep the name that has a log beside it (`NAME-wal`), if any, and remove \
                      the others";
        let mounted = "`m.db` is mounted without its folder, so its log would stay behind; mount the \
                       folder instead";
        assert_eq!(judged(alone), Ok(()));
        assert_eq!(judged(HardLinkFacts { n_names: 2, ..alone }), Err(linked.to_owned()));
        assert_eq!(
            judged(HardLinkFacts { is_mounted: Some(true), ..alone }),
            Err(mounted.to_owned())
        );
        // The device counts only where the system does not tell of mounts.
        let elsewhere = HardLinkFacts { is_on_device_of_folder: false, ..alone };
        assert_eq!(judged(elsewhere), Ok(()));
        assert_eq!(
            judged(HardLinkFacts { is_mounted: None, ..elsewhere }),
            Err(mounted.to_owned())
        );
        assert_eq!(judged(HardLinkFacts { is_mounted: None, ..alone }), Ok(()));
    }
}
