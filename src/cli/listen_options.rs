//! Options of `serve` for its transport: address, token and allowed hosts.

#[cfg(feature = "http")]
mod http;
#[cfg(not(feature = "http"))]
#[path = "listen_options/without_http.rs"]
mod http;

use std::path::PathBuf;

use super::args::ServeArgs;
use super::{CommandError, variable};
use crate::model::clock::Clock;
use crate::settings::config::{Config, Transport};

pub(super) use http::{HttpOptions, PageLinks, address, page_links, run, view_options};

/// Returns the HTTP options; `None` for the standard streams.
pub(super) fn options(
    args: &ServeArgs,
    config: &Config,
    clock: &Clock,
) -> Result<Option<HttpOptions>, CommandError> {
    let transport = match (args.transport, config.server.transport, set("REMINDB_TRANSPORT")) {
        (Some(transport), _, _) | (None, Some(transport), _) => transport,
        (None, None, Some(name)) => match name.as_str() {
            "stdio" => Transport::Stdio,
            "http" => Transport::Http,
            _ => return Err(because("`REMINDB_TRANSPORT` must be `stdio` or `http`")),
        },
        (None, None, None) => Transport::Stdio,
    };
    if transport == Transport::Stdio {
        let flags = [
            ("listen", args.listen.is_some()),
            ("token-file", args.token_file.is_some()),
            ("allow-host", !args.hosts.is_empty()),
            ("allow-origin", !args.origins.is_empty()),
            ("open", args.is_open),
        ];
        if let Some((flag, _)) = flags.iter().find(|it| it.1) {
            return Err(because(format!("`--{flag}` is for HTTP; add --transport http")));
        }
        // A flag for stdio overrides the `listen` setting, which is then not checked.
        if args.transport.is_none() {
            config.check_listen(transport)?;
        }
        return Ok(None);
    }
    http::options(args, config, clock).map(Some)
}

/// Resolves the further paths that `MemoryCompile` may read.
pub(super) fn resolve_allowed(paths: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    let full = |path: &PathBuf| {
        path.canonicalize()
            .map_err(|error| because(format!("cannot allow `{}`: {error}", path.display())))
    };
    paths.iter().map(full).collect()
}

/// Returns a variable of the environment. Invalid UTF-8 counts as set: a token that nobody can
/// send must not open the server to everybody.
fn set(name: &str) -> Option<String> {
    variable(name).map(|it| it.to_string_lossy().into_owned())
}

fn because(what: impl Into<String>) -> CommandError {
    CommandError::Because(what.into())
}
