//! Tests for the layouts of whole replies, and invariants of every reply.

mod answerability;
mod batch_fetches;
mod dated_questions;
mod fetches;
mod filled_replies;
mod outlines;
mod searches;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::fuzzing::random_cases::n_cases;
use crate::model::clock::UnixMillis;
use crate::model::tree::NodeType;
use crate::store::reader::ArchivedVisibility;
use crate::store::reader::database_builder_testing::TestDatabaseBuilder;
use crate::text::tokens;

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

fn asked(reader: &Reader, query: Query<'_>, budget: Option<u32>) -> Result<Answer, Error> {
    let options = QueryOptions { budget, ..QueryOptions::text(UnixMillis(200_000)) };
    answer(reader, &query, &options)
}

fn structured(reader: &Reader, query: Query<'_>, budget: Option<u32>) -> Result<Answer, Error> {
    let output = OutputFormat::Structured;
    let options = QueryOptions { budget, output, ..QueryOptions::text(UnixMillis(200_000)) };
    answer(reader, &query, &options)
}

fn search(reader: &Reader, query: &SearchQuery<'_>) -> Result<Answer, Error> {
    asked(reader, Query::Search(*query), None)
}

fn fetch(reader: &Reader, anchor: &str, budget: Option<u32>) -> Result<Answer, Error> {
    asked(reader, Query::Fetch(FetchQuery { anchor, levels: 32, ..FetchQuery::default() }), budget)
}

/// Returns the hits of a search as JSON.
fn found(reader: &Reader, query: &SearchQuery<'_>) -> Value {
    structured(reader, Query::Search(*query), None).unwrap().structured
}

fn label(query: &str) -> SearchQuery<'_> {
    SearchQuery { query, ..SearchQuery::default() }
}

fn id_of(reader: &Reader, query: &str) -> String {
    let hits = found(reader, &SearchQuery { limit: Some(1), ..label(query) });
    hits["hits"][0]["id"].as_str().unwrap().to_owned()
}

#[track_caller]
fn check(reader: &Reader, query: &SearchQuery<'_>, budget: Option<u32>, text: Expect) {
    text.assert_eq(&asked(reader, Query::Search(*query), budget).unwrap().text);
}

#[track_caller]
fn check_tree(reader: &Reader, root: Option<&str>, levels: u32, budget: Option<u32>, text: Expect) {
    let answer = asked(
        reader,
        Query::Tree(TreeQuery { root, levels, archived: ArchivedVisibility::Hidden }),
        budget,
    )
    .unwrap();
    assert_eq!(answer.shown, []);
    text.assert_eq(&answer.text);
}

#[track_caller]
fn check_fetch(reader: &Reader, anchor: &str, budget: Option<u32>, text: Expect) {
    text.assert_eq(&fetch(reader, anchor, budget).unwrap().text);
}

/// Adds an edge between the nodes with those keys.
fn edge(sketch: &TestDatabaseBuilder, from: usize, to: usize, weight: f64) {
    sketch.run(&format!(
        "INSERT INTO reference (source, origin, form, label, weight, target)
         VALUES ({from}, 'parsed', 'wiki', '{from}-{to}', {weight}, {to})"
    ));
}

fn query_related(anchor: &str) -> RelatedQuery<'_> {
    let direction = Direction::Both;
    RelatedQuery {
        anchor,
        direction,
        depth: None,
        weight_min: 0.0,
        archived: ArchivedVisibility::Hidden,
    }
}

#[test]
fn related_nodes_come_once_heaviest_first() {
    let mut sketch = TestDatabaseBuilder::new();
    sketch.file("a.md");
    let ids: Vec<String> =
        ["A", "B", "C", "D", "E"].iter().map(|it| sketch.node(0, "heading", it)).collect();
    // A cycle with a chord, a heavier path of two hops, a self-reference, and a repeated edge.
    for (from, to, weight) in
        [(1, 2, 1.0), (2, 3, 2.0), (1, 4, 0.5), (4, 3, 9.0), (3, 1, 0.25), (1, 1, 7.0), (3, 5, 1.0)]
    {
        edge(&sketch, from, to, weight);
    }
    edge(&sketch, 1, 2, 3.0);
    let reader = sketch.done();
    let within = |query: RelatedQuery<'_>, budget: Option<u32>| {
        asked(&reader, Query::Related(query), budget).unwrap().text + "\n"
    };
    let text = |query| within(query, None);
    let query = query_related(&ids[0]);
    let mut all = text(query);
    all += &text(RelatedQuery { direction: Direction::Out, depth: Some(2), ..query });
    all += &text(RelatedQuery { direction: Direction::In, depth: Some(0), ..query });
    all += &text(RelatedQuery { depth: Some(99), weight_min: 0.6, ..query });
    all += &text(RelatedQuery { weight_min: 4.0, ..query });
    all += &within(RelatedQuery { depth: Some(5), ..query }, Some(50));
    all += &within(query, Some(1));
    expect![[r#"
        [heading] B (id=KYaJzZ4nEeR file=a.md hop=1 weight=3.00 temp=0.50 tok=1)
        [heading] D (id=KYaJIoALlwJ file=a.md hop=1 weight=0.50 temp=0.50 tok=1)
        [heading] C (id=KYaIa9xZkiV file=a.md hop=1 weight=0.25 temp=0.50 tok=1)
        [heading] C (id=KYaIa9xZkiV file=a.md hop=2 weight=9.50 temp=0.50 tok=1)
        [heading] B (id=KYaJzZ4nEeR file=a.md hop=1 weight=3.00 temp=0.50 tok=1)
        [heading] D (id=KYaJIoALlwJ file=a.md hop=1 weight=0.50 temp=0.50 tok=1)
        [heading] C (id=KYaIa9xZkiV file=a.md hop=1 weight=0.25 temp=0.50 tok=1)
        [heading] D (id=KYaJIoALlwJ file=a.md hop=3 weight=14.00 temp=0.50 tok=1)
        [heading] E (id=KYaKGulJSIY file=a.md hop=3 weight=6.00 temp=0.50 tok=1)
        [heading] C (id=KYaIa9xZkiV file=a.md hop=2 weight=5.00 temp=0.50 tok=1)
        [heading] B (id=KYaJzZ4nEeR file=a.md hop=1 weight=3.00 temp=0.50 tok=1)
        no related nodes
        [heading] B (id=KYaJzZ4nEeR file=a.md hop=1 weight=3.00 temp=0.50 tok=1)
        … 3 more nodes, 112 tokens
        …
    "#]]
    .assert_eq(&all);
    let error =
        asked(&reader, Query::Related(query_related("nonsense")), None).unwrap_err().to_string();
    assert!(error.starts_with("no node `nonsense`"), "{error}");
}

#[test]
fn a_related_node_cut_by_the_budget_is_not_warmed() {
    let mut sketch = TestDatabaseBuilder::new();
    sketch.file("a.md");
    let first = sketch.node(0, "heading", "Hub");
    for nth in 2..=200 {
        sketch.node(0, "heading", &format!("Spoke {nth}"));
        edge(&sketch, 1, nth, 1.0);
    }
    let reader = sketch.done();
    for budget in [1, 20, 100, 1_000, 1_000_000] {
        let query = Query::Related(query_related(&first));
        let answer = asked(&reader, query, Some(budget)).unwrap();
        assert!(tokens::count(&answer.text) <= budget, "{budget}: {}", answer.text);
        let n_lines = answer.text.lines().filter(|it| it.contains("hop=1")).count();
        assert_eq!(answer.shown.len(), n_lines);
        assert!(n_lines <= 100);
    }
}

#[test]
fn a_clique_is_walked_in_linear_work() {
    let mut sketch = TestDatabaseBuilder::new();
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
    let query = Query::Related(RelatedQuery { depth: Some(5), ..query_related(&first) });
    let answer = asked(&reader, query, Some(10_000)).unwrap();
    assert_eq!(answer.text.matches("hop=1 weight=1.00").count(), 39);
}

#[test]
fn statistics_are_those_of_the_whole_memory() {
    let mut sketch = TestDatabaseBuilder::new();
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
    let answer = asked(&sketch.done(), Query::Stats, None).unwrap();
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

/// Returns a query of each kind, by number.
fn any_query<'a>(kind: u8, words: &'a str, ids: &'a [String]) -> Query<'a> {
    let id = ids.first().map_or("none", String::as_str);
    let search =
        |detail| Query::Search(SearchQuery { query: words, detail, ..SearchQuery::default() });
    let levels = u32::from(kind) / 8;
    match kind % 8 {
        0 => search(HitDetail::Label),
        1 => search(HitDetail::Snippet),
        2 => search(HitDetail::Full),
        3 => Query::Tree(TreeQuery { root: None, levels, archived: ArchivedVisibility::Shown }),
        4 => {
            Query::Tree(TreeQuery { root: Some(id), levels, archived: ArchivedVisibility::Hidden })
        }
        5 | 6 => Query::Fetch(FetchQuery { anchor: id, levels, ..FetchQuery::default() }),
        _ => Query::Batch(BatchFetchQuery {
            ids: ids.iter().map(String::as_str).chain(words.split(' ')).collect(),
            has_dates: levels == 2,
        }),
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
    let mut sketch = TestDatabaseBuilder::new();
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
        let mut sketch = TestDatabaseBuilder::new();
        sketch.file("a.md");
        let anchor = sketch.node(0, "text", &content);
        let reader = sketch.done();
        let text = |budget| fetch(&reader, &anchor, budget).unwrap().text;
        let cut = text(Some(40));
        let Some((_, needs)) = cut.rsplit_once("needs ") else { return Ok(()) };
        let needed: u32 = needs.split(' ').next().unwrap().parse().unwrap();
        let whole = text(Some(needed));
        prop_assert!(whole.contains(&content.replace('\n', "\n ")), "{whole}");
    }

    #[test]
    fn replies_keep_their_budget(
        corpus in corpus(),
        calls in proptest::collection::vec(
            (any::<u8>(), "(alpha|beta|日本|rate-limit|\\PC| ){0,8}", any::<prop::sample::Index>(),
             prop_oneof![1..40u32, 40..400u32, 400..5000u32]),
            n_cases(10) as usize,
        ),
    ) {
        let (reader, ids) = memory(&corpus);
        for (kind, words, at, budget) in calls {
            let from = at.index(ids.len());
            let query = any_query(kind, &words, &ids[from..]);
            let Ok(answer) = asked(&reader, query.clone(), Some(budget)) else { continue };
            let counted = tokens::count(&answer.text);
            prop_assert!(counted <= budget, "{counted} of {budget}, {query:?}:\n{}", answer.text);
            prop_assert!(!answer.text.is_empty());
            let answer = structured(&reader, query.clone(), Some(budget)).unwrap();
            for form in [answer.text, answer.structured.to_string()] {
                let counted = tokens::count(&form);
                prop_assert!(counted <= budget, "{counted} of {budget}, {query:?}:\n{form}");
            }
        }
    }

    #[test]
    fn no_query_with_a_character_is_an_error(
        query in prop_oneof![
            "\\PC{0,60}",
            "(\"|\\(|\\)|AND|OR|NOT|NEAR\\(|label|:|\\*|\\{|\\}|-|,|\\^|\\+|日本|a|b|5| |\\x00){0,24}",
        ],
    ) {
        prop_assume!(!query.trim().is_empty());
        static NOTES_READ: std::sync::LazyLock<std::sync::Mutex<Reader>> =
            std::sync::LazyLock::new(|| std::sync::Mutex::new(TestDatabaseBuilder::of(NOTES)));
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
        let reader = TestDatabaseBuilder::of(&format!("= a.md\ntext {around}{run}{around}x"));
        let letters: Vec<char> = run.chars().collect();
        let from = at.index(letters.len() - 1);
        for n in 1..=(letters.len() - from) {
            let part: String = letters[from..from + n].iter().collect();
            prop_assert!(search(&reader, &label(&part)).unwrap().text.contains("(id="), "{part} in {run}");
        }
    }
}
