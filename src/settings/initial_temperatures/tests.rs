use super::*;

#[track_caller]
fn check(text: &str, expected: &[(&str, Option<f64>)]) {
    let temperatures = InitialTemperatures::parse(text).unwrap();
    for (path, temperature) in expected {
        assert_eq!(temperatures.of(path), *temperature, "{path}");
    }
}

#[track_caller]
fn check_refused(text: &str, message: &str) {
    let error = InitialTemperatures::parse(text).unwrap_err().to_string();
    assert!(error.contains(message), "{error}");
}

#[test]
fn the_nearest_entry_above_a_file_counts() {
    check(
        r#"{"*": 0.25, "HOME.md": 1, "archive": 0.05,
            "lib": {"*": 0.6, "core": {"*": 0.75, "api.yaml": 0.95}, "old": 0.4}}"#,
        &[
            ("HOME.md", Some(1.0)),
            ("x.md", Some(0.25)),
            ("archive/2020/n.md", Some(0.05)),
            ("lib/u.md", Some(0.6)),
            ("lib/core/api.yaml", Some(0.95)),
            ("lib/core/h.json", Some(0.75)),
            ("lib/old/c.md", Some(0.4)),
            ("other/r.md", Some(0.25)),
            ("lib", Some(0.25)),
        ],
    );
}

#[test]
fn a_folder_may_have_a_number_and_exceptions() {
    check(
        r#"{"src": 0.5, "src/a.md": 0.9, "src/deep/b.md": 0.1}"#,
        &[
            ("src/a.md", Some(0.9)),
            ("src/b.md", Some(0.5)),
            ("src/deep/b.md", Some(0.1)),
            ("src/deep/c.md", Some(0.5)),
            ("other.md", None),
        ],
    );
}

#[test]
fn a_star_may_have_entries_of_its_own() {
    check(
        r#"{"*": {"README.md": 0.9, "*": 0.3}, "docs": {"x.md": 0.7}, "a/*/c": 0.2}"#,
        &[
            ("any/README.md", Some(0.9)),
            ("any/other.md", Some(0.3)),
            ("docs/x.md", Some(0.7)),
            ("docs/README.md", Some(0.9)),
            ("top.md", None),
            ("a/b/c/d.md", Some(0.2)),
        ],
    );
}

#[test]
fn paths_may_be_written_in_several_ways() {
    check(
        r#"{"./a/": {"b/c.md": 1}, "é/ü.md": 0.0}"#,
        &[("a/b/c.md", Some(1.0)), ("é/ü.md", Some(0.0)), ("a/x.md", None)],
    );
    assert!(InitialTemperatures::parse("").unwrap().is_empty());
    assert!(InitialTemperatures::parse(" {} ").unwrap().is_empty());
}

#[test]
fn errors_name_their_path() {
    check_refused(
        r#"{"a": 2}"#,
        "`a` in .remindb/temperatures.json must be between 0 and 1, not 2",
    );
    check_refused(r#"{"a": {"b": "x"}}"#, "`a/b` in");
    check_refused(r#"{"a": {"b": [1]}}"#, "not a list");
    check_refused(r#"{"a": null}"#, "`a`");
    check_refused(
        r#"{"a/b": 0.1, "a": {"b": 0.2}}"#,
        "`a/b` in .remindb/temperatures.json is given twice",
    );
    check_refused(r#"{"a": 0.1, "a": 0.2}"#, "given twice");
    check_refused(r#"{"/a": 0.1}"#, "begins with `/`");
    check_refused(r#"{"a//b": 0.1}"#, "empty name");
    check_refused(r#"{"": 0.1}"#, "empty name");
    check_refused(r#"{"a/../b": 0.1}"#, "`..`");
    check_refused(r#"{"*.md": 0.1}"#, "whole name");
    check_refused("[1]", "must be an object");
    check_refused("{", "is no JSON");
    check_refused(r#"{"a": 1} x"#, "is no JSON");
    check_refused(&format!(r#"{{"{}b": 1}}"#, "a/".repeat(200)), "more than 128 names");
}
