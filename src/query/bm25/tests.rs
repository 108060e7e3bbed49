use super::*;

/// Checks the ranking of texts for `lease` and, twice as rare, `lock`.
#[track_caller]
fn check(texts: &[(&str, u64)], best: &[usize]) {
    let sought = |word, rarity| QueryTerm { stems: vec![Stem::of(word)], rarity };
    let bags: Vec<(BagOfWords, u64)> =
        texts.iter().map(|&(text, has)| (BagOfWords::of(&[], text), has)).collect();
    let texts: Vec<Bm25Document<'_>> =
        bags.iter().map(|(bag, has)| Bm25Document { bag, has: *has }).collect();
    let found = bm25_scores(&[sought("lease", 1.0), sought("lock", 2.0)], &texts);
    let found: Vec<f64> = found.iter().map(|it| it.iter().sum()).collect();
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by(|&a, &b| found[b].total_cmp(&found[a]));
    assert_eq!(order, best, "{found:?}");
}

#[test]
fn rare_words_count_more_and_both_most() {
    check(&[("a lease here", 0), ("a lock here", 0), ("locks and leases", 0)], &[2, 1, 0]);
}

#[test]
fn more_uses_count_and_length_counts_against() {
    check(&[("lock and key", 0), ("lock, locks, locked", 0)], &[1, 0]);
    check(&[("a lock, and a long text about something else", 0), ("a lock", 0)], &[1, 0]);
}

#[test]
fn terms_known_to_the_index_are_present() {
    check(&[("nothing of it", 0), ("nothing of it", 0b10), ("a lease", 0)], &[1, 2, 0]);
}

#[test]
fn no_words_and_no_texts_score_nothing() {
    check(&[("", 0), ("", 0)], &[0, 1]);
    assert_eq!(bm25_scores(&[], &[]), Vec::<Vec<f64>>::new());
}
