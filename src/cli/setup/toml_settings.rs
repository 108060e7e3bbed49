//! Edits of TOML settings: adds or removes a server or permissions, and keeps the rest.
//!
//! `toml_edit` keeps a document as it was written, except for its line ends, which are restored
//! here. A text that does not survive a round trip is not edited.

use serde_json::Value as Json;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::settings_edit_types::{
    EditRefusal, EditedSettings, Grant, GrantedItemsOrValue, ServerEntry,
};

/// The table of all servers.
const CONTAINER: &str = "mcp_servers";

const BOM: &str = "\u{feff}";

/// Adds the entry to `text`; additional fields of an existing entry stay.
pub(super) fn put(text: &str, entry: &ServerEntry) -> Result<EditedSettings, EditRefusal> {
    let mut document = TomlSettings::read(text)?;
    let servers = document.servers_or_new()?;
    let before = match servers.get(entry.name) {
        None => {
            let table = fields_of(entry.fields.iter().map(|(key, value)| (*key, value)));
            insert(servers, entry.name, table);
            return Ok(EditedSettings {
                text: document.text(),
                entry: None,
                is_container_new: false,
            });
        }
        Some(old) if old.as_table_like().is_some_and(|it| it.contains_key(entry.key)) => {
            alone(entry.name, old)
        }
        Some(_) => return Err(EditRefusal::stranger(entry)),
    };
    let table = servers.get_mut(entry.name).and_then(Item::as_table_like_mut);
    let table = table.ok_or(EditRefusal::Unsure)?;
    for (key, value) in &entry.fields {
        match table.get_mut(key).and_then(Item::as_value_mut) {
            Some(old) if is_same(old, value) => (),
            Some(old) => {
                let decor = old.decor().clone();
                *old = toml(value);
                *old.decor_mut() = decor;
            }
            None => drop(table.insert(key, Item::Value(toml(value)))),
        }
    }
    Ok(EditedSettings { text: document.text(), entry: Some(before), is_container_new: false })
}

/// Removes the table of that name from `text`, or restores the former one.
pub(super) fn take(text: &str, name: &str, before: Option<&str>) -> Result<String, EditRefusal> {
    let mut document = TomlSettings::read(text)?;
    let Some(servers) = document.servers()? else { return Ok(text.to_owned()) };
    let Some(entry) = servers.get_mut(name) else { return Ok(text.to_owned()) };
    if let Some(before) = before {
        let mut old = TomlSettings::read(before)?;
        let old = old.servers()?.and_then(|it| it.remove(name)).ok_or(EditRefusal::Unsure)?;
        restore(entry, old);
        return Ok(document.text());
    }
    let comments = comments_above(entry);
    servers.remove(name);
    if servers.is_empty() && document.table.get(CONTAINER).is_some_and(is_implicit) {
        document.table.remove(CONTAINER);
    }
    // These comments belong to the user: the next place that holds comments is the end.
    let trailing = document.table.trailing().as_str().unwrap_or_default();
    document.table.set_trailing(comments + trailing);
    Ok(document.text())
}

/// Returns the fields of a server.
pub(super) fn fields(text: &str, name: &str) -> Option<Vec<(String, Json)>> {
    let mut document = TomlSettings::read(text).ok()?;
    let server = document.servers().ok()??.get(name)?.as_table_like()?;
    let fields =
        server.iter().filter_map(|(key, item)| Some((key.to_owned(), json(item.as_value()?))));
    Some(fields.collect())
}

/// Adds the permissions to `text`; returns those that are new.
pub(super) fn grant(text: &str, grants: &[Grant]) -> Result<(String, Vec<Grant>), EditRefusal> {
    let mut document = TomlSettings::read(text)?;
    let mut given = Vec::new();
    for grant in grants {
        let (GrantedItemsOrValue::Value(value), Some((last, path))) =
            (&grant.gives, grant.at.split_last())
        else {
            return Err(EditRefusal::Unsure);
        };
        let mut at: &mut dyn TableLike = document.table.as_table_mut();
        let mut n_made = 0;
        for (depth, key) in path.iter().enumerate() {
            if !at.contains_key(key) {
                n_made += 1;
                let mut table = Table::new();
                table.set_implicit(depth + 1 < path.len());
                insert(at, key, table);
            }
            at = at.get_mut(key).and_then(Item::as_table_like_mut).ok_or(EditRefusal::Unsure)?;
        }
        if !at.contains_key(last) {
            at.insert(last, Item::Value(toml(value)));
            given.push(Grant { n_made, ..grant.clone() });
        }
    }
    let text = if given.is_empty() { text.to_owned() } else { document.text() };
    Ok((text, given))
}

/// Removes the permissions from `text`, and the emptied tables created for them.
pub(super) fn revoke(text: &str, grants: &[Grant]) -> Result<String, EditRefusal> {
    let mut document = TomlSettings::read(text)?;
    for grant in grants.iter().rev() {
        let mut n_made = grant.n_made;
        revoke_in(document.table.as_table_mut(), &grant.at, &grant.gives, &mut n_made);
    }
    Ok(document.text())
}

fn revoke_in(
    at: &mut dyn TableLike,
    path: &[String],
    gives: &GrantedItemsOrValue,
    n_made: &mut usize,
) {
    match (path, gives) {
        ([last], GrantedItemsOrValue::Value(value)) => {
            if at.get(last).and_then(Item::as_value).is_some_and(|it| is_same(it, value)) {
                at.remove(last);
            }
        }
        ([key, rest @ ..], _) => {
            let Some(inner) = at.get_mut(key).and_then(Item::as_table_like_mut) else { return };
            revoke_in(inner, rest, gives, n_made);
            let is_bare = inner.is_empty();
            let is_bare = is_bare && at.get(key).is_some_and(|it| comments_above(it).is_empty());
            if is_bare && 0 < *n_made {
                at.remove(key);
                *n_made -= 1;
            }
        }
        ([], _) => (),
    }
}

/// A TOML document with its byte order mark and line ends.
struct TomlSettings {
    table: DocumentMut,
    bom: &'static str,
    newline: &'static str,
}

impl TomlSettings {
    fn read(text: &str) -> Result<TomlSettings, EditRefusal> {
        let (bom, plain) = match text.strip_prefix(BOM) {
            Some(rest) => (BOM, rest),
            None => ("", text),
        };
        let newline = if plain.contains("\r\n") { "\r\n" } else { "\n" };
        let table = plain.parse::<DocumentMut>().map_err(|error| {
            let at = bom.len() + error.span().map_or(0, |it| it.start);
            EditRefusal::broken(at, crate::text::fold_whitespace(error.message()))
        })?;
        let document = TomlSettings { table, bom, newline };
        // The last line may end without a newline, and gets one.
        let is_kept = document.text() == text || document.text() == format!("{text}{newline}");
        if is_kept { Ok(document) } else { Err(EditRefusal::Unsure) }
    }

    fn text(&self) -> String {
        let text = self.table.to_string();
        let text = match self.newline {
            "\n" => text,
            // A multi-line string keeps its own.
            newline => text.replace(newline, "\n").replace('\n', newline),
        };
        [self.bom, &text].concat()
    }

    fn servers(&mut self) -> Result<Option<&mut dyn TableLike>, EditRefusal> {
        match self.table.get_mut(CONTAINER) {
            None => Ok(None),
            Some(it) => match it.as_table_like_mut() {
                Some(servers) => Ok(Some(servers)),
                None => Err(EditRefusal::broken(0, format!("`{CONTAINER}` is not a table"))),
            },
        }
    }

    fn servers_or_new(&mut self) -> Result<&mut dyn TableLike, EditRefusal> {
        if !self.table.contains_key(CONTAINER) {
            let mut servers = Table::new();
            servers.set_implicit(true);
            self.table.insert(CONTAINER, Item::Table(servers));
        }
        self.servers()?.ok_or(EditRefusal::Unsure)
    }
}

/// Inserts a table, in one line where the tables beside it are.
fn insert(at: &mut dyn TableLike, key: &str, table: Table) {
    let is_inline = at.iter().any(|(_, it)| it.is_inline_table());
    let item = if is_inline {
        Item::Value(Value::InlineTable(table.into_inline_table()))
    } else {
        Item::Table(table)
    };
    at.insert(key, item);
}

/// Restores the former state of a table, each part in its place.
fn restore(entry: &mut Item, old: Item) {
    let old = match (entry.as_table_mut(), old) {
        (Some(table), Item::Table(old)) => {
            table.retain(|key, _| old.contains_key(key));
            for (key, old) in old {
                match table.get_mut(&key) {
                    Some(item) => restore(item, old),
                    None => drop(table.insert(&key, old)),
                }
            }
            return;
        }
        (_, old) => old,
    };
    *entry = old;
}

/// Returns the text of a server's table alone.
fn alone(name: &str, entry: &Item) -> String {
    let mut servers = Table::new();
    servers.set_implicit(true);
    servers.insert(name, entry.clone());
    let mut document = DocumentMut::new();
    document.insert(CONTAINER, Item::Table(servers));
    document.to_string()
}

/// Returns the comments above a table and those below it, with the empty lines before them.
fn comments_above(item: &Item) -> String {
    let Some(table) = item.as_table() else { return String::new() };
    let own = table.decor().prefix().and_then(|it| it.as_str()).unwrap_or_default();
    let own = if own.contains('#') { own } else { "" };
    let below = table.iter().map(|(_, it)| comments_above(it));
    own.to_owned() + &below.collect::<String>()
}

fn is_implicit(item: &Item) -> bool {
    item.as_table().is_some_and(Table::is_implicit)
}

fn fields_of<'a>(fields: impl Iterator<Item = (&'a str, &'a Json)>) -> Table {
    fields.map(|(key, value)| (key, Item::Value(toml(value)))).collect()
}

fn is_same(value: &Value, json: &Json) -> bool {
    match (value, json) {
        (Value::String(it), Json::String(json)) => it.value() == json,
        (Value::Boolean(it), Json::Bool(json)) => it.value() == json,
        (Value::Array(items), Json::Array(json)) => {
            items.len() == json.len() && items.iter().zip(json).all(|(it, json)| is_same(it, json))
        }
        (Value::InlineTable(table), Json::Object(json)) => {
            table.len() == json.len()
                && json.iter().all(|(key, json)| table.get(key).is_some_and(|it| is_same(it, json)))
        }
        _ => false,
    }
}

/// Converts a TOML value to JSON.
fn json(value: &Value) -> Json {
    match value {
        Value::String(it) => it.value().as_str().into(),
        Value::Boolean(it) => (*it.value()).into(),
        Value::Array(items) => items.iter().map(json).collect(),
        other => other.to_string().trim().into(),
    }
}

/// Converts a JSON value to TOML, which has no null.
fn toml(json: &Json) -> Value {
    match json {
        Json::Null => Value::from(""),
        Json::Bool(it) => Value::from(*it),
        Json::Number(it) => Value::from(it.as_i64().unwrap_or_default()),
        Json::String(it) => Value::from(it.as_str()),
        Json::Array(items) => Value::Array(items.iter().map(toml).collect::<Array>()),
        Json::Object(members) => {
            let members = members.iter().map(|(key, value)| (key.as_str(), toml(value)));
            Value::InlineTable(members.collect::<InlineTable>())
        }
    }
}
