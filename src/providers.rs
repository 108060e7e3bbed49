//! Providers: programs and services that a user names to reason, to embed texts or to rank them.
//!
//! Nothing here runs unless the user's own settings name a provider: by default no socket is opened
//! and no program started. [`RedactedText`] is the only text that a provider takes, so that nothing
//! leaves which redaction would mask. Every request has a deadline, every reply a maximum size, and
//! only what may pass is tried again. Keys are in no message, log or argument of a program.
//!
//! A build without the feature `providers` has the same types, and no provider can be made.

mod error;
mod redacted_text;

#[cfg(feature = "providers")]
mod embedding_batches;
#[cfg(feature = "providers")]
mod http;
#[cfg(feature = "providers")]
mod line_process;
#[cfg(feature = "providers")]
mod line_process_scheduler;
#[cfg(feature = "providers")]
mod one_shot_command;
#[cfg(feature = "providers")]
mod pipes;
#[cfg(feature = "providers")]
mod process_group;
#[cfg(feature = "providers")]
mod provider;
#[cfg(feature = "providers")]
mod request_formats;
#[cfg(feature = "providers")]
mod response_parsing;
#[cfg(feature = "providers")]
mod retries;
#[cfg(not(feature = "providers"))]
mod without_providers;

#[cfg(test)]
#[cfg(feature = "providers")]
pub(crate) mod shell_provider_testing;
#[cfg(test)]
#[cfg(feature = "providers")]
mod tests;

use std::sync::Arc;
use std::time::Duration;

pub(crate) use error::ProviderError;
#[cfg(feature = "providers")]
pub(crate) use provider::ProviderClient;
pub(crate) use redacted_text::RedactedText;
#[cfg(not(feature = "providers"))]
pub(crate) use without_providers::ProviderStub as ProviderClient;

use crate::settings::config::ProviderSpec;

/// Waits for a while before the next attempt; returns whether to give up instead.
pub(crate) type CancellableSleep<'a> = &'a dyn Fn(Duration) -> bool;

/// Waits to the end, as whoever cannot be asked to give up.
pub(crate) fn wait_out(wait: Duration) -> bool {
    let _ = crossbeam_channel::never::<()>().recv_timeout(wait);
    false
}

/// The jobs that providers do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProviderJob {
    Completion,
    Embeddings,
    Reranking,
}

impl ProviderJob {
    /// Returns its name in settings.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ProviderJob::Completion => "completion",
            ProviderJob::Embeddings => "embeddings",
            ProviderJob::Reranking => "reranking",
        }
    }
}

/// A question to a model: how to answer, and what about.
#[derive(Clone, Debug)]
pub(crate) struct ModelPrompt {
    /// Constant, so that services can cache it. A command is not told it.
    pub(crate) system: &'static str,
    pub(crate) user: RedactedText,
}

/// A key of a service, which nothing shows.
#[cfg_attr(not(feature = "providers"), allow(dead_code, reason = "nobody is asked"))]
#[derive(Clone)]
pub(crate) struct ProviderApiKey(pub(super) String);

impl ProviderApiKey {
    /// Returns a key without the white space around it.
    pub(crate) fn new(text: &str) -> ProviderApiKey {
        ProviderApiKey(text.trim().to_owned())
    }
}

/// Everything that a provider is made of.
#[cfg_attr(not(feature = "providers"), allow(dead_code, reason = "nobody is asked"))]
pub(crate) struct ProviderConfig {
    pub(crate) job: ProviderJob,
    pub(crate) settings: ProviderSpec,
    /// Its key, if it has one, or why that cannot be read.
    pub(crate) key: Result<Option<ProviderApiKey>, String>,
    /// Certificates to trust in PEM, or why they cannot be read.
    pub(crate) certificates: Result<Option<Vec<u8>>, String>,
}

/// The providers that a user named.
#[derive(Clone, Debug, Default)]
pub(crate) struct Providers {
    pub(crate) completion: Option<Arc<ProviderClient>>,
    pub(crate) embeddings: Option<Arc<ProviderClient>>,
    pub(crate) reranking: Option<Arc<ProviderClient>>,
}

impl Providers {
    /// Returns every provider, with its job.
    pub(crate) fn all(&self) -> impl Iterator<Item = (ProviderJob, &Arc<ProviderClient>)> {
        let all = [
            (ProviderJob::Completion, &self.completion),
            (ProviderJob::Embeddings, &self.embeddings),
            (ProviderJob::Reranking, &self.reranking),
        ];
        all.into_iter().filter_map(|(job, it)| Some((job, it.as_ref()?)))
    }
}
