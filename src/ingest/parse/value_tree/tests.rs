use std::fmt::Write as _;

use expect_test::{Expect, expect, expect_file};
use proptest::prelude::*;

use crate::fuzzing;
use crate::ingest::parse::{Parsed, Syntax, decode, parse};

fn parse_bytes(syntax: Syntax, bytes: &[u8]) -> Parsed {
    parse(syntax, &decode(bytes).0)
}

fn render(parsed: &Parsed) -> String {
    // A carriage return would not survive in an expected text.
    let mut out = parsed.tree.to_string().replace('\r', "␍");
    for warning in &parsed.warnings {
        writeln!(out, "warning: line {}: {}", warning.line, warning.what).unwrap();
    }
    out
}

#[test]
fn every_example_parses_to_the_tree_beside_it() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    for format in ["json", "transcript", "yaml", "toml", "toon", "csv", "plain"] {
        for entry in std::fs::read_dir(format!("{folder}/{format}")).unwrap() {
            let path = entry.unwrap().path();
            let Some(syntax) = Syntax::of(path.to_str().unwrap()) else { continue };
            let bytes = std::fs::read(&path).unwrap();
            let parsed = parse_bytes(syntax, &bytes);
            crate::fuzzing::parser_invariants::check_tree(
                &parsed.tree,
                &String::from_utf8_lossy(&bytes),
            );
            expect_file![path.with_extension("tree")].assert_eq(&render(&parsed));
        }
    }
}

#[track_caller]
fn check(syntax: Syntax, src: &str, tree: Expect) {
    let parsed = parse_bytes(syntax, src.as_bytes());
    fuzzing::parser_invariants::check_tree(&parsed.tree, src);
    tree.assert_eq(&render(&parsed));
}

#[test]
fn a_large_string_comes_back_from_its_parts() {
    let text: String = (0..1000).map(|it| format!("  line {it}\t\r\n")).collect();
    let src = serde_json::json!({"a": {"b c": text}}).to_string();
    let parsed = parse_bytes(Syntax::Json, src.as_bytes());
    let whole = &parsed.tree.nodes[1];
    assert_eq!((whole.key_path.as_deref(), &*whole.content), (Some("a[\"b c\"]"), ""));
    let parts: Vec<&str> = parsed.tree.nodes[2..].iter().map(|it| &*it.content).collect();
    assert!(1 < parts.len());
    assert_eq!(parts.join("\n"), text);
}

#[test]
fn records_of_a_long_list_are_a_node_each() {
    let records: Vec<String> = (0..60)
        .map(|it| format!("{{\"id\":{it},\"on\":[{it},{{\"x\":\"some words\"}}]}}"))
        .collect();
    let parsed = parse_bytes(Syntax::Json, format!("{{\"r\":[{}]}}", records.join(",")).as_bytes());
    let nodes = &parsed.tree.nodes;
    assert_eq!(nodes[1].label, "60-item list: id: 0, on: 0, x: some words");
    assert_eq!(nodes[1].content, "r:");
    assert_eq!(nodes[61].key_path.as_deref(), Some("r[59]"));
    assert_eq!(nodes[61].parent, Some(1));
}

#[test]
fn a_long_table_has_groups_that_can_be_read_alone() {
    let rows: Vec<String> =
        (0..300).map(|it| format!("{{\"id\":{it}.50,\"name\":\"name, of {it}\"}}")).collect();
    let src = format!("[{}]", rows.join(","));
    let parsed = parse_bytes(Syntax::Json, src.as_bytes());
    fuzzing::json::check_scalars(&parsed, &src).unwrap();
    let nodes = &parsed.tree.nodes;
    assert_eq!((&*nodes[0].label, &*nodes[0].content), ("[300]{id,name}", ""));
    let n = nodes[1].content.lines().count() - 1;
    assert!(nodes[1].content.starts_with(&format!("[{n}]{{id,name}}:\n  0.50,\"name, of 0\"\n")));
    assert_eq!(nodes[1].key_path, Some(format!("[0..{n}]")));
    assert_eq!(
        nodes[2].key_path.as_deref().map(|it| it.starts_with(&format!("[{n}.."))),
        Some(true)
    );
}

#[test]
fn a_comment_behind_a_bracket_or_a_quote_is_kept() {
    check(
        Syntax::Yaml,
        "{a: b} # one\n---\n[c] # two",
        expect![[r#"
        [kv] a
          | a: b
        [list] 1-item list: c
          | # one
          | - c
        [text] # two
    "#]],
    );
    check(
        Syntax::Yaml,
        "'it''s' # one\n---\n\"a \\\" # b\" # two \"x\"\n",
        expect![[r#"
        [kv] it's
        [text] # one
        [kv] a " # b
        [text] # two "x"
    "#]],
    );
    check(
        Syntax::Yaml,
        "a: \"v\" # one\nb: !t 'w' # two\nc: [\"x\" # three\n ] # four\n\"d\": | # five\n  # no\ne: f\n",
        expect![[r#"
            [kv] a, b, c, d, e
              | a: v
              | # one
              | b: !t w
              | # two
              | c:
              | - x
              | # three
              | # four
              | # five
              | d: |
              | e: f
              [text d] d: # no
                | # no
                | 
        "#]],
    );
}

#[test]
fn strings_that_look_like_other_types_are_quoted() {
    check(
        Syntax::Yaml,
        "a: 01\nb: '01'\nc: 'yes'\nd: yes\ne: [\"x: y\", '', ' z', '- q', \"'\"]\nf: 1.2.3\n",
        expect![[r#"
            [kv] a, b, c, d, f
              | a: 01
              | b: "01"
              | c: "yes"
              | d: yes
              | f: 1.2.3
              [list e toon] e[5]
                | e[5]: "x: y",""," z","- q",'
        "#]],
    );
}

#[test]
fn numbers_keep_their_digits_in_a_table() {
    check(
        Syntax::Json,
        r#"[{"n":1234567890123456789,"s":"01"},{"n":1.50,"s":"1e5"},{"n":1e400,"s":"x"},
            {"n":-0,"s":""}]"#,
        expect![[r#"
            [list toon] [4]{n,s}
              | [4]{n,s}:
              |   1234567890123456789,"01"
              |   1.50,"1e5"
              |   1e400,x
              |   -0,""
        "#]],
    );
}

#[test]
fn a_table_that_needs_escapes_stays_plain() {
    let src = r#"[{"a":1,"b":"say \"x\""},{"a":2,"b":"c:\\d"},{"a":3,"b":"e"}]"#;
    let parsed = parse_bytes(Syntax::Json, src.as_bytes());
    assert_eq!(
        parsed.tree.nodes[0].content,
        "- a: 1\n  b: say \"x\"\n- a: 2\n  b: c:\\d\n- a: 3\n  b: e"
    );
}

/// Strings of a notation's marks, with words and numbers between.
fn soup(pieces: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(pieces), 0..60).prop_map(|it| it.concat())
}

#[rustfmt::skip]
const JSON: &[&str] = &[
    "{", "}", "[", "]", ",", ":", "\"", "\"a\":", "\"bc d\"", "1.50", "01", "1e400", "true", "null",
    " ", "\n", "\\n", "\\ud800", "//x1\n", "/*", "*/", "word", "{\"k\":1,\"l\":\"m\"},",
    "[1,2,3,4,5]", "\"user\"", "\"role\":", "\"content\":", "ü",
];
const YAML: &[&str] = &[
    "- ", "? ", ": ", "a:", "b", "\n", "\n  ", "\n    ", " ", "[", "]", "{", "}", ",", "\"", "'",
    "# c1\n", "&x ", "*x", "!t ", "---\n", "...", "01", "1.50", "|\n", ">-\n", "%d e\n", "\t", "ü",
    "<<: ", "key: v\n", "\r\n",
];
#[rustfmt::skip]
const TOML: &[&str] = &[
    "[", "]", "[[a]]\n", "[b]\n", "[b.\"c#d\"]\n", "a = ", "k = 1\n", "\"", "'", "1.50", "0x1F",
    "1979-05-27", "\n", "# c1\n", ",", "{", "}", "=", ".", "\"\"\"", " ", "x", "ü",
];
#[rustfmt::skip]
const TOON: &[&str] = &[
    "a: ", "b[2]: ", "c[2]{x,y}:", "\n", "\n  ", "\n    ", "- ", ",", "1,2", "\"q: r\"", "\"",
    "[3]:", "x", "01", "-", ":", " ", "t[1|]{u|v}:", "|", "ü", "e:\n",
];
#[rustfmt::skip]
const PLAIN: &[&str] = &[
    "* ", "** ", "Title\n", "=====\n", "-----\n", "\n", "word", " ", "  ", "#+begin_src sh\n",
    "#+END_SRC\n", "#+begin_quote\n", "| a | b |\n", "- ", "1. ", "::\n\n", ".. code-block:: py\n",
    "   :opt: x\n", "    code\n", "\"", ",", "\t", ";", "import a from 'b'\n", "export {\n", "}\n",
    "```\n", "\r\n", "ü", "---\n", "<Box>\n",
];

#[test]
fn a_word_that_ends_a_list_by_its_indentation_is_kept() {
    for text in ["a:\n- b: c\n word\n", "a:\n- b: c\n [word]\n", "a:\n- - b\n word: d\n"] {
        fuzzing::yaml::yaml(text.as_bytes());
        let parsed = parse(Syntax::Yaml, text);
        assert!(parsed.tree.nodes.iter().any(|it| it.content.contains("word")), "{}", parsed.tree);
    }
}

#[test]
fn a_directive_in_letters_of_any_script_moves_no_value() {
    for line in ["%É", "%RESERVÉ ééé", "%YAML 1.2 # é"] {
        let text = format!("{line}\n---\nfirst: one\n");
        let parsed = parse(Syntax::Yaml, &text);
        let [node] = &parsed.tree.nodes[..] else { panic!("{line}: {}", parsed.tree) };
        assert_eq!(node.content, format!("# {line}\nfirst: one"));
        assert_eq!(text[node.span.clone()].trim_end(), "first: one", "{line}");
    }
}

#[test]
fn a_comment_may_follow_a_flow_and_a_word_may_not() {
    let warnings = |text| parse(Syntax::Yaml, text).warnings;
    assert_eq!(warnings("{} # y\n---\n[a] # z\n... # x\n"), []);
    assert_eq!(warnings("{}-y").len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn json_keeps_its_promises(text in soup(JSON)) {
        fuzzing::json::json(text.as_bytes());
    }

    #[test]
    fn yaml_keeps_its_promises(text in soup(YAML)) {
        fuzzing::yaml::yaml(text.as_bytes());
    }

    #[test]
    fn toml_keeps_its_promises(text in soup(TOML)) {
        fuzzing::toml::toml(text.as_bytes());
    }

    #[test]
    fn toon_keeps_its_promises(text in soup(TOON)) {
        fuzzing::toon::toon(text.as_bytes());
    }

    #[test]
    fn plain_notations_keep_their_promises(text in soup(PLAIN)) {
        fuzzing::plain::plain(text.as_bytes());
    }

    #[test]
    fn every_scalar_of_random_json_is_kept(value in value()) {
        fuzzing::json::json(value.as_bytes());
    }
}

/// Random JSON with unusual numbers.
fn value() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,6})?([eE][+-]?[0-9]{1,3})?",
        "[a-z ,:#\\-\\[\\]|&*!'.0-9\u{e9}\u{4e00}]{0,12}".prop_map(|it| format!("{it:?}")),
        "(a\n|\r\n|\t| |\"|\\\\){0,8}".prop_map(|it| serde_json::to_string(&it).unwrap()),
        Just("null".to_owned()),
        Just("true".to_owned()),
    ];
    scalar.prop_recursive(5, 80, 8, |inner| {
        let key = prop_oneof!["[a-e]{1,2}", "[a-z: .\\-\"]{0,5}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..9)
                .prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec((key, inner), 0..9).prop_map(|entries| {
                let entries: Vec<String> =
                    entries.iter().map(|(key, value)| format!("{key:?}:{value}")).collect();
                format!("{{{}}}", entries.join(", "))
            }),
        ]
    })
}

/// Parses every file under `REMINDB_CORPUS`; no part of the suite.
#[test]
fn values_of_a_corpus_are_kept() {
    let Ok(folder) = std::env::var("REMINDB_CORPUS") else { return };
    let mut folders = vec![std::path::PathBuf::from(folder)];
    let (mut n, mut n_bad, mut n_bytes, mut n_nodes) = (0, 0, 0, 0);
    let mut by_syntax = std::collections::BTreeMap::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Some(syntax) = Syntax::of(path.to_str().unwrap()) else { continue };
            if syntax == Syntax::Markdown {
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            let parsed = parse_bytes(syntax, &bytes);
            n += 1;
            n_bytes += bytes.len();
            n_nodes += parsed.tree.nodes.len();
            *by_syntax.entry(format!("{syntax:?}")).or_insert(0) += 1;
            for warning in &parsed.warnings {
                eprintln!("{}:{}: {}", path.display(), warning.line, warning.what);
            }
            let check = || match syntax {
                Syntax::Json | Syntax::JsonLines => fuzzing::json::json(&bytes),
                Syntax::Yaml => fuzzing::yaml::yaml(&bytes),
                Syntax::Toml => fuzzing::toml::toml(&bytes),
                Syntax::Toon => fuzzing::toon::toon(&bytes),
                _ => fuzzing::plain::plain(&bytes),
            };
            if std::panic::catch_unwind(check).is_err() {
                n_bad += 1;
                eprintln!("BAD {}", path.display());
            }
        }
    }
    eprintln!("{n} files {by_syntax:?}, {n_bytes} bytes, {n_nodes} nodes, {n_bad} bad");
    assert_eq!(n_bad, 0);
}

/// Files that are made to be slow, deep or large.
fn hostile(n: usize) -> Vec<(Syntax, String)> {
    vec![
        (Syntax::Json, "[".repeat(n)),
        (Syntax::Json, "[".repeat(n) + &"]".repeat(n)),
        (Syntax::Json, "{\"a\":".repeat(n)),
        (Syntax::Json, format!("\"{}\"", "word ".repeat(n))),
        (Syntax::Json, format!("\"{}", "\\\\".repeat(n))),
        (Syntax::Json, format!("[{}1]", "1,".repeat(n))),
        (Syntax::Json, format!("{{{}\"z\":1}}", "\"k\":[],".repeat(n))),
        (Syntax::Json, "/*".repeat(n)),
        (Syntax::JsonLines, "[\n".repeat(n)),
        (Syntax::JsonLines, "{\"a\": \"\n".repeat(n / 10)),
        (Syntax::JsonLines, "{/*\n".repeat(n / 10)),
        (Syntax::JsonLines, "{}".repeat(n)),
        (Syntax::Yaml, "- ".repeat(n)),
        (Syntax::Yaml, "[".repeat(n)),
        (Syntax::Yaml, "? ".repeat(n)),
        (Syntax::Yaml, "{a: ".repeat(n)),
        (Syntax::Yaml, "- a\n".repeat(n)),
        (Syntax::Yaml, (0..n).map(|it| format!("k{it}: &a{it} v\n")).collect()),
        (Syntax::Yaml, format!("a: \"{}\"", "word ".repeat(n))),
        (Syntax::Yaml, "a: b\n---\n".repeat(n / 10)),
        (Syntax::Yaml, "# c\n".repeat(n)),
        (Syntax::Yaml, "\n".repeat(n) + "a: 1"),
        (Syntax::Yaml, format!("a: |\n{}", "  x\n".repeat(n))),
        (Syntax::Yaml, "a ".repeat(n)),
        (Syntax::Yaml, "a\n\n".repeat(n)),
        (Syntax::Json, format!("{{\n{}\"a\": 1}}", "// c\n".repeat(n))),
        (Syntax::Toml, "# c\n".repeat(n)),
        (Syntax::Toml, format!("a = 1\n{}[b]\nc = [1, 2]", "# c\n".repeat(n))),
        (Syntax::Toml, "[[a]]\n".repeat(n / 10)),
        (Syntax::Toml, "a = [".to_owned() + &"[".repeat(n)),
        (Syntax::Toml, format!("[{}a]", "a.".repeat(n))),
        (Syntax::Toml, (0..n).map(|it| format!("k{it} = 1 # c\n")).collect()),
        (Syntax::Toon, (0..2000).map(|it| " ".repeat(it) + "a:\n").collect()),
        (Syntax::Toon, "a[9]: ".to_owned() + &"x,".repeat(n)),
        (Syntax::Toon, "- ".repeat(n)),
        (Syntax::Csv, "a,\"".repeat(n)),
        (Syntax::Csv, "\"\n".repeat(n)),
        (Syntax::Org, "#+begin_src\n".repeat(n)),
        (Syntax::Rst, "a::\n\n".repeat(n)),
        (Syntax::Mdx, "export {\n\n".repeat(n / 10)),
    ]
}

#[test]
fn hostile_files_cost_no_more_than_their_size() {
    for (syntax, text) in hostile(20_000) {
        let parsed = parse_bytes(syntax, text.as_bytes());
        assert!(!parsed.tree.nodes.is_empty(), "{syntax:?}");
        let n_bytes: usize = parsed.tree.nodes.iter().map(|node| node.content.len()).sum();
        assert!(n_bytes <= text.len() * 3 + 1000, "{syntax:?}: {n_bytes} of {}", text.len());
    }
}
