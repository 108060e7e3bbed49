//! Maintenance: checks, repairs, trims, redacts and transfers whole databases.

pub(crate) mod doctor;
pub(crate) mod gc;
pub(crate) mod redaction;
pub(crate) mod repair_after_backup;
pub(crate) mod transfer;
