//! Handles `POST`, one message in either era, and `DELETE`, the end of a session.
//!
//! A modern request is a connection of its own. A legacy one belongs to a session, whose connection
//! is locked while a frame is decoded and not while a call runs.

use std::io;
use std::sync::Arc;

use crossbeam_channel::bounded;
use serde_json::Value;

use super::body_reservation::BodyReservation;
use super::exchange::Exchange;
use super::header_body_check::{check_headers, is_modern, names_modern_version};
use super::response::{HttpError, HttpResponse, status_of};
use super::route::AcceptedMediaTypes;
use super::session::HttpSession;
use super::session_lookup::{check_version, open_session};
use super::{HttpServerState, call_response, event_streams};
use crate::mcp::rpc::{self, Message, Request, RpcError, error_line};
use crate::mcp::version::RequestMeta;
use crate::mcp::{Connection, Handler, Outbox, TransportAction, log_target_of};
use crate::model::identity::ContentHash;

/// Maximum lines of a call that wait to be written.
const LINES_MAX: usize = 16;

/// Handles a message.
pub(super) fn post<S: Handler>(
    endpoint: &HttpServerState<S>,
    exchange: &mut Exchange<'_>,
    wants: AcceptedMediaTypes,
    body: Vec<u8>,
    share: BodyReservation,
) -> io::Result<()> {
    let frame = rpc::parse_frame(&body);
    drop(body);
    let message = match frame {
        None => return exchange.reply(&HttpResponse::fault(400, "the body is empty")),
        Some(Ok(message)) => message,
        Some(Err(refusal)) => {
            let line = error_line(refusal.id.as_ref(), &refusal.fault);
            return exchange.reply(&HttpResponse::json(400, line));
        }
    };
    if let Message::Request(request) = &message {
        exchange.target = log_target_of(request);
    }
    match &message {
        Message::Request(request) if is_modern(exchange.head, &request.params) => {
            modern(endpoint, exchange, wants, message, share)
        }
        // The share stays until the call is over: the body is held as long.
        _ => legacy(endpoint, exchange, wants, message).unwrap_or_else(|it| exchange.reply(&it)),
    }
}

/// Ends a session.
pub(super) fn delete<S: Handler>(
    endpoint: &HttpServerState<S>,
    exchange: &mut Exchange<'_>,
) -> io::Result<()> {
    let response = match open_session(endpoint, exchange) {
        Err(response) => response,
        Ok(visit) => {
            if let Some(session) = endpoint.sessions.remove(&visit.session.id) {
                endpoint.end(&session);
            }
            HttpResponse::empty(204)
        }
    };
    exchange.reply(&response)
}

fn modern<S: Handler>(
    endpoint: &HttpServerState<S>,
    exchange: &mut Exchange<'_>,
    wants: AcceptedMediaTypes,
    message: Message,
    share: BodyReservation,
) -> io::Result<()> {
    let Message::Request(request) = &message else { return Ok(()) };
    let checked =
        check_headers(exchange.head, request, &endpoint.mirrored).and_then(|()| known(request));
    if let Err(fault) = checked {
        log::debug!("refused id={} code={}", request.id.logged(), fault.code);
        let line = error_line(Some(&request.id), &fault);
        return exchange.reply(&HttpResponse::json(status_of(Some(fault.code)), line));
    }
    // Clients of this era are distinguished by their own metadata only.
    let client = RequestMeta::client_in(&request.params).map_or(String::new(), Value::to_string);
    let mut connection = connection(&client);
    let (lines, messages) = bounded(LINES_MAX);
    let step = connection.accept_frame(&endpoint.server, Ok(message), &Outbox::new(lines));
    match step {
        TransportAction::NoReply => exchange.reply(&HttpResponse::empty(202)),
        TransportAction::Reply(line) => {
            call_response::send_line(exchange, wants, status_of(line.code), line, None)
        }
        TransportAction::Listen(line) => {
            drop(share);
            event_streams::stream_subscriptions(endpoint, exchange, &connection, line)
        }
        TransportAction::Run(job) => call_response::run(
            endpoint,
            exchange,
            wants,
            job,
            messages,
            call_response::CallOwner::One(&connection),
        ),
    }
}

/// Refuses requests that only a session has.
fn known(request: &Request) -> Result<(), RpcError> {
    match RequestMeta::is_in(&request.params) {
        true => Ok(()),
        false => Err(crate::mcp::version::unknown_era_error()),
    }
}

fn legacy<S: Handler>(
    endpoint: &HttpServerState<S>,
    exchange: &mut Exchange<'_>,
    wants: AcceptedMediaTypes,
    message: Message,
) -> Result<io::Result<()>, HttpResponse> {
    let has_session = exchange.head.all("mcp-session-id").next().is_some();
    match &message {
        Message::Request(request) if request.method == "initialize" && !has_session => {
            check_version(exchange)?;
            return begin(endpoint, exchange, wants, message);
        }
        // The modern era has no notifications to a server.
        Message::Notification(_) | Message::Ignored
            if !has_session && names_modern_version(exchange.head) =>
        {
            return Ok(exchange.reply(&HttpResponse::empty(202)));
        }
        _ => (),
    }
    let visit = open_session(endpoint, exchange)?;
    let session = Arc::clone(&visit.session);
    if matches!(message, Message::Request(_)) {
        session.note_request_time();
    }
    let (lines, messages) = bounded(LINES_MAX);
    let step = {
        let mut connection = session.connection();
        let step = connection.accept_frame(&endpoint.server, Ok(message), &Outbox::new(lines));
        if connection.take_log_level_change() {
            session.wake_stream();
        }
        step
    };
    let sent = match step {
        TransportAction::NoReply => exchange.reply(&HttpResponse::empty(202)),
        // Only the modern era keeps a request open, and that is not spoken here.
        TransportAction::Reply(line) | TransportAction::Listen(line) => {
            call_response::send_line(exchange, wants, 200, line, None)
        }
        TransportAction::Run(job) => call_response::run(
            endpoint,
            exchange,
            wants,
            job,
            messages,
            call_response::CallOwner::Session(&session),
        ),
    };
    visit.end(exchange.timed_stream.now_ms());
    Ok(sent)
}

/// Opens a session, if the message is a handshake.
fn begin<S: Handler>(
    endpoint: &HttpServerState<S>,
    exchange: &mut Exchange<'_>,
    wants: AcceptedMediaTypes,
    message: Message,
) -> Result<io::Result<()>, HttpResponse> {
    let id = endpoint.sessions.id().map_err(|error| {
        log::error!("cannot make the id of a session: {error}");
        HttpResponse::fault(500, "the server cannot make a session's id; its log says more")
    })?;
    // The id is a secret, and this name of the connection is not.
    let mut connection = connection(&id);
    let (lines, _) = bounded(LINES_MAX);
    let step = connection.accept_frame(&endpoint.server, Ok(message), &Outbox::new(lines));
    let TransportAction::Reply(line) = step else {
        return Err(HttpResponse::fault(400, "this is no handshake"));
    };
    if !connection.is_open() {
        return Err(HttpResponse::json(400, line.text));
    }
    let wake = connection.wakeups(&endpoint.server);
    let session = Arc::new(HttpSession::new(id, connection, wake));
    match endpoint.sessions.add(&session, exchange.timed_stream.now_ms()) {
        Ok(gone) => gone.iter().for_each(|it| endpoint.end(it)),
        Err(()) => {
            endpoint.end(&session);
            return Err(HttpError::new(503, "too many sessions are in use; try again").into());
        }
    }
    Ok(call_response::send_line(exchange, wants, 200, line, Some(&session.id)))
}

/// Returns a connection under a name derived from its identity.
fn connection(of: &str) -> Connection {
    Connection::new(format!("http-{}", ContentHash::of(of)))
}
