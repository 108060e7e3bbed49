//! Retries: which failures are tried again, and after how long.
//!
//! The wait doubles from half a second; a provider that says how long to wait is believed up to
//! [`WAIT_MAX`], and beyond it the failure is the answer. No clock is read here.

use std::time::Duration;

use super::{CancellableSleep, ProviderError};

/// The first wait.
const WAIT_MIN: Duration = Duration::from_millis(500);
/// Longest wait between two attempts.
pub(super) const WAIT_MAX: Duration = Duration::from_secs(20);

/// Asks until there is an answer, a failure that stays, or no attempt left.
pub(super) fn with_retries<T>(
    n_retries: u32,
    pause: CancellableSleep<'_>,
    mut ask: impl FnMut() -> Result<T, ProviderError>,
) -> Result<T, ProviderError> {
    let mut n_done = 0;
    loop {
        let error = match ask() {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let wait = wait_after(&error, n_done).filter(|_| n_done < n_retries);
        let Some(wait) = wait else { return Err(error) };
        log::debug!("a provider is asked again in {} ms: {error}", wait.as_millis());
        if pause(wait) {
            return Err(ProviderError::Stopped);
        }
        n_done += 1;
    }
}

/// Returns the wait before the next attempt; `None` where there should be none.
fn wait_after(error: &ProviderError, n_done: u32) -> Option<Duration> {
    if !error.may_pass() {
        return None;
    }
    let usual = WAIT_MIN.saturating_mul(1 << n_done.min(10)).min(WAIT_MAX);
    let wait = error.asked_wait().map_or(usual, |asked| asked.max(usual));
    (wait <= WAIT_MAX).then_some(wait)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Answers with failures in order; returns the outcome and the waits in milliseconds.
    fn outcome(n: u32, failures: &[ProviderError]) -> (Result<usize, ProviderError>, Vec<u128>) {
        let waits = RefCell::new(Vec::new());
        let pause = |wait: Duration| {
            waits.borrow_mut().push(wait.as_millis());
            false
        };
        let mut nth = 0;
        let result = with_retries(n, &pause, || {
            nth += 1;
            failures.get(nth - 1).map_or(Ok(nth), |it| Err(it.clone()))
        });
        (result, waits.into_inner())
    }

    #[test]
    fn what_may_pass_is_tried_again_ever_later() {
        let failed = || ProviderError::Failed("500".to_owned());
        assert_eq!(outcome(3, &[failed(), failed()]), (Ok(3), vec![500, 1000]));
        let all = vec![failed(); 4];
        assert_eq!(outcome(3, &all), (Err(failed()), vec![500, 1000, 2000]));
        assert_eq!(outcome(0, &all), (Err(failed()), vec![]));
        let many = vec![failed(); 10];
        assert_eq!(outcome(10, &many).1.last(), Some(&20_000));
    }

    #[test]
    fn what_stays_wrong_is_not_tried_again() {
        for error in [
            ProviderError::Refused("401".to_owned()),
            ProviderError::Malformed("no JSON".to_owned()),
            ProviderError::Unusable("no key".to_owned()),
            ProviderError::TooLarge(9),
        ] {
            assert_eq!(outcome(3, std::slice::from_ref(&error)), (Err(error.clone()), vec![]));
        }
    }

    #[test]
    fn a_limit_is_waited_for_unless_it_lasts() {
        let limited = |seconds| ProviderError::Limited(Some(Duration::from_secs(seconds)));
        assert_eq!(outcome(3, &[limited(7)]), (Ok(2), vec![7_000]));
        assert_eq!(outcome(3, &[limited(0)]), (Ok(2), vec![500]));
        assert_eq!(outcome(3, &[limited(21)]), (Err(limited(21)), vec![]));
        assert_eq!(outcome(3, &[ProviderError::Limited(None)]), (Ok(2), vec![500]));
    }

    #[test]
    fn whoever_stops_is_not_waited_for() {
        let failed = || -> Result<(), _> { Err(ProviderError::Late(Duration::from_secs(1))) };
        assert_eq!(with_retries(3, &|_| true, failed), Err(ProviderError::Stopped));
    }
}
