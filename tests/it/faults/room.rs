//! Commands in file systems without room, and in such that cannot be written.

use std::path::Path;
use std::process::Command;

use super::Tally;
use super::cases::CASES;
use super::command::{Obstacle, Sweep};

/// Room beside the files of the start, at most, in KiB: a command needs less.
const ROOM_KIB_MAX: u64 = 2_048;

/// Runs each command in file systems of several sizes.
pub(crate) fn fill(n_each: u64) -> Tally {
    each(|sweep, tally| {
        let least = sweep.n_kib() + 64;
        for nth in 0..n_each {
            let n_kib = least + nth * nth * ROOM_KIB_MAX / (n_each * n_each);
            sweep.try_one(Obstacle::Room(n_kib), tally);
        }
    })
}

/// Runs each command in a file system that cannot be written.
pub(crate) fn read_only(_: u64) -> Tally {
    each(|sweep, tally| sweep.try_one(Obstacle::ReadOnly, tally))
}

fn each(attempt: impl Fn(&Sweep<'_>, &mut Tally)) -> Tally {
    let mut tally = Tally::default();
    if !can_mount() {
        eprintln!("skipped: this user cannot mount a file system in a namespace (unshare --mount)");
        return tally;
    }
    for case in CASES {
        if let Some((sweep, _)) = Sweep::begin(case) {
            attempt(&sweep, &mut tally);
        }
    }
    tally
}

fn can_mount() -> bool {
    let script = "mount -t tmpfs none /mnt";
    let mut attempt = Command::new("unshare");
    attempt.args(["--mount", "--map-root-user", "sh", "-c", script]);
    Path::new("/usr/bin/unshare").exists() && attempt.output().is_ok_and(|it| it.status.success())
}
