//! The share of one request body in the memory limit of all bodies.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of one body, counted in the sum over all bodies until it is dropped.
#[derive(Debug)]
pub(super) struct BodyReservation {
    n_bytes: usize,
    all: Arc<AtomicUsize>,
}

impl BodyReservation {
    pub(super) fn new(all: &Arc<AtomicUsize>) -> BodyReservation {
        BodyReservation { n_bytes: 0, all: Arc::clone(all) }
    }

    /// Records the body's size and returns that of all bodies, in bytes.
    pub(super) fn grow(&mut self, n_bytes: usize) -> usize {
        let more = n_bytes.saturating_sub(self.n_bytes);
        self.n_bytes += more;
        self.all.fetch_add(more, Ordering::Relaxed) + more
    }
}

impl Drop for BodyReservation {
    fn drop(&mut self) {
        self.all.fetch_sub(self.n_bytes, Ordering::Relaxed);
    }
}
