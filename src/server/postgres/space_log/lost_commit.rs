//! Finds out whether a commit took place whose answer was lost.
//!
//! A look waits for the turn that may still be open: only then nothing can come after it. Whoever
//! wrote since may have deleted what is looked for, by an image and a cut or by a new epoch. Then
//! nobody can tell, and nothing is claimed.

use std::cmp::Ordering;
use std::time::Duration;

use super::PostgresSpaceLog;
use crate::model::clock::Clock;
use crate::server::postgres::connection::{Param, PostgresConnection};
use crate::server::postgres::connection_error::PostgresError;
use crate::server::postgres::statements as sql;
use crate::store::SharedError;
use crate::store::replication::{LogHash, LogPosition};

/// Milliseconds in which the question is answered at most.
pub(super) const DOUBT_MS: i64 = 9_000;

/// Pause between two tries to connect.
const PAUSE: Duration = Duration::from_millis(100);

/// An end of the log that was to be committed, with the hash of its image, if there was one.
#[derive(Clone, Copy, Debug)]
pub(super) struct SoughtCommit {
    pub(super) place: LogPosition,
    pub(super) image: Option<LogHash>,
}

/// The state of the log when the turn was over.
#[derive(Clone, Copy, Debug)]
struct FoundLog {
    head: LogPosition,
    /// The hash of the entry with the number of the one that is looked for.
    entry: Option<LogHash>,
    /// The hash of the image at that place.
    image: Option<LogHash>,
}

impl SoughtCommit {
    /// Returns whether the commit took place; `None`: that cannot be told any more.
    fn is_in(&self, found: &FoundLog) -> Option<bool> {
        let SoughtCommit { place, image } = self;
        match found.head.epoch.cmp(&place.epoch) {
            Ordering::Less => return Some(false),
            Ordering::Greater => return None,
            Ordering::Equal => (),
        }
        match (image, found.image) {
            (Some(sum), Some(found)) => Some(found == *sum),
            (Some(_), None) => (found.head == *place).then_some(false),
            (None, _) if found.head == *place => Some(true),
            (None, _) if found.head.seq < place.seq => Some(false),
            (None, _) => found.entry.map(|it| it == place.hash),
        }
    }
}

impl PostgresSpaceLog {
    /// Finds out within `wait_ms` whether a commit took place whose answer was lost.
    pub(super) fn was_committed(
        &self,
        sought: &SoughtCommit,
        wait_ms: i64,
    ) -> Result<bool, SharedError> {
        let watch = Clock::System.stopwatch();
        let left_ms = || wait_ms - watch.elapsed_ms();
        while 0 < left_ms() {
            let looked = self
                .connect(left_ms())
                .and_then(|mut wire| self.look(&mut wire, sought, left_ms()));
            match looked {
                Ok(Some(found)) => match sought.is_in(&found) {
                    Some(is_kept) => return Ok(is_kept),
                    None => break,
                },
                Ok(None) => break,
                Err(error) => {
                    log::debug!("the look at a lost commit failed: {}", error.why());
                    // A server that was killed comes up again in a moment.
                    let _ = crossbeam_channel::never::<()>().recv_timeout(PAUSE);
                }
            }
        }
        Err(SharedError::InDoubt { server: self.url.host.clone() })
    }

    /// Waits for the turn, and looks; `None` where the answer is of no known form.
    fn look(
        &self,
        wire: &mut PostgresConnection,
        sought: &SoughtCommit,
        wait_ms: i64,
    ) -> Result<Option<FoundLog>, PostgresError> {
        let LogPosition { epoch, seq, .. } = sought.place;
        let at = [self.space(), Param::Int(epoch), Param::Int(seq)];
        let rows = wire.run(
            &[
                (sql::BEGIN, vec![]),
                (sql::WAIT, vec![]),
                (sql::LOCK_HEAD, vec![self.space()]),
                (sql::ENTRY_HASH, at.to_vec()),
                (sql::IMAGE_SUM, at.to_vec()),
                (sql::ROLLBACK, vec![]),
            ],
            wait_ms,
        )?;
        let [_, _, heads, entries, images, _] = &rows[..] else { return Ok(None) };
        let Some(head) = heads.first().cloned().and_then(sql::read_head) else { return Ok(None) };
        let entry = entries.first().cloned().and_then(sql::read_hash);
        let image = images.first().cloned().and_then(sql::read_hash);
        Ok(Some(FoundLog { head: head.place, entry, image }))
    }
}

#[cfg(test)]
mod tests;
