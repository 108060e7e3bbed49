//! Tests of headings that were renamed, replaced or moved to another level.

use expect_test::expect;

use super::check;

#[test]
fn a_renamed_heading_is_the_same_heading() {
    check(
        "# T\n  ## Setup\n    Run make.\n    = make\n  ## Use\n    Use it.",
        "# T\n  ## Installation\n    Run make.\n    = make\n  ## Use\n    Use it.",
        expect![[r#"
            # T
              ## Installation  ~ ## Setup
                Run make.
                make
              ## Use
                Use it.
        "#]],
    );
}

#[test]
fn a_renamed_heading_over_nothing_but_todos_is_the_same_heading() {
    check(
        "# Foo\n  TODO\n# Setup\n  TODO\n  TODO\n# Use\n  u",
        "# Installation\n  TODO\n  TODO\n# Use\n  u",
        expect![[r#"
            # Installation  ~ # Setup
              TODO
              TODO
            # Use
              u
            gone: # Foo (line 1)
            gone: TODO (line 2)
        "#]],
    );
}

#[test]
fn a_renamed_title_keeps_the_file_together() {
    check(
        "# Old title\n  intro\n  ## A\n    a\n  ## B",
        "# Something else\n  intro\n  ## A\n    a\n  ## B\n    b",
        expect![[r#"
            # Something else  ~ # Old title
              intro
              ## A
                a
              ## B
                b  +
        "#]],
    );
}

#[test]
fn a_renamed_heading_whose_text_was_edited_too_is_the_same_heading() {
    check(
        "# T\n  ## Setup\n    Run make in the root of the project first.\n  ## Use\n    u",
        "# T\n  ## Installation\n    Run make in the root of the repository first.\n  ## Use\n    u",
        expect![[r#"
            # T
              ## Installation  ~ ## Setup
                Run make in the root of the repository first.  ~ Run make in the root of the project first.
              ## Use
                u
        "#]],
    );
}

#[test]
fn an_empty_heading_renamed_between_neighbours_is_the_same_heading() {
    check(
        "# A\n# Setup\n# B",
        "# A\n# Installation\n# B",
        expect![[r#"
        # A
        # Installation  ~ # Setup
        # B
    "#]],
    );
}

#[test]
fn a_replaced_section_is_a_new_one() {
    check(
        "# A\n# Prices\n  Two euros a piece.\n# B",
        "# A\n# Weather\n  Rain, and more rain tomorrow.\n# B",
        expect![[r#"
            # A
            # Weather  +
              Rain, and more rain tomorrow.  +
            # B
            gone: # Prices (line 2)
            gone: Two euros a piece. (line 3)
        "#]],
    );
}

#[test]
fn a_heading_of_another_level_is_the_same_heading() {
    check(
        "# A\n  a\n  ## B\n    b\n  ## C\n    c",
        "# A\n  a\n# B\n  b\n  ## C\n    c",
        expect![[r#"
            # A
              a
            # B  ~ ## B  from # A
              b
              ## C  from # A
                c
        "#]],
    );
}

#[test]
fn case_marks_and_punctuation_do_not_rename_a_heading() {
    check(
        "# T\n  ## Quick start:\n    a",
        "# T\n  ## *Quick*  Start\n    b",
        expect![[r#"
        # T
          ## *Quick*  Start  ~ ## Quick start:
            b  +
        gone: a (line 3)
    "#]],
    );
}
