//! Who uses the memory: what the engine tells of its clients, noted where it is shown.
//!
//! What clients say of themselves may hold secrets as any text does, and is cleaned before it is
//! kept. Of a call nothing is noted but which tool it was, how long it took and how large its texts
//! were.

use std::cell::RefCell;

use crate::ingest::redact::Redactor;
use crate::mcp::{Act, Bell, Called, Caller, QUIET_TARGET, Seen};
use crate::model::clock::Millis;
use crate::server::jsonl_log::{History, Record, SessionLogs};
use crate::server::sessions::{Client, News, Registry, Sight};

thread_local! {
    /// The session whose call this thread runs.
    static CURRENT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The session whose call this thread runs, if it runs one.
pub(crate) fn current() -> Option<String> {
    // A thread that ends has no such thing any more, and may log still.
    CURRENT.try_with(|it| it.borrow().clone()).ok().flatten()
}

/// Where the news about clients goes.
#[derive(Debug)]
pub(crate) struct Sessions {
    /// Who is there.
    pub(crate) registry: Registry,
    /// Rung when a session began or ended and that is not written down.
    pub(crate) bell: Bell,
    /// Where it is written down that a session began.
    pub(crate) history: History,
    /// What each of them did.
    pub(crate) logs: SessionLogs,
}

impl Sessions {
    /// Takes note of a request.
    pub(crate) fn saw(&self, seen: &Seen<'_>, redactor: &Redactor, now: Millis) {
        if self.registry.saw(sight(seen, redactor), now) && self.history.is_kept() {
            self.write_down(now);
        }
    }

    /// Writes down that a session began before anybody is answered: whoever had an answer is known
    /// for ever, whenever the server dies. If that takes more than a moment, it is left to others.
    fn write_down(&self, now: Millis) {
        let mut news = self.registry.news(News::Urgent, now);
        let n_news = news.len();
        if self.history.append_at_once(&mut news).is_ok() {
            log::debug!(target: QUIET_TARGET, "sessions written down n={n_news}");
        } else {
            self.registry.take_back(news);
            self.bell.ring();
        }
    }

    /// Takes note of the end of a connection.
    pub(crate) fn left(&self, connection: &str, now: Millis) {
        if self.registry.left(connection, now) {
            self.bell.ring();
        }
    }

    /// What is logged on this thread from now on is about this caller.
    pub(crate) fn begins(&self, caller: &Caller, redactor: &Redactor) {
        let session = self.registry.id_of(&sight(&caller.seen(), redactor));
        CURRENT.with(|it| *it.borrow_mut() = session);
    }

    /// Notes a call that is over.
    pub(crate) fn called(&self, called: &Called, now: Millis) {
        let Called { tool, payload_bytes, elapsed_ms, failure } = *called;
        let numbers = format!("tool={tool} elapsed_ms={elapsed_ms} payload_bytes={payload_bytes}");
        let (level, line) = match failure {
            None => ("DEBUG", format!("mcp call {numbers}")),
            Some(kind) => ("ERROR", format!("mcp call failed {numbers} kind={kind}")),
        };
        log::debug!("{line}");
        let session = CURRENT.with(|it| it.borrow_mut().take());
        if let Some(session) = session
            && let Err(error) = self.logs.append(&session, &Record::new(&line, level, now))
        {
            log::debug!("a session's log was not written: {error}");
        }
    }
}

/// A request as the registry knows it.
fn sight<'a>(seen: &Seen<'a>, redactor: &Redactor) -> Sight<'a> {
    let clean = |text: &str| redactor.scrub(text).text.into_owned();
    let Seen { connection, client, version, act } = *seen;
    Sight {
        connection,
        client: Client {
            name: clean(&client.name),
            title: client.title.as_deref().map(clean),
            version: clean(&client.version),
            protocol: version.as_str().to_owned(),
        },
        is_modern: version.is_modern(),
        calls_tool: act == Act::CallsTool,
    }
}
