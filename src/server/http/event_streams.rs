//! Serves streams of server-sent events. A session has one by `GET`, a modern subscription is one,
//! and broken streams of a session are resumed here.

use std::io;
use std::time::Duration;

use crossbeam_channel::{Receiver, never, select};

use super::HttpServerState;
use super::exchange::{EventStream, Exchange};
use super::replay_buffer::{EventId, SERVER_STREAM};
use super::response::HttpResponse;
use super::session::{HttpSession, SessionGuard};
use super::session_lookup::open_session;
use crate::mcp::in_flight::CancelByDroppedSender;
use crate::mcp::{Connection, Handler, OutgoingRpcMessageLine};

/// Time between checks of a silent stream. The client may have gone, or be due a sign of life.
const POLL_INTERVAL: Duration = Duration::from_millis(1000);

/// Streams the events of a session.
pub(super) fn stream_session<S: Handler>(
    endpoint: &HttpServerState<S>,
    exchange: &mut Exchange<'_>,
) -> io::Result<()> {
    let (visit, last) = match begin(endpoint, exchange) {
        Ok(begun) => begun,
        Err(response) => return exchange.reply(&response),
    };
    let _place = match endpoint.stream_place() {
        Ok(place) => place,
        Err(refused) => return exchange.reply(&refused.into()),
    };
    let sent = relay_events(endpoint, exchange, &visit.session, last);
    // A session whose stream broke was in use until now.
    visit.end(exchange.timed_stream.now_ms());
    sent
}

fn relay_events<S: Handler>(
    endpoint: &HttpServerState<S>,
    exchange: &mut Exchange<'_>,
    session: &HttpSession,
    last: Option<EventId>,
) -> io::Result<()> {
    let mut events;
    match last {
        Some(last) if last.stream != SERVER_STREAM => {
            events = exchange.stream(None)?;
            resume(endpoint, &mut events, session, last)?;
        }
        last => {
            // Before its client knows that it has the stream: a later stream takes it over.
            let replaced = session.listen();
            events = exchange.stream(None)?;
            relay_server_messages(endpoint, &mut events, session, last, &replaced)?;
        }
    }
    events.end()
}

fn begin<S: Handler>(
    endpoint: &HttpServerState<S>,
    exchange: &Exchange<'_>,
) -> Result<(SessionGuard, Option<EventId>), HttpResponse> {
    let visit = open_session(endpoint, exchange)?;
    let last = exchange.head.one("last-event-id")?;
    Ok((visit, last.and_then(EventId::parse)))
}

/// Sends the events of a broken stream since its last one, to its end.
fn resume<S: Handler>(
    endpoint: &HttpServerState<S>,
    events: &mut EventStream<'_, '_>,
    session: &HttpSession,
    mut last: EventId,
) -> io::Result<()> {
    let wake = session.replay_buffer.wakeups();
    loop {
        let (missed, is_open) = session.replay_buffer.after(last);
        for (id, message) in missed {
            events.send(Some(&id.to_string()), &message)?;
            last = id;
        }
        if !is_open {
            return Ok(());
        }
        select! {
            recv(wake) -> _ => (),
            recv(session.over.over()) -> _ => return Ok(()),
            recv(endpoint.stop.over()) -> _ => return Ok(()),
            default(POLL_INTERVAL) => events.keep_alive(endpoint.limits.keep_alive_ms)?,
        }
    }
}

/// Sends notifications as they come, until the session ends or another stream takes over.
fn relay_server_messages<S: Handler>(
    endpoint: &HttpServerState<S>,
    events: &mut EventStream<'_, '_>,
    session: &HttpSession,
    last: Option<EventId>,
    replaced: &Receiver<CancelByDroppedSender>,
) -> io::Result<()> {
    let mut wake = session.wake.clone();
    if let Some(last) = last {
        for (id, message) in session.replay_buffer.after(last).0 {
            events.send(Some(&id.to_string()), &message)?;
        }
    }
    loop {
        let updates = session.connection().pending_updates(&endpoint.server);
        for line in updates {
            let id = session.replay_buffer.add(SERVER_STREAM, &line.text);
            events.send(Some(&id.to_string()), &line.text)?;
            line.was_written();
        }
        select! {
            recv(wake) -> woken => if woken.is_err() {
                // The sender is gone.
                wake = never();
            },
            recv(session.wakeups) -> _ => (),
            recv(session.over.over()) -> _ => return Ok(()),
            recv(endpoint.stop.over()) -> _ => return Ok(()),
            recv(replaced) -> _ => return Ok(()),
            default(POLL_INTERVAL) => events.keep_alive(endpoint.limits.keep_alive_ms)?,
        }
    }
}

/// Sends the notifications of a modern subscription, acknowledgement first, until the client goes.
pub(super) fn stream_subscriptions<S: Handler>(
    endpoint: &HttpServerState<S>,
    exchange: &mut Exchange<'_>,
    connection: &Connection,
    acknowledgement: OutgoingRpcMessageLine,
) -> io::Result<()> {
    let _place = match endpoint.stream_place() {
        Ok(place) => place,
        Err(refused) => return exchange.reply(&refused.into()),
    };
    let mut events = exchange.stream(None)?;
    let wake = connection.wakeups(&endpoint.server);
    events.send(None, &acknowledgement.text)?;
    acknowledgement.was_written();
    loop {
        for line in connection.pending_updates(&endpoint.server) {
            events.send(None, &line.text)?;
            line.was_written();
        }
        select! {
            recv(wake) -> _ => (),
            recv(endpoint.stop.over()) -> _ => break,
            default(POLL_INTERVAL) => events.keep_alive(endpoint.limits.keep_alive_ms)?,
        }
    }
    for line in connection.end_subscriptions() {
        events.send(None, &line.text)?;
    }
    events.end()
}
