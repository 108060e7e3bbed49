//! Tests of many values of one key: a conflict has them all, as many as fit.

use super::*;

const DEPTH: [Option<&str>; 2] = [Some("depth"), None];

impl Case {
    /// Imports values of one key.
    fn imports_values(&self, nths: std::ops::Range<usize>, attribute: Option<&str>) {
        let fact = |nth: usize| {
            json!({"id": format!("f{nth}"), "cluster_id": "c1", "attribute": attribute,
                "statement": format!("The queue depth is {nth} jobs."),
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

    fn n_contested(&self) -> usize {
        let found = self.memory.read(|reader| {
            let keys = reader.nodes_with(&[FieldFilter::text("type", "fact")])?;
            reader.knowledge(&keys)
        });
        found.unwrap().iter().filter(|it| it.has("contested")).count()
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
        case.remember(json!({"content": "The queue depth is 100 jobs.", "kind": "fact",
            "subject": "queue", "attribute": attribute}));
        assert_eq!(case.sizes_of_conflicts(), [101]);
        assert_eq!(case.n_contested(), if attribute.is_some() { 101 } else { 0 });
    }
}
