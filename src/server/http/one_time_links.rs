//! One-time links to the page: each is exchanged once, within a minute, for the token.
//!
//! A link may be read by others where it is printed or opened; the token never is. A refused
//! exchange leaves the link as it is.

use std::fs::File;
use std::io::{self, Read};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Deserialize;

use crate::model::clock::{Clock, Stopwatch, UnixMillis};

/// Milliseconds during which a link can be exchanged.
pub(crate) const LINK_MS: i64 = 60_000;
/// Maximum links that wait for their exchange; one more replaces the oldest.
const LINKS_MAX: usize = 16;
/// Bytes of a secret: 128 random bits.
const SECRET_BYTES: usize = 16;
/// The digits of Base64 for URLs.
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The links of a server that were not exchanged yet.
#[derive(Debug)]
pub(crate) struct OneTimeLinks {
    clock: Clock,
    watch: Stopwatch,
    random: File,
    waiting: Mutex<Vec<OneTimeLink>>,
}

#[derive(Debug)]
struct OneTimeLink {
    once: String,
    /// Times of its making, by a clock that stops while the machine sleeps and by one that may be
    /// set back; the link ends by the first of them.
    made_ms: i64,
    made_at: UnixMillis,
}

/// The body of an exchange.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkExchangeRequest {
    once: String,
}

/// Returns the link in the body of an exchange.
pub(super) fn parse_exchange(body: &[u8]) -> Option<String> {
    serde_json::from_slice(body).ok().map(|it: LinkExchangeRequest| it.once)
}

impl OneTimeLinks {
    /// Returns a server's links, none yet.
    pub(crate) fn new(clock: &Clock) -> io::Result<OneTimeLinks> {
        let (clock, watch) = (clock.clone(), clock.stopwatch());
        let random = File::open("/dev/urandom")?;
        Ok(OneTimeLinks { clock, watch, random, waiting: Mutex::default() })
    }

    /// Returns an unguessable text of 22 characters of Base64 for URLs.
    pub(crate) fn secret(&self) -> io::Result<String> {
        let mut bytes = [0; SECRET_BYTES];
        (&self.random).read_exact(&mut bytes)?;
        let number = u128::from_be_bytes(bytes);
        // 128 bits are 21 digits of six bits, and two bits.
        let digit = |nth: u32| DIGITS[(number >> (6 * nth) & 63) as usize] as char;
        Ok((0..22).map(digit).collect())
    }

    /// Makes a link, and returns its secret.
    pub(crate) fn make(&self) -> io::Result<String> {
        let once = self.secret()?;
        let mut waiting = self.waiting();
        if LINKS_MAX <= waiting.len() {
            waiting.remove(0);
        }
        let (made_ms, made_at) = (self.watch.elapsed_ms(), self.clock.now());
        waiting.push(OneTimeLink { once: once.clone(), made_ms, made_at });
        Ok(once)
    }

    /// Returns whether `once` is a link that can be exchanged, and ends it.
    pub(super) fn take(&self, once: &str) -> bool {
        let (elapsed_ms, now) = (self.watch.elapsed_ms(), self.clock.now());
        let mut waiting = self.waiting();
        waiting.retain(|it| elapsed_ms - it.made_ms < LINK_MS && now.since(it.made_at) < LINK_MS);
        // Each is compared in full, so that the time tells nothing of where they differ.
        let is_it = |it: &OneTimeLink| {
            let differences = it.once.bytes().zip(once.bytes());
            let difference = differences.fold(0, |all, (a, b)| all | (a ^ b));
            it.once.len() == once.len() && std::hint::black_box(difference) == 0
        };
        let n_before = waiting.len();
        waiting.retain(|it| !is_it(it));
        waiting.len() < n_before
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<OneTimeLink>> {
        // Nothing panics while it holds the lock.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
