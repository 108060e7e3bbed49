//! Tests of conflicts whose statements run out with time.

use super::*;
use crate::memory::knowledge::resource_json::stats_document;

const DAY: i64 = 86_400_000;

const ASKED: &str = "which port does the gateway listen on";

impl Case {
    /// Two values of the gateway's port, the first one until 2026-12-01, and their conflict.
    fn disputed_for_a_week(&self) -> [String; 3] {
        let first = self.port("The gateway listens on port 1.", json!({"valid_to": "2026-12-01"}));
        let second = self.port("The gateway listens on port 2.", json!({}));
        [&first["fact"], &second["fact"], &second["conflict"]]
            .map(|it| it.as_str().unwrap().to_owned())
    }

    /// How many conflicts each document has, told as open.
    fn n_open(&self) -> [usize; 4] {
        let now = self.clock.now();
        let listed = self.memory.read(|it| conflicts_document(it, ("open", now), 9)).unwrap();
        let stats = self.memory.read(|it| stats_document(it, now)).unwrap();
        let sheet = self.review(json!({"task": "conflicts"}));
        let health = self.review(json!({"task": "health"}));
        assert_eq!(sheet["pending"]["total"].as_u64(), stats["open_conflicts"].as_u64());
        let numbers = [&stats["open_conflicts"], &health["open_conflicts"]];
        let [stats, health] = numbers.map(|it| it.as_u64().unwrap() as usize);
        let n_of = |it: &Value| it["conflicts"].as_array().unwrap().len();
        [n_of(&listed), stats, n_of(&sheet), health]
    }

    #[track_caller]
    fn check_told(&self, as_of: Option<&str>, told: &[&str]) {
        let mut asked = json!({"query": ASKED});
        if let Some(day) = as_of {
            asked["as_of"] = day.into();
        }
        assert_eq!(self.facts_told(asked), told, "{as_of:?}");
    }
}

#[test]
fn a_conflict_that_has_run_out_reads_as_settled() {
    let case = Case::new();
    let [_, second, conflict] = case.disputed_for_a_week();
    assert_eq!(case.n_open(), [1; 4]);
    case.clock.advance(10 * DAY);
    assert_eq!(case.n_open(), [0; 4]);
    case.check_told(None, &["current The gateway listens on port 2."]);
    case.check_told(
        Some("2026-11-25"),
        &["contested The gateway listens on port 2.", "contested The gateway listens on port 1."],
    );
    let resolved = ("resolved", case.clock.now());
    let listed = case.memory.read(|it| conflicts_document(it, resolved, 9)).unwrap();
    assert_eq!(listed["conflicts"][0]["id"], conflict.as_str());
    assert_eq!(listed["conflicts"][0]["status"], "resolved");
    assert_eq!(case.field(&conflict, "conflict"), "open", "reading writes nothing");
    assert_eq!(case.field(&second, "contested"), true);
}

#[test]
fn a_conflict_that_has_run_out_is_ended_by_the_next_write() {
    let writes: [fn(&Case) -> Value; 3] = [
        |case| case.remember(json!({"content": "Nothing new."})),
        |case| case.remember(json!({"content": "It is blue.", "kind": "fact", "subject": "x"})),
        |case| case.apply(json!([{"op": "topic", "name": "Other"}])),
    ];
    for write in writes {
        let case = Case::new();
        let [first, second, conflict] = case.disputed_for_a_week();
        let again = json!({"content": "The gateway listens on port 2.", "kind": "fact",
            "subject": "gateway", "attribute": "port"});
        case.clock.advance(10 * DAY);
        assert_eq!(case.remember(again)["snapshot"], Value::Null, "nothing changes");
        assert_eq!(case.field(&conflict, "conflict"), "open");
        write(&case);
        assert_eq!(case.field(&conflict, "conflict"), "resolved");
        assert_eq!(case.field(&conflict, "winner"), second.as_str());
        for fact in [&first, &second] {
            assert_eq!(case.field(fact, "contested"), Value::Null);
        }
        assert_eq!(case.n_open(), [0; 4]);
        case.check_health();
    }
}

#[test]
fn a_conflict_of_three_goes_on_without_the_one_that_has_run_out() {
    let case = Case::new();
    let [_, _, conflict] = case.disputed_for_a_week();
    case.port("The gateway listens on port 3.", json!({}));
    case.clock.advance(10 * DAY);
    case.remember(json!({"content": "Nothing new."}));
    assert_eq!(case.field(&conflict, "conflict"), "open");
    assert_eq!(case.n_open(), [1; 4]);
    case.check_told(
        None,
        &["contested The gateway listens on port 3.", "contested The gateway listens on port 2."],
    );
}

#[test]
fn a_disputed_value_of_a_later_day_says_both() {
    let case = Case::new();
    let later = json!({"valid_from": "2026-12-01"});
    let planned = case.port("The gateway listens on port 9.", later.clone());
    case.check_told(None, &["future The gateway listens on port 9."]);
    let fact = |case: &Case, nth: usize| {
        case.recall(json!({"query": ASKED}))["items"][0]["facts"][nth].clone()
    };
    assert_eq!(fact(&case, 0)["contested"], Value::Null);
    case.port("The gateway listens on port 8.", later);
    for nth in [0, 1] {
        let fact = fact(&case, nth);
        assert_eq!((&fact["status"], &fact["contested"]), (&json!("future"), &json!(true)));
    }
    case.apply(json!([{"op": "delete", "id": planned["fact"]}]));
    assert_eq!(fact(&case, 0)["contested"], Value::Null);
}

#[test]
fn a_conflict_is_not_opened_about_what_is_over() {
    let case = Case::new();
    let over = case.port("The gateway listens on port 1.", json!({"valid_to": "2026-06-01"}));
    let now = case.port("The gateway listens on port 2.", json!({}));
    let [over, now] = [over, now].map(|it| it["fact"].as_str().unwrap().to_owned());
    assert_eq!(
        case.error(json!([{"op": "conflict", "a": now, "b": over}])),
        format!("`b` names `{over}`, which holds no more; a conflict is about what does")
    );
}
