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

#[test]
fn a_selector_stays_where_it_chooses_a_look() {
    for shown in ["❤\u{fe0f}", "#\u{fe0f}\u{20e3}", "1\u{fe0f}\u{20e3}", "葛\u{fe00}"] {
        assert_eq!(to_one_line(shown), shown);
    }
    assert_eq!(to_one_line("\u{fe0f}a\u{fe0f}.m\u{fe00}d\n\u{fe0f}"), "a.md ");
}

#[test]
fn a_label_begins_no_facts_however_they_are_written() {
    assert_eq!(to_label("a (id=1) (file=b tok=2) f(x=1)"), "a (id =1) (file =b tok=2) f(x=1)");
    assert_eq!(to_label("(id\u{fe0f}=1) (\u{fe00}\u{fe0f}tok=2)"), "(id =1) (tok =2)");
    assert_eq!(to_label("(i\u{200b}d=1) (\u{e0041}tok=2)\n[text]"), "(id =1) (tok =2) [text]");
    assert_eq!(to_name("a`, `ZZZZZZZZZZZ` b"), "a', 'ZZZZZZZZZZZ' b");
}

#[test]
fn a_value_that_could_be_taken_for_more_is_a_quote() {
    assert_eq!(to_value("docs/über-uns.md"), "docs/über-uns.md");
    assert_eq!(to_value("my notes.md"), r#""my notes.md""#);
    assert_eq!(to_value("a\nb;c.md"), r#""a b;c.md""#);
    assert_eq!(to_value(r#"a" \ (id=1) tok=2"#), r#""a\" \\ (id\=1) tok=2""#);
    assert_eq!(to_value(""), r#""""#);
}

#[test]
fn a_text_below_facts_is_indented_and_has_none() {
    assert_eq!(to_text_below("a\n(id=1) b\n", " "), "a\n (id =1) b\n ");
}
