//! Digests knowledge for the bootstrap of a prompt: the surest, within a budget.
//!
//! It depends on the snapshot alone: neither heat nor the clock moves a byte, so that a prompt
//! which begins with it can be cached.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{all_of, conflicts_document, last_written, stats_document};
use crate::memory::knowledge::arguments::KnowledgeResult;
use crate::memory::knowledge::worksheets::Worksheet;
use crate::model::tree::NodeType;
use crate::store::NodeRowId;
use crate::store::reader::{KnowledgeRow, Reader};
use crate::text::terminal_safe_json::json_text;
use crate::text::tokens;

/// Tokens of the document where nobody says how many.
pub(crate) const BOOTSTRAP_DEFAULT: u32 = 1_000;

/// Least and most tokens of the document.
pub(crate) const BOOTSTRAP_RANGE: (u32, u32) = (200, 100_000);

/// Concepts that are tried, at most.
const CONCEPTS_MAX: usize = 500;

/// Conflicts that are shown, at most.
const CONFLICTS_MAX: usize = 10;

/// Facts that one cluster shows, at most.
const FACTS_MAX: usize = 8;

/// Characters of a summary or a fact, at most.
const TEXT_CHARS_MAX: usize = 600;

/// Returns what is surest: concepts by confidence and by their sources, and open conflicts.
pub(crate) fn bootstrap_document(reader: &Reader, budget: u32) -> KnowledgeResult<Value> {
    let mut concepts = all_of(reader, NodeType::Concept)?;
    concepts.retain(|it| !it.has("superseded_by"));
    let n_sources = n_sources(reader, &concepts)?;
    let rank = |it: &KnowledgeRow| {
        let confidence = it.number("confidence").unwrap_or(0.5);
        (confidence, n_sources.get(&it.key).copied().unwrap_or(0))
    };
    concepts.sort_by(|a, b| {
        let ((a_confidence, a_sources), (b_confidence, b_sources)) = (rank(a), rank(b));
        b_confidence
            .total_cmp(&a_confidence)
            .then(b_sources.cmp(&a_sources))
            .then(a.key.cmp(&b.key))
    });
    let n_concepts = concepts.len();
    concepts.truncate(CONCEPTS_MAX);
    let at = last_written(reader)?;
    let mut sheet = Worksheet::new(
        json!({
            "snapshot": reader.versions().snapshots()?.last,
            "stats": stats_document(reader, at)?,
            "concepts": [],
            "conflicts": [],
            "left_out": n_concepts,
        }),
        budget,
    );
    let conflicts = conflicts_document(reader, ("open", at), CONFLICTS_MAX)?;
    for conflict in conflicts["conflicts"].as_array().into_iter().flatten() {
        sheet.add("conflicts", 0.4, conflict.clone());
    }
    let mut facts = facts_of(reader, &concepts)?;
    let mut n_shown = 0;
    for concept in &concepts {
        let facts = facts.remove(&concept.key).unwrap_or_default();
        let shown = |text: &str| {
            let mut shown = json!({
                "id": concept.id,
                "kind": concept.text("kind"),
                "title": concept.title(),
                "summary": text,
                "confidence": concept.number("confidence"),
            });
            if !facts.is_empty() {
                shown["facts"] = facts.clone().into();
            }
            shown
        };
        if sheet.add_cut("concepts", 1.0, &concept.content, TEXT_CHARS_MAX, shown) {
            n_shown += 1;
        }
    }
    let mut document = sheet.finish();
    loop {
        document["left_out"] = (n_concepts - n_shown).into();
        // Texts beside each other may have more tokens than each alone.
        if tokens::fits(&json_text(&document), budget) {
            return Ok(document);
        }
        if document["concepts"].as_array_mut().and_then(Vec::pop).is_some() {
            n_shown -= 1;
        } else if document["conflicts"].as_array_mut().and_then(Vec::pop).is_none() {
            return Ok(document);
        }
    }
}

/// Returns how many edges lead to each concept from an episode that supports it.
fn n_sources(
    reader: &Reader,
    concepts: &[KnowledgeRow],
) -> KnowledgeResult<HashMap<NodeRowId, usize>> {
    let keys: Vec<NodeRowId> = concepts.iter().map(|it| it.key).collect();
    let mut n = HashMap::new();
    for edge in reader.typed_edges_to(&keys, super::EDGES_MAX)? {
        if edge.link_type == "supports" {
            *n.entry(edge.target).or_insert(0) += 1;
        }
    }
    Ok(n)
}

/// Returns the facts of clusters that hold when the memory was last written, newest first.
fn facts_of(
    reader: &Reader,
    concepts: &[KnowledgeRow],
) -> KnowledgeResult<HashMap<NodeRowId, Vec<String>>> {
    let keys: Vec<NodeRowId> =
        concepts.iter().filter(|it| it.has("subject")).map(|it| it.key).collect();
    let mut facts: HashMap<NodeRowId, Vec<String>> = HashMap::new();
    let now = last_written(reader)?;
    for fact in reader.facts_below(&keys, super::EDGES_MAX)?.into_iter().rev() {
        let Some(cluster) = fact.parent else { continue };
        let of_cluster = facts.entry(cluster).or_default();
        if !fact.is_gone() && !fact.has_ended(now) && of_cluster.len() < FACTS_MAX {
            of_cluster.push(crate::text::truncate_chars(&fact.content, TEXT_CHARS_MAX));
        }
    }
    Ok(facts)
}
