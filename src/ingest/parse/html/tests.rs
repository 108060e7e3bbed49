use std::fmt::Write as _;

use expect_test::{Expect, expect, expect_file};

use crate::ingest::parse::{Parsed, Syntax, decode, parse};

fn render(parsed: &Parsed) -> String {
    let mut out = parsed.tree.to_string().replace('\r', "␍");
    for warning in &parsed.warnings {
        writeln!(out, "warning: line {}: {}", warning.line, warning.what).unwrap();
    }
    out
}

#[track_caller]
fn check(src: &str, tree: Expect) {
    tree.assert_eq(&render(&parse(Syntax::Html, src)));
}

#[test]
fn every_example_parses_to_the_tree_beside_it() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/html");
    let mut n = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|it| it == "html") {
            let bytes = std::fs::read(&path).unwrap();
            let (text, _) = decode(&bytes);
            expect_file![path.with_extension("tree")]
                .assert_eq(&render(&parse(Syntax::Html, &text)));
            n += 1;
        }
    }
    assert!(10 <= n, "{n} examples");
}

/// Parses the HTML files under `REMINDB_CORPUS`, every nth of them; no part of the suite.
#[test]
fn words_of_a_corpus_are_kept() {
    let Ok(folder) = std::env::var("REMINDB_CORPUS") else { return };
    let step: usize = std::env::var("REMINDB_STEP").map_or(1, |it| it.parse().unwrap());
    let (mut n, mut n_bad, mut n_nodes, mut n_bytes) = (0, 0, 0, 0);
    let mut folders = vec![std::path::PathBuf::from(folder)];
    let mut paths = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "html") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    for path in paths.iter().step_by(step) {
        let bytes = std::fs::read(path).unwrap();
        let (text, _) = decode(&bytes);
        let parsed = parse(Syntax::Html, &text);
        n += 1;
        n_bytes += bytes.len();
        n_nodes += parsed.tree.nodes.len();
        crate::fuzzing::parser_invariants::check_tree(&parsed.tree, &text);
        if let Err(report) = crate::fuzzing::html::check_words(&parsed, &text) {
            n_bad += 1;
            if n_bad <= 40 {
                eprintln!("{}: {report}", path.display());
            }
        }
    }
    eprintln!("{n} files, {n_bytes} bytes, {n_nodes} nodes, {n_bad} with a difference");
    assert_eq!(n_bad, 0);
}

/// With more than linear work, this would not end.
#[test]
fn hostile_inputs_take_linear_time() {
    const REPEATS: usize = 5_000;
    type Make = fn(usize) -> String;
    let inputs: [(&str, Make); 27] = [
        ("div", |n| "<div>".repeat(n) + "x"),
        ("closed div", |n| "<div>".repeat(n) + "x" + &"</div>".repeat(n)),
        ("b", |n| "<b>".repeat(n) + "x"),
        ("b p", |n| (0..n).map(|i| format!("<p><b id={i}>x")).collect()),
        ("a", |n| (0..n).map(|i| format!("<a href={i}>x")).collect()),
        ("a p", |n| (0..n).map(|i| format!("<p><a href={i}>x")).collect()),
        ("code p", |n| "<p><code>x".repeat(n)),
        ("table", |n| "<table><tr><td>x".repeat(n)),
        ("table foster", |n| "<table>x<b>".repeat(n)),
        ("ul", |n| "<ul><li>x".repeat(n)),
        // Counting the tokens of quote marks takes most of the time here.
        ("quote / 50", |n| "<blockquote>x".repeat(n / 50)),
        ("pre", |n| "<pre>x".repeat(n)),
        ("svg", |n| "<svg><g>x".repeat(n)),
        ("b p beside svg", |n| "<svg></svg>".to_owned() + &"<p><b>x".repeat(n)),
        ("b around svg", |n| "<b>".repeat(n) + &"<svg><g></b>x".repeat(n)),
        ("a in svg", |n| "<svg><desc><a><font>x</a>".repeat(n)),
        ("math", |n| format!("<math>{}<mi>x", "<mrow>".repeat(n))),
        ("mfrac", |n| format!("<math>{}", "<mfrac><mi>x</mi><mrow>".repeat(n))),
        ("attributes", |n| {
            format!("<p {}>x", (0..n).map(|i| format!("a{i} ")).collect::<String>())
        }),
        ("attributes <", |n| {
            format!("<p {}>x", (0..n).map(|i| format!("a<{i} ")).collect::<String>())
        }),
        ("names", |n| (0..n).map(|i| format!("<x{i}>y</x{i}>")).collect()),
        ("p", |n| "<p>x".repeat(n)),
        ("h1", |n| "<h1>x".repeat(n)),
        ("select", |n| format!("<select>{}", "<option>x".repeat(n))),
        ("td colspan", |n| format!("<table><tr>{}", "<td colspan=9999 rowspan=9999>x".repeat(n))),
        ("br in nest", |n| "<ul><li>".repeat(60) + &"x<br>".repeat(n)),
        ("template", |n| "<template>".repeat(n) + "x"),
    ];
    for (name, make) in inputs {
        let text = make(REPEATS);
        let parsed = parse(Syntax::Html, &text);
        crate::fuzzing::parser_invariants::check_tree(&parsed.tree, &text);
        // The content of a template is not shown.
        assert_eq!(parsed.tree.nodes.is_empty(), name == "template", "{name}");
    }
}

#[test]
fn flattened_nesting_loses_no_word() {
    for tag in ["div", "ul><li", "blockquote", "table><tr><td", "span", "b", "svg><g", "h1", "pre"]
    {
        let text = format!("<{tag}>").repeat(3000) + "innermost <p>and</p> <i>mo</i>re";
        let parsed = parse(Syntax::Html, &text);
        let contents: Vec<&str> = parsed.tree.nodes.iter().map(|it| it.content.as_str()).collect();
        assert!(contents.join("\n").contains("innermost"), "{tag}");
        crate::fuzzing::parser_invariants::check_tree(&parsed.tree, &text);
        assert!(parsed.warnings.len() <= 2, "{tag}: {:?}", parsed.warnings);
    }
}

#[test]
fn code_with_crlf_keeps_its_bytes() {
    check(
        "<p>a\r\nb</p><pre>\r\n one\r\n\r\n  two &lt;\r\n</pre>\r\n<table>\r\n<tr>\r\n\
         <td>x\r\n<td>y</table>",
        expect![[r#"
            [text] a b
            [code] Code: one
              |  one␍
              | ␍
              |   two <
            [table] Table: x, y (1 row)
              | x	y
        "#]],
    );
    let parsed = parse(Syntax::Html, "<pre>\r\n one\r\n\r\n  two &lt;\r\n</pre>");
    assert_eq!(parsed.tree.nodes[0].content, " one\r\n\r\n  two <");
}

#[test]
fn large_blocks_are_split_into_parts() {
    let rows: String = (0..400).map(|n| format!("<tr><td>row {n}<td>value {n}")).collect();
    let text = format!(
        "<table><tr><th>a<th>b{rows}</table><pre>{}</pre><p>{}",
        "let x = 1;\n".repeat(600),
        "One sentence of words. ".repeat(400),
    );
    let parsed = parse(Syntax::Html, &text);
    crate::fuzzing::parser_invariants::check_tree(&parsed.tree, &text);
    assert_eq!(crate::fuzzing::html::check_words(&parsed, &text), Ok(()));
    let n_roots = parsed.tree.nodes.iter().filter(|it| it.parent.is_none()).count();
    assert_eq!(n_roots, 3);
    assert!(8 < parsed.tree.nodes.len());
}

#[test]
fn a_tag_with_too_many_attributes_is_text() {
    let text = format!("<p>before <i {}>after</i> <p {}>next", "w ".repeat(300), "w ".repeat(200));
    let parsed = parse(Syntax::Html, &text);
    assert!(parsed.tree.nodes[0].content.starts_with("before <i w w w"));
    assert_eq!(parsed.tree.nodes.last().map(|it| it.content.as_str()), Some("next"));
    assert_eq!(parsed.warnings.len(), 1);
}

mod random {
    use proptest::prelude::*;

    #[rustfmt::skip]
    const PIECES: [&str; 72] = [
        "word ", "two words", " ", "\n", "é", "&amp;", "&nbsp;", "<p>", "</p>", "<div>", "</div>",
        "<b>", "</b>", "<i>", "</i>", "<a href=x>", "<a name=y>", "</a>", "<code>", "</code>",
        "<br>", "<ul>", "</ul>", "<ol start=4>", "</ol>", "<li>", "</li>", "<dl>", "<dt>", "<dd>",
        "</dl>", "<table>", "</table>", "<tr>", "<td>", "<th>", "</td>", "</tr>", "<caption>",
        "<pre>", "</pre>", "<pre class=rust>\n", "<h1>", "</h1>", "<h3>", "</h3>", "<blockquote>",
        "</blockquote>", "<img src=i alt=pic>", "<img>", "<math><mi>x</mi></math>", "<svg>",
        "</svg>", "<title>T t</title>", "<script>s()</script>", "<style>p{}</style>", "<template>",
        "</template>", "<select><option>o", "</select>", "<textarea>t </textarea>", "<video src=v>",
        "</video>", "<nav>", "</nav>", "<header>", "</header>", "<main>", "</main>", "<!-- c -->",
        "<sup>2</sup>", "<button>go</button>",
    ];

    /// Drawings and formulas, what ends them, and elements whose text has no tags.
    #[rustfmt::skip]
    const DRAWN: [&str; 65] = [
        "word ", "nul\0s ", "<i title=in>", "<![CDATA[raw]]>", "<!-- c -->", "<svg>", "</svg>", "<svg>",
        "<math>", "</math>", "<math>", "<g>", "</g>", "<mi>", "</mi>", "<mrow>", "</mrow>", "<desc>",
        "</desc>", "<foreignObject>", "</foreignObject>", "<annotation-xml encoding=text/html>",
        "</annotation-xml>", "<b>", "</b>", "<b>", "</b>", "<em>", "</em>", "<nobr>", "</nobr>",
        "<font>", "<font size=2>", "</font>", "<a href=x>", "</a>", "<code>", "</code>", "<p>", "</p>",
        "<div>", "</div>", "<table><tr><td>", "</table>", "<td>", "</td>", "<object>", "<template>",
        "</object>", "<select>", "</select>", "<option>", "<span>", "</span>", "<textarea>",
        "</textarea>", "<xmp>", "</xmp>", "<noscript>", "</noscript>", "<title>T t</title>", "<br>",
        "</br>", "<style>p{}</style>", "<li>",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn no_word_is_lost(pieces in prop::collection::vec(0..PIECES.len(), 0..40)) {
            let text: String = pieces.into_iter().map(|at| PIECES[at]).collect();
            crate::fuzzing::html::html(text.as_bytes());
        }

        #[test]
        fn no_word_is_lost_beside_a_drawing(
            pieces in prop::collection::vec(0..DRAWN.len(), 0..24),
        ) {
            let text: String = pieces.into_iter().map(|at| DRAWN[at]).collect();
            let parsed = crate::ingest::parse::parse(crate::ingest::parse::Syntax::Html, &text);
            prop_assert_eq!(crate::fuzzing::html::check_words(&parsed, &text), Ok(()), "{}", text);
        }

        #[test]
        fn promises_hold_for_any_bytes(data in prop::collection::vec(any::<u8>(), 0..200)) {
            crate::fuzzing::html::html(&data);
        }
    }
}
