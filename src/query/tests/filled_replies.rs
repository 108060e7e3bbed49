//! Tests for budgets: they are kept, used, and the last text is cut at a sentence.

use super::*;
use crate::fuzzing::random_cases::Dice;

#[test]
fn budgets_are_kept_and_used() {
    const WORDS: [&str; 12] = [
        "harbour", "mill", "lease", "lock", "timeout", "ledger", "invoice", "garden", "river",
        "answer", "letter", "engine",
    ];
    let mut dice = Dice::new(7);
    let mut sketch = TestDatabaseBuilder::new();
    for nth in 0..40 {
        sketch.file(&format!("{nth}.md"));
        sketch.node(0, "heading", &format!("Section {nth}"));
        for _ in 0..8 {
            let n_words = 5 + dice.below(60);
            let text: Vec<&str> = (0..n_words).map(|_| *dice.pick(&WORDS)).collect();
            sketch.node(1, "text", &format!("{}. And so on.", text.join(" ")));
        }
    }
    let reader = sketch.done();
    let (mut n, mut filled) = (0.0, 0.0);
    let n_queries = n_cases(250);
    for _ in 0..n_queries {
        let words: Vec<&str> = (0..1 + dice.below(6)).map(|_| *dice.pick(&WORDS)).collect();
        let words = words.join(" ");
        let budget = 200 + dice.below(3_000) as u32;
        let query = SearchQuery { detail: HitDetail::Full, ..label(&words) };
        let text = asked(&reader, Query::Search(query), Some(budget)).unwrap().text;
        let counted = tokens::count(&text);
        assert!(counted <= budget, "{counted} of {budget}");
        if text.contains(" more hits, ") {
            n += 1.0;
            filled += f64::from(counted) / f64::from(budget);
        }
    }
    assert!(f64::from(n_queries) / 2.0 < n && 0.95 <= filled / n, "{} of {n} answers", filled / n);
}

#[test]
fn a_hit_on_a_large_block_shows_its_first_part() {
    let reader = TestDatabaseBuilder::of(
        "= a.md\ntext -\n  text Zebrafinch manifesto of the valley.\n  text Rule 1.",
    );
    for detail in [HitDetail::Snippet, HitDetail::Full] {
        let query = SearchQuery { detail, ..label("trail : a") };
        let text = search(&reader, &query).unwrap().text;
        assert_eq!(text.matches("Zebrafinch manifesto of the valley.").count(), 1, "{text}");
        assert_eq!(text.lines().count(), 3, "{text}");
    }
}

/// Returns the answer with whole texts.
fn full(reader: &Reader, query: &str, budget: u32) -> String {
    let query = SearchQuery { detail: HitDetail::Full, ..label(query) };
    asked(reader, Query::Search(query), Some(budget)).unwrap().text
}

#[test]
fn a_text_is_cut_at_a_sentence_or_not_at_all() {
    let long = "the harbour and the mill and ".repeat(40);
    let reader = TestDatabaseBuilder::of(&format!(
        "= a.md\nheading A\n  text Ana: Harbour mill lease! It ended in May. {long}\n  text Ben: No \
         harbour."
    ));
    for budget in [60, 80, 120, 200] {
        let text = full(&reader, "harbour mill lease", budget);
        assert!(text.contains("Harbour mill lease! It ended in May.\n… cut"), "{text}");
        assert!(text.contains("Ben: No harbour."), "{text}");
    }
    let leads = TestDatabaseBuilder::of(&format!(
        "= a.md\nheading A\n  text Maximiliana: Yes. Harbour{}\n  text Ben: No harbour here.",
        "mill".repeat(400)
    ));
    let text = full(&leads, "harbour", 60);
    assert!(text.contains("Ben: No harbour here.") && !text.contains("Maximiliana"), "{text}");
}

#[test]
fn a_short_reply_is_filled_by_later_hits() {
    let mut sketch = TestDatabaseBuilder::new();
    sketch.add("= a.md\nheading A\n");
    for nth in 0..30 {
        let n_words = if nth < 20 { 40 } else { nth % 3 };
        sketch.node(1, "text", &format!("Harbour mill {nth}{}", " and so on".repeat(n_words)));
    }
    let reader = sketch.done();
    // No short hit needs more than 20 tokens.
    for budget in 60..150 {
        let text = full(&reader, "harbour mill", budget);
        let counted = tokens::count(&text);
        assert!(counted <= budget && budget <= counted + 20, "{counted} of {budget}: {text}");
    }
}
