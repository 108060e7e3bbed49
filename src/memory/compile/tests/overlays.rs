//! Tests for overlays: files and agents write to one tree.

use super::*;
use crate::model::identity::NodeId;
use crate::model::tree::Node;
use crate::store::{Batch, FileId, NodePlace, NodeRecord, NodeRowId, UnplacedNodeData};
use crate::text::{self, tokens};

mod forgotten;
mod forgotten_moved;

pub(super) fn node(content: &str) -> Node {
    Node {
        label: text::label_of_text(content),
        content: content.to_owned(),
        token_count: tokens::count(content),
        ..Node::default()
    }
}

impl Notes {
    /// Runs a write of an agent; returns its snapshot, if any.
    #[track_caller]
    fn agent(&self, body: impl FnOnce(&mut Batch<'_>) -> Result<(), StoreError>) -> Option<i64> {
        let ((), commit) = self.writer.write("agent", "", UnixMillis(1), body).unwrap();
        self.check_health();
        commit.snapshot
    }

    #[track_caller]
    fn overlay(&self, label: &str, words: &str) -> &Notes {
        let id = self.id(label);
        self.agent(|batch| {
            let old = find(batch, &id);
            let (node_type, level) = (old.node_type, old.attributes.level());
            batch.set_agent_text(
                &old,
                &UnplacedNodeData::of(&Node { node_type, level, ..node(words) }),
            )
        });
        self
    }

    #[track_caller]
    fn add_below(&self, label: &str, words: &str) -> &Notes {
        let id = self.id(label);
        self.agent(|batch| {
            let parent = find(batch, &id);
            let place = batch.last_place(parent.place.file, Some(parent.key))?;
            batch.insert_agent_node(&UnplacedNodeData::of(&node(words)), place).map(drop)
        });
        self
    }

    /// Forgets a node and leaves its children in its place.
    #[track_caller]
    fn forget(&self, label: &str) -> &Notes {
        let id = self.id(label);
        self.agent(|batch| forget(batch, &id));
        self
    }

    /// Writes a note with one change, and compiles it.
    #[track_caller]
    fn edit(&self, path: &str, from: &str, to: &str) -> Report {
        let text = fs::read_to_string(self.path(path)).unwrap();
        assert!(text.contains(from), "`{from}` is not in {path}");
        self.write(path, &text.replacen(from, to, 1)).compile()
    }

    /// Outlines the tree: depth, label, and the author: `=` file, `*` overlay, `+` agent.
    fn outline(&self) -> String {
        let mut out = String::new();
        let roots = self.writer.roots().unwrap();
        let list = |batch: &mut Batch<'_>| -> Result<(), StoreError> {
            let mut files: Vec<Option<FileId>> = vec![None];
            let mut paths = vec![String::new()];
            for root in 1..=(roots.len() as i64 + 1) {
                for file in batch.files(crate::store::RootId(root))? {
                    files.push(Some(file.id));
                    paths.push(file.path);
                }
            }
            for (file, path) in files.into_iter().zip(paths) {
                let top = NodePlace { file, parent: None, position: 0 };
                let tops = batch.family_of(top)?;
                if !tops.is_empty() {
                    out += &format!("{path}:\n");
                }
                for it in tops {
                    show(batch, &it, 1, &mut out)?;
                }
            }
            Ok(())
        };
        self.writer.write("", "", UnixMillis(0), list).unwrap();
        out
    }

    #[track_caller]
    fn check_outline(&self, outline: expect_test::Expect) -> &Notes {
        outline.assert_eq(&self.outline());
        self
    }
}

fn show(
    batch: &Batch<'_>,
    it: &NodeRecord,
    depth: usize,
    out: &mut String,
) -> Result<(), StoreError> {
    let voice = match it.source_hash {
        None => "+",
        Some(_) if it.is_overlaid() => "*",
        Some(_) => "=",
    };
    *out += &format!("{}{voice} {} ({})\n", "  ".repeat(depth), it.label, it.breadcrumb);
    for child in batch.children_of(it.key)? {
        show(batch, &child, depth + 1, out)?;
    }
    Ok(())
}

#[track_caller]
pub(super) fn find(batch: &Batch<'_>, id: &str) -> NodeRecord {
    batch.find(NodeId::parse(id).unwrap()).unwrap().expect("the node is there")
}

pub(super) fn forget(batch: &mut Batch<'_>, id: &str) -> Result<(), StoreError> {
    let old = find(batch, id);
    for (position, child) in (old.place.position..).zip(batch.children_of(old.key)?) {
        batch.move_to(&child, NodePlace { position, ..old.place })?;
    }
    batch.forget(&old)
}

fn conflicts(notes: &Notes) -> Vec<String> {
    let conn = rusqlite::Connection::open(notes.dir.path().join("memory.db")).unwrap();
    let mut query = conn
        .prepare(
            "SELECT diff.op || ' ' || blob.content
               FROM diff JOIN blob ON blob.hash = diff.old_hash
              WHERE conflict ORDER BY snapshot, seq",
        )
        .unwrap();
    query.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

const BOOK: &str = "# Book\n\nFirst words, quite a few of them.\n\n## Part\n\nSecond words, and \
                    many more.\n\nThird words, again others.\n";

fn book() -> Notes {
    let notes = Notes::new();
    notes.write("a.md", BOOK).compile();
    notes
}

#[test]
fn an_agents_text_survives_a_recompile() {
    let notes = book();
    notes.overlay("First words, quite a few of them.", "The agent knows better.");
    notes.edit("a.md", "Third words", "Other words");
    notes.check_outline(expect_test::expect![[r#"
        a.md:
          = Book (a)
            * The agent knows better. (a / Book)
            = Part (a / Book)
              = Second words, and many more. (a / Book / Part)
              = Other words, again others. (a / Book / Part)
    "#]]);
    assert_eq!(conflicts(&notes), [""; 0]);
}

#[test]
fn a_changed_block_wins_and_names_the_conflict() {
    let notes = book();
    notes.overlay("First words, quite a few of them.", "The agent knows better.");
    let id = notes.id("The agent knows better.");
    notes.edit("a.md", "First words, quite", "First words, and quite");
    assert_eq!(notes.id("First words, and quite a few of them."), id);
    assert_eq!(conflicts(&notes), ["mod The agent knows better."]);
    // Restored: the file's text is as it was when the agent wrote.
    notes.edit("a.md", "First words, and quite", "First words, quite");
    assert_eq!(notes.id("First words, quite a few of them."), id);
    assert_eq!(conflicts(&notes), ["mod The agent knows better."]);
}

#[test]
fn an_overlaid_block_that_leaves_the_file_is_a_conflict_too() {
    let notes = book();
    notes.overlay("Third words, again others.", "The agent knows better.");
    notes.edit("a.md", "Third words, again others.\n", "");
    assert_eq!(conflicts(&notes), ["rem The agent knows better."]);
}

#[test]
fn a_heading_that_an_agent_renamed_is_found_by_what_the_file_called_it() {
    let notes = book();
    let id = notes.id("Part");
    notes.overlay("Part", "The part about words");
    notes.check_outline(expect_test::expect![[r#"
        a.md:
          = Book (a)
            = First words, quite a few of them. (a / Book)
            * The part about words (a / Book)
              = Second words, and many more. (a / Book / The part about words)
              = Third words, again others. (a / Book / The part about words)
    "#]]);
    notes.edit("a.md", "First words", "Other words");
    assert_eq!(notes.id("The part about words"), id);
    notes.edit("a.md", "## Part", "## **Part**");
    assert_eq!(notes.id("Part"), id);
    assert_eq!(conflicts(&notes), ["mod The part about words"]);
}

#[test]
fn an_agents_node_keeps_its_place_behind_what_the_file_adds() {
    let notes = book();
    notes.add_below("Part", "A note.");
    notes.edit("a.md", "Third words, again others.\n", "Third words, again others.\n\nFourth.\n");
    for nth in 0..40 {
        notes.edit("a.md", "Fourth.", &format!("Words {nth}.\n\nFourth."));
    }
    let outline = notes.outline();
    assert!(outline.ends_with("= Fourth. (a / Book / Part)\n      + A note. (a / Book / Part)\n"));
}

#[test]
fn an_agents_node_moves_up_when_its_parent_goes() {
    let notes = book();
    notes.add_below("Second words, and many more.", "A note.");
    notes.add_below("A note.", "A note to the note.");
    notes.edit("a.md", "## Part\n\nSecond words, and many more.", "");
    notes.check_outline(expect_test::expect![[r#"
        a.md:
          = Book (a)
            = First words, quite a few of them. (a / Book)
            = Third words, again others. (a / Book)
            + A note. (a / Book)
              + A note to the note. (a / Book / A note.)
    "#]]);
}

#[test]
fn an_agents_node_outlives_its_file() {
    let notes = book();
    notes.write("b.md", "# Other");
    notes.compile();
    notes.add_below("Part", "A note.");
    notes.remove("a.md").check_compile("0 added, 1 modified, 5 removed (6 ops)");
    for _ in 0..2 {
        assert_eq!(notes.compile().snapshot, None);
    }
    notes.check_outline(expect_test::expect![[r#"
        a.md:
          + A note. (a)
        b.md:
          = Other (b)
    "#]]);
    notes.write("a.md", BOOK).check_compile("5 added, 0 modified, 0 removed (5 ops)");
    notes.check_outline(expect_test::expect![[r#"
        a.md:
          = Book (a)
            = First words, quite a few of them. (a / Book)
            = Part (a / Book)
              = Second words, and many more. (a / Book / Part)
              = Third words, again others. (a / Book / Part)
          + A note. (a)
        b.md:
          = Other (b)
    "#]]);
    notes.remove("a.md").compile();
    notes.forget("A note.");
    assert!(!notes.outline().contains("a.md"));
}

#[test]
fn an_agents_node_goes_along_with_a_renamed_file() {
    let notes = book();
    notes.add_below("Part", "A note.");
    notes
        .write("sub/z.md", BOOK)
        .remove("a.md")
        .check_compile("0 added, 1 modified, 0 removed (1 ops)");
    assert!(notes.outline().contains("+ A note. (z / Book / Part)"), "{}", notes.outline());
}

#[test]
fn an_agents_node_goes_along_with_a_section_that_moves() {
    let notes = Notes::new();
    let section = "## Ana\n\nA paragraph of some size, long enough to be told anywhere.\n";
    notes.write("a.md", &format!("# A\n\n{section}\nGone soon.\n")).write("b.md", "# B").compile();
    notes.add_below("Ana", "A note.");
    notes.write("a.md", "# A\n").write("b.md", &format!("# B\n\n{section}")).compile();
    notes.check_outline(expect_test::expect![[r#"
        a.md:
          = A (a)
        b.md:
          = B (b)
            = Ana (b / B)
              = A paragraph of some size, long enough to be told anywhere. (b / B / Ana)
              + A note. (b / B / Ana)
    "#]]);
    notes.write("a.md", "# A\n\nwords").check_compile("1 added, 0 modified, 0 removed (1 ops)");
}

#[test]
fn a_node_that_an_agent_moves_to_another_file_does_not_come_twice() {
    let notes = book();
    notes.write("b.md", "# Other").compile();
    let (part, other) = (notes.id("Part"), notes.id("Other"));
    let back = std::cell::Cell::new(None);
    notes.agent(|batch| {
        let (part, other) = (find(batch, &part), find(batch, &other));
        back.set(Some(part.place));
        let place = batch.last_place(other.place.file, Some(other.key))?;
        batch.move_to(&part, place)
    });
    let moved = expect_test::expect![[r#"
        a.md:
          = Book (a)
            = First words, quite a few of them. (a / Book)
        b.md:
          = Other (b)
            + Part (b / Other)
              + Second words, and many more. (b / Other / Part)
              + Third words, again others. (b / Other / Part)
    "#]];
    notes.check_outline(moved);
    notes.write("b.md", "# Other\n\nwords").compile();
    notes.edit("a.md", "First words", "Other words");
    assert_eq!(notes.outline().matches("Part (").count(), 1);
    notes.agent(|batch| {
        let part = find(batch, &part);
        batch.move_to(&part, back.get().unwrap())
    });
    assert!(notes.outline().contains("= Second words, and many more. (a / Book / Part)"));
    notes.edit("a.md", "Other words", "First words");
    assert_eq!(notes.outline().matches("Part (").count(), 1);
}

#[test]
fn a_write_that_changes_nothing_makes_no_snapshot() {
    let notes = book();
    let id = notes.id("Part");
    let made = notes.agent(|batch| {
        let old = find(batch, &id);
        batch.set_agent_text(&old, &old.data())?;
        batch.move_to(&old, old.place)?;
        batch.renumber(&old, old.place.position)
    });
    assert_eq!(made, None);
}

#[test]
fn a_long_family_grows_without_being_summed_up() {
    let notes = book();
    notes.agent(|batch| {
        let mut first: Option<NodeRowId> = None;
        for nth in 0..50 {
            let parent = if nth % 3 == 0 { None } else { first };
            let place = batch.last_place(None, parent)?;
            let (key, id) = batch
                .insert_agent_node(&UnplacedNodeData::of(&node(&format!("Note {nth}"))), place)?;
            first = first.or(Some(key));
            let stored = find(batch, &id.to_string());
            batch.set_agent_text(
                &stored,
                &UnplacedNodeData::of(&node(&format!("Said again {nth}"))),
            )?;
        }
        Ok(())
    });
    let words = node("Note 3");
    let words = UnplacedNodeData::of(&words);
    notes.agent(|batch| {
        assert_eq!(
            batch.agent_nodes_with_text(&words, 9)?.len(),
            0,
            "it says something else by now"
        );
        batch.insert_agent_node(&words, batch.last_place(None, None)?).map(drop)
    });
}

#[test]
fn a_folder_whose_files_all_went_may_be_compiled_in_part_and_as_a_whole() {
    let notes = Notes::new();
    notes.write("sub/a.md", "# A\n\nwords").compile();
    notes.add_below("A", "A note.").forget("words");
    notes.remove("sub/a.md").compile();
    notes.write("sub/a.md", "# A\n\nwords");
    notes.try_compile("sub/a.md").unwrap();
    notes.compile();
    notes.check_compile("0 added, 0 modified, 0 removed (0 ops)");
    assert_eq!(notes.outline().matches("A note.").count(), 1);
    notes.remove("sub/a.md").compile();
    notes.check_compile("0 added, 0 modified, 0 removed (0 ops)");
}

#[test]
fn agent_nodes_of_a_deleted_file_follow_its_folder() {
    let notes = Notes::new();
    notes.write("sub/a.md", "# A\n\nwords").write("sub/b.md", "# B");
    notes.try_compile("sub").unwrap();
    notes.add_below("A", "A note.").forget("words");
    notes.remove("sub/a.md").try_compile("sub").unwrap();
    notes.check_compile("0 added, 2 modified, 0 removed (2 ops)");
    notes.check_compile("0 added, 0 modified, 0 removed (0 ops)");
    notes.write("sub/a.md", "# A\n\nwords").check_compile("1 added, 0 modified, 0 removed (1 ops)");
    notes.check_outline(expect_test::expect![[r#"
        sub/a.md:
          = A (a)
          + A note. (a)
        sub/b.md:
          = B (b)
    "#]]);
}
