//! Takes typed fields out of a JSON object; fields left over are unknown.

use std::time::Duration;

use serde_json::{Map, Value};

use super::ConfigError;
use super::units::{self, DURATION_HELP, SIZE_HELP};

/// The object at `path`, from which fields are taken one by one.
pub(super) struct ObjectReader {
    /// The file, in messages.
    file: String,
    path: String,
    map: Map<String, Value>,
    /// Names that were asked for, listed in the message about an unknown one.
    known: Vec<&'static str>,
}

/// The range of a number or a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignConstraint {
    /// Above zero.
    Positive,
    /// Zero or above.
    NotNegative,
}

type FieldResult<T> = Result<Option<T>, ConfigError>;

impl ObjectReader {
    pub(super) fn root(file: &str, map: Map<String, Value>) -> ObjectReader {
        ObjectReader { file: file.to_owned(), path: String::new(), map, known: Vec::new() }
    }

    fn within(&self, name: &str, map: Map<String, Value>) -> ObjectReader {
        ObjectReader { path: self.at(name), ..ObjectReader::root(&self.file, map) }
    }

    /// Returns the object under `name`; an absent one is empty.
    pub(super) fn object(&mut self, name: &'static str) -> Result<ObjectReader, ConfigError> {
        Ok(self.optional_object(name)?.unwrap_or_else(|| self.within(name, Map::new())))
    }

    /// Returns the object under `name`, if there is one.
    pub(super) fn optional_object(&mut self, name: &'static str) -> FieldResult<ObjectReader> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(self.within(name, map))),
            Some(other) => Err(self.wrong(name, "an object", &other)),
        }
    }

    /// Returns a value of any type.
    pub(super) fn take_value(&mut self, name: &'static str) -> Option<Value> {
        self.take(name)
    }

    pub(super) fn flag(&mut self, name: &'static str) -> FieldResult<bool> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(other) => Err(self.wrong(name, "`true` or `false`", &other)),
        }
    }

    pub(super) fn text(&mut self, name: &'static str) -> FieldResult<String> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(name, "a string", &other)),
        }
    }

    /// Returns one of `choices`, by its name.
    pub(super) fn choice<T: Copy>(
        &mut self,
        name: &'static str,
        choices: &[(&'static str, T)],
    ) -> FieldResult<T> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        match choices.iter().find(|(choice, _)| *choice == text) {
            Some((_, choice)) => Ok(Some(*choice)),
            None => {
                let names: Vec<&str> = choices.iter().map(|(choice, _)| *choice).collect();
                let why = format!(
                    "must be one of {}, not `{}`",
                    names.join(", "),
                    crate::text::truncate_chars(&text, 40)
                );
                Err(self.error(name, why))
            }
        }
    }

    /// Returns a whole number above zero.
    pub(super) fn count(&mut self, name: &'static str) -> FieldResult<u32> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let whole = match &value {
            Value::Number(number) if number.is_i64() || number.is_u64() => number,
            other => return Err(self.wrong(name, "a whole number", other)),
        };
        match whole.as_u64().filter(|count| 0 < *count) {
            None => Err(self.error(name, format!("must be positive, not `{whole}`"))),
            Some(count) => u32::try_from(count).map(Some).map_err(|_| {
                self.error(name, format!("must be at most {}, not `{whole}`", u32::MAX))
            }),
        }
    }

    /// Returns a whole number of a range.
    pub(super) fn number_in(&mut self, name: &'static str, range: (u32, u32)) -> FieldResult<u32> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let number = value.as_u64().and_then(|it| u32::try_from(it).ok());
        match number.filter(|it| (range.0..=range.1).contains(it)) {
            Some(number) => Ok(Some(number)),
            None => {
                let wanted = format!("a whole number from {} to {}", range.0, range.1);
                Err(self.wrong(name, &wanted, &value))
            }
        }
    }

    /// Returns a number of at least zero and at most `max`.
    pub(super) fn fraction(&mut self, name: &'static str, max: f64) -> FieldResult<f64> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let Some(number) = value.as_f64() else { return Err(self.wrong(name, "a number", &value)) };
        if number.is_finite() && 0.0 <= number && number <= max {
            return Ok(Some(number));
        }
        let range = if max == 1.0 { "between 0 and 1" } else { "0 or above" };
        Err(self.error(name, format!("must be {range}, not `{value}`")))
    }

    pub(super) fn duration(
        &mut self,
        name: &'static str,
        range: SignConstraint,
    ) -> FieldResult<Duration> {
        match self.take(name) {
            None => Ok(None),
            Some(value) => self.to_duration(name, &value, range).map(Some),
        }
    }

    pub(super) fn to_duration(
        &self,
        name: &str,
        value: &Value,
        range: SignConstraint,
    ) -> Result<Duration, ConfigError> {
        let shown = show(value);
        let bad = || self.error(name, format!("is no duration, `{shown}`; {DURATION_HELP}"));
        let signed = match value {
            Value::String(text) => units::duration(text).ok_or_else(bad)?,
            Value::Number(number) if number.as_u64() == Some(0) => {
                units::SignedDuration { negative: false, size: Duration::ZERO }
            }
            _ => return Err(bad()),
        };
        match range {
            SignConstraint::Positive if signed.negative || signed.size.is_zero() => {
                Err(self.error(name, format!("must be positive, not `{shown}`")))
            }
            SignConstraint::NotNegative if signed.negative => {
                Err(self.error(name, format!("must not be negative, as `{shown}` is")))
            }
            SignConstraint::Positive | SignConstraint::NotNegative => Ok(signed.size),
        }
    }

    /// Returns a size in bytes, above zero.
    pub(super) fn size(&mut self, name: &'static str) -> FieldResult<u64> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let shown = show(&value);
        let bad = || self.error(name, format!("is no size, `{shown}`; {SIZE_HELP}"));
        let Value::String(text) = &value else { return Err(bad()) };
        match units::size(text).ok_or_else(bad)? {
            0 => Err(self.error(name, format!("must be positive, not `{shown}`"))),
            bytes => Ok(Some(bytes)),
        }
    }

    pub(super) fn list(&mut self, name: &'static str) -> Result<Vec<Value>, ConfigError> {
        match self.take(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => Ok(items),
            Some(other) => Err(self.wrong(name, "a list", &other)),
        }
    }

    /// Returns the fields of one item of a list.
    pub(super) fn item(
        &self,
        name: &str,
        idx: usize,
        item: Value,
    ) -> Result<ObjectReader, ConfigError> {
        let name = format!("{name}[{idx}]");
        match item {
            Value::Object(map) => Ok(self.within(&name, map)),
            other => Err(self.wrong(&name, "an object", &other)),
        }
    }

    /// Returns all fields that are left, whatever their names.
    pub(super) fn rest(&mut self) -> Map<String, Value> {
        std::mem::take(&mut self.map)
    }

    /// Refuses fields that were not taken.
    pub(super) fn done(self) -> Result<(), ConfigError> {
        let Some(name) = self.map.keys().next() else { return Ok(()) };
        let within =
            if self.path.is_empty() { String::new() } else { format!(", under `{}`", self.path) };
        let hint = match crate::text::suggest::suggest(name, self.known.iter().copied()) {
            Some(near) => format!("; did you mean `{near}`?"),
            None => format!("; known are {}", self.known.join(", ")),
        };
        let name = crate::text::truncate_chars(name, 80);
        let file = &self.file;
        Err(ConfigError(format!("unknown key \"{name}\" in {file}{within}{hint}")))
    }

    pub(super) fn error(&self, name: &str, why: String) -> ConfigError {
        ConfigError(format!("`{}` in {} {why}", self.at(name), self.file))
    }

    pub(super) fn wrong(&self, name: &str, wanted: &str, value: &Value) -> ConfigError {
        self.error(name, format!("must be {wanted}, not `{}`", show(value)))
    }

    /// Takes a field; `null` counts as absent.
    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.known.push(name);
        self.map.shift_remove(name).filter(|value| !value.is_null())
    }

    fn at(&self, name: &str) -> String {
        match self.path.as_str() {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        }
    }
}

/// Formats a value, short enough for a message.
fn show(value: &Value) -> String {
    crate::text::truncate_chars(&value.to_string(), 40)
}
