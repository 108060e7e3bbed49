use super::*;
use crate::memory::knowledge::node_writes::{self, NewKnowledgeNode, NewNodePlace};
use crate::model::tree::NodeType;
use crate::text::tokens;

impl Case {
    fn try_recall(&self, args: Value) -> Result<Value, MemoryError> {
        let Value::Object(args) = args else { panic!("an object") };
        self.memory.recall(&RecallRequest::parse(&args)?)
    }

    #[track_caller]
    pub(super) fn recall(&self, args: Value) -> Value {
        self.try_recall(args).unwrap()
    }

    /// The titles of what is recalled, best first.
    #[track_caller]
    pub(super) fn titles(&self, args: Value) -> Vec<String> {
        let answer = self.recall(args);
        let items = answer["items"].as_array().unwrap();
        items.iter().map(|it| it["title"].as_str().unwrap().to_owned()).collect()
    }

    /// Adds a concept with further fields.
    fn concept(&self, title: &str, summary: &str, fields: Value) -> String {
        let Value::Object(mut fields) = fields else { panic!("an object") };
        fields.insert("title".to_owned(), title.into());
        fields.insert("kind".to_owned(), "pattern".into());
        let new = NewKnowledgeNode {
            node_type: NodeType::Concept,
            content: summary,
            token_count: tokens::count(summary),
            fields,
        };
        let now = self.clock.now();
        let add = |batch: &mut crate::store::Batch<'_>| {
            node_writes::add_node(batch, new, NewNodePlace::Bucket(&[]), now)
        };
        self.memory.writer.write("concept", "", now, add).unwrap().0.id().to_string()
    }
}

fn implies(to: &str, strength: f64) -> Value {
    json!({"links": [{"type": "implies", "to": to, "strength": strength}], "confidence": 0.6})
}

#[test]
fn a_match_in_the_title_alone_is_found() {
    let case = Case::new();
    case.concept("Exponential backoff", "Wait longer after each failure.", json!({}));
    assert_eq!(case.titles(json!({"query": "backoff"})), ["Exponential backoff"]);
}

#[test]
fn an_irrelevant_question_gives_nothing() {
    let case = Case::new();
    case.concept("Exponential backoff", "Wait longer after each failure.", json!({}));
    case.remember(json!({"content": "The cache timed out again after a failure."}));
    let answer = case.recall(json!({"query": "how do volcanoes erupt below glaciers of Iceland"}));
    assert_eq!(answer["items"], json!([]));
    assert!(answer["note"].as_str().unwrap().starts_with("nothing relevant"), "{answer}");
    let one_word = "which volcanoes below the glaciers of Iceland erupt after failure";
    assert_eq!(case.recall(json!({"query": one_word}))["items"], json!([]));
}

#[test]
fn function_words_alone_ask_for_nothing() {
    let case = Case::new();
    case.concept("The end of the backoff", "Wait for it, and then do it again.", json!({}));
    case.remember(json!({"content": "The cache of the gateway and that of the disk are full."}));
    for query in ["the", "and of", "What is it?", "\tThe", "WHAT IS IT", "THE"] {
        let answer = case.recall(json!({"query": query}));
        assert_eq!(answer["items"], json!([]), "{query}");
        assert!(answer["note"].as_str().unwrap().starts_with("nothing relevant"), "{answer}");
    }
    assert_eq!(case.titles(json!({"query": "the cache"})).len(), 1);
    let quoted = case.recall(json!({"query": "\"and that of\""}));
    assert_eq!(quoted["items"].as_array().unwrap().len(), 1, "a phrase is asked for as it is");
}

#[test]
fn names_that_are_function_words_are_asked_for() {
    let case = Case::new();
    for title in ["The Who", "IT", "OR"] {
        case.concept(title, "Known to many.", json!({}));
    }
    for name in ["The Who", "IT", "OR"] {
        assert_eq!(case.titles(json!({"query": name}))[0], name);
    }
}

#[test]
fn a_lone_function_word_is_asked_for_as_the_memory_writes_a_name() {
    let case = Case::new();
    case.remember(json!({"content": "It will rain, or it will not.", "entities": ["deploy"]}));
    for query in ["Will", "Or"] {
        assert_eq!(case.recall(json!({"query": query}))["items"], json!([]), "{query}");
    }
    case.concept("Or", "A river in the east.", json!({}));
    case.remember(json!({"content": "The release was late.", "entities": ["person:Will"]}));
    assert_eq!(case.titles(json!({"query": "Or"})), ["Or"]);
    assert_eq!(case.titles(json!({"query": " Will "})), ["The release was late."]);
    for other in ["will", "or", "OR WILL"] {
        assert_eq!(case.recall(json!({"query": other}))["items"], json!([]), "{other}");
    }
}

#[test]
fn a_function_word_in_capitals_finds_the_titles_that_have_it_so() {
    let case = Case::new();
    case.concept("CAN frames drop", "Above 80 degrees.", json!({}));
    case.concept("What a cache can do", "Much.", json!({}));
    case.concept("The TRASHCAN", "It is full.", json!({}));
    assert_eq!(case.titles(json!({"query": "CAN"})), ["CAN frames drop"]);
    case.concept("CAN", "A bus of cars.", json!({}));
    assert_eq!(case.titles(json!({"query": "CAN"})), ["CAN", "CAN frames drop"]);
    assert_eq!(case.recall(json!({"query": "Can"}))["items"], json!([]));
}

#[test]
fn a_name_of_function_words_comes_before_what_has_its_words() {
    let case = Case::new();
    case.concept("The Who", "Known to many.", json!({"confidence": 0.2}));
    case.concept("Will", "The man who will do it.", json!({}));
    assert_eq!(case.titles(json!({"query": "The Who"}))[0], "The Who");
    let fallback = case.titles(json!({"query": "The Will Who"}));
    assert!(fallback.contains(&"Will".to_owned()), "{fallback:?}");
}

#[test]
fn a_name_of_function_words_is_asked_for_with_signs_around_it() {
    let case = Case::new();
    case.concept("The Who", "Known to many.", json!({}));
    case.concept("The man who will", "The one who did it.", json!({}));
    case.remember(json!({"content": "They played late.", "entities": ["project:The The"]}));
    for query in ["The Who?", "\"The Who\"", "The Who!", "the who's", "“The Who”.", "The Who’s"]
    {
        assert_eq!(case.titles(json!({"query": query})), ["The Who"], "{query}");
    }
    for query in ["The The?", "'The The'", "the the's"] {
        assert_eq!(case.titles(json!({"query": query})), ["They played late."], "{query}");
    }
    case.concept("IT", "What computers are.", json!({}));
    assert_eq!(case.titles(json!({"query": "IT?"})), ["IT"]);
    assert_eq!(case.recall(json!({"query": "it?"}))["items"], json!([]));
}

#[test]
fn function_words_alone_leave_what_an_entity_or_a_topic_has() {
    let case = Case::new();
    case.remember(json!({"content": "`Redis` was slow.", "topic": "Cache"}));
    for place in [json!({"entity": "redis"}), json!({"topic": "cache"})] {
        let mut asked = place.clone();
        asked["query"] = "what is it".into();
        assert_eq!(case.titles(asked), ["`Redis` was slow."], "{place}");
    }
}

#[test]
fn a_neighbour_without_a_word_of_the_question_is_returned() {
    let case = Case::new();
    let jitter = case.concept("Jitter", "Randomize the pauses.", json!({"confidence": 0.6}));
    case.concept("Exponential backoff", "Wait longer each time.", implies(&jitter, 0.7));
    let answer = case.recall(json!({"query": "exponential backoff"}));
    let items = answer["items"].as_array().unwrap();
    assert_eq!(items.len(), 2, "{answer}");
    assert_eq!(items[1]["title"], "Jitter");
    assert_eq!(items[1]["why"], "implies ← \"Exponential backoff\"");
    assert_eq!(
        case.titles(json!({"query": "randomize pauses"})),
        ["Jitter", "Exponential backoff"]
    );
}

#[test]
fn what_replaces_a_stale_concept_is_above_it() {
    let case = Case::new();
    let new = case.concept("Idempotent calls", "Send a key with each call.", json!({}));
    let stale = json!({"superseded_by": new, "superseded_at": START.0});
    case.concept("Retry three times", "Try again on errors.", stale);
    assert_eq!(case.titles(json!({"query": "retry on errors"})), ["Idempotent calls"]);
    let with = json!({"query": "retry on errors", "include": ["superseded"]});
    assert_eq!(case.titles(with.clone()), ["Idempotent calls", "Retry three times"]);
    assert_eq!(case.recall(with)["items"][1]["superseded_by"], new.as_str());
    let before = json!({"query": "retry on errors", "as_of": "2026-11-22"});
    assert_eq!(case.titles(before), ["Retry three times"]);
}

#[test]
fn what_replaces_a_stale_episode_is_above_it() {
    let case = Case::new();
    let remember = |text: &str| id(&case.remember(json!({"content": text})), 0);
    let old = remember("The kestrel deploys by hand on Fridays.");
    let middle = remember("A pipeline ships it.");
    let new = remember("Every merge ships itself.");
    case.apply(json!([
        {"op": "supersede", "old": old, "new": middle},
        {"op": "supersede", "old": middle, "new": new},
    ]));
    let asked = "kestrel deploys by hand";
    assert_eq!(case.titles(json!({"query": asked})), ["Every merge ships itself."]);
    let both = case.titles(json!({"query": asked, "include": ["superseded"]}));
    assert_eq!(both, ["Every merge ships itself.", "The kestrel deploys by hand on Fridays."]);
}

#[test]
fn words_of_a_merged_concept_find_the_one_that_took_it_in() {
    let case = Case::new();
    let into = case.concept("Idempotent calls", "Send a key with each call.", json!({}));
    let from = case.concept("Retry three times", "Try again on errors.", json!({}));
    case.apply(json!([{"op": "merge", "from": [from], "into": into}]));
    let asked = json!({"query": "retry on errors", "include": ["superseded", "deleted"]});
    assert_eq!(case.titles(asked.clone()), ["Idempotent calls"]);
    let why = case.recall(asked)["items"][0]["why"].clone();
    assert_eq!(why, "took in \"Retry three times\", which has words: retry, errors");
    case.apply(json!([{"op": "delete", "id": into}]));
    assert_eq!(case.titles(json!({"query": "retry on errors"})), [""; 0]);
}

#[test]
fn words_of_a_stale_fact_find_what_holds_now() {
    for at in ["2026-11-20", "2026-11-30"] {
        let case = Case::new();
        let fact = |text: &str, more: Value| {
            let mut args = json!({
                "content": text, "kind": "fact", "subject": "Ledger", "attribute": "store",
            });
            args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            case.remember(args);
        };
        fact("Rows are kept in CouchDB.", json!({"valid_from": "2026-01-01"}));
        fact("SQLite has them.", json!({"valid_from": at, "supersede": true}));
        case.clock.advance(30 * 86_400_000);
        let told = |more: Value| {
            let mut args = json!({"query": "couchdb rows", "episodes": 0});
            args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            case.facts_told(args)
        };
        assert_eq!(told(json!({})), ["current SQLite has them."], "{at}");
        assert_eq!(
            told(json!({"include": ["superseded"]})),
            ["current SQLite has them.", "superseded Rows are kept in CouchDB."],
        );
        assert_eq!(told(json!({"as_of": "2026-03-01"})), ["current Rows are kept in CouchDB."],);
    }
}

#[test]
fn words_of_a_value_that_lost_find_the_one_that_won() {
    let case = Case::new();
    for text in ["SQLite has them.", "Rows are kept in CouchDB."] {
        case.remember(json!({
            "content": text, "kind": "fact", "subject": "Ledger", "attribute": "store",
        }));
        case.clock.advance(1_000);
    }
    let facts = case.recall(json!({"query": "ledger"}))["items"][0]["facts"].clone();
    let winner = facts.as_array().unwrap().iter().find(|it| it["text"] == "SQLite has them.");
    let conflict = case.memory.read(|it| conflicts_document(it, ("open", START), 1)).unwrap();
    let conflict = conflict["conflicts"][0]["id"].clone();
    case.apply(json!([{"op": "resolve", "id": conflict, "winner": winner.unwrap()["id"]}]));
    let asked = json!({"query": "couchdb rows", "include": ["superseded"], "episodes": 0});
    assert_eq!(
        case.facts_told(asked),
        ["current SQLite has them.", "superseded Rows are kept in CouchDB."],
    );
}

#[test]
fn deleted_nodes_are_not_reached_by_spreading() {
    let case = Case::new();
    let beyond = case.concept("Beyond", "Reached through it.", json!({}));
    let mut gone = implies(&beyond, 1.0);
    gone["deleted"] = true.into();
    let gone = case.concept("Gone", "Vanished for good.", gone);
    case.concept("Exponential backoff", "Wait longer each time.", implies(&gone, 1.0));
    assert_eq!(case.titles(json!({"query": "exponential backoff"})), ["Exponential backoff"]);
    assert_eq!(case.titles(json!({"query": "vanished for good"})), [""; 0]);
    let with = json!({"query": "vanished for good", "include": ["deleted"]});
    assert!(case.titles(with).contains(&"Gone".to_owned()));
}

#[test]
fn facts_are_shown_under_their_subject_as_they_were_then() {
    let case = Case::new();
    let fact = |text: &str, from: &str| {
        case.remember(json!({
            "content": text, "kind": "fact", "subject": "Cache", "attribute": "timeout",
            "valid_from": from, "supersede": true,
        }))
    };
    fact("The cache timeout is 30 s.", "2026-01-01");
    fact("The cache timeout is 45 s.", "2026-06-01");
    let texts = |args: Value| -> Vec<String> {
        let answer = case.recall(args);
        let facts = answer["items"][0]["facts"].as_array().cloned().unwrap_or_default();
        facts
            .iter()
            .map(|it| {
                format!("{} {}", it["status"].as_str().unwrap(), it["text"].as_str().unwrap())
            })
            .collect()
    };
    let question = "what is the cache timeout";
    assert_eq!(texts(json!({"query": question})), ["current The cache timeout is 45 s."]);
    let then = json!({"query": question, "as_of": "2026-03-01"});
    assert_eq!(texts(then), ["current The cache timeout is 30 s."]);
    let all = json!({"query": question, "include": ["superseded"]});
    assert_eq!(
        texts(all),
        ["current The cache timeout is 45 s.", "superseded The cache timeout is 30 s."]
    );
    let answer = case.recall(json!({"query": question}));
    assert_eq!(answer["items"].as_array().unwrap().len(), 1, "its episodes say no more: {answer}");
}

#[test]
fn disputed_facts_say_so() {
    let case = Case::new();
    for text in ["The cache timeout is 30 s.", "The cache timeout is 45 s."] {
        case.remember(json!({
            "content": text, "kind": "fact", "subject": "Cache", "attribute": "timeout",
        }));
    }
    let answer = case.recall(json!({"query": "cache timeout"}));
    let facts = answer["items"][0]["facts"].as_array().unwrap();
    assert_eq!(facts.len(), 2);
    assert!(facts.iter().all(|it| it["status"] == "contested"), "{answer}");
}

#[test]
fn an_entity_or_a_topic_is_enough_to_ask() {
    let case = Case::new();
    case.remember(json!({"content": "`Redis` was slow.", "topic": "Payments"}));
    case.clock.advance(1_000);
    case.remember(json!({"content": "`Redis` was restarted.", "topic": "Search"}));
    case.remember(json!({"content": "Nothing else.", "topic": "Payments"}));
    let newest_first = ["`Redis` was restarted.", "`Redis` was slow."];
    assert_eq!(case.titles(json!({"entity": "tool:redis"})), newest_first);
    assert_eq!(case.titles(json!({"topic": "payments"})), ["Nothing else.", "`Redis` was slow."]);
    assert_eq!(case.titles(json!({"topic": "payments", "entity": "Redis"})), ["`Redis` was slow."]);
    assert_eq!(case.titles(json!({"query": "redis", "topic": "payments"})), ["`Redis` was slow."]);
    let unknown = |args: Value| case.try_recall(args).unwrap_err().message;
    assert_eq!(unknown(json!({"topic": "shipping"})), "no topic `shipping` is known");
    assert_eq!(unknown(json!({"entity": "kafka"})), "no entity `kafka` is known");
    assert_eq!(unknown(json!({})), "give at least one of `query`, `entity`, `topic`");
}

#[test]
fn an_answer_fits_its_budget() {
    let case = Case::new();
    let items: Vec<Value> = (0..40)
        .map(|nth| json!({"content": format!("Retry number {nth} failed. {}", "So it goes. ".repeat(nth))}))
        .collect();
    case.remember(json!({"items": items}));
    for budget in [100, 150, 300, 1_000, 5_000] {
        let args = json!({"query": "retry failed", "episodes": 40, "budget": budget});
        let answer = case.recall(args);
        let n_tokens = tokens::count(&answer.to_string());
        assert!(n_tokens <= budget, "{n_tokens} of {budget}: {answer}");
        let n_shown = answer["items"].as_array().unwrap().len() as u64;
        assert_eq!(answer["left_out"].as_u64().unwrap() + n_shown, 40);
    }
}

#[test]
fn what_is_recalled_is_warmed() {
    let case = Case::new();
    let id = id(&case.remember(json!({"content": "Retries help."})), 0);
    let reads = || {
        let row = case.memory.read(|it| it.knowledge_by_id(&id)).unwrap().unwrap();
        row.heat.temperature
    };
    let before = reads();
    case.recall(json!({"query": "volcanoes"}));
    assert_eq!(reads(), before);
    case.recall(json!({"query": "retries"}));
    assert!(before < reads());
}

#[test]
fn kinds_narrow_the_answer() {
    let case = Case::new();
    case.remember(json!({"items": [
        {"content": "We chose retries.", "kind": "decision"},
        {"content": "Are retries safe?", "kind": "question"},
        {"content": "Always cap retries.", "kind": "core"},
    ]}));
    let titles = |kinds: Value| case.titles(json!({"query": "retries", "kinds": kinds}));
    assert_eq!(titles(json!(["decision"])), ["We chose retries."]);
    assert_eq!(titles(json!(["core"])), ["Always cap retries."]);
    assert_eq!(titles(json!(["pattern"])), [""; 0]);
    assert_eq!(titles(json!([])).len(), 3);
    let error = case.try_recall(json!({"query": "retries", "kinds": ["decison"]})).unwrap_err();
    let why = "`kinds` has `decison`, which is no kind that recall shows; known are observation, decision, ";
    assert!(error.message.starts_with(why), "{}", error.message);
    case.apply(
        json!([{"op": "concept", "kind": "rule", "title": "Cap", "summary": "Cap retries."}]),
    );
    assert_eq!(titles(json!(["rule"])), ["Cap"], "concepts have any kind");
}

#[test]
fn a_fact_is_found_by_its_attribute() {
    let case = Case::new();
    case.remember(json!({
        "content": "It has 30 s.", "kind": "fact", "subject": "Gateway", "attribute": "timeout",
    }));
    case.remember(json!({"content": "Nothing else is known."}));
    assert_eq!(case.facts_told(json!({"query": "timeout"})), ["current It has 30 s."]);
    assert_eq!(case.facts_told(json!({"query": "gateway timeout"})), ["current It has 30 s."]);
    let found = case.memory.search("timeout", Some(500)).unwrap().text;
    assert!(found.contains("[fact] timeout: It has 30 s. (id="), "{found}");
}

#[test]
fn a_label_names_an_attribute_that_the_text_has_not() {
    let case = Case::new();
    let answer = case.remember(json!({
        "content": "The Timeout is 30 s.", "kind": "fact", "subject": "Gateway", "attribute": "timeout",
    }));
    let fact = answer["results"][0]["fact"].as_str().unwrap().to_owned();
    assert!(case.tree().contains("[fact] The Timeout is 30 s. ("), "{}", case.tree());
    case.apply(json!([{"op": "update", "id": fact, "content": "It has 30 s."}]));
    assert!(case.tree().contains("[fact] timeout: It has 30 s. ("), "{}", case.tree());
}
