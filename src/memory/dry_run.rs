//! Writes that may be dry runs: all of their work is done, then rolled back.

use super::Memory;
use crate::model::clock::UnixMillis;
use crate::store::{Batch, StoreError};

/// Tells whether a write is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteOrDryRun {
    Write,
    DryRun,
}

/// The reason why a write is rolled back: it failed, or only counted.
enum RollbackReason<T, E> {
    Failed(E),
    Counted(T),
}

impl<T, E: From<StoreError>> From<StoreError> for RollbackReason<T, E> {
    fn from(error: StoreError) -> RollbackReason<T, E> {
        RollbackReason::Failed(error.into())
    }
}

impl Memory {
    /// Writes as one snapshot, and returns what `body` returns with the snapshot, if there is one.
    /// Nothing is kept of a dry run.
    pub(super) fn write_or_count<T, E: From<StoreError>>(
        &self,
        mode: WriteOrDryRun,
        message: &str,
        now: UnixMillis,
        body: impl FnOnce(&mut Batch<'_>) -> Result<T, E>,
    ) -> Result<(T, Option<i64>), E> {
        let written = self.writer.write(message, "", now, |batch| {
            let value = body(batch).map_err(RollbackReason::Failed)?;
            match mode {
                WriteOrDryRun::Write => Ok(value),
                WriteOrDryRun::DryRun => Err(RollbackReason::Counted(value)),
            }
        });
        match written {
            Ok((value, commit)) => Ok((value, commit.snapshot)),
            Err(RollbackReason::Counted(value)) => Ok((value, None)),
            Err(RollbackReason::Failed(error)) => Err(error),
        }
    }
}
