//! Tests how edits of files change nodes: unchanged text keeps its node, heat, pin and history.
//!
//! Each test edits the folder, compiles it, and reads the database.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use remindb::Memory;

use super::random_cases::{Dice, env_number};
use super::support::Folder;

/// A section: a heading and its paragraphs.
#[derive(Clone, Debug, PartialEq)]
struct Section {
    heading: String,
    paragraphs: Vec<String>,
}

/// Files by path, each a list of sections.
type Notes = BTreeMap<String, Vec<Section>>;

/// An edit of the notes; numbers are taken modulo the number of candidates.
#[derive(Clone, Copy, Debug)]
enum Edit {
    InsertParagraph,
    InsertSection,
    InsertFile,
    DeleteParagraph,
    DeleteSection,
    DeleteFile,
    Reword,
    MoveParagraphInside,
    MoveParagraphAcross,
    MoveSectionInside,
    MoveSectionAcross,
    SplitParagraph,
    RenameHeading,
    RenameFile,
    /// Restores a file from some time ago.
    RestoreFile,
}

const EDITS: [Edit; 15] = [
    Edit::InsertParagraph,
    Edit::InsertSection,
    Edit::InsertFile,
    Edit::DeleteParagraph,
    Edit::DeleteSection,
    Edit::DeleteFile,
    Edit::Reword,
    Edit::MoveParagraphInside,
    Edit::MoveParagraphAcross,
    Edit::MoveSectionInside,
    Edit::MoveSectionAcross,
    Edit::SplitParagraph,
    Edit::RenameHeading,
    Edit::RenameFile,
    Edit::RestoreFile,
];

/// Writes notes and edits them. Each text it makes differs from all others.
struct Author {
    dice: Dice,
    n_made: usize,
    notes: Notes,
    /// Former versions of files.
    former: Vec<(String, Vec<Section>)>,
}

const WORDS: [&str; 24] = [
    "lease", "node", "writer", "snapshot", "anchor", "budget", "table", "cursor", "reader", "page",
    "index", "frame", "reply", "query", "token", "label", "trail", "root", "folder", "note",
    "hash", "rank", "heat", "clock",
];

impl Author {
    fn new(seed: u64) -> Author {
        let (dice, notes) = (Dice::new(seed), Notes::new());
        let mut author = Author { dice, n_made: 0, notes, former: Vec::new() };
        for _ in 0..3 {
            author.edit(Edit::InsertFile);
        }
        author
    }

    fn sentence(&mut self) -> String {
        self.n_made += 1;
        let n = 12 + self.dice.below(20);
        let words: Vec<&str> = (0..n).map(|_| *self.dice.pick(&WORDS)).collect();
        format!("Sentence {} says {}.", self.n_made, words.join(" "))
    }

    fn section(&mut self) -> Section {
        self.n_made += 1;
        let heading =
            format!("Heading number {} about the {}", self.n_made, self.dice.pick(&WORDS));
        let n = 1 + self.dice.below(4);
        Section { heading, paragraphs: (0..n).map(|_| self.sentence()).collect() }
    }

    fn path(&mut self) -> String {
        self.n_made += 1;
        format!("{}file-{}.md", self.dice.pick(&["", "sub/", "sub/deep/"]), self.n_made)
    }

    /// Returns a file's path; `None` without files.
    fn some_path(&mut self) -> Option<String> {
        let paths: Vec<String> = self.notes.keys().cloned().collect();
        self.dice.pick_if_any(&paths)
    }

    /// Returns a section's path and index.
    fn some_section(&mut self) -> Option<(String, usize)> {
        let path = self.some_path()?;
        let n = self.notes[&path].len();
        (0 < n).then(|| (path, self.dice.below(n)))
    }

    /// Returns a paragraph's path and indices.
    fn some_paragraph(&mut self) -> Option<(String, usize, usize)> {
        let (path, section) = self.some_section()?;
        let n = self.notes[&path][section].paragraphs.len();
        (0 < n).then(|| (path, section, self.dice.below(n)))
    }

    fn sections(&mut self, path: &str) -> &mut Vec<Section> {
        self.notes.get_mut(path).unwrap()
    }

    /// Edits the notes; returns `None` when there was nothing to edit.
    fn edit(&mut self, edit: Edit) -> Option<()> {
        match edit {
            Edit::InsertParagraph => {
                let text = self.sentence();
                let (path, section) = self.some_section()?;
                let at = self.dice.below(self.notes[&path][section].paragraphs.len() + 1);
                self.sections(&path)[section].paragraphs.insert(at, text);
            }
            Edit::InsertSection => {
                let section = self.section();
                let path = self.some_path()?;
                let at = self.dice.below(self.notes[&path].len() + 1);
                self.sections(&path).insert(at, section);
            }
            Edit::InsertFile => {
                let n = 2 + self.dice.below(4);
                let sections = (0..n).map(|_| self.section()).collect();
                let path = self.path();
                self.notes.insert(path, sections);
            }
            Edit::DeleteParagraph => {
                let (path, section, at) = self.some_paragraph()?;
                self.keep(&path);
                self.sections(&path)[section].paragraphs.remove(at);
            }
            Edit::DeleteSection => {
                let (path, at) = self.some_section()?;
                self.keep(&path);
                self.sections(&path).remove(at);
            }
            Edit::DeleteFile => {
                let path = self.some_path()?;
                self.keep(&path);
                self.notes.remove(&path);
            }
            Edit::Reword => {
                let (path, section, at) = self.some_paragraph()?;
                self.keep(&path);
                let text = self.notes[&path][section].paragraphs[at].clone();
                self.n_made += 1;
                let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
                let nth = words.len() / 2;
                words[nth] = format!("new{}", self.n_made);
                self.sections(&path)[section].paragraphs[at] = words.join(" ");
            }
            Edit::MoveParagraphInside | Edit::MoveParagraphAcross => {
                let (path, section, at) = self.some_paragraph()?;
                let text = self.sections(&path)[section].paragraphs.remove(at);
                let (mut to, mut place) = self.some_section()?;
                if matches!(edit, Edit::MoveParagraphInside) {
                    place = self.dice.below(self.notes[&path].len());
                    to = path;
                }
                let at = self.dice.below(self.notes[&to][place].paragraphs.len() + 1);
                self.sections(&to)[place].paragraphs.insert(at, text);
            }
            Edit::MoveSectionInside | Edit::MoveSectionAcross => {
                let (path, at) = self.some_section()?;
                let section = self.sections(&path).remove(at);
                let to = match edit {
                    Edit::MoveSectionInside => path,
                    _ => self.some_path()?,
                };
                let at = self.dice.below(self.notes[&to].len() + 1);
                self.sections(&to).insert(at, section);
            }
            Edit::SplitParagraph => {
                let (path, section, at) = self.some_paragraph()?;
                self.keep(&path);
                let paragraphs = &mut self.sections(&path)[section].paragraphs;
                let words: Vec<&str> = paragraphs[at].split(' ').collect();
                let (head, tail) = words.split_at(words.len() / 2);
                let (head, tail) = (head.join(" "), tail.join(" "));
                self.n_made += 1;
                let n = self.n_made;
                let paragraphs = &mut self.sections(&path)[section].paragraphs;
                paragraphs.splice(at..=at, [head, format!("Part {n}: {tail}")]);
            }
            Edit::RenameHeading => {
                let (path, at) = self.some_section()?;
                let heading = self.section().heading;
                self.sections(&path)[at].heading = heading;
            }
            Edit::RenameFile => {
                let path = self.some_path()?;
                let sections = self.notes.remove(&path)?;
                let path = self.path();
                self.notes.insert(path, sections);
            }
            Edit::RestoreFile => {
                let n = self.former.len().checked_sub(1)?;
                let (path, sections) = self.former[self.dice.below(n + 1)].clone();
                self.notes.insert(path, sections);
            }
        }
        Some(())
    }

    fn keep(&mut self, path: &str) {
        self.former.push((path.to_owned(), self.notes[path].clone()));
    }
}

fn text_of(sections: &[Section]) -> String {
    let mut text = String::new();
    for Section { heading, paragraphs } in sections {
        text += &format!("## {heading}\n\n");
        paragraphs.iter().for_each(|it| text += &format!("{it}\n\n"));
    }
    text
}

/// The observable facts of a node.
#[derive(Clone, Debug, PartialEq)]
struct Known {
    id: String,
    temperature: f64,
    pinned: bool,
    access_count: i64,
    /// Snapshots that changed it.
    history: BTreeSet<i64>,
}

/// The folder with its last written notes, and its memory.
struct EditFixture {
    folder: Folder,
    memory: Memory,
    on_disk: Notes,
    n_writes: u64,
    n_nodes_heated: i64,
}

impl EditFixture {
    fn new() -> EditFixture {
        let folder = Folder::new();
        std::fs::create_dir(folder.path("notes")).unwrap();
        let memory = Memory::create(&folder.path("m.db")).unwrap();
        EditFixture { folder, memory, on_disk: Notes::new(), n_writes: 0, n_nodes_heated: 0 }
    }

    /// Writes the notes into the folder, each time with another date.
    fn write(&mut self, notes: &Notes) {
        self.n_writes += 1;
        for path in self.on_disk.keys().filter(|it| !notes.contains_key(*it)) {
            std::fs::remove_file(self.folder.path("notes").join(path)).unwrap();
        }
        for (path, sections) in notes {
            if self.on_disk.get(path) != Some(sections) {
                let path = format!("notes/{path}");
                self.folder.write(&path, text_of(sections));
                self.folder.date(&path, self.n_writes);
            }
        }
        self.on_disk = notes.clone();
    }

    fn compile(&self) -> String {
        self.memory.compile(&self.folder.path("notes"), "edited").unwrap().to_string()
    }

    fn n_snapshots(&self) -> i64 {
        let conn = self.folder.database("m.db");
        conn.query_row("SELECT count(*) FROM snapshot", [], |row| row.get(0)).unwrap()
    }

    fn cursor(&self) -> String {
        let sql = "SELECT cursor_hash FROM snapshot ORDER BY id DESC LIMIT 1";
        self.folder.database("m.db").query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// Gives every node without one a heat of its own.
    fn heat(&mut self) {
        let conn = self.folder.database("m.db");
        conn.execute_batch("BEGIN").unwrap();
        let mut query =
            conn.prepare("SELECT key FROM node WHERE key NOT IN (SELECT node FROM heat)").unwrap();
        let nodes: Vec<i64> =
            query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        for node in nodes {
            self.n_nodes_heated += 1;
            let n = self.n_nodes_heated;
            let sql = "INSERT INTO heat (node, at, temperature, pinned, access_count)
                       VALUES (?1, 0, ?2, ?3, ?4)";
            let temperature = (n % 997) as f64 / 1000.0;
            conn.execute(sql, (node, temperature, n % 2 == 0, n)).unwrap();
        }
        conn.execute_batch("COMMIT").unwrap();
    }

    /// Returns every node by its text; all of the author's texts differ.
    fn nodes(&self) -> Result<BTreeMap<String, Known>, TestCaseError> {
        let conn = self.folder.database("m.db");
        let sql = "SELECT content, id, ifnull(temperature, 0.5), ifnull(pinned, 0),
                          ifnull(access_count, 0)
                     FROM node LEFT JOIN heat ON heat.node = node.key";
        let mut query = conn.prepare(sql).unwrap();
        let mut history = conn.prepare("SELECT snapshot FROM diff WHERE node_id = ?1").unwrap();
        let mut rows = query.query([]).unwrap();
        let mut nodes = BTreeMap::new();
        while let Some(row) = rows.next().unwrap() {
            let id: String = row.get(1).unwrap();
            let changes = history.query_map([&id], |row| row.get(0)).unwrap();
            let known = Known {
                history: changes.map(Result::unwrap).collect(),
                id,
                temperature: row.get(2).unwrap(),
                pinned: row.get(3).unwrap(),
                access_count: row.get(4).unwrap(),
            };
            let content: String = row.get(0).unwrap();
            prop_assert!(nodes.insert(content.clone(), known).is_none(), "twice: {content}");
        }
        Ok(nodes)
    }
}

/// Returns the texts of the notes, without those that a restored file repeats.
fn texts(notes: &Notes) -> BTreeMap<&str, (&str, bool)> {
    let mut seen: BTreeMap<&str, (&str, bool, usize)> = BTreeMap::new();
    for (path, sections) in notes {
        for Section { heading, paragraphs } in sections {
            seen.entry(heading).or_insert((path, true, 0)).2 += 1;
            for text in paragraphs {
                seen.entry(text).or_insert((path, false, 0)).2 += 1;
            }
        }
    }
    let once = seen.into_iter().filter(|(_, (_, _, n))| *n == 1);
    once.map(|(text, (path, is_heading, _))| (text, (path, is_heading))).collect()
}

fn has_twice(notes: &Notes) -> bool {
    let n: usize = notes.values().flatten().map(|it| 1 + it.paragraphs.len()).sum();
    texts(notes).len() < n
}

fn run(script: Vec<(u64, Vec<Edit>)>) -> Result<(), TestCaseError> {
    let mut author = Author::new(script.first().map_or(0, |it| it.0));
    let mut fixture = EditFixture::new();
    fixture.write(&author.notes);
    fixture.compile();
    fixture.heat();
    for (seed, edits) in script {
        let before = author.notes.clone();
        let nodes_before = fixture.nodes()?;
        let n_snapshots = fixture.n_snapshots();
        let cursor = fixture.cursor();
        author.dice = Dice::new(seed);
        for &edit in &edits {
            let kept = author.notes.clone();
            // A paragraph would occur twice if its file were restored beside the place it moved to.
            if author.edit(edit).is_none() || has_twice(&author.notes) {
                author.notes = kept;
            }
        }
        fixture.write(&author.notes);
        let report = fixture.compile();
        let is_changed = before != author.notes;
        prop_assert_eq!(fixture.n_snapshots(), n_snapshots + i64::from(is_changed), "{}", report);
        let nodes = fixture.nodes()?;
        for (text, (path, is_heading)) in texts(&author.notes) {
            let known = nodes.get(text);
            prop_assert!(known.is_some(), "lost: {text}");
            let (Some(known), Some(old)) = (known, nodes_before.get(text)) else { continue };
            prop_assert_eq!(&known.id, &old.id, "{} in {}", text, path);
            let heat = (known.temperature, known.pinned, known.access_count);
            let old_heat = (old.temperature, old.pinned, old.access_count);
            prop_assert_eq!(heat, old_heat, "{} in {}, heading: {}", text, path, is_heading);
            prop_assert!(old.history.is_subset(&known.history), "{text}");
        }
        let n_texts: usize =
            author.notes.values().flatten().map(|it| 1 + it.paragraphs.len()).sum();
        prop_assert_eq!(nodes.len(), n_texts);

        prop_assert_eq!(fixture.compile(), "compiled: 0 added, 0 modified, 0 removed (0 ops)");
        fixture.folder.assert_healthy("m.db");

        // There and back again: the state is the former one.
        let there = fixture.cursor();
        prop_assert_eq!(is_changed, there != cursor);
        fixture.write(&before);
        fixture.compile();
        prop_assert_eq!(fixture.cursor(), cursor);
        fixture.write(&author.notes);
        fixture.compile();
        prop_assert_eq!(fixture.cursor(), there);
        let n_writes = if is_changed { 3 } else { 0 };
        prop_assert_eq!(fixture.n_snapshots(), n_snapshots + n_writes);
        fixture.heat();
    }
    fixture.folder.assert_healthy("m.db");
    Ok(())
}

#[test]
fn unchanged_text_stays_the_same_node_through_random_edits() {
    let edits = prop::collection::vec(prop::sample::select(EDITS.as_slice()), 1..4);
    let script = prop::collection::vec((any::<u64>(), edits), 1..5);
    let cases = env_number("PROPTEST_CASES").unwrap_or(8);
    let config =
        Config { cases, max_shrink_iters: 60, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(
            proptest::test_runner::RngAlgorithm::ChaCha,
        ),
    )
    .run(&script, run)
    .unwrap();
}

/// Makes each kind of edit once, so that none depends on chance.
#[test]
fn unchanged_text_stays_the_same_node_through_every_edit() {
    let script = EDITS.into_iter().zip(40..).map(|(edit, seed)| (seed, vec![edit])).collect();
    run(script).unwrap();
}

#[test]
fn an_edited_paragraph_is_the_same_node() {
    let mut author = Author::new(3);
    let mut fixture = EditFixture::new();
    fixture.write(&author.notes);
    fixture.compile();
    fixture.heat();
    for seed in 0..8 {
        let before: BTreeSet<String> =
            fixture.nodes().unwrap().into_values().map(|it| it.id).collect();
        author.dice = Dice::new(seed);
        author.edit(Edit::Reword);
        fixture.write(&author.notes);
        assert_eq!(fixture.compile(), "compiled: 0 added, 1 modified, 0 removed (1 ops)");
        let after = fixture.nodes().unwrap();
        assert_eq!(before, after.values().map(|it| it.id.clone()).collect());
        assert!(after.values().all(|it| 0 < it.access_count));
    }
}

fn long_file(n_sections: usize) -> String {
    let section = |n: usize| format!("## Section {n}\n\nThe text of section number {n}.\n\n");
    format!("# Title\n\n{}", (0..n_sections).map(section).collect::<String>())
}

#[test]
fn edits_cost_what_they_change() {
    let folder = Folder::new().file("notes/long.md", long_file(200));
    let compile = || {
        let report = folder.ok(["compile", "notes", "--db", "m.db"]);
        let n_snapshots = folder.facts("m.db")["snapshots"].to_string();
        (report.trim_end().trim_start_matches("compiled: ").to_owned(), n_snapshots)
    };
    let check = |counts: &str, n_snapshots: usize| {
        let (report, n) = compile();
        assert!(report.starts_with(counts), "{report}");
        assert_eq!(n, n_snapshots.to_string());
    };
    check("401 added, 0 modified, 0 removed", 1);
    let cursor = folder.facts("m.db")["head"]["cursor_hash"].clone();
    check("0 added, 0 modified, 0 removed", 1);

    let inserted = long_file(200).replace("# Title\n\n", "# Title\n\nA paragraph at the top.\n\n");
    folder.write("notes/long.md", inserted);
    check("1 added, 0 modified, 0 removed (1 ops)", 2);

    folder.write("notes/long.md", long_file(200));
    check("0 added, 0 modified, 1 removed (1 ops)", 3);
    assert_eq!(folder.facts("m.db")["head"]["cursor_hash"], cursor);

    let section = "## Section 20\n\nThe text of section number 20.\n\n";
    let moved = long_file(200).replace(section, "") + section;
    folder.write("notes/long.md", moved);
    let (report, _) = compile();
    assert!(report.starts_with("0 added, ") && report.contains(" 0 removed "), "{report}");

    std::fs::rename(folder.path("notes/long.md"), folder.path("notes/renamed.md")).unwrap();
    let (report, _) = compile();
    assert!(report.starts_with("0 added, ") && report.contains(" 0 removed "), "{report}");

    std::fs::create_dir(folder.path("notes/sub")).unwrap();
    std::fs::rename(folder.path("notes/renamed.md"), folder.path("notes/sub/long.md")).unwrap();
    let (report, _) = compile();
    assert!(report.starts_with("0 added, ") && report.contains(" 0 removed "), "{report}");

    folder.write("notes/sub/long.md", "");
    let (report, _) = compile();
    assert!(report.starts_with("0 added, 0 modified, 401 removed"), "{report}");
    folder.assert_healthy("m.db");
}

/// Repeats texts as most notes do: `Fixed`, `Example`, `TODO`.
#[test]
fn texts_that_are_there_several_times_come_back_as_they_were() {
    let state = |folder: &Folder| {
        folder.ok(["compile", "notes", "--db", "m.db"]);
        folder.facts("m.db")["head"]["cursor_hash"].clone()
    };
    let log = "# 2\n\n## Fixed\n\nTODO\n\n# 1\n\n## Fixed\n\nTODO\n\n## Fixed\n\nTODO\n";
    for between in ["", "Other.\n", "# 2\n\n## Fixed\n\nTODO\n", "TODO\n\n## Fixed\n"] {
        let folder = Folder::new().file("notes/a.md", log).file("notes/b.md", log);
        let first = state(&folder);
        folder.write("notes/b.md", between);
        assert_ne!(state(&folder), first);
        folder.write("notes/b.md", log);
        assert_eq!(state(&folder), first, "after {between:?}");
        folder.write("notes/a.md", between);
        folder.write("notes/b.md", between);
        assert_ne!(state(&folder), first);
        folder.write("notes/a.md", log);
        folder.write("notes/b.md", log);
        assert_eq!(state(&folder), first, "both after {between:?}");
    }
}

/// Changes a note's bytes but not its size and date: only a compile that opens the note notices.
#[test]
fn a_second_compile_opens_no_note() {
    let folder = Folder::new();
    for nth in 0..20 {
        folder.write(format!("notes/{nth}.md"), format!("# Note {nth}\n\nSays aaaa.\n"));
        folder.date(format!("notes/{nth}.md"), nth);
    }
    folder.ok(["compile", "notes", "--db", "m.db"]);
    for nth in 0..20 {
        folder.write(format!("notes/{nth}.md"), format!("# Note {nth}\n\nSays bbbb.\n"));
        folder.date(format!("notes/{nth}.md"), nth);
    }
    let report = folder.ok(["compile", "notes", "--db", "m.db"]);
    assert_eq!(report, "compiled: 0 added, 0 modified, 0 removed (0 ops)\n");
    assert_eq!(folder.facts("m.db")["snapshots"], 1);
    // With another date it is read again, even with an older one.
    folder.date("notes/7.md", 3);
    let report = folder.ok(["compile", "notes", "--db", "m.db"]);
    assert_eq!(report, "compiled: 0 added, 1 modified, 0 removed (1 ops)\n");
}

/// Compiles one file by every spelling of its path, and by a folder within the folder.
#[test]
fn a_file_is_one_file_however_it_is_named() {
    let folder = Folder::new()
        .file("a/notes.md", "# One\n\nThe first of two.\n")
        .file("b/notes.md", "# Two\n\nThe second of two.\n");
    let ok = |path: &str| folder.ok(["compile", path, "--db", "m.db"]);
    assert_eq!(ok("a"), "compiled: 2 added, 0 modified, 0 removed (2 ops)\n");
    assert_eq!(ok("b"), "compiled: 2 added, 0 modified, 0 removed (2 ops)\n");
    let full = folder.path("a/notes.md");
    std::os::unix::fs::symlink(folder.path("a"), folder.path("link")).unwrap();
    for path in ["a/", "./a", "a/../a", "b/../a/notes.md", "link", "link/notes.md"] {
        assert_eq!(ok(path), "compiled: 0 added, 0 modified, 0 removed (0 ops)\n", "{path}");
    }
    let report = ok(full.to_str().unwrap());
    assert_eq!(report, "compiled: 0 added, 0 modified, 0 removed (0 ops)\n");
    std::fs::remove_file(full).unwrap();
    assert_eq!(ok("a"), "compiled: 0 added, 0 modified, 2 removed (2 ops)\n");
    assert_eq!(folder.facts("m.db")["nodes"], 2);
    folder.write("b/.remindb/ignore", "*.md\n");
    assert_eq!(ok("b/notes.md").split(',').next(), Some("compiled: 0 added"));
    assert_eq!(folder.facts("m.db")["nodes"], 0);
    folder.assert_healthy("m.db");
}
