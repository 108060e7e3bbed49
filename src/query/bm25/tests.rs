use super::*;

/// Checks the ranking of texts for `lease` and, twice as rare, `lock`.
#[track_caller]
fn check(texts: &[(&str, u64)], best: &[usize]) {
    let sought =
        |word, rarity| QueryTerm { words: vec![vec![StemHash::of(word)]], rarity, weight: 1.0 };
    let bags: Vec<(StemmedText, u64)> =
        texts.iter().map(|&(text, has)| (StemmedText::of(&[], text), has)).collect();
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
fn of_a_kind_one_word_counts_and_a_rare_one_more() {
    let words = ["cat", "dog"].map(|it| vec![StemHash::of(it)]).to_vec();
    let pet = QueryTerm { words, rarity: 1.0, weight: 0.5 };
    let bags = ["a dog", "my dog", "a cat", "cat dog", "no pet", "dog, dog"];
    let bags = bags.map(|it| StemmedText::of(&[], it));
    let texts = bags.each_ref().map(|bag| Bm25Document { bag, has: 0 });
    let worth = bm25_scores(&[pet], &texts).concat();
    assert!(worth[0] < worth[2], "{worth:?}");
    assert!((worth[2] - worth[3]).abs() < 1e-9, "{worth:?}");
    assert!(worth[4] == 0.0 && worth[0] < worth[5], "{worth:?}");
}

#[test]
fn no_words_and_no_texts_score_nothing() {
    check(&[("", 0), ("", 0)], &[0, 1]);
    assert_eq!(bm25_scores(&[], &[]), Vec::<Vec<f64>>::new());
}
