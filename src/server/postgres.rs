//! Keeps the log of a space in PostgreSQL, or in whatever speaks its protocol.
//!
//! A client of sockets with deadlines: no runtime, and no thread but for a dial that may hang. The
//! server orders the writes by the lock of the space's row, and fences whoever holds it without
//! going on.

mod connection;
mod connection_error;
pub(crate) mod follower;
#[cfg(test)]
mod misbehaving_servers;
mod password_lookup;
mod replica_status;
mod space_log;
mod space_url;
mod statements;
mod timed_socket;
mod tls;

#[cfg(any(test, fuzzing))]
pub(crate) use connection::scripted::talk_to_scripted;
pub(crate) use password_lookup::{PasswordSources, PasswordWithOrigin};
pub(crate) use replica_status::{LatestReplicaStatus, ReplicaStatus, ReplicaSyncStatus, facts_of};
pub(crate) use space_log::PostgresSpaceLog;
pub(crate) use space_url::SpaceUrl;
