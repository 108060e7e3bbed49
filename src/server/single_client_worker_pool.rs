//! A pool of threads for the calls of one client: the first idle one takes the next call.
//!
//! So a client that sends one call at a time is answered by one thread, whose caches are warm, and
//! the others take no memory until they are needed. Without an idle thread, calls wait in a queue.

use std::io;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, select};

use super::ThreadGroup;

/// The pool of worker threads of one client; dropping it ends them when all is done.
pub(super) struct SingleClientWorkerPool<T> {
    /// One for each thread, without a buffer: it accepts a call only while its thread waits.
    idle: Vec<Sender<T>>,
    /// The queue of calls that wait for a thread.
    pub(super) queue: Sender<T>,
}

impl<T: Send + 'static> SingleClientWorkerPool<T> {
    /// Starts `threads` and closes the group; `n_waiting` calls may wait.
    pub(super) fn start(
        threads: &mut ThreadGroup,
        n_threads: usize,
        n_waiting: usize,
        work: impl Fn(T) + Clone + Send + 'static,
    ) -> io::Result<SingleClientWorkerPool<T>> {
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
        Ok(SingleClientWorkerPool { idle, queue })
    }

    /// Hands a call to the first idle thread; returns it if there is none.
    pub(super) fn try_submit(&self, it: T) -> Option<T> {
        self.idle.iter().try_fold(it, |it, thread| match thread.try_send(it) {
            Ok(()) => None,
            Err(TrySendError::Full(it) | TrySendError::Disconnected(it)) => Some(it),
        })
    }
}

/// Returns the next call of a thread; `None` at the end.
fn next<T>(own: &Receiver<T>, waiting: &Receiver<T>) -> Option<T> {
    select! {
        recv(own) -> it => it.or_else(|_| waiting.recv()).ok(),
        recv(waiting) -> it => it.or_else(|_| own.recv()).ok(),
    }
}

#[cfg(test)]
mod tests;
