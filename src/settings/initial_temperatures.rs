//! `.remindb/temperatures.json`: the temperatures of a file's nodes at birth, by path.
//!
//! An object of names and numbers from 0 to 1; names nest, or are joined by `/`; `*` is any one
//! name. The most specific entry wins: a name before a `*`, a deeper entry before the number of a
//! folder that it is in. A number covers all that is below it.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// Path of the file in messages.
pub(crate) const TEMPERATURES_FILE: &str = ".remindb/temperatures.json";

/// Maximum names of one path.
const DEPTH_MAX: usize = 128;

/// Maximum bytes of the file.
pub(crate) const TEMPERATURES_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Initial temperatures by path.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct InitialTemperatures {
    root: TemperatureTree,
}

/// A fault in the file, and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InitialTemperaturesError(String);

#[derive(Clone, Debug, Default, PartialEq)]
struct TemperatureTree {
    /// The temperature of the file, or of everything in the folder.
    number: Option<f64>,
    below: BTreeMap<String, TemperatureTree>,
}

impl InitialTemperatures {
    /// Parses the text of the file. An empty text sets no temperatures.
    pub(crate) fn parse(text: &str) -> Result<InitialTemperatures, InitialTemperaturesError> {
        if TEMPERATURES_BYTES_MAX < text.len() {
            return Err(InitialTemperaturesError(format!(
                "{TEMPERATURES_FILE} is larger than {TEMPERATURES_BYTES_MAX} bytes"
            )));
        }
        let text = text.trim_start_matches('\u{feff}');
        if text.trim().is_empty() {
            return Ok(InitialTemperatures::default());
        }
        let json: JsonWithDuplicates = serde_json::from_str(text).map_err(|error| {
            InitialTemperaturesError(format!("{TEMPERATURES_FILE} is no JSON: {error}"))
        })?;
        let JsonWithDuplicates::Object(fields) = json else {
            return Err(InitialTemperaturesError(format!(
                "{TEMPERATURES_FILE} must be an object of paths and temperatures"
            )));
        };
        let mut temperatures = InitialTemperatures::default();
        temperatures.root.add(fields, &mut Vec::new())?;
        Ok(temperatures)
    }

    /// Returns the temperature of new nodes of the file at `path`, relative and with `/`.
    pub(crate) fn of(&self, path: &str) -> Option<f64> {
        let names: Vec<&str> = path.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
        self.root.find(&names)
    }

    /// Returns whether no path has a temperature.
    pub(crate) fn is_empty(&self) -> bool {
        self.root == TemperatureTree::default()
    }
}

impl TemperatureTree {
    /// Adds the fields of the object at `path`.
    fn add(
        &mut self,
        fields: Vec<(String, JsonWithDuplicates)>,
        path: &mut Vec<String>,
    ) -> Result<(), InitialTemperaturesError> {
        for (key, value) in fields {
            let n_names = path.len();
            let mut entry = &mut *self;
            for name in names(&key, path)? {
                path.push(name.to_owned());
                entry = entry.below.entry(name.to_owned()).or_default();
            }
            let at = || crate::text::truncate_chars(&path.join("/"), 200);
            if DEPTH_MAX < path.len() {
                return Err(bad(&at(), &format!("has more than {DEPTH_MAX} names")));
            }
            match value {
                JsonWithDuplicates::Number(number) if entry.number.is_some() => {
                    return Err(bad(
                        &at(),
                        &format!("is given twice, the second time as {number}"),
                    ));
                }
                JsonWithDuplicates::Number(number) if (0.0..=1.0).contains(&number) => {
                    entry.number = Some(number);
                }
                JsonWithDuplicates::Number(number) => {
                    return Err(bad(&at(), &format!("must be between 0 and 1, not {number}")));
                }
                JsonWithDuplicates::Object(fields) => entry.add(fields, path)?,
                JsonWithDuplicates::Other(what) => {
                    return Err(bad(&at(), &format!("must be a number or an object, not {what}")));
                }
            }
            path.truncate(n_names);
        }
        Ok(())
    }

    /// Returns the temperature of the path `names` below this entry.
    fn find(&self, names: &[&str]) -> Option<f64> {
        let Some((name, rest)) = names.split_first() else { return self.number };
        let named = self.below.get(*name).and_then(|below| below.find(rest));
        let any = || self.below.get("*").and_then(|below| below.find(rest));
        named.or_else(any).or(self.number)
    }
}

/// Splits `key` into names.
fn names<'k>(key: &'k str, path: &[String]) -> Result<Vec<&'k str>, InitialTemperaturesError> {
    let at = || crate::text::truncate_chars(&[path.join("/"), key.to_owned()].join("/"), 200);
    let trimmed = key.strip_prefix("./").unwrap_or(key);
    let trimmed = trimmed.strip_suffix('/').unwrap_or(trimmed);
    let names: Vec<&str> = trimmed.split('/').collect();
    if key.starts_with('/') {
        return Err(bad(&at(), "begins with `/`; paths are relative to the folder"));
    }
    for name in &names {
        match *name {
            "" => return Err(bad(&at(), "has an empty name; write names between single `/`")),
            "." | ".." => return Err(bad(&at(), "has `.` or `..`; write the path without")),
            "*" => (),
            name if name.contains('*') => {
                return Err(bad(&at(), "has a `*` within a name; it stands for a whole name only"));
            }
            _ => (),
        }
    }
    Ok(names)
}

fn bad(path: &str, why: &str) -> InitialTemperaturesError {
    InitialTemperaturesError(format!(
        "`{}` in {TEMPERATURES_FILE} {why}",
        path.trim_start_matches('/')
    ))
}

/// JSON that keeps repeated names.
enum JsonWithDuplicates {
    Number(f64),
    Object(Vec<(String, JsonWithDuplicates)>),
    Other(&'static str),
}

impl<'de> Deserialize<'de> for JsonWithDuplicates {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<JsonWithDuplicates, D::Error> {
        deserializer.deserialize_any(DuplicateKeepingVisitor)
    }
}

struct DuplicateKeepingVisitor;

impl<'de> Visitor<'de> for DuplicateKeepingVisitor {
    type Value = JsonWithDuplicates;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or an object")
    }

    fn visit_f64<E>(self, number: f64) -> Result<JsonWithDuplicates, E> {
        Ok(JsonWithDuplicates::Number(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<JsonWithDuplicates, E> {
        Ok(JsonWithDuplicates::Number(number as f64))
    }

    fn visit_u64<E>(self, number: u64) -> Result<JsonWithDuplicates, E> {
        Ok(JsonWithDuplicates::Number(number as f64))
    }

    fn visit_bool<E>(self, _: bool) -> Result<JsonWithDuplicates, E> {
        Ok(JsonWithDuplicates::Other("a truth value"))
    }

    fn visit_str<E>(self, _: &str) -> Result<JsonWithDuplicates, E> {
        Ok(JsonWithDuplicates::Other("a string"))
    }

    fn visit_unit<E>(self) -> Result<JsonWithDuplicates, E> {
        Ok(JsonWithDuplicates::Other("null"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<JsonWithDuplicates, A::Error> {
        while items.next_element::<serde::de::IgnoredAny>()?.is_some() {}
        Ok(JsonWithDuplicates::Other("a list"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<JsonWithDuplicates, A::Error> {
        let mut object = Vec::new();
        while let Some(field) = fields.next_entry()? {
            object.push(field);
        }
        Ok(JsonWithDuplicates::Object(object))
    }
}

impl fmt::Display for InitialTemperaturesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InitialTemperaturesError {}

#[cfg(test)]
mod tests;
