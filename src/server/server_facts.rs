//! Facts about this process that are not in the database, for observers.

use std::io;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::background::rescan::SharedRescanStatus;
use crate::memory::{NamesForUriCompletion, ServerFactKey, ServerStatus};
use crate::model::clock::Clock;
use crate::server::client_presence_and_history::{LiveSession, LiveSessionRegistry};
use crate::server::jsonl_files::{ClientConnectionLedgers, SessionLogs};
use crate::server::recent_log_records::RecentLogRecords;

/// Read handles on the state of this process.
pub(crate) struct ServerFactSource {
    pub(crate) clock: Clock,
    /// The latest scan of the source folder.
    pub(crate) rescan: SharedRescanStatus,
    /// The latest records of the log.
    pub(crate) recent_log: RecentLogRecords,
    /// The connected clients.
    pub(crate) registry: LiveSessionRegistry,
    /// The recorded sessions.
    pub(crate) history: ClientConnectionLedgers,
    /// The session logs, if enabled.
    pub(crate) logs: SessionLogs,
    /// The space, if the memory is shared.
    pub(crate) space: ReplicaStatusFn,
}

/// Tells where a replica stands; `None` where the memory is one file.
pub(crate) type ReplicaStatusFn = Option<Arc<dyn Fn() -> Value + Send + Sync>>;

/// Seconds after its last line during which a session in a ledger may still be there.
const SEEN_S_MAX: i64 = 24 * 60 * 60;

impl ServerFactSource {
    /// Returns the sessions of this process; where it only looks, also those of the servers whose
    /// ledgers it can read.
    fn present(&self) -> io::Result<Vec<LiveSession>> {
        let now = self.clock.now();
        let mut present = self.registry.live_sessions(now);
        if self.registry.is_observer() {
            let since = now.0.div_euclid(1_000).saturating_sub(SEEN_S_MAX);
            present.extend(self.history.unended(since)?.into_iter().map(LiveSession::from));
        }
        Ok(present)
    }
}

impl ServerStatus for ServerFactSource {
    fn fact(&self, fact: ServerFactKey<'_>) -> Result<Option<Value>, String> {
        let unread = |error: io::Error| format!("a file of `.remindb` was not read: {error}");
        Ok(match fact {
            ServerFactKey::Space => Some(self.space.as_ref().map_or(Value::Null, |it| it())),
            ServerFactKey::Rescan => Some(self.rescan.get().to_json()),
            ServerFactKey::Logs => Some(json(&self.recent_log.read())),
            ServerFactKey::Sessions => Some(json(&self.present().map_err(unread)?)),
            ServerFactKey::Clients => Some(json(&self.history.clients().map_err(unread)?)),
            ServerFactKey::Client(hash) => {
                self.history.client(hash).map_err(unread)?.as_ref().map(json)
            }
            ServerFactKey::SessionLogs => Some(json(&self.logs.index().map_err(unread)?)),
            ServerFactKey::SessionLogContents(id) => {
                self.logs.read(id).map_err(unread)?.as_ref().map(json)
            }
        })
    }

    fn is_observer(&self) -> bool {
        self.registry.is_observer()
    }

    fn names(&self, of: NamesForUriCompletion) -> Vec<String> {
        // Unreadable files complete nothing.
        match of {
            NamesForUriCompletion::Clients => {
                self.history.clients().unwrap_or_default().into_iter().map(|it| it.hash).collect()
            }
            NamesForUriCompletion::SessionLogs => {
                self.logs.index().unwrap_or_default().into_iter().map(|it| it.session_id).collect()
            }
        }
    }
}

fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("keys are texts and numbers are finite or null")
}
