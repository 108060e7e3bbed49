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
        remind_tool_calls::update_concept,
        json!({
            "concept_id": concept, "title": "Repairing", "summary": "", "tags": "", "relations": "",
        }),
    );
    call(
        &case,
        remind_tool_calls::update_episode,
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
    call(&case, remind_tool_calls::update_episode, json!({"episode_id": episode, "topic": ""}));
    let shown = case.memory.read(|it| episodes_document(it, (None, None), 9)).unwrap();
    assert_eq!(shown["episodes"][0]["topic"], Value::Null, "it is taken out of its topic");
}

#[test]
fn consolidate_has_a_budget() {
    let case = Case::new();
    let text: String = (0..400).map(|nth| format!("第{nth}條逾時重試。")).collect();
    let asked = IngestRequest::parse(json!({"content": text, "flush": true}).as_object().unwrap());
    case.memory.ingest(&asked.unwrap()).unwrap();
    let shown = |budget: u32| {
        let sheet = call(
            &case,
            remind_tool_calls::consolidate,
            json!({"task": "triage", "budget": budget}),
        );
        sheet["chunk"]["text"].as_str().unwrap().chars().count()
    };
    assert!(shown(1_000) < shown(20_000));
}
