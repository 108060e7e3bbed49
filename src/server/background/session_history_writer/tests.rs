use crossbeam_channel::bounded;

use super::*;
use crate::model::clock::UnixMillis;
use crate::server::client_presence_and_history::{
    ClientIdentity, ClientTotalsAcrossSessions, EndedSessionQueueing, ObservedRequest,
    TransportAndListenAddress,
};

const INTERVAL: Duration = Duration::from_secs(30);

/// A server's sessions, recorded by a thread with a manual clock.
struct Fixture {
    home: tempfile::TempDir,
    registry: LiveSessionRegistry,
    clock: Clock,
}

impl Fixture {
    fn new() -> Fixture {
        let registry = LiveSessionRegistry::new(
            TransportAndListenAddress::stdio(),
            "salt",
            EndedSessionQueueing::Kept,
        );
        let clock = Clock::manual(UnixMillis(1_000_000));
        Fixture { home: tempfile::tempdir().unwrap(), registry, clock }
    }

    fn saw(&self, connection: &str, calls_tool: bool) {
        let client = ClientIdentity { name: "code".to_owned(), ..ClientIdentity::default() };
        let sight = ObservedRequest { connection, client, is_modern: false, calls_tool };
        self.registry.note_request(&sight, self.clock.now());
    }

    fn history(&self) -> ClientConnectionLedgers {
        ClientConnectionLedgers::new(self.home.path())
    }

    fn past(&self) -> Vec<ClientTotalsAcrossSessions> {
        self.history().clients().unwrap()
    }

    fn n_lines(&self) -> usize {
        let path = self.home.path().join(".remindb/sessions");
        let files = std::fs::read_dir(path).unwrap().map(|it| it.unwrap().path());
        files.map(|it| std::fs::read_to_string(it).unwrap().lines().count()).sum()
    }
}

#[test]
fn the_end_of_a_session_is_recorded_with_its_own_time() {
    let it = Fixture::new();
    it.saw("a", true);
    it.clock.advance(60_000);
    let stop = StopSignal::default();
    stop.set();
    run_session_history(&it.registry, &bounded(1).1, &it.history(), INTERVAL, &it.clock, &stop);
    let past = it.past();
    assert_eq!((past[0].sessions, past[0].tool_calls), (1, 1));
    assert_eq!((past[0].lifetime_seconds, past[0].last_disconnect), (60, 1060));
}

#[test]
fn idle_sessions_add_no_line_and_ledgers_are_compacted() {
    let it = Fixture::new();
    let history = it.history();
    let mut ledger = ClientLedgerAppender {
        history: &history,
        pending: Vec::new(),
        n_lines: 0,
        last_error: None,
    };
    it.saw("a", false);
    for _ in 0..3 {
        ledger.write(it.registry.take_changed(ChangedSessionsToPersist::All, it.clock.now()));
    }
    assert_eq!(it.n_lines(), 1);
    for n in 2..COMPACT_LINES {
        it.saw("a", true);
        ledger.write(it.registry.take_changed(ChangedSessionsToPersist::All, UnixMillis(n as i64)));
    }
    assert_eq!(it.n_lines(), COMPACT_LINES - 1);
    it.saw("a", true);
    ledger.write(it.registry.take_changed(ChangedSessionsToPersist::All, it.clock.now()));
    assert_eq!(it.n_lines(), 1);
    assert_eq!(it.past()[0].tool_calls, COMPACT_LINES as u64 - 1);
}

#[test]
fn unwritable_entries_wait() {
    let it = Fixture::new();
    let history = it.history();
    let mut ledger = ClientLedgerAppender {
        history: &history,
        pending: Vec::new(),
        n_lines: 0,
        last_error: None,
    };
    std::fs::write(it.home.path().join(".remindb"), "in the way").unwrap();
    for n in 0..PENDING_MAX + 5 {
        it.saw("a", true);
        ledger.write(it.registry.take_changed(ChangedSessionsToPersist::All, UnixMillis(n as i64)));
    }
    assert_eq!(ledger.pending.len(), PENDING_MAX);
    assert!(ledger.last_error.is_some());
    std::fs::remove_file(it.home.path().join(".remindb")).unwrap();
    ledger.write(Vec::new());
    assert_eq!(it.past()[0].tool_calls, PENDING_MAX as u64 + 5);
    assert!(ledger.last_error.is_none());
}
