//! Tests of knowledge that is carried from and to the form of Remind.

use super::*;
use crate::maintenance::transfer::RemindRecordLists;
use crate::memory::dry_run::WriteOrDryRun;

impl Case {
    pub(super) fn import(&self, export: &str) -> KnowledgeImportReport {
        let path = self.folder.path().join("export.json");
        std::fs::write(&path, export).unwrap();
        let records =
            RemindRecordLists::read(&path, &self.folder.path().join("memory.db")).unwrap();
        self.memory.import_remind(records, "import", WriteOrDryRun::Write, &mut |_, _| ()).unwrap()
    }

    pub(super) fn export(&self) -> String {
        let mut export = Vec::new();
        self.memory.read(|it| export_remind(it, &mut export)).unwrap().unwrap();
        String::from_utf8(export).unwrap()
    }

    /// A memory of what this one exports.
    pub(super) fn carried(&self) -> Case {
        let case = Case::new();
        case.import(&self.export());
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

fn of_gateway(text: &str, attribute: &str) -> Value {
    json!({"content": text, "kind": "fact", "subject": "gateway", "attribute": attribute,
        "entities": ["tool:Alpha", "person:Ana"]})
}

#[test]
fn facts_keep_their_subject_elsewhere() {
    let case = Case::new();
    case.remember(of_gateway("The gateway listens on port 1.", "port"));
    let carried = case.carried();
    let again = carried.remember(of_gateway("The gateway listens on port 2.", "port"));
    assert!(again["results"][0]["conflict"].is_string(), "{again}");
    let twice = carried.carried();
    let third = twice.remember(of_gateway("The gateway listens on port 3.", "port"));
    assert!(third["results"][0]["conflict"].is_string(), "{third}");
    assert_eq!(twice.tree().matches("Facts about").count(), 1, "{}", twice.tree());
}

/// Remind refuses a fact with any other key.
const KEYS_OF_FACTS: [&str; 12] = [
    "id",
    "cluster_id",
    "statement",
    "attribute",
    "entity_ids",
    "valid_from",
    "valid_to",
    "superseded_by",
    "asserted_by",
    "source_ref",
    "source_episode_id",
    "created_at",
];

#[test]
fn facts_are_exported_with_the_keys_that_remind_knows() {
    let case = Case::new();
    case.remember(of_gateway("The gateway listens on port 1.", "port"));
    let export: Value = serde_json::from_str(&case.export()).unwrap();
    let fact = export["records"]["facts"][0].as_object().unwrap();
    assert_eq!(fact.keys().map(String::as_str).collect::<Vec<_>>(), KEYS_OF_FACTS);
}

#[test]
fn facts_without_their_cluster_come_below_that_of_their_subject() {
    let case = Case::new();
    case.remember(of_gateway("The gateway listens on port 1.", "port"));
    let fact = |id: &str, statement: &str, entities: Value| json!({"id": id, "cluster_id": "gone", "statement": statement, "entity_ids": entities});
    let facts = json!([
        fact("f1", "The gateway listens on port 2.", json!(["subject:gateway"])),
        fact("f2", "The kettle is red.", json!(["tool:kettle"])),
        fact("f3", "It is blue.", json!([])),
    ]);
    let export = json!({"version": 4, "records": {"facts": facts}}).to_string();
    let report = case.import(&export);
    assert_eq!(report.added["facts"], 2);
    assert_eq!(report.refused, ["facts/f3: its cluster is not there, and it names no entity"]);
    assert_eq!(case.import(&export).added, Default::default());
    let tree = case.tree();
    for title in ["Facts about gateway", "Facts about kettle"] {
        assert_eq!(tree.matches(title).count(), 1, "{title} in\n{tree}");
    }
    let told = case.facts_told(json!({"query": "gateway port", "episodes": 0}));
    assert_eq!(told.len(), 2, "{told:?}");
}

#[test]
fn a_deleted_fact_stays_deleted_elsewhere_and_can_be_restored() {
    let case = Case::new();
    let first = case.remember(of_gateway("The gateway listens on port 1.", "port"));
    case.apply(json!([{"op": "delete", "id": first["results"][0]["fact"]}]));
    let carried = case.carried();
    let second = carried.remember(of_gateway("The gateway listens on port 2.", "port"));
    assert_eq!(second["results"][0]["conflict"], Value::Null);
    let all = json!({"query": "gateway port", "include": ["deleted"], "episodes": 0});
    let told = carried.facts_told(all.clone());
    assert!(told.contains(&"deleted The gateway listens on port 1.".to_owned()), "{told:?}");
    let facts = carried.recall(all)["items"].clone();
    let facts = facts.as_array().unwrap().iter().flat_map(|it| it["facts"].as_array().unwrap());
    let deleted = facts.clone().find(|it| it["status"] == "deleted").unwrap()["id"].clone();
    carried.apply(json!([{"op": "restore", "id": deleted}]));
    assert_eq!(carried.field(deleted.as_str().unwrap(), "contested"), true);
}

#[test]
fn a_replacement_of_a_later_day_is_carried() {
    let case = Case::new();
    case.remember(of_gateway("The gateway listens on port 1.", "port"));
    let mut later = of_gateway("The gateway listens on port 2.", "port");
    later["valid_from"] = "2026-12-01".into();
    later["supersede"] = true.into();
    case.remember(later);
    let carried = case.carried();
    let asked = json!({"query": "gateway port"});
    assert_eq!(carried.facts_told(asked.clone()), case.facts_told(asked));
}

#[test]
fn what_is_imported_is_contested_by_what_is_there() {
    let other = Case::new();
    other.remember(of_gateway("The gateway listens on port 1.", "port"));
    other.remember(of_gateway("Ana owns the gateway.", "owner"));
    let case = Case::new();
    let own = case.remember(of_gateway("The gateway listens on port 2.", "port"));
    let mut export = Vec::new();
    other.memory.read(|it| export_remind(it, &mut export)).unwrap().unwrap();
    let export = std::str::from_utf8(&export).unwrap();
    case.import(export);
    assert_eq!(case.field(own["results"][0]["fact"].as_str().unwrap(), "contested"), true);
    case.import(export);
    let conflicts = case.memory.read(|it| conflicts_document(it, ("all", START), 9)).unwrap();
    let conflicts = conflicts["conflicts"].as_array().unwrap();
    assert_eq!(conflicts.len(), 1, "{conflicts:?}");
    assert_eq!(conflicts[0]["facts"].as_array().unwrap().len(), 2);
}

#[test]
fn imported_values_without_an_attribute_are_compared_too() {
    let case = Case::new();
    case.remember(json!({
        "content": "The request timeout is 30 s.", "kind": "fact", "subject": "gateway",
    }));
    let cluster = json!({
        "id": "cccc0001", "title": "Gateway Facts", "concept_type": "fact_cluster",
        "entity_ids": ["tool:gateway"],
        "specifics": ["The request timeout is 45 s.", "The gateway was written by Ana."],
    });
    case.import(&json!({"version": 3, "episodes": [], "concepts": [cluster]}).to_string());
    let conflicts = case.memory.read(|it| conflicts_document(it, ("open", START), 9)).unwrap();
    let conflicts = conflicts["conflicts"].as_array().unwrap();
    assert_eq!(conflicts.len(), 1, "{conflicts:?}");
    assert_eq!(conflicts[0]["severity"], "low");
    assert_eq!(conflicts[0]["facts"].as_array().unwrap().len(), 2);
}

#[test]
fn what_was_changed_elsewhere_is_told_and_kept_as_it_is_here() {
    let backoff =
        |summary: &str| json!([{"op": "concept", "title": "Backoff", "summary": summary}]);
    let other = Case::new();
    let fact = other.remember(of_gateway("The gateway listens on port 1.", "port"));
    let fact = fact["results"][0]["fact"].as_str().unwrap().to_owned();
    let concept = id(&other.apply(backoff("Retry slowly.")), 0);
    let case = other.carried();
    assert_eq!(case.import(&other.export()).kept, [""; 0]);
    other.apply(json!([
        {"op": "update", "id": fact, "content": "The gateway listens on port 9."},
        {"op": "update", "id": concept, "title": "Backoff", "summary": "Never retry.",
            "tags": ["net"]},
    ]));
    let report = case.import(&other.export());
    assert_eq!(report.snapshot, None);
    let [of_fact, of_concept] = &report.kept[..] else { panic!("{:?}", report.kept) };
    assert!(of_concept.starts_with(&format!("concepts/{concept}: ")), "{of_concept}");
    assert!(of_concept.ends_with(" differs in text, tags; it is kept"), "{of_concept}");
    assert!(of_fact.starts_with(&format!("facts/{fact}: ")), "{of_fact}");
    assert!(of_fact.ends_with(" differs in text; it is kept"), "{of_fact}");
    assert_eq!(report.differing, [("concepts", 1), ("facts", 1)].into());
    assert_eq!(report.known.get("facts"), None);
    assert_eq!(other.import(&other.export()).kept, [""; 0], "it is what it is");
}

#[test]
fn other_names_of_a_thing_are_carried() {
    let case = Case::new();
    case.apply(json!([
        {"op": "entity", "as": "e", "name": "tool:gateway"},
        {"op": "alias", "id": "$e", "name": "GW"},
        {"op": "entity", "as": "f", "name": "front door"},
        {"op": "merge", "from": ["$f"], "into": "$e"},
    ]));
    case.remember(of_gateway("The gateway listens on port 1.", "port"));
    let carried = case.carried();
    for (nth, name) in ["gw", "Front Door"].into_iter().enumerate() {
        let mut fact = of_gateway(&format!("It listens on port {}.", nth + 2), "port");
        fact["subject"] = name.into();
        let told = carried.remember(fact);
        assert!(told["results"][0]["conflict"].is_string(), "{name}: {told}");
    }
    let mut again = Vec::new();
    carried.memory.read(|it| export_remind(it, &mut again)).unwrap().unwrap();
    carried.import(std::str::from_utf8(&again).unwrap());
    crate::maintenance::doctor::assert_healthy(&carried.folder.path().join("memory.db"));
}

#[test]
fn many_imported_values_of_one_key_are_one_conflict() {
    let other = Case::new();
    for port in 1..=3 {
        other.remember(of_gateway(&format!("The gateway listens on port {port}."), "port"));
    }
    let mut export = Vec::new();
    other.memory.read(|it| export_remind(it, &mut export)).unwrap().unwrap();
    let mut export: Value = serde_json::from_slice(&export).unwrap();
    export["records"]["conflicts"] = json!([]);
    let case = Case::new();
    case.remember(of_gateway("The gateway listens on port 4.", "port"));
    case.import(&export.to_string());
    let conflicts = case.memory.read(|it| conflicts_document(it, ("open", START), 9)).unwrap();
    let conflicts = conflicts["conflicts"].as_array().unwrap();
    assert_eq!(conflicts.len(), 1, "{conflicts:?}");
    assert_eq!(conflicts[0]["facts"].as_array().unwrap().len(), 4);
    let told = case.facts_told(json!({"query": "which port does the gateway listen on"}));
    assert!(told.iter().all(|it| it.starts_with("contested")), "{told:?}");
    crate::maintenance::doctor::assert_healthy(&case.folder.path().join("memory.db"));
}

#[test]
fn every_name_of_a_renamed_and_merged_entity_is_known_elsewhere() {
    let case = Case::new();
    let done = case.apply(json!([
        {"op": "entity", "as": "a", "name": "tool:Postgres"},
        {"op": "entity", "as": "b", "name": "tool:Elephant"},
        {"op": "alias", "id": "$b", "name": "pg"},
    ]));
    let [a, b] = [0, 1].map(|nth| id(&done, nth));
    case.apply(json!([{"op": "update", "id": b, "title": "PgServer"}]));
    case.apply(json!([{"op": "update", "id": b, "title": "Postgres server"}]));
    case.apply(json!([{"op": "merge", "from": [b], "into": a}]));
    let names = ["Postgres", "Elephant", "pg", "PgServer", "Postgres server"];
    for case in [&case, &case.carried(), &case.carried().carried()] {
        let entities = case.memory.read(entities_document).unwrap()["entities"].clone();
        assert_eq!(entities.as_array().unwrap().len(), 1, "{entities}");
        let made = names.map(|it| id(&case.apply(json!([{"op": "entity", "name": it}])), 0));
        assert_eq!(made, made.each_ref().map(|_| made[0].clone()));
    }
}

#[test]
fn a_conflict_without_a_note_has_none_elsewhere() {
    let case = Case::new();
    case.remember(of_gateway("The gateway listens on port 1.", "port"));
    case.remember(of_gateway("The gateway listens on port 2.", "port"));
    let [here, there] = [&case, &case.carried()].map(|it| {
        let conflicts =
            it.memory.read(|reader| conflicts_document(reader, ("all", START), 10)).unwrap();
        let conflict = &conflicts["conflicts"][0];
        (conflict["about"].clone(), conflict["note"].clone())
    });
    assert_eq!(here, (json!("gateway / port"), Value::Null));
    assert_eq!(there, here);
}

#[test]
fn values_that_contradict_are_a_conflict_however_they_come() {
    let texts = ["The relay timeout is 30 s.", "The relay timeout is 60 s."];
    let said = Case::new();
    for text in texts {
        said.remember(json!({"content": text, "kind": "fact", "subject": "relay"}));
    }
    let imported = Case::new();
    let records = json!({"version": 3, "episodes": [], "concepts": [{
        "id": "cccc0001", "title": "Facts", "summary": "relay", "concept_type": "fact_cluster",
        "entity_ids": ["subject:relay"], "specifics": texts,
    }]});
    imported.import(&records.to_string());
    let conflicts = |case: &Case| {
        let found = case.memory.read(|it| conflicts_document(it, ("open", START), 9)).unwrap();
        let of = |it: &Value| {
            let facts = it["facts"].as_array().unwrap().iter();
            let mut texts: Vec<String> = facts.map(|it| it["text"].to_string()).collect();
            texts.sort();
            (it["severity"].clone(), texts)
        };
        found["conflicts"].as_array().unwrap().iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(conflicts(&said), [(json!("low"), texts.map(|it| json!(it).to_string()).to_vec())]);
    for case in [&imported, &said.carried(), &imported.carried()] {
        assert_eq!(conflicts(case), conflicts(&said));
    }
    imported.import(&records.to_string());
    assert_eq!(conflicts(&imported), conflicts(&said), "the same again");
    let open = said.memory.read(|it| conflicts_document(it, ("open", START), 9)).unwrap();
    said.apply(json!([{"op": "dismiss", "id": open["conflicts"][0]["id"]}]));
    assert_eq!(conflicts(&said.carried()), [], "what was dismissed stays so");
}

#[test]
fn an_import_finds_contradictions_however_large_a_cluster_is() {
    let case = Case::new();
    let fact = |nth: usize, text: String| {
        json!({"id": format!("f{nth}"), "cluster_id": "c", "statement": text,
            "entity_ids": "[\"tool:plant\"]", "valid_from": "2026-01-01T00:00:00"})
    };
    let mut facts = vec![fact(0, "The first boiler holds 30 litres.".to_owned())];
    facts.extend(
        (1..900).map(|nth| fact(nth, format!("Valve number{nth}x has colour{nth}y {nth}."))),
    );
    facts.push(fact(900, "The first boiler holds 45 litres.".to_owned()));
    let cluster = json!({"id": "c", "title": "Plant", "summary": "Facts of the plant.",
        "concept_type": "fact_cluster", "entity_ids": ["tool:plant"]});
    let export = json!({"version": 4, "records": {"concepts": [{"id": "c", "data": cluster}],
        "facts": facts, "episodes": []}});
    let report = case.import(&export.to_string());
    assert_eq!((report.added["facts"], report.refused.len()), (901, 0));
    let conflicts = case.memory.read(|it| conflicts_document(it, ("open", START), 9)).unwrap();
    let conflicts = conflicts["conflicts"].as_array().unwrap();
    assert_eq!(conflicts.len(), 1, "{conflicts:?}");
    let mut told: Vec<&str> = conflicts[0]["facts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["text"].as_str().unwrap())
        .collect();
    told.sort_unstable();
    assert_eq!(told, ["The first boiler holds 30 litres.", "The first boiler holds 45 litres."]);
}

#[test]
fn an_import_takes_more_contradicting_values_than_one_conflict_holds() {
    for attribute in [None, Some("depth")] {
        let case = Case::new();
        let fact = |nth: usize| {
            json!({"id": format!("f{nth}"), "cluster_id": "c", "attribute": attribute,
                "statement": format!("The queue depth is {nth} jobs."),
                "entity_ids": "[\"tool:queue\"]", "valid_from": "2026-01-01T00:00:00"})
        };
        let facts: Vec<Value> = (1..=230).map(fact).collect();
        let cluster = json!({"id": "c", "title": "Queue", "summary": "Facts of the queue.",
            "concept_type": "fact_cluster", "entity_ids": ["tool:queue"]});
        let export = json!({"version": 4, "records": {"concepts": [{"id": "c", "data": cluster}],
            "facts": facts, "episodes": []}});
        let report = case.import(&export.to_string());
        assert_eq!((report.added["facts"], report.refused.len()), (230, 0));
        let carried = case.carried();
        let n_open = |case: &Case| {
            let open = case.memory.read(|it| conflicts_document(it, ("open", START), 99)).unwrap();
            open["conflicts"].as_array().unwrap().len()
        };
        assert_eq!(n_open(&carried), n_open(&case));
    }
}

#[test]
fn an_export_counts_conflicts_as_its_import_does() {
    let case = Case::new();
    for nth in 1..=3 {
        case.remember(json!({"content": format!("The limit is {nth} MB."), "kind": "fact",
            "subject": "api", "attribute": "limit"}));
    }
    case.apply(json!([
        {"op": "concept", "as": "a", "title": "A", "summary": "One.", "topic": "Limits"},
        {"op": "concept", "as": "b", "title": "B", "summary": "Two."},
        {"op": "merge", "from": ["$b"], "into": "$a"},
    ]));
    let mut export = Vec::new();
    let counts = case.memory.read(|it| export_remind(it, &mut export)).unwrap().unwrap();
    let report = Case::new().import(&String::from_utf8(export).unwrap());
    assert_eq!((counts.n_conflicts, report.added["conflicts"]), (1, 1));
    assert_eq!((counts.n_facts, report.added["facts"]), (3, 3));
    assert_eq!((counts.n_episodes, report.added["episodes"]), (3, 3));
    assert_eq!((counts.n_concepts, report.added["concepts"]), (2, 2));
    assert_eq!((counts.n_merged_concepts, report.added["merged concepts"]), (1, 1));
    assert_eq!((counts.n_topics, report.added["topics"]), (1, 1));
    assert_eq!((counts.n_entities, report.added["entities"]), (1, 1));
}
