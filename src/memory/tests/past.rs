//! Checks of delta, diff and history against the model's copies of the past.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::model::{Changes, State};
use super::simulation::Simulation;
use crate::query::{self, Query};

const ALL: Option<u32> = Some(1_000_000);

/// Compares random parts of the past with the model.
#[track_caller]
pub(super) fn check(simulation: &mut Simulation) {
    let ids: Vec<i64> = simulation.model.snapshots.iter().map(|it| it.id).collect();
    let Some(from) = simulation.dice.pick_if_any(&ids) else { return };
    let to = simulation.dice.pick_if_any(&ids).unwrap().max(from);
    let delta = query::DeltaQuery { since: from, ..query::DeltaQuery::default() };
    let shown = simulation.memory().query_and_warm(&Query::Delta(delta), ALL).unwrap().structured;
    let changes = state(simulation, from).changes(&simulation.model.state);
    matches(&format!("delta since {from}"), &shown["changes"], &changes);
    let diff = query::DiffQuery { from, to, cursor: None };
    let shown = simulation.memory().query_and_warm(&Query::Diff(diff), ALL).unwrap().structured;
    let changes = state(simulation, from).changes(state(simulation, to));
    matches(&format!("diff from {from} to {to}"), &shown["changes"], &changes);
    let all: BTreeSet<&String> =
        simulation.model.snapshots.iter().flat_map(|it| it.state.nodes.keys()).collect();
    let all: Vec<String> = all.into_iter().cloned().collect();
    if let Some(id) = simulation.dice.pick_if_any(&all) {
        has_history(simulation, &id);
    }
}

fn state(simulation: &Simulation, at: i64) -> &State {
    &simulation.model.snapshots.iter().find(|it| it.id == at).unwrap().state
}

#[track_caller]
fn matches(what: &str, shown: &Value, changes: &Changes) {
    let mut shown: BTreeMap<&str, &str> = (shown.as_array().unwrap().iter())
        .map(|it| (it["id"].as_str().unwrap(), it["op"].as_str().unwrap()))
        .collect();
    for (id, op) in &changes.certain {
        assert_eq!(shown.remove(id.as_str()), Some(*op), "{what}: {id}");
    }
    for (id, op) in &shown {
        let is_moved = changes.shuffled.iter().any(|it| it.contains(*id));
        assert!(*op == "mod" && is_moved, "{what}: {id} is not what is entry: {op}");
    }
    for family in &changes.shuffled {
        let n_notified = family.iter().filter(|it| shown.contains_key(it.as_str())).count();
        let n_certain = family.iter().filter(|it| changes.certain.contains_key(*it)).count();
        assert!(0 < n_notified + n_certain, "{what}: the new order of {family:?} is not entry");
    }
}

/// Checks a node's history against the differences of successive copies.
#[track_caller]
fn has_history(simulation: &Simulation, id: &str) {
    let ask = query::HistoryQuery { anchor: id, depth: u32::MAX, cursor: None };
    let shown = simulation.memory().query_and_warm(&Query::History(ask), ALL).unwrap().structured;
    let mut entry: BTreeMap<i64, BTreeSet<&str>> = BTreeMap::new();
    for step in shown["history"].as_array().unwrap() {
        let at = step["snapshot"].as_i64().unwrap();
        entry.entry(at).or_default().insert(step["op"].as_str().unwrap());
    }
    for pair in simulation.model.snapshots.windows(2) {
        let at = pair[1].id;
        let changes = pair[0].state.changes(&pair[1].state);
        let ops = entry.remove(&at).unwrap_or_default();
        match changes.certain.get(id) {
            Some(op) => assert!(ops.contains(op), "{id} in snapshot {at}: {ops:?}, not {op}"),
            None => assert!(ops.iter().all(|it| *it == "mod"), "{id} in snapshot {at}: {ops:?}"),
        }
    }
}
