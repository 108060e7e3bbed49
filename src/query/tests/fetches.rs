//! Tests for fetches: a node and its surroundings.

use super::*;

#[test]
fn the_anchor_is_the_last_block() {
    let reader = TestMemoryBuilder::of(NOTES);
    check_fetch(
        &reader,
        &id_of(&reader, "beta"),
        None,
        expect![[r#"
            # a.md / Alpha
            4B6DkBtBxHZ[#]
            EKqTrLiHoYm One paragraph about the lease of a lock.
            # a.md / Alpha / Beta
            5N109tgyWXQ The timeout is thirty seconds.
             It never changes.
            CuOg047SQaT[code] fn main() {}
            3eDS1v6Lm4B[#]
        "#]],
    );
    check_fetch(
        &reader,
        &id_of(&reader, "timeout"),
        None,
        expect![[r#"
            # a.md / Alpha
            4B6DkBtBxHZ[#]
            # a.md / Alpha / Beta
            3eDS1v6Lm4B[#]
            CuOg047SQaT[code] fn main() {}
            5N109tgyWXQ The timeout is thirty seconds.
             It never changes.
        "#]],
    );
}

#[test]
fn a_parent_comes_before_a_hot_cousin() {
    let mut sketch = TestMemoryBuilder::new();
    sketch.file("a.md");
    sketch.node(0, "heading", "Alpha and what it is about");
    sketch.warm(0.0);
    sketch.node(1, "text", "A cousin that everybody reads, with many words to say.");
    sketch.warm(1.0);
    let anchor = sketch.node(1, "text", "The anchor.");
    check_fetch(
        &sketch.done(),
        &anchor,
        Some(90),
        expect![[r#"
            # a.md / Alpha and what it is about
            CRgfrQTLH1Y[#]
            KOajBmMueG7 A cousin that everybody reads, with many words to say.
            J9edHsIEHfB The anchor.
        "#]],
    );
}

#[test]
fn a_node_without_text_shows_its_parts() {
    let mut sketch = TestMemoryBuilder::new();
    sketch.file("a.md");
    sketch.node(0, "heading", "Alpha");
    let anchor = sketch.node(1, "code", "");
    sketch.node(2, "code", "first part");
    sketch.node(2, "code", "second part");
    check_fetch(
        &sketch.done(),
        &anchor,
        None,
        expect![[r#"
            # a.md / Alpha
            4B6DkBtBxHZ[#]
            # a.md / Alpha / 
            KLfVMcBnin5[code] first part
            Hgsymw3p2Uj[code] second part
            # a.md / Alpha
            4PBa5i1uYCd[code]
        "#]],
    );
}

#[test]
fn an_anchor_too_large_is_cut_and_says_what_it_needs() {
    let mut sketch = TestMemoryBuilder::new();
    sketch.file("a.md");
    let anchor = sketch.node(0, "text", &"many words ".repeat(50));
    let reader = sketch.done();
    check_fetch(
        &reader,
        &anchor,
        Some(70),
        expect![[r#"
            # a.md
            Fuuh093PDZN many words many words many words many words many words many words many words many words many words many words many words many words many words many words many words many words many words many words many words many words many words many words many words many
            … cut: all of it needs 126 tokens
        "#]],
    );
    check_fetch(&reader, &anchor, Some(20), expect!["… `Fuuh093PDZN` needs 126 tokens"]);
}

#[test]
fn an_unknown_anchor_names_the_nearest() {
    let reader = TestMemoryBuilder::of(NOTES);
    let error = |anchor: &str| fetch(&reader, anchor, None).unwrap_err().to_string();
    let near = format!("{}0", &id_of(&reader, "beta")[..10]);
    let text = format!(
        "{}\n{}\n{}\n{}",
        error(&near),
        error("rate limits"),
        error("\0"),
        error(&"x".repeat(9999))
    );
    expect![[r#"
        no node `3eDS1v6Lm40`; nearest: `3eDS1v6Lm4B` Beta
        no node `rate limits`; nearest: `6l9WlgUKpM7` Rate limits, `HoIgyuTwbmK` Requests are limited: the rate-limit is 100 a minute., `84AoZaPAU3j` - C++
        no node ` `; find one with a search
        no node `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…`; find one with a search"#]].assert_eq(&text);
}

#[test]
fn a_batch_keeps_the_order_asked_for() {
    let reader = TestMemoryBuilder::of(NOTES);
    let (beta, timeout) = (id_of(&reader, "beta"), id_of(&reader, "timeout"));
    let text = |ids: &[&str], budget| match asked(
        &reader,
        Query::Batch(BatchQuery { ids: ids.to_vec(), has_dates: false }),
        budget,
    ) {
        Ok(answer) => answer.text,
        Err(error) => format!("error: {error}"),
    };
    let all = [&*timeout, "nope", &beta, &timeout, "b\0\nad"];
    expect![[r#"
        # a.md / Alpha / Beta
        5N109tgyWXQ The timeout is thirty seconds.
         It never changes.
        3eDS1v6Lm4B[#]
        not found: nope, b  ad
    "#]]
    .assert_eq(&text(&all, None));
    expect![[r#"
        # a.md / Alpha / Beta
        5N109tgyWXQ The timeout is thirty seconds.
         It never changes.
        not found: nope, b  ad
        over budget: 3eDS1v6Lm4B
    "#]]
    .assert_eq(&text(&all, Some(55)));
    expect!["…"].assert_eq(&text(&all, Some(12)));
    expect!["error: `node_ids` must be non-empty"].assert_eq(&text(&[], None));
    expect!["error: `node_ids` exceeds cap 256: 257 ids; ask in several calls"]
        .assert_eq(&text(&["x"; 257], None));
}
