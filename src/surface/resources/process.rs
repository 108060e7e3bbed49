//! Resources about the process: its sessions, its log, and the latest scan.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{ECHO_CHARS_MAX, path, put};
use crate::mcp::uri::UriVars;
use crate::memory::{Error, ProcessFact, ReadOnlyMemory};
use crate::text;

pub(super) fn logs(view: &ReadOnlyMemory, _: &UriVars, out: &mut dyn Write) -> Result<(), Error> {
    put(out, &known(view, ProcessFact::Logs)?.to_string())
}

pub(super) fn rescan(view: &ReadOnlyMemory, _: &UriVars, out: &mut dyn Write) -> Result<(), Error> {
    put(out, &known(view, ProcessFact::Rescan)?.to_string())
}

pub(super) fn sessions(
    view: &ReadOnlyMemory,
    _: &UriVars,
    out: &mut dyn Write,
) -> Result<(), Error> {
    listed(view, "sessions", ProcessFact::Sessions, out)
}

pub(super) fn clients(
    view: &ReadOnlyMemory,
    _: &UriVars,
    out: &mut dyn Write,
) -> Result<(), Error> {
    listed(view, "clients", ProcessFact::Clients, out)
}

pub(super) fn session_logs(
    view: &ReadOnlyMemory,
    _: &UriVars,
    out: &mut dyn Write,
) -> Result<(), Error> {
    listed(view, "logs", ProcessFact::SessionLogs, out)
}

pub(super) fn client(
    view: &ReadOnlyMemory,
    vars: &UriVars,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let hash = vars.get("hash").unwrap_or_default();
    put(out, &known(view, ProcessFact::Client(hash))?.to_string())
}

pub(super) fn session_log(
    view: &ReadOnlyMemory,
    vars: &UriVars,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let id = vars.get("id").unwrap_or_default();
    put(out, &known(view, ProcessFact::SessionLog(id))?.to_string())
}

/// Writes a list under its name, after the path of its database.
fn listed(
    view: &ReadOnlyMemory,
    name: &str,
    fact: ProcessFact<'_>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    put(out, &json!({"db_path": path(view), name: known(view, fact)?}).to_string())
}

fn known(view: &ReadOnlyMemory, fact: ProcessFact<'_>) -> Result<Value, Error> {
    let missing = || {
        let (what, name) = match fact {
            ProcessFact::Client(hash) => ("client", hash),
            ProcessFact::SessionLog(id) => ("session log", id),
            _ => ("such thing", ""),
        };
        Error::NotFound(format!("no {what} `{}`", text::truncate_chars(name, ECHO_CHARS_MAX)))
    };
    let fact = view.process().fact(fact).map_err(Error::Unavailable)?;
    fact.ok_or_else(missing)
}
