//! Review: worksheets within a budget, for whoever consolidates episodes or ends conflicts.
//!
//! A worksheet has the episodes of one topic, the concepts nearest to them, what contradicts, and
//! the operations that an answer may consist of. Texts are cut where they are long, never left out
//! without a number.

mod budgeted_worksheet;
mod conflicts;

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::arguments::{ArgumentObject, KnowledgeResult};
use super::changeset_operations::OPERATIONS;
use super::ingest_queue::WAITING;
use super::recall::{find_topic, nearest_concepts, unknown};
use super::resource_json::n_open_conflicts;
use crate::memory::Memory;
use crate::memory::typed::MemoryError;
use crate::model::clock::UnixMillis;
use crate::model::topic_name_matching_and_slugs::topic_slug;
use crate::model::tree::NodeType;
use crate::query::cut_to_tokens;
use crate::store::NodeRowId;
use crate::store::reader::{FieldFilter, KnowledgeRow, Reader};
use crate::text::tokens;
pub(super) use budgeted_worksheet::Worksheet;
use conflicts::{add_conflict, conflicts_sheet, open_conflicts};

/// The tasks of a review.
pub(crate) const TASKS: &[&str] = &["consolidate", "triage", "conflicts", "health"];

/// Tokens of a worksheet, where none are named.
const BUDGET_DEFAULT: u32 = 4_000;

/// Episodes of one worksheet, at most.
const EPISODES_MAX: u64 = 25;

/// Episodes that are consolidated without being forced, at least.
const CONSOLIDATED_MIN: u64 = 3;

/// Conflicts of one worksheet, at most.
const CONFLICTS_MAX: usize = 25;

/// Concepts of one worksheet, at most.
const CONCEPTS_MAX: usize = 12;

/// Titles of several concepts that one worksheet names, at most.
const TITLES_MAX: usize = 10;

/// Edges that are read for a worksheet, at most.
const EDGES_MAX: usize = 4_096;

/// Characters of an episode's text that a worksheet shows, at most.
const TEXT_CHARS_MAX: usize = 2_000;

/// Characters of episodes by which the nearest concepts are found, at most.
const WORDS_CHARS_MAX: usize = 4_000;

/// The part of a worksheet that names may take.
const NAMES_SHARE: f64 = 0.1;

/// The part of a worksheet that a chunk's own instructions may take.
const INSTRUCTIONS_SHARE: f64 = 0.25;

/// Temperature below which a concept is stale.
const STALE_BELOW: f64 = 0.1;

/// Asks for a worksheet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorksheetRequest {
    task: &'static str,
    topic: Option<String>,
    budget: u32,
    n_episodes: usize,
}

impl WorksheetRequest {
    /// Reads the arguments of `MemoryReview`.
    pub(crate) fn parse(args: &Map<String, Value>) -> KnowledgeResult<WorksheetRequest> {
        let given = ArgumentObject::new(args, "", &["task", "topic", "budget", "limit"])?;
        Ok(WorksheetRequest {
            task: given.choice("task", TASKS)?.unwrap_or(TASKS[0]),
            topic: given.string("topic", 100)?,
            budget: given.whole("budget", 800, 100_000)?.map_or(BUDGET_DEFAULT, |it| it as u32),
            n_episodes: given.whole("limit", 1, EPISODES_MAX)?.unwrap_or(EPISODES_MAX) as usize,
        })
    }

    /// Returns the tokens of a part of the worksheet.
    fn share(&self, part: f64) -> u32 {
        (f64::from(self.budget) * part) as u32
    }
}

/// Asks to consolidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConsolidateRequest {
    sheet: WorksheetRequest,
    is_forced: bool,
}

impl ConsolidateRequest {
    /// Returns a request of the usual worksheet, however few episodes wait.
    pub(crate) fn of_all() -> ConsolidateRequest {
        let (task, topic, budget) = (TASKS[0], None, BUDGET_DEFAULT);
        let n_episodes = EPISODES_MAX as usize;
        ConsolidateRequest {
            sheet: WorksheetRequest { task, topic, budget, n_episodes },
            is_forced: true,
        }
    }

    /// Reads the arguments of `MemoryConsolidate`.
    pub(crate) fn parse(args: &Map<String, Value>) -> KnowledgeResult<ConsolidateRequest> {
        let given = ArgumentObject::new(args, "", &["topic", "force", "budget"])?;
        let is_forced = given.flag("force")?.unwrap_or(false);
        let mut args = args.clone();
        args.shift_remove("force");
        Ok(ConsolidateRequest { sheet: WorksheetRequest::parse(&args)?, is_forced })
    }
}

impl Memory {
    /// Returns the worksheet by which whoever asks consolidates, if enough episodes wait.
    pub(crate) fn worksheet(&self, request: &ConsolidateRequest) -> Result<Value, MemoryError> {
        let sheet = self.review(&request.sheet)?;
        let total = sheet["pending"]["total"].as_u64().unwrap_or(0);
        if request.is_forced || CONSOLIDATED_MIN <= total {
            return Ok(sheet);
        }
        let note = format!("fewer than {CONSOLIDATED_MIN} episodes wait; `force` hands them out");
        Ok(json!({
            "task": "consolidate",
            "base": sheet["base"],
            "pending": {"total": total, "shown": 0},
            "note": note,
        }))
    }

    /// Returns a worksheet; it warms nothing.
    pub(crate) fn review(&self, request: &WorksheetRequest) -> Result<Value, MemoryError> {
        let now = self.clock.now();
        self.read::<_, MemoryError>(|reader| {
            reader.at_one_state(|reader| review(reader, request, now))
        })
    }
}

/// Returns a worksheet on one state of the memory.
pub(crate) fn review(
    reader: &Reader,
    request: &WorksheetRequest,
    now: UnixMillis,
) -> KnowledgeResult<Value> {
    let base = reader.versions().snapshots()?.last;
    let topic = match &request.topic {
        None => None,
        Some(text) => Some(find_topic(reader, text)?.ok_or_else(|| unknown("topic", text))?),
    };
    match request.task {
        "triage" => triage_sheet(reader, request, (base, topic)),
        "conflicts" => conflicts_sheet(reader, request, (base, now)),
        "health" => health_sheet(reader, request, (base, now)),
        _ => consolidation_sheet(reader, request, (base, topic, now)),
    }
}

fn consolidation_sheet(
    reader: &Reader,
    request: &WorksheetRequest,
    (base, asked, now): (i64, Option<KnowledgeRow>, UnixMillis),
) -> KnowledgeResult<Value> {
    let total = reader.pending_episodes(asked.as_ref().map(|it| it.id.as_str()))?;
    let topic_id = match &asked {
        Some(topic) => Some(topic.id.clone()),
        None => topic_of_first(reader)?,
    };
    let keys = reader.eldest_pending(topic_id.as_deref(), request.n_episodes)?;
    let topic = match (&asked, &topic_id) {
        (Some(topic), _) => topic_json(topic, request),
        (None, Some(id)) => match reader.knowledge_by_id(id)? {
            Some(topic) => topic_json(&topic, request),
            None => Value::Null,
        },
        (None, None) => Value::Null,
    };
    let mut sheet = Worksheet::new(
        json!({
            "task": "consolidate",
            "base": base,
            "topic": topic,
            "pending": {"total": total, "shown": 0},
            "episodes": [],
            "concepts": [],
            "collisions": [],
            "conflicts": [],
            "operations": operation_forms(None),
            "example": example(),
        }),
        request.budget,
    );
    let words = add_episodes(&mut sheet, reader, (&keys, request))?;
    for conflict in open_conflicts(reader, now)? {
        add_conflict(&mut sheet, reader, (&conflict, 0.8))?;
    }
    for (title, ids) in repeated_titles(reader)? {
        sheet.add("collisions", 0.85, json!({"title": title, "ids": ids}));
    }
    for concept in nearest_concepts(reader, &words, CONCEPTS_MAX)? {
        let shown = |text: &str| {
            json!({
                "id": concept.id,
                "title": concept.title(),
                "summary": text,
                "kind": concept.text("kind"),
                "confidence": concept.number("confidence"),
            })
        };
        sheet.add_cut("concepts", 1.0, &concept.content, TEXT_CHARS_MAX / 4, shown);
    }
    Ok(sheet.finish())
}

/// Returns titles that several concepts have, with these.
fn repeated_titles(reader: &Reader) -> KnowledgeResult<Vec<(String, Vec<String>)>> {
    let mut titles = Vec::new();
    for name in reader.repeated_names(TITLES_MAX)? {
        let of_type = FieldFilter::text("type", NodeType::Concept.as_str());
        let keys = reader.nodes_with(&[FieldFilter::text("name", &name), of_type])?;
        let mut rows = reader.knowledge(&keys)?;
        rows.retain(|it| !it.is_gone());
        if let Some(first) = rows.first() {
            let ids = rows.iter().map(|it| it.id.clone()).collect();
            titles.push((first.title().to_owned(), ids));
        }
    }
    Ok(titles)
}

/// Adds episodes as long as they fit, and returns the beginning of what they say.
fn add_episodes(
    sheet: &mut Worksheet,
    reader: &Reader,
    (keys, request): (&[NodeRowId], &WorksheetRequest),
) -> KnowledgeResult<String> {
    let mentions = mentions(reader, keys)?;
    let mut n_shown = 0;
    let mut words = String::new();
    for episode in &reader.knowledge(keys)? {
        let entities = mentions.iter().filter(|it| it.0 == episode.key);
        let mut n_left = request.share(NAMES_SHARE);
        let entities: Vec<&str> = entities
            .map(|it| it.1.as_str())
            .take_while(|it| {
                let n_tokens = tokens::count(it);
                let has_room = n_tokens <= n_left;
                n_left = n_left.saturating_sub(n_tokens);
                has_room
            })
            .collect();
        let shown = |text: &str| {
            json!({
                "id": episode.id,
                "kind": episode.text("kind"),
                "text": text,
                "at": episode.time("at").map(UnixMillis::to_second),
                "entities": entities,
            })
        };
        // The first one is shown whatever it costs the others.
        let share = if n_shown == 0 { 0.9 } else { 0.65 };
        if !sheet.add_cut("episodes", share, &episode.content, TEXT_CHARS_MAX, shown) {
            break;
        }
        n_shown += 1;
        let n_left = WORDS_CHARS_MAX.saturating_sub(words.chars().count());
        words.extend(episode.content.chars().take(n_left));
        words.push(' ');
    }
    sheet.set_shown(n_shown);
    Ok(words)
}

/// Rules for whoever divides a chunk into episodes.
const TRIAGE: &str = "Keep what may be useful later, and leave out the rest. One episode says one \
                      thing and can be understood alone: names instead of pronouns, values \
                      instead of `it`. What is known already need not be kept again. An action \
                      with its result is an outcome; a value is a fact with subject and \
                      attribute. End with `ingested`, even where nothing is kept.";

fn triage_sheet(
    reader: &Reader,
    request: &WorksheetRequest,
    (base, topic): (i64, Option<KnowledgeRow>),
) -> KnowledgeResult<Value> {
    let mut wanted = vec![
        FieldFilter::text("kind", WAITING),
        FieldFilter::text("type", NodeType::Chunk.as_str()),
    ];
    wanted.extend(topic.iter().map(|it| FieldFilter::text("topic", &it.id)));
    let keys = reader.nodes_with(&wanted)?;
    let first = reader.first_sibling(&keys)?;
    let chunk = reader.knowledge(first.as_slice())?.pop();
    let mut instructions = TRIAGE.to_owned();
    if let Some(own) = chunk.as_ref().and_then(|it| it.text("instructions")) {
        instructions = format!("{}\n{TRIAGE}", within(own, request.share(INSTRUCTIONS_SHARE)));
    }
    let mut sheet = Worksheet::new(
        json!({
            "task": "triage",
            "base": base,
            "pending": {"total": keys.len(), "shown": 0},
            "chunk": null,
            "instructions": instructions,
            "concepts": [],
            "operations": operation_forms(Some(&["remember", "fact", "ingested"])),
            "example": [
                {"op": "remember", "kind": "decision", "content": "Payments retry three times."},
                {"op": "fact", "text": "The cache timeout is 30 s.", "subject": "cache",
                 "attribute": "timeout"},
                {"op": "ingested", "chunk": "CHUNK", "density": 0.4},
            ],
        }),
        request.budget,
    );
    let Some(chunk) = chunk else { return Ok(sheet.finish()) };
    let topic = match (topic, chunk.text("topic")) {
        (Some(topic), _) => Some(topic),
        (None, Some(id)) => reader.knowledge_by_id(id)?,
        (None, None) => None,
    };
    let topic = topic.as_ref().map_or(Value::Null, |it| topic_json(it, request));
    let shown = |text: &str| {
        let mut shown = json!({
            "id": chunk_reference(&chunk, text),
            "text": text,
            "source": chunk.text("source").map(|it| within(it, request.share(NAMES_SHARE))),
            "topic": topic,
        });
        if text != chunk.content {
            shown["cut"] = "`ingested` takes off what is shown here, and the rest waits; a larger \
                            `budget` shows more"
                .into();
        }
        shown
    };
    if sheet.set_cut("chunk", 0.9, &chunk.content, shown) {
        sheet.set_shown(1);
    }
    for concept in nearest_concepts(reader, &chunk.content, CONCEPTS_MAX / 2)? {
        let line = json!({"id": concept.id, "title": concept.title()});
        sheet.add("concepts", 1.0, line);
    }
    Ok(sheet.finish())
}

/// Returns how a worksheet names a chunk: `ID`, or `ID/N` where it shows the first `N` characters.
fn chunk_reference(chunk: &KnowledgeRow, shown: &str) -> String {
    if shown == chunk.content {
        return chunk.id.clone();
    }
    let shown = shown.strip_suffix('…').unwrap_or(shown);
    format!("{}/{}", chunk.id, shown.chars().count())
}

/// Returns the id of the topic of the eldest pending episode.
fn topic_of_first(reader: &Reader) -> KnowledgeResult<Option<String>> {
    let Some(first) = reader.first_pending()? else { return Ok(None) };
    let row = reader.knowledge(&[first])?.pop();
    Ok(row.and_then(|it| it.text("topic").map(str::to_owned)))
}

fn topic_json(topic: &KnowledgeRow, request: &WorksheetRequest) -> Value {
    let slug = topic_slug(topic.title());
    let [slug, name] = [&slug, topic.title()].map(|it| within(it, request.share(NAMES_SHARE) / 2));
    json!({"id": topic.id, "slug": slug, "name": name})
}

/// Returns a text, cut to a number of tokens.
fn within(text: &str, n_tokens: u32) -> String {
    match cut_to_tokens(text, n_tokens).len() {
        n if n == text.len() => text.to_owned(),
        _ => format!("{}…", cut_to_tokens(text, n_tokens.saturating_sub(2))),
    }
}

/// Returns the names of what episodes mention.
fn mentions(reader: &Reader, keys: &[NodeRowId]) -> KnowledgeResult<Vec<(NodeRowId, String)>> {
    let mut edges = reader.typed_edges_from(keys, EDGES_MAX)?;
    edges.retain(|it| it.link_type == "mentions");
    let targets: Vec<NodeRowId> = edges.iter().map(|it| it.target).collect();
    let rows = reader.knowledge(&targets)?;
    let named = |key: NodeRowId| {
        let row = rows.iter().find(|it| it.key == key)?;
        let kind = if row.node_type == NodeType::Entity { row.text("kind")? } else { "file" };
        Some(format!("{kind}:{}", row.title()))
    };
    Ok(edges.iter().filter_map(|it| Some((it.source, named(it.target)?))).collect())
}

fn health_sheet(
    reader: &Reader,
    request: &WorksheetRequest,
    (base, now): (i64, UnixMillis),
) -> KnowledgeResult<Value> {
    let concepts = reader.nodes_with(&[FieldFilter::text("type", "concept")])?;
    let evidence = reader.typed_edges_to(&concepts, usize::MAX)?;
    let supported: HashSet<NodeRowId> = evidence.iter().map(|it| it.target).collect();
    let attended = reader.attended()?;
    let mut sheet = Worksheet::new(
        json!({
            "task": "health",
            "base": base,
            "pending": {"total": reader.pending_episodes(None)?, "shown": 0},
            "open_conflicts": n_open_conflicts(reader, now)?,
            "concepts": concepts.len(),
            "orphans": [],
            "stale": [],
            "repeated_titles": [],
        }),
        request.budget,
    );
    for (title, ids) in repeated_titles(reader)? {
        sheet.add("repeated_titles", 1.0, json!({"title": title, "ids": ids}));
    }
    for row in reader.knowledge(&concepts)? {
        let is_cluster = row.has("subject");
        let line = json!({"id": row.id, "title": row.title()});
        if row.is_gone() || row.has("superseded_by") {
            continue;
        }
        if !is_cluster && !supported.contains(&row.key) {
            sheet.add("orphans", 0.8, line.clone());
        }
        if row.heat.now(attended) < STALE_BELOW {
            sheet.add("stale", 1.0, line);
        }
    }
    Ok(sheet.finish())
}

/// Returns the operations with their arguments, those that they need not have with a question mark.
fn operation_forms(only: Option<&[&str]>) -> Vec<String> {
    let of_interest = |name: &str| only.is_none_or(|it| it.contains(&name));
    OPERATIONS.iter().filter(|it| of_interest(it.name)).map(|it| it.form()).collect()
}

fn example() -> Value {
    json!([
        {"op": "concept", "as": "backoff", "title": "Retries need backoff",
         "summary": "Retrying at once made outages longer; pauses that grow ended them.",
         "from": ["EPISODE", "EPISODE"]},
        {"op": "link", "from": "$backoff", "to": "CONCEPT", "type": "implies", "strength": 0.7},
        {"op": "processed", "ids": ["EPISODE"]},
    ])
}
