use super::*;

/// Returns a state of these fields from the language on.
fn node(
    id: &'static str,
    lang: Option<&'static str>,
    key_path: Option<&'static str>,
) -> NodeState<'static> {
    let fields = [Some("text"), None, lang, key_path, Some("plain"), Some("l"), Some("h")];
    let fields = fields.into_iter().map(|it| it.map(Cow::Borrowed)).collect();
    NodeState { id: id.into(), fields, given: Vec::new() }
}

#[test]
fn the_fingerprint_depends_on_order() {
    let (a, b) = (node("a", None, None), node("b", None, None));
    assert_ne!(sum_of_children(None, [&a, &b]), sum_of_children(None, [&b, &a]));
}

#[test]
fn the_fingerprint_depends_on_the_parent() {
    let a = node("a", None, None);
    assert_ne!(sum_of_children(None, [&a]), sum_of_children(Some("1:x.md"), [&a]));
}

#[test]
fn adjacent_fields_do_not_run_together() {
    let with_lang = node("a", Some("x"), None);
    let with_key_path = node("a", None, Some("x"));
    assert_ne!(sum_of_children(None, [&with_lang]), sum_of_children(None, [&with_key_path]));
    let given = |name| NodeState { given: vec![(name, "x".into())], ..node("a", None, None) };
    assert_ne!(sum_of_children(None, [&given("one")]), sum_of_children(None, [&given("two")]));
}

#[test]
fn terms_never_change() {
    let a = node("a", Some("rust"), None);
    assert_eq!(format!("{:016x}", term_of_node(Some("1:x.md"), Some("b"), &a)), "8436c63e3b6c0a2b");
}

#[test]
fn the_byte_that_makes_a_term_is_found_in_the_last_value() {
    let state = |value| NodeState {
        given: vec![("a", "x".into()), ("b", Cow::Borrowed(value))],
        ..node("a", None, None)
    };
    let find = |now, then| {
        let term = term_of_node(None, Some("b"), &state(then));
        find_byte_of_term(None, Some("b"), &state(now), term)
    };
    assert_eq!(find("{\"port\":6380}", "{\"port\":6379}"), None);
    assert_eq!(find("{\"port\":6370}", "{\"port\":6379}"), Some((11, b'9')));
    assert_eq!(find("aß", "bß"), Some((0, b'b')));
}
