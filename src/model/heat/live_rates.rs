//! Rates that change while others look at them: one end changes them, any number look.

use std::sync::{Arc, Mutex, PoisonError};

use super::Rates;

/// The rates as they are now, shared between whoever follows the settings and whoever asks.
#[derive(Clone, Debug, Default)]
pub(crate) struct LiveRates(Arc<Mutex<Rates>>);

impl LiveRates {
    /// As they are.
    pub(crate) fn get(&self) -> Rates {
        // A value that is copied in and out is whole at any time.
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The end that can only look.
    pub(crate) fn watched(&self) -> WatchedRates {
        WatchedRates(self.clone())
    }

    /// From now on.
    pub(crate) fn set(&self, rates: Rates) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = rates;
    }
}

/// The rates as they are now, for those who only look.
#[derive(Clone, Debug)]
pub(crate) struct WatchedRates(LiveRates);

impl WatchedRates {
    /// As they are.
    pub(crate) fn get(&self) -> Rates {
        self.0.get()
    }
}
