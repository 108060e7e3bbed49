//! Tests that kept sums are those of the present state, and that keeping them saves work.

use std::path::PathBuf;

use super::super::database_builder_testing::work_of;
use crate::memory::{AppendOrReplaceMode, ForgetChildrenMode, Memory};
use crate::model::clock::{Clock, UnixMillis};
use crate::model::heat::HeatThresholds;
use crate::store::reader::{Reader, Stats};
use crate::store::{IfMissing, StoreError};

const NODES: usize = 60;

struct Fixture {
    _dir: tempfile::TempDir,
    path: PathBuf,
    memory: Memory,
}

impl Fixture {
    fn new() -> Fixture {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m.db");
        let clock = Clock::manual(UnixMillis(1));
        let memory = Memory::open_at(&path, IfMissing::Create, clock).unwrap();
        let fixture = Fixture { _dir: dir, path, memory };
        (0..NODES).for_each(|nth| drop(fixture.write(&format!("Text {nth}."))));
        fixture
    }

    fn write(&self, text: &str) -> String {
        let answer = self.memory.write(text, None, AppendOrReplaceMode::Append).unwrap();
        answer.text.split_whitespace().nth(2).unwrap().to_owned()
    }

    fn kept(&self) -> Stats {
        let stats = |it: &Reader| it.stats(HeatThresholds::default(), UnixMillis(1));
        self.memory.read(stats).unwrap()
    }

    fn work(&self) -> i64 {
        work_of(|| drop(self.kept()))
    }

    /// Compares the kept sums with those of a reader that knows none.
    #[track_caller]
    fn check(&self) {
        let kept = self.kept();
        let counted: Result<Stats, StoreError> = Reader::open(&self.path)
            .and_then(|it| it.stats(HeatThresholds::default(), UnixMillis(1)));
        assert_eq!(kept, Stats { path: kept.path.clone(), ..counted.unwrap() });
    }

    fn run(&self, sql: &str) {
        rusqlite::Connection::open(&self.path).unwrap().execute_batch(sql).unwrap();
    }
}

#[test]
fn nothing_is_counted_twice() {
    let fixture = Fixture::new();
    let first = fixture.work();
    assert_eq!(fixture.work(), 0);
    // A write costs what it changed.
    fixture.write("One more.");
    let next = fixture.work();
    assert!(0 < next && next < first / 2, "{next} of {first} steps");
    fixture.check();
}

#[test]
fn sums_follow_writes_of_all_kinds() {
    let fixture = Fixture::new();
    fixture.check();
    let id = fixture.write("# A heading\n\nA text, and more of it.");
    fixture.check();
    fixture
        .memory
        .write("Another text altogether.", Some(&id), AppendOrReplaceMode::Append)
        .unwrap();
    fixture.memory.forget(&id, ForgetChildrenMode::Cascade).unwrap();
    fixture.check();
    fixture.memory.rollback(3, false).unwrap();
    fixture.check();
    fixture.memory.rollback(2, true).unwrap();
    fixture.check();
    (0..3).for_each(|nth| drop(fixture.write(&format!("Again {nth}."))));
    fixture.check();
}

#[test]
fn another_past_is_counted_anew() {
    let fixture = Fixture::new();
    fixture.check();
    // As a restore of another memory with as many snapshots does.
    fixture.run(
        "UPDATE snapshot SET cursor_hash = '0000000000000000';
         UPDATE node SET token_count = token_count + 1;",
    );
    fixture.check();
    // As a repair does.
    fixture
        .run("UPDATE node SET token_count = token_count + 1; UPDATE pulse SET views = views + 1");
    fixture.check();
    // As a history that was repaired does.
    fixture.write("One more.");
    fixture.run("UPDATE diff SET op = 'mod', old_tokens = NULL WHERE op = 'add'");
    fixture.check();
}
