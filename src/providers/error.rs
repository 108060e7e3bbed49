//! Failures of providers, and which of them may pass.

use std::fmt;
use std::time::Duration;

/// The reason why a provider gave no answer.
#[allow(dead_code, reason = "a build without providers makes none")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProviderError {
    /// Its settings, key or address are wrong.
    Unusable(String),
    /// There is no connection, or the program does not start.
    Unreachable(String),
    /// There was no answer before the deadline.
    Late(Duration),
    /// There was no answer before a question had to be answered without it.
    Slow(Duration),
    /// It takes no more requests for a while, if it says for how long.
    Limited(Option<Duration>),
    /// It failed, and may not the next time.
    Failed(String),
    /// It refused the request.
    Refused(String),
    /// Its answer ended before its end.
    Cut(String),
    /// Its answer is larger than this many bytes.
    TooLarge(u64),
    /// Its answer has another form.
    Malformed(String),
    /// Nobody waits any more.
    Stopped,
}

impl ProviderError {
    /// Returns whether the same request may succeed later.
    #[cfg_attr(not(feature = "providers"), allow(dead_code, reason = "nobody is asked"))]
    pub(crate) fn may_pass(&self) -> bool {
        matches!(
            self,
            ProviderError::Unreachable(_)
                | ProviderError::Late(_)
                | ProviderError::Limited(_)
                | ProviderError::Failed(_)
                | ProviderError::Cut(_)
        )
    }

    /// Returns how long the provider asks to be left alone.
    pub(crate) fn asked_wait(&self) -> Option<Duration> {
        match self {
            ProviderError::Limited(wait) => *wait,
            _ => None,
        }
    }
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProviderError::Unusable(why) => f.write_str(why),
            ProviderError::Unreachable(why) => write!(f, "it is not reachable: {why}"),
            ProviderError::Late(wait) => {
                write!(f, "it did not answer within {} s; `timeout` sets more", wait.as_secs_f64())
            }
            ProviderError::Slow(wait) => {
                write!(f, "it did not answer a question within {} s", wait.as_secs_f64())
            }
            ProviderError::Limited(None) => f.write_str("it takes no more requests for now"),
            ProviderError::Limited(Some(wait)) => {
                write!(f, "it takes no more requests for {} s", wait.as_secs())
            }
            ProviderError::Failed(why) => write!(f, "it failed: {why}"),
            ProviderError::Refused(why) => write!(f, "it refused the request: {why}"),
            ProviderError::Cut(why) => write!(f, "its answer was cut: {why}"),
            ProviderError::TooLarge(n_bytes) => {
                write!(f, "its answer is larger than {n_bytes} bytes")
            }
            ProviderError::Malformed(why) => write!(f, "its answer has another form: {why}"),
            ProviderError::Stopped => f.write_str("it was not waited for"),
        }
    }
}

impl std::error::Error for ProviderError {}
