//! Tests of knowledge that comes back by an import after it was changed: what was deleted or settled
//! here stays so.

use super::*;

impl Case {
    fn entity_names(&self) -> Vec<String> {
        let entities = self.memory.read(entities_document).unwrap()["entities"].clone();
        let name = |it: &Value| it["name"].as_str().unwrap().to_owned();
        entities.as_array().unwrap().iter().map(name).collect()
    }

    /// The id of the entity of a name.
    fn entity(&self, name: &str) -> String {
        let entities = self.memory.read(entities_document).unwrap()["entities"].clone();
        let found = entities.as_array().unwrap().iter().find(|it| it["name"] == name).cloned();
        found.unwrap()["id"].as_str().unwrap().to_owned()
    }

    /// How many snapshots there are.
    pub(super) fn n_snapshots(&self) -> i64 {
        self.memory.read(|it| it.versions().snapshots().map(|it| it.last)).unwrap()
    }
}

fn of_nora(text: &str) -> Value {
    json!({"content": text, "entities": ["person:Nora"]})
}

#[test]
fn a_deleted_entity_is_not_exported() {
    let case = Case::new();
    case.remember(of_nora("The meeting went well."));
    let first = case.entity("Nora");
    case.apply(json!([{"op": "delete", "id": first}]));
    assert_eq!(case.carried().entity_names(), [""; 0]);
    case.remember(of_nora("Nora called back about the invoice."));
    let export: Value = serde_json::from_str(&case.export()).unwrap();
    let [entities, mentions] = ["entities", "mentions"].map(|it| &export["records"][it]);
    assert_eq!(entities.as_array().unwrap().len(), 1, "{entities}");
    assert_eq!(entities[0]["id"], "person:nora");
    assert_eq!(mentions.as_array().unwrap().len(), 1, "{mentions}");
}

#[test]
fn what_was_deleted_here_stays_deleted_when_its_file_comes_again() {
    let other = Case::new();
    let done = other.apply(json!([
        {"op": "topic", "name": "Sailing"},
        {"op": "entity", "as": "n", "name": "person:Nora"},
        {"op": "alias", "id": "$n", "name": "Nono"},
        {"op": "entity", "name": "tool:kettle"},
        {"op": "concept", "title": "Tea", "summary": "Tea is green."},
    ]));
    assert_eq!(done["error"], Value::Null);
    other.remember(of_nora("The meeting went well."));
    let case = other.carried();
    let concept = case.memory.read(|it| concepts_document(it, None, 9)).unwrap();
    let topic = case.memory.read(topics_document).unwrap()["topics"][0]["id"].clone();
    case.apply(json!([
        {"op": "delete", "id": case.entity("Nora")},
        {"op": "delete", "id": topic},
        {"op": "delete", "id": concept["concepts"][0]["id"]},
    ]));
    let n_before = case.n_snapshots();
    for _ in 0..2 {
        let report = case.import(&other.export());
        assert_eq!(case.entity_names(), ["kettle"]);
        assert_eq!(case.memory.read(topics_document).unwrap()["topics"], json!([]));
        assert_eq!(case.n_snapshots(), n_before, "{report:?}");
        let told: Vec<&str> = report.kept.iter().filter_map(|it| it.split(':').next()).collect();
        assert_eq!(told.len(), 3, "{:?}", report.kept);
    }
    other.remember(of_nora("Nora called back about the invoice."));
    let mut later = of_nora("The boat is ready.");
    later["topic"] = "Sailing".into();
    other.remember(later);
    case.import(&other.export());
    assert_eq!(case.entity_names(), ["kettle"]);
    let topics = case.memory.read(topics_document).unwrap();
    assert_eq!(topics["topics"][0]["episodes"], 1, "a new episode brings its topic: {topics}");
}

fn of_api(limit: u32) -> Value {
    json!({"content": format!("The call limit is {limit} MB."), "kind": "fact", "subject": "api",
        "attribute": "limit"})
}

impl Case {
    /// Every conflict: its status, and the texts that it is about in their order.
    pub(super) fn conflicts_told(&self) -> Vec<(String, Vec<String>)> {
        let found = self.memory.read(|it| conflicts_document(it, ("all", START), 99)).unwrap();
        let told = |it: &Value| {
            let facts = it["facts"].as_array().unwrap().iter();
            let mut texts: Vec<String> =
                facts.map(|it| it["text"].as_str().unwrap().to_owned()).collect();
            texts.sort();
            (it["status"].as_str().unwrap().to_owned(), texts)
        };
        found["conflicts"].as_array().unwrap().iter().map(told).collect()
    }

    /// The id of the only conflict.
    pub(super) fn conflict(&self) -> Value {
        let found = self.memory.read(|it| conflicts_document(it, ("all", START), 99)).unwrap();
        found["conflicts"][0]["id"].clone()
    }
}

#[test]
fn a_conflict_of_three_values_is_one_elsewhere_open_or_dismissed() {
    let case = Case::new();
    for value in [10, 20, 30] {
        case.remember(of_api(value));
    }
    assert_eq!(case.conflicts_told().len(), 1);
    let carried = case.carried();
    assert_eq!(carried.conflicts_told(), case.conflicts_told());
    assert_eq!(carried.carried().carried().conflicts_told(), case.conflicts_told());
    case.apply(json!([{"op": "dismiss", "id": case.conflict()}]));
    assert_eq!(case.carried().conflicts_told(), case.conflicts_told());
    crate::maintenance::doctor::assert_healthy(&carried.folder.path().join("memory.db"));
    let winner = carried.memory.read(|it| conflicts_document(it, ("all", START), 9)).unwrap();
    let winner = winner["conflicts"][0]["facts"][1]["id"].clone();
    carried.apply(json!([{"op": "resolve", "id": carried.conflict(), "winner": winner}]));
    assert_eq!(carried.carried().conflicts_told(), carried.conflicts_told());
    assert_eq!(carried.conflicts_told()[0].0, "resolved");
}

/// Two values that an export of version 3 says to contradict each other.
const NOTED: &str = r#"{"version": 3, "episodes": [], "concepts": [{
    "id": "bbbb2222", "title": "Redis Facts", "summary": "Facts about redis",
    "concept_type": "fact_cluster", "entity_ids": ["tool:redis"],
    "specifics": ["Redis TTL is 300 s", "Redis TTL is 600 s"],
    "conflicts": [{"fact_a": "Redis TTL is 300 s", "fact_b": "Redis TTL is 600 s"}]}]}"#;

#[test]
fn a_conflict_that_a_file_notes_stays_as_it_ended_here() {
    let facts = |case: &Case| {
        let found = case.memory.read(|it| conflicts_document(it, ("all", START), 9)).unwrap();
        found["conflicts"][0]["facts"].clone()
    };
    let winner = |case: &Case| json!({"op": "resolve", "id": case.conflict(), "winner": facts(case)[0]["id"]});
    let ways: [fn(&Case, Value) -> Value; 3] = [
        |case, _| json!({"op": "dismiss", "id": case.conflict()}),
        |_, winner| winner,
        |_, winner| json!({"op": "delete", "id": winner["winner"]}),
    ];
    for end in ways {
        let case = Case::new();
        case.import(NOTED);
        assert_eq!(case.conflicts_told().len(), 1);
        case.apply(json!([end(&case, winner(&case))]));
        let (n_before, told) = (case.n_snapshots(), case.conflicts_told());
        assert_eq!(case.import(NOTED).snapshot, None);
        assert_eq!((case.n_snapshots(), case.conflicts_told()), (n_before, told));
    }
}

#[test]
fn a_fact_with_an_end_alone_holds_until_then_elsewhere() {
    let case = Case::new();
    case.remember(json!({"content": "The codename was Falcon.", "kind": "fact",
        "subject": "launch", "attribute": "codename", "valid_to": "2026-06-01"}));
    let export: Value = serde_json::from_str(&case.export()).unwrap();
    let began = &export["records"]["facts"][0]["valid_from"];
    assert_eq!(began, "2026-06-01T00:00:00.000", "Remind refuses an end without a beginning");
    let carried = case.carried();
    let told = ["2026-05-01", "2026-07-01"].map(|day| {
        let asked = json!({"query": "codename of launch", "as_of": day, "episodes": 0});
        let told = carried.facts_told(asked.clone());
        assert_eq!(told, case.facts_told(asked), "{day}");
        told.len()
    });
    assert_eq!(told, [1, 0]);
}

#[test]
fn values_without_an_attribute_are_compared_when_they_are_restored_and_merged() {
    let of =
        |subject: &str, text: &str| json!({"content": text, "kind": "fact", "subject": subject});
    let opens = ["The gate opens at 8 hours.", "The gate opens at 9 hours."];
    let case = Case::new();
    let first = case.remember(of("gate", opens[0]));
    case.apply(json!([{"op": "delete", "id": first["results"][0]["fact"]}]));
    case.remember(of("gate", opens[1]));
    assert_eq!(case.conflicts_told(), []);
    case.apply(json!([{"op": "restore", "id": first["results"][0]["fact"]}]));
    let both = ("open".to_owned(), opens.map(str::to_owned).to_vec());
    assert_eq!(case.conflicts_told(), std::slice::from_ref(&both));

    let case = Case::new();
    case.remember(of("gate", opens[0]));
    case.remember(of("portal", opens[1]));
    assert_eq!(case.conflicts_told(), []);
    let [from, into] = ["portal", "gate"].map(|it| case.entity(it));
    case.apply(json!([{"op": "merge", "from": [from], "into": into}]));
    assert_eq!(case.conflicts_told(), [both]);
}

#[test]
fn a_topic_is_found_elsewhere_by_its_former_name() {
    let case = Case::new();
    let topic = id(&case.apply(json!([{"op": "topic", "name": "Kept"}])), 0);
    case.remember(json!({"content": "Tea is green.", "topic": "Kept"}));
    case.apply(json!([{"op": "update", "id": topic, "title": "Renamed"}]));
    let carried = case.carried();
    carried.remember(json!({"content": "Tea is hot.", "topic": "Kept"}));
    let topics = carried.memory.read(topics_document).unwrap()["topics"].clone();
    assert_eq!(topics.as_array().unwrap().len(), 1, "{topics}");
    assert_eq!((&topics[0]["name"], &topics[0]["episodes"]), (&json!("Renamed"), &json!(2)));
    assert_eq!(carried.import(&case.export()).snapshot, None);
}

#[test]
fn a_merged_concept_stays_merged_when_an_older_file_comes() {
    let case = Case::new();
    let made = case.apply(json!([
        {"op": "concept", "title": "Alpha", "summary": "Kestrels hover."},
        {"op": "concept", "title": "Beta", "summary": "They hover over fields."},
        {"op": "concept", "title": "Gamma", "summary": "Over fields they hover."},
    ]));
    let [a, b, c] = [0, 1, 2].map(|nth| id(&made, nth));
    let older = case.export();
    case.apply(json!([{"op": "merge", "from": [a], "into": b}]));
    case.apply(json!([{"op": "merge", "from": [b], "into": c}]));
    let titles = |case: &Case| {
        let found = case.memory.read(|it| concepts_document(it, None, 9)).unwrap();
        let concepts = found["concepts"].as_array().unwrap().iter();
        concepts.map(|it| it["title"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for carried in [case.carried(), case.carried().carried()] {
        assert_eq!(titles(&carried), ["Gamma"]);
        assert_eq!(carried.import(&case.export()).snapshot, None);
        carried.import(&older);
        assert_eq!(titles(&carried), ["Gamma"]);
        crate::maintenance::doctor::assert_healthy(&carried.folder.path().join("memory.db"));
    }
}

#[test]
fn a_second_record_of_an_id_is_refused() {
    let record = |text: &str| json!({"id": "e1", "content": text});
    let file = json!({"version": 4, "records": {"concepts": [],
        "episodes": [record("The tea is hot."), record("The tea is cold.")]}})
    .to_string();
    let case = Case::new();
    for _ in 0..2 {
        let report = case.import(&file);
        assert_eq!(report.refused, ["episodes/e1: a record before it has its id"]);
    }
    let again = case.import(&case.export());
    assert_eq!((again.snapshot, &again.kept[..]), (None, &[][..]));
}
