//! Access control: the known hosts and origins, and the bearer token.
//!
//! A page of another site that makes a browser send a request is stopped by its `Origin`, one that
//! makes its own name resolve to this machine by the `Host`. Neither check replaces the other, so
//! both come before anything else.

use std::fmt;
use std::net::IpAddr;

use super::page::is_navigation;
use super::request_head::{RequestHead, absolute};
use super::response::HttpError;

/// Names of this machine that only it can use.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
/// Minimum characters of a token.
const TOKEN_CHARS_MIN: usize = 16;

/// The secret of authorized clients.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct BearerToken(String);

impl BearerToken {
    /// Checks the form of a token.
    pub(crate) fn new(text: &str) -> Result<BearerToken, String> {
        if text.chars().count() < TOKEN_CHARS_MIN {
            return Err(format!("must have {TOKEN_CHARS_MIN} characters or more"));
        }
        match text.bytes().all(|it| it.is_ascii_graphic()) {
            true => Ok(BearerToken(text.to_owned())),
            false => Err("must be of visible ASCII characters, without spaces".to_owned()),
        }
    }

    /// Returns whether the token is `other`; the time taken reveals the length of `other` only.
    fn is(&self, other: &str) -> bool {
        let (mine, other) = (self.0.as_bytes(), other.as_bytes());
        let mut difference = mine.len() ^ other.len();
        for (idx, byte) in other.iter().enumerate() {
            difference |= usize::from(mine[idx % mine.len()] ^ byte);
        }
        std::hint::black_box(difference) == 0
    }
}

impl fmt::Debug for BearerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// The rules of access.
#[derive(Clone, Debug, Default)]
pub(crate) struct AccessRules {
    /// Names of this server, without a port, in lower case.
    hosts: Vec<String>,
    /// Origins that may use it, as browsers name them.
    origins: Vec<String>,
    token: Option<BearerToken>,
}

impl AccessRules {
    /// Returns the rules of a server at `address`, which answers to `hosts`, too.
    pub(crate) fn new(
        address: IpAddr,
        hosts: &[String],
        origins: &[String],
        token: Option<BearerToken>,
    ) -> AccessRules {
        let mut known: Vec<String> = LOOPBACK.map(str::to_owned).to_vec();
        match address {
            _ if address.is_unspecified() => (),
            IpAddr::V4(address) => known.push(address.to_string()),
            IpAddr::V6(address) => known.push(format!("[{address}]")),
        }
        known.extend(hosts.iter().map(|it| it.to_ascii_lowercase()));
        let origins = origins.iter().map(|it| it.to_ascii_lowercase()).collect();
        AccessRules { hosts: known, origins, token }
    }

    /// Checks the host and the origin of a request; returns the origin, if there is one.
    pub(super) fn origin(&self, head: &RequestHead) -> Result<Option<String>, HttpError> {
        let host = head.one("host")?.map(str::to_ascii_lowercase);
        if host.is_none() && head.is_current {
            return Err(HttpError::new(400, "`Host` is missing"));
        }
        // A target may name the host, too; then both have to be this server's.
        let target = absolute(&head.target).map(|(authority, _)| authority.to_ascii_lowercase());
        for host in [&host, &target].into_iter().flatten() {
            self.host(host)?;
        }
        let Some(host) = target.or(host) else {
            return Err(HttpError::new(400, "`Host` is missing"));
        };
        let Some(origin) = head.one("origin")? else {
            // Browsers send this even without an origin.
            let site = head.one("sec-fetch-site")?.unwrap_or("none");
            return match site {
                "none" | "same-origin" => Ok(None),
                _ if is_navigation(head) => Ok(None),
                _ => Err(HttpError::new(403, "a page of another site asks; see --allow-origin")),
            };
        };
        let lower = origin.to_ascii_lowercase();
        let is_own = lower.strip_prefix("http://") == Some(&host);
        match is_own || self.origins.contains(&lower) {
            true => Ok(Some(origin.to_owned())),
            false => Err(HttpError::new(403, "the `Origin` is not allowed; see --allow-origin")),
        }
    }

    fn host(&self, host: &str) -> Result<(), HttpError> {
        let Some(name) = name_of(host) else {
            return Err(HttpError::new(400, "`Host` is no host"));
        };
        match self.hosts.iter().any(|it| it == name) {
            true => Ok(()),
            false => {
                Err(HttpError::new(403, "the `Host` is none of this server's; see --allow-host"))
            }
        }
    }

    /// Returns the token of authorized clients, if one is configured.
    pub(super) fn bearer(&self) -> Option<&str> {
        self.token.as_ref().map(|it| it.0.as_str())
    }

    /// Checks the token, if one is configured.
    pub(super) fn token(&self, head: &RequestHead) -> Result<(), HttpError> {
        let Some(token) = &self.token else { return Ok(()) };
        let given = head.one("authorization")?.and_then(|it| it.split_once(' '));
        match given {
            Some((scheme, given))
                if scheme.eq_ignore_ascii_case("bearer") && token.is(given.trim()) =>
            {
                Ok(())
            }
            _ => Err(HttpError::new(401, "send the token as `Authorization: Bearer TOKEN`")),
        }
    }
}

/// Returns a host without its port.
fn name_of(host: &str) -> Option<&str> {
    let end = match host.starts_with('[') {
        true => host.find(']')? + 1,
        false => host.find(':').unwrap_or(host.len()),
    };
    let (name, port) = host.split_at(end);
    let is_port = match port.strip_prefix(':') {
        None => port.is_empty(),
        Some(digits) => digits.len() <= 5 && digits.bytes().all(|it| it.is_ascii_digit()),
    };
    (is_port && !name.is_empty()).then_some(name)
}
