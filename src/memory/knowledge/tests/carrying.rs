//! Tests of knowledge that is carried from and to the form of Remind.

use super::*;
use crate::maintenance::transfer::RemindRecords;

impl Case {
    fn import(&self, export: &str) {
        let path = self.folder.path().join("export.json");
        std::fs::write(&path, export).unwrap();
        let records = RemindRecords::read(&path, &self.folder.path().join("memory.db")).unwrap();
        self.memory.import_remind(records, "import", &mut |_, _| ()).unwrap();
    }

    /// A memory of what this one exports.
    fn carried(&self) -> Case {
        let mut export = Vec::new();
        self.memory.read(|it| export_remind(it, &mut export)).unwrap().unwrap();
        let case = Case::new();
        case.import(std::str::from_utf8(&export).unwrap());
        case
    }
}

#[test]
fn what_an_imported_edge_replaced_gives_way() {
    let case = Case::new();
    let edge = |to: &str| json!([{"type": "supersedes", "target_id": to}]);
    let export = |of_old: Value| {
        let concept = |id: &str, title: &str, summary: &str, relations: Value| json!({"id": id, "title": title, "summary": summary, "relations": relations});
        let concepts = [
            concept("cccc0001", "Old way", "Kestrels deploy by hand.", of_old),
            concept("cccc0002", "New way", "A pipeline.", edge("cccc0001")),
        ];
        json!({"version": 3, "episodes": [], "concepts": concepts}).to_string()
    };
    case.import(&export(json!([])));
    let asked = json!({"query": "kestrels deploy by hand"});
    assert_eq!(case.titles(asked.clone()), ["New way"]);
    let both_ways = Case::new();
    both_ways.import(&export(edge("cccc0002")));
    assert_eq!(both_ways.titles(asked).len(), 1, "each replaces the other: one of them stands");
}

#[test]
fn replaced_concepts_and_episodes_stay_replaced_elsewhere() {
    let case = Case::new();
    case.apply(json!([
        {"op": "concept", "as": "a", "title": "Old way", "summary": "Kestrels deploy by hand."},
        {"op": "concept", "as": "b", "title": "New way", "summary": "A pipeline."},
        {"op": "supersede", "old": "$a", "new": "$b"},
        {"op": "remember", "as": "c", "content": "The glacier melts two metres a year."},
        {"op": "remember", "as": "d", "content": "It is three by now."},
        {"op": "supersede", "old": "$c", "new": "$d"},
    ]));
    let carried = case.carried();
    for question in ["kestrels deploy by hand", "glacier melts"] {
        let asked = json!({"query": question, "include": ["superseded"]});
        assert_eq!(carried.titles(asked.clone()), case.titles(asked));
        let asked = json!({"query": question});
        assert_eq!(carried.titles(asked.clone()), case.titles(asked));
    }
}
