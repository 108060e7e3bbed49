//! Errors of typed memories, each with the code that clients know it by.

use std::fmt;

use serde_json::{Map, Value, json};

use crate::model::next_step_advice::CallableTools;
use crate::store::StoreError;

/// Classifies an error for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorCode {
    InvalidInput,
    NotFound,
    StorageError,
    PermissionError,
    CorruptedData,
    LimitExceeded,
    InternalError,
}

impl ErrorCode {
    /// Returns the name in the protocol.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            ErrorCode::InvalidInput => "INVALID_INPUT",
            ErrorCode::NotFound => "NOT_FOUND",
            ErrorCode::StorageError => "STORAGE_ERROR",
            ErrorCode::PermissionError => "PERMISSION_ERROR",
            ErrorCode::CorruptedData => "CORRUPTED_DATA",
            ErrorCode::LimitExceeded => "LIMIT_EXCEEDED",
            ErrorCode::InternalError => "INTERNAL_ERROR",
        }
    }

    /// Returns whether the cause is the file, the system or this program, and not what was asked.
    pub(crate) fn is_outside(self) -> bool {
        match self {
            ErrorCode::InvalidInput | ErrorCode::NotFound | ErrorCode::LimitExceeded => false,
            ErrorCode::StorageError
            | ErrorCode::PermissionError
            | ErrorCode::CorruptedData
            | ErrorCode::InternalError => true,
        }
    }
}

/// Tells why a call failed; nothing was changed then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MemoryError {
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
    /// UUIDs of memories to archive instead; only with `LIMIT_EXCEEDED`.
    pub(crate) suggestions: Vec<String>,
    /// Of an operation on knowledge.
    details: Option<Box<ErrorDetails>>,
}

/// Facts of an error beside its message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ErrorDetails {
    /// Further members of the body.
    members: Map<String, Value>,
    /// The id of the node that it is about.
    about: Option<String>,
    /// The present text of that node.
    current: Option<String>,
}

impl MemoryError {
    /// Returns an error without suggestions.
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> MemoryError {
        MemoryError { code, message: message.into(), suggestions: Vec::new(), details: None }
    }

    /// Returns the error with further members of its body.
    pub(crate) fn with_members(mut self, members: Map<String, Value>) -> MemoryError {
        self.details.get_or_insert_default().members = members;
        self
    }

    /// Returns the error with its advice as those can follow it who can call these tools.
    pub(crate) fn advised(mut self, tools: &CallableTools) -> MemoryError {
        self.message = tools.advise_error(&self.message);
        let members = self.details.as_mut().and_then(|it| it.members.get_mut("errors"));
        for error in members.and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(Value::String(message)) = error.get_mut("message") {
                *message = tools.advise_error(message);
            }
        }
        self
    }

    /// Returns the error with the id of the node that it is about.
    pub(crate) fn about(mut self, id: &str) -> MemoryError {
        self.details.get_or_insert_default().about = Some(id.to_owned());
        self
    }

    /// Returns the error with the present text of the node that it is about.
    pub(crate) fn with_current(mut self, text: &str) -> MemoryError {
        self.details.get_or_insert_default().current = Some(text.to_owned());
        self
    }

    /// Returns the id of the node that it is about.
    pub(crate) fn about_node(&self) -> Option<&str> {
        self.details.as_ref()?.about.as_deref()
    }

    /// Returns the present text of the node that it is about.
    pub(crate) fn current(&self) -> Option<&str> {
        self.details.as_ref()?.current.as_deref()
    }

    /// Returns the error of an argument that is refused.
    pub(crate) fn invalid(message: impl Into<String>) -> MemoryError {
        MemoryError::new(ErrorCode::InvalidInput, message)
    }

    /// Returns the error of a UUID that no memory has.
    pub(crate) fn not_found(id: &str) -> MemoryError {
        MemoryError::new(ErrorCode::NotFound, format!("no memory has the id `{id}`"))
    }

    /// Returns the body that clients get.
    pub(crate) fn to_json(&self) -> Value {
        let mut error = json!({"code": self.code.as_str(), "message": self.message});
        if self.code == ErrorCode::LimitExceeded {
            error["suggestions"] = json!(self.suggestions);
        }
        let mut body = json!({"error": error});
        for (name, value) in self.details.iter().flat_map(|it| &it.members) {
            body[name] = value.clone();
        }
        body
    }
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<&StoreError> for ErrorCode {
    fn from(error: &StoreError) -> ErrorCode {
        match error {
            _ if error.is_damage() => ErrorCode::CorruptedData,
            _ if error.is_forbidden() => ErrorCode::PermissionError,
            // SQLite refused a statement, and neither the file nor the system is the reason.
            StoreError::Sqlite { .. } if !error.is_outside() => ErrorCode::InternalError,
            _ => ErrorCode::StorageError,
        }
    }
}

impl From<StoreError> for MemoryError {
    fn from(error: StoreError) -> MemoryError {
        MemoryError::new(ErrorCode::from(&error), error.to_string())
    }
}

#[cfg(test)]
mod tests;
