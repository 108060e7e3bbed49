use super::*;
use crate::query::parse_query;
use crate::store::reader::database_builder_testing::TestDatabaseBuilder;

const NOTES: &str = "
= 备忘.md
heading 备忘
  text 我喜欢在北京吃烤鸭。
  text 明天去上海开会。
";

/// Returns the units of a query's terms.
fn units(query: &str) -> Vec<TermUnitKind> {
    let reader = TestDatabaseBuilder::of(NOTES);
    let terms = parse_query(query).terms;
    let found = whole_or_in_bigrams(&reader, NodeFilter::default(), terms).unwrap();
    found.into_iter().map(|it| it.unit).collect()
}

#[test]
fn a_short_run_that_no_node_has_is_its_bigrams() {
    let bigrams = [['上', '海'], ['海', '会'], ['会', '议']].map(TermUnitKind::Bigram);
    assert_eq!(units("上海会议"), bigrams);
    assert_eq!(units("上海会议 上海"), bigrams);
    assert_eq!(units("吃烤鸭"), [TermUnitKind::ShortRun("吃烤鸭".to_owned())]);
}

#[test]
fn an_absent_bigram_counts_nothing_beside_one_that_is_there_or_with_a_particle() {
    let pairs = [['北', '京'], ['京', '塔'], ['塔', '天'], ['天', '吗']];
    let terms: Vec<Term> = pairs.into_iter().filter_map(Term::of_bigram).collect();
    let shares = pairs[1..].iter().map(|it| share_of_absent(*it, &terms, 0b1110));
    assert_eq!(shares.collect::<Vec<_>>(), [0.0, ABSENT_SHARE, 0.0]);
}
