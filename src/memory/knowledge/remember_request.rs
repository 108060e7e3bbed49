//! Requests about knowledge, read from JSON arguments: episodes to remember.

use serde_json::{Map, Value};

use super::arguments::{ArgumentObject, KnowledgeResult, canonical_text};
use crate::memory::typed::{MemoryError, StoreRequest};
use crate::model::clock::UnixMillis;
use crate::model::node_fields;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::knowledge::{
    EPISODE_CHARS_MAX, EPISODE_KINDS, TITLE_CHARS_MAX,
};
use crate::model::validity::Validity;
use crate::model::value_coercion;

/// Items of one call, at most.
const ITEMS_MAX: usize = 100;

/// Entities that a caller names for one episode, at most.
const ENTITIES_MAX: usize = 50;

/// Characters of a key of a request, at most.
pub(super) const REQUEST_KEY_CHARS_MAX: usize = 200;

/// Bytes of the metadata of an episode, at most.
const METADATA_BYTES_MAX: usize = 8_192;

/// The arguments of one item, as errors and help name them.
pub(super) const ITEM_KEYS: &[&str] = &[
    "content",
    "kind",
    "title",
    "topic",
    "entities",
    "confidence",
    "metadata",
    "source_type",
    "asserted_by",
    "source_ref",
    "at",
    "subject",
    "attribute",
    "valid_from",
    "valid_to",
    "supersede",
    "category",
    "tags",
    "importance",
    "task_metadata",
];

/// The keys of which only facts have values.
const OF_FACTS: &[&str] = &["subject", "attribute", "valid_from", "valid_to", "supersede"];

/// The keys of which only core, learning and task memories have values.
const OF_MEMORIES: &[&str] = &["category", "tags", "importance", "task_metadata"];

/// Asks to remember one or several things.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RememberRequest {
    pub(super) items: Vec<NewEpisodeOrMemory>,
    /// Under which the answer is kept, so that a repeated request changes nothing.
    pub(super) key: Option<String>,
    /// The request as it came, to tell a repeated one from another.
    pub(super) text: String,
}

/// One thing to remember: an episode, or a typed memory.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum NewEpisodeOrMemory {
    Episode(Box<NewEpisode>),
    Memory(Box<StoreRequest>),
}

/// An episode to be remembered, as its caller says it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NewEpisode {
    /// Where its caller wrote it, before the names of its members.
    path: String,
    pub(super) kind: String,
    pub(super) content: String,
    pub(super) title: Option<String>,
    /// Id or name.
    pub(super) topic: Option<String>,
    pub(super) entities: Vec<String>,
    pub(super) confidence: f64,
    pub(super) metadata: Option<Map<String, Value>>,
    pub(super) source_type: Option<String>,
    pub(super) asserted_by: Option<String>,
    pub(super) source_ref: Option<String>,
    pub(super) at: Option<UnixMillis>,
    pub(super) fact: FactFields,
}

/// The terms of a statement that an episode makes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FactFields {
    pub(super) subject: Option<String>,
    pub(super) attribute: Option<String>,
    pub(super) valid_from: Option<UnixMillis>,
    pub(super) valid_to: Option<UnixMillis>,
    pub(super) supersedes: bool,
}

impl FactFields {
    /// Returns the bounds that are given of the time in which it holds.
    pub(super) fn given(&self) -> Validity {
        Validity { from: self.valid_from, to: self.valid_to }
    }
}

impl RememberRequest {
    /// Reads the arguments of `MemoryRemember`.
    pub(crate) fn parse(args: &Map<String, Value>) -> KnowledgeResult<RememberRequest> {
        let mut known = vec!["items", "key"];
        known.extend(ITEM_KEYS);
        let given = ArgumentObject::new(args, "", &known)?;
        let key = given.string("key", REQUEST_KEY_CHARS_MAX)?;
        let items = match given.objects("items", ITEMS_MAX)? {
            None => vec![NewEpisodeOrMemory::parse(args, "", &["key", "items"])?],
            Some(items) => {
                let single = ITEM_KEYS.iter().find(|it| given.value(it).is_some());
                if let Some(name) = single {
                    let why = format!("belongs into `items`; give `{name}` or `items`, not both");
                    return Err(given.refuse(name, why));
                }
                let parsed = items.iter().map(|(at, it)| NewEpisodeOrMemory::parse(it, at, &[]));
                parsed.collect::<KnowledgeResult<Vec<NewEpisodeOrMemory>>>()?
            }
        };
        let text = key.as_ref().map(|_| canonical_text(args)).unwrap_or_default();
        Ok(RememberRequest { items, key, text })
    }

    /// Refuses kinds of episodes that are none of these.
    pub(crate) fn check_kinds(&self, kinds: &[&str]) -> KnowledgeResult<()> {
        self.items.iter().try_for_each(|it| match it {
            NewEpisodeOrMemory::Episode(episode) => episode.check_kind(kinds),
            NewEpisodeOrMemory::Memory(_) => Ok(()),
        })
    }
}

impl NewEpisodeOrMemory {
    /// Reads one item; further keys are left to the caller.
    pub(super) fn parse(
        members: &Map<String, Value>,
        path: &str,
        beside: &[&str],
    ) -> KnowledgeResult<NewEpisodeOrMemory> {
        let mut known = ITEM_KEYS.to_vec();
        known.extend(beside);
        let given = ArgumentObject::new(members, path, &known)?;
        let kind = given.string("kind", 50)?.unwrap_or_else(|| EPISODE_KINDS[0].to_owned());
        let of_type = NodeType::parse(&kind)
            .filter(|it| matches!(it, NodeType::Core | NodeType::Learning | NodeType::Task));
        if of_type.is_some() {
            return NewEpisodeOrMemory::memory(&given, &kind, members);
        }
        refuse_any(&given, OF_MEMORIES, "core, learning and task", &kind)?;
        if kind != "fact" {
            refuse_any(&given, OF_FACTS, "fact", &kind)?;
        }
        NewEpisode::parse(&given, kind).map(|it| NewEpisodeOrMemory::Episode(Box::new(it)))
    }

    fn memory(
        given: &ArgumentObject<'_>,
        kind: &str,
        members: &Map<String, Value>,
    ) -> KnowledgeResult<NewEpisodeOrMemory> {
        let mut arguments = Map::new();
        arguments.insert("type".to_owned(), kind.into());
        for (name, value) in members.iter().filter(|(_, it)| !it.is_null()) {
            match name.as_str() {
                "kind" | "key" | "items" => (),
                "content" => drop(arguments.insert(name.clone(), value.clone())),
                "tags" => {
                    let tags = value_coercion::list_of_text(value).map(Value::Array);
                    arguments.insert(name.clone(), tags.unwrap_or_else(|| value.clone()));
                }
                it if OF_MEMORIES.contains(&it) => {
                    arguments.insert(name.clone(), value.clone());
                }
                it => {
                    let why = format!("belongs to episodes, and the kind is {kind}");
                    return Err(given.refuse(it, why));
                }
            }
        }
        StoreRequest::parse(&arguments).map(|it| NewEpisodeOrMemory::Memory(Box::new(it)))
    }
}

fn refuse_any(
    given: &ArgumentObject<'_>,
    keys: &[&str],
    whose: &str,
    kind: &str,
) -> KnowledgeResult<()> {
    match keys.iter().find(|it| given.value(it).is_some()) {
        None => Ok(()),
        Some(name) => {
            let why = format!("belongs to the kinds {whose}, and the kind is {kind}");
            Err(given.refuse(name, why))
        }
    }
}

impl NewEpisode {
    fn parse(given: &ArgumentObject<'_>, kind: String) -> KnowledgeResult<NewEpisode> {
        let content = given.text("content", EPISODE_CHARS_MAX)?.map(str::to_owned);
        let metadata = given.object("metadata")?;
        let n_bytes = metadata.map_or(0, |it| Value::Object(it.clone()).to_string().len());
        if METADATA_BYTES_MAX < n_bytes {
            let why = format!("has {n_bytes} bytes; at most {METADATA_BYTES_MAX} fit");
            return Err(given.refuse("metadata", why));
        }
        let fact = FactFields {
            subject: given.string("subject", 200)?,
            attribute: given.string("attribute", 200)?,
            valid_from: given.time("valid_from", UnixMillis::parse_rfc3339)?,
            valid_to: given.time("valid_to", UnixMillis::parse_rfc3339)?,
            supersedes: given.flag("supersede")?.unwrap_or(false),
        };
        if fact.attribute.is_some() && fact.subject.is_none() {
            return Err(given.refuse("attribute", "needs a `subject`"));
        }
        if let (Some(from), Some(to)) = (fact.valid_from, fact.valid_to)
            && to <= from
        {
            return Err(given.refuse("valid_to", "must be after `valid_from`"));
        }
        Ok(NewEpisode {
            path: given.path().to_owned(),
            kind,
            content: given.required("content", content)?,
            title: given.string("title", TITLE_CHARS_MAX)?,
            topic: given.string("topic", 100)?,
            entities: given.texts("entities", ENTITIES_MAX, 200)?.unwrap_or_default(),
            confidence: given.share("confidence")?.unwrap_or(1.0),
            metadata: metadata.filter(|it| !it.is_empty()).cloned(),
            source_type: given.string("source_type", 50)?.map(|it| it.to_lowercase()),
            asserted_by: given.string("asserted_by", 200)?,
            source_ref: given.string("source_ref", 500)?,
            at: given.time("at", UnixMillis::parse_rfc3339)?,
            fact,
        })
    }

    /// Refuses a kind that is none of these.
    pub(super) fn check_kind(&self, kinds: &[&str]) -> KnowledgeResult<()> {
        if kinds.contains(&self.kind.as_str()) {
            return Ok(());
        }
        let (path, known) = (&self.path, kinds.join(", "));
        let what = format!("`{path}kind` must be core, learning, task or one of {known}");
        Err(MemoryError::invalid(what))
    }

    /// Replaces every text by what `scrub` makes of it.
    pub(super) fn scrub(&mut self, scrub: &impl Fn(&str) -> String) {
        let NewEpisode { content, title, topic, source_type, asserted_by, source_ref, .. } = self;
        *content = scrub(content);
        let FactFields { subject, attribute, .. } = &mut self.fact;
        let optional = [title, topic, source_type, asserted_by, source_ref, subject, attribute];
        for text in optional.into_iter().flatten().chain(&mut self.entities) {
            *text = scrub(text);
        }
        if let Some(metadata) = &mut self.metadata {
            let own = Value::Object(std::mem::take(metadata));
            if let Value::Object(scrubbed) = node_fields::rewritten(own, &mut |it| scrub(it)) {
                *metadata = scrubbed;
            }
        }
    }
}

/// Returns the error of a request whose key was used for another one.
pub(super) fn other_request(key: &str) -> MemoryError {
    let what = format!("`key` {key:?} was used for another request; take a new one");
    MemoryError::invalid(what)
}
