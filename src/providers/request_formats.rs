//! Requests in the form of each service: address, headers and body. No IO.

use serde_json::{Value, json};

use super::{ModelPrompt, ProviderApiKey, RedactedText};
use crate::settings::config::{ProviderKind, ProviderSpec};

/// The version of Anthropic's interface.
const ANTHROPIC_VERSION: &str = "2023-06-01";
/// The version of Azure's interface, where none is named.
const AZURE_VERSION: &str = "2024-10-21";
/// Tokens of an answer where none are named and the service wants a number.
const ANSWER_TOKENS: u32 = 8_192;
/// Tokens of question and answer together, which Ollama cuts at 4,096 unless told otherwise.
const OLLAMA_CONTEXT: u32 = 32_768;

/// A request to a service.
pub(super) struct HttpRequest {
    /// Its address below that of the service.
    pub(super) path: String,
    /// The name of the header that has the key, and the text before the key.
    pub(super) key_header: (&'static str, &'static str),
    /// A further header.
    pub(super) header: Option<(&'static str, &'static str)>,
    /// `None` for a question without one.
    pub(super) body: Option<Value>,
}

/// Returns the address of a service that needs none in the settings.
pub(super) fn usual_url(kind: ProviderKind) -> &'static str {
    match kind {
        ProviderKind::Anthropic => "https://api.anthropic.com",
        ProviderKind::OpenAi => "https://api.openai.com/v1",
        ProviderKind::Ollama => "http://localhost:11434",
        ProviderKind::Azure | ProviderKind::Command => "",
    }
}

/// Returns the question to a model.
pub(super) fn completion(settings: &ProviderSpec, prompt: &ModelPrompt) -> HttpRequest {
    let ProviderSpec { model, max_tokens, .. } = settings;
    let user = json!({"role": "user", "content": prompt.user.as_str()});
    let messages = json!([{"role": "system", "content": prompt.system}, user]);
    let (path, mut body) = match settings.kind {
        ProviderKind::Anthropic => {
            let max_tokens = max_tokens.unwrap_or(ANSWER_TOKENS);
            let body = json!({
                "model": model,
                "max_tokens": max_tokens,
                "system": prompt.system,
                "messages": [user],
            });
            ("/v1/messages".to_owned(), body)
        }
        ProviderKind::Azure => (azure_path(settings, "chat/completions"), json!({})),
        ProviderKind::Ollama => {
            let mut options = json!({"num_ctx": OLLAMA_CONTEXT});
            if let Some(n) = max_tokens {
                options["num_predict"] = (*n).into();
            }
            let body = json!({"model": model, "stream": false, "options": options});
            ("/api/chat".to_owned(), body)
        }
        ProviderKind::OpenAi | ProviderKind::Command => {
            ("/chat/completions".to_owned(), json!({"model": model}))
        }
    };
    if settings.kind != ProviderKind::Anthropic {
        body["messages"] = messages;
    }
    if let (Some(n), ProviderKind::OpenAi | ProviderKind::Azure) = (max_tokens, settings.kind) {
        // Services that only speak like OpenAI know the older name.
        let is_other = settings.kind == ProviderKind::OpenAi && settings.url.is_some();
        body[if is_other { "max_tokens" } else { "max_completion_tokens" }] = (*n).into();
    }
    HttpRequest { path, body: Some(body), ..HttpRequest::get(settings.kind, "") }
}

/// Returns the request for the vectors of texts.
pub(super) fn embeddings(settings: &ProviderSpec, texts: &[RedactedText]) -> HttpRequest {
    let input: Vec<&str> = texts.iter().map(RedactedText::as_str).collect();
    let mut body = json!({"model": settings.model, "input": input});
    let path = match settings.kind {
        ProviderKind::Ollama => "/api/embed".to_owned(),
        ProviderKind::Azure => azure_path(settings, "embeddings"),
        _ => "/embeddings".to_owned(),
    };
    if let (Some(n), false) = (settings.dimensions, settings.kind == ProviderKind::Ollama) {
        body["dimensions"] = n.into();
    }
    HttpRequest { path, body: Some(body), ..HttpRequest::get(settings.kind, "") }
}

/// Returns the request for the scores of texts.
pub(super) fn reranking(
    settings: &ProviderSpec,
    query: &RedactedText,
    texts: &[RedactedText],
) -> HttpRequest {
    let documents: Vec<&str> = texts.iter().map(RedactedText::as_str).collect();
    let body = json!({
        "model": settings.model,
        "query": query.as_str(),
        "documents": documents,
        "top_n": documents.len(),
    });
    HttpRequest { body: Some(body), ..HttpRequest::get(settings.kind, "/rerank") }
}

/// Returns a question that costs nothing, to see whether the service is there and takes the key.
pub(super) fn models(settings: &ProviderSpec) -> HttpRequest {
    let path = match settings.kind {
        ProviderKind::Anthropic => "/v1/models".to_owned(),
        ProviderKind::Azure => {
            format!("/openai/models?api-version={}", azure_version(settings))
        }
        ProviderKind::Ollama => "/api/tags".to_owned(),
        ProviderKind::OpenAi | ProviderKind::Command => "/models".to_owned(),
    };
    HttpRequest::get(settings.kind, &path)
}

impl HttpRequest {
    fn get(kind: ProviderKind, path: &str) -> HttpRequest {
        let (key_header, header) = match kind {
            ProviderKind::Anthropic => {
                (("x-api-key", ""), Some(("anthropic-version", ANTHROPIC_VERSION)))
            }
            ProviderKind::Azure => (("api-key", ""), None),
            _ => (("authorization", "Bearer "), None),
        };
        HttpRequest { path: path.to_owned(), key_header, header, body: None }
    }

    /// Returns the name and the text of the header that has the key.
    pub(super) fn authorization(&self, key: &ProviderApiKey) -> (&'static str, String) {
        let (name, before) = self.key_header;
        (name, format!("{before}{}", key.0))
    }
}

fn azure_version(settings: &ProviderSpec) -> &str {
    settings.api_version.as_deref().unwrap_or(AZURE_VERSION)
}

fn azure_path(settings: &ProviderSpec, what: &str) -> String {
    let version = azure_version(settings);
    format!("/openai/deployments/{}/{what}?api-version={version}", settings.model)
}
