//! Alignment tests: two outlines, and the matches between them.
//!
//! An outline has one node a line, two spaces a level: `## Setup` is a heading, `- item` a list,
//! `= code` code, `[list]` a list that only holds parts; the rest is text.

use std::fmt::Write as _;

use expect_test::{Expect, expect};

use super::*;

mod files;
mod headings;
mod ids;
mod random;
mod size;

/// A node that owns what [`AlignmentNode`] borrows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Owned {
    pub(super) parent: Option<usize>,
    pub(super) node_type: NodeType,
    pub(super) level: Option<u8>,
    pub(super) label: String,
    pub(super) content: String,
}

impl Owned {
    pub(super) fn known(&self) -> AlignmentNode<'_> {
        AlignmentNode {
            parent: self.parent,
            node_type: self.node_type,
            level: self.level,
            label: &self.label,
            content: &self.content,
            hash: ContentHash::of(&self.content),
        }
    }
}

pub(super) fn known(side: &[Owned]) -> Vec<AlignmentNode<'_>> {
    side.iter().map(Owned::known).collect()
}

fn outline(text: &str) -> Vec<Owned> {
    let mut side: Vec<Owned> = Vec::new();
    let mut path: Vec<usize> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let body = line.trim_start();
        path.truncate((line.len() - body.len()) / 2);
        let marks = body.bytes().take_while(|&it| it == b'#').count();
        let (node_type, level, content) = match body {
            _ if 0 < marks => (NodeType::Heading, u8::try_from(marks).ok(), body[marks..].trim()),
            "[list]" => (NodeType::List, None, ""),
            _ if body.starts_with("- ") => (NodeType::List, None, body),
            _ if body.starts_with("= ") => (NodeType::Code, None, &body[2..]),
            _ => (NodeType::Text, None, body),
        };
        let content = content.replace('/', "\n");
        let label = crate::text::label_of_text(&content);
        let parent = path.last().copied();
        path.push(side.len());
        side.push(Owned { parent, node_type, level, label, content });
    }
    side
}

/// Prints the new outline with a mark on each line, then the removed nodes. `=` is unchanged,
/// `~ old text` another text, `+` new, ` from N` another parent.
fn differences(old: &[Owned], new: &[Owned], matches: &[Option<usize>]) -> String {
    let name = |it: &Owned| match (it.level, it.content.as_str()) {
        (Some(level), text) => format!("{} {text}", "#".repeat(level.into())),
        (None, "") => "[list]".to_owned(),
        (None, text) => text.replace('\n', "/"),
    };
    let mut out = String::new();
    let mut depths: Vec<usize> = Vec::new();
    for (it, matched) in new.iter().zip(matches) {
        depths.push(it.parent.map_or(0, |parent| depths[parent] + 1));
        write!(out, "{}{}", "  ".repeat(depths[depths.len() - 1]), name(it)).unwrap();
        match matched {
            None => out.push_str("  +"),
            Some(at) if old[*at].content == it.content && old[*at].level == it.level => (),
            Some(at) => write!(out, "  ~ {}", name(&old[*at])).unwrap(),
        }
        if let Some(at) = matched {
            let parent = it.parent.map(|parent| matches[parent]);
            if parent != old[*at].parent.map(Some) {
                let before = old[*at].parent.map_or("the root".to_owned(), |it| name(&old[it]));
                write!(out, "  from {before}").unwrap();
            }
        }
        out.push('\n');
    }
    for (at, it) in old.iter().enumerate().filter(|(at, _)| !matches.contains(&Some(*at))) {
        writeln!(out, "gone: {} (line {})", name(it), at + 1).unwrap();
    }
    out
}

#[track_caller]
fn check(old: &str, new: &str, expected: Expect) {
    let (old, new) = (outline(old), outline(new));
    let matches = align(&known(&old), &known(&new), &TextHistoryIndex::default());
    expected.assert_eq(&differences(&old, &new, &matches));
    let back = align(&known(&new), &known(&old), &TextHistoryIndex::default());
    for (at, matched) in matches.iter().enumerate() {
        let there = back.iter().position(|it| *it == Some(at));
        assert_eq!(*matched, there, "the way back differs at `{}`", new[at].content);
    }
}

fn sections(n: usize) -> String {
    (0..n).fold(String::new(), |mut out, at| {
        write!(out, "  ## Part {at}\n    What part {at} says, in words.\n    TODO\n").unwrap();
        out
    })
}

#[test]
fn a_paragraph_at_the_top_leaves_200_sections_alone() {
    let old = format!("# Title\n{}", sections(200));
    let new = format!("# Title\n  A new beginning.\n{}", sections(200));
    let (old, new) = (outline(&old), outline(&new));
    let matches = align(&known(&old), &known(&new), &TextHistoryIndex::default());
    for (at, matched) in matches.iter().enumerate() {
        let expected = (at != 1).then(|| if at == 0 { 0 } else { at - 1 });
        assert_eq!(*matched, expected);
    }
}

#[test]
fn a_moved_section_keeps_every_node() {
    check(
        "# T\n  ## A\n    a\n    TODO\n  ## B\n    b\n    TODO\n  ## C\n    TODO\n    c",
        "# T\n  ## C\n    TODO\n    c\n  ## A\n    a\n    TODO\n  ## B\n    b\n    TODO",
        expect![[r#"
            # T
              ## C
                TODO
                c
              ## A
                a
                TODO
              ## B
                b
                TODO
        "#]],
    );
}

#[test]
fn a_section_under_another_heading_and_deeper_keeps_every_node() {
    check(
        "# A\n  a\n# B\n  ## C\n    c\n    TODO\n    ### D\n      d\n# E\n  TODO",
        "# A\n  a\n  ## X\n    ### C\n      c\n      TODO\n      #### D\n        d\n# B\n# E\n  TODO",
        expect![[r#"
            # A
              a
              ## X  +
                ### C  ~ ## C  from # B
                  c
                  TODO
                  #### D  ~ ### D
                    d
            # B
            # E
              TODO
        "#]],
    );
}

#[test]
fn swapped_sections_with_equal_subheadings_stay_apart() {
    check(
        "# A\n  ## Example\n    a\n  ## Notes\n# B\n  ## Example\n    b\n  ## Notes",
        "# B\n  ## Example\n    b\n  ## Notes\n# A\n  ## Example\n    a\n  ## Notes",
        expect![[r#"
            # B
              ## Example
                b
              ## Notes
            # A
              ## Example
                a
              ## Notes
        "#]],
    );
}

#[test]
fn of_equal_headings_the_one_without_its_text_is_removed() {
    check(
        "# T\n  ## Ex\n    one\n  ## Ex\n    two\n    TODO\n  ## Ex\n    three",
        "# T\n  ## Ex\n    two\n    TODO\n    more\n  ## Ex\n    three",
        expect![[r#"
            # T
              ## Ex
                two
                TODO
                more  +
              ## Ex
                three
            gone: ## Ex (line 2)
            gone: one (line 3)
        "#]],
    );
}

#[test]
fn an_edited_paragraph_is_the_same_paragraph() {
    check(
        "# T\n  one\n  The store keeps every node in a single file.\n  two",
        "# T\n  one\n  The store keeps each node in a single small file.\n  two",
        expect![[r#"
            # T
              one
              The store keeps each node in a single small file.  ~ The store keeps every node in a single file.
              two
        "#]],
    );
}

#[test]
fn an_edited_paragraph_between_new_ones_is_the_same_paragraph() {
    check(
        "# T\n  one\n  The store keeps every node in a single file.\n  two",
        "# T\n  one\n  Before it.\n  The store keeps each node in a single file.\n  After it.\n  two",
        expect![[r#"
            # T
              one
              Before it.  +
              The store keeps each node in a single file.  ~ The store keeps every node in a single file.
              After it.  +
              two
        "#]],
    );
}

#[test]
fn a_list_with_one_more_item_is_the_same_list() {
    check(
        "# T\n  - milk/- bread/- cheese",
        "# T\n  - milk/- bread/- butter/- cheese",
        expect![[r#"
        # T
          - milk/- bread/- butter/- cheese  ~ - milk/- bread/- cheese
    "#]],
    );
}

#[test]
fn a_list_that_became_too_long_for_one_node_is_the_same_list() {
    check(
        "# T\n  - milk/- bread/- cheese/- tea",
        "# T\n  [list]\n    - milk/- bread/- cheese\n    - tea/- coffee",
        expect![[r#"
            # T
              [list]  ~ - milk/- bread/- cheese/- tea
                - milk/- bread/- cheese  +
                - tea/- coffee  +
        "#]],
    );
}

#[test]
fn the_larger_half_of_a_split_paragraph_keeps_its_id() {
    check(
        "# T\n  Nodes are typed. Each has a place and a text. Labels are short.",
        "# T\n  Nodes are typed.\n  Each has a place and a text. Labels are short.",
        expect![[r#"
            # T
              Nodes are typed.  +
              Each has a place and a text. Labels are short.  ~ Nodes are typed. Each has a place and a text. Labels are short.
        "#]],
    );
}

#[test]
fn of_five_equal_paragraphs_four_stay() {
    check(
        "# T\n  TODO\n  a\n  TODO\n  b\n  TODO\n  c\n  TODO\n  TODO",
        "# T\n  TODO\n  a\n  TODO\n  b\n  c\n  TODO\n  TODO",
        expect![[r#"
            # T
              TODO
              a
              TODO
              b
              c
              TODO
              TODO
            gone: TODO (line 6)
        "#]],
    );
    check(
        "TODO\nTODO\nTODO\nTODO\nTODO",
        "TODO\nTODO\nTODO\nTODO",
        expect![[r#"
        TODO
        TODO
        TODO
        TODO
        gone: TODO (line 5)
    "#]],
    );
}

#[test]
fn replacing_everything_matches_nothing() {
    check(
        "# A\n  Apples are red.\n  - x/- y\n## B",
        "# Weather\n  It rains in the north.\n  = let it = snow;",
        expect![[r#"
            # Weather  +
              It rains in the north.  +
              let it = snow;  +
            gone: # A (line 1)
            gone: Apples are red. (line 2)
            gone: - x/- y (line 3)
            gone: ## B (line 4)
        "#]],
    );
}

#[test]
fn an_empty_side_matches_nothing() {
    check(
        "",
        "# A\n  a",
        expect![[r#"
        # A  +
          a  +
    "#]],
    );
    check(
        "# A\n  a",
        "",
        expect![[r#"
        gone: # A (line 1)
        gone: a (line 2)
    "#]],
    );
    check("", "", expect![[r#""#]]);
}

#[test]
fn children_of_a_deleted_heading_move_up() {
    check(
        "# A\n  a\n  ## B\n    b\n    c",
        "# A\n  a\n  b\n  c",
        expect![[r#"
        # A
          a
          b  from ## B
          c  from ## B
        gone: ## B (line 3)
    "#]],
    );
}

#[test]
fn types_never_mix() {
    check(
        "# T\n  milk",
        "# T\n  = milk",
        expect![[r#"
        # T
          milk  +
        gone: milk (line 2)
    "#]],
    );
}

#[test]
fn scripts_without_spaces_are_compared_by_character() {
    check(
        "# T\n  a\n  これは日本語の文章です\n  b",
        "# T\n  a\n  これは日本語の短い文章です\n  b",
        expect![[r#"
            # T
              a
              これは日本語の短い文章です  ~ これは日本語の文章です
              b
        "#]],
    );
}

#[test]
fn going_back_to_an_earlier_text_restores_the_node() {
    let old = outline("# T\n  A wholly different thing now.\n  b");
    let new = outline("# T\n  first words\n  b");
    let mut former = TextHistoryIndex::default();
    former.insert(NodeType::Text, ContentHash::of("first words"), 1);
    let matches = align(&known(&old), &known(&new), &former);
    expect![[r#"
        # T
          first words  ~ A wholly different thing now.
          b
    "#]]
    .assert_eq(&differences(&old, &new, &matches));
}

#[test]
fn a_node_whose_text_is_still_there_is_not_matched_by_its_former_text() {
    let old = outline("# T\n  what it says now\n  b");
    let new = outline("# T\n  first words\n  what it says now\n  b");
    let mut former = TextHistoryIndex::default();
    former.insert(NodeType::Text, ContentHash::of("first words"), 1);
    let matches = align(&known(&old), &known(&new), &former);
    expect![[r#"
        # T
          first words  +
          what it says now
          b
    "#]]
    .assert_eq(&differences(&old, &new, &matches));
}
