//! Layouts of whole replies, and what holds for every reply.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::clock::Millis;
use crate::heat::Lines;
use crate::store::reader::testing::Sketch;
use crate::tokens;
use crate::tree::NodeType;

const NOTES: &str = r"
= a.md
heading Alpha
  text One paragraph about the lease of a lock.
  heading Beta
    text The timeout is thirty seconds.\nIt never changes.
    code fn main() {}
= docs/limits.md
heading Rate limits
  text Requests are limited: the rate-limit is 100 a minute.
  text What's up? Not much.
  list - C++\n- a/b
= 日本.md
heading 概要
  text 日本語テキストの検索について。
";

fn label(query: &str) -> Search<'_> {
    Search { query, ..Search::default() }
}

fn id_of(reader: &Reader, query: &str) -> String {
    let answer = search(reader, &Search { query, limit: Some(1), ..Search::default() }).unwrap();
    answer.structured["hits"][0]["id"].as_str().unwrap().to_owned()
}

#[track_caller]
fn check(reader: &Reader, ask: &Search<'_>, text: Expect) {
    text.assert_eq(&search(reader, ask).unwrap().text);
}

#[track_caller]
fn check_tree(reader: &Reader, root: Option<&str>, levels: u32, budget: Option<u32>, text: Expect) {
    let answer = tree(reader, &Tree { root, levels, budget }).unwrap();
    assert_eq!(answer.warmed, []);
    text.assert_eq(&answer.text);
}

#[track_caller]
fn check_fetch(reader: &Reader, anchor: &str, budget: Option<u32>, text: Expect) {
    text.assert_eq(&fetch(reader, &Fetch { anchor, budget, levels: 32 }).unwrap().text);
}

/// Makes an edge between the nodes with those keys.
fn edge(sketch: &Sketch, from: usize, to: usize, weight: f64) {
    sketch.run(&format!(
        "INSERT INTO reference (source, origin, form, label, weight, target)
         VALUES ({from}, 'parsed', 'wiki', '{from}-{to}', {weight}, {to})"
    ));
}

fn ask_related(anchor: &str) -> Related<'_> {
    let direction = Direction::Both;
    Related { anchor, direction, depth: None, budget: None, weight_min: 0.0 }
}

#[test]
fn related_nodes_come_once_heaviest_first() {
    let mut sketch = Sketch::new();
    sketch.file("a.md");
    let ids: Vec<String> =
        ["A", "B", "C", "D", "E"].iter().map(|it| sketch.node(0, "heading", it)).collect();
    // A ring with a chord, a way of two hops that is heavier, an edge to oneself, one twice.
    for (from, to, weight) in
        [(1, 2, 1.0), (2, 3, 2.0), (1, 4, 0.5), (4, 3, 9.0), (3, 1, 0.25), (1, 1, 7.0), (3, 5, 1.0)]
    {
        edge(&sketch, from, to, weight);
    }
    edge(&sketch, 1, 2, 3.0);
    let reader = sketch.done();
    let text = |ask: Related<'_>| related(&reader, &ask).unwrap().text + "\n";
    let ask = ask_related(&ids[0]);
    let mut all = text(ask);
    all += &text(Related { direction: Direction::Out, depth: Some(2), ..ask });
    all += &text(Related { direction: Direction::In, depth: Some(0), ..ask });
    all += &text(Related { depth: Some(99), weight_min: 0.6, ..ask });
    all += &text(Related { weight_min: 4.0, ..ask });
    all += &text(Related { budget: Some(50), depth: Some(5), ..ask });
    all += &text(Related { budget: Some(1), ..ask });
    expect![[r#"
        [heading] B (id=EH8muSHBLMx file=a.md hop=1 weight=3.00 temp=0.50 tok=1)
        [heading] D (id=E8jTPLwjz19 file=a.md hop=1 weight=0.50 temp=0.50 tok=1)
        [heading] C (id=GicldcWXGoZ file=a.md hop=1 weight=0.25 temp=0.50 tok=1)
        [heading] C (id=GicldcWXGoZ file=a.md hop=2 weight=9.50 temp=0.50 tok=1)
        [heading] B (id=EH8muSHBLMx file=a.md hop=1 weight=3.00 temp=0.50 tok=1)
        [heading] D (id=E8jTPLwjz19 file=a.md hop=1 weight=0.50 temp=0.50 tok=1)
        [heading] C (id=GicldcWXGoZ file=a.md hop=1 weight=0.25 temp=0.50 tok=1)
        [heading] D (id=E8jTPLwjz19 file=a.md hop=3 weight=14.00 temp=0.50 tok=1)
        [heading] E (id=022hmORtkwA file=a.md hop=3 weight=6.00 temp=0.50 tok=1)
        [heading] C (id=GicldcWXGoZ file=a.md hop=2 weight=5.00 temp=0.50 tok=1)
        [heading] B (id=EH8muSHBLMx file=a.md hop=1 weight=3.00 temp=0.50 tok=1)
        no related nodes
        [heading] B (id=EH8muSHBLMx file=a.md hop=1 weight=3.00 temp=0.50 tok=1)
        … 3 more nodes, 107 tokens
        …
    "#]]
    .assert_eq(&all);
    let error = related(&reader, &ask_related("nonsense")).unwrap_err().to_string();
    assert!(error.starts_with("no node `nonsense`"), "{error}");
}

#[test]
fn what_was_cut_is_not_warmed() {
    let mut sketch = Sketch::new();
    sketch.file("a.md");
    let first = sketch.node(0, "heading", "Hub");
    for nth in 2..=200 {
        sketch.node(0, "heading", &format!("Spoke {nth}"));
        edge(&sketch, 1, nth, 1.0);
    }
    let reader = sketch.done();
    for budget in [1, 20, 100, 1_000, 1_000_000] {
        let answer =
            related(&reader, &Related { budget: Some(budget), ..ask_related(&first) }).unwrap();
        assert!(tokens::count(&answer.text) <= budget, "{budget}: {}", answer.text);
        let n_lines = answer.text.lines().filter(|it| it.contains("hop=1")).count();
        assert_eq!(answer.warmed.len(), n_lines);
        assert_eq!(answer.structured["nodes"].as_array().unwrap().len(), n_lines);
        assert!(n_lines <= 100);
        assert_eq!(answer.structured["more"], true);
    }
}

#[test]
fn a_clique_is_walked_once() {
    let mut sketch = Sketch::new();
    sketch.file("a.md");
    let first = sketch.node(0, "heading", "Node 1");
    for nth in 2..=40 {
        sketch.node(0, "heading", &format!("Node {nth}"));
    }
    for from in 1..=40 {
        for to in (1..=40).filter(|it| *it != from) {
            edge(&sketch, from, to, 1.0);
        }
    }
    let reader = sketch.done();
    let ask = Related { depth: Some(5), budget: Some(10_000), ..ask_related(&first) };
    let answer = related(&reader, &ask).unwrap();
    assert_eq!(answer.text.matches("hop=1 weight=1.00").count(), 39);
}

#[test]
fn the_best_hit_is_the_last_line() {
    let reader = Sketch::of(NOTES);
    check(
        &reader,
        &label("rate limit"),
        expect![[r#"
            [text] What's up? Not much. (id=3rjw82xWzLo file=docs/limits.md score=0.03 temp=0.50 tok=7)
            [list] - C++ (id=84AoZaPAU3j file=docs/limits.md score=0.09 temp=0.50 tok=6)
            [text] Requests are limited: the rate-limit is 100 a minute. (id=HoIgyuTwbmK file=docs/limits.md score=0.24 temp=0.50 tok=13)
            [heading] Rate limits (id=6l9WlgUKpM7 file=docs/limits.md score=0.65 temp=0.50 tok=2)"#]],
    );
    check(&reader, &label("zebra"), expect!["no results"]);
}

#[test]
fn every_odd_query_answers() {
    let reader = Sketch::of(NOTES);
    for query in [
        "what's up?",
        "rate-limit",
        "C++",
        "C",
        "NOT NULL",
        "a/b",
        "\"",
        "",
        " ",
        "\0",
        "lease\0lock",
        "日本語",
        "本",
        "検索",
        "AND",
        "OR OR",
        "NEAR(",
        "NEAR(a b",
        "(lease",
        "lease)",
        "label:",
        "label:rate",
        "-label:rate",
        "{label trail} : rate",
        "^lease",
        "lease*",
        "*",
        "''",
        "; DROP",
        "rate AND",
        "lease AND (lock OR",
        "a:b:c",
        "\u{fffd}",
        "\u{10ffff}",
        "--",
        "/*",
    ] {
        let answer = search(&reader, &label(query)).unwrap();
        assert!(!answer.text.is_empty());
    }
    let found = |query| search(&reader, &label(query)).unwrap().text;
    assert!(found("what's up?").contains("[text] What's up? Not much. (id="));
    for query in ["日本語", "本語", "語", "テキスト", "日本語 zebra"] {
        assert!(found(query).contains("日本語テキスト"), "{query}");
    }
    for query in ["C++", "a/b", "C#"] {
        assert!(found(query).contains("C++"), "{query}: {}", found(query));
    }
}

#[test]
fn operators_are_honoured_where_they_parse() {
    let reader = Sketch::of(NOTES);
    let n_hits = |query| search(&reader, &label(query)).unwrap().structured["matches"].clone();
    assert_eq!(n_hits("lease AND lock"), 1);
    assert_eq!(n_hits("lease AND timeout"), 0);
    assert_eq!(n_hits("lease OR timeout"), 2);
    assert_eq!(n_hits("paragraph NOT lease"), 0);
    assert_eq!(n_hits("label : never"), 0);
    assert_eq!(n_hits("NEAR(lease lock, 3)"), 1);
    // What does not parse is words.
    assert_eq!(n_hits("(lease AND timeout"), 2);
}

#[test]
fn a_type_is_a_filter_and_no_text() {
    let reader = Sketch::of(NOTES);
    let n_hits = |ask: &Search<'_>| search(&reader, ask).unwrap().structured["matches"].clone();
    assert_eq!(n_hits(&label("heading")), 0);
    let ask = Search { node_type: Some(NodeType::Heading), ..label("rate limits") };
    assert_eq!(n_hits(&ask), 1);
}

#[test]
fn details_follow_their_hit() {
    let reader = Sketch::of(NOTES);
    let ask = Search { detail: Detail::Snippet, limit: Some(2), ..label("timeouts lease") };
    check(
        &reader,
        &ask,
        expect![[r#"
            [text] One paragraph about the lease of a lock. (id=EKqTrLiHoYm file=a.md score=0.63 temp=0.50 tok=9)
            [text] The timeout is thirty seconds. (id=5N109tgyWXQ file=a.md score=0.65 temp=0.50 tok=10)
              …It never changes."#]],
    );
    let ask = Search { detail: Detail::Full, limit: Some(2), ..label("timeouts lease") };
    check(
        &reader,
        &ask,
        expect![[r#"
            [text] One paragraph about the lease of a lock. (id=EKqTrLiHoYm file=a.md score=0.63 temp=0.50 tok=9)
            One paragraph about the lease of a lock.

            ---

            [text] The timeout is thirty seconds. (id=5N109tgyWXQ file=a.md score=0.65 temp=0.50 tok=10)
            The timeout is thirty seconds.
            It never changes.
        "#]],
    );
}

#[test]
fn what_does_not_fit_is_counted() {
    let reader = Sketch::of(NOTES);
    check(
        &reader,
        &Search { budget: Some(90), ..label("rate lease timeout") },
        expect![[r#"
            … 5 more hits, 204 tokens
            [text] One paragraph about the lease of a lock. (id=EKqTrLiHoYm file=a.md score=0.63 temp=0.50 tok=9)
            [text] The timeout is thirty seconds. (id=5N109tgyWXQ file=a.md score=0.65 temp=0.50 tok=10)"#]],
    );
    check(
        &reader,
        &Search { budget: Some(12), ..label("rate lease timeout") },
        expect!["… 7 more hits, 245 tokens"],
    );
    check(&reader, &Search { budget: Some(1), ..label("rate lease timeout") }, expect!["…"]);
    let full = Search { detail: Detail::Full, budget: Some(50), ..label("timeout") };
    check(
        &reader,
        &full,
        expect![[r#"
        [text] The timeout is thirty seconds. (id=5N109tgyWXQ file=a.md score=0.65 temp=0.50 tok=10)
        The timeout is thirty seconds.
        It never changes.
    "#]],
    );
}

#[test]
fn a_tree_names_each_file_once() {
    let reader = Sketch::of(NOTES);
    check_tree(
        &reader,
        None,
        5,
        None,
        expect![[r#"
        [heading] Alpha (id=4B6DkBtBxHZ file=a.md temp=0.50 tok=1)
          [text] One paragraph about the lease of a lock. (id=EKqTrLiHoYm temp=0.50 tok=9)
          [heading] Beta (id=3eDS1v6Lm4B temp=0.50 tok=1)
            [text] The timeout is thirty seconds. (id=5N109tgyWXQ temp=0.50 tok=10)
            [code] fn main() {} (id=CuOg047SQaT temp=0.50 tok=4)
        [heading] Rate limits (id=6l9WlgUKpM7 file=docs/limits.md temp=0.50 tok=2)
          [text] Requests are limited: the rate-limit is 100 a minute. (id=HoIgyuTwbmK temp=0.50 tok=13)
          [text] What's up? Not much. (id=3rjw82xWzLo temp=0.50 tok=7)
          [list] - C++ (id=84AoZaPAU3j temp=0.50 tok=6)
        [heading] 概要 (id=HjOjlEuYfQc file=日本.md temp=0.50 tok=3)
          [text] 日本語テキストの検索について。 (id=CftiEeaqLt1 temp=0.50 tok=17)
    "#]],
    );
    check_tree(&Sketch::of(""), None, 5, None, expect!["empty tree"]);
}

#[test]
fn depth_counts_levels_below_the_roots() {
    let reader = Sketch::of(NOTES);
    let root = id_of(&reader, "alpha");
    check_tree(
        &reader,
        Some(&root),
        0,
        None,
        expect![[r#"
        [heading] Alpha (id=4B6DkBtBxHZ file=a.md temp=0.50 tok=1)
    "#]],
    );
    check_tree(
        &reader,
        Some(&root),
        1,
        None,
        expect![[r#"
        [heading] Alpha (id=4B6DkBtBxHZ file=a.md temp=0.50 tok=1)
          [text] One paragraph about the lease of a lock. (id=EKqTrLiHoYm temp=0.50 tok=9)
          [heading] Beta (id=3eDS1v6Lm4B temp=0.50 tok=1)
    "#]],
    );
}

#[test]
fn what_does_not_fit_is_folded_at_its_place() {
    let reader = Sketch::of(NOTES);
    check_tree(
        &reader,
        None,
        5,
        Some(150),
        expect![[r#"
            [heading] Alpha (id=4B6DkBtBxHZ file=a.md temp=0.50 tok=1)
              … 4 more nodes, 24 tok
            [heading] Rate limits (id=6l9WlgUKpM7 file=docs/limits.md temp=0.50 tok=2)
              … 3 more nodes, 26 tok
            [heading] 概要 (id=HjOjlEuYfQc file=日本.md temp=0.50 tok=3)
              … 1 more node, 17 tok
        "#]],
    );
    check_tree(
        &reader,
        None,
        5,
        Some(20),
        expect![[r#"
        … 11 more nodes, 73 tok
    "#]],
    );
    check_tree(&reader, None, 5, Some(2), expect!["…"]);
}

#[test]
fn the_hottest_are_kept_first() {
    let mut sketch = Sketch::new();
    sketch.file("a.md");
    for at in 0..300 {
        sketch.node(0, "heading", &format!("Section {at}"));
        if at == 250 {
            sketch.warm(0.9);
        }
        sketch.node(1, "text", &format!("Words of {at}"));
    }
    check_tree(
        &sketch.done(),
        None,
        5,
        Some(100),
        expect![[r#"
            [heading] Section 0 (id=3vZaCu0wxwV file=a.md temp=0.50 tok=3)
              … 1 more node, 4 tok
            [heading] Section 250 (id=IZbFvveBpqp file=a.md temp=0.90 tok=3)
              … 1 more node, 4 tok
            … 596 more nodes, 2k tok
        "#]],
    );
}

#[test]
fn the_anchor_is_the_last_block() {
    let reader = Sketch::of(NOTES);
    check_fetch(
        &reader,
        &id_of(&reader, "beta"),
        None,
        expect![[r#"
        [heading] (id=4B6DkBtBxHZ file=a.md score=0.43)
        Alpha

        ---

        [text] (id=EKqTrLiHoYm file=a.md score=0.32)
        One paragraph about the lease of a lock.

        ---

        [text] (id=5N109tgyWXQ file=a.md score=0.43)
        The timeout is thirty seconds.
        It never changes.

        ---

        [code] (id=CuOg047SQaT file=a.md score=0.43)
        fn main() {}

        ---

        [heading] (id=3eDS1v6Lm4B file=a.md score=0.65)
        Beta
    "#]],
    );
    check_fetch(
        &reader,
        &id_of(&reader, "timeout"),
        None,
        expect![[r#"
        [heading] (id=4B6DkBtBxHZ file=a.md score=0.32)
        Alpha

        ---

        [heading] (id=3eDS1v6Lm4B file=a.md score=0.43)
        Beta

        ---

        [code] (id=CuOg047SQaT file=a.md score=0.32)
        fn main() {}

        ---

        [text] (id=5N109tgyWXQ file=a.md score=0.65)
        The timeout is thirty seconds.
        It never changes.
    "#]],
    );
}

#[test]
fn a_parent_comes_before_a_hot_cousin() {
    let mut sketch = Sketch::new();
    sketch.file("a.md");
    sketch.node(0, "heading", "Alpha and what it is about");
    sketch.warm(0.0);
    sketch.node(1, "text", "A cousin that everybody reads, with many words to say.");
    sketch.warm(1.0);
    let anchor = sketch.node(1, "text", "The anchor.");
    check_fetch(
        &sketch.done(),
        &anchor,
        Some(90),
        expect![[r#"
            … 1 more node, 39 tokens

            ---

            [heading] (id=CRgfrQTLH1Y file=a.md score=0.20)
            Alpha and what it is about

            ---

            [text] (id=J9edHsIEHfB file=a.md score=0.65)
            The anchor.
        "#]],
    );
}

#[test]
fn a_node_without_text_shows_its_parts() {
    let mut sketch = Sketch::new();
    sketch.file("a.md");
    sketch.node(0, "heading", "Alpha");
    let anchor = sketch.node(1, "code", "");
    sketch.node(2, "code", "first part");
    sketch.node(2, "code", "second part");
    check_fetch(
        &sketch.done(),
        &anchor,
        None,
        expect![[r#"
        [heading] (id=4B6DkBtBxHZ file=a.md score=0.43)
        Alpha

        ---

        [code] (id=KLfVMcBnin5 file=a.md score=0.43)
        first part

        ---

        [code] (id=Hgsymw3p2Uj file=a.md score=0.43)
        second part

        ---

        [code] (id=4PBa5i1uYCd file=a.md score=0.65)
    "#]],
    );
}

#[test]
fn an_anchor_too_large_is_cut_and_says_what_it_needs() {
    let mut sketch = Sketch::new();
    sketch.file("a.md");
    let anchor = sketch.node(0, "text", &"many words ".repeat(50));
    let reader = sketch.done();
    check_fetch(
        &reader,
        &anchor,
        Some(70),
        expect![[r#"
            [text] (id=Fuuh093PDZN file=a.md score=0.65)
            many words many words many words many words many words many words many words many words many words many words many words many words many words many words many words many words many words many words many wor
            … cut: all of it needs 122 tokens
        "#]],
    );
    check_fetch(&reader, &anchor, Some(20), expect!["… `Fuuh093PDZN` needs 122 tokens"]);
}

#[test]
fn an_unknown_anchor_names_the_nearest() {
    let reader = Sketch::of(NOTES);
    let error = |anchor: &str| {
        fetch(&reader, &Fetch { anchor, budget: None, levels: 1 }).unwrap_err().to_string()
    };
    let near = format!("{}0", &id_of(&reader, "beta")[..10]);
    let text = format!(
        "{}\n{}\n{}\n{}",
        error(&near),
        error("rate limits"),
        error("\0"),
        error(&"x".repeat(9999))
    );
    expect![[r#"
        no node `3eDS1v6Lm40`; nearest: `3eDS1v6Lm4B` Beta
        no node `rate limits`; nearest: `6l9WlgUKpM7` Rate limits, `HoIgyuTwbmK` Requests are limited: the rate-limit is 100 a minute., `84AoZaPAU3j` - C++
        no node ` `; find one with a search
        no node `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…`; find one with a search"#]].assert_eq(&text);
}

#[test]
fn a_batch_keeps_the_order_asked_for() {
    let reader = Sketch::of(NOTES);
    let (beta, timeout) = (id_of(&reader, "beta"), id_of(&reader, "timeout"));
    let text = |ids: &[&str], budget| match fetch_batch(&reader, ids, budget) {
        Ok(answer) => answer.text,
        Err(error) => format!("error: {error}"),
    };
    let all = [&*timeout, "nope", &beta, &timeout, "b\0\nad"];
    expect![[r#"
        [text] (id=5N109tgyWXQ file=a.md score=0.65)
        The timeout is thirty seconds.
        It never changes.

        ---

        [heading] (id=3eDS1v6Lm4B file=a.md score=0.65)
        Beta

        ---

        not found: nope, b  ad
    "#]]
    .assert_eq(&text(&all, None));
    expect![[r#"
        [heading] (id=3eDS1v6Lm4B file=a.md score=0.65)
        Beta

        ---

        not found: nope, b  ad

        ---

        over budget: 5N109tgyWXQ
    "#]]
    .assert_eq(&text(&all, Some(55)));
    expect!["…"].assert_eq(&text(&all, Some(12)));
    expect!["error: `node_ids` must be non-empty"].assert_eq(&text(&[], None));
    expect!["error: `node_ids` exceeds cap 256: 257 ids; ask in several calls"]
        .assert_eq(&text(&["x"; 257], None));
}

#[test]
fn statistics_are_those_of_the_whole_memory() {
    let mut sketch = Sketch::new();
    sketch.file("a.md");
    sketch.node(0, "heading", "Alpha");
    sketch.node(1, "text", "One paragraph.");
    sketch.warm(0.05);
    sketch.run(
        "INSERT INTO snapshot (id, cursor_hash, message, compile_root, created_at)
         VALUES (1, '954be40de17947ee', 'first', '/notes', 1000),
                (2, '0000000000000000', 'second', '/notes', 2000);
         INSERT INTO cursor (name, snapshot, updated_at) VALUES ('HEAD', 1, 3000);
         UPDATE heat SET pinned = 1 WHERE node = 1;",
    );
    let answer = stats(&sketch.done(), Lines::default(), Millis(200_000)).unwrap();
    expect![[r#"
        Database: :memory:
        Nodes:                2 (4 tokens)
            ├─ heading:       1
            └─ text:          1
        Snapshots:            2
            ├─ latest:        #1, 3m ago, "first"
            └─ cursor:        954be40de17947ee
        Temperature:         
            ├─ avg:           0.28
            ├─ median:        0.50
            ├─ hot (>=0.5):   1
            ├─ cold (<0.1):   1
            └─ pinned:        1
        Relations:            0
        FTS rows:             2
    "#]]
    .assert_eq(&answer.text);
}

/// Every reading tool, by number.
fn ask(reader: &Reader, tool: u8, words: &str, ids: &[String], budget: u32) -> Option<Answer> {
    let budget = Some(budget);
    let id = ids.first().map_or("none", String::as_str);
    let batch: Vec<&str> = ids.iter().map(String::as_str).chain(words.split(' ')).collect();
    let detail = |detail| Search { query: words, budget, detail, ..Search::default() };
    let levels = u32::from(tool) / 8;
    match tool % 8 {
        0 => search(reader, &detail(Detail::Label)).ok(),
        1 => search(reader, &detail(Detail::Snippet)).ok(),
        2 => search(reader, &detail(Detail::Full)).ok(),
        3 => tree(reader, &Tree { root: None, levels, budget }).ok(),
        4 => tree(reader, &Tree { root: Some(id), levels, budget }).ok(),
        5 | 6 => fetch(reader, &Fetch { anchor: id, budget, levels }).ok(),
        _ => fetch_batch(reader, &batch, budget).ok(),
    }
}

fn corpus() -> impl Strategy<Value = Vec<(usize, usize, String, f64)>> {
    let words = prop_oneof![
        "(alpha|beta|gamma|rate-limit|日本語テキスト|C\\+\\+|the|\n|\n\n| ){1,60}",
        "\\PC{0,80}",
        "(alpha |beta ){200,900}",
        Just(String::new()),
    ];
    proptest::collection::vec((0..6usize, 0..8usize, words, 0.0..1.0), 1..40)
}

fn memory(corpus: &[(usize, usize, String, f64)]) -> (Reader, Vec<String>) {
    let mut sketch = Sketch::new();
    let mut ids = Vec::new();
    let mut depth = 0;
    for (at, (wanted, node_type, content, temperature)) in corpus.iter().enumerate() {
        if at % 9 == 0 {
            sketch.file(&format!("folder/note {at}.md"));
            depth = 0;
        }
        let wanted = (*wanted).min(depth);
        ids.push(sketch.node(wanted, NodeType::ALL[*node_type].as_str(), content));
        sketch.warm(*temperature);
        depth = wanted + 1;
    }
    (sketch.done(), ids)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_size_that_a_cut_names_suffices(content in "(many |words|日本|\n|\\PC| ){30,90}") {
        let mut sketch = Sketch::new();
        sketch.file("a.md");
        let anchor = sketch.node(0, "text", &content);
        let reader = sketch.done();
        let text = |budget| fetch(&reader, &Fetch { anchor: &anchor, budget, levels: 1 }).unwrap().text;
        let cut = text(Some(40));
        let Some((_, needs)) = cut.rsplit_once("needs ") else { return Ok(()) };
        let needed: u32 = needs.split(' ').next().unwrap().parse().unwrap();
        let whole = text(Some(needed));
        prop_assert!(whole.contains(&content), "{whole}");
    }

    #[test]
    fn replies_keep_their_budget(
        corpus in corpus(),
        calls in proptest::collection::vec(
            (any::<u8>(), "(alpha|beta|日本|rate-limit|\\PC| ){0,8}", any::<prop::sample::Index>(),
             prop_oneof![1..40u32, 40..400u32, 400..5000u32]),
            25,
        ),
    ) {
        let (reader, ids) = memory(&corpus);
        for (tool, words, at, budget) in calls {
            let from = at.index(ids.len());
            let Some(answer) = ask(&reader, tool, &words, &ids[from..], budget) else { continue };
            let counted = tokens::count(&answer.text);
            prop_assert!(counted <= budget, "{counted} of {budget}, tool {}:\n{}", tool % 8, answer.text);
            prop_assert!(!answer.text.is_empty());
        }
    }

    #[test]
    fn no_query_is_an_error(
        query in prop_oneof![
            "\\PC{0,60}",
            "(\"|\\(|\\)|AND|OR|NOT|NEAR\\(|label|:|\\*|\\{|\\}|-|,|\\^|\\+|日本|a|b|5| |\\x00){0,24}",
        ],
    ) {
        static NOTES_READ: std::sync::LazyLock<std::sync::Mutex<Reader>> =
            std::sync::LazyLock::new(|| std::sync::Mutex::new(Sketch::of(NOTES)));
        let reader = NOTES_READ.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let answer = search(&reader, &label(&query));
        prop_assert!(answer.is_ok(), "{query:?}: {:?}", answer);
    }

    #[test]
    fn any_bytes_are_a_query(data in proptest::collection::vec(any::<u8>(), 0..120)) {
        crate::fuzzing::query::query(&data);
    }

    #[test]
    fn any_two_characters_find_the_run(
        run in "[一-龥ぁ-んァ-ン가-힣ก-ฮ]{2,12}", around in "[a-z .]{0,5}", at in any::<prop::sample::Index>(),
    ) {
        let reader = Sketch::of(&format!("= a.md\ntext {around}{run}{around}x"));
        let letters: Vec<char> = run.chars().collect();
        let from = at.index(letters.len() - 1);
        for n in 1..=(letters.len() - from) {
            let part: String = letters[from..from + n].iter().collect();
            prop_assert!(search(&reader, &label(&part)).unwrap().text.contains("(id="), "{part} in {run}");
        }
    }
}
