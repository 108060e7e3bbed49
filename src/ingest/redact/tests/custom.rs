//! Tests of kinds of secrets that a configuration adds or switches off.

use super::*;

fn custom(kind: &str, pattern: &str) -> Result<Redactor, String> {
    let custom = CustomKind { kind: kind.to_owned(), pattern: pattern.to_owned() };
    Redactor::new(&[], &[custom]).map_err(|error| error.to_string())
}

#[test]
fn custom_kinds_are_found_beside_the_built_in_ones() {
    let redactor = custom("ticket", r"\bTKT-\d+").unwrap();
    assert_eq!(
        redactor.scrub("TKT-12 TKT-١ AKIAIOSFODNN7EXAMPLE").text,
        "«redacted:ticket» TKT-١ «redacted:aws_access_key»"
    );
    // Classes are ASCII, brackets and literal runs are those of RE2.
    assert_eq!(custom("a", r"[[\w]+x").unwrap().scrub("ä[bx").text, "ä«redacted:a»");
    assert_eq!(custom("a", r"\Qa.b\E+").unwrap().scrub("axb a.bb").text, "axb «redacted:a»");
    assert_eq!(custom("a", r"[[:upper:]\d]{3}").unwrap().scrub("A1Bc").text, "«redacted:a»c");
    assert_eq!(custom("a", r"[]x]").unwrap().scrub("[]x").text, "[«redacted:a»«redacted:a»");
    // What matches nothing replaces nothing; what is anchored is found once.
    assert_eq!(custom("a", "z*").unwrap().scrub("äzb").text, "ä«redacted:a»b");
    assert_eq!(custom("a", r"^\w").unwrap().scrub("abc").text, "«redacted:a»bc");
    // A pattern that uncovers itself takes the rest, instead of many passes.
    assert_eq!(custom("a", r"\b\w").unwrap().scrub(&"b".repeat(99)).text, "«redacted:a»".repeat(8));
    // A pattern that matches its own marker.
    assert_eq!(custom("red", "red").unwrap().scrub("red").text, "«redacted:red»");
}

#[test]
fn a_match_in_the_quotes_of_a_marker_takes_the_quotes() {
    let text = r#"{"password": 12345678}"#;
    for (pattern, expected) in [
        ("never", r#"{"password": "«redacted:env_secret_assignment»"}"#),
        (": \"$", r#"{"password"«redacted:odd»«redacted:env_secret_assignment»}"#),
        ("\"\\}", r#"{"password": «redacted:env_secret_assignment»«redacted:odd»"#),
        ("\"$", r#"{"password": «redacted:env_secret_assignment»}"#),
    ] {
        let redactor = custom("odd", pattern).unwrap();
        let scrubbed = redactor.scrub(text).text;
        assert_eq!(scrubbed, expected, "{pattern}");
        assert!(!redactor.has_secret(&scrubbed), "{scrubbed}");
    }
}

#[test]
fn matches_behind_a_marker_without_its_quotes_stay_in_place() {
    let redactor = custom("odd", ": \"$|\"}").unwrap();
    let text = r#"{"password": 12345678, "other_password": 87654321}"#;
    let scrubbed = redactor.scrub(text);
    let hits: Vec<&str> = scrubbed.hits.iter().map(|hit| &text[hit.range.clone()]).collect();
    assert_eq!(hits, [": ", "12345678", ": ", "87654321", "}"]);
    assert!(!redactor.has_secret(&scrubbed.text), "{}", scrubbed.text);
}

#[test]
fn kinds_can_be_switched_off_by_name() {
    let redactor = Redactor::new(&["aws_access_key".to_owned()], &[]).unwrap();
    assert!(!redactor.has_secret("AKIAIOSFODNN7EXAMPLE"));
    assert!(redactor.has_secret("npm_a1B2c3D4e5F6g7H8a1B2c3D4e5F6g7H8abcd"));
}

#[test]
fn a_refused_configuration_names_its_fault() {
    let unknown = Redactor::new(&["aws_acess_key".to_owned()], &[]).unwrap_err().to_string();
    assert_eq!(
        unknown,
        "`aws_acess_key` is no built-in kind of secret; did you mean `aws_access_key`?"
    );
    let messages = [custom("", "a"), custom("a»b", "a"), custom("a", "(b"), custom("a", "")];
    let messages: Vec<String> = messages.into_iter().map(Result::unwrap_err).collect();
    expect_test::expect![[r#"
        a custom kind of secret has no name; give it a `kind`
        `a»b` cannot name a kind of secret; use at most 64 letters, digits, `_`, `-`, `.`
        the pattern of kind `a` is no regular expression: unclosed group
        the pattern of kind `a` is no regular expression: it is empty"#]]
    .assert_eq(&messages.join("\n"));
    assert!(custom("a", r"(\w{500}){500}").unwrap_err().contains("too large"));
}
