use std::fmt::Write as _;

use expect_test::{Expect, expect, expect_file};
use proptest::prelude::*;

use super::{Parsed, Syntax, decode, parse};

fn render(parsed: &Parsed) -> String {
    let mut out = parsed.tree.to_string().replace('\r', "␍");
    for warning in &parsed.warnings {
        writeln!(out, "warning: line {}: {}", warning.line, warning.what).unwrap();
    }
    out
}

#[track_caller]
fn check(src: &str, tree: Expect) {
    tree.assert_eq(&render(&parse(Syntax::Markdown, src)));
}

#[test]
fn every_example_parses_to_the_tree_beside_it() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/markdown");
    let mut n = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|it| it == "md") {
            let bytes = std::fs::read(&path).unwrap();
            let (text, mut warnings) = decode(&bytes);
            let mut parsed = parse(Syntax::Markdown, &text);
            warnings.append(&mut parsed.warnings);
            parsed.warnings = warnings;
            expect_file![path.with_extension("tree")].assert_eq(&render(&parsed));
            n += 1;
        }
    }
    assert!(10 <= n, "{n} examples");
}

#[test]
fn an_empty_file_has_no_nodes() {
    check("", expect![[""]]);
    check(" \n\n\t\n", expect![[""]]);
}

#[test]
fn an_empty_heading_closes_its_own_level() {
    check(
        "# A\n## B\n##\nx\n# C\n",
        expect![[r#"
        [heading 1] A
          [heading 2] B
          [text] x
        [heading 1] C
    "#]],
    );
}

#[test]
fn headings_may_skip_levels_both_ways() {
    check(
        "### Deep\n# Top\n###### Deeper\n## Mid\n",
        expect![[r#"
        [heading 3] Deep
        [heading 1] Top
          [heading 6] Deeper
          [heading 2] Mid
    "#]],
    );
}

#[test]
fn code_is_kept_byte_for_byte() {
    check(
        "```\n\n\tx  \n\n```\n\n~~~\n\r\n\n~~~\n",
        expect![[r#"
            [code] Code: x
              | 
              | 	x  
              | 
            [code] Code
              | ␍
              | 
        "#]],
    );
    check(
        "> ```\n>  a\n>\n> b\n> ```\n",
        expect![[r#"
        [text] Quote
          | 
          [code] Code: a
            |  a
            | 
            | b
    "#]],
    );
    check(
        "  ```\n   one less two\n  ```",
        expect![[r#"
        [code] Code: one less two
          |  one less two
    "#]],
    );
}

#[test]
fn a_pipe_in_a_wikilink_ends_no_cell() {
    check(
        "|a|b|\n|-|-|\n|[[P|x]]|`[[Q|y]]`|\n\n    [[in|code]]\n",
        expect![[r#"
        [table] Table: a, b (1 row)
          | a	b
          | [[P|x]]	`[[Q|y]]`
        [code] Code: [[in|code]]
          | [[in|code]]
    "#]],
    );
}

#[test]
fn a_definition_that_nothing_uses_is_text() {
    check(
        "- [a]\n- x\n\n  [gone]: /1\n\n[a]: /2\n[a]: /3\n\n> [quoted]: /4 'T'\n",
        expect![[r#"
        [list] 2-item list: a
          | - [a](/2)
          | - x
          | 
          |   [gone]: /1
        [text] [a]: /3
        [text] [quoted]: /4 'T'
          | > [quoted]: /4 'T'
    "#]],
    );
}

#[test]
fn an_item_that_starts_with_a_block_keeps_its_number() {
    check(
        "9. ```\n   x\n   ```\n10. > y\n11.\n",
        expect![[r#"
        [list] 3-item list: 9.
          | 9.
          [code] Code: x
            | x
          [list] y
            | 10. > y
            | 11.
    "#]],
    );
}

#[test]
fn a_large_table_keeps_its_header() {
    let rows: String = (0..400).map(|i| format!("| {i} | some words in a cell |\n")).collect();
    let parsed = parse(Syntax::Markdown, &format!("| n | text |\n|---|---|\n{rows}"));
    let nodes = &parsed.tree.nodes;
    assert_eq!(
        (nodes[0].label.as_str(), nodes[0].content.as_str()),
        ("Table: n, text (400 rows)", "n\ttext")
    );
    let rows: Vec<&str> = nodes[1..].iter().flat_map(|part| part.content.split('\n')).collect();
    assert!(nodes[1..].iter().all(|part| part.parent == Some(0)));
    assert_eq!((rows.len(), rows[399]), (400, "399\tsome words in a cell"));
}

#[test]
fn a_row_longer_than_its_head_keeps_its_cells() {
    check(
        "| a | b |\n|---|---|\n| 1 | 2 | 3 | `x\\|y` |\n| 4 | 5 | 6 \\|\n| 7 | 8 | | |\n",
        expect![[r#"
        [table] Table: a, b (3 rows)
          | a	b
          | 1	2	3	`x|y`
          | 4	5	6 |
          | 7	8
    "#]],
    );
}

#[test]
fn large_code_is_joined_by_line_breaks_and_names_its_language() {
    let code: String = (0..900).map(|i| format!("let x{i} = {i};\r\n\r\n")).collect();
    let text = format!("- item\n\n```rust ignore\n{code}```\n");
    let parsed = parse(Syntax::Markdown, &text);
    let nodes = &parsed.tree.nodes;
    assert_eq!(nodes[1].label, "Code (rust ignore): let x0 = 0;");
    assert!(nodes[1].content.is_empty());
    let parts: Vec<&str> = nodes[2..].iter().map(|part| part.content.as_str()).collect();
    assert_eq!(parts.join("\n") + "\r\n", code);
    for part in &nodes[2..] {
        assert_eq!((part.parent, part.lang.as_deref()), (Some(1), Some("rust")));
        assert_eq!(text[part.span.clone()], part.content);
    }
}

#[test]
fn a_large_list_and_what_interrupts_it_stay_in_order() {
    let items = |from: usize| -> String {
        (from..from + 300).map(|i| format!("- item number {i}\n")).collect()
    };
    let text = format!("{}  ```\n  code\n  ```\n{}", items(0), items(300));
    let parsed = parse(Syntax::Markdown, &text);
    assert_eq!(parsed.tree.nodes[0].label, "600-item list: item number 0");
    assert_eq!(parsed.tree.nodes[0].content, "");
    let all: Vec<&str> = parsed.tree.nodes.iter().map(|node| node.content.as_str()).collect();
    let all = all.join("\n");
    let place = |what: &str| all.find(what).unwrap();
    assert!(place("number 299\n") < place("code") && place("code") < place("number 300"));
    crate::fuzzing::markdown::markdown(text.as_bytes());
}

#[test]
fn a_pipe_in_a_coded_wikilink_ends_no_cell() {
    let text = "``[[Wiki|al]]&amp;``$\n|---|:-:|\n";
    let parsed = parse(Syntax::Markdown, text);
    assert_eq!(parsed.tree.nodes[0].content, text.trim_end());
    crate::fuzzing::markdown::markdown(text.as_bytes());
}

#[test]
fn ten_thousand_levels_are_flattened_with_a_warning() {
    let spread = |mark: &str, end: &str| -> String {
        (0..1000).map(|n| format!("{}{end}\n", mark.repeat(n))).collect()
    };
    for text in [
        ">".repeat(10_000) + " word",
        "> ".repeat(10_000) + "word\nlazy",
        "- ".repeat(10_000) + "word",
        "1. ".repeat(10_000) + "word",
        "> - ".repeat(10_000) + "word\n\nafter",
        spread("  ", "- word"),
        spread("> ", "word\n"),
    ] {
        crate::fuzzing::markdown::markdown(text.as_bytes());
        let parsed = parse(Syntax::Markdown, &text);
        assert_eq!(parsed.warnings.len(), 1, "{:?}", parsed.warnings);
        let size: usize = parsed.tree.nodes.iter().map(|node| node.content.len()).sum();
        assert!(size < 2 * text.len() + 100_000, "{size} from {}", text.len());
    }
    for (open, close) in
        [("[", "]"), ("*a ", "*"), ("**a", "b**"), ("![", "](x)"), ("[a](", ")"), ("<b>", "</b>")]
    {
        let text = format!("{}word{}", open.repeat(10_000), close.repeat(10_000));
        crate::fuzzing::markdown::markdown(text.as_bytes());
    }
}

#[test]
fn marks_that_lines_inherit_are_bounded() {
    let text = "> ".repeat(60) + "\nlazy".repeat(20_000).trim_start();
    let parsed = parse(Syntax::Markdown, &text);
    let size: usize = parsed.tree.nodes.iter().map(|node| node.content.len()).sum();
    assert!(size < 4 * text.len());
    assert_eq!(parsed.warnings.len(), 1);
}

#[test]
fn no_letter_of_a_huge_line_is_lost() {
    for unit in ["a", " ", "[", "*", "`", "<", "1", "😀", "word ", "&amp;", "> ", "- ", "|"] {
        let text = unit.repeat(300_000 / unit.len());
        let parsed = parse(Syntax::Markdown, &text);
        crate::fuzzing::parser_invariants::check_tree(&parsed.tree, &text);
        let whole: String = parsed.tree.nodes.iter().map(|node| node.content.as_str()).collect();
        let n_kept = whole.chars().filter(|c| c.is_alphanumeric()).count();
        assert_eq!(
            n_kept,
            text.replace("&amp;", "").chars().filter(|c| c.is_alphanumeric()).count()
        );
    }
}

#[test]
fn bytes_are_decoded_to_text() {
    let check = |bytes: &[u8], text: &str, warnings: &[(u32, &str)]| {
        let (got, warned) = decode(bytes);
        assert_eq!(got, text);
        let warned: Vec<(u32, &str)> = warned.iter().map(|it| (it.line, &*it.what)).collect();
        assert_eq!(warned, warnings);
    };
    check(b"", "", &[]);
    check(b"\xEF\xBB\xBFa\r\n", "a\r\n", &[]);
    check(
        b"a\nb\xC3\nc\xFF",
        "a\nb\u{FFFD}\nc\u{FFFD}",
        &[(2, "not valid UTF-8 in 2 places, this is the first; read as `\u{FFFD}`")],
    );
    check(b"\xFE\xFF\0a", "a", &[(1, "UTF-16, read as such; save it as UTF-8")]);
    check(
        b"\xFF\xFEa\0\n\0\0\xD8",
        "a\n\u{FFFD}",
        &[
            (1, "UTF-16, read as such; save it as UTF-8"),
            (2, "not valid UTF-16, read as `\u{FFFD}`"),
        ],
    );
}

/// Parses every Markdown file under the folder that `REMINDB_CORPUS` names, if it names one.
#[test]
fn words_of_a_corpus_are_kept() {
    let Ok(folder) = std::env::var("REMINDB_CORPUS") else { return };
    let (mut n, mut n_bad, mut n_nodes, mut n_bytes) = (0, 0, 0, 0);
    let mut folders = vec![std::path::PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "md" || it == "markdown") {
                let bytes = std::fs::read(&path).unwrap();
                let (text, _) = decode(&bytes);
                let parsed = parse(Syntax::Markdown, &text);
                n += 1;
                n_bytes += bytes.len();
                n_nodes += parsed.tree.nodes.len();
                crate::fuzzing::parser_invariants::check_tree(&parsed.tree, &text);
                if let Err(report) = crate::fuzzing::markdown::check(&parsed, &text) {
                    n_bad += 1;
                    eprintln!("{}: {report}", path.display());
                }
            }
        }
    }
    eprintln!("{n} files, {n_bytes} bytes, {n_nodes} nodes, {n_bad} with a difference");
    assert_eq!(n_bad, 0);
}

/// Pieces of documents, hostile ones among them.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "word ", "Two words. ", "\n", "\n\n", "\r\n", "\r", "  \n", "\\\n", "\t", "    ", "  ", "> ",
    ">", "- ", "* ", "+ ", "1. ", "23) ", "- [x] ", "- [ ] ", "# ", "### ", "#", "===\n", "---\n",
    "+++\n", "...\n", "***\n", "```\n", "```rust,ignore x\n", "~~~\n", "`", "``", "$", "$$", "$$\n",
    "*", "**", "_", "~~", "[", "]", "(", ")", "[a](b \"t\")", "![i](<j k>)", "[ref]", "[Ref][]",
    "[t][ref]", "[ref]: /url 'ti'\n", "[ref]: /other\n", "[un used]: <x y>\n\"title\"\n",
    "[[Wiki|al]]", "[[ref]]", "[^1]", "[^1]: ", "[^n]: note\n", "<div>\n", "</div>\n", "<b>",
    "</b>", "<!-- c -->", "<!--", "-->", "<script>", "<http://a.b>", "<x@y.z>", "&amp;", "&lt;",
    "&eacute;", "&#42;", "&#10;", "&", "\\", "\\*", "\\|", "|", "| a | b |\n", "|---|:-:|\n",
    "| 1 | 2 | 3 |\n", "a|b\n", "{#id .c}", "> [!NOTE]\n", "key: value\n", "key = 1\n",
    "tags: [a, b]\n", "äöü ", "日本語。", "😀", "\u{1F}", "\0", "\u{FEFF}", "\u{A0}", "\u{2028}", ":",
    "123456789. ", "e.g. ",
];

fn document() -> impl Strategy<Value = String> {
    let piece = proptest::sample::select(PIECES);
    let front = proptest::sample::select(&["", "", "---\n", "+++\n"][..]);
    (front, proptest::collection::vec(piece, 0..60))
        .prop_map(|(front, it)| front.to_owned() + &it.concat())
}

/// Pieces of front matter.
#[rustfmt::skip]
const FRONT: &[&str] = &[
    "a: ", "b: ", "- ", "\n", "\n  ", "\n- ", "[", "]", "{", "}", ", ", "one", "two words", "'q'",
    "\"d\"", "&x ", "*x", "!t ", ": ", "? ", "|\n  ", ">-\n  ", "1.10", "é", "c:\n  d: e\n",
    "k: [1, 2, 3, 4, 5, 6]\n", "\n    ", "---\n", "m: {a: 1, b: 2, c: 3, d: 4, e: 5}\n", "t: x\n",
    "= ", "x = 1\n", "[t]\n", "[[t]]\n", "y.z = [1, \"a\"]\n", "# c\n", "\r\n", "\t",
    "u = 1979-05-27\n", "v = \"\"\"\nm\n\"\"\"\n", "w = { p = 1, q = \"r\" }\n", "\"",
];

fn front_matter() -> impl Strategy<Value = String> {
    let piece = proptest::sample::select(FRONT);
    let mark = proptest::sample::select(&["---", "+++"][..]);
    (mark, proptest::collection::vec(piece, 0..14))
        .prop_map(|(mark, it)| format!("{mark}\n{}\n{mark}\nBody.\n", it.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_word_is_lost_or_doubled(text in document()) {
        crate::fuzzing::markdown::markdown(text.as_bytes());
    }

    #[test]
    fn front_matter_is_read_or_kept(text in front_matter()) {
        crate::fuzzing::markdown::markdown(text.as_bytes());
    }

    #[test]
    fn promises_hold_for_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        crate::fuzzing::markdown::markdown(&bytes);
    }
}
