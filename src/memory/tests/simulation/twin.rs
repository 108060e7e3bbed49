//! A simulation over two replicas: each operation runs on either, and both are checked.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::Simulation;
use crate::memory::Memory;
use crate::memory::tests::model::Heat;
use crate::memory::tests::shared::Space;
use crate::store::replica_write_guard::carry_replica;

/// The replica beside the present one.
pub(super) struct Twin {
    space: Space,
    /// Names of the present replica and of the other one.
    names: [&'static str; 2],
    /// The other replica.
    memory: Memory,
    /// The heat of the other replica, which is its own, as its clock is.
    heat: BTreeMap<String, Heat>,
    attended: i64,
    /// The heat of the present replica before the operation.
    before: BTreeMap<String, Heat>,
    /// Whether the operation only read: what it warmed is warm on that machine alone.
    is_read: Cell<bool>,
    /// Whether the operation published all pins.
    is_published: Cell<bool>,
}

impl Simulation {
    /// Returns a simulation whose memory is one of two replicas.
    pub(in crate::memory::tests) fn of_two(seed: u64) -> Simulation {
        let mut simulation = Simulation::new(seed);
        let space = Space::new();
        simulation.clock = space.clock.clone();
        simulation.memory = Some(space.open("a"));
        let memory = space.open("b");
        let names = ["a", "b"];
        let (heat, before) = (BTreeMap::new(), BTreeMap::new());
        let (is_read, is_published) = (Cell::new(false), Cell::new(false));
        let twin = Twin { space, names, memory, heat, attended: 0, before, is_read, is_published };
        simulation.twin = Some(Box::new(twin));
        simulation
    }

    /// Notes the heat before an operation.
    pub(super) fn begin_step_of_two(&mut self) {
        let Some(twin) = &mut self.twin else { return };
        twin.before = self.model.heat.clone();
        twin.is_read.set(false);
        twin.is_published.set(false);
    }

    /// Notes that an operation only reads.
    pub(super) fn note_read_of_two(&self) {
        if let Some(twin) = &self.twin {
            twin.is_read.set(true);
        }
    }

    /// Lets the other replica follow, checks it, and leaves one of both as the present one.
    #[track_caller]
    pub(super) fn end_step_of_two(&mut self) {
        let changed = self.changed_pins();
        self.change_sides(&changed);
        self.check();
        if self.dice.one_in(2) {
            self.change_sides(&BTreeSet::new());
        }
    }

    /// Returns the nodes whose pin, or whose temperature as pinned, the operation changed for all.
    fn changed_pins(&self) -> BTreeSet<String> {
        let Some(twin) = self.twin.as_ref().filter(|it| !it.is_read.get()) else {
            return BTreeSet::new();
        };
        let is_changed = |(id, is): &(&String, &Heat)| match twin.before.get(*id) {
            Some(was) if was.pinned == is.pinned => {
                is.pinned && (twin.is_published.get() || was.temperature != is.temperature)
            }
            Some(_) => true,
            None => is.pinned,
        };
        self.model.heat.iter().filter(is_changed).map(|(id, _)| id.clone()).collect()
    }

    fn change_sides(&mut self, changed: &BTreeSet<String>) {
        let Some(twin) = &mut self.twin else { return };
        twin.memory.sharing().unwrap().follow().unwrap();
        std::mem::swap(&mut twin.memory, self.memory.as_mut().unwrap());
        std::mem::swap(&mut twin.heat, &mut self.model.heat);
        std::mem::swap(&mut twin.attended, &mut self.model.attended);
        twin.names.reverse();
        self.model.follow();
        let attended = self.model.attended;
        for (id, heat) in self.model.heat.iter_mut().filter(|(id, _)| changed.contains(*id)) {
            let there = twin.heat[id];
            if there.pinned {
                *heat = Heat {
                    temperature: there.temperature,
                    at: heat.at.max(attended),
                    pinned: true,
                };
            } else if heat.pinned {
                *heat = Heat { at: heat.at.max(attended), pinned: false, ..*heat };
            }
        }
    }

    /// Returns the database of the present replica, if there are two.
    pub(super) fn db_of_two(&self) -> Option<PathBuf> {
        let twin = self.twin.as_ref()?;
        Some(twin.space.db(twin.names[0]))
    }

    /// Opens the present replica again, if there are two.
    pub(super) fn open_of_two(&self) -> Option<Memory> {
        let twin = self.twin.as_ref()?;
        Some(twin.space.open(twin.names[0]))
    }

    /// Publishes what changed the present replica past the log.
    pub(super) fn publish(&self) {
        if let Some(twin) = &self.twin {
            let epoch = || twin.space.keeper.log().head.as_ref().map(|it| it.place.epoch);
            let before = epoch();
            self.memory().publish_image().unwrap();
            // An image of what all have is for those who come later.
            twin.is_published.set(epoch() != before);
        }
    }

    /// Makes a file that takes the place of the present replica one, too.
    pub(super) fn carry_over(&self, carried: &std::path::Path) {
        if self.twin.is_some() {
            carry_replica(&self.db(), carried, "import").unwrap();
        }
    }
}
