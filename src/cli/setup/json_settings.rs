//! Edits of JSON settings as text: adds or removes a server or permissions, byte-exact elsewhere.
//!
//! `jsonc-parser` gives the positions of values; the edits are made here, since those of its tree
//! lose a comment beside a removed value and reformat lines.

use std::ops::Range;

use serde_json::Value;

use super::json_spans::{self, JsonChild, JsonDialect, JsonKind, SpannedJsonValue};
use super::settings_edit_types::{
    EditRefusal, EditedSettings, Grant, GrantedItemsOrValue, ServerEntry,
};

/// The place of servers in a settings file.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServersPath {
    pub(super) dialect: JsonDialect,
    /// The key of the object that holds servers by name.
    pub(super) container: &'static str,
    /// The key of a nested object that holds them instead, where it exists.
    pub(super) inner: Option<&'static str>,
}

/// Adds the entry to `text`; additional fields of an existing entry stay.
pub(super) fn put(
    text: &str,
    place: ServersPath,
    entry: &ServerEntry,
) -> Result<EditedSettings, EditRefusal> {
    let text = filled(text);
    let root = read(text, place.dialect)?;
    let style = JsonStyle::of(text, &root);
    let Some((container, depth)) = servers(&root, place, entry.name)? else {
        let servers = style.object(&[(entry.name, style.entry(entry, 2))], 1);
        let text = insert(text, &root, Some(place.container), &servers, (&style, 0));
        return Ok(EditedSettings { text, entry: None, is_container_new: true });
    };
    let Some(old) = member(&container.item, entry.name, place.container)? else {
        let fields = style.entry(entry, depth + 1);
        let text = insert(text, &container.item, Some(entry.name), &fields, (&style, depth));
        return Ok(EditedSettings { text, entry: None, is_container_new: false });
    };
    if member(&old.item, entry.key, entry.name)?.is_none() {
        return Err(EditRefusal::stranger(entry));
    }
    let before = text[old.item.span.clone()].to_owned();
    let mut text = text.to_owned();
    for (key, value) in &entry.fields {
        text = put_field(&text, place, entry.name, (key, value))?;
    }
    Ok(EditedSettings { text, entry: Some(before), is_container_new: false })
}

/// Sets one field of an existing entry.
fn put_field(
    text: &str,
    place: ServersPath,
    name: &str,
    (key, value): (&str, &Value),
) -> Result<String, EditRefusal> {
    let root = read(text, place.dialect)?;
    let style = JsonStyle::of(text, &root);
    let (container, depth) = servers(&root, place, name)?.ok_or(EditRefusal::Unsure)?;
    let entry = member(&container.item, name, place.container)?.ok_or(EditRefusal::Unsure)?;
    Ok(match member(&entry.item, key, name)? {
        None => insert(text, &entry.item, Some(key), &inline(value), (&style, depth + 1)),
        Some(field) if is_value(text, &field.item, value) => text.to_owned(),
        Some(field) => replaced(text, field.item.span.clone(), &inline(value)),
    })
}

/// Removes the entry from `text`, or restores the former one. An object created for it is removed,
/// too.
pub(super) fn take(
    text: &str,
    place: ServersPath,
    name: &str,
    before: Option<&str>,
    is_container_new: bool,
) -> Result<String, EditRefusal> {
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
    prune(&text, place.dialect, &[place.container.to_owned()])
}

/// Returns the fields of a server.
pub(super) fn fields(text: &str, place: ServersPath, name: &str) -> Option<Vec<(String, Value)>> {
    let root = read(text, place.dialect).ok()?;
    let (container, _) = servers(&root, place, name).ok()??;
    let entry = member(&container.item, name, place.container).ok()??;
    let value = |it: &JsonChild| {
        let text = &text[it.item.span.clone()];
        serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
    };
    Some(entry.item.members.iter().map(|it| (it.key.clone(), value(it))).collect())
}

/// Adds the permissions to `text`; returns those that are new.
pub(super) fn grant(
    text: &str,
    dialect: JsonDialect,
    grants: &[Grant],
) -> Result<(String, Vec<Grant>), EditRefusal> {
    let mut text = filled(text).to_owned();
    let mut given = Vec::new();
    for grant in grants {
        let (new, part) = grant_one(&text, dialect, grant)?;
        text = new;
        given.extend(part);
    }
    Ok((text, given))
}

fn grant_one(
    text: &str,
    dialect: JsonDialect,
    grant: &Grant,
) -> Result<(String, Option<Grant>), EditRefusal> {
    let root = read(text, dialect)?;
    let style = JsonStyle::of(text, &root);
    let mut at = &root;
    let mut owner = "the file";
    for (depth, key) in grant.at.iter().enumerate() {
        let rest = &grant.at[depth + 1..];
        let Some(found) = member(at, key, owner)? else {
            let value = style.nested(rest, &grant.gives, depth + 1);
            let text = insert(text, at, Some(key), &value, (&style, depth));
            let is_list = matches!(grant.gives, GrantedItemsOrValue::Items(_));
            let n_made = rest.len() + usize::from(is_list);
            return Ok((text, Some(Grant { n_made, ..grant.clone() })));
        };
        match (&grant.gives, rest) {
            (GrantedItemsOrValue::Items(items), []) => return add(text, dialect, grant, items),
            // The user has decided already, for this key or for all below it.
            (GrantedItemsOrValue::Value(_), []) => break,
            (GrantedItemsOrValue::Value(_), _) if found.item.kind != JsonKind::Object => break,
            _ => (at, owner) = (&found.item, key),
        }
    }
    Ok((text.to_owned(), None))
}

/// Adds the elements that a list does not have.
fn add(
    text: &str,
    dialect: JsonDialect,
    grant: &Grant,
    items: &[Value],
) -> Result<(String, Option<Grant>), EditRefusal> {
    let mut text = text.to_owned();
    let mut new = Vec::new();
    for item in items {
        let root = read(&text, dialect)?;
        let (list, depth) = find(&root, &grant.at)?.ok_or(EditRefusal::Unsure)?;
        if list.kind != JsonKind::List {
            let key = grant.at.last().map_or("", String::as_str);
            return Err(EditRefusal::broken(list.span.start, format!("`{key}` is not a list")));
        }
        if list.members.iter().all(|it| !is_value(&text, &it.item, item)) {
            let style = JsonStyle::of(&text, &root);
            text = insert(&text, list, None, &inline(item), (&style, depth));
            new.push(item.clone());
        }
    }
    let part = (!new.is_empty())
        .then(|| Grant { gives: GrantedItemsOrValue::Items(new), ..grant.clone() });
    Ok((text, part))
}

/// Removes the permissions from `text`, and the emptied objects and lists created for them.
pub(super) fn revoke(
    text: &str,
    dialect: JsonDialect,
    grants: &[Grant],
) -> Result<String, EditRefusal> {
    let mut text = text.to_owned();
    for grant in grants.iter().rev() {
        let values = match &grant.gives {
            GrantedItemsOrValue::Items(items) => items.clone(),
            GrantedItemsOrValue::Value(value) => vec![value.clone()],
        };
        for value in &values {
            text = revoke_one(&text, dialect, grant, value)?;
        }
        let is_list = matches!(grant.gives, GrantedItemsOrValue::Items(_));
        let n_above = grant.at.len() - usize::from(!is_list);
        for n_keys in (n_above.saturating_sub(grant.n_made)..n_above).rev() {
            text = prune(&text, dialect, &grant.at[..=n_keys])?;
        }
    }
    Ok(text)
}

fn revoke_one(
    text: &str,
    dialect: JsonDialect,
    grant: &Grant,
    value: &Value,
) -> Result<String, EditRefusal> {
    let root = read(text, dialect)?;
    let holder = match &grant.gives {
        GrantedItemsOrValue::Items(_) => &grant.at[..],
        GrantedItemsOrValue::Value(_) => &grant.at[..grant.at.len() - 1],
    };
    let last = grant.at.last().map_or("", String::as_str);
    let Some((holder, _)) = find(&root, holder)? else { return Ok(text.to_owned()) };
    let is_it = |it: &&JsonChild| {
        (holder.kind == JsonKind::List || it.key == last) && is_value(text, &it.item, value)
    };
    Ok(match holder.members.iter().find(is_it) {
        Some(it) => cut(text, holder, it.at),
        None => text.to_owned(),
    })
}

/// Removes an object or a list that is empty, without even a comment.
fn prune(text: &str, dialect: JsonDialect, path: &[String]) -> Result<String, EditRefusal> {
    let Some((last, above)) = path.split_last() else { return Ok(text.to_owned()) };
    let root = read(text, dialect)?;
    let Some((holder, _)) = find(&root, above)? else { return Ok(text.to_owned()) };
    Ok(match member(holder, last, "the file")? {
        Some(it) if is_bare(text, &it.item) => cut(text, holder, it.at),
        _ => text.to_owned(),
    })
}

/// Returns whether the settings have no content left.
pub(super) fn is_blank(text: &str, dialect: JsonDialect) -> bool {
    json_spans::scan(text, dialect).is_ok_and(|root| {
        let around = [&text[..root.span.start], &text[root.span.end..]];
        is_bare(text, &root) && around.iter().all(|it| it.trim().is_empty())
    })
}

/// Returns whether an object or a list is empty, without even a comment.
fn is_bare(text: &str, item: &SpannedJsonValue) -> bool {
    item.kind != JsonKind::Plain && text[item.span.start + 1..item.span.end - 1].trim().is_empty()
}

/// Treats blank settings as an empty object.
fn filled(text: &str) -> &str {
    if text.trim().is_empty() { "{}\n" } else { text }
}

fn read(text: &str, dialect: JsonDialect) -> Result<SpannedJsonValue, EditRefusal> {
    let root = json_spans::scan(text, dialect)?;
    match root.kind {
        JsonKind::Object => Ok(root),
        _ => Err(EditRefusal::broken(root.span.start, "`the file` is not an object")),
    }
}

/// Returns the object that holds the servers, and its depth in the file. An existing server stays
/// where it is.
fn servers<'a>(
    root: &'a SpannedJsonValue,
    place: ServersPath,
    name: &str,
) -> Result<Option<(&'a JsonChild, usize)>, EditRefusal> {
    let Some(outer) = member(root, place.container, "the file")? else {
        return Ok(None);
    };
    let inner = match place.inner {
        Some(key) if member(&outer.item, name, place.container)?.is_none() => {
            member(&outer.item, key, place.container)?
        }
        _ => None,
    };
    // A server may have the name of the object.
    let is_holder = |it: &&JsonChild| {
        it.item.kind == JsonKind::Object && it.item.members.iter().all(|field| field.key != "type")
    };
    Ok(Some(inner.filter(is_holder).map_or((outer, 1), |inner| (inner, 2))))
}

/// Returns the value at the end of a path of keys, and its depth in the file.
fn find<'a>(
    root: &'a SpannedJsonValue,
    path: &[String],
) -> Result<Option<(&'a SpannedJsonValue, usize)>, EditRefusal> {
    let mut at = root;
    for key in path {
        match at.kind {
            JsonKind::Object => match member(at, key, "")? {
                Some(it) => at = &it.item,
                None => return Ok(None),
            },
            JsonKind::List | JsonKind::Plain => return Ok(None),
        }
    }
    Ok(Some((at, path.len())))
}

/// Returns the member of that name; a repeated one is an error.
fn member<'a>(
    item: &'a SpannedJsonValue,
    key: &str,
    owner: &str,
) -> Result<Option<&'a JsonChild>, EditRefusal> {
    if item.kind != JsonKind::Object {
        return Err(EditRefusal::broken(item.span.start, format!("`{owner}` is not an object")));
    }
    let mut found = item.members.iter().filter(|it| it.key == key);
    let first = found.next();
    match found.next() {
        None => Ok(first),
        Some(again) => Err(EditRefusal::broken(again.at, format!("`{key}` is there twice"))),
    }
}

fn is_value(text: &str, item: &SpannedJsonValue, value: &Value) -> bool {
    serde_json::from_str::<Value>(&text[item.span.clone()]).is_ok_and(|it| it == *value)
}

fn replaced(text: &str, span: Range<usize>, by: &str) -> String {
    [&text[..span.start], by, &text[span.end..]].concat()
}

/// Adds a member at the end of an object; without a key, an element at the end of a list.
fn insert(
    text: &str,
    holder: &SpannedJsonValue,
    key: Option<&str>,
    value: &str,
    (style, depth): (&JsonStyle, usize),
) -> String {
    let close = holder.span.end - 1;
    let inside = &text[holder.span.start + 1..close];
    let end = holder.span.start + 1 + inside.trim_end().len();
    let is_inline = key.is_none() && !inside.contains('\n');
    let mut out = String::with_capacity(text.len() + value.len() + 80);
    match holder.members.last() {
        Some(JsonChild { item, comma: None, .. }) => {
            out.push_str(&text[..item.span.end]);
            out.push(',');
            out.push_str(&text[item.span.end..end]);
        }
        _ => out.push_str(&text[..end]),
    }
    if is_inline {
        let gap = if holder.members.is_empty() { "" } else { " " };
        return [&out, gap, value, &text[end..]].concat();
    }
    let indent = match holder.members.first().and_then(|it| own_line(text, it.at)) {
        Some(indent) => indent.to_owned(),
        None => style.unit.repeat(depth + 1),
    };
    let closing = match text[end..close].rsplit_once('\n') {
        Some((_, closing)) => closing.to_owned(),
        None => style.unit.repeat(depth),
    };
    let key = key.map_or_else(String::new, |it| format!("{}: ", Value::from(it)));
    for part in [style.newline, &indent, &key, value] {
        out.push_str(part);
    }
    for part in [style.newline, &closing, &text[close..]] {
        out.push_str(part);
    }
    out
}

/// Removes the member that starts at `at`, with its line if it has one of its own.
fn cut(text: &str, holder: &SpannedJsonValue, at: usize) -> String {
    let members = &holder.members;
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
        Some(comma) => {
            let gap = &text[comma + 1..start];
            let is_in_line = !gap.contains('\n') && gap.trim().is_empty();
            [&text[..comma], if is_in_line { "" } else { gap }].concat()
        }
        None => text[..start].to_owned(),
    };
    let is_only = members.len() == 1;
    let open = holder.span.start + 1;
    let close = holder.span.end - 1;
    if is_only && text[open..start].trim().is_empty() && text[end..close].trim().is_empty() {
        return [&text[..open], &text[close..]].concat();
    }
    head + &text[end..]
}

/// Returns the white space before `at`, if nothing else precedes it in its line.
fn own_line(text: &str, at: usize) -> Option<&str> {
    let (_, line) = text[..at].rsplit_once('\n')?;
    line.trim().is_empty().then_some(line)
}

/// Formats a value in one line.
fn inline(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| {
                format!("{}: {}", Value::from(key.as_str()), inline(value))
            };
            let members: Vec<String> = members.iter().map(member).collect();
            format!("{{{}}}", members.join(", "))
        }
        other => other.to_string(),
    }
}

/// The layout of a file.
struct JsonStyle {
    unit: String,
    newline: &'static str,
}

impl JsonStyle {
    fn of(text: &str, root: &SpannedJsonValue) -> JsonStyle {
        let first = root.members.first();
        let unit = first.and_then(|it| own_line(text, it.at)).filter(|it| !it.is_empty());
        let newline = match text.find('\n') {
            Some(at) if text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        };
        JsonStyle { unit: unit.unwrap_or("  ").to_owned(), newline }
    }

    /// Formats an object over several lines, its braces at `depth`.
    fn object(&self, members: &[(&str, String)], depth: usize) -> String {
        let lines = members.iter().map(|(key, value)| format!("{}: {value}", Value::from(*key)));
        self.lines(["{", "}"], lines.collect(), depth)
    }

    /// Formats parts over several lines, with `around` them at `depth`.
    fn lines(&self, [open, close]: [&str; 2], parts: Vec<String>, depth: usize) -> String {
        let (newline, outer) = (self.newline, self.unit.repeat(depth));
        let inner = self.unit.repeat(depth + 1);
        let between = format!(",{newline}{inner}");
        format!("{open}{newline}{inner}{}{newline}{outer}{close}", parts.join(&between))
    }

    fn entry(&self, entry: &ServerEntry, depth: usize) -> String {
        let fields: Vec<(&str, String)> =
            entry.fields.iter().map(|(key, value)| (*key, inline(value))).collect();
        self.object(&fields, depth)
    }

    /// Formats the value of a permission below keys that do not exist yet.
    fn nested(&self, keys: &[String], gives: &GrantedItemsOrValue, depth: usize) -> String {
        match (keys.split_first(), gives) {
            (Some((key, rest)), _) => {
                self.object(&[(key, self.nested(rest, gives, depth + 1))], depth)
            }
            (None, GrantedItemsOrValue::Items(items))
                if 1 < items.len() || items.iter().any(Value::is_object) =>
            {
                self.lines(["[", "]"], items.iter().map(inline).collect(), depth)
            }
            (None, GrantedItemsOrValue::Items(items)) => inline(&items.as_slice().into()),
            (None, GrantedItemsOrValue::Value(value)) => inline(value),
        }
    }
}
