//! Model test: random operations on a memory and on a simple model must agree in all states.
//!
//! `REMINDB_MODEL_SEEDS=100 REMINDB_MODEL_STEPS=1000` runs more of it, as `make model` does. A
//! failure names its seed and lists the operations; `REMINDB_MODEL_SEED=7` repeats it.

mod cancelled_questions;
mod compiled;
mod model;
mod notes;
mod past;
mod seen;
#[cfg(feature = "shared")]
mod shared;
#[cfg(feature = "shared")]
mod shared_races;
mod simulation;

use simulation::Simulation;

use crate::fuzzing::random_cases::env_number;
use crate::memory::rollback::LaterSnapshotPolicy;
use crate::store::IfMissing;

/// Histories of a plain test run, and the operations of each.
const N_SEEDS: u64 = 3;
const N_STEPS: usize = 100;

fn simulate(seed: u64, n_steps: usize) {
    run(Simulation::new(seed), n_steps);
}

fn run(mut simulation: Simulation, n_steps: usize) {
    (1..=n_steps).for_each(|nth| simulation.step(nth));
    simulation.check_health();
    simulation.check_markdown();
}

/// Runs the histories that the environment asks for.
fn all(simulate: fn(u64, usize)) {
    let n_steps = env_number("REMINDB_MODEL_STEPS").unwrap_or(N_STEPS);
    if let Some(seed) = env_number("REMINDB_MODEL_SEED") {
        return simulate(seed, n_steps);
    }
    let n_seeds = env_number("REMINDB_MODEL_SEEDS").unwrap_or(N_SEEDS);
    let first = env_number("REMINDB_MODEL_FIRST").unwrap_or(1);
    (first..first + n_seeds).for_each(|seed| simulate(seed, n_steps));
}

#[test]
fn a_memory_does_what_a_simple_model_of_it_does() {
    all(simulate);
}

#[cfg(feature = "shared")]
#[test]
fn two_replicas_do_what_a_simple_model_of_one_memory_does() {
    all(|seed, n_steps| run(Simulation::of_two(seed), n_steps));
}

#[test]
fn an_agents_text_outlives_recompiles_restarts_and_rescans_until_a_rollback() {
    let mut simulation = Simulation::new(0);
    simulation.edit("a.md", "# A\n\nOne.\n");
    let id = simulation.id_of("One.");
    simulation.replace_by(&id, "Said.");
    simulation.check();
    for text in ["# A\n\nOne.\n\nTwo.\n", "# A\n\nTwo.\n\nOne.\n", "# A\n\nOne.\n"] {
        simulation.edit("a.md", text);
        simulation.open(IfMissing::Refuse);
        simulation.compile("again");
        simulation.check();
        assert_eq!(simulation.id_of("Said."), id);
    }
    simulation.rollback_to(1, LaterSnapshotPolicy::Keep);
    simulation.edit("a.md", "# A\n\nOne.\n\nThree.\n");
    assert_eq!(simulation.id_of("One."), id);
    simulation.check_health();
}

#[test]
fn a_b_a_by_write_by_file_and_by_rollback_is_one_fingerprint() {
    let mut simulation = Simulation::new(0);
    simulation.edit("a.md", "# A\n\nOne.\n");
    let id = simulation.id_of("One.");
    let fingerprint = simulation.model.state.fingerprint();
    simulation.replace_by(&id, "Said.");
    simulation.replace_by(&id, "One.");
    simulation.check();
    assert_eq!(simulation.model.state.fingerprint(), fingerprint);
    simulation.edit("a.md", "# A\n\nAnother.\n");
    simulation.edit("a.md", "# A\n\nOne.\n");
    assert_eq!(simulation.model.state.fingerprint(), fingerprint);
    simulation.rollback_to(2, LaterSnapshotPolicy::Keep);
    simulation.rollback_to(1, LaterSnapshotPolicy::Keep);
    simulation.check();
    assert_eq!(simulation.model.state.fingerprint(), fingerprint);
    assert_eq!(simulation.model.snapshots.len(), 7);
    simulation.check_health();
}
