use super::*;
use crate::model::clock::UnixMillis;
use crate::model::tree::NodeType;

fn memory(content: &str, tags: &[&str]) -> TypedMemory {
    TypedMemory {
        id: "00000000-0000-4000-8000-000000000001".to_owned(),
        memory_type: NodeType::Learning,
        content: content.to_owned(),
        category: "insight".to_owned(),
        created_at: UnixMillis(0),
        updated_at: UnixMillis(0),
        accessed_at: UnixMillis(0),
        access_count: 0,
        tags: tags.iter().map(|it| (*it).to_owned()).collect(),
        importance: "medium".to_owned(),
        archived: false,
        task_metadata: None,
    }
}

#[track_caller]
fn check(content: &str, tags: &[&str], expected: expect_test::Expect) {
    let shown = render_memory(&memory(content, tags)).plain();
    assert!(shown.lines().all(|it| columns(it) <= 80), "{shown}");
    expected.assert_eq(&shown);
}

#[test]
fn long_texts_are_wrapped_in_80_columns() {
    use expect_test::expect;
    check(
        "Short.",
        &[],
        expect![[r#"
            [learning] Short.
              00000000-0000-4000-8000-000000000001 insight · medium · 1970-01-01
        "#]],
    );
    check(
        &"Words of a text that goes on. ".repeat(30),
        &["a", "b"],
        expect![[r#"
            [learning] Words of a text that goes on. Words of a text that goes on. Words
                of a text that goes on. Words of a text that goes on. Words of a text that
                goes on. Words of a text that goes on. Words of a text that goes on. Words
                of a text that goes on. Words of a text that goes on. Words of a text that …
              00000000-0000-4000-8000-000000000001 insight · medium · 1970-01-01
              #a #b
        "#]],
    );
    check(
        &"長い文".repeat(40),
        &[&"標".repeat(30), &"語".repeat(30)],
        expect![[r#"
            [learning]
                長い文長い文長い文長い文長い文長い文長い文長い文長い文長い文長い文長い文長い
                文長い文長い文長い文長い文長い文長い文長い文長い文長い文長い文長い文長い文長
                い文長い文長い文長い文長い文長い文長い文長い文長い文長い文長い文長い文長い…
              00000000-0000-4000-8000-000000000001 insight · medium · 1970-01-01
              #標標標標標標標標標標標標標標標標標標標標標標標標標標標標標標
                #語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語
        "#]],
    );
    check(
        &format!("a {} b", "x".repeat(100)),
        &[],
        expect![[r#"
            [learning] a
                xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
                xxxxxxxxxxxxxxxxxxxxxxxx b
              00000000-0000-4000-8000-000000000001 insight · medium · 1970-01-01
        "#]],
    );
}

#[test]
fn no_text_or_tag_can_be_taken_for_facts() {
    let fake = "00000000-0000-4000-8000-00000000000f fact · high · 2026-01-01";
    let mut odd = memory(&format!("{} {fake}", "x".repeat(60)), &[&format!("a {fake} {fake}")]);
    odd.category = "insight · high (id=ZZZZZZZZZZZ)".to_owned();
    expect_test::expect![[r#"
        [learning] xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            00000000-0000-4000-8000-00000000000f fact · high · 2026-01-01
          00000000-0000-4000-8000-000000000001 insight - high (id =ZZZZZZZZZZZ) · med…
          #a 00000000-0000-4000-8000-00000000000f fact · high · 2026-01-01
            00000000-0000-4000-8000-00000000000f fact · high · 2026-01-01
    "#]]
    .assert_eq(&render_memory(&odd).plain());
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let mut odd = memory("a\x1b[2J\nb\u{9b}c\rd", &["\x1b]0;x\x07"]);
    odd.category = "\x1b[1m".to_owned();
    let shown = render_memory(&odd).plain();
    assert!(!shown.contains(|it: char| it.is_control() && it != '\n'), "{shown:?}");
}
