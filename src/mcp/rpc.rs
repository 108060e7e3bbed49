//! JSON-RPC 2.0 frames: parses a line into a message or an error, and formats messages.
//!
//! A line is a message if and only if
//!
//! 1. it has at most [`LINE_BYTES_MAX`] bytes and is UTF-8;
//! 2. it is one JSON object with nothing after it, in which `jsonrpc`, `id`, `method`, `params`,
//!    `result` and `error` occur at most once;
//! 3. `jsonrpc` is `"2.0"`, and `id`, where there is one, is a string or a number;
//! 4. `method` is a string and `params` an object, null or absent; or there is no `method`, and a
//!    `result` or an `error` instead, which makes it a response;
//! 5. `params`, `result` and `error` have at most [`VALUES_MAX`] values each.
//!
//! Every other line is refused with exactly one error, and the next line is read normally. Blank
//! lines are skipped; a byte order mark is refused. Ids are returned verbatim. This module knows
//! no MCP and does no IO of its own.

mod json_string_escape;
mod line_reader;

use std::borrow::Cow;
use std::fmt;

use crate::text::terminal_safe_json::json_text;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

pub(crate) use json_string_escape::JsonStringEscaper;
pub(crate) use line_reader::FrameReader;

/// Bytes of one line; a longer one is skipped to its end and refused.
pub(crate) const LINE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// JSON values in the arguments of a message. Each takes many times the memory of its text, so a
/// message with more is an attack.
pub(crate) const VALUES_MAX: usize = 20_000;

/// Characters of an id in the log.
const LOGGED_ID_CHARS_MAX: usize = 20;

/// The result of parsing a line.
pub(crate) type FrameResult = Result<Message, BadFrame>;

/// Named arguments of a method.
pub(crate) type Params = Map<String, Value>;

/// A well-formed line.
#[derive(Debug)]
pub(crate) enum Message {
    /// A request wants exactly one reply.
    Request(Request),
    /// A notification wants none.
    Notification(Notification),
    /// A client's answer to a request of the server.
    Response(ClientResponse),
    /// A malformed response, or a notification whose `params` are no object; it is ignored.
    Ignored,
}

/// A call that wants a reply.
#[derive(Debug)]
pub(crate) struct Request {
    /// The id for the reply.
    pub(crate) id: RequestId,
    /// The method.
    pub(crate) method: String,
    /// Its arguments; empty when there are none.
    pub(crate) params: Params,
}

/// A message without a reply.
#[derive(Debug)]
pub(crate) struct Notification {
    /// The method.
    pub(crate) method: String,
    /// Its arguments; empty when there are none.
    pub(crate) params: Params,
}

/// A response.
#[derive(Debug)]
pub(crate) struct ClientResponse {
    /// The id of the request.
    pub(crate) id: RequestId,
    /// The result or the error.
    pub(crate) outcome: Result<Value, RpcError>,
}

/// A line that is no message, and its error reply.
#[derive(Debug)]
pub(crate) struct BadFrame {
    /// The id, when it could be read.
    pub(crate) id: Option<RequestId>,
    /// The error.
    pub(crate) fault: RpcError,
}

/// The error object of JSON-RPC.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub(crate) struct RpcError {
    /// A constant of this type, or a code of MCP.
    pub(crate) code: i32,
    /// The failure, its reason and a remedy.
    pub(crate) message: String,
    /// Data for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<Value>,
}

impl RpcError {
    /// The line is not JSON.
    pub(crate) const PARSE_ERROR: i32 = -32700;
    /// The line is JSON and no request.
    pub(crate) const INVALID_REQUEST: i32 = -32600;
    /// No such method.
    pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
    /// The method's arguments are wrong.
    pub(crate) const INVALID_PARAMS: i32 = -32602;
    /// An invariant is broken.
    pub(crate) const INTERNAL_ERROR: i32 = -32603;

    /// Returns an error without data.
    pub(crate) fn new(code: i32, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into(), data: None }
    }
}

/// A request's id: kept as it was written, compared by its value.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(Box<RawValue>);

impl RequestId {
    /// Reads the id in `raw`; `None` when it is neither a string nor a number.
    fn read(raw: &RawValue) -> Option<RequestId> {
        match raw.get().as_bytes().first()? {
            b'"' => serde_json::from_str::<Cow<'_, str>>(raw.get()).ok().map(|_| ()),
            b'-' | b'0'..=b'9' => Some(()),
            _ => None,
        }?;
        Some(RequestId(raw.to_owned()))
    }

    /// Returns the id in a notification; `None` when it is neither a string nor a number.
    pub(crate) fn of_value(value: &Value) -> Option<RequestId> {
        match value {
            Value::String(_) | Value::Number(_) => {
                RawValue::from_string(value.to_string()).ok().map(RequestId)
            }
            _ => None,
        }
    }

    /// Returns the id for the log. Only numbers are shown: a string may be anything.
    pub(crate) fn logged(&self) -> Cow<'_, str> {
        match self.0.get() {
            text if text.starts_with('"') => Cow::Borrowed("string"),
            number => Cow::Owned(crate::text::truncate_chars(number, LOGGED_ID_CHARS_MAX)),
        }
    }

    /// Returns a key that is equal for equal ids, however they were written.
    pub(crate) fn key(&self) -> String {
        let written = self.0.get();
        serde_json::from_str::<Value>(written).map_or(written.to_owned(), |it| it.to_string())
    }
}

/// Parses one line, without its line feed; `None` when it is blank.
pub(crate) fn parse_frame(line: &[u8]) -> Option<FrameResult> {
    let Ok(text) = std::str::from_utf8(line) else {
        return Some(Err(refuse(None, RpcError::PARSE_ERROR, "not UTF-8; send JSON in UTF-8")));
    };
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    if text.is_empty() {
        return None;
    }
    Some(message(text))
}

/// Returns the error for a line longer than [`LINE_BYTES_MAX`].
pub(crate) fn too_long_error() -> BadFrame {
    let message = format!("the line is longer than {LINE_BYTES_MAX} bytes; send less at once");
    refuse(None, RpcError::INVALID_REQUEST, message)
}

/// Formats the reply with a result.
pub(crate) fn result_line(id: &RequestId, result: &impl Serialize) -> String {
    #[derive(serde::Serialize)]
    struct ResultLine<'a, R> {
        jsonrpc: &'a str,
        id: &'a RawValue,
        result: &'a R,
    }
    json_text(&ResultLine { jsonrpc: "2.0", id: &id.0, result })
}

/// Formats an error reply; the id is null when none could be read.
pub(crate) fn error_line(id: Option<&RequestId>, error: &RpcError) -> String {
    #[derive(serde::Serialize)]
    struct ErrorLine<'a> {
        jsonrpc: &'a str,
        id: Option<&'a RawValue>,
        error: &'a RpcError,
    }
    json_text(&ErrorLine { jsonrpc: "2.0", id: id.map(|id| &*id.0), error })
}

/// Formats a request of the server.
pub(crate) fn request_line(id: u64, method: &str, params: &Value) -> String {
    #[derive(serde::Serialize)]
    struct OutgoingRequestLine<'a> {
        jsonrpc: &'a str,
        id: u64,
        method: &'a str,
        params: &'a Value,
    }
    json_text(&OutgoingRequestLine { jsonrpc: "2.0", id, method, params })
}

/// Formats a notification.
pub(crate) fn notification_line(method: &str, params: &impl Serialize) -> String {
    #[derive(serde::Serialize)]
    struct NotificationLine<'a, P> {
        jsonrpc: &'a str,
        method: &'a str,
        params: &'a P,
    }
    json_text(&NotificationLine { jsonrpc: "2.0", method, params })
}

fn refuse(id: Option<RequestId>, code: i32, message: impl Into<String>) -> BadFrame {
    BadFrame { id, fault: RpcError::new(code, message) }
}

fn message(text: &str) -> FrameResult {
    if text.starts_with('\u{feff}') {
        let message = "a byte order mark is no part of a message; leave it out";
        return Err(refuse(None, RpcError::PARSE_ERROR, message));
    }
    let mut json = serde_json::Deserializer::from_str(text);
    if !text.starts_with('{') {
        return Err(not_an_object(text, IgnoredAny::deserialize(&mut json).and(json.end())));
    }
    let members = Members::deserialize(&mut json)
        .map_err(|error| refuse(None, RpcError::PARSE_ERROR, format!("not JSON: {error}")))?;
    if json.end().is_err() {
        let message = "something follows the message; send one message per line";
        return Err(refuse(None, RpcError::PARSE_ERROR, message));
    }
    members.message()
}

fn not_an_object(text: &str, parsed: serde_json::Result<()>) -> BadFrame {
    match parsed {
        Err(error) => refuse(None, RpcError::PARSE_ERROR, format!("not JSON: {error}")),
        Ok(()) if text.starts_with('[') => refuse(
            None,
            RpcError::INVALID_REQUEST,
            "batches are not supported; send one message per line",
        ),
        Ok(()) => refuse(None, RpcError::INVALID_REQUEST, "a message is a JSON object"),
    }
}

/// The unparsed members of the object on a line.
#[derive(Default)]
struct Members<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    twice: Option<&'static str>,
}

impl<'a> Members<'a> {
    fn message(self) -> FrameResult {
        // Even a bad response is ignored: two sides that answer errors with errors never end.
        if self.method.is_none() && (self.result.is_some() || self.error.is_some()) {
            return Ok(self.response().map_or(Message::Ignored, Message::Response));
        }
        if let Some(name) = self.twice {
            return Err(refuse(
                None,
                RpcError::INVALID_REQUEST,
                format!("`{name}` stands there twice"),
            ));
        }
        let id = match self.id {
            None => None,
            Some(raw) => Some(RequestId::read(raw).ok_or_else(|| {
                refuse(None, RpcError::INVALID_REQUEST, "`id` must be a string or a number")
            })?),
        };
        if !self.is_version_2() {
            return Err(refuse(id, RpcError::INVALID_REQUEST, "`jsonrpc` must be \"2.0\""));
        }
        let Some(method) = self.method else {
            return Err(refuse(id, RpcError::INVALID_REQUEST, "`method` is missing"));
        };
        let Ok(method) = serde_json::from_str::<String>(method.get()) else {
            return Err(refuse(id, RpcError::INVALID_REQUEST, "`method` must be a string"));
        };
        match (id, Members::params(self.params)) {
            (Some(id), Ok(params)) => Ok(Message::Request(Request { id, method, params })),
            (None, Ok(params)) => Ok(Message::Notification(Notification { method, params })),
            (None, Err(fault)) if fault.code == RpcError::INVALID_PARAMS => Ok(Message::Ignored),
            (id, Err(fault)) => Err(BadFrame { id, fault }),
        }
    }

    fn is_version_2(&self) -> bool {
        let version = self.jsonrpc.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
        version.as_deref() == Some("2.0")
    }

    fn response(&self) -> Option<ClientResponse> {
        #[derive(serde::Deserialize)]
        struct ErrorObject {
            code: i32,
            message: String,
        }
        if self.twice.is_some() || !self.is_version_2() {
            return None;
        }
        let id = self.id.and_then(RequestId::read)?;
        if self.result.or(self.error).is_some_and(|it| has_too_many_values(it.get())) {
            return None;
        }
        let outcome = match (self.result, self.error) {
            (Some(result), None) => Ok(serde_json::from_str(result.get()).ok()?),
            (None, Some(error)) => {
                let ErrorObject { code, message } = serde_json::from_str(error.get()).ok()?;
                Err(RpcError::new(code, message))
            }
            _ => return None,
        };
        Some(ClientResponse { id, outcome })
    }

    fn params(raw: Option<&RawValue>) -> Result<Params, RpcError> {
        let text = raw.map_or("null", RawValue::get);
        if text == "null" {
            return Ok(Params::new());
        }
        if !text.starts_with('{') {
            return Err(RpcError::new(RpcError::INVALID_PARAMS, "`params` must be an object"));
        }
        if has_too_many_values(text) {
            let message = format!("`params` has more than {VALUES_MAX} values; send less at once");
            return Err(RpcError::new(RpcError::INVALID_PARAMS, message));
        }
        // Remaining errors: nesting beyond 127, a number beyond f64, half a surrogate pair.
        serde_json::from_str(text).map_err(|error| {
            RpcError::new(RpcError::PARSE_ERROR, format!("cannot read `params`: {error}"))
        })
    }
}

/// Returns whether JSON has more than [`VALUES_MAX`] values, without building any of them.
pub(super) fn has_too_many_values(json: &str) -> bool {
    let (mut n_values, mut is_string, mut bytes) = (0, false, json.bytes());
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => is_string = !is_string,
            // An escaped character ends no string; the JSON is known to be valid.
            b'\\' => drop(bytes.next()),
            // A value follows a comma or an opening bracket.
            b',' | b'[' | b'{' if !is_string => n_values += 1,
            _ => (),
        }
    }
    VALUES_MAX < n_values
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Members<'a>, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Members::default();
                while let Some(name) = map.next_key::<String>()? {
                    let (name, slot) = match name.as_str() {
                        "jsonrpc" => ("jsonrpc", &mut members.jsonrpc),
                        "id" => ("id", &mut members.id),
                        "method" => ("method", &mut members.method),
                        "params" => ("params", &mut members.params),
                        "result" => ("result", &mut members.result),
                        "error" => ("error", &mut members.error),
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                            continue;
                        }
                    };
                    if slot.replace(map.next_value()?).is_some() {
                        members.twice = Some(name);
                    }
                }
                Ok(members)
            }
        }

        from.deserialize_map(MembersVisitor)
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

#[cfg(test)]
mod tests;
