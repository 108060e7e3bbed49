//! What this process knows beside the database, for those who watch: read halves, asked one fact at
//! a time.

use serde::Serialize;
use serde_json::Value;

use super::background::rescan::Latest;
use crate::memory::{Fact, Named, Process};
use crate::model::clock::Clock;
use crate::server::jsonl_log::{History, SessionLogs};
use crate::server::log_buffer::Ring;
use crate::server::sessions::Registry;

/// The read halves.
pub(crate) struct Aside {
    pub(crate) clock: Clock,
    /// The latest scan of the source folder.
    pub(crate) rescan: Latest,
    /// The latest of the log.
    pub(crate) ring: Ring,
    /// Who is connected.
    pub(crate) registry: Registry,
    /// Who ever was.
    pub(crate) history: History,
    /// What each session did, where that is written down.
    pub(crate) logs: SessionLogs,
}

impl Process for Aside {
    fn fact(&self, fact: Fact<'_>) -> Result<Option<Value>, String> {
        let unread = |error: std::io::Error| format!("a file of `.remindb` was not read: {error}");
        Ok(match fact {
            Fact::Rescan => Some(self.rescan.get().to_json()),
            Fact::Logs => Some(json(&self.ring.read())),
            Fact::Sessions => Some(json(&self.registry.live(self.clock.now()))),
            Fact::Clients => Some(json(&self.history.clients().map_err(unread)?)),
            Fact::Client(hash) => self.history.client(hash).map_err(unread)?.as_ref().map(json),
            Fact::SessionLogs => Some(json(&self.logs.index().map_err(unread)?)),
            Fact::SessionLog(id) => self.logs.read(id).map_err(unread)?.as_ref().map(json),
        })
    }

    fn names(&self, of: Named) -> Vec<String> {
        // Nothing is completed from what cannot be read.
        match of {
            Named::Clients => {
                self.history.clients().unwrap_or_default().into_iter().map(|it| it.hash).collect()
            }
            Named::SessionLogs => {
                self.logs.index().unwrap_or_default().into_iter().map(|it| it.session_id).collect()
            }
        }
    }
}

fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("keys are texts and numbers are finite or null")
}
