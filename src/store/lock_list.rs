//! The system's list of locks: which process holds which lock of SQLite.

use std::collections::BTreeSet;
#[cfg(target_os = "linux")]
use std::fs;
#[cfg(target_os = "linux")]
use std::io::Read;
use std::ops::RangeInclusive;
use std::path::Path;

/// A lock of SQLite: its kind in the list of locks, and its bytes of the database or the index.
pub(super) struct WalLockByteRange(&'static str, RangeInclusive<u64>);

/// The lock of the process that writes.
pub(super) const WRITE_LOCK: WalLockByteRange = WalLockByteRange("WRITE", 120..=120);

/// The locks of processes that read the database or a state of the log.
pub(super) const READ_LOCKS: WalLockByteRange = WalLockByteRange("READ", 123..=127);

/// The lock on the database of each open connection:
/// <https://sqlite.org/src/file?name=src/os.h>.
const OPEN_LOCK: WalLockByteRange = WalLockByteRange("READ", 0x4000_0002..=0x4000_01ff);

/// The lock on the index of each open connection.
const INDEX_LOCK: WalLockByteRange = WalLockByteRange("READ", 128..=128);

/// Returns a process that holds a lock on a file.
#[cfg(target_os = "linux")]
pub(super) fn first_holder(file: &Path, lock: &WalLockByteRange) -> Option<u32> {
    holders_in(&lock_lines()?, &listed_name(file)?, lock).next()
}

/// Returns the processes that hold any lock on one of some files.
#[cfg(target_os = "linux")]
pub(super) fn holders_of(files: &[&Path]) -> BTreeSet<u32> {
    let Some(locks) = lock_lines() else { return BTreeSet::new() };
    let names = files.iter().filter_map(|it| listed_name(it));
    names.flat_map(|file| all_holders_in(&locks, &file)).collect()
}

/// The other processes that have some of the three files open under the names of which are others
/// now.
#[derive(Debug, Default)]
pub(super) struct ProcessesWithOtherFiles {
    /// Processes with a lock on the index, and none on the file at the name of the database.
    pub(super) database: BTreeSet<u32>,
    /// Processes with a lock on the database, and none on the file at the name of the index. So is,
    /// for a moment, each process that opens it.
    pub(super) index: BTreeSet<u32>,
}

/// Returns the other processes that have the database or its index open where the name of the other
/// one is that of another file.
#[cfg(target_os = "linux")]
pub(super) fn processes_with_other_files(database: &Path, index: &Path) -> ProcessesWithOtherFiles {
    let names = (listed_name(database), listed_name(index));
    let ((Some(database), Some(index)), Some(locks)) = (names, lock_lines()) else {
        return ProcessesWithOtherFiles::default();
    };
    ProcessesWithOtherFiles {
        database: without_database(&locks, &database, &index),
        index: without_index(&locks, &database, &index),
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn processes_with_other_files(_: &Path, _: &Path) -> ProcessesWithOtherFiles {
    ProcessesWithOtherFiles::default()
}

#[cfg(any(target_os = "linux", test))]
fn without_database(locks: &str, database: &str, index: &str) -> BTreeSet<u32> {
    let own = std::process::id();
    let with_database = all_holders_in(locks, database);
    let holders = holders_in(locks, index, &INDEX_LOCK);
    holders.filter(|pid| *pid != own && !with_database.contains(pid)).collect()
}

#[cfg(any(target_os = "linux", test))]
fn without_index(locks: &str, database: &str, index: &str) -> BTreeSet<u32> {
    let own = std::process::id();
    let with_index: BTreeSet<u32> = holders_in(locks, index, &INDEX_LOCK).collect();
    let holders = holders_in(locks, database, &OPEN_LOCK);
    holders.filter(|pid| *pid != own && !with_index.contains(pid)).collect()
}

/// Returns the lines of the list of locks. The system makes it piece by piece, and counts lines to
/// find where the next piece begins: a lock released meanwhile hides a line. So it is read until
/// nothing has changed, and else all that several readings found is taken.
#[cfg(target_os = "linux")]
fn lock_lines() -> Option<String> {
    const READINGS_MAX: usize = 8;
    let read_all = || {
        // With room from the beginning: small readings would make many pieces.
        let mut lines = String::with_capacity(1 << 16);
        fs::File::open("/proc/locks").ok()?.read_to_string(&mut lines).ok()?;
        Some(lines)
    };
    let (mut all, mut before) = (String::new(), None);
    for _ in 0..READINGS_MAX {
        let now = read_all()?;
        all.push_str(&now);
        if before.replace(now.clone()) == Some(now) {
            break;
        }
    }
    Some(all)
}

/// Returns a file as the list of locks names it: `major:minor:inode`.
#[cfg(target_os = "linux")]
fn listed_name(file: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;

    use rustix::fs::{major, minor};
    let found = fs::metadata(file).ok()?;
    let device = found.dev();
    Some(format!("{:02x}:{:02x}:{}", major(device), minor(device), found.ino()))
}

/// Returns the processes that hold any lock on a file, given the list of locks.
#[cfg(any(target_os = "linux", test))]
fn all_holders_in(locks: &str, file: &str) -> BTreeSet<u32> {
    let any = ["READ", "WRITE"].map(|kind| WalLockByteRange(kind, 0..=u64::MAX));
    any.iter().flat_map(|lock| holders_in(locks, file, lock)).collect()
}

/// Returns the processes that hold a lock on a file, given the list of locks. A line has the form
/// `1: POSIX  ADVISORY  WRITE 4711 fd:00:8421 120 120`; one with `->` is of a process that waits.
#[cfg(any(target_os = "linux", test))]
fn holders_in(
    locks: &str,
    wanted: &str,
    WalLockByteRange(kind, bytes): &WalLockByteRange,
) -> impl Iterator<Item = u32> {
    locks.lines().filter_map(move |line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, _, _, found, pid, file, first, last] = fields[..] else { return None };
        let (first, last) = (first.parse::<u64>().ok()?, last.parse().unwrap_or(u64::MAX));
        let is_wanted = found == *kind && first <= *bytes.end() && *bytes.start() <= last;
        // A process of another namespace has no number here.
        let pid = pid.parse().ok().filter(|it| 0 < *it);
        if is_wanted && file == wanted { pid } else { None }
    })
}

/// Returns the locks on a file, of all processes, for tests. While others take and release locks, a
/// list may leave a line out, or have it twice under two numbers: many lists have each.
#[cfg(all(test, target_os = "linux"))]
pub(crate) fn locks_on(path: &Path) -> BTreeSet<String> {
    use std::os::unix::fs::MetadataExt;
    let of_the_file = format!(":{} ", fs::metadata(path).expect("the file is there").ino());
    let lists = (0..20).map(|_| fs::read_to_string("/proc/locks").expect("Linux has it"));
    let all = lists.collect::<Vec<String>>().concat();
    let of_the_file = all.lines().filter(|it| it.contains(&of_the_file));
    of_the_file.filter_map(|it| it.split_once(": ")).map(|it| it.1.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_locks_names_the_writer() {
        let locks = "\
            1: POSIX  ADVISORY  READ  11 fd:00:8421 123 123\n\
            2: POSIX  ADVISORY  WRITE 12 fd:00:8422 120 120\n\
            3: POSIX  ADVISORY  WRITE 13 fd:00:8421 121 121\n\
            4: POSIX  ADVISORY  WRITE 14 fd:00:8421 120 120\n\
            4: -> POSIX  ADVISORY  WRITE 15 fd:00:8421 120 120\n\
            5: FLOCK  ADVISORY  WRITE 16 fd:00:77 0 EOF\n";
        let writer_in = |locks, index| holders_in(locks, index, &WRITE_LOCK).next();
        assert_eq!(writer_in(locks, "fd:00:8421"), Some(14));
        assert_eq!(writer_in(locks, "fd:00:77"), Some(16));
        assert_eq!(writer_in(locks, "fd:00:99"), None);
        assert_eq!(writer_in("1: POSIX ADVISORY WRITE -1 fd:00:7 120 120", "fd:00:7"), None);
        assert_eq!(writer_in("nonsense\n\n1: POSIX", "fd:00:7"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_lock_is_listed_at_each_look_while_others_come_and_go() {
        use std::sync::atomic::{AtomicBool, Ordering};

        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str| fs::File::create(folder.path().join(name)).unwrap();
        let held = make("held");
        held.lock().unwrap();
        let name = listed_name(&folder.path().join("held")).unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for thread in 0..2 {
                let others: Vec<_> = (0..20).map(|nth| make(&format!("{thread}-{nth}"))).collect();
                let is_over = &is_over;
                scope.spawn(move || {
                    while !is_over.load(Ordering::Relaxed) {
                        others.iter().for_each(|it| it.lock().unwrap());
                        others.iter().for_each(|it| it.unlock().unwrap());
                    }
                });
            }
            let whole = WalLockByteRange("WRITE", 0..=0);
            let is_listed = || holders_in(&lock_lines().unwrap(), &name, &whole).next().is_some();
            let n_listed = (0..300).filter(|_| is_listed()).count();
            is_over.store(true, Ordering::Relaxed);
            assert_eq!(n_listed, 300);
        });
    }

    #[test]
    fn the_list_of_locks_names_a_reader() {
        let locks = "\
            1: POSIX  ADVISORY  READ  11 fd:00:8421 128 128\n\
            2: POSIX  ADVISORY  READ  12 fd:00:8421 122 122\n\
            3: POSIX  ADVISORY  WRITE 13 fd:00:8421 120 120\n\
            4: POSIX  ADVISORY  READ  14 fd:00:8421 125 125\n";
        assert_eq!(holders_in(locks, "fd:00:8421", &READ_LOCKS).next(), Some(14));
        assert_eq!(holders_in(locks, "fd:00:8422", &READ_LOCKS).next(), None);
    }

    #[test]
    fn the_list_of_locks_tells_who_has_a_database_open_without_its_index() {
        let one = "1: POSIX  ADVISORY  READ  11 fd:00:1 1073741826 1073742335\n";
        let its_index = "2: POSIX  ADVISORY  READ  11 fd:00:2 128 128\n";
        let other_index = "3: POSIX  ADVISORY  READ  12 fd:00:2 128 128\n";
        let found = |locks: &[&str]| without_index(&locks.concat(), "fd:00:1", "fd:00:2");
        assert_eq!(found(&[]), [].into());
        assert_eq!(found(&[one, its_index]), [].into());
        assert_eq!(found(&[one]), [11].into());
        assert_eq!(found(&[one, other_index]), [11].into());
        let own = one.replace("11", &std::process::id().to_string());
        assert_eq!(found(&[&own]), [].into());
    }
}
