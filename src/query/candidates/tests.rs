//! Tests for matching: it finds the right nodes with bounded effort.

use super::*;
use crate::model::tree::NodeType;
use crate::query::query_parser;
use crate::store::reader::database_builder_testing::{TestDatabaseBuilder, work_of};

/// Makes `n_notes` one-paragraph notes with the words `common` and `usual`, and the text from
/// `said`.
fn notes(n_notes: usize, sentence: impl Fn(usize) -> String) -> Reader {
    let mut sketch = TestDatabaseBuilder::new();
    for nth in 0..n_notes {
        sketch.file(&format!("{nth}.md"));
        sketch.node(
            0,
            "text",
            &format!("Note {nth}.\nIt has common and usual words. {}", sentence(nth)),
        );
    }
    sketch.done()
}

/// Returns the labels of the best `n_max` matches of `query`.
fn best(reader: &Reader, query: &str, n_max: usize) -> Vec<String> {
    let terms = query_parser::parse_query(query).terms;
    let found = match_words(reader, &terms, NodeFilter::default(), n_max).unwrap();
    let keys: Vec<NodeRowId> = found.iter().map(|it| it.node.key).collect();
    let labels = reader.load_matches(&keys, |wording| wording.label.to_owned()).unwrap();
    labels.into_iter().map(|(_, label)| label).collect()
}

#[test]
fn nodes_with_more_of_the_words_come_first() {
    let reader = notes(40, |nth| match nth {
        7 => "The lease of a lock.".to_owned(),
        8 => "The lease of a house.".to_owned(),
        9 => "A lock.".to_owned(),
        _ => "Nothing.".to_owned(),
    });
    assert_eq!(best(&reader, "lease lock", 2)[0], "Note 7.");
    assert_eq!(best(&reader, "lease lock", 9).len(), 3);
    assert!(best(&reader, "zebra", 9).is_empty());
}

#[test]
fn a_common_word_counts_among_matches_of_rarer_ones() {
    let n_notes = COMMON * 2;
    let reader = notes(n_notes, |nth| match nth % 100 {
        0 if nth == 700 => "A rare thing, particular.".to_owned(),
        0 => "A rare thing.".to_owned(),
        1 => "A thing, particular.".to_owned(),
        _ => String::new(),
    });
    let found = best(&reader, "rare common particular", 5);
    assert_eq!(found[0], "Note 700.");
    assert_eq!(best(&reader, "common rare", n_notes).len(), n_notes / 100);
}

#[test]
fn common_words_fill_up_what_rare_words_find() {
    let reader =
        notes(COMMON * 2, |nth| if nth == 7 { "A pelican.".to_owned() } else { String::new() });
    let found = best(&reader, "pelican common", 50);
    assert_eq!((found[0].as_str(), found.len()), ("Note 7.", ENOUGH + 1));
    // One label does not represent all nodes with the word.
    let mut sketch = TestDatabaseBuilder::new();
    for nth in 0..COMMON * 2 {
        sketch.file(&format!("{nth}.md"));
        let text = if nth == 7 { "Pelicans." } else { "A note.\nIt has a pelican." };
        sketch.node(0, "text", text);
    }
    let found = best(&sketch.done(), "pelican", 50);
    assert_eq!((found[0].as_str(), found.len()), ("Pelicans.", ENOUGH + 1));
}

#[test]
fn common_words_alone_find_nodes_with_all_of_them_labels_first() {
    let n_notes = COMMON * 3;
    let mut sketch = TestDatabaseBuilder::new();
    for nth in 0..n_notes {
        sketch.file(&format!("{nth}.md"));
        let word = if nth % 2 == 0 { "even" } else { "odd" };
        let text = match nth {
            500 => "Everything.\nIt is even and odd.".to_owned(),
            501 => "What is odd.".to_owned(),
            _ => format!("Note {nth}.\nIt is {word}."),
        };
        sketch.node(0, "text", &text);
    }
    let reader = sketch.done();
    let found = best(&reader, "even odd", 2);
    assert_eq!(found, ["Everything.", "What is odd."]);
    // Words without a label are matched among the newest nodes.
    let reader = notes(n_notes, |_| String::new());
    assert_eq!(best(&reader, "usual", 1), [format!("Note {}.", n_notes - 1)]);
}

#[test]
fn nodes_with_the_word_in_their_label_are_candidates_first() {
    let mut sketch = TestDatabaseBuilder::new();
    for nth in 0..400 {
        sketch.file(&format!("{nth}.md"));
        let text =
            if nth == 3 { "A pelican.".to_owned() } else { format!("Note {nth}.\nA pelican.") };
        sketch.node(0, "text", &text);
    }
    let reader = sketch.done();
    assert_eq!(best(&reader, "pelicans", 20)[0], "A pelican.");
}

#[test]
fn a_type_is_looked_for_among_all() {
    let mut sketch = TestDatabaseBuilder::new();
    for nth in 0..COMMON * 2 {
        sketch.file(&format!("{nth}.md"));
        let kind = if nth == 1_500 { "code" } else { "text" };
        sketch.node(0, kind, &format!("Note {nth}.\nA pelican."));
    }
    let reader = sketch.done();
    let terms = query_parser::parse_query("pelican").terms;
    let of_code = NodeFilter { node_type: Some(NodeType::Code), ..NodeFilter::default() };
    let found = match_words(&reader, &terms, of_code, 20).unwrap();
    assert_eq!(found.len(), 1);
}

#[test]
fn the_work_for_common_words_does_not_grow_with_the_memory() {
    let [few, many] = [2, 6].map(|times| {
        let reader = notes(COMMON * times, |nth| match nth % 50 {
            0 => "A rare thing.".to_owned(),
            _ => String::new(),
        });
        assert_eq!(best(&reader, "common usual", 50).len(), 50);
        work_of(|| drop(best(&reader, "common usual words", 50)))
    });
    assert!(many < few + few / 4, "{many} steps after {few}");
}
