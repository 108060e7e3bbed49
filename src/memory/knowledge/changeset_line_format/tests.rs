use serde_json::json;

use super::*;

#[track_caller]
fn check(line: &str, value: Value) {
    let read = parse_changeset(line).unwrap();
    assert_eq!(read.len(), 1, "{line}");
    assert_eq!(Value::Object(read[0].1.clone()), value);
    let printed = print_changeset([&read[0].1]);
    let again = parse_changeset(&printed).unwrap();
    assert_eq!(again[0].1, read[0].1, "{printed}");
}

#[track_caller]
fn refused(line: &str, why: &str) {
    let errors = parse_changeset(line).unwrap_err();
    assert_eq!(errors[0].message, why);
}

#[test]
fn a_line_is_an_operation() {
    check(
        r#"concept as=a title="Retries need pauses" from=$x,$y confidence=0.7 "At once \"fails\".\n""#,
        json!({
            "op": "concept", "as": "a", "title": "Retries need pauses", "from": ["$x", "$y"],
            "confidence": 0.7, "summary": "At once \"fails\".\n",
        }),
    );
    check(
        "fact subject=cache supersede=true \"It is 30 s.\"  # measured",
        json!({
            "op": "fact", "subject": "cache", "supersede": true, "text": "It is 30 s.",
        }),
    );
    check(
        "resolve id=a winner=b \"why\"",
        json!({
            "op": "resolve", "id": "a", "winner": "b", "note": "why",
        }),
    );
    check(
        r#"split id=a into:=[{"as": "b", "title": "c d"}] assign:={"e": "$b"}"#,
        json!({
            "op": "split", "id": "a", "into": [{"as": "b", "title": "c d"}], "assign": {"e": "$b"},
        }),
    );
    check(
        "remember content:=5 title=5 tags:=[\"a,b\"]",
        json!({
            "op": "remember", "content": 5, "title": "5", "tags": ["a,b"],
        }),
    );
}

#[test]
fn an_edge_begins_at_one_node() {
    check(
        "link from=$a to=b type=implies strength=0.5",
        json!({
            "op": "link", "from": "$a", "to": "b", "type": "implies", "strength": 0.5,
        }),
    );
    check("merge from=a,b into=c", json!({"op": "merge", "from": ["a", "b"], "into": "c"}));
}

#[test]
fn comments_and_empty_lines_are_passed_over() {
    let read = parse_changeset("\n# one\n  pin id=a\r\n\n#two\nunpin id=a").unwrap();
    let lines: Vec<usize> = read.iter().map(|it| it.0).collect();
    assert_eq!(lines, [3, 6]);
}

#[test]
fn mistakes_are_explained() {
    refused("=x", "begins with `=x`, not with the name of an operation");
    refused("pin id", "has `id` without a value; write `id=…`");
    refused("pin -x", "has `-x` where `key=value` belongs");
    refused("pin id=a id=b", "gives `id` twice");
    refused("pin id=\"a", "has a text without its closing `\"`");
    refused("pin id=\"a\"b", "has no space after `id`");
    refused("link strength=much", "gives `strength` as `much`, which is no number");
    refused("fact supersede=1", "gives `supersede` as `1`; it is true or false");
    refused("split into:=[", "has no JSON after `into:=`");
}
