//! HTTP options: the address, the token, and the allowed hosts.
//!
//! An address that other machines can reach requires a token. The token comes from a file or the
//! environment and never from the command line, which every process can read.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use crossbeam_channel::Receiver;

use super::{because, set};
use crate::cli::CommandError;
use crate::cli::args::ServeArgs;
use crate::mcp::{Handler, Server};
use crate::model::clock::Clock;
use crate::server::http::{self, ADDRESS, AccessRules, BearerToken, Limits, OneTimeLinks};
use crate::server::{BackgroundTaskSpec, StopReason};
use crate::settings::config::Config;

pub(in crate::cli) use crate::server::http::HttpOptions;

/// Bytes of a token file.
const TOKEN_BYTES_MAX: u64 = 4096;

/// Returns the address to listen on.
pub(in crate::cli) fn address(options: &HttpOptions) -> String {
    options.address.to_string()
}

/// Serves until a message arrives on `interrupts`; passes the actual address to `announce`.
pub(in crate::cli) fn run<S: Handler>(
    server: &Arc<Server<S>>,
    clock: &Clock,
    background: Vec<BackgroundTaskSpec>,
    options: HttpOptions,
    announce: impl FnOnce(String),
    interrupts: &Receiver<()>,
) -> io::Result<StopReason> {
    http::serve_http(server, clock, background, options, |it| announce(it.to_string()), interrupts)
}

/// Reads the HTTP options from flags, settings and the environment.
pub(super) fn options(
    args: &ServeArgs,
    config: &Config,
    clock: &Clock,
) -> Result<HttpOptions, CommandError> {
    let listen = args.listen.clone().or_else(|| config.server.listen.clone());
    let address = match listen.or_else(|| set("REMINDB_LISTEN")) {
        Some(text) => http::parse_listen_address(&text).ok_or_else(|| {
            because(format!(
                "cannot listen on `{text}`; it must be ADDRESS:PORT, as in {ADDRESS} or [::1]:0"
            ))
        })?,
        None => ADDRESS,
    };
    let token = token(args.token_file.as_deref())?;
    if !address.ip().is_loopback() && token.is_none() {
        return Err(because(format!(
            "`{address}` can be reached from other machines; give a token with --token-file FILE \
             or REMINDB_TOKEN, or listen on 127.0.0.1"
        )));
    }
    for host in &args.hosts {
        let is_name = host.bytes().all(|it| it.is_ascii_alphanumeric() || b".-_[]:".contains(&it));
        let has_port = !host.starts_with('[') && host.contains(':');
        if host.is_empty() || !is_name || has_port {
            let why = format!("`--allow-host` needs a name without a port, not `{host}`");
            return Err(because(why));
        }
    }
    for origin in &args.origins {
        let host = origin.split_once("://").map_or("", |it| it.1);
        if host.is_empty() || host.contains(['/', '*', ' ']) {
            let why = format!("`--allow-origin` needs SCHEME://HOST[:PORT], not `{origin}`");
            return Err(because(why));
        }
    }
    let links = match args.is_open && token.is_some() {
        true => Some(Arc::new(one_time_links(clock)?)),
        false => None,
    };
    let guard = AccessRules::new(address.ip(), &args.hosts, &args.origins, token);
    Ok(HttpOptions { address, guard, limits: Limits::default(), links })
}

/// Returns the options of `view`: this machine alone, a token of its own, and links to it.
pub(in crate::cli) fn view_options(
    listen: Option<&str>,
    clock: &Clock,
) -> Result<HttpOptions, CommandError> {
    let address = http::parse_listen_address(listen.unwrap_or("127.0.0.1:0"));
    let address = address.filter(|it| it.ip().is_loopback()).ok_or_else(|| {
        let listen = listen.unwrap_or_default();
        because(format!(
            "cannot listen on `{listen}`; `view` is for this machine, as in 127.0.0.1:0 or \
             [::1]:0; for others, there is `serve --transport http --open`"
        ))
    })?;
    let links = one_time_links(clock)?;
    let secret = links.secret().map_err(|error| no_secret(&error))?;
    let token = BearerToken::new(&secret).map_err(because)?;
    let guard = AccessRules::new(address.ip(), &[], &[], Some(token));
    Ok(HttpOptions { address, guard, limits: Limits::default(), links: Some(Arc::new(links)) })
}

fn one_time_links(clock: &Clock) -> Result<OneTimeLinks, CommandError> {
    OneTimeLinks::new(clock).map_err(|error| no_secret(&error))
}

fn no_secret(error: &io::Error) -> CommandError {
    because(format!("cannot make a secret for the page: {error}"))
}

/// The links to the page of a server.
#[derive(Clone, Debug)]
pub(in crate::cli) struct PageLinks(Option<Arc<OneTimeLinks>>);

/// Returns the links to the page of a server with these options.
pub(in crate::cli) fn page_links(options: &HttpOptions) -> PageLinks {
    PageLinks(options.links.clone())
}

impl PageLinks {
    /// Returns a link to the page at an address where the server listens; it works once, if there
    /// is a token.
    pub(in crate::cli) fn make(&self, address: &str) -> io::Result<String> {
        let address = match address.parse() {
            Ok(address) => http::reachable(address).to_string(),
            Err(_) => address.to_owned(),
        };
        Ok(match &self.0 {
            Some(links) => format!("http://{address}/#once={}", links.make()?),
            None => format!("http://{address}/"),
        })
    }
}

fn token(file: Option<&Path>) -> Result<Option<BearerToken>, CommandError> {
    let (name, text) = match (file, set("REMINDB_TOKEN")) {
        (Some(path), _) => (format!("`{}`", path.display()), Some(read(path)?)),
        (None, text) => ("`REMINDB_TOKEN`".to_owned(), text),
    };
    let Some(text) = text else { return Ok(None) };
    let token = BearerToken::new(text.trim());
    token.map(Some).map_err(|why| because(format!("the token in {name} {why}")))
}

fn read(path: &Path) -> Result<String, CommandError> {
    let mut text = String::new();
    let read = File::open(path).and_then(|it| it.take(TOKEN_BYTES_MAX).read_to_string(&mut text));
    match read {
        Ok(_) => Ok(text),
        Err(error) => {
            Err(because(format!("cannot read the token in `{}`: {error}", path.display())))
        }
    }
}
