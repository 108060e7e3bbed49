//! Severities of log messages, by the protocol's names.

use std::fmt;

use serde_json::Value;

use crate::mcp::rpc::RpcError;

/// The severity of a log message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    /// Details for finding errors.
    Debug,
    /// Progress of an operation.
    Info,
    /// Normal and worth knowing.
    Notice,
    /// Odd input that was handled.
    Warning,
    /// An operation failed.
    Error,
    /// A part of the server failed.
    Critical,
    /// Somebody has to act.
    Alert,
    /// Nothing works.
    Emergency,
}

impl Severity {
    const ALL: [(Severity, &str); 8] = [
        (Severity::Debug, "debug"),
        (Severity::Info, "info"),
        (Severity::Notice, "notice"),
        (Severity::Warning, "warning"),
        (Severity::Error, "error"),
        (Severity::Critical, "critical"),
        (Severity::Alert, "alert"),
        (Severity::Emergency, "emergency"),
    ];

    /// Returns the level that a request names.
    pub(crate) fn read(name: &Value) -> Result<Severity, RpcError> {
        let found = Severity::ALL.into_iter().find(|(_, it)| name.as_str() == Some(*it));
        found.map(|(level, _)| level).ok_or_else(|| {
            let names = Severity::ALL.map(|(_, it)| it).join(", ");
            RpcError::new(RpcError::INVALID_PARAMS, format!("the log level must be one of {names}"))
        })
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = Severity::ALL.into_iter().find(|(level, _)| level == self);
        f.write_str(found.map_or("", |(_, name)| name))
    }
}
