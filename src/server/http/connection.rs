//! The life of a connection: requests one after the other, each within its deadlines.

use std::sync::Arc;

use crossbeam_channel::bounded;
use serde_json::json;

use super::body_reservation::BodyReservation;
use super::exchange::Exchange;
use super::open_connections::OpenConnection;
use super::read_buffer::ReadBuffer;
use super::request_body::BodyDecoder;
use super::request_head::{BodyFraming, RequestHead};
use super::response::{HttpError, HttpResponse};
use super::route::{Route, plain_request, preflight, route};
use super::timed_stream::{LAST_LINGER_MS, LINGER_MS, ReadOutcome, TimedStream};
use super::{HttpServerState, event_streams, one_time_links, post_and_delete};
use crate::mcp::{Handler, RestApiReply, RestApiReplyBody};
use crate::text::terminal_safe_json::json_text;

/// Bytes of a body for which there is always room: one large body keeps no small one out.
const SMALL_BYTES: usize = 16 * 1024;

/// Serves a connection until it ends.
pub(super) fn serve<S: Handler>(endpoint: &HttpServerState<S>, connection: &OpenConnection) {
    let timed_stream = TimedStream { stream: &connection.stream, watch: &endpoint.watch };
    let mut read_buffer = ReadBuffer::default();
    // A response is one write; nothing is gained by waiting for more.
    let _ = connection.stream.set_nodelay(true);
    loop {
        connection.waits(timed_stream.now_ms());
        // Shutdown wakes the connections that wait; this one might have been too late.
        if endpoint.stop.is_set() {
            break;
        }
        let is_kept = match next_head(endpoint, &timed_stream, &mut read_buffer) {
            Ok(Some(head)) => answer(endpoint, connection, &timed_stream, &mut read_buffer, &head),
            Ok(None) => false,
            Err(refused) => {
                log::debug!("refused status={} in a head", refused.status);
                let head = RequestHead::default();
                let mut exchange = exchange(endpoint, &timed_stream, &mut read_buffer, &head);
                let _ = exchange.reply(&refused.into());
                false
            }
        };
        if !is_kept {
            break;
        }
    }
    timed_stream.close(if endpoint.stop.is_set() { LAST_LINGER_MS } else { LINGER_MS });
}

/// Waits for the next head; `None` when the client has gone, or was idle for long.
fn next_head<S: Handler>(
    endpoint: &HttpServerState<S>,
    timed_stream: &TimedStream<'_>,
    read_buffer: &mut ReadBuffer,
) -> Result<Option<RequestHead>, HttpError> {
    let mut has_begun = false;
    let mut deadline_ms = timed_stream.now_ms() + endpoint.limits.idle_ms;
    loop {
        if let Some(head) = read_buffer.head()? {
            return Ok(Some(head));
        }
        if !has_begun && 0 < read_buffer.len() {
            has_begun = true;
            deadline_ms = timed_stream.now_ms() + endpoint.limits.head_ms;
        }
        match timed_stream.read(read_buffer, deadline_ms) {
            ReadOutcome::Bytes => (),
            ReadOutcome::Nothing if has_begun => {
                return Err(HttpError::new(408, "the head took too long"));
            }
            ReadOutcome::Nothing | ReadOutcome::End => return Ok(None),
        }
    }
}

/// Answers a request; returns whether the connection can be used for another one.
fn answer<S: Handler>(
    endpoint: &HttpServerState<S>,
    connection: &OpenConnection,
    timed_stream: &TimedStream<'_>,
    read_buffer: &mut ReadBuffer,
    head: &RequestHead,
) -> bool {
    let began_ms = timed_stream.now_ms();
    let mut exchange = exchange(endpoint, timed_stream, read_buffer, head);
    let sent = match admit(endpoint, &mut exchange) {
        Ok((route, framing)) => match read_body(endpoint, &mut exchange, framing) {
            Ok(Some((body, share))) => {
                connection.mark_served();
                respond(endpoint, &mut exchange, route, body, share)
            }
            Ok(None) => return false,
            Err(refused) => {
                exchange.is_keep_alive = false;
                exchange.reply(&refused.into())
            }
        },
        Err(response) => {
            // An unread body must not be taken for the next request.
            exchange.is_keep_alive &= head.framing() == Ok(BodyFraming::Empty);
            exchange.reply(&response)
        }
    };
    let (status, took_ms) = (exchange.status, timed_stream.now_ms() - began_ms);
    match status {
        401 | 403 => log::warn!("refused a request status={status}"),
        _ => log::debug!(target: exchange.target, "answered status={status} took_ms={took_ms}"),
    }
    sent.is_ok() && exchange.is_keep_alive
}

fn exchange<'a, S: Handler>(
    endpoint: &HttpServerState<S>,
    timed_stream: &'a TimedStream<'a>,
    read_buffer: &'a mut ReadBuffer,
    head: &'a RequestHead,
) -> Exchange<'a> {
    let is_kept = head.is_keep_alive() && !head.method.is_empty();
    let write_ms = endpoint.limits.write_ms;
    Exchange {
        timed_stream,
        read_buffer,
        head,
        origin: None,
        is_keep_alive: is_kept,
        write_ms,
        status: 0,
        target: module_path!(),
    }
}

/// Checks everything that is checked before the body is read.
fn admit<S: Handler>(
    endpoint: &HttpServerState<S>,
    exchange: &mut Exchange<'_>,
) -> Result<(Route, BodyFraming), HttpResponse> {
    let head = exchange.head;
    exchange.origin = endpoint.guard.origin(head)?;
    let route = route(head, &endpoint.guard)?;
    let framing = head.framing()?;
    if head.all("expect").any(|it| !it.eq_ignore_ascii_case("100-continue")) {
        return Err(HttpError::new(417, "the one known `Expect` is `100-continue`").into());
    }
    Ok((route, framing))
}

/// Reads the body; `None` when the client has gone.
fn read_body<S: Handler>(
    endpoint: &HttpServerState<S>,
    exchange: &mut Exchange<'_>,
    framing: BodyFraming,
) -> Result<Option<(Vec<u8>, BodyReservation)>, HttpError> {
    let mut body = BodyDecoder::new(framing);
    let mut share = BodyReservation::new(&endpoint.n_body_bytes);
    let deadline_ms = exchange.timed_stream.now_ms() + endpoint.limits.body_ms;
    let is_awaited = framing != BodyFraming::Empty && exchange.head.is_current;
    if is_awaited && exchange.read_buffer.len() == 0 && exchange.head.all("expect").next().is_some()
    {
        // A client that misses this sends the body anyway, or has gone.
        let _ = exchange.write(b"HTTP/1.1 100 Continue\r\n\r\n");
    }
    loop {
        if exchange.read_buffer.fill(&mut body)? {
            return Ok(Some((body.bytes, share)));
        }
        let n_bytes = share.grow(body.bytes.len());
        if SMALL_BYTES < body.bytes.len() && endpoint.limits.body_bytes < n_bytes {
            return Err(HttpError::new(503, "too much is being sent at once; try again"));
        }
        match exchange.timed_stream.read(exchange.read_buffer, deadline_ms) {
            ReadOutcome::Bytes => (),
            ReadOutcome::Nothing => return Err(HttpError::new(408, "the body took too long")),
            ReadOutcome::End => return Ok(None),
        }
    }
}

fn respond<S: Handler>(
    endpoint: &HttpServerState<S>,
    exchange: &mut Exchange<'_>,
    route: Route,
    body: Vec<u8>,
    share: BodyReservation,
) -> std::io::Result<()> {
    match route {
        Route::Post(wants) => post_and_delete::post(endpoint, exchange, wants, body, share),
        Route::Get => event_streams::stream_session(endpoint, exchange),
        Route::Delete => post_and_delete::delete(endpoint, exchange),
        Route::Health => exchange.reply(&HttpResponse::json(200, r#"{"status":"ok"}"#)),
        Route::Page(file) => exchange.reply(&file.response(exchange.head)),
        Route::Session => exchange.reply(&token_for_link(endpoint, &body)),
        Route::Plain => {
            let response = plain_answer(endpoint, exchange.head, body);
            exchange.reply(&response)
        }
        Route::Options => {
            let response = preflight(exchange.head, exchange.origin.as_deref());
            exchange.reply(&response)
        }
    }
}

/// Answers a request of the REST interface, on a thread for calls.
fn plain_answer<S: Handler>(
    endpoint: &HttpServerState<S>,
    head: &RequestHead,
    body: Vec<u8>,
) -> HttpResponse {
    let Some(mut request) = plain_request(head) else {
        return HttpResponse::fault(400, "an escape in the target is wrong");
    };
    request.body = body;
    let (sender, receiver) = bounded(1);
    let server = Arc::clone(&endpoint.server);
    // A panic drops the sender, which ends the wait.
    let is_run = endpoint.pool.run(move || drop(sender.send(server.handler.plain(&request))));
    match (is_run, receiver.recv()) {
        (false, _) => HttpError::new(503, "too many calls are running; try again").into(),
        (true, Ok(Some(RestApiReply { status, body, allowed }))) => {
            let response = match body {
                RestApiReplyBody::Document(document) => {
                    HttpResponse::json(status, json_text(&document))
                }
                RestApiReplyBody::Events(events) => HttpResponse::events(status, &events),
            };
            match allowed {
                Some(allowed) => response.with("Allow", allowed),
                None => response,
            }
        }
        (true, Ok(None)) => HttpResponse::fault(404, "there is nothing here; MCP is at /mcp"),
        (true, Err(_)) => HttpResponse::fault(500, "the request failed; the log says more"),
    }
}

/// Exchanges a one-time link for the token.
fn token_for_link<S: Handler>(endpoint: &HttpServerState<S>, body: &[u8]) -> HttpResponse {
    let Some(once) = one_time_links::parse_exchange(body) else {
        return HttpResponse::fault(400, "the body must be {\"once\": \"…\"}, and nothing else");
    };
    match (&endpoint.links, endpoint.guard.bearer()) {
        (Some(links), Some(token)) if links.take(&once) => {
            HttpResponse::json(200, json!({"token": token}).to_string())
        }
        _ => {
            let why = "the link is unknown, used or older than a minute; press Enter in the \
                       terminal of the server for a new one";
            HttpError::new(401, why).into()
        }
    }
}
