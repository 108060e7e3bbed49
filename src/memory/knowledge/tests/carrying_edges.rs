//! Tests of edges in exports: Remind refuses none of them, and none of them is lost here.

use std::collections::BTreeSet;

use super::*;

/// The lists that members of records refer to, as Remind checks them.
const REFERENCES: [(&str, &[(&str, &str)]); 6] = [
    (
        "facts",
        &[
            ("cluster_id", "concepts"),
            ("source_episode_id", "episodes"),
            ("superseded_by", "facts"),
        ],
    ),
    ("evidence", &[("episode_id", "episodes"), ("concept_id", "concepts")]),
    ("mentions", &[("episode_id", "episodes"), ("entity_id", "entities")]),
    ("relations", &[("source_id", "concepts"), ("target_id", "concepts")]),
    ("entity_relations", &[("source_id", "entities"), ("target_id", "entities")]),
    ("conflicts", &[("fact_a_id", "facts"), ("fact_b_id", "facts"), ("winning_fact_id", "facts")]),
];

/// Checks an export as Remind does before it imports anything.
#[track_caller]
fn check_references(export: &str) {
    let export: Value = serde_json::from_str(export).unwrap();
    let list = |name: &str| export["records"][name].as_array().unwrap().clone();
    let require = |what: &str, name: &str, id: &Value| {
        let is_there = id.is_null() || list(name).iter().any(|it| it["id"] == *id);
        assert!(is_there, "{what}: no {id} in {name}");
    };
    for (name, members) in REFERENCES {
        for record in list(name) {
            for (member, target) in members {
                require(&format!("{name}.{member}"), target, &record[*member]);
            }
        }
    }
    for concept in list("concepts") {
        for episode in concept["data"]["source_episodes"].as_array().unwrap() {
            require("source_episodes", "episodes", episode);
        }
        for relation in concept["data"]["relations"].as_array().unwrap() {
            require("relations of a concept", "concepts", &relation["target_id"]);
        }
    }
    for conflict in list("conflicts") {
        let ids: Vec<Value> =
            serde_json::from_str(conflict["concept_ids"].as_str().unwrap()).unwrap();
        ids.iter().for_each(|it| require("concept_ids", "concepts", it));
    }
    for label in list("labels") {
        let of = format!("{}s", label["subject_type"].as_str().unwrap());
        require("labels", &of, &label["subject_id"]);
    }
    for fact in list("facts") {
        if let (Some(from), Some(to)) = (fact["valid_from"].as_str(), fact["valid_to"].as_str()) {
            assert!(from <= to, "{fact}");
        }
    }
}

impl Case {
    /// Every edge by the lines of its ends, and every label and end of a conflict.
    pub(super) fn edges_told(&self) -> BTreeSet<String> {
        let rows = self.memory.read(|reader| {
            let mut rows = Vec::new();
            for of in ["episode", "concept", "fact", "topic", "entity", "conflict"] {
                let keys = reader.nodes_with(&[FieldFilter::text("type", of)])?;
                rows.extend(reader.knowledge(&keys)?);
            }
            Ok::<_, crate::store::StoreError>(rows)
        });
        let rows = rows.unwrap();
        let line = |id: &str| {
            let row = rows.iter().find(|it| it.id == id);
            row.map_or(id.to_owned(), |it| format!("{} {}", it.node_type, it.title()))
        };
        let mut told = BTreeSet::new();
        for row in rows.iter().filter(|it| !it.has("merged_into")) {
            let fields = row.fields.as_ref().unwrap();
            let links = fields.get("links").and_then(Value::as_array).into_iter().flatten();
            for link in links {
                told.insert(format!(
                    "{} {} {} {} {}",
                    line(&row.id),
                    link["type"].as_str().unwrap(),
                    line(link["to"].as_str().unwrap()),
                    link["strength"],
                    link["context"]
                ));
            }
            for end in ["superseded_by", "winner"] {
                told.extend(
                    row.text(end).map(|it| format!("{} {end} {}", line(&row.id), line(it))),
                );
            }
            for key in ["labels", "conflict"] {
                told.extend(fields.get(key).map(|it| format!("{} {key} {it}", line(&row.id))));
            }
        }
        told
    }
}

/// Two concepts, two episodes, a fact, a topic, two entities and edges between them.
#[track_caller]
fn check(operations: Value) {
    let case = Case::new();
    let mut all = json!([
        {"op": "topic", "as": "T", "name": "Sailing"},
        {"op": "concept", "as": "A", "title": "Alpha", "summary": "Kestrels hover."},
        {"op": "concept", "as": "B", "title": "Beta", "summary": "They hover over fields."},
        {"op": "remember", "as": "E", "content": "The meeting went well."},
        {"op": "remember", "as": "F", "content": "It was postponed."},
        {"op": "entity", "as": "N", "name": "tool:kettle"},
        {"op": "entity", "as": "M", "name": "person:Nora"},
        {"op": "fact", "as": "S", "text": "The port is 1.", "subject": "relay",
            "attribute": "port"},
    ]);
    all.as_array_mut().unwrap().extend(operations.as_array().unwrap().clone());
    case.apply(all);
    let export = case.export();
    check_references(&export);
    let carried = case.carried();
    assert_eq!(carried.edges_told(), case.edges_told());
    assert_eq!(carried.import(&export).snapshot, None);
    check_references(&carried.export());
    assert_eq!(carried.carried().edges_told(), case.edges_told());
    crate::maintenance::doctor::assert_healthy(&carried.folder.path().join("memory.db"));
}

#[test]
fn edges_between_any_kinds_are_carried() {
    for (from, to) in [
        ("E", "F"),
        ("E", "A"),
        ("E", "S"),
        ("E", "T"),
        ("E", "N"),
        ("S", "A"),
        ("S", "E"),
        ("S", "N"),
        ("A", "B"),
        ("A", "E"),
        ("A", "S"),
        ("A", "T"),
        ("A", "N"),
        ("N", "A"),
        ("N", "M"),
    ] {
        check(json!([{"op": "link", "from": format!("${from}"), "to": format!("${to}"),
            "type": "implies", "strength": 0.3, "context": "at night"}]));
    }
    check(json!([{"op": "link", "from": "$A", "to": "$B", "type": "derived_from"}]));
    check(json!([{"op": "relate", "from": "$N", "to": "$A", "type": "owns"}]));
    check(json!([{"op": "relate", "from": "$N", "to": "$M", "type": "owns"}]));
    check(json!([{"op": "evidence", "concept": "$A", "episode": "$E", "type": "supports"}]));
}

#[test]
fn conflicts_of_concepts_and_of_episodes_are_carried() {
    for (a, b) in [("A", "B"), ("E", "F")] {
        let conflict =
            json!({"op": "conflict", "as": "k", "a": format!("${a}"), "b": format!("${b}")});
        check(json!([conflict]));
        check(json!([conflict, {"op": "resolve", "id": "$k", "winner": format!("${a}")}]));
        check(json!([conflict, {"op": "dismiss", "id": "$k"}]));
    }
}

#[test]
fn what_was_replaced_and_labelled_is_carried() {
    check(json!([{"op": "supersede", "old": "$E", "new": "$F"}]));
    check(json!([{"op": "supersede", "old": "$A", "new": "$B"}]));
    check(json!([{"op": "fact", "text": "The port is 2.", "subject": "relay",
        "attribute": "port", "supersede": true}]));
    check(json!([{"op": "label", "id": "$S", "key": "k", "value": "v"}]));
    check(json!([{"op": "delete", "id": "$S"}]));
}

#[test]
fn a_planned_fact_that_was_deleted_ends_after_it_begins() {
    let case = Case::new();
    let planned = case.remember(json!({"content": "The port is 2.", "kind": "fact",
        "subject": "relay", "attribute": "port", "valid_from": "2027-01-01"}));
    case.apply(json!([{"op": "delete", "id": planned["results"][0]["fact"]}]));
    check_references(&case.export());
    let carried = case.carried();
    assert_eq!(carried.import(&case.export()).kept, [""; 0]);
    let fact: Value = serde_json::from_str(&carried.export()).unwrap();
    assert_eq!(fact["fact_fields"][0]["valid_to"], Value::Null);
}

#[test]
fn what_was_merged_is_named_by_what_stands_for_it() {
    let case = Case::new();
    case.apply(json!([
        {"op": "concept", "as": "A", "title": "Alpha", "summary": "Kestrels hover."},
        {"op": "concept", "as": "B", "title": "Beta", "summary": "They hover over fields."},
        {"op": "concept", "as": "C", "title": "Gamma", "summary": "Over fields they hover."},
        {"op": "link", "from": "$C", "to": "$A", "type": "implies"},
        {"op": "conflict", "a": "$A", "b": "$C"},
        {"op": "merge", "from": ["$A"], "into": "$B"},
    ]));
    check_references(&case.export());
    let counted = case.memory.read(|it| export_remind(it, &mut Vec::new())).unwrap().unwrap();
    assert_eq!(counted.n_left_out, 0);
    let told = case.carried().edges_told();
    for edge in ["concept Gamma implies concept Beta", "disputes concept Beta"] {
        assert!(told.iter().any(|it| it.contains(edge)), "{edge} in {told:?}");
    }
}

#[test]
fn edges_to_what_is_not_exported_are_counted() {
    let case = Case::new();
    let made = case.remember(json!({"items": [
        {"content": "I like tea.", "kind": "core"}, {"content": "Tea again."},
    ]}));
    let concept =
        case.apply(json!([{"op": "concept", "as": "c", "title": "Tea", "summary": "Green."}]));
    case.apply(json!([
        {"op": "link", "from": id(&concept, 0), "to": id(&made, 0), "type": "implies"},
    ]));
    let counted = case.memory.read(|it| export_remind(it, &mut Vec::new())).unwrap().unwrap();
    assert_eq!(counted.n_left_out, 1);
}
