//! Input schemas: one table gives a tool's JSON Schema, its checks and its error messages.
//!
//! The checks report all mistakes at once and name the allowed values, so that the next try
//! succeeds. Null counts as absent, and so does an empty string that is no text; `5.0` and `"5"`
//! are integers.

mod argument_coercion;
mod argument_errors;

use argument_errors::{CITED_CHARS_MAX, hint, outside, type_name, unknown};
use serde_json::{Map, Value, json};

use crate::model::clock::UnixMillis;
use crate::model::value_coercion;
use crate::text;

/// An argument of a tool: a row of its table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArgSpec {
    name: &'static str,
    about: &'static str,
    kind: ArgKind,
    need: ArgNeed,
    /// Further names, accepted and not listed.
    aliases: &'static [&'static str],
    /// Names that are refused, with this argument as the suggestion.
    mistaken: &'static [&'static str],
    is_listed: bool,
}

#[derive(Clone, Copy, Debug)]
enum ArgKind {
    Text,
    Integer { min: i64, max: i64 },
    Number { min: f64, max: f64 },
    Flag,
    Choice(&'static [&'static str]),
    Texts { n_min: usize, n_max: usize },
    Time(fn(&str) -> Option<UnixMillis>),
    Whole(fn() -> Value),
}

#[derive(Clone, Copy, Debug)]
enum ArgNeed {
    Required,
    Optional,
    Default(ArgDefault),
}

#[derive(Clone, Copy, Debug)]
enum ArgDefault {
    Text(&'static str),
    Integer(i64),
    Number(f64),
    Flag(bool),
}

impl ArgSpec {
    const fn new(name: &'static str, about: &'static str, kind: ArgKind) -> ArgSpec {
        let need = ArgNeed::Optional;
        ArgSpec { name, about, kind, need, aliases: &[], mistaken: &[], is_listed: true }
    }

    /// Returns a string argument.
    pub(crate) const fn text(name: &'static str, about: &'static str) -> ArgSpec {
        ArgSpec::new(name, about, ArgKind::Text)
    }

    /// Returns an integer argument: any that fits 64 bits, unless [`ArgSpec::range`] bounds it.
    pub(crate) const fn integer(name: &'static str, about: &'static str) -> ArgSpec {
        ArgSpec::new(name, about, ArgKind::Integer { min: i64::MIN, max: i64::MAX })
    }

    /// Returns a number argument between `min` and `max`, both included.
    pub(crate) const fn number(
        name: &'static str,
        about: &'static str,
        min: f64,
        max: f64,
    ) -> ArgSpec {
        ArgSpec::new(name, about, ArgKind::Number { min, max })
    }

    /// Returns a boolean argument.
    pub(crate) const fn flag(name: &'static str, about: &'static str) -> ArgSpec {
        ArgSpec::new(name, about, ArgKind::Flag)
    }

    /// Returns an argument with one of a few words.
    pub(crate) const fn choice(
        name: &'static str,
        about: &'static str,
        words: &'static [&'static str],
    ) -> ArgSpec {
        ArgSpec::new(name, about, ArgKind::Choice(words))
    }

    /// Returns an argument with a list of `n_min` to `n_max` strings; the schema leaves out bounds
    /// that nothing can break.
    pub(crate) const fn texts(
        name: &'static str,
        about: &'static str,
        n_min: usize,
        n_max: usize,
    ) -> ArgSpec {
        ArgSpec::new(name, about, ArgKind::Texts { n_min, n_max })
    }

    /// Returns an argument with a day or a time, as `read` understands them.
    pub(crate) const fn time(
        name: &'static str,
        about: &'static str,
        read: fn(&str) -> Option<UnixMillis>,
    ) -> ArgSpec {
        ArgSpec::new(name, about, ArgKind::Time(read))
    }

    /// Returns a row for all arguments at once, with a JSON Schema of its own. It is the only row
    /// of its table, and the handler checks the values.
    pub(crate) const fn custom_schema(schema: fn() -> Value) -> ArgSpec {
        ArgSpec::new("", "", ArgKind::Whole(schema))
    }

    /// Bounds an integer, both ends included.
    pub(crate) const fn range(mut self, min: i64, max: i64) -> ArgSpec {
        assert!(matches!(self.kind, ArgKind::Integer { .. }), "only an integer has a range");
        self.kind = ArgKind::Integer { min, max };
        self
    }

    /// Accepts further names, unless the table has them as arguments of their own. They are not in
    /// the schema, and cost no tokens.
    pub(crate) const fn also(mut self, aliases: &'static [&'static str]) -> ArgSpec {
        self.aliases = aliases;
        self
    }

    /// Suggests the argument for names that may mean it, and are refused.
    pub(crate) const fn mistaken_for(mut self, names: &'static [&'static str]) -> ArgSpec {
        self.mistaken = names;
        self
    }

    /// Leaves the argument out of the schema.
    pub(crate) const fn unlisted(mut self) -> ArgSpec {
        self.is_listed = false;
        self
    }

    /// Makes the argument required.
    pub(crate) const fn required(mut self) -> ArgSpec {
        self.need = ArgNeed::Required;
        self
    }

    /// Sets the default of a string or choice.
    pub(crate) const fn or_text(mut self, value: &'static str) -> ArgSpec {
        assert!(matches!(self.kind, ArgKind::Text | ArgKind::Choice(_)), "only a string is text");
        self.need = ArgNeed::Default(ArgDefault::Text(value));
        self
    }

    /// Sets the default of an integer.
    pub(crate) const fn or_integer(mut self, value: i64) -> ArgSpec {
        assert!(matches!(self.kind, ArgKind::Integer { .. }), "only an integer is one");
        self.need = ArgNeed::Default(ArgDefault::Integer(value));
        self
    }

    /// Sets the default of a number.
    pub(crate) const fn or_number(mut self, value: f64) -> ArgSpec {
        assert!(matches!(self.kind, ArgKind::Number { .. }), "only a number is one");
        self.need = ArgNeed::Default(ArgDefault::Number(value));
        self
    }

    /// Sets the default of a flag.
    pub(crate) const fn or_flag(mut self, value: bool) -> ArgSpec {
        assert!(matches!(self.kind, ArgKind::Flag), "only a flag is true or false");
        self.need = ArgNeed::Default(ArgDefault::Flag(value));
        self
    }

    /// Returns the argument as listed for a prompt, where all are texts.
    pub(super) fn of_prompt(&self) -> Value {
        let is_required = matches!(self.need, ArgNeed::Required);
        json!({"name": self.name, "description": self.about, "required": is_required})
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn is_listed(&self) -> bool {
        self.is_listed
    }

    /// Returns whether it is true or false.
    pub(crate) fn is_switch(&self) -> bool {
        matches!(self.kind, ArgKind::Flag)
    }

    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            ArgKind::Text | ArgKind::Time(_) => json!({"type": "string"}),
            ArgKind::Integer { min, max } => {
                let mut schema = json!({"type": "integer"});
                if i64::MIN < min {
                    schema["minimum"] = min.into();
                }
                if max < i64::MAX {
                    schema["maximum"] = max.into();
                }
                schema
            }
            ArgKind::Number { min, max } => {
                json!({"type": "number", "minimum": min, "maximum": max})
            }
            ArgKind::Flag => json!({"type": "boolean"}),
            ArgKind::Choice(words) => json!({"type": "string", "enum": words}),
            ArgKind::Texts { n_min, n_max } => {
                let mut schema = json!({"type": "array", "items": {"type": "string"}});
                if 0 < n_min {
                    schema["minItems"] = n_min.into();
                }
                if n_max < usize::MAX {
                    schema["maxItems"] = n_max.into();
                }
                schema
            }
            ArgKind::Whole(schema) => return schema(),
        };
        if let ArgNeed::Default(preset) = self.need {
            schema["default"] = match preset {
                ArgDefault::Text(value) => value.into(),
                ArgDefault::Integer(value) => value.into(),
                ArgDefault::Number(value) => value.into(),
                ArgDefault::Flag(value) => value.into(),
            };
        }
        if !self.about.is_empty() {
            schema["description"] = self.about.into();
        }
        schema
    }

    fn default(&self) -> Option<ArgValue> {
        match self.need {
            ArgNeed::Required | ArgNeed::Optional => None,
            ArgNeed::Default(ArgDefault::Text(value)) => Some(ArgValue::Text(value.to_owned())),
            ArgNeed::Default(ArgDefault::Integer(value)) => Some(ArgValue::Integer(value)),
            ArgNeed::Default(ArgDefault::Number(value)) => Some(ArgValue::Number(value)),
            ArgNeed::Default(ArgDefault::Flag(value)) => Some(ArgValue::Flag(value)),
        }
    }

    /// Returns the type in words, for "`name` must be …".
    fn kind_name(&self) -> &'static str {
        match self.kind {
            ArgKind::Text | ArgKind::Choice(_) => "a string",
            ArgKind::Integer { .. } => "an integer",
            ArgKind::Number { .. } => "a number",
            ArgKind::Flag => "true or false",
            ArgKind::Texts { .. } => "a list of strings",
            ArgKind::Time(_) => TIME,
            ArgKind::Whole(_) => "an object",
        }
    }

    fn read(&self, value: Value) -> Result<ArgValue, String> {
        let name = self.name;
        match (self.kind, value) {
            (ArgKind::Text, Value::String(text)) => Ok(ArgValue::Text(text)),
            (ArgKind::Choice(words), Value::String(word)) => match words.contains(&word.as_str()) {
                true => Ok(ArgValue::Text(word)),
                false => Err(format!(
                    "`{name}` must be one of {}, not `{}`{}",
                    words.join(", "),
                    text::truncate_chars(&word, CITED_CHARS_MAX),
                    hint(&word, words.iter().copied()),
                )),
            },
            (ArgKind::Integer { min, max }, Value::Number(number)) => {
                let Some(value) = value_coercion::whole(&number) else {
                    return Err(format!("`{name}` must be an integer, not {number}"));
                };
                match i64::try_from(value) {
                    Ok(value) if min <= value && value <= max => Ok(ArgValue::Integer(value)),
                    _ => Err(outside(name, min, max, &number)),
                }
            }
            (ArgKind::Number { min, max }, Value::Number(number)) => match number.as_f64() {
                Some(value) if min <= value && value <= max => Ok(ArgValue::Number(value)),
                _ => Err(format!("`{name}` must be between {min} and {max}, not {number}")),
            },
            (ArgKind::Flag, Value::Bool(value)) => Ok(ArgValue::Flag(value)),
            (ArgKind::Texts { n_min, n_max }, Value::Array(items)) => {
                if items.len() < n_min || n_max < items.len() {
                    let n = items.len();
                    return Err(format!("`{name}` must have {n_min} to {n_max} items, not {n}"));
                }
                let mut texts = Vec::with_capacity(items.len());
                for (item_idx, item) in items.into_iter().enumerate() {
                    match item {
                        Value::String(text) => texts.push(text),
                        other => {
                            let place = item_idx + 1;
                            let what = type_name(&other);
                            return Err(format!(
                                "`{name}` must be a list of strings; item {place} is {what}"
                            ));
                        }
                    }
                }
                Ok(ArgValue::Texts(texts))
            }
            (ArgKind::Time(read), Value::String(text)) => match read(&text) {
                Some(at) => Ok(ArgValue::Time(at)),
                None => {
                    let got = text::truncate_chars(&text, CITED_CHARS_MAX);
                    Err(format!("`{name}` must be {TIME}, not `{got}`"))
                }
            },
            (_, other) => {
                let (wanted, got) = (self.kind_name(), type_name(&other));
                Err(format!("`{name}` must be {wanted}, not {got}"))
            }
        }
    }
}

/// The arguments of one call, checked against the tool's table, with defaults filled in.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Args(Vec<(&'static str, ArgValue)>);

#[derive(Clone, Debug, PartialEq)]
enum ArgValue {
    Text(String),
    Integer(i64),
    Number(f64),
    Flag(bool),
    Texts(Vec<String>),
    Time(UnixMillis),
    Whole(Map<String, Value>),
}

impl Args {
    /// Returns a string or choice; one that is required or has a default is always there.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(ArgValue::Text(value)) => Some(value),
            _ => None,
        }
    }

    /// Returns an integer.
    pub(crate) fn integer(&self, name: &str) -> Option<i64> {
        match self.get(name) {
            Some(ArgValue::Integer(value)) => Some(*value),
            _ => None,
        }
    }

    /// Returns a number; never infinite, never NaN.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        match self.get(name) {
            Some(ArgValue::Number(value)) => Some(*value),
            _ => None,
        }
    }

    /// Returns a flag; an absent one is false.
    pub(crate) fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some(ArgValue::Flag(true)))
    }

    /// Returns a list of strings; an absent one is empty.
    pub(crate) fn texts(&self, name: &str) -> &[String] {
        match self.get(name) {
            Some(ArgValue::Texts(values)) => values,
            _ => &[],
        }
    }

    /// Returns the strings and the lists of strings, by name.
    pub(crate) fn named_texts(&self) -> impl Iterator<Item = (&'static str, &[String])> {
        self.0.iter().filter_map(|(name, given)| match given {
            ArgValue::Text(text) => Some((*name, std::slice::from_ref(text))),
            ArgValue::Texts(texts) => Some((*name, texts.as_slice())),
            _ => None,
        })
    }

    /// Returns a time.
    pub(crate) fn time(&self, name: &str) -> Option<UnixMillis> {
        match self.get(name) {
            Some(ArgValue::Time(at)) => Some(*at),
            _ => None,
        }
    }

    /// Returns all arguments as received, for a table of [`ArgSpec::custom_schema`].
    pub(crate) fn whole(&self) -> Option<&Map<String, Value>> {
        match self.0.as_slice() {
            [(_, ArgValue::Whole(values))] => Some(values),
            _ => None,
        }
    }

    fn get(&self, name: &str) -> Option<&ArgValue> {
        self.0.iter().find(|(it, _)| *it == name).map(|(_, given)| given)
    }
}

/// Returns the JSON Schema of a table. It costs tokens in every session, so it is minimal.
pub(crate) fn args_schema(args: &[ArgSpec]) -> Value {
    if let [ArgSpec { kind: ArgKind::Whole(schema), .. }] = args {
        return schema();
    }
    let properties: Map<String, Value> =
        listed(args).map(|arg| (arg.name.to_owned(), arg.schema())).collect();
    let required: Vec<&str> = args
        .iter()
        .filter(|arg| matches!(arg.need, ArgNeed::Required))
        .map(|arg| arg.name)
        .collect();
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

/// Returns the rows that the schema has.
fn listed(args: &[ArgSpec]) -> impl Iterator<Item = &ArgSpec> {
    args.iter().filter(|it| it.is_listed)
}

/// Checks `given` against a table; the error lists all mistakes in one line.
pub(crate) fn validate_args(
    args: &[ArgSpec],
    mut given: Map<String, Value>,
) -> Result<Args, String> {
    if let [ArgSpec { kind: ArgKind::Whole(_), name, .. }] = args {
        return Ok(Args(vec![(*name, ArgValue::Whole(given))]));
    }
    let mut checked = Vec::with_capacity(args.len());
    let mut problems = Vec::new();
    argument_coercion::rename(args, &mut given, &mut problems);
    for arg in args {
        match given.shift_remove(arg.name) {
            Some(value) => match arg.read(argument_coercion::convert(arg.kind, value)) {
                Ok(value) => checked.push((arg.name, value)),
                Err(problem) => problems.push(problem),
            },
            None if matches!(arg.need, ArgNeed::Required) => {
                problems.push(format!("missing argument `{}`, {}", arg.name, arg.kind_name()));
            }
            None => checked.extend(arg.default().map(|value| (arg.name, value))),
        }
    }
    if !given.is_empty() {
        problems.insert(0, unknown(args, &given));
    }
    match problems.is_empty() {
        true => Ok(Args(checked)),
        false => Err(problems.join("; ")),
    }
}

/// The form of a time, for "`name` must be …".
const TIME: &str = "a day or a time, as 2026-01-31 or 2026-01-31T10:00:00Z";

#[cfg(test)]
mod tests;
