//! Records the clients' sessions from the events of the engine.
//!
//! The identification of a client may hold secrets as any text does, and is redacted before it is
//! kept. Of a call only the tool, the duration and the sizes of its texts are recorded.

use std::cell::RefCell;

use crate::ingest::redact::Redactor;
use crate::mcp::{Caller, ClientAction, QUIET_TARGET, RequestSeen, ToolCallRecord, Waker};
use crate::model::clock::Millis;
use crate::server::jsonl_log::{SessionHistory, SessionLogRecord, SessionLogs};
use crate::server::sessions::{ChangedSessions, Registry, RequestInfo, SessionClient};

thread_local! {
    /// The session whose call this thread runs.
    static CURRENT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Returns the session whose call this thread runs, if it runs one.
pub(crate) fn current() -> Option<String> {
    // A thread that ends has no such value any more, and may still log.
    CURRENT.try_with(|it| it.borrow().clone()).ok().flatten()
}

/// The destinations of events about clients.
#[derive(Debug)]
pub(crate) struct SessionObserver {
    /// The present sessions.
    pub(crate) registry: Registry,
    /// Woken when the begin or end of a session is not written yet.
    pub(crate) waker: Waker,
    /// The ledgers of the sessions.
    pub(crate) history: SessionHistory,
    /// The session logs.
    pub(crate) logs: SessionLogs,
}

impl SessionObserver {
    /// Records a request.
    pub(crate) fn on_request(&self, seen: &RequestSeen<'_>, redactor: &Redactor, now: Millis) {
        if self.registry.note_request(sight(seen, redactor), now) && self.history.is_kept() {
            self.write_down(now);
        }
    }

    /// Writes the begin of a session before the client is answered. So every answered client is on
    /// record, even if the server dies. If the ledger is locked, a background thread writes it.
    fn write_down(&self, now: Millis) {
        let mut news = self.registry.take_changed(ChangedSessions::Urgent, now);
        let n_news = news.len();
        if self.history.append_at_once(&mut news).is_ok() {
            log::debug!(target: QUIET_TARGET, "sessions written down n={n_news}");
        } else {
            self.registry.put_back(news);
            self.waker.wake();
        }
    }

    /// Records the end of a connection.
    pub(crate) fn on_disconnect(&self, connection: &str, now: Millis) {
        if self.registry.note_disconnect(connection, now) {
            self.waker.wake();
        }
    }

    /// Attributes further log lines of this thread to this caller.
    pub(crate) fn on_call_start(&self, caller: &Caller, redactor: &Redactor) {
        let session = self.registry.id_of(&sight(&caller.seen(), redactor));
        CURRENT.with(|it| *it.borrow_mut() = session);
    }

    /// Records the end of a call.
    pub(crate) fn on_call_end(&self, called: &ToolCallRecord, now: Millis) {
        let ToolCallRecord { tool, payload_bytes, elapsed_ms, failure } = *called;
        let numbers = format!("tool={tool} elapsed_ms={elapsed_ms} payload_bytes={payload_bytes}");
        let (level, line) = match failure {
            None => ("DEBUG", format!("mcp call {numbers}")),
            Some(kind) => ("ERROR", format!("mcp call failed {numbers} kind={kind}")),
        };
        log::debug!("{line}");
        let session = CURRENT.with(|it| it.borrow_mut().take());
        if let Some(session) = session
            && let Err(error) =
                self.logs.append(&session, &SessionLogRecord::new(&line, level, now))
        {
            log::debug!("a session's log was not written: {error}");
        }
    }
}

/// Converts a request for the registry.
fn sight<'a>(seen: &RequestSeen<'a>, redactor: &Redactor) -> RequestInfo<'a> {
    let clean = |text: &str| redactor.scrub(text).text.into_owned();
    let RequestSeen { connection, client, version, act } = *seen;
    RequestInfo {
        connection,
        client: SessionClient {
            name: clean(&client.name),
            title: client.title.as_deref().map(clean),
            version: clean(&client.version),
            protocol: version.as_str().to_owned(),
        },
        is_modern: version.is_modern(),
        calls_tool: act == ClientAction::CallsTool,
    }
}
