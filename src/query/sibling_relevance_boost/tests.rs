use super::*;
use crate::query::{candidates, query_parser};
use crate::store::reader::NodeFilter;
use crate::store::reader::database_builder_testing::{TestDatabaseBuilder, work_of};

const TALK: &str = "
    = talk.md
    heading Talk
      text Ana: Shall we paint the harbour mill?
      text Ben: Let me think about it.
      text Ana: Take your time.
      text Ben: Yes, in blue.
      text Ana: Fine.
";

fn outline(text: &str) -> String {
    text.lines().map(|it| it.strip_prefix("    ").unwrap_or(it)).collect::<Vec<_>>().join("\n")
}

fn vicinity(reader: &Reader, query: &str) -> (SiblingBoostedScores, Vec<NodeMatch>) {
    let terms = query_parser::parse_query(query).terms;
    let matches = candidates::match_words(reader, &terms, NodeFilter::default(), 200).unwrap();
    (SiblingBoostedScores::of(reader, &matches, &AskedSpeakers::default()).unwrap(), matches)
}

#[test]
fn a_match_gives_its_words_to_two_texts_before_and_after() {
    let reader = TestDatabaseBuilder::of(&outline(TALK));
    let (vicinity, matches) = vicinity(&reader, "harbour mill");
    let own = vicinity.relevance(NodeRowId(2)).unwrap();
    let share = |key| vicinity.relevance(NodeRowId(key)).map(|it| format!("{:.2}", it / own));
    assert_eq!(share(3).as_deref(), Some("0.60"));
    assert_eq!(share(4).as_deref(), Some("0.35"));
    assert_eq!(share(5), None);
    assert_eq!(vicinity.unmatched(&matches), [NodeRowId(3), NodeRowId(4)]);
    assert_eq!(vicinity.n_siblings(Some(NodeRowId(1))), 5);
    assert!((vicinity.share(NodeRowId(3)) - 0.6).abs() < 1e-9);
}

#[test]
fn the_first_text_under_a_heading_is_an_opening() {
    let reader = TestDatabaseBuilder::of(&outline(TALK));
    let openings = |query: &str| {
        let (found, _) = vicinity(&reader, query);
        (1..=6).filter(|it| found.is_opening(NodeRowId(*it))).collect::<Vec<i64>>()
    };
    assert_eq!(openings("harbour mill"), [2]);
    assert_eq!(openings("think about it"), [2]);
    assert_eq!(openings("fine"), Vec::<i64>::new());
}

#[test]
fn a_word_counts_once_where_it_is_nearest() {
    let reader =
        TestDatabaseBuilder::of("= a.md\nheading A\n  text mill\n  text mill\n  text mill");
    let (vicinity, _) = vicinity(&reader, "mill");
    let relevance = [2, 3, 4].map(|it| vicinity.relevance(NodeRowId(it)).unwrap());
    assert!((relevance[0] - relevance[1]).abs() < 1e-9, "{relevance:?}");
}

#[test]
fn headings_and_other_sections_give_nothing() {
    let reader = TestDatabaseBuilder::of("= a.md\nheading mill\n  text one\nheading B\n  text two");
    let (vicinity, matches) = vicinity(&reader, "mill");
    assert!(!matches.is_empty());
    assert_eq!(vicinity.relevance(NodeRowId(4)), None);
}

#[test]
fn long_sections_are_read_in_part() {
    let mut sketch = TestDatabaseBuilder::new();
    sketch.file("log.md");
    sketch.node(0, "heading", "Log");
    for nth in 0..5_000 {
        let text = if nth == 2_500 { "the mill" } else { "nothing" };
        sketch.node(1, "text", &format!("{text} {nth}"));
    }
    let reader = sketch.done();
    let (found, matches) = vicinity(&reader, "mill");
    assert_eq!(found.unmatched(&matches), [2_503, 2_501, 2_500, 2_504].map(NodeRowId));
    let speakers = AskedSpeakers::default();
    let work = work_of(|| drop(SiblingBoostedScores::of(&reader, &matches, &speakers)));
    assert!(work < 2_000, "{work} steps");
}
