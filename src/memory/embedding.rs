//! Vectors: of questions, as they come, and of texts, a few at a time, by the user's source.
//!
//! Without a source nothing is read, loaded or changed. A source that fails is left alone for a
//! while: meanwhile questions are answered by their words.

use std::sync::{MutexGuard, PoisonError};

use super::{Error, Memory};
use crate::model::clock::UnixMillis;
use crate::model::vector::{NormalizedInt8Vector, QueryVector, model_number};
use crate::providers::{CancellableSleep, ProviderClient, ProviderError, RedactedText};
use crate::store::{NodeRowId, StoreError, VectorWriter};

/// Texts of one step.
const TEXTS_MAX: usize = 64;
/// Milliseconds for which a source that failed is not asked about questions.
const REST_MS: i64 = 60_000;

/// The state of the embedding source: its last failure, and the last question with its vector.
#[derive(Debug, Default)]
pub(super) struct EmbeddingProviderState {
    failed_at: Option<UnixMillis>,
    last: Option<(String, QueryVector)>,
}

/// The reason why texts got no vectors.
#[derive(Debug)]
pub(crate) enum EmbedError {
    Provider(ProviderError),
    Store(StoreError),
}

impl std::fmt::Display for EmbedError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EmbedError::Provider(error) => write!(f, "{error}"),
            EmbedError::Store(error) => write!(f, "{error}"),
        }
    }
}

impl From<StoreError> for EmbedError {
    fn from(error: StoreError) -> EmbedError {
        EmbedError::Store(error)
    }
}

impl Memory {
    /// Returns the meaning of a question, where the user named a source of vectors that answers.
    pub(super) fn meaning_of(&self, question: &str) -> Option<QueryVector> {
        let source = self.providers.embeddings.as_ref()?;
        let now = self.clock.now();
        {
            let known = self.questions();
            if let Some((_, meaning)) = known.last.as_ref().filter(|it| it.0 == question) {
                return Some(meaning.clone());
            }
            if known.failed_at.is_some_and(|at| (0..REST_MS).contains(&(now.0 - at.0))) {
                return None;
            }
        }
        let text = RedactedText::of(&self.workspace().redactor, question);
        // A question is not worth a second attempt: its words are there.
        match source.embed_question(&text) {
            Ok(None) => {
                log::debug!("words alone are searched: {} is busy", source.name());
                None
            }
            Ok(Some(vector)) => {
                let vector = NormalizedInt8Vector::of(&vector);
                let meaning = QueryVector { model: model_number(source.model()), vector };
                let mut known = self.questions();
                known.failed_at = None;
                known.last = Some((question.to_owned(), meaning.clone()));
                Some(meaning)
            }
            Err(error) => {
                log::warn!("words alone are searched for a minute: {}: {error}", source.name());
                self.questions().failed_at = Some(now);
                None
            }
        }
    }

    /// Returns the scores of texts by a question, where the user named a provider that answers.
    pub(super) fn rescored(&self, question: &str, texts: &[String]) -> Option<Vec<f64>> {
        let provider = self.providers.reranking.as_ref()?;
        let redactor = &self.workspace().redactor;
        let question = RedactedText::of(redactor, question);
        let texts: Vec<RedactedText> =
            texts.iter().map(|it| RedactedText::of(redactor, it)).collect();
        match provider.rerank(&question, &texts) {
            Ok(scores) => Some(scores),
            Err(error) => {
                log::warn!("what was recalled keeps its order: {}: {error}", provider.name());
                None
            }
        }
    }

    fn questions(&self) -> MutexGuard<'_, EmbeddingProviderState> {
        // A poisoned lock is sound: each value is set as a whole.
        self.question_vectors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the connection that stores vectors.
    pub(crate) fn vector_writer(&self) -> Result<VectorWriter, Error> {
        Ok(VectorWriter::open(self.readers.path(), &self.writer)?)
    }

    /// Gives vectors to some texts that have none, from a node on. Returns the node to go on from;
    /// `None` when the end is reached.
    pub(crate) fn embed_some(
        &self,
        source: &ProviderClient,
        writer: &VectorWriter,
        from: NodeRowId,
        pause: CancellableSleep<'_>,
    ) -> Result<Option<NodeRowId>, EmbedError> {
        let model = model_number(source.model());
        let bare = self.read(|reader| reader.bare_texts(model, from, TEXTS_MAX))?;
        if bare.is_empty() {
            return Ok(None);
        }
        let redactor = &self.workspace().redactor;
        let texts: Vec<RedactedText> = bare
            .iter()
            .map(|it| RedactedText::of(redactor, &format!("{}\n{}", it.breadcrumb, it.content)))
            .collect();
        let vectors = source.embed_some(&texts, pause).map_err(EmbedError::Provider)?;
        let vectors: Vec<_> =
            bare.into_iter().zip(vectors.iter().map(|it| NormalizedInt8Vector::of(it))).collect();
        writer.put(model, &vectors)?;
        Ok(vectors.last().map(|it| NodeRowId(it.0.node.0 + 1)))
    }
}
