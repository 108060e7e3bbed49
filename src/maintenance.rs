//! Maintenance: checks, repairs, trims, redacts and transfers whole databases.

pub(crate) mod backup_and_repair;
pub(crate) mod doctor;
pub(crate) mod gc;
pub(crate) mod redaction;
pub(crate) mod transfer;
