//! Resources about the process: its sessions, its log, and the latest scan.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{ECHO_CHARS_MAX, path, put};
use crate::memory::{Error, ReadOnlyMemory, ServerFactKey};
use crate::store::LeaseInForce;
use crate::text;
use crate::text::terminal_safe_json::json_text;

/// Writes a fact.
pub(super) fn write_fact(
    view: &ReadOnlyMemory,
    fact: ServerFactKey<'_>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    put(out, &json_text(&known(view, fact)?))
}

/// Writes a list under its name, after the path of its database.
pub(super) fn write_list(
    view: &ReadOnlyMemory,
    name: &str,
    fact: ServerFactKey<'_>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    put(out, &json_text(&json!({"db_path": path(view), name: known(view, fact)?})))
}

/// Writes the present sessions; an observer adds what other processes do to the memory.
pub(super) fn write_sessions(view: &ReadOnlyMemory, out: &mut dyn Write) -> Result<(), Error> {
    let sessions = known(view, ServerFactKey::Sessions)?;
    let mut document = json!({"db_path": path(view), "sessions": sessions});
    if view.process().is_observer() {
        let now = view.now();
        let leases = view.read(|reader| reader.running_leases(now))?;
        document["servers"] = leases.iter().map(server).collect();
    }
    put(out, &json_text(&document))
}

/// Returns which process does what, from the names of a lease and of its holder.
fn server(lease: &LeaseInForce) -> Value {
    let work = lease.name.split(':').next();
    let pid = lease.holder.split('-').next().and_then(|it| it.parse::<u32>().ok());
    json!({"pid": pid, "work": work})
}

pub(super) fn known(view: &ReadOnlyMemory, fact: ServerFactKey<'_>) -> Result<Value, Error> {
    let missing = || {
        let (what, name) = match fact {
            ServerFactKey::Client(hash) => ("client", hash),
            ServerFactKey::SessionLogContents(id) => ("session log", id),
            _ => ("such thing", ""),
        };
        Error::NotFound(format!("no {what} `{}`", text::truncate_chars(name, ECHO_CHARS_MAX)))
    };
    let fact = view.process().fact(fact).map_err(Error::Unavailable)?;
    fact.ok_or_else(missing)
}
