use super::*;

fn node(id: &str) -> State {
    State {
        id: id.to_owned(),
        node_type: "text".to_owned(),
        level: None,
        lang: None,
        key_path: None,
        format: "plain".to_owned(),
        label: "l".to_owned(),
        content_hash: "h".to_owned(),
    }
}

#[test]
fn order_counts() {
    let (a, b) = (node("a"), node("b"));
    assert_ne!(of_children(None, [&a, &b]), of_children(None, [&b, &a]));
}

#[test]
fn the_parent_counts() {
    let a = node("a");
    assert_ne!(of_children(None, [&a]), of_children(Some("1:x.md"), [&a]));
}

#[test]
fn a_field_cannot_pose_as_its_neighbour() {
    let with_lang = State { lang: Some("x".to_owned()), ..node("a") };
    let with_key_path = State { key_path: Some("x".to_owned()), ..node("a") };
    assert_ne!(of_children(None, [&with_lang]), of_children(None, [&with_key_path]));
}
