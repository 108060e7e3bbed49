//! The queue of lines for one client, which its transport writes.

use crossbeam_channel::Sender;

use super::OutgoingRpcMessageLine;

/// The sending end of a connection's output queue.
#[derive(Clone, Debug)]
pub(crate) struct Outbox(Sender<OutgoingRpcMessageLine>);

impl Outbox {
    /// Returns an outbox that feeds `lines`.
    pub(crate) fn new(lines: Sender<OutgoingRpcMessageLine>) -> Outbox {
        Outbox(lines)
    }

    /// Queues a line, waiting while the queue is full.
    pub(crate) fn send(&self, line: impl Into<OutgoingRpcMessageLine>) {
        // Without a receiver the client is gone, and its transport knows.
        let _ = self.0.send(line.into());
    }
}
