//! Requests by the names and arguments that agents were taught elsewhere, as the same requests that
//! the tools of knowledge make. They answer as those do.
//!
//! Lists may come as one text with commas, and objects as a text of JSON.

use serde_json::{Map, Value, json};

use super::arguments::{ArgumentObject, KnowledgeResult};
use super::recall::{find_topic, node_of_type, unknown};
use super::resource_json::{LIST_DEFAULT, LIST_MAX, deleted_document, stats_document};
use super::{
    ApplyRequest, ConsolidateRequest, MemoryIngestArgs, RecallRequest, RememberRequest,
    WorksheetRequest, concept_document, concepts_document, entities_document, entity_document,
    topics_document,
};
use crate::memory::Memory;
use crate::memory::typed::MemoryError;
use crate::model::tree::NodeType;
use crate::providers::wait_out;

type ArgumentMap = Map<String, Value>;

/// Characters of a name or an id, at most.
const NAME_CHARS_MAX: usize = 200;

/// Arguments of an episode that are kept as its metadata.
const OF_METADATA: [&str; 4] = ["plan_id", "spec_ids", "depends_on", "priority"];

/// Keeps an episode.
pub(crate) fn remember(memory: &Memory, args: &ArgumentMap) -> KnowledgeResult<Value> {
    let known = ["content", "metadata", "episode_type", "entities", "topic", "source_type"];
    let given = ArgumentObject::new(args, "", &known)?;
    let names = &[("episode_type", "kind")];
    let mut asked = renamed(&without_blanks(args), names);
    split_list(&mut asked, "entities");
    parse_json(&given, &mut asked, "metadata")?;
    let answer = RememberRequest::parse(&asked).and_then(|asked| memory.remember(asked));
    answer.map_err(|error| said_of(names, error))
}

/// Returns what is known of a question, within its context.
pub(crate) fn recall_in_context(memory: &Memory, args: &ArgumentMap) -> KnowledgeResult<Value> {
    let known = ["query", "k", "context", "entity", "episode_k", "topic", "budget"];
    let given = ArgumentObject::new(args, "", &known)?;
    let names = &[("episode_k", "episodes")];
    let mut asked = renamed(&without_blanks(args), names);
    if let Some(context) = given.text("context", 10_000)?.filter(|it| !it.trim().is_empty()) {
        let query = given.text("query", 10_000)?.unwrap_or_default();
        asked.insert("query".to_owned(), format!("{query} {context}").trim().into());
    }
    asked.shift_remove("context");
    let answer = RecallRequest::parse(&asked).and_then(|asked| memory.recall(&asked));
    answer.map_err(|error| said_of(names, error))
}

/// Returns the worksheet of what waits, or applies the operations that answer it.
pub(crate) fn consolidate(memory: &Memory, args: &ArgumentMap) -> KnowledgeResult<Value> {
    let known = ["force", "task", "budget", "operations", "base", "dry_run"];
    let given = ArgumentObject::new(args, "", &known)?;
    let mut asked = args.clone();
    parse_json(&given, &mut asked, "operations")?;
    let (is_forced, task) = (asked.shift_remove("force"), asked.shift_remove("task"));
    if asked.contains_key("operations") {
        asked.shift_remove("budget");
        return Ok(memory.apply(&ApplyRequest::parse(&asked)?)?);
    }
    if let Some(task) = task {
        return memory.review(&WorksheetRequest::parse(&with(asked, "task", task))?);
    }
    let asked = with(asked, "force", is_forced.unwrap_or_else(|| false.into()));
    memory.consolidate(&ConsolidateRequest::parse(&asked)?, &wait_out)
}

/// Keeps raw text until its episodes are drawn from it.
pub(crate) fn ingest(memory: &Memory, args: &ArgumentMap) -> KnowledgeResult<Value> {
    let given = ArgumentObject::new(args, "", &["content", "source", "topic", "instructions"])?;
    given.required("content", given.value("content"))?;
    memory.ingest(&MemoryIngestArgs::parse(&without_blanks(args))?)
}

/// Makes chunks of the raw text that waits.
pub(crate) fn flush_ingest(memory: &Memory, args: &ArgumentMap) -> KnowledgeResult<Value> {
    ArgumentObject::new(args, "", &["topic", "instructions"])?;
    let asked = with(without_blanks(args), "flush", true);
    memory.ingest(&MemoryIngestArgs::parse(&asked)?)
}

pub(crate) fn list_topics(memory: &Memory, args: &ArgumentMap) -> KnowledgeResult<Value> {
    ArgumentObject::new(args, "", &[])?;
    memory.read(topics_document)
}

pub(crate) fn create_topic(memory: &Memory, args: &ArgumentMap) -> KnowledgeResult<Value> {
    ArgumentObject::new(args, "", &["name", "description"])?;
    apply(memory, "topic", without_blanks(args))
}

/// Renames a topic or describes it anew.
pub(crate) fn update_topic(memory: &Memory, args: &ArgumentMap) -> KnowledgeResult<Value> {
    ArgumentObject::new(args, "", &["topic_id", "name", "description"])?;
    let names = &[("topic_id", "id"), ("name", "title"), ("description", "content")];
    let id = topic_id(memory, args)?;
    let new = with(renamed(&without_empties(args), names), "id", id);
    apply(memory, "update", new).map_err(|error| said_of(names, error))
}

/// Deletes a topic that nothing is of.
pub(crate) fn delete_topic(memory: &Memory, args: &ArgumentMap) -> KnowledgeResult<Value> {
    ArgumentObject::new(args, "", &["topic_id"])?;
    let id = topic_id(memory, args)?;
    apply(memory, "delete", with(Map::new(), "id", id))
}

/// Returns the concepts of a topic that are supported best.
pub(crate) fn topic_overview(memory: &Memory, args: &ArgumentMap) -> KnowledgeResult<Value> {
    let given = ArgumentObject::new(args, "", &["topic_id", "k"])?;
    let n_shown = given.whole("k", 1, LIST_MAX as u64)?.unwrap_or(5) as usize;
    let id = topic_id(memory, args)?;
    memory.read(|reader| {
        let topics = topics_document(reader)?;
        let of_id = |it: &&Value| it["id"].as_str() == Some(&id);
        let topic = topics["topics"].as_array().into_iter().flatten().find(of_id);
        let listed = concepts_document(reader, Some(&id), LIST_MAX)?;
        let mut concepts: Vec<Value> = Vec::new();
        for line in listed["concepts"].as_array().into_iter().flatten() {
            let whole = concept_document(reader, line["id"].as_str().unwrap_or_default())?;
            let sources = whole["sources"].as_array().map_or(0, Vec::len);
            let mut shown = line.clone();
            shown["summary"] = whole["summary"].clone();
            shown["sources"] = sources.into();
            concepts.push(shown);
        }
        let weight = |it: &Value| {
            it["confidence"].as_f64().unwrap_or(0.5) * it["sources"].as_f64().unwrap_or(0.0)
        };
        concepts.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        concepts.truncate(n_shown);
        Ok(json!({"topic": topic, "concepts": concepts, "total": listed["total"]}))
    })
}

/// Returns a concept with its facts and edges, or the newest concepts.
pub(crate) fn inspect(memory: &Memory, args: &ArgumentMap) -> KnowledgeResult<Value> {
    let args = &without_blanks(args);
    let known = ["concept_id", "show_episodes", "limit", "start_date", "end_date"];
    let given = ArgumentObject::new(args, "", &known)?;
    let n_max = given.whole("limit", 1, LIST_MAX as u64)?.unwrap_or(10) as usize;
    let Some(id) = given.text("concept_id", NAME_CHARS_MAX)? else {
        return memory.read(|reader| concepts_document(reader, None, n_max));
    };
    let from = given.text("start_date", NAME_CHARS_MAX)?;
    let to = given.text("end_date", NAME_CHARS_MAX)?;
    let is_within = |episode: &Value| {
        let at = episode["at"].as_str().unwrap_or_default();
        // A day counts to its end.
        from.is_none_or(|from| from <= at) && to.is_none_or(|to| at <= to || at.starts_with(to))
    };
    let mut concept = memory.read(|reader| concept_document(reader, id))?;
    if let Some(sources) = concept.get_mut("sources").and_then(Value::as_array_mut) {
        sources.retain(is_within);
        let n_sources = sources.len();
        sources.truncate(if given.flag("show_episodes")?.unwrap_or(false) { n_max } else { 0 });
        concept["total_sources"] = n_sources.into();
    }
    Ok(concept)
}

pub(crate) fn stats(memory: &Memory, args: &ArgumentMap) -> KnowledgeResult<Value> {
    ArgumentObject::new(args, "", &[])?;
    memory.read(|reader| stats_document(reader, memory.clock.now()))
}

pub(crate) fn episode_types(memory: &Memory, args: &ArgumentMap) -> KnowledgeResult<Value> {
    ArgumentObject::new(args, "", &[])?;
    Ok(json!({"episode_types": memory.knowledge_settings().kinds()}))
}

/// Returns the entities of a kind that are mentioned most.
pub(crate) fn entities(memory: &Memory, args: &ArgumentMap) -> KnowledgeResult<Value> {
    let args = &without_blanks(args);
    let given = ArgumentObject::new(args, "", &["entity_type", "limit"])?;
    let kind = given.text("entity_type", NAME_CHARS_MAX)?;
    let n_max = given.whole("limit", 1, LIST_MAX as u64)?.unwrap_or(LIST_DEFAULT as u64) as usize;
    let document: Value = memory.read(entities_document)?;
    let listed = document["entities"].as_array().into_iter().flatten();
    let is_of_kind = |it: &&Value| kind.is_none_or(|kind| it["type"].as_str() == Some(kind));
    let mut entities: Vec<&Value> = listed.filter(is_of_kind).collect();
    entities.sort_by_key(|it| std::cmp::Reverse(it["mentions"].as_u64()));
    let total = entities.len();
    entities.truncate(n_max);
    Ok(json!({"entities": entities, "total": total}))
}

/// Returns an entity with its episodes and concepts.
pub(crate) fn inspect_entity(memory: &Memory, args: &ArgumentMap) -> KnowledgeResult<Value> {
    let given = ArgumentObject::new(args, "", &["entity_id", "show_relations"])?;
    let id = given.required("entity_id", given.text("entity_id", NAME_CHARS_MAX)?)?;
    if memory.read(|reader| node_of_type(reader, id, NodeType::Concept)).is_ok() {
        let why = format!("names `{id}`, whose type is concept; `inspect` shows it");
        return Err(given.refuse("entity_id", why));
    }
    let mut entity = memory.read(|reader| entity_document(reader, id))?;
    if !given.flag("show_relations")?.unwrap_or(true)
        && let Some(members) = entity.as_object_mut()
    {
        members.shift_remove("relations");
    }
    Ok(entity)
}

/// Changes what is given of an episode; an empty `topic` takes it out of its topic.
pub(crate) fn update_episode(memory: &Memory, args: &ArgumentMap) -> KnowledgeResult<Value> {
    let mut known =
        vec!["episode_id", "title", "content", "episode_type", "entities", "topic", "confidence"];
    known.push("metadata");
    known.extend(OF_METADATA);
    let given = ArgumentObject::new(args, "", &known)?;
    let names = &[("episode_id", "id"), ("episode_type", "kind")];
    let mut new = renamed(&without_empties(args), names);
    split_list(&mut new, "entities");
    parse_json(&given, &mut new, "metadata")?;
    let kept = OF_METADATA.iter().filter_map(|it| Some(((*it).to_owned(), new.shift_remove(*it)?)));
    let of_plans: ArgumentMap = kept.collect();
    if !of_plans.is_empty() {
        match new.entry("metadata").or_insert_with(|| Map::new().into()) {
            Value::Object(metadata) => metadata.extend(of_plans),
            _ => return Err(given.refuse("metadata", "must be an object")),
        }
    }
    check_type(memory, &given, ("episode_id", NodeType::Episode), "update")?;
    apply(memory, "update", new).map_err(|error| said_of(names, error))
}

/// Changes what is given of a concept, and adds relations to other concepts.
pub(crate) fn update_concept(memory: &Memory, args: &ArgumentMap) -> KnowledgeResult<Value> {
    let known = [
        "concept_id",
        "title",
        "summary",
        "confidence",
        "tags",
        "relations",
        "topic",
        "conditions",
        "exceptions",
    ];
    let given = ArgumentObject::new(args, "", &known)?;
    let names = &[("concept_id", "id"), ("target_id", "to")];
    let mut new = renamed(&without_empties(args), names);
    split_list(&mut new, "tags");
    parse_json(&given, &mut new, "relations")?;
    let relations = new.shift_remove("relations").unwrap_or(Value::Null);
    let mut operations = Vec::new();
    for relation in relations.as_array().into_iter().flatten() {
        let Value::Object(relation) = relation else {
            return Err(given.refuse("relations", "must be a list of objects"));
        };
        let mut link = renamed(relation, names);
        link.insert("from".to_owned(), new.get("id").cloned().unwrap_or(Value::Null));
        operations.push(operation("link", link));
    }
    if 1 < new.len() || operations.is_empty() {
        operations.insert(0, operation("update", new));
    }
    check_type(memory, &given, ("concept_id", NodeType::Concept), "update")?;
    apply_all(memory, operations).map_err(|error| said_of(names, error))
}

/// Hides an episode or a concept from everything but a listing of what was deleted.
pub(crate) fn delete_node(
    memory: &Memory,
    args: &ArgumentMap,
    (id, node_type): (&'static str, NodeType),
) -> KnowledgeResult<Value> {
    let given = ArgumentObject::new(args, "", &[id])?;
    check_type(memory, &given, (id, node_type), "delete")?;
    let names = &[(id, "id")];
    apply(memory, "delete", renamed(args, names)).map_err(|error| said_of(names, error))
}

/// Shows an episode or a concept again that was deleted.
pub(crate) fn restore_node(
    memory: &Memory,
    args: &ArgumentMap,
    (id, node_type): (&'static str, NodeType),
) -> KnowledgeResult<Value> {
    let given = ArgumentObject::new(args, "", &[id])?;
    check_type(memory, &given, (id, node_type), "restore")?;
    let names = &[(id, "id")];
    apply(memory, "restore", renamed(args, names)).map_err(|error| said_of(names, error))
}

/// Returns what was deleted and can be restored, newest first.
pub(crate) fn list_deleted(memory: &Memory, args: &ArgumentMap) -> KnowledgeResult<Value> {
    let args = &without_blanks(args);
    let given = ArgumentObject::new(args, "", &["item_type", "limit"])?;
    let only = given.choice("item_type", &["episode", "concept"])?;
    let n_max = given.whole("limit", 1, LIST_MAX as u64)?.unwrap_or(20) as usize;
    memory.read(|reader| deleted_document(reader, only, n_max))
}

/// Refuses the id of a node of another type than a tool takes, and says what takes it.
fn check_type(
    memory: &Memory,
    given: &ArgumentObject<'_>,
    (key, node_type): (&str, NodeType),
    verb: &str,
) -> KnowledgeResult<()> {
    let Some(id) = given.text(key, NAME_CHARS_MAX)? else { return Ok(()) };
    let found = memory.read(|reader| Ok::<_, MemoryError>(reader.knowledge_by_id(id)?))?;
    match found.map(|it| it.node_type) {
        Some(found) if found == node_type => Ok(()),
        Some(other @ (NodeType::Episode | NodeType::Concept | NodeType::Topic)) => {
            let way = match (verb, other) {
                ("restore", NodeType::Topic) => "the operation `restore`".to_owned(),
                _ => format!("`{verb}_{other}`"),
            };
            Err(given.refuse(key, format!("names `{id}`, whose type is {other}; {way} takes it")))
        }
        _ => memory.read(|reader| node_of_type(reader, id, node_type)).map(drop),
    }
}

fn apply(memory: &Memory, op: &str, members: ArgumentMap) -> KnowledgeResult<Value> {
    apply_all(memory, vec![operation(op, members)])
}

fn apply_all(memory: &Memory, operations: Vec<Value>) -> KnowledgeResult<Value> {
    let request = ApplyRequest::parse(&with(Map::new(), "operations", operations))?;
    Ok(memory.apply(&request)?)
}

fn operation(op: &str, members: ArgumentMap) -> Value {
    with(members, "op", op).into()
}

fn with(mut members: ArgumentMap, name: &str, value: impl Into<Value>) -> ArgumentMap {
    members.insert(name.to_owned(), value.into());
    members
}

/// Returns the arguments by other names.
fn renamed(args: &ArgumentMap, names: &[(&str, &str)]) -> ArgumentMap {
    let new = |name: &str| names.iter().find(|it| it.0 == name).map_or(name, |it| it.1).to_owned();
    args.iter().map(|(name, value)| (new(name), value.clone())).collect()
}

/// Returns the error of a request by the names of the arguments as they were given.
fn said_of(names: &[(&str, &str)], mut error: MemoryError) -> MemoryError {
    for (theirs, ours) in names {
        error.message = error.message.replace(&format!("`{ours}`"), &format!("`{theirs}`"));
    }
    error
}

/// Leaves out empty texts, by which some clients say that nothing is given.
fn without_blanks(args: &ArgumentMap) -> ArgumentMap {
    let is_blank = |it: &Value| it.as_str().is_some_and(|it| it.trim().is_empty());
    let given = args.iter().filter(|(_, value)| !is_blank(value));
    given.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Leaves empty texts out of an update, but for that of a topic, which takes a node out of it.
/// White space counts as given.
fn without_empties(args: &ArgumentMap) -> ArgumentMap {
    let given = args.iter().filter(|(name, value)| *value != "" || *name == "topic");
    given.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Makes a list of a text with commas.
fn split_list(args: &mut ArgumentMap, name: &str) {
    if let Some(value) = args.get_mut(name)
        && let Some(text) = value.as_str()
    {
        let items = text.split(',').map(str::trim).filter(|it| !it.is_empty());
        *value = items.map(str::to_owned).collect::<Vec<_>>().into();
    }
}

/// Parses an argument that came as a text of JSON.
fn parse_json(
    given: &ArgumentObject<'_>,
    args: &mut ArgumentMap,
    name: &str,
) -> KnowledgeResult<()> {
    match args.get(name).and_then(Value::as_str).map(str::trim) {
        None => (),
        Some("") => drop(args.shift_remove(name)),
        Some(text) => {
            let why = |error| given.refuse(name, format!("is no JSON: {error}"));
            let value: Value = serde_json::from_str(text).map_err(why)?;
            args.insert(name.to_owned(), value);
        }
    }
    Ok(())
}

/// Returns the id of the topic that `topic_id` names, by id or name.
fn topic_id(memory: &Memory, args: &ArgumentMap) -> KnowledgeResult<String> {
    let given = ArgumentObject::new(args, "", &["topic_id", "name", "description", "k"])?;
    let text = given.required("topic_id", given.text("topic_id", NAME_CHARS_MAX)?)?;
    let topic = memory.read(|reader| find_topic(reader, text))?.filter(|it| !it.is_gone());
    topic.map(|it| it.id).ok_or_else(|| unknown("topic", text))
}
