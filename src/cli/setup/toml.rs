//! Edits of TOML settings as text: one table comes or goes, and every other byte stays.
//!
//! Each edit is proved by reading its result: it must differ from what was there in this table and
//! in nothing else.

use std::ops::Range;

use super::edit::{EditError, EditedSettings, ServerEntry, newline_of};
use super::json::inline;
use ::toml::{Table, Value as Toml};

/// The table of all servers.
const CONTAINER: &str = "mcp_servers";

/// `text` with the table of the entry in it.
pub(super) fn put(text: &str, entry: &ServerEntry) -> Result<EditedSettings, EditError> {
    let old = read(text)?;
    let before = servers(&old)?.and_then(|it| it.get(entry.name));
    let section = section_text(text, entry);
    let (edited, raw) = match before {
        None => (append(text, &section), None),
        Some(Toml::Table(table)) if has_fields(table, entry) => {
            let raw = find(text, entry.name).map(|it| text[it].to_owned()).unwrap_or_default();
            return Ok(EditedSettings {
                text: text.to_owned(),
                entry: Some(raw),
                is_container_new: false,
            });
        }
        Some(before) => {
            let is_ours = |key: &String| entry.fields.iter().any(|(name, _)| name == key);
            if !before.as_table().is_some_and(|it| it.keys().all(is_ours)) {
                return Err(EditError::Other(format!(
                    "its `{CONTAINER}.{}` has settings of its own; change `command` and `args` by \
                     hand",
                    entry.name
                )));
            }
            let span = find(text, entry.name).ok_or(EditError::Unsure)?;
            let raw = text[span.clone()].to_owned();
            ([&text[..span.start], &section, &text[span.end..]].concat(), Some(raw))
        }
    };
    let mut new = read(&edited).map_err(|_| EditError::Unsure)?;
    let is_there = servers(&new)?
        .and_then(|it| it.get(entry.name))
        .and_then(Toml::as_table)
        .is_some_and(|it| has_fields(it, entry));
    if !is_there || without(&mut new, entry.name) != without(&mut old.clone(), entry.name) {
        return Err(EditError::Unsure);
    }
    Ok(EditedSettings { text: edited, entry: raw, is_container_new: false })
}

/// `text` without the table of that name, or with what it was before.
pub(super) fn take(text: &str, name: &str, before: Option<&str>) -> Result<String, EditError> {
    let mut old = read(text)?;
    if servers(&old)?.is_none_or(|it| !it.contains_key(name)) {
        return Ok(text.to_owned());
    }
    let span = find(text, name).ok_or(EditError::Unsure)?;
    let (head, tail) = (&text[..span.start], &text[span.end..]);
    let edited = match before {
        Some(before) => [head, before, tail].concat(),
        // With the empty line that parted it from what stands before.
        None => {
            let newline = if head.ends_with("\r\n\r\n") { "\r\n" } else { "\n" };
            let is_parted = head.ends_with("\n\n") || head.ends_with("\r\n\r\n");
            let head = if is_parted { &head[..head.len() - newline.len()] } else { head };
            [head, tail].concat()
        }
    };
    let mut new = read(&edited).map_err(|_| EditError::Unsure)?;
    let is_gone = before.is_some() || servers(&new)?.is_none_or(|it| !it.contains_key(name));
    if !is_gone || without(&mut new, name) != without(&mut old, name) {
        return Err(EditError::Unsure);
    }
    Ok(edited)
}

fn read(text: &str) -> Result<Table, EditError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    ::toml::from_str(text).map_err(|error| EditError::Broken {
        at: error.span().map_or(0, |it| it.start),
        what: crate::text::fold_whitespace(error.message()),
    })
}

fn servers(table: &Table) -> Result<Option<&Table>, EditError> {
    match table.get(CONTAINER) {
        None => Ok(None),
        Some(Toml::Table(servers)) => Ok(Some(servers)),
        Some(_) => Err(EditError::Broken { at: 0, what: format!("`{CONTAINER}` is not a table") }),
    }
}

fn has_fields(table: &Table, entry: &ServerEntry) -> bool {
    entry.fields.iter().all(|(key, value)| {
        table.get(*key).is_some_and(|it| Toml::try_from(value).is_ok_and(|value| *it == value))
    })
}

/// All but the server of that name, and but a table of servers that has no other.
fn without<'a>(table: &'a mut Table, name: &str) -> &'a Table {
    if let Some(Toml::Table(servers)) = table.get_mut(CONTAINER) {
        servers.remove(name);
        if servers.is_empty() {
            table.remove(CONTAINER);
        }
    }
    table
}

fn section_text(text: &str, entry: &ServerEntry) -> String {
    let newline = newline_of(text);
    let mut out = format!("[{CONTAINER}.{}]{newline}", entry.name);
    for (key, value) in &entry.fields {
        // A JSON string, or a list of them, means the same in TOML.
        let value = inline(value);
        out += &format!("{key} = {value}{newline}");
    }
    out
}

fn append(text: &str, section: &str) -> String {
    let newline = newline_of(text);
    let gap = match text {
        "" => String::new(),
        text if text.ends_with('\n') => newline.to_owned(),
        _ => newline.repeat(2),
    };
    [text, &gap, section].concat()
}

/// The lines of a table with a header of its own, and of the tables below it.
///
/// A line within a string of several lines may look like a header; the proof finds that out.
fn find(text: &str, name: &str) -> Option<Range<usize>> {
    let own = format!("{CONTAINER}.{name}");
    let below = format!("{own}.");
    let mut start = None;
    let mut end = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let header = header(line);
        match (start, &header) {
            (None, Some(header)) if *header == own => start = Some(at),
            (Some(start), Some(header)) if *header != own && !header.starts_with(&below) => {
                return Some(start..end);
            }
            _ => (),
        }
        at += line.len();
        // Comments and empty lines before a header belong to it.
        let line = line.trim();
        if !line.is_empty() && !line.starts_with('#') {
            end = at;
        }
    }
    start.map(|start| start..end)
}

/// `a.b` for `[ a . "b" ]`.
fn header(line: &str) -> Option<String> {
    let line = line.trim();
    let inner = line.strip_prefix('[')?;
    let (inner, _) = inner.trim_start_matches('[').split_once(']')?;
    Some(inner.chars().filter(|it| !it.is_whitespace() && !matches!(it, '"' | '\'')).collect())
}
