//! Providers against a service on this machine that speaks each interface, and real programs.

#[path = "../../tests/it/providers/service.rs"]
mod service;

mod programs;
mod services;

use std::time::Duration;

use super::*;
use crate::ingest::redact::Redactor;
use crate::settings::config::ProviderKind;

fn scrubbed(text: &str) -> RedactedText {
    RedactedText::of(&Redactor::builtin(), text)
}

fn settings(kind: ProviderKind) -> ProviderSpec {
    ProviderSpec {
        kind,
        command: Vec::new(),
        url: None,
        model: "m-1".to_owned(),
        key_env: None,
        key_file: None,
        api_version: None,
        timeout: Duration::from_secs(30),
        retries: 2,
        max_tokens: None,
        dimensions: None,
        is_plain_allowed: false,
    }
}

fn prompt(user: &str) -> ModelPrompt {
    ModelPrompt { system: "Answer.", user: scrubbed(user) }
}

/// Waits for nothing.
fn at_once(_: Duration) -> bool {
    false
}

/// Returns the vectors of all texts, however many come at a time.
fn embedded(source: &ProviderClient, texts: &[&str]) -> Result<Vec<Vec<f32>>, ProviderError> {
    let texts: Vec<RedactedText> = texts.iter().map(|it| scrubbed(it)).collect();
    let mut vectors = Vec::new();
    while vectors.len() < texts.len() {
        vectors.extend(source.embed_some(&texts[vectors.len()..], &at_once)?);
    }
    Ok(vectors)
}
