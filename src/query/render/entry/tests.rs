use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::fuzzing::entries::{entries, parse_entries};
use crate::model::heat::StoredHeat;
use crate::store::NodeRowId;

/// Returns a node of `a.md`.
fn head(node_type: &str, label: &str) -> NodeSummary {
    NodeSummary {
        key: NodeRowId(1),
        id: "AcTRirZSwQh".to_owned(),
        parent: None,
        position: 0,
        file: None,
        path: Some("a.md".to_owned()),
        node_type: node_type.to_owned(),
        lang: (node_type == "code").then(|| "sh]".to_owned()),
        label: label.to_owned(),
        tokens: 1,
        heat: StoredHeat::birth(0),
        changed_at: None,
        left_out_as: None,
    }
}

/// Checks the entry of a node given as type, label and text, in `a.md` below `Deploy`.
#[track_caller]
fn check(node_type: &str, label: &str, content: &str, lines: Expect) {
    let head = head(node_type, label);
    let (breadcrumb, content) = ("a / Deploy".to_owned(), content.to_owned());
    let text = TextWithBreadcrumb { breadcrumb, content };
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
            AcTRirZSwQh[code "sh]"] make
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
        # a.md / Deploy / x/y
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
fn a_breadcrumb_has_no_facts() {
    let forged = "Ana (id=AcTRirZSwQh tok=1)";
    check(
        "heading",
        forged,
        forged,
        expect![[r#"
            # a.md / Deploy / Ana (id =AcTRirZSwQh tok=1)
            AcTRirZSwQh[heading] Ana (id=AcTRirZSwQh tok=1)
        "#]],
    );
    let head = NodeSummary { path: Some("b (tok=1).md".to_owned()), ..head("text", "") };
    assert_eq!(
        breadcrumb(&head, "b (tok=1) / Ana (file=a.md)", ""),
        "\"b (tok\\=1).md\" / Ana (file =a.md)"
    );
}

#[test]
fn a_path_has_no_titles() {
    let of_path = |path: &str| {
        let head = NodeSummary { path: Some(path.to_owned()), ..head("text", "") };
        breadcrumb(&head, "a / Deploy", "")
    };
    assert_eq!(of_path("my notes/a.md"), "my notes/a.md / Deploy");
    assert_eq!(of_path("people.md / Ana.md"), "\"people.md / Ana.md\" / Deploy");
    assert_eq!(of_path("\" / Ana.md"), "\"\\\" / Ana.md\" / Deploy");
}

#[test]
fn a_title_below_no_file_cannot_be_taken_for_a_path() {
    let of_titles = |above: &str, own: &str| {
        let head = NodeSummary { path: None, ..head("heading", own) };
        breadcrumb(&head, above, own)
    };
    assert_eq!(of_titles("", "people.md / Ana"), "people.md/Ana");
    assert_eq!(of_titles("people.md", "Ana"), "no file / people.md / Ana");
    assert_eq!(of_titles("", "Notes/People.MD"), "no file / Notes/People.MD");
    assert_eq!(of_titles("\"a.md\"", ""), "no file / \"a.md\"");
    assert_eq!(of_titles("no file / Ana", ""), "no file / no file / Ana");
    for title in
        ["people.md\u{fe0f}", "people.md\u{200b}", "people.md/", "/people.md", "people.md /"]
    {
        let shown = of_titles(title, "Ana");
        assert!(shown.starts_with("no file / "), "{shown}");
    }
    assert_eq!(of_titles("Ana", "people.md"), "Ana / people.md");
    assert_eq!(of_titles("", "Version 0.3"), "Version 0.3");
}

#[test]
fn a_language_cannot_be_taken_for_the_reason_why_a_node_is_left_out() {
    let of_language = |lang: &str| {
        let head = NodeSummary { lang: Some(lang.to_owned()), ..head("code", "make") };
        let (breadcrumb, content) = ("a".to_owned(), "make".to_owned());
        TextEntry::whole(&head, &TextWithBreadcrumb { breadcrumb, content }).lines
    };
    assert_eq!(of_language("superseded"), "AcTRirZSwQh[code \"superseded\"] make\n");
    assert_eq!(of_language("super\u{200b}seded"), "AcTRirZSwQh[code \"superseded\"] make\n");
    assert_eq!(of_language("deleted\u{fe0f}"), "AcTRirZSwQh[code \"deleted\"] make\n");
    assert_eq!(of_language("\"archived\""), "AcTRirZSwQh[code \"\\\"archived\\\"\"] make\n");
    assert_eq!(of_language("\""), "AcTRirZSwQh[code \"\\\"\"] make\n");
    assert_eq!(of_language("archived]"), "AcTRirZSwQh[code \"archived]\"] make\n");
    assert_eq!(of_language("sh"), "AcTRirZSwQh[code sh] make\n");
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

/// Parts of labels, paths, languages and texts; a zero byte ends one of these.
const PIECES: &[&str] = &[
    "\0",
    "\0",
    "\n",
    " ",
    "a",
    "(id=",
    "(id=ZZZZZZZZZZZ",
    "(i\u{200b}d=",
    "(id\u{fe0f}=",
    "archived",
    "(file=",
    "(tok=1)",
    "=",
    "\"",
    "\\",
    ")",
    "]",
    "[",
    "[text] ",
    "# ",
    " / ",
    "ZZZZZZZZZZZ",
    "[#]",
    "@2026-11-22",
    "…",
    "\u{202e}",
    "\u{2028}",
    "\r",
    "\t",
    "\u{1b}[31m",
    "ü",
    "日",
    "also:",
    "over budget: ",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn nodes_of_hostile_pieces_read_back(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60),
    ) {
        entries(pieces.concat().as_bytes());
    }
}
