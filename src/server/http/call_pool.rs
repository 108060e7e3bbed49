//! A thread pool for calls: an idle thread takes the next call. Without one, a thread is started,
//! up to a bound.
//!
//! A call may wait for its client, who answers by another request: so no call waits in a queue
//! behind another one while a thread could still be started.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};

use crate::server::spawn;

/// Time that a thread waits for its next call.
const IDLE: Duration = Duration::from_secs(10);
/// Time that a call waits for a thread.
const WAIT: Duration = Duration::from_secs(10);

type PoolTask = Box<dyn FnOnce() + Send>;

/// The thread pool.
#[derive(Debug)]
pub(super) struct CallThreadPool {
    sender: Sender<PoolTask>,
    receiver: Receiver<PoolTask>,
    n_threads: Arc<AtomicUsize>,
    n_max: usize,
}

impl CallThreadPool {
    pub(super) fn new(n_max: usize) -> CallThreadPool {
        // Without a buffer: work is handed to a waiting thread, or not at all.
        let (sender, receiver) = bounded(0);
        CallThreadPool { sender, receiver, n_threads: Arc::default(), n_max }
    }

    /// Runs `work` on one of the threads; returns whether there was one.
    pub(super) fn run(&self, work: impl FnOnce() + Send + 'static) -> bool {
        let work = match self.sender.try_send(Box::new(work)) {
            Ok(()) => return true,
            Err(TrySendError::Full(work) | TrySendError::Disconnected(work)) => work,
        };
        let Some(place) = SemaphorePermit::take(&self.n_threads, self.n_max) else {
            return self.sender.send_timeout(work, WAIT).is_ok();
        };
        let receiver = self.receiver.clone();
        let started = spawn("worker", move || {
            let _place = place;
            work();
            while let Ok(work) = receiver.recv_timeout(IDLE) {
                work();
            }
        });
        started.inspect_err(|error| log::error!("cannot start a thread: {error}")).is_ok()
    }
}

/// A permit for one of a bounded number of things, returned by dropping it.
#[derive(Debug)]
pub(super) struct SemaphorePermit(Arc<AtomicUsize>);

impl SemaphorePermit {
    /// Takes one of `n_max` permits, if one is left.
    pub(super) fn take(n_taken: &Arc<AtomicUsize>, n_max: usize) -> Option<SemaphorePermit> {
        let taken = n_taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| (n < n_max).then_some(n + 1));
        taken.ok().map(|_| SemaphorePermit(Arc::clone(n_taken)))
    }
}

impl Drop for SemaphorePermit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
