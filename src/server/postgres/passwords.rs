//! Finds the password of a server: in the environment, or in a password file as `psql` reads it.

use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::space_url::SpaceUrl;
use crate::ingest::scan;

/// Bytes of a password file, at most.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// A password, which no message shows.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct SecretPassword(pub(super) String);

impl fmt::Debug for SecretPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretPassword")
    }
}

/// The places in which a password may be.
#[derive(Clone, Debug, Default)]
pub(crate) struct PasswordSources {
    /// `PGPASSWORD`.
    pub(crate) given: Option<SecretPassword>,
    /// `PGPASSFILE`, or its default.
    pub(crate) file: Option<PathBuf>,
}

impl SecretPassword {
    /// Returns a password that the environment gave.
    pub(crate) fn of(text: String) -> SecretPassword {
        SecretPassword(text)
    }
}

impl PasswordSources {
    /// Returns the password of a server; an empty one where there is none.
    pub(crate) fn password_of(&self, url: &SpaceUrl) -> SecretPassword {
        if let Some(given) = &self.given {
            return given.clone();
        }
        let Some(path) = &self.file else { return SecretPassword::default() };
        let text = match scan::read_regular_text(path, FILE_BYTES_MAX) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return SecretPassword::default(),
            Err(error) => {
                log::warn!("`{}` is not used: {error}", path.display());
                return SecretPassword::default();
            }
        };
        if is_open_to_others(path) {
            log::warn!("`{}` is not used: other users can read it; chmod 600 it", path.display());
            return SecretPassword::default();
        }
        let found = text.lines().find_map(|line| password_in(line, url));
        found.map(SecretPassword).unwrap_or_default()
    }
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
    let is_about = is(host, &url.host)
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
fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|it| it.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_open_to_others(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests;
