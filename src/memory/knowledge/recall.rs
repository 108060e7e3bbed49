//! Recall: the concepts, facts and episodes that answer a question, best first, within a budget.
//!
//! `fused = .7·relevance + .3·K`. Relevance is the share of the question's words by rarity, or the
//! nearness in meaning where that is more, and K the share that occurs in the text at all.
//!
//! A seed has `fused ≥` [`FLOOR`], and `fused·(.5+.5·confidence)·E·(.6+.4·temperature)` as its
//! activation, E being its evidence. Activation spreads along typed edges, and what it reaches
//! competes for a third of the places.

mod items;
mod lexical_relevance;
mod packing;
mod request;
mod seeds;
mod spreading_activation;

use std::collections::HashMap;

use serde_json::Value;

use super::arguments::KnowledgeResult;
use crate::memory::Memory;
use crate::memory::typed::{ErrorCode, MemoryError};
use crate::model::clock::UnixMillis;
use crate::model::entity_extraction::{NamedEntity, name_key};
use crate::model::identity::NodeId;
use crate::model::topic_name_matching_and_slugs::TopicNameOrSlug;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::knowledge::FACT_CLUSTER;
use crate::query::AccessKind;
use crate::store::NodeRowId;
use crate::store::reader::{FieldFilter, KnowledgeRow, Reader};
use crate::text::terminal_safe_json::json_text;
use crate::text::tokens;
use items::RecallItem;
pub(crate) use request::RecallRequest;
use seeds::SeedsAndSpreadItems;

/// The least fused relevance of a seed.
const FLOOR: f64 = 0.25;

/// The least activation of what spreading reaches.
const SPREAD_FLOOR: f64 = 0.05;

/// Items of a kind that may take the places of what does not fit, at most.
const SPARES_MAX: usize = 12;

/// Tokens of an answer beside its items.
const FRAME_TOKENS: u32 = 60;

/// Types of nodes and kinds of concepts that `kinds` may name beside kinds of episodes.
const OTHER_KINDS: &[&str] =
    &["episode", "concept", "pattern", FACT_CLUSTER, "core", "learning", "task"];

/// One question, on one state of the memory.
struct RecallQueryContext<'a> {
    reader: &'a Reader,
    request: &'a RecallRequest,
    topic: Option<KnowledgeRow>,
    entity: Option<KnowledgeRow>,
    /// The reading of the memory clock.
    attended: i64,
    /// The time that the answer is of.
    at: UnixMillis,
}

impl Memory {
    /// Returns the knowledge that answers a question, and warms it.
    pub(crate) fn recall(&self, request: &RecallRequest) -> Result<Value, MemoryError> {
        let now = self.clock.now();
        let meaning = request.query.as_deref().and_then(|it| self.meaning_of(it));
        let request = request.clone().weighed_by(&self.knowledge_settings());
        let request = &RecallRequest { meaning, tools: self.tools.clone(), ..request };
        let (mut items, n_pending) = self.read::<_, MemoryError>(|reader| {
            reader.at_one_state(|reader| find_items(reader, request, now))
        })?;
        // A provider may take its time: no state of the memory is held meanwhile.
        if let Some(query) = &request.query {
            self.rescore(query, &mut items);
        }
        let (answer, shown) = packing::packed(items, request, n_pending);
        let shown: Vec<_> = shown.into_iter().map(|it| (it, AccessKind::Read)).collect();
        self.warm(&shown);
        Ok(answer)
    }

    /// Orders what was found by the user's provider, where there is one that answers.
    fn rescore(&self, query: &str, items: &mut [RecallItem]) {
        let text = |it: &RecallItem| format!("{}\n{}", it.row.title(), it.row.content);
        let texts: Vec<String> = items.iter().map(text).collect();
        if 1 < texts.len()
            && let Some(scores) = self.rescored(query, &texts)
        {
            items::rescore(items, &scores);
        }
    }
}

/// Returns the knowledge that answers a question, and the nodes that are shown; it warms nothing.
pub(crate) fn recall(
    reader: &Reader,
    request: &RecallRequest,
    now: UnixMillis,
) -> KnowledgeResult<(Value, Vec<NodeRowId>)> {
    let (items, n_pending) = find_items(reader, request, now)?;
    Ok(packing::packed(items, request, n_pending))
}

/// Returns what answers a question, best first, and the number of pending episodes.
fn find_items(
    reader: &Reader,
    request: &RecallRequest,
    now: UnixMillis,
) -> KnowledgeResult<(Vec<RecallItem>, u64)> {
    check_kinds(reader, request)?;
    let topic = match &request.topic {
        Some(text) => Some(find_topic(reader, text)?.ok_or_else(|| unknown("topic", text))?),
        None => None,
    };
    let entity = match &request.entity {
        Some(text) => Some(find_entity(reader, text)?.ok_or_else(|| unknown("entity", text))?),
        None => None,
    };
    let attended = reader.attended()?;
    let at = request.as_of.unwrap_or(now);
    let recall = RecallQueryContext { reader, request, topic, entity, attended, at };
    let found = match &request.query {
        Some(query) => recall.of_words(query)?,
        None => recall.of_place()?,
    };
    Ok((recall.items(found)?, reader.pending_episodes(None)?))
}

/// Refuses kinds that neither are known nor belong to any node.
fn check_kinds(reader: &Reader, request: &RecallRequest) -> KnowledgeResult<()> {
    let known: Vec<&str> =
        request.known_kinds.iter().map(String::as_str).chain(OTHER_KINDS.iter().copied()).collect();
    for kind in request.kinds.iter().filter(|it| !known.contains(&it.as_str())) {
        if reader.nodes_with(&[FieldFilter::text("kind", kind)])?.is_empty() {
            let known = known.join(", ");
            let what = format!(
                "`kinds` has `{kind}`, which is no kind that recall shows; known are {known}"
            );
            return Err(MemoryError::invalid(what));
        }
    }
    Ok(())
}

/// Returns the error of something that is not there.
pub(super) fn unknown(what: &str, text: &str) -> MemoryError {
    MemoryError::new(ErrorCode::NotFound, format!("no {what} `{text}` is known"))
}

/// Returns the node of an id, which must be of a type; the error says of which type it is.
pub(super) fn node_of_type(
    reader: &Reader,
    id: &str,
    node_type: NodeType,
) -> KnowledgeResult<KnowledgeRow> {
    match reader.knowledge_by_id(id)? {
        Some(row) if row.node_type == node_type => Ok(row),
        Some(row) => Err(of_other_type(node_type.as_str(), &row)),
        None => Err(unknown(node_type.as_str(), id)),
    }
}

/// Returns the entity of an id, `kind:name` or a name: an entity, or a node of a note.
pub(super) fn entity_of(reader: &Reader, text: &str) -> KnowledgeResult<KnowledgeRow> {
    match find_entity(reader, text)? {
        Some(row) if row.node_type == NodeType::Entity || row.fields.is_none() => Ok(row),
        Some(row) => Err(of_other_type("entity", &row)),
        None => Err(unknown("entity", text)),
    }
}

fn of_other_type(what: &str, row: &KnowledgeRow) -> MemoryError {
    let KnowledgeRow { id, node_type, .. } = row;
    let why = format!("no {what} `{id}` is known; the type of that node is {node_type}");
    MemoryError::new(ErrorCode::NotFound, why)
}

/// Returns the topic of an id, a name or a slug.
pub(super) fn find_topic(reader: &Reader, text: &str) -> KnowledgeResult<Option<KnowledgeRow>> {
    if NodeId::parse(text).is_some()
        && let Some(row) = reader.knowledge_by_id(text)?
        && row.node_type == NodeType::Topic
    {
        return Ok(Some(row));
    }
    let name = TopicNameOrSlug::of(text);
    let mut topics = Vec::new();
    for key in name.keys() {
        topics.extend(all_with(reader, NodeType::Topic, "name", key)?);
    }
    let matched = |it: KnowledgeRow| {
        let names = it.fields.as_ref().and_then(|it| it.get("names"));
        Some((name.match_with(it.title(), names)?, it.key, it))
    };
    let found = topics.into_iter().filter_map(matched).min_by_key(|it| (it.0, it.1));
    Ok(found.map(|it| it.2))
}

/// Returns the entity of an id, `kind:name` or a name.
pub(super) fn find_entity(reader: &Reader, text: &str) -> KnowledgeResult<Option<KnowledgeRow>> {
    if NodeId::parse(text).is_some()
        && let Some(row) = reader.knowledge_by_id(text)?
    {
        return Ok(Some(row));
    }
    let Some(named) = NamedEntity::parse(text) else { return Ok(None) };
    let file = match named.kind {
        "file" => reader.node_of_file(&named.name)?,
        _ => None,
    };
    if !file.is_some_and(|(_, is_own)| is_own) {
        let found = all_with(reader, NodeType::Entity, "name", &name_key(&named.name))?;
        if let Some(first) = found.into_iter().next() {
            return Ok(Some(first));
        }
    }
    match file {
        Some((key, _)) => Ok(reader.knowledge(&[key])?.pop()),
        None => Ok(None),
    }
}

/// Returns the keys of an entity. A compiled file is also the entity that its path was before.
pub(super) fn keys_of_entity(
    reader: &Reader,
    entity: &KnowledgeRow,
) -> KnowledgeResult<Vec<NodeRowId>> {
    let mut keys = vec![entity.key];
    if entity.fields.is_none() {
        let before = all_with(reader, NodeType::Entity, "name", &name_key(entity.title()))?;
        keys.extend(before.iter().map(|it| it.key));
    }
    Ok(keys)
}

/// Returns the nodes of a type that have a value under a key and are not gone, eldest first.
fn all_with(
    reader: &Reader,
    node_type: NodeType,
    key: &'static str,
    value: &str,
) -> KnowledgeResult<Vec<KnowledgeRow>> {
    let of_type = FieldFilter::text("type", node_type.as_str());
    let keys = reader.nodes_with(&[FieldFilter::text(key, value), of_type])?;
    Ok(reader.knowledge(&keys)?.into_iter().filter(|it| !it.is_gone()).collect())
}

impl RecallQueryContext<'_> {
    /// Returns whether a node belongs into the answer, apart from its relevance.
    fn is_shown(&self, row: &KnowledgeRow) -> bool {
        let include = &self.request.include;
        let is_later = row.node_type == NodeType::Episode
            && self.request.as_of.is_some()
            && row.time("at").is_some_and(|it| self.at < it);
        let is_hidden = row.has("merged_into")
            || row.has("deleted") && !include.deleted
            || row.has("archived") && !include.archived
            || self.is_superseded(row) && !include.superseded;
        !is_later && !is_hidden && self.is_of_kind(row)
    }

    fn is_of_kind(&self, row: &KnowledgeRow) -> bool {
        let kinds = &self.request.kinds;
        let is_one = |word: &str| kinds.iter().any(|it| it == word);
        kinds.is_empty() || is_one(row.node_type.as_str()) || row.text("kind").is_some_and(is_one)
    }

    /// Returns whether another node had taken the place of a node at the time of the answer.
    fn is_superseded(&self, row: &KnowledgeRow) -> bool {
        let is_then = row.time("superseded_at").is_none_or(|it| it <= self.at);
        row.has("superseded_by") && (self.request.as_of.is_none() || is_then)
    }

    /// Returns the part of the activation that does not depend on the question.
    fn quality(&self, row: &KnowledgeRow, evidence: f64) -> f64 {
        let default = if row.node_type == NodeType::Concept { 0.5 } else { 1.0 };
        let confidence = row.number("confidence").unwrap_or(default);
        let warmth = row.heat.now(self.attended);
        (0.5 + 0.5 * confidence) * evidence * (0.6 + 0.4 * warmth)
    }

    /// Returns the weight of the evidence for each of some concepts.
    fn evidence(&self, keys: &[NodeRowId]) -> KnowledgeResult<HashMap<NodeRowId, f64>> {
        let mut net: HashMap<NodeRowId, f64> = HashMap::new();
        for (target, link_type, strength) in
            self.reader.strengths_to(keys, spreading_activation::EDGES_MAX)?
        {
            let sign = match link_type.as_str() {
                "supports" => 1.0,
                "contradicts" => -1.0,
                "exemplifies" => 0.5,
                "qualifies" => 0.3,
                _ => continue,
            };
            *net.entry(target).or_insert(0.0) += sign * strength;
        }
        let weight = |it: f64| (1.0 + 0.15 * it).clamp(0.7, 1.2);
        Ok(net.into_iter().map(|(key, it)| (key, weight(it))).collect())
    }

    /// Chooses what is shown, and reads the facts of clusters.
    fn items(&self, found: SeedsAndSpreadItems) -> KnowledgeResult<Vec<RecallItem>> {
        let SeedsAndSpreadItems { mut seeds, mut reached, mut episodes, fact_scores } = found;
        let by_score = |a: &RecallItem, b: &RecallItem| b.score.total_cmp(&a.score);
        seeds.sort_by(by_score);
        reached.sort_by(by_score);
        let n_places = self.request.k.div_ceil(3).min(reached.len());
        let n_seeds = self.request.k.saturating_sub(n_places).max(1).min(self.request.k);
        let mut spares = seeds.split_off(n_seeds.min(seeds.len()));
        let n_free = self.request.k.saturating_sub(seeds.len());
        let n_reached = n_free.min(self.request.k.div_ceil(3));
        spares.extend(reached.split_off(n_reached.min(reached.len())));
        let mut items: Vec<RecallItem> = seeds.into_iter().chain(reached).collect();
        self.add_facts(&mut items, &fact_scores)?;
        let shown_facts: Vec<NodeRowId> =
            items.iter().flat_map(|it| it.facts.iter().map(|fact| fact.key)).collect();
        episodes.sort_by(by_score);
        let (episodes, spare_episodes) = self.without_stated(episodes, &shown_facts)?;
        items.extend(episodes);
        if self.may_exceed_budget(&items) {
            spares.sort_by(by_score);
            spares.truncate(SPARES_MAX);
            self.add_facts(&mut spares, &fact_scores)?;
            spares.extend(spare_episodes);
            spares.iter_mut().for_each(|it| it.is_spare = true);
            items.extend(spares);
        }
        items.sort_by(by_score);
        self.mark_replaced(&mut items)?;
        Ok(items)
    }

    /// Returns whether items may need more than the budget.
    fn may_exceed_budget(&self, items: &[RecallItem]) -> bool {
        let text = |it: &RecallItem| json_text(&it.to_json(self.request, it.facts.len()));
        // No token has less than a byte.
        let texts: Vec<String> = items.iter().map(text).collect();
        let n_bytes: usize = texts.iter().map(String::len).sum();
        let room = self.request.budget.saturating_sub(FRAME_TOKENS);
        (room as usize) < n_bytes && room < texts.iter().map(|it| tokens::count(it) + 1).sum()
    }

    /// Returns the first episodes, as many as are asked for, but for those whose fact is shown, or
    /// is closed and hidden; and those that come next.
    fn without_stated(
        &self,
        mut episodes: Vec<RecallItem>,
        shown: &[NodeRowId],
    ) -> KnowledgeResult<(Vec<RecallItem>, Vec<RecallItem>)> {
        let n_max = self.request.n_episodes;
        let mut kept = Vec::new();
        // More are looked at only in place of those that are left out.
        while kept.len() < n_max && !episodes.is_empty() {
            let n_read = (n_max + SPARES_MAX).min(episodes.len());
            let some: Vec<RecallItem> = episodes.drain(..n_read).collect();
            let keys: Vec<NodeRowId> = some.iter().map(|it| it.row.key).collect();
            let stated = self.reader.stated_facts(&keys, spreading_activation::EDGES_MAX)?;
            for mut item in some {
                let of_item = || stated.iter().filter(|it| it.0 == item.row.key).map(|it| &it.1);
                let is_left_out = of_item()
                    .any(|it| shown.contains(&it.key) || items::status(self, it).is_none());
                if !is_left_out {
                    item.states_deleted =
                        of_item().next().is_some() && of_item().all(|it| it.has("deleted"));
                    kept.push(item);
                }
            }
        }
        let mut spares = kept.split_off(n_max.min(kept.len()));
        spares.truncate(SPARES_MAX);
        Ok((kept, spares))
    }
}

/// Returns whether a node only leads to the one that took it in.
fn is_merged(row: &KnowledgeRow) -> bool {
    row.has("merged_into") && !row.has("deleted")
}

/// Returns the concepts that have most of a text's words, best first.
pub(super) fn nearest_concepts(
    reader: &Reader,
    text: &str,
    n_max: usize,
) -> KnowledgeResult<Vec<KnowledgeRow>> {
    let (_, matches) = lexical_relevance::QuestionTerms::ask(reader, text)?;
    let concepts = reader.nodes_with(&[FieldFilter::text("type", NodeType::Concept.as_str())])?;
    let mut found: Vec<(NodeRowId, f64)> =
        concepts.into_iter().filter_map(|it| Some((it, matches.get(&it)?.0))).collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let keys: Vec<NodeRowId> = found.into_iter().map(|it| it.0).take(2 * n_max).collect();
    let mut rows = reader.knowledge(&keys)?;
    rows.retain(|it| !it.is_gone() && !it.has("superseded_by"));
    rows.truncate(n_max);
    Ok(rows)
}

/// The answer that nothing is relevant.
const NOTHING: &str = "nothing relevant is remembered; other words or no filter may find more; \
                       MemorySearch looks in notes, too";
