use serde_json::{Map, json};
use tempfile::TempDir;

use super::*;
use crate::memory::knowledge::RememberRequest;
use crate::model::clock::{Clock, UnixMillis};
use crate::providers::shell_provider_testing;
use crate::store::IfMissing;

struct Case {
    clock: Clock,
    memory: Memory,
    leases: Arc<LeaseManager>,
    pace: ConsolidationDueState,
    folder: TempDir,
}

impl Case {
    fn new(n_episodes: usize) -> Case {
        let folder = TempDir::new().unwrap();
        let clock = Clock::manual(UnixMillis(1_795_428_000_000));
        let path = folder.path().join("memory.db");
        let memory = Memory::open_at(&path, IfMissing::Create, clock.clone()).unwrap();
        for nth in 0..n_episodes {
            let content = json!(format!("Retry number {nth} failed."));
            let args = Map::from_iter([("content".to_owned(), content)]);
            memory.remember(RememberRequest::parse(&args).unwrap()).unwrap();
        }
        let leases = Arc::new(memory.leases("this one").unwrap());
        Case { clock, memory, leases, pace: ConsolidationDueState::default(), folder }
    }

    fn turn_after(&mut self, seconds: i64, provider: &ProviderClient) -> bool {
        self.clock.advance(seconds * 1_000);
        let Case { memory, leases, pace, .. } = self;
        turn(memory, provider, leases, pace, &StopSignal::default()).unwrap()
    }

    fn n_pending(&self) -> u64 {
        let _ = &self.folder;
        seen(&self.memory).unwrap().n_pending
    }
}

#[test]
fn episodes_are_consolidated_after_a_while_of_quiet() {
    let mut case = Case::new(30);
    let model = shell_provider_testing::program("cat >/dev/null; echo '[]'");
    assert!(!case.turn_after(0, &model));
    assert!(!case.turn_after(59, &model));
    assert!(case.turn_after(1, &model));
    assert_eq!(case.n_pending(), 5, "one worksheet");
    assert!(case.turn_after(0, &model), "the rest at once");
    assert_eq!(case.n_pending(), 0);
    assert!(!case.turn_after(600, &model));
}

#[test]
fn a_failure_leaves_episodes_waiting_and_is_not_repeated_soon() {
    let mut case = Case::new(5);
    let out = case.folder.path().join("runs");
    let model = shell_provider_testing::program(&format!("echo run >>'{}'; exit 1", out.display()));
    let n_runs = || std::fs::read_to_string(&out).map_or(0, |it| it.lines().count());
    case.turn_after(0, &model);
    assert!(!case.turn_after(60, &model));
    assert_eq!((n_runs(), case.n_pending()), (1, 5));
    assert!(!case.turn_after(59, &model));
    assert_eq!(n_runs(), 1);
    assert!(!case.turn_after(1, &model));
    assert_eq!(n_runs(), 2);
    assert!(!case.turn_after(119, &model));
    assert_eq!(n_runs(), 2, "the wait doubles");
}

#[test]
fn one_of_several_servers_does_it() {
    let mut case = Case::new(5);
    let other = case.memory.leases("another").unwrap();
    assert!(other.take(LEASE, ClaimableLeaseAge::Expired, case.clock.now()).unwrap());
    let model = shell_provider_testing::program("cat >/dev/null; echo '[]'");
    case.turn_after(0, &model);
    assert!(!case.turn_after(60, &model));
    assert_eq!(case.n_pending(), 5);
    assert!(case.turn_after(31, &model), "the other one is gone");
    let free = other.take(LEASE, ClaimableLeaseAge::Expired, case.clock.now()).unwrap();
    assert!(free, "the lease is given back");
}
