//! Tests of files whose names are equal once they are redacted.

use super::*;

#[test]
fn files_that_become_namesakes_stay_distinct() {
    let old = Old::new();
    let other = KEY.replace('Q', "P");
    old.write(&format!("{KEY}.md"), "one\n").write(&format!("{other}.md"), "two\n");
    old.compile("first");
    old.redact();
    expect_test::expect![[r#"
        Text("«redacted:aws_access_key».md")
        Text("«redacted:aws_access_key».md (2)")
    "#]]
    .assert_eq(&old.rows("SELECT path FROM file ORDER BY path"));
    old.assert_clean(&[KEY, &other]);
}

/// Returns a redactor of names that no detector knew when they were compiled.
fn of_tickets() -> Redactor {
    let custom = CustomKind { kind: "ticket".to_owned(), pattern: r"TICKET-\d+".to_owned() };
    Redactor::new(&[], &[custom]).unwrap()
}

/// Returns the number of nodes that a compile added, modified and removed.
fn changes_of(old: &Old) -> [usize; 3] {
    changes_at(old, &old.dir.path().join("notes"))
}

/// Returns the same of a compile of one file.
fn changes_at(old: &Old, path: &Path) -> [usize; 3] {
    let Report { added, modified, removed, warnings, .. } =
        old.compile_at(path, of_tickets(), "again");
    assert_eq!(warnings, []);
    old.check_health();
    [added, modified, removed]
}

/// Texts of one length, in files that were changed at one time.
fn two_tickets() -> Old {
    let old = Old::new();
    for name in ["TICKET-1.md", "TICKET-2.md"] {
        old.write(name, format!("It is about {name}.\n").replace("TICKET-", "number "));
        old.touch(name);
    }
    old
}

const PATHS_AND_TEXTS: &str = "
    SELECT path, content FROM node JOIN file ON file.id = node.file ORDER BY path, node.key";

#[test]
fn files_that_became_namesakes_are_found_again() {
    let old = two_tickets();
    old.compile("first");
    redact(&old.db(), &of_tickets(), RedactionMode::Rewrite).unwrap();
    let before = old.rows(PATHS_AND_TEXTS);
    assert_eq!(changes_of(&old), [0, 0, 0]);
    // A new one comes, whose name is before theirs.
    old.write("TICKET-0.md", "It is new.\n");
    assert_eq!(changes_of(&old), [1, 0, 0]);
    let after = old.rows(PATHS_AND_TEXTS);
    assert!(after.starts_with(&before), "{after}");
    // One changes, and one is deleted.
    old.write("TICKET-2.md", "It is about another number.\n");
    assert_eq!(changes_of(&old), [0, 1, 0]);
    fs::remove_file(old.dir.path().join("notes/TICKET-1.md")).unwrap();
    assert_eq!(changes_of(&old), [0, 0, 1]);
    expect_test::expect![[r#"
        Text("«redacted:ticket».md (2)") | Text("It is about another number.")
        Text("«redacted:ticket».md (3)") | Text("It is new.")
    "#]]
    .assert_eq(&old.rows(PATHS_AND_TEXTS));
}

#[test]
fn a_namesake_of_a_deleted_file_keeps_its_nodes() {
    let old = two_tickets();
    old.compile("first");
    fs::remove_file(old.dir.path().join("notes/TICKET-1.md")).unwrap();
    old.compile("second");
    redact(&old.db(), &of_tickets(), RedactionMode::Rewrite).unwrap();
    assert_eq!(changes_of(&old), [0, 0, 0]);
    expect_test::expect![[r#"
        Text("«redacted:ticket».md (2)") | Text("It is about number 2.md.")
    "#]]
    .assert_eq(&old.rows(PATHS_AND_TEXTS));
}

/// Of several, the one that is named is compiled, and no other is taken for deleted.
#[test]
fn a_single_namesake_is_compiled() {
    let old = two_tickets();
    let [first, second] =
        ["TICKET-1.md", "TICKET-2.md"].map(|it| old.dir.path().join("notes").join(it));
    assert_eq!(changes_at(&old, &first), [1, 0, 0]);
    assert_eq!(changes_at(&old, &second), [1, 0, 0]);
    assert_eq!(changes_at(&old, &second), [0, 0, 0]);
    old.write("TICKET-2.md", "It is about another number.\n");
    assert_eq!(changes_at(&old, &second), [0, 1, 0]);
    fs::remove_file(&first).unwrap();
    assert_eq!(changes_at(&old, &first), [0, 0, 1]);
    fs::remove_file(&second).unwrap();
    assert_eq!(changes_at(&old, &second), [0, 0, 1]);
}

#[test]
fn files_whose_names_are_equal_from_the_start_are_all_compiled() {
    let old = two_tickets();
    assert_eq!(changes_of(&old), [2, 0, 0]);
    let before = old.rows(PATHS_AND_TEXTS);
    assert_eq!(before.lines().count(), 2, "{before}");
    assert_eq!(changes_of(&old), [0, 0, 0]);
    assert_eq!(old.rows(PATHS_AND_TEXTS), before);
}
