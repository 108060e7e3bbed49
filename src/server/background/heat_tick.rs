//! The thread that cools nodes while a server is up, and wakes listeners when some may be cold. At
//! the same pace it archives memories.
//!
//! The loop only waits; [`MemoryClockSchedule`] decides. Settings are read each time, so that a
//! change acts within seconds.

use std::time::Duration;

use crate::mcp::NoticeWaker;
use crate::memory::typed::ArchiveOrDryRun;
use crate::memory::{Error, Memory};
use crate::model::heat::{MemoryClockSchedule, PendingAttendedTime};
use crate::server::StopSignal;

/// Maximum milliseconds until a change of the settings is noticed.
const WAIT_MS_MAX: i64 = 5_000;

/// Milliseconds until a retry while another process writes, and the shortest tick.
const WAIT_MS_MIN: i64 = 250;

/// Ticks until stopped; then once more, for the time since.
pub(crate) fn run_heat_ticks(memory: &Memory, waker: &NoticeWaker, stop: &StopSignal) {
    let watch = memory.clock().stopwatch();
    let mut pace = MemoryClockSchedule::new(watch.elapsed_ms());
    loop {
        memory.reload();
        let wait_ms = pace.wait_ms(&memory.rates()).clamp(WAIT_MS_MIN, WAIT_MS_MAX);
        let is_over = stop.is_set_within(Duration::from_millis(wait_ms.unsigned_abs()));
        if let Err(error) = turn(memory, waker, &mut pace, watch.elapsed_ms(), is_over) {
            // The unwritten time is written with the next tick.
            log::warn!("the memory clock was not moved: {error}");
        }
        if is_over {
            return;
        }
    }
}

/// Counts the time up to this reading, and writes it when it is due.
fn turn(
    memory: &Memory,
    waker: &NoticeWaker,
    pace: &mut MemoryClockSchedule,
    reading_ms: i64,
    is_last: bool,
) -> Result<(), Error> {
    let rates = memory.rates();
    pace.note(reading_ms, &rates);
    if is_last {
        return pace.rest().map_or(Ok(()), |rest| memory.settle(rest));
    }
    let Some(due) = pace.due(&rates) else { return Ok(()) };
    let is_frozen = !rates.is_enabled && due == PendingAttendedTime { cooling_ms: 0.0, ..due };
    if is_frozen {
        pace.settle();
        archive(memory);
    } else if memory.tick(due)? {
        pace.settle();
        waker.wake();
        archive(memory);
    }
    Ok(())
}

/// Archives what the settings say. A failure is tried again with the next tick.
fn archive(memory: &Memory) {
    if !memory.memory_settings().is_archiving() {
        return;
    }
    match memory.archive_memories(None, ArchiveOrDryRun::Real) {
        Ok(report) => {
            if let Some(snapshot) = report.snapshot {
                log::info!("archived {}; snapshot={snapshot}", report.counts());
            }
            if !report.skipped.is_empty() {
                let n = report.skipped.len();
                log::warn!("memories that could not be archived={n}; run `remindb doctor`");
            }
        }
        Err(error) => log::warn!("no memory was archived: {error}"),
    }
}

#[cfg(test)]
mod tests;
