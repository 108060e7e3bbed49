//! The providers that the user's own settings name, with their keys from environment or files.

use std::path::Path;
use std::sync::Arc;

use super::user_settings::user_config;
use super::{CommandError, CommandStreamsAndClock, variable};
use crate::ingest::scan;
use crate::providers::{ProviderApiKey, ProviderClient, ProviderConfig, ProviderJob, Providers};
use crate::settings::config::{ProviderSpec, ProvidersByJob};

/// Bytes of a file with a key, at most.
const KEY_BYTES_MAX: u64 = 64 * 1024;
/// Bytes of a file with certificates, at most.
const CERTIFICATES_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Returns the providers of the user; one that this build cannot have is a warning.
pub(super) fn providers(
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<Providers, CommandError> {
    let user = user_config()?;
    let settings = &user.config().providers;
    let mut warn = |text: String| {
        let _ = writeln!(context.err, "remindb: warning: {text}");
    };
    let mut made = |job: ProviderJob, source: &Option<ProviderSpec>| {
        let parts = parts(job, source.as_ref()?, settings);
        match ProviderClient::new(parts) {
            Ok(provider) => Some(Arc::new(provider)),
            Err(error) => {
                warn(format!("`providers.{}` is not used: {error}", job.name()));
                None
            }
        }
    };
    Ok(Providers {
        completion: made(ProviderJob::Completion, &settings.completion),
        embeddings: made(ProviderJob::Embeddings, &settings.embeddings),
        reranking: made(ProviderJob::Reranking, &settings.reranking),
    })
}

fn parts(job: ProviderJob, source: &ProviderSpec, all: &ProvidersByJob) -> ProviderConfig {
    let certificates = all.ca_file.as_deref().map(|path| {
        read(path, CERTIFICATES_BYTES_MAX)
            .map_err(|why| format!("`providers.ca_file`: cannot read `{path}`: {why}"))
    });
    ProviderConfig {
        job,
        settings: source.clone(),
        key: key(source),
        certificates: certificates.transpose(),
    }
}

/// Finds the key of a provider: in the file or the variable that is named, else in the usual
/// variable, unless the address is another than the usual one.
fn key(source: &ProviderSpec) -> Result<Option<ProviderApiKey>, String> {
    if let Some(path) = &source.key_file {
        let bytes = read(path, KEY_BYTES_MAX).map_err(|why| format!("no key: {why}: `{path}`"))?;
        let text = String::from_utf8(bytes).map_err(|_| format!("no key: `{path}` is no text"))?;
        return Ok(Some(ProviderApiKey::new(&text)));
    }
    let is_elsewhere = source.url.is_some() && !source.kind.has_own_address();
    let usual = source.kind.usual_key_variable().filter(|_| !is_elsewhere);
    let Some(name) = source.key_env.as_deref().or(usual) else { return Ok(None) };
    match variable(name) {
        Some(text) => Ok(Some(ProviderApiKey::new(&text.to_string_lossy()))),
        None => Err(format!(
            "no key: `{name}` is not set; set it, or name its place with `key_env` or `key_file`"
        )),
    }
}

fn read(path: &str, bytes_max: u64) -> Result<Vec<u8>, String> {
    scan::read_regular(Path::new(path), bytes_max).map_err(|it| it.to_string())
}
