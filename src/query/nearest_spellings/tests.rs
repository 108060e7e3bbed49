use super::*;
use crate::store::reader::database_builder_testing::TestDatabaseBuilder;

/// Returns the words nearest to those of a query, in a memory of these texts.
fn nearest(texts: &[&str], query: &str) -> String {
    let mut sketch = TestDatabaseBuilder::new();
    sketch.file("harbour.md");
    for text in texts {
        sketch.node(0, "text", text);
    }
    nearest_words(&sketch.done(), query, UnixMillis(0)).unwrap().join(" ")
}

#[test]
fn misspellings_anywhere_in_a_word_find_it() {
    let texts = ["The philharmonic plays by the engine.", "Which wish?"];
    for misspelt in ["enngine", "egnine", "engin", "emgine", "ngine", "sengine", "angine"] {
        assert_eq!(nearest(&texts, misspelt), "engine", "{misspelt}");
    }
    assert_eq!(nearest(&texts, "philharmonigs"), "philharmonic");
    assert_eq!(nearest(&texts, "wich"), "wish");
    assert_eq!(nearest(&texts, "hrabour"), "harbour");
    assert_eq!(nearest(&["Встреча в пятницу."], "вcтреча встерча"), "встреча");
    for other in ["zebra", "eng", "", "qqqq"] {
        assert_eq!(nearest(&texts, other), "", "{other}");
    }
}

#[test]
fn a_word_is_named_as_the_memory_has_it() {
    let texts = ["Two boats lie there.", "She bought a compiler.", "A café"];
    assert_eq!(nearest(&texts, "boat buy compilers cafe"), "boats bought compiler café");
}

#[test]
fn a_word_that_a_label_cuts_is_no_word() {
    let long = format!("{}my harbourmaster waits", "many words ".repeat(6));
    let label = crate::text::label_of_text(&long);
    assert!(label.ends_with(" harbourmas…"), "{label}");
    let mut sketch = TestDatabaseBuilder::new();
    sketch.file("a.md");
    sketch.node(0, "heading", &long);
    sketch.node(1, "text", "Below it.");
    sketch.file("b.md");
    sketch.node(0, "text", &format!("{} harbinger", "word ".repeat(120)));
    let reader = sketch.done();
    assert_eq!(nearest_words(&reader, "harbourmasr", UnixMillis(0)).unwrap(), ["harbourmaster"]);
    assert_eq!(nearest_words(&reader, "harbingers", UnixMillis(0)).unwrap(), ["harbinger"]);
    assert_eq!(nearest_words(&reader, "harbimger", UnixMillis(0)).unwrap(), ["harbinger"]);
}
