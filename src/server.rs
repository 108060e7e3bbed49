//! The shell around the engine: threads, signals and the order of shutdown.
//!
//! Every thread of the program is started by [`spawn`] or [`spawn_small`], has a name, and is
//! joined by its starter. There are three exceptions. Work that outlasts the end, such as a reader
//! that waits for a client when a signal comes, cannot be woken and ends with the process. The
//! threads of HTTP connections are waited for without a handle of each. The look-up of a name has
//! no deadline of the system's, and is left behind where it takes too long.

pub(crate) mod background;
pub(crate) mod client_presence_and_history;
#[cfg(any(test, feature = "conformance"))]
#[doc(hidden)]
pub mod conformance;
pub(crate) mod jsonl_files;
pub(crate) mod recent_log_records;

#[cfg(feature = "http")]
pub(crate) mod http;
#[cfg(feature = "shared")]
pub(crate) mod postgres;
pub(crate) mod remindb_folder;
pub(crate) mod server_facts;
mod single_client_worker_pool;
pub(crate) mod stdio;
mod thread_group;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, bounded, select};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

use crate::mcp::{Handler, OutgoingRpcMessageLine, QueuedRequest, Server};
use crate::model::clock::Clock;
use thread_group::ThreadGroup;

/// Starts a named thread; only [`spawn_small`] is an alternative.
pub(crate) fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work)
}

/// Starts one of many named threads, with a small stack.
#[cfg(feature = "http")]
fn spawn_small(
    name: &str,
    stack_bytes: usize,
    work: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.to_owned()).stack_size(stack_bytes).spawn(work)
}

fn join(thread: JoinHandle<()>) {
    let name = thread.thread().name().unwrap_or_default().to_owned();
    if thread.join().is_err() {
        log::error!("thread panicked name={name}");
    }
}

/// Runs a call; returns the line of its reply, or nothing when it was cancelled.
fn work<S: Handler>(
    server: &Server<S>,
    clock: &Clock,
    job: Box<QueuedRequest>,
) -> Option<OutgoingRpcMessageLine> {
    let (name, id, target) = (server.name_of(&job), job.id().logged().into_owned(), job.target());
    let stopwatch = clock.stopwatch();
    let line = server.run(*job);
    let n_bytes = line.as_ref().map_or(0, |it| it.text.len());
    let took_ms = stopwatch.elapsed_ms();
    log::debug!(target: target, "called name={name} id={id} took_ms={took_ms} bytes={n_bytes}");
    line
}

/// A stop signal for background work; long work polls it.
#[derive(Clone, Debug)]
pub(crate) struct StopSignal {
    /// Dropped to stop.
    sender: Arc<Mutex<Option<Sender<()>>>>,
    receiver: Receiver<()>,
}

impl Default for StopSignal {
    fn default() -> StopSignal {
        let (sender, receiver) = bounded(0);
        StopSignal { sender: Arc::new(Mutex::new(Some(sender))), receiver }
    }
}

impl StopSignal {
    /// Returns whether to stop.
    pub(crate) fn is_set(&self) -> bool {
        self.receiver.try_recv() == Err(TryRecvError::Disconnected)
    }

    /// Waits for the stop signal for at most `wait`; returns whether it came.
    pub(crate) fn is_set_within(&self, wait: Duration) -> bool {
        self.receiver.recv_timeout(wait) == Err(RecvTimeoutError::Disconnected)
    }

    /// Waits for the stop signal for at most `wait`, or until `waker` wakes; returns whether it
    /// came.
    pub(crate) fn is_set_or_woken(&self, waker: &Receiver<()>, wait: Duration) -> bool {
        select! {
            recv(self.receiver) -> _ => true,
            recv(waker) -> _ => false,
            default(wait) => self.is_set(),
        }
    }

    /// Returns a channel that disconnects on the stop signal.
    #[cfg(feature = "http")]
    pub(crate) fn over(&self) -> &Receiver<()> {
        &self.receiver
    }

    fn set(&self) {
        *self.sender.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Background work on a thread of its own, until it is done or stopped. Over stdio it starts once a
/// client has been answered, over HTTP at once.
pub(crate) struct BackgroundTaskSpec {
    /// The thread's name.
    pub(crate) name: &'static str,
    /// The work.
    pub(crate) work: Box<dyn FnOnce(&StopSignal) + Send>,
}

/// The reason why serving ended. All of them are good ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// The client closed its end, and all its requests have been answered.
    Input,
    /// The output is closed.
    Output,
    /// The process was asked to end.
    Signal,
}

/// SIGTERM and SIGINT as a channel, while this value lives.
#[derive(Debug)]
pub(crate) struct ShutdownSignals {
    received: Receiver<()>,
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl ShutdownSignals {
    /// Takes over both signals.
    pub(crate) fn watch() -> io::Result<ShutdownSignals> {
        let mut signals = Signals::new([SIGTERM, SIGINT])?;
        let handle = signals.handle();
        let (sender, received) = bounded(1);
        let thread = spawn("signals", move || {
            for _signal in signals.forever() {
                // A second signal while the first waits changes nothing.
                let _ = sender.try_send(());
            }
        })?;
        Ok(ShutdownSignals { received, handle, thread: Some(thread) })
    }

    /// Returns a channel with one message per signal.
    pub(crate) fn received(&self) -> &Receiver<()> {
        &self.received
    }
}

impl Drop for ShutdownSignals {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            // It cannot have panicked: its loop only forwards.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;
