//! Providers for tests of others: programs of one line.

use std::sync::Arc;
use std::time::Duration;

use super::{ProviderClient, ProviderConfig, ProviderJob};
use crate::settings::config::{ProviderKind, ProviderSpec};

/// Returns a program of a shell that completes.
pub(crate) fn program(script: &str) -> Arc<ProviderClient> {
    program_for(ProviderJob::Completion, script)
}

/// Returns a program of a shell that does a job.
pub(crate) fn program_for(job: ProviderJob, script: &str) -> Arc<ProviderClient> {
    let settings = ProviderSpec {
        kind: ProviderKind::Command,
        command: ["sh", "-c", script].map(str::to_owned).to_vec(),
        url: None,
        model: String::new(),
        key_env: None,
        key_file: None,
        api_version: None,
        timeout: Duration::from_secs(60),
        retries: 0,
        max_tokens: None,
        dimensions: None,
        is_plain_allowed: false,
    };
    let (key, certificates) = (Ok(None), Ok(None));
    Arc::new(ProviderClient::new(ProviderConfig { job, settings, key, certificates }).unwrap())
}
