use std::fmt::Write;

use expect_test::{Expect, expect};

use proptest::prelude::*;

use super::*;

/// Prints the text as a label has it, and one line per reference.
fn outline(text: &str) -> String {
    let references = extract(text);
    let shown = strip_parameters(text);
    assert_eq!(strip_parameters(&shown), shown, "cleaning twice");
    let mut out = format!("{shown}\n");
    for reference in references {
        let Reference { label, source, id_hint, heading, alias, weight, form } = reference;
        write!(out, "  {form:?} {label:?}").unwrap();
        let parts = [("source", source), ("id", id_hint), ("heading", heading), ("alias", alias)];
        for (name, value) in parts {
            if let Some(value) = value {
                write!(out, " {name}={value:?}").unwrap();
            }
        }
        if weight != WEIGHT_DEFAULT {
            write!(out, " w={weight}").unwrap();
        }
        out.push('\n');
    }
    out
}

#[track_caller]
fn check(texts: &[&str], expected: Expect) {
    expected.assert_eq(&texts.iter().map(|text| outline(text)).collect::<String>());
}

#[test]
fn parameters_are_read_and_not_stored() {
    check(
        &[
            "See [[Setup; w=2]] and [[ Later ]].",
            "[[Label; w=2; source=docs/a.md]] [[Label; id=3kGXxidmWBp]]",
            "[[3kGXxidmWBp; w=3]] [[Development]] [[Development; id=]]",
            "[[What; why; how]] [[What; why=because]] [[a; b = c; d]]",
            "[[L; w=x]] [[L; w=-1]] [[L; w=1e3]] [[L; w=1e9]] [[L; w=NaN]] [[L; w=inf]]",
        ],
        expect![[r#"
            See [[Setup]] and [[Later]].
              Wiki "Setup" w=2
              Wiki "Later"
            [[Label]] [[Label]]
              Wiki "Label" source="docs/a.md" w=2
              Wiki "Label" id="3kGXxidmWBp"
            [[3kGXxidmWBp]] [[Development]] [[Development]]
              Wiki "3kGXxidmWBp" id="3kGXxidmWBp" w=3
              Wiki "Development" id="Development"
              Wiki "Development"
            [[What; why; how]] [[What]] [[a]]
              Wiki "What; why; how"
              Wiki "What"
              Wiki "a"
            [[L]] [[L]] [[L]] [[L]] [[L]] [[L]]
              Wiki "L"
              Wiki "L" w=0
              Wiki "L" w=1000
              Wiki "L" w=1000
              Wiki "L"
              Wiki "L"
        "#]],
    );
}

#[test]
fn code_and_loose_brackets_are_no_references() {
    check(
        &[
            "[[]] [[ ]] [[;w=2]] [[a] b]] [[open",
            "[[[X]]] [[a [[b]] c]]",
            "`[[code]]` ``[[a` b]]`` \\[[escaped]] `[[not closed]]",
            "```\n[[fenced]]\n```\n[[after]]\n~~~\n[[never closed]]",
            "<code>[[x]]</code> <!-- [[y]] --> <pre class=a>[[z]]</pre> <code>[[w]]",
        ],
        expect![[r#"
            [[]] [[ ]] [[;w=2]] [[a] b]] [[open
            [[[X]]] [[a [[b]] c]]
              Wiki "X"
              Wiki "b"
            `[[code]]` ``[[a` b]]`` \[[escaped]] `[[not closed]]
              Wiki "not closed"
            ```
            [[fenced]]
            ```
            [[after]]
            ~~~
            [[never closed]]
              Wiki "after"
            <code>[[x]]</code> <!-- [[y]] --> <pre class=a>[[z]]</pre> <code>[[w]]
              Wiki "w"
        "#]],
    );
}

#[test]
fn headings_aliases_and_marks_are_distinct() {
    check(
        &[
            "[[file#Heading|alias]] ![[image.png]] [[#Here]] [[a#b#c]] [[C#]] [[C# basics]]",
            "[[*x*]] [[`code`]] [[The **big** one]] [[http://example.com/a_b]] [[a\\_b]]",
            "| [[A\\|alias]] | [[B; w=2|b]] | [[C|c; w=3]] |",
            "| [[A; w=2\\|alias]] | [[B|\\|; w=2]] | [[C \\; w=2|c]] |",
            "[[two\nlines]]",
        ],
        expect![[r#"
            [[file#Heading|alias]] ![[image.png]] [[#Here]] [[a#b#c]] [[C#]] [[C# basics]]
              Wiki "file" heading="Heading" alias="alias"
              Embed "image.png"
              Wiki "Here"
              Wiki "a" heading="c"
              Wiki "C#"
              Wiki "C# basics"
            [[*x*]] [[`code`]] [[The **big** one]] [[http://example.com/a_b]] [[a\_b]]
              Wiki "x"
              Wiki "code"
              Wiki "The big one"
              Wiki "http://example.com/a_b"
              Wiki "a_b"
            | [[A\|alias]] | [[B|b]] | [[C|c]] |
              Wiki "A" alias="alias"
              Wiki "B" alias="b" w=2
              Wiki "C" alias="c" w=3
            | [[A\|alias]] | [[B|\|]] | [[C\|c]] |
              Wiki "A" alias="alias" w=2
              Wiki "B" alias="|" w=2
              Wiki "C \\" alias="c" w=2
            [[two
            lines]]
              Wiki "two lines"
        "#]],
    );
}

#[test]
fn knowledge_becomes_a_reference() {
    check(
        &[
            "<knowledge weight=\"2.5\" source='a b.md' id=3kGXxidmWBp>My <b>label</b></knowledge>!",
            "<KNOWLEDGE>A &amp; B; w=3</KNOWLEDGE> <knowledge></knowledge> <knowledges>x</knowledges>",
            "<knowledge>[[x]]</knowledge> <knowledge w=nan>y</knowledge> <knowledge>open",
        ],
        expect![[r#"
            <knowledge weight="2.5" source='a b.md' id=3kGXxidmWBp>My <b>label</b></knowledge>!
              Knowledge "My label" source="a b.md" id="3kGXxidmWBp" w=2.5
            <KNOWLEDGE>A &amp; B; w=3</KNOWLEDGE> <knowledge></knowledge> <knowledges>x</knowledges>
              Knowledge "A & B" w=3
            <knowledge>[[x]]</knowledge> <knowledge w=nan>y</knowledge> <knowledge>open
              Knowledge "((x))"
              Knowledge "y"
        "#]],
    );
}

#[test]
fn relative_links_are_references_and_stay_as_written() {
    check(
        &[
            "[x](other.md#h) [**y**](../a%20b.md \"title\") [](sub/c.md) [here](#part-two)",
            "[u](https://example.com/a.md) [m](mailto:a@b) [r](/root.md) ![i](i.png) [e]() [n](a b)",
            "[a](<b c.md>) [p](x_(y).md) [o](a.md [[W]] [q](z.md?raw=1#f)",
            "[outer [inner](in.md)](out.md)",
        ],
        expect![[r#"
            [x](other.md#h) [**y**](../a%20b.md "title") [](sub/c.md) [here](#part-two)
              Markdown "x" source="other.md" heading="h"
              Markdown "y" source="../a b.md"
              Markdown "c.md" source="sub/c.md"
              Markdown "here" heading="part-two"
            [u](https://example.com/a.md) [m](mailto:a@b) [r](/root.md) ![i](i.png) [e]() [n](a b)
            [a](<b c.md>) [p](x_(y).md) [o](a.md [[W]] [q](z.md?raw=1#f)
              Markdown "a" source="b c.md"
              Markdown "p" source="x_(y).md"
              Wiki "W"
              Markdown "q" source="z.md" heading="f"
            [outer [inner](in.md)](out.md)
              Markdown "inner" source="in.md"
        "#]],
    );
}

#[test]
fn hostile_repetition_costs_linear_time() {
    let pieces = [
        "[[",
        "[",
        "]](",
        "[a](",
        "`",
        "``` ",
        "`` ` ",
        "<knowledge>",
        "<knowledge ",
        "<code>",
        "<!--",
        "[[a;",
        "[[a|",
        "~~~\n",
        "```\n",
        "[](<",
        "[a](b \"",
        "\\",
        "[[\u{0}",
        "> > ```\n",
        "](a",
        "[a](((((",
        "**`",
        "[[a]]",
    ];
    // With more than linear work, this would not end.
    for piece in pieces {
        crate::fuzzing::link::link(piece.repeat(20_000 / piece.len()).as_bytes());
    }
}

#[test]
fn a_typed_name_of_many_marks_costs_linear_time() {
    // With more than linear work, this would not end.
    for mark in ["_", "* "] {
        let marks = mark.repeat(800_000 / mark.len());
        let name = parse_typed_name(&format!("{marks}a{}", marks.trim())).map(|it| it.label);
        assert!(name.is_some_and(|it| it.ends_with('a')), "{mark}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn promises_hold_for_any_text(data in proptest::collection::vec(any::<u8>(), 0..40)) {
        crate::fuzzing::link::link(&data);
    }
}

#[test]
fn a_label_that_was_cut_loses_its_parameters() {
    assert_eq!(strip_parameters("See [[Long name; w=2; sour…"), "See [[Long name…");
    assert_eq!(strip_parameters("[[a; w=1]] [[b; w=…"), "[[a]] [[b…");
    assert_eq!(strip_parameters("[[What; why; h…"), "[[What; why; h…");
}
