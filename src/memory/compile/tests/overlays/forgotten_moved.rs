//! Tests of forgotten blocks that move between files, or whose file comes and goes.

use super::*;

const TOLD: &str = "What was forgotten is told here, long enough to be known in another file.";
const KEPT: &str = "What nobody forgot is told here, long enough to be known in another file.";

/// A note with both texts.
fn note(title: &str) -> String {
    format!("# {title}\n\n{KEPT}\n\n{TOLD}\n")
}

impl Notes {
    /// Writes two notes; the first has a text that is forgotten then.
    fn with_forgotten() -> Notes {
        let notes = Notes::new();
        notes.write("a.md", &note("A")).write("b.md", "# B\n\nOther.\n").compile();
        notes.forget(TOLD);
        notes
    }

    fn n_tombstones(&self) -> i64 {
        let conn = rusqlite::Connection::open(self.dir.path().join("memory.db")).unwrap();
        conn.query_row("SELECT count(*) FROM tombstone", [], |row| row.get(0)).unwrap()
    }

    /// Checks that the forgotten text is in the memory as often as expected, now and when each
    /// file is read again.
    #[track_caller]
    fn check_told(&self, n_told: usize) -> &Notes {
        for round in 0..2 {
            let outline = self.outline();
            assert_eq!(outline.matches(TOLD).count(), n_told, "round {round}:\n{outline}");
            let named = |it: &fs::DirEntry| it.file_name().to_str().unwrap().ends_with(".md");
            let files = fs::read_dir(self.path("")).unwrap().map(Result::unwrap);
            for file in files.filter(named) {
                let text = fs::read_to_string(file.path()).unwrap();
                fs::write(file.path(), format!("{text}\nOne more line, {round}.\n")).unwrap();
            }
            self.compile();
        }
        self
    }
}

#[test]
fn a_forgotten_block_stays_so_in_another_file() {
    let notes = Notes::with_forgotten();
    notes.write("a.md", &format!("# A\n\n{KEPT}\n")).write("b.md", &format!("# B\n\n{TOLD}\n"));
    notes.check_compile("0 added, 0 modified, 1 removed (1 ops)").check_told(0);
    assert_eq!(notes.n_tombstones(), 1);
    // Once it changes, it is a text of the file as any other.
    notes.edit("b.md", TOLD, "What is told here now.");
    assert!(notes.outline().contains("= What is told here now."));
    assert_eq!(notes.n_tombstones(), 0);
}

#[test]
fn a_forgotten_block_of_a_deleted_file_stays_so_in_another() {
    let notes = Notes::with_forgotten();
    notes.remove("a.md").write("b.md", &format!("# B\n\n{TOLD}\n\nOther.\n"));
    notes.check_compile("0 added, 0 modified, 2 removed (2 ops)").check_told(0);
}

#[test]
fn only_as_many_blocks_stay_forgotten_as_were() {
    // A copy is a text of its own.
    let notes = Notes::with_forgotten();
    notes.write("b.md", &format!("# B\n\n{TOLD}\n")).compile();
    notes.check_told(1);
    // Of two that moved, the one that lives keeps its id.
    let notes = Notes::new();
    notes.write("a.md", &note("A")).write("b.md", &format!("# B\n\n{TOLD}\n")).compile();
    let ids: Vec<String> = notes.nodes().into_iter().filter(|it| it.ends_with(TOLD)).collect();
    let ids: Vec<&str> = ids.iter().map(|it| it.split(' ').nth(1).unwrap()).collect();
    notes.agent(|batch| forget(batch, ids[0]));
    notes.write("a.md", &format!("# A\n\n{KEPT}\n")).write("b.md", "# B\n");
    notes.write("c.md", &format!("# C\n\n{TOLD}\n\nBetween.\n\n{TOLD}\n"));
    notes.check_compile("2 added, 1 modified, 0 removed (3 ops)");
    assert_eq!(notes.id(TOLD), ids[1]);
    notes.check_told(1);
    // One that moved is the one that lives.
    notes.write("c.md", "# C\n").write("d.md", &format!("# D\n\n{TOLD}\n")).compile();
    assert_eq!(notes.id(TOLD), ids[1]);
}

#[test]
fn a_section_takes_its_short_forgotten_blocks_along() {
    let section = |title: &str| format!("## {title}\n\nok\n\n{KEPT}\n\nso\n");
    let parts = section("Ana") + "\n" + &section("Bea").replace(KEPT, TOLD);
    for labels in [vec!["ok"], vec!["ok", "Ana"], vec!["Ana"], vec!["ok", KEPT, "so", "Ana"]] {
        let notes = Notes::new();
        notes.write("a.md", &format!("# A\n\n{parts}")).write("b.md", "# B\n").compile();
        for label in &labels {
            let nodes = notes.nodes();
            let id = nodes.iter().find(|it| it.ends_with(&format!(" {label}"))).unwrap();
            let id = id.split(' ').nth(1).unwrap().to_owned();
            notes.agent(|batch| forget(batch, &id));
        }
        let n_nodes = notes.nodes().len();
        notes.write("a.md", "# A\n").write("b.md", &format!("# B\n\n{parts}")).compile();
        assert_eq!(notes.nodes().len(), n_nodes, "{labels:?}: {}", notes.outline());
        assert_eq!(notes.n_tombstones(), labels.len() as i64, "{labels:?}");
        notes.write("b.md", &format!("# B\n\nNew.\n\n{parts}")).compile();
        assert_eq!(notes.nodes().len(), n_nodes + 1, "{labels:?}: {}", notes.outline());
    }
}

#[test]
fn a_renamed_file_keeps_what_is_forgotten_though_another_takes_its_name() {
    let notes = Notes::with_forgotten();
    let id = notes.id(KEPT);
    notes.write("c.md", &note("A")).write("a.md", "# Other\n\nEntirely different.\n");
    notes.check_compile("2 added, 1 modified, 0 removed (3 ops)").check_told(0);
    assert_eq!(notes.id(KEPT), id);
}

#[test]
fn a_file_that_is_empty_for_a_while_stays_forgotten_in_part() {
    for empty in ["", "\n\n"] {
        let notes = Notes::with_forgotten();
        notes.write("a.md", empty).compile();
        notes.write("a.md", &note("A")).compile();
        notes.check_told(0);
        // Other texts in it are the end of that.
        notes.write("a.md", empty).compile();
        notes.write("a.md", "# A\n").compile();
        notes.write("a.md", &note("A")).compile();
        notes.check_told(1);
    }
}

#[test]
fn a_renamed_file_stays_forgotten_in_part_whichever_path_is_compiled_first() {
    for first in ["c.md", "a.md"] {
        let notes = Notes::with_forgotten();
        notes.write("c.md", &note("A")).remove("a.md");
        notes.try_compile(first).unwrap();
        notes.compile();
        notes.check_told(0);
        assert_eq!(notes.n_tombstones(), 1, "{first}");
    }
}

#[test]
fn a_copy_is_a_text_of_its_own_even_if_it_is_compiled_alone() {
    let notes = Notes::with_forgotten();
    notes.write("c.md", &note("A")).try_compile("c.md").unwrap();
    notes.check_told(1);
    // A deleted file that is back has its own.
    let notes = Notes::with_forgotten();
    notes.remove("a.md").compile();
    notes.write("a.md", &note("A")).write("c.md", &format!("# C\n\n{TOLD}\n"));
    notes.try_compile("c.md").unwrap();
    notes.compile();
    notes.check_told(1);
    assert!(notes.nodes().iter().any(|it| it.starts_with("c.md") && it.ends_with(TOLD)));
}

#[test]
fn a_text_that_leaves_its_file_and_returns_later_is_new() {
    let notes = Notes::with_forgotten();
    notes.write("a.md", &format!("# A\n\n{KEPT}\n")).compile();
    notes.write("b.md", &format!("# B\n\n{TOLD}\n")).compile();
    notes.check_told(1);
}
