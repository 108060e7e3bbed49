//! Tests failures of the system: calls of the C library that fail, disks without room, files that
//! lose their names, clocks that step.
//!
//! A preloaded library, `faults/shim.c`, fails the n-th call of a kind. After each run the memory
//! is compared with a model: everything acknowledged is kept, an error that says "nothing was
//! changed" changed no row, and the doctor finds nothing. `make faults` sweeps n over every command
//! that writes; `make test` runs an excerpt.

/// The commands that write, each with the memory that it starts from.
mod cases;
/// One command with one failing call.
mod command;
/// Files that are unlinked, replaced or linked under a server.
mod names;
/// File systems without room, and such that cannot be written.
mod room;
/// A server with one failing call, and steps of its clock.
mod server;
/// The rows of a memory, as text.
mod state;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Kinds of calls that are counted, in the order of the shim.
pub(crate) const KINDS: [&str; 10] =
    ["write", "sync", "truncate", "read", "rename", "mmap", "open", "unlink", "link", "clock"];

const EIO: i32 = 5;
const ENOMEM: i32 = 12;
const EMFILE: i32 = 24;
const ENOSPC: i32 = 28;
const ENOSYS: i32 = 38;

/// Makes a transfer short instead.
const SHORT: i32 = 0;

/// A failure that is tried for each call of a kind: once, or from that call on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lasting {
    Once,
    FromThenOn,
}

/// The failures that are swept.
const FAILURES: &[(&str, i32, Lasting)] = &[
    ("write", EIO, Lasting::Once),
    ("write", ENOSPC, Lasting::FromThenOn),
    ("write", SHORT, Lasting::Once),
    ("sync", EIO, Lasting::Once),
    ("truncate", EIO, Lasting::Once),
    ("read", EIO, Lasting::Once),
    ("read", EIO, Lasting::FromThenOn),
    ("read", SHORT, Lasting::Once),
    ("rename", EIO, Lasting::Once),
    ("mmap", EIO, Lasting::Once),
    ("mmap", ENOMEM, Lasting::FromThenOn),
    ("open", EIO, Lasting::Once),
    ("open", EMFILE, Lasting::FromThenOn),
    ("unlink", EIO, Lasting::Once),
    ("link", EIO, Lasting::Once),
];

/// Failures of `renameat2`, which is not counted: each call fails.
const FAILURES_OF_RENAMEAT2: [i32; 2] = [EIO, ENOSYS];

/// One failing call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    kind: &'static str,
    error: i32,
    lasting: Lasting,
    at: u64,
}

impl Fault {
    /// Returns the faults to try, given the number of calls of each kind: `n_each` places evenly
    /// spread over the calls, the first and the last among them.
    fn sweep(calls: &[u64; KINDS.len()], n_each: u64) -> Vec<Fault> {
        let mut faults = Vec::new();
        for &(kind, error, lasting) in FAILURES {
            let n_calls = calls[KINDS.iter().position(|it| *it == kind).unwrap()];
            let n_places = n_each.min(n_calls);
            let place = |nth: u64| 1 + nth * (n_calls - 1) / (n_places - 1).max(1);
            let at = (0..n_places).map(place);
            faults.extend(at.map(|at| Fault { kind, error, lasting, at }));
        }
        let all = |error| Fault { kind: "rename2", error, lasting: Lasting::FromThenOn, at: 1 };
        faults.extend(FAILURES_OF_RENAMEAT2.map(all));
        faults
    }

    /// Has the shim fail this call.
    pub(crate) fn set(self, command: &mut Command) {
        command.env("FAULT_CALL", self.kind).env("FAULT_AT", self.at.to_string());
        command.env("FAULT_ERROR", self.error.to_string());
        if self.lasting == Lasting::FromThenOn {
            command.env("FAULT_LAST", i64::MAX.to_string());
        }
    }
}

/// A preloaded shim with the file of its counts.
pub(crate) struct Shim {
    library: PathBuf,
    counts: PathBuf,
}

impl Shim {
    /// Builds the shim once; `None` where there is no C compiler, with a line that says so.
    pub(crate) fn new(counts: PathBuf) -> Option<Shim> {
        static LIBRARY: OnceLock<Option<PathBuf>> = OnceLock::new();
        let library = LIBRARY.get_or_init(|| {
            let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/faults/shim.c");
            let library = Path::new(env!("CARGO_TARGET_TMPDIR"))
                .join(format!("faults-{}.so", std::process::id()));
            let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
            let mut compile = Command::new(compiler);
            compile.args(["-O1", "-shared", "-fPIC", "-o"]).args([&library, &source]).arg("-ldl");
            compile.status().is_ok_and(|it| it.success()).then_some(library)
        });
        if library.is_none() {
            eprintln!("skipped: there is no C compiler to build tests/it/faults/shim.c");
        }
        Some(Shim { library: library.clone()?, counts })
    }

    /// Preloads the shim into a command: it counts the calls about files below `folder`, except
    /// those below `except`, and fails one.
    pub(crate) fn attach(
        &self,
        command: &mut Command,
        folder: &Path,
        except: &Path,
        fault: Option<Fault>,
    ) {
        fs::write(&self.counts, [0; 8 * KINDS.len()]).unwrap();
        command.env("LD_PRELOAD", &self.library).env("FAULT_COUNTS", &self.counts);
        command.env("FAULT_FOLDER", folder).env("FAULT_EXCEPT", except);
        if let Some(fault) = fault {
            fault.set(command);
        }
    }

    /// Returns the number of calls of each kind in the last run.
    pub(crate) fn calls(&self) -> [u64; KINDS.len()] {
        let bytes = fs::read(&self.counts).unwrap();
        let mut chunks = bytes.chunks(8).map(|it| u64::from_le_bytes(it.try_into().unwrap()));
        std::array::from_fn(|_| chunks.next().unwrap())
    }

    /// Returns whether the last run came to the call.
    pub(crate) fn was_met(&self, fault: Fault) -> bool {
        let kind = KINDS.iter().position(|it| *it == fault.kind);
        kind.is_none_or(|kind| fault.at <= self.calls()[kind])
    }
}

/// The outcomes of many runs.
#[derive(Default)]
pub(crate) struct Tally {
    n_runs: usize,
    /// Runs that came to the failing call.
    n_met: usize,
    /// Runs by their outcome.
    outcomes: BTreeMap<&'static str, usize>,
    /// Every violation, with the run.
    violations: Vec<String>,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Tally) {
        self.n_runs += other.n_runs;
        self.n_met += other.n_met;
        other
            .outcomes
            .into_iter()
            .for_each(|(outcome, n)| *self.outcomes.entry(outcome).or_default() += n);
        self.violations.extend(other.violations);
    }

    /// Notes a run with its complaints, each of which `show` completes.
    pub(crate) fn note(
        &mut self,
        is_met: bool,
        outcome: &'static str,
        complaints: Vec<String>,
        show: impl Fn(String) -> String,
    ) {
        self.n_runs += 1;
        self.n_met += usize::from(is_met);
        *self.outcomes.entry(outcome).or_default() += 1;
        self.violations.extend(complaints.into_iter().map(show));
    }

    fn row(&self, name: &str) -> String {
        let outcomes: Vec<String> =
            self.outcomes.iter().map(|(outcome, n)| format!("{n} {outcome}")).collect();
        format!(
            "{name:<22} {:>5} runs {:>5} met  {:>3} violations  {}",
            self.n_runs,
            self.n_met,
            self.violations.len(),
            outcomes.join(", ")
        )
    }

    /// Asserts that there is no violation.
    #[track_caller]
    pub(crate) fn assert_clean(&self) {
        assert!(self.violations.is_empty(), "\n{}", self.violations.join("\n"));
    }
}

#[test]
fn a_few_faults_of_each_kind_lose_nothing_and_no_error_is_untrue() {
    let mut all = Tally::default();
    for name in ["backup", "restore"] {
        let case = cases::CASES.iter().find(|it| it.name == name).unwrap();
        all.add(command::sweep(case, 2));
    }
    all.add(server::sweep(1));
    all.add(server::sweep_landing(1));
    all.assert_clean();
}

/// The tests of `make faults`.
mod long {
    use super::*;
    use crate::random_cases::env_number;

    /// Places that are tried for each failure of a command; `FAULTS_EACH` sets it.
    fn n_each() -> u64 {
        env_number("FAULTS_EACH").unwrap_or(12)
    }

    #[test]
    #[ignore = "takes minutes"]
    fn commands() {
        let only = std::env::var("FAULTS_ONLY").unwrap_or_default();
        let mut all = Tally::default();
        for case in cases::CASES.iter().filter(|it| it.name.contains(&only)) {
            let tally = command::sweep(case, n_each());
            println!("{}", tally.row(case.name));
            all.add(tally);
        }
        println!("{}", all.row("all commands"));
        all.assert_clean();
    }

    #[test]
    #[ignore = "takes minutes"]
    fn servers() {
        let mut all = Tally::default();
        for (name, sweep) in [
            ("a failing call", server::sweep as fn(u64) -> Tally),
            ("writes that land in files", server::sweep_landing),
            ("a step of the clock", server::step),
            ("a name that changes", names::sweep),
            ("a full file system", room::fill),
            ("a read-only one", room::read_only),
        ] {
            let tally = sweep(n_each());
            println!("{}", tally.row(name));
            all.add(tally);
        }
        println!("{}", all.row("all servers"));
        all.assert_clean();
    }
}
