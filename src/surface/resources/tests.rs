//! Tests for resources: their documents byte for byte, and reads without effect.

mod browse;
mod custom;
mod golden;
mod knowledge;
mod memories;
mod page;
mod passive;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use tempfile::TempDir;

use super::*;
use crate::memory::{Memory, NoServerStatus, ServerStatus};
use crate::model::clock::{Clock, UnixMillis};
use crate::store::IfMissing;

/// A time in the year 2025.
const START: UnixMillis = UnixMillis(1_737_072_000_000);

/// A memory with a read-only handle.
struct ResourceFixture {
    // Dropped in this order.
    view: ReadOnlyMemory,
    memory: Memory,
    clock: Clock,
    folder: PathBuf,
    _dir: TempDir,
}

impl ResourceFixture {
    /// Returns a memory of these notes; an empty one, if there are none.
    fn of(notes: &[(&str, &str)]) -> ResourceFixture {
        ResourceFixture::beside(notes, Arc::new(NoServerStatus))
    }

    fn beside(notes: &[(&str, &str)], process: Arc<dyn ServerStatus>) -> ResourceFixture {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().canonicalize().unwrap();
        fs::create_dir(folder.join("docs")).unwrap();
        for (path, text) in notes {
            fs::write(folder.join("docs").join(path), text).unwrap();
        }
        let clock = Clock::manual(START);
        let path = folder.join("memory.db");
        let memory =
            Memory::open_at(&path, IfMissing::Create, clock.clone()).unwrap().with_structured();
        let fixture = ResourceFixture {
            view: memory.read_only_beside(process),
            memory,
            clock,
            folder,
            _dir: dir,
        };
        if !notes.is_empty() {
            fixture.memory.compile(&fixture.folder.join("docs"), "compile").unwrap();
        }
        fixture
    }

    fn try_read(&self, uri: &str) -> Result<String, Error> {
        let mut out = String::new();
        read_resource(&self.view, uri, &mut out).map(|()| out)
    }

    #[track_caller]
    fn read(&self, uri: &str) -> String {
        self.try_read(uri).unwrap()
    }

    #[track_caller]
    fn value(&self, uri: &str) -> Value {
        serde_json::from_str(&self.read(uri)).unwrap()
    }

    /// Returns the document with its folder named `/w`.
    #[track_caller]
    fn shown(&self, uri: &str) -> String {
        self.read(uri).replace(self.folder.to_str().unwrap(), "/w")
    }
}

#[test]
fn the_table_has_the_names_that_clients_know() {
    let table: String = RESOURCES
        .iter()
        .map(|it| format!("{} {} {}\n", it.uri, it.name, it.is_subscribable))
        .collect();
    expect_test::expect![[r#"
        remindb://overview overview false
        remindb://files files true
        remindb://tree tree true
        remindb://tree/{rootId}{?depth} tree-by-root false
        remindb://graph graph true
        remindb://snapshots snapshots true
        remindb://snapshots{?limit} snapshots-limited false
        remindb://snapshots/{id}/diffs snapshot-diffs false
        remindb://temperature temperature true
        remindb://doctor doctor false
        remindb://logs logs true
        remindb://sessions sessions false
        remindb://sessions/history sessions-history false
        remindb://sessions/history/{hash} sessions-history-by-hash false
        remindb://sessions/logs sessions-logs false
        remindb://sessions/logs/{id} sessions-log-by-id false
        remindb://space space false
        remindb://rescan rescan true
        remindb://node/{id}{?from} node false
        remindb://children{?of,after,limit} children false
        remindb://map{?path,limit} map false
        remindb://heat heat true
        remindb://search{?q,type,budget} search false
        remindb://links/{id}{?direction,after,limit} links false
        remindb://timeline timeline true
        remindb://timeline{?before,limit} timeline-page false
        remindb://snapshots/{id}/changes{?after,limit} snapshot-changes false
        remindb://history/{id}{?before,limit} node-history false
        memory://recent recent-memories true
        memory://recent{?limit,tags} recent-memories-narrowed false
        memory://core core-memories true
        memory://core{?tags} core-memories-narrowed false
        memory://learnings learnings true
        memory://learnings{?since,tags} learnings-narrowed false
        memory://tasks/active active-tasks true
        memory://tasks/active{?tags} active-tasks-narrowed false
        memory://tasks/completed completed-tasks true
        memory://tasks/completed{?tags} completed-tasks-narrowed false
        memory://custom/{name} custom-view true
        remindb://review review true
        remindb://topics topics true
        remindb://concepts concepts true
        remindb://concepts{?topic,limit} concepts-narrowed false
        remindb://concepts/{id} concept false
        remindb://episodes episodes true
        remindb://episodes{?kind,pending,limit} episodes-narrowed false
        remindb://entities entities true
        remindb://entities/{id} entity false
        remindb://conflicts conflicts true
        remindb://conflicts{?status,limit} conflicts-narrowed false
        remindb://events events true
        remindb://events{?since,limit} events-narrowed false
        remindb://bootstrap bootstrap true
        remindb://bootstrap{?budget} bootstrap-narrowed false
    "#]]
    .assert_eq(&table);
}
