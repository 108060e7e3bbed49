//! Tests of the calls by the names and arguments that agents were taught elsewhere.

use super::*;

type Call = fn(&Memory, &serde_json::Map<String, Value>) -> Result<Value, MemoryError>;

#[track_caller]
fn call(case: &Case, call: Call, args: Value) -> Value {
    call(&case.memory, args.as_object().unwrap()).unwrap()
}

#[test]
fn an_empty_text_of_an_update_leaves_what_is_there() {
    let case = Case::new();
    let episode = id(
        &case.remember(json!({"content": "Ana mended it.", "topic": "Repairs",
        "kind": "decision", "entities": ["tool:redis"]})),
        0,
    );
    let concept = id(
        &case.apply(json!([{"op": "concept", "title": "Mending", "summary": "Helps.",
        "tags": ["x", "y"], "topic": "Repairs"}])),
        0,
    );
    call(
        &case,
        remind_compatible_requests::update_concept,
        json!({
            "concept_id": concept, "title": "Repairing", "summary": "", "tags": "", "relations": "",
        }),
    );
    call(
        &case,
        remind_compatible_requests::update_episode,
        json!({
            "episode_id": episode, "content": "Ana mended it twice.", "episode_type": "",
            "entities": "", "metadata": "", "plan_id": "",
        }),
    );
    let shown = case.memory.read(|it| concept_document(it, &concept)).unwrap();
    assert_eq!((&shown["title"], &shown["summary"]), (&json!("Repairing"), &json!("Helps.")));
    assert_eq!(shown["tags"], json!(["x", "y"]));
    let shown = case.memory.read(|it| episodes_document(it, (None, None), 9)).unwrap();
    let shown = &shown["episodes"][0];
    assert_eq!((&shown["kind"], &shown["entities"]), (&json!("decision"), &json!(["tool:redis"])));
    call(
        &case,
        remind_compatible_requests::update_episode,
        json!({"episode_id": episode, "topic": ""}),
    );
    let shown = case.memory.read(|it| episodes_document(it, (None, None), 9)).unwrap();
    assert_eq!(shown["episodes"][0]["topic"], Value::Null, "it is taken out of its topic");
}

#[test]
fn consolidate_has_a_budget() {
    let case = Case::new();
    let text: String = (0..400).map(|nth| format!("第{nth}條逾時重試。")).collect();
    let asked =
        MemoryIngestArgs::parse(json!({"content": text, "flush": true}).as_object().unwrap());
    case.memory.ingest(&asked.unwrap()).unwrap();
    let shown = |budget: u32| {
        let sheet = call(
            &case,
            remind_compatible_requests::consolidate,
            json!({"task": "triage", "budget": budget}),
        );
        sheet["chunk"]["text"].as_str().unwrap().chars().count()
    };
    assert!(shown(1_000) < shown(20_000));
}

impl Case {
    /// One node of each kind that calls may name, by its kind.
    fn of_all_kinds(&self) -> Vec<(&'static str, String)> {
        let made = self.apply(json!([
            {"op": "concept", "title": "Mending", "summary": "It helps."},
            {"op": "remember", "content": "Ana mended it.", "topic": "Repairs"},
            {"op": "entity", "name": "Redis", "type": "tool"},
            {"op": "fact", "text": "Its port is 1.", "subject": "Redis", "attribute": "port"},
            {"op": "topic", "name": "Repairs"},
        ]));
        let kinds = ["concept", "episode", "entity", "fact", "topic"];
        kinds.into_iter().enumerate().map(|(nth, it)| (it, id(&made, nth))).collect()
    }

    #[track_caller]
    fn refuses(&self, call: Call, args: Value) -> String {
        let before = self.memory.stats().unwrap().text;
        let error = call(&self.memory, args.as_object().unwrap()).unwrap_err();
        assert_eq!(self.memory.stats().unwrap().text, before, "an error writes nothing");
        error.message
    }
}

#[test]
fn calls_take_ids_of_their_own_kind_and_say_what_takes_others() {
    use crate::model::tree::NodeType;
    let case = Case::new();
    let doors: [(&str, &str, Call); 6] = [
        ("episode", "delete", |memory, args| {
            remind_compatible_requests::delete_node(memory, args, ("episode_id", NodeType::Episode))
        }),
        ("concept", "delete", |memory, args| {
            remind_compatible_requests::delete_node(memory, args, ("concept_id", NodeType::Concept))
        }),
        ("episode", "restore", |memory, args| {
            remind_compatible_requests::restore_node(
                memory,
                args,
                ("episode_id", NodeType::Episode),
            )
        }),
        ("concept", "restore", |memory, args| {
            remind_compatible_requests::restore_node(
                memory,
                args,
                ("concept_id", NodeType::Concept),
            )
        }),
        ("episode", "update", remind_compatible_requests::update_episode),
        ("concept", "update", remind_compatible_requests::update_concept),
    ];
    for (kind, node) in case.of_all_kinds() {
        for (own, verb, door) in doors.iter().filter(|it| it.0 != kind) {
            let mut args = json!({format!("{own}_id"): node});
            if *verb == "update" {
                args["title"] = "Other".into();
            }
            let why = case.refuses(*door, args);
            assert!(
                why.contains(&format!("`{node}`")) && why.contains(kind),
                "{verb} {own}: {why}"
            );
            if ["episode", "concept"].contains(&kind) {
                assert!(why.contains(&format!("`{verb}_{kind}` takes it")), "{why}");
            }
        }
    }
}

#[test]
fn an_entity_is_inspected_by_the_id_of_an_entity() {
    let case = Case::new();
    for (kind, node) in case.of_all_kinds() {
        let read = case.memory.read(|reader| entity_document(reader, &node));
        let record = case.memory.read(|reader| entity_record(reader, &node));
        assert_eq!((read.is_ok(), record.is_ok()), (kind == "entity", kind == "entity"), "{kind}");
        if kind == "concept" {
            let why = case
                .refuses(remind_compatible_requests::inspect_entity, json!({"entity_id": node}));
            assert!(why.contains("`inspect` shows it"), "{why}");
        }
    }
}

#[test]
fn topics_and_entities_are_not_made_of_the_ids_of_other_nodes() {
    let case = Case::new();
    for (kind, node) in case.of_all_kinds() {
        let args = |key: &str, value: Value| json!({"content": "It was late.", key: value});
        if kind != "topic" {
            let why = format!("`topic` names `{node}`, whose type is {kind}");
            case.refused(args("topic", json!(node)), &why);
        }
        if kind != "entity" {
            let why = format!("`entities` names `{node}`, whose type is {kind}");
            case.refused(args("entities", json!([node])), &why);
        }
    }
}
