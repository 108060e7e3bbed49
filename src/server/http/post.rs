//! `POST`: one message, in either era; and `DELETE`, the end of a session.
//!
//! A modern request is a connection of its own. A legacy one belongs to a session, whose connection
//! is held while a frame is understood and not while a call runs.

use std::io;
use std::sync::Arc;

use crossbeam_channel::bounded;
use serde_json::Value;

use super::body_share::BodyShare;
use super::exchange::Exchange;
use super::header_check::{check, is_modern, says_modern};
use super::reply::{Refused, Response, status_of};
use super::route::Wants;
use super::session::Session;
use super::session_lookup::{check_version, visit};
use super::{Door, response_stream, sse};
use crate::mcp::rpc::{self, Fault, Message, Request, error_line};
use crate::mcp::version::Meta;
use crate::mcp::{Connection, Outbox, Step, Surface, target_of};
use crate::model::identity::ContentHash;

/// Lines of a call that wait to be written.
const LINES_MAX: usize = 16;

/// Takes a message.
pub(super) fn post<S: Surface>(
    door: &Door<S>,
    exchange: &mut Exchange<'_>,
    wants: Wants,
    body: Vec<u8>,
    share: BodyShare,
) -> io::Result<()> {
    let frame = rpc::parse(&body);
    drop(body);
    let message = match frame {
        None => return exchange.reply(&Response::fault(400, "the body is empty")),
        Some(Ok(message)) => message,
        Some(Err(refusal)) => {
            let line = error_line(refusal.id.as_ref(), &refusal.fault);
            return exchange.reply(&Response::json(400, line));
        }
    };
    if let Message::Request(request) = &message {
        exchange.target = target_of(request);
    }
    match &message {
        Message::Request(request) if is_modern(exchange.head, &request.params) => {
            modern(door, exchange, wants, message, share)
        }
        // The share stays until the call is over: what was sent is held as long.
        _ => legacy(door, exchange, wants, message).unwrap_or_else(|it| exchange.reply(&it)),
    }
}

/// Ends a session.
pub(super) fn delete<S: Surface>(door: &Door<S>, exchange: &mut Exchange<'_>) -> io::Result<()> {
    let response = match visit(door, exchange) {
        Err(response) => response,
        Ok(visit) => {
            if let Some(session) = door.sessions.remove(&visit.session.id) {
                door.end(&session);
            }
            Response::empty(204)
        }
    };
    exchange.reply(&response)
}

fn modern<S: Surface>(
    door: &Door<S>,
    exchange: &mut Exchange<'_>,
    wants: Wants,
    message: Message,
    share: BodyShare,
) -> io::Result<()> {
    let Message::Request(request) = &message else { return Ok(()) };
    let checked = check(exchange.head, request, &door.marked).and_then(|()| known(request));
    if let Err(fault) = checked {
        log::debug!("refused id={} code={}", request.id.logged(), fault.code);
        let line = error_line(Some(&request.id), &fault);
        return exchange.reply(&Response::json(status_of(Some(fault.code)), line));
    }
    // Who sends it is all that tells one client of this era from another.
    let client = Meta::client_in(&request.params).map_or(String::new(), Value::to_string);
    let mut connection = connection(&client);
    let (lines, told) = bounded(LINES_MAX);
    let step = connection.accept(&door.server, Ok(message), &Outbox::new(lines));
    match step {
        Step::Quiet => exchange.reply(&Response::empty(202)),
        Step::Say(line) => response_stream::say(exchange, wants, status_of(line.code), line, None),
        Step::Listen(line) => {
            drop(share);
            sse::listen(door, exchange, &connection, line)
        }
        Step::Run(job) => response_stream::run(
            door,
            exchange,
            wants,
            job,
            told,
            response_stream::Of::One(&connection),
        ),
    }
}

/// Refuses what only a session knows.
fn known(request: &Request) -> Result<(), Fault> {
    match Meta::is_in(&request.params) {
        true => Ok(()),
        false => Err(crate::mcp::version::neither_era()),
    }
}

fn legacy<S: Surface>(
    door: &Door<S>,
    exchange: &mut Exchange<'_>,
    wants: Wants,
    message: Message,
) -> Result<io::Result<()>, Response> {
    let has_session = exchange.head.all("mcp-session-id").next().is_some();
    match &message {
        Message::Request(request) if request.method == "initialize" && !has_session => {
            check_version(exchange)?;
            return begin(door, exchange, wants, message);
        }
        // Nothing in the modern era is told to a server without asking for a reply.
        Message::Notification(_) | Message::Idle if !has_session && says_modern(exchange.head) => {
            return Ok(exchange.reply(&Response::empty(202)));
        }
        _ => (),
    }
    let visit = visit(door, exchange)?;
    let session = Arc::clone(&visit.session);
    if matches!(message, Message::Request(_)) {
        session.is_asked();
    }
    let (lines, told) = bounded(LINES_MAX);
    let step = {
        let mut connection = session.connection();
        let step = connection.accept(&door.server, Ok(message), &Outbox::new(lines));
        if connection.begins_to_listen() {
            session.stir();
        }
        step
    };
    let sent = match step {
        Step::Quiet => exchange.reply(&Response::empty(202)),
        // Only the modern era keeps a request open, and that is not spoken here.
        Step::Say(line) | Step::Listen(line) => {
            response_stream::say(exchange, wants, 200, line, None)
        }
        Step::Run(job) => response_stream::run(
            door,
            exchange,
            wants,
            job,
            told,
            response_stream::Of::Session(&session),
        ),
    };
    visit.end(exchange.wire.now_ms());
    Ok(sent)
}

/// Opens a session, if the handshake is one.
fn begin<S: Surface>(
    door: &Door<S>,
    exchange: &mut Exchange<'_>,
    wants: Wants,
    message: Message,
) -> Result<io::Result<()>, Response> {
    let id = door.sessions.id().map_err(|error| {
        log::error!("cannot make the id of a session: {error}");
        Response::fault(500, "the server cannot make a session's id; its log says more")
    })?;
    // The id is a secret, and this name of the connection is not.
    let mut connection = connection(&id);
    let (lines, _) = bounded(LINES_MAX);
    let step = connection.accept(&door.server, Ok(message), &Outbox::new(lines));
    let Step::Say(line) = step else { return Err(Response::fault(400, "this is no handshake")) };
    if !connection.is_open() {
        return Err(Response::json(400, line.text));
    }
    let wake = connection.wakes(&door.server);
    let session = Arc::new(Session::new(id, connection, wake));
    match door.sessions.add(&session, exchange.wire.now_ms()) {
        Ok(gone) => gone.iter().for_each(|it| door.end(it)),
        Err(()) => {
            door.end(&session);
            return Err(Refused::new(503, "too many sessions are in use; try again").into());
        }
    }
    Ok(response_stream::say(exchange, wants, 200, line, Some(&session.id)))
}

/// A connection under the name that belongs to what tells it from others.
fn connection(of: &str) -> Connection {
    Connection::new(format!("http-{}", ContentHash::of(of)))
}
