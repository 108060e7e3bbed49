//! Records the clients' sessions from the events of the engine.
//!
//! The identification of a client may hold secrets as any text does, and is redacted before it is
//! kept. Of a call only the tool, the duration and the sizes of its texts are recorded.

use crate::ingest::redact::Redactor;
use crate::mcp::{
    ClientRequestEvent, NoticeWaker, QUIET_TARGET, ToolCallOrOtherRequest, ToolCallRecord,
};
use crate::model::clock::UnixMillis;
use crate::server::client_presence_and_history::{
    ChangedSessionsToPersist, ClientIdentity, LiveSessionRegistry, ObservedRequest,
};
use crate::server::jsonl_files::{ClientConnectionLedgers, SessionLogRecord, SessionLogs};
use crate::surface::RecordSessions;

/// The destinations of events about clients.
#[derive(Debug)]
pub(crate) struct SessionRecorder {
    /// The present sessions.
    pub(crate) registry: LiveSessionRegistry,
    /// Woken when the begin or end of a session is not written yet.
    pub(crate) waker: NoticeWaker,
    /// The ledgers of the sessions.
    pub(crate) history: ClientConnectionLedgers,
    /// The session logs.
    pub(crate) logs: SessionLogs,
}

impl SessionRecorder {
    /// Writes the begin of a session before the client is answered. So every answered client is on
    /// record, even if the server dies. If the ledger is locked, a background thread writes it.
    fn write_down(&self, now: UnixMillis) {
        let mut news = self.registry.take_changed(ChangedSessionsToPersist::Urgent, now);
        let n_news = news.len();
        if self.history.try_append(&mut news).is_ok() {
            log::debug!(target: QUIET_TARGET, "sessions written down n={n_news}");
        } else {
            self.registry.requeue_entries(news);
            self.waker.wake();
        }
    }
}

impl RecordSessions for SessionRecorder {
    fn on_request(
        &self,
        seen: &ClientRequestEvent<'_>,
        redactor: &Redactor,
        now: UnixMillis,
    ) -> Option<String> {
        let sight = sight(seen, redactor);
        if self.registry.note_request(&sight, now) && self.history.is_kept() {
            self.write_down(now);
        }
        sight.calls_tool.then(|| self.registry.id_of(&sight)).flatten()
    }

    fn on_disconnect(&self, connection: &str, now: UnixMillis) {
        if self.registry.note_disconnect(connection, now) {
            self.waker.wake();
        }
    }

    fn on_call_end(&self, called: &ToolCallRecord<'_>, now: UnixMillis) {
        let ToolCallRecord { session, tool, payload_bytes, elapsed_ms, failure } = *called;
        let numbers = format!("tool={tool} elapsed_ms={elapsed_ms} payload_bytes={payload_bytes}");
        let line = match failure {
            None => format!("mcp call {numbers}"),
            Some(failure) => format!("mcp call failed {numbers} kind={}", failure.kind),
        };
        log::debug!("{line}");
        let level = if failure.is_some() { "ERROR" } else { "DEBUG" };
        let detail = failure.and_then(|it| it.detail.as_deref());
        let lines = detail.map(|it| format!("tool failed tool={tool}: {it}")).into_iter();
        for line in lines.chain([line]) {
            if let Some(session) = session
                && let Err(error) =
                    self.logs.append(session, &SessionLogRecord::new(&line, level, now))
            {
                log::debug!("a session's log was not written: {error}");
            }
        }
    }
}

/// Converts a request for the registry.
fn sight<'a>(seen: &ClientRequestEvent<'a>, redactor: &Redactor) -> ObservedRequest<'a> {
    let clean = |text: &str| redactor.scrub(text).text.into_owned();
    let ClientRequestEvent { connection, client, version, act } = *seen;
    ObservedRequest {
        connection,
        client: ClientIdentity {
            name: clean(&client.name),
            title: client.title.as_deref().map(clean),
            version: clean(&client.version),
            protocol: version.as_str().to_owned(),
        },
        is_modern: version.is_modern(),
        calls_tool: act == ToolCallOrOtherRequest::CallsTool,
    }
}

#[cfg(test)]
mod tests;
