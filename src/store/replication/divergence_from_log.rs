//! Compares a replica with the log of its space, as far as its end and the next entry tell.

use std::cmp::Ordering;

use super::log_entry::LogPart;
use super::replica_space_and_position::Replica;
use super::sequencer::SpaceHead;
use crate::store::SharedError;

/// Refuses a replica that is not at a place of the log, as far as its end and the next entry tell.
pub(crate) fn check_standing(
    replica: &Replica,
    head: &SpaceHead,
    next: Option<&LogPart>,
) -> Result<(), SharedError> {
    refuse_unpublished(replica)?;
    let (place, head) = (&replica.place, &head.place);
    let since = match place.epoch.cmp(&head.epoch) {
        Ordering::Less => return Ok(()),
        Ordering::Greater => head.seq,
        Ordering::Equal if head.seq < place.seq => head.seq + 1,
        Ordering::Equal if head.seq == place.seq && head.hash != place.hash => place.seq,
        Ordering::Equal => match next {
            Some(next) if next.seq == place.seq + 1 && !next.is_after(place.hash) => place.seq,
            Some(next) if next.seq != place.seq + 1 => {
                return Err(SharedError::Gap { after: place.seq });
            }
            _ => return Ok(()),
        },
    };
    Err(SharedError::Diverged { since })
}

/// Refuses a replica with a change past the log that waits to be published.
pub(super) fn refuse_unpublished(replica: &Replica) -> Result<(), SharedError> {
    match &replica.unpublished {
        Some(what) => Err(SharedError::Unpublished { what: what.clone() }),
        None => Ok(()),
    }
}
