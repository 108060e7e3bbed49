//! Edits of JSON settings as text: one server comes or goes, and every other byte stays.

use std::ops::Range;

use serde_json::Value;

use super::edit::{EditError, EditedSettings, ServerEntry, newline_of};
use super::scan::{self, Dialect, JsonItem, Member};

/// Where a server is written down.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServersPath {
    pub(super) dialect: Dialect,
    /// The key of the object that holds servers by name.
    pub(super) container: &'static str,
    /// The key of an object in that one which, where there is one, holds them instead.
    pub(super) inner: Option<&'static str>,
}

/// `text` with the entry in it; fields that the entry has beside ours stay.
pub(super) fn put(
    text: &str,
    place: ServersPath,
    entry: &ServerEntry,
) -> Result<EditedSettings, EditError> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let root = read(text, place.dialect)?;
    let style = JsonStyle::of(text, &root);
    let Some((container, depth)) = servers(&root, place, entry.name)? else {
        let servers = style.object(&[(entry.name, style.entry(entry, 2))], 1);
        let text = insert(text, &root, place.container, &servers, (&style, 0))?;
        return Ok(EditedSettings { text, entry: None, is_container_new: true });
    };
    let Some(old) = member(&container.item, entry.name, place.container)? else {
        let fields = style.entry(entry, depth + 1);
        let text = insert(text, &container.item, entry.name, &fields, (&style, depth))?;
        return Ok(EditedSettings { text, entry: None, is_container_new: false });
    };
    if member(&old.item, "command", entry.name)?.is_none() {
        return Err(EditError::Other(format!(
            "its `{}` has no `command`, so that somebody else made it; rename or remove it",
            entry.name
        )));
    }
    let before = text[old.item.span.clone()].to_owned();
    let mut text = text.to_owned();
    for (key, value) in &entry.fields {
        text = put_field(&text, place, entry.name, (key, value))?;
    }
    Ok(EditedSettings { text, entry: Some(before), is_container_new: false })
}

/// Sets one field of an entry that exists.
fn put_field(
    text: &str,
    place: ServersPath,
    name: &str,
    (key, value): (&str, &Value),
) -> Result<String, EditError> {
    let root = read(text, place.dialect)?;
    let style = JsonStyle::of(text, &root);
    let (container, depth) = servers(&root, place, name)?.ok_or(EditError::Unsure)?;
    let entry = member(&container.item, name, place.container)?.ok_or(EditError::Unsure)?;
    match member(&entry.item, key, name)? {
        None => insert(text, &entry.item, key, &inline(value), (&style, depth + 1)),
        Some(field) => {
            let span = field.item.span.clone();
            let is_equal = serde_json::from_str::<Value>(&text[span.clone()])
                .is_ok_and(|current| current == *value);
            Ok(if is_equal { text.to_owned() } else { replaced(text, span, &inline(value)) })
        }
    }
}

/// `text` without the entry, or with what it was before; with an object that was made for it, too.
pub(super) fn take(
    text: &str,
    place: ServersPath,
    name: &str,
    before: Option<&str>,
    is_container_new: bool,
) -> Result<String, EditError> {
    let root = read(text, place.dialect)?;
    let Some((container, _)) = servers(&root, place, name)? else {
        return Ok(text.to_owned());
    };
    let Some(entry) = member(&container.item, name, place.container)? else {
        return Ok(text.to_owned());
    };
    if let Some(before) = before {
        return Ok(replaced(text, entry.item.span.clone(), before));
    }
    let text = cut(text, &container.item, entry.at);
    if !is_container_new {
        return Ok(text);
    }
    let root = read(&text, place.dialect)?;
    Ok(match member(&root, place.container, "the file")? {
        Some(container) if is_bare(&text, &container.item) => cut(&text, &root, container.at),
        _ => text,
    })
}

/// Whether nothing is left that anybody wrote.
pub(super) fn is_blank(text: &str, dialect: Dialect) -> bool {
    scan::scan(text, dialect).is_ok_and(|root| {
        let around = [&text[..root.span.start], &text[root.span.end..]];
        is_bare(text, &root) && around.iter().all(|it| it.trim().is_empty())
    })
}

/// An object with nothing in it, not even a comment.
fn is_bare(text: &str, item: &JsonItem) -> bool {
    let inside = &text[item.span.start + 1..item.span.end - 1];
    item.members.as_ref().is_some_and(Vec::is_empty) && inside.trim().is_empty()
}

fn read(text: &str, dialect: Dialect) -> Result<JsonItem, EditError> {
    scan::scan(text, dialect)
        .map_err(|fault| EditError::Broken { at: fault.at, what: fault.what.to_owned() })
}

/// The object that holds the servers, and how deep in the file it is. A server that is there stays
/// where it is.
fn servers<'a>(
    root: &'a JsonItem,
    place: ServersPath,
    name: &str,
) -> Result<Option<(&'a Member, usize)>, EditError> {
    let Some(outer) = member(root, place.container, "the file")? else {
        return Ok(None);
    };
    let inner = match place.inner {
        Some(key) if member(&outer.item, name, place.container)?.is_none() => {
            member(&outer.item, key, place.container)?
        }
        _ => None,
    };
    // A server may be called like the object.
    let is_holder = |it: &&Member| {
        let members = it.item.members.as_ref();
        members.is_some_and(|fields| fields.iter().all(|field| field.key != "type"))
    };
    Ok(Some(inner.filter(is_holder).map_or((outer, 1), |inner| (inner, 2))))
}

/// The member of that name, which must not be there twice.
fn member<'a>(item: &'a JsonItem, key: &str, owner: &str) -> Result<Option<&'a Member>, EditError> {
    let Some(members) = &item.members else {
        let at = item.span.start;
        return Err(EditError::Broken { at, what: format!("`{owner}` is not an object") });
    };
    let mut found = members.iter().filter(|it| it.key == key);
    let first = found.next();
    match found.next() {
        None => Ok(first),
        Some(again) => {
            Err(EditError::Broken { at: again.at, what: format!("`{key}` is there twice") })
        }
    }
}

fn replaced(text: &str, span: Range<usize>, by: &str) -> String {
    [&text[..span.start], by, &text[span.end..]].concat()
}

/// Adds a member at the end of an object.
fn insert(
    text: &str,
    object: &JsonItem,
    key: &str,
    value: &str,
    (style, depth): (&JsonStyle, usize),
) -> Result<String, EditError> {
    let members = object.members.as_ref().ok_or(EditError::Unsure)?;
    let close = object.span.end - 1;
    let inside = &text[object.span.start + 1..close];
    let end = object.span.start + 1 + inside.trim_end().len();
    let indent = match members.first().and_then(|it| own_line(text, it.at)) {
        Some(indent) => indent.to_owned(),
        None => style.unit.repeat(depth + 1),
    };
    let closing = match text[end..close].rsplit_once('\n') {
        Some((_, closing)) => closing.to_owned(),
        None => style.unit.repeat(depth),
    };
    let mut out = String::with_capacity(text.len() + value.len() + 80);
    match members.last() {
        Some(Member { item, comma: None, .. }) => {
            out.push_str(&text[..item.span.end]);
            out.push(',');
            out.push_str(&text[item.span.end..end]);
        }
        _ => out.push_str(&text[..end]),
    }
    let key = Value::from(key);
    for part in [style.newline, &indent, &key.to_string(), ": ", value] {
        out.push_str(part);
    }
    for part in [style.newline, &closing, &text[close..]] {
        out.push_str(part);
    }
    Ok(out)
}

/// Removes the member whose key starts at `at`, with its line if it has one of its own.
fn cut(text: &str, object: &JsonItem, at: usize) -> String {
    let members = object.members.as_deref().unwrap_or_default();
    let Some(nth) = members.iter().position(|it| it.at == at) else {
        return text.to_owned();
    };
    let member = &members[nth];
    let mut end = member.comma.map_or(member.item.span.end, |comma| comma + 1);
    let mut start = at;
    let line_end = text[end..].find('\n').map(|it| end + it + 1);
    let is_last_of_line = line_end.is_some_and(|it| text[end..it].trim().is_empty());
    match own_line(text, at) {
        Some(indent) if is_last_of_line => {
            start -= indent.len();
            end = line_end.unwrap_or(end);
        }
        _ => end += text[end..].len() - text[end..].trim_start_matches([' ', '\t']).len(),
    }
    let before = match (nth.checked_sub(1), member.comma) {
        // The one before is the last now.
        (Some(previous), None) => members[previous].comma,
        _ => None,
    };
    let head = match before {
        Some(comma) => [&text[..comma], &text[comma + 1..start]].concat(),
        None => text[..start].to_owned(),
    };
    let is_only = members.len() == 1;
    let open = object.span.start + 1;
    let close = object.span.end - 1;
    if is_only && text[open..start].trim().is_empty() && text[end..close].trim().is_empty() {
        return [&text[..open], &text[close..]].concat();
    }
    head + &text[end..]
}

/// The white space before `at`, if nothing else stands before it in its line.
fn own_line(text: &str, at: usize) -> Option<&str> {
    let (_, line) = text[..at].rsplit_once('\n')?;
    line.trim().is_empty().then_some(line)
}

/// A value in one line.
pub(super) fn inline(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}

/// How a file is laid out.
struct JsonStyle {
    unit: String,
    newline: &'static str,
}

impl JsonStyle {
    fn of(text: &str, root: &JsonItem) -> JsonStyle {
        let first = root.members.as_ref().and_then(|it| it.first());
        let unit = first.and_then(|it| own_line(text, it.at)).filter(|it| !it.is_empty());
        JsonStyle { unit: unit.unwrap_or("  ").to_owned(), newline: newline_of(text) }
    }

    /// An object over several lines, its braces at `depth`.
    fn object(&self, members: &[(&str, String)], depth: usize) -> String {
        let inner = self.unit.repeat(depth + 1);
        let lines: Vec<String> =
            members.iter().map(|(key, value)| format!("{inner}\"{key}\": {value}")).collect();
        let (newline, outer) = (self.newline, self.unit.repeat(depth));
        let between = format!(",{newline}");
        format!("{{{newline}{}{newline}{outer}}}", lines.join(&between))
    }

    fn entry(&self, entry: &ServerEntry, depth: usize) -> String {
        let fields: Vec<(&str, String)> =
            entry.fields.iter().map(|(key, value)| (*key, inline(value))).collect();
        self.object(&fields, depth)
    }
}
