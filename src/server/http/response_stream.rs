//! An answer on its way: as one JSON object where nothing else is to be said, as a stream where
//! something comes before it, or where the client takes nothing else.
//!
//! In the modern era a client that goes away has cancelled. In the legacy era it has not: the call
//! goes on, and what comes of it is in the session's journal.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, bounded, never, select};

use super::exchange::{Events, Exchange};
use super::header_check::VERSION_FIELD;
use super::replay_buffer::EventId;
use super::reply::{Refused, Response, status_of};
use super::route::Wants;
use super::session::Session;
use super::{Door, GLANCE_MS, RETRY_MS};
use crate::mcp::rpc::Id;
use crate::mcp::version::Version;
use crate::mcp::{Connection, Job, Line, Surface};
use crate::server::work;

/// Whose call it is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Of<'a> {
    /// A modern request's.
    One(&'a Connection),
    /// That of a session.
    Session(&'a Session),
}

impl Of<'_> {
    /// Cancels this call; those that the session has besides go on.
    fn cancel(self, id: &Id) {
        match self {
            Of::One(connection) => connection.cancel(id),
            Of::Session(session) => session.connection().cancel(id),
        }
    }
}

/// A call that runs on another thread.
struct Running {
    id: Id,
    told: Receiver<Line>,
    done: Receiver<Option<Line>>,
    over: Option<Option<Line>>,
}

enum Heard {
    Line(Line),
    /// It is over, with this reply, or without one when it was cancelled.
    Over(Option<Line>),
    /// Nothing for [`GLANCE_MS`].
    Nothing,
}

impl Running {
    /// What the call says next; its reply comes after all else.
    fn next(&mut self) -> Heard {
        loop {
            if let Ok(line) = self.told.try_recv() {
                return Heard::Line(line);
            }
            if let Some(last) = self.over.take() {
                return Heard::Over(last);
            }
            select! {
                recv(self.told) -> line => match line {
                    Ok(line) => return Heard::Line(line),
                    Err(_) => self.told = never(),
                },
                recv(self.done) -> last => self.over = Some(last.ok().flatten()),
                default(Duration::from_millis(GLANCE_MS)) => return Heard::Nothing,
            }
        }
    }
}

/// Sends an answer that is there, with the id of the session that it opens, if it does.
pub(super) fn say(
    exchange: &mut Exchange<'_>,
    wants: Wants,
    status: u16,
    line: Line,
    session: Option<&str>,
) -> io::Result<()> {
    if wants.json || status != 200 {
        let response = Response::json(status, line.text.as_str());
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

/// Runs a call and sends what comes of it.
pub(super) fn run<S: Surface>(
    door: &Door<S>,
    exchange: &mut Exchange<'_>,
    wants: Wants,
    job: Box<Job>,
    told: Receiver<Line>,
    of: Of<'_>,
) -> io::Result<()> {
    let id = job.id().clone();
    let (sender, done) = bounded(1);
    let (server, clock) = (Arc::clone(&door.server), door.clock.clone());
    let is_running = door.pool.run(move || {
        // Without a receiver the client has gone, and nobody asks for the reply.
        let _ = sender.send(work(&server, &clock, job));
        // The reply goes first, and then the news of what the call did.
        server.hub.wake();
    });
    if !is_running {
        return exchange.reply(&Refused::new(503, "too many calls are running; try again").into());
    }
    let mut running = Running { id, told, done, over: None };
    loop {
        match running.next() {
            Heard::Line(line) if wants.events => {
                return match door.stream_place() {
                    Ok(_place) => stream(door, exchange, running, line, of),
                    Err(refused) => {
                        of.cancel(&running.id);
                        exchange.reply(&refused.into())
                    }
                };
            }
            // The client takes one object only.
            Heard::Line(_) => (),
            Heard::Over(Some(line)) => {
                let status = match of {
                    Of::One(_) => status_of(line.code),
                    Of::Session(_) => 200,
                };
                return say(exchange, wants, status, line, None);
            }
            Heard::Over(None) if door.stop.is_set() => {
                return exchange.reply(&Refused::new(503, "the server ends").into());
            }
            Heard::Over(None) => return exchange.reply(&Response::empty(202)),
            Heard::Nothing => {
                // Of a session, who says nothing more may still wait for the answer.
                if let Of::One(_) = of
                    && exchange.is_gone()
                {
                    of.cancel(&running.id);
                    return Err(ErrorKind::ConnectionAborted.into());
                }
                if door.stop.is_set() {
                    of.cancel(&running.id);
                }
            }
        }
    }
}

/// Sends what a call says as it comes, from `first` on.
fn stream<S: Surface>(
    door: &Door<S>,
    exchange: &mut Exchange<'_>,
    mut running: Running,
    first: Line,
    of: Of<'_>,
) -> io::Result<()> {
    let has_retry = exchange.head.all(VERSION_FIELD).any(|it| {
        let version = Version::parse(it);
        version.is_some_and(|it| Version::V2025_11_25 <= it && !it.is_modern())
    });
    let opened = match of {
        Of::One(_) => None,
        Of::Session(session) => Some(session.journal.open()),
    };
    let _closed = Closed(opened.and_then(|it| match of {
        Of::One(_) => None,
        Of::Session(session) => Some((session, it.stream)),
    }));
    let mut out = Out { events: Some(exchange.stream(None)?), of, opened };
    if let (Some(id), true) = (opened, has_retry) {
        out.write(|events| events.prime(&id.to_string(), RETRY_MS))?;
    }
    out.say(first)?;
    loop {
        match running.next() {
            Heard::Line(line) => out.say(line)?,
            Heard::Over(last) => {
                last.map_or(Ok(()), |line| out.say(line))?;
                return out.events.map_or(Err(ErrorKind::BrokenPipe.into()), Events::end);
            }
            Heard::Nothing => {
                out.write(|events| events.look(door.limits.keep_alive_ms))?;
                if door.stop.is_set() {
                    of.cancel(&running.id);
                }
            }
        }
    }
}

/// Closes a stream in the journal, however it ended.
struct Closed<'a>(Option<(&'a Session, u64)>);

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        if let Some((session, stream)) = self.0 {
            session.journal.close(stream);
        }
    }
}

/// Where the lines of a call go.
struct Out<'e, 'a, 'o> {
    /// `None` once the client has gone.
    events: Option<Events<'e, 'a>>,
    of: Of<'o>,
    opened: Option<EventId>,
}

impl Out<'_, '_, '_> {
    fn say(&mut self, line: Line) -> io::Result<()> {
        let id = match (self.of, self.opened) {
            (Of::Session(session), Some(opened)) => {
                Some(session.journal.add(opened.stream, &line.text).to_string())
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

    /// Writes to the client, if it is still there. That it has gone ends a modern call only.
    fn write(
        &mut self,
        write: impl FnOnce(&mut Events<'_, '_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let Some(events) = &mut self.events else { return Ok(()) };
        let Err(error) = write(events) else { return Ok(()) };
        self.events = None;
        match self.of {
            Of::One(connection) => {
                connection.cancel_all();
                Err(error)
            }
            Of::Session(_) => Ok(()),
        }
    }
}
