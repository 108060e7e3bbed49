//! Knowledge over plain HTTP: one table of paths below `/api/v1`, for programs that speak no MCP.
//!
//! It reads, and warms nothing. The database is the one that the server was started with: `db` may
//! name it, and never a path.

#![cfg_attr(not(feature = "http"), allow(dead_code, reason = "no server asks for it"))]

#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use crate::mcp::{RestReply, RestRequest};
use crate::memory::ReadOnlyMemory;
use crate::memory::knowledge::{self, LIST_DEFAULT, LIST_MAX, RecallRequest, RecordFilter};
use crate::memory::typed::{ErrorCode, MemoryError};
use crate::model::clock::Millis;
use crate::store::StoreError;
use crate::store::reader::Reader;
use crate::text;

/// Characters of a value that an error repeats.
const ECHO_CHARS_MAX: usize = 40;

/// Answers a request: the parts of its path that are variables, the asked part of a list.
type RestFn = fn(&ReadOnlyMemory, &RestArgs<'_>) -> Result<Value, MemoryError>;

/// A path of the interface: a row of [`PATHS`].
struct RestRoute {
    /// Its parts; `*` stands for a variable.
    parts: &'static [&'static str],
    method: &'static str,
    /// Names of the query that it knows.
    names: &'static [&'static str],
    answer: RestFn,
}

/// The values of a request.
struct RestArgs<'a> {
    /// The variable of the path.
    id: &'a str,
    filter: RecordFilter,
    body: &'a [u8],
}

const PAGE: &[&str] = &["offset", "limit", "search"];
const OF_CONCEPTS: &[&str] = &["offset", "limit", "search", "topic", "type"];
const OF_EPISODES: &[&str] =
    &["offset", "limit", "search", "topic", "type", "consolidated", "start_date", "end_date"];

/// Every path.
#[rustfmt::skip]
const PATHS: &[RestRoute] = &[
    get(&["stats"], &[], |it, _| read(it, knowledge::stats_document)),
    get(&["databases"], &[], databases),
    get(&["graph"], &[], |it, _| read(it, knowledge::graph_record)),
    get(&["concepts"], OF_CONCEPTS,
        |it, asked| read(it, |reader| knowledge::concept_records(reader, &asked.filter))),
    get(&["concepts", "*"], &[],
        |it, asked| read(it, |reader| knowledge::concept_record(reader, asked.id))),
    get(&["episodes"], OF_EPISODES,
        |it, asked| read(it, |reader| knowledge::episode_records(reader, &asked.filter))),
    get(&["episodes", "*"], &[],
        |it, asked| read(it, |reader| knowledge::episode_record(reader, asked.id))),
    get(&["entities"], &["offset", "limit", "search", "type"],
        |it, asked| read(it, |reader| knowledge::entity_records(reader, &asked.filter))),
    get(&["entities", "*"], &[],
        |it, asked| read(it, |reader| knowledge::entity_record(reader, asked.id))),
    get(&["entities", "*", "episodes"], PAGE,
        |it, asked| read(it, |reader| knowledge::episodes_of_entity(reader, asked.id))),
    get(&["entities", "*", "concepts"], PAGE,
        |it, asked| read(it, |reader| knowledge::concepts_of_entity(reader, asked.id))),
    get(&["topics"], &[], |it, _| read(it, knowledge::topics_document)),
    RestRoute { parts: &["query"], method: "POST", names: &[], answer: query },
];

const fn get(
    parts: &'static [&'static str],
    names: &'static [&'static str],
    answer: RestFn,
) -> RestRoute {
    RestRoute { parts, method: "GET", names, answer }
}

/// Answers a request.
pub(super) fn answer(view: &ReadOnlyMemory, request: &RestRequest) -> RestReply {
    let matches = |it: &&RestRoute| {
        it.parts.len() == request.path.len()
            && it.parts.iter().zip(&request.path).all(|(part, given)| *part == "*" || part == given)
    };
    let Some(path) = PATHS.iter().find(matches) else {
        let known: Vec<String> = PATHS.iter().map(|it| it.parts.join("/")).collect();
        return refuse(404, format!("there is nothing here; known are {}", known.join(", ")));
    };
    if path.method != request.method && (path.method, request.method.as_str()) != ("GET", "HEAD") {
        let reply = refuse(405, format!("the method must be {}", path.method));
        return RestReply { allowed: Some(path.method), ..reply };
    }
    let answered = asked(view, path, request).and_then(|asked| (path.answer)(view, &asked));
    match answered {
        Ok(document) => RestReply { status: 200, document, allowed: None },
        Err(error) => match error.code {
            ErrorCode::NotFound => refuse(404, error.message),
            code if code.is_outside() => {
                log::error!("a plain request failed: {}", error.message);
                refuse(500, "the memory cannot be read; the log of the server says more")
            }
            _ => refuse(400, error.message),
        },
    }
}

fn refuse(status: u16, why: impl Into<String>) -> RestReply {
    RestReply { status, document: json!({"error": why.into()}), allowed: None }
}

/// Reads the variable of the path and the values of the query.
fn asked<'a>(
    view: &ReadOnlyMemory,
    path: &RestRoute,
    request: &'a RestRequest,
) -> Result<RestArgs<'a>, MemoryError> {
    let mut filter = RecordFilter { n_max: LIST_DEFAULT, ..RecordFilter::default() };
    for (name, value) in &request.query {
        if name == "db" {
            check_database(view, value)?;
            continue;
        }
        if !path.names.contains(&name.as_str()) {
            let name = text::truncate_chars(name, ECHO_CHARS_MAX);
            let known = [path.names, &["db"]].concat().join(", ");
            let what = format!("`{name}` is no argument; known are {known}");
            return Err(MemoryError::invalid(what));
        }
        set(&mut filter, name, value)?;
    }
    let nth = path.parts.iter().position(|it| *it == "*");
    let id = nth.and_then(|it| request.path.get(it)).map_or("", String::as_str);
    Ok(RestArgs { id, filter, body: &request.body })
}

/// Refuses every database but the one that is served.
fn check_database(view: &ReadOnlyMemory, name: &str) -> Result<(), MemoryError> {
    if name == name_of(view) {
        return Ok(());
    }
    let name = text::truncate_chars(name, ECHO_CHARS_MAX);
    let what = format!("no database `{name}` is served; `databases` lists the one that is");
    Err(MemoryError::new(ErrorCode::NotFound, what))
}

fn set(filter: &mut RecordFilter, name: &str, value: &str) -> Result<(), MemoryError> {
    let refuse = |why: String| {
        let value = text::truncate_chars(value, ECHO_CHARS_MAX);
        MemoryError::invalid(format!("`{name}` is `{value}`; {why}"))
    };
    let number = |min: usize, max: usize| {
        let number = value.parse().ok().filter(|it| (min..=max).contains(it));
        number.ok_or_else(|| refuse(format!("it must be a whole number from {min} to {max}")))
    };
    let day = |read: fn(&str) -> Option<Millis>| {
        read(value).map(Some).ok_or_else(|| refuse("it must be a day or a time".to_owned()))
    };
    if value.is_empty() {
        return Ok(());
    }
    match name {
        "offset" => filter.offset = number(0, usize::MAX)?,
        "limit" => filter.n_max = number(1, LIST_MAX)?,
        "search" => filter.search = Some(value.to_owned()),
        "topic" => filter.topic = Some(value.to_owned()),
        "type" => filter.kind = Some(value.to_owned()),
        "start_date" => filter.from = day(Millis::parse_rfc3339)?,
        "end_date" => filter.to = day(Millis::parse_rfc3339_end)?,
        "consolidated" => {
            filter.is_consolidated = match value {
                "true" => Some(true),
                "false" => Some(false),
                _ => return Err(refuse("it must be true or false".to_owned())),
            }
        }
        _ => (),
    }
    Ok(())
}

/// Returns the name of the database: that of its file, without what follows the last period.
fn name_of(view: &ReadOnlyMemory) -> String {
    view.path().file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn databases(view: &ReadOnlyMemory, _: &RestArgs<'_>) -> Result<Value, MemoryError> {
    let path = view.path().to_string_lossy();
    Ok(json!({"databases": [{"name": name_of(view), "path": path}]}))
}

/// Answers a question, whose arguments are the body.
fn query(view: &ReadOnlyMemory, asked: &RestArgs<'_>) -> Result<Value, MemoryError> {
    let body: Map<String, Value> = serde_json::from_slice(asked.body)
        .map_err(|_| MemoryError::invalid("the body must be an object of JSON"))?;
    let request = RecallRequest::parse(&body)?;
    let now = view.now();
    read(view, |reader| knowledge::query_record(reader, &request, now))
}

fn read(
    view: &ReadOnlyMemory,
    document: impl FnOnce(&Reader) -> Result<Value, MemoryError>,
) -> Result<Value, MemoryError> {
    view.read::<_, StoreError>(|reader| Ok(document(reader)))
        .map_err(|error| MemoryError::new(ErrorCode::StorageError, error.to_string()))?
}
