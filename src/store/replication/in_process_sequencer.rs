//! Keeps the log of a space in this process, for tests.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::log_entry::LogPart;
use super::replica_space_and_position::LogPosition;
use super::sequencer::{LogTransaction, Sequencer, SpaceHead};
use crate::store::SharedError;

/// The log of a space.
#[derive(Clone, Debug, Default)]
pub(crate) struct InProcessLog {
    pub(crate) head: Option<SpaceHead>,
    pub(crate) entries: Vec<LogPart>,
    pub(crate) images: Vec<(LogPosition, LogPart)>,
}

/// A step of a commit at which the next one fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommitFault {
    /// Nothing is kept.
    Before,
    /// The log keeps the entry, and the caller does not learn of it.
    After,
}

/// A call before which something else happens once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InterceptedCall {
    Parts,
    NewestImage,
    BeginTurn,
}

/// An act of another process before a call.
type Interlude = Box<dyn FnOnce() + Send>;

/// Keeps the log in memory.
#[derive(Default)]
pub(crate) struct InProcessSequencer {
    log: Mutex<InProcessLog>,
    /// Held by whoever has the turn.
    turn: Mutex<()>,
    pub(crate) fault: Mutex<Option<CommitFault>>,
    /// Parts that one question returns; 0: two.
    pub(crate) batch: usize,
    /// An act of another process before the next call of a kind.
    pub(crate) interlude: Mutex<Option<(InterceptedCall, Interlude)>>,
    /// Whether nobody answers.
    pub(crate) is_away: AtomicBool,
    /// Whether all leases are another one's.
    pub(crate) is_lease_lost: AtomicBool,
}

/// Creates the turn in which a space is made.
pub(crate) fn first_turn(keeper: &InProcessSequencer) -> Box<dyn LogTransaction + '_> {
    let head = SpaceHead { place: LogPosition::default(), schema: crate::store::schema::newest() };
    let _turn = lock(&keeper.turn);
    Box::new(InProcessTransaction { keeper, _turn, head, entries: Vec::new(), images: Vec::new() })
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl InProcessSequencer {
    pub(crate) fn log(&self) -> MutexGuard<'_, InProcessLog> {
        lock(&self.log)
    }

    fn some(&self) -> usize {
        self.batch.max(2)
    }

    fn before(&self, call: InterceptedCall) {
        let due = lock(&self.interlude).take_if(|it| it.0 == call);
        if let Some((_, happens)) = due {
            happens();
        }
    }
}

impl Sequencer for InProcessSequencer {
    fn url(&self) -> &str {
        "test://space"
    }

    fn writer(&self) -> &str {
        "test"
    }

    fn head(&self) -> Result<SpaceHead, SharedError> {
        if self.is_away.load(Ordering::Relaxed) {
            return Err(SharedError::Unreachable { server: "test".to_owned(), why: String::new() });
        }
        let url = self.url().to_owned();
        self.log().head.ok_or(SharedError::NoSpace { url })
    }

    fn parts(&self, epoch: i64, after: (i64, i64)) -> Result<Vec<LogPart>, SharedError> {
        self.before(InterceptedCall::Parts);
        let log = self.log();
        if log.head.is_none_or(|it| it.place.epoch != epoch) {
            return Ok(Vec::new());
        }
        let later = log.entries.iter().filter(|it| after < (it.seq, it.part));
        Ok(later.take(self.some()).cloned().collect())
    }

    fn newest_image(&self, epoch: i64) -> Result<Option<LogPosition>, SharedError> {
        self.before(InterceptedCall::NewestImage);
        let log = self.log();
        let places = log.images.iter().map(|it| it.0).filter(|it| it.epoch == epoch);
        Ok(places.max_by_key(|it| it.seq))
    }

    fn image_parts(&self, image: &LogPosition, after: i64) -> Result<Vec<LogPart>, SharedError> {
        let log = self.log();
        let parts = log.images.iter().filter(|it| it.0 == *image && after < it.1.part);
        Ok(parts.take(self.some()).map(|it| it.1.clone()).collect())
    }

    fn begin_turn(&self, _: &LogPosition) -> Result<Box<dyn LogTransaction + '_>, SharedError> {
        self.before(InterceptedCall::BeginTurn);
        let _turn = lock(&self.turn);
        let head = self.head()?;
        let (entries, images) = (Vec::new(), Vec::new());
        Ok(Box::new(InProcessTransaction { keeper: self, _turn, head, entries, images }))
    }

    fn take_lease(&self, _: &str) -> Result<Option<String>, SharedError> {
        Ok(None)
    }
}

struct InProcessTransaction<'s> {
    keeper: &'s InProcessSequencer,
    _turn: MutexGuard<'s, ()>,
    head: SpaceHead,
    entries: Vec<LogPart>,
    images: Vec<(LogPosition, LogPart)>,
}

impl LogTransaction for InProcessTransaction<'_> {
    fn head(&self) -> SpaceHead {
        self.head
    }

    fn parts(&mut self, epoch: i64, after: (i64, i64)) -> Result<Vec<LogPart>, SharedError> {
        self.keeper.parts(epoch, after)
    }

    fn has_lease(&mut self, _: &str) -> Result<bool, SharedError> {
        Ok(!self.keeper.is_lease_lost.load(Ordering::Relaxed))
    }

    fn append(&mut self, part: LogPart) -> Result<(), SharedError> {
        self.entries.push(part);
        Ok(())
    }

    fn append_image(&mut self, image: &LogPosition, part: LogPart) -> Result<(), SharedError> {
        self.images.push((*image, part));
        Ok(())
    }

    fn commit(self: Box<Self>, end: &SpaceHead) -> Result<(), SharedError> {
        let fault = lock(&self.keeper.fault).take();
        let server = || "test".to_owned();
        if fault == Some(CommitFault::Before) {
            return Err(SharedError::Unreachable { server: server(), why: String::new() });
        }
        let mut log = self.keeper.log();
        if log.head.is_some_and(|it| it.place.epoch < end.place.epoch) {
            log.entries.clear();
            log.images.clear();
        }
        log.entries.extend(self.entries);
        log.images.extend(self.images);
        log.head = Some(*end);
        match fault {
            Some(CommitFault::After) => Err(SharedError::InDoubt { server: server() }),
            _ => Ok(()),
        }
    }
}

/// Returns every shared row of a memory, as replicas must agree on them.
pub(crate) fn shared_rows(path: &std::path::Path) -> String {
    let conn = rusqlite::Connection::open(path).expect("it is there");
    let mut out = String::new();
    let mut sink = |body: Vec<u8>| {
        out += &shown(&body);
        Ok(())
    };
    let last = super::change_recorder::write_image(&conn, &mut sink).expect("it is sound");
    out + &shown(&last)
}

/// Returns the rows of a part, one a line.
fn shown(part: &[u8]) -> String {
    use super::log_entry::{LogEntryOperation, LogEntryOperationReader};
    use rusqlite::types::{ToSqlOutput, ValueRef};
    let mut out = String::new();
    let mut reader = LogEntryOperationReader::new(part).expect("a part");
    let mut table = String::new();
    while !reader.is_at_end() {
        match reader.next_step().expect("a step") {
            LogEntryOperation::Table { name, .. } => table = name.to_owned(),
            LogEntryOperation::Row(values) => {
                let value = |it: &ToSqlOutput<'_>| match it {
                    ToSqlOutput::Borrowed(ValueRef::Text(it)) => {
                        format!("{:?}", String::from_utf8_lossy(it))
                    }
                    ToSqlOutput::Borrowed(it) => format!("{it:?}"),
                    other => format!("{other:?}"),
                };
                let values: Vec<String> = values.iter().map(value).collect();
                out += &format!("{table} {}\n", values.join(" "));
            }
            other => drop(other),
        }
    }
    out
}
