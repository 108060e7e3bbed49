//! Keeps the log of a space in PostgreSQL, or in whatever speaks its protocol.
//!
//! A client of one socket with deadlines: no thread, no runtime. The server orders the writes by
//! the lock of the space's row, and fences whoever holds it without going on.

#[cfg(test)]
mod fake_server;
pub(crate) mod follower;
mod passwords;
mod space_log;
mod space_status;
mod space_url;
mod statements;
mod timed_socket;
mod tls;
mod wire;
mod wire_error;

pub(crate) use passwords::{PasswordSources, SecretPassword};
pub(crate) use space_log::PostgresLog;
pub(crate) use space_status::{ReplicaSyncStatus, SharedSpaceStatus, SpaceFacts, facts_of};
pub(crate) use space_url::SpaceUrl;
