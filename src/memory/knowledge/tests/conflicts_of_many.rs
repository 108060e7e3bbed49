//! Tests of many values of one key: a conflict has them all, as many as fit.

use super::*;

const DEPTH: [Option<&str>; 2] = [Some("depth"), None];

fn value(nth: usize) -> String {
    format!("The queue depth is {nth} jobs.")
}

fn text(collision: &Value) -> &str {
    collision["text"].as_str().unwrap()
}

impl Case {
    /// States a value of that key; returns what is told of it.
    fn states_value(&self, nth: usize, attribute: Option<&str>, more: Value) -> Value {
        let mut fact = json!({"content": value(nth), "kind": "fact", "subject": "queue",
            "attribute": attribute});
        fact.as_object_mut().unwrap().append(&mut more.as_object().unwrap().clone());
        self.remember(fact)["results"][0].clone()
    }

    /// Imports values of one key.
    fn imports_values(&self, nths: std::ops::Range<usize>, attribute: Option<&str>) {
        let fact = |nth: usize| {
            json!({"id": format!("f{nth}"), "cluster_id": "c1", "attribute": attribute,
                "statement": value(nth),
                "valid_from": "2026-01-01T00:00:00Z", "created_at": "2026-01-01T00:00:00Z"})
        };
        let cluster = json!({"id": "c1", "title": "Facts about queue",
            "concept_type": "fact_cluster", "entity_ids": ["tool:queue"]});
        let facts: Vec<Value> = nths.map(fact).collect();
        let file = json!({"version": 4, "records": {"concepts": [cluster], "facts": facts}});
        self.import(&file.to_string());
    }

    /// How many statements each open conflict has.
    fn sizes_of_conflicts(&self) -> Vec<usize> {
        let open = self.conflicts_told().into_iter().filter(|it| it.0 == "open");
        open.map(|it| it.1.len()).collect()
    }

    fn facts(&self) -> Vec<crate::store::reader::KnowledgeRow> {
        let found = self.memory.read(|reader| {
            let keys = reader.nodes_with(&[FieldFilter::text("type", "fact")])?;
            reader.knowledge(&keys)
        });
        found.unwrap()
    }

    fn n_facts(&self) -> usize {
        self.facts().len()
    }

    fn n_contested(&self) -> usize {
        self.facts().iter().filter(|it| it.has("contested")).count()
    }
}

#[test]
fn up_to_200_values_of_one_key_are_one_conflict() {
    for attribute in DEPTH {
        let case = Case::new();
        case.imports_values(0..101, attribute);
        assert_eq!(case.sizes_of_conflicts(), [101]);
        case.imports_values(101..200, attribute);
        assert_eq!(case.sizes_of_conflicts(), [200]);
        assert_eq!(case.n_contested(), if attribute.is_some() { 200 } else { 0 });
        case.imports_values(200..201, attribute);
        let mut sizes = case.sizes_of_conflicts();
        sizes.sort_unstable();
        assert_eq!(sizes, [100, 200], "further ones open another");
    }
}

/// Each of many conflicts would be read again for each value that is in all of them.
#[test]
fn a_value_is_in_two_of_the_conflicts_of_many_that_come_at_once() {
    for attribute in DEPTH {
        let case = Case::new();
        case.imports_values(0..450, attribute);
        assert_eq!(case.sizes_of_conflicts(), [147, 200, 200, 200], "{attribute:?}");
    }
}

#[test]
fn a_value_contests_all_of_100_that_were_dismissed_among_themselves() {
    for attribute in DEPTH {
        let case = Case::new();
        case.imports_values(0..100, attribute);
        assert_eq!(case.sizes_of_conflicts(), [100]);
        case.apply(json!([{"op": "dismiss", "id": case.conflict()}]));
        case.states_value(100, attribute, json!({}));
        assert_eq!(case.sizes_of_conflicts(), [101]);
        assert_eq!(case.n_contested(), if attribute.is_some() { 101 } else { 0 });
    }
}

/// Otherwise the answers to many values of one key grow with the square of their number.
#[test]
fn an_answer_tells_of_the_newest_values_that_one_contradicts() {
    for attribute in DEPTH {
        let case = Case::new();
        case.imports_values(0..250, attribute);
        let stated = case.states_value(250, attribute, json!({}));
        let told: Vec<&str> = stated["collisions"].as_array().unwrap().iter().map(text).collect();
        let newest: Vec<String> = (240..250).map(value).collect();
        assert_eq!(told, newest);
    }
}

#[test]
fn a_value_that_is_stated_again_is_found_behind_many_newer_ones() {
    for attribute in DEPTH {
        let case = Case::new();
        case.imports_values(0..250, attribute);
        let n_before = case.n_facts();
        let stated = case.states_value(3, attribute, json!({}));
        assert_eq!(stated["conflict"], Value::Null, "{stated}");
        assert_eq!(case.n_facts(), n_before);
    }
}

#[test]
fn a_value_with_an_attribute_supersedes_all_of_many() {
    let case = Case::new();
    case.imports_values(0..250, DEPTH[0]);
    case.states_value(250, DEPTH[0], json!({"supersede": true}));
    let told = case.facts_told(json!({"query": "queue depth", "k": 1}));
    let current: Vec<&String> = told.iter().filter(|it| it.starts_with("current")).collect();
    assert_eq!(current, [&format!("current {}", value(250))]);
    assert_eq!(case.sizes_of_conflicts(), [0; 0]);
}
