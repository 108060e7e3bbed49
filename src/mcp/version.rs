//! The versions of MCP, and the `_meta` of a request.

use serde_json::{Value, json};

use super::error_codes::{code, echo, uri_data, with_data};
use super::{ClientCapabilities, ClientInfo, Severity};
use crate::mcp::rpc::{Params, RpcError};

/// A version of the protocol; later ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Version {
    /// The first version.
    V2024_11_05,
    /// It added annotations.
    V2025_03_26,
    /// It added titles, structured results and their schemas.
    V2025_06_18,
    /// The last one with a handshake.
    V2025_11_25,
    /// The first one without a handshake.
    V2026_07_28,
}

impl Version {
    /// Every version, newest first, as clients see them.
    pub(crate) const ALL: [Version; 5] = [
        Version::V2026_07_28,
        Version::V2025_11_25,
        Version::V2025_06_18,
        Version::V2025_03_26,
        Version::V2024_11_05,
    ];

    /// The version of a handshake in which the client asks for an unknown one.
    pub(crate) const LEGACY_LATEST: Version = Version::V2025_11_25;

    /// Returns the version's name.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Version::V2024_11_05 => "2024-11-05",
            Version::V2025_03_26 => "2025-03-26",
            Version::V2025_06_18 => "2025-06-18",
            Version::V2025_11_25 => "2025-11-25",
            Version::V2026_07_28 => "2026-07-28",
        }
    }

    /// Returns the version of that name.
    pub(crate) fn parse(name: &str) -> Option<Version> {
        Version::ALL.into_iter().find(|version| version.as_str() == name)
    }

    /// Returns whether requests carry their version, without a handshake.
    pub(crate) fn is_modern(self) -> bool {
        Version::V2026_07_28 <= self
    }

    /// Returns the error for an unknown resource; `why` says what is missing.
    pub(super) fn resource_error(self, uri: &str, why: &str) -> RpcError {
        with_data(self.not_found(), format!("resource not found: {why}"), uri_data(uri))
    }

    /// No resource and no template has a URI like this.
    pub(super) fn unknown_uri_error(self, uri: &str) -> RpcError {
        let mut data = uri_data(uri);
        data["code"] = "RESOURCE_NOT_FOUND".into();
        with_data(self.not_found(), format!("Resource URI not recognized: {}", echo(uri)), data)
    }

    fn not_found(self) -> i32 {
        if self.is_modern() { RpcError::INVALID_PARAMS } else { code::NOT_FOUND }
    }
}

/// Returns the error for an unsupported version.
pub(crate) fn unsupported(requested: &str) -> RpcError {
    let message = match Version::parse(requested) {
        Some(_) => "a version before 2026-07-28 is opened with `initialize`, not with `_meta`",
        None => "unsupported protocol version",
    };
    let data = json!({"supported": supported_versions(), "requested": echo(requested)});
    with_data(code::UNSUPPORTED_VERSION, message, data)
}

/// Returns the names of all versions, newest first.
pub(crate) fn supported_versions() -> Value {
    Version::ALL.map(Version::as_str).as_slice().into()
}

/// The `_meta` of a request.
#[derive(Debug, Default)]
pub(crate) struct RequestMeta {
    /// A modern version; `None` when the connection decides.
    pub(crate) version: Option<Version>,
    /// The least severity of log messages to send; only in modern requests.
    pub(crate) level: Option<Severity>,
    /// The token of progress notifications.
    pub(crate) progress_token: Option<Value>,
    /// The client's description of itself; only in modern requests.
    pub(crate) client: Option<ClientInfo>,
    /// The client's capabilities; only in modern requests.
    pub(crate) capabilities: ClientCapabilities,
}

impl RequestMeta {
    const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
    const LEVEL: &str = "io.modelcontextprotocol/logLevel";

    /// Returns whether `_meta` has members of a modern request.
    #[cfg(feature = "http")]
    pub(crate) fn is_in(params: &Params) -> bool {
        let meta = params.get("_meta");
        [RequestMeta::VERSION, RequestMeta::CAPABILITIES]
            .iter()
            .any(|it| meta.is_some_and(|m| m.get(it).is_some()))
    }

    /// Returns the version that `_meta` names, known or not.
    #[cfg(feature = "http")]
    pub(crate) fn version_in(params: &Params) -> Option<&str> {
        params.get("_meta")?.get(RequestMeta::VERSION)?.as_str()
    }

    /// Returns the client's description of itself in a modern request.
    #[cfg(feature = "http")]
    pub(crate) fn client_in(params: &Params) -> Option<&Value> {
        params.get("_meta")?.get(RequestMeta::CLIENT)
    }

    /// Reads `_meta`. If any member of the modern era is present, all of them are checked.
    pub(crate) fn read(params: &Params) -> Result<RequestMeta, RpcError> {
        let meta = match params.get("_meta") {
            None | Some(Value::Null) => return Ok(RequestMeta::default()),
            Some(Value::Object(meta)) => meta,
            Some(_) => {
                return Err(RpcError::new(RpcError::INVALID_PARAMS, "`_meta` must be an object"));
            }
        };
        let progress_token = match meta.get("progressToken") {
            Some(token @ (Value::String(_) | Value::Number(_))) => Some(token.clone()),
            _ => None,
        };
        if !meta.contains_key(RequestMeta::VERSION) && !meta.contains_key(RequestMeta::CAPABILITIES)
        {
            return Ok(RequestMeta { progress_token, ..RequestMeta::default() });
        }
        let Some(Value::String(name)) = meta.get(RequestMeta::VERSION) else {
            return Err(wrong(RequestMeta::VERSION, "a string"));
        };
        let version = match Version::parse(name) {
            Some(version) if version.is_modern() => version,
            _ => return Err(unsupported(name)),
        };
        let Some(capabilities @ Value::Object(_)) = meta.get(RequestMeta::CAPABILITIES) else {
            return Err(wrong(RequestMeta::CAPABILITIES, "an object"));
        };
        let capabilities = ClientCapabilities::read(Some(capabilities));
        let level = match meta.get(RequestMeta::LEVEL) {
            None | Some(Value::Null) => None,
            Some(level) => Some(Severity::read(level)?),
        };
        let client = Some(ClientInfo::read(meta.get(RequestMeta::CLIENT)));
        Ok(RequestMeta { version: Some(version), level, progress_token, client, capabilities })
    }
}

/// Returns the error for a request of unknown era.
pub(crate) fn unknown_era_error() -> RpcError {
    let message = format!(
        "send `initialize` first, or `{}` and `{}` in `_meta` with every request",
        RequestMeta::VERSION,
        RequestMeta::CAPABILITIES
    );
    RpcError::new(RpcError::INVALID_PARAMS, message)
}

fn wrong(key: &str, wanted: &str) -> RpcError {
    RpcError::new(RpcError::INVALID_PARAMS, format!("`{key}` in `_meta` must be {wanted}"))
}
