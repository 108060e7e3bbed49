use expect_test::{Expect, expect};

use super::*;

const ARGS: &[ArgSpec] = &[
    ArgSpec::text("query", "words to look for").required(),
    ArgSpec::integer("budget", "tokens at most").range(1, 100).or_integer(10),
    ArgSpec::choice("detail", "how much", &["label", "snippet", "full"]).or_text("label"),
    ArgSpec::texts("node_ids", "anchors", 1, 2),
    ArgSpec::number("weight", "edges at least", 0.0, 1.5),
    ArgSpec::flag("dry", "change nothing"),
    ArgSpec::integer("since", "snapshot").range(0, i64::MAX),
];

/// Checks the arguments, or the error about them.
#[track_caller]
fn check_args(given: Value, expected: Expect) {
    let Value::Object(given) = given else { panic!("arguments are an object") };
    let text = match validate_args(ARGS, given) {
        Ok(Args(args)) => args.iter().map(|(name, given)| format!("{name}: {given:?}\n")).collect(),
        Err(problem) => problem.replace("; ", ";\n"),
    };
    expected.assert_eq(&text);
}

#[test]
fn the_table_is_the_schema() {
    expect![[r#"
        {
          "type": "object",
          "properties": {
            "query": {
              "type": "string",
              "description": "words to look for"
            },
            "budget": {
              "type": "integer",
              "minimum": 1,
              "maximum": 100,
              "default": 10,
              "description": "tokens at most"
            },
            "detail": {
              "type": "string",
              "enum": [
                "label",
                "snippet",
                "full"
              ],
              "default": "label",
              "description": "how much"
            },
            "node_ids": {
              "type": "array",
              "items": {
                "type": "string"
              },
              "minItems": 1,
              "maxItems": 2,
              "description": "anchors"
            },
            "weight": {
              "type": "number",
              "minimum": 0.0,
              "maximum": 1.5,
              "description": "edges at least"
            },
            "dry": {
              "type": "boolean",
              "description": "change nothing"
            },
            "since": {
              "type": "integer",
              "minimum": 0,
              "description": "snapshot"
            }
          },
          "required": [
            "query"
          ]
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&args_schema(ARGS)).unwrap());
    expect![[r#"{"type":"object","properties":{}}"#]].assert_eq(&args_schema(&[]).to_string());
}

#[test]
fn defaults_are_filled_in() {
    check_args(
        json!({"query": "x"}),
        expect![[r#"
        query: Text("x")
        budget: Integer(10)
        detail: Text("label")
    "#]],
    );
}

#[test]
fn a_null_argument_counts_as_absent() {
    check_args(
        json!({"query": "x", "budget": null, "node_ids": null, "bogus": null}),
        expect![[r#"
            query: Text("x")
            budget: Integer(10)
            detail: Text("label")
        "#]],
    );
    check_args(json!({"query": null}), expect!["missing argument `query`, a string"]);
}

#[test]
fn whole_numbers_are_integers_however_written() {
    check_args(
        json!({"query": "", "budget": 5.0, "since": 1e3, "weight": 1}),
        expect![[r#"
        query: Text("")
        budget: Integer(5)
        detail: Text("label")
        weight: Number(1.0)
        since: Integer(1000)
    "#]],
    );
    check_args(
        json!({"query": "", "budget": 5.5}),
        expect!["`budget` must be an integer, not 5.5"],
    );
}

#[test]
fn ranges_hold_at_both_ends() {
    check_args(
        json!({"query": "", "budget": 0, "since": -1, "weight": 1.6}),
        expect![[r#"
        `budget` must be between 1 and 100, not 0;
        `weight` must be between 0 and 1.5, not 1.6;
        `since` must be at least 0, not -1"#]],
    );
    check_args(
        json!({"query": "", "budget": 18446744073709551615u64, "since": 1e300}),
        expect![[r#"
            `budget` must be between 1 and 100, not 18446744073709551615;
            `since` must be at least 0, not 1e+300"#]],
    );
    check_args(
        json!({"query": "", "node_ids": []}),
        expect!["`node_ids` must have 1 to 2 items, not 0"],
    );
    check_args(
        json!({"query": "", "node_ids": ["a", "b", "c"]}),
        expect!["`node_ids` must have 1 to 2 items, not 3"],
    );
}

#[test]
fn unknown_arguments_are_refused_with_what_is_allowed() {
    check_args(
        json!({"query": "x", "bugdet": 5}),
        expect![[r#"
        unknown argument `bugdet`;
        allowed: query, budget, detail, node_ids, weight, dry, since (did you mean `budget`?)"#]],
    );
    check_args(
        json!({"query": "x", "nodeIds": ["a"]}),
        expect![[r#"
        unknown argument `nodeIds`;
        allowed: query, budget, detail, node_ids, weight, dry, since (did you mean `node_ids`?)"#]],
    );
    check_args(
        json!({"query": "x", "zzz": 1}),
        expect![[r#"
        unknown argument `zzz`;
        allowed: query, budget, detail, node_ids, weight, dry, since"#]],
    );
    check_args(
        json!({"query": "x", "a": 1, "b": 2, "c": 3, "d": 4}),
        expect![[r#"
            unknown arguments `a`, `b`, `c` and 1 more;
            allowed: query, budget, detail, node_ids, weight, dry, since"#]],
    );
    let long = json!({"query": "x", "q".repeat(100_000): 1});
    check_args(
        long,
        expect![[r#"
        unknown argument `qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq…`;
        allowed: query, budget, detail, node_ids, weight, dry, since"#]],
    );
}

#[test]
fn wrong_types_say_what_is_wanted() {
    check_args(
        json!({"query": 0.5, "budget": "five", "detail": ["label"], "node_ids": 7, "dry": "yes"}),
        expect![[r#"
            `query` must be a string, not a number;
            `budget` must be an integer, not a string;
            `detail` must be a string, not a list;
            `node_ids` must be a list of strings, not a number;
            `dry` must be true or false, not a string"#]],
    );
    check_args(
        json!({"query": {}, "node_ids": ["a", 7]}),
        expect![[r#"
        `query` must be a string, not an object;
        `node_ids` must be a list of strings;
        item 2 is a number"#]],
    );
}

#[test]
fn a_wrong_choice_names_the_right_ones() {
    check_args(
        json!({"query": "x", "detail": "snipet"}),
        expect![
            "`detail` must be one of label, snippet, full, not `snipet` (did you mean `snippet`?)"
        ],
    );
}

#[test]
fn a_tool_without_arguments_says_so() {
    let given = Map::from_iter([("x".to_owned(), json!(1))]);
    expect!["unknown argument `x`; it takes none"]
        .assert_eq(&validate_args(&[], given).unwrap_err());
}

#[test]
fn an_empty_choice_means_the_default() {
    check_args(
        json!({"query": "", "detail": ""}),
        expect![[r#"
            query: Text("")
            budget: Integer(10)
            detail: Text("label")
        "#]],
    );
}

#[test]
fn a_value_in_another_form_is_understood() {
    check_args(
        json!({
            "query": 404, "budget": " 50", "detail": "Full", "node_ids": "a", "weight": "0.5",
            "dry": "True", "since": "",
        }),
        expect![[r#"
            query: Text("404")
            budget: Integer(50)
            detail: Text("full")
            node_ids: Texts(["a"])
            weight: Number(0.5)
            dry: Flag(true)
        "#]],
    );
    check_args(
        json!({"query": "\"500\"", "node_ids": "[\"a\", \"b\"]"}),
        expect![[r#"
            query: Text("\"500\"")
            budget: Integer(10)
            detail: Text("label")
            node_ids: Texts(["a", "b"])
        "#]],
    );
    check_args(
        json!({"query": "x", "budget": "500"}),
        expect!["`budget` must be between 1 and 100, not 500"],
    );
}

const ALIASED: &[ArgSpec] = &[
    ArgSpec::text("anchor", "node").required().also(&["id", "root", "node_id"]),
    ArgSpec::text("root", "folder"),
    ArgSpec::integer("budget", "tokens of the reply").mistaken_for(&["limit"]),
    ArgSpec::flag("quick", "").unlisted(),
];

#[test]
fn another_name_of_an_argument_stands_for_it() {
    let read = |given: Value| {
        let Value::Object(given) = given else { panic!("arguments are an object") };
        match validate_args(ALIASED, given) {
            Ok(args) => format!("{:?} {:?}", args.text("anchor"), args.text("root")),
            Err(problem) => problem,
        }
    };
    assert_eq!(read(json!({"id": "x"})), r#"Some("x") None"#);
    assert_eq!(read(json!({"id": "x", "node_id": "x", "anchor": ""})), r#"Some("x") None"#);
    assert_eq!(read(json!({"node_id": "x", "root": "y"})), r#"Some("x") Some("y")"#);
    assert_eq!(read(json!({"root": "y"})), "missing argument `anchor`, a string");
    assert_eq!(
        read(json!({"anchor": "x", "id": "y"})),
        "`anchor` and `id` mean the same here, and differ; give one"
    );
    assert_eq!(
        read(json!({"anchor": "x", "limit": 3})),
        "unknown argument `limit`; allowed: anchor, root, budget (did you mean `budget`: tokens \
         of the reply?)"
    );
    let schema = args_schema(ALIASED).to_string();
    assert!(!schema.contains("quick") && !schema.contains("node_id"), "{schema}");
}
