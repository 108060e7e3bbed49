//! The order of writes in a space, as the store sees it: who keeps it is handed in.

use super::log_entry::{LogHash, LogPart};
use super::replica_space_and_position::LogPosition;
use crate::store::SharedError;

/// The end of a space's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpaceHead {
    pub(crate) place: LogPosition,
    /// The schema of the entries.
    pub(crate) schema: i64,
}

/// Keeps a space's log, and the order of its writes.
pub(crate) trait Sequencer: Send + Sync {
    /// Returns the name of the space for messages, without a password.
    fn url(&self) -> &str;

    /// Returns the name by which this process writes and holds leases.
    fn writer(&self) -> &str;

    /// Returns the end of the log.
    fn head(&self) -> Result<SpaceHead, SharedError>;

    /// Returns the next parts after one, in order; none when there are none.
    fn parts(&self, epoch: i64, after: (i64, i64)) -> Result<Vec<LogPart>, SharedError>;

    /// Returns the place of the newest image of an epoch.
    fn newest_image(&self, epoch: i64) -> Result<Option<LogPosition>, SharedError>;

    /// Returns the next parts of an image after one of them.
    fn image_parts(&self, image: &LogPosition, after: i64) -> Result<Vec<LogPart>, SharedError>;

    /// Waits for the right to write, which one process has at a time.
    ///
    /// `at` is where this replica is: the turn already has the parts after it.
    fn begin_turn(&self, at: &LogPosition) -> Result<Box<dyn LogTransaction + '_>, SharedError>;

    /// Takes a lease, or renews an own one that is due; returns the holder where that is another
    /// process.
    fn take_lease(&self, name: &str) -> Result<Option<String>, SharedError>;
}

/// The right to write. Dropped without [`LogTransaction::commit`], nothing was written.
pub(crate) trait LogTransaction {
    fn head(&self) -> SpaceHead;

    /// Returns the next parts after one, as [`Sequencer::parts`].
    fn parts(&mut self, epoch: i64, after: (i64, i64)) -> Result<Vec<LogPart>, SharedError>;

    /// Returns whether this process holds a lease until the turn is over, however long it lasts.
    fn has_lease(&mut self, name: &str) -> Result<bool, SharedError>;

    /// Appends a part of the next entry.
    fn append(&mut self, part: LogPart) -> Result<(), SharedError>;

    /// Appends a part of an image of the log's present end, or of a new epoch.
    fn append_image(&mut self, image: &LogPosition, part: LogPart) -> Result<(), SharedError>;

    /// Commits what was appended and moves the end of the log. An error other than
    /// [`SharedError::InDoubt`] means that nothing was written.
    fn commit(self: Box<Self>, end: &SpaceHead) -> Result<(), SharedError>;
}

impl LogPart {
    /// Returns the first part of an entry or an image, without a body.
    pub(super) fn first(seq: i64, writer: &str, schema: i64) -> LogPart {
        let writer = writer.to_owned();
        LogPart { seq, part: 0, writer, schema, hash: None, body: Vec::new() }
    }

    /// Returns the next part with this body.
    pub(super) fn then(&mut self, body: Vec<u8>, hash: Option<LogHash>) -> LogPart {
        let part = LogPart { body, hash, ..self.clone() };
        self.part += 1;
        part
    }
}
