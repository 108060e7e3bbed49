//! Files of JSON lines in a source folder's own `.remindb/`, for people and programs.
//!
//! The folder may come from somebody else's repository, so nothing is read or written through a
//! link that leads out of it, and only regular files are. New files are readable by the user alone.
//!
//! | files | contents |
//! |---|---|
//! | `sessions/NAME-HASH.jsonl` | the [`ClientLedgers`] of one client, one line a session |
//! | `logs/ID.log` | the activity of one session, if enabled: [`SessionLogs`] |
//! | `rescan.jsonl` | the results of scans, if enabled: a [`JsonlSink`] |

mod client_ledgers;
mod confined_folder;
mod session_logs;
mod sink;

pub(crate) use client_ledgers::ClientLedgers;
pub(crate) use session_logs::{SessionLogRecord, SessionLogs};
pub(crate) use sink::JsonlSink;
