use std::fs::{self, File};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use expect_test::{Expect, expect};

use super::*;
use crate::model::clock::Clock;
use crate::store::IfMissing;

/// A day on which no test writes a file.
const NOON: i64 = 2_000_000_000_000;

/// A folder, its memory, and one process that keeps it compiled, with a manual clock.
struct RescanFixture {
    dir: tempfile::TempDir,
    memory: Memory,
    rescan: Rescanner,
    settings: Arc<Mutex<LiveRescanSettings>>,
}

fn settings() -> LiveRescanSettings {
    let rescan = config::RescanSettings {
        interval: Duration::from_secs(30),
        settle: Duration::from_millis(500),
        enabled: true,
    };
    LiveRescanSettings { rescan, ..LiveRescanSettings::default() }
}

impl RescanFixture {
    fn new() -> RescanFixture {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("notes")).unwrap();
        RescanFixture::at(dir, Clock::manual(UnixMillis(NOON)), "ann")
    }

    fn at(dir: tempfile::TempDir, clock: Clock, holder: &str) -> RescanFixture {
        let (memory, rescan, settings) = process(dir.path(), clock, holder);
        RescanFixture { dir, memory, rescan, settings }
    }

    /// Returns the same folder, later, served by another process.
    fn restart(self, holder: &str) -> RescanFixture {
        let RescanFixture { dir, memory, rescan, .. } = self;
        let clock = memory.clock().clone();
        drop((memory, rescan));
        RescanFixture::at(dir, clock, holder)
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join("notes").join(path)
    }

    /// Writes a file dated a minute ago.
    fn write(&mut self, path: &str, text: &str) -> &mut RescanFixture {
        self.write_ago(path, text, 60_000)
    }

    fn write_ago(&mut self, path: &str, text: &str, ago_ms: i64) -> &mut RescanFixture {
        let full = self.path(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(&full, text).unwrap();
        self.date(path, ago_ms)
    }

    fn date(&mut self, path: &str, ago_ms: i64) -> &mut RescanFixture {
        let since = Duration::from_millis((self.memory.clock().now().0 - ago_ms).unsigned_abs());
        let file = File::open(self.path(path)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + since).unwrap();
        self
    }

    fn remove(&mut self, path: &str) -> &mut RescanFixture {
        fs::remove_file(self.path(path)).unwrap();
        self
    }

    /// Lets the interval pass and returns the scan's line, or that there was none.
    fn tick(&mut self) -> String {
        self.after(30_000)
    }

    fn after(&mut self, ms: i64) -> String {
        self.memory.clock().advance(ms);
        let before = self.n_snapshots();
        if !self.rescan.scan_if_due(&self.memory, &StopSignal::default()) {
            return "no scan".to_owned();
        }
        let RescanStatus { last, .. } = self.rescan.latest().get();
        assert!(self.n_snapshots() <= before + 1);
        let n_ops = last.added + last.modified + last.removed;
        assert_eq!(self.n_snapshots() == before + 1, 0 < n_ops);
        let line = last.to_line().replace(&self.dir.path().display().to_string(), "DIR");
        let (_, rest) = line.split_once(",\"error\":\"\",").unwrap_or(("", &line));
        rest.trim_end_matches('}').to_owned()
    }

    fn n_snapshots(&self) -> u64 {
        self.memory.stats().unwrap().structured["snapshots"].as_u64().unwrap()
    }

    #[track_caller]
    fn check_tree(&self, tree: Expect) -> &RescanFixture {
        let answer = self.memory.tree(None, None).unwrap();
        let lines: Vec<String> = answer.text.lines().map(plain).collect();
        tree.assert_eq(&lines.join("\n"));
        self
    }

    fn ids(&self) -> Vec<String> {
        let answer = self.memory.tree(None, None).unwrap().structured.to_string();
        answer.split("\"id\":\"").skip(1).map(|it| it[..11].to_owned()).collect()
    }
}

/// A note of which one word may change without making it another note.
fn note(title: &str, animal: &str) -> String {
    format!(
        "# {title}\n\nOf {title} the quick brown fox jumps over the lazy {animal}, again and again.\n"
    )
}

/// Returns a line of the outline without the parts irrelevant to the test.
fn plain(line: &str) -> String {
    line.split(" (id=").next().unwrap().to_owned()
}

fn process(
    dir: &Path,
    clock: Clock,
    holder: &str,
) -> (Memory, Rescanner, Arc<Mutex<LiveRescanSettings>>) {
    let memory = Memory::open_at(&dir.join("memory.db"), IfMissing::Create, clock)
        .unwrap()
        .with_structured();
    let settings = Arc::new(Mutex::new(settings()));
    let asked = Arc::clone(&settings);
    let source = dir.join("notes").canonicalize().unwrap();
    let leases = Arc::new(memory.leases(holder).unwrap());
    let rescan = Rescanner::new(&source, 1, leases, move |_| asked.lock().unwrap().clone());
    (memory, rescan, settings)
}

const NOTHING: &str = r#""added":0,"modified":0,"removed":0,"purged_files":[]"#;

#[test]
fn every_edit_is_found_while_the_server_runs_and_while_it_is_down() {
    for is_down in [false, true] {
        let mut fixture = RescanFixture::new();
        for name in ["edited", "deleted", "emptied", "restored", "renamed"] {
            fixture.write(&format!("{name}.md"), &note(name, "dog"));
        }
        assert_eq!(fixture.after(0), r#""added":10,"modified":0,"removed":0,"purged_files":[]"#);
        let ids = fixture.ids();
        assert_eq!(fixture.tick(), NOTHING);
        fixture
            .write("edited.md", &note("edited", "cat"))
            .remove("deleted.md")
            .write("emptied.md", "")
            .write_ago("restored.md", &note("restored", "fox"), 86_400_000);
        fs::create_dir(fixture.path("sub")).unwrap();
        fs::rename(fixture.path("renamed.md"), fixture.path("sub/new name.md")).unwrap();
        if is_down {
            fixture = fixture.restart("ben");
            fixture.memory.clock().advance(10_000);
        }
        assert_eq!(
            fixture.tick(),
            r#""added":0,"modified":3,"removed":4,"purged_files":[{"path":"deleted.md","nodes":2}]"#,
            "is_down={is_down}"
        );
        fixture.check_tree(expect![[r#"
            [heading] edited
              [text] Of edited the quick brown fox jumps over the lazy cat, again and again.
            [heading] restored
              [text] Of restored the quick brown fox jumps over the lazy fox, again and again.
            [heading] renamed
              [text] Of renamed the quick brown fox jumps over the lazy dog, again and again."#]]);
        assert!(fixture.ids().iter().all(|id| ids.contains(id)), "{:?} {ids:?}", fixture.ids());
        assert_eq!(fixture.tick(), NOTHING);
    }
}

#[test]
fn the_first_snapshot_is_called_initial() {
    let mut fixture = RescanFixture::new();
    let message = |fixture: &RescanFixture| {
        fixture.memory.stats().unwrap().structured["head"]["message"].as_str().unwrap().to_owned()
    };
    fixture.write("a.md", "One.\n").after(0);
    assert_eq!(message(&fixture), "initial");
    fixture.write("a.md", "Other.\n").tick();
    assert_eq!(message(&fixture), "rescan");
    let mut fixture = fixture.restart("ben");
    fixture.write("a.md", "And another.\n").tick();
    assert_eq!(message(&fixture), "rescan");
}

#[test]
fn a_file_being_written_is_not_compiled_yet() {
    let mut fixture = RescanFixture::new();
    fixture.write_ago("a.md", "Half", 0);
    assert_eq!(fixture.after(0), r#""added":1,"modified":0,"removed":0,"purged_files":[]"#);
    fixture.memory.clock().advance(29_700);
    fixture.write_ago("a.md", "Half a sent", 100);
    assert_eq!(fixture.after(300), NOTHING, "it was written 400 ms ago");
    fixture.check_tree(expect!["[text] Half"]);
    assert_eq!(fixture.after(400), "no scan");
    assert_eq!(
        fixture.after(100),
        r#""added":0,"modified":1,"removed":0,"purged_files":[]"#,
        "it is looked at as soon as it may have settled"
    );
    fixture.check_tree(expect!["[text] Half a sent"]);
}

/// Sets the clock in the middle of a scan, as the system does after a sleep.
#[test]
fn a_clock_that_is_set_during_a_scan_delays_no_scan() {
    for step_ms in [8 * 3_600_000, -8 * 3_600_000] {
        let mut fixture = RescanFixture::new();
        let clock = fixture.memory.clock().clone();
        let steps = std::cell::Cell::new(1);
        fixture.rescan = fixture.rescan.with_listener(move || {
            if steps.replace(0) == 1 {
                clock.step(step_ms);
            }
        });
        fixture.write("a.md", "One note.\n").after(0);
        fixture.write("a.md", "One note more.\n");
        assert_eq!(fixture.after(29_000), "no scan", "{step_ms}");
        assert_eq!(
            fixture.after(1_000),
            r#""added":0,"modified":1,"removed":0,"purged_files":[]"#,
            "{step_ms}"
        );
    }
}

#[test]
fn a_file_that_never_settles_is_compiled_at_last() {
    let mut fixture = RescanFixture::new();
    fixture.write("a.md", "0\n").after(0);
    fixture.memory.clock().advance(30_000);
    let mut waited = 0;
    for n in 0.. {
        fixture.write_ago("a.md", &format!("{n} and on\n"), -100);
        if fixture.after(500) != NOTHING {
            break;
        }
        waited = n;
    }
    assert_eq!(waited, 9);
}

#[test]
fn a_file_dated_in_the_future_settles() {
    for ahead_ms in [400, 30_000, 1_000_000_000] {
        let mut fixture = RescanFixture::new();
        fixture.write("a.md", &note("a", "dog")).after(0);
        fixture.write_ago("a.md", &note("a", "cat"), -ahead_ms);
        let reports: Vec<String> = (0..4).map(|_| fixture.tick()).collect();
        assert_eq!(
            reports.iter().filter(|it| it.contains("\"modified\":1")).count(),
            1,
            "{reports:?}"
        );
        fixture.check_tree(expect![[r#"
            [heading] a
              [text] Of a the quick brown fox jumps over the lazy cat, again and again."#]]);
        fixture.memory.clock().advance(100_000);
        fixture.tick();
        let before = stored(&fixture);
        fixture.tick();
        assert!(stored(&fixture) == before, "{ahead_ms}");
    }
}

/// Returns the write-ahead log.
fn stored(fixture: &RescanFixture) -> Vec<u8> {
    fs::read(fixture.dir.path().join("memory.db-wal")).unwrap()
}

#[test]
fn a_rename_to_a_fresh_name_is_recognized() {
    let mut fixture = RescanFixture::new();
    fixture.write("old.md", "# Title\n\nSome words of it.\n").after(0);
    let ids = fixture.ids();
    fixture.memory.clock().advance(30_000);
    fixture.remove("old.md").write_ago("new.md", "# Title\n\nSome words of it.\n", 0);
    assert_eq!(fixture.after(0), NOTHING);
    assert_eq!(fixture.after(500), r#""added":0,"modified":1,"removed":0,"purged_files":[]"#);
    assert_eq!(fixture.ids(), ids);
}

#[test]
fn a_renamed_folder_keeps_its_ids_even_when_one_of_its_files_is_fresh() {
    let mut fixture = RescanFixture::new();
    fixture.write("old/a.md", "# A\n\nSome words of it.\n");
    fixture.write("old/b.md", "# B\n\nOther words.\n").after(0);
    let ids = fixture.ids();
    fixture.memory.clock().advance(30_000);
    fs::rename(fixture.path("old"), fixture.path("new")).unwrap();
    fixture.date("new/b.md", 0);
    assert_eq!(fixture.after(0), NOTHING, "all of it waits");
    assert_eq!(fixture.after(500), r#""added":0,"modified":2,"removed":0,"purged_files":[]"#);
    assert_eq!(fixture.ids(), ids);
}

#[test]
fn a_vanished_file_does_not_wait_for_new_ones_for_ever() {
    let mut fixture = RescanFixture::new();
    fixture.write("old.md", "Old.\n").after(0);
    fixture.memory.clock().advance(30_000);
    fixture.remove("old.md");
    let mut waited_ms = 0;
    while !fixture
        .write_ago(&format!("{waited_ms}.md"), "New.\n", -100)
        .after(500)
        .contains("old.md")
    {
        waited_ms += 500;
        assert!(waited_ms < 10_000);
    }
    assert_eq!(waited_ms, 5_000);
}

#[test]
fn a_scan_without_changes_writes_nothing() {
    let mut fixture = RescanFixture::new();
    fixture.write("a.md", "# A\n\nWords.\n").write("b.yaml", "a: [\n");
    std::os::unix::fs::symlink("nowhere", fixture.path("c.md")).unwrap();
    File::create(fixture.path("d.md")).unwrap().set_len(5 << 30).unwrap();
    fixture.date("d.md", 60_000);
    fixture.after(0);
    // The lease is renewed once in a while, and nothing else is written.
    fixture.tick();
    fixture.tick();
    let before = stored(&fixture);
    fixture.after(30_000);
    assert!(stored(&fixture) == before);
    let warnings = fixture.rescan.latest().get().warnings;
    assert_eq!(
        warnings,
        [
            "c.md: cannot look at it: No such file or directory (os error 2)",
            "d.md: 5120 MiB are too large; split it into files of up to 256 MiB",
        ]
    );
    fixture.remove("d.md").write("d.md", "Small now.\n");
    assert_eq!(fixture.tick(), r#""added":1,"modified":0,"removed":0,"purged_files":[]"#);
}

#[test]
fn a_missing_folder_deletes_nothing() {
    let mut fixture = RescanFixture::new();
    fixture.write("a.md", "One.\n").write("b.md", "Two.\n").after(0);
    let (notes, away) = (fixture.dir.path().join("notes"), fixture.dir.path().join("away"));
    fs::rename(&notes, &away).unwrap();
    expect![[r#"{"run_at":2000000030,"error":"cannot compile `DIR/notes`: No such file or directory (os error 2)","added":0,"modified":0,"removed":0,"purged_files":[]"#]]
        .assert_eq(&fixture.tick());
    // An unmounted volume looks like this: another folder, and empty.
    fs::create_dir(&notes).unwrap();
    expect![[r#"{"run_at":2000000060,"error":"`DIR/notes` has no notes and is not the folder that it was; if it is not just unmounted, compile it by hand to forget its files","added":0,"modified":0,"removed":0,"purged_files":[]"#]]
        .assert_eq(&fixture.tick());
    fs::write(notes.join(".keep"), "").unwrap();
    assert!(fixture.tick().contains("has no notes and is not the folder that it was"));
    fs::remove_dir_all(&notes).unwrap();
    fs::write(&notes, "a file").unwrap();
    assert!(fixture.tick().contains("\"error\":\"cannot compile"));
    fs::remove_file(&notes).unwrap();
    fs::rename(&away, &notes).unwrap();
    assert_eq!(fixture.tick(), NOTHING);
    fixture.check_tree(expect![[r#"
        [text] One.
        [text] Two."#]]);
    // In the folder itself, all files may go.
    fixture.remove("a.md").remove("b.md").date("", 0);
    assert_eq!(
        fixture.tick(),
        r#""added":0,"modified":0,"removed":2,"purged_files":[{"path":"a.md","nodes":1},{"path":"b.md","nodes":1}]"#
    );
}

#[test]
fn an_empty_mount_point_at_the_start_deletes_nothing() {
    let mut fixture = RescanFixture::new();
    fixture.write("a.md", "One.\n").after(0);
    fixture.remove("a.md");
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
    File::open(fixture.path("")).unwrap().set_modified(long_ago).unwrap();
    let mut fixture = fixture.restart("ben");
    assert!(fixture.tick().contains("has no notes and is not the folder that it was"));
    fixture.check_tree(expect!["[text] One."]);
}

#[test]
fn one_process_scans_and_another_takes_over_when_it_dies() {
    let mut fixture = RescanFixture::new();
    fixture.write("a.md", "One.\n").after(0);
    let clock = fixture.memory.clock().clone();
    clock.advance(10_000);
    let (memory, mut ben, _) = process(fixture.dir.path(), clock, "ben");
    let stop = StopSignal::default();
    // A process that starts scans, and goes on; the other stops.
    assert!(ben.scan_if_due(&memory, &stop));
    fixture.write("a.md", "Two.\n");
    assert_eq!(fixture.tick(), "no scan");
    assert!(ben.scan_if_due(&memory, &stop));
    assert_eq!(ben.latest().get().last.added, 1);
    // As after kill -9: nothing is released.
    drop(ben);
    fixture.write("a.md", "Three.\n");
    let mut waited_ms = 0;
    while fixture.tick() == "no scan" {
        waited_ms += 30_000;
        assert!(waited_ms < 120_000);
    }
    fixture.check_tree(expect!["[text] Three."]);
}

#[test]
fn a_start_during_another_scan_retries_soon() {
    let mut fixture = RescanFixture::new();
    fixture.write("a.md", "One.\n").after(0);
    let (memory, mut ben, _) = process(fixture.dir.path(), fixture.memory.clock().clone(), "ben");
    let stop = StopSignal::default();
    let mut waited_ms = 0;
    while !ben.scan_if_due(&memory, &stop) {
        fixture.memory.clock().advance(1_000);
        waited_ms += 1_000;
        assert!(waited_ms < 10_000);
    }
    assert_eq!(waited_ms, 3_000);
}

#[test]
fn settings_are_followed_while_serving() {
    let mut fixture = RescanFixture::new();
    fixture.settings.lock().unwrap().rescan.enabled = false;
    fixture.write("a.md", "One.\n");
    assert_ne!(fixture.after(0), "no scan", "the first scan is what a source is for");
    assert_eq!(fixture.after(1_000_000), "no scan");
    fixture.settings.lock().unwrap().rescan.enabled = true;
    assert_eq!(fixture.after(0), NOTHING);
    fixture.settings.lock().unwrap().rescan.interval = Duration::from_millis(70);
    assert_eq!(fixture.after(69), "no scan");
    assert_eq!(fixture.after(1), NOTHING);
    assert_eq!(fixture.rescan.latest().get().to_json()["interval_s"], 0.07);
}

#[test]
fn scans_are_logged_if_configured() {
    let mut fixture = RescanFixture::new();
    fixture.settings.lock().unwrap().files =
        config::JsonlLogFileSettings { enabled: true, max_file_size: 10_000 };
    fixture.write("a.md", "One.\n").after(0);
    fixture.remove("a.md").write("b.md", "Two.\n").tick();
    expect![[r#"
        {"run_at":2000000000,"error":"","added":1,"modified":0,"removed":0,"purged_files":[]}
        {"run_at":2000000030,"error":"","added":1,"modified":0,"removed":1,"purged_files":[{"path":"a.md","nodes":1}]}
    "#]]
    .assert_eq(&fs::read_to_string(fixture.path(".remindb/rescan.jsonl")).unwrap());
}

#[test]
fn a_stopped_scan_changes_nothing() {
    let mut fixture = RescanFixture::new();
    fixture.write("a.md", "One.\n").write("b.md", "Two.\n");
    let stop = StopSignal::default();
    stop.set();
    assert!(!fixture.rescan.scan_if_due(&fixture.memory, &stop));
    assert_eq!(fixture.n_snapshots(), 0);
}
