//! Tests of nodes that stand for others: merged, restored, forgotten with what belongs to them.

use super::*;
use crate::memory::{AppendOrReplaceMode, ForgetChildrenMode};

#[test]
fn what_was_merged_into_another_node_is_changed_by_the_name_of_that_one() {
    let case = Case::new();
    let done = case.apply(json!([
        {"op": "concept", "as": "a", "title": "A", "summary": "One."},
        {"op": "concept", "as": "b", "title": "B", "summary": "Two."},
        {"op": "concept", "as": "c", "title": "C", "summary": "Three."},
        {"op": "entity", "as": "d", "name": "tool:Dd"},
        {"op": "entity", "as": "e", "name": "tool:Ee"},
        {"op": "merge", "from": ["$a"], "into": "$b"},
        {"op": "merge", "from": ["$b"], "into": "$c"},
        {"op": "merge", "from": ["$d"], "into": "$e"},
    ]));
    let [a, c, d, e] = [0, 2, 3, 4].map(|nth| id(&done, nth));
    for (gone, now) in [(&a, &c), (&d, &e)] {
        for operation in [
            json!({"op": "update", "id": gone, "title": "New"}),
            json!({"op": "label", "id": gone, "key": "k", "value": "v"}),
            json!({"op": "delete", "id": gone}),
        ] {
            let why = format!("`id` names `{gone}`, which was merged into `{now}`; name that");
            assert_eq!(case.error(json!([operation])), why);
        }
    }
}

#[test]
fn a_topic_with_episodes_is_not_forgotten_alone() {
    let case = Case::new();
    let kept = id(&case.remember(json!({"content": "It ran dry.", "topic": "Pools"})), 0);
    let topic = case.field(&kept, "topic").as_str().unwrap().to_owned();
    let refused = case.memory.forget(&topic, ForgetChildrenMode::Strict).unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!(
            "node `{topic}` is the topic of 1 episode; mode `cascade` and `reparent` leave them \
             without one"
        )
    );
    case.memory.forget(&topic, ForgetChildrenMode::Cascade).unwrap();
    assert_eq!(case.field(&kept, "topic"), Value::Null);
    assert_eq!(case.review(json!({"task": "consolidate"}))["pending"]["total"], 1);
    let again = case.remember(json!({"content": "It ran dry."}));
    assert_eq!(id(&again, 0), kept);
}

#[test]
fn concepts_of_a_forgotten_topic_are_of_none() {
    let case = Case::new();
    let done = case.apply(json!([
        {"op": "topic", "as": "t", "name": "Pools"},
        {"op": "concept", "title": "Dry", "summary": "At peaks.", "topic": "$t"},
        {"op": "remember", "as": "e", "content": "It ran dry.", "topic": "$t"},
        {"op": "delete", "id": "$e"},
    ]));
    case.memory.forget(&id(&done, 0), ForgetChildrenMode::Reparent).unwrap();
    case.apply(json!([{"op": "restore", "id": id(&done, 2)}]));
    for nth in [1, 2] {
        assert_eq!(case.field(&id(&done, nth), "topic"), Value::Null);
    }
    case.check_health();
}

#[test]
fn a_restored_cluster_joins_the_one_that_took_its_place() {
    let case = Case::new();
    let first = case.fact_of("Pool", "It has 10.");
    let cluster = case.cluster_of("It has 10.");
    case.apply(json!([{"op": "delete", "id": cluster}]));
    case.clock.advance(1_000);
    case.fact_of("pool", "It has 20.");
    let now = case.cluster_of("It has 20.");
    assert_ne!(now, cluster);
    let done = case.apply(json!([{"op": "restore", "id": cluster}]));
    assert_eq!(id(&done, 0), now);
    assert_eq!(case.cluster_of("It has 10."), now);
    assert_eq!(case.field(&cluster, "merged_into"), now.as_str());
    assert_eq!(case.field(first["fact"].as_str().unwrap(), "contested"), true);
    case.check_health();
}

#[test]
fn parts_of_a_split_cluster_stay_beside_each_other() {
    let case = Case::new();
    let facts = ["It has 10.", "It is blue."].map(|text| {
        let attribute = text.split(' ').next_back();
        let answer = case.remember(json!({
            "content": text, "kind": "fact", "subject": "Pool", "attribute": attribute,
        }));
        answer["results"][0]["fact"].as_str().unwrap().to_owned()
    });
    let part = |name: &str| json!({"title": name, "summary": name, "as": name});
    case.apply(json!([{
        "op": "split", "id": case.cluster_of("It has 10."), "into": [part("a"), part("b")],
        "assign": {&facts[0]: "$a", &facts[1]: "$b"},
    }]));
    let part = case.cluster_of("It has 10.");
    case.clock.advance(1_000);
    case.apply(json!([{"op": "delete", "id": part}]));
    case.apply(json!([{"op": "restore", "id": part}]));
    assert_eq!(case.cluster_of("It has 10."), part);
    assert_eq!(case.field(&part, "merged_into"), Value::Null);
}

#[test]
fn what_is_deleted_or_merged_is_written_by_no_tool() {
    let case = Case::new();
    let done = case.apply(json!([
        {"op": "concept", "as": "a", "title": "A", "summary": "One."},
        {"op": "concept", "as": "b", "title": "B", "summary": "Two."},
        {"op": "concept", "as": "c", "title": "C", "summary": "Three."},
        {"op": "merge", "from": ["$a"], "into": "$b"},
        {"op": "delete", "id": "$c"},
    ]));
    let [a, b, c] = [0, 1, 2].map(|nth| id(&done, nth));
    let merged = format!("names `{a}`, which was merged into `{b}`; name that");
    let deleted = format!("names `{c}`, which is deleted; `restore` brings it back");
    for (gone, why) in [(&a, merged), (&c, deleted)] {
        let before = case.tree();
        for mode in
            [AppendOrReplaceMode::Auto, AppendOrReplaceMode::Append, AppendOrReplaceMode::Replace]
        {
            let error = case.memory.write("Other.", Some(gone), mode).unwrap_err();
            assert_eq!(error.to_string(), format!("`anchor` {why}"));
        }
        let error = case.memory.summarize(gone, "Other.", None).unwrap_err();
        assert_eq!(error.to_string(), format!("`node_id` {why}"));
        assert_eq!(case.error(json!([{"op": "pin", "id": gone}])), format!("`id` {why}"));
        assert_eq!(case.tree(), before);
    }
    case.memory.write("Other.", Some(&b), AppendOrReplaceMode::Replace).unwrap();
    assert!(case.memory.fetch(&b, None).unwrap().text.contains("Other."));
}
