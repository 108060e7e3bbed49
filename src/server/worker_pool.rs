//! Threads that run the calls of one client: the first that is idle takes the next one.
//!
//! So a client that asks one thing at a time is answered by one thread, with what that thread has
//! at hand, and the others take no memory until they are needed. Where none is idle, calls wait in
//! a queue for whoever is first.

use std::io;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, select};

use super::ThreadGroup;

/// The ends at which calls are handed over; dropping them ends the threads when all is done.
pub(super) struct WorkerPool<T> {
    /// One for each thread, without a buffer: it takes what its thread waits for.
    idle: Vec<Sender<T>>,
    /// What waits for a thread.
    pub(super) queue: Sender<T>,
}

impl<T: Send + 'static> WorkerPool<T> {
    /// Starts so many threads in `threads`, and seals it; `n_waiting` may wait.
    pub(super) fn start(
        threads: &mut ThreadGroup,
        n_threads: usize,
        n_waiting: usize,
        work: impl Fn(T) + Clone + Send + 'static,
    ) -> io::Result<WorkerPool<T>> {
        let (queue, waiting) = bounded(n_waiting);
        let mut idle = Vec::new();
        for worker_idx in 0..n_threads {
            let (own_sender, own) = bounded(0);
            let (waiting, work) = (waiting.clone(), work.clone());
            threads.add(&format!("worker-{worker_idx}"), move || {
                while let Some(it) = next(&own, &waiting) {
                    work(it);
                }
            })?;
            idle.push(own_sender);
        }
        threads.close();
        Ok(WorkerPool { idle, queue })
    }

    /// Hands over to the first thread that is idle; gives it back if there is none.
    pub(super) fn try_submit(&self, it: T) -> Option<T> {
        self.idle.iter().try_fold(it, |it, thread| match thread.try_send(it) {
            Ok(()) => None,
            Err(TrySendError::Full(it) | TrySendError::Disconnected(it)) => Some(it),
        })
    }
}

/// What a thread does next; nothing at the end.
fn next<T>(own: &Receiver<T>, waiting: &Receiver<T>) -> Option<T> {
    select! {
        recv(own) -> it => it.or_else(|_| waiting.recv()).ok(),
        recv(waiting) -> it => it.or_else(|_| own.recv()).ok(),
    }
}

#[cfg(test)]
mod tests;
