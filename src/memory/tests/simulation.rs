//! Simulation: a memory beside its model, with random operations on both and their checks.

mod checks;
mod operations;
#[cfg(feature = "shared")]
mod twin;
mod typed;

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::model::{Model, Node, Seat};
use super::notes::{Notes, word};
use super::seen::{self};
use crate::fuzzing::random_cases::Dice;
use crate::memory::Memory;
use crate::memory::rollback::LaterSnapshotPolicy;
use crate::model::clock::{Clock, UnixMillis};
use crate::store::IfMissing;

pub(super) struct Simulation {
    seed: u64,
    dir: tempfile::TempDir,
    clock: Clock,
    /// `None` only while it is opened again.
    memory: Option<Memory>,
    pub(super) notes: Notes,
    /// The texts of the files at their last compile.
    compiled: BTreeMap<String, String>,
    pub(super) model: Model,
    pub(super) dice: Dice,
    log: Vec<String>,
    /// The other replica, where there are two.
    #[cfg(feature = "shared")]
    twin: Option<Box<twin::Twin>>,
}

impl Drop for Simulation {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = self.log.iter().zip(1..).map(|(it, nth)| format!("{nth:4} {it}\n"));
            eprintln!("{}", log.collect::<String>());
            eprintln!("{}", self.model.state.outline());
            eprintln!("it happens again with REMINDB_MODEL_SEED={}", self.seed);
        }
    }
}

impl Simulation {
    pub(super) fn new(seed: u64) -> Simulation {
        let dir = tempfile::tempdir().unwrap();
        let notes = Notes::new(dir.path().join("notes"));
        // A time far in the future, so that every file's time is old enough to be trusted.
        let clock = Clock::manual(UnixMillis(4_000_000_000_000));
        let mut simulation = Simulation {
            seed,
            dir,
            clock,
            memory: None,
            notes,
            compiled: BTreeMap::new(),
            model: Model::default(),
            dice: Dice::new(seed),
            log: Vec::new(),
            #[cfg(feature = "shared")]
            twin: None,
        };
        simulation.open(IfMissing::Create);
        simulation
    }

    fn db(&self) -> PathBuf {
        #[cfg(feature = "shared")]
        if let Some(db) = self.db_of_two() {
            return db;
        }
        self.dir.path().join("memory.db")
    }

    pub(super) fn open(&mut self, if_missing: IfMissing) {
        self.memory = None;
        #[cfg(feature = "shared")]
        if let Some(memory) = self.open_of_two() {
            self.memory = Some(memory);
            return;
        }
        self.memory = Some(
            Memory::open_at(&self.db(), if_missing, self.clock.clone()).unwrap().with_structured(),
        );
    }

    pub(super) fn memory(&self) -> &Memory {
        self.memory.as_ref().unwrap()
    }

    /// Runs one random operation, then all checks.
    pub(super) fn step(&mut self, nth: usize) {
        self.log.push("…".to_owned());
        #[cfg(feature = "shared")]
        self.begin_step_of_two();
        let node = self.node();
        if self.dice.one_in(5) {
            let entry = self.typed();
            return self.end_step(nth, entry);
        }
        let entry = match (self.dice.below(100), node) {
            (0..25, _) => self.edit_and_compile(),
            (25..28, _) => self.compile("again"),
            (28..42, node) => self.append(node),
            (42..50, Some(id)) => self.replace(&id),
            (50..57, Some(id)) => self.summarize(&id),
            (57..67, Some(id)) => self.forget(&id),
            (67..72, Some(id)) => self.pin(&id),
            (72..76, Some(id)) => self.relate(&id),
            (76..80, Some(id)) => self.fetch(&id),
            (80..84, _) => self.attend(),
            (84..93, _) => self.rollback(LaterSnapshotPolicy::Keep),
            (93..94, _) => self.rollback(LaterSnapshotPolicy::Drop),
            (94..95, _) => self.collect(),
            (95..97, _) => {
                self.open(IfMissing::Refuse);
                "open again".to_owned()
            }
            (97..98, _) => self.mistake(),
            _ => match self.dice.below(3) {
                0 => self.carry(),
                _ => self.redact(),
            },
        };
        self.end_step(nth, entry);
    }

    fn end_step(&mut self, nth: usize, entry: String) {
        self.log_last(entry);
        self.check();
        if nth.is_multiple_of(10) {
            self.check_health();
        }
        #[cfg(feature = "shared")]
        if self.twin.is_some() {
            self.end_step_of_two();
        }
    }

    fn log_last(&mut self, entry: String) {
        self.log.pop();
        self.log.push(entry);
    }

    /// Writes a note, compiles all of them and checks.
    #[track_caller]
    pub(super) fn edit(&mut self, path: &str, text: &str) {
        self.notes.set(path, Some(text));
        self.compile(path);
        self.check();
    }

    /// Returns the node with this text.
    #[track_caller]
    pub(super) fn id_of(&self, content: &str) -> String {
        let mut nodes = self.model.state.nodes.iter();
        nodes.find(|(_, it)| it.content == content).expect("a node that says so").0.clone()
    }

    fn node(&mut self) -> Option<String> {
        let ids: Vec<String> = self.model.state.nodes.keys().cloned().collect();
        self.dice.pick_if_any(&ids)
    }
}

/// Returns a file's name in the model; there is one root.
fn name(path: &str) -> String {
    format!("1:{path}")
}
