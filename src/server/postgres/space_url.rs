//! The address of a space: `postgres://user@host:port/database/space`.
//!
//! A host that begins with `/` is the folder of a socket on this machine, as PostgreSQL's own
//! programs have it: `postgres://user@/database/space?host=/var/run/postgresql`.

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

const PORT: u16 = 5432;

/// Folders in which servers put their sockets unless they are told otherwise.
const USUAL_FOLDERS: [&str; 3] = ["/var/run/postgresql", "/run/postgresql", "/tmp"];

/// Whether the connection is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encryption {
    /// In the clear: to this machine, or where `sslmode=disable` says so.
    None,
    /// By TLS, with the server's name and certificate verified.
    Verified,
}

/// Where a space is kept. No password is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpaceUrl {
    pub(crate) user: String,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) database: String,
    pub(crate) space: String,
    pub(crate) encryption: Encryption,
    /// A file of root certificates in place of the usual ones.
    pub(crate) root_certificates: Option<String>,
}

impl SpaceUrl {
    /// Parses an address; the error says what is wrong with it, without a password.
    pub(crate) fn parse(text: &str) -> Result<SpaceUrl, String> {
        const FORM: &str = "a space is named `postgres://user@host:port/database/space`";
        let rest = text
            .strip_prefix("postgres://")
            .or_else(|| text.strip_prefix("postgresql://"))
            .ok_or_else(|| FORM.to_owned())?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').ok_or_else(|| FORM.to_owned())?;
        let (user, place) = authority.rsplit_once('@').ok_or_else(|| FORM.to_owned())?;
        if user.contains(':') {
            return Err("a password does not belong into an address, where other users can see \
                        it: set PGPASSWORD, or write it to ~/.pgpass"
                .to_owned());
        }
        let (host, port) = split_port(place).ok_or_else(|| FORM.to_owned())?;
        let (database, space) = path.split_once('/').ok_or_else(|| FORM.to_owned())?;
        let mut url = SpaceUrl {
            user: decoded(user),
            encryption: Encryption::None,
            host,
            port,
            database: decoded(database),
            space: decoded(space.trim_end_matches('/')),
            root_certificates: None,
        };
        let mut asked = None;
        for option in query.split('&').filter(|it| !it.is_empty()) {
            url.set(option, &mut asked)?;
        }
        let parts = [&url.user, &url.database, &url.space];
        let is_bad = |it: &&String| it.is_empty() || it.contains(['\0', '/']);
        let is_folder = url.host.starts_with('/');
        let is_bad_host = url.host.is_empty() || url.host.contains('\0');
        if parts.iter().any(is_bad) || is_bad_host || url.host.contains('/') && !is_folder {
            return Err(FORM.to_owned());
        }
        if is_folder && asked == Some(Encryption::Verified) {
            return Err("a socket of this machine has no TLS; leave `sslmode` out".to_owned());
        }
        let by_default = || match is_local(&url.host) {
            true => Encryption::None,
            false => Encryption::Verified,
        };
        let encryption = asked.unwrap_or_else(by_default);
        Ok(SpaceUrl { encryption, ..url })
    }

    fn set(&mut self, option: &str, asked: &mut Option<Encryption>) -> Result<(), String> {
        match option.split_once('=').unwrap_or((option, "")) {
            ("sslmode", "disable") => *asked = Some(Encryption::None),
            ("sslmode", "verify-full") => *asked = Some(Encryption::Verified),
            ("host", folder) if self.host.is_empty() && decoded(folder).starts_with('/') => {
                self.host = decoded(folder);
            }
            ("host", _) => {
                return Err("`host` names the folder of a socket of this machine, in an address \
                            without another host"
                    .to_owned());
            }
            ("sslmode", _) => {
                return Err("`sslmode` is `verify-full`, the default for other machines, or \
                            `disable`"
                    .to_owned());
            }
            ("sslrootcert", file) if !file.is_empty() => {
                self.root_certificates = Some(decoded(file));
            }
            (name, _) => {
                return Err(format!(
                    "`{name}` is no option of a space; there are `sslmode`, `sslrootcert` and \
                     `host`"
                ));
            }
        }
        Ok(())
    }

    /// Returns the path of the server's socket on this machine; `None` where it is reached over
    /// the network.
    pub(super) fn socket_path(&self) -> Option<PathBuf> {
        let folder = self.host.starts_with('/').then(|| Path::new(&self.host))?;
        Some(folder.join(format!(".s.PGSQL.{}", self.port)))
    }

    /// Returns whether the server is reached by the socket that is there by default.
    pub(super) fn is_usual_socket(&self) -> bool {
        USUAL_FOLDERS.contains(&self.host.trim_end_matches('/'))
    }

    /// Returns the server as an address has it.
    fn server(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false if self.host.starts_with('/') => format!("{}:{}", encoded(&self.host), self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }
}

impl fmt::Display for SpaceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SpaceUrl { user, database, space, encryption, root_certificates, .. } = self;
        let server = self.server();
        let (user, database, space) = (encoded(user), encoded(database), encoded(space));
        write!(f, "postgres://{user}@{server}/{database}/{space}")?;
        let mode = match (encryption, is_local(&self.host)) {
            (Encryption::None, false) => Some("sslmode=disable".to_owned()),
            (Encryption::Verified, true) => Some("sslmode=verify-full".to_owned()),
            _ => None,
        };
        let file = root_certificates.as_ref().map(|it| format!("sslrootcert={}", encoded(it)));
        let options: Vec<String> = mode.into_iter().chain(file).collect();
        if options.is_empty() { Ok(()) } else { write!(f, "?{}", options.join("&")) }
    }
}

fn split_port(place: &str) -> Option<(String, u16)> {
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']')?;
            (host, rest.strip_prefix(':'))
        }
        None => match place.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (place, None),
        },
    };
    Some((decoded(host), port.map_or(Some(PORT), |it| it.parse().ok())?))
}

/// Returns whether a host is this machine, so that nothing leaves it.
fn is_local(host: &str) -> bool {
    host == "localhost"
        || host.starts_with('/')
        || host.parse::<IpAddr>().is_ok_and(|it| it.is_loopback())
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = |it: &[u8]| u8::from_str_radix(std::str::from_utf8(it).ok()?, 16).ok();
        match (first, tail.get(..2).and_then(hex)) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}

#[cfg(test)]
mod tests;
