//! A group of threads with one common end.

use std::io;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::{join, spawn};

/// Threads, and a channel that disconnects when the last one has ended.
pub(super) struct ThreadGroup {
    threads: Vec<JoinHandle<()>>,
    alive: Option<Sender<()>>,
    pub(super) over: Receiver<()>,
}

impl Default for ThreadGroup {
    fn default() -> ThreadGroup {
        let (alive, over) = bounded(0);
        ThreadGroup { threads: Vec::new(), alive: Some(alive), over }
    }
}

impl ThreadGroup {
    pub(super) fn add(
        &mut self,
        name: &str,
        work: impl FnOnce() + Send + 'static,
    ) -> io::Result<()> {
        let alive = self.alive.clone();
        self.threads.push(spawn(name, move || {
            let _alive = alive;
            work();
        })?);
        Ok(())
    }

    /// Closes the group to new threads: the channel shows when the last one has ended.
    pub(super) fn close(&mut self) {
        self.alive = None;
    }

    pub(super) fn is_over_within(&self, wait: Duration) -> bool {
        self.over.recv_timeout(wait) == Err(RecvTimeoutError::Disconnected)
    }

    /// Joins the threads if they end in time, and abandons them otherwise.
    pub(super) fn settle_within(mut self, wait: Duration) {
        self.close();
        match self.is_over_within(wait) {
            true => self.threads.into_iter().for_each(join),
            false => log::warn!("unfinished work is left behind"),
        }
    }
}
