use serde_json::json;

use super::*;

fn fields(value: Value) -> Result<CanonicalFields, CanonicalFieldsError> {
    let Value::Object(object) = value else { return Err(CanonicalFieldsError::NotAnObject) };
    CanonicalFields::new(object)
}

#[test]
fn equal_fields_are_equal_text() {
    let one = fields(json!({"tags": ["b", "a"], "b": {"y": 1, "x": null, "a": 2}})).unwrap();
    let other = fields(json!({"b": {"a": 2, "y": 1}, "tags": ["b", "a"]})).unwrap();
    assert_eq!(one.to_string(), r#"{"b":{"a":2,"y":1},"tags":["b","a"]}"#);
    assert_eq!(one.to_string(), other.to_string());
    assert_eq!(CanonicalFields::parse(&one.to_string()), Ok(one));
}

#[test]
fn null_stays_within_metadata_alone() {
    let given = json!({"a": null, "task_metadata": {"outcome": null}, "tags": ["b", null],
        "metadata": {"scores": [1, null, 3], "b": {"z": null, "a": []}, "a": null}});
    let kept = fields(given).unwrap();
    assert_eq!(
        kept.to_string(),
        r#"{"metadata":{"a":null,"b":{"a":[],"z":null},"scores":[1,null,3]},"tags":["b"],"task_metadata":{}}"#
    );
    assert_eq!(CanonicalFields::parse(&kept.to_string()), Ok(kept));
    let none = fields(json!({"a": 1, "metadata": null})).unwrap();
    assert_eq!(none.to_string(), r#"{"a":1}"#);
}

#[test]
fn a_text_in_another_order_is_not_canonical() {
    for text in [r#"{"b":1,"a":2}"#, r#"{"a": 1}"#, r#"{"a":1,"b":null}"#, r#"{"a":1,"a":2}"#] {
        assert_eq!(CanonicalFields::parse(text), Err(CanonicalFieldsError::NotCanonical), "{text}");
    }
    for text in ["", "[]", "7", "{", r#"{"a":1} x"#] {
        assert_eq!(CanonicalFields::parse(text), Err(CanonicalFieldsError::NotAnObject), "{text}");
    }
    assert_eq!(CanonicalFields::parse("{}"), Err(CanonicalFieldsError::Empty));
}

#[test]
fn size_and_depth_have_a_limit_that_the_error_names() {
    let fitting = "x".repeat(FIELDS_BYTES_MAX - r#"{"a":""}"#.len());
    assert!(fields(json!({"a": fitting})).is_ok());
    let error = fields(json!({"a": format!("{fitting}x")})).unwrap_err();
    assert_eq!(error.to_string(), "the fields have 16385 bytes; at most 16384 fit");
    let deep = (0..DEPTH_MAX).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(fields(json!({"a": deep})), Err(CanonicalFieldsError::TooDeep));
}

#[test]
fn strings_are_rewritten_at_every_depth_and_keys_below_the_first() {
    let before = fields(json!({"a": "key", "b": [{"key": "a key", "b": 1}], "key": 7})).unwrap();
    let after = before.map_strings(&mut |it| it.replace("key", "[KEY]"));
    assert_eq!(after.to_string(), r#"{"a":"[KEY]","b":[{"[KEY]":"a [KEY]","b":1}],"key":7}"#);
    assert_eq!(
        CanonicalFields::parse(&after.to_string()).as_ref(),
        Ok(&after),
        "in canonical form"
    );
}

#[test]
fn a_member_is_left_unread() {
    let without =
        |text: &str| CanonicalFields::parse_without(text, "links").map(|it| it.to_string());
    let text = r#"{"a":1,"links":[{"to":"x"}],"z":{"links":2}}"#;
    assert_eq!(without(text), Ok(r#"{"a":1,"z":{"links":2}}"#.to_owned()));
    assert_eq!(without(r#"{"b":1,"a":2}"#), Ok(r#"{"a":2,"b":1}"#.to_owned()));
    assert_eq!(without(r#"{"links":[1]}"#), Ok(r#"{"links":[1]}"#.to_owned()), "the only one");
    for bad in ["[1]", "{", r#"{"links":[}"#, r#"{"a":1} 2"#, "{}", ""] {
        assert_eq!(
            without(bad),
            CanonicalFields::parse_loosely(bad).map(|it| it.to_string()),
            "{bad}"
        );
        assert!(without(bad).is_err(), "{bad}");
    }
}

#[test]
fn what_is_no_list_has_no_items() {
    let Value::Object(object) = json!({"a": [1, 2], "b": 7, "c": []}) else { panic!("an object") };
    assert_eq!(list(&object, "a"), [1, 2]);
    for key in ["b", "c", "d"] {
        assert!(list(&object, key).is_empty(), "{key}");
    }
}
