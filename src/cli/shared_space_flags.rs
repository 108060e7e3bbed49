//! The flag `--shared` of commands: a memory that many machines have.

#[cfg(feature = "shared")]
mod replica_opening;
#[cfg(feature = "shared")]
mod root_names;
#[cfg(feature = "shared")]
mod space_status_poller;
#[cfg(not(feature = "shared"))]
mod without_shared_feature;

use std::path::Path;

use super::CommandStreamsAndClock;
use crate::memory::Memory;
use crate::server::StopSignal;
#[cfg(feature = "shared")]
pub(super) use replica_opening::{
    OpenSpace, follow_to_read, join_new_file, keeper_of, remove_database, replica_at,
};
#[cfg(feature = "shared")]
pub(super) use root_names::RootNames;
#[cfg(feature = "shared")]
pub(super) use space_status_poller::observed_space;
#[cfg(not(feature = "shared"))]
pub(super) use without_shared_feature::{OpenSpace, follow_to_read, observed_space};

/// The work of the thread that follows a log.
pub(super) type FollowerTask = Box<dyn FnOnce(&Memory, &StopSignal) + Send>;

/// The task of the thread that only looks at the log of a space.
pub(super) type SpaceStatusPollerFn = Box<dyn FnOnce(&StopSignal) + Send>;

/// Says what is left to do where a command changed a replica past its log.
pub(super) fn tell_unpublished(db: &Path, context: &mut CommandStreamsAndClock<'_>) {
    #[cfg(feature = "shared")]
    if let Ok(Some(replica)) = replica_at(db)
        && replica.unpublished.is_some()
    {
        // The work is done, even if this cannot be written.
        let _ = writeln!(
            context.err,
            "this replica differs from its space now: publish it with `remindb space image --db \
             {}`; until then nothing is written",
            db.display()
        );
    }
    let _ = (db, context);
}
