//! Spreading activation: walks along typed edges, both ways, two hops.
//!
//! Each edge passes on `activation · strength · weight · λ / √(1 + edges of that type there)`; what
//! arrives at a node is added as `1 − Π(1 − c)`. What replaces a node has its activation in full.

use std::collections::{BTreeMap, HashMap};

use super::items::{ItemScore, RecallItem, RecallReason, status};
use super::{RecallQueryContext, SPREAD_FLOOR, is_merged};
use crate::memory::knowledge::arguments::KnowledgeResult;
use crate::model::tree::NodeType;
use crate::store::NodeRowId;
use crate::store::reader::{KnowledgeRow, TypedEdge};

/// Edges that are read for one hop or look-up, at most.
pub(super) const EDGES_MAX: usize = 4_096;

/// Nodes that pass activation on in one hop, at most: the strongest.
const FRONT_MAX: usize = 20;

/// Edges of one type that lead to a node and are walked back: of more, none passes on what would
/// be shown.
const SAME_MAX: usize = 64;

/// Edges that activation walks along, at most.
const PUSHES_MAX: usize = 256;

/// Nodes that are read after one hop, at most: the strongest.
const READ_MAX: usize = 64;

const HOPS: usize = 2;

/// Share of its activation that a hop keeps.
const HOP_SHARE: f64 = 0.5;

/// Share that an edge into another topic keeps, where a topic is asked for.
const OTHER_TOPIC_SHARE: f64 = 0.4;

/// The least activation that a way passes on; less moves no concept above [`SPREAD_FLOOR`].
const PASSED_MIN: f64 = 0.01;

/// Replacements one after another, at most.
const REPLACED_MAX: usize = 1_000;

/// Types of edges with their weights: along the edge, and against it.
const WEIGHTS: &[(&str, f64, f64)] = &[
    ("implies", 0.9, 0.6),
    ("generalizes", 0.85, 0.85),
    ("specializes", 0.85, 0.85),
    ("part_of", 0.8, 0.8),
    ("context_of", 0.7, 0.7),
    ("causes", 0.7, 0.6),
    ("correlates", 0.6, 0.6),
    ("contradicts", 0.8, 0.8),
    ("supersedes", 0.1, 1.0),
    ("related_to", 0.5, 0.5),
    ("derived_from", 0.3, 0.3),
    ("supports", 0.7, 0.4),
    ("exemplifies", 0.5, 0.3),
    ("qualifies", 0.4, 0.3),
    ("mentions", 0.5, 0.4),
];

/// The weights of any other type.
const OTHER_WEIGHTS: (f64, f64) = (0.4, 0.4);

/// A way from one node to another.
#[derive(Clone, Debug)]
struct ActivationStep {
    from: NodeRowId,
    to: NodeRowId,
    passed: f64,
    /// How the edge reads from its end.
    way: String,
}

/// Activation that arrived at a node.
#[derive(Clone, Debug)]
struct NodeActivation {
    /// The product of what every way leaves.
    rest: f64,
    best: f64,
    way: String,
    from: NodeRowId,
}

impl RecallQueryContext<'_> {
    /// Spreads from what the words found; returns the concepts that were reached. Seeds that were
    /// replaced give way to their replacements.
    pub(super) fn spread(
        &self,
        seeds: &mut Vec<RecallItem>,
        episodes: &[RecallItem],
        entities: &[(KnowledgeRow, f64)],
    ) -> KnowledgeResult<Vec<RecallItem>> {
        let mut titles: HashMap<NodeRowId, String> = HashMap::new();
        let mut front: Vec<(NodeRowId, f64)> = Vec::new();
        let starts = seeds.iter().chain(episodes).map(|it| (&it.row, it.score));
        let starts = starts.chain(entities.iter().map(|(row, sim)| (row, *sim)));
        for (row, activation) in starts {
            titles.insert(row.key, row.title().to_owned());
            front.push((row.key, activation));
        }
        let mut reached: BTreeMap<NodeRowId, (KnowledgeRow, NodeActivation)> = BTreeMap::new();
        let mut n_pushes = 0;
        for _ in 0..HOPS {
            let pushes = self.pushes(&strongest(front), PUSHES_MAX - n_pushes)?;
            n_pushes += pushes.len();
            let mut arrived: BTreeMap<NodeRowId, NodeActivation> = BTreeMap::new();
            for push in pushes.into_iter().filter(|it| !titles.contains_key(&it.to)) {
                let ActivationStep { from, to, passed, way } = push;
                let entry = arrived.entry(to).or_insert(NodeActivation {
                    rest: 1.0,
                    best: 0.0,
                    way: String::new(),
                    from,
                });
                entry.rest *= 1.0 - passed;
                if entry.best < passed {
                    (entry.best, entry.way, entry.from) = (passed, way, from);
                }
            }
            front = Vec::new();
            // A weaker node is not shown, and passes nothing on that would be.
            arrived.retain(|_, at| SPREAD_FLOOR <= 1.0 - at.rest);
            for row in self.reader.knowledge_unlinked(&most_active(&arrived))? {
                let Some(mut at) = arrived.remove(&row.key) else { continue };
                if row.is_gone() || row.fields.is_none() {
                    continue;
                }
                if self.is_of_other_topic(&row) {
                    at.rest = 1.0 - OTHER_TOPIC_SHARE * (1.0 - at.rest);
                }
                let source = titles.get(&at.from).cloned().unwrap_or_default();
                at.way = format!("{} {source:?}", at.way);
                titles.insert(row.key, row.title().to_owned());
                front.push((row.key, 1.0 - at.rest));
                reached.insert(row.key, (row, at));
            }
        }
        let mut items = Vec::new();
        for (row, at) in reached.into_values() {
            let score = 1.0 - at.rest;
            if row.node_type == NodeType::Concept && SPREAD_FLOOR <= score {
                let score = ItemScore { sim: 0.0, fused: score, quality: 1.0 };
                items.push(RecallItem::new(row, score, RecallReason::of(at.way)));
            }
        }
        self.replace(seeds, &mut items)?;
        items.retain(|it| self.is_shown(&it.row));
        Ok(items)
    }

    /// Returns the strongest ways out of the front.
    fn pushes(
        &self,
        front: &BTreeMap<NodeRowId, f64>,
        n_max: usize,
    ) -> KnowledgeResult<Vec<ActivationStep>> {
        let keys: Vec<NodeRowId> = front.keys().copied().collect();
        let along = self.reader.typed_edges_from(&keys, EDGES_MAX)?;
        let against = self.reader.typed_edges_to_few(&keys, SAME_MAX, EDGES_MAX)?;
        let mut pushes = Vec::new();
        for (edges, is_along) in [(along, true), (against, false)] {
            let mut degrees: HashMap<(NodeRowId, String), u32> = HashMap::new();
            let ends = |it: &TypedEdge| {
                if is_along { (it.source, it.target) } else { (it.target, it.source) }
            };
            for edge in &edges {
                *degrees.entry((ends(edge).0, edge.link_type.clone())).or_insert(0) += 1;
            }
            for edge in edges {
                let (from, to) = ends(&edge);
                let known = WEIGHTS.iter().find(|it| it.0 == edge.link_type);
                let (out, back) = known.map_or(OTHER_WEIGHTS, |it| (it.1, it.2));
                let weight = if is_along { out } else { back };
                let key = (from, edge.link_type);
                let degree = degrees.get(&key).copied().unwrap_or(1);
                let activation = front.get(&from).copied().unwrap_or(0.0);
                let passed =
                    activation * edge.strength * weight * HOP_SHARE / f64::from(1 + degree).sqrt();
                let arrow = if is_along { "←" } else { "→" };
                let way = format!("{} {arrow}", key.1);
                pushes.push(ActivationStep { from, to, passed: passed.clamp(0.0, 1.0), way });
            }
        }
        pushes.retain(|it| PASSED_MIN <= it.passed);
        pushes.sort_by(|a, b| {
            b.passed.total_cmp(&a.passed).then((a.to, a.from).cmp(&(b.to, b.from)))
        });
        pushes.truncate(n_max);
        Ok(pushes)
    }

    fn is_of_other_topic(&self, row: &KnowledgeRow) -> bool {
        match (&self.topic, row.text("topic")) {
            (Some(topic), Some(id)) => topic.id != id,
            _ => false,
        }
    }

    /// Puts what replaces a seed above it, and leaves the seed out unless it is asked for.
    pub(super) fn replace(
        &self,
        seeds: &mut Vec<RecallItem>,
        reached: &mut Vec<RecallItem>,
    ) -> KnowledgeResult<()> {
        let (replaced, mut kept): (Vec<RecallItem>, Vec<RecallItem>) = std::mem::take(seeds)
            .into_iter()
            .partition(|it| self.is_superseded(&it.row) || is_merged(&it.row));
        for mut old in replaced {
            let Some(row) = self.replacement_of(&old.row)? else { continue };
            let what = match is_merged(&old.row) {
                true if self.is_divided(&old.row)? => "has a part of",
                true => "took in",
                false => "replaces",
            };
            let why = format!("{what} {:?}, which has {}", old.row.title(), old.why.text());
            reached.retain(|it| it.row.key != row.key);
            match kept.iter_mut().find(|it| it.row.key == row.key) {
                Some(item) if item.score < old.score => item.score = old.score,
                Some(_) => (),
                None => {
                    let score = ItemScore { fused: old.score, quality: 1.0, ..old.parts };
                    kept.push(RecallItem::new(row.clone(), score, RecallReason::of(why)));
                }
            }
            if self.request.include.superseded {
                let above = kept.iter().find(|it| it.row.key == row.key);
                old.score = above.map_or(old.score, |it| old.score.min(it.score)) * 0.99;
                old.superseded_by = Some(row.id);
                kept.push(old);
            }
        }
        kept.retain(|it| self.is_shown(&it.row));
        *seeds = kept;
        Ok(())
    }

    /// Returns whether several concepts have what a merged one had: the one that took it in was
    /// split.
    fn is_divided(&self, row: &KnowledgeRow) -> KnowledgeResult<bool> {
        let mut edges = self.reader.typed_edges_to_few(&[row.key], SAME_MAX, EDGES_MAX)?;
        edges.retain(|it| it.link_type == "derived_from");
        Ok(1 < edges.len())
    }

    /// Returns the fact that stands at the time of the answer for one that does not, if one does.
    pub(super) fn standing_fact(
        &self,
        fact: &KnowledgeRow,
    ) -> KnowledgeResult<Option<KnowledgeRow>> {
        let mut at = fact.clone();
        for _ in 0..REPLACED_MAX {
            if !at.has("deleted") && matches!(status(self, &at), Some("current" | "contested")) {
                return Ok(Some(at).filter(|it| it.key != fact.key));
            }
            let next = match at.text("superseded_by").or(at.text("merged_into")) {
                Some(id) => self.reader.knowledge_by_id(id)?,
                // One that was replaced as of a later day is told of by an edge.
                None if !at.has("valid_to") => None,
                None => {
                    let by = self.reader.typed_edges_to_few(&[at.key], SAME_MAX, EDGES_MAX)?;
                    let by: Vec<NodeRowId> = by
                        .into_iter()
                        .filter(|it| it.link_type == "supersedes")
                        .map(|it| it.source)
                        .collect();
                    self.reader.knowledge_unlinked(&by)?.pop()
                }
            };
            match next {
                Some(next) => at = next,
                None => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Returns the node that stands for a replaced one now.
    pub(super) fn replacement_of(
        &self,
        row: &KnowledgeRow,
    ) -> KnowledgeResult<Option<KnowledgeRow>> {
        let mut at = row.clone();
        for _ in 0..REPLACED_MAX {
            let id = at.text("superseded_by").or(at.text("merged_into"));
            let Some(id) = id.map(str::to_owned) else { return Ok(Some(at)) };
            match self.reader.knowledge_by_id(&id)? {
                Some(next) => at = next,
                None => return Ok(None),
            }
        }
        Ok(None)
    }
}

/// Returns the nodes where most activation arrived.
fn most_active(arrived: &BTreeMap<NodeRowId, NodeActivation>) -> Vec<NodeRowId> {
    let mut all: Vec<(f64, NodeRowId)> = arrived.iter().map(|(key, at)| (at.rest, *key)).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    all.into_iter().take(READ_MAX).map(|it| it.1).collect()
}

/// Returns the nodes of a front that pass activation on.
fn strongest(mut front: Vec<(NodeRowId, f64)>) -> BTreeMap<NodeRowId, f64> {
    front.retain(|it| SPREAD_FLOOR <= it.1);
    front.sort_by(|a, b| b.1.total_cmp(&a.1));
    front.into_iter().take(FRONT_MAX).collect()
}
