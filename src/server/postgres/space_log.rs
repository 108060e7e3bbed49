//! Keeps a space's log: one connection writes in turns, others read and listen.

mod lost_commit;
mod own_lease_renewal_stopwatches;
mod write_transaction;

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use serde::Serialize;

use super::connection::{CONNECT_MS, Param, PostgresConnection, RawRow, SqlWithParams};
use super::connection_error::PostgresError;
use super::password_lookup::PasswordWithOrigin;
use super::space_url::SpaceUrl;
use super::statements::{self as sql, RowReader};
use crate::model::clock::{Clock, Stopwatch};
use crate::store::SharedError;
use crate::store::replication::{
    LogHash, LogPart, LogPosition, LogTransaction, Sequencer, SpaceHead,
};
use own_lease_renewal_stopwatches::OwnLeaseRenewalStopwatches;
use write_transaction::PostgresLogTransaction;

/// Milliseconds in which a call is answered.
pub(super) const CALL_MS: i64 = 9_000;

/// Milliseconds in which a connection that broke long ago fails.
const STALE_MS: i64 = 1_000;

/// Milliseconds after a failure during which no new try is made, twice as many after each further
/// one.
const BACKOFF_MS_MIN: i64 = 25;
const BACKOFF_MS_MAX: i64 = 800;

/// Milliseconds without a call after which a connection is asked whether it is still there: what
/// stands between forgets connections, and tells nobody.
const IDLE_MS: i64 = 30_000;
const PROBE_MS: i64 = 2_000;

/// Milliseconds for what nobody waits for.
const LAST_MS: i64 = 1_000;

/// A lease and its holder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct RootCompileLease {
    pub(crate) name: String,
    pub(crate) holder: String,
    /// Seconds until it expires.
    pub(crate) left_s: i64,
}

/// Deleted rows of a cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogTruncationReport {
    pub(crate) n_entries: usize,
    pub(crate) n_images: usize,
    /// The entry that the log begins after.
    pub(crate) seq: i64,
}

/// Keeps the log of a space in PostgreSQL.
#[derive(Debug)]
pub(crate) struct PostgresSpaceLog {
    url: SpaceUrl,
    shown_url: String,
    password: PasswordWithOrigin,
    writer: String,
    writing: Mutex<Option<PostgresConnection>>,
    reading: Mutex<Option<PostgresConnection>>,
    listening: Mutex<Option<PostgresConnection>>,
    leases: Mutex<OwnLeaseRenewalStopwatches>,
    /// The last try to reach the server, if it failed.
    away: Mutex<Option<LastConnectFailure>>,
}

/// The last failure to connect, after which the next try waits.
#[derive(Debug)]
struct LastConnectFailure {
    since: Stopwatch,
    error: SharedError,
    backoff_ms: i64,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    // A connection that a panic left is closed by its error at the next call.
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PostgresSpaceLog {
    /// Returns a sequencer, which connects at its first call. No other process may have the name.
    pub(crate) fn new(
        url: SpaceUrl,
        password: PasswordWithOrigin,
        writer: &str,
    ) -> PostgresSpaceLog {
        PostgresSpaceLog {
            shown_url: url.to_string(),
            url,
            password,
            writer: writer.to_owned(),
            writing: Mutex::new(None),
            reading: Mutex::new(None),
            listening: Mutex::new(None),
            leases: Mutex::default(),
            away: Mutex::new(None),
        }
    }

    pub(super) fn space(&self) -> Param<'_> {
        Param::Text(&self.url.space)
    }

    /// Returns the error of a call that changed nothing.
    pub(super) fn error(&self, error: &PostgresError) -> SharedError {
        let server = self.url.host.clone();
        match error {
            PostgresError::Broken(why) => SharedError::Unreachable { server, why: why.clone() },
            PostgresError::Untrusted(why) => SharedError::Untrusted { server, why: why.clone() },
            PostgresError::NoPassword => {
                let what = format!("it asks for a password: {}", self.password.origin);
                SharedError::Refused { server, what }
            }
            // A wrong password, or a user who may not sign in.
            PostgresError::Server { code, message } if code.starts_with("28") => {
                let what = match self.password.origin.as_str() {
                    "" => message.clone(),
                    origin => format!("{message} ({origin})"),
                };
                SharedError::Refused { server, what }
            }
            // Another one's turn lasts: a lock, or a deadlock that should not be.
            it if it.is_code("55P03") || it.is_code("40P01") || it.is_code("40001") => {
                SharedError::Busy { server }
            }
            // There are no tables: no space was ever made here.
            it if it.is_code("42P01") => SharedError::NoSpace { url: self.shown_url.clone() },
            // The server is going down, or coming up.
            PostgresError::Server { code, .. } if code.starts_with("57P") => {
                SharedError::Unreachable { server, why: String::new() }
            }
            // It ended a turn that had not gone on for too long.
            it if it.is_code("25P03") => {
                SharedError::Refused { server, what: "the write took longer than 30 s".to_owned() }
            }
            PostgresError::Server { message, .. } => {
                SharedError::Refused { server, what: message.clone() }
            }
        }
    }

    /// Connects within `wait_ms`, or the time that a connection takes at most.
    fn connect(&self, wait_ms: i64) -> Result<PostgresConnection, PostgresError> {
        PostgresConnection::connect(&self.url, &self.password, wait_ms.min(CONNECT_MS))
    }

    /// Runs statements that change nothing on the reading connection. One that broke since is made
    /// anew once.
    fn ask(&self, statements: &[SqlWithParams<'_>]) -> Result<Vec<Vec<RawRow>>, SharedError> {
        let mut reading = lock(&self.reading);
        self.run_on(&mut reading, statements)
    }

    fn run_on(
        &self,
        slot: &mut Option<PostgresConnection>,
        statements: &[SqlWithParams<'_>],
    ) -> Result<Vec<Vec<RawRow>>, SharedError> {
        let watch = Clock::System.stopwatch();
        let is_first = slot.is_some();
        let error = match self.try_on(slot, statements, CALL_MS) {
            Ok(rows) => return Ok(rows),
            Err(error) => error,
        };
        // A connection that broke while nobody used it says so at once.
        let is_stale = is_first && slot.is_none() && watch.elapsed_ms() < STALE_MS;
        let again = is_stale.then(|| self.try_on(slot, statements, CALL_MS - watch.elapsed_ms()));
        again.unwrap_or(Err(error)).map_err(|it| self.error(&it))
    }

    fn try_on(
        &self,
        slot: &mut Option<PostgresConnection>,
        statements: &[SqlWithParams<'_>],
        wait_ms: i64,
    ) -> Result<Vec<Vec<RawRow>>, PostgresError> {
        let watch = Clock::System.stopwatch();
        if let Some(wire) = slot
            && IDLE_MS <= wire.idle_ms()
            && wire.run(&[], PROBE_MS).is_err()
        {
            *slot = None;
        }
        let wire = match slot {
            Some(wire) => wire,
            None => slot.insert(self.connect(wait_ms - watch.elapsed_ms())?),
        };
        let outcome = wire.run(statements, wait_ms - watch.elapsed_ms());
        if outcome.as_ref().is_err_and(is_closing) {
            *slot = None;
        }
        outcome
    }

    /// Fails as the last try did, if that was a moment ago: many who wait fail together, and a
    /// server that comes up is left alone.
    fn check_not_away(&self) -> Result<(), SharedError> {
        match &*lock(&self.away) {
            Some(it) if it.since.elapsed_ms() < it.backoff_ms => Err(it.error.clone()),
            _ => Ok(()),
        }
    }

    /// Notes the outcome of a try to reach the server.
    fn note_try(&self, outcome: Result<(), &SharedError>) {
        let mut away = lock(&self.away);
        *away = match outcome {
            Err(error @ SharedError::Unreachable { .. }) => {
                let before = away.as_ref().map_or(0, |it| it.backoff_ms);
                let backoff_ms = (2 * before).clamp(BACKOFF_MS_MIN, BACKOFF_MS_MAX);
                let since = Clock::System.stopwatch();
                Some(LastConnectFailure { since, error: error.clone(), backoff_ms })
            }
            _ => None,
        };
    }

    /// Returns a part of an answer of one row, or that the server answers in another form.
    fn one<T>(&self, rows: Vec<RawRow>, read: fn(RawRow) -> Option<T>) -> Result<T, SharedError> {
        let url = self.shown_url.clone();
        let row = rows.into_iter().next().ok_or(SharedError::NoSpace { url })?;
        read(row).ok_or_else(|| self.odd())
    }

    pub(super) fn odd(&self) -> SharedError {
        let what = "it answered in a form that this program does not know".to_owned();
        SharedError::Refused { server: self.url.host.clone(), what }
    }

    pub(super) fn read_parts(&self, rows: Vec<RawRow>) -> Result<Vec<LogPart>, SharedError> {
        rows.into_iter().map(sql::read_part).collect::<Option<_>>().ok_or_else(|| self.odd())
    }

    /// Makes the space, and returns the turn in which it is published.
    pub(crate) fn create(&self) -> Result<Box<dyn LogTransaction + '_>, SharedError> {
        let nobody = LogHash::default();
        let schema = crate::store::schema::newest();
        let add = vec![self.space(), Param::Bytes(&nobody.0), Param::Int(schema)];
        let mut statements: Vec<SqlWithParams<'_>> =
            vec![(sql::BEGIN, vec![]), (sql::WAIT, vec![])];
        statements.extend(sql::TABLES.map(|it| (it, vec![])));
        statements.push((sql::ADD_SPACE, add));
        let mut guard = lock(&self.writing);
        let mut rows = self.run_on(&mut guard, &statements)?;
        let is_new = rows.pop().is_some_and(|it| !it.is_empty());
        let head = SpaceHead { place: LogPosition::default(), schema };
        let turn = PostgresLogTransaction::new(self, guard, head, Vec::new());
        match is_new {
            true => Ok(Box::new(turn)),
            false => {
                drop(turn);
                let what = format!("there is a space `{}` already", self.shown_url);
                Err(SharedError::Refused { server: self.url.host.clone(), what })
            }
        }
    }

    /// Deletes the entries and images before the newest image.
    pub(crate) fn cut(&self) -> Result<LogTruncationReport, SharedError> {
        let head = self.head()?;
        let epoch = head.place.epoch;
        let url = self.shown_url.clone();
        let image = self.newest_image(epoch)?.ok_or(SharedError::NoSpace { url })?;
        let place = [self.space(), Param::Int(epoch), Param::Int(image.seq)];
        let statements = [(sql::CUT_LOG, place.to_vec()), (sql::CUT_IMAGES, place.to_vec())];
        let mut writing = lock(&self.writing);
        let rows = self.run_on(&mut writing, &statements)?;
        let [entries, images] = &rows[..] else { return Err(self.odd()) };
        let distinct = |rows: &[RawRow]| rows.iter().collect::<BTreeSet<_>>().len();
        Ok(LogTruncationReport {
            n_entries: distinct(entries),
            n_images: distinct(images),
            seq: image.seq,
        })
    }

    /// Returns who holds which lease.
    pub(crate) fn leases(&self) -> Result<Vec<RootCompileLease>, SharedError> {
        let rows = self.ask(&[(sql::LEASES, vec![self.space()])])?;
        let read = |row: RawRow| {
            let mut row = RowReader::new(row);
            Some(RootCompileLease { name: row.text()?, holder: row.text()?, left_s: row.int()? })
        };
        let rows = rows.into_iter().flatten().map(read);
        rows.collect::<Option<_>>().ok_or_else(|| self.odd())
    }

    /// Renews the own leases when that is due, and forgets those that were lost.
    pub(crate) fn renew_leases(&self) -> Result<(), SharedError> {
        if !lock(&self.leases).is_due() {
            return Ok(());
        }
        let renew = (sql::RENEW_LEASES, vec![self.space(), Param::Text(&self.writer)]);
        let rows = self.ask(&[renew])?;
        let names = rows.into_iter().flatten().map(|row| RowReader::new(row).text());
        let names: Option<BTreeSet<String>> = names.collect();
        lock(&self.leases).renewed(&names.ok_or_else(|| self.odd())?);
        Ok(())
    }

    /// Gives the own leases back, if the server is at hand: they expire by themselves.
    pub(crate) fn release_leases(&self) {
        if !lock(&self.leases).forget_all() {
            return;
        }
        let mut reading = match self.reading.try_lock() {
            Ok(it) => it,
            Err(TryLockError::Poisoned(it)) => it.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        let statement = (sql::RELEASE_LEASES, vec![self.space(), Param::Text(&self.writer)]);
        if let Some(Err(error)) = reading.as_mut().map(|it| it.run(&[statement], LAST_MS)) {
            log::debug!("leases were not given back: {}", error.why());
        }
    }

    /// Makes the connection that listens anew: it missed something.
    pub(crate) fn listen_again(&self) {
        *lock(&self.listening) = None;
    }

    /// Waits for others to append, and returns whether they may have.
    pub(crate) fn is_news_within(&self, wait_ms: i64) -> LogWaitOutcome {
        let mut listening = lock(&self.listening);
        let Some(wire) = listening.as_mut() else {
            let wire = self.connect(CONNECT_MS).map(|mut wire| {
                if wire.is_notifying {
                    // Without notifications, the log is looked at now and then.
                    wire.is_notifying = wire.run(&[(sql::LISTEN, vec![])], CALL_MS).is_ok();
                }
                wire
            });
            *listening = wire.ok();
            // Entries that were appended until now were not notified.
            return if listening.is_some() {
                LogWaitOutcome::News
            } else {
                LogWaitOutcome::Unknown
            };
        };
        if !wire.is_notifying {
            return LogWaitOutcome::Unknown;
        }
        wire.is_news_within(wait_ms).map_or_else(
            |_| {
                *listening = None;
                LogWaitOutcome::Unknown
            },
            |is_news| if is_news { LogWaitOutcome::News } else { LogWaitOutcome::Nothing },
        )
    }
}

/// The state of the log after a wait, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogWaitOutcome {
    News,
    Nothing,
    /// The server does not notify, or is away.
    Unknown,
}

/// Returns whether the connection is of no use any more.
pub(super) fn is_closing(error: &PostgresError) -> bool {
    match error {
        PostgresError::Broken(_) | PostgresError::Untrusted(_) | PostgresError::NoPassword => true,
        PostgresError::Server { code, .. } => code.starts_with("57P") || code == "25P03",
    }
}

impl Sequencer for PostgresSpaceLog {
    fn url(&self) -> &str {
        &self.shown_url
    }

    fn writer(&self) -> &str {
        &self.writer
    }

    fn head(&self) -> Result<SpaceHead, SharedError> {
        let mut rows = self.ask(&[(sql::HEAD, vec![self.space()])])?;
        self.one(rows.pop().unwrap_or_default(), sql::read_head)
    }

    fn parts(&self, epoch: i64, after: (i64, i64)) -> Result<Vec<LogPart>, SharedError> {
        let (seq, part) = after;
        let at = vec![self.space(), Param::Int(epoch), Param::Int(seq), Param::Int(part)];
        let mut rows = self.ask(&[(sql::PARTS, at)])?;
        self.read_parts(rows.pop().unwrap_or_default())
    }

    fn newest_image(&self, epoch: i64) -> Result<Option<LogPosition>, SharedError> {
        let rows = self.ask(&[(sql::NEWEST_IMAGE, vec![self.space(), Param::Int(epoch)])])?;
        let row = rows.into_iter().flatten().next();
        row.map(|it| sql::read_place(it).ok_or_else(|| self.odd())).transpose()
    }

    fn image_parts(&self, image: &LogPosition, after: i64) -> Result<Vec<LogPart>, SharedError> {
        let LogPosition { epoch, seq, .. } = *image;
        let at = vec![self.space(), Param::Int(epoch), Param::Int(seq), Param::Int(after)];
        let mut rows = self.ask(&[(sql::IMAGE_PARTS, at)])?;
        self.read_parts(rows.pop().unwrap_or_default())
    }

    fn begin_turn(&self, at: &LogPosition) -> Result<Box<dyn LogTransaction + '_>, SharedError> {
        let after =
            vec![self.space(), Param::Int(at.epoch), Param::Int(at.seq), Param::Int(i64::MAX)];
        let statements = [
            (sql::BEGIN, vec![]),
            (sql::FENCE, vec![]),
            (sql::WAIT, vec![]),
            (sql::LOCK_HEAD, vec![self.space()]),
            (sql::PARTS, after),
        ];
        self.check_not_away()?;
        let mut guard = lock(&self.writing);
        let outcome = self.run_on(&mut guard, &statements).and_then(|mut rows| {
            let parts = rows.pop().unwrap_or_default();
            let head = self.one(rows.pop().unwrap_or_default(), sql::read_head)?;
            Ok((head, self.read_parts(parts)?))
        });
        self.note_try(outcome.as_ref().map(|_| ()));
        match outcome {
            Ok((head, parts)) => {
                Ok(Box::new(PostgresLogTransaction::new(self, guard, head, parts)))
            }
            Err(error) => {
                // Whatever the transaction holds, it must not hold it on.
                if let Some(wire) = guard.as_mut()
                    && wire.run(&[(sql::ROLLBACK, vec![])], LAST_MS).is_err()
                {
                    *guard = None;
                }
                Err(error)
            }
        }
    }

    fn take_lease(&self, name: &str) -> Result<Option<String>, SharedError> {
        if lock(&self.leases).is_fresh(name) {
            return Ok(None);
        }
        let taken = vec![self.space(), Param::Text(name), Param::Text(&self.writer)];
        let held = vec![self.space(), Param::Text(name)];
        let rows = self.ask(&[(sql::TAKE_LEASE, taken), (sql::LEASE_HOLDER, held)])?;
        let [taken, holder] = &rows[..] else { return Err(self.odd()) };
        if !taken.is_empty() {
            lock(&self.leases).note(name);
            return Ok(None);
        }
        lock(&self.leases).forget(name);
        let holder = holder.first().cloned().map(RowReader::new).and_then(|mut it| it.text());
        Ok(Some(holder.unwrap_or_else(|| "another process".to_owned())))
    }
}

impl Drop for PostgresSpaceLog {
    fn drop(&mut self) {
        self.release_leases();
    }
}

#[cfg(test)]
mod tests;
