//! HTTP responses: a status, fields and a body, or the refusal of a request.
//!
//! Every response forbids a browser to guess its type and to show it in a frame, and all but the
//! files of the page to keep it.

use std::borrow::Cow;
use std::fmt::Write;

use serde_json::Value;

use crate::mcp::rpc::{RpcError, error_line};
use crate::text::terminal_safe_json::json_text;

/// Maximum bytes of a request body.
pub(crate) const BODY_BYTES_MAX: usize = crate::mcp::rpc::LINE_BYTES_MAX;

/// The refusal of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HttpError {
    pub(crate) status: u16,
    /// Message for the client, without any of its data but a field's name.
    pub(crate) why: Cow<'static, str>,
}

impl HttpError {
    pub(crate) fn new(status: u16, why: impl Into<Cow<'static, str>>) -> HttpError {
        HttpError { status, why: why.into() }
    }

    /// Returns the refusal of a body that is too large.
    pub(crate) fn too_large() -> HttpError {
        HttpError::new(
            413,
            format!("the body is larger than {BODY_BYTES_MAX} bytes; send less at once"),
        )
    }
}

/// A response with a complete body.
#[derive(Clone, Debug)]
pub(super) struct HttpResponse {
    pub(super) status: u16,
    /// Fields that do not depend on the request.
    general: &'static str,
    fields: Vec<(&'static str, String)>,
    body: String,
}

impl HttpResponse {
    /// Returns a response without a body.
    pub(super) fn empty(status: u16) -> HttpResponse {
        HttpResponse { status, general: API_FIELDS, fields: Vec::new(), body: String::new() }
    }

    /// Returns a response of a file of the page, which adds its own policy.
    pub(super) fn page(status: u16, body: &str) -> HttpResponse {
        let body = body.to_owned();
        HttpResponse { general: PAGE_FIELDS, body, ..HttpResponse::empty(status) }
    }

    /// Returns a response of JSON.
    pub(super) fn json(status: u16, body: impl Into<String>) -> HttpResponse {
        HttpResponse { body: body.into(), ..HttpResponse::empty(status) }
            .with("Content-Type", "application/json")
    }

    /// Returns a response of events, each with a document of JSON.
    pub(super) fn events(status: u16, documents: &[Value]) -> HttpResponse {
        let body = documents.iter().map(|it| format!("data: {}\n\n", json_text(it))).collect();
        HttpResponse { body, ..HttpResponse::empty(status) }
            .with("Content-Type", "text/event-stream")
    }

    /// Returns a response with a JSON-RPC error without an id.
    pub(super) fn fault(status: u16, why: impl Into<String>) -> HttpResponse {
        HttpResponse::json(status, error_line(None, &RpcError::new(RpcError::INVALID_REQUEST, why)))
    }

    /// Adds a field.
    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> HttpResponse {
        self.fields.push((name, value.into()));
        self
    }

    /// Returns the bytes of the body.
    pub(super) fn body_len(&self) -> usize {
        self.body.len()
    }

    /// Returns the whole response as bytes.
    pub(super) fn bytes(&self, common: &str) -> Vec<u8> {
        let mut head = head_of(self.status, self.general, common);
        for (name, value) in &self.fields {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        if !matches!(self.status, 204 | 304) {
            let _ = write!(head, "Content-Length: {}\r\n", self.body.len());
        }
        [head.as_bytes(), b"\r\n", self.body.as_bytes()].concat()
    }
}

impl From<HttpError> for HttpResponse {
    fn from(HttpError { status, why }: HttpError) -> HttpResponse {
        let response = HttpResponse::fault(status, why);
        match status {
            401 => response.with("WWW-Authenticate", "Bearer realm=\"remindb\""),
            503 => response.with("Retry-After", "1"),
            _ => response,
        }
    }
}

/// Fields of all responses but those of the page.
const API_FIELDS: &str = "Cache-Control: no-store\r\n\
                          Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n\
                          Referrer-Policy: no-referrer\r\n\
                          X-Content-Type-Options: nosniff\r\n";
/// Fields of all responses of the page.
const PAGE_FIELDS: &str = "Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\n";

/// Returns the status line and the fields of an answer that is no file of the page.
pub(super) fn start(status: u16, common: &str) -> String {
    head_of(status, API_FIELDS, common)
}

fn head_of(status: u16, general: &str, common: &str) -> String {
    format!("HTTP/1.1 {status} {}\r\n{general}{common}", reason(status))
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        408 => "Request Timeout",
        409 => "Conflict",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        417 => "Expectation Failed",
        422 => "Unprocessable Content",
        431 => "Request Header Fields Too Large",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "Internal Server Error",
    }
}

/// Returns the HTTP status of an answer in the modern era, by its JSON-RPC error code if any.
pub(super) fn status_of(code: Option<i32>) -> u16 {
    match code {
        None => 200,
        Some(RpcError::METHOD_NOT_FOUND) => 404,
        Some(RpcError::INTERNAL_ERROR) => 500,
        Some(_) => 400,
    }
}
