//! Sends the answer to a call, as one JSON object or as a stream. It is a stream if messages come
//! before it, or if the client accepts nothing else.
//!
//! In the modern era a client that disconnects has cancelled. In the legacy era it has not: the
//! call goes on, and its events are in the session's replay buffer.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, bounded, never, select};

use super::exchange::{EventStream, Exchange};
use super::header_body_check::VERSION_FIELD;
use super::replay_buffer::EventId;
use super::response::{HttpError, HttpResponse, status_of};
use super::route::AcceptedMediaTypes;
use super::session::HttpSession;
use super::{GLANCE_MS, HttpServerState, RETRY_MS};
use crate::mcp::rpc::RequestId;
use crate::mcp::version::Version;
use crate::mcp::{Connection, Handler, OutgoingRpcMessageLine, QueuedRequest};
use crate::server::work;

/// The owner of a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum CallOwner<'a> {
    /// A modern request.
    One(&'a Connection),
    /// A session.
    Session(&'a HttpSession),
}

impl CallOwner<'_> {
    /// Cancels this call; other calls of the session go on.
    fn cancel(self, id: &RequestId) {
        match self {
            CallOwner::One(connection) => connection.cancel(id),
            CallOwner::Session(session) => session.connection().cancel(id),
        }
    }
}

/// A call that runs on another thread.
struct RunningCall {
    id: RequestId,
    messages: Receiver<OutgoingRpcMessageLine>,
    done: Receiver<Option<OutgoingRpcMessageLine>>,
    over: Option<Option<OutgoingRpcMessageLine>>,
}

enum CallEvent {
    Line(OutgoingRpcMessageLine),
    /// The call is over, with this reply, or without one when it was cancelled.
    Finished(Option<OutgoingRpcMessageLine>),
    /// Nothing for [`GLANCE_MS`].
    Nothing,
}

impl RunningCall {
    /// Returns the next event of the call; its reply comes last.
    fn next(&mut self) -> CallEvent {
        loop {
            if let Ok(line) = self.messages.try_recv() {
                return CallEvent::Line(line);
            }
            if let Some(last) = self.over.take() {
                return CallEvent::Finished(last);
            }
            select! {
                recv(self.messages) -> line => match line {
                    Ok(line) => return CallEvent::Line(line),
                    Err(_) => self.messages = never(),
                },
                recv(self.done) -> last => self.over = Some(last.ok().flatten()),
                default(Duration::from_millis(GLANCE_MS)) => return CallEvent::Nothing,
            }
        }
    }
}

/// Sends a complete answer, with the id of the session that it opens, if any.
pub(super) fn send_line(
    exchange: &mut Exchange<'_>,
    wants: AcceptedMediaTypes,
    status: u16,
    line: OutgoingRpcMessageLine,
    session: Option<&str>,
) -> io::Result<()> {
    if wants.json || status != 200 {
        let response = HttpResponse::json(status, line.text.as_str());
        exchange.reply(&match session {
            Some(id) => response.with("Mcp-Session-Id", id),
            None => response,
        })?;
    } else {
        let mut events = exchange.stream(session)?;
        events.send(None, &line.text)?;
        events.end()?;
    }
    line.was_written();
    Ok(())
}

/// Runs a call and sends its answer.
pub(super) fn run<S: Handler>(
    endpoint: &HttpServerState<S>,
    exchange: &mut Exchange<'_>,
    wants: AcceptedMediaTypes,
    job: Box<QueuedRequest>,
    messages: Receiver<OutgoingRpcMessageLine>,
    of: CallOwner<'_>,
) -> io::Result<()> {
    let id = job.id().clone();
    let (sender, done) = bounded(1);
    let (server, clock) = (Arc::clone(&endpoint.server), endpoint.clock.clone());
    let is_running = endpoint.pool.run(move || {
        // Without a receiver the client has gone, and nobody waits for the reply.
        let _ = sender.send(work(&server, &clock, job));
        // The reply goes first, and then the notifications of the changes that the call made.
        server.hub.wake();
    });
    if !is_running {
        return exchange
            .reply(&HttpError::new(503, "too many calls are running; try again").into());
    }
    let mut running = RunningCall { id, messages, done, over: None };
    loop {
        match running.next() {
            CallEvent::Line(line) if wants.events => {
                return match endpoint.stream_place() {
                    Ok(_place) => stream(endpoint, exchange, running, line, of),
                    Err(refused) => {
                        of.cancel(&running.id);
                        exchange.reply(&refused.into())
                    }
                };
            }
            // The client accepts one object only.
            CallEvent::Line(_) => (),
            CallEvent::Finished(Some(line)) => {
                let status = match of {
                    CallOwner::One(_) => status_of(line.code),
                    CallOwner::Session(_) => 200,
                };
                return send_line(exchange, wants, status, line, None);
            }
            CallEvent::Finished(None) if endpoint.stop.is_set() => {
                return exchange.reply(&HttpError::new(503, "the server ends").into());
            }
            CallEvent::Finished(None) => return exchange.reply(&HttpResponse::empty(202)),
            CallEvent::Nothing => {
                // A session's client that has closed its end may still wait for the answer.
                if let CallOwner::One(_) = of
                    && exchange.is_gone()
                {
                    of.cancel(&running.id);
                    return Err(ErrorKind::ConnectionAborted.into());
                }
                if endpoint.stop.is_set() {
                    of.cancel(&running.id);
                }
            }
        }
    }
}

/// Sends the messages of a call as they come, from `first` on.
fn stream<S: Handler>(
    endpoint: &HttpServerState<S>,
    exchange: &mut Exchange<'_>,
    mut running: RunningCall,
    first: OutgoingRpcMessageLine,
    of: CallOwner<'_>,
) -> io::Result<()> {
    let has_retry = exchange.head.all(VERSION_FIELD).any(|it| {
        let version = Version::parse(it);
        version.is_some_and(|it| Version::V2025_11_25 <= it && !it.is_modern())
    });
    let opened = match of {
        CallOwner::One(_) => None,
        CallOwner::Session(session) => Some(session.replay_buffer.open()),
    };
    let _closed = ReplayStreamCloser(opened.and_then(|it| match of {
        CallOwner::One(_) => None,
        CallOwner::Session(session) => Some((session, it.stream)),
    }));
    let mut out = CallEventStreamSink { events: Some(exchange.stream(None)?), of, opened };
    if let (Some(id), true) = (opened, has_retry) {
        out.write(|events| events.prime(&id.to_string(), RETRY_MS))?;
    }
    out.send_line(first)?;
    loop {
        match running.next() {
            CallEvent::Line(line) => out.send_line(line)?,
            CallEvent::Finished(last) => {
                last.map_or(Ok(()), |line| out.send_line(line))?;
                return out.events.map_or(Err(ErrorKind::BrokenPipe.into()), EventStream::end);
            }
            CallEvent::Nothing => {
                out.write(|events| events.keep_alive(endpoint.limits.keep_alive_ms))?;
                if endpoint.stop.is_set() {
                    of.cancel(&running.id);
                }
            }
        }
    }
}

/// Closes a stream in the replay buffer, however it ended.
struct ReplayStreamCloser<'a>(Option<(&'a HttpSession, u64)>);

impl Drop for ReplayStreamCloser<'_> {
    fn drop(&mut self) {
        if let Some((session, stream)) = self.0 {
            session.replay_buffer.close(stream);
        }
    }
}

/// The sink of a call's lines.
struct CallEventStreamSink<'e, 'a, 'o> {
    /// `None` once the client has gone.
    events: Option<EventStream<'e, 'a>>,
    of: CallOwner<'o>,
    opened: Option<EventId>,
}

impl CallEventStreamSink<'_, '_, '_> {
    fn send_line(&mut self, line: OutgoingRpcMessageLine) -> io::Result<()> {
        let id = match (self.of, self.opened) {
            (CallOwner::Session(session), Some(opened)) => {
                Some(session.replay_buffer.add(opened.stream, &line.text).to_string())
            }
            _ => None,
        };
        let was_there = self.events.is_some();
        self.write(|events| events.send(id.as_deref(), &line.text))?;
        if was_there && self.events.is_some() {
            line.was_written();
        }
        Ok(())
    }

    /// Writes to the client, if it is still connected. Only a modern call ends when it is not.
    fn write(
        &mut self,
        write: impl FnOnce(&mut EventStream<'_, '_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let Some(events) = &mut self.events else { return Ok(()) };
        let Err(error) = write(events) else { return Ok(()) };
        self.events = None;
        match self.of {
            CallOwner::One(connection) => {
                connection.cancel_all();
                Err(error)
            }
            CallOwner::Session(_) => Ok(()),
        }
    }
}
