//! Finds the session of the legacy era that a request names by its header.

use super::HttpServerState;
use super::exchange::Exchange;
use super::header_body_check::VERSION_FIELD;
use super::response::HttpResponse;
use super::session::SessionGuard;
use crate::mcp::Handler;
use crate::mcp::rpc::error_line;
use crate::mcp::version::{Version, unsupported};

/// Returns the session that a request names, or the response that refuses it.
pub(super) fn open_session<S: Handler>(
    endpoint: &HttpServerState<S>,
    exchange: &Exchange<'_>,
) -> Result<SessionGuard, HttpResponse> {
    check_version(exchange)?;
    let Some(id) = exchange.head.one("mcp-session-id")? else {
        let why = "`Mcp-Session-Id` is missing; send `initialize` first, without it, or a request \
                   of 2026-07-28 with its fields and its `_meta`";
        return Err(HttpResponse::fault(400, why));
    };
    endpoint
        .sessions
        .open_session(id, exchange.timed_stream.now_ms())
        .ok_or_else(|| HttpResponse::fault(404, "there is no such session; send `initialize`"))
}

/// Refuses a legacy request that names an unknown version.
pub(super) fn check_version(exchange: &Exchange<'_>) -> Result<(), HttpResponse> {
    match exchange.head.one(VERSION_FIELD)? {
        Some(name) if Version::parse(name).is_none() => {
            let line = error_line(None, &unsupported(name));
            Err(HttpResponse::json(400, line))
        }
        _ => Ok(()),
    }
}
