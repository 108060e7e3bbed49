//! Where `serve` listens and whom it lets in: flags, settings and the environment as one answer.
//!
//! A port that other machines reach is opened only with a token. The token comes from a file or the
//! environment and never from the command line, which every process can read.

use std::env;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::Failure;
use super::args::Serve;
use crate::config::{Config, Transport};
use crate::serve::http::{ADDRESS, Guard, Limits, Options, Token, address};

/// Bytes of a file with a token.
const TOKEN_BYTES_MAX: u64 = 4096;

/// How to listen; `None` for the standard streams.
pub(super) fn options(args: &Serve, config: &Config) -> Result<Option<Options>, Failure> {
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
        ];
        if let Some((flag, _)) = flags.iter().find(|it| it.1) {
            return Err(because(format!("`--{flag}` is for HTTP; add --transport http")));
        }
        // What the flag overrules has not asked to be heard.
        if args.transport.is_none() {
            config.check_listen(transport)?;
        }
        return Ok(None);
    }
    let listen = args.listen.clone().or_else(|| config.server.listen.clone());
    let address = match listen.or_else(|| set("REMINDB_LISTEN")) {
        Some(text) => address(&text).ok_or_else(|| {
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
    let guard = Guard::new(address.ip(), &args.hosts, &args.origins, token);
    Ok(Some(Options { address, guard, limits: Limits::default() }))
}

/// Folders and files that `MemoryCompile` may read besides the source folder, without links.
pub(super) fn allowed(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let full = |path: &PathBuf| {
        path.canonicalize()
            .map_err(|error| because(format!("cannot allow `{}`: {error}", path.display())))
    };
    paths.iter().map(full).collect()
}

fn token(file: Option<&Path>) -> Result<Option<Token>, Failure> {
    let (name, text) = match (file, set("REMINDB_TOKEN")) {
        (Some(path), _) => (format!("`{}`", path.display()), Some(read(path)?)),
        (None, text) => ("`REMINDB_TOKEN`".to_owned(), text),
    };
    let Some(text) = text else { return Ok(None) };
    let token = Token::new(text.trim());
    token.map(Some).map_err(|why| because(format!("the token in {name} {why}")))
}

fn read(path: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let read = File::open(path).and_then(|it| it.take(TOKEN_BYTES_MAX).read_to_string(&mut text));
    match read {
        Ok(_) => Ok(text),
        Err(error) => {
            Err(because(format!("cannot read the token in `{}`: {error}", path.display())))
        }
    }
}

/// A variable of the environment; an empty one is none.
fn set(name: &str) -> Option<String> {
    env::var(name).ok().filter(|it| !it.is_empty())
}

fn because(what: impl Into<String>) -> Failure {
    Failure::Because(what.into())
}
