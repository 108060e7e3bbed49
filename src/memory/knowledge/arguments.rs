//! Arguments of a call, read by name, with errors that say which one is wrong and why.
//!
//! They are read as leniently as those of other tools: values in another type's form count, and so
//! do null and, where no text is meant, an empty text as not given.

use serde_json::{Map, Value};

use crate::memory::typed::MemoryError;
use crate::model::clock::UnixMillis;
use crate::model::node_fields;
use crate::model::typed_node_field_schemas::check_marked_text;
use crate::model::value_coercion;

pub(super) type KnowledgeResult<T> = Result<T, MemoryError>;

/// An object of a list, after the path at which a caller wrote it.
pub(super) type PlacedObject = (String, Map<String, Value>);

/// Arguments that are no texts, and may come as texts of JSON.
const NO_TEXTS: &[&str] = &[
    "base",
    "confidence",
    "dry_run",
    "entities",
    "items",
    "metadata",
    "operations",
    "supersede",
    "tags",
];

/// Returns the JSON of a request with sorted keys, in whatever order and form they were written.
pub(super) fn canonical_text(args: &Map<String, Value>) -> String {
    let mut args = args.clone();
    for (name, value) in &mut args {
        if NO_TEXTS.contains(&name.as_str())
            && let Some(Ok(read)) = value.as_str().map(serde_json::from_str)
        {
            *value = read;
        }
    }
    node_fields::rewritten(Value::Object(args), &mut str::to_owned).to_string()
}

/// The members of an object, by the path at which a caller wrote it.
#[derive(Clone, Copy)]
pub(super) struct ArgumentObject<'a> {
    members: &'a Map<String, Value>,
    path: &'a str,
}

impl<'a> ArgumentObject<'a> {
    /// Reads an object whose keys are known; the path ends with a period or is empty.
    pub(super) fn new(
        members: &'a Map<String, Value>,
        path: &'a str,
        known: &[&str],
    ) -> KnowledgeResult<ArgumentObject<'a>> {
        match members.keys().find(|it| !known.contains(&it.as_str())) {
            None => Ok(ArgumentObject { members, path }),
            Some(name) => {
                let known = known.join(", ");
                let what = format!("`{path}{name}` is no argument; known are {known}");
                Err(MemoryError::invalid(what))
            }
        }
    }

    /// Returns the error of an argument.
    pub(super) fn refuse(&self, name: &str, why: impl std::fmt::Display) -> MemoryError {
        MemoryError::invalid(format!("`{}{name}` {why}", self.path))
    }

    /// Returns the members as they came.
    pub(super) fn members(&self) -> &'a Map<String, Value> {
        self.members
    }

    /// Returns the path at which a caller wrote them.
    pub(super) fn path(&self) -> &'a str {
        self.path
    }

    pub(super) fn required<T>(&self, name: &str, value: Option<T>) -> KnowledgeResult<T> {
        value.ok_or_else(|| self.refuse(name, "is missing"))
    }

    /// Returns a value; null counts as absent.
    pub(super) fn value(&self, name: &str) -> Option<&'a Value> {
        self.members.get(name).filter(|it| !it.is_null())
    }

    /// Returns a value that is no text; an empty text counts as absent, too.
    fn value_of_no_text(&self, name: &str) -> Option<&'a Value> {
        self.value(name).filter(|it| **it != "")
    }

    pub(super) fn text(&self, name: &str, chars_max: usize) -> KnowledgeResult<Option<&'a str>> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let text = value.as_str().ok_or_else(|| self.refuse(name, "must be a text"))?;
        check_marked_text(text, chars_max).map_err(|why| self.refuse(name, why))?;
        Ok(Some(text))
    }

    pub(super) fn string(&self, name: &str, chars_max: usize) -> KnowledgeResult<Option<String>> {
        if let Some(text) = self.value(name).and_then(value_coercion::text_of_number) {
            return Ok(Some(text));
        }
        Ok(self.text(name, chars_max)?.map(|it| it.trim().to_owned()))
    }

    /// Returns a list of texts, each once; a text alone is a list of one.
    pub(super) fn texts(
        &self,
        name: &str,
        n_max: usize,
        chars_max: usize,
    ) -> KnowledgeResult<Option<Vec<String>>> {
        let Some(value) = self.value_of_no_text(name) else { return Ok(None) };
        let given_as_text = value_coercion::list_of_text(value);
        let items = match (&given_as_text, value) {
            (Some(items), _) | (None, Value::Array(items)) => items.as_slice(),
            (None, one) => std::slice::from_ref(one),
        };
        if n_max < items.len() {
            let why = format!("has {} items; at most {n_max} fit", items.len());
            return Err(self.refuse(name, why));
        }
        let mut texts: Vec<String> = Vec::with_capacity(items.len());
        for item in items {
            let text = item.as_str().ok_or_else(|| self.refuse(name, "must be a list of texts"))?;
            check_marked_text(text, chars_max)
                .map_err(|why| self.refuse(name, format!("has an item that {why}")))?;
            let text = text.trim().to_owned();
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        Ok(Some(texts))
    }

    /// Returns a list of objects, each with the path at which a caller wrote it.
    pub(super) fn objects(
        &self,
        name: &str,
        n_max: usize,
    ) -> KnowledgeResult<Option<Vec<PlacedObject>>> {
        let Some(value) = self.value_of_no_text(name) else { return Ok(None) };
        let refuse = || self.refuse(name, "must be a list of objects");
        let given_as_text = value_coercion::list_of_text(value);
        let items = given_as_text.as_ref().or(value.as_array()).ok_or_else(refuse)?;
        if items.is_empty() || n_max < items.len() {
            let why = format!("has {} items; 1 to {n_max} fit", items.len());
            return Err(self.refuse(name, why));
        }
        let read = |(nth, item): (usize, &Value)| match item {
            Value::Object(object) => Ok((format!("{name}[{nth}]."), object.clone())),
            _ => Err(refuse()),
        };
        items.iter().enumerate().map(read).collect::<KnowledgeResult<Vec<_>>>().map(Some)
    }

    pub(super) fn flag(&self, name: &str) -> KnowledgeResult<Option<bool>> {
        let Some(value) = self.value_of_no_text(name) else { return Ok(None) };
        let flag = value_coercion::flag(value);
        flag.map(Some).ok_or_else(|| self.refuse(name, "must be true or false"))
    }

    /// Returns a number from 0 to 1.
    pub(super) fn share(&self, name: &str) -> KnowledgeResult<Option<f64>> {
        let Some(value) = self.value_of_no_text(name) else { return Ok(None) };
        let number = value_coercion::number(value).and_then(|it| it.as_f64());
        match number.filter(|it| (0.0..=1.0).contains(it)) {
            Some(share) => Ok(Some(share)),
            None => Err(self.refuse(name, format!("must be a number from 0 to 1, not {value}"))),
        }
    }

    pub(super) fn whole(&self, name: &str, min: u64, max: u64) -> KnowledgeResult<Option<u64>> {
        let Some(value) = self.value_of_no_text(name) else { return Ok(None) };
        let number = value_coercion::number(value).and_then(|it| value_coercion::whole(&it));
        let number = number.and_then(|it| u64::try_from(it).ok());
        match number.filter(|it| (min..=max).contains(it)) {
            Some(number) => Ok(Some(number)),
            None => {
                let why = format!("must be a whole number from {min} to {max}, not {value}");
                Err(self.refuse(name, why))
            }
        }
    }

    /// Returns one of some words.
    pub(super) fn choice(
        &self,
        name: &str,
        words: &[&'static str],
    ) -> KnowledgeResult<Option<&'static str>> {
        let Some(value) = self.value_of_no_text(name) else { return Ok(None) };
        let word = value_coercion::word(value, words);
        let refuse = || self.refuse(name, format!("must be one of {}", words.join(", ")));
        word.map(Some).ok_or_else(refuse)
    }

    /// Returns a day or a time.
    pub(super) fn time(
        &self,
        name: &str,
        read: fn(&str) -> Option<UnixMillis>,
    ) -> KnowledgeResult<Option<UnixMillis>> {
        let Some(value) = self.value_of_no_text(name) else { return Ok(None) };
        match value.as_str().and_then(read) {
            Some(at) => Ok(Some(at)),
            None => Err(self.refuse(name, "must be a day or a time like 2026-01-01T10:00:00Z")),
        }
    }

    pub(super) fn object(&self, name: &str) -> KnowledgeResult<Option<&'a Map<String, Value>>> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::Object(it)) => Ok(Some(it)),
            Some(_) => Err(self.refuse(name, "must be an object")),
        }
    }
}
