//! Who is at the other end, by its own word, and what the surface learns of it.
//!
//! Nothing of this is proved: it is for showing, and for telling clients apart.

use serde_json::Value;

use super::Version;
use crate::mcp::rpc::Params;
use crate::text;

/// Characters of a name or version; the rest is cut off.
const NAME_CHARS_MAX: usize = 120;

/// What a client says about itself; empty where it says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClientInfo {
    /// Its name for programs.
    pub(crate) name: String,
    /// Its name for people.
    pub(crate) title: Option<String>,
    /// The version of its build.
    pub(crate) version: String,
}

impl ClientInfo {
    /// Reads an `Implementation`; what is no text counts as absent.
    pub(super) fn read(info: Option<&Value>) -> ClientInfo {
        let text = |key| {
            let text = info?.get(key)?.as_str()?;
            (!text.is_empty()).then(|| text::truncate_chars(text, NAME_CHARS_MAX))
        };
        ClientInfo {
            name: text("name").unwrap_or_default(),
            title: text("title"),
            version: text("version").unwrap_or_default(),
        }
    }
}

/// What a client does, as far as it says something about the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientAction {
    /// Calls a tool.
    CallsTool,
    /// Asks for something else; `ping` does not count.
    Asks,
}

/// A tool call that is over, without a word of what was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ToolCallRecord<'a> {
    /// The session that it belongs to, as [`Handler::saw`](super::Surface::saw) named it.
    pub(crate) session: Option<&'a str>,
    /// The tool's name.
    pub(crate) tool: &'static str,
    /// Bytes of all texts in the arguments.
    pub(crate) payload_bytes: usize,
    /// How long it took.
    pub(crate) elapsed_ms: i64,
    /// What it failed with, if it did.
    pub(crate) failure: Option<&'a Failure>,
}

/// How a tool call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Its kind.
    pub(crate) kind: &'static str,
    /// What is wrong with the server or its files, as the log says it.
    pub(crate) detail: Option<String>,
}

/// What happens to a client besides its requests.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event<'a> {
    /// A tool call is over.
    Called(ToolCallRecord<'a>),
    /// A connection, by the transport's name of it, has ended.
    Left(&'a str),
    /// Somebody wants to be told of what changes from here on.
    Listened,
}

/// Bytes of all texts in an object of arguments, whose depth is bounded by its reading.
pub(super) fn text_bytes(arguments: &Params) -> usize {
    let mut n_bytes = 0;
    let mut open: Vec<&Value> = arguments.values().collect();
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => n_bytes += text.len(),
            Value::Array(items) => open.extend(items),
            Value::Object(members) => open.extend(members.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) => (),
        }
    }
    n_bytes
}

/// A request, as news about the one who sent it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestSeen<'a> {
    /// The transport's name of the connection.
    pub(crate) connection: &'a str,
    /// Who sent it.
    pub(crate) client: &'a ClientInfo,
    /// The version that it is in.
    pub(crate) version: Version,
    /// What it asks for.
    pub(crate) act: ClientAction,
}
