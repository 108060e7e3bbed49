//! Collections: the documents of memories that a client reads by URI, with keys in a fixed order.
//!
//! They show no archived memory, and at most [`SHOWN_MAX`]. Reading one counts no access.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};

use super::query::{SortValueFallback, accesses, integers, meeting, sorted, sorted_by};
use super::request::{QueryRequest, SortDirection, SortKey};
use super::typed_memory::TypedMemory;
use crate::model::clock::{DAY_MS, UnixMillis};
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::{IMPORTANCES, STATUSES};
use crate::store::reader::Reader;
use crate::store::{NodeRowId, StoreError};
use crate::text::terminal_safe_json::json_text;

/// Memories of one document, at most.
pub(crate) const SHOWN_MAX: usize = 1_000;

/// Memories of [`CollectionName::Recent`] where nobody says how many.
const RECENT_DEFAULT: usize = 20;

/// Days that count as lately.
const RECENT_DAYS: i64 = 30;

/// Categories of core memories that are summed first, in this order.
const CATEGORIES: [&str; 3] = ["preference", "fact", "pattern"];

/// Names a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CollectionName {
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
    /// All of which a memory has. One with commas that no memory has is a list of tags.
    pub(crate) tags: Vec<String>,
    /// Of recent ones, at most [`SHOWN_MAX`].
    pub(crate) limit: Option<usize>,
    /// Of learnings: the start of their time, 30 days before by default.
    pub(crate) since: Option<UnixMillis>,
}

impl CollectionFilter {
    /// Returns its tags as memories have them.
    fn tags(&self, reader: &Reader) -> Result<Vec<String>, StoreError> {
        let mut tags = Vec::with_capacity(self.tags.len());
        for tag in &self.tags {
            let request = QueryRequest { tags: vec![tag.clone()], ..QueryRequest::default() };
            match tag.contains(',') && meeting(reader, &request)?.is_empty() {
                true => tags.extend(tag.split(',').map(str::to_owned)),
                false => tags.push(tag.clone()),
            }
        }
        Ok(tags)
    }
}

impl CollectionName {
    /// Every collection.
    pub(crate) const ALL: [CollectionName; 5] = [
        CollectionName::Recent,
        CollectionName::Core,
        CollectionName::Learnings,
        CollectionName::ActiveTasks,
        CollectionName::CompletedTasks,
    ];

    /// Returns the URI of a collection.
    pub(crate) const fn uri(self) -> &'static str {
        match self {
            CollectionName::Recent => "memory://recent",
            CollectionName::Core => "memory://core",
            CollectionName::Learnings => "memory://learnings",
            CollectionName::ActiveTasks => "memory://tasks/active",
            CollectionName::CompletedTasks => "memory://tasks/completed",
        }
    }

    /// Returns the document of a collection.
    pub(crate) fn read(
        self,
        reader: &Reader,
        filter: &CollectionFilter,
        now: UnixMillis,
    ) -> Result<String, StoreError> {
        let from = filter.since.unwrap_or(lately(now));
        let memories = self.memories(reader, filter, from)?;
        let mut sums_of: Vec<(&str, Value)> = Vec::new();
        match self {
            CollectionName::Recent => (),
            CollectionName::Core => {
                let of = |it: &TypedMemory| it.importance.clone();
                sums_of.push(("by_importance", sums(&memories, IMPORTANCES, of)));
                sums_of.push(("by_category", by_category(&memories)));
            }
            CollectionName::ActiveTasks => {
                let sums = sums(&memories, STATUSES, |it| it.status().to_owned());
                sums_of.push(("by_status", sums));
            }
            CollectionName::Learnings | CollectionName::CompletedTasks => {
                let range = json!({"from": from.to_second(), "to": now.to_second()});
                sums_of.push(("date_range", range));
            }
        }
        // Thousands of memories need no tree of values.
        let document = CollectionDocument { memories: &memories, sums_of: &sums_of, now };
        Ok(json_text(&document))
    }

    /// Returns a number that is another one when the collection shows something else; accesses
    /// count in [`CollectionName::Recent`] alone.
    pub(crate) fn digest(self, reader: &Reader, now: UnixMillis) -> Result<u64, StoreError> {
        let memories = self.memories(reader, &CollectionFilter::default(), lately(now))?;
        let mut shown: Vec<String> = Vec::with_capacity(memories.len());
        for memory in &memories {
            shown.push(match self {
                CollectionName::Recent => memory.to_json().to_string(),
                _ => memory.without_accesses(),
            });
        }
        if self != CollectionName::Recent {
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
        from: UnixMillis,
    ) -> Result<Vec<TypedMemory>, StoreError> {
        let memory_type = match self {
            CollectionName::Recent => None,
            CollectionName::Core => Some(NodeType::Core),
            CollectionName::Learnings => Some(NodeType::Learning),
            CollectionName::ActiveTasks | CollectionName::CompletedTasks => Some(NodeType::Task),
        };
        let request =
            QueryRequest { memory_type, tags: filter.tags(reader)?, ..QueryRequest::default() };
        let keys = match self.first(reader, filter, &request, from)? {
            Some(keys) => keys,
            None => self.shown(reader, filter, meeting(reader, &request)?, from)?,
        };
        let nodes = reader.typed_nodes(&keys)?;
        let mut memories: Vec<TypedMemory> = nodes.iter().map(TypedMemory::of).collect();
        if self == CollectionName::Core {
            let place =
                |it: &TypedMemory| (it.importance_rank(), Reverse(it.recency(it.accessed_at)));
            memories.sort_by_cached_key(place);
            memories.truncate(SHOWN_MAX);
        }
        Ok(memories)
    }

    /// Returns the keys that [`CollectionName::shown`] would, found from the end of the index;
    /// `None` where that does not tell them.
    fn first(
        self,
        reader: &Reader,
        filter: &CollectionFilter,
        request: &QueryRequest,
        from: UnixMillis,
    ) -> Result<Option<Vec<NodeRowId>>, StoreError> {
        let (key, from) = match self {
            CollectionName::Learnings => ("created_at", from.0),
            CollectionName::ActiveTasks => ("updated_at", i64::MIN),
            CollectionName::CompletedTasks => ("completed_at", from.0),
            CollectionName::Recent | CollectionName::Core => return Ok(None),
        };
        let Some(of_type) = request.memory_type.filter(|_| filter.tags.is_empty()) else {
            return Ok(None);
        };
        let Some(greatest) = reader.greatest_typed(key, of_type, from, SHOWN_MAX)? else {
            return Ok(None);
        };
        // Learnings that were made before may have been read lately.
        if self == CollectionName::Learnings && greatest.len() < SHOWN_MAX {
            return Ok(None);
        }
        let keys = greatest.iter().map(|it| it.0).collect();
        let values: HashMap<NodeRowId, i64> = greatest.into_iter().collect();
        let mut keys =
            sorted_by(reader, keys, (&values, SortValueFallback::Zero), SortDirection::Descending)?;
        keys.truncate(SHOWN_MAX);
        Ok(Some(keys))
    }

    /// Chooses and sorts by the index alone, so that only memories that are shown are read; of core
    /// ones there are not more than that.
    fn shown(
        self,
        reader: &Reader,
        filter: &CollectionFilter,
        mut keys: Vec<NodeRowId>,
        from: UnixMillis,
    ) -> Result<Vec<NodeRowId>, StoreError> {
        let mut keys = match self {
            CollectionName::Core => return Ok(keys),
            CollectionName::Recent => {
                sorted(reader, keys, SortKey::AccessedAt, SortDirection::Descending)?
            }
            CollectionName::Learnings => {
                let created = integers(reader, "created_at", &keys)?;
                let is_new = |it: &NodeRowId| created.get(it).is_some_and(|at| from.0 <= *at);
                let old: Vec<NodeRowId> = keys.iter().copied().filter(|it| !is_new(it)).collect();
                let read = accesses(reader, &old)?;
                keys.retain(|it| is_new(it) || read.get(it).is_some_and(|at| from.0 <= *at));
                sorted(reader, keys, SortKey::CreatedAt, SortDirection::Descending)?
            }
            CollectionName::ActiveTasks => {
                sorted(reader, keys, SortKey::UpdatedAt, SortDirection::Descending)?
            }
            CollectionName::CompletedTasks => {
                let completed = integers(reader, "completed_at", &keys)?;
                keys.retain(|it| completed.get(it).is_some_and(|at| from.0 <= *at));
                sorted_by(
                    reader,
                    keys,
                    (&completed, SortValueFallback::Zero),
                    SortDirection::Descending,
                )?
            }
        };
        keys.truncate(match self {
            CollectionName::Recent => filter.limit.unwrap_or(RECENT_DEFAULT).min(SHOWN_MAX),
            _ => SHOWN_MAX,
        });
        Ok(keys)
    }
}

/// The document of a collection.
struct CollectionDocument<'a> {
    memories: &'a [TypedMemory],
    /// Between the count and the time.
    sums_of: &'a [(&'a str, Value)],
    now: UnixMillis,
}

impl Serialize for CollectionDocument<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("memories", self.memories)?;
        map.serialize_entry("count", &self.memories.len())?;
        for (name, sums) in self.sums_of {
            map.serialize_entry(name, sums)?;
        }
        map.serialize_entry("generated_at", &self.now.to_second())?;
        map.end()
    }
}

/// The start of the day 30 days before.
fn lately(now: UnixMillis) -> UnixMillis {
    let day = now.0.div_euclid(DAY_MS) - RECENT_DAYS;
    UnixMillis(day * DAY_MS)
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
