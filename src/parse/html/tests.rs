use std::fmt::Write as _;

use expect_test::{Expect, expect_file};

use crate::parse::{Parsed, Syntax, decode, parse};

fn render(parsed: &Parsed) -> String {
    let mut out = parsed.tree.to_string();
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
fn every_example_gives_the_tree_beside_it() {
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

/// Not part of the suite: parses the HTML files under `REMINDB_CORPUS`, every nth of them.
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
        crate::fuzzing::html::check_tree(&parsed.tree, &text);
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

/// Not part of the suite: prints how long inputs made to be slow take, at two sizes.
#[test]
#[expect(clippy::disallowed_methods, reason = "a measurement")]
fn hostile_inputs_take_linear_time() {
    let Ok(n) = std::env::var("REMINDB_HOSTILE") else { return };
    let n: usize = n.parse().unwrap();
    type Make = fn(usize) -> String;
    let inputs: [(&str, Make); 24] = [
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
        ("quote", |n| "<blockquote>x".repeat(n)),
        ("pre", |n| "<pre>x".repeat(n)),
        ("svg", |n| "<svg><g>x".repeat(n)),
        ("math", |n| format!("<math>{}<mi>x", "<mrow>".repeat(n))),
        ("mfrac", |n| format!("<math>{}", "<mfrac><mi>x</mi><mrow>".repeat(n))),
        ("attributes", |n| format!("<p {}>x", (0..n).map(|i| format!("a{i} ")).collect::<String>())),
        ("attributes <", |n| format!("<p {}>x", (0..n).map(|i| format!("a<{i} ")).collect::<String>())),
        ("names", |n| (0..n).map(|i| format!("<x{i}>y</x{i}>")).collect()),
        ("p", |n| "<p>x".repeat(n)),
        ("h1", |n| "<h1>x".repeat(n)),
        ("select", |n| format!("<select>{}", "<option>x".repeat(n))),
        ("td colspan", |n| format!("<table><tr>{}", "<td colspan=9999 rowspan=9999>x".repeat(n))),
        ("br in nest", |n| "<ul><li>".repeat(60) + &"x<br>".repeat(n)),
        ("template", |n| "<template>".repeat(n) + "x"),
    ];
    for (name, make) in inputs {
        let mut line = format!("{name:14}");
        for n in [n / 4, n] {
            let text = make(n);
            let start = std::time::Instant::now();
            let parsed = parse(Syntax::Html, &text);
            let took = start.elapsed().as_millis();
            write!(line, " {:>9} B {took:>6} ms {:>7} nodes", text.len(), parsed.tree.nodes.len())
                .unwrap();
        }
        eprintln!("{line}");
    }
}
