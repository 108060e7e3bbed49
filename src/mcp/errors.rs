//! The errors that MCP adds to those of JSON-RPC.

use serde_json::{Value, json};

use super::version::supported_versions;
use super::{Capability, Version};
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

/// Characters of a URI that an error repeats for programs.
const URI_CHARS_MAX: usize = 2_000;

/// The refusal of a version.
pub(crate) fn unsupported_version(requested: &str) -> RpcError {
    let message = match Version::parse(requested) {
        Some(_) => "a version before 2026-07-28 is opened with `initialize`, not with `_meta`",
        None => "unsupported protocol version",
    };
    let requested = text::truncate_chars(requested, URI_CHARS_MAX);
    let data = json!({"supported": supported_versions(), "requested": requested});
    with_data(code::UNSUPPORTED_VERSION, message, data)
}

/// There is no resource of this URI; `why` says what is missing.
pub(super) fn resource_not_found(version: Version, uri: &str, why: &str) -> RpcError {
    let code = if version.is_modern() { RpcError::PARAMS } else { code::NOT_FOUND };
    with_data(code, format!("resource not found: {why}"), uri_data(uri))
}

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

fn uri_data(uri: &str) -> Value {
    json!({"uri": text::truncate_chars(uri, URI_CHARS_MAX)})
}

fn with_data(code: i32, message: impl Into<String>, data: Value) -> RpcError {
    RpcError { code, message: message.into(), data: Some(data) }
}
