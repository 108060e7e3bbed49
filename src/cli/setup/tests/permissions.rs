//! Tests for the permissions that come with the entry, and go with it.

use expect_test::{Expect, expect};
use serde_json::json;

use super::RELAXED;
use crate::cli::setup::edit::SettingsFormat;
use crate::cli::setup::settings_edit_types::{EditRefusal, Grant, parted};

fn grants() -> Vec<Grant> {
    let tools = ["a", "b"].map(str::to_owned);
    vec![
        Grant::items(&["permissions", "allow"], tools),
        Grant::value(&["permission", "c"], json!("ask")),
    ]
}

/// Checks granting permissions: repeating it grants none, and revoking restores the settings.
#[track_caller]
fn check_granted(notation: SettingsFormat, settings: &str, grants: &[Grant], expected: Expect) {
    let (text, given) = notation.grant(settings, grants).unwrap();
    expected.assert_eq(&text);
    assert_eq!(notation.grant(&text, grants).unwrap(), (text.clone(), Vec::new()));
    assert_eq!(notation.revoke(&text, &given).unwrap(), settings);
}

#[test]
fn permissions_come_beside_those_that_are_there() {
    let whole = "{\n  \"model\": \"m\"\n}\n";
    check_granted(
        RELAXED,
        whole,
        &grants(),
        expect![[r#"
        {
          "model": "m",
          "permissions": {
            "allow": [
              "a",
              "b"
            ]
          },
          "permission": {
            "c": "ask"
          }
        }
    "#]],
    );
    let lists = "{\n  // mine\n  \"permissions\": {\n    \"allow\": [\"b\", \"x\"],\n    \"deny\": []\n  }\n}\n";
    check_granted(
        RELAXED,
        lists,
        &grants(),
        expect![[r#"
        {
          // mine
          "permissions": {
            "allow": ["b", "x", "a"],
            "deny": []
          },
          "permission": {
            "c": "ask"
          }
        }
    "#]],
    );
    let lines = "{\n  \"permissions\": {\n    \"allow\": [\n      \"x\" // mine\n    ]\n  },\n  \"permission\": \"allow\"\n}\n";
    check_granted(
        RELAXED,
        lines,
        &grants(),
        expect![[r#"
        {
          "permissions": {
            "allow": [
              "x", // mine
              "a",
              "b"
            ]
          },
          "permission": "allow"
        }
    "#]],
    );
}

#[test]
fn permissions_in_toml_come_and_go_with_the_tables_that_hold_them() {
    let grants = [
        Grant::value(&["mcp_servers", "remindb", "mode"], json!("approve")),
        Grant::value(&["mcp_servers", "remindb", "tools", "X", "mode"], json!("prompt")),
    ];
    let settings = "[mcp_servers.remindb]\ncommand = 'x'\n\n[tui]\na = 1\n";
    check_granted(
        SettingsFormat::Toml,
        settings,
        &grants,
        expect![[r#"
        [mcp_servers.remindb]
        command = 'x'
        mode = "approve"

        [mcp_servers.remindb.tools.X]
        mode = "prompt"

        [tui]
        a = 1
    "#]],
    );
}

#[test]
fn permissions_that_are_not_wanted_any_more_are_the_only_ones_to_go() {
    let (text, given) = RELAXED.grant("{}\n", &grants()).unwrap();
    let fewer = [Grant::items(&["permissions", "allow"], ["b".to_owned()])];
    let (kept, gone) = parted(&given, &fewer);
    let text = RELAXED.revoke(&text, &gone).unwrap();
    assert_eq!(text, "{\n  \"permissions\": {\n    \"allow\": [\n      \"b\"\n    ]\n  }\n}\n");
    assert_eq!(RELAXED.revoke(&text, &kept).unwrap(), "{}\n");
    let (kept, gone) = parted(&given, &[]);
    assert_eq!((kept, gone), (Vec::new(), given));
}

#[test]
fn a_permission_where_no_list_is_is_refused() {
    let refusal = RELAXED.grant("{\"permissions\": {\"allow\": \"all\"}}", &grants());
    let what = "`allow` is not a list".to_owned();
    assert_eq!(refusal.unwrap_err(), EditRefusal::Broken { at: 26, what });
}
