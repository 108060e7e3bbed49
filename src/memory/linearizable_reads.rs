//! Linearizable reads of a shared memory: they see every write that was acknowledged before,
//! anywhere.

use super::{Error, Memory};

/// The consistency of what tools read in a shared memory.
#[cfg(feature = "shared")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ReadConsistency {
    /// The replica as it is: offline, too, and without a round trip.
    #[default]
    Replica,
    /// The end of the log.
    Log,
}

impl Memory {
    /// Returns this memory with tools that bring it to the end of the log before they read.
    #[must_use]
    pub(crate) fn with_fresh_reads(self) -> Memory {
        #[cfg(feature = "shared")]
        let fresh = Memory { reads: ReadConsistency::Log, ..self };
        #[cfg(not(feature = "shared"))]
        let fresh = self;
        fresh
    }

    /// Brings a shared memory to the end of its log, if its reads are to be fresh.
    pub(crate) fn freshen(&self) -> Result<(), Error> {
        #[cfg(feature = "shared")]
        if self.reads == ReadConsistency::Log
            && let Some(sharing) = self.sharing()
        {
            sharing.follow_to_read()?;
        }
        Ok(())
    }
}
