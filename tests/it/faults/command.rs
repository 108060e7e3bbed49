//! One command with one failing call, and the model that its outcome is compared with.
//!
//! A command that succeeds has the effect that it has without a fault. One that fails has all of it
//! or none; none where it says so. Every database that is then in the folder is sound, every other
//! file is as it was or as it should become, and a second try without the fault succeeds.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::cases::{Case, Effect};
use super::state::State;
use super::{EIO, Fault, KINDS, SHORT, Shim, Tally};
use crate::support::{Folder, Ran};

/// Contents of the files by their names; digits of a time are `#`.
type Files = BTreeMap<String, Vec<u8>>;

/// What is in a command's way.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Obstacle {
    Call(Fault),
    /// A file system of so many KiB.
    Room(u64),
    /// A file system that cannot be written.
    ReadOnly,
}

impl Obstacle {
    fn is_short_transfer(self) -> bool {
        matches!(self, Obstacle::Call(fault) if fault.error == SHORT)
    }

    /// Returns whether it can keep the program from removing a file.
    fn keeps_files(self) -> bool {
        match self {
            Obstacle::Call(fault) => {
                fault.kind == "unlink" || (fault.kind == "open" && fault.error != EIO)
            }
            _ => false,
        }
    }
}

/// A case with its outcome without an obstacle.
pub(crate) struct Sweep<'c> {
    case: &'c Case,
    folder: Folder,
    shim: Shim,
    args: Vec<String>,
    before: State,
    after: State,
    files_before: Files,
    files_after: Files,
}

/// Tries each fault of a case.
pub(crate) fn sweep(case: &Case, n_each: u64) -> Tally {
    let mut tally = Tally::default();
    let Some((sweep, calls)) = Sweep::begin(case) else { return tally };
    for fault in Fault::sweep(&calls, n_each) {
        sweep.try_one(Obstacle::Call(fault), &mut tally);
    }
    tally
}

impl<'c> Sweep<'c> {
    /// Prepares a case and runs it without an obstacle; returns its number of calls, too.
    pub(crate) fn begin(case: &'c Case) -> Option<(Sweep<'c>, [u64; KINDS.len()])> {
        let folder = Folder::new();
        let shim = Shim::new(folder.path("counts"))?;
        fs::create_dir(folder.path("work")).unwrap();
        let args = (case.prepare)(&Place(&folder));
        fs::rename(folder.path("work"), folder.path("base")).unwrap();
        let (before, after) = (State::default(), State::default());
        let (files_before, files_after) = (Files::new(), Files::new());
        let mut sweep =
            Sweep { case, folder, shim, args, before, after, files_before, files_after };
        Place(&sweep.folder).renew();
        sweep.before = sweep.state();
        sweep.files_before = sweep.files();
        Place(&sweep.folder).renew();
        let mut command = sweep.command();
        sweep.watch(&mut command, None);
        let ran = Ran::of(&sweep.folder, &mut command);
        assert_eq!(ran.code, Some(0), "{}: {}", case.name, ran.transcript());
        let calls = sweep.shim.calls();
        sweep.after = sweep.state();
        sweep.files_after = sweep.files();
        Some((sweep, calls))
    }

    /// Runs the command against an obstacle and judges it.
    pub(crate) fn try_one(&self, obstacle: Obstacle, tally: &mut Tally) {
        Place(&self.folder).renew();
        let (ran, is_met) = match obstacle {
            Obstacle::Call(fault) => {
                let mut command = self.command();
                self.watch(&mut command, Some(fault));
                let ran = Ran::of(&self.folder, &mut command);
                (ran, self.shim.was_met(fault))
            }
            Obstacle::Room(n_kib) => (self.run_mounted(&format!("size={n_kib}k"), "true"), true),
            Obstacle::ReadOnly => (self.run_mounted("size=1g", "mount -o remount,ro ."), true),
        };
        let (outcome, complaints) = self.judge(obstacle, &ran);
        let shown = ran.transcript().replace('\n', "\n    ");
        let name = self.case.name;
        tally.note(is_met, outcome, complaints, |it| {
            format!("{name}: {obstacle:?}: {it}\n    {shown}")
        });
    }

    /// Returns the size of the files of the start, in KiB.
    pub(crate) fn n_kib(&self) -> u64 {
        let mut measure = Command::new("du");
        measure.args(["-sk", "--apparent-size"]).arg(self.folder.path("base"));
        let shown = String::from_utf8(measure.output().unwrap().stdout).unwrap();
        shown.split_whitespace().next().unwrap().parse().unwrap()
    }

    /// Runs the command in a file system of its own, at the path of the working folder, and copies
    /// the files out of it.
    fn run_mounted(&self, options: &str, then: &str) -> Ran {
        let work = self.work();
        fs::remove_dir_all(&work).unwrap();
        fs::create_dir(&work).unwrap();
        let script = format!(
            "mount -t tmpfs -o {options} none work && cp -a base/. work && cd work && {then} \
             && {{ \"$@\"; code=$?; cp -a . ../out; exit $code; }} || exit 99"
        );
        let inner = self.command();
        let mut command = Command::new("unshare");
        command.args(["--mount", "--map-root-user", "sh", "-c", &script, "sh"]);
        command.arg(inner.get_program()).args(inner.get_args()).current_dir(self.folder.path(""));
        for (name, value) in inner.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let ran = Ran::of(&self.folder, &mut command);
        assert_ne!(ran.code, Some(99), "{}", ran.transcript());
        fs::remove_dir_all(&work).unwrap();
        fs::rename(self.folder.path("out"), &work).unwrap();
        ran
    }
}

impl Sweep<'_> {
    fn work(&self) -> PathBuf {
        self.folder.path("work")
    }

    fn command(&self) -> Command {
        Place(&self.folder).command(&self.args)
    }

    fn watch(&self, command: &mut Command, fault: Option<Fault>) {
        self.shim.attach(command, &self.work(), &self.work().join("notes/"), fault);
    }

    fn state(&self) -> State {
        State::of(&self.work().join("m.db"))
    }

    /// Returns the files beside the memory and the notes.
    fn files(&self) -> Files {
        let mut files = Files::new();
        collect(&self.work(), "", &mut files);
        files.retain(|it, _| !["m.db", "m.db-wal", "m.db-shm"].contains(&it.as_str()));
        files
    }

    /// Returns the outcome of a run, and every violation of the model.
    fn judge(&self, obstacle: Obstacle, ran: &Ran) -> (&'static str, Vec<String>) {
        let mut complaints = Vec::new();
        if ran.stderr.contains("panicked") || ran.stderr.contains("internal error") {
            complaints.push("it panicked".to_owned());
        }
        self.judge_databases(&mut complaints);
        let now = self.state();
        let is_before = now.meaning == self.before.meaning;
        let is_after = now.meaning == self.after.meaning;
        let claims_none = ran.transcript().contains("nothing was changed");
        let outcome = match ran.code {
            Some(0) if is_after => "done",
            Some(0) => {
                complaints.push(format!("acknowledged and lost: {}", now.difference(&self.after)));
                "lost"
            }
            Some(1 | 2) if obstacle.is_short_transfer() => {
                complaints.push("a short transfer is no error".to_owned());
                "refused"
            }
            Some(1 | 2) if claims_none && !self.is_untouched(&now) => {
                complaints.push("it says that nothing was changed".to_owned());
                "untrue"
            }
            Some(1 | 2) if is_before => "refused",
            Some(1 | 2) if is_after => "done, and an error",
            Some(1 | 2) if self.case.effect == Effect::InSteps => "done in part",
            Some(1 | 2) => {
                complaints.push(format!("done by half: {}", now.difference(&self.before)));
                "by half"
            }
            code => {
                complaints.push(format!("it ended with {code:?}"));
                "ended"
            }
        };
        self.judge_files(obstacle, ran.code == Some(0), &mut complaints);
        if ran.code != Some(0) && is_before && self.files() == self.files_before {
            self.judge_second_try(&mut complaints);
        }
        (outcome, complaints)
    }

    /// Returns whether nothing was changed; a command in steps may have changed the form.
    fn is_untouched(&self, now: &State) -> bool {
        match self.case.effect {
            Effect::AtOnce => now.rows == self.before.rows,
            Effect::InSteps => now.meaning == self.before.meaning,
        }
    }

    /// Checks every database of the folder.
    fn judge_databases(&self, complaints: &mut Vec<String>) {
        let work = self.work();
        let is_sound = |path: &Path| {
            let args = ["doctor", "--db", path.to_str().unwrap()];
            Ran::of(&self.folder, &mut Place(&self.folder).command(&args.map(str::to_owned)))
        };
        for name in fs::read_dir(&work).unwrap().map(|it| it.unwrap().file_name()) {
            let path = work.join(&name);
            let name = name.to_string_lossy().into_owned();
            let is_known = self.case.unsound.iter().any(|it| name.starts_with(it));
            let is_database =
                path.is_file() && fs::read(&path).unwrap().starts_with(b"SQLite format 3");
            let is_memory = is_database && !is_known && !is_left_over(&name);
            if is_memory && State::of(&path) != State::default() {
                let ran = is_sound(&path);
                if ran.code != Some(0) {
                    complaints.push(format!("{name} is not sound: {}", ran.transcript()));
                }
            }
        }
    }

    /// Checks that every other file is as it was, or as it is after the command.
    fn judge_files(&self, obstacle: Obstacle, is_done: bool, complaints: &mut Vec<String>) {
        let now = self.files();
        // What a fault made unreadable is kept as it is, under a name that says so.
        let is_set_aside = |name: &str| name.contains(".damaged");
        for (name, bytes) in &now {
            let was = self.files_before.get(name);
            let becomes = self.files_after.get(name);
            if was.is_none() && becomes.is_none() {
                if !obstacle.keeps_files() && !is_set_aside(name) {
                    complaints.push(format!("{name} is left over"));
                }
            } else if !bytes.starts_with(b"SQLite format 3")
                && was != Some(bytes)
                && becomes != Some(bytes)
                && !name.contains(".log")
            {
                complaints.push(format!("{name} is neither as before nor as after"));
            }
        }
        for name in self.files_before.keys().filter(|it| !now.contains_key(*it)) {
            if self.files_after.contains_key(name) && self.case.effect == Effect::AtOnce {
                complaints.push(format!("{name} is gone"));
            }
        }
        let is_kept = now.keys().any(|it| is_set_aside(it));
        for name in self.files_after.keys().filter(|it| is_done && !now.contains_key(*it)) {
            if is_kept && name.ends_with(".before-restore") {
                continue;
            }
            complaints.push(format!("{name} is acknowledged, and not there"));
        }
    }

    fn judge_second_try(&self, complaints: &mut Vec<String>) {
        let ran = Ran::of(&self.folder, &mut self.command());
        let now = self.state();
        if ran.code != Some(0) {
            complaints.push(format!("again, without the fault: {}", ran.transcript()));
        } else if now.meaning != self.after.meaning {
            complaints.push(format!("again, without the fault: {}", now.difference(&self.after)));
        }
    }
}

/// Returns whether a file is one that work in progress has.
fn is_left_over(name: &str) -> bool {
    name.ends_with("-wal") || name.ends_with("-shm") || name.ends_with("-journal")
}

fn collect(folder: &Path, above: &str, files: &mut Files) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = format!("{above}{}", entry.file_name().to_string_lossy());
        if name == "notes" {
            continue;
        }
        match entry.path().is_dir() {
            true => collect(&entry.path(), &format!("{name}/"), files),
            false => {
                let name = name.chars().map(|it| if it.is_ascii_digit() { '#' } else { it });
                files.insert(name.collect(), fs::read(entry.path()).unwrap());
            }
        }
    }
}

/// The folder in which a case is prepared and run.
pub(crate) struct Place<'f>(&'f Folder);

impl<'f> Place<'f> {
    pub(crate) fn of(folder: &'f Folder) -> Place<'f> {
        Place(folder)
    }

    /// Makes the working folder anew, at the same path, since a root is known by its path.
    pub(crate) fn renew(&self) {
        let work = self.0.path("work");
        if work.exists() {
            fs::remove_dir_all(&work).unwrap();
        }
        let mut copy = Command::new("cp");
        copy.arg("-a").args([&self.0.path("base"), &work]);
        assert!(copy.status().unwrap().success());
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.0.path("work").join(path)
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        self.0.write(self.path(path), content);
    }

    pub(crate) fn command(&self, args: &[String]) -> Command {
        let mut command = self.0.command(args);
        command.current_dir(self.path("")).env("HOME", self.path("home"));
        for name in ["CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs the program, which has to succeed, and returns its output.
    #[track_caller]
    pub(crate) fn ok(&self, args: &str) -> String {
        let args: Vec<String> = args.split_whitespace().map(str::to_owned).collect();
        let ran = Ran::of(self.0, &mut self.command(&args));
        assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.transcript());
        ran.stdout
    }

    /// Removes the memory with its log, which a reader may leave.
    pub(crate) fn remove_memory(&self) {
        for name in ["m.db", "m.db-wal", "m.db-shm"] {
            let _ = fs::remove_file(self.path(name));
        }
    }

    /// Changes rows without the program.
    pub(crate) fn tamper(&self, sql: &str) {
        rusqlite::Connection::open(self.path("m.db")).unwrap().execute_batch(sql).unwrap();
    }
}
