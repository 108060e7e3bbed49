//! Stands for a provider in builds without the feature: there is none, and none can be made.

use super::{CancellableSleep, ModelPrompt, ProviderConfig, ProviderError, RedactedText};

/// A provider, which this build does not have.
#[derive(Debug)]
pub(crate) enum ProviderStub {}

impl ProviderStub {
    /// Refuses: this build has no providers.
    pub(crate) fn new(_: ProviderConfig) -> Result<ProviderStub, ProviderError> {
        let why = "this build has no providers; build with the feature `providers`";
        Err(ProviderError::Unusable(why.to_owned()))
    }

    pub(crate) fn name(&self) -> &str {
        match *self {}
    }

    pub(crate) fn model(&self) -> &str {
        match *self {}
    }

    pub(crate) fn complete(
        &self,
        _: &ModelPrompt,
        _: CancellableSleep<'_>,
    ) -> Result<String, ProviderError> {
        match *self {}
    }

    pub(crate) fn embed_some(
        &self,
        _: &[RedactedText],
        _: CancellableSleep<'_>,
    ) -> Result<Vec<Vec<f32>>, ProviderError> {
        match *self {}
    }

    pub(crate) fn embed_question(
        &self,
        _: &RedactedText,
    ) -> Result<Option<Vec<f32>>, ProviderError> {
        match *self {}
    }

    pub(crate) fn rerank(
        &self,
        _: &RedactedText,
        _: &[RedactedText],
    ) -> Result<Vec<f64>, ProviderError> {
        match *self {}
    }

    pub(crate) fn reach(&self) -> Result<String, ProviderError> {
        match *self {}
    }
}
