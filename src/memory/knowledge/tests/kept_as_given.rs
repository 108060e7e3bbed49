use super::*;

fn given() -> [Value; 4] {
    [
        json!({"scores": [1, null, 3]}),
        json!({"ticket": null, "b": 1}),
        json!({"e": []}),
        json!({"n": [1, {"a": null}], "o": {}}),
    ]
}

#[test]
fn metadata_are_kept_as_given() {
    let case = Case::new();
    let mut ids = Vec::new();
    for (nth, metadata) in given().into_iter().enumerate() {
        let content = format!("Number {nth}.");
        let answer = case.remember(json!({"content": content, "metadata": metadata}));
        assert_eq!(case.field(&id(&answer, 0), "metadata"), metadata);
        ids.push(id(&answer, 0));
    }
    let again = case.import(&case.export());
    assert_eq!(again.kept, [""; 0], "an import of what is here changes nothing");
    let carried = case.carried();
    assert_eq!(carried.export(), case.export());
    case.apply(json!([{"op": "update", "id": ids[1], "metadata": {"b": null, "c": [null]}}]));
    assert_eq!(case.field(&ids[1], "metadata"), json!({"ticket": null, "c": [null]}));
    assert_eq!(
        case.remember(json!({"content": "Plain.", "metadata": null}))["results"][0]["created"],
        true
    );
}

#[test]
fn metadata_that_earlier_versions_kept_are_no_difference() {
    let export = |metadata: &Value| {
        json!({"version": 3, "concepts": [], "episodes": [{"id": "a", "content": "One.",
            "episode_type": "outcome", "timestamp": "2025-01-01T00:00:00", "metadata": metadata}]})
        .to_string()
    };
    let kept =
        [json!({"scores": [1, 3]}), json!({"b": 1}), json!({}), json!({"n": [1, {}], "o": {}})];
    for (given, kept) in given().iter().zip(kept) {
        let case = Case::new();
        case.import(&export(&kept));
        assert_eq!(case.import(&export(given)).kept, [""; 0], "{given}");
        let case = Case::new();
        case.import(&export(given));
        assert_eq!(case.import(&export(given)).kept, [""; 0], "{given}");
        assert_eq!(case.import(&export(&json!({"other": 1}))).kept.len(), 1, "{given}");
    }
}

#[test]
fn a_list_as_text_is_the_same_request() {
    let case = Case::new();
    let operations =
        json!([{"op": "concept", "title": "Pauses", "summary": "Retries need pauses."}]);
    let ask = |operations: Value| case.try_apply(json!({"key": "k", "operations": operations}));
    let first = ask(operations.clone()).unwrap();
    assert_eq!(ask(operations.to_string().into()).unwrap(), first);
    let items = json!([{"content": "One.", "tags": null}]);
    let first = case.remember(json!({"key": "i", "items": items}));
    assert_eq!(case.remember(json!({"key": "i", "items": items.to_string()})), first);
}

#[test]
fn a_conflict_of_three_is_one_whatever_the_order_of_its_records() {
    let case = Case::new();
    for hue in ["red", "blue", "green"] {
        case.remember(json!({"content": format!("The hue is {hue}."), "kind": "fact",
            "subject": "Lamp", "attribute": "hue"}));
    }
    let mut export: Value = serde_json::from_str(&case.export()).unwrap();
    let conflicts = export["records"]["conflicts"].as_array_mut().unwrap();
    assert_eq!(conflicts.len(), 2);
    conflicts.reverse();
    let carried = Case::new();
    carried.import(&export.to_string());
    let sizes: Vec<usize> = carried.conflicts_told().iter().map(|it| it.1.len()).collect();
    assert_eq!(sizes, [3]);
}
