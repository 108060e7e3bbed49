//! Tests for fetches: a node and its surroundings.

use super::*;

#[test]
fn the_anchor_is_the_last_block() {
    let reader = TestDatabaseBuilder::of(NOTES);
    check_fetch(
        &reader,
        &id_of(&reader, "beta"),
        None,
        expect![[r#"
            # a.md / Alpha
            KYaIaM0diXl[#]
            KYaInsirr0W One paragraph about the lease of a lock.
            # a.md / Alpha / Beta
            KYaHanWW8HQ The timeout is thirty seconds.
             It never changes.
            KYaKtz1L6qL[code] fn main() {}
            KYaKiZWKyuR[#]
        "#]],
    );
    check_fetch(
        &reader,
        &id_of(&reader, "timeout"),
        None,
        expect![[r#"
            # a.md / Alpha
            KYaIaM0diXl[#]
            # a.md / Alpha / Beta
            KYaKiZWKyuR[#]
            KYaKtz1L6qL[code] fn main() {}
            KYaHanWW8HQ The timeout is thirty seconds.
             It never changes.
        "#]],
    );
}

#[test]
fn a_parent_comes_before_a_hot_cousin() {
    let mut sketch = TestDatabaseBuilder::new();
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
            KYaL6E6zNsa[#]
            KYaKUtKeoKd A cousin that everybody reads, with many words to say.
            KYaHWEEPdtd The anchor.
        "#]],
    );
}

#[test]
fn a_node_without_text_shows_its_parts() {
    let mut sketch = TestDatabaseBuilder::new();
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
            KYaIaM0diXl[#]
            # a.md / Alpha / 
            KYaJWgROBlz[code] first part
            KYaHvPZJOXx[code] second part
            # a.md / Alpha
            KYaKpX7Uzhf[code]
        "#]],
    );
}

#[test]
fn an_anchor_too_large_is_cut_and_says_what_it_needs() {
    let mut sketch = TestDatabaseBuilder::new();
    sketch.file("a.md");
    let anchor = sketch.node(0, "text", &"many words ".repeat(50));
    let reader = sketch.done();
    check_fetch(
        &reader,
        &anchor,
        Some(70),
        expect![[r#"
            # a.md
            KYaMNLYVLf3 many words many words many words many words many words many words many words many words many words many words many words many words many words many words many words many words many words many words many words many words many words many words many
            … cut: all of it needs 128 tokens
        "#]],
    );
    check_fetch(&reader, &anchor, Some(20), expect!["… `KYaMNLYVLf3` needs 128 tokens"]);
}

#[test]
fn an_unknown_anchor_names_the_nearest() {
    let reader = TestDatabaseBuilder::of(NOTES);
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
        no node `KYaKiZWKyu0`; nearest: `KYaKiZWKyuR` Beta
        no node `rate limits`; nearest: `H4p7DFee5JP` Rate limits, `H4p8qhvwfHc` Requests are limited: the rate-limit is 100 a minute., `H4p7H0TwKNz` - C++
        no node ` `; find one with a search
        no node `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…`; find one with a search"#]].assert_eq(&text);
}

#[test]
fn a_batch_keeps_the_order_asked_for() {
    let reader = TestDatabaseBuilder::of(NOTES);
    let (beta, timeout) = (id_of(&reader, "beta"), id_of(&reader, "timeout"));
    let text = |ids: &[&str], budget| match asked(
        &reader,
        Query::Batch(BatchFetchQuery { ids: ids.to_vec(), has_dates: false }),
        budget,
    ) {
        Ok(answer) => answer.text,
        Err(error) => format!("error: {error}"),
    };
    let all = [&*timeout, "nope", &beta, &timeout, "b\0\nad"];
    expect![[r#"
        # a.md / Alpha / Beta
        KYaHanWW8HQ The timeout is thirty seconds.
         It never changes.
        KYaKiZWKyuR[#]
        not found: nope, b  ad
    "#]]
    .assert_eq(&text(&all, None));
    let lease = id_of(&reader, "lease");
    expect![[r#"
        # a.md / Alpha / Beta
        KYaHanWW8HQ The timeout is thirty seconds.
         It never changes.
        not found: nope, b  ad
        over budget: KYaInsirr0W
    "#]]
    .assert_eq(&text(&[&timeout, "nope", &lease, &timeout, "b\0\nad"], Some(55)));
    expect!["…"].assert_eq(&text(&all, Some(12)));
    expect!["error: `node_ids` must be non-empty"].assert_eq(&text(&[], None));
    expect!["error: `node_ids` exceeds cap 256: 257 ids; ask in several calls"]
        .assert_eq(&text(&["x"; 257], None));
}

#[test]
fn nodes_that_searches_leave_out_are_marked_with_the_reason() {
    let mut sketch = TestDatabaseBuilder::new();
    let anchor = sketch.add("heading Facts")[0].clone();
    let states = ["archived\":true", "deleted\":true", "merged_into\":\"x", "superseded_by\":\"x"];
    let mut ids = vec![sketch.node(1, "fact", "It holds.")];
    for (state, key) in states.iter().zip(3..) {
        ids.push(sketch.node(1, "fact", &format!("It is no. {key}.")));
        let end = if state.ends_with('x') { "\"" } else { "" };
        sketch.run(&format!(
            "UPDATE node SET fields = '{{\"{state}{end}}}' WHERE key = {key};
             INSERT OR IGNORE INTO facet (key, value, node) VALUES ('archived', 1, {key});"
        ));
    }
    let reader = sketch.done();
    let marks = |text: &str| -> Vec<String> {
        let entries = ids.iter().map(|id| text.split_once(id.as_str()).unwrap().1);
        entries.map(|it| it.split_once(']').unwrap().0.to_owned()).collect()
    };
    let marked = ["[fact", "[fact archived", "[fact deleted", "[fact merged", "[fact superseded"];
    assert_eq!(marks(&fetch(&reader, &anchor, None).unwrap().text), marked);
    let query = BatchFetchQuery { ids: ids.iter().map(String::as_str).collect(), has_dates: false };
    assert_eq!(marks(&asked(&reader, Query::Batch(query.clone()), None).unwrap().text), marked);
    let nodes = structured(&reader, Query::Batch(query), None).unwrap().structured;
    let reasons = ["/nodes/0/left_out_as", "/nodes/4/left_out_as"].map(|it| nodes.pointer(it));
    assert_eq!(reasons, [None, Some(&json!("superseded"))]);
}

/// Returns a memory with a text of three parts, and the ids of the text and its parts.
fn large_block() -> (Reader, Vec<String>) {
    let mut sketch = TestDatabaseBuilder::new();
    let part = |word: &str| format!("{word} is the river stone. ").repeat(12).trim().to_owned();
    let [first, second] = ["Zebrafinch", "Market"].map(part);
    let outline = format!(
        "= a.md\nheading Valley\n  text -\n    text {first}\n    text {second}\n    text The end.\n"
    );
    let ids = sketch.add(&outline);
    (sketch.done(), ids)
}

#[test]
fn parts_come_in_order_and_the_first_that_does_not_fit_is_cut() {
    let (reader, ids) = large_block();
    let text = |budget| fetch(&reader, &ids[1], Some(budget)).unwrap().text;
    let small = text(70);
    assert!(small.contains(&format!("{} Zebrafinch is the river stone.", ids[2])), "{small}");
    assert!(small.contains("… cut: all of it needs "), "{small}");
    assert!(!small.contains(&ids[3]) && !small.contains(&ids[4]), "{small}");
    let middle = text(200);
    assert!(middle.contains(&format!("{} Market is the river stone.", ids[3])), "{middle}");
    assert!(!middle.contains(&ids[4]), "{middle}");
}

#[test]
fn a_batch_has_the_parts_of_a_large_block() {
    let (reader, ids) = large_block();
    let query = BatchFetchQuery { ids: vec![&ids[1], &ids[4]], has_dates: false };
    let text = asked(&reader, Query::Batch(query), None).unwrap().text;
    let shown: Vec<&str> = text.lines().skip(1).filter_map(|it| it.get(..11)).collect();
    assert_eq!(shown, [&*ids[2], &ids[3], &ids[4]]);
}

#[test]
fn a_fetch_uses_its_budget() {
    let mut sketch = TestDatabaseBuilder::new();
    sketch.file("a folder/with a long name.md");
    let anchor = sketch.node(0, "heading", "Kettles");
    for nth in 0..60 {
        let text = format!("Entry {nth}: the kettle was checked by worker {nth}. ");
        sketch.node(1, "text", text.repeat(1 + nth % 4).trim());
    }
    let reader = sketch.done();
    let budgets = 150..1_000;
    let n = f64::from(budgets.end - budgets.start);
    let filled = budgets.map(|budget| {
        let counted = tokens::count(&fetch(&reader, &anchor, Some(budget)).unwrap().text);
        assert!(counted <= budget, "{counted} of {budget}");
        f64::from(counted) / f64::from(budget)
    });
    let mean = filled.sum::<f64>() / n;
    assert!(0.95 <= mean, "{mean}");
}
