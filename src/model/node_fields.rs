//! Fields: the typed values of a node, as one canonical JSON object.
//!
//! Canonical means: keys sorted by their bytes at every depth, no white space, no `null` but within
//! [`FREE_KEY`], at most [`FIELDS_BYTES_MAX`] bytes. Equal fields are equal text, which the state
//! fingerprint relies on.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

/// Bytes of the canonical text, at most.
pub(crate) const FIELDS_BYTES_MAX: usize = 16 * 1024;

/// Levels of objects and lists, at most.
const DEPTH_MAX: usize = 8;

/// The key whose object is kept as its caller gives it, with `null` at any depth.
const FREE_KEY: &str = "metadata";

/// The fields of a node: a non-empty JSON object in canonical order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CanonicalFields(Map<String, Value>);

/// The reason why a value or a text is no canonical object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CanonicalFieldsError {
    NotAnObject,
    Empty,
    TooDeep,
    TooLarge { n_bytes: usize },
    NotCanonical,
}

impl CanonicalFields {
    /// Builds fields from an object in any order; `null` is left out, but within [`FREE_KEY`].
    ///
    /// # Errors
    ///
    /// The object is empty, deeper than [`DEPTH_MAX`] or larger than [`FIELDS_BYTES_MAX`].
    pub(crate) fn new(object: Map<String, Value>) -> Result<CanonicalFields, CanonicalFieldsError> {
        let fields = CanonicalFields::sorted(object)?;
        let n_bytes = fields.to_string().len();
        if FIELDS_BYTES_MAX < n_bytes {
            return Err(CanonicalFieldsError::TooLarge { n_bytes });
        }
        Ok(fields)
    }

    /// Reads a canonical text, as the database keeps it.
    ///
    /// # Errors
    ///
    /// The text is no JSON object, or not the one that [`CanonicalFields::new`] would write.
    pub(crate) fn parse(text: &str) -> Result<CanonicalFields, CanonicalFieldsError> {
        let fields = CanonicalFields::parse_loosely(text)?;
        if fields.to_string() == text {
            Ok(fields)
        } else {
            Err(CanonicalFieldsError::NotCanonical)
        }
    }

    /// Reads a JSON object in any order and of any size, such as one that redaction made longer.
    ///
    /// # Errors
    ///
    /// The text is no JSON object, or it is empty or too deep.
    pub(crate) fn parse_loosely(text: &str) -> Result<CanonicalFields, CanonicalFieldsError> {
        let Ok(Value::Object(object)) = serde_json::from_str(text) else {
            return Err(CanonicalFieldsError::NotAnObject);
        };
        CanonicalFields::sorted(object)
    }

    /// Parses a text as [`CanonicalFields::parse_loosely`] does, but leaves one member out unread,
    /// unless it is the only one.
    ///
    /// # Errors
    ///
    /// The text is no JSON object, or it is empty or too deep.
    pub(crate) fn parse_without(
        text: &str,
        left_out: &str,
    ) -> Result<CanonicalFields, CanonicalFieldsError> {
        let mut from = serde_json::Deserializer::from_str(text);
        match ObjectWithoutMemberSeed(left_out).deserialize(&mut from) {
            Ok(object) if from.end().is_ok() && !object.is_empty() => {
                CanonicalFields::sorted(object)
            }
            _ => CanonicalFields::parse_loosely(text),
        }
    }

    fn sorted(object: Map<String, Value>) -> Result<CanonicalFields, CanonicalFieldsError> {
        let is_member = |(key, it): (&String, &Value)| {
            !it.is_null() && is_canonical(it, DEPTH_MAX - 1, NestedNulls::of(key))
        };
        if object.is_empty() || !object.keys().is_sorted() || !object.iter().all(is_member) {
            let mut members = Vec::with_capacity(object.len());
            for (key, value) in object.into_iter().filter(|(_, it)| !it.is_null()) {
                let nulls = NestedNulls::of(&key);
                members.push((key, canonical(value, DEPTH_MAX - 1, nulls)?));
            }
            return match members.is_empty() {
                true => Err(CanonicalFieldsError::Empty),
                false => Ok(CanonicalFields(sorted_members(members))),
            };
        }
        Ok(CanonicalFields(object))
    }

    /// Returns the value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// Returns the object, its keys sorted.
    pub(crate) fn object(&self) -> &Map<String, Value> {
        &self.0
    }

    /// Returns the object, to change it and build fields anew.
    pub(crate) fn into_object(self) -> Map<String, Value> {
        self.0
    }

    /// Rewrites every string value, and the keys below the first level, which anybody chooses.
    pub(crate) fn map_strings(self, rewrite: &mut impl FnMut(&str) -> String) -> CanonicalFields {
        let members = self.0.into_iter().map(|(key, value)| (key, rewritten(value, rewrite)));
        CanonicalFields(members.collect())
    }
}

/// Returns the items of the list under a key; none where there is no list.
pub(crate) fn list<'a>(fields: &'a Map<String, Value>, key: &str) -> &'a [Value] {
    match fields.get(key) {
        Some(Value::Array(items)) => items,
        _ => &[],
    }
}

/// Rewrites every string of a stored text, and keys below the first level; `None` where nothing
/// changed. A text that is no JSON object is one string.
pub(crate) fn map_text(text: &str, rewrite: &mut impl FnMut(&str) -> String) -> Option<String> {
    let mapped = match CanonicalFields::parse_loosely(text) {
        Ok(fields) => {
            let before = fields.to_string();
            let after = fields.map_strings(rewrite).to_string();
            // What is not in canonical form stays so where nothing is rewritten.
            if after == before { text.to_owned() } else { after }
        }
        Err(_) => rewrite(text),
    };
    (mapped != text).then_some(mapped)
}

/// Shows every string of a stored text; a text that is no JSON object is one string.
pub(crate) fn each_text(text: &str, look: &mut impl FnMut(&str)) {
    map_text(text, &mut |it| {
        look(it);
        it.to_owned()
    });
}

/// Writes the canonical text.
impl fmt::Display for CanonicalFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string(&self.0).map_err(|_| fmt::Error)?;
        f.write_str(&text)
    }
}

impl fmt::Display for CanonicalFieldsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CanonicalFieldsError::NotAnObject => f.write_str("the fields are no JSON object"),
            CanonicalFieldsError::Empty => {
                f.write_str("the fields are an empty object; leave them out")
            }
            CanonicalFieldsError::TooDeep => {
                write!(f, "the fields are nested deeper than {DEPTH_MAX} levels")
            }
            CanonicalFieldsError::TooLarge { n_bytes } => {
                write!(f, "the fields have {n_bytes} bytes; at most {FIELDS_BYTES_MAX} fit")
            }
            CanonicalFieldsError::NotCanonical => {
                f.write_str("the fields are not in canonical form")
            }
        }
    }
}

/// Reads an object without the member of that name.
struct ObjectWithoutMemberSeed<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for ObjectWithoutMemberSeed<'_> {
    type Value = Map<String, Value>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ObjectWithoutMemberSeed<'_> {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if name == self.0 {
                members.next_value::<IgnoredAny>()?;
            } else {
                object.insert(name, members.next_value()?);
            }
        }
        Ok(object)
    }
}

/// Whether `null` within a value is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NestedNulls {
    Kept,
    LeftOut,
}

impl NestedNulls {
    fn of(key: &str) -> NestedNulls {
        if key == FREE_KEY { NestedNulls::Kept } else { NestedNulls::LeftOut }
    }

    fn keeps(self, value: &Value) -> bool {
        self == NestedNulls::Kept || !value.is_null()
    }
}

/// Returns whether [`canonical`] would change nothing, as for nearly every text that is stored.
fn is_canonical(value: &Value, n_levels: usize, nulls: NestedNulls) -> bool {
    let is_kept = |it: &Value| nulls.keeps(it) && is_canonical(it, n_levels - 1, nulls);
    match value {
        Value::Object(object) => {
            0 < n_levels && object.keys().is_sorted() && object.values().all(is_kept)
        }
        Value::Array(items) => 0 < n_levels && items.iter().all(is_kept),
        _ => true,
    }
}

/// Sorts keys at every depth, and leaves `null` out where it is not kept.
fn canonical(
    value: Value,
    n_levels: usize,
    nulls: NestedNulls,
) -> Result<Value, CanonicalFieldsError> {
    let is_nested = matches!(value, Value::Object(_) | Value::Array(_));
    if is_nested && n_levels == 0 {
        return Err(CanonicalFieldsError::TooDeep);
    }
    Ok(match value {
        Value::Object(object) => {
            let mut members = Vec::with_capacity(object.len());
            for (key, value) in object.into_iter().filter(|(_, it)| nulls.keeps(it)) {
                members.push((key, canonical(value, n_levels - 1, nulls)?));
            }
            sorted_members(members).into()
        }
        Value::Array(items) => {
            let kept = items.into_iter().filter(|it| nulls.keeps(it));
            let kept = kept.map(|it| canonical(it, n_levels - 1, nulls));
            Value::Array(kept.collect::<Result<_, _>>()?)
        }
        scalar => scalar,
    })
}

fn sorted_members(mut members: Vec<(String, Value)>) -> Map<String, Value> {
    members.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    members.into_iter().collect()
}

/// Returns a value without any `null`.
pub(crate) fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let kept = object.into_iter().filter(|(_, it)| !it.is_null());
            kept.map(|(key, it)| (key, without_nulls(it))).collect()
        }
        Value::Array(items) => {
            items.into_iter().filter(|it| !it.is_null()).map(without_nulls).collect()
        }
        scalar => scalar,
    }
}

/// Rewrites every string and every key of a value, and sorts the keys.
pub(crate) fn rewritten(value: Value, rewrite: &mut impl FnMut(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(rewrite(&text)),
        Value::Array(items) => items.into_iter().map(|it| rewritten(it, rewrite)).collect(),
        Value::Object(object) => {
            let members = object.into_iter();
            let members = members.map(|(key, value)| (rewrite(&key), rewritten(value, rewrite)));
            // Another key may have another place.
            members.collect::<BTreeMap<String, Value>>().into_iter().collect()
        }
        scalar => scalar,
    }
}

#[cfg(test)]
mod tests;
