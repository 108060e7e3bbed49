//! Settings of Remind: its keys and variables, and the setting here that each stands for.
//!
//! What remains without one says why. A provider is taken over only where the user's own settings
//! ask for it: some variables are shared with other programs, and none of these may make this one
//! send what is remembered.

use serde_json::{Map, Value, json};

/// A setting of Remind: a row of [`REMIND_KEYS`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct RemindKey {
    /// The key of its file, with a period between levels.
    pub(crate) key: &'static str,
    /// The variable of the environment, which counts before the file.
    pub(crate) variable: Option<&'static str>,
    #[cfg_attr(not(test), expect(dead_code, reason = "the manual is compared with it"))]
    pub(crate) ours: RemindSettingEquivalent,
}

/// The meaning of a setting of Remind here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RemindSettingEquivalent {
    /// This setting.
    Setting(&'static str),
    /// This part of a provider, where the user's settings take Remind's providers over.
    Provider(&'static str),
    /// Nothing; the reason, or what to set instead.
    Nothing(&'static str),
}

use RemindSettingEquivalent::{Nothing, Provider, Setting};

/// Every setting of Remind.
pub(crate) const REMIND_KEYS: &[RemindKey] = &[
    both("llm_provider", "LLM_PROVIDER", Provider("providers.completion.kind")),
    both("embedding_provider", "EMBEDDING_PROVIDER", Provider("providers.embeddings.kind")),
    both("anthropic.api_key", "ANTHROPIC_API_KEY", Provider("the key, from the variable alone")),
    both("anthropic.model", "ANTHROPIC_MODEL", Provider("providers.completion.model")),
    both("anthropic.ingest_model", "ANTHROPIC_INGEST_MODEL", Nothing("one model does all")),
    both("openai.api_key", "OPENAI_API_KEY", Provider("the key, from the variable alone")),
    both("openai.base_url", "OPENAI_BASE_URL", Provider("the `url` of both")),
    both("openai.model", "OPENAI_MODEL", Provider("providers.completion.model")),
    both(
        "openai.embedding_model",
        "OPENAI_EMBEDDING_MODEL",
        Provider("providers.embeddings.model"),
    ),
    both(
        "openai.embedding_size",
        "OPENAI_EMBEDDING_SIZE",
        Provider("providers.embeddings.dimensions"),
    ),
    both("openai.ingest_model", "OPENAI_INGEST_MODEL", Nothing("one model does all")),
    both(
        "azure_openai.api_key",
        "AZURE_OPENAI_API_KEY",
        Provider("the key, from the variable alone"),
    ),
    both("azure_openai.base_url", "AZURE_OPENAI_API_BASE_URL", Provider("the `url` of both")),
    both(
        "azure_openai.deployment_name",
        "AZURE_OPENAI_DEPLOYMENT_NAME",
        Provider("providers.completion.model"),
    ),
    both(
        "azure_openai.embedding_deployment_name",
        "AZURE_OPENAI_EMBEDDING_DEPLOYMENT_NAME",
        Provider("providers.embeddings.model"),
    ),
    both(
        "azure_openai.embedding_size",
        "AZURE_OPENAI_EMBEDDING_SIZE",
        Provider("providers.embeddings.dimensions"),
    ),
    both(
        "azure_openai.ingest_deployment_name",
        "AZURE_OPENAI_INGEST_DEPLOYMENT_NAME",
        Nothing("one model does all"),
    ),
    both("ollama.url", "OLLAMA_URL", Provider("the `url` of both")),
    both("ollama.llm_model", "OLLAMA_LLM_MODEL", Provider("providers.completion.model")),
    both(
        "ollama.embedding_model",
        "OLLAMA_EMBEDDING_MODEL",
        Provider("providers.embeddings.model"),
    ),
    both("ollama.ingest_model", "OLLAMA_INGEST_MODEL", Nothing("one model does all")),
    both("consolidation_threshold", "CONSOLIDATION_THRESHOLD", Setting("consolidation.threshold")),
    both("auto_consolidate", "AUTO_CONSOLIDATE", Setting("consolidation.automatic")),
    both("ingest_buffer_size", "INGEST_BUFFER_SIZE", Setting("knowledge.ingest_buffer_size")),
    both(
        "hybrid_keyword_weight",
        "REMIND_HYBRID_KEYWORD_WEIGHT",
        Setting("knowledge.hybrid_keyword_weight"),
    ),
    both("episode_types", "REMIND_EPISODE_TYPES", Setting("knowledge.episode_types")),
    both(
        "concepts_per_pass",
        "CONCEPTS_PER_PASS",
        Nothing("a worksheet has the nearest concepts within its budget"),
    ),
    both(
        "extraction_batch_size",
        "EXTRACTION_BATCH_SIZE",
        Nothing("entities are found without a model"),
    ),
    both(
        "extraction_llm_batch_size",
        "EXTRACTION_LLM_BATCH_SIZE",
        Nothing("entities are found without a model"),
    ),
    both(
        "consolidation_batch_size",
        "CONSOLIDATION_BATCH_SIZE",
        Nothing("a worksheet has at most 25 episodes"),
    ),
    both(
        "llm_concurrency",
        "LLM_CONCURRENCY",
        Nothing("one worksheet after the other is answered"),
    ),
    both("db_url", "REMIND_DB_URL", Nothing("`--db` or `REMINDB_DB` names the memory")),
    both(
        "recall_initial_candidates",
        "REMIND_RECALL_INITIAL_CANDIDATES",
        Nothing("every node with a word of the question is one"),
    ),
    both(
        "reranking_enabled",
        "REMIND_RERANKING_ENABLED",
        Nothing("`providers.reranking` names a service"),
    ),
    both(
        "reranking_model",
        "REMIND_RERANKING_MODEL",
        Nothing("`providers.reranking` names a service"),
    ),
    both("logging_enabled", "REMIND_LOGGING_ENABLED", Nothing("`server.logging` says where to")),
    both(
        "cli_output_mode",
        "REMIND_CLI_OUTPUT_MODE",
        Nothing("`--json` is a flag of each command"),
    ),
    file("cli_recall_worker_enabled", Nothing("no model has to stay loaded")),
    file("cli_recall_worker_idle_seconds", Nothing("no model has to stay loaded")),
    both("decay.enabled", "REMIND_DECAY_ENABLED", Nothing("`temperature.enabled`")),
    both(
        "decay.decay_interval",
        "REMIND_DECAY_INTERVAL",
        Nothing("nodes cool by attended time, not by recalls"),
    ),
    both("decay.decay_rate", "REMIND_DECAY_RATE", Nothing("`temperature.decay_rate`, by the hour")),
];

const fn both(
    key: &'static str,
    variable: &'static str,
    ours: RemindSettingEquivalent,
) -> RemindKey {
    RemindKey { key, variable: Some(variable), ours }
}

const fn file(key: &'static str, ours: RemindSettingEquivalent) -> RemindKey {
    RemindKey { key, variable: None, ours }
}

/// The settings of Remind that a person has: variables of the environment, and a file.
pub(crate) struct RemindUserConfig<'a> {
    pub(crate) variable: &'a dyn Fn(&str) -> Option<String>,
    pub(crate) file: Map<String, Value>,
}

/// A service by the name that Remind has for it, with its keys and the models it uses by default.
struct ServiceDefaults {
    name: &'static str,
    kind: &'static str,
    url: Option<&'static str>,
    model: (&'static str, Option<&'static str>),
    embedding: Option<(&'static str, Option<&'static str>)>,
    size: Option<&'static str>,
}

const SERVICES: &[ServiceDefaults] = &[
    ServiceDefaults {
        name: "anthropic",
        kind: "anthropic",
        url: None,
        model: ("anthropic.model", Some("claude-sonnet-4-20250514")),
        embedding: None,
        size: None,
    },
    ServiceDefaults {
        name: "openai",
        kind: "openai",
        url: Some("openai.base_url"),
        model: ("openai.model", Some("gpt-4.1")),
        embedding: Some(("openai.embedding_model", Some("text-embedding-3-small"))),
        size: Some("openai.embedding_size"),
    },
    ServiceDefaults {
        name: "azure_openai",
        kind: "azure",
        url: Some("azure_openai.base_url"),
        model: ("azure_openai.deployment_name", None),
        embedding: Some(("azure_openai.embedding_deployment_name", None)),
        size: Some("azure_openai.embedding_size"),
    },
    ServiceDefaults {
        name: "ollama",
        kind: "ollama",
        url: Some("ollama.url"),
        model: ("ollama.llm_model", Some("llama3.2")),
        embedding: Some(("ollama.embedding_model", Some("nomic-embed-text"))),
        size: None,
    },
];

impl RemindUserConfig<'_> {
    /// Returns the value of a key: of its variable, else of the file.
    fn value(&self, key: &str) -> Option<Value> {
        let variable = REMIND_KEYS.iter().find(|it| it.key == key).and_then(|it| it.variable);
        if let Some(text) = variable.and_then(self.variable) {
            return Some(text.trim().into());
        }
        let mut names = key.split('.');
        let first = self.file.get(names.next()?)?;
        names.try_fold(first, |at, name| at.get(name)).filter(|it| !it.is_null()).cloned()
    }

    /// Returns the providers that these settings name, by job, as settings of providers have them.
    ///
    /// # Errors
    ///
    /// A name is none of a provider; the text says which are.
    pub(super) fn providers(&self) -> Result<Map<String, Value>, String> {
        let mut providers = Map::new();
        for (job, key) in [("completion", "llm_provider"), ("embeddings", "embedding_provider")] {
            let Some(name) = self.value(key) else { continue };
            let service = SERVICES.iter().find(|it| name == it.name);
            let service = service.filter(|it| job == "completion" || it.embedding.is_some());
            let Some(service) = service else {
                let known: Vec<&str> = SERVICES.iter().map(|it| it.name).collect();
                return Err(format!("`{key}` is {name}; known are {}", known.join(", ")));
            };
            providers.insert(job.to_owned(), self.provider(service, job).into());
        }
        Ok(providers)
    }

    fn provider(&self, service: &ServiceDefaults, job: &str) -> Map<String, Value> {
        let mut provider = Map::from_iter([("kind".to_owned(), json!(service.kind))]);
        let (model, usual) = match service.embedding.filter(|_| job == "embeddings") {
            Some(embedding) => embedding,
            None => service.model,
        };
        if let Some(model) = self.value(model).or(usual.map(Value::from)) {
            provider.insert("model".to_owned(), model);
        }
        if let Some(url) = service.url.and_then(|it| self.value(it)) {
            provider.insert("url".to_owned(), url);
            // With an address of one's own, only a key that is named is sent.
            if service.kind == "openai" {
                provider.insert("key_env".to_owned(), "OPENAI_API_KEY".into());
            }
        }
        let size = service.size.filter(|_| job == "embeddings").and_then(|it| self.value(it));
        let size = size.and_then(|it| it.as_u64().or_else(|| it.as_str()?.parse().ok()));
        if let Some(size) = size {
            provider.insert("dimensions".to_owned(), size.into());
        }
        provider
    }
}

#[cfg(test)]
mod tests;
