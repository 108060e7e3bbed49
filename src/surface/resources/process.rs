//! What the process knows beside the database: who is there, what was logged, the latest scan.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{ECHO_CHARS_MAX, path, put};
use crate::mcp::ReadError;
use crate::mcp::uri::Vars;
use crate::memory::{Fact, Observer};
use crate::text;

pub(super) fn logs(observer: &Observer, _: &Vars, out: &mut dyn Write) -> Result<(), ReadError> {
    put(out, &known(observer, Fact::Logs)?.to_string())
}

pub(super) fn rescan(observer: &Observer, _: &Vars, out: &mut dyn Write) -> Result<(), ReadError> {
    put(out, &known(observer, Fact::Rescan)?.to_string())
}

pub(super) fn sessions(
    observer: &Observer,
    _: &Vars,
    out: &mut dyn Write,
) -> Result<(), ReadError> {
    listed(observer, "sessions", Fact::Sessions, out)
}

pub(super) fn clients(observer: &Observer, _: &Vars, out: &mut dyn Write) -> Result<(), ReadError> {
    listed(observer, "clients", Fact::Clients, out)
}

pub(super) fn session_logs(
    observer: &Observer,
    _: &Vars,
    out: &mut dyn Write,
) -> Result<(), ReadError> {
    listed(observer, "logs", Fact::SessionLogs, out)
}

pub(super) fn client(
    observer: &Observer,
    vars: &Vars,
    out: &mut dyn Write,
) -> Result<(), ReadError> {
    let hash = vars.get("hash").unwrap_or_default();
    put(out, &known(observer, Fact::Client(hash))?.to_string())
}

pub(super) fn session_log(
    observer: &Observer,
    vars: &Vars,
    out: &mut dyn Write,
) -> Result<(), ReadError> {
    let id = vars.get("id").unwrap_or_default();
    put(out, &known(observer, Fact::SessionLog(id))?.to_string())
}

/// A list under its name, after the database that it belongs to.
fn listed(
    observer: &Observer,
    name: &str,
    fact: Fact<'_>,
    out: &mut dyn Write,
) -> Result<(), ReadError> {
    put(out, &json!({"db_path": path(observer), name: known(observer, fact)?}).to_string())
}

fn known(observer: &Observer, fact: Fact<'_>) -> Result<Value, ReadError> {
    let missing = || {
        let (what, name) = match fact {
            Fact::Client(hash) => ("client", hash),
            Fact::SessionLog(id) => ("session log", id),
            _ => ("such thing", ""),
        };
        ReadError::NotFound(format!("no {what} `{}`", text::cut(name, ECHO_CHARS_MAX)))
    };
    let fact = observer.process().fact(fact).map_err(ReadError::Unavailable)?;
    fact.ok_or_else(missing)
}
