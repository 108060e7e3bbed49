//! Lenient reading of arguments: other names of the same thing, and values in another type's form.
//!
//! A call is understood where it has one meaning. Two different values for one argument are a
//! mistake, and so is a name that may mean several.

use serde_json::{Map, Value};

use super::{ArgKind, ArgSpec};
use crate::model::value_coercion;

/// Moves values to the arguments that their names stand for, and drops what says nothing.
pub(super) fn rename(args: &[ArgSpec], given: &mut Map<String, Value>, problems: &mut Vec<String>) {
    given.retain(|_, value| !value.is_null());
    let is_row = |name: &str| args.iter().any(|it| it.name == name);
    for arg in args {
        for alias in arg.aliases.iter().filter(|it| !is_row(it)) {
            let Some(value) = given.shift_remove(*alias) else { continue };
            match given.get(arg.name) {
                Some(own) if *own != value && own != "" => problems.push(format!(
                    "`{}` and `{alias}` mean the same here, and differ; give one",
                    arg.name
                )),
                Some(own) if own != "" => (),
                _ => drop(given.insert(arg.name.to_owned(), value)),
            }
        }
    }
    // An empty string is a value of a text only.
    let is_text =
        |name: &str| args.iter().any(|it| it.name == name && matches!(it.kind, ArgKind::Text));
    given.retain(|name, value| value != "" || is_text(name) || !is_row(name));
}

/// Returns the value in the form of the kind, where its form leaves no doubt.
pub(super) fn convert(kind: ArgKind, value: Value) -> Value {
    let converted = match kind {
        ArgKind::Integer { .. } | ArgKind::Number { .. } => {
            value_coercion::number(&value).map(Value::Number)
        }
        ArgKind::Flag => value_coercion::flag(&value).map(Value::Bool),
        ArgKind::Choice(words) => value_coercion::word(&value, words).map(Value::from),
        ArgKind::Text => value_coercion::text_of_number(&value).map(Value::String),
        ArgKind::Texts { .. } => value_coercion::list_of_text(&value).map(Value::Array),
        ArgKind::Time(_) | ArgKind::Whole(_) => None,
    };
    converted.unwrap_or(value)
}
