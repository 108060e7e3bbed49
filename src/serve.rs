//! The shell around the engine: threads, signals and the order in which things end.
//!
//! Every thread of the program is made by [`spawn`], has a name, and is joined by whoever made it.
//! The one exception is work that outlasts the end, such as a reader that waits for a client when a
//! signal comes: nothing can wake it, and it goes with the process.

pub(crate) mod aside;
pub(crate) mod heat;
pub(crate) mod notify;
pub(crate) mod rescan;
pub(crate) mod sessions;
pub(crate) mod stdio;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, bounded, select};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

/// Starts a thread. The only place that does.
pub(crate) fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work)
}

/// Tells background work to end; long work looks now and then.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    /// Dropped when it is time.
    sender: Arc<Mutex<Option<Sender<()>>>>,
    receiver: Receiver<()>,
}

impl Default for Stop {
    fn default() -> Stop {
        let (sender, receiver) = bounded(0);
        Stop { sender: Arc::new(Mutex::new(Some(sender))), receiver }
    }
}

impl Stop {
    /// Whether it is time to end.
    pub(crate) fn is_set(&self) -> bool {
        self.receiver.try_recv() == Err(TryRecvError::Disconnected)
    }

    /// Waits until it is time to end, or as long as said; whether it is time.
    pub(crate) fn is_set_within(&self, wait: Duration) -> bool {
        self.receiver.recv_timeout(wait) == Err(RecvTimeoutError::Disconnected)
    }

    /// The same, and no longer than until `bell` rings.
    pub(crate) fn is_set_or_rung(&self, bell: &Receiver<()>, wait: Duration) -> bool {
        select! {
            recv(self.receiver) -> _ => true,
            recv(bell) -> _ => false,
            default(wait) => self.is_set(),
        }
    }

    fn set(&self) {
        *self.sender.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Work that runs beside the requests on a thread of its own, from the moment a client has been
/// answered until it is done or told to stop.
pub(crate) struct Background {
    /// The thread's name.
    pub(crate) name: &'static str,
    /// The work.
    pub(crate) work: Box<dyn FnOnce(&Stop) + Send>,
}

/// Why serving ended. All of them are good ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The client closed its end, and everything it asked has been answered.
    Input,
    /// Nobody reads the answers any more.
    Output,
    /// The process was asked to end.
    Signal,
}

/// SIGTERM and SIGINT as a channel, while this value lives.
#[derive(Debug)]
pub(crate) struct Interrupts {
    received: Receiver<()>,
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Interrupts {
    /// Takes over both signals.
    pub(crate) fn watch() -> io::Result<Interrupts> {
        let mut signals = Signals::new([SIGTERM, SIGINT])?;
        let handle = signals.handle();
        let (sender, received) = bounded(1);
        let thread = spawn("signals", move || {
            for _signal in signals.forever() {
                // A second one while the first waits says nothing new.
                let _ = sender.try_send(());
            }
        })?;
        Ok(Interrupts { received, handle, thread: Some(thread) })
    }

    /// One message for a signal.
    pub(crate) fn received(&self) -> &Receiver<()> {
        &self.received
    }
}

impl Drop for Interrupts {
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
