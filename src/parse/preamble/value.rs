//! Values as front matter has them, and how they are written out: YAML's block style.

use super::LARGE_ENTRIES_MIN;

/// A value, its scalars as their author wrote them.
#[derive(Debug)]
pub(super) enum Value {
    /// One line.
    Scalar(String),
    /// Text of several lines.
    Lines(String),
    /// Keys and values in the order of the source; the properties are YAML's anchor and tag.
    Map { entries: Vec<(String, Value)>, properties: String },
    /// Items.
    List { items: Vec<Value>, properties: String },
}

/// A value that is too large to stand inside its parent.
#[derive(Debug)]
pub(super) struct Large<'a> {
    pub(super) key: &'a str,
    pub(super) path: String,
    pub(super) value: &'a Value,
}

/// Writes the entries of a map, one a line; the large ones are handed back.
pub(super) fn write_map<'a>(
    out: &mut String,
    entries: &'a [(String, Value)],
    indent: usize,
    path: &str,
    large: &mut Vec<Large<'a>>,
) {
    for (key, value) in entries {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let n_entries = match value {
            Value::Map { entries, .. } => entries.len(),
            Value::List { items, .. } => items.len(),
            Value::Scalar(_) | Value::Lines(_) => 0,
        };
        if LARGE_ENTRIES_MIN <= n_entries {
            large.push(Large { key, path, value });
            continue;
        }
        start_line(out, indent);
        out.push_str(key);
        out.push(':');
        match value {
            Value::Map { entries, properties } if !entries.is_empty() => {
                push_properties(out, properties);
                write_map(out, entries, indent + 2, &path, large);
            }
            value => write_value(out, value, indent, indent),
        }
    }
}

/// Writes the items of a list, one a line.
pub(super) fn write_list(out: &mut String, items: &[Value], indent: usize) {
    for item in items {
        start_line(out, indent);
        out.push('-');
        match item {
            Value::Map { entries, properties } if !entries.is_empty() && properties.is_empty() => {
                write_item_map(out, entries, indent + 2);
            }
            item => write_value(out, item, indent + 2, indent + 2),
        }
    }
}

/// A map as a list's item: its first key stands on the item's line.
fn write_item_map(out: &mut String, entries: &[(String, Value)], indent: usize) {
    for (index, (key, value)) in entries.iter().enumerate() {
        match index {
            0 => out.push(' '),
            _ => start_line(out, indent),
        }
        out.push_str(key);
        out.push(':');
        write_value(out, value, indent, indent);
    }
}

/// Writes what follows a key or an item's dash.
fn write_value(out: &mut String, value: &Value, indent: usize, list_indent: usize) {
    match value {
        Value::Scalar(text) if text.is_empty() => (),
        Value::Scalar(text) => {
            out.push(' ');
            out.push_str(text);
        }
        Value::Lines(text) => {
            out.push_str(" |");
            for line in text.trim_end_matches('\n').split('\n') {
                out.push('\n');
                if !line.is_empty() {
                    out.extend(std::iter::repeat_n(' ', indent + 2));
                    out.push_str(line);
                }
            }
        }
        Value::Map { entries, properties } => {
            push_properties(out, properties);
            if entries.is_empty() {
                out.push_str(" {}");
            }
            for (key, value) in entries {
                start_line(out, indent + 2);
                out.push_str(key);
                out.push(':');
                write_value(out, value, indent + 2, indent + 2);
            }
        }
        Value::List { items, properties } => {
            push_properties(out, properties);
            if items.is_empty() {
                out.push_str(" []");
            }
            write_list(out, items, list_indent);
        }
    }
}

pub(super) fn push_properties(out: &mut String, properties: &str) {
    if !properties.is_empty() {
        out.push(' ');
        out.push_str(properties);
    }
}

fn start_line(out: &mut String, indent: usize) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    out.extend(std::iter::repeat_n(' ', indent));
}
