//! Tests for outlines: lines and folds.

use super::*;

#[test]
fn a_tree_names_each_file_once() {
    let reader = TestDatabaseBuilder::of(NOTES);
    check_tree(
        &reader,
        None,
        5,
        None,
        expect![[r#"
            [heading] Alpha (id=KYaIaM0diXl file=a.md temp=0.50 tok=1)
              [text] One paragraph about the lease of a lock. (id=KYaInsirr0W temp=0.50 tok=9)
              [heading] Beta (id=KYaKiZWKyuR temp=0.50 tok=1)
                [text] The timeout is thirty seconds. (id=KYaHanWW8HQ temp=0.50 tok=10)
                [code] fn main() {} (id=KYaKtz1L6qL temp=0.50 tok=4)
            [heading] Rate limits (id=H4p7DFee5JP file=docs/limits.md temp=0.50 tok=2)
              [text] Requests are limited: the rate-limit is 100 a minute. (id=H4p8qhvwfHc temp=0.50 tok=13)
              [text] What's up? Not much. (id=H4p6lANpMOi temp=0.50 tok=7)
              [list] - C++ (id=H4p7H0TwKNz temp=0.50 tok=6)
            [heading] 概要 (id=KY1ZYvO53Nm file=日本.md temp=0.50 tok=3)
              [text] 日本語テキストの検索について。 (id=KY1akW68Kmt temp=0.50 tok=17)
        "#]],
    );
    check_tree(&TestDatabaseBuilder::of(""), None, 5, None, expect!["empty tree"]);
}

#[test]
fn depth_counts_levels_below_the_roots() {
    let reader = TestDatabaseBuilder::of(NOTES);
    let root = id_of(&reader, "alpha");
    check_tree(
        &reader,
        Some(&root),
        0,
        None,
        expect![[r#"
            [heading] Alpha (id=KYaIaM0diXl file=a.md temp=0.50 tok=1)
        "#]],
    );
    check_tree(
        &reader,
        Some(&root),
        1,
        None,
        expect![[r#"
            [heading] Alpha (id=KYaIaM0diXl file=a.md temp=0.50 tok=1)
              [text] One paragraph about the lease of a lock. (id=KYaInsirr0W temp=0.50 tok=9)
              [heading] Beta (id=KYaKiZWKyuR temp=0.50 tok=1)
        "#]],
    );
}

#[test]
fn nodes_beyond_the_budget_are_folded_in_place() {
    let reader = TestDatabaseBuilder::of(NOTES);
    check_tree(
        &reader,
        None,
        5,
        Some(150),
        expect![[r#"
            [heading] Alpha (id=KYaIaM0diXl file=a.md temp=0.50 tok=1)
              … 4 more nodes, 24 tok
            [heading] Rate limits (id=H4p7DFee5JP file=docs/limits.md temp=0.50 tok=2)
              … 3 more nodes, 26 tok
            [heading] 概要 (id=KY1ZYvO53Nm file=日本.md temp=0.50 tok=3)
              … 1 more node, 17 tok
        "#]],
    );
    check_tree(
        &reader,
        None,
        5,
        Some(20),
        expect![[r#"
        … 11 more nodes, 73 tok
    "#]],
    );
    check_tree(&reader, None, 5, Some(2), expect!["…"]);
}

#[test]
fn the_hottest_are_kept_first() {
    let mut sketch = TestDatabaseBuilder::new();
    sketch.file("a.md");
    for at in 0..300 {
        sketch.node(0, "heading", &format!("Section {at}"));
        if at == 250 {
            sketch.warm(0.9);
        }
        sketch.node(1, "text", &format!("Words of {at}"));
    }
    check_tree(
        &sketch.done(),
        None,
        5,
        Some(100),
        expect![[r#"
            [heading] Section 0 (id=KYaL9DbDwM3 file=a.md temp=0.50 tok=3)
              … 1 more node, 4 tok
            [heading] Section 250 (id=KYaJ0IyPAX1 file=a.md temp=0.90 tok=3)
              … 1 more node, 4 tok
            … 596 more nodes, 2k tok
        "#]],
    );
}
