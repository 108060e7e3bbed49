use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::maintenance::transfer::{self, IfExists};
use crate::memory::{AppendOrReplaceMode, ForgetChildrenMode, Memory, RelateRequest};
use crate::model::clock::{Clock, UnixMillis};
use crate::model::heat::PendingAttendedTime;
use crate::store::IfMissing;

const ALL: &str = "graph snapshots timeline tree files heat";

/// A memory that one process watches and another changes.
struct WatchedMemory {
    folder: tempfile::TempDir,
    watching: Memory,
    writing: Memory,
    watch: ChangeWatch,
}

impl WatchedMemory {
    fn new() -> WatchedMemory {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("notes")).unwrap();
        fs::write(folder.path().join("notes/sea.md"), "# Sea\n\nDeep.\n\n# Sky\n\nHigh.\n")
            .unwrap();
        let open = || {
            let clock = Clock::manual(UnixMillis(1_700_000_000_000));
            let path = folder.path().join("memory.db");
            Memory::open_at(&path, IfMissing::Create, clock).unwrap()
        };
        let (writing, watching) = (open(), open());
        WatchedMemory { folder, watching, writing, watch: ChangeWatch::default() }
    }

    fn compiled() -> WatchedMemory {
        let fixture = WatchedMemory::new();
        fixture.compile();
        fixture.watch.begin(&fixture.watching.read_only()).unwrap();
        fixture
    }

    fn notes(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("notes")
    }

    fn compile(&self) {
        self.writing.compile(&self.notes(), "m").unwrap();
    }

    /// Returns the id of the node with this text.
    fn id(&self, text: &str) -> String {
        let (query, options) = (
            crate::query::SearchQuery { query: text, ..crate::query::SearchQuery::default() },
            crate::query::QueryOptions::text(UnixMillis(0)),
        );
        let query = crate::query::Query::Search(query);
        let found = self.writing.read(|it| crate::query::answer(it, &query, &options));
        let text = found.unwrap().text;
        let (_, id) = text.split_once("(id=").unwrap();
        id[..11].to_owned()
    }

    fn changed(&self) -> String {
        let changed = self.watch.changed_resources(&self.watching.read_only()).unwrap();
        let short = changed.iter().map(|it| it.strip_prefix("remindb://").unwrap());
        short.collect::<Vec<_>>().join(" ")
    }

    fn remember(&self, content: &str) {
        use crate::memory::knowledge::RememberRequest;
        let episode = serde_json::json!({"content": content});
        let episode = RememberRequest::parse(episode.as_object().unwrap()).unwrap();
        self.writing.remember(episode).unwrap();
    }

    fn restore(&self, backup: &Path) {
        let db = self.folder.path().join("memory.db");
        transfer::restore(backup, &db, "now", &mut |_, _| ()).unwrap();
    }

    #[track_caller]
    fn check_changes(&self, what: &str) {
        assert_eq!(self.changed(), what);
        assert_eq!(self.changed(), "", "nothing happened since");
    }
}

#[test]
fn a_compile_changes_resources_and_a_second_one_none() {
    let fixture = WatchedMemory::new();
    fixture.watch.begin(&fixture.watching.read_only()).unwrap();
    fixture.check_changes("");
    fixture.compile();
    fixture.check_changes(ALL);
    fixture.compile();
    fixture.check_changes("");
    fs::remove_file(fixture.notes().join("sea.md")).unwrap();
    fs::write(fixture.notes().join("sky.md"), "# Sky\n").unwrap();
    fixture.compile();
    fixture.check_changes(ALL);
}

#[test]
fn an_agent_edit_changes_files_only_within_one() {
    let fixture = WatchedMemory::compiled();
    let parent = fixture.id("deep");
    let write = |parent| fixture.writing.write("Wide, too.", parent, AppendOrReplaceMode::Append);
    write(None).unwrap();
    fixture.check_changes("graph snapshots timeline tree heat");
    write(Some(parent.as_str())).unwrap();
    fixture.check_changes(ALL);
    fixture.writing.forget(&parent, ForgetChildrenMode::Cascade).unwrap();
    fixture.check_changes(ALL);
    fixture.writing.rollback(1, false).unwrap();
    fixture.check_changes(ALL);
}

#[test]
fn a_manual_edge_changes_the_graph_once() {
    let fixture = WatchedMemory::compiled();
    let (sea, sky) = (fixture.id("deep"), fixture.id("high"));
    let ask = |weight| RelateRequest {
        source: &sea,
        target_id: Some(&sky),
        target_label: None,
        target_source: None,
        weight,
    };
    fixture.writing.relate(&ask(1.0)).unwrap();
    fixture.check_changes("graph");
    fixture.writing.relate(&ask(1.0)).unwrap();
    fixture.check_changes("");
    fixture.writing.relate(&ask(2.0)).unwrap();
    fixture.check_changes("graph");
    fixture.writing.unrelate(&ask(2.0)).unwrap();
    fixture.check_changes("graph");
}

#[test]
fn reading_pinning_and_cooling_change_the_temperatures_alone() {
    let fixture = WatchedMemory::compiled();
    let id = fixture.id("deep");
    fixture.check_changes("");
    fixture.writing.fetch(&id, None).unwrap();
    fixture.check_changes("temperature heat");
    fixture.writing.pin(&id, None).unwrap();
    fixture.check_changes("temperature heat");
    fixture.writing.tick(PendingAttendedTime { real_ms: 60_000, cooling_ms: 60_000.0 }).unwrap();
    fixture.check_changes("temperature heat");
    fixture.writing.tick(PendingAttendedTime { real_ms: 60_000, cooling_ms: 0.0 }).unwrap();
    fixture.check_changes("");
}

#[test]
fn a_clock_that_cools_nothing_changes_nothing() {
    let fixture = WatchedMemory::new();
    fixture.watch.begin(&fixture.watching.read_only()).unwrap();
    fixture.writing.tick(PendingAttendedTime { real_ms: 60_000, cooling_ms: 60_000.0 }).unwrap();
    fixture.check_changes("");
}

/// A restored backup has former numbers, which the next writes would reach again.
#[test]
fn a_restore_is_noticed_after_as_many_writes() {
    let fixture = WatchedMemory::compiled();
    let (db, backup) = ("memory.db", "backup.db");
    let [db, backup] = [db, backup].map(|it| fixture.folder.path().join(it));
    transfer::backup(&db, &backup, IfExists::Refuse, &mut |_, _| ()).unwrap();
    let write = |text| fixture.writing.write(text, None, AppendOrReplaceMode::Append).unwrap();
    write("Lost by the restore.");
    fixture.check_changes("graph snapshots timeline tree heat");
    fixture.restore(&backup);
    write("Another text.");
    fixture.check_changes(
        "graph snapshots timeline tree files temperature heat review topics concepts episodes \
         entities conflicts bootstrap events",
    );
    // The state that a restore leads to may have the same HEAD as the one before.
    fixture.writing.fetch(&fixture.id("deep"), None).unwrap();
    fixture.check_changes("temperature heat");
    transfer::backup(&db, &backup, IfExists::Replace, &mut |_, _| ()).unwrap();
    fixture.restore(&backup);
    fixture.check_changes("graph files temperature heat");
}

#[test]
fn what_a_history_lost_is_told_though_it_went_on_since() {
    let fixture = WatchedMemory::compiled();
    fixture.remember("The tide was late.");
    fixture.changed();
    fixture.writing.rollback(1, true).unwrap();
    fixture.writing.write("Another text.", None, AppendOrReplaceMode::Append).unwrap();
    fixture.check_changes(
        "graph snapshots timeline tree files heat review topics concepts episodes entities \
         conflicts bootstrap events",
    );
}

#[test]
fn a_new_watcher_sees_later_changes_only() {
    let fixture = WatchedMemory::compiled();
    fixture.watch.end();
    fixture.writing.write("Unseen.", None, AppendOrReplaceMode::Append).unwrap();
    fixture.watch.begin(&fixture.watching.read_only()).unwrap();
    fixture.check_changes("");
    fixture.writing.write("Seen.", None, AppendOrReplaceMode::Append).unwrap();
    fixture.watch.begin(&fixture.watching.read_only()).unwrap();
    fixture.check_changes("graph snapshots timeline tree heat");
}

#[test]
fn knowledge_changes_the_resources_that_show_it() {
    use crate::memory::knowledge::ApplyRequest;
    let fixture = WatchedMemory::compiled();
    fixture.remember("The tide was late.");
    fixture.check_changes(
        "graph snapshots timeline tree heat review topics episodes entities bootstrap events",
    );
    let apply = serde_json::json!({"operations": [
        {"op": "concept", "title": "Tides", "summary": "They come late."},
    ]});
    let apply = ApplyRequest::parse(apply.as_object().unwrap()).unwrap();
    fixture.writing.apply(&apply).unwrap();
    fixture.check_changes(
        "graph snapshots timeline tree heat review topics concepts conflicts bootstrap events",
    );
    fixture.writing.rollback(2, false).unwrap();
    fixture.check_changes(
        "graph snapshots timeline tree heat review topics concepts conflicts bootstrap events",
    );
}
