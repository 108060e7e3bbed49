//! Tests of blocks that were forgotten in the memory, and are still in their files.

use super::*;

#[test]
fn a_forgotten_block_stays_forgotten_until_it_changes() {
    let notes = book();
    notes.forget("Second words, and many more.");
    notes.edit("a.md", "First words", "Other words");
    assert!(!notes.outline().contains("Second"));
    notes.edit("a.md", "Second words, and many more.", "Second words, and even more.");
    assert!(notes.outline().contains("= Second words, and even more."));
    notes.edit("a.md", "Second words, and even more.", "Second words, and many more.");
    assert!(notes.outline().contains("= Second words, and many more."));
}

#[test]
fn nodes_below_a_forgotten_heading_follow_their_file() {
    let notes = book();
    let id = notes.id("Third words, again others.");
    notes.forget("Part");
    notes.edit("a.md", "Third words, again others.", "Third words, and again others.");
    assert_eq!(notes.id("Third words, and again others."), id);
    notes.check_outline(expect_test::expect![[r#"
        a.md:
          = Book (a)
            = First words, quite a few of them. (a / Book)
            = Second words, and many more. (a / Book)
            = Third words, and again others. (a / Book)
    "#]]);
}

#[test]
fn of_equal_blocks_the_forgotten_one_stays_forgotten() {
    let notes = Notes::new();
    let release = |nth: u32, fixed: &str| {
        format!("## Release {nth}\n\n### Added\n\nThing {nth}.\n\n### Fixed\n\n{fixed}\n\n")
    };
    let log = |from: u32| -> String {
        "# Log\n\n".to_owned()
            + &(1..=from).rev().map(|it| release(it, "Same.")).collect::<String>()
    };
    notes.write("a.md", &log(3)).compile();
    let listed = |notes: &Notes| notes.outline().replace("= ", "").replace("\n    ", "\n");
    // The second of the three, its text first.
    let second = notes.nodes().iter().filter(|it| it.ends_with(" Fixed")).nth(1).unwrap().clone();
    let text = notes.nodes().iter().filter(|it| it.ends_with(" Same.")).nth(1).unwrap().clone();
    for line in [text, second] {
        let id = line.split(' ').nth(1).unwrap().to_owned();
        notes.agent(|batch| forget(batch, &id));
    }
    let expected = "Release 2 (a / Log)\n  Added (a / Log / Release 2)\n    \
                    Thing 2. (a / Log / Release 2 / Added)\nRelease 1";
    assert!(listed(&notes).contains(expected), "{}", listed(&notes));
    for n in [4, 7, 3, 5] {
        let report = notes.write("a.md", &log(n)).compile();
        assert!(listed(&notes).contains(expected), "{n}: {}", listed(&notes));
        assert_eq!(notes.outline().matches("Same.").count(), n as usize - 1, "{report}");
    }
}

#[test]
fn one_of_two_equal_blocks_may_leave_and_the_other_stays_what_it_is() {
    for (left, is_shown) in [("x\n\nsame", false), ("same\n\nx", true)] {
        let notes = Notes::new();
        notes.write("a.md", "same\n\nx\n\nsame\n").compile();
        let last = notes.nodes().last().unwrap().split(' ').nth(1).unwrap().to_owned();
        notes.agent(|batch| forget(batch, &last));
        notes.write("a.md", left).compile();
        assert_eq!(notes.outline().contains("same"), is_shown, "{left}: {}", notes.outline());
    }
}

#[test]
fn an_equal_block_that_is_new_gets_an_id_of_its_own() {
    let notes = Notes::new();
    notes.write("a.md", "one\n\ntwo\n").compile();
    let id = notes.id("one");
    notes.forget("one");
    notes.write("a.md", "one\n\ntwo\n\none\n").compile();
    assert_ne!(notes.id("one"), id);
    notes.check_compile("0 added, 0 modified, 0 removed (0 ops)");
}

#[test]
fn a_renamed_file_takes_its_tombstones_along_even_if_all_of_it_was_forgotten() {
    let notes = book();
    for label in ["Third words, again others.", "Second words, and many more.", "Part"] {
        notes.forget(label);
    }
    notes
        .write("b.md", BOOK)
        .remove("a.md")
        .check_compile("0 added, 1 modified, 0 removed (1 ops)");
    notes.forget("First words, quite a few of them.").forget("Book");
    notes
        .write("c.md", BOOK)
        .remove("b.md")
        .check_compile("0 added, 0 modified, 0 removed (0 ops)");
    assert_eq!(notes.outline(), "");
}

#[test]
fn a_file_that_comes_back_stays_forgotten_in_part() {
    let notes = book();
    notes.write("b.md", "# B").compile();
    notes.forget("Part");
    let outline = notes.outline();
    notes.remove("a.md").compile();
    assert_eq!(notes.compile().snapshot, None);
    notes.write("a.md", BOOK).compile();
    assert_eq!(notes.outline(), outline);
}

#[test]
fn a_restored_node_belongs_to_its_file_again() {
    let notes = book();
    let before = (notes.nodes(), notes.fingerprint());
    let id = notes.id("Second words, and many more.");
    let old = std::cell::RefCell::new(None);
    notes.agent(|batch| {
        *old.borrow_mut() = Some(find(batch, &id));
        forget(batch, &id)
    });
    let old = old.into_inner().unwrap();
    notes.agent(|batch| batch.restore_node(old.id, &old.data(), old.place).map(drop));
    assert_eq!((notes.nodes(), notes.fingerprint()), before);
    assert!(notes.outline().contains("= Second words"));
    notes.edit("a.md", "Second words, and many more.", "Second words, and even more.");
    assert_eq!(notes.id("Second words, and even more."), id);
}
