//! Files of JSON lines in a source folder's own `.remindb/`, for people and programs.
//!
//! The folder may come from somebody else's repository, so nothing is read, written or removed
//! through a link, and only regular files that have no other name. New files are readable by the
//! user alone.
//!
//! | files | contents |
//! |---|---|
//! | `sessions/NAME-HASH.jsonl` | [`ClientConnectionLedgers`]: a client each, a line a session |
//! | `logs/ID.log` | the activity of one session, if enabled: [`SessionLogs`] |
//! | `rescan.jsonl` | the results of scans, if enabled: a [`JsonlSink`] |

mod client_connection_ledgers;
mod session_call_logs;
mod sink;
pub(crate) mod symlink_free_subfolder;

pub(crate) use client_connection_ledgers::ClientConnectionLedgers;
pub(crate) use session_call_logs::{SessionLogRecord, SessionLogs};
pub(crate) use sink::JsonlSink;
