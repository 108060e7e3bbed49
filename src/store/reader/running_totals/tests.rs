//! Tests that totals are those of the rows after each write, and that reading them counts none.

use std::fs;
use std::path::PathBuf;

use super::super::database_builder_testing::{TOTALS_OFF, work_of};
use super::read_varint;
use crate::memory::{AppendOrReplaceMode, ForgetChildrenMode, Memory, RelateRequest};
use crate::model::clock::{Clock, UnixMillis};
use crate::store::reader::Reader;
use crate::store::{IfMissing, StoreError};

struct Fixture {
    _dir: tempfile::TempDir,
    path: PathBuf,
    memory: Memory,
}

impl Fixture {
    fn new() -> Fixture {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m.db");
        let memory =
            Memory::open_at(&path, IfMissing::Create, Clock::manual(UnixMillis(1))).unwrap();
        Fixture { _dir: dir, path, memory }
    }

    fn write(&self, text: &str) -> String {
        let answer = self.memory.write(text, None, AppendOrReplaceMode::Append).unwrap();
        answer.text.split_whitespace().nth(2).unwrap().to_owned()
    }

    fn number(&self, sql: &str) -> i64 {
        let conn = rusqlite::Connection::open(&self.path).unwrap();
        conn.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    fn totals(&self) -> (super::RunningTotals, u64) {
        let read = |it: &Reader| Ok::<_, StoreError>((it.running_totals()?, it.n_index_rows()?));
        self.memory.read(read).unwrap()
    }

    #[track_caller]
    fn check(&self) {
        assert_eq!(self.number(TOTALS_OFF), 0);
        let (totals, n_index_rows) = self.totals();
        let n_nodes = self.number("SELECT count(*) FROM node");
        assert_eq!((totals.n_nodes() as i64, n_index_rows as i64), (n_nodes, n_nodes));
        assert_eq!(
            totals.tokens as i64,
            self.number("SELECT ifnull(sum(token_count), 0) FROM node")
        );
    }
}

#[test]
fn no_row_is_counted_to_tell_how_many_there_are() {
    let fixture = Fixture::new();
    let work_at = |n_nodes: usize| {
        while fixture.totals().0.n_nodes() < n_nodes as u64 {
            fixture.write(&format!("Text {}.", fixture.totals().0.n_nodes()));
        }
        work_of(|| drop(fixture.totals()))
    };
    let few = work_at(10);
    assert!(0 < few);
    assert_eq!(work_at(100), few);
}

#[test]
fn totals_follow_writes_of_all_kinds() {
    let fixture = Fixture::new();
    fixture.check();
    let id = fixture.write("# A heading\n\nA text about [[Another]], and more of it.");
    fixture.check();
    let other = fixture.write("# Another\n\nA text.");
    fixture.check();
    let edge = RelateRequest {
        source: &id,
        target_id: Some(&other),
        target_label: None,
        target_source: None,
        weight: 2.0,
    };
    fixture.memory.relate(&edge).unwrap();
    fixture.check();
    fixture
        .memory
        .write("Another text altogether.", Some(&id), AppendOrReplaceMode::Append)
        .unwrap();
    fixture.check();
    fixture.memory.forget(&other, ForgetChildrenMode::Cascade).unwrap();
    fixture.check();
    fixture.memory.rollback(2, false).unwrap();
    fixture.check();
    fixture.memory.rollback(1, true).unwrap();
    fixture.check();
}

/// A write of many nodes counts them by itself, those too that it moves and removes at once.
#[test]
fn totals_follow_compiles() {
    let fixture = Fixture::new();
    let dir = tempfile::tempdir().unwrap();
    let compile = || fixture.memory.compile(dir.path(), "compile").unwrap();
    let many = |what: &str| {
        let words = format!("{what} words ").repeat(30);
        (0..400).map(|it| format!("# Part {it}\n\nSee [[Part {it}]]: {words}\n\n")).collect()
    };
    let texts: [String; 4] =
        [many("first"), many("second"), "Few words.\n".to_owned(), many("first")];
    for text in texts {
        fs::write(dir.path().join("a.md"), text).unwrap();
        compile();
        fixture.check();
        fs::rename(dir.path().join("a.md"), dir.path().join("b.md")).unwrap();
        compile();
        fixture.check();
    }
}

#[test]
fn integers_of_one_to_nine_bytes_are_read() {
    for (record, n) in [
        (&[0][..], Some(0)),
        (&[0x7f, 9], Some(127)),
        (&[0x81, 0], Some(128)),
        (&[0x84, 0xe0, 0x02], Some(77_826)),
        (&[0xff; 9], Some(u64::MAX)),
        (&[], None),
        (&[0x81], None),
    ] {
        assert_eq!(read_varint(record), n, "{record:?}");
    }
}
