//! Tests of what must not happen to knowledge: times that move, facts that mix, texts that go stale.

use super::*;
use crate::fuzzing::random_cases::Dice;
use crate::model::identity::NodeId;
use crate::text::tokens;

impl Case {
    /// Everything that is said of a node, apart from its heat.
    pub(super) fn said_of(&self, id: &str) -> (String, Value) {
        let row = self.memory.read(|it| it.knowledge_by_id(id)).unwrap().unwrap();
        let fields = row.fields.unwrap().into_object();
        (row.content, fields.into())
    }

    fn temperature(&self, id: &str) -> f64 {
        let row = self.memory.read(|it| it.knowledge_by_id(id)).unwrap().unwrap();
        row.heat.temperature
    }
}

#[test]
fn undoing_restores_pending_episodes_edges_and_validity() {
    let case = Case::new();
    let first = case.remember(json!({"items": [
        {"content": "The pool ran dry."}, {"content": "The pool ran dry again."},
        {"content": "The pool has 10 connections.", "kind": "fact", "subject": "pool",
         "attribute": "size"},
    ]}));
    let (episodes, fact) = ([id(&first, 0), id(&first, 1)], first["results"][2]["fact"].clone());
    let before: Vec<_> =
        [&episodes[0], &episodes[1], fact.as_str().unwrap()].map(|it| case.said_of(it)).into();
    assert_eq!(first["pending"], 2);
    let done = case.apply(json!([
        {"op": "concept", "as": "dry", "title": "Pools run dry", "summary": "At peaks.",
         "from": episodes},
        {"op": "evidence", "concept": "$dry", "episode": episodes[0], "type": "exemplifies"},
        {"op": "fact", "as": "now", "text": "The pool has 40 connections.", "subject": "pool",
         "attribute": "size", "supersede": true},
    ]));
    assert_eq!(done["pending"], 0);
    assert!(case.said_of(fact.as_str().unwrap()).1["valid_to"].is_i64());
    case.memory.rollback(1, false).unwrap();
    let after: Vec<_> =
        [&episodes[0], &episodes[1], fact.as_str().unwrap()].map(|it| case.said_of(it)).into();
    assert_eq!(before, after);
    let sheet = case.memory.review(&WorksheetRequest::parse(&Default::default()).unwrap()).unwrap();
    assert_eq!(sheet["pending"], json!({"total": 2, "shown": 2}));
    assert_eq!(case.titles(json!({"query": "pools run dry"})).len(), 2, "the episodes alone");
}

#[test]
fn recalling_moves_no_time_and_erases_nothing() {
    let case = Case::new();
    let kept = case.remember(json!({"items": [
        {"content": "The harbour lamp failed.", "at": "2026-03-01T00:00:00Z"},
        {"content": "The ledger was late."},
    ]}));
    let (asked, other) = (id(&kept, 0), id(&kept, 1));
    let before = [case.said_of(&asked), case.said_of(&other)];
    let cold = case.temperature(&other);
    for _ in 0..200 {
        assert_eq!(case.titles(json!({"query": "harbour lamp"})).len(), 1);
        case.clock.advance(1_000);
    }
    assert_eq!([case.said_of(&asked), case.said_of(&other)], before);
    assert_eq!(case.temperature(&other), cold, "recalls of others cool nothing");
}

#[test]
fn facts_of_one_subject_do_not_join_those_of_another() {
    let case = Case::new();
    for (subject, text) in [
        ("cache", "The cache of `billing` holds 10 MB."),
        ("queue", "The queue of `billing` holds 500 jobs."),
        ("cache", "The cache of `billing` has 2 replicas."),
    ] {
        case.remember(json!({"content": text, "kind": "fact", "subject": subject,
                             "entities": ["project:billing"]}));
    }
    let facts = |question: &str| -> Vec<String> {
        let answer = case.recall(json!({"query": question, "k": 1, "episodes": 0}));
        let facts = answer["items"][0]["facts"].as_array().unwrap().clone();
        facts.iter().map(|it| it["text"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(facts("queue jobs"), ["The queue of `billing` holds 500 jobs."]);
    assert_eq!(facts("cache replicas").len(), 2);
}

#[test]
fn an_edited_concept_is_found_by_its_new_words_only() {
    let case = Case::new();
    let made = case.apply(json!([
        {"op": "concept", "title": "Paint", "summary": "Cadmium makes it yellow."},
    ]));
    let concept = id(&made, 0);
    case.apply(json!([{"op": "update", "id": concept, "summary": "Ochre makes it brown."}]));
    assert_eq!(case.titles(json!({"query": "ochre brown"})), ["Paint"]);
    assert_eq!(case.titles(json!({"query": "cadmium yellow"})), [""; 0]);
}

#[test]
fn what_is_on_the_subject_is_ahead_of_what_shares_a_word() {
    let case = Case::new();
    case.apply(json!([
        {"op": "concept", "title": "Retries need backoff", "confidence": 0.5,
         "summary": "Retry timeouts with pauses that grow."},
        {"op": "concept", "title": "Facts about retry", "summary": "retry", "confidence": 1.0},
        {"op": "concept", "title": "Cache invalidation", "summary": "Keys of Redis have a TTL."},
    ]));
    assert_eq!(case.titles(json!({"query": "retry backoff timeouts"}))[0], "Retries need backoff");
    assert_eq!(case.titles(json!({"query": "cache ttl redis"})), ["Cache invalidation"]);
}

#[test]
fn a_concept_keeps_everything_that_it_is_given() {
    let case = Case::new();
    let made = case.apply(json!([
        {"op": "concept", "as": "a", "title": "Canaries", "summary": "Few first.",
         "kind": "procedure", "confidence": 0.4, "tags": ["deploy"],
         "conditions": "with traffic", "exceptions": ["migrations"]},
        {"op": "concept", "as": "b", "title": "Rollbacks", "summary": "Back again."},
        {"op": "link", "from": "$a", "to": "$b", "type": "causes", "strength": 0.35,
         "context": "at night"},
    ]));
    let (_, fields) = case.said_of(&id(&made, 0));
    assert_eq!(fields["kind"], "procedure");
    assert_eq!((&fields["confidence"], &fields["tags"]), (&json!(0.4), &json!(["deploy"])));
    assert_eq!(fields["conditions"], "with traffic");
    assert_eq!(fields["exceptions"], json!(["migrations"]));
    let link = &fields["links"][0];
    assert_eq!((&link["strength"], &link["context"]), (&json!(0.35), &json!("at night")));
}

#[test]
fn answers_name_nodes_in_eleven_characters() {
    let case = Case::new();
    let operations: Vec<Value> =
        (0..50).map(|nth| json!({"op": "remember", "content": format!("Event {nth}.")})).collect();
    let answer = case.apply(operations.into());
    assert!(NodeId::parse(&id(&answer, 0)).is_some());
    let n_tokens = tokens::count(&answer.to_string());
    assert!(n_tokens < 50 * 30, "{n_tokens} tokens for 50 nodes");
}

#[test]
fn edges_of_knowledge_are_followed_as_references_are() {
    let case = Case::new();
    let made = case.apply(json!([
        {"op": "concept", "as": "a", "title": "Canaries", "summary": "Few first."},
        {"op": "concept", "as": "b", "title": "Rollbacks", "summary": "Back again."},
        {"op": "link", "from": "$a", "to": "$b", "type": "implies", "strength": 0.7},
    ]));
    let related = |id: &str, weight_min: f64, direction: &str| {
        let query = crate::query::RelatedQuery {
            anchor: id,
            direction: crate::query::Direction::parse(direction).unwrap(),
            depth: None,
            weight_min,
            archived: crate::store::reader::ArchivedVisibility::Hidden,
        };
        let options = crate::query::QueryOptions::text(START);
        let query = crate::query::Query::Related(query);
        case.memory.read(|it| crate::query::answer(it, &query, &options)).unwrap().text
    };
    let (a, b) = (id(&made, 0), id(&made, 1));
    assert!(related(&a, 0.0, "out").contains("Rollbacks"));
    assert!(related(&b, 0.0, "in").contains("Canaries"));
    assert_eq!(related(&a, 0.8, "both"), "no related nodes");
    case.apply(json!([{"op": "delete", "id": b}]));
    assert_eq!(related(&a, 0.0, "both"), "no related nodes", "deleted nodes are no neighbours");
}

#[test]
fn episodes_are_recalled_after_they_were_consolidated() {
    let case = Case::new();
    let kept = case.remember(json!({"items": [
        {"content": "The crane stalled in the storm."}, {"content": "The crane stalled again."},
    ]}));
    let ids = [id(&kept, 0), id(&kept, 1)];
    case.apply(json!([
        {"op": "concept", "title": "Cranes stall", "summary": "In wind.", "from": ids},
    ]));
    let titles = case.titles(json!({"query": "crane stalled"}));
    assert!(titles.contains(&"The crane stalled in the storm.".to_owned()), "{titles:?}");
}

#[test]
fn a_worksheet_fits_its_budget_whatever_it_holds() {
    let case = Case::new();
    let mut dice = Dice::new(7);
    let alphabet: Vec<char> = "ab c\"\\\n\t🦀é漢`_@/.".chars().collect();
    let mut text = |n_max: usize| -> String {
        let n = 1 + dice.below(n_max);
        let body: String = (0..n).map(|_| *dice.pick(&alphabet)).collect();
        format!("x{body}")
    };
    let items: Vec<Value> = (0..25).map(|_| json!({"content": text(3_000)})).collect();
    case.remember(json!({"items": items}));
    let facts: Vec<Value> = (0..30)
        .map(|nth| {
            json!({"op": "fact", "subject": format!("s{}", nth / 2), "attribute": "a",
                   "text": text(2_000)})
        })
        .collect();
    case.apply(facts.into());
    let concepts: Vec<Value> = (0..20)
        .map(|_| json!({"op": "concept", "title": text(150), "summary": text(2_000)}))
        .collect();
    case.apply(concepts.into());
    for task in ["consolidate", "triage", "conflicts", "health"] {
        for budget in [800, 1_100, 1_999, 4_000, 30_000] {
            let args = json!({"task": task, "budget": budget});
            let request = WorksheetRequest::parse(args.as_object().unwrap()).unwrap();
            let sheet = case.memory.review(&request).unwrap();
            let n_tokens = tokens::count(&sheet.to_string());
            assert!(n_tokens <= budget, "{task}: {n_tokens} of {budget}");
        }
    }
}
