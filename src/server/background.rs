//! Background threads of a server: heat tick, rescan, notifications, checkpoints, session ledgers,
//! and consolidations and vectors where there is a provider.

pub(crate) mod checkpoint;
pub(crate) mod consolidation;
pub(crate) mod heat_tick;
pub(crate) mod rescan;
pub(crate) mod resource_notifications;
pub(crate) mod session_history_writer;
pub(crate) mod vectors;
