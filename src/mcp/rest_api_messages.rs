//! Requests and answers of the REST interface, which a registration may have beside MCP.

use serde_json::{Map, Value};

use super::rpc::{VALUES_MAX, has_too_many_values};

/// A request of the REST interface: a method, a path, and pairs of names and values, decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RestApiRequest {
    pub(crate) method: String,
    /// The parts of the path below the root of the interface.
    pub(crate) path: Vec<String>,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// An answer of the REST interface.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RestApiReply {
    /// The status of HTTP.
    pub(crate) status: u16,
    pub(crate) body: RestApiReplyBody,
    /// The methods that there are, where the one that was asked for is none of them.
    pub(crate) allowed: Option<String>,
}

/// The body of an answer of the REST interface.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RestApiReplyBody {
    Document(Value),
    /// Documents that are sent as events, one after the other.
    Events(Vec<Value>),
}

impl RestApiRequest {
    /// Parses the body as one object; an empty body is an empty object.
    ///
    /// # Errors
    ///
    /// The body is no object of JSON, or has too many values; the text says which.
    pub(crate) fn object(&self) -> Result<Map<String, Value>, String> {
        if self.body.iter().all(u8::is_ascii_whitespace) {
            return Ok(Map::new());
        }
        let text = std::str::from_utf8(&self.body).map_err(|_| "the body is no UTF-8")?;
        if has_too_many_values(text) {
            return Err(format!("the body has more than {VALUES_MAX} values; send less at once"));
        }
        match serde_json::from_str(text) {
            Ok(Value::Object(members)) => Ok(members),
            Ok(_) => Err("the body must be an object of JSON".to_owned()),
            Err(error) => Err(format!("the body must be an object of JSON: {error}")),
        }
    }
}
