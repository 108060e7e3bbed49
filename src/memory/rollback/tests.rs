//! Tests for rollback over random histories: earlier states return exactly, dropped texts are
//! erased.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use expect_test::{Expect, expect};
use rusqlite::{Connection, OpenFlags};

use super::*;
use crate::fuzzing::random_cases::Dice;
use crate::ingest::scan::DetailLevel;
use crate::maintenance::doctor;
use crate::maintenance::gc::{GcMode, GcReport, SnapshotRetentionPolicy};
use crate::memory::compile::{self, CompileRequest, InitialTemperaturesFor, SLICE_BYTES};
use crate::model::clock::Clock;
use crate::model::tree::Node;
use crate::settings::root_settings::{OperatorOptions, RootSettings};
use crate::store::IfMissing;
use crate::text::{self, tokens};

mod dropped;
mod files;

/// A time later than the date of any file in the tests.
const NOW: UnixMillis = UnixMillis(4_000_000_000_000);

/// A memory with a folder of notes beside it.
struct RollbackFixture {
    dir: tempfile::TempDir,
    writer: Option<Writer>,
    dice: Dice,
    /// Number of words made so far; each occurs in one text only.
    n_words: usize,
}

impl RollbackFixture {
    fn new(seed: u64) -> RollbackFixture {
        let dir = tempfile::tempdir().unwrap();
        let writer = Writer::open(&dir.path().join("memory.db"), IfMissing::Create).unwrap();
        fs::create_dir(dir.path().join("notes")).unwrap();
        RollbackFixture { dir, writer: Some(writer), dice: Dice::new(seed), n_words: 0 }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join("notes").join(path)
    }

    fn writer(&self) -> &Writer {
        self.writer.as_ref().unwrap()
    }

    /// Opens a connection of its own to read the rows.
    fn conn(&self) -> Connection {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        Connection::open_with_flags(self.dir.path().join("memory.db"), flags).unwrap()
    }

    fn below(&mut self, n: usize) -> usize {
        self.dice.below(n)
    }

    fn word(&mut self) -> String {
        self.n_words += 1;
        format!("q{}q{:04}", self.n_words % 7, self.n_words)
    }

    fn write(&self, path: &str, text: &str) -> &RollbackFixture {
        fs::write(self.path(path), text).unwrap();
        self
    }

    #[track_caller]
    fn compile(&self) -> String {
        let request = CompileRequest {
            path: &self.path(""),
            message: "compile",
            n_threads: 1,
            workspace: &|root| RootSettings::load(root, OperatorOptions::default()).map(Arc::new),
            temperatures_for: InitialTemperaturesFor::NewNodes,
            listing: DetailLevel::Counts,
            stopwatch: Clock::manual(NOW).stopwatch(),
            slice_bytes: SLICE_BYTES,
            progress: &|_, _| true,
        };
        compile::compile(self.writer(), &request, NOW).unwrap().to_string()
    }

    #[track_caller]
    fn rollback(&self, target: i64, after: LaterSnapshotPolicy) -> RollbackReport {
        rollback(self.writer(), target, after, NOW).unwrap()
    }

    #[track_caller]
    fn check_rollback(
        &self,
        target: i64,
        after: LaterSnapshotPolicy,
        text: Expect,
    ) -> &RollbackFixture {
        let outcome = match rollback(self.writer(), target, after, NOW) {
            Ok(rolled) => rolled.text(),
            Err(error) => format!("error: {error}"),
        };
        text.assert_eq(&outcome);
        self
    }

    fn agent(&self, body: impl FnOnce(&mut Batch<'_>) -> Result<(), StoreError>) {
        self.writer().write("agent", "", NOW, body).unwrap();
    }

    fn ids(&self) -> Vec<NodeId> {
        let conn = self.conn();
        let mut query = conn.prepare("SELECT id FROM node ORDER BY id").unwrap();
        let ids = query.query_map([], |row| row.get::<_, String>(0)).unwrap();
        ids.map(|it| NodeId::parse(&it.unwrap()).unwrap()).collect()
    }

    fn id_of(&self, content: &str) -> NodeId {
        const FIND: &str = "SELECT id FROM node WHERE content = ?1";
        let id: String = self.conn().query_row(FIND, [content], |row| row.get(0)).unwrap();
        NodeId::parse(&id).unwrap()
    }

    fn overlay(&self, id: NodeId, content: &str) {
        self.agent(|batch| {
            let old = batch.find(id)?.unwrap();
            let label = text::label_of_text(content);
            batch.set_agent_text(&old, &agent_text(old.data(), &label, content))
        });
    }

    fn head(&self) -> (i64, String) {
        const HEAD: &str = "
            SELECT id, cursor_hash FROM snapshot JOIN cursor ON cursor.snapshot = snapshot.id";
        self.conn().query_row(HEAD, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    }

    /// Returns everything that the fingerprint covers, one line per node.
    fn state(&self) -> String {
        const STATE: &str = "
            WITH RECURSIVE part (key, depth, sort) AS (
                SELECT n.key, 0, ifnull(f.root || f.path, '~') || printf('%024d', n.position)
                  FROM node AS n LEFT JOIN file AS f ON f.id = n.file
                 WHERE n.parent IS NULL
                UNION ALL
                SELECT n.key, depth + 1, sort || printf('%024d', n.position)
                  FROM part JOIN node AS n ON n.parent = part.key
            )
            SELECT printf('%.*c', 2 * depth + 1, ' ') || concat_ws('|', n.id, f.path, n.node_type,
                   n.level, n.lang, n.key_path, n.format, n.token_count, n.trail, n.label, n.content)
              FROM part
              JOIN node AS n ON n.key = part.key
              LEFT JOIN file AS f ON f.id = n.file
             ORDER BY sort";
        let conn = self.conn();
        let mut query = conn.prepare(STATE).unwrap();
        let lines = query.query_map([], |row| row.get::<_, String>(0)).unwrap();
        lines.map(|it| it.unwrap() + "\n").collect()
    }

    /// Returns all texts, in order.
    fn texts(&self) -> String {
        let state = self.state();
        state.lines().filter_map(|it| it.rsplit('|').next()).collect::<Vec<_>>().join(" / ")
    }

    #[track_caller]
    fn check_health(&self) {
        doctor::assert_healthy(&self.dir.path().join("memory.db"));
    }

    /// Writes a new version of a file from its own and new words.
    fn edit_a_file(&mut self) {
        let path = ["a.md", "b.md", "c.md"][self.below(3)];
        let old = fs::read_to_string(self.path(path)).unwrap_or_default();
        let mut blocks: Vec<String> = old.split("\n\n").map(|it| it.trim().to_owned()).collect();
        blocks.retain(|it| !it.is_empty());
        for _ in 0..1 + self.below(4) {
            let (at, word) = (self.below(blocks.len() + 1), self.word());
            let sign = ["", "", "# ", "## ", "- "][self.below(5)];
            match self.below(4) {
                0 if at < blocks.len() => drop(blocks.remove(at)),
                1 if at < blocks.len() => blocks[at].push_str(&format!(" {word}")),
                2 if 1 < blocks.len() => {
                    let block = blocks.remove(at % blocks.len());
                    let to = self.below(blocks.len());
                    blocks.insert(to, block);
                }
                _ => blocks.insert(at, format!("{sign}some {word} of them")),
            }
        }
        match self.below(12) {
            0 => drop(fs::remove_file(self.path(path))),
            1 if self.path(path).exists() => {
                fs::rename(self.path(path), self.path("d.md")).unwrap();
            }
            _ => drop(self.write(path, &(blocks.join("\n\n") + "\n"))),
        }
    }

    /// Runs one random write of any kind.
    fn step(&mut self) {
        let ids = self.ids();
        let (id, other) = (self.below(ids.len()), self.below(ids.len()));
        let (kind, word) = (self.below(12), self.word());
        if ids.is_empty() || kind < 5 {
            self.edit_a_file();
            self.compile();
            return;
        }
        let (id, other) = (ids[id], ids[other]);
        match kind {
            5 | 6 => self.overlay(id, &format!("an agent's {word}\nin two lines")),
            7 => self.agent(|batch| {
                let under = batch.find(other)?.unwrap();
                let parent = (id != other).then_some(under.key);
                let place = batch.last_place(under.place.file.filter(|_| id != other), parent)?;
                let label = text::label_of_text(&word);
                let node = Node::default();
                let agent_content = agent_text(UnplacedNodeData::of(&node), &label, &word);
                batch.insert_agent_node(&agent_content, place).map(drop)
            }),
            8 => self.agent(|batch| {
                let node = batch.find(id)?.unwrap();
                for child in batch.children_of(node.key)? {
                    let place = batch.last_place(node.place.file, node.place.parent)?;
                    batch.move_to(&child, place)?;
                }
                batch.forget(&batch.find(id)?.unwrap())
            }),
            9 => self.agent(|batch| cascade(batch, id)),
            10 => self.agent(|batch| move_under(batch, id, other)),
            _ => {
                let (head, _) = self.head();
                let target = 1 + self.below(head as usize) as i64;
                self.rollback(target, LaterSnapshotPolicy::Keep);
            }
        }
    }
}

fn agent_text<'a>(
    data: UnplacedNodeData<'a>,
    label: &'a str,
    content: &'a str,
) -> UnplacedNodeData<'a> {
    let token_count = tokens::count(content);
    UnplacedNodeData { label, content, token_count, ..data }
}

fn cascade(batch: &mut Batch<'_>, id: NodeId) -> Result<(), StoreError> {
    let mut nodes = vec![batch.find(id)?.unwrap()];
    let mut at = 0;
    while at < nodes.len() {
        nodes.extend(batch.children_of(nodes[at].key)?);
        at += 1;
    }
    nodes.iter().rev().try_for_each(|it| batch.forget(it))
}

fn move_under(batch: &mut Batch<'_>, id: NodeId, other: NodeId) -> Result<(), StoreError> {
    let (node, under) = (batch.find(id)?.unwrap(), batch.find(other)?.unwrap());
    let mut above = Some(under.key);
    while let Some(key) = above {
        if key == node.key {
            // A node cannot move below itself; it moves to the end of its siblings instead.
            let place = batch.last_place(node.place.file, node.place.parent)?;
            return batch.move_to(&node, place);
        }
        above = batch.at(key)?.unwrap().place.parent;
    }
    let place = batch.last_place(under.place.file, Some(under.key))?;
    batch.move_to(&node, place)
}

/// Returns a fixture after so many snapshots, and each state on the way.
fn history(seed: u64, n_snapshots: i64) -> (RollbackFixture, Vec<(i64, String, String)>) {
    let mut fixture = RollbackFixture::new(seed);
    fixture.write("a.md", "# Alpha\n\nOne.\n\nTwo.\n\n## Beta\n\nThree.\n");
    fixture.write("b.md", "# Gamma\n\n- four\n- five\n\nSix.\n");
    fixture.compile();
    let mut states: Vec<(i64, String, String)> = Vec::new();
    while fixture.head().0 < n_snapshots {
        let (id, hash) = fixture.head();
        if states.last().is_none_or(|(last, ..)| *last != id) {
            states.push((id, hash, fixture.state()));
        }
        fixture.step();
    }
    (fixture, states)
}

#[test]
fn rolling_back_to_each_of_200_snapshots_reproduces_it() {
    let (mut fixture, states) = history(1, 200);
    fixture.check_health();
    assert_eq!(states.len(), 199);
    let mut order: Vec<usize> = (0..states.len()).collect();
    for at in (1..order.len()).rev() {
        let other = fixture.below(at + 1);
        order.swap(at, other);
    }
    for (nth, at) in order.into_iter().enumerate() {
        let (id, hash, state) = &states[at];
        fixture.rollback(*id, LaterSnapshotPolicy::Keep);
        assert_eq!(fixture.head().1, *hash, "snapshot {id}");
        assert_eq!(fixture.state(), *state, "snapshot {id}");
        if nth % 50 == 0 {
            fixture.check_health();
        }
    }
}

#[test]
fn a_rollback_reports_its_changes() {
    let fixture = RollbackFixture::new(2);
    fixture.check_rollback(
        1,
        LaterSnapshotPolicy::Keep,
        expect!["error: `snapshot_id`: no snapshot 1; there is none yet"],
    );
    fixture.write("a.md", "# A\n\nOne.\n\nTwo.\n").compile();
    fixture.write("a.md", "# A\n\nOne.\n\nTwo, changed.\n").compile();
    fixture.write("a.md", "# A\n\nOne.\n\nTwo.\n").compile();
    let refused = |target: i64, what: &str| {
        let error = rollback(fixture.writer(), target, LaterSnapshotPolicy::Keep, NOW).unwrap_err();
        assert_eq!(error.to_string(), format!("`snapshot_id`: no snapshot {target}; {what}"));
    };
    [0, -1, 999].into_iter().for_each(|it| refused(it, "there are 1 to 3"));
    fixture.check_rollback(
        3,
        LaterSnapshotPolicy::Keep,
        expect!["already at snapshot 3; nothing to do"],
    );
    fixture.check_rollback(
        1,
        LaterSnapshotPolicy::Keep,
        expect!["no rollback applied; computed state matches HEAD for snapshot 1"],
    );
    fixture.check_rollback(
        2,
        LaterSnapshotPolicy::Keep,
        expect!["rolled back to snapshot 2 (new snapshot 4, 1 nodes affected)"],
    );
    fixture.check_rollback(1, LaterSnapshotPolicy::Drop, expect!["rolled back to snapshot 1 (new snapshot 5, 1 nodes affected); pruned 3 intermediate snapshot(s)"]);
    fixture.check_rollback(
        4,
        LaterSnapshotPolicy::Keep,
        expect![
            "error: `snapshot_id`: no snapshot 4; there are 2 from 1 to 5, the nearest 1 and 5"
        ],
    );
    fixture.check_health();
}

#[test]
fn an_undo_takes_back_what_is_newest_when_others_are_done() {
    let fixture = RollbackFixture::new(3);
    fixture.write("a.md", "One.\n").compile();
    fixture.write("b.md", "Two.\n").compile();
    let database = fixture.dir.path().join("memory.db");
    let rival = Writer::open(&database, IfMissing::Refuse).unwrap();
    std::thread::scope(|scope| {
        let write = |batch: &mut Batch<'_>| -> Result<_, StoreError> {
            let place = batch.last_place(None, None)?;
            let node = Node::default();
            let three = agent_text(UnplacedNodeData::of(&node), "Three.", "Three.");
            batch.insert_agent_node(&three, place)?;
            let undone = scope.spawn(|| undo(fixture.writer(), NOW).unwrap().target);
            while !rival.is_awaited() {
                std::thread::yield_now();
            }
            Ok(undone)
        };
        let (undone, _) = rival.write("rival", "", NOW, write).unwrap();
        assert_eq!(undone.join().unwrap(), 2);
    });
    expect!["One. / Two."].assert_eq(&fixture.texts());
}

#[test]
fn before_the_first_snapshot_there_is_nothing_to_undo() {
    let fixture = RollbackFixture::new(3);
    let why = |fixture: &RollbackFixture| undo(fixture.writer(), NOW).unwrap_err().to_string();
    let expected = "there is no snapshot before the newest one, so nothing can be undone";
    assert_eq!(why(&fixture), expected);
    fixture.write("a.md", "One.\n").compile();
    assert_eq!(why(&fixture), expected);
}

#[test]
fn a_b_a_by_write_by_file_and_by_rollback_is_the_same_state_thrice() {
    let fixture = RollbackFixture::new(3);
    fixture.write("a.md", "# A\n\nOne.\n").compile();
    let first = fixture.head().1;
    let id = fixture.id_of("One.");
    fixture.overlay(id, "Said.");
    fixture.overlay(id, "One.");
    assert_eq!(fixture.head(), (3, first.clone()));
    fixture.write("a.md", "# A\n\nAnother.\n").compile();
    fixture.write("a.md", "# A\n\nOne.\n").compile();
    assert_eq!(fixture.head(), (5, first.clone()));
    fixture.rollback(4, LaterSnapshotPolicy::Keep);
    fixture.rollback(1, LaterSnapshotPolicy::Keep);
    assert_eq!(fixture.head(), (7, first));
    assert_eq!(fixture.id_of("One."), id);
    // Forgotten, then restored under its former id.
    fixture.agent(|batch| cascade(batch, id));
    fixture.rollback(7, LaterSnapshotPolicy::Keep);
    assert_eq!(fixture.id_of("One."), id);
    fixture.check_health();
}

#[test]
fn order_comes_back_where_siblings_were_renumbered_meanwhile() {
    const RENUMBERED: &str = "SELECT count(*) FROM diff WHERE op = 'rank'";
    let fixture = RollbackFixture::new(10);
    let mut states = Vec::new();
    // Always into the same gap, until it is full and all siblings are renumbered.
    for n in 0..24 {
        let inserted: String = (0..n).rev().map(|it| format!("Number {it}.\n\n")).collect();
        fixture.write("a.md", &format!("First.\n\n{inserted}Last.\n")).compile();
        states.push(fixture.state());
    }
    let n: i64 = fixture.conn().query_row(RENUMBERED, [], |row| row.get(0)).unwrap();
    assert!(0 < n);
    fixture.agent(|batch| cascade(batch, fixture.id_of("Number 3.")));
    fixture
        .agent(|batch| move_under(batch, fixture.id_of("Number 5."), fixture.id_of("Number 5.")));
    for at in [10, 23, 4, 12] {
        fixture.rollback(at + 1, LaterSnapshotPolicy::Keep);
        assert_eq!(fixture.state(), states[at as usize]);
    }
    fixture.rollback(11, LaterSnapshotPolicy::Drop);
    fixture.rollback(5, LaterSnapshotPolicy::Keep);
    assert_eq!(fixture.state(), states[4]);
    fixture.check_health();
}

#[test]
fn surviving_nodes_keep_their_heat_and_restored_ones_are_new() {
    const HEAT: &str = "
        SELECT group_concat(content || ifnull(' ' || temperature || ' ' || pinned, ''), '; '
                            ORDER BY content)
          FROM node LEFT JOIN heat ON heat.node = node.key";
    let fixture = RollbackFixture::new(11);
    fixture.write("a.md", "One.\n\nTwo.\n").compile();
    let path = fixture.dir.path().join("memory.db");
    let warm = "
        INSERT INTO heat (node, temperature, at, pinned) SELECT key, 0.9, 0, 1 FROM node";
    Connection::open(path).unwrap().execute_batch(warm).unwrap();
    fixture.overlay(fixture.id_of("One."), "Said.");
    fixture.agent(|batch| cascade(batch, fixture.id_of("Two.")));
    fixture.rollback(1, LaterSnapshotPolicy::Keep);
    let heat: String = fixture.conn().query_row(HEAT, [], |row| row.get(0)).unwrap();
    assert_eq!(heat, "One. 0.9 1; Two.");
}

#[test]
fn an_overlay_goes_back_to_the_files_text() {
    let fixture = RollbackFixture::new(5);
    fixture.write("a.md", "# A\n\nOne.\n").compile();
    fixture.overlay(fixture.id_of("One."), "Said by an agent.");
    fixture.compile();
    fixture.rollback(1, LaterSnapshotPolicy::Keep);
    fixture.write("a.md", "# A\n\nOne.\n\nTwo.\n").compile();
    assert_eq!(fixture.texts(), "A / One. / Two.");
    // The agent's text returns with its snapshot.
    fixture.rollback(2, LaterSnapshotPolicy::Keep);
    assert_eq!(fixture.texts(), "A / Said by an agent.");
}

#[test]
fn the_history_grows_with_what_changed() {
    let fixture = RollbackFixture::new(8);
    let text = |nth: usize, edit: usize| -> String {
        let line = |it: usize| match it == nth {
            true => format!("Paragraph {it}, edited for the {edit}th time.\n\n"),
            false => format!("Paragraph {it} of many.\n\n"),
        };
        (0..200).map(line).collect()
    };
    fixture.write("a.md", &text(0, 0)).compile();
    for edit in 1..=30 {
        fixture.write("a.md", &text(100, edit)).compile();
    }
    const GROWTH: &str = "
        SELECT (SELECT count(*) FROM diff WHERE snapshot > 2),
               (SELECT count(*) FROM blob), (SELECT sum(octet_length(content)) FROM blob)";
    let grown: (i64, i64, i64) = fixture
        .conn()
        .query_row(GROWTH, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap();
    assert!(grown.0 <= 30 && grown.1 <= 31 && grown.2 < 31 * 50, "{grown:?}");
}
