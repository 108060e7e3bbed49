//! The client of services: one request, one answer, within a deadline and a size.
//!
//! Connections are encrypted, unless they stay on this machine or the user allows it. A redirect
//! is an error: it would lead keys and texts elsewhere. Proxies are those of the environment, and
//! none for this machine.

use std::sync::Arc;
use std::time::Duration;

use ureq::http::Uri;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig};
use ureq::{Agent, Error};

use super::request_formats::HttpRequest;
use super::{ProviderApiKey, ProviderError, response_parsing};

/// Bytes of an answer, at most.
const ANSWER_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Bytes of the headers of an answer, at most.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// A client of one service.
pub(super) struct HttpClient {
    agent: Agent,
    url: String,
    key: Option<ProviderApiKey>,
}

impl HttpClient {
    /// Returns a client of the service at `url`; nothing is connected yet.
    pub(super) fn new(
        url: &str,
        key: Option<ProviderApiKey>,
        certificates: Option<&[u8]>,
        (timeout, is_plain_allowed): (Duration, bool),
    ) -> Result<HttpClient, ProviderError> {
        let is_local = check_url(url, is_plain_allowed)?;
        let roots = match certificates {
            None => RootCerts::WebPki,
            Some(pem) => RootCerts::Specific(Arc::new(certificates_of(pem)?)),
        };
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_response_header_size(HEAD_BYTES_MAX)
            .user_agent(concat!("remindb/", env!("CARGO_PKG_VERSION")))
            .timeout_global(Some(timeout))
            .tls_config(TlsConfig::builder().root_certs(roots).build());
        if is_local {
            config = config.proxy(None);
        }
        let agent = config.build().new_agent();
        Ok(HttpClient { agent, url: url.trim_end_matches('/').to_owned(), key })
    }

    /// Sends a request, and returns the body of the answer.
    pub(super) fn send(&self, request: &HttpRequest) -> Result<Vec<u8>, ProviderError> {
        let address = format!("{}{}", self.url, request.path);
        let authorization = self.key.as_ref().map(|key| request.authorization(key));
        let header = request.header.map(|(name, text)| (name, text.to_owned()));
        let headers: Vec<(&str, String)> = authorization.into_iter().chain(header).collect();
        let sent = match &request.body {
            Some(body) => {
                let mut post = self.agent.post(&address).header("content-type", "application/json");
                for (name, text) in &headers {
                    post = post.header(*name, text.as_str());
                }
                post.send(body.to_string())
            }
            None => {
                let mut get = self.agent.get(&address);
                for (name, text) in &headers {
                    get = get.header(*name, text.as_str());
                }
                get.call()
            }
        };
        let mut answer = sent.map_err(|error| self.failed(&error, ExchangePhase::Asking))?;
        let status = answer.status().as_u16();
        let wait = answer.headers().get("retry-after").and_then(|it| it.to_str().ok());
        let wait = wait.and_then(|it| it.trim().parse().ok()).map(Duration::from_secs);
        let body = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
        let body = body.map_err(|error| self.failed(&error, ExchangePhase::Reading));
        match status {
            200..=299 => body,
            429 | 529 => Err(ProviderError::Limited(wait)),
            503 if wait.is_some() => Err(ProviderError::Limited(wait)),
            _ => {
                let said = response_parsing::message(status, &body.unwrap_or_default());
                let said = self.without_key(&said);
                Err(match status {
                    408 | 425 | 500..=599 => ProviderError::Failed(said),
                    300..=399 => {
                        let why = "it leads elsewhere; set `url` to its final address";
                        ProviderError::Refused(format!("{said}: {why}"))
                    }
                    401 | 403 if self.key.is_none() => ProviderError::Refused(format!(
                        "{said}; no key was sent: name its place with `key_env` or `key_file`"
                    )),
                    401 | 403 => ProviderError::Refused(format!("{said}; check its key")),
                    _ => ProviderError::Refused(said),
                })
            }
        }
    }

    fn failed(&self, error: &Error, phase: ExchangePhase) -> ProviderError {
        let said = self.without_key(&error.to_string());
        match error {
            Error::Timeout(_) => {
                ProviderError::Late(self.agent.config().timeouts().global.unwrap_or_default())
            }
            Error::BodyExceedsLimit(n_bytes) => ProviderError::TooLarge(*n_bytes),
            Error::Rustls(_) | Error::Tls(_) => ProviderError::Unusable(format!(
                "the connection is not trusted: {said}; where a proxy reads along, set `ca_file` \
                 to its certificates"
            )),
            Error::Io(io) if io.kind() == std::io::ErrorKind::InvalidData => {
                ProviderError::Unusable(format!(
                    "the connection is not trusted: {said}; where a proxy reads along, set \
                     `ca_file` to its certificates"
                ))
            }
            Error::HostNotFound | Error::ConnectionFailed => ProviderError::Unreachable(said),
            Error::Io(_) | Error::Protocol(_) | Error::BodyStalled => match phase {
                ExchangePhase::Asking => ProviderError::Unreachable(said),
                ExchangePhase::Reading => ProviderError::Cut(said),
            },
            _ => ProviderError::Unusable(said),
        }
    }

    /// Takes the key out of a text, in case the service repeats it.
    fn without_key(&self, text: &str) -> String {
        match &self.key {
            Some(key) if !key.0.is_empty() => text.replace(&key.0, "«key»"),
            _ => text.to_owned(),
        }
    }
}

/// The part of an exchange.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExchangePhase {
    Asking,
    Reading,
}

/// Checks an address; returns whether it is on this machine.
fn check_url(url: &str, is_plain_allowed: bool) -> Result<bool, ProviderError> {
    let refused = |why: &str| Err(ProviderError::Unusable(format!("`url` {why}")));
    let Ok(uri) = url.parse::<Uri>() else { return refused("is no address") };
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    if uri.authority().is_some_and(|it| it.as_str().contains('@')) {
        return refused("must not have a password; `key_env` or `key_file` names its place");
    }
    if host.is_empty() || uri.query().is_some() {
        return refused("must be an address such as https://host/path");
    }
    let is_local = host == "localhost"
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    match uri.scheme_str() {
        Some("https") => Ok(is_local),
        Some("http") if is_local || is_plain_allowed => Ok(is_local),
        Some("http") => refused("is not encrypted; use https, or set `plain_http` to allow it"),
        _ => refused("must begin with https://"),
    }
}

fn certificates_of(pem: &[u8]) -> Result<Vec<Certificate<'static>>, ProviderError> {
    let mut certificates = Vec::new();
    for item in ureq::tls::parse_pem(pem) {
        match item {
            Ok(PemItem::Certificate(certificate)) => certificates.push(certificate),
            Ok(_) => (),
            Err(error) => return Err(ProviderError::Unusable(format!("`ca_file`: {error}"))),
        }
    }
    match certificates.is_empty() {
        true => Err(ProviderError::Unusable("`ca_file` has no certificate in PEM".to_owned())),
        false => Ok(certificates),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_leave_encrypted_unless_the_user_says_otherwise() {
        let told = |url, plain| check_url(url, plain).map_err(|it| it.to_string());
        assert_eq!(told("https://api.example.com/v1", false), Ok(false));
        for local in ["http://localhost:1", "http://127.0.0.1:1/x", "http://[::1]:1"] {
            assert_eq!(told(local, false), Ok(true), "{local}");
        }
        assert_eq!(told("http://192.0.2.1:11434", true), Ok(false));
        let refused = |url| told(url, false).unwrap_err();
        assert!(refused("http://192.0.2.1:11434").contains("plain_http"));
        assert!(refused("https://me:secret@example.com").contains("password"));
        assert!(!refused("https://me:secret@example.com").contains("secret@"));
        assert!(refused("ftp://example.com").contains("https"));
        assert!(refused("not an address").contains("no address"));
        assert!(refused("http://localhost.example.com").contains("not encrypted"));
    }
}
