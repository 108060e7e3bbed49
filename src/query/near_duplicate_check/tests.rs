//! Tests the comparison of texts and its lookups, over an index that counts them.

use std::cell::Cell;

use super::*;

/// Texts by their keys, found by single words.
#[derive(Default)]
struct CountingIndex {
    texts: Vec<String>,
    n_lookups: Cell<usize>,
}

impl CountingIndex {
    fn of(texts: &[&str]) -> CountingIndex {
        let texts = texts.iter().map(|&it| it.to_owned()).collect();
        CountingIndex { texts, n_lookups: Cell::new(0) }
    }

    /// Returns the texts that are near duplicates, and the number of lookups.
    fn near(&self, text: &str) -> (Vec<&str>, usize) {
        self.n_lookups.set(0);
        let near = NearDuplicateQuery::of(text).unwrap().near_duplicates(self).unwrap();
        (near.iter().map(|it| &*self.texts[it.key.0 as usize]).collect(), self.n_lookups.get())
    }
}

impl TextIndex for CountingIndex {
    type Error = ();

    fn nodes_with(&self, expression: &str, n_max: usize) -> Result<Vec<NodeKey>, ()> {
        self.n_lookups.set(self.n_lookups.get() + 1);
        // `"harbour" AND ("keeps" OR "kept")`: every second piece is between quotes.
        let forms = |word: &str| -> Vec<String> {
            word.split('"').skip(1).step_by(2).map(str::to_lowercase).collect()
        };
        let words: Vec<Vec<String>> = expression.split(" AND ").map(forms).collect();
        let has = |text: &str, forms: &[String]| forms.iter().any(|it| words_of(text).contains(it));
        let has_all = |text: &str| words.iter().all(|it| has(text, it));
        let found = (0..).zip(&self.texts).filter(|(_, text)| has_all(text));
        Ok(found.map(|(key, _)| NodeKey(key)).take(n_max).collect())
    }

    fn content_of(&self, node: NodeKey) -> Result<Option<String>, ()> {
        Ok(self.texts.get(node.0 as usize).cloned())
    }
}

const HARBOUR: &str = "The harbour master keeps lantern seventeen beside northern breakwater.";

#[test]
fn a_text_with_nearly_the_same_words_is_found() {
    let index = CountingIndex::of(&[HARBOUR, "Lantern oil is kept in the northern shed, master."]);
    let near = "Harbour master keeps lantern seventeen beside the southern breakwater";
    assert_eq!(index.near(near).0, [HARBOUR]);
    assert_eq!(index.near("The harbour master keeps an old boat there").0, [""; 0]);
}

#[test]
fn a_text_of_new_words_is_soon_looked_up_no_more() {
    let index = CountingIndex::of(&[HARBOUR]);
    let (near, n_lookups) =
        index.near("xylophone quartet rehearses zydeco every wednesday evening");
    assert_eq!((near.len(), n_lookups), (0, 2), "a quarter of seven words may be new");
}

#[test]
fn texts_of_common_words_alone_are_compared_by_several() {
    let texts = vec!["Quick brown foxes jump over lazy dogs"; COMMON + 1];
    let index = CountingIndex::of(&texts);
    let (near, n_lookups) = index.near("quick brown foxes jump over lazy dogs");
    assert_eq!(near.len(), COMPARED_MAX);
    assert!(n_lookups <= LOOKED_UP_MAX + 1, "{n_lookups} lookups");
}
