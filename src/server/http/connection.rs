//! The life of a connection: request after request, in order, each within its deadlines.

use super::body::Body;
use super::body_share::BodyShare;
use super::connections::Peer;
use super::exchange::Exchange;
use super::head::{Framing, Head};
use super::read_buffer::Inbox;
use super::reply::{Refused, Response};
use super::route::{Route, preflight, route};
use super::timed_stream::{Found, LAST_LINGER_MS, LINGER_MS, Wire};
use super::{Door, post, sse};
use crate::mcp::Surface;

/// Bytes of a body for which there is always room: one large body keeps no small one out.
const SMALL_BYTES: usize = 16 * 1024;

/// Serves a connection to its end.
pub(super) fn serve<S: Surface>(door: &Door<S>, peer: &Peer) {
    let wire = Wire { stream: &peer.stream, watch: &door.watch };
    let mut inbox = Inbox::default();
    // A response is one write; nothing is gained by waiting for more.
    let _ = peer.stream.set_nodelay(true);
    loop {
        peer.waits(wire.now_ms());
        // Whoever ends the server wakes those that wait; this one might have been too late.
        if door.stop.is_set() {
            break;
        }
        let is_kept = match next_head(door, &wire, &mut inbox) {
            Ok(Some(head)) => answer(door, peer, &wire, &mut inbox, &head),
            Ok(None) => false,
            Err(refused) => {
                log::debug!("refused status={} in a head", refused.status);
                let head = Head::default();
                let mut exchange = exchange(door, &wire, &mut inbox, &head);
                let _ = exchange.reply(&refused.into());
                false
            }
        };
        if !is_kept {
            break;
        }
    }
    wire.close(if door.stop.is_set() { LAST_LINGER_MS } else { LINGER_MS });
}

/// Waits for the next head; none when the client has gone, or has had nothing to ask for long.
fn next_head<S: Surface>(
    door: &Door<S>,
    wire: &Wire<'_>,
    inbox: &mut Inbox,
) -> Result<Option<Head>, Refused> {
    let mut has_begun = false;
    let mut deadline_ms = wire.now_ms() + door.limits.idle_ms;
    loop {
        if let Some(head) = inbox.head()? {
            return Ok(Some(head));
        }
        if !has_begun && 0 < inbox.len() {
            has_begun = true;
            deadline_ms = wire.now_ms() + door.limits.head_ms;
        }
        match wire.read(inbox, deadline_ms) {
            Found::Bytes => (),
            Found::Nothing if has_begun => return Err(Refused::new(408, "the head took too long")),
            Found::Nothing | Found::End => return Ok(None),
        }
    }
}

/// Answers a request; whether the connection can be used for another one.
fn answer<S: Surface>(
    door: &Door<S>,
    peer: &Peer,
    wire: &Wire<'_>,
    inbox: &mut Inbox,
    head: &Head,
) -> bool {
    let began_ms = wire.now_ms();
    let mut exchange = exchange(door, wire, inbox, head);
    let sent = match admit(door, &mut exchange) {
        Ok((route, framing)) => match read_body(door, &mut exchange, framing) {
            Ok(Some((body, share))) => {
                peer.is_served();
                respond(door, &mut exchange, route, body, share)
            }
            Ok(None) => return false,
            Err(refused) => {
                exchange.is_kept = false;
                exchange.reply(&refused.into())
            }
        },
        Err(response) => {
            // What was not looked at must not be taken for the next request.
            exchange.is_kept &= head.framing() == Ok(Framing::Empty);
            exchange.reply(&response)
        }
    };
    let (status, took_ms) = (exchange.status, wire.now_ms() - began_ms);
    match status {
        401 | 403 => log::warn!("refused a request status={status}"),
        _ => log::debug!(target: exchange.target, "answered status={status} took_ms={took_ms}"),
    }
    sent.is_ok() && exchange.is_kept
}

fn exchange<'a, S: Surface>(
    door: &Door<S>,
    wire: &'a Wire<'a>,
    inbox: &'a mut Inbox,
    head: &'a Head,
) -> Exchange<'a> {
    let is_kept = head.is_kept() && !head.method.is_empty();
    let write_ms = door.limits.write_ms;
    Exchange {
        wire,
        inbox,
        head,
        origin: None,
        is_kept,
        write_ms,
        status: 0,
        target: module_path!(),
    }
}

/// All that is checked before the body is read.
fn admit<S: Surface>(
    door: &Door<S>,
    exchange: &mut Exchange<'_>,
) -> Result<(Route, Framing), Response> {
    let head = exchange.head;
    exchange.origin = door.guard.origin(head)?;
    let route = route(head, &door.guard)?;
    let framing = head.framing()?;
    if head.all("expect").any(|it| !it.eq_ignore_ascii_case("100-continue")) {
        return Err(Refused::new(417, "the one known `Expect` is `100-continue`").into());
    }
    Ok((route, framing))
}

/// Reads the body; none when the client has gone.
fn read_body<S: Surface>(
    door: &Door<S>,
    exchange: &mut Exchange<'_>,
    framing: Framing,
) -> Result<Option<(Vec<u8>, BodyShare)>, Refused> {
    let mut body = Body::new(framing);
    let mut share = BodyShare::new(&door.n_body_bytes);
    let deadline_ms = exchange.wire.now_ms() + door.limits.body_ms;
    let is_awaited = framing != Framing::Empty && exchange.head.is_current;
    if is_awaited && exchange.inbox.len() == 0 && exchange.head.all("expect").next().is_some() {
        // Who does not get this sends the body anyway, or has gone.
        let _ = exchange.write(b"HTTP/1.1 100 Continue\r\n\r\n");
    }
    loop {
        if exchange.inbox.fill(&mut body)? {
            return Ok(Some((body.bytes, share)));
        }
        let n_bytes = share.grow(body.bytes.len());
        if SMALL_BYTES < body.bytes.len() && door.limits.body_bytes < n_bytes {
            return Err(Refused::new(503, "too much is being sent at once; try again"));
        }
        match exchange.wire.read(exchange.inbox, deadline_ms) {
            Found::Bytes => (),
            Found::Nothing => return Err(Refused::new(408, "the body took too long")),
            Found::End => return Ok(None),
        }
    }
}

fn respond<S: Surface>(
    door: &Door<S>,
    exchange: &mut Exchange<'_>,
    route: Route,
    body: Vec<u8>,
    share: BodyShare,
) -> std::io::Result<()> {
    match route {
        Route::Post(wants) => post::post(door, exchange, wants, body, share),
        Route::Get => sse::get(door, exchange),
        Route::Delete => post::delete(door, exchange),
        Route::Health => exchange.reply(&Response::json(200, r#"{"status":"ok"}"#)),
        Route::Options => {
            let response = preflight(exchange.head, exchange.origin.as_deref());
            exchange.reply(&response)
        }
    }
}
