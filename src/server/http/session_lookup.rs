//! Session lookup: the session of the legacy era that a request names by its header.

use super::Door;
use super::exchange::Exchange;
use super::header_check::VERSION_FIELD;
use super::reply::Response;
use super::session::Visit;
use crate::mcp::Surface;
use crate::mcp::errors::unsupported_version;
use crate::mcp::rpc::error_line;
use crate::mcp::version::Version;

/// Finds the session that a request names, or the response that refuses it.
pub(super) fn visit<S: Surface>(
    door: &Door<S>,
    exchange: &Exchange<'_>,
) -> Result<Visit, Response> {
    check_version(exchange)?;
    let Some(id) = exchange.head.one("mcp-session-id")? else {
        let why = "`Mcp-Session-Id` is missing; send `initialize` first, without it, or a request \
                   of 2026-07-28 with its fields and its `_meta`";
        return Err(Response::fault(400, why));
    };
    door.sessions
        .visit(id, exchange.wire.now_ms())
        .ok_or_else(|| Response::fault(404, "there is no such session; send `initialize`"))
}

/// Refuses a legacy request that names an unknown version.
pub(super) fn check_version(exchange: &Exchange<'_>) -> Result<(), Response> {
    match exchange.head.one(VERSION_FIELD)? {
        Some(name) if Version::parse(name).is_none() => {
            let line = error_line(None, &unsupported_version(name));
            Err(Response::json(400, line))
        }
        _ => Ok(()),
    }
}
