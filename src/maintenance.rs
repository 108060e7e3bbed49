//! Maintenance: checks, repairs, trims, redacts and transfers whole databases.

pub(crate) mod doctor;
pub(crate) mod gc;
pub(crate) mod heal;
pub(crate) mod redaction;
pub(crate) mod transfer;
