use super::*;
use crate::text::tokens;

impl Case {
    #[track_caller]
    pub(super) fn review(&self, args: Value) -> Value {
        let Value::Object(args) = args else { panic!("an object") };
        self.memory.review(&WorksheetRequest::parse(&args).unwrap()).unwrap()
    }
}

#[test]
fn a_worksheet_has_the_eldest_episodes_of_one_topic() {
    let case = Case::new();
    let items: Vec<Value> = (0..30)
        .map(|nth| json!({"content": format!("Payment {nth} failed."), "topic": "Payments"}))
        .collect();
    case.remember(json!({"items": items}));
    case.remember(json!({"content": "Lunch with @ana.", "topic": "People"}));
    case.apply(json!([{"op": "concept", "title": "Payments fail", "summary": "At night."}]));
    let sheet = case.review(json!({}));
    assert_eq!(sheet["base"], 3);
    assert_eq!(sheet["topic"]["slug"], "payments");
    assert_eq!(sheet["pending"], json!({"total": 31, "shown": 25}));
    assert_eq!(sheet["episodes"][0]["text"], "Payment 0 failed.");
    assert_eq!(sheet["concepts"][0]["title"], "Payments fail");
    assert!(sheet["operations"].as_array().unwrap().len() > 20);
    let sheet = case.review(json!({"topic": "people"}));
    assert_eq!(sheet["pending"], json!({"total": 1, "shown": 1}));
    assert_eq!(sheet["episodes"][0]["entities"], json!(["person:ana"]));
    let refused = WorksheetRequest::parse(json!({"task": "dream"}).as_object().unwrap());
    assert_eq!(
        refused.unwrap_err().message,
        "`task` must be one of consolidate, triage, conflicts, health"
    );
}

#[test]
fn a_worksheet_fits_its_budget_and_shows_something() {
    let case = Case::new();
    let long = "The `payment-gateway` timed out again, 🦀 and \"quoted\" it.\n".repeat(900);
    let items: Vec<Value> =
        (0..25).map(|nth| json!({"content": format!("{nth}: {long}")})).collect();
    case.remember(json!({"items": items}));
    let concepts: Vec<Value> = (0..20)
        .map(|nth| json!({"op": "concept", "title": format!("Gateway {nth}"), "summary": "timed out again ".repeat(200)}))
        .collect();
    case.apply(concepts.into());
    for budget in [800, 1_000, 2_000, 4_000, 20_000] {
        let sheet = case.review(json!({"budget": budget}));
        let n_tokens = tokens::count(&sheet.to_string());
        assert!(n_tokens <= budget, "{n_tokens} of {budget}");
        assert!(0 < sheet["pending"]["shown"].as_u64().unwrap(), "{budget}: {sheet}");
    }
}

#[test]
fn a_worksheet_fits_its_budget_whatever_its_names_and_instructions_are() {
    let case = Case::new();
    let topic = "𝔗".repeat(100);
    let entities: Vec<String> = (0..50).map(|nth| format!("{nth}{}", "字".repeat(150))).collect();
    case.remember(json!({"content": "a", "topic": topic, "entities": entities}));
    for nth in 0..5 {
        let text = format!("{nth}{}", "🦀".repeat(1_000));
        case.remember(json!({
            "content": text, "kind": "fact", "subject": "鯨".repeat(150), "attribute": "size",
        }));
    }
    for script in ["記憶", "🦀", "plain words "] {
        let instructions: String = script.chars().cycle().take(4_000).collect();
        let chunk = json!({
            "content": format!("{script} pays 5 EUR."), "flush": true,
            "instructions": instructions, "source": script.repeat(8), "topic": topic,
        });
        let Value::Object(chunk) = chunk else { panic!("an object") };
        case.memory.ingest(&MemoryIngestArgs::parse(&chunk).unwrap()).unwrap();
    }
    for budget in [800, 1_000, 4_000] {
        for task in ["consolidate", "triage", "conflicts", "health"] {
            let sheet = case.review(json!({"task": task, "budget": budget}));
            let n_tokens = tokens::count(&sheet.to_string());
            assert!(n_tokens <= budget, "{task}: {n_tokens} of {budget}");
            let shown = sheet["pending"]["shown"].as_u64().unwrap();
            assert!(0 < shown || task == "health", "{task}, {budget}: {sheet}");
        }
    }
}

#[test]
fn deleted_episodes_do_not_starve_a_review() {
    let case = Case::new();
    let items: Vec<Value> =
        (0..26).map(|nth| json!({"content": format!("Event {nth}.")})).collect();
    let answer = case.remember(json!({"items": items}));
    let delete: Vec<Value> =
        (0..25).map(|nth| json!({"op": "delete", "id": id(&answer, nth)})).collect();
    case.apply(delete.into());
    let sheet = case.review(json!({}));
    assert_eq!(sheet["pending"], json!({"total": 1, "shown": 1}));
    assert_eq!(sheet["episodes"][0]["text"], "Event 25.");
}

#[test]
fn conflicts_and_health_have_worksheets() {
    let case = Case::new();
    for text in ["It is 30 s.", "It is 45 s."] {
        case.remember(json!({"content": text, "kind": "fact", "subject": "A", "attribute": "b"}));
    }
    case.apply(json!([
        {"op": "concept", "title": "Twice", "summary": "a"},
        {"op": "concept", "title": "Twice", "summary": "b"},
    ]));
    let sheet = case.review(json!({"task": "conflicts"}));
    let conflict = &sheet["conflicts"][0];
    assert_eq!(conflict["about"], "A / b");
    assert_eq!(conflict["facts"].as_array().unwrap().len(), 2);
    assert_eq!(case.review(json!({}))["conflicts"][0]["id"], conflict["id"]);
    let sheet = case.review(json!({"task": "health"}));
    assert_eq!((&sheet["open_conflicts"], &sheet["concepts"]), (&json!(1), &json!(3)));
    assert_eq!(sheet["repeated_titles"][0]["title"], "Twice");
    assert_eq!(sheet["orphans"].as_array().unwrap().len(), 2);
}
