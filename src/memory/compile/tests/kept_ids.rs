//! Tests of texts that are edited, moved or renamed, or that come back: they keep their ids.

use super::*;

#[test]
fn a_paragraph_on_top_is_one_addition() {
    let notes = Notes::new();
    notes.write("a.md", &sections(200)).compile();
    notes.write("a.md", &sections(200).replacen("# Book\n", "# Book\n\nNew on top.\n", 1));
    notes.check_compile("1 added, 0 modified, 0 removed (1 ops)");
}

#[test]
fn a_moved_section_keeps_every_id() {
    let notes = Notes::new();
    notes.write("a.md", &sections(20)).compile();
    let id = notes.id("Section 3");
    let section = "## Section 3\n\nParagraph of section 3, with words of its own.\n\n";
    let moved = sections(20).replacen(section, "", 1) + section;
    notes.write("a.md", &moved).check_compile("0 added, 1 modified, 0 removed (1 ops)");
    assert_eq!(notes.id("Section 3"), id);
}

#[test]
fn a_renamed_file_keeps_every_id() {
    let notes = Notes::new();
    notes.write("a.md", &sections(5)).write("z.md", "# Z").compile();
    let id = notes.id("Section 3");
    notes.write("sub/b.md", &sections(5)).remove("a.md");
    notes.check_compile("0 added, 1 modified, 0 removed (1 ops)");
    assert_eq!(notes.id("Section 3"), id);
    assert!(notes.nodes().iter().all(|it| !it.starts_with("a.md")));
}

#[test]
fn a_file_that_is_renamed_and_edited_keeps_its_ids() {
    let notes = Notes::new();
    notes.write("a.md", &sections(5)).compile();
    let id = notes.id("Section 3");
    notes.write("b.md", &format!("{}One more paragraph.", sections(5))).remove("a.md");
    notes.check_compile("1 added, 1 modified, 0 removed (2 ops)");
    assert_eq!(notes.id("Section 3"), id);
}

#[test]
fn text_that_moves_to_another_file_keeps_its_id() {
    let notes = Notes::new();
    let paragraph = "A paragraph of some size, long enough that it is no coincidence.";
    notes.write("a.md", &format!("# A\n\n{paragraph}")).write("b.md", "# B").compile();
    let id = notes.id(paragraph);
    notes.write("a.md", "# A").write("b.md", &format!("# B\n\n{paragraph}"));
    notes.check_compile("0 added, 1 modified, 0 removed (1 ops)");
    assert_eq!(notes.id(paragraph), id);
}

#[test]
fn a_section_that_moves_to_another_file_takes_its_short_nodes_along() {
    let notes = Notes::new();
    let section = "## Ana\n\nok\n\nA paragraph of some size, long enough to be told anywhere.";
    notes.write("a.md", &format!("# A\n\n{section}")).write("b.md", "# B").compile();
    let (heading, short) = (notes.id("Ana"), notes.id("ok"));
    notes.write("a.md", "# A").write("b.md", &format!("# B\n\n{section}"));
    notes.check_compile("0 added, 1 modified, 0 removed (1 ops)");
    assert_eq!((notes.id("Ana"), notes.id("ok")), (heading, short));
}

#[test]
fn a_b_a_is_three_snapshots_and_the_first_state_again() {
    let a = "# Title\n\nFirst paragraph.\n\nSecond paragraph, which has more words.";
    let b = "# Title\n\nSomething else altogether.\n\n## New\n\nSecond paragraph, rewritten quite.";
    let notes = Notes::new();
    notes.write("a.md", a);
    assert_eq!(notes.compile().snapshot, Some(1));
    let (nodes, fingerprint) = (notes.nodes(), notes.fingerprint());
    notes.write("a.md", b);
    assert_eq!(notes.compile().snapshot, Some(2));
    assert_ne!(notes.fingerprint(), fingerprint);
    notes.write("a.md", a);
    assert_eq!(notes.compile().snapshot, Some(3));
    assert_eq!(notes.nodes(), nodes);
    assert_eq!(notes.fingerprint(), fingerprint);
}

#[test]
fn a_file_that_comes_back_has_its_ids_back() {
    let notes = Notes::new();
    notes.write("a.md", &sections(3)).write("b.md", "# B").compile();
    let (nodes, fingerprint) = (notes.nodes(), notes.fingerprint());
    notes.remove("a.md").check_compile("0 added, 0 modified, 7 removed (7 ops)");
    notes.write("a.md", &sections(3)).check_compile("7 added, 0 modified, 0 removed (7 ops)");
    assert_eq!(notes.nodes(), nodes);
    assert_eq!(notes.fingerprint(), fingerprint);
}

#[test]
fn a_file_that_comes_back_alone_has_its_own_ids_back() {
    let notes = Notes::new();
    for path in ["a.md", "b.md", "c.md"] {
        notes.write(path, &format!("# {path}\n\nok\n"));
    }
    notes.compile();
    let nodes = notes.nodes();
    let of = |path: &str| nodes.iter().filter(|it| it.contains(path)).cloned().collect::<Vec<_>>();
    notes.remove("a.md").remove("b.md").remove("c.md");
    notes.check_compile("0 added, 0 modified, 6 removed (6 ops)");
    notes.write("b.md", "# b.md\n\nok\n").check_compile("2 added, 0 modified, 0 removed (2 ops)");
    assert_eq!(notes.nodes(), of("b.md"));
    notes.write("a.md", "# a.md\n\nok\n").write("c.md", "# c.md\n\nok\n");
    notes.check_compile("4 added, 0 modified, 0 removed (4 ops)");
    assert_eq!(notes.nodes(), nodes);
}
