//! Routes a request by its head alone, so that unwanted bodies are never read.

use super::access_control::AccessRules;
use super::page::{self, PAGE_METHODS, PageFile};
use super::request_head::{BodyFraming, RequestHead};
use super::response::{HttpError, HttpResponse};
use crate::mcp::RestApiRequest;

/// The only path of MCP.
const ENDPOINT: &str = "/mcp";
/// The path of the health check, open to all that the guard admits.
const HEALTH: &str = "/health";
/// The beginning of the paths of the REST interface.
const PLAIN: &str = "/api/v1/";
/// The path where a one-time link is exchanged for the token.
const SESSION: &str = "/session";

/// The route of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// A message of a client.
    Post(AcceptedMediaTypes),
    /// The stream of a session.
    Get,
    /// The end of a session.
    Delete,
    Health,
    /// A file of the page.
    Page(&'static PageFile),
    /// The exchange of a one-time link for the token.
    Session,
    /// The REST interface; the handler knows its paths and methods.
    Plain,
    /// The preflight request of a browser.
    Options,
}

/// The forms of an answer that a client accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AcceptedMediaTypes {
    pub(super) json: bool,
    pub(super) events: bool,
}

/// Returns the route of a request, if it is allowed.
pub(super) fn route(head: &RequestHead, guard: &AccessRules) -> Result<Route, HttpResponse> {
    let (allowed, route) = match (head.path(), head.method.as_str()) {
        (ENDPOINT | HEALTH | "*", "OPTIONS") => return Ok(Route::Options),
        (HEALTH, "GET" | "HEAD") => (HEALTH_METHODS, Some(Route::Health)),
        (HEALTH, _) => (HEALTH_METHODS, None),
        (ENDPOINT, "POST") => (MCP_METHODS, Some(Route::Post(accepted_forms(head)))),
        (ENDPOINT, "GET") => (MCP_METHODS, Some(Route::Get)),
        (ENDPOINT, "DELETE") => (MCP_METHODS, Some(Route::Delete)),
        (ENDPOINT, _) => (MCP_METHODS, None),
        (path, "OPTIONS") if path.starts_with(PLAIN) => return Ok(Route::Options),
        (path, _) if path.starts_with(PLAIN) => ("", Some(Route::Plain)),
        (SESSION, "POST") => ("POST", Some(Route::Session)),
        (SESSION, _) => ("POST", None),
        (path, method) => match (page::file_at(path), method) {
            (Some(file), "GET" | "HEAD") => (PAGE_METHODS, Some(Route::Page(file))),
            (Some(_), _) => (PAGE_METHODS, None),
            (None, _) => {
                let why = "there is nothing here; MCP is at /mcp and the page at /";
                return Err(HttpResponse::fault(404, why));
            }
        },
    };
    let Some(route) = route else {
        let why = format!("the method is not allowed; there are: {allowed}");
        return Err(HttpResponse::fault(405, why).with("Allow", allowed));
    };
    match route {
        Route::Health | Route::Page(_) => (),
        // The link is what it needs.
        Route::Session => check_content_type(head)?,
        _ => guard.token(head)?,
    }
    match route {
        Route::Post(wants) => {
            check_content_type(head)?;
            if !wants.json && !wants.events {
                let why = "`Accept` must have application/json and text/event-stream";
                return Err(HttpError::new(406, why).into());
            }
        }
        // A form of another site can send text, and no JSON.
        Route::Plain if has_plain_body(head)? => check_content_type(head)?,
        Route::Get if !accepted_forms(head).events => {
            return Err(HttpError::new(406, "`Accept` must have text/event-stream").into());
        }
        _ => (),
    }
    Ok(route)
}

/// Returns whether a request of the REST interface has a body, or says that it has a type.
fn has_plain_body(head: &RequestHead) -> Result<bool, HttpError> {
    let takes_body = matches!(head.method.as_str(), "POST" | "PUT" | "PATCH");
    let is_empty = head.framing() == Ok(BodyFraming::Empty) && head.one("content-type")?.is_none();
    Ok(takes_body && !is_empty)
}

const HEALTH_METHODS: &str = "GET, HEAD, OPTIONS";
const MCP_METHODS: &str = "GET, POST, DELETE, OPTIONS";
const PLAIN_METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

/// Returns the answer to a preflight request.
pub(super) fn preflight(head: &RequestHead, origin: Option<&str>) -> HttpResponse {
    let methods = if head.path().starts_with(PLAIN) { PLAIN_METHODS } else { MCP_METHODS };
    let response = HttpResponse::empty(204).with("Allow", methods);
    if origin.is_none() {
        return response;
    }
    let mut fields = "Accept, Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, \
                      Mcp-Method, Mcp-Name, Mcp-Session-Id"
        .to_owned();
    let asked = head.all("access-control-request-headers").flat_map(|it| it.split(','));
    for field in asked.map(|it| it.trim().to_ascii_lowercase()) {
        let is_token = field.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-');
        if field.starts_with("mcp-param-") && is_token {
            fields += &format!(", {field}");
        }
    }
    response
        .with("Access-Control-Allow-Methods", methods)
        .with("Access-Control-Allow-Headers", fields)
        .with("Access-Control-Max-Age", "600")
}

/// Reads a request of the REST interface by its head; `None` where an escape in it is wrong.
pub(crate) fn plain_request(head: &RequestHead) -> Option<RestApiRequest> {
    let target = head.target.split_once('?').map_or("", |(_, query)| query);
    let target = target.split('#').next().unwrap_or_default();
    let path = head.path().strip_prefix(PLAIN)?.split('/').map(|it| unescape(it, '/'));
    let pairs = target.split('&').filter(|it| !it.is_empty()).map(|it| {
        let (name, value) = it.split_once('=').unwrap_or((it, ""));
        Some((unescape(name, '+')?, unescape(value, '+')?))
    });
    Some(RestApiRequest {
        method: head.method.clone(),
        path: path.collect::<Option<_>>()?,
        query: pairs.collect::<Option<_>>()?,
        body: Vec::new(),
    })
}

/// Decodes `%XX`; `blank` stands for a blank, where it occurs.
fn unescape(text: &str, blank: char) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                let digits = std::str::from_utf8(&digits).ok()?;
                u8::from_str_radix(digits, 16).ok()?
            }
            byte if char::from(byte) == blank => b' ',
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok().filter(|it| !it.contains('\0'))
}

fn check_content_type(head: &RequestHead) -> Result<(), HttpError> {
    let given = head.one("content-type")?.unwrap_or_default();
    let kind = given.split(';').next().unwrap_or_default().trim();
    match kind.eq_ignore_ascii_case("application/json") {
        true => Ok(()),
        false => Err(HttpError::new(415, "`Content-Type` must be application/json")),
    }
}

/// Parses `Accept`; a client without it accepts anything.
fn accepted_forms(head: &RequestHead) -> AcceptedMediaTypes {
    let mut wants = AcceptedMediaTypes { json: false, events: false };
    let mut is_given = false;
    for range in head.all("accept").flat_map(|it| it.split(',')) {
        is_given = true;
        let mut parts = range.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
        let is_refused = parts.any(|it| {
            let quality = it.strip_prefix("q=").or_else(|| it.strip_prefix("Q="));
            quality.is_some_and(|it| it.parse::<f32>() == Ok(0.0))
        });
        let is_json = matches!(kind.as_str(), "application/json" | "application/*" | "*/*");
        let is_events = matches!(kind.as_str(), "text/event-stream" | "text/*" | "*/*");
        wants.json |= is_json && !is_refused;
        wants.events |= is_events && !is_refused;
    }
    if is_given { wants } else { AcceptedMediaTypes { json: true, events: true } }
}
