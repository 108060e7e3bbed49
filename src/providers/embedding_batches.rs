//! The texts that a source of vectors is sent at once: as many as it answers in about a second.
//!
//! A question that comes meanwhile is not kept waiting for longer, and little is lost where the
//! source fails.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{ProviderError, RedactedText};
use crate::model::clock::Clock;

/// Most texts of a batch.
const TEXTS_MAX: usize = 64;
/// Milliseconds that a batch takes, about.
const BATCH_MS: i64 = 1_000;

/// The number of texts that a service gets in one request.
pub(super) struct AdaptiveBatchSize(AtomicUsize);

impl Default for AdaptiveBatchSize {
    fn default() -> AdaptiveBatchSize {
        AdaptiveBatchSize(AtomicUsize::new(TEXTS_MAX))
    }
}

impl AdaptiveBatchSize {
    /// Asks about some texts in one request. After a slow one the next is of half as many, after a
    /// quick one of twice as many.
    pub(super) fn in_one_request<T>(
        &self,
        texts: &[RedactedText],
        ask: impl FnOnce(&[RedactedText]) -> Result<Vec<T>, ProviderError>,
    ) -> Result<Vec<T>, ProviderError> {
        let n_max = self.0.load(Ordering::Relaxed);
        let some = &texts[..n_max.min(texts.len())];
        let stopwatch = Clock::System.stopwatch();
        let outcome = ask(some);
        let took = match &outcome {
            Ok(_) => stopwatch.elapsed_ms(),
            Err(ProviderError::Late(_)) => i64::MAX,
            Err(_) => return outcome,
        };
        self.0.store(next_size(n_max, some.len(), took), Ordering::Relaxed);
        outcome
    }
}

/// Returns the size of the next batch, after one of `n` texts of at most `n_max`.
fn next_size(n_max: usize, n: usize, took_ms: i64) -> usize {
    match took_ms {
        _ if BATCH_MS < took_ms => (n / 2).max(1),
        _ if took_ms <= BATCH_MS / 2 && n == n_max => (2 * n).min(TEXTS_MAX),
        _ => n_max,
    }
}

/// Asks about one text after the other. What was answered before a failure that may pass is kept.
pub(super) fn one_by_one<T>(
    texts: &[RedactedText],
    ask: impl Fn(&RedactedText) -> Result<T, ProviderError>,
) -> Result<Vec<T>, ProviderError> {
    let stopwatch = Clock::System.stopwatch();
    let mut answers = Vec::new();
    for text in texts.iter().take(TEXTS_MAX) {
        match ask(text) {
            Ok(answer) => answers.push(answer),
            Err(error) if error.may_pass() && !answers.is_empty() => {
                log::debug!("a batch ends early: {error}");
                break;
            }
            Err(error) => return Err(error),
        }
        if BATCH_MS <= stopwatch.elapsed_ms() {
            break;
        }
    }
    Ok(answers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::redact::Redactor;

    fn texts(n: usize) -> Vec<RedactedText> {
        (0..n).map(|it| RedactedText::of(&Redactor::builtin(), &it.to_string())).collect()
    }

    #[test]
    fn a_slow_service_gets_fewer_texts_and_a_quick_one_more() {
        let sizes = |took: &[i64]| {
            let mut size = TEXTS_MAX;
            let next = |ms: &i64| {
                size = next_size(size, size, *ms);
                size
            };
            took.iter().map(next).collect::<Vec<_>>()
        };
        assert_eq!(sizes(&[6_400, 3_200, 1_600, 800, 800]), [32, 16, 8, 8, 8]);
        assert_eq!(sizes(&[9_000; 7]), [32, 16, 8, 4, 2, 1, 1]);
        assert_eq!(sizes(&[1_200, 100, 100]), [32, 64, 64]);
        // The last texts of a memory say nothing of a whole batch.
        assert_eq!(next_size(8, 1, 20), 8);
    }

    #[test]
    fn a_request_that_is_too_late_is_sent_again_in_parts() {
        let batches = AdaptiveBatchSize::default();
        let late = || ProviderError::Late(std::time::Duration::from_secs(5));
        let ask = || {
            batches.in_one_request(&texts(64), |some| match some.len() {
                20.. => Err(late()),
                n => Ok(vec![(); n]),
            })
        };
        assert_eq!([ask(), ask()], [Err(late()), Err(late())]);
        assert_eq!(ask().map(|it| it.len()), Ok(16));
    }

    #[test]
    fn what_was_answered_before_a_failure_is_kept_unless_it_is_wrong() {
        let outcome = |error: ProviderError| {
            one_by_one(&texts(5), |text| match text.as_str() {
                "3" => Err(error.clone()),
                other => Ok(other.to_owned()),
            })
        };
        let kept = ["0", "1", "2"].map(str::to_owned).to_vec();
        assert_eq!(outcome(ProviderError::Cut("it ended".to_owned())), Ok(kept));
        let wrong = ProviderError::Malformed("no list".to_owned());
        assert_eq!(outcome(wrong.clone()), Err(wrong));
    }
}
