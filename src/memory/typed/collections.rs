//! Collections: the documents of memories that a client reads by URI, with keys in a fixed order.
//!
//! They show no archived memory, and at most [`SHOWN_MAX`]. Reading one counts no access.

use std::cmp::Reverse;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Map, Value, json};

use super::query::{meeting, sorted};
use super::request::{QueryRequest, SortKey, SortOrder};
use super::view::TypedMemory;
use crate::model::clock::{DAY_MS, Millis};
use crate::model::kinds::{IMPORTANCES, STATUSES};
use crate::model::tree::NodeType;
use crate::store::StoreError;
use crate::store::reader::Reader;

/// Memories of one document, at most.
pub(crate) const SHOWN_MAX: usize = 1_000;

/// Memories of [`Collection::Recent`] where nobody says how many.
const RECENT_DEFAULT: usize = 20;

/// Days that count as lately.
const RECENT_DAYS: i64 = 30;

/// Categories of core memories that are summed first, in this order.
const CATEGORIES: [&str; 3] = ["preference", "fact", "pattern"];

/// Names a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collection {
    /// Memories of every type, last accessed first.
    Recent,
    /// Core memories, most important first.
    Core,
    /// Learnings made or accessed lately, newest first.
    Learnings,
    /// Tasks, last updated first.
    ActiveTasks,
    /// Tasks completed lately, last completed first.
    CompletedTasks,
}

/// Narrows a collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CollectionFilter {
    /// All of which a memory has.
    pub(crate) tags: Vec<String>,
    /// Of recent ones, at most [`SHOWN_MAX`].
    pub(crate) limit: Option<usize>,
    /// Of learnings: the start of their time, 30 days before by default.
    pub(crate) since: Option<Millis>,
}

impl Collection {
    /// Every collection.
    pub(crate) const ALL: [Collection; 5] = [
        Collection::Recent,
        Collection::Core,
        Collection::Learnings,
        Collection::ActiveTasks,
        Collection::CompletedTasks,
    ];

    /// Returns the URI of a collection.
    pub(crate) const fn uri(self) -> &'static str {
        match self {
            Collection::Recent => "memory://recent",
            Collection::Core => "memory://core",
            Collection::Learnings => "memory://learnings",
            Collection::ActiveTasks => "memory://tasks/active",
            Collection::CompletedTasks => "memory://tasks/completed",
        }
    }

    /// Returns the document of a collection.
    pub(crate) fn read(
        self,
        reader: &Reader,
        filter: &CollectionFilter,
        now: Millis,
    ) -> Result<Value, StoreError> {
        let from = filter.since.unwrap_or(lately(now));
        let memories = self.memories(reader, filter, from)?;
        let mut document = Map::new();
        let shown: Vec<Value> = memories.iter().map(TypedMemory::to_json).collect();
        document.insert("memories".to_owned(), shown.into());
        document.insert("count".to_owned(), memories.len().into());
        match self {
            Collection::Recent => (),
            Collection::Core => {
                let of = |it: &TypedMemory| it.importance.clone();
                document.insert("by_importance".to_owned(), sums(&memories, IMPORTANCES, of));
                document.insert("by_category".to_owned(), by_category(&memories));
            }
            Collection::ActiveTasks => {
                let sums = sums(&memories, STATUSES, |it| it.status().to_owned());
                document.insert("by_status".to_owned(), sums);
            }
            Collection::Learnings | Collection::CompletedTasks => {
                let range = json!({"from": from.to_second(), "to": now.to_second()});
                document.insert("date_range".to_owned(), range);
            }
        }
        document.insert("generated_at".to_owned(), now.to_second().into());
        Ok(document.into())
    }

    /// Returns a number that is another one when the collection shows something else; accesses
    /// count in [`Collection::Recent`] alone.
    pub(crate) fn digest(self, reader: &Reader, now: Millis) -> Result<u64, StoreError> {
        let memories = self.memories(reader, &CollectionFilter::default(), lately(now))?;
        let mut shown: Vec<String> = Vec::with_capacity(memories.len());
        for memory in &memories {
            shown.push(match self {
                Collection::Recent => memory.to_json().to_string(),
                _ => memory.without_accesses(),
            });
        }
        if self != Collection::Recent {
            // Some are in the order of accesses.
            shown.sort_unstable();
        }
        let mut hasher = DefaultHasher::new();
        shown.hash(&mut hasher);
        Ok(hasher.finish())
    }

    fn memories(
        self,
        reader: &Reader,
        filter: &CollectionFilter,
        from: Millis,
    ) -> Result<Vec<TypedMemory>, StoreError> {
        let memory_type = match self {
            Collection::Recent => None,
            Collection::Core => Some(NodeType::Core),
            Collection::Learnings => Some(NodeType::Learning),
            Collection::ActiveTasks | Collection::CompletedTasks => Some(NodeType::Task),
        };
        let request =
            QueryRequest { memory_type, tags: filter.tags.clone(), ..QueryRequest::default() };
        let mut keys = meeting(reader, &request)?;
        if self == Collection::Recent {
            keys = sorted(reader, keys, SortKey::AccessedAt, SortOrder::Descending)?;
            keys.truncate(filter.limit.unwrap_or(RECENT_DEFAULT).min(SHOWN_MAX));
        }
        let nodes = reader.typed_nodes(&keys)?;
        let mut memories: Vec<TypedMemory> = nodes.iter().map(TypedMemory::of).collect();
        match self {
            Collection::Recent => (),
            Collection::Core => memories.sort_by_cached_key(|it| {
                (it.importance_rank(), Reverse(it.recency(it.accessed_at)))
            }),
            Collection::Learnings => {
                memories.retain(|it| from <= it.created_at || from <= it.accessed_at);
                memories.sort_by_cached_key(|it| Reverse(it.recency(it.created_at)));
            }
            Collection::ActiveTasks => {
                memories.sort_by_cached_key(|it| Reverse(it.recency(it.updated_at)));
            }
            Collection::CompletedTasks => {
                memories.retain(|it| it.completed_at().is_some_and(|at| from <= at));
                let at = |it: &TypedMemory| it.completed_at().unwrap_or(it.created_at);
                memories.sort_by_cached_key(|it| Reverse(it.recency(at(it))));
            }
        }
        memories.truncate(SHOWN_MAX);
        Ok(memories)
    }
}

/// The start of the day 30 days before.
fn lately(now: Millis) -> Millis {
    let day = now.0.div_euclid(DAY_MS) - RECENT_DAYS;
    Millis(day * DAY_MS)
}

/// How many memories have each of these values.
fn sums(memories: &[TypedMemory], values: &[&str], of: impl Fn(&TypedMemory) -> String) -> Value {
    let sum = |value: &str| memories.iter().filter(|it| of(it) == value).count();
    let sums = values.iter().map(|it| ((*it).to_owned(), Value::from(sum(it))));
    Value::Object(sums.collect())
}

/// How many memories have each category that there is: the usual ones, then others by name.
fn by_category(memories: &[TypedMemory]) -> Value {
    let mut names: Vec<&str> = memories.iter().map(|it| it.category.as_str()).collect();
    let place = |it: &str| CATEGORIES.iter().position(|known| *known == it);
    names.sort_unstable_by_key(|it| (place(it).unwrap_or(CATEGORIES.len()), *it));
    names.dedup();
    sums(memories, &names, |it| it.category.clone())
}
