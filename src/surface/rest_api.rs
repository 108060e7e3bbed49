//! Knowledge over plain HTTP: one table of paths below `/api/v1`, for programs that speak no MCP.
//!
//! Reading warms nothing. Changes are those of the tools, and a server that only shows refuses
//! them. The database is the one that the server was started with: `db` may name it, and never a
//! path.

mod chat;
mod knowledge_reads;
#[cfg(test)]
mod tests;
mod writing;

use std::cell::OnceCell;

use serde_json::{Map, Value, json};

use crate::mcp::{RestApiReply, RestApiReplyBody, RestApiRequest};
use crate::memory::knowledge::{LIST_DEFAULT, LIST_MAX, RecordPageRequest};
use crate::memory::typed::{ErrorCode, MemoryError};
use crate::memory::{Memory, ReadOnlyMemory};
use crate::model::clock::UnixMillis;
use crate::settings::config::KnowledgeSettings;
use crate::surface::tools::replaced_secrets;
use crate::text;

/// Characters of a value that an error repeats.
const ECHO_CHARS_MAX: usize = 40;

/// Holds what requests are answered from.
pub(super) struct RestContext<'a> {
    pub(super) view: &'a ReadOnlyMemory,
    /// The memory, where this server may change it.
    pub(super) memory: Option<&'a Memory>,
    pub(super) settings: KnowledgeSettings,
}

/// Runs a request. The variant decides what it can access.
enum RestRunner {
    Read(fn(&RestContext<'_>, &RestArgs<'_>) -> RestResult),
    Change(fn(&Memory, &RestArgs<'_>) -> RestResult),
    /// Answers a question, which may warm nodes; no text of the body is stored.
    Ask(fn(&Memory, &RestArgs<'_>) -> RestResult),
    /// Answers with events.
    Talk(fn(&Memory, &RestArgs<'_>) -> Result<Vec<Value>, RestError>),
}

/// A path and a method of the interface: a row of [`PATHS`].
struct RestRoute {
    method: &'static str,
    /// Its parts; `*` stands for a variable.
    parts: &'static [&'static str],
    /// Names of the query that it knows.
    names: &'static [&'static str],
    run: RestRunner,
    /// The status where it is done.
    done: u16,
    /// The status where what was sent is wrong.
    wrong: u16,
}

/// The values of a request.
struct RestArgs<'a> {
    /// The variable of the path.
    id: &'a str,
    filter: RecordPageRequest,
    /// A place in the history.
    since: Option<&'a str>,
    /// A state of conflicts.
    status: Option<&'a str>,
    request: &'a RestApiRequest,
    /// The members of the body, once they are read.
    object: OnceCell<Result<Map<String, Value>, String>>,
}

/// The JSON document of a handler, or why there is none.
type RestResult = Result<Value, RestError>;

/// A request that is not answered: a status of HTTP, and what else the body has beside `error`.
#[derive(Debug)]
struct RestError {
    /// `None` for the status of its row.
    status: Option<u16>,
    error: String,
    more: Map<String, Value>,
}

const PAGE: &[&str] = &["offset", "limit", "search"];
const OF_CONCEPTS: &[&str] = &["offset", "limit", "search", "topic", "type"];
const OF_ENTITIES: &[&str] = &["offset", "limit", "search", "type"];
const OF_EPISODES: &[&str] =
    &["offset", "limit", "search", "topic", "type", "consolidated", "start_date", "end_date"];

/// Every path with every method; of two that fit, the first counts.
#[rustfmt::skip]
const PATHS: &[RestRoute] = &[
    get(&["stats"], &[], knowledge_reads::stats),
    get(&["databases"], &[], databases),
    get(&["config"], &[], knowledge_reads::config),
    get(&["graph"], &[], knowledge_reads::graph),
    get(&["entity-graph"], &[], knowledge_reads::entity_graph),
    get(&["concepts"], OF_CONCEPTS, knowledge_reads::concepts),
    get(&["concepts", "deleted"], PAGE, knowledge_reads::deleted_concepts),
    get(&["concepts", "*"], &[], knowledge_reads::concept),
    change("PUT", &["concepts", "*"], writing::update_concept),
    change("PATCH", &["concepts", "*"], writing::update_concept),
    change("DELETE", &["concepts", "*"], writing::delete_concept),
    change("POST", &["concepts", "*", "restore"], writing::restore_concept),
    change("DELETE", &["concepts", "*", "purge"], writing::purge_concept),
    get(&["episodes"], OF_EPISODES, knowledge_reads::episodes),
    get(&["episodes", "deleted"], PAGE, knowledge_reads::deleted_episodes),
    get(&["episodes", "*"], &[], knowledge_reads::episode),
    change("PUT", &["episodes", "*"], writing::update_episode),
    change("PATCH", &["episodes", "*"], writing::update_episode),
    change("DELETE", &["episodes", "*"], writing::delete_episode),
    change("POST", &["episodes", "*", "restore"], writing::restore_episode),
    change("DELETE", &["episodes", "*", "purge"], writing::purge_episode),
    change("DELETE", &["deleted", "purge-all"], writing::purge_all),
    get(&["entities"], OF_ENTITIES, knowledge_reads::entities),
    get(&["entities", "*"], &[], knowledge_reads::entity),
    get(&["entities", "*", "episodes"], PAGE, knowledge_reads::episodes_of_entity),
    get(&["entities", "*", "concepts"], PAGE, knowledge_reads::concepts_of_entity),
    get(&["topics"], &[], knowledge_reads::topics),
    RestRoute { done: 201, ..change("POST", &["topics"], writing::create_topic) },
    get(&["topics", "*"], &[], knowledge_reads::topic),
    change("PUT", &["topics", "*"], writing::update_topic),
    change("PATCH", &["topics", "*"], writing::update_topic),
    change("DELETE", &["topics", "*"], writing::delete_topic),
    get(&["conflicts"], &["status", "limit"], knowledge_reads::conflicts),
    change("POST", &["conflicts", "*", "resolve"], writing::resolve_conflict),
    change("POST", &["conflicts", "*", "dismiss"], writing::dismiss_conflict),
    RestRoute { method: "POST", ..get(&["query"], &[], knowledge_reads::query) },
    talk(&["chat"], chat::chat),
    workflow(&["workflow", "remember"], writing::remember),
    question(&["workflow", "recall"], writing::recall),
    question(&["workflow", "review"], writing::review),
    workflow(&["workflow", "apply"], writing::apply),
    workflow(&["workflow", "ingest"], writing::ingest),
    workflow(&["workflow", "consolidate"], writing::consolidate),
    get(&["workflow", "events"], &["since", "limit"], knowledge_reads::events),
];

const fn get(
    parts: &'static [&'static str],
    names: &'static [&'static str],
    read: fn(&RestContext<'_>, &RestArgs<'_>) -> RestResult,
) -> RestRoute {
    RestRoute { method: "GET", parts, names, run: RestRunner::Read(read), done: 200, wrong: 400 }
}

const fn change(
    method: &'static str,
    parts: &'static [&'static str],
    change: fn(&Memory, &RestArgs<'_>) -> Result<Value, RestError>,
) -> RestRoute {
    let run = RestRunner::Change(change);
    RestRoute { method, parts, names: &[], run, done: 200, wrong: 400 }
}

/// Returns the row of a request that a tool answers, whose arguments are the body.
const fn workflow(
    parts: &'static [&'static str],
    call: fn(&Memory, &RestArgs<'_>) -> Result<Value, RestError>,
) -> RestRoute {
    RestRoute { wrong: 422, ..change("POST", parts, call) }
}

/// Returns the row of a request that a tool answers and that stores no text of its body.
const fn question(
    parts: &'static [&'static str],
    ask: fn(&Memory, &RestArgs<'_>) -> Result<Value, RestError>,
) -> RestRoute {
    RestRoute { run: RestRunner::Ask(ask), ..workflow(parts, ask) }
}

const fn talk(
    parts: &'static [&'static str],
    talk: fn(&Memory, &RestArgs<'_>) -> Result<Vec<Value>, RestError>,
) -> RestRoute {
    let run = RestRunner::Talk(talk);
    RestRoute { method: "POST", parts, names: &[], run, done: 200, wrong: 400 }
}

/// Answers a request.
pub(super) fn answer(context: &RestContext<'_>, request: &RestApiRequest) -> RestApiReply {
    let fits = |it: &&RestRoute| {
        it.parts.len() == request.path.len()
            && it.parts.iter().zip(&request.path).all(|(part, given)| *part == "*" || part == given)
    };
    let of_path: Vec<&RestRoute> = PATHS.iter().filter(fits).collect();
    if of_path.is_empty() {
        let mut known: Vec<String> = PATHS.iter().map(|it| it.parts.join("/")).collect();
        known.dedup();
        return refuse(404, format!("there is nothing here; known are {}", known.join(", ")));
    }
    let method = if request.method == "HEAD" { "GET" } else { &request.method };
    let Some(path) = of_path.iter().find(|it| it.method == method) else {
        let mut allowed: Vec<&str> = of_path.iter().map(|it| it.method).collect();
        allowed.dedup();
        let allowed = allowed.join(", ");
        let reply = refuse(405, format!("the method must be {allowed}"));
        return RestApiReply { allowed: Some(allowed), ..reply };
    };
    match asked(context.view, path, request)
        .map_err(RestError::from)
        .and_then(|it| run(context, path, &it))
    {
        Ok(body) => RestApiReply { status: path.done, body, allowed: None },
        Err(RestError { status, error, more }) => {
            let mut document = Map::from_iter([("error".to_owned(), error.into())]);
            document.extend(more);
            let body = RestApiReplyBody::Document(document.into());
            RestApiReply { status: status.unwrap_or(path.wrong), body, allowed: None }
        }
    }
}

fn run(
    context: &RestContext<'_>,
    path: &RestRoute,
    asked: &RestArgs<'_>,
) -> Result<RestApiReplyBody, RestError> {
    let memory = || {
        let why = "this server only shows the memory; `remindb serve` changes it, too";
        context.memory.ok_or_else(|| RestError::new(403, why))
    };
    match path.run {
        RestRunner::Read(read) => read(context, asked).map(RestApiReplyBody::Document),
        RestRunner::Change(change) => {
            let memory = memory()?;
            let answer = change(memory, asked)?;
            // What reads no body takes any.
            Ok(RestApiReplyBody::Document(match asked.object() {
                Ok(given) => replaced_secrets::tell_of_given(memory, given, answer),
                Err(_) => answer,
            }))
        }
        RestRunner::Ask(ask) => ask(memory()?, asked).map(RestApiReplyBody::Document),
        RestRunner::Talk(talk) => talk(memory()?, asked).map(RestApiReplyBody::Events),
    }
}

fn refuse(status: u16, why: impl Into<String>) -> RestApiReply {
    let body = RestApiReplyBody::Document(json!({"error": why.into()}));
    RestApiReply { status, body, allowed: None }
}

impl RestError {
    fn new(status: u16, error: impl Into<String>) -> RestError {
        RestError { status: Some(status), error: error.into(), more: Map::new() }
    }
}

impl From<MemoryError> for RestError {
    fn from(error: MemoryError) -> RestError {
        let mut more = match error.to_json() {
            Value::Object(body) => body,
            _ => Map::new(),
        };
        more.shift_remove("error");
        let status = match error.code {
            ErrorCode::NotFound => Some(404),
            ErrorCode::PermissionError => Some(403),
            code if code.is_outside() => {
                log::error!("a plain request failed: {}", error.message);
                let why = "the memory cannot be read or changed; the log of the server says more";
                return RestError::new(500, why);
            }
            _ if is_outdated(&more) => Some(409),
            _ => None,
        };
        RestError { status, error: error.message, more }
    }
}

/// Returns whether an operation is refused since its node changed meanwhile.
fn is_outdated(body: &Map<String, Value>) -> bool {
    let errors = body.get("errors").and_then(Value::as_array).into_iter().flatten();
    errors.into_iter().any(|it| it["code"] == "REVISION_CONFLICT")
}

impl RestArgs<'_> {
    /// Returns the members of the body.
    fn object(&self) -> Result<&Map<String, Value>, MemoryError> {
        let object = self.object.get_or_init(|| self.request.object()).as_ref();
        object.map_err(|why| MemoryError::invalid(why.as_str()))
    }
}

/// Reads the variable of the path and the values of the query.
fn asked<'a>(
    view: &ReadOnlyMemory,
    path: &RestRoute,
    request: &'a RestApiRequest,
) -> Result<RestArgs<'a>, MemoryError> {
    let nth = path.parts.iter().position(|it| *it == "*");
    let id = nth.and_then(|it| request.path.get(it)).map_or("", String::as_str);
    let filter = RecordPageRequest { n_max: LIST_DEFAULT, ..RecordPageRequest::default() };
    let object = OnceCell::new();
    let mut asked = RestArgs { id, filter, since: None, status: None, request, object };
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
        match name.as_str() {
            _ if value.is_empty() => (),
            "since" => asked.since = Some(value),
            "status" => asked.status = Some(value),
            _ => set(&mut asked.filter, name, value)?,
        }
    }
    Ok(asked)
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

fn set(filter: &mut RecordPageRequest, name: &str, value: &str) -> Result<(), MemoryError> {
    let refuse = |why: String| {
        let value = text::truncate_chars(value, ECHO_CHARS_MAX);
        MemoryError::invalid(format!("`{name}` is `{value}`; {why}"))
    };
    let number = |min: usize, max: usize| {
        let number = value.parse().ok().filter(|it| (min..=max).contains(it));
        number.ok_or_else(|| refuse(format!("it must be a whole number from {min} to {max}")))
    };
    let day = |read: fn(&str) -> Option<UnixMillis>| {
        read(value).map(Some).ok_or_else(|| refuse("it must be a day or a time".to_owned()))
    };
    match name {
        "offset" => filter.offset = number(0, usize::MAX)?,
        "limit" => filter.n_max = number(1, LIST_MAX)?,
        "search" => filter.search = Some(value.to_owned()),
        "topic" => filter.topic = Some(value.to_owned()),
        "type" => filter.kind = Some(value.to_owned()),
        "start_date" => filter.from = day(UnixMillis::parse_rfc3339)?,
        "end_date" => filter.to = day(UnixMillis::parse_rfc3339_end)?,
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

fn databases(context: &RestContext<'_>, _: &RestArgs<'_>) -> Result<Value, RestError> {
    let path = context.view.path().to_string_lossy();
    Ok(json!({"databases": [{"name": name_of(context.view), "path": path}]}))
}
