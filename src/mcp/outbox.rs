//! The queue of lines for one client, which its transport writes.

use crossbeam_channel::Sender;

use super::OutgoingLine;

/// Where lines for the client go: the queue of whoever owns the connection's output.
#[derive(Clone, Debug)]
pub(crate) struct Outbox(Sender<OutgoingLine>);

impl Outbox {
    /// An outbox that feeds `lines`.
    pub(crate) fn new(lines: Sender<OutgoingLine>) -> Outbox {
        Outbox(lines)
    }

    /// Queues a line, waiting while the queue is full.
    pub(crate) fn say(&self, line: impl Into<OutgoingLine>) {
        // Without a receiver the client is gone, and its transport knows.
        let _ = self.0.send(line.into());
    }
}
