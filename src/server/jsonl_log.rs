//! Files of JSON lines in a source folder's own `.remindb/`, for people and programs.
//!
//! The folder may come from somebody else's repository, so nothing is read or written through a
//! link that leads out of it, and only regular files are. New files are readable by the user alone.
//!
//! | files | what they hold |
//! |---|---|
//! | `sessions/NAME-HASH.jsonl` | the [`SessionHistory`] of one client, one line a session |
//! | `logs/ID.log` | what one session did, if that is wanted: [`SessionLogs`] |
//! | `rescan.jsonl` | what scans did, if that is wanted: a [`JsonlSink`] |

mod client_ledgers;
mod folder;
mod session_logs;
mod sink;

pub(crate) use client_ledgers::SessionHistory;
pub(crate) use session_logs::{SessionLogRecord, SessionLogs};
pub(crate) use sink::JsonlSink;
