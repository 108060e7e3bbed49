//! Finds the password of a server: in the environment, or in a password file as `psql` reads it.

use std::fmt;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::space_url::SpaceUrl;

/// A password, which no message shows, with the place where it was found or looked for.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct PasswordWithOrigin {
    pub(super) text: String,
    pub(super) origin: String,
}

impl fmt::Debug for PasswordWithOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordWithOrigin")
    }
}

/// The places in which a password may be.
#[derive(Clone, Debug, Default)]
pub(crate) struct PasswordSources {
    /// `PGPASSWORD`.
    pub(crate) given: Option<PasswordWithOrigin>,
    /// `PGPASSFILE`, or its default.
    pub(crate) file: Option<PathBuf>,
}

impl PasswordWithOrigin {
    /// Returns a password that the environment gave.
    pub(crate) fn of(text: String) -> PasswordWithOrigin {
        PasswordWithOrigin { text, origin: "the password is from PGPASSWORD".to_owned() }
    }

    fn none(origin: String) -> PasswordWithOrigin {
        PasswordWithOrigin { text: String::new(), origin }
    }
}

impl PasswordSources {
    /// Returns the password of a server; an empty one where there is none.
    pub(crate) fn password_of(&self, url: &SpaceUrl) -> PasswordWithOrigin {
        if let Some(given) = &self.given {
            return given.clone();
        }
        let Some(path) = &self.file else {
            return PasswordWithOrigin::none("PGPASSWORD is not set".to_owned());
        };
        let shown = path.display();
        let text = match read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let origin = format!("PGPASSWORD is not set, and there is no `{shown}`");
                return PasswordWithOrigin::none(origin);
            }
            Err(error) => {
                let origin = format!("PGPASSWORD is not set, and `{shown}` is not used: {error}");
                return PasswordWithOrigin::none(origin);
            }
        };
        match text.lines().find_map(|line| password_in(line, url)) {
            Some(text) => {
                PasswordWithOrigin { text, origin: format!("the password is from `{shown}`") }
            }
            None => PasswordWithOrigin::none(format!(
                "PGPASSWORD is not set, and no line of `{shown}` is about {}:{}:{}:{}",
                url.host, url.port, url.database, url.user
            )),
        }
    }
}

/// Reads a file that only its owner can read.
fn read(path: &Path) -> io::Result<String> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    if is_open_to_others(&metadata) {
        return Err(io::Error::other("other users can read it; chmod 600 it"));
    }
    fs::read_to_string(path)
}

/// Returns the password of a line `host:port:database:user:password` that is about the server.
fn password_in(line: &str, url: &SpaceUrl) -> Option<String> {
    let line = line.trim_end_matches('\r');
    if line.starts_with('#') {
        return None;
    }
    let fields = fields(line);
    let [host, port, database, user, password] = &fields[..] else { return None };
    let is = |field: &str, value: &str| field == "*" || field == value;
    // The usual sockets of this machine go by the name `localhost`, too.
    let is_host = is(host, &url.host) || url.is_usual_socket() && host == "localhost";
    let is_about = is_host
        && is(port, &url.port.to_string())
        && is(database, &url.database)
        && is(user, &url.user);
    is_about.then(|| password.clone())
}

/// Splits a line at its colons; `\` takes the next character as it is.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        let n_fields = fields.len();
        match (char, fields.last_mut()) {
            (':', _) if n_fields < 5 => fields.push(String::new()),
            ('\\', Some(field)) => field.extend(chars.next()),
            (char, Some(field)) => field.push(char),
            (_, None) => (),
        }
    }
    fields
}

#[cfg(unix)]
fn is_open_to_others(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn is_open_to_others(_: &Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests;
