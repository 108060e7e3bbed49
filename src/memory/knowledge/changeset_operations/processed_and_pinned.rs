//! Operations on the state of a node: processed, ingested, pinned.

use serde_json::{Map, Value};

use super::OperationOutcome;
use crate::memory::knowledge::arguments::{ArgumentObject, KnowledgeResult};
use crate::memory::knowledge::changeable_nodes::why_not_changed;
use crate::memory::knowledge::changeset_base_and_names::ChangesetContext;
use crate::memory::knowledge::ingest_queue::take_off;
use crate::memory::knowledge::node_writes::{StoredKnowledgeNode, set_fields};
use crate::model::clock::UnixMillis;
use crate::model::tree::NodeType;
use crate::store::Batch;

/// Ids of one operation, at most.
const IDS_MAX: usize = 1_000;

/// Characters of an id, at most: a UUID or a declared name.
pub(super) const ID_CHARS_MAX: usize = 100;

pub(super) fn processed(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    let ids = given.texts("ids", IDS_MAX, ID_CHARS_MAX)?.unwrap_or_default();
    for id in &ids {
        let mut episode = changeset.node_to_change(batch, given, "ids", id)?;
        if !episode.is_a(NodeType::Episode) {
            let why = format!("names `{id}`, which is a {}", episode.record.node_type);
            return Err(given.refuse("ids", why));
        }
        mark_processed(batch, &mut episode, changeset.now)?;
    }
    Ok(OperationOutcome::default())
}

/// Marks an episode as processed by this write, unless it is already.
fn mark_processed(
    batch: &mut Batch<'_>,
    episode: &mut StoredKnowledgeNode,
    now: UnixMillis,
) -> KnowledgeResult<()> {
    if episode.has("processed_in") {
        return Ok(());
    }
    let snapshot = batch.own_snapshot()?;
    let mark = |it: &mut Map<String, Value>| {
        it.insert("processed_in".to_owned(), snapshot.into());
    };
    set_fields(batch, episode, mark, now).map(drop)
}

pub(super) fn ingested(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    let named = given.required("chunk", given.text("chunk", ID_CHARS_MAX)?)?;
    let (id, n_shown) = match named.split_once('/') {
        None => (named, None),
        Some((id, n_shown)) => match n_shown.parse() {
            Ok(n_shown) if 0 < n_shown => (id, Some(n_shown)),
            _ => return Err(given.refuse("chunk", "must be named as the worksheet names it")),
        },
    };
    let density = given.share("density")?;
    let chunk = changeset.node(batch, given, "chunk", id)?;
    if !chunk.is_a(NodeType::Chunk) {
        let why = format!("names a {}, not a chunk", chunk.record.node_type);
        return Err(given.refuse("chunk", why));
    }
    take_off(batch, &chunk, n_shown, changeset.now)?;
    let density = density.map(|it| format!(" density={it}")).unwrap_or_default();
    let note = Some(format!("ingested:{}{density}", chunk.id()));
    Ok(OperationOutcome { note, ..OperationOutcome::of(chunk.id()) })
}

/// Returns the argument `id`.
pub(super) fn id<'a>(given: &ArgumentObject<'a>) -> KnowledgeResult<&'a str> {
    given.required("id", given.text("id", ID_CHARS_MAX)?)
}

pub(super) fn pin(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    let node = changeset.node(batch, given, "id", id(given)?)?;
    if let Some(why) = why_not_changed(batch, &node)? {
        return Err(given.refuse("id", why).about(&node.id().to_string()));
    }
    batch.pin(node.record.key, None)?;
    Ok(OperationOutcome::of(node.id()))
}

pub(super) fn unpin(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    let node = changeset.node(batch, given, "id", id(given)?)?;
    batch.unpin(node.record.key)?;
    Ok(OperationOutcome::of(node.id()))
}
