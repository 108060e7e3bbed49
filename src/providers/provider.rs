//! A provider of one job: a program, or a client of a service.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use super::embedding_batches::AdaptiveBatchSize;
use super::http::HttpClient;
use super::line_process_scheduler::LineProcessTurns;
use super::one_shot_command;
use super::process_group::ProcessGroup;
use super::request_formats::{self, HttpRequest};
use super::retries::with_retries;
use super::{
    CancellableSleep, ModelPrompt, ProviderConfig, ProviderError, ProviderJob, RedactedText,
    embedding_batches, response_parsing,
};
use crate::settings::config::{ProviderKind, ProviderSpec};

/// A provider that a user named.
pub(crate) struct ProviderClient {
    job: ProviderJob,
    settings: ProviderSpec,
    /// Its name in messages.
    name: String,
    /// Its model, by which vectors are told apart.
    model: String,
    way: Result<ProviderTransport, ProviderError>,
    batches: AdaptiveBatchSize,
}

/// The way to ask it.
enum ProviderTransport {
    Program,
    /// A program that is kept, once it runs.
    Lines(LineProcessTurns),
    Service(HttpClient),
}

impl ProviderClient {
    /// Returns a provider. One that is set up wrongly is one, too: each request says why.
    #[expect(clippy::unnecessary_wraps, reason = "a build without providers refuses")]
    pub(crate) fn new(parts: ProviderConfig) -> Result<ProviderClient, ProviderError> {
        let ProviderConfig { job, settings, key, certificates } = parts;
        let kind = settings.kind;
        let usual = request_formats::usual_url(kind);
        let url = settings.url.clone().unwrap_or_else(|| usual.to_owned());
        let unusable = ProviderError::Unusable;
        let way = match (kind, job) {
            (ProviderKind::Command, ProviderJob::Embeddings) => {
                let command = settings.command.clone();
                Ok(ProviderTransport::Lines(LineProcessTurns::new(command, settings.timeout)))
            }
            (ProviderKind::Command, _) => Ok(ProviderTransport::Program),
            _ => key.map_err(unusable).and_then(|key| {
                let certificates = certificates.map_err(unusable)?;
                let limits = (settings.timeout, settings.is_plain_allowed);
                HttpClient::new(&url, key, certificates.as_deref(), limits)
                    .map(ProviderTransport::Service)
            }),
        };
        let (name, model) = match kind {
            ProviderKind::Command => {
                let program = settings.command.first().map_or("", String::as_str);
                (format!("command `{program}`"), settings.command.join(" "))
            }
            _ => (
                format!("{} `{}` at {url}", kind.name(), settings.model),
                format!("{} {} {url}", kind.name(), settings.model),
            ),
        };
        let model = format!("{model} {} {}", settings.model, settings.dimensions.unwrap_or(0));
        let batches = AdaptiveBatchSize::default();
        Ok(ProviderClient { job, settings, name, model, way, batches })
    }

    /// Returns its name in messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name that tells its vectors from those of others.
    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    /// Returns the text that a model answers.
    pub(crate) fn complete(
        &self,
        prompt: &ModelPrompt,
        pause: CancellableSleep<'_>,
    ) -> Result<String, ProviderError> {
        with_retries(self.settings.retries, pause, || match self.way()? {
            ProviderTransport::Service(client) => {
                let answer =
                    self.json_of(client, &request_formats::completion(&self.settings, prompt))?;
                response_parsing::completion(self.settings.kind, &answer)
            }
            _ => text_of(self.run(prompt.user.as_str(), pause)?),
        })
    }

    /// Returns the vectors of the first texts, in their order: of as many as it answers in about a
    /// second, and of one at least.
    pub(crate) fn embed_some(
        &self,
        texts: &[RedactedText],
        pause: CancellableSleep<'_>,
    ) -> Result<Vec<Vec<f32>>, ProviderError> {
        let vectors = with_retries(self.settings.retries, pause, || match self.way()? {
            ProviderTransport::Service(client) => {
                self.batches.in_one_request(texts, |some| self.embed_at(client, some))
            }
            ProviderTransport::Lines(turns) => {
                embedding_batches::one_by_one(texts, |text| turns.embed_text(text, pause))
            }
            ProviderTransport::Program => Err(no_vectors()),
        })?;
        match vectors.iter().all(|it| it.len() == vectors[0].len()) {
            true => Ok(vectors),
            false => Err(lengths_differ()),
        }
    }

    /// Returns the vector of a question, asked once; `None` where it is busy with others.
    pub(crate) fn embed_question(
        &self,
        question: &RedactedText,
    ) -> Result<Option<Vec<f32>>, ProviderError> {
        match self.way()? {
            ProviderTransport::Service(client) => {
                Ok(self.embed_at(client, std::slice::from_ref(question))?.pop())
            }
            ProviderTransport::Lines(turns) => turns.embed_question(question),
            ProviderTransport::Program => Err(no_vectors()),
        }
    }

    fn embed_at(
        &self,
        client: &HttpClient,
        texts: &[RedactedText],
    ) -> Result<Vec<Vec<f32>>, ProviderError> {
        let request = request_formats::embeddings(&self.settings, texts);
        let answer = self.json_of(client, &request)?;
        response_parsing::embeddings(self.settings.kind, &answer, texts.len())
    }

    /// Returns the scores of texts by a question, asked once; more is better.
    pub(crate) fn rerank(
        &self,
        query: &RedactedText,
        texts: &[RedactedText],
    ) -> Result<Vec<f64>, ProviderError> {
        match self.way()? {
            ProviderTransport::Service(client) => {
                let request = request_formats::reranking(&self.settings, query, texts);
                response_parsing::reranking(&self.json_of(client, &request)?, texts.len())
            }
            _ => {
                let texts: Vec<&str> = texts.iter().map(RedactedText::as_str).collect();
                let question = json!({"query": query.as_str(), "texts": texts}).to_string();
                let answer = response_parsing::parse_json(&self.run(&question, &sleep)?)?;
                let scores: Option<Vec<f64>> =
                    answer.as_array().map(|it| it.iter().filter_map(Value::as_f64).collect());
                let is_whole = |it: &Vec<f64>| it.len() == texts.len();
                scores.filter(is_whole).ok_or_else(|| {
                    ProviderError::Malformed(format!("it is no list of {} numbers", texts.len()))
                })
            }
        }
    }

    /// Asks once whether it is there and would answer; a model is not made to write.
    pub(crate) fn reach(&self) -> Result<String, ProviderError> {
        match (self.way()?, self.job) {
            (ProviderTransport::Service(client), ProviderJob::Completion) => {
                self.json_of(client, &request_formats::models(&self.settings))?;
                Ok("reachable".to_owned())
            }
            (ProviderTransport::Service(_), ProviderJob::Reranking) => {
                let text = || RedactedText::of(&crate::ingest::redact::Redactor::builtin(), "a");
                self.rerank(&text(), &[text()])?;
                Ok("reachable".to_owned())
            }
            (way, ProviderJob::Embeddings) => {
                // Two, since one alone cannot tell whether each has an answer of its own.
                let redactor = crate::ingest::redact::Redactor::builtin();
                let texts = ["remindb", "memory"].map(|it| RedactedText::of(&redactor, it));
                let vectors = match way {
                    ProviderTransport::Service(client) => self.embed_at(client, &texts)?,
                    ProviderTransport::Lines(turns) => {
                        let embed = |it| turns.embed_text(it, &|_| false);
                        texts.iter().map(embed).collect::<Result<_, _>>()?
                    }
                    ProviderTransport::Program => return Err(no_vectors()),
                };
                let [first, second] = [0, 1].map(|it| vectors.get(it).map_or(0, Vec::len));
                match first == second {
                    true => Ok(format!("reachable, {first} numbers a vector")),
                    false => Err(lengths_differ()),
                }
            }
            // It is started with nothing to answer, and ended at once.
            (ProviderTransport::Program | ProviderTransport::Lines(_), _) => {
                ProcessGroup::start(&self.settings.command)
                    .map(|_| "starts".to_owned())
                    .map_err(|error| one_shot_command::not_started(&self.settings.command, &error))
            }
        }
    }

    fn way(&self) -> Result<&ProviderTransport, ProviderError> {
        self.way.as_ref().map_err(Clone::clone)
    }

    fn json_of(&self, client: &HttpClient, request: &HttpRequest) -> Result<Value, ProviderError> {
        response_parsing::parse_json(&client.send(request)?)
    }

    fn run(&self, question: &str, pause: CancellableSleep<'_>) -> Result<Vec<u8>, ProviderError> {
        let ProviderSpec { command, timeout, .. } = &self.settings;
        one_shot_command::ask(command, question, *timeout, pause)
    }
}

/// Sleeps, and never gives up: there is a time limit.
fn sleep(wait: Duration) -> bool {
    crossbeam_channel::never::<()>().recv_timeout(wait).is_ok()
}

fn no_vectors() -> ProviderError {
    ProviderError::Unusable("it makes no vectors".to_owned())
}

fn lengths_differ() -> ProviderError {
    ProviderError::Malformed("its vectors differ in length".to_owned())
}

fn text_of(bytes: Vec<u8>) -> Result<String, ProviderError> {
    let no_text = |_| ProviderError::Malformed("it is not UTF-8".to_owned());
    String::from_utf8(bytes).map_err(no_text)
}

impl fmt::Debug for ProviderClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
