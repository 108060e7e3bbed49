//! Edits of YAML settings by line: adds or removes a server, and keeps every other byte.
//!
//! Only a mapping in block style is edited, whose keys stand in lines of their own. Both the text
//! before an edit and the text after it are read by a YAML parser; what does not fit is refused.

use std::ops::Range;

use saphyr_parser::Parser;
use serde_json::Value;

use super::settings_edit_types::{EditRefusal, EditedSettings, ServerEntry};

/// The key of the mapping that holds the servers.
const CONTAINER: &str = "extensions";

/// Spaces before the keys of a new mapping.
const INDENT: &str = "  ";

const BOM: &str = "\u{feff}";

/// A key and its lines in a mapping.
#[derive(Debug)]
struct YamlMappingEntry {
    key: String,
    /// Bytes of its lines, without blank lines and comments after them.
    span: Range<usize>,
    indent: usize,
}

/// Adds the entry to `text`; additional fields of an existing entry stay.
pub(super) fn put(text: &str, entry: &ServerEntry) -> Result<EditedSettings, EditRefusal> {
    check(text)?;
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let Some(container) = container(text)? else {
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
        let lines = entry_lines(entry, INDENT, newline);
        let new = format!("{text}{gap}{CONTAINER}:{newline}{lines}");
        return checked(EditedSettings { text: new, entry: None, is_container_new: true });
    };
    let servers = children(text, &container)?;
    if let Some(old) = servers.iter().find(|it| it.key == entry.name) {
        return replace_fields(text, old, entry, newline);
    }
    let indent = servers.first().map_or(container.indent + INDENT.len(), |it| it.indent);
    let lines = entry_lines(entry, &" ".repeat(indent), newline);
    let at = servers.last().map_or(container.span.end, |it| it.span.end);
    let new = match servers.is_empty() && is_flow_empty(text, &container) {
        true => {
            let line = &text[container.span.clone()];
            let (head, tail) = line.split_once("{}").ok_or(EditRefusal::Unsure)?;
            let (head, tail) = (head.trim_end(), ended(tail, newline));
            format!("{}{head}{tail}{lines}{}", &text[..container.span.start], &text[at..])
        }
        false => format!("{}{lines}{}", ended(&text[..at], newline), &text[at..]),
    };
    checked(EditedSettings { text: new, entry: None, is_container_new: false })
}

/// Sets the fields of an existing entry.
fn replace_fields(
    text: &str,
    old: &YamlMappingEntry,
    entry: &ServerEntry,
    newline: &str,
) -> Result<EditedSettings, EditRefusal> {
    let before = text[old.span.clone()].to_owned();
    let mut text = text.to_owned();
    if !children(&text, old)?.iter().any(|it| it.key == entry.key) {
        return Err(EditRefusal::stranger(entry));
    }
    for (key, value) in &entry.fields {
        let servers = container(&text)?.ok_or(EditRefusal::Unsure)?;
        let servers = children(&text, &servers)?;
        let server = servers.iter().find(|it| it.key == entry.name).ok_or(EditRefusal::Unsure)?;
        let fields = children(&text, server)?;
        let indent = " ".repeat(fields.first().map_or(0, |it| it.indent));
        let line = format!("{indent}{key}: {}{newline}", written(value));
        let (start, end) = match fields.iter().find(|it| it.key == *key) {
            Some(field) if is_written(&text[field.span.clone()], key, value) => continue,
            Some(field) => (field.span.start, field.span.end),
            None => (server.span.end, server.span.end),
        };
        text = format!("{}{line}{}", ended(&text[..start], newline), &text[end..]);
    }
    checked(EditedSettings { text, entry: Some(before), is_container_new: false })
}

/// Removes the entry from `text`, or restores the former one.
pub(super) fn take(
    text: &str,
    name: &str,
    before: Option<&str>,
    is_container_new: bool,
) -> Result<String, EditRefusal> {
    check(text)?;
    let Some(container) = container(text)? else { return Ok(text.to_owned()) };
    let servers = children(text, &container)?;
    let Some(entry) = servers.iter().find(|it| it.key == name) else {
        return Ok(text.to_owned());
    };
    let rest = |range: Range<usize>, by: &str| {
        format!("{}{by}{}", &text[..range.start], &text[range.end..])
    };
    let new = match before {
        Some(before) => rest(entry.span.clone(), before),
        None if 1 < servers.len() => rest(entry.span.clone(), ""),
        None if is_container_new => rest(container.span, ""),
        None => {
            // A mapping without a key would be no mapping any more.
            let head = &text[container.span.start..entry.span.start];
            let line_end = head.find(['\r', '\n']).unwrap_or(head.len());
            let head = format!("{} {{}}{}", &head[..line_end], &head[line_end..]);
            rest(container.span.start..entry.span.end, &head)
        }
    };
    check(&new)?;
    Ok(new)
}

/// Returns the fields of a server.
pub(super) fn fields(text: &str, name: &str) -> Option<Vec<(String, Value)>> {
    let container = container(text).ok()??;
    let servers = children(text, &container).ok()?;
    let server = servers.iter().find(|it| it.key == name)?;
    let fields = children(text, server).ok()?;
    let value = |it: &YamlMappingEntry| {
        let lines = &text[it.span.clone()];
        let text = lines.split_once(':').map_or("", |(_, value)| value).trim();
        serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
    };
    Some(fields.iter().map(|it| (it.key.clone(), value(it))).collect())
}

pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn checked(put: EditedSettings) -> Result<EditedSettings, EditRefusal> {
    check(&put.text).map_err(|_| EditRefusal::Unsure)?;
    Ok(put)
}

/// Fails when `text` is no YAML.
fn check(text: &str) -> Result<(), EditRefusal> {
    for event in Parser::new_from_str(text.strip_prefix(BOM).unwrap_or(text)) {
        event.map_err(|error| {
            let lines = text.split_inclusive('\n').take(error.marker().line().saturating_sub(1));
            EditRefusal::broken(lines.map(str::len).sum(), error.info())
        })?;
    }
    if text.contains('\t') && text.lines().any(|it| it.trim_start_matches(' ').starts_with('\t')) {
        return Err(EditRefusal::Unsure);
    }
    Ok(())
}

/// Finds the mapping of servers; another kind of value is refused.
fn container(text: &str) -> Result<Option<YamlMappingEntry>, EditRefusal> {
    let whole = YamlMappingEntry { key: String::new(), span: 0..text.len(), indent: 0 };
    let found: Vec<YamlMappingEntry> =
        blocks(text, &whole.span, 0)?.into_iter().filter(|it| it.key == CONTAINER).collect();
    match found.len() {
        0 => Ok(None),
        1 => Ok(found.into_iter().next()),
        _ => Err(EditRefusal::Unsure),
    }
}

/// Returns the keys of a mapping in block style.
fn children(text: &str, parent: &YamlMappingEntry) -> Result<Vec<YamlMappingEntry>, EditRefusal> {
    let lines = &text[parent.span.clone()];
    let (first, _) = lines.split_once('\n').unwrap_or((lines, ""));
    let value = first.split_once(':').map_or("", |(_, value)| value);
    let value = value.split(" #").next().unwrap_or_default().trim();
    if !value.is_empty() && value != "{}" {
        return Err(EditRefusal::Unsure);
    }
    let start = parent.span.start + (first.len() + 1).min(lines.len());
    let body = start..parent.span.end;
    let indent = text[body.clone()].lines().find(|it| is_content(it)).map(indent_of);
    match indent {
        None => Ok(Vec::new()),
        Some(indent) if indent <= parent.indent => Err(EditRefusal::Unsure),
        Some(indent) => blocks(text, &body, indent),
    }
}

/// Splits lines into the keys that stand at `indent`.
fn blocks(
    text: &str,
    within: &Range<usize>,
    indent: usize,
) -> Result<Vec<YamlMappingEntry>, EditRefusal> {
    let mut all: Vec<YamlMappingEntry> = Vec::new();
    let mut at = within.start;
    for line in text[within.clone()].split_inclusive('\n') {
        let end = at + line.len();
        let plain = line.strip_prefix(BOM).unwrap_or(line);
        if is_content(plain) {
            match indent_of(plain) {
                own if own == indent && !is_item(plain) => {
                    let key = key_of(plain).unwrap_or_default();
                    all.push(YamlMappingEntry { key, span: at..end, indent });
                }
                own if own < indent => return Err(EditRefusal::Unsure),
                _ => match all.last_mut() {
                    Some(last) => last.span.end = end,
                    None => return Err(EditRefusal::Unsure),
                },
            }
        }
        at = end;
    }
    Ok(all)
}

fn is_content(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with('#') && line != "---" && line != "..."
}

/// Returns whether a line is an element of a list, which may stand at its key's indentation.
fn is_item(line: &str) -> bool {
    let line = line.trim();
    line == "-" || line.starts_with("- ")
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn key_of(line: &str) -> Option<String> {
    let (key, rest) = line.trim().split_once(':')?;
    let is_key = rest.is_empty() || rest.starts_with(' ');
    is_key.then(|| key.trim().trim_matches(['"', '\'']).to_owned())
}

fn is_flow_empty(text: &str, container: &YamlMappingEntry) -> bool {
    text[container.span.clone()].lines().next().is_some_and(|it| it.contains("{}"))
}

/// Returns `text` with a line break at its end, if there is anything in it.
fn ended(text: &str, newline: &str) -> String {
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
    format!("{text}{gap}")
}

/// Returns whether the lines of a field are as they would be written.
fn is_written(lines: &str, key: &str, value: &Value) -> bool {
    lines.trim() == format!("{key}: {}", written(value))
}

/// Formats a value in one line; JSON is YAML.
fn written(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}

fn entry_lines(entry: &ServerEntry, indent: &str, newline: &str) -> String {
    let mut lines = format!("{indent}{}:{newline}", entry.name);
    for (key, value) in &entry.fields {
        lines += &format!("{indent}{INDENT}{key}: {}{newline}", written(value));
    }
    lines
}
