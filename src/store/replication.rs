//! One memory on many machines: each has its whole file, and all write through one ordered log.
//!
//! A write waits for its turn in the log, applies what others appended, runs as any other write
//! while its rows are recorded, appends them as an entry, and commits there before it commits here.
//! Locks are always taken in this order: the writer's connection, the log, the file. A follower of
//! the log takes the file's lock alone.
//!
//! A [`Sequencer`] keeps the log; the shell hands it in.

mod change_recorder;
mod divergence_from_log;
#[cfg(test)]
pub(crate) mod in_process_sequencer;
mod log_applier;
mod log_entry;
mod replica_space_and_position;
mod sequencer;
mod table_scopes;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, Transaction};

pub(crate) use divergence_from_log::check_standing;
#[cfg(any(test, fuzzing))]
pub(crate) use log_entry::rewrite_part;
pub(crate) use log_entry::{LogHash, LogPart};
pub(crate) use replica_space_and_position::{
    LogPosition, Replica, become_replica, leave_space, replica_of, set_space_url,
};
pub(crate) use sequencer::{LogTransaction, Sequencer, SpaceHead};

use super::checkpoint::WriteAheadLog;
use super::commit_outcome::commit;
use super::file_identity_check::OpenedFiles;
use super::portable_root_names::{name_other_roots, name_root, root_name_at};
use super::relaxed_durability_connection::RelaxedDurabilityConnection;
use super::write_lock_and_holder::begin_write;
use super::{
    ErrorContext, PreparedStatements, SharedError, StoreError, busy_handler, connection, schema,
    source_files,
};
use change_recorder::ChangeRecorder;
use divergence_from_log::refuse_unpublished;
use log_applier::LogApplier;
use log_entry::EntryHasher;

/// Turns that a write takes until it is in step: others may publish an image in between.
const TURNS_MAX: usize = 4;

/// Names the root at a path, the same on every machine.
pub(crate) type PortableRootNameFn = dyn Fn(&Path) -> String + Send + Sync;

/// The part of a writer that shares its memory.
pub(crate) struct WriterReplication {
    sequencer: Arc<dyn Sequencer>,
    namer: Box<PortableRootNameFn>,
    recorder: ChangeRecorder,
    applier: Mutex<RelaxedDurabilityConnection>,
    file_identity: Arc<OpenedFiles>,
}

/// Parts that come from the log or from a turn.
type LogPartSource<'a> = dyn FnMut(i64, (i64, i64)) -> Result<Vec<LogPart>, SharedError> + 'a;

impl WriterReplication {
    /// Makes the writer's connection record, and opens one that applies.
    pub(super) fn attach(
        conn: &Connection,
        path: &Path,
        (log, file_identity): (&WriteAheadLog, &Arc<OpenedFiles>),
        sequencer: Arc<dyn Sequencer>,
        namer: Box<PortableRootNameFn>,
    ) -> Result<WriterReplication, StoreError> {
        // A write uses some of the statements of recording beside all of its own.
        conn.set_prepared_statement_cache_capacity(256);
        let recorder = ChangeRecorder::attach(conn)?;
        let mut applier =
            RelaxedDurabilityConnection::open(path, file_identity, busy_handler::LONG)?;
        busy_handler::set_busy_timeout(&mut applier, busy_handler::LONG)?;
        applier.pragma_update(None, "foreign_keys", false).doing("turn foreign keys off")?;
        applier.set_prepared_statement_cache_capacity(128);
        log.attach(&mut applier)?;
        let (applier, file_identity) = (Mutex::new(applier), Arc::clone(file_identity));
        Ok(WriterReplication { sequencer, namer, recorder, applier, file_identity })
    }

    /// Returns the sequencer, which keeps the log.
    pub(crate) fn sequencer(&self) -> &Arc<dyn Sequencer> {
        &self.sequencer
    }

    /// Returns the name of the root at a path.
    pub(crate) fn root_name(&self, path: &str) -> String {
        (self.namer)(Path::new(path))
    }

    /// Returns the name of a root that is known already, or the one that it will have.
    pub(super) fn root_name_at(&self, conn: &Connection, path: &str) -> Result<String, StoreError> {
        Ok(root_name_at(conn, path)?.unwrap_or_else(|| self.root_name(path)))
    }

    /// Makes the connection record again, after its temporary tables were dropped.
    pub(super) fn record_again(&self, conn: &Connection) -> Result<(), StoreError> {
        self.recorder.make_triggers(conn)
    }

    /// Returns where the replica stands.
    pub(crate) fn replica(&self) -> Result<Replica, StoreError> {
        present(&self.lock())
    }

    /// Applies what others appended, and returns whether there was anything.
    pub(crate) fn follow(&self) -> Result<bool, StoreError> {
        let mut last = None;
        for _ in 0..TURNS_MAX {
            self.file_identity.check()?;
            // In this order: a log that is looked at later is never behind its replica. Who writes
            // meanwhile does not wait for the answer.
            let replica = self.replica()?;
            let head = self.sequencer.head()?;
            if replica.place == head.place {
                return Ok(false);
            }
            let mut parts = |epoch, after| self.sequencer.parts(epoch, after);
            match self.catch_up(&self.lock(), &replica, &head, &mut parts) {
                Ok(()) => return Ok(true),
                Err(error) => last = Some(error),
            }
            let now = self.sequencer.head()?;
            if now.place.epoch == head.place.epoch {
                break;
            }
            // The log began anew while it was read.
        }
        last.map_or(Ok(false), Err)
    }

    /// Applies what others appended, for a read that is to see all of it.
    pub(crate) fn follow_to_read(&self) -> Result<(), StoreError> {
        match self.follow() {
            Err(StoreError::Shared(SharedError::Unreachable { server, why })) => {
                Err(SharedError::NotFresh { server, why }.into())
            }
            followed => followed.map(drop),
        }
    }

    /// Brings the replica to the end of the log, as both were a moment ago.
    fn catch_up(
        &self,
        conn: &Connection,
        replica: &Replica,
        head: &SpaceHead,
        parts: &mut LogPartSource<'_>,
    ) -> Result<(), StoreError> {
        check_standing(replica, head, None)?;
        if replica.place.epoch < head.place.epoch {
            self.load_newest_image(conn, head.place.epoch)?;
        }
        while self.apply_some(conn, head, parts)? {}
        Ok(())
    }

    /// Applies the next parts in one transaction, up to the end of an entry; returns whether there
    /// were any.
    fn apply_some(
        &self,
        conn: &Connection,
        head: &SpaceHead,
        parts: &mut LogPartSource<'_>,
    ) -> Result<bool, StoreError> {
        let place = present(conn)?.place;
        if place.epoch != head.place.epoch || head.place.seq <= place.seq {
            return Ok(false);
        }
        // Before the file is locked: a slow server keeps nobody on this machine from writing.
        let mut next = parts(place.epoch, (place.seq, i64::MAX))?;
        let tx = self.file_identity.begin_write(conn, "begin to apply the log")?;
        let replica = present(&tx)?;
        refuse_unpublished(&replica)?;
        if replica.place != place {
            // Another process of this machine applied them.
            return Ok(true);
        }
        let mut application = LogApplier::begin(&tx, place)?;
        loop {
            if next.is_empty() {
                // The space's row names an entry that is not there.
                return Err(SharedError::Gap { after: application.place.seq }.into());
            }
            next.iter().try_for_each(|it| application.apply(it))?;
            if application.is_whole() {
                break;
            }
            next = parts(place.epoch, application.last_part())?;
        }
        drop(application);
        commit(tx, "apply the log")?;
        Ok(true)
    }

    fn load_newest_image(&self, conn: &Connection, epoch: i64) -> Result<(), StoreError> {
        let image = newest_image(&*self.sequencer, epoch)?;
        let tx = self.file_identity.begin_write(conn, "begin to load an image")?;
        load_image(tx, &*self.sequencer, &image)
    }

    /// Runs a write in a turn of the log: `body` in a local transaction, whose rows are published.
    ///
    /// A compile needs the lease of its root for as long as the turn lasts: a process that was
    /// stopped for minutes may have lost it.
    pub(super) fn write<T, E: From<StoreError>>(
        &self,
        conn: &Connection,
        compiled_root: Option<&str>,
        body: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut turn = self.turn_in_step(conn)?;
        if let Some(root) = compiled_root
            && !turn.has_lease(&compile_lease(root)).map_err(StoreError::from)?
        {
            return Err(StoreError::from(SharedError::LeaseLost { root: root.to_owned() }).into());
        }
        let head = turn.head();
        let tx = self.file_identity.begin_write(conn, "begin a write")?;
        // Another process may have changed the file past its log since the turn began.
        let replica = present(&tx)?;
        refuse_unpublished(&replica).map_err(StoreError::from)?;
        if replica.place != head.place {
            return Err(StoreError::from(SharedError::Diverged { since: head.place.seq }).into());
        }
        let value = body(&tx)?;
        match self.append(&tx, &head, &mut *turn)? {
            None => {
                drop(turn);
                commit(tx, "commit a write")?;
            }
            Some(end) => {
                replica_space_and_position::move_to(&tx, &end.place)?;
                turn.commit(&end).map_err(StoreError::from)?;
                // From here on the write is kept: what this file lacks comes from the log.
                if let Err(error) = commit(tx, "commit a write") {
                    log::warn!("the log has a write that this file lacks: {error}");
                }
            }
        }
        Ok(value)
    }

    /// Waits for a turn, with the replica at the end of the log.
    fn turn_in_step(&self, conn: &Connection) -> Result<Box<dyn LogTransaction + '_>, StoreError> {
        for _ in 0..TURNS_MAX {
            let replica = present(conn)?;
            refuse_unpublished(&replica)?;
            let mut turn = self.sequencer.begin_turn(&replica.place)?;
            let head = turn.head();
            let own = schema::newest();
            if head.schema != own {
                return Err(SharedError::OtherSchema { found: head.schema, own }.into());
            }
            if head.place.epoch != replica.place.epoch {
                // An image is loaded without keeping others from writing.
                drop(turn);
                self.follow()?;
                continue;
            }
            check_standing(&replica, &head, None)?;
            if replica.place != head.place {
                let applier = self.lock();
                let mut parts = |epoch, after| turn.parts(epoch, after);
                self.catch_up(&applier, &replica, &head, &mut parts)?;
            }
            return Ok(turn);
        }
        Err(SharedError::Gap { after: present(conn)?.place.seq }.into())
    }

    /// Appends the rows that the transaction changed; returns the new end of the log, `None` where
    /// it changed none.
    fn append(
        &self,
        tx: &Connection,
        head: &SpaceHead,
        turn: &mut dyn LogTransaction,
    ) -> Result<Option<SpaceHead>, StoreError> {
        name_other_roots(tx)?;
        let mut hasher = EntryHasher::new(head.place.hash, self.sequencer.writer(), head.schema);
        let seq = head.place.seq + 1;
        let mut part = LogPart::first(seq, self.sequencer.writer(), head.schema);
        let mut sink = |body: Vec<u8>| {
            hasher.add(&body);
            turn.append(part.then(body, None)).map_err(StoreError::from)
        };
        let Some(last) = self.recorder.take(tx, head.place.hash, &mut sink)? else {
            return Ok(None);
        };
        hasher.add(&last);
        let hash = hasher.finish();
        turn.append(part.then(last, Some(hash)))?;
        Ok(Some(SpaceHead { place: LogPosition { seq, hash, ..head.place }, ..*head }))
    }

    /// Runs a change of rows that no other machine needs to know of, such as a root's place here.
    pub(super) fn write_local(
        &self,
        conn: &Connection,
        body: impl FnOnce(&Transaction<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let tx = self.file_identity.begin_write(conn, "begin a write")?;
        body(&tx)?;
        self.recorder.forget(&tx)?;
        commit(tx, "commit a write")
    }

    /// Publishes an image of the replica as it is: at its place in the log, or as the beginning of
    /// a new epoch where something changed it past the log, or the schema is a newer one.
    pub(super) fn publish_image(&self, conn: &Connection) -> Result<LogPosition, StoreError> {
        let replica = present(conn)?;
        let mut turn = self.sequencer.begin_turn(&replica.place)?;
        let head = turn.head();
        let own = schema::newest();
        if own < head.schema {
            return Err(SharedError::OtherSchema { found: head.schema, own }.into());
        }
        if replica.unpublished.is_none() {
            let applier = self.lock();
            let mut parts = |epoch, after| turn.parts(epoch, after);
            self.catch_up(&applier, &replica, &head, &mut parts)?;
        } else if replica.place != head.place {
            return Err(SharedError::Diverged { since: replica.place.seq + 1 }.into());
        }
        let is_new_epoch = replica.unpublished.is_some() || head.schema < own;
        let place = match is_new_epoch {
            true => first_place(conn, head.place.epoch + 1, head.place.hash, &*self.sequencer)?,
            false => head.place,
        };
        let tx = self.file_identity.begin_write(conn, "begin an image")?;
        append_image(&tx, &self.sequencer, &place, &mut *turn)?;
        replica_space_and_position::move_to(&tx, &place)?;
        self.recorder.forget(&tx)?;
        turn.commit(&SpaceHead { place, schema: own })?;
        commit(tx, "commit the place in the log")?;
        Ok(place)
    }

    fn lock(&self) -> MutexGuard<'_, RelaxedDurabilityConnection> {
        // A poisoned lock is sound: its transaction was rolled back when it was dropped.
        self.applier.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the name of the lease that compiles a root.
pub(super) fn compile_lease(root: &str) -> String {
    format!("compile:{root}")
}

/// Makes the file the first replica of a new space, whose turn is handed in.
pub(super) fn publish_space(
    tx: Transaction<'_>,
    sequencer: &Arc<dyn Sequencer>,
    namer: &PortableRootNameFn,
    mut turn: Box<dyn LogTransaction + '_>,
) -> Result<(), StoreError> {
    let place = first_place(&tx, 1, LogHash::default(), &**sequencer)?;
    for root in source_files::roots(&tx)? {
        name_root(&tx, &root.path, &namer(Path::new(&root.path)))?;
    }
    append_image(&tx, sequencer, &place, &mut *turn)?;
    become_replica(&tx, sequencer.url(), &place)?;
    turn.commit(&SpaceHead { place, schema: schema::newest() })?;
    commit(tx, "commit the place in the log")
}

/// Returns where an epoch begins. Two that are made of different memories, or by different
/// processes, are not the same place.
fn first_place(
    conn: &Connection,
    epoch: i64,
    before: LogHash,
    sequencer: &dyn Sequencer,
) -> Result<LogPosition, StoreError> {
    const STATE: &str = "SELECT CAST(fingerprint AS TEXT) FROM memory";
    let state: String = conn.row(STATE, [], |row| row.get(0), "read the fingerprint")?;
    let mut hasher = EntryHasher::new(before, sequencer.writer(), schema::newest());
    hasher.add(state.as_bytes());
    Ok(LogPosition { epoch, seq: 0, hash: hasher.finish() })
}

/// Appends an image of the transaction's rows.
fn append_image(
    tx: &Connection,
    sequencer: &Arc<dyn Sequencer>,
    place: &LogPosition,
    turn: &mut dyn LogTransaction,
) -> Result<(), StoreError> {
    name_other_roots(tx)?;
    let schema = schema::newest();
    let mut hasher = EntryHasher::new(place.hash, sequencer.writer(), schema);
    let mut part = LogPart::first(place.seq, sequencer.writer(), schema);
    let mut sink = |body: Vec<u8>| {
        hasher.add(&body);
        turn.append_image(place, part.then(body, None)).map_err(StoreError::from)
    };
    let last = change_recorder::write_image(tx, &mut sink)?;
    hasher.add(&last);
    Ok(turn.append_image(place, part.then(last, Some(hasher.finish())))?)
}

fn newest_image(sequencer: &dyn Sequencer, epoch: i64) -> Result<LogPosition, SharedError> {
    let no_image = || SharedError::NoSpace { url: sequencer.url().to_owned() };
    sequencer.newest_image(epoch)?.ok_or_else(no_image)
}

/// Replaces all shared rows of a replica by those of an image, unless it has come as far without.
/// The connection has no foreign keys.
fn load_image(
    tx: Transaction<'_>,
    sequencer: &dyn Sequencer,
    image: &LogPosition,
) -> Result<(), StoreError> {
    let replica = present(&tx)?;
    refuse_unpublished(&replica)?;
    if image.epoch <= replica.place.epoch {
        // Another process of this machine loaded it, and may have gone on from there.
        return Ok(());
    }
    let mut application = LogApplier::begin(&tx, replica.place)?;
    let mut after = -1;
    loop {
        let parts = sequencer.image_parts(image, after)?;
        if parts.is_empty() {
            return Err(SharedError::Gap { after: image.seq }.into());
        }
        for part in &parts {
            application.apply_image(part, *image)?;
            after = part.part;
        }
        if application.is_whole() {
            break;
        }
    }
    drop(application);
    commit(tx, "load an image")
}

/// Fills an empty memory with the newest image of a space, from which it can follow the log.
pub(crate) fn join_space(path: &Path, sequencer: &dyn Sequencer) -> Result<(), StoreError> {
    let image = newest_image(sequencer, sequencer.head()?.place.epoch)?;
    let conn = connection::open_existing(path, "open the database")?;
    conn.pragma_update(None, "synchronous", "NORMAL").doing("set the level of durability")?;
    conn.pragma_update(None, "foreign_keys", false).doing("turn foreign keys off")?;
    become_replica(&conn, sequencer.url(), &LogPosition::default())?;
    load_image(begin_write(&conn, "begin to load an image")?, sequencer, &image)
}

/// Returns the replica that the file is.
fn present(conn: &Connection) -> Result<Replica, StoreError> {
    Ok(replica_of(conn)?.ok_or(SharedError::NoReplica)?)
}
