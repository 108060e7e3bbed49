//! The address of a space: `postgres://user@host:port/database/space`.

use std::fmt;
use std::net::IpAddr;

const PORT: u16 = 5432;

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
            encryption: if is_local(&host) { Encryption::None } else { Encryption::Verified },
            host,
            port,
            database: decoded(database),
            space: decoded(space.trim_end_matches('/')),
            root_certificates: None,
        };
        let parts = [&url.user, &url.host, &url.database, &url.space];
        if parts.iter().any(|it| it.is_empty() || it.contains(['\0', '/'])) {
            return Err(FORM.to_owned());
        }
        for option in query.split('&').filter(|it| !it.is_empty()) {
            url.set(option)?;
        }
        Ok(url)
    }

    fn set(&mut self, option: &str) -> Result<(), String> {
        match option.split_once('=').unwrap_or((option, "")) {
            ("sslmode", "disable") => self.encryption = Encryption::None,
            ("sslmode", "verify-full") => self.encryption = Encryption::Verified,
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
                    "`{name}` is no option of a space; there are `sslmode` and `sslrootcert`"
                ));
            }
        }
        Ok(())
    }

    /// Returns the server for messages.
    pub(crate) fn server(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
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

/// Returns whether a host is this machine, to which nothing leaves it.
fn is_local(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|it| it.is_loopback())
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
