//! The errors that MCP adds to those of JSON-RPC.

use serde_json::{Value, json};

use super::ClientCapability;
use crate::mcp::rpc::RpcError;
use crate::text;

/// The codes that MCP defines.
pub(crate) mod code {
    /// There is no such resource (legacy era).
    pub(crate) const NOT_FOUND: i32 = -32002;
    /// A header contradicts the body of the request.
    #[cfg(feature = "http")]
    pub(crate) const HEADER_MISMATCH: i32 = -32020;
    /// The client has not declared a capability that the request needs.
    pub(crate) const MISSING_CAPABILITY: i32 = -32021;
    /// The request's version is not supported.
    pub(crate) const UNSUPPORTED_VERSION: i32 = -32022;
}

/// Characters of a client's text that an error's data repeats.
const ECHO_CHARS_MAX: usize = 2_000;

/// Returns the error for an invalid resource URI; `why` is the reason.
pub(super) fn invalid_uri(uri: &str, why: &str) -> RpcError {
    with_data(RpcError::INVALID_PARAMS, why, uri_data(uri))
}

/// Returns the error for a resource that cannot be read; its data names the code of the reason.
pub(super) fn unread_uri(uri: &str, code: &str, why: &str) -> RpcError {
    let mut data = uri_data(uri);
    data["code"] = code.into();
    with_data(RpcError::INTERNAL_ERROR, why, data)
}

/// Returns the error for a capability that the client has not declared.
pub(super) fn missing_capability(needed: ClientCapability) -> RpcError {
    let name = needed.name();
    let message = format!("this needs a client with the capability `{name}`");
    let data = json!({"requiredCapabilities": {name: {}}});
    with_data(code::MISSING_CAPABILITY, message, data)
}

pub(super) fn uri_data(uri: &str) -> Value {
    json!({"uri": echo(uri)})
}

/// Cuts a client's text for the data of an error.
pub(super) fn echo(sent: &str) -> String {
    text::truncate_chars(sent, ECHO_CHARS_MAX)
}

pub(super) fn with_data(code: i32, message: impl Into<String>, data: Value) -> RpcError {
    RpcError { code, message: message.into(), data: Some(data) }
}
