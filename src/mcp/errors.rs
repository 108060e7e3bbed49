//! The errors that MCP adds to those of JSON-RPC.

use serde_json::{Value, json};

use super::Capability;
use crate::mcp::rpc::RpcError;
use crate::text;

/// The codes that MCP defines.
pub(crate) mod code {
    /// There is no such resource, in the legacy era.
    pub(crate) const NOT_FOUND: i32 = -32002;
    /// A header and the body of one request contradict each other.
    #[cfg(feature = "http")]
    pub(crate) const HEADER_MISMATCH: i32 = -32020;
    /// The request needs what the client has not said that it can.
    pub(crate) const MISSING_CAPABILITY: i32 = -32021;
    /// The request is in a version that is not spoken here.
    pub(crate) const UNSUPPORTED_VERSION: i32 = -32022;
}

/// Characters of what a client sent that an error repeats for programs.
const ECHO_CHARS_MAX: usize = 2_000;

/// The URI of a resource makes no sense; `why` says how.
pub(super) fn invalid_uri(uri: &str, why: &str) -> RpcError {
    with_data(RpcError::PARAMS, why, uri_data(uri))
}

/// The request needs what the client has not said that it can.
pub(super) fn missing_capability(needed: Capability) -> RpcError {
    let name = needed.name();
    let message = format!("this needs a client with the capability `{name}`");
    let data = json!({"requiredCapabilities": {name: {}}});
    with_data(code::MISSING_CAPABILITY, message, data)
}

pub(super) fn uri_data(uri: &str) -> Value {
    json!({"uri": echo(uri)})
}

/// As much of what a client sent as an error repeats for programs.
pub(super) fn echo(sent: &str) -> String {
    text::truncate_chars(sent, ECHO_CHARS_MAX)
}

pub(super) fn with_data(code: i32, message: impl Into<String>, data: Value) -> RpcError {
    RpcError { code, message: message.into(), data: Some(data) }
}
