use expect_test::{Expect, expect};

use super::*;

fn page(entries: &[&str], max: u32) -> Page {
    let mut left = entries.iter().enumerate();
    let next = || {
        Ok(left.next().map(|(at, it)| {
            let place =
                EntryPosition { moment: ChangePosition { snapshot: 1, seq: 1 }, n_passed: at + 1 };
            PageEntry { text: (*it).to_owned(), place, facts: json!({"id": at, "text": it}) }
        }))
    };
    let n = entries.len();
    fill(max, 100, "\n", next, |last, _| format!("… {} more", n - last.n_passed)).unwrap()
}

#[track_caller]
fn check(entries: &[&str], max: u32, expected: Expect) {
    let page = page(entries, max);
    assert!(tokens::count(&page.text) <= max);
    expected.assert_eq(&page.text);
}

#[test]
fn an_entry_that_does_not_fit_waits_for_the_next_page() {
    let entries = ["one apple", "two apples and a pear", "three pears"];
    check(
        &entries,
        100,
        expect![[r#"
        one apple
        two apples and a pear
        three pears"#]],
    );
    check(
        &entries,
        10,
        expect![[r#"
        one apple
        … 2 more"#]],
    );
    assert!(page(&entries, 10).end.is_some() && page(&entries, 100).end.is_none());
}

#[test]
fn an_entry_that_never_fits_is_cut() {
    let long = "word ".repeat(100);
    check(
        &[&long, "next"],
        40,
        expect![[r#"
        word word word word word word word word word word word word word word word word word word word word word word wor
        … cut: all of it needs 105 tokens
        … 1 more"#]],
    );
    check(
        &[&long, "next"],
        14,
        expect![[r#"
        word wor
        … cut: all of it needs 105 tokens"#]],
    );
    check(&[&long, "next"], 2, expect!["…"]);
    check(&[], 2, expect![""]);
    let facts = &page(&[&long, "next"], 14).facts;
    assert_eq!(facts, &[json!({"id": 0, "text": "word wor", "needs": 105})]);
}

#[test]
fn a_page_has_as_many_entries_as_the_budget_holds() {
    let texts: Vec<String> =
        (0..300).map(|nth| format!("{nth}: {}", "pear, ".repeat(nth % 7))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let n_left = |n: usize| texts.len() - n;
    let text_of = |n: usize| match n_left(n) {
        0 => texts.join("\n"),
        left => format!("{}\n… {left} more", texts[..n].join("\n")),
    };
    for max in (20..2_500).step_by(97) {
        let n = (1..=100).rev().find(|n| tokens::fits(&text_of(*n), max)).unwrap();
        let page = page(&texts, max);
        assert_eq!(page.text, text_of(n), "{max} tokens");
        assert_eq!(page.facts.len(), n);
    }
}
