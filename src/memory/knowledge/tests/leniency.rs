//! Tests of arguments that come in another type's form, as models send them.

use super::*;

#[test]
fn numbers_flags_and_lists_may_be_given_as_text() {
    let case = Case::new();
    let said = case.remember(json!({
        "items": r#"[{"content": "The pump failed.", "confidence": "0.5", "topic": 2026}]"#,
    }));
    let kept = id(&said, 0);
    assert_eq!(case.field(&kept, "confidence"), 0.5);
    let asked = json!({"query": "pump", "k": "2", "episodes": "5.0", "budget": "900",
        "explain": "True", "kinds": "observation", "include": "[\"deleted\"]", "as_of": ""});
    let items = case.recall(asked)["items"].clone();
    assert_eq!((&items[0]["id"], items[0]["explain"].is_object()), (&json!(kept), true));
    let named = case.recall(json!({"topic": 2026, "k": 1.0}));
    assert_eq!(named["items"][0]["id"], kept.as_str());
    let sheet = case.review(json!({"task": "Consolidate", "limit": "1", "budget": "4000"}));
    assert_eq!(sheet["pending"]["total"], 1);
    let operations = json!([
        {"op": "concept", "as": "a", "title": "Pumps", "summary": "They fail.",
            "from": json!([kept]).to_string(), "confidence": "0.25"},
        {"op": "concept", "as": "b", "title": "Valves", "summary": "They hold."},
        {"op": "link", "from": "$a", "to": "$b", "type": "Implies", "strength": "0.75"},
        {"op": "label", "id": "$a", "key": "year", "value": 2026},
    ]);
    let asked = json!({"operations": operations.to_string(), "base": "1", "dry_run": "false"});
    let done = case.try_apply(asked).unwrap();
    let concept = id(&done, 0);
    assert_eq!(case.field(&concept, "confidence"), 0.25);
    assert_eq!(case.field(&concept, "links")[0]["strength"], 0.75);
    assert_eq!(case.field(&kept, "processed_in"), 2);
}

#[test]
fn what_is_no_number_flag_or_list_is_refused() {
    let case = Case::new();
    let refused =
        |args: Value| RecallRequest::parse(args.as_object().unwrap()).unwrap_err().message;
    assert_eq!(
        refused(json!({"query": "a", "k": "two"})),
        "`k` must be a whole number from 1 to 50, not \"two\""
    );
    assert_eq!(
        refused(json!({"query": "a", "k": "1.5"})),
        "`k` must be a whole number from 1 to 50, not \"1.5\""
    );
    assert_eq!(
        refused(json!({"query": "a", "k": [2]})),
        "`k` must be a whole number from 1 to 50, not [2]"
    );
    assert_eq!(
        refused(json!({"query": "a", "explain": "maybe"})),
        "`explain` must be true or false"
    );
    assert_eq!(refused(json!({"query": ["a"]})), "`query` must be a text");
    case.refused(json!({"items": "a"}), "`items` must be a list of objects");
    case.refused(json!({"items": "[]"}), "`items` has 0 items; 1 to 100 fit");
}
