use super::*;
use crate::memory::knowledge::apply_changeset::{ApplyError, OperationError};

impl Case {
    pub(super) fn try_apply(&self, args: Value) -> Result<Value, ApplyError> {
        let Value::Object(args) = args else { panic!("an object") };
        self.memory.apply(&ApplyRequest::parse(&args)?)
    }

    #[track_caller]
    pub(super) fn apply(&self, operations: Value) -> Value {
        self.try_apply(json!({"operations": operations})).unwrap()
    }

    #[track_caller]
    fn errors(&self, args: Value) -> Vec<OperationError> {
        let before = self.bytes();
        let error = self.try_apply(args).unwrap_err();
        assert!(self.bytes() == before, "an error leaves every byte of the file");
        match error {
            ApplyError::Operations(errors) => errors,
            ApplyError::Whole(error) => panic!("{error}"),
        }
    }

    /// The only error of a changeset of these operations.
    #[track_caller]
    pub(super) fn error(&self, operations: Value) -> String {
        let errors = self.errors(json!({"operations": operations}));
        assert_eq!(errors.len(), 1);
        errors[0].message.clone()
    }

    pub(super) fn bytes(&self) -> Vec<Vec<u8>> {
        let read = |name| std::fs::read(self.folder.path().join(name)).unwrap();
        vec![read("memory.db"), read("memory.db-wal")]
    }

    /// Remembers episodes and returns their ids.
    fn episodes(&self, texts: &[&str]) -> Vec<String> {
        let items: Vec<Value> = texts.iter().map(|it| json!({"content": it})).collect();
        let answer = self.remember(json!({"items": items}));
        (0..texts.len()).map(|nth| id(&answer, nth)).collect()
    }

    fn fact(&self, text: &str, attribute: &str) -> Value {
        let answer = self.remember(json!({
            "content": text, "kind": "fact", "subject": "Cache", "attribute": attribute,
        }));
        answer["results"][0].clone()
    }

    pub(super) fn field(&self, id: &str, key: &str) -> Value {
        let row = self.memory.read(|it| it.knowledge_by_id(id)).unwrap().unwrap();
        row.fields.and_then(|it| it.get(key).cloned()).unwrap_or_default()
    }

    /// The ids that edges of a type lead to.
    pub(super) fn linked(&self, id: &str, link_type: &str) -> Vec<String> {
        let links = self.field(id, "links");
        let links = links.as_array().cloned().unwrap_or_default();
        let of_type = links.iter().filter(|it| it["type"] == link_type);
        of_type.map(|it| it["to"].as_str().unwrap().to_owned()).collect()
    }
}

#[test]
fn a_concept_is_made_of_its_episodes_which_are_processed() {
    let case = Case::new();
    let episodes = case.episodes(&["Retry one failed.", "Retry two failed.", "Lunch."]);
    let answer = case.apply(json!([
        {"op": "concept", "as": "backoff", "title": "Retries need pauses", "topic": "Payments",
         "summary": "Retrying at once fails.", "from": [episodes[0], episodes[1]]},
        {"op": "concept", "as": "jitter", "title": "Jitter", "summary": "Random pauses."},
        {"op": "link", "from": "$backoff", "to": "$jitter", "type": "implies", "strength": 0.7},
        {"op": "processed", "ids": [episodes[2]]},
    ]));
    assert_eq!((&answer["snapshot"], &answer["pending"]), (&json!(2), &json!(0)));
    let concept = answer["results"][0]["id"].as_str().unwrap();
    assert_eq!(answer["results"][0]["as"], "backoff");
    assert_eq!(case.field(concept, "confidence"), 0.75);
    assert_eq!(case.linked(&episodes[0], "supports"), [concept]);
    assert_eq!(case.field(&episodes[0], "processed_in"), 2);
    assert_eq!(case.field(&episodes[2], "processed_in"), 2);
    let found = case.titles(json!({"query": "retries pauses"}));
    assert_eq!(found[..2], ["Retries need pauses".to_owned(), "Jitter".to_owned()]);
    case.memory.rollback(1, false).unwrap();
    let open = case.remember(json!({"content": "Lunch."}));
    assert_eq!(open["pending"], 3, "an undone consolidation opens its episodes again");
    assert!(case.linked(&episodes[0], "supports").is_empty());
    assert_eq!(case.titles(json!({"query": "jitter"})), [""; 0]);
}

#[test]
fn a_failing_operation_leaves_every_byte() {
    let case = Case::new();
    let episodes = case.episodes(&["One.", "Two."]);
    let mut operations: Vec<Value> = (0..98)
        .map(|nth| json!({"op": "remember", "content": format!("Event {nth} of `thing{nth}`.")}))
        .collect();
    operations.push(json!({"op": "delete", "id": "00000000000"}));
    operations.push(json!({"op": "delete", "id": episodes[0]}));
    let errors = case.errors(json!({"operations": operations}));
    assert_eq!((errors[0].op, errors[0].code), (98, "INVALID_INPUT"));
    assert_eq!(errors[0].message, "`id` names `00000000000`, which is no node");
    assert_eq!(errors[0].id.as_deref(), Some("00000000000"));
}

#[test]
fn mistakes_of_form_are_told_all_at_once() {
    let case = Case::new();
    case.episodes(&["One."]);
    let errors = case.errors(json!({"operations": [
        {"op": "remember", "content": "a"},
        {"op": "rename", "id": "a"},
        {"op": "concept", "title": "a", "summary": "b", "type": "c"},
        {"op": "link", "from": "a", "to": "b"},
    ]}));
    let messages: Vec<(usize, &str)> =
        errors.iter().map(|it| (it.op, it.message.as_str())).collect();
    assert!(messages[0].1.starts_with("`op` is no operation: `rename`; known are remember, "));
    assert_eq!(
        messages[1..],
        [
            (
                2,
                "`type` is no argument; known are op, title, summary, from, kind, confidence, topic, \
             tags, conditions, exceptions, as"
            ),
            (3, "`type` is missing of `link`"),
        ]
    );
}

#[test]
fn a_stale_base_names_the_node_and_its_present_text() {
    let case = Case::new();
    let episodes = case.episodes(&["One.", "Two."]);
    case.apply(json!([{"op": "update", "id": episodes[0], "content": "One and a half."}]));
    let change = |base: i64, id: &str| json!({"base": base, "operations": [{"op": "update", "id": id, "content": "Other."}]});
    let errors = case.errors(change(1, &episodes[0]));
    assert_eq!(errors[0].code, "REVISION_CONFLICT");
    assert_eq!(errors[0].id.as_ref(), Some(&episodes[0]));
    assert_eq!(errors[0].current.as_deref(), Some("One and a half."));
    case.try_apply(change(1, &episodes[1])).unwrap();
    case.try_apply(change(2, &episodes[0])).unwrap();
    let error = case.try_apply(change(99, &episodes[0])).unwrap_err();
    assert_eq!(MemoryError::from(error).message, "`base` is snapshot 99, and the newest is 4");
}

#[test]
fn a_key_replays_the_result_of_a_changeset() {
    let case = Case::new();
    let args = json!({"key": "one", "operations": [
        {"op": "concept", "as": "a", "title": "A", "summary": "First."},
    ]});
    let first = case.try_apply(args.clone()).unwrap();
    assert_eq!(case.try_apply(args.clone()).unwrap(), first);
    let mut other = args;
    other["operations"][0]["title"] = "B".into();
    let error = MemoryError::from(case.try_apply(other).unwrap_err());
    assert_eq!(error.message, "`key` \"one\" was used for another request; take a new one");
}

#[test]
fn a_dry_run_tells_of_collisions_and_writes_nothing() {
    let case = Case::new();
    let concept = json!([{"op": "concept", "title": "Retries", "summary": "They help."}]);
    let first = case.apply(concept.clone());
    let before = case.bytes();
    let dry = case.try_apply(json!({"dry_run": true, "operations": concept})).unwrap();
    assert_eq!((&dry["dry_run"], &dry["snapshot"]), (&json!(true), &Value::Null));
    assert_eq!(
        dry["collisions"],
        json!([{"op": 0, "id": first["results"][0]["id"], "text": "They help."}])
    );
    assert!(case.bytes() == before);
}

#[test]
fn explicit_kinds_survive_consolidation() {
    let case = Case::new();
    let answer = case.remember(json!({"items": [
        {"content": "We chose retries.", "kind": "decision"},
        {"content": "Are they safe?", "kind": "question"},
    ]}));
    let (decision, question) = (id(&answer, 0), id(&answer, 1));
    case.apply(json!([
        {"op": "concept", "title": "Retries", "summary": "Chosen.", "from": [decision, question]},
    ]));
    assert_eq!(case.field(&decision, "kind"), "decision");
    assert_eq!(case.field(&question, "kind"), "question");
}

#[test]
fn superseding_refuses_what_is_unknown_gone_or_the_same() {
    let case = Case::new();
    let (a, b) = (case.fact("It is 30 s.", "a"), case.fact("It is 3 MB.", "b"));
    let (a, b) = (a["fact"].as_str().unwrap(), b["fact"].as_str().unwrap());
    let supersede = |old: &str, new: &str| json!([{"op": "supersede", "old": old, "new": new}]);
    assert_eq!(
        case.error(supersede("00000000000", b)),
        "`old` names `00000000000`, which is no node"
    );
    assert_eq!(case.error(supersede(a, a)), "`new` names the same node as `old`");
    case.apply(supersede(a, b));
    assert_eq!(
        case.error(supersede(b, a)),
        format!("`new` names `{a}`, which is deleted or replaced")
    );
    let episode = case.episodes(&["One."]);
    assert_eq!(case.error(supersede(b, &episode[0])), "`new` names a episode, and `old` a fact");
}

#[test]
fn a_resolved_conflict_closes_the_loser() {
    let case = Case::new();
    let old = case.fact("It is 30 s.", "timeout");
    case.clock.advance(86_400_000);
    let new = case.fact("It is 45 s.", "timeout");
    let conflict = new["conflict"].as_str().unwrap();
    let (old, new) = (old["fact"].as_str().unwrap(), new["fact"].as_str().unwrap());
    assert_eq!(case.field(old, "contested"), true);
    assert_eq!(
        case.error(json!([{"op": "resolve", "id": conflict, "winner": conflict}])),
        format!("`winner` names `{conflict}`, which is none of {old}, {new}")
    );
    case.apply(json!([{"op": "resolve", "id": conflict, "winner": new, "note": "measured"}]));
    assert_eq!(case.field(conflict, "conflict"), "resolved");
    assert_eq!(case.field(old, "superseded_by"), new);
    assert_eq!(case.field(old, "valid_to"), case.field(new, "valid_from"));
    assert_eq!((case.field(old, "contested"), case.field(new, "contested")), Default::default());
    assert_eq!(
        case.error(json!([{"op": "dismiss", "id": conflict}])),
        "`id` names a conflict that is resolved"
    );
    case.memory.rollback(2, false).unwrap();
    assert_eq!(case.field(old, "superseded_by"), Value::Null);
    assert_eq!(case.field(old, "contested"), true);
    case.apply(json!([{"op": "dismiss", "id": conflict, "note": "of other hosts"}]));
    assert_eq!((case.field(old, "contested"), case.field(old, "valid_to")), Default::default());
}

#[test]
fn merging_moves_sources_facts_and_edges() {
    let case = Case::new();
    let episodes = case.episodes(&["One.", "Two."]);
    let answer = case.apply(json!([
        {"op": "concept", "as": "a", "title": "A", "summary": "a", "from": [episodes[0]]},
        {"op": "concept", "as": "b", "title": "B", "summary": "b", "from": [episodes[1]]},
        {"op": "concept", "as": "c", "title": "C", "summary": "c"},
        {"op": "link", "from": "$a", "to": "$c", "type": "implies"},
        {"op": "link", "from": "$c", "to": "$a", "type": "causes"},
        {"op": "merge", "from": "$a", "into": "$b", "note": "the same"},
    ]));
    let of = |nth: usize| answer["results"][nth]["id"].as_str().unwrap().to_owned();
    let (a, b, c) = (of(0), of(1), of(2));
    assert_eq!(case.field(&a, "merged_into"), b.as_str());
    assert_eq!(case.linked(&episodes[0], "supports"), [b.as_str()]);
    assert_eq!(case.linked(&b, "implies"), [c.as_str()]);
    assert_eq!(case.linked(&c, "causes"), [b.as_str()]);
    assert_eq!(case.linked(&b, "derived_from"), [a]);
    assert_eq!(case.field(&b, "confidence"), 0.75);
}

#[test]
fn merged_entities_are_found_by_both_names() {
    let case = Case::new();
    case.remember(json!({"content": "`Redis` was slow."}));
    case.remember(json!({"content": "`cache server` was slow."}));
    let entity =
        |name: &str| case.recall(json!({"entity": name}))["items"].as_array().unwrap().len();
    assert_eq!((entity("redis"), entity("cache server")), (1, 1));
    let answer = case.apply(json!([
        {"op": "entity", "as": "a", "name": "cache server"},
        {"op": "entity", "as": "b", "name": "redis"},
        {"op": "alias", "id": "$b", "name": "kv store"},
        {"op": "merge", "from": ["$a"], "into": "$b"},
    ]));
    assert_eq!((entity("redis"), entity("cache server"), entity("kv store")), (2, 2, 2));
    let taken = json!([
        {"op": "entity", "as": "c", "name": "other"},
        {"op": "alias", "id": "$c", "name": "KV  Store"},
    ]);
    let redis = answer["results"][1]["id"].as_str().unwrap();
    assert_eq!(
        case.error(taken),
        format!("`name` is the name of `{redis}` already; `merge` makes them one")
    );
}

#[test]
fn splitting_assigns_every_source() {
    let case = Case::new();
    let episodes = case.episodes(&["One.", "Two."]);
    let answer = case.apply(json!([
        {"op": "concept", "title": "Both", "summary": "Both.", "from": episodes},
    ]));
    let whole = answer["results"][0]["id"].as_str().unwrap();
    let split = |assign: Value| {
        json!([{"op": "split", "id": whole, "assign": assign, "into": [
            {"as": "one", "title": "One", "summary": "1"},
            {"as": "two", "title": "Two", "summary": "2"},
        ]}, {"op": "link", "from": "$one", "to": "$two", "type": "related_to"}])
    };
    assert_eq!(
        case.error(split(json!({episodes[0].clone(): "$one"}))),
        format!("`assign` gives no part to {}", episodes[1])
    );
    case.apply(split(json!({episodes[0].clone(): "$one", episodes[1].clone(): "two"})));
    assert_eq!(case.field(whole, "deleted"), true);
    let part = case.linked(&episodes[0], "supports");
    assert_eq!(case.field(&part[0], "title"), "One");
    assert_eq!(case.linked(&part[0], "derived_from"), [whole]);
}

#[test]
fn changed_episodes_wait_again_and_mention_what_they_say() {
    let case = Case::new();
    let episodes = case.episodes(&["`Redis` was slow."]);
    case.apply(json!([{"op": "processed", "ids": episodes}]));
    let answer = case.apply(json!([
        {"op": "update", "id": episodes[0], "content": "`Kafka` was slow.", "topic": "Queues"},
    ]));
    assert_eq!(answer["pending"], 1);
    assert_eq!(case.titles(json!({"entity": "kafka"})), ["`Kafka` was slow."]);
    assert_eq!(case.titles(json!({"entity": "redis"})), [""; 0]);
    assert_eq!(case.titles(json!({"topic": "queues"})), ["`Kafka` was slow."]);
    assert_eq!(
        case.error(json!([{"op": "update", "id": episodes[0], "tags": ["a"]}])),
        "`tags` cannot change in a episode; known are title, content, confidence, kind, topic, \
         entities, metadata, valid_from, valid_to"
    );
}

#[test]
fn a_topic_with_something_in_it_is_not_deleted() {
    let case = Case::new();
    case.remember(json!({"content": "One.", "topic": "Payments"}));
    let topic = case.apply(json!([{"op": "topic", "name": "payments"}]));
    let topic = topic["results"][0]["id"].as_str().unwrap();
    assert_eq!(
        case.error(json!([{"op": "delete", "id": topic}])),
        "`id` names a topic with 0 concepts and 1 episodes; move them with `update` first"
    );
}

#[test]
fn labels_pins_and_restoring() {
    let case = Case::new();
    let episodes = case.episodes(&["One."]);
    let id = &episodes[0];
    case.apply(json!([
        {"op": "label", "id": id, "key": "team", "value": "b"},
        {"op": "label", "id": id, "key": "team", "value": "a"},
        {"op": "label", "id": id, "key": "area", "value": "x"},
        {"op": "unlabel", "id": id, "key": "area", "value": "x"},
        {"op": "pin", "id": id},
        {"op": "delete", "id": id},
    ]));
    assert_eq!(case.field(id, "labels"), json!({"team": ["b", "a"]}));
    assert_eq!(case.titles(json!({"query": "one"})), [""; 0]);
    case.apply(json!([{"op": "restore", "id": id}, {"op": "unpin", "id": id}]));
    assert_eq!(case.titles(json!({"query": "one"})), ["One."]);
    assert_eq!(
        case.error(json!([{"op": "restore", "id": id}])),
        format!("`id` names `{id}`, which is not deleted")
    );
}

#[test]
fn core_memories_change_by_the_same_operation() {
    let case = Case::new();
    let answer = case.remember(json!({"content": "I like tabs.", "kind": "core"}));
    let id = id(&answer, 0);
    case.apply(json!([{"op": "update", "id": id, "importance": "high", "tags": ["style"]}]));
    assert_eq!(case.field(&id, "tags"), json!(["style"]));
    assert_eq!(
        case.error(json!([{"op": "update", "id": id, "title": "b"}])),
        "`title` is no argument; known are id, content, category, tags, importance, archived, \
         task_metadata"
    );
}

#[test]
fn the_manual_has_each_operation_with_each_argument() {
    let manual = include_str!("../../../../docs/knowledge.md");
    let (_, table) = manual.split_once("| operation | arguments |\n").unwrap();
    let rows: Vec<&str> = table.lines().take_while(|it| it.starts_with('|')).collect();
    for operation in changeset_operations::OPERATIONS.iter().filter(|it| it.name != "remember") {
        let name = format!("`{}`", operation.name);
        let is_of_it = |it: &&str| it.split('|').nth(1).unwrap().contains(&name);
        let row = rows.iter().copied().find(is_of_it).expect(&name);
        let form = operation.form();
        let (_, arguments) = form.trim_end_matches(')').split_once('(').unwrap();
        for argument in arguments.split(' ').map(|it| it.trim_end_matches('?')) {
            let is_told = argument == "as" || row.contains(&format!("`{argument}`"));
            assert!(is_told, "{name}: {argument}");
        }
    }
}
