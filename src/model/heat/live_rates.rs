//! The current rates, shared between one writer and any number of readers.

use std::sync::{Arc, Mutex, PoisonError};

use super::Rates;

/// The current rates; this end may change them.
#[derive(Clone, Debug, Default)]
pub(crate) struct LiveRates(Arc<Mutex<Rates>>);

impl LiveRates {
    /// Returns the current rates.
    pub(crate) fn get(&self) -> Rates {
        // A value that is copied in and out is whole at any time.
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a read-only handle.
    pub(crate) fn watched(&self) -> ReadOnlyRates {
        ReadOnlyRates(self.clone())
    }

    /// Replaces the rates.
    pub(crate) fn set(&self, rates: Rates) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = rates;
    }
}

/// A read-only handle on the current rates.
#[derive(Clone, Debug)]
pub(crate) struct ReadOnlyRates(LiveRates);

impl ReadOnlyRates {
    /// Returns the current rates.
    pub(crate) fn get(&self) -> Rates {
        self.0.get()
    }
}
