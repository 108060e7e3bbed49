//! Seeds: the nodes that a question finds by its own words, by an entity or by a topic.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use super::items::{ItemScore, RecallItem, RecallReason};
use super::lexical_relevance::{LexicalMatches, QuestionTerms};
use super::{FLOOR, RecallQueryContext, all_with, is_merged, keys_of_entity};
use crate::memory::knowledge::arguments::KnowledgeResult;
use crate::model::entity_extraction::{name_key, normal_name};
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::knowledge::TITLE_CHARS_MAX;
use crate::query::{nearest_meeting, parse_query};
use crate::store::NodeRowId;
use crate::store::reader::{FieldFilter, KnowledgeRow, MatchAgeOrder, NodeFilter, Reader};

/// Nodes beside concepts and facts whose types are looked up, at most.
const OTHERS_MAX: usize = 400;

/// Facts that may raise their clusters, at most.
const FACTS_MAX: usize = 60;

/// Types of nodes that are found as episodes are.
const EPISODE_LIKE: &[NodeType] =
    &[NodeType::Episode, NodeType::Core, NodeType::Learning, NodeType::Task];

/// Entities that a question names, at most.
const ENTITIES_MAX: usize = 8;

/// Nodes beyond those asked for that are read to be scored.
const SPARE: usize = 30;

/// Nodes of an entity or a topic that are looked at, at most.
const PLACE_MAX: usize = 200;

/// The nodes that a question found.
#[derive(Default)]
pub(super) struct SeedsAndSpreadItems {
    pub(super) seeds: Vec<RecallItem>,
    /// By spreading.
    pub(super) reached: Vec<RecallItem>,
    pub(super) episodes: Vec<RecallItem>,
    /// The relevance of facts.
    pub(super) fact_scores: HashMap<NodeRowId, f64>,
}

/// Matches by type, best first.
#[derive(Default)]
struct MatchesByType {
    concepts: Vec<NodeRowId>,
    facts: Vec<NodeRowId>,
    episodes: Vec<NodeRowId>,
    entities: Vec<NodeRowId>,
}

impl RecallQueryContext<'_> {
    /// Finds nodes by words; where these tell nothing, by the given entity or topic.
    pub(super) fn of_words(&self, query: &str) -> KnowledgeResult<SeedsAndSpreadItems> {
        let (question, mut matches) = QuestionTerms::ask(self.reader, query)?;
        for name in names_asked(query) {
            let is_of_function_words = match name == query {
                true => question.is_of_function_words,
                false => parse_query(name).is_of_function_words,
            };
            if is_of_function_words && let Some(found) = self.of_name(name)? {
                return Ok(found);
            }
        }
        if question.tells_nothing {
            return self.of_place();
        }
        if let Some(meaning) = &self.request.meaning {
            let recalled = |keys: &[NodeRowId]| {
                let types = self.reader.types_of(keys)?.into_iter();
                Ok(types.filter(|it| is_recalled(it.1)).map(|it| it.0).collect())
            };
            for (key, nearness) in nearest_meeting(self.reader, meaning, recalled)? {
                let sim = &mut matches.entry(key).or_default().0;
                *sim = sim.max(nearness);
            }
        }
        let by_type = self.by_type(&matches)?;
        let allowed = self.mentioning()?;
        let (mut seeds, fact_scores) = self.concept_seeds(&question, &matches, &by_type)?;
        let rows = self.reader.knowledge_unlinked(&by_type.episodes)?;
        let mut episodes = Vec::new();
        for row in rows {
            let (sim, set) = matches.get(&row.key).copied().unwrap_or_default();
            let fused = self.request.fused(sim, question.share_in(&of_both(&row)));
            let words = question.words_of(set);
            let score = ItemScore { sim, fused, quality: self.quality(&row, 1.0) };
            let is_here = self.is_of_topic(&row, TopiclessNodes::LeftOut);
            if FLOOR <= fused && is_here && (!row.is_gone() || self.is_shown(&row)) {
                episodes.push(RecallItem::new(row, score, RecallReason::words(&words)));
            }
        }
        self.replace(&mut episodes, &mut Vec::new())?;
        let entities: Vec<(KnowledgeRow, f64)> = self
            .reader
            .knowledge_unlinked(&by_type.entities)?
            .into_iter()
            .filter(|it| !it.is_gone())
            .filter_map(|row| {
                let sim = matches.get(&row.key)?.0;
                (FLOOR <= sim).then_some((row, sim))
            })
            .collect();
        let reached = self.spread(&mut seeds, &episodes, &entities)?;
        let mut found = SeedsAndSpreadItems { seeds, reached, episodes, fact_scores };
        if let Some(allowed) = &allowed {
            let is_allowed = |it: &RecallItem| allowed.contains(&it.row.key);
            found.seeds.retain(is_allowed);
            found.reached.retain(is_allowed);
            found.episodes.retain(is_allowed);
        }
        Ok(found)
    }

    /// Divides matches by type, and keeps the best of each.
    fn by_type(&self, matches: &LexicalMatches) -> KnowledgeResult<MatchesByType> {
        let of_type =
            |it: NodeType| self.reader.nodes_with(&[FieldFilter::text("type", it.as_str())]);
        let (concepts, facts) = (of_type(NodeType::Concept)?, of_type(NodeType::Fact)?);
        let entities = of_type(NodeType::Entity)?;
        let mut by_type = MatchesByType::default();
        let mut others = Vec::new();
        let (mut of_concepts, mut of_facts) = (Vec::new(), Vec::new());
        // Their order does not matter: the best of each list are sorted.
        matches.iter().for_each(|(key, (sim, _))| {
            let list = match () {
                () if concepts.binary_search(key).is_ok() => &mut of_concepts,
                () if facts.binary_search(key).is_ok() => &mut of_facts,
                () => &mut others,
            };
            list.push((*sim, *key));
        });
        by_type.concepts = best(of_concepts, 3 * self.request.k + SPARE);
        by_type.facts = best(of_facts, FACTS_MAX);
        let others = best(others, OTHERS_MAX);
        let (of_entities, others): (Vec<NodeRowId>, Vec<NodeRowId>) =
            others.into_iter().partition(|it| entities.binary_search(it).is_ok());
        by_type.entities = of_entities.into_iter().take(ENTITIES_MAX).collect();
        // Most others are episodes, so that the types of few have to be read.
        let n_episodes = 3 * self.request.n_episodes + SPARE;
        for keys in others.chunks(n_episodes) {
            let types = self.reader.types_of(keys)?.into_iter();
            let episodes = types.filter(|it| EPISODE_LIKE.contains(&it.1)).map(|it| it.0);
            by_type.episodes.extend(episodes);
            if n_episodes <= by_type.episodes.len() {
                break;
            }
        }
        by_type.episodes.truncate(n_episodes);
        Ok(by_type)
    }

    /// Returns the concepts that have the words themselves or by their facts, and the relevance of
    /// the facts.
    fn concept_seeds(
        &self,
        question: &QuestionTerms,
        matches: &LexicalMatches,
        by_type: &MatchesByType,
    ) -> KnowledgeResult<(Vec<RecallItem>, HashMap<NodeRowId, f64>)> {
        let facts = self.reader.knowledge_unlinked(&by_type.facts)?;
        let mut by_cluster: HashMap<NodeRowId, (f64, u64, String)> = HashMap::new();
        let mut fact_scores: HashMap<NodeRowId, f64> = HashMap::new();
        for fact in &facts {
            let (sim, set) = matches.get(&fact.key).copied().unwrap_or_default();
            let is_shown = super::items::status(self, fact).is_some();
            let standing = self.standing_fact(fact)?;
            // What stands for a fact that has ended is found by its words.
            for found in standing.iter().chain(is_shown.then_some(fact)) {
                let Some(cluster) = found.parent else { continue };
                let score = fact_scores.entry(found.key).or_default();
                *score = score.max(sim);
                let best = by_cluster.entry(cluster).or_default();
                if best.0 < sim {
                    *best = (sim, set, of_both(fact));
                }
            }
        }
        let keys: BTreeSet<NodeRowId> =
            by_type.concepts.iter().chain(by_cluster.keys()).copied().collect();
        let keys: Vec<NodeRowId> = keys.into_iter().collect();
        let mut seeds = Vec::new();
        for row in self.reader.knowledge_unlinked(&keys)? {
            let (sim, set) = matches.get(&row.key).copied().unwrap_or_default();
            let none = (0.0, 0, String::new());
            let (fact_sim, fact_set, fact) = by_cluster.get(&row.key).unwrap_or(&none);
            let text = format!("{}\n{fact}", of_both(&row));
            let (sim, set) = (sim.max(*fact_sim), set | fact_set);
            let fused = self.request.fused(sim, question.share_in(&text));
            let is_kept = row.node_type == NodeType::Concept
                && FLOOR <= fused
                && self.is_of_topic(&row, TopiclessNodes::Included);
            if is_kept && (!row.is_gone() || is_merged(&row) || self.is_shown(&row)) {
                seeds.push((row, sim, fused, set));
            }
        }
        let keys: Vec<NodeRowId> = seeds.iter().map(|it| it.0.key).collect();
        let evidence = self.evidence(&keys)?;
        let seed = |(row, sim, fused, set): (KnowledgeRow, f64, f64, u64)| {
            let weight = evidence.get(&row.key).copied().unwrap_or(1.0);
            let score = ItemScore { sim, fused, quality: self.quality(&row, weight) };
            RecallItem::new(row, score, RecallReason::words(&question.words_of(set)))
        };
        let seeds = seeds.into_iter().map(seed).collect();
        Ok((seeds, fact_scores))
    }

    /// Finds what has a name as it is written, unless an entity is given: concepts with that title,
    /// and the nodes of an entity. Titles may have other words beside a name in capitals.
    fn of_name(&self, name: &str) -> KnowledgeResult<Option<SeedsAndSpreadItems>> {
        if self.entity.is_some() {
            return Ok(None);
        }
        let entity = entity_written_as(self.reader, name)?;
        let mut titled = concepts_titled(self.reader, name)?;
        titled.retain(|row| self.is_shown(row) && self.is_of_topic(row, TopiclessNodes::Included));
        if entity.is_none() && titled.is_empty() {
            return Ok(None);
        }
        let topic = self.topic.clone();
        let mut found = RecallQueryContext { entity, topic, ..*self }.of_place()?;
        titled.retain(|row| found.seeds.iter().all(|it| it.row.key != row.key));
        let keys: Vec<NodeRowId> = titled.iter().map(|it| it.key).collect();
        let evidence = self.evidence(&keys)?;
        found.seeds.extend(titled.into_iter().map(|row| {
            let weight = evidence.get(&row.key).copied().unwrap_or(1.0);
            let fused = if is_written_as(row.title(), name) { 1.0 } else { 0.5 };
            let score = ItemScore { sim: fused, fused, quality: self.quality(&row, weight) };
            RecallItem::new(row, score, RecallReason::words(&[name]))
        }));
        let is_found = !found.seeds.is_empty() || !found.episodes.is_empty();
        Ok(is_found.then_some(found))
    }

    /// Finds the nodes of an entity or a topic, without words.
    pub(super) fn of_place(&self) -> KnowledgeResult<SeedsAndSpreadItems> {
        let mut found = SeedsAndSpreadItems::default();
        let mut scores: HashMap<NodeRowId, (f64, RecallReason)> = HashMap::new();
        let mut episodes: Vec<NodeRowId> = Vec::new();
        if let Some(entity) = &self.entity {
            let why = RecallReason::of(format!("mentions {}", entity.title()));
            let mentioning: Vec<NodeRowId> =
                self.mentioning()?.unwrap_or_default().into_iter().collect();
            for row in self.reader.knowledge(&mentioning)? {
                match row.node_type {
                    NodeType::Episode => episodes.push(row.key),
                    NodeType::Concept => drop(scores.insert(row.key, (1.0, why.clone()))),
                    _ => (),
                }
            }
        }
        if let Some(topic) = &self.topic {
            let why = RecallReason::of(format!("topic {}", topic.title()));
            let of = |it| self.reader.newest_with(it, ("topic", &topic.id), PLACE_MAX);
            let concepts = of(NodeType::Concept)?;
            let of_topic = of(NodeType::Episode)?;
            if self.entity.is_some() {
                scores.retain(|key, _| concepts.contains(key));
                episodes.retain(|key| of_topic.contains(key));
            } else {
                scores = concepts.into_iter().map(|key| (key, (1.0, why.clone()))).collect();
                episodes = of_topic;
            }
        }
        let mut keys: Vec<NodeRowId> = scores.keys().copied().collect();
        keys.sort_unstable();
        let evidence = self.evidence(&keys)?;
        for row in self.reader.knowledge(&keys)? {
            let weight = evidence.get(&row.key).copied().unwrap_or(1.0);
            let score = ItemScore { sim: 1.0, fused: 1.0, quality: self.quality(&row, weight) };
            let why = scores.get(&row.key).map(|it| it.1.clone()).unwrap_or_default();
            if self.is_shown(&row) {
                found.seeds.push(RecallItem::new(row, score, why));
            }
        }
        let mut rows = self.reader.knowledge(&episodes)?;
        rows.retain(|it| self.is_shown(it));
        rows.sort_by_key(|it| (Reverse(it.time("at")), Reverse(it.key)));
        for (nth, row) in rows.into_iter().enumerate() {
            let fused = 1.0 / (1.0 + 0.1 * nth as f64);
            let score = ItemScore { sim: 1.0, fused, quality: self.quality(&row, 1.0) };
            found.episodes.push(RecallItem::new(row, score, RecallReason::of("newest".to_owned())));
        }
        Ok(found)
    }

    /// Returns the nodes that mention the asked entity: episodes, and the concepts that they
    /// support or whose facts mention it.
    fn mentioning(&self) -> KnowledgeResult<Option<BTreeSet<NodeRowId>>> {
        let Some(entity) = &self.entity else { return Ok(None) };
        let mut all = BTreeSet::new();
        let keys = keys_of_entity(self.reader, entity)?;
        let direct = self.reader.typed_edges_to(&keys, PLACE_MAX * 10)?;
        let direct: Vec<NodeRowId> = direct.into_iter().map(|it| it.source).collect();
        let mut facts = Vec::new();
        for row in self.reader.knowledge(&direct)?.into_iter().filter(|it| !it.has("deleted")) {
            match row.node_type {
                NodeType::Fact => facts.extend(row.parent),
                _ => drop(all.insert(row.key)),
            }
        }
        all.extend(facts);
        let episodes: Vec<NodeRowId> = all.iter().copied().collect();
        let edges =
            self.reader.typed_edges_from(&episodes, super::spreading_activation::EDGES_MAX)?;
        all.extend(edges.into_iter().filter(|it| it.link_type != "mentions").map(|it| it.target));
        Ok(Some(all))
    }

    /// Returns whether a node is of the asked topic.
    fn is_of_topic(&self, row: &KnowledgeRow, topicless: TopiclessNodes) -> bool {
        match (&self.topic, row.text("topic")) {
            (None, _) => true,
            (Some(_), None) => topicless == TopiclessNodes::Included,
            (Some(topic), Some(id)) => topic.id == id,
        }
    }
}

/// Returns what a question may have as a name: all of it, then without quotes and signs around it,
/// then without the `'s` at its end.
fn names_asked(query: &str) -> Vec<&str> {
    let is_around = |it: char| it.is_whitespace() || "?!.,;:¿¡？！。\"'`“”„‘’«»".contains(it);
    let (whole, bare) = (query.trim(), query.trim_matches(is_around));
    let owner = bare.strip_suffix("'s").or_else(|| bare.strip_suffix("’s"));
    let mut names = vec![whole, bare];
    names.extend(owner);
    names.dedup();
    names.retain(|it| (1..=TITLE_CHARS_MAX).contains(&it.chars().count()));
    names
}

/// Returns whether a name is the asked one: as it is written, or in any letter case where it has
/// several words.
fn is_written_as(name: &str, asked: &str) -> bool {
    name == asked || asked.contains(' ') && normal_name(name) == normal_name(asked)
}

/// Returns the entity that has a name as it is written.
fn entity_written_as(reader: &Reader, name: &str) -> KnowledgeResult<Option<KnowledgeRow>> {
    let mut entities = all_with(reader, NodeType::Entity, "name", &name_key(name))?.into_iter();
    let is_it = |it: &str| is_written_as(it, name);
    Ok(entities.find(|it| is_it(it.title()) || it.content.lines().any(is_it)))
}

/// Returns the concepts that have a title as it is written, and those with one in capitals among
/// the words of theirs.
fn concepts_titled(reader: &Reader, title: &str) -> KnowledgeResult<Vec<KnowledgeRow>> {
    let of_type = NodeFilter { node_type: Some(NodeType::Concept), ..NodeFilter::default() };
    let words = format!("label : \"{}\"", title.replace('"', " "));
    let found = reader.matching(&words, &of_type, MatchAgeOrder::NewestFirst, PLACE_MAX)?;
    let mut concepts = reader.knowledge(&found.unwrap_or_default())?;
    let is_in_capitals = !title.contains(char::is_lowercase);
    concepts.retain(|it| {
        is_written_as(it.title(), title)
            || is_in_capitals && has_words_as_written(it.title(), title)
    });
    Ok(concepts)
}

/// Returns whether a text has some words as they are written, and not inside of longer ones.
fn has_words_as_written(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| {
        !text[..at].ends_with(char::is_alphanumeric)
            && !text[at + words.len()..].starts_with(char::is_alphanumeric)
    })
}

/// Returns whether nodes of a type are found by a question.
fn is_recalled(node_type: NodeType) -> bool {
    matches!(node_type, NodeType::Concept | NodeType::Fact | NodeType::Entity)
        || EPISODE_LIKE.contains(&node_type)
}

/// Returns the keys of the most similar nodes, best first.
fn best(mut scored: Vec<(f64, NodeRowId)>, n_max: usize) -> Vec<NodeRowId> {
    let better =
        |a: &(f64, NodeRowId), b: &(f64, NodeRowId)| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1));
    if n_max < scored.len() {
        scored.select_nth_unstable_by(n_max, better);
        scored.truncate(n_max);
    }
    scored.sort_unstable_by(better);
    scored.into_iter().map(|it| it.1).collect()
}

/// Whether nodes without a topic belong to the asked one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TopiclessNodes {
    LeftOut,
    Included,
}

fn of_both(row: &KnowledgeRow) -> String {
    format!("{}\n{}", row.title(), row.content)
}
