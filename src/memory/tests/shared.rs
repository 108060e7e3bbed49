//! Tests one memory on many machines: every kind of write, and each rule of the log, with a
//! sequencer in this process.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::maintenance::doctor::{self, CheckStatus};
use crate::maintenance::gc::{GcMode, SnapshotRetentionPolicy};
use crate::memory::knowledge::RememberRequest;
use crate::memory::rollback::LaterSnapshotPolicy;
use crate::memory::{AppendOrReplaceMode, Error, ForgetChildrenMode, Memory, RelateRequest};
use crate::model::clock::{Clock, UnixMillis};
use crate::model::identity::NodeId;
use crate::store::replication::in_process_sequencer::{
    CommitFault, InProcessSequencer, first_turn, shared_rows,
};
use crate::store::replication::{LogHash, Sequencer, join_space, replica_of};
use crate::store::{Batch, IfMissing, SharedError, StoreError, UnplacedNodeData, Writer};

/// A space and its replicas.
pub(super) struct Space {
    pub(super) dir: tempfile::TempDir,
    pub(super) keeper: Arc<InProcessSequencer>,
    pub(super) clock: Clock,
}

pub(super) fn namer(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

impl Space {
    /// Publishes an empty memory.
    pub(super) fn new() -> Space {
        let clock = Clock::manual(UnixMillis(4_000_000_000_000));
        let space = Space { dir: tempfile::tempdir().unwrap(), keeper: Arc::default(), clock };
        drop(Writer::open(&space.db("a"), IfMissing::Create).unwrap());
        space.publish("a");
        space
    }

    fn publish(&self, name: &str) {
        let writer = Writer::open(&self.db(name), IfMissing::Refuse).unwrap();
        writer.publish_space(&self.sequencer(), &namer, first_turn(&self.keeper)).unwrap();
    }

    pub(super) fn db(&self, name: &str) -> PathBuf {
        self.dir.path().join(format!("{name}.db"))
    }

    fn sequencer(&self) -> Arc<dyn Sequencer> {
        Arc::clone(&self.keeper) as Arc<dyn Sequencer>
    }

    /// Opens a replica; a new one joins.
    pub(super) fn open(&self, name: &str) -> Memory {
        let db = self.db(name);
        if !db.exists() {
            drop(Writer::open(&db, IfMissing::Create).unwrap());
            join_space(&db, &*self.keeper).unwrap();
        }
        let mut memory = Memory::open_at(&db, IfMissing::Refuse, self.clock.clone()).unwrap();
        memory.share(self.sequencer(), Box::new(namer)).unwrap();
        memory.with_structured()
    }

    #[track_caller]
    pub(super) fn assert_same(&self, memories: &[(&str, &Memory)]) {
        for (name, memory) in memories {
            memory.sharing().unwrap().follow().unwrap();
            let (one, other) = (shared_rows(&self.db("a")), shared_rows(&self.db(name)));
            if one != other {
                let lines = one.lines().filter(|it| !other.contains(it));
                let others = other.lines().filter(|it| !one.contains(it));
                let (lines, others): (Vec<_>, Vec<_>) = (lines.collect(), others.collect());
                panic!("a:\n{}\n{name}:\n{}", lines.join("\n"), others.join("\n"));
            }
            let report = doctor::examine(&self.db(name)).unwrap();
            let bad: Vec<_> =
                report.checks.iter().filter(|it| it.status == CheckStatus::Fail).collect();
            assert!(bad.is_empty(), "{name}: {bad:#?}");
        }
    }
}

pub(super) fn say(memory: &Memory, text: &str) -> Result<String, Error> {
    let answer = memory.write(text, None, AppendOrReplaceMode::Append)?;
    Ok(answer.structured["nodes"][0]["id"].as_str().unwrap().to_owned())
}

fn shared_error(error: Error) -> SharedError {
    match error {
        Error::Store(StoreError::Shared(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
pub(super) fn refused<T>(outcome: Result<T, Error>) -> SharedError {
    shared_error(outcome.err().expect("it is refused"))
}

pub(super) fn notes(space: &Space, files: &[(&str, &str)]) -> PathBuf {
    let folder = space.dir.path().join("notes");
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

#[test]
fn every_kind_of_write_is_the_same_on_every_replica() {
    let space = Space::new();
    let (a, b) = (space.open("a"), space.open("b"));
    let same = || space.assert_same(&[("a", &a), ("b", &b)]);
    let folder = notes(&space, &[("x.md", "# X\n\nOne [[y]].\n\nTwo.\n"), ("y.md", "# Y\n\nZ.\n")]);
    a.compile(&folder, "first").unwrap();
    same();
    let id = say(&a, "An agent says so.").unwrap();
    let other = say(&b, "# Head\n\nAnother agent, too.").unwrap();
    same();
    b.write("Said again.", Some(&id), AppendOrReplaceMode::Replace).unwrap();
    a.summarize(&other, "A summary", None).unwrap();
    a.pin(&id, Some(0.9)).unwrap();
    same();
    b.relate(&RelateRequest {
        source: &id,
        target_id: Some(&other),
        target_label: None,
        target_source: None,
        weight: 2.0,
    })
    .unwrap();
    same();
    b.unpin(&id).unwrap();
    notes(&space, &[("x.md", "# X\n\nTwo.\n\nOne [[y]] more.\n"), ("z/n.md", "# N\n\nNew.\n")]);
    std::fs::remove_file(folder.join("y.md")).unwrap();
    a.compile(&folder, "second").unwrap();
    same();
    a.forget(&id, ForgetChildrenMode::Strict).unwrap();
    let stored = b.sharing().unwrap().follow().unwrap();
    assert!(stored);
    a.rollback_to(3, LaterSnapshotPolicy::Keep).unwrap();
    same();
    b.rollback_to(2, LaterSnapshotPolicy::Drop).unwrap();
    same();
    say(&a, "After a rollback.").unwrap();
    a.writer
        .collect(SnapshotRetentionPolicy::Last(1), GcMode::Real, space.clock.now(), i64::MAX)
        .unwrap();
    same();
    say(&b, "After a collection.").unwrap();
    same();
}

#[test]
fn a_compile_in_slices_is_followed_slice_by_slice() {
    let space = Space::new();
    let (a, b) = (space.open("a"), space.open("b"));
    let files: Vec<(String, String)> = (0..30)
        .map(|nth| {
            let sections: String = (0..100)
                .map(|it| format!("## S{it} of {nth}\n\nText {it} of {nth}.\n\n"))
                .collect();
            (format!("{nth:02}.md"), format!("# File {nth}\n\n{sections}"))
        })
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let folder = notes(&space, &files);
    let request = crate::memory::compile::CompileRequest {
        path: &folder,
        message: "slices",
        n_threads: 1,
        workspace: &|root| a.workspace_of(root),
        temperatures_for: crate::memory::compile::InitialTemperaturesFor::NewNodes,
        listing: crate::ingest::scan::DetailLevel::Counts,
        stopwatch: space.clock.stopwatch(),
        slice_bytes: 40_000,
        progress: &|_, _| true,
    };
    a.compile_as(&request).unwrap();
    let n_entries = space.keeper.log().head.unwrap().place.seq;
    assert!(3 < n_entries, "{n_entries} entries");
    space.assert_same(&[("a", &a), ("b", &b)]);
    // A replica that joins later has the same from an image, however large its parts are.
    a.publish_image().unwrap();
    space.keeper.log().entries.clear();
    let c = space.open("c");
    space.assert_same(&[("a", &a), ("c", &c)]);
    assert!(c.search("text 7 of 21", None).unwrap().text.contains("Text 7 of 21."));
}

#[test]
fn knowledge_and_typed_memories_are_the_same_everywhere() {
    let space = Space::new();
    let (a, b) = (space.open("a"), space.open("b"));
    let same = || space.assert_same(&[("a", &a), ("b", &b)]);
    let remember = |memory: &Memory, args: Value| {
        let Value::Object(args) = args else { panic!("an object") };
        memory.remember(RememberRequest::parse(&args).unwrap()).unwrap()
    };
    let tea = json!({"content": "Ada likes tea", "topic": "Drinks", "entities": ["Ada"],
                     "key": "k1"});
    let first = remember(&a, tea.clone());
    same();
    // A request that is sent again to another machine is answered by its receipt.
    assert_eq!(remember(&b, tea)["results"], first["results"]);
    let fact = json!({"kind": "fact", "content": "Ada was born in 1815", "subject": "Ada",
                      "attribute": "birth"});
    remember(&b, fact);
    same();
    let items = json!({"items": [
        {"content": "I like tabs.", "kind": "core", "tags": ["style"], "importance": "high"},
        {"content": "Ship it", "kind": "task"},
    ]});
    remember(&b, items);
    let conditions = json!({"type": "task"});
    a.define_view("own", conditions.as_object().unwrap()).unwrap();
    same();
}

/// A write that changes nothing that others have appends nothing.
#[test]
fn looks_reads_and_heat_are_each_machines_own() {
    let space = Space::new();
    let (a, b) = (space.open("a"), space.open("b"));
    let folder = notes(&space, &[("x.md", "# X\n\nOne.\n")]);
    a.compile(&folder, "first").unwrap();
    b.sharing().unwrap().follow().unwrap();
    let head = space.keeper.log().head;
    b.search("one", None).unwrap();
    assert_eq!(b.compile(&folder, "again").unwrap().snapshot, None);
    assert_eq!(a.compile(&folder, "again").unwrap().snapshot, None);
    assert_eq!(space.keeper.log().head, head);
    let roots = |memory: &Memory| memory.roots().unwrap().remove(0).path;
    assert_eq!(roots(&a), folder.to_string_lossy());
    assert_eq!(roots(&b), folder.to_string_lossy());
}

#[test]
fn no_path_of_this_machine_is_published() {
    let space = Space::new();
    let (a, b) = (space.open("a"), space.open("b"));
    let folder = notes(&space, &[("x.md", "# X\n\nOne.\n")]);
    a.compile(&folder, "first").unwrap();
    a.publish_image().unwrap();
    let own = space.dir.path().to_string_lossy().into_owned();
    let log = space.keeper.log().clone();
    let bodies = log.entries.iter().chain(log.images.iter().map(|it| &it.1));
    for part in bodies {
        let text = String::from_utf8_lossy(&part.body);
        assert!(!text.contains(&own), "{} is in the log", own);
    }
    b.sharing().unwrap().follow().unwrap();
    assert_eq!(b.roots().unwrap()[0].path, "notes");
}

/// Rule 1.
#[test]
fn an_entry_is_applied_once() {
    let space = Space::new();
    let (a, b) = (space.open("a"), space.open("b"));
    say(&a, "One").unwrap();
    assert!(b.sharing().unwrap().follow().unwrap());
    assert!(!b.sharing().unwrap().follow().unwrap());
    let rows = shared_rows(&space.db("b"));
    // A process that died after its commit follows from where it was.
    drop(b);
    let b = space.open("b");
    assert!(!b.sharing().unwrap().follow().unwrap());
    assert_eq!(shared_rows(&space.db("b")), rows);
    say(&b, "Two").unwrap();
    space.assert_same(&[("a", &a), ("b", &b)]);
}

/// Rule 2.
#[test]
fn a_changed_entry_is_noticed_and_reads_go_on() {
    let space = Space::new();
    let (a, b) = (space.open("a"), space.open("b"));
    say(&a, "One").unwrap();
    b.sharing().unwrap().follow().unwrap();
    say(&a, "Two").unwrap();
    for part in &mut space.keeper.log().entries {
        let at = part.body.windows(3).position(|it| it == b"Two");
        if let Some(at) = at {
            part.body[at..at + 3].copy_from_slice(b"Owt");
        }
    }
    let error = b.sharing().unwrap().follow().unwrap_err();
    assert_eq!(
        error.to_string(),
        "this replica and the log differ since entry 2; see remindb space join --rebase"
    );
    assert_eq!(refused(say(&b, "Three")), SharedError::Diverged { since: 2 });
    assert!(b.search("one", None).unwrap().text.contains("One"));
}

/// Rule 2: a server that lost its last entries.
#[test]
fn a_rewound_log_is_noticed_by_every_replica_before_it_writes() {
    for n_lost in [1, 10] {
        for has_new in [false, true] {
            let space = Space::new();
            let (a, b) = (space.open("a"), space.open("b"));
            for nth in 0..12 {
                say(&a, &format!("Entry {nth}")).unwrap();
            }
            b.sharing().unwrap().follow().unwrap();
            rewind(&space, n_lost);
            if has_new {
                let c = space.open("c");
                say(&c, "A new one on top").unwrap();
            }
            for memory in [&a, &b] {
                let error = refused(say(memory, "Must not be written"));
                assert!(matches!(error, SharedError::Diverged { .. }), "{error:?}");
                let error = memory.sharing().unwrap().follow().unwrap_err();
                assert!(error.to_string().contains("--rebase"), "{error}");
                assert!(memory.search("entry 11", None).unwrap().text.contains("Entry 11"));
            }
        }
    }
}

fn rewind(space: &Space, n_lost: i64) {
    let mut log = space.keeper.log();
    let mut head = log.head.unwrap();
    head.place.seq -= n_lost;
    let last = head.place.seq;
    log.entries.retain(|it| it.seq <= last);
    head.place.hash = log.entries.last().unwrap().hash.unwrap();
    log.head = Some(head);
}

/// Rule 3.
#[test]
fn a_write_whose_answer_was_lost_is_not_called_failed() {
    let space = Space::new();
    let (a, b) = (space.open("a"), space.open("b"));
    say(&a, "One").unwrap();
    *space.keeper.fault.lock().unwrap() = Some(CommitFault::After);
    let error = refused(say(&a, "Two"));
    assert!(error.to_string().contains("may or may not be kept"), "{error}");
    assert!(!a.search("two", None).unwrap().text.contains("Two"));
    // The log has it, so this replica gets it as all others do.
    space.assert_same(&[("a", &a), ("b", &b)]);
    assert!(a.search("two", None).unwrap().text.contains("Two"));
    *space.keeper.fault.lock().unwrap() = Some(CommitFault::Before);
    let error = refused(say(&a, "Three"));
    assert!(error.to_string().contains("nothing was written"), "{error}");
    say(&a, "Four").unwrap();
    space.assert_same(&[("a", &a), ("b", &b)]);
    assert!(!b.search("three", None).unwrap().text.contains("Three"));
}

/// Rule 4.
#[test]
fn a_change_past_the_log_begins_a_new_epoch() {
    let space = Space::new();
    let (a, b) = (space.open("a"), space.open("b"));
    let id = say(&a, "The key").unwrap();
    // As a memory has it from before a detector was known.
    let leak = |batch: &mut Batch<'_>| {
        let node = batch.find(NodeId::parse(&id).unwrap())?.unwrap();
        let content = "The key is AKIAQ7RM2XNVT5WZ3KLD";
        batch.set_agent_text(&node, &UnplacedNodeData { content, ..node.data() })
    };
    a.writer.write::<_, StoreError>("leak", "", space.clock.now(), leak).unwrap();
    assert!(b.sharing().unwrap().follow().unwrap());
    a.pin(&id, None).unwrap();
    drop(a);
    let redactor = crate::ingest::redact::Redactor::builtin();
    let mode = crate::maintenance::redaction::RedactionMode::Rewrite;
    crate::maintenance::redaction::redact(&space.db("a"), &redactor, mode).unwrap();
    let a = space.open("a");
    let error = refused(say(&a, "Not yet"));
    assert_eq!(error, SharedError::Unpublished { what: "redact".to_owned() });
    a.publish_image().unwrap();
    assert_eq!(space.keeper.log().head.unwrap().place.epoch, 2);
    assert!(space.keeper.log().entries.is_empty());
    say(&a, "After").unwrap();
    space.assert_same(&[("a", &a), ("b", &b)]);
    assert!(!shared_rows(&space.db("b")).contains("AKIAQ7RM2XNVT5WZ3KLD"));
    say(&b, "From the other").unwrap();
    space.assert_same(&[("a", &a), ("b", &b)]);
}

/// Rule 4: what the log does not know of is not written over.
#[test]
fn a_change_past_the_log_that_came_too_late_is_kept_and_named() {
    let space = Space::new();
    let (a, b) = (space.open("a"), space.open("b"));
    say(&a, "One").unwrap();
    let conn = a.writer.lock();
    crate::store::replica_write_guard::mark_unpublished(&conn, "doctor --fix").unwrap();
    drop(conn);
    say(&b, "Two").unwrap();
    assert!(matches!(refused(a.publish_image()), SharedError::Diverged { .. }));
    let error = a.sharing().unwrap().follow().unwrap_err().to_string();
    assert!(error.contains("`remindb doctor --fix` changed this replica past the log"), "{error}");
}

#[test]
fn a_replica_without_its_log_is_read_only() {
    let space = Space::new();
    say(&space.open("a"), "One").unwrap();
    let memory = Memory::open(&space.db("a")).unwrap();
    let error = refused(say(&memory, "Two"));
    assert!(error.to_string().contains("read-only"), "{error}");
    assert!(memory.search("one", None).unwrap().text.contains("One"));
    assert!(matches!(
        memory.writer.collect(
            SnapshotRetentionPolicy::Last(1),
            GcMode::Real,
            space.clock.now(),
            i64::MAX
        ),
        Err(StoreError::Shared(SharedError::ReadOnly { .. }))
    ));
}

/// Rule 6, and the order of locks: who writes and who follows never wait for each other in a
/// circle.
#[test]
fn many_write_and_follow_at_once_and_agree() {
    const N_WRITES: usize = 20;
    let space = Space::new();
    let memories: Vec<Memory> = ["a", "b", "c"].iter().map(|it| space.open(it)).collect();
    std::thread::scope(|scope| {
        for (nth, memory) in memories.iter().enumerate() {
            scope.spawn(move || {
                for it in 0..N_WRITES {
                    say(memory, &format!("Writer {nth} says {it}")).unwrap();
                }
            });
            scope.spawn(move || {
                for _ in 0..N_WRITES {
                    memory.sharing().unwrap().follow().unwrap();
                }
            });
        }
    });
    let named: Vec<(&str, &Memory)> = ["a", "b", "c"].into_iter().zip(&memories).collect();
    space.assert_same(&named);
    assert_eq!(space.keeper.log().head.unwrap().place.seq, 3 * N_WRITES as i64);
    let conn = rusqlite::Connection::open(space.db("b")).unwrap();
    let place = replica_of(&conn).unwrap().unwrap().place;
    assert_eq!(place, space.keeper.log().head.unwrap().place);
    assert_ne!(place.hash, LogHash::default());
}

/// Rule 5: what is published and applied is a part at a time.
#[test]
fn a_large_write_is_published_in_parts() {
    let space = Space::new();
    let (a, b) = (space.open("a"), space.open("b"));
    let text: String =
        (0..4_000).map(|it| format!("Paragraph {it} {}.\n\n", "word ".repeat(60))).collect();
    a.compile(&notes(&space, &[("large.md", &text)]), "large").unwrap();
    let log = space.keeper.log().clone();
    assert!(3 < log.entries.len(), "{} parts", log.entries.len());
    let largest = log.entries.iter().map(|it| it.body.len()).max().unwrap();
    assert!(largest < 1024 * 1024, "{largest} bytes");
    assert_eq!(log.head.unwrap().place.seq, 1);
    space.assert_same(&[("a", &a), ("b", &b)]);
    assert!(b.search("paragraph 3999", None).unwrap().text.contains("Paragraph 3999"));
}
