//! Tests for compiles in slices: the result is that of one transaction, and others write between.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::*;
use crate::fuzzing::random_cases::{Dice, n_cases};
use crate::memory::rollback::{LaterSnapshotPolicy, rollback};
use crate::store::{Batch, NodeRecord, UnplacedNodeData};

/// Sizes of slices: a file each, a few files, everything.
const SIZES: [usize; 3] = [1, 9_000, usize::MAX];

impl Notes {
    /// Compiles at the time of a round.
    fn compile_in_slices(&self, slice_bytes: usize, round: i64) -> Report {
        let (path, clock) = (self.path(""), Clock::manual(UnixMillis(0)));
        let request = CompileRequest { slice_bytes, ..request(&path, &clock) };
        compile(&self.writer, &request, UnixMillis(LATER.0 + round)).unwrap()
    }

    /// Compiles until the memory refuses slice number `n_slices`, as if the process ended there.
    fn compile_up_to(&self, n_slices: usize, round: i64) -> Option<CompileError> {
        let (path, clock) = (self.path(""), Clock::manual(UnixMillis(0)));
        let n_seen = Cell::new(0);
        let before = self.n_snapshots();
        let progress = |_, _| {
            n_seen.set(self.n_snapshots() - before);
            n_seen.get() < n_slices
        };
        let request =
            CompileRequest { slice_bytes: 1, progress: &progress, ..request(&path, &clock) };
        compile(&self.writer, &request, UnixMillis(LATER.0 + round)).err()
    }

    fn n_snapshots(&self) -> usize {
        let conn = self.writer.lock();
        let n: i64 = conn.query_row("SELECT count(*) FROM snapshot", [], |row| row.get(0)).unwrap();
        usize::try_from(n).unwrap()
    }

    /// Returns what a compile may change: nodes with their places, tombstones, edges, files.
    fn everything(&self) -> Vec<String> {
        const STATE: [&str; 4] = [
            "SELECT node.id || ' ' || node.node_type || ' ' || node.trail || ' ' || node.label
                    || ' ' || ifnull(parent.id, '') || ' ' || ifnull(node.source_hash, '')
               FROM node LEFT JOIN node AS parent ON parent.key = node.parent ORDER BY node.id",
            "SELECT node_id || ' ' || path || ' ' || ifnull(parent, '') || ' ' || start_byte
               FROM tombstone JOIN file ON file.id = tombstone.file ORDER BY 1",
            "SELECT source.id || ' ' || reference.label || ' ' || ifnull(target.id, '')
               FROM reference JOIN node AS source ON source.key = reference.source
               LEFT JOIN node AS target ON target.key = reference.target ORDER BY 1",
            "SELECT path || ' ' || ifnull(content_hash, '') || ' ' || gone FROM file ORDER BY path",
        ];
        let conn = self.writer.lock();
        let mut lines = Vec::new();
        for sql in STATE {
            let mut query = conn.prepare(sql).unwrap();
            let rows = query.query_map([], |row| row.get::<_, String>(0)).unwrap();
            lines.extend(rows.map(Result::unwrap));
        }
        lines
    }
}

/// A folder of notes by name, changed by chance: texts, places, names, files.
struct Folder(BTreeMap<String, Vec<String>>);

impl Folder {
    fn new(dice: &mut Dice) -> Folder {
        let mut folder = Folder(BTreeMap::new());
        for nth in 0..12 {
            folder.0.insert(format!("f{nth}.md"), (0..6).map(|_| block(dice)).collect());
        }
        folder
    }

    fn change(&mut self, dice: &mut Dice) {
        let names: Vec<String> = self.0.keys().cloned().collect();
        let (from, to) = (&names[dice.below(names.len())], &names[dice.below(names.len())]);
        match dice.below(8) {
            // A section moves to another file.
            0..3 => {
                let at = dice.below(self.0[from].len().max(1));
                let taken: Vec<String> =
                    self.0.get_mut(from).unwrap().drain(at..).take(2).collect();
                self.0.get_mut(to).unwrap().extend(taken);
            }
            3 => self.0.get_mut(from).unwrap().insert(0, block(dice)),
            4 => {
                let text = self.0.remove(from).unwrap();
                self.0.insert(format!("g{}.md", dice.below(100)), text);
            }
            5 if 4 < names.len() => drop(self.0.remove(from)),
            6 => {
                // A new file with text of another.
                let text = self.0.get_mut(from).unwrap().pop().into_iter().collect();
                self.0.insert(format!("h{}.md", dice.below(100)), text);
            }
            _ => {
                if let Some(it) = self.0.get_mut(to).unwrap().first_mut() {
                    it.push_str(" And some more words.");
                }
            }
        }
    }

    fn write(&self, notes: &Notes) {
        let _ = fs::remove_dir_all(notes.path(""));
        fs::create_dir(notes.path("")).unwrap();
        for (path, blocks) in &self.0 {
            notes.write(path, &format!("# {path}\n\n{}\n", blocks.join("\n\n")));
        }
    }
}

fn block(dice: &mut Dice) -> String {
    let nth = dice.below(60);
    match dice.below(4) {
        0 => format!(
            "## Section {nth}\n\nok\n\nA paragraph of section {nth}, long enough to be told."
        ),
        1 => format!("Short {}.", nth % 5),
        2 => format!("See [[Section {nth}]] and [[f{}]] for more about this matter.", nth % 12),
        _ => format!("Paragraph {nth} has some words of its own, among them number {nth}."),
    }
}

/// Forgets the same node in each memory.
fn forget_one(all: &[Notes], dice: &mut Dice) {
    let nodes = all[0].nodes();
    let id = nodes[dice.below(nodes.len())].split(' ').nth(1).unwrap().to_owned();
    for notes in all {
        let forget = |batch: &mut Batch<'_>| overlays::forget(batch, &id);
        notes.writer.write("agent", "", UnixMillis(1), forget).unwrap();
    }
}

/// Asserts that compiles in slices of each size have one result.
#[track_caller]
fn assert_one_result([each, few, whole]: [Vec<String>; 3]) {
    assert_eq!(each, whole, "a file each");
    assert_eq!(few, whole, "a few files");
}

#[test]
fn slices_of_any_size_have_one_result() {
    for seed in 0..n_cases(3).into() {
        let mut dice = Dice::new(seed);
        let all = SIZES.map(|_| Notes::new());
        let mut folder = Folder::new(&mut dice);
        for round in 0..6 {
            let mut texts = Vec::new();
            for (notes, size) in all.iter().zip(SIZES) {
                folder.write(notes);
                let report = notes.compile_in_slices(size, round);
                texts.push((report.to_string(), notes.everything(), notes.fingerprint()));
            }
            assert_eq!(texts[0], texts[2], "a file each: seed {seed}, round {round}");
            assert_eq!(texts[1], texts[2], "a few files: seed {seed}, round {round}");
            forget_one(&all, &mut dice);
            for _ in 0..=dice.below(6) {
                folder.change(&mut dice);
            }
        }
        all.iter().for_each(Notes::check_health);
    }
}

#[test]
fn texts_that_a_compile_removed_come_back_in_one_order() {
    let all = SIZES.map(|size| {
        let notes = Notes::new();
        for path in ["a.md", "b.md"] {
            notes.write(path, &format!("# {path}\n\nThe same words.\n"));
        }
        notes.compile_in_slices(size, 0);
        for path in ["a.md", "b.md"] {
            fs::remove_file(notes.path(path)).unwrap();
        }
        notes.compile_in_slices(size, 1);
        notes.write("c.md", "# Another\n\nThe same words.\n");
        notes.compile_in_slices(size, 2);
        notes.everything()
    });
    assert_one_result(all);
}

#[test]
fn a_forgotten_text_that_moves_is_one_text_however_the_compile_is_sliced() {
    const WORDS: &str = "These words are many enough to be known again in another file.";
    let all = SIZES.map(|size| {
        let notes = Notes::new();
        notes.write("a.md", "# One\n\nFirst.\n");
        notes.write("b.md", &format!("# Two\n\n{WORDS}\n"));
        notes.compile_in_slices(size, 0);
        let nodes = notes.nodes();
        let id = nodes.iter().find(|it| it.contains(WORDS)).unwrap().split(' ').nth(1).unwrap();
        let forget = |batch: &mut Batch<'_>| overlays::forget(batch, id);
        notes.writer.write("agent", "", UnixMillis(1), forget).unwrap();
        notes.write("a.md", &format!("# One\n\nFirst.\n\n{WORDS}\n"));
        notes.write("b.md", "# Two\n\nSecond.\n");
        notes.compile_in_slices(size, 1);
        notes.everything()
    });
    assert_one_result(all);
}

#[test]
fn a_compile_that_ends_early_keeps_its_slices_and_the_next_goes_on() {
    let (mut n_early, n_seeds) = (0, n_cases(3));
    for seed in 0..n_seeds.into() {
        let mut dice = Dice::new(seed + 100);
        let (whole, cut) = (Notes::new(), Notes::new());
        let mut folder = Folder::new(&mut dice);
        for (round, n_slices) in (0..).zip([1, 2, 3, 1, 2, 3]) {
            folder.write(&whole);
            folder.write(&cut);
            whole.compile_in_slices(usize::MAX, round);
            if let Some(error) = cut.compile_up_to(n_slices, round) {
                n_early += 1;
                let text = error.to_string();
                assert!(text.contains("files were compiled before and are kept"), "{text}");
            }
            cut.check_health();
            cut.compile_in_slices(9_000, round);
            assert_eq!(cut.everything(), whole.everything(), "seed {seed}, {n_slices} slices");
            assert_eq!(cut.fingerprint(), whole.fingerprint(), "seed {seed}, {n_slices} slices");
            for _ in 0..=dice.below(6) {
                folder.change(&mut dice);
            }
        }
    }
    assert!(n_seeds < n_early, "{n_early} ended early");
}

#[test]
fn others_write_between_slices() {
    let notes = Notes::new();
    for nth in 0..5 {
        notes.write(&format!("{nth}.md"), "# Note\n\nText of the note.");
    }
    let written = RefCell::new(Vec::new());
    let (path, clock) = (notes.path(""), Clock::manual(UnixMillis(0)));
    // Another connection, which waits for no lock.
    let rival = Writer::open(&notes.dir.path().join("memory.db"), IfMissing::Create).unwrap();
    let progress = |_, _| {
        let add = |batch: &mut Batch<'_>| batch.root("elsewhere").map(drop);
        rival.write::<_, StoreError>("", "", UnixMillis(0), add).unwrap();
        let head = "SELECT max(id) FROM snapshot";
        written.borrow_mut().push(rival.lock().query_row(head, [], |row| row.get(0)).unwrap());
        true
    };
    let request = CompileRequest { slice_bytes: 1, progress: &progress, ..request(&path, &clock) };
    let report = compile(&notes.writer, &request, LATER).unwrap();
    assert_eq!(report.to_string(), "compiled: 10 added, 0 modified, 0 removed (10 ops)");
    assert_eq!(report.snapshot, Some(5));
    let seen = written.into_inner();
    assert!([1, 2, 3, 4].iter().all(|it: &i64| seen.contains(&Some(*it))), "{seen:?}");
    notes.check_health();
}

#[test]
fn a_compile_that_fits_is_one_snapshot() {
    let notes = Notes::new();
    for nth in 0..50 {
        notes.write(&format!("{nth}.md"), &format!("# Note {nth}\n\nText of the note."));
    }
    assert_eq!(notes.compile().snapshot, Some(1));
    for nth in 0..50 {
        notes.remove(&format!("{nth}.md"));
        notes.write(&format!("sub/{nth}.md"), &format!("# Note {nth}\n\nText of the note."));
    }
    assert_eq!(notes.compile().snapshot, Some(2));
}

/// Compiles three mebibytes while the folder of the memory is locked as by a writer that waits, or
/// is not, and returns the number of snapshots.
fn n_slices_of_three_mebibytes(is_awaited: bool) -> usize {
    let notes = Notes::new();
    for nth in 0..24 {
        notes.write(&format!("{nth}.txt"), &format!("{nth} ").repeat(128 * 1024 / 3));
    }
    let folder = fs::File::open(notes.dir.path()).unwrap();
    if is_awaited {
        folder.lock_shared().unwrap();
    }
    let (path, clock) = (notes.path(""), Clock::manual(UnixMillis(0)));
    let progress = |_, _| {
        clock.advance(20);
        true
    };
    let request = CompileRequest { progress: &progress, ..request(&path, &clock) };
    compile(&notes.writer, &request, LATER).unwrap();
    notes.n_snapshots()
}

#[test]
fn a_slice_ends_early_only_if_others_wait() {
    assert_eq!(n_slices_of_three_mebibytes(false), 1);
    assert!(2 < n_slices_of_three_mebibytes(true));
}

/// Does what an agent or another process may do to a memory between two slices.
fn interfere(rival: &Writer, dice: &mut Dice) {
    let ids: Vec<String> = {
        let conn = rival.lock();
        let mut query = conn.prepare("SELECT id FROM node ORDER BY id").unwrap();
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    if ids.is_empty() {
        return;
    }
    let [one, other] = [(); 2].map(|()| ids[dice.below(ids.len())].clone());
    let chosen = dice.below(6);
    if chosen == 5 {
        let newest = "SELECT max(id) FROM snapshot";
        let head: i64 = rival.lock().query_row(newest, [], |row| row.get(0)).unwrap();
        rollback(rival, (head - 2).max(1), LaterSnapshotPolicy::Keep, UnixMillis(1)).unwrap();
        return;
    }
    let edit = |batch: &mut Batch<'_>| -> Result<(), StoreError> {
        let (one, other) = (overlays::find(batch, &one), overlays::find(batch, &other));
        let text = overlays::node("An agent wrote this text, which is in no file.");
        let below = |it: &NodeRecord| batch.last_place(it.place.file, Some(it.key));
        match chosen {
            0 => overlays::forget(batch, &one.id.to_string()),
            1 => batch.set_agent_text(&one, &UnplacedNodeData::of(&text)),
            2 => {
                let place = below(&one)?;
                batch.insert_agent_node(&UnplacedNodeData::of(&text), place).map(drop)
            }
            3 if batch.children_of(one.key)?.is_empty() && one.key != other.key => {
                let place = below(&other)?;
                batch.move_to(&one, place)
            }
            _ => batch.set_temperature(one.key, 0.25),
        }
    };
    rival.write("agent", "", UnixMillis(1), edit).unwrap();
}

#[test]
fn edits_between_slices_leave_a_sound_memory_in_which_the_next_compile_goes_on() {
    let mut n_edits = 0;
    for seed in 0..6 {
        let (notes, dice) = (Notes::new(), RefCell::new(Dice::new(seed + 200)));
        let mut folder = Folder::new(&mut dice.borrow_mut());
        let db = notes.dir.path().join("memory.db");
        let rival = Writer::open(&db, IfMissing::Create).unwrap();
        for round in 0..4 {
            folder.write(&notes);
            let n_before = notes.n_snapshots();
            let progress = |_, _| {
                if dice.borrow_mut().below(3) == 0 {
                    interfere(&rival, &mut dice.borrow_mut());
                }
                true
            };
            let (path, clock) = (notes.path(""), Clock::manual(UnixMillis(0)));
            let request =
                CompileRequest { slice_bytes: 1, progress: &progress, ..request(&path, &clock) };
            compile(&notes.writer, &request, LATER).unwrap();
            notes.check_health();
            n_edits += notes.n_snapshots() - n_before;
            // A rollback meanwhile took back what this compile brings again.
            notes.compile_in_slices(1, 0);
            notes.check_health();
            let report = notes.compile_in_slices(1, 0).to_string();
            let nothing = "compiled: 0 added, 0 modified, 0 removed (0 ops)";
            assert_eq!(report, nothing, "seed {seed}, round {round}");
            let n_changes = 1 + dice.borrow_mut().below(6);
            (0..n_changes).for_each(|_| folder.change(&mut dice.borrow_mut()));
        }
    }
    assert!(100 < n_edits, "{n_edits} snapshots");
}

/// They are one slice, in which each counts for little more than its text.
#[test]
fn many_small_files_that_are_gathered_in_one_keep_their_ids() {
    const N_FILES: usize = 4_500;
    let notes = Notes::new();
    let text = |nth| format!("Note number {nth} of many that are gathered in one file.\n");
    for nth in 0..N_FILES {
        notes.write(&format!("{nth}.md"), &text(nth));
    }
    notes.check_compile("4500 added, 0 modified, 0 removed (4500 ops)");
    for nth in 0..N_FILES {
        notes.remove(&format!("{nth}.md"));
    }
    notes.write("all.md", &(0..N_FILES).map(|nth| text(nth) + "\n").collect::<String>());
    notes.check_compile("0 added, 4500 modified, 0 removed (4500 ops)");
}
