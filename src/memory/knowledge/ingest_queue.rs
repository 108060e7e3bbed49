//! Ingest: texts wait in the memory until somebody divides them into episodes.
//!
//! A text is kept as a node below `@ingest` when it arrives. Once those of one source, topic and
//! instruction have as many characters as the settings say, or on a flush, they become chunks of at
//! most that size, each after the first beginning with the end of the one before. A chunk goes when
//! a changeset says that it is ingested, so that neither a crash nor a refused answer loses a text.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::arguments::{ArgumentObject, KnowledgeResult};
use super::entity_resolution::{topic_field, topic_named};
use super::node_writes::{NewKnowledgeNode, NewNodePlace, StoredKnowledgeNode, add_node};
use super::remember::add_hint;
use crate::memory::Memory;
use crate::memory::typed::MemoryError;
use crate::model::clock::UnixMillis;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::knowledge::CHUNK_STATES;
use crate::settings::config::KnowledgeSettings;
use crate::store::Batch;
use crate::text::recursive_text_splitting::split_into_pieces;
use crate::text::tokens;

/// Characters of the chunk before with which a chunk begins.
const OVERLAP_CHARS: usize = 200;

/// Characters of one call, at most.
const CONTENT_CHARS_MAX: usize = 1_000_000;

/// Characters of one node of the buffer; a longer text is kept in several.
const PART_CHARS: usize = 100_000;

/// Fields that the texts of one buffer, and its chunks, have in common.
const OF_BUFFER: [&str; 3] = ["source", "topic", "instructions"];

/// Asks to ingest a text, or to make chunks of what waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MemoryIngestArgs {
    content: Option<String>,
    flushes: bool,
    source: String,
    topic: Option<String>,
    instructions: Option<String>,
}

impl MemoryIngestArgs {
    /// Reads the arguments of `MemoryIngest`.
    pub(crate) fn parse(args: &Map<String, Value>) -> KnowledgeResult<MemoryIngestArgs> {
        let known = &["content", "flush", "source", "topic", "instructions"];
        let given = ArgumentObject::new(args, "", known)?;
        let content = given.text("content", CONTENT_CHARS_MAX)?.map(str::to_owned);
        let flushes = given.flag("flush")?.unwrap_or(false);
        if content.is_none() && !flushes {
            return Err(MemoryError::invalid("give `content`, `flush` or both"));
        }
        Ok(MemoryIngestArgs {
            content,
            flushes,
            source: given.string("source", 100)?.unwrap_or_else(|| "conversation".to_owned()),
            topic: given.string("topic", 100)?,
            instructions: given.string("instructions", 4_000)?,
        })
    }
}

impl Memory {
    /// Keeps a text until it is divided into episodes.
    pub(crate) fn ingest(&self, request: &MemoryIngestArgs) -> Result<Value, MemoryError> {
        let redactor = &self.workspace().redactor;
        let scrub = |it: &str| redactor.scrub(it).text.into_owned();
        let content = request.content.as_deref().map(scrub);
        let instructions = request.instructions.as_deref().map(scrub);
        let (source, topic) = (scrub(&request.source), request.topic.as_deref().map(scrub));
        let now = self.clock.now();
        let chunk_chars = self.knowledge_settings().buffer_chars();
        let ((n_buffered, n_chunks), _) = self.writer.write("ingest", "", now, |batch| {
            if let Some(content) = &content {
                let topic = match &topic {
                    Some(name) => Some(topic_named(batch, name, None, now)?),
                    None => None,
                };
                let mut fields = Map::new();
                fields.insert("source".to_owned(), source.as_str().into());
                fields.insert("topic".to_owned(), topic_field(topic.as_ref()));
                fields.insert("instructions".to_owned(), instructions.clone().into());
                keep(batch, content, fields, now)?;
            }
            let mut buffers = buffers(batch)?;
            for buffer in buffers.values_mut() {
                let n_chars: usize = buffer.iter().map(n_chars).sum();
                if request.flushes || chunk_chars <= n_chars {
                    make_chunks(batch, buffer, chunk_chars, now)?;
                    buffer.clear();
                }
            }
            let n_buffered: usize = buffers.values().flatten().map(n_chars).sum();
            let n_chunks = batch.count_with_facet(NodeType::Chunk, "kind", WAITING)?;
            Ok::<_, MemoryError>((n_buffered, n_chunks))
        })?;
        let mut answer = json!({"buffered": n_buffered, "chunks": n_chunks});
        if 0 < n_chunks {
            let hint = "MemoryReview with `task` triage hands out a chunk, and MemoryApply takes \
                        its episodes with the operation `ingested`";
            add_hint(&mut answer, hint, &self.tools);
        }
        Ok(answer)
    }
}

const BUFFERED: &str = CHUNK_STATES[0];
pub(super) const WAITING: &str = CHUNK_STATES[1];

fn n_chars(node: &StoredKnowledgeNode) -> usize {
    node.record.content.chars().count()
}

/// Adds a text to the buffer.
fn keep(
    batch: &mut Batch<'_>,
    content: &str,
    fields: Map<String, Value>,
    now: UnixMillis,
) -> KnowledgeResult<()> {
    for part in split_into_pieces(content, PART_CHARS) {
        let below = NewNodePlace::Bucket(&[]);
        add_chunk(batch, part, (BUFFERED, fields.clone(), below), now)?;
    }
    Ok(())
}

fn add_chunk(
    batch: &mut Batch<'_>,
    content: &str,
    (state, mut fields, below): (&str, Map<String, Value>, NewNodePlace<'_>),
    now: UnixMillis,
) -> KnowledgeResult<()> {
    fields.insert("kind".to_owned(), state.into());
    fields.insert("archived".to_owned(), true.into());
    let token_count = tokens::count(content);
    let new = NewKnowledgeNode { node_type: NodeType::Chunk, content, token_count, fields };
    add_node(batch, new, below, now).map(drop)
}

/// Returns the texts of the buffer by what they have in common, in the order of their arrival.
fn buffers(batch: &Batch<'_>) -> KnowledgeResult<BTreeMap<String, Vec<StoredKnowledgeNode>>> {
    let mut buffers: BTreeMap<String, Vec<StoredKnowledgeNode>> = BTreeMap::new();
    for node in StoredKnowledgeNode::all(batch.with_facet(NodeType::Chunk, "kind", BUFFERED)?)? {
        let common = json!(OF_BUFFER.map(|it| node.text(it)));
        buffers.entry(common.to_string()).or_default().push(node);
    }
    Ok(buffers)
}

/// Makes chunks of texts, which go.
fn make_chunks(
    batch: &mut Batch<'_>,
    buffer: &[StoredKnowledgeNode],
    chunk_chars: usize,
    now: UnixMillis,
) -> KnowledgeResult<()> {
    let Some(first) = buffer.first() else { return Ok(()) };
    let texts: Vec<&str> = buffer.iter().map(|it| it.record.content.as_str()).collect();
    let text = texts.join("\n");
    let fields = common_fields(first);
    add_waiting(batch, &text, (chunk_chars, &fields), now)?;
    buffer.iter().try_for_each(|it| Ok(batch.forget(&it.record)?))
}

/// Adds a text as chunks that wait to be divided into episodes.
fn add_waiting(
    batch: &mut Batch<'_>,
    text: &str,
    (chunk_chars, fields): (usize, &Map<String, Value>),
    now: UnixMillis,
) -> KnowledgeResult<()> {
    let mut before = "";
    for piece in split_into_pieces(text, chunk_chars) {
        let n_before = before.chars().count();
        let overlap: String = before.chars().skip(n_before.saturating_sub(OVERLAP_CHARS)).collect();
        if !piece.trim().is_empty() {
            let below = NewNodePlace::Bucket(&[]);
            add_chunk(batch, &format!("{overlap}{piece}"), (WAITING, fields.clone(), below), now)?;
        }
        before = piece;
    }
    Ok(())
}

/// Takes off a chunk, or its first characters, which somebody has seen. The rest waits as a chunk
/// of its own that begins with the end of what was seen, in the place of the whole.
pub(super) fn take_off(
    batch: &mut Batch<'_>,
    chunk: &StoredKnowledgeNode,
    n_seen: Option<usize>,
    now: UnixMillis,
) -> KnowledgeResult<()> {
    batch.forget(&chunk.record)?;
    let n_seen = n_seen.unwrap_or(usize::MAX);
    let text = &chunk.record.content;
    if text.chars().skip(n_seen).all(char::is_whitespace) {
        return Ok(());
    }
    // However little was seen, the rest is shorter than the whole.
    let n_again = OVERLAP_CHARS.min(n_seen / 2);
    let rest: String = text.chars().skip(n_seen - n_again).collect();
    let place = NewNodePlace::Place(chunk.record.place);
    add_chunk(batch, &rest, (WAITING, common_fields(chunk), place), now)
}

/// Returns the fields of a text that those of one buffer have in common.
fn common_fields(node: &StoredKnowledgeNode) -> Map<String, Value> {
    let mut fields = node.fields.clone();
    fields.retain(|key, _| OF_BUFFER.contains(&key.as_str()));
    fields
}

/// Hands in the whole text of a source, in place of its chunks that wait.
pub(crate) fn hand_in(
    batch: &mut Batch<'_>,
    source: &str,
    text: &str,
    now: UnixMillis,
) -> KnowledgeResult<()> {
    for state in CHUNK_STATES {
        for chunk in StoredKnowledgeNode::all(batch.with_facet(NodeType::Chunk, "kind", state)?)? {
            if chunk.text("source") == Some(source) {
                batch.forget(&chunk.record)?;
            }
        }
    }
    let mut fields = Map::new();
    fields.insert("source".to_owned(), source.into());
    add_waiting(batch, text, (KnowledgeSettings::default().buffer_chars(), &fields), now)
}
