use super::*;

#[test]
fn numbers_are_short() {
    let shown: Vec<String> =
        [0, 999, 1000, 2_149, 14_000, 999_999, 1_500_000].into_iter().map(render_count).collect();
    assert_eq!(shown, ["0", "999", "1k", "2.1k", "14k", "999.9k", "1.5M"]);
}

#[test]
fn one_is_singular() {
    assert_eq!(render_folded(1, 12, false), "… 1 more node, 12 tok");
    assert_eq!(render_folded(14, 2_100, false), "… 14 more nodes, 2.1k tok");
    assert_eq!(render_folded(10_000, 400_000, true), "… 10k+ more nodes, 400k+ tok");
}

#[test]
fn a_line_stays_one_line() {
    assert_eq!(to_one_line("a\r\n\tb\u{2028}c\0"), "a   b c ");
}
