//! TOML front matter.

use toml::de::{DeTable, DeValue};

use super::value::Value;
use super::{Fault, NESTING_MAX};

/// The entries of a TOML document; `None` when it has none.
pub(super) fn read(text: &str) -> Result<Option<Vec<(String, Value)>>, Fault> {
    let table = DeTable::parse(text).map_err(|error| Fault {
        offset: error.span().map_or(0, |span| span.start),
        what: crate::text::fold(error.message()),
    })?;
    let entries = entries(table.get_ref(), text, 0)?;
    Ok((!entries.is_empty()).then_some(entries))
}

fn entries(table: &DeTable<'_>, text: &str, depth: usize) -> Result<Vec<(String, Value)>, Fault> {
    let mut out = Vec::new();
    for (key, value) in table {
        let span = value.span();
        if NESTING_MAX <= depth {
            return Err(Fault { offset: span.start, what: "it nests too deep".to_owned() });
        }
        let authored = text.get(span).unwrap_or("");
        out.push((plain_key(key.get_ref()), of(value.get_ref(), authored, text, depth)?));
    }
    Ok(out)
}

fn of(value: &DeValue<'_>, authored: &str, text: &str, depth: usize) -> Result<Value, Fault> {
    let properties = String::new();
    match value {
        DeValue::Table(table) => {
            Ok(Value::Map { entries: entries(table, text, depth + 1)?, properties })
        }
        DeValue::Array(array) => {
            let mut items = Vec::new();
            for item in array.iter() {
                let span = item.span();
                if NESTING_MAX <= depth {
                    return Err(Fault { offset: span.start, what: "it nests too deep".to_owned() });
                }
                let authored = text.get(span).unwrap_or("");
                items.push(of(item.get_ref(), authored, text, depth + 1)?);
            }
            Ok(Value::List { items, properties })
        }
        DeValue::String(words) if words.contains(['\n', '\r']) => {
            Ok(Value::Lines(words.replace("\r\n", "\n").replace('\r', "\n")))
        }
        DeValue::String(words) if is_plain(words) => Ok(Value::Scalar(words.to_string())),
        DeValue::String(_)
        | DeValue::Integer(_)
        | DeValue::Float(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_) => Ok(Value::Scalar(crate::text::fold(authored))),
    }
}

/// A key as YAML would have it: quoted only where it must be.
fn plain_key(key: &str) -> String {
    match is_plain(key) && !key.contains(':') {
        true => key.to_owned(),
        false => format!("{key:?}"),
    }
}

/// Whether a string needs no quotes to be seen as one.
fn is_plain(words: &str) -> bool {
    let first_is_plain =
        words.chars().next().is_some_and(|c| c.is_alphanumeric() || matches!(c, '/' | '.' | '_'));
    let is_typed = words.parse::<f64>().is_ok()
        || words.bytes().all(|byte| byte.is_ascii_digit() || b"-:TZ.+_ ".contains(&byte))
        || ["true", "false", "null", "yes", "no", "on", "off"]
            .iter()
            .any(|word| words.eq_ignore_ascii_case(word));
    first_is_plain
        && !is_typed
        && words.trim_end() == words
        && !words.contains(": ")
        && !words.contains(" #")
        && !words.ends_with(':')
        && !words.contains(char::is_control)
}
