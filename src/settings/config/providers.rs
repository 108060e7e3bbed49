//! Settings of providers: programs and services that a user names to reason, embed or rank.
//!
//! Without them nothing is sent anywhere. They are the user's own: a folder's file cannot name one,
//! trusted or not.

use std::time::Duration;

use super::knowledge::THRESHOLD;
use super::object_reader::{ObjectReader, SignConstraint};
use super::{ConfigError, KnowledgeSettings};

/// Range of attempts after the first.
const RETRIES: (u32, u32) = (0, 10);
/// Range of the tokens of an answer.
const ANSWER_TOKENS: (u32, u32) = (256, 200_000);
/// Range of the numbers of a vector.
const DIMENSIONS: (u32, u32) = (2, 4_096);
/// Longest wait for one answer.
const TIMEOUT_MAX: Duration = Duration::from_secs(600);

/// The provider of each job; a job without one is not done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProvidersByJob {
    /// Answers worksheets with changesets.
    pub(crate) completion: Option<ProviderSpec>,
    /// Turns texts into vectors.
    pub(crate) embeddings: Option<ProviderSpec>,
    /// Scores texts by a question.
    pub(crate) reranking: Option<ProviderSpec>,
    /// The file of the certificates to trust, instead of those that are built in.
    pub(crate) ca_file: Option<String>,
    /// Whether jobs without a provider have the one that settings of Remind name.
    pub(crate) follows_remind: bool,
}

/// A kind of provider, by the way in which it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProviderKind {
    /// A program of this machine.
    Command,
    Anthropic,
    /// OpenAI, and the many that speak as it does.
    OpenAi,
    Azure,
    Ollama,
}

/// Names a provider of one job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProviderSpec {
    pub(crate) kind: ProviderKind,
    /// The program and its arguments.
    pub(crate) command: Vec<String>,
    pub(crate) url: Option<String>,
    /// Its model; the deployment of Azure.
    pub(crate) model: String,
    /// The variable of the environment that has the key.
    pub(crate) key_env: Option<String>,
    /// The file that has the key.
    pub(crate) key_file: Option<String>,
    pub(crate) api_version: Option<String>,
    /// The longest wait for one answer.
    pub(crate) timeout: Duration,
    /// Attempts after the first.
    pub(crate) retries: u32,
    /// Tokens of an answer, at most.
    pub(crate) max_tokens: Option<u32>,
    /// Numbers of a vector, where the model leaves the choice.
    pub(crate) dimensions: Option<u32>,
    /// Whether texts may leave this machine without encryption.
    pub(crate) is_plain_allowed: bool,
}

/// Says when episodes are consolidated without being asked to, and who may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AutomaticConsolidationSettings {
    /// Whether a server consolidates by itself, where there is a provider.
    pub(crate) automatic: Option<bool>,
    /// Pending episodes that begin it.
    pub(crate) threshold: Option<u32>,
    /// Time without a change after which it begins.
    pub(crate) idle: Duration,
    /// Whether a client's model may be asked.
    pub(crate) sampling: bool,
    /// Whether a client's user may be asked which of two facts is right.
    pub(crate) elicitation: bool,
}

impl Default for AutomaticConsolidationSettings {
    fn default() -> AutomaticConsolidationSettings {
        AutomaticConsolidationSettings {
            automatic: None,
            threshold: None,
            idle: Duration::from_secs(60),
            sampling: false,
            elicitation: false,
        }
    }
}

impl AutomaticConsolidationSettings {
    /// Returns whether a server consolidates by itself, where there is a provider.
    pub(crate) fn is_automatic(&self) -> bool {
        self.automatic.unwrap_or(true)
    }

    /// Returns the pending episodes that begin it.
    pub(crate) fn threshold(&self) -> u32 {
        self.threshold.unwrap_or(5)
    }

    /// Returns these settings with those that count before them, and those that count after.
    #[must_use]
    pub(crate) fn between(
        self,
        first: &KnowledgeSettings,
        last: &KnowledgeSettings,
    ) -> AutomaticConsolidationSettings {
        AutomaticConsolidationSettings {
            automatic: first.auto_consolidate.or(self.automatic).or(last.auto_consolidate),
            threshold: first
                .consolidation_threshold
                .or(self.threshold)
                .or(last.consolidation_threshold),
            ..self
        }
    }
}

/// The kinds by their names.
const KINDS: [(&str, ProviderKind); 5] = [
    ("command", ProviderKind::Command),
    ("anthropic", ProviderKind::Anthropic),
    ("openai", ProviderKind::OpenAi),
    ("azure", ProviderKind::Azure),
    ("ollama", ProviderKind::Ollama),
];

impl ProviderKind {
    /// Returns its name in settings.
    #[cfg_attr(not(feature = "providers"), allow(dead_code, reason = "nobody is asked"))]
    pub(crate) fn name(self) -> &'static str {
        KINDS.iter().find(|it| it.1 == self).map_or("", |it| it.0)
    }

    /// Returns whether each customer has an address of their own.
    pub(crate) fn has_own_address(self) -> bool {
        self == ProviderKind::Azure
    }

    /// Returns the variable that has its key where none is named.
    pub(crate) fn usual_key_variable(self) -> Option<&'static str> {
        match self {
            ProviderKind::Anthropic => Some("ANTHROPIC_API_KEY"),
            ProviderKind::OpenAi => Some("OPENAI_API_KEY"),
            ProviderKind::Azure => Some("AZURE_OPENAI_API_KEY"),
            ProviderKind::Command | ProviderKind::Ollama => None,
        }
    }
}

/// A job, with the kinds that can do it and the wait for one answer.
struct ProviderJobConstraints {
    name: &'static str,
    kinds: &'static [ProviderKind],
    timeout: Duration,
    /// Whether each kind needs an address.
    needs_url: bool,
}

const COMPLETION: ProviderJobConstraints = ProviderJobConstraints {
    name: "completion",
    kinds: &[
        ProviderKind::Command,
        ProviderKind::Anthropic,
        ProviderKind::OpenAi,
        ProviderKind::Azure,
        ProviderKind::Ollama,
    ],
    timeout: Duration::from_secs(60),
    needs_url: false,
};
const EMBEDDINGS: ProviderJobConstraints = ProviderJobConstraints {
    name: "embeddings",
    kinds: &[
        ProviderKind::Command,
        ProviderKind::OpenAi,
        ProviderKind::Azure,
        ProviderKind::Ollama,
    ],
    timeout: Duration::from_secs(5),
    needs_url: false,
};
const RERANKING: ProviderJobConstraints = ProviderJobConstraints {
    name: "reranking",
    kinds: &[ProviderKind::Command, ProviderKind::OpenAi],
    timeout: Duration::from_secs(10),
    needs_url: true,
};

impl ProvidersByJob {
    pub(super) fn read(mut fields: ObjectReader) -> Result<ProvidersByJob, ConfigError> {
        let settings = ProvidersByJob {
            completion: ProviderSpec::read(&mut fields, &COMPLETION)?,
            embeddings: ProviderSpec::read(&mut fields, &EMBEDDINGS)?,
            reranking: ProviderSpec::read(&mut fields, &RERANKING)?,
            ca_file: fields.text("ca_file")?,
            follows_remind: fields.flag("remind")?.unwrap_or(false),
        };
        fields.done().map(|()| settings)
    }
}

impl ProviderSpec {
    fn read(
        fields: &mut ObjectReader,
        job: &ProviderJobConstraints,
    ) -> Result<Option<ProviderSpec>, ConfigError> {
        let Some(mut fields) = fields.optional_object(job.name)? else { return Ok(None) };
        let kinds: Vec<(&str, ProviderKind)> =
            KINDS.into_iter().filter(|it| job.kinds.contains(&it.1)).collect();
        let Some(kind) = fields.choice("kind", &kinds)? else {
            let names: Vec<&str> = kinds.iter().map(|it| it.0).collect();
            return Err(fields.error("kind", format!("must be one of {}", names.join(", "))));
        };
        let source = ProviderSpec {
            kind,
            command: command(&mut fields)?,
            url: fields.text("url")?,
            model: fields.text("model")?.unwrap_or_default(),
            key_env: fields.text("key_env")?,
            key_file: fields.text("key_file")?,
            api_version: fields.text("api_version")?,
            timeout: fields
                .duration("timeout", SignConstraint::Positive)?
                .unwrap_or(job.timeout)
                .min(TIMEOUT_MAX),
            retries: fields.number_in("retries", RETRIES)?.unwrap_or(3),
            max_tokens: fields.number_in("max_tokens", ANSWER_TOKENS)?,
            dimensions: fields.number_in("dimensions", DIMENSIONS)?,
            is_plain_allowed: fields.flag("plain_http")?.unwrap_or(false),
        };
        if let Some((name, why)) = source.missing(job) {
            return Err(fields.error(name, why.to_owned()));
        }
        fields.done().map(|()| Some(source))
    }

    /// Returns the setting that its kind needs and that is not set.
    fn missing(&self, job: &ProviderJobConstraints) -> Option<(&'static str, &'static str)> {
        let needs_url = self.kind == ProviderKind::Azure || job.needs_url;
        if self.kind == ProviderKind::Command {
            let why = "must be a list: the program and its arguments";
            return self.command.is_empty().then_some(("command", why));
        }
        if self.model.is_empty() {
            return Some(("model", "must name a model"));
        }
        (needs_url && self.url.is_none()).then_some(("url", "must be the address of the service"))
    }
}

fn command(fields: &mut ObjectReader) -> Result<Vec<String>, ConfigError> {
    let mut command = Vec::new();
    for (nth, word) in fields.list("command")?.into_iter().enumerate() {
        match word {
            serde_json::Value::String(word) => command.push(word),
            other => return Err(fields.wrong(&format!("command[{nth}]"), "a string", &other)),
        }
    }
    Ok(command)
}

impl AutomaticConsolidationSettings {
    pub(super) fn read(
        mut fields: ObjectReader,
    ) -> Result<AutomaticConsolidationSettings, ConfigError> {
        let default = AutomaticConsolidationSettings::default();
        let settings = AutomaticConsolidationSettings {
            automatic: fields.flag("automatic")?,
            threshold: fields.number_in("threshold", THRESHOLD)?,
            idle: fields.duration("idle", SignConstraint::NotNegative)?.unwrap_or(default.idle),
            sampling: fields.flag("sampling")?.unwrap_or(default.sampling),
            elicitation: fields.flag("elicitation")?.unwrap_or(default.elicitation),
        };
        fields.done().map(|()| settings)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::settings::config::{Config, Trust, UserConfig};

    fn of_user(text: &str) -> Result<Config, String> {
        let user = UserConfig::parse("/home/me/config.json", text).map_err(|it| it.to_string())?;
        Ok(user.config().clone())
    }

    #[test]
    fn a_user_names_a_provider_for_each_job() {
        let text = r#"{"providers": {
            "completion": {"kind": "anthropic", "model": "m", "key_file": "/k", "timeout": "5s"},
            "embeddings": {"kind": "command", "command": ["embed", "-q"], "retries": 0},
            "ca_file": "/ca.pem"}, "consolidation": {"threshold": 9, "idle": "0s"}}"#;
        let config = of_user(text).unwrap();
        let completion = config.providers.completion.unwrap();
        assert_eq!((completion.kind, completion.model.as_str()), (ProviderKind::Anthropic, "m"));
        assert_eq!((completion.timeout.as_secs(), completion.retries), (5, 3));
        let embeddings = config.providers.embeddings.unwrap();
        assert_eq!(embeddings.command, ["embed", "-q"]);
        assert_eq!((embeddings.timeout.as_secs(), embeddings.retries), (5, 0));
        assert_eq!(config.providers.reranking, None);
        assert_eq!((config.consolidation.threshold(), config.consolidation.idle.as_secs()), (9, 0));
        assert_eq!(Config::default().providers, ProvidersByJob::default());
    }

    #[test]
    fn no_folder_names_a_provider_however_it_is_trusted() {
        let folder = r#"{"providers": {"completion": {"kind": "command", "command": ["evil"]},
            "ca_file": "x"}, "consolidation": {"sampling": true}}"#;
        for trust in [Trust::Given, Trust::Withheld] {
            let own = r#"{"providers": {"completion": {"kind": "ollama", "model": "m"}}}"#;
            let user = UserConfig::parse("/home/me/config.json", own).unwrap();
            let (config, untrusted) = user.complete(folder, trust).unwrap();
            assert_eq!(config.providers, user.config().providers);
            assert_eq!(config.consolidation, AutomaticConsolidationSettings::default());
            let told: Vec<String> = untrusted.iter().map(ToString::to_string).collect();
            assert_eq!(
                told,
                [
                    "`providers` is not followed: it would send what is remembered to others; \
                     set it in your own settings",
                    "`consolidation` is not followed: it decides who is asked about what is \
                     remembered; set it in your own settings",
                ]
            );
            let (config, _) = UserConfig::default().complete(folder, trust).unwrap();
            assert_eq!(config.providers, ProvidersByJob::default());
        }
    }

    #[track_caller]
    fn check_refused(texts: &[&str], messages: Expect) {
        let told = |it: &&str| of_user(&format!(r#"{{"providers": {{{it}}}}}"#)).unwrap_err();
        messages.assert_eq(&texts.iter().map(told).collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn what_is_missing_or_impossible_is_named() {
        check_refused(
            &[
                r#""completion": {}"#,
                r#""completion": {"kind": "command"}"#,
                r#""completion": {"kind": "openai"}"#,
                r#""completion": {"kind": "azure", "model": "m"}"#,
                r#""embeddings": {"kind": "anthropic", "model": "m"}"#,
                r#""reranking": {"kind": "openai", "model": "m"}"#,
                r#""completion": {"kind": "ollama", "model": "m", "api_key": "sk-1"}"#,
                r#""completion": {"kind": "ollama", "model": "m", "retries": 11}"#,
            ],
            expect![[r#"
                `providers.completion.kind` in /home/me/config.json must be one of command, anthropic, openai, azure, ollama
                `providers.completion.command` in /home/me/config.json must be a list: the program and its arguments
                `providers.completion.model` in /home/me/config.json must name a model
                `providers.completion.url` in /home/me/config.json must be the address of the service
                `providers.embeddings.kind` in /home/me/config.json must be one of command, openai, azure, ollama, not `anthropic`
                `providers.reranking.url` in /home/me/config.json must be the address of the service
                unknown key "api_key" in /home/me/config.json, under `providers.completion`; known are kind, command, url, model, key_env, key_file, api_version, timeout, retries, max_tokens, dimensions, plain_http
                `providers.completion.retries` in /home/me/config.json must be a whole number from 0 to 10, not `11`"#]],
        );
    }
}
