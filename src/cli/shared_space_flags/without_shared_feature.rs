//! The flag `--shared` in a build without the feature: an error.

use std::path::Path;

use super::{FollowerTask, SpaceStatusPollerFn};
use crate::cli::args::SharedSpaceFlags;
use crate::cli::{CommandError, CommandStreamsAndClock};
use crate::memory::Memory;
use crate::server::server_facts::ReplicaStatusFn;
use crate::store::Writer;

/// A space, which cannot be.
pub(in crate::cli) enum OpenSpace {}

impl OpenSpace {
    /// Refuses the flag.
    pub(in crate::cli) fn of(
        flag: Option<&SharedSpaceFlags>,
        _: &Path,
        _: &mut CommandStreamsAndClock<'_>,
    ) -> Result<Option<OpenSpace>, CommandError> {
        refuse(flag).map(|()| None)
    }

    pub(in crate::cli) fn attach(&self, _: &mut Memory) -> Result<(), CommandError> {
        match *self {}
    }

    pub(in crate::cli) fn attach_writer(&self, _: &mut Writer) -> Result<(), CommandError> {
        match *self {}
    }

    pub(in crate::cli) fn message(&self, _: &Path) -> String {
        match *self {}
    }

    pub(in crate::cli) fn fact(&self) -> ReplicaStatusFn {
        match *self {}
    }

    pub(in crate::cli) fn follower(&self) -> FollowerTask {
        match *self {}
    }
}

/// Refuses the flag.
pub(in crate::cli) fn observed_space(
    flag: Option<&SharedSpaceFlags>,
    _: &Path,
) -> Result<(ReplicaStatusFn, Option<SpaceStatusPollerFn>), CommandError> {
    refuse(flag).map(|()| (None, None))
}

/// Refuses to follow a log.
pub(in crate::cli) fn follow_to_read(
    _: &Path,
    _: &mut CommandStreamsAndClock<'_>,
) -> Result<(), CommandError> {
    Err(CommandError::Because("this build has no `--fresh`".to_owned()))
}

fn refuse(flag: Option<&SharedSpaceFlags>) -> Result<(), CommandError> {
    match flag {
        None => Ok(()),
        Some(_) => Err(CommandError::Because("this build has no `--shared`".to_owned())),
    }
}
