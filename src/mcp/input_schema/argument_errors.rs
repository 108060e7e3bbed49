//! Errors about arguments: each names the values or names that are right.

use serde_json::{Map, Value};

use super::{ArgSpec, listed};
use crate::text::{self, suggest::suggest};

/// Characters of the caller's text that an error repeats.
pub(super) const CITED_CHARS_MAX: usize = 40;
/// Unknown arguments that an error names.
const CITED_MAX: usize = 3;

pub(super) fn unknown(args: &[ArgSpec], given: &Map<String, Value>) -> String {
    let names = || listed(args).map(|arg| arg.name);
    let cited = || given.keys().take(CITED_MAX);
    let quoted: Vec<String> =
        cited().map(|name| format!("`{}`", text::truncate_chars(name, CITED_CHARS_MAX))).collect();
    let plural = if given.len() == 1 { "" } else { "s" };
    let more = match given.len().saturating_sub(CITED_MAX) {
        0 => String::new(),
        n_more => format!(" and {n_more} more"),
    };
    let allowed = match args.is_empty() {
        true => "it takes none".to_owned(),
        false => format!("allowed: {}", names().collect::<Vec<_>>().join(", ")),
    };
    let mistaken = |name: &str| args.iter().find(|it| it.mistaken.contains(&name));
    let hints: String = cited()
        .map(|name| match mistaken(name) {
            Some(arg) => format!(" (did you mean `{}`: {}?)", arg.name, arg.about),
            None => hint(name, names()),
        })
        .collect();
    format!("unknown argument{plural} {}{more}; {allowed}{hints}", quoted.join(", "))
}

pub(super) fn outside(name: &str, min: i64, max: i64, got: &serde_json::Number) -> String {
    match (min, max) {
        (_, i64::MAX) if i64::MIN < min => format!("`{name}` must be at least {min}, not {got}"),
        (i64::MIN, _) if max < i64::MAX => format!("`{name}` must be at most {max}, not {got}"),
        _ => format!("`{name}` must be between {min} and {max}, not {got}"),
    }
}

pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Returns ` (did you mean `…`?)`, when one of the names is close to the input.
pub(super) fn hint<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> String {
    suggest(typed, names).map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}
