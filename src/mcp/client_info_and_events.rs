//! Clients: their names by their own account, and the events that the handler records.
//!
//! None of this is proved: it serves for display, and to tell clients apart.

use serde_json::Value;

use super::Version;
use crate::mcp::rpc::Params;
use crate::text;

/// Characters of a name or version; longer ones are cut.
const NAME_CHARS_MAX: usize = 120;

/// A client's description of itself; empty where it gives none.
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
    /// Reads an `Implementation`; members that are no text count as absent.
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

/// The kind of a request, as far as it matters for sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolCallOrOtherRequest {
    /// It calls a tool.
    CallsTool,
    /// It asks for something else; `ping` does not count.
    Asks,
}

/// A finished tool call, without any content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ToolCallRecord<'a> {
    /// The session that it belongs to, from [`Handler::on_request`](super::Handler::on_request).
    pub(crate) session: Option<&'a str>,
    /// The tool's name.
    pub(crate) tool: &'static str,
    /// Bytes of all texts in the arguments.
    pub(crate) payload_bytes: usize,
    /// The duration in ms.
    pub(crate) elapsed_ms: i64,
    /// The failure, if any.
    pub(crate) failure: Option<&'a ToolCallFailure>,
}

/// The failure of a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolCallFailure {
    /// Its kind.
    pub(crate) kind: &'static str,
    /// The fault of the server or its files, for the log.
    pub(crate) detail: Option<String>,
}

/// An event of a client besides its requests.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ClientActivity<'a> {
    /// A tool call is over.
    Called(ToolCallRecord<'a>),
    /// A connection, by the transport's name of it, has ended.
    Left(&'a str),
    /// A client subscribed to changes.
    Listened,
}

/// Returns the bytes of all texts in an object of arguments. The parser has bounded its depth.
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

/// A request, as an event of its client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientRequestEvent<'a> {
    /// The transport's name of the connection.
    pub(crate) connection: &'a str,
    /// The client that sent it.
    pub(crate) client: &'a ClientInfo,
    /// The version of the protocol that it uses.
    pub(crate) version: Version,
    /// The kind of the request.
    pub(crate) act: ToolCallOrOtherRequest,
}
