use serde_json::json;

use super::*;

#[track_caller]
fn check(node_type: NodeType, value: Value, complaint: &str) {
    let Value::Object(object) = value else { panic!("an object") };
    let fields = CanonicalFields::new(object).unwrap();
    let found = TypedNodeSchema::of(node_type).unwrap().check(&fields);
    assert_eq!(
        found.map_err(|it| it.to_string()),
        match complaint {
            "" => Ok(()),
            _ => Err(complaint.to_owned()),
        }
    );
}

#[test]
fn only_typed_nodes_have_fields() {
    assert!(TypedNodeSchema::of(NodeType::Core).is_some());
    assert!(TypedNodeSchema::of(NodeType::Text).is_none());
}

#[test]
fn a_refusal_names_the_key_the_limit_and_the_size() {
    check(NodeType::Core, json!({"category": "x".repeat(50)}), "");
    check(
        NodeType::Core,
        json!({"category": "ü".repeat(51)}),
        "`category` has 51 characters; at most 50 fit",
    );
    check(NodeType::Core, json!({"category": " "}), "`category` is blank");
    check(NodeType::Core, json!({"tags": vec!["a"; 11]}), "`tags` has 11 items; at most 10 fit");
    check(
        NodeType::Core,
        json!({"tags": ["ok", "x".repeat(31)]}),
        "`tags` has an item that has 31 characters; at most 30 fit",
    );
    check(
        NodeType::Core,
        json!({"importance": "huge"}),
        "`importance` must be one of high, medium, low",
    );
    check(
        NodeType::Core,
        json!({"created_at": "today"}),
        "`created_at` must be a time in milliseconds",
    );
    check(NodeType::Core, json!({"archived": false}), "`archived` must be `true` or absent");
    check(NodeType::Core, json!({"uuid": "7"}), "`uuid` must be a UUID");
}

#[test]
fn task_metadata_belongs_to_tasks() {
    let metadata = json!({"task_metadata": {"status": "blocked", "blockers": ["a key"]}});
    check(NodeType::Task, metadata.clone(), "");
    check(
        NodeType::Learning,
        metadata,
        "`task_metadata` is unknown; known are uuid, category, created_at, updated_at, tags, \
         importance, archived",
    );
    check(
        NodeType::Task,
        json!({"task_metadata": {"status": "done"}}),
        "`task_metadata.status` must be one of completed, in-progress, blocked",
    );
    check(
        NodeType::Task,
        json!({"task_metadata": {"owner": "me"}}),
        "`task_metadata.owner` is unknown; known are status, completed_at, blockers, outcome",
    );
}
