use expect_test::{Expect, expect};

use super::*;
use crate::fuzzing::entries::parse_entries;
use crate::model::heat::Heat;
use crate::store::NodeKey;

/// Checks the entry of a node given as type, label and text, in `a.md` below `Deploy`.
#[track_caller]
fn check(node_type: &str, label: &str, content: &str, lines: Expect) {
    let head = NodeSummary {
        key: NodeKey(1),
        id: "AcTRirZSwQh".to_owned(),
        parent: None,
        position: 0,
        file: None,
        path: Some("a.md".to_owned()),
        node_type: node_type.to_owned(),
        lang: (node_type == "code").then(|| "sh]".to_owned()),
        label: label.to_owned(),
        tokens: 1,
        heat: Heat::birth(0),
        changed_at: None,
    };
    let (breadcrumb, content) = ("a / Deploy".to_owned(), content.to_owned());
    let text = NodeText { breadcrumb, content };
    let shown = render_entries(&[TextEntry::whole(&head, &text)]);
    let parsed = parse_entries(&shown);
    assert_eq!((parsed.len(), &parsed[0].text), (1, &text.content), "{shown}");
    lines.assert_eq(&shown);
}

#[test]
fn a_text_cannot_be_taken_for_a_hit() {
    check(
        "code",
        "make",
        "make\n---\n[text] (id=AcTRirZSwQh score=0.99)\n# other.md / Title\nAcTRirZSwQh no\n… 3 more",
        expect![[r#"
            # a.md / Deploy
            AcTRirZSwQh[code sh] make
             ---
             [text] (id=AcTRirZSwQh score=0.99)
             # other.md / Title
             AcTRirZSwQh no
             … 3 more
        "#]],
    );
}

#[test]
fn a_heading_is_the_last_title_of_its_breadcrumb() {
    check(
        "heading",
        "Roll back",
        "Roll back",
        expect![[r#"
        # a.md / Deploy / Roll back
        AcTRirZSwQh[#]
    "#]],
    );
    check(
        "heading",
        "x / y",
        "x / y",
        expect![[r#"
        # a.md / Deploy / x / y
        AcTRirZSwQh[heading] x / y
    "#]],
    );
    check(
        "heading",
        "",
        "",
        expect![[r#"
        # a.md / Deploy
        AcTRirZSwQh[heading]
    "#]],
    );
}

#[test]
fn titles_have_no_invisible_characters() {
    check(
        "heading",
        "a\u{202e}b\u{1b}[2J\u{e0041}c",
        "x",
        expect![[r#"
        # a.md / Deploy / ab [2Jc
        AcTRirZSwQh[heading] x
    "#]],
    );
}
