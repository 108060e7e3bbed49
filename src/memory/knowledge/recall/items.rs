//! Items of an answer: their facts, their order and their JSON.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Value, json};

use super::{RecallQueryContext, RecallRequest};
use crate::memory::knowledge::arguments::KnowledgeResult;
use crate::model::clock::UnixMillis;
use crate::model::tree::NodeType;
use crate::query::{descending, replacements_first};
use crate::store::NodeRowId;
use crate::store::reader::KnowledgeRow;
use crate::text;

/// Facts of all clusters that are read, at most.
const FACTS_READ_MAX: usize = 2_000;

/// Facts that one cluster shows, at most.
const FACTS_SHOWN_MAX: usize = 12;

/// The parts of a score.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ItemScore {
    pub(super) sim: f64,
    pub(super) fused: f64,
    pub(super) quality: f64,
}

/// The reason why an item is in an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RecallReason(String);

impl RecallReason {
    pub(super) fn of(text: String) -> RecallReason {
        RecallReason(text)
    }

    pub(super) fn words(words: &[&str]) -> RecallReason {
        match words {
            [] => RecallReason("meaning".to_owned()),
            words => RecallReason(format!("words: {}", words.join(", "))),
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }
}

/// A concept, an episode or a memory of an answer.
#[derive(Clone, Debug)]
pub(super) struct RecallItem {
    pub(super) row: KnowledgeRow,
    pub(super) score: f64,
    pub(super) parts: ItemScore,
    pub(super) why: RecallReason,
    pub(super) facts: Vec<RecallFact>,
    /// Facts that are not shown.
    n_more_facts: usize,
    pub(super) superseded_by: Option<String>,
    /// Whether it is an episode that states what is deleted, and nothing else.
    pub(super) states_deleted: bool,
    /// Nodes that took its place, or state what took the place of what it states.
    replaced_by: Vec<NodeRowId>,
    /// Whether it is shown only in the place of one that does not fit.
    pub(super) is_spare: bool,
}

/// A fact of an answer.
#[derive(Clone, Debug)]
pub(super) struct RecallFact {
    pub(super) key: NodeRowId,
    shown: Value,
}

/// Share of a score that a provider of scores decides.
const RESCORED: f64 = 0.6;

/// Mixes the scores of a provider in, any numbers of which more is better, and sorts.
pub(super) fn rescore(items: &mut [RecallItem], scores: &[f64]) {
    for (item, score) in items.iter_mut().zip(scores) {
        let share = 1.0 / (1.0 + (-score).exp());
        item.score = (1.0 - RESCORED) * item.score + RESCORED * share;
    }
    items.sort_by(|a, b| b.score.total_cmp(&a.score));
}

impl RecallItem {
    pub(super) fn new(row: KnowledgeRow, parts: ItemScore, why: RecallReason) -> RecallItem {
        let score = (parts.fused * parts.quality).clamp(0.0, 1.0);
        let (facts, n_more_facts, superseded_by) = (Vec::new(), 0, None);
        let replaced_by = Vec::new();
        RecallItem {
            row,
            score,
            parts,
            why,
            facts,
            n_more_facts,
            superseded_by,
            states_deleted: false,
            replaced_by,
            is_spare: false,
        }
    }

    /// Returns whether it is, or shows, a node that took the place of another item.
    fn replaces(&self, old: &RecallItem) -> bool {
        let mut nodes = std::iter::once(self.row.key).chain(self.facts.iter().map(|it| it.key));
        nodes.any(|it| old.replaced_by.contains(&it))
    }

    /// Returns its JSON with its first facts.
    pub(super) fn to_json(&self, request: &RecallRequest, n_facts: usize) -> Value {
        let row = &self.row;
        let kind = row.text("kind").unwrap_or(row.node_type.as_str());
        let text = match &self.superseded_by {
            Some(_) => text::label_of_text(&row.content),
            None => row.content.clone(),
        };
        let mut shown = json!({
            "id": row.id,
            "type": row.node_type.as_str(),
            "kind": kind,
            "title": row.title(),
            "text": text,
            "score": rounded(self.score),
            "why": self.why.text(),
        });
        for state in ["deleted", "archived"] {
            if row.has(state) || state == "deleted" && self.states_deleted {
                shown[state] = true.into();
            }
        }
        if let Some(at) = row.time("at") {
            shown["at"] = at.to_second().into();
        }
        let facts = self.facts.iter().take(n_facts);
        let n_more_facts = self.n_more_facts + self.facts.len().saturating_sub(n_facts);
        if 0 < facts.len() {
            shown["facts"] = facts.map(|it| it.shown.clone()).collect();
        }
        if 0 < n_more_facts {
            shown["more_facts"] = n_more_facts.into();
        }
        if let Some(id) = &self.superseded_by {
            shown["superseded_by"] = id.as_str().into();
        }
        if request.explains {
            shown["explain"] = json!({
                "relevance": rounded(self.parts.sim),
                "fused": rounded(self.parts.fused),
                "quality": rounded(self.parts.quality),
            });
        }
        shown
    }
}

/// Puts what took the place of an item before it.
pub(super) fn put_replacements_first(items: Vec<RecallItem>) -> Vec<RecallItem> {
    let mut pairs = BTreeSet::new();
    for (old, item) in items.iter().enumerate().filter(|it| !it.1.replaced_by.is_empty()) {
        pairs.extend((0..items.len()).filter(|by| items[*by].replaces(item)).map(|by| (old, by)));
    }
    let order = replacements_first(items.len(), &pairs);
    let scores = descending(order.iter().map(|&nth| items[nth].score).collect());
    let mut items: Vec<Option<RecallItem>> = items.into_iter().map(Some).collect();
    let placed = order
        .into_iter()
        .zip(scores)
        .filter_map(|(nth, score)| items[nth].take().map(|it| RecallItem { score, ..it }));
    placed.collect()
}

pub(super) fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

/// Returns the state of a fact at the time of an answer; `None` where it is not shown then. One
/// that was contested may be so no more.
pub(super) fn status(recall: &RecallQueryContext<'_>, fact: &KnowledgeRow) -> Option<&'static str> {
    let (at, include) = (recall.at, recall.request.include);
    if fact.has("merged_into") || fact.has("deleted") {
        return (include.deleted && fact.has("deleted")).then_some("deleted");
    }
    let held = fact.validity();
    let is_over = match recall.request.as_of {
        None => fact.has_ended(at),
        Some(_) => held.is_over(at),
    };
    match () {
        () if is_over => include.superseded.then_some("superseded"),
        () if !held.is_begun(at) => recall.request.as_of.is_none().then_some("future"),
        () if fact.has("contested") => Some("contested"),
        () => Some("current"),
    }
}

impl RecallQueryContext<'_> {
    /// Marks the items that were replaced at the time of the answer.
    pub(super) fn mark_replaced(&self, items: &mut [RecallItem]) -> KnowledgeResult<()> {
        if !self.request.include.superseded {
            return Ok(());
        }
        let keys: Vec<NodeRowId> = items.iter().map(|it| it.row.key).collect();
        let replaced = self.reader.replacements_among(&keys, self.at)?;
        for item in items {
            let by = replaced.iter().filter(|it| it.0 == item.row.key).map(|it| it.1);
            item.replaced_by = by.collect();
            if !item.replaced_by.is_empty() && item.superseded_by.is_none() {
                item.superseded_by = self.standing_for(&item.row)?;
            }
        }
        Ok(())
    }

    /// Returns the id of what stands for a node that was replaced, or for the fact that it states.
    fn standing_for(&self, row: &KnowledgeRow) -> KnowledgeResult<Option<String>> {
        if row.has("superseded_by") {
            return Ok(self.replacement_of(row)?.map(|it| it.id));
        }
        for (_, fact) in self.reader.stated_facts(&[row.key], FACTS_SHOWN_MAX)? {
            if let Some(standing) = self.standing_fact(&fact)? {
                return Ok(Some(standing.id));
            }
        }
        Ok(None)
    }

    /// Reads the facts below clusters: those that the question asks for first, then the newest.
    pub(super) fn add_facts(
        &self,
        items: &mut [RecallItem],
        scores: &HashMap<NodeRowId, f64>,
    ) -> KnowledgeResult<()> {
        let clusters: Vec<NodeRowId> = items
            .iter()
            .filter(|it| it.row.node_type == NodeType::Concept && it.superseded_by.is_none())
            .map(|it| it.row.key)
            .collect();
        if clusters.is_empty() {
            return Ok(());
        }
        let mut by_cluster: HashMap<NodeRowId, Vec<(f64, RecallFact)>> = HashMap::new();
        let facts = self.reader.facts_below(&clusters, FACTS_READ_MAX)?;
        let marked: Vec<NodeRowId> =
            facts.iter().filter(|it| it.has("contested")).map(|it| it.key).collect();
        let contested = self.reader.contested_among(&marked, self.at)?;
        for fact in facts {
            let (Some(cluster), Some(status)) = (fact.parent, status(self, &fact)) else {
                continue;
            };
            let is_contested = contested.contains(&fact.key);
            let time = |key: &str| fact.time(key).map(UnixMillis::to_second);
            let mut shown = json!({
                "id": fact.id,
                "text": fact.content,
                "status": if status == "contested" && !is_contested { "current" } else { status },
                "valid_from": time("valid_from"),
                "valid_to": time("valid_to"),
            });
            if status == "future" && is_contested {
                shown["contested"] = true.into();
            }
            let score = scores.get(&fact.key).copied().unwrap_or(0.0);
            let line = RecallFact { key: fact.key, shown };
            by_cluster.entry(cluster).or_default().push((score, line));
        }
        for item in items {
            let Some(mut facts) = by_cluster.remove(&item.row.key) else { continue };
            let is_over = |it: &RecallFact| it.shown["status"] == "superseded";
            facts.sort_by(|a, b| {
                let by_state = is_over(&a.1).cmp(&is_over(&b.1));
                b.0.total_cmp(&a.0).then(by_state).then(b.1.key.cmp(&a.1.key))
            });
            item.n_more_facts = facts.len().saturating_sub(FACTS_SHOWN_MAX);
            item.facts = facts.into_iter().take(FACTS_SHOWN_MAX).map(|it| it.1).collect();
        }
        Ok(())
    }
}
