//! Streams on which news come: `GET` for a session, and a modern request that stays open; and the
//! streams of a session that broke.

use std::io;
use std::time::Duration;

use crossbeam_channel::{Receiver, never, select};

use super::Door;
use super::exchange::{Events, Exchange};
use super::replay_buffer::{EventId, NEWS};
use super::reply::Response;
use super::session::{Session, Visit};
use super::session_lookup::visit;
use crate::mcp::call::Never;
use crate::mcp::{Connection, Line, Surface};

/// How often a silent stream is looked at: whether its client has gone, or waits for a sign.
const LOOK: Duration = Duration::from_millis(1000);

/// Follows a session.
pub(super) fn get<S: Surface>(door: &Door<S>, exchange: &mut Exchange<'_>) -> io::Result<()> {
    let (visit, last) = match begin(door, exchange) {
        Ok(begun) => begun,
        Err(response) => return exchange.reply(&response),
    };
    let _place = match door.stream_place() {
        Ok(place) => place,
        Err(refused) => return exchange.reply(&refused.into()),
    };
    let sent = follow(door, exchange, &visit.session, last);
    // However it ended: a session whose stream broke was in use until now.
    visit.end(exchange.wire.now_ms());
    sent
}

fn follow<S: Surface>(
    door: &Door<S>,
    exchange: &mut Exchange<'_>,
    session: &Session,
    last: Option<EventId>,
) -> io::Result<()> {
    let mut events;
    match last {
        Some(last) if last.stream != NEWS => {
            events = exchange.stream(None)?;
            resume(door, &mut events, session, last)?;
        }
        last => {
            // Before its client knows that it has the stream: whoever comes later takes it over.
            let replaced = session.listen();
            events = exchange.stream(None)?;
            news(door, &mut events, session, last, &replaced)?;
        }
    }
    events.end()
}

fn begin<S: Surface>(
    door: &Door<S>,
    exchange: &Exchange<'_>,
) -> Result<(Visit, Option<EventId>), Response> {
    let visit = visit(door, exchange)?;
    let last = exchange.head.one("last-event-id")?;
    Ok((visit, last.and_then(EventId::parse)))
}

/// Sends what came on a stream since it broke, to its end.
fn resume<S: Surface>(
    door: &Door<S>,
    events: &mut Events<'_, '_>,
    session: &Session,
    mut last: EventId,
) -> io::Result<()> {
    let heard = session.journal.hear();
    loop {
        let (missed, is_open) = session.journal.after(last);
        for (id, message) in missed {
            events.send(Some(&id.to_string()), &message)?;
            last = id;
        }
        if !is_open {
            return Ok(());
        }
        select! {
            recv(heard) -> _ => (),
            recv(session.over.over()) -> _ => return Ok(()),
            recv(door.stop.over()) -> _ => return Ok(()),
            default(LOOK) => events.look(door.limits.keep_alive_ms)?,
        }
    }
}

/// Sends news as they come, until the session ends or another stream takes over.
fn news<S: Surface>(
    door: &Door<S>,
    events: &mut Events<'_, '_>,
    session: &Session,
    last: Option<EventId>,
    replaced: &Receiver<Never>,
) -> io::Result<()> {
    let mut wake = session.wake.clone();
    if let Some(last) = last {
        for (id, message) in session.journal.after(last).0 {
            events.send(Some(&id.to_string()), &message)?;
        }
    }
    loop {
        let news = session.connection().news(&door.server);
        for line in news {
            let id = session.journal.add(NEWS, &line.text);
            events.send(Some(&id.to_string()), &line.text)?;
            line.was_written();
        }
        select! {
            recv(wake) -> rung => if rung.is_err() {
                // Nobody rings any more.
                wake = never();
            },
            recv(session.stirred) -> _ => (),
            recv(session.over.over()) -> _ => return Ok(()),
            recv(door.stop.over()) -> _ => return Ok(()),
            recv(replaced) -> _ => return Ok(()),
            default(LOOK) => events.look(door.limits.keep_alive_ms)?,
        }
    }
}

/// Sends what a modern request subscribed to, from its acknowledgement on, until the client goes.
pub(super) fn listen<S: Surface>(
    door: &Door<S>,
    exchange: &mut Exchange<'_>,
    connection: &Connection,
    acknowledgement: Line,
) -> io::Result<()> {
    let _place = match door.stream_place() {
        Ok(place) => place,
        Err(refused) => return exchange.reply(&refused.into()),
    };
    let mut events = exchange.stream(None)?;
    let wake = connection.wakes(&door.server);
    events.send(None, &acknowledgement.text)?;
    acknowledgement.was_written();
    loop {
        for line in connection.news(&door.server) {
            events.send(None, &line.text)?;
            line.was_written();
        }
        select! {
            recv(wake) -> _ => (),
            recv(door.stop.over()) -> _ => break,
            default(LOOK) => events.look(door.limits.keep_alive_ms)?,
        }
    }
    for line in connection.farewell() {
        events.send(None, &line.text)?;
    }
    events.end()
}
