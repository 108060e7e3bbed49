//! The current rates, shared between one writer and any number of readers.

use std::sync::{Arc, Mutex, PoisonError};

use super::HeatParameters;

/// The current rates; this end may change them.
#[derive(Clone, Debug, Default)]
pub(crate) struct LiveRates(Arc<Mutex<HeatParameters>>);

impl LiveRates {
    /// Returns the current rates.
    pub(crate) fn get(&self) -> HeatParameters {
        // A value that is copied in and out is whole at any time.
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a read-only handle.
    pub(crate) fn watched(&self) -> LiveRatesReader {
        LiveRatesReader(self.clone())
    }

    /// Replaces the rates.
    pub(crate) fn set(&self, rates: HeatParameters) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = rates;
    }
}

/// A read-only handle on the current rates.
#[derive(Clone, Debug)]
pub(crate) struct LiveRatesReader(LiveRates);

impl LiveRatesReader {
    /// Returns the current rates.
    pub(crate) fn get(&self) -> HeatParameters {
        self.0.get()
    }
}
