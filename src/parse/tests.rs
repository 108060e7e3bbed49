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
fn every_example_gives_the_tree_beside_it() {
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

/// Not part of the suite: parses every file under `REMINDB_CORPUS`.
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
                crate::fuzzing::markdown::check_tree(&parsed.tree, &text);
                if let Err(report) = crate::fuzzing::markdown::check_words(&parsed, &text) {
                    n_bad += 1;
                    eprintln!("{}: {report}", path.display());
                }
            }
        }
    }
    eprintln!("{n} files, {n_bytes} bytes, {n_nodes} nodes, {n_bad} with a difference");
    assert_eq!(n_bad, 0);
}

/// Pieces that documents are made of, hostile ones among them.
const PIECES: &[&str] = &[
    "word ",
    "Two words. ",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "  \n",
    "\\\n",
    "\t",
    "    ",
    "  ",
    "> ",
    ">",
    "- ",
    "* ",
    "+ ",
    "1. ",
    "23) ",
    "- [x] ",
    "- [ ] ",
    "# ",
    "### ",
    "#",
    "===\n",
    "---\n",
    "+++\n",
    "...\n",
    "***\n",
    "```\n",
    "```rust,ignore x\n",
    "~~~\n",
    "`",
    "``",
    "$",
    "$$",
    "$$\n",
    "*",
    "**",
    "_",
    "~~",
    "[",
    "]",
    "(",
    ")",
    "[a](b \"t\")",
    "![i](<j k>)",
    "[ref]",
    "[Ref][]",
    "[t][ref]",
    "[ref]: /url 'ti'\n",
    "[ref]: /other\n",
    "[un used]: <x y>\n\"title\"\n",
    "[[Wiki|al]]",
    "[[ref]]",
    "[^1]",
    "[^1]: ",
    "[^n]: note\n",
    "<div>\n",
    "</div>\n",
    "<b>",
    "</b>",
    "<!-- c -->",
    "<!--",
    "-->",
    "<script>",
    "<http://a.b>",
    "<x@y.z>",
    "&amp;",
    "&lt;",
    "&eacute;",
    "&#42;",
    "&#10;",
    "&",
    "\\",
    "\\*",
    "\\|",
    "|",
    "| a | b |\n",
    "|---|:-:|\n",
    "| 1 | 2 | 3 |\n",
    "a|b\n",
    "{#id .c}",
    "> [!NOTE]\n",
    "key: value\n",
    "key = 1\n",
    "tags: [a, b]\n",
    "äöü ",
    "日本語。",
    "😀",
    "\u{1F}",
    "\0",
    "\u{FEFF}",
    "\u{A0}",
    "\u{2028}",
    ":",
    "123456789. ",
    "e.g. ",
];

fn document() -> impl Strategy<Value = String> {
    let piece = proptest::sample::select(PIECES);
    let front = proptest::sample::select(&["", "", "---\n", "+++\n"][..]);
    (front, proptest::collection::vec(piece, 0..60))
        .prop_map(|(front, it)| front.to_owned() + &it.concat())
}

/// Pieces that front matter is made of.
const FRONT: &[&str] = &[
    "a: ",
    "b: ",
    "- ",
    "\n",
    "\n  ",
    "\n- ",
    "[",
    "]",
    "{",
    "}",
    ", ",
    "one",
    "two words",
    "'q'",
    "\"d\"",
    "&x ",
    "*x",
    "!t ",
    ": ",
    "? ",
    "|\n  ",
    ">-\n  ",
    "1.10",
    "é",
    "c:\n  d: e\n",
    "k: [1, 2, 3, 4, 5, 6]\n",
    "\n    ",
    "---\n",
    "m: {a: 1, b: 2, c: 3, d: 4, e: 5}\n",
    "t: x\n",
    "= ",
    "x = 1\n",
    "[t]\n",
    "[[t]]\n",
    "y.z = [1, \"a\"]\n",
    "# c\n",
    "\r\n",
    "\t",
    "u = 1979-05-27\n",
    "v = \"\"\"\nm\n\"\"\"\n",
    "w = { p = 1, q = \"r\" }\n",
    "\"",
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
    fn any_bytes_give_a_tree(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        crate::fuzzing::markdown::markdown(&bytes);
    }
}

#[test]
fn tmp_bench() {
    let Ok(n) = std::env::var("BENCH_MB") else { return };
    let n = (n.parse::<f64>().unwrap() * 1e6) as usize;
    let units = std::env::var("BENCH_UNITS").unwrap();
    for unit in units.split('@') {
        let unit = unit.replace("\\n", "\n").replace("\\t", "\t").replace("\\s", " ");
        let mut text = unit.repeat(n / unit.len() + 1);
        if let Ok(front) = std::env::var("BENCH_FRONT") {
            text = format!(
                "{}{text}{}",
                front.replace("\\n", "\n"),
                std::env::var("BENCH_BACK").unwrap().replace("\\n", "\n")
            );
        }
        if let Ok(levels) = std::env::var("BENCH_LEVELS") {
            let n: usize = levels.parse().unwrap();
            text = (0..n).map(|i| unit.repeat(i) + "- a\n").collect();
        }
        let t = std::process::Command::new("date").arg("+%s.%N").output().unwrap();
        let a: f64 = String::from_utf8(t.stdout).unwrap().trim().parse().unwrap();
        let p = parse(Syntax::Markdown, &text);
        let t = std::process::Command::new("date").arg("+%s.%N").output().unwrap();
        let b: f64 = String::from_utf8(t.stdout).unwrap().trim().parse().unwrap();
        let total: usize = p.tree.nodes.iter().map(|n| n.content.len()).sum();
        let vm = std::fs::read_to_string("/proc/self/status").unwrap();
        let vm = vm.lines().find(|l| l.starts_with("VmHWM")).unwrap().to_string();
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        eprintln!(
            "BENCH {unit:?} len {} nodes {} content {} warnings {:?} {:.2}s {}",
            text.len(),
            p.tree.nodes.len(),
            total,
            p.warnings.len(),
            b - a,
            vm
        );
    }
}
