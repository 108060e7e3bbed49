//! Remembering: episodes become nodes of the log with what they mention, and facts are kept.

use serde_json::{Map, Value, json};

use super::conflict_update_after_write::{end_lapsed, settle_statements};
use super::contradicting_facts::{facts_saying, is_equal_text, is_standing_fact};
use super::entity_resolution::{
    entities_given, entity_given, known_topic, mentioned, shown_entity, topic_field, topic_named,
};
use super::fact_of_fact_episode::stated_fact;
use super::fact_subject::FactSubject;
use super::fact_writes::{FactOutcome, NewFact, state_fact};
use super::node_writes::{
    NewKnowledgeNode, NewNodePlace, StoredKnowledgeNode, add_edge, add_mentions, add_node, edge,
    find_node,
};
use super::remember_request::{
    FactFields, NewEpisode, NewEpisodeOrMemory, RememberRequest, other_request,
};
use crate::memory::Memory;
use crate::memory::typed::{MemoryError, NewMemory, StoreRequest};
use crate::model::clock::UnixMillis;
use crate::model::entity_extraction::{normal_name, normal_statement};
use crate::model::identity::{ContentHash, NodeId};
use crate::model::next_step_advice::CallableTools;
use crate::model::tree::NodeType;
use crate::model::validity::Validity;
use crate::store::{Batch, RequestReceipt};
use crate::text::tokens;

/// Pending episodes from which on answers say how to consolidate.
pub(super) const HINT_FROM: u64 = 5;

/// An item without secrets, its tokens counted.
pub(super) enum PreparedItem {
    Episode(Box<NewEpisode>, u32),
    Memory(Box<NewMemory>),
}

/// The effect of remembering one thing, by ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RememberOutcome {
    pub(super) id: String,
    pub(super) created: bool,
    pub(super) fact: Option<String>,
    pub(super) conflict: Option<String>,
    pub(super) collisions: Vec<String>,
    /// Whether its fact was compared with others, as a new one is.
    is_compared: bool,
}

impl RememberOutcome {
    /// Returns it as a receipt keeps it.
    fn to_receipt(&self) -> Value {
        let RememberOutcome { id, created, fact, conflict, collisions, .. } = self;
        json!([id, created, fact, conflict, collisions])
    }

    fn of_receipt(value: &Value) -> RememberOutcome {
        let text = |it: &Value| it.as_str().map(str::to_owned);
        RememberOutcome {
            id: text(&value[0]).unwrap_or_default(),
            created: value[1] == true,
            fact: text(&value[2]),
            conflict: text(&value[3]),
            collisions: value[4].as_array().into_iter().flatten().filter_map(text).collect(),
            is_compared: false,
        }
    }

    /// Returns it as answers show it, with what its nodes say now.
    pub(super) fn shown(&self, batch: &Batch<'_>) -> Result<Value, MemoryError> {
        let mut entities = Vec::new();
        if let Some(episode) = find_node(batch, &self.id)? {
            for id in episode.linked("mentions") {
                let entity = find_node(batch, id)?;
                entities.extend(entity.map(|it| shown_entity(batch, &it)).transpose()?);
            }
        }
        let mut collisions = Vec::new();
        for id in &self.collisions {
            let node = find_node(batch, id)?;
            collisions.extend(node.map(|it| json!({"id": id, "text": it.record.content})));
        }
        let mut shown = json!({"id": self.id, "created": self.created});
        for (name, id) in [("fact", &self.fact), ("conflict", &self.conflict)] {
            if let Some(id) = id {
                shown[name] = id.as_str().into();
            }
        }
        shown["entities"] = entities.into();
        shown["collisions"] = collisions.into();
        Ok(shown)
    }
}

impl Memory {
    /// Remembers things in one snapshot; equal ones are there already.
    pub(crate) fn remember(&self, request: RememberRequest) -> Result<Value, MemoryError> {
        let RememberRequest { items, key, text } = request;
        let items: Vec<PreparedItem> =
            items.into_iter().map(|it| self.ready_item(it)).collect::<Result<_, _>>()?;
        let now = self.clock.now();
        let (answer, commit) = self.writer.write("", "", now, |batch| {
            let receipt = key.as_deref().map(|it| receipt_of(batch, it, &text)).transpose()?;
            if let Some(Some((snapshot, kept))) = receipt {
                let kept = kept.as_array().into_iter().flatten().map(RememberOutcome::of_receipt);
                let results: Result<Vec<Value>, MemoryError> =
                    kept.map(|it| it.shown(batch)).collect();
                return Ok((results?, batch.n_pending()?, Some(snapshot)));
            }
            let mut done = Vec::with_capacity(items.len());
            for item in &items {
                done.push(self.remember_in(batch, item, now)?);
            }
            let compared = done.iter().filter(|it| it.is_compared);
            let compared: Vec<&str> = compared.filter_map(|it| it.fact.as_deref()).collect();
            match done.iter().any(|it| it.fact.is_some()) {
                true => settle_statements(batch, &compared, now)?,
                false => end_lapsed(batch, now)?,
            }
            match &done[..] {
                [one] => batch.set_message(format!("remember:{}", one.id)),
                _ => batch.set_message(format!("remember: {} items", done.len())),
            }
            if let Some(key) = &key {
                let kept: Vec<Value> = done.iter().map(RememberOutcome::to_receipt).collect();
                keep_receipt(batch, key, &text, Value::from(kept))?;
            }
            let results: Result<Vec<Value>, MemoryError> =
                done.iter().map(|it| it.shown(batch)).collect();
            Ok::<_, MemoryError>((results?, batch.n_pending()?, None))
        })?;
        let (results, n_pending, replayed) = answer;
        let snapshot = replayed.unwrap_or(commit.snapshot);
        let mut answer = json!({"snapshot": snapshot, "results": results});
        add_pending(&mut answer, n_pending, &self.tools);
        Ok(answer)
    }

    /// Returns an item without secrets, its tokens counted before the write begins. A kind that
    /// is not known is refused.
    pub(super) fn ready_item(&self, item: NewEpisodeOrMemory) -> Result<PreparedItem, MemoryError> {
        let redactor = &self.workspace().redactor;
        Ok(match item {
            NewEpisodeOrMemory::Episode(mut episode) => {
                episode.check_kind(&self.knowledge_settings().kinds())?;
                episode.scrub(&|it| redactor.scrub(it).text.into_owned());
                let token_count = tokens::count(&episode.content);
                PreparedItem::Episode(episode, token_count)
            }
            NewEpisodeOrMemory::Memory(request) => {
                let StoreRequest { memory_type, content, changes, .. } = *request;
                PreparedItem::Memory(Box::new(self.scrubbed_memory(memory_type, &content, changes)))
            }
        })
    }

    /// Remembers one thing in a write.
    pub(super) fn remember_in(
        &self,
        batch: &mut Batch<'_>,
        item: &PreparedItem,
        now: UnixMillis,
    ) -> Result<RememberOutcome, MemoryError> {
        match item {
            PreparedItem::Episode(episode, token_count) => {
                remember_episode(batch, episode, *token_count, now)
            }
            PreparedItem::Memory(memory) => {
                let (_, id, created) = self.store_in(batch, memory)?;
                Ok(RememberOutcome { id: id.to_string(), created, ..RememberOutcome::default() })
            }
        }
    }
}

/// Adds the number of pending episodes to an answer, and from some on how to consolidate them.
pub(super) fn add_pending(answer: &mut Value, n_pending: u64, tools: &CallableTools) {
    answer["pending"] = n_pending.into();
    if HINT_FROM <= n_pending {
        let hint = format!(
            "{n_pending} episodes wait to be consolidated: MemoryReview hands out a worksheet, \
             MemoryApply takes the answer"
        );
        add_hint(answer, &hint, tools);
    }
}

/// Adds what to do next to an answer, where its reader can.
pub(super) fn add_hint(answer: &mut Value, hint: &str, tools: &CallableTools) {
    let hint = tools.advise(hint);
    if !hint.is_empty() {
        answer["hint"] = hint.into();
    }
}

/// Returns the snapshot and the answer of the receipt of a key, if this request was made before.
pub(super) fn receipt_of(
    batch: &Batch<'_>,
    key: &str,
    request: &str,
) -> Result<Option<(Option<i64>, Value)>, MemoryError> {
    match batch.receipt(&ContentHash::of(key).to_string())? {
        None => Ok(None),
        Some(kept) if kept.request != ContentHash::of(request).to_string() => {
            Err(other_request(key))
        }
        Some(kept) => {
            Ok(Some((kept.snapshot, serde_json::from_str(&kept.answer).unwrap_or_default())))
        }
    }
}

/// Keeps the answer to a request under its key.
pub(super) fn keep_receipt(
    batch: &mut Batch<'_>,
    key: &str,
    request: &str,
    answer: Value,
) -> Result<(), MemoryError> {
    let snapshot = batch.changed_snapshot();
    let answer = answer.to_string();
    let request = ContentHash::of(request).to_string();
    let receipt = RequestReceipt { request, snapshot, answer };
    Ok(batch.keep_receipt(&ContentHash::of(key).to_string(), &receipt)?)
}

fn remember_episode(
    batch: &mut Batch<'_>,
    new: &NewEpisode,
    token_count: u32,
    now: UnixMillis,
) -> Result<RememberOutcome, MemoryError> {
    if let Some((mut episode, fact)) = equal_episode(batch, new, now)? {
        let given = entities_given(batch, &new.entities, now)?;
        let fact = fact.map(|it| say_again(batch, new, (it, &given), now)).transpose()?;
        add_mentions(batch, &mut episode, &given, now)?;
        return Ok(RememberOutcome {
            id: episode.id().to_string(),
            fact: fact.map(|it| it.to_string()),
            ..RememberOutcome::default()
        });
    }
    let topic = match &new.topic {
        Some(name) => Some(topic_named(batch, name, None, now)?),
        None => None,
    };
    let mut given = new.entities.clone();
    given.extend(new.fact.subject.clone());
    let mentions = mentioned(batch, &new.content, &given, now)?;
    let mut stated = None;
    if new.kind == "fact"
        && let Some(subject) = subject_of(batch, new, &mentions, now)?
    {
        let at = new.at.unwrap_or(now);
        let statement = NewFact {
            text: &new.content,
            token_count,
            subject: &subject,
            attribute: new.fact.attribute.as_deref(),
            held: held_by(&new.fact, at),
            given: new.fact.given(),
            supersedes: new.fact.supersedes,
            mentions: &mentions,
            topic: topic.as_ref(),
            asserted_by: new.asserted_by.as_deref(),
            source_ref: new.source_ref.as_deref(),
            known: None,
        };
        let outcome = state_fact(batch, &statement, now)?;
        if !outcome.is_new
            && let Some(mut episode) = episode_stating(batch, new, (&outcome.fact, topic.as_ref()))?
        {
            add_mentions(batch, &mut episode, &mentions, now)?;
            return Ok(RememberOutcome {
                id: episode.id().to_string(),
                fact: Some(outcome.fact.id().to_string()),
                ..RememberOutcome::default()
            });
        }
        stated = Some(outcome);
    }
    let episode = EpisodeParts { new, token_count, topic, mentions, stated };
    add_episode(batch, episode, now)
}

/// An episode that is to be added.
struct EpisodeParts<'a> {
    new: &'a NewEpisode,
    token_count: u32,
    topic: Option<StoredKnowledgeNode>,
    mentions: Vec<NodeId>,
    /// The fact that it states.
    stated: Option<FactOutcome>,
}

fn add_episode(
    batch: &mut Batch<'_>,
    parts: EpisodeParts<'_>,
    now: UnixMillis,
) -> Result<RememberOutcome, MemoryError> {
    let EpisodeParts { new, token_count, topic, mentions, stated } = parts;
    let mut fields = episode_fields(new, now);
    fields.insert("topic".to_owned(), topic_field(topic.as_ref()));
    mentions.iter().for_each(|it| add_edge(&mut fields, edge("mentions", *it, 1.0, None)));
    if let Some(FactOutcome { fact, .. }) = &stated {
        add_edge(&mut fields, edge("supports", fact.id(), 1.0, None));
        fields.insert("processed_in".to_owned(), batch.own_snapshot()?.into());
    }
    let added = NewKnowledgeNode {
        node_type: NodeType::Episode,
        content: &new.content,
        token_count,
        fields,
    };
    let day = new.at.unwrap_or(now).day();
    let episode = add_node(batch, added, NewNodePlace::Bucket(&[&day]), now)?;
    let stated = stated.as_ref();
    Ok(RememberOutcome {
        id: episode.id().to_string(),
        created: true,
        fact: stated.map(|it| it.fact.id().to_string()),
        conflict: stated.and_then(|it| it.conflict).map(|it| it.to_string()),
        collisions: stated
            .map_or(Vec::new(), |it| it.collisions.iter().map(NodeId::to_string).collect()),
        is_compared: stated.is_some_and(|it| it.is_new),
    })
}

/// States the fact of an episode again, whose text says the same, with what it mentions; returns
/// its id.
fn say_again(
    batch: &mut Batch<'_>,
    new: &NewEpisode,
    (fact, mentions): (StoredKnowledgeNode, &[NodeId]),
    now: UnixMillis,
) -> Result<NodeId, MemoryError> {
    let subject = FactSubject::of_fact(batch, &fact)?;
    let statement = NewFact {
        text: &fact.record.content,
        token_count: fact.record.token_count,
        subject: &subject,
        attribute: fact.text("attribute"),
        held: held_by(&new.fact, new.at.unwrap_or(now)),
        given: new.fact.given(),
        supersedes: new.fact.supersedes,
        mentions,
        topic: None,
        asserted_by: None,
        source_ref: None,
        known: Some(&fact),
    };
    Ok(state_fact(batch, &statement, now)?.fact.id())
}

/// Returns the time in which a fact holds: from now on unless something else is said. What was over
/// by then began at a time that nobody told.
fn held_by(new: &FactFields, at: UnixMillis) -> Validity {
    let to = new.valid_to;
    let from = new.valid_from.or(to.is_none_or(|it| at < it).then_some(at));
    Validity { from, to }
}

fn episode_fields(new: &NewEpisode, now: UnixMillis) -> Map<String, Value> {
    let mut fields = Map::new();
    let texts = [
        ("title", &new.title),
        ("source_type", &new.source_type),
        ("asserted_by", &new.asserted_by),
        ("source_ref", &new.source_ref),
    ];
    for (name, value) in texts {
        fields.insert(name.to_owned(), value.clone().into());
    }
    fields.insert("kind".to_owned(), new.kind.as_str().into());
    fields.insert("at".to_owned(), new.at.unwrap_or(now).0.into());
    if new.confidence < 1.0 {
        fields.insert("confidence".to_owned(), new.confidence.into());
    }
    if let Some(metadata) = &new.metadata {
        fields.insert("metadata".to_owned(), metadata.clone().into());
    }
    fields
}

/// Returns the episode that says the same already, and the fact that it states. One whose fact is
/// closed or forgotten, or gone with its cluster, does not count, since what it said may hold
/// again, nor one whose fact says something else by now or holds at another time.
fn equal_episode(
    batch: &Batch<'_>,
    new: &NewEpisode,
    now: UnixMillis,
) -> Result<Option<(StoredKnowledgeNode, Option<StoredKnowledgeNode>)>, MemoryError> {
    let held = held_by(&new.fact, new.at.unwrap_or(now));
    let mut topic = None;
    if let Some(name) = &new.topic {
        match known_topic(batch, name)? {
            Some(known) => topic = Some(known),
            None => return Ok(None),
        }
    }
    let topic_id = topic.as_ref().map(|it| it.id().to_string());
    let mut equal = batch.typed_with_text(NodeType::Episode, &new.content)?;
    let statement = normal_statement(&new.content);
    if statement != new.content {
        equal.extend(batch.typed_with_text(NodeType::Episode, &statement)?);
    }
    let mut equal = StoredKnowledgeNode::all(equal)?;
    if new.kind == "fact" {
        for fact in facts_saying(batch, &new.content)? {
            equal.extend(episode_stating(batch, new, (&fact, topic.as_ref()))?);
        }
    }
    for episode in equal {
        if !is_same_episode(&episode, new, topic_id.as_deref()) {
            continue;
        }
        let fact = stated_fact(batch, &episode)?;
        let has_subject = new.fact.subject.is_some() || !episode.linked("mentions").is_empty();
        if new.kind == "fact" && fact.is_none() && has_subject {
            continue;
        }
        if let Some(fact) = &fact
            && !(is_standing_fact(batch, fact, now)?
                && held.overlaps(fact.validity())
                && has_terms(batch, fact, &new.fact)?
                && is_equal_text(&fact.record.content, &new.content))
        {
            continue;
        }
        return Ok(Some((episode, fact)));
    }
    Ok(None)
}

/// Returns the episode of a fact that says the same as a new one but for white space.
fn episode_stating(
    batch: &Batch<'_>,
    new: &NewEpisode,
    (fact, topic): (&StoredKnowledgeNode, Option<&StoredKnowledgeNode>),
) -> Result<Option<StoredKnowledgeNode>, MemoryError> {
    let topic = topic.map(|it| it.id().to_string());
    let mut episodes = StoredKnowledgeNode::all(batch.with_edge_to(&[fact.id()], "supports")?)?;
    episodes.retain(|it| {
        it.is_a(NodeType::Episode)
            && is_same_episode(it, new, topic.as_deref())
            && is_equal_text(&it.record.content, &new.content)
    });
    Ok(episodes.into_iter().next())
}

/// Returns whether an episode is of the kind, the time and the topic that are given of a new one.
fn is_same_episode(episode: &StoredKnowledgeNode, new: &NewEpisode, topic: Option<&str>) -> bool {
    !episode.is_hidden()
        && episode.text("kind") == Some(&new.kind)
        && new.at.is_none_or(|it| episode.time("at") == Some(it))
        && topic.is_none_or(|it| episode.text("topic") == Some(it))
}

/// Returns whether a fact has the terms that are given, its subject by whatever name.
fn has_terms(
    batch: &Batch<'_>,
    fact: &StoredKnowledgeNode,
    given: &FactFields,
) -> Result<bool, MemoryError> {
    let attribute = given.attribute.as_deref();
    if attribute.is_some() && attribute.map(normal_name) != fact.text("attribute").map(normal_name)
    {
        return Ok(false);
    }
    match &given.subject {
        Some(name) => FactSubject::given(batch, name)?.is_of(batch, fact),
        None => Ok(true),
    }
}

/// Returns the subject of a fact: as given, else the first thing that it mentions.
fn subject_of(
    batch: &mut Batch<'_>,
    new: &NewEpisode,
    mentions: &[NodeId],
    now: UnixMillis,
) -> Result<Option<FactSubject>, MemoryError> {
    if let Some(subject) = &new.fact.subject {
        // By whatever name it is called, its statements stand together.
        let entity = entity_given(batch, subject, now)?;
        return Ok(Some(FactSubject::of(batch, &entity)?));
    }
    for id in mentions {
        if let Some(entity) = find_node(batch, &id.to_string())? {
            return Ok(Some(FactSubject::of(batch, &entity)?));
        }
    }
    Ok(None)
}
