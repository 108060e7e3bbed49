use crossbeam_channel::TryRecvError;

use super::*;
use crate::memory::typed::StoreRequest;
use crate::model::clock::{Clock, UnixMillis};
use crate::settings::config::TypedMemorySettings;
use crate::store::IfMissing;

fn memory(dir: &tempfile::TempDir, clock: &Clock) -> Memory {
    Memory::open_at(&dir.path().join("memory.db"), IfMissing::Create, clock.clone()).unwrap()
}

#[test]
fn each_tick_wakes_listeners_and_none_while_frozen() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(UnixMillis(1_700_000_000_000));
    let (memory, waker, watch) = (memory(&dir, &clock), NoticeWaker::default(), clock.stopwatch());
    let wakes = waker.receiver();
    let mut pace = MemoryClockSchedule::new(0);
    let mut minutes = |n: i64| {
        let mut n_woken = 0;
        for _ in 0..n {
            clock.advance(60_000);
            turn(&memory, &waker, &mut pace, watch.elapsed_ms(), false).unwrap();
            n_woken += wakes.try_iter().count();
        }
        n_woken
    };
    assert_eq!(minutes(11), 2);
    memory.set_rates(crate::model::heat::HeatParameters { is_enabled: false, ..memory.rates() });
    // The minute before still counts.
    assert_eq!(minutes(100), 1);
    memory.set_rates(crate::model::heat::HeatParameters::default());
    assert_eq!(minutes(5), 1);
    assert_eq!(wakes.try_recv(), Err(TryRecvError::Empty));
}

#[test]
fn the_time_until_shutdown_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let memory = memory(&dir, &Clock::manual(UnixMillis(1_700_000_000_000)));
    let attended = || memory.read(|reader| reader.attended()).unwrap();
    let (waker, mut pace) = (NoticeWaker::default(), MemoryClockSchedule::new(0));
    turn(&memory, &waker, &mut pace, 90_000, false).unwrap();
    assert_eq!(attended(), 0, "not yet due");
    turn(&memory, &waker, &mut pace, 91_000, true).unwrap();
    assert_eq!(attended(), 91_000);
}

/// Ticks for so many minutes; returns how many memories are archived then.
fn archived_after(memory: &Memory, clock: &Clock, minutes: i64) -> u64 {
    let (waker, watch) = (NoticeWaker::default(), clock.stopwatch());
    let mut pace = MemoryClockSchedule::new(0);
    for _ in 0..minutes {
        clock.advance(60_000);
        turn(memory, &waker, &mut pace, watch.elapsed_ms(), false).unwrap();
    }
    memory.memory_stats().unwrap().n_archived
}

#[test]
fn each_tick_archives_unless_the_settings_forbid_it() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(UnixMillis(1_700_000_000_000));
    let forbidden =
        TypedMemorySettings { auto_archive: Some(false), ..TypedMemorySettings::default() };
    let forbidding = memory(&dir, &clock).with_memory_settings(forbidden);
    let args = serde_json::json!({"type": "learning", "content": "Old."});
    let store = StoreRequest::parse(args.as_object().unwrap()).unwrap();
    forbidding.store_memory(store).unwrap();
    clock.advance(90 * crate::model::clock::DAY_MS);
    assert_eq!(archived_after(&forbidding, &clock, 11), 0);
    let archiving = memory(&dir, &clock);
    assert_eq!(archived_after(&archiving, &clock, 4), 0, "not before the first tick");
    assert_eq!(archived_after(&archiving, &clock, 5), 1);
    assert_eq!(archiving.read(|it| it.change_counters()).unwrap().head, 2, "one snapshot");
    assert_eq!(archived_after(&archiving, &clock, 60), 1);
    assert_eq!(archiving.read(|it| it.change_counters()).unwrap().head, 2, "and no further one");
}

#[test]
fn frozen_temperatures_keep_no_memory_from_being_archived() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(UnixMillis(1_700_000_000_000));
    let memory = memory(&dir, &clock);
    memory.set_rates(crate::model::heat::HeatParameters { is_enabled: false, ..memory.rates() });
    let args = serde_json::json!({"type": "learning", "content": "Old."});
    memory.store_memory(StoreRequest::parse(args.as_object().unwrap()).unwrap()).unwrap();
    clock.advance(90 * crate::model::clock::DAY_MS);
    assert_eq!(archived_after(&memory, &clock, 6), 1);
}

#[test]
fn a_stopped_thread_ends_and_counts_no_time_that_did_not_pass() {
    let dir = tempfile::tempdir().unwrap();
    let memory = memory(&dir, &Clock::manual(UnixMillis(1_700_000_000_000)));
    let (stop, waker) = (StopSignal::default(), NoticeWaker::default());
    let wakes = waker.receiver();
    std::thread::scope(|scope| {
        let heat = scope.spawn(|| run_heat_ticks(&memory, &waker, &stop));
        stop.set();
        heat.join().unwrap();
    });
    assert_eq!(memory.read(|reader| reader.attended()).unwrap(), 0);
    assert_eq!(wakes.try_recv(), Err(TryRecvError::Empty));
}
