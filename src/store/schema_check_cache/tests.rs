//! Tests changes of the schema under connections that are open.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;

use crate::model::clock::UnixMillis;
use crate::model::heat::PendingAttendedTime;
use crate::store::{
    Batch, ClaimableLeaseAge, HeatIncrement, HeatWriter, IfMissing, LeaseManager, NodeRowId,
    ReaderPool, StoreError, VectorWriter, Writer,
};

/// Deletes what was just written.
const THIEF: &str = "
    CREATE TRIGGER thief AFTER UPDATE ON memory BEGIN DELETE FROM root; END";

/// Every connection of a server to one memory, each of which has written or read.
struct Server {
    _dir: tempfile::TempDir,
    path: PathBuf,
    writer: Writer,
    readers: ReaderPool,
    heat: HeatWriter,
    leases: LeaseManager,
    vectors: VectorWriter,
}

impl Server {
    fn start() -> Server {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("memory.db");
        let writer = Writer::open(&path, IfMissing::Create).unwrap();
        let files = Arc::clone(writer.file_identity());
        let server = Server {
            readers: ReaderPool::new(&path, &files).unwrap(),
            heat: HeatWriter::new(&path, &writer).unwrap(),
            leases: LeaseManager::open(&path, &files, "ann").unwrap(),
            vectors: VectorWriter::open(&path, &writer).unwrap(),
            _dir: dir,
            path,
            writer,
        };
        for (work, outcome) in server.work() {
            outcome.unwrap_or_else(|error| panic!("{work}: {error}"));
        }
        server
    }

    /// Does one piece of each kind of work, and returns the outcomes.
    fn work(&self) -> [(&'static str, Result<(), StoreError>); 9] {
        let now = UnixMillis(1_000_000);
        let warmth = HeatIncrement { node: NodeRowId(1), by: 0.1, at: now };
        let elapsed = PendingAttendedTime { real_ms: 1_000, cooling_ms: 1_000.0 };
        let add_root = |batch: &mut Batch<'_>| batch.root("/notes");
        let merge = self.writer.merge_index(1);
        [
            ("a write", self.writer.write("m", "", now, add_root).map(drop)),
            ("a merge", merge),
            ("a plan", self.writer.roots().map(drop)),
            ("a read", self.readers.read(|it| it.attended()).map(drop)),
            ("warming", self.heat.warm(&[warmth])),
            ("a tick", self.heat.tick(elapsed, now).map(drop)),
            ("taking a lease", self.leases.take("scan", ClaimableLeaseAge::Expired, now).map(drop)),
            ("releasing a lease", self.leases.release("scan")),
            (
                "storing vectors",
                self.vectors.drop_others(1).and_then(|()| self.vectors.put(1, &[])),
            ),
        ]
    }
}

fn run(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

/// Changes the schema under a server: all of its work is refused with `why`, and writes nothing.
#[track_caller]
fn check_refused(change: &str, why: &str) {
    let server = Server::start();
    let watch = Connection::open(&server.path).unwrap();
    watch.execute_batch(change).unwrap();
    let version = || watch.pragma_query_value(None, "data_version", |row| row.get::<_, i64>(0));
    let before = version().unwrap();
    for (work, outcome) in server.work() {
        let error = outcome.expect_err(work);
        assert!(error.to_string().contains(why), "{work}: {error}");
        assert!(error.is_outside(), "{work} would be called an internal error");
    }
    assert_eq!(version().unwrap(), before, "something was written");
}

#[test]
fn a_trigger_that_comes_while_a_server_runs_is_named_and_gets_nothing() {
    check_refused(THIEF, "(foreign trigger `thief`)");
}

#[test]
fn a_newer_schema_that_comes_while_a_server_runs_is_left_as_it_is() {
    check_refused("PRAGMA user_version = 99", "has schema 99, newer than ");
}

#[test]
fn a_file_that_becomes_another_programs_is_left_as_it_is() {
    check_refused("PRAGMA application_id = 7", "is a database of another program");
}

#[test]
fn a_server_goes_on_once_the_foreign_objects_are_taken_out() {
    let server = Server::start();
    run(&server.path, THIEF);
    assert!(server.work().iter().all(|(_, outcome)| outcome.is_err()));
    run(&server.path, "DROP TRIGGER thief");
    for (work, outcome) in server.work() {
        outcome.expect(work);
    }
}

#[test]
fn a_schema_that_was_written_anew_is_no_reason_to_refuse() {
    let server = Server::start();
    run(&server.path, "INSERT INTO lease VALUES ('a', 'b', 1); ANALYZE; VACUUM");
    for (work, outcome) in server.work() {
        outcome.expect(work);
    }
}

#[test]
fn a_connection_that_is_opened_later_checks_what_no_counter_shows() {
    let server = Server::start();
    run(
        &server.path,
        "PRAGMA writable_schema = ON;
         INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql)
         VALUES ('view', 'spy', 'spy', 0, 'CREATE VIEW spy AS SELECT 1')",
    );
    let opened = VectorWriter::open(&server.path, &server.writer);
    let error = opened.err().expect("it is refused").to_string();
    assert!(error.contains("(foreign view `spy`)"), "{error}");
}

#[test]
fn a_write_looks_at_the_schema_under_its_lock() {
    let server = Server::start();
    let files = server.writer.file_identity();
    run(&server.path, THIEF);
    let conn = server.writer.lock();
    let error = files.begin_write(&conn, "begin a write").unwrap_err();
    assert!(matches!(error, StoreError::SchemaMismatch { .. }), "{error}");
    assert!(conn.is_autocommit(), "the lock is given back");
}
