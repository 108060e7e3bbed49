//! Random operations on a memory and on a simple model of one: same tree, same history, same
//! fingerprints.
//!
//! `REMINDB_MODEL_SEEDS=100 REMINDB_MODEL_STEPS=1000` runs more of it, `make model` does.
//! A failure names its seed and lists what was done; `REMINDB_MODEL_SEED=7` does it again.

mod compiled;
mod model;
mod notes;
mod past;
mod seen;
mod world;

use world::World;

/// Histories of a plain test run, and the operations of each.
const N_SEEDS: u64 = 4;
const N_STEPS: usize = 100;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|it| it.parse().expect("a number"))
}

fn live(seed: u64, n_steps: usize) {
    let mut world = World::new(seed);
    (1..=n_steps).for_each(|nth| world.step(nth));
    world.check_health();
}

#[test]
fn a_memory_does_what_a_simple_model_of_it_does() {
    let n_steps = number("REMINDB_MODEL_STEPS").map_or(N_STEPS, |it| it as usize);
    if let Some(seed) = number("REMINDB_MODEL_SEED") {
        return live(seed, n_steps);
    }
    let n_seeds = number("REMINDB_MODEL_SEEDS").unwrap_or(N_SEEDS);
    let first = number("REMINDB_MODEL_FIRST").unwrap_or(1);
    (first..first + n_seeds).for_each(|seed| live(seed, n_steps));
}
