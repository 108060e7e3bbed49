//! Requests of the typed memories, read from the JSON arguments of a call and checked.
//!
//! An argument that is `null` counts as not given; one that is unknown or of another type is
//! refused. Lengths count Unicode characters.

use serde_json::{Map, Value};

use super::MemoryError;
use crate::model::clock::UnixMillis;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::{
    CONTENT_CHARS_MAX, FieldSpec, IMPORTANCES, MEMORY_TYPES, STATUSES, TASK_METADATA, ValueType,
    check_marked_text, is_uuid, value_type_of,
};

/// Characters of a search, at most.
const SEARCH_CHARS_MAX: usize = 200;

/// Memories of one answer: at most, and by default.
const LIMIT_MAX: u64 = 100;
const LIMIT: u64 = 10;

/// The largest number that SQLite knows.
const UNBOUNDED: u64 = i64::MAX as u64;

/// The conditions of a custom view, in the order in which they are shown.
pub(super) const VIEW_CONDITIONS: [&str; 10] = [
    "type",
    "tags",
    "status",
    "importance",
    "category",
    "search",
    "archived",
    "sort_by",
    "sort_order",
    "limit",
];

/// Holds new values of fields; `None` leaves a field as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FieldChanges {
    pub(crate) category: Option<String>,
    pub(crate) tags: Option<Vec<String>>,
    pub(crate) importance: Option<String>,
    pub(crate) archived: Option<bool>,
    /// Checked members of `task_metadata`, `completed_at` in milliseconds.
    pub(crate) task_metadata: Option<Map<String, Value>>,
}

/// Asks to store a memory or, with an id, to update it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StoreRequest {
    pub(crate) id: Option<String>,
    pub(crate) memory_type: NodeType,
    pub(crate) content: String,
    pub(crate) changes: FieldChanges,
}

/// Asks to change a memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UpdateRequest {
    pub(crate) id: String,
    pub(crate) content: Option<String>,
    pub(crate) changes: FieldChanges,
}

/// Asks to archive a memory or to delete it for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeleteRequest {
    pub(crate) id: String,
    pub(crate) fate: DeleteMode,
}

/// Tells what deleting does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DeleteMode {
    #[default]
    Archive,
    Permanent,
}

/// Names the value that memories are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SortKey {
    CreatedAt,
    UpdatedAt,
    #[default]
    AccessedAt,
    Importance,
    AccessCount,
}

/// Names the direction of a sort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SortDirection {
    Ascending,
    #[default]
    Descending,
}

/// The values that memories are sorted by, by the names that clients use.
pub(crate) const SORT_KEYS: [(&str, SortKey); 5] = [
    ("created_at", SortKey::CreatedAt),
    ("updated_at", SortKey::UpdatedAt),
    ("accessed_at", SortKey::AccessedAt),
    ("importance", SortKey::Importance),
    ("access_count", SortKey::AccessCount),
];

/// The directions of a sort, by the names that clients use.
pub(crate) const SORT_ORDERS: [(&str, SortDirection); 2] =
    [("asc", SortDirection::Ascending), ("desc", SortDirection::Descending)];

/// Asks for memories that meet every condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QueryRequest {
    pub(crate) memory_type: Option<NodeType>,
    pub(crate) tags: Vec<String>,
    pub(crate) search: Option<String>,
    pub(crate) importance: Option<String>,
    pub(crate) category: Option<String>,
    /// Of tasks.
    pub(crate) status: Option<String>,
    pub(crate) archived: bool,
    pub(crate) limit: u64,
    pub(crate) offset: u64,
    pub(crate) sort_by: SortKey,
    pub(crate) sort_order: SortDirection,
}

impl Default for QueryRequest {
    fn default() -> QueryRequest {
        QueryRequest {
            memory_type: None,
            tags: Vec::new(),
            search: None,
            importance: None,
            category: None,
            status: None,
            archived: false,
            limit: LIMIT,
            offset: 0,
            sort_by: SortKey::default(),
            sort_order: SortDirection::default(),
        }
    }
}

type MemoryResult<T> = Result<T, MemoryError>;

impl StoreRequest {
    /// Reads the arguments of `store_memory`.
    pub(crate) fn parse(args: &Map<String, Value>) -> MemoryResult<StoreRequest> {
        let args = RequestArguments::new(
            args,
            &["type", "content", "category", "tags", "importance", "task_metadata", "id"],
        )?;
        let memory_type = args.memory_type()?.ok_or_else(|| missing("type"))?;
        let changes = args.changes()?;
        if changes.task_metadata.is_some() {
            check_is_task(memory_type)?;
        }
        Ok(StoreRequest {
            id: args.id()?,
            memory_type,
            content: args.content()?.ok_or_else(|| missing("content"))?,
            changes,
        })
    }
}

impl UpdateRequest {
    /// Reads the arguments of `update_memory`.
    pub(crate) fn parse(args: &Map<String, Value>) -> MemoryResult<UpdateRequest> {
        const CHANGES: [&str; 6] =
            ["content", "category", "tags", "importance", "archived", "task_metadata"];
        let mut known = vec!["id"];
        known.extend(CHANGES);
        let args = RequestArguments::new(args, &known)?;
        let id = args.id()?.ok_or_else(|| missing("id"))?;
        let (content, changes) = (args.content()?, args.changes()?);
        if content.is_none() && changes == FieldChanges::default() {
            let what = format!("nothing to update; give at least one of {}", CHANGES.join(", "));
            return Err(MemoryError::invalid(what));
        }
        Ok(UpdateRequest { id, content, changes })
    }
}

impl DeleteRequest {
    /// Reads the arguments of `delete_memory`.
    pub(crate) fn parse(args: &Map<String, Value>) -> MemoryResult<DeleteRequest> {
        let args = RequestArguments::new(args, &["id", "permanent"])?;
        let fate = match args.flag("permanent")? {
            Some(true) => DeleteMode::Permanent,
            Some(false) | None => DeleteMode::Archive,
        };
        Ok(DeleteRequest { id: args.id()?.ok_or_else(|| missing("id"))?, fate })
    }
}

impl QueryRequest {
    /// Reads the arguments of `query_memories`.
    pub(crate) fn parse(args: &Map<String, Value>) -> MemoryResult<QueryRequest> {
        let known = &[
            "type",
            "tags",
            "search",
            "importance",
            "category",
            "archived",
            "limit",
            "offset",
            "sort_by",
            "sort_order",
        ];
        RequestArguments::new(args, known)?.query(LIMIT, LIMIT_MAX)
    }

    /// Reads the conditions of a custom view, which shows up to `limit_max` memories.
    pub(super) fn parse_view(
        args: &Map<String, Value>,
        limit_max: u64,
    ) -> MemoryResult<QueryRequest> {
        let args = RequestArguments::new(args, &VIEW_CONDITIONS)?;
        let request = args.query(limit_max, limit_max)?;
        let status = args.choice("status", STATUSES)?;
        match request.memory_type {
            Some(other) if other != NodeType::Task && status.is_some() => {
                Err(refused("status", format!("belongs to tasks, and the type is {other}")))
            }
            _ => Ok(QueryRequest { status, ..request }),
        }
    }
}

/// Refuses every argument, of a call that takes none.
pub(crate) fn check_no_arguments(args: &Map<String, Value>) -> MemoryResult<()> {
    match args.keys().next() {
        None => Ok(()),
        Some(name) => Err(refused(name, "is no argument; the call takes none".to_owned())),
    }
}

/// Refuses task metadata of other types.
pub(super) fn check_is_task(memory_type: NodeType) -> MemoryResult<()> {
    match memory_type {
        NodeType::Task => Ok(()),
        other => {
            let what = format!("`task_metadata` belongs to tasks, and the type is {other}");
            Err(MemoryError::invalid(what))
        }
    }
}

pub(super) fn missing(name: &str) -> MemoryError {
    MemoryError::invalid(format!("`{name}` is missing"))
}

pub(super) fn mistyped(name: &str, what: &str) -> MemoryError {
    MemoryError::invalid(format!("`{name}` must be {what}"))
}

fn refused(name: &str, why: String) -> MemoryError {
    MemoryError::invalid(format!("`{name}` {why}"))
}

/// The arguments of a call whose names are known.
pub(super) struct RequestArguments<'a>(&'a Map<String, Value>);

impl<'a> RequestArguments<'a> {
    pub(super) fn new(
        args: &'a Map<String, Value>,
        known: &[&str],
    ) -> MemoryResult<RequestArguments<'a>> {
        match args.keys().find(|it| !known.contains(&it.as_str())) {
            None => Ok(RequestArguments(args)),
            Some(name) => {
                Err(refused(name, format!("is no argument; known are {}", known.join(", "))))
            }
        }
    }

    fn get(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|it| !it.is_null())
    }

    pub(super) fn text(&self, name: &str) -> MemoryResult<Option<&'a str>> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(it)) => Ok(Some(it)),
            Some(_) => Err(mistyped(name, "a text")),
        }
    }

    pub(super) fn flag(&self, name: &str) -> MemoryResult<Option<bool>> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Bool(it)) => Ok(Some(*it)),
            Some(_) => Err(mistyped(name, "true or false")),
        }
    }

    /// Reads the conditions, the page and the order of a list.
    fn query(&self, limit: u64, limit_max: u64) -> MemoryResult<QueryRequest> {
        let category = match self.checked("category", value_type_of("category"))? {
            Some(Value::String(it)) => Some(it.clone()),
            _ => None,
        };
        let search = self.text("search")?;
        let n_chars = search.map_or(0, |it| it.chars().count());
        if SEARCH_CHARS_MAX < n_chars {
            let what = format!("`search` has {n_chars} characters; at most {SEARCH_CHARS_MAX} fit");
            return Err(MemoryError::invalid(what));
        }
        Ok(QueryRequest {
            memory_type: self.memory_type()?,
            tags: self.tags()?.unwrap_or_default(),
            search: search.map(str::to_owned),
            importance: self.choice("importance", IMPORTANCES)?,
            category,
            status: None,
            archived: self.flag("archived")?.unwrap_or(false),
            limit: self.number("limit", 1, limit_max)?.unwrap_or(limit),
            offset: self.number("offset", 0, UNBOUNDED)?.unwrap_or(0),
            sort_by: self.one_of("sort_by", &SORT_KEYS)?.unwrap_or_default(),
            sort_order: self.one_of("sort_order", &SORT_ORDERS)?.unwrap_or_default(),
        })
    }

    pub(super) fn number(&self, name: &str, min: u64, max: u64) -> MemoryResult<Option<u64>> {
        let what = || match max {
            UNBOUNDED => format!("a whole number, {min} or more"),
            _ => format!("a whole number from {min} to {max}"),
        };
        match self.get(name) {
            None => Ok(None),
            Some(value) => match value.as_u64().filter(|it| (min..=max).contains(it)) {
                Some(number) => Ok(Some(number)),
                None => Err(mistyped(name, &format!("{}, not {value}", what()))),
            },
        }
    }

    fn choice(&self, name: &str, words: &'static [&'static str]) -> MemoryResult<Option<String>> {
        let value = self.checked(name, ValueType::Choice(words))?;
        Ok(value.and_then(Value::as_str).map(str::to_owned))
    }

    fn one_of<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> MemoryResult<Option<T>> {
        let Some(word) = self.text(name)? else { return Ok(None) };
        match words.iter().find(|(it, _)| *it == word) {
            Some((_, meant)) => Ok(Some(*meant)),
            None => {
                let known: Vec<&str> = words.iter().map(|(it, _)| *it).collect();
                Err(refused(name, format!("must be one of {}", known.join(", "))))
            }
        }
    }

    fn checked(&self, name: &str, value_type: ValueType) -> MemoryResult<Option<&'a Value>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value_type.check(value).map_err(|why| refused(name, why))?;
        Ok(Some(value))
    }

    pub(super) fn memory_type(&self) -> MemoryResult<Option<NodeType>> {
        self.one_of("type", &MEMORY_TYPES.map(|it| (it.as_str(), it)))
    }

    pub(super) fn id(&self) -> MemoryResult<Option<String>> {
        let Some(id) = self.text("id")? else { return Ok(None) };
        let id = id.to_ascii_lowercase();
        if is_uuid(&id) { Ok(Some(id)) } else { Err(mistyped("id", "a UUID")) }
    }

    pub(super) fn content(&self) -> MemoryResult<Option<String>> {
        let Some(content) = self.text("content")? else { return Ok(None) };
        check_marked_text(content, CONTENT_CHARS_MAX).map_err(|why| refused("content", why))?;
        Ok(Some(content.to_owned()))
    }

    /// Each tag once, in order.
    fn tags(&self) -> MemoryResult<Option<Vec<String>>> {
        let Some(Value::Array(items)) = self.get("tags") else {
            self.checked("tags", value_type_of("tags"))?;
            return Ok(None);
        };
        let mut tags: Vec<Value> = Vec::new();
        for item in items {
            if !tags.contains(item) {
                tags.push(item.clone());
            }
        }
        let tags = Value::Array(tags);
        value_type_of("tags").check(&tags).map_err(|why| refused("tags", why))?;
        Ok(Some(texts(&tags)))
    }

    pub(super) fn changes(&self) -> MemoryResult<FieldChanges> {
        let category = self.checked("category", value_type_of("category"))?;
        Ok(FieldChanges {
            category: category.and_then(Value::as_str).map(str::to_owned),
            tags: self.tags()?,
            importance: self.choice("importance", IMPORTANCES)?,
            archived: self.flag("archived")?,
            task_metadata: self.task_metadata()?,
        })
    }

    fn task_metadata(&self) -> MemoryResult<Option<Map<String, Value>>> {
        let object = match self.get("task_metadata") {
            None => return Ok(None),
            Some(Value::Object(object)) => object,
            Some(_) => return Err(mistyped("task_metadata", "an object")),
        };
        let mut metadata = Map::new();
        for (name, value) in object.iter().filter(|(_, it)| !it.is_null()) {
            let path = format!("task_metadata.{name}");
            let Some(FieldSpec { value_type, .. }) =
                TASK_METADATA.iter().find(|it| it.name == name)
            else {
                let known: Vec<&str> = TASK_METADATA.iter().map(|it| it.name).collect();
                return Err(refused(&path, format!("is unknown; known are {}", known.join(", "))));
            };
            let value = match (value_type, value) {
                (ValueType::Time, Value::String(text)) => match UnixMillis::parse_rfc3339(text) {
                    Some(at) => at.0.into(),
                    None => return Err(mistyped(&path, "a time like 2026-01-01T10:00:00Z")),
                },
                (ValueType::Time, _) => {
                    return Err(mistyped(&path, "a time like 2026-01-01T10:00:00Z"));
                }
                (_, value) => value.clone(),
            };
            value_type.check(&value).map_err(|why| refused(&path, why))?;
            metadata.insert(name.clone(), value);
        }
        Ok(Some(metadata))
    }
}

/// Returns the texts of a list.
pub(super) fn texts(list: &Value) -> Vec<String> {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}
