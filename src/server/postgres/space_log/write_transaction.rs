//! The right to write: a transaction that holds the lock of the space's row.

use std::sync::MutexGuard;

use super::lost_commit::{DOUBT_MS, SoughtCommit};
use super::{CALL_MS, PostgresSpaceLog, is_closing};
use crate::server::postgres::connection::{Param, PostgresConnection, RawRow, SqlWithParams};
use crate::server::postgres::connection_error::PostgresError;
use crate::server::postgres::statements as sql;
use crate::store::SharedError;
use crate::store::replication::{LogHash, LogPart, LogPosition, LogTransaction, SpaceHead};

/// An open transaction. Without a commit it is rolled back.
pub(super) struct PostgresLogTransaction<'k> {
    keeper: &'k PostgresSpaceLog,
    wire: MutexGuard<'k, Option<PostgresConnection>>,
    head: SpaceHead,
    /// Parts that came with the turn.
    parts: Vec<LogPart>,
    /// The part that waits for the next one, or for the commit.
    waiting: Option<LogPart>,
    /// The hash of the image that was appended.
    image: Option<LogHash>,
    is_over: bool,
}

impl<'k> PostgresLogTransaction<'k> {
    pub(super) fn new(
        keeper: &'k PostgresSpaceLog,
        wire: MutexGuard<'k, Option<PostgresConnection>>,
        head: SpaceHead,
        parts: Vec<LogPart>,
    ) -> PostgresLogTransaction<'k> {
        PostgresLogTransaction {
            keeper,
            wire,
            head,
            parts,
            waiting: None,
            image: None,
            is_over: false,
        }
    }

    fn run(&mut self, statements: &[SqlWithParams<'_>]) -> Result<Vec<Vec<RawRow>>, PostgresError> {
        let broken = || PostgresError::Broken("the connection was closed".to_owned());
        let outcome = self.wire.as_mut().ok_or_else(broken)?.run(statements, CALL_MS);
        if let Err(error) = &outcome
            && is_closing(error)
        {
            *self.wire = None;
        }
        outcome
    }

    fn append_waiting<'a>(
        keeper: &'a PostgresSpaceLog,
        epoch: i64,
        part: &'a LogPart,
    ) -> SqlWithParams<'a> {
        let LogPart { seq, part, writer, schema, hash, body } = part;
        let hash = hash.as_ref().map_or(Param::Null, |it| Param::Bytes(&it.0));
        let values = vec![
            keeper.space(),
            Param::Int(epoch),
            Param::Int(*seq),
            Param::Int(*part),
            Param::Text(writer),
            Param::Int(*schema),
            hash,
            Param::Bytes(body),
        ];
        (sql::APPEND, values)
    }
}

impl LogTransaction for PostgresLogTransaction<'_> {
    fn head(&self) -> SpaceHead {
        self.head
    }

    fn parts(&mut self, epoch: i64, after: (i64, i64)) -> Result<Vec<LogPart>, SharedError> {
        let early = std::mem::take(&mut self.parts);
        if early.first().is_some_and(|it| after < (it.seq, it.part)) {
            return Ok(early);
        }
        let (seq, part) = after;
        let keeper = self.keeper;
        let at = vec![keeper.space(), Param::Int(epoch), Param::Int(seq), Param::Int(part)];
        let mut rows = self.run(&[(sql::PARTS, at)]).map_err(|it| keeper.error(&it))?;
        keeper.read_parts(rows.pop().unwrap_or_default())
    }

    fn has_lease(&mut self, name: &str) -> Result<bool, SharedError> {
        let keeper = self.keeper;
        let values = vec![keeper.space(), Param::Text(name), Param::Text(&keeper.writer)];
        let rows = self.run(&[(sql::HAS_LEASE, values)]).map_err(|it| keeper.error(&it))?;
        Ok(rows.first().is_some_and(|it| !it.is_empty()))
    }

    fn append(&mut self, part: LogPart) -> Result<(), SharedError> {
        let keeper = self.keeper;
        if let Some(before) = self.waiting.replace(part) {
            let statement = Self::append_waiting(keeper, self.head.place.epoch, &before);
            self.run(&[statement]).map_err(|it| keeper.error(&it))?;
        }
        Ok(())
    }

    fn append_image(&mut self, image: &LogPosition, part: LogPart) -> Result<(), SharedError> {
        let keeper = self.keeper;
        let at = [keeper.space(), Param::Int(image.epoch), Param::Int(image.seq)];
        let sum = part.hash.as_ref().map_or(Param::Null, |it| Param::Bytes(&it.0));
        let mut values = at.to_vec();
        values.extend([
            Param::Int(part.part),
            Param::Bytes(&image.hash.0),
            Param::Text(&part.writer),
            Param::Int(part.schema),
            sum,
            Param::Bytes(&part.body),
        ]);
        let mut statements = vec![(sql::APPEND_IMAGE, values)];
        if part.part == 0 {
            statements.insert(0, (sql::DROP_IMAGE, at.to_vec()));
        }
        self.image = part.hash.or(self.image);
        self.run(&statements).map(drop).map_err(|it| keeper.error(&it))
    }

    fn commit(mut self: Box<Self>, end: &SpaceHead) -> Result<(), SharedError> {
        let keeper = self.keeper;
        let place = &end.place;
        let waiting = self.waiting.take();
        let mut statements: Vec<SqlWithParams<'_>> = Vec::new();
        if let Some(part) = &waiting {
            statements.push(Self::append_waiting(keeper, place.epoch, part));
        }
        let end_values = vec![
            keeper.space(),
            Param::Int(place.epoch),
            Param::Int(place.seq),
            Param::Bytes(&place.hash.0),
            Param::Int(end.schema),
        ];
        statements.push((sql::MOVE_HEAD, end_values));
        if self.head.place.epoch < place.epoch {
            let old = [keeper.space(), Param::Int(place.epoch)];
            statements.push((sql::DROP_OLD_LOG, old.to_vec()));
            statements.push((sql::DROP_OLD_IMAGES, old.to_vec()));
        }
        if self.wire.as_ref().is_some_and(|it| it.is_notifying) {
            statements.push((sql::NOTIFY, vec![keeper.space()]));
        }
        statements.push((sql::COMMIT, vec![]));
        let outcome = self.run(&statements);
        self.is_over = true;
        let Err(error) = outcome else { return Ok(()) };
        // Whatever the error, the server may have gone further than its answer.
        *self.wire = None;
        log::info!("the answer to a commit was lost: {}", error.why());
        let sought = SoughtCommit { place: end.place, image: self.image };
        match keeper.was_committed(&sought, DOUBT_MS)? {
            true => Ok(()),
            false => Err(keeper.error(&error)),
        }
    }
}

impl Drop for PostgresLogTransaction<'_> {
    fn drop(&mut self) {
        if !self.is_over && self.run(&[(sql::ROLLBACK, vec![])]).is_err() {
            // Closing the connection ends the transaction, too.
            *self.wire = None;
        }
    }
}
