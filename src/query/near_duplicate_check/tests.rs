//! Tests the comparison of texts and its lookups, over an index that counts them.

use std::cell::Cell;

use super::*;

/// Texts by their keys, found by single words.
#[derive(Default)]
struct CountingIndex {
    texts: Vec<String>,
    n_lookups: Cell<usize>,
    known: CommonWordCache,
}

impl CountingIndex {
    fn of(texts: &[&str]) -> CountingIndex {
        let texts = texts.iter().map(|&it| it.to_owned()).collect();
        CountingIndex { texts, ..CountingIndex::default() }
    }

    fn text_of(&self, node: &NearDuplicateCandidate) -> &str {
        &self.texts[node.id.parse::<usize>().unwrap()]
    }

    /// Returns the texts that are near duplicates, and the number of lookups.
    fn near(&self, text: &str) -> (Vec<&str>, usize) {
        self.n_lookups.set(0);
        let query = NearDuplicateQuery::of(text).unwrap();
        let near = query.near_duplicates(self, &self.known).unwrap();
        (near.iter().map(|it| self.text_of(&it.node)).collect(), self.n_lookups.get())
    }
}

/// Returns a node of that id.
fn node(id: &str, content: &str) -> NearDuplicateCandidate {
    NearDuplicateCandidate {
        id: id.to_owned(),
        content: content.to_owned(),
        ..NearDuplicateCandidate::default()
    }
}

impl TextIndex for CountingIndex {
    type Error = ();

    fn nodes_with(&self, expression: &str, n_max: usize) -> Result<Vec<NodeRowId>, ()> {
        self.n_lookups.set(self.n_lookups.get() + 1);
        // `"harbour" AND ("keeps" OR "kept")`: every second piece is between quotes.
        let forms = |word: &str| -> Vec<String> {
            word.split('"').skip(1).step_by(2).map(str::to_lowercase).collect()
        };
        let words: Vec<Vec<String>> = expression.split(" AND ").map(forms).collect();
        let has = |text: &str, forms: &[String]| forms.iter().any(|it| words_of(text).contains(it));
        let has_all = |text: &str| words.iter().all(|it| has(text, it));
        let found = (0..).zip(&self.texts).filter(|(_, text)| has_all(text));
        Ok(found.map(|(key, _)| NodeRowId(key)).take(n_max).collect())
    }

    fn compared_node(&self, key: NodeRowId) -> Result<Option<NearDuplicateCandidate>, ()> {
        Ok(self.texts.get(key.0 as usize).map(|text| node(&key.0.to_string(), text)))
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
    assert_eq!(n_lookups, LOOKED_UP_MAX + 1);
}

#[test]
fn words_known_to_be_common_are_not_looked_up_until_they_may_have_become_rare() {
    const FOXES: &str = "quick brown foxes jump over lazy dogs";
    let mut index = CountingIndex::of(&[FOXES; COMMON + 1]);
    let n_all = LOOKED_UP_MAX + 1;
    assert_eq!(index.near(FOXES), (vec![FOXES; COMPARED_MAX], n_all));
    assert_eq!(index.near(FOXES), (vec![FOXES; COMPARED_MAX], 1), "all of them together");
    index.texts.truncate(1);
    let n_lookups: Vec<usize> = (0..70).map(|_| index.near(FOXES).1).collect();
    assert_eq!(n_lookups.iter().position(|&it| it != 1), Some(63));
    assert_eq!(index.near(FOXES), (vec![FOXES], TELLING_ENOUGH), "they are rare now");
}

/// An index of one node with the harbour's text.
struct OneNode(NearDuplicateCandidate);

impl TextIndex for OneNode {
    type Error = ();

    fn nodes_with(&self, _: &str, _: usize) -> Result<Vec<NodeRowId>, ()> {
        Ok(vec![NodeRowId(1)])
    }

    fn compared_node(&self, _: NodeRowId) -> Result<Option<NearDuplicateCandidate>, ()> {
        Ok(Some(self.0.clone()))
    }
}

#[test]
fn headings_and_archived_nodes_are_no_duplicates() {
    let is_found = |node| {
        let query = NearDuplicateQuery::of(HARBOUR).unwrap();
        let known = CommonWordCache::default();
        !query.near_duplicates(&OneNode(node), &known).unwrap().is_empty()
    };
    let text = node("a", HARBOUR);
    assert!(!is_found(NearDuplicateCandidate { is_heading: true, ..text.clone() }));
    assert!(!is_found(NearDuplicateCandidate { is_archived: true, ..text.clone() }));
    assert!(is_found(text));
}

#[test]
fn the_most_similar_one_is_named_and_of_equal_ones_the_first_by_id() {
    let near = |id: &str, shared| NearDuplicate { node: node(id, HARBOUR), shared };
    let near = [near("c", 0.9), near("b", 0.9), near("a", 0.8)];
    let nearest = |except: &[&str]| {
        let except: Vec<String> = except.iter().map(|&it| it.to_owned()).collect();
        nearest_duplicate(&near, &except).map(|it| it.id.clone())
    };
    assert_eq!(nearest(&[]).as_deref(), Some("b"));
    assert_eq!(nearest(&["b"]).as_deref(), Some("c"));
    assert_eq!(nearest(&["a", "b", "c"]), None);
}
