//! A pool of threads for the calls of one client: the first idle one takes the next call.
//!
//! So a client that sends one call at a time is answered by one thread, whose caches are warm, and
//! the others take no memory until they are needed. Without an idle thread, calls wait in a queue.
//! Some threads take only calls that read, so that these do not wait behind writes, which wait for
//! each other and for other processes.

use std::io;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, select};

use super::ThreadGroup;

/// The pool of worker threads of one client; dropping it ends them when all is done.
pub(super) struct SingleClientWorkerPool<T> {
    /// One for each thread, without a buffer: it accepts a call only while its thread waits.
    idle: Vec<Sender<T>>,
    /// One for each thread that takes only calls that read.
    idle_to_read: Vec<Sender<T>>,
    /// The queues of calls that wait for a thread, and of those among them that only read.
    queue: Sender<T>,
    queue_to_read: Sender<T>,
}

/// The numbers of threads of a pool, and of calls that may wait for one.
#[derive(Clone, Copy)]
pub(super) struct WorkerPoolSize {
    /// Threads that take any call.
    pub(super) n_threads: usize,
    /// Threads that take calls that only read.
    pub(super) n_readers: usize,
    /// Calls that wait, of each of both kinds.
    pub(super) n_waiting: usize,
}

impl<T: Send + 'static> SingleClientWorkerPool<T> {
    /// Starts the threads and closes the group.
    pub(super) fn start(
        threads: &mut ThreadGroup,
        size: WorkerPoolSize,
        work: impl Fn(T) + Clone + Send + 'static,
    ) -> io::Result<SingleClientWorkerPool<T>> {
        let (queue, waiting) = bounded(size.n_waiting);
        let (queue_to_read, waiting_to_read) = bounded(size.n_waiting);
        let mut start = |name: String, waiting: Receiver<T>| {
            let (own_sender, own) = bounded(0);
            let (to_read, work) = (waiting_to_read.clone(), work.clone());
            threads.add(&name, move || {
                while let Some(it) = next(&own, &waiting, &to_read) {
                    work(it);
                }
            })?;
            Ok::<_, io::Error>(own_sender)
        };
        let names = |kind: &'static str, n| (0..n).map(move |nth| format!("{kind}-{nth}"));
        let idle: io::Result<_> =
            names("worker", size.n_threads).map(|it| start(it, waiting.clone())).collect();
        let idle_to_read: io::Result<_> =
            names("reader", size.n_readers).map(|it| start(it, waiting_to_read.clone())).collect();
        threads.close();
        Ok(SingleClientWorkerPool {
            idle: idle?,
            idle_to_read: idle_to_read?,
            queue,
            queue_to_read,
        })
    }

    /// Hands a call to the first idle thread that takes it; returns it if there is none.
    pub(super) fn try_submit(&self, it: T, is_read: bool) -> Option<T> {
        let idle_to_read = if is_read { self.idle_to_read.as_slice() } else { &[] };
        self.idle.iter().chain(idle_to_read).try_fold(it, |it, thread| match thread.try_send(it) {
            Ok(()) => None,
            Err(TrySendError::Full(it) | TrySendError::Disconnected(it)) => Some(it),
        })
    }

    /// Returns the queue of calls of a kind that wait for a thread.
    pub(super) fn queue(&self, is_read: bool) -> &Sender<T> {
        if is_read { &self.queue_to_read } else { &self.queue }
    }
}

/// Returns the next call of a thread; `None` at the end.
fn next<T>(own: &Receiver<T>, waiting: &Receiver<T>, to_read: &Receiver<T>) -> Option<T> {
    let last = |_| own.recv().or_else(|_| waiting.recv()).or_else(|_| to_read.recv());
    select! {
        recv(own) -> it => it.or_else(last).ok(),
        recv(waiting) -> it => it.or_else(last).ok(),
        recv(to_read) -> it => it.or_else(last).ok(),
    }
}

#[cfg(test)]
mod tests;
