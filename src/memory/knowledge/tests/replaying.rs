use super::*;
use crate::maintenance::gc::{GcMode, SnapshotRetentionPolicy};
use crate::memory::ForgetChildrenMode;

/// A day in milliseconds.
const DAY: i64 = 24 * 60 * 60 * 1000;

impl Case {
    /// Forgets every snapshot but the newest.
    fn forget_the_past(&self) {
        let now = self.clock.now();
        self.memory
            .writer
            .collect(SnapshotRetentionPolicy::Last(1), GcMode::Real, now, i64::MAX)
            .unwrap();
    }

    fn n_concepts(&self) -> usize {
        let concepts = &[FieldFilter::text("type", "concept")];
        self.memory.read(|it| it.nodes_with(concepts)).unwrap().len()
    }

    /// Makes the concept of a key, and returns the answer.
    #[track_caller]
    fn concept_of_key(&self, key: &str) -> Value {
        let concept =
            json!({"op": "concept", "title": "Pauses", "summary": "Retries need pauses."});
        self.try_apply(json!({"key": key, "operations": [concept]})).unwrap()
    }
}

#[test]
fn a_receipt_outlives_its_snapshot() {
    let case = Case::new();
    let made = case.concept_of_key("k");
    case.remember(json!({"content": "Later."}));
    case.forget_the_past();
    assert_eq!((&case.concept_of_key("k")["results"], case.n_concepts()), (&made["results"], 1));
    assert_eq!(case.concept_of_key("k")["snapshot"], made["snapshot"]);
    let error = case.try_apply(json!({"key": "k", "operations": [{"op": "processed", "ids": []}]}));
    assert!(MemoryError::from(error.unwrap_err()).message.contains("used for another request"));
}

#[test]
fn a_receipt_of_a_forgotten_snapshot_is_kept_for_a_month() {
    let case = Case::new();
    case.concept_of_key("old");
    case.clock.advance(29 * DAY);
    case.concept_of_key("young");
    case.remember(json!({"content": "Later."}));
    case.clock.advance(2 * DAY);
    case.forget_the_past();
    case.concept_of_key("young");
    assert_eq!(case.n_concepts(), 2);
    case.concept_of_key("old");
    assert_eq!(case.n_concepts(), 3);
    // As long as its snapshot is there, it is as old as it wants.
    case.clock.advance(400 * DAY);
    case.forget_the_past();
    case.concept_of_key("old");
    assert_eq!(case.n_concepts(), 3);
}

#[test]
fn a_key_replays_where_the_undo_of_its_request_is_undone() {
    let case = Case::new();
    case.remember(json!({"content": "Before."}));
    let made = case.concept_of_key("k");
    case.memory.rollback(1, false).unwrap();
    case.memory.rollback(2, false).unwrap();
    assert_eq!((&case.concept_of_key("k")["results"], case.n_concepts()), (&made["results"], 1));
    // Undone by another way, and made again: each state knows its own.
    case.memory.rollback(3, false).unwrap();
    assert_eq!(case.n_concepts(), 0);
    case.clock.advance(1_000);
    let again = case.concept_of_key("k");
    assert_eq!((&again["snapshot"], case.n_concepts()), (&json!(6), 1));
    case.memory.rollback(4, false).unwrap();
    assert_eq!((&case.concept_of_key("k")["snapshot"], case.n_concepts()), (&json!(2), 1));
    case.memory.rollback(6, false).unwrap();
    assert_eq!((&case.concept_of_key("k")["snapshot"], case.n_concepts()), (&json!(6), 1));
}

#[test]
fn what_is_undone_stays_so_when_its_snapshots_are_forgotten() {
    let case = Case::new();
    case.remember(json!({"content": "Before."}));
    case.concept_of_key("k");
    case.memory.rollback(1, false).unwrap();
    case.memory.rollback(2, false).unwrap();
    case.memory.rollback(1, false).unwrap();
    let now = case.clock.now();
    case.memory
        .writer
        .collect(SnapshotRetentionPolicy::Last(2), GcMode::Real, now, i64::MAX)
        .unwrap();
    case.memory.rollback(4, false).unwrap();
    case.concept_of_key("k");
    assert_eq!(case.n_concepts(), 1);
    case.memory.rollback(5, false).unwrap();
    assert_eq!(case.n_concepts(), 0);
    case.concept_of_key("k");
    assert_eq!(case.n_concepts(), 1);
}

#[test]
fn what_a_rollback_drops_takes_its_receipts_along() {
    let case = Case::new();
    case.remember(json!({"content": "Before."}));
    case.concept_of_key("k");
    case.memory.rollback(1, false).unwrap();
    case.memory.rollback(1, true).unwrap();
    case.concept_of_key("k");
    assert_eq!(case.n_concepts(), 1);
}

/// What was asked for in vain in a state that is undone may be needed again.
#[test]
fn a_request_that_changed_nothing_is_undone_with_what_made_it_needless() {
    let case = Case::new();
    case.remember(json!({"content": "Before."}));
    case.remember(json!({"content": "Deployed v2."}));
    let keyed = json!({"content": "Deployed v2.", "key": "deploy-2"});
    assert_eq!(case.remember(keyed.clone())["snapshot"], Value::Null);
    assert_eq!(case.remember(keyed.clone())["results"][0]["created"], false);
    case.memory.rollback(1, false).unwrap();
    assert_eq!(case.remember(keyed)["results"][0]["created"], true);
}

#[test]
fn a_rollback_to_an_equal_state_lets_requests_be_made_again() {
    let case = Case::new();
    case.remember(json!({"content": "Before."}));
    let made = case.remember(json!({"content": "Deployed v2.", "key": "deploy-2"}));
    let forgotten = case.memory.forget(&id(&made, 0), ForgetChildrenMode::Strict).unwrap();
    assert!(forgotten.text.starts_with("forgot node"), "{}", forgotten.text);
    case.memory.rollback(1, false).unwrap();
    let again = case.remember(json!({"content": "Deployed v2.", "key": "deploy-2"}));
    assert_eq!(again["results"][0]["created"], true);
}
