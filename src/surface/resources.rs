//! The resources of a memory: a table with one function per row, over a [`ReadOnlyMemory`].
//!
//! Clients depend on the names, the keys and their order. A read shows one state of the memory and
//! warms nothing.

mod browse;
mod knowledge;
mod memories;
mod server_state;

use std::fmt::Write;

use crate::mcp::uri::{self, UriError, UriVars};
use crate::mcp::{CompletionRef, CompletionRequest, Resource, ResourceFormat};
use crate::memory::{Error, NamesForUriCompletion, ReadOnlyMemory, ServerFactKey};
use crate::query::dashboard_documents::{self, TreeScope};
use crate::store::StoreError;
use crate::text;
pub(crate) use memories::custom_views;

/// Completions for a variable: one more than a reply has, to tell that there are more.
const COMPLETIONS_MAX: usize = 101;
/// Characters of a value that an error repeats.
const ECHO_CHARS_MAX: usize = 40;

/// Reads a resource: the variables of its URI in, one document of JSON out.
pub(crate) type ResourceFn = fn(&ReadOnlyMemory, &UriVars, &mut dyn Write) -> Result<(), Error>;

const TREE_BY_ROOT: &str = "remindb://tree/{rootId}{?depth}";
const SNAPSHOT_DIFFS: &str = "remindb://snapshots/{id}/diffs";
const HISTORY_BY_HASH: &str = "remindb://sessions/history/{hash}";
const LOG_BY_ID: &str = "remindb://sessions/logs/{id}";

/// Every resource and every template.
pub(crate) const RESOURCES: &[Resource<ResourceFn>] = &[
    Resource {
        uri: "remindb://overview",
        name: "overview",
        title: "Overview",
        description: "Counts of nodes, snapshots, temperatures and relations.",
        form: ResourceFormat::Json,
        is_subscribable: false,
        read: overview,
    },
    Resource {
        uri: "remindb://files",
        name: "files",
        title: "Files",
        description: "Compiled source files by compile root, with nodes and tokens.",
        form: ResourceFormat::Json,
        is_subscribable: true,
        read: |it, _, out| it.read(|reader| dashboard_documents::write_file_list(reader, out)),
    },
    Resource {
        uri: "remindb://tree",
        name: "tree",
        title: "Tree",
        description: "All nodes, each within its parent.",
        form: ResourceFormat::Json,
        is_subscribable: true,
        read: |it, _, out| {
            it.read(|reader| dashboard_documents::write_tree(reader, TreeScope::Forest, out))
        },
    },
    Resource {
        uri: TREE_BY_ROOT,
        name: "tree-by-root",
        title: "Subtree",
        description: "The node `rootId` with those below it, `depth` levels down; 0 or none: all.",
        form: ResourceFormat::Json,
        is_subscribable: false,
        read: subtree,
    },
    Resource {
        uri: "remindb://graph",
        name: "graph",
        title: "Graph",
        description: "Relations, those that wait for their target, and the nodes at their ends.",
        form: ResourceFormat::Json,
        is_subscribable: true,
        read: |it, _, out| it.read(|reader| dashboard_documents::write_graph(reader, out)),
    },
    Resource {
        uri: "remindb://snapshots",
        name: "snapshots",
        title: "Snapshots",
        description: "All snapshots, newest first.",
        form: ResourceFormat::Json,
        is_subscribable: true,
        read: snapshots,
    },
    Resource {
        uri: "remindb://snapshots{?limit}",
        name: "snapshots-limited",
        title: "Newest snapshots",
        description: "The `limit` newest snapshots, newest first.",
        form: ResourceFormat::Json,
        is_subscribable: false,
        read: snapshots,
    },
    Resource {
        uri: SNAPSHOT_DIFFS,
        name: "snapshot-diffs",
        title: "Changes of a snapshot",
        description: "What the snapshot `id` changed, with the texts before and after.",
        form: ResourceFormat::Json,
        is_subscribable: false,
        read: diffs,
    },
    Resource {
        uri: "remindb://temperature",
        name: "temperature",
        title: "Temperatures",
        description: "The temperature of each node, with a summary. Reading it warms nothing.",
        form: ResourceFormat::Json,
        is_subscribable: true,
        read: |it, _, out| {
            it.read(|reader| dashboard_documents::write_temperatures(reader, it.thresholds(), out))
        },
    },
    Resource {
        uri: "remindb://doctor",
        name: "doctor",
        title: "Doctor",
        description: "What `remindb doctor` finds. Repairs nothing.",
        form: ResourceFormat::Json,
        is_subscribable: false,
        read: |it, _, out| match it.examine()? {
            Some(report) => put(out, &report.to_json()),
            None => Err(Error::BadArgument("the reading was cancelled".to_owned())),
        },
    },
    Resource {
        uri: "remindb://logs",
        name: "logs",
        title: "Server log",
        description: "The latest log records of this server, oldest first.",
        form: ResourceFormat::Json,
        is_subscribable: true,
        read: |it, _, out| server_state::write_fact(it, ServerFactKey::Logs, out),
    },
    Resource {
        uri: "remindb://sessions",
        name: "sessions",
        title: "Sessions",
        description: "MCP clients that are attached to this server.",
        form: ResourceFormat::Json,
        is_subscribable: false,
        read: |it, _, out| server_state::write_sessions(it, out),
    },
    Resource {
        uri: "remindb://sessions/history",
        name: "sessions-history",
        title: "Clients",
        description: "All clients that ever attached, with their sessions and tool calls.",
        form: ResourceFormat::Json,
        is_subscribable: false,
        read: |it, _, out| server_state::write_list(it, "clients", ServerFactKey::Clients, out),
    },
    Resource {
        uri: HISTORY_BY_HASH,
        name: "sessions-history-by-hash",
        title: "Client",
        description: "The client `hash`, with its sessions and tool calls.",
        form: ResourceFormat::Json,
        is_subscribable: false,
        read: |it, vars, out| {
            let fact = ServerFactKey::Client(vars.get("hash").unwrap_or_default());
            server_state::write_fact(it, fact, out)
        },
    },
    Resource {
        uri: "remindb://sessions/logs",
        name: "sessions-logs",
        title: "Session logs",
        description: "Log files of sessions, where the settings ask for them.",
        form: ResourceFormat::Json,
        is_subscribable: false,
        read: |it, _, out| server_state::write_list(it, "logs", ServerFactKey::SessionLogs, out),
    },
    Resource {
        uri: LOG_BY_ID,
        name: "sessions-log-by-id",
        title: "Session log",
        description: "The log of the session `id`, oldest record first.",
        form: ResourceFormat::Json,
        is_subscribable: false,
        read: |it, vars, out| {
            let fact = ServerFactKey::SessionLogContents(vars.get("id").unwrap_or_default());
            server_state::write_fact(it, fact, out)
        },
    },
    Resource {
        uri: "remindb://space",
        name: "space",
        title: "Space",
        description: "The space of a shared memory: lag, leases; null where it is one file.",
        form: ResourceFormat::Json,
        is_subscribable: false,
        read: |it, _, out| server_state::write_fact(it, ServerFactKey::Space, out),
    },
    Resource {
        uri: "remindb://rescan",
        name: "rescan",
        title: "Rescan",
        description: "The latest scan of the source folder.",
        form: ResourceFormat::Json,
        is_subscribable: true,
        read: |it, _, out| server_state::write_fact(it, ServerFactKey::Rescan, out),
    },
    browse::NODE,
    browse::CHILDREN,
    browse::MAP,
    browse::HEAT,
    browse::SEARCH,
    browse::LINKS,
    browse::TIMELINE,
    browse::TIMELINE_NARROWED,
    browse::CHANGES,
    browse::HISTORY,
    memories::RECENT,
    memories::RECENT_NARROWED,
    memories::CORE,
    memories::CORE_NARROWED,
    memories::LEARNINGS,
    memories::LEARNINGS_NARROWED,
    memories::ACTIVE_TASKS,
    memories::ACTIVE_TASKS_NARROWED,
    memories::COMPLETED_TASKS,
    memories::COMPLETED_TASKS_NARROWED,
    memories::CUSTOM,
    knowledge::REVIEW,
    knowledge::TOPICS,
    knowledge::CONCEPTS,
    knowledge::CONCEPTS_NARROWED,
    knowledge::CONCEPT,
    knowledge::EPISODES,
    knowledge::EPISODES_NARROWED,
    knowledge::ENTITIES,
    knowledge::ENTITY,
    knowledge::CONFLICTS,
    knowledge::CONFLICTS_NARROWED,
    knowledge::EVENTS,
    knowledge::EVENTS_NARROWED,
    knowledge::BOOTSTRAP,
    knowledge::BOOTSTRAP_NARROWED,
];

/// Reads the resource of that URI into `out`.
///
/// # Errors
///
/// There is no such resource, or its row fails.
pub(crate) fn read_resource(
    view: &ReadOnlyMemory,
    uri: &str,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let (idx, vars) =
        uri::match_template(RESOURCES.iter().map(|it| it.uri), uri).map_err(|it| match it {
            UriError::Unknown => Error::UnknownUri(text::truncate_chars(uri, ECHO_CHARS_MAX)),
            UriError::Bad(why) => Error::BadArgument(why),
        })?;
    (RESOURCES[idx].read)(view, &vars, out)
}

impl ReadOnlyMemory {
    /// Returns the resource of that URI as JSON; those about clients and scans are empty.
    ///
    /// # Errors
    ///
    /// There is no such resource, the URI is invalid, or the database failed.
    pub fn resource(&self, uri: &str) -> Result<String, Error> {
        let mut out = String::new();
        read_resource(self, uri, &mut out)?;
        Ok(out)
    }
}

/// Returns values of a template's variable with the typed prefix. There are none when the database
/// fails, since an error does not help while typing.
pub(crate) fn complete_variable(
    view: &ReadOnlyMemory,
    asked: &CompletionRequest<'_>,
) -> Vec<String> {
    let CompletionRef::Resource(template) = asked.subject else { return Vec::new() };
    values(view, template, asked.argument, asked.value).unwrap_or_else(|error| {
        log::warn!("nothing was completed: {error}");
        Vec::new()
    })
}

fn values(
    view: &ReadOnlyMemory,
    template: &str,
    variable: &str,
    prefix: &str,
) -> Result<Vec<String>, StoreError> {
    let named = |of| {
        let names = view.process().names(of).into_iter();
        names.filter(|it| it.starts_with(prefix)).take(COMPLETIONS_MAX).collect()
    };
    match (template, variable) {
        (TREE_BY_ROOT, "rootId") => view
            .read(|reader| dashboard_documents::complete_node_ids(reader, prefix, COMPLETIONS_MAX)),
        (SNAPSHOT_DIFFS, "id") => {
            view.read(|reader| reader.snapshots_from(prefix, COMPLETIONS_MAX))
        }
        (HISTORY_BY_HASH, "hash") => Ok(named(NamesForUriCompletion::Clients)),
        (LOG_BY_ID, "id") => Ok(named(NamesForUriCompletion::SessionLogs)),
        (memories::CUSTOM_BY_NAME, "name") => memories::names(view, prefix, COMPLETIONS_MAX),
        _ => Ok(Vec::new()),
    }
}

fn overview(view: &ReadOnlyMemory, _: &UriVars, out: &mut dyn Write) -> Result<(), Error> {
    let (path, lines, now) = (path(view), view.thresholds(), view.now());
    let space = server_state::known(view, ServerFactKey::Space)?;
    view.read(|reader| {
        dashboard_documents::write_overview(reader, &path, (lines, &space), now, out)
    })
}

fn subtree(view: &ReadOnlyMemory, vars: &UriVars, out: &mut dyn Write) -> Result<(), Error> {
    let levels = number(vars, "depth")?.filter(|it| 0 < *it);
    let root = vars.get("rootId").unwrap_or_default();
    let extent = TreeScope::Below { root, levels: levels.map(i64::cast_unsigned) };
    view.read(|reader| dashboard_documents::write_tree(reader, extent, out))
}

fn snapshots(view: &ReadOnlyMemory, vars: &UriVars, out: &mut dyn Write) -> Result<(), Error> {
    let limit = number(vars, "limit")?;
    if limit == Some(0) {
        return Err(Error::BadArgument("`limit` is 0; ask for at least 1".to_owned()));
    }
    let limit = limit.map(|it| usize::try_from(it).unwrap_or(usize::MAX));
    view.read(|reader| dashboard_documents::write_snapshots(reader, limit, out))
}

fn diffs(view: &ReadOnlyMemory, vars: &UriVars, out: &mut dyn Write) -> Result<(), Error> {
    let id = number(vars, "id")?.unwrap_or_default();
    view.read(|reader| dashboard_documents::write_diffs(reader, id, out))
}

/// Returns a variable as a whole number, not negative, in digits only.
fn number(vars: &UriVars, name: &str) -> Result<Option<i64>, Error> {
    let Some(value) = vars.get(name) else { return Ok(None) };
    let is_number = value.bytes().all(|it| it.is_ascii_digit());
    match value.parse() {
        Ok(number) if is_number => Ok(Some(number)),
        _ => {
            let value = text::truncate_chars(value, ECHO_CHARS_MAX);
            let why = format!("`{name}` is `{value}`; it must be a whole number, 0 or above");
            Err(Error::BadArgument(why))
        }
    }
}

/// Returns the path of the database as clients see it.
fn path(view: &ReadOnlyMemory) -> String {
    view.path().to_string_lossy().into_owned()
}

fn put(out: &mut dyn Write, text: &str) -> Result<(), Error> {
    Ok(out.write_str(text)?)
}

#[cfg(test)]
mod tests;
