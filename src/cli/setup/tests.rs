//! Tests for edits of settings: they add the entries, and leave everything else as written.

mod choice;
mod permissions;
mod yaml;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::edit::SettingsFormat;
use super::json_settings::ServersPath;
use super::json_spans::JsonDialect;
use super::settings_edit_types::{EditRefusal, Grant, ServerEntry};

const RELAXED: SettingsFormat = SettingsFormat::Json(ServersPath {
    dialect: JsonDialect::Relaxed,
    container: "servers",
    inner: None,
});
const NESTED: SettingsFormat = SettingsFormat::Json(ServersPath {
    dialect: JsonDialect::Relaxed,
    container: "mcp",
    inner: Some("servers"),
});

fn entry(memory: &str) -> ServerEntry {
    let args = json!(["serve", "--db", memory]);
    ServerEntry {
        name: "remindb",
        key: "command",
        fields: vec![("command", json!("/bin/remindb")), ("args", args)],
    }
}

/// Checks adding the server to settings: repeating it changes nothing, and removing it restores
/// them.
#[track_caller]
fn check(notation: SettingsFormat, settings: &str, expected: Expect) {
    let put = notation.put(settings, &entry("/m.db")).unwrap();
    expected.assert_eq(&put.text);
    assert_eq!(notation.put(&put.text, &entry("/m.db")).unwrap().text, put.text);
    let other = notation.put(&put.text, &entry("/other.db")).unwrap().text;
    assert_eq!(other, put.text.replace("/m.db", "/other.db"));
    let back = notation.take(&put.text, "remindb", put.entry.as_deref(), put.is_container_new);
    assert_eq!(back.unwrap(), settings);
}

#[track_caller]
fn check_refused(notation: SettingsFormat, settings: &str, expected: Expect) {
    let refusal = match notation.put(settings, &entry("/m.db")).unwrap_err() {
        EditRefusal::Broken { at, what } => format!("{at}: {what}"),
        EditRefusal::ForeignEntry(what) => what,
        EditRefusal::Unsure => "unsure".to_owned(),
    };
    expected.assert_eq(&refusal);
}

#[test]
fn settings_that_say_nothing_get_one_object() {
    check(
        RELAXED,
        "{}\n",
        expect![[r#"
            {
              "servers": {
                "remindb": {
                  "command": "/bin/remindb",
                  "args": ["serve", "--db", "/m.db"]
                }
              }
            }
        "#]],
    );
    assert_eq!(RELAXED.put(" \n", &entry("/m.db")).unwrap().text, RELAXED.snippet(&entry("/m.db")));
}

#[test]
fn comments_commas_and_indentation_stay() {
    check(
        RELAXED,
        "{\n\t// mine\n\t\"servers\": { // all\n\t\t\"a\": {\"command\": \"x\"} /* a */\n\t\t// end\n\t},\n\t\"x\": [1, 2,],\n}\n",
        expect![[r#"
            {
            	// mine
            	"servers": { // all
            		"a": {"command": "x"}, /* a */
            		// end
            		"remindb": {
            			"command": "/bin/remindb",
            			"args": ["serve", "--db", "/m.db"]
            		}
            	},
            	"x": [1, 2,],
            }
        "#]],
    );
    check(
        RELAXED,
        "{\n  \"servers\": {\n    // none yet\n  }\n}",
        expect![[r#"
            {
              "servers": {
                // none yet
                "remindb": {
                  "command": "/bin/remindb",
                  "args": ["serve", "--db", "/m.db"]
                }
              }
            }"#]],
    );
}

#[test]
fn servers_one_level_deeper_are_joined_there() {
    check(
        NESTED,
        "{\n  \"mcp\": {\n    \"servers\": {}\n  }\n}\n",
        expect![[r#"
            {
              "mcp": {
                "servers": {
                  "remindb": {
                    "command": "/bin/remindb",
                    "args": ["serve", "--db", "/m.db"]
                  }
                }
              }
            }
        "#]],
    );
    // A server of that name is no object of servers.
    check(
        NESTED,
        "{\n  \"mcp\": {\n    \"servers\": {\"type\": \"local\"}\n  }\n}\n",
        expect![[r#"
            {
              "mcp": {
                "servers": {"type": "local"},
                "remindb": {
                  "command": "/bin/remindb",
                  "args": ["serve", "--db", "/m.db"]
                }
              }
            }
        "#]],
    );
    // An existing one stays where it is.
    check(
        NESTED,
        "{\n  \"mcp\": {\n    \"servers\": {},\n    \"remindb\": {\n      \"command\": \"x\"\n    }\n  }\n}\n",
        expect![[r#"
            {
              "mcp": {
                "servers": {},
                "remindb": {
                  "command": "/bin/remindb",
                  "args": ["serve", "--db", "/m.db"]
                }
              }
            }
        "#]],
    );
}

#[test]
fn line_ends_stay() {
    let settings = "\u{feff}{\r\n  \"a\": 1\r\n}\r\n";
    let put = RELAXED.put(settings, &entry("/m.db")).unwrap();
    assert_eq!(put.text.matches('\n').count(), put.text.matches("\r\n").count());
    assert_eq!(RELAXED.take(&put.text, "remindb", None, true).unwrap(), settings);
}

#[test]
fn what_somebody_added_to_the_entry_stays() {
    let settings = r#"{"servers": {"remindb": {
        "command": "old", // which
        "env": {"A": "b"}
    }}}"#;
    check(
        RELAXED,
        settings,
        expect![[r#"
            {"servers": {"remindb": {
                    "command": "/bin/remindb", // which
                    "env": {"A": "b"},
                    "args": ["serve", "--db", "/m.db"]
                }}}"#]],
    );
}

#[test]
fn broken_settings_are_reported_with_their_line() {
    check_refused(RELAXED, "{\"a\": 1", expect!["0: unterminated object"]);
    check_refused(RELAXED, "[]", expect!["0: `the file` is not an object"]);
    check_refused(RELAXED, "{\"servers\": []}", expect!["12: `servers` is not an object"]);
    check_refused(
        RELAXED,
        "{\"servers\": {}, \"servers\": {}}",
        expect!["16: `servers` is there twice"],
    );
    check_refused(
        RELAXED,
        "{\"servers\": {\"remindb\": {\"url\": \"u\"}}}",
        expect![
            "its `remindb` has no `command`, so that somebody else made it; rename or remove it"
        ],
    );
    check_refused(RELAXED, "{} {}", expect!["3: text cannot contain more than one JSON value"]);
    check_refused(RELAXED, "{\"a\": \"\\", expect!["6: unterminated string literal"]);
    check_refused(RELAXED, &"[".repeat(100_000), expect!["512: maximum nesting depth exceeded"]);
    let strict = SettingsFormat::Json(ServersPath {
        dialect: JsonDialect::Strict,
        container: "servers",
        inner: None,
    });
    check_refused(strict, "{} // mine", expect!["3: comments are not allowed"]);
    check_refused(strict, "{\"a\": 1,}", expect!["7: trailing commas are not allowed"]);
    check_refused(
        SettingsFormat::Toml,
        "a = \n",
        expect!["4: string values must be quoted, expected literal string"],
    );
    check_refused(
        SettingsFormat::Toml,
        "mcp_servers = 1\n",
        expect!["0: `mcp_servers` is not a table"],
    );
    check_refused(
        SettingsFormat::Toml,
        "[mcp_servers.remindb]\nurl = 'x'\n",
        expect![
            "its `remindb` has no `command`, so that somebody else made it; rename or remove it"
        ],
    );
    check_refused(SettingsFormat::Toml, "a = 1\r\nb = 2\n", expect!["unsure"]);
}

#[test]
fn a_table_comes_beside_its_kind_and_nothing_else_moves() {
    check(
        SettingsFormat::Toml,
        "model = \"m\" # mine\n\n[mcp_servers.a]\ncommand = 'x'\n\n[tui]\n# end\n",
        expect![[r#"
            model = "m" # mine

            [mcp_servers.a]
            command = 'x'

            [mcp_servers.remindb]
            command = "/bin/remindb"
            args = ["serve", "--db", "/m.db"]

            [tui]
            # end
        "#]],
    );
}

#[test]
fn a_table_that_is_there_is_edited_where_it_is() {
    check(
        SettingsFormat::Toml,
        "[ mcp_servers . \"remindb\" ]\ncommand = 'x'\n# of the next\n[tui]\na = '''\n[mcp_servers.b]\n'''\n",
        expect![[r#"
            [ mcp_servers . "remindb" ]
            command = "/bin/remindb"
            args = ["serve", "--db", "/m.db"]
            # of the next
            [tui]
            a = '''
            [mcp_servers.b]
            '''
        "#]],
    );
}

#[test]
fn a_string_that_looks_like_the_table_is_left_alone() {
    check(
        SettingsFormat::Toml,
        "a = '''\n[mcp_servers.remindb]\ncommand = 1\n'''\n[mcp_servers.remindb]\ncommand = 'x'\n",
        expect![[r#"
            a = '''
            [mcp_servers.remindb]
            command = 1
            '''
            [mcp_servers.remindb]
            command = "/bin/remindb"
            args = ["serve", "--db", "/m.db"]
        "#]],
    );
}

#[test]
fn tables_in_one_line_and_line_ends_of_toml_stay() {
    check(
        SettingsFormat::Toml,
        "mcp_servers = { a = { command = 'x' } } # all\n",
        expect![[r#"
        mcp_servers = { a = { command = 'x' } , remindb = { command = "/bin/remindb", args = ["serve", "--db", "/m.db"] } } # all
    "#]],
    );
    let settings = "\u{feff}model = 'm' # mine\r\n\r\n[tui]\r\na = 1\r\n";
    let put = SettingsFormat::Toml.put(settings, &entry("/m.db")).unwrap();
    assert_eq!(put.text.matches('\n').count(), put.text.matches("\r\n").count());
    assert_eq!(SettingsFormat::Toml.take(&put.text, "remindb", None, false).unwrap(), settings);
}

#[test]
fn a_table_keeps_what_somebody_added_to_it() {
    check(
        SettingsFormat::Toml,
        "[mcp_servers.remindb]\ncommand = 'old' # which\nenv = { A = 'b' }\n\n[mcp_servers.remindb.tools.x]\na = 1\n",
        expect![[r#"
            [mcp_servers.remindb]
            command = "/bin/remindb" # which
            env = { A = 'b' }
            args = ["serve", "--db", "/m.db"]

            [mcp_servers.remindb.tools.x]
            a = 1
        "#]],
    );
}

#[test]
fn a_comment_above_the_table_stays_when_that_goes() {
    let put = SettingsFormat::Toml.put("model = 'm'\n", &entry("/m.db")).unwrap();
    let edited = put.text.replace("[mcp_servers.remindb]", "# of mine\n[mcp_servers.remindb]");
    let back = SettingsFormat::Toml.take(&edited, "remindb", None, false).unwrap();
    assert_eq!(back, "model = 'm'\n\n# of mine\n");
}

/// Generates plausible settings: objects with comments anywhere.
fn settings() -> impl Strategy<Value = String> {
    let gap = prop_oneof![
        3 => Just(""), 2 => Just(" "), 2 => Just("\n  "), 1 => Just("// c, }\n"), 1 => Just("/* { */"),
    ];
    let key = prop_oneof![Just("a"), Just("b"), Just("servers"), Just("é"), Just("\\\"")];
    let leaf =
        prop_oneof![Just("1".to_owned()), Just("\"x,}\"".to_owned()), Just("[ ]".to_owned())];
    leaf.prop_recursive(3, 24, 4, move |inner| {
        let member = (key.clone(), gap.clone(), inner, gap.clone());
        (prop::collection::vec(member, 0..4), gap.clone(), any::<bool>()).prop_map(
            |(members, gap, has_comma)| {
                let n = members.len();
                let members = members.into_iter().enumerate().map(|(i, (key, a, value, b))| {
                    let comma = if i + 1 < n || has_comma { "," } else { "" };
                    format!("{a}\"{key}\":{a}{value}{b}{comma}{a}")
                });
                format!("{{{gap}{}}}", members.collect::<String>())
            },
        )
    })
}

/// Generates plausible TOML settings: each part at most once.
fn tables() -> impl Strategy<Value = String> {
    const PARTS: &[&str] = &[
        "# a comment\n",
        "\n",
        "model = \"m\" # mine\n",
        "dotted . key = [1,\n  2, # two\n]\n",
        "long = '''\n[mcp_servers.remindb]\n'''\n",
        "[tui]\n  theme = { a = 1, b.c = 'x' }\n\n\n",
        "[[list]]\na = 1\n[[list]]\n",
        "[mcp_servers.\"a b\"]\ncommand = 'x'\n",
        "[mcp_servers.a.env]\nA = \"b\"\n# last of it\n",
        "[mcp_servers.remindb] # mine\ncommand = 'old'\n",
        "[mcp_servers.remindb.env]\nA = 'b'\n",
    ];
    let parts = prop::sample::subsequence(PARTS, 0..PARTS.len());
    (parts, any::<bool>()).prop_map(|(parts, is_crlf)| {
        let text = parts.concat();
        // The environment of a server without a command is refused.
        let is_whole =
            text.contains("[mcp_servers.remindb] # mine") || !text.contains("remindb.env");
        let text = if is_whole { text } else { text.replace("remindb.env", "b.env") };
        if is_crlf { text.replace('\n', "\r\n") } else { text }
    })
}

/// Returns the value without comments and trailing commas, and the number of comments.
fn meaning(text: &str) -> (Value, usize) {
    let n_comments = text.matches("// c, }").count() + text.matches("/* { */").count();
    let mut plain = text.replace("// c, }", "").replace("/* { */", "");
    plain.retain(|it| !it.is_whitespace());
    let plain = plain.replace(",}", "}").replace("\"x}", "\"x,}");
    (serde_json::from_str(&plain).unwrap(), n_comments)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn an_edit_adds_the_server_and_nothing_else(settings in settings()) {
        let Ok(put) = RELAXED.put(&settings, &entry("/m.db")) else { return Ok(()) };
        let (before, n_comments) = meaning(&settings);
        let (mut after, n_after) = meaning(&put.text);
        prop_assert_eq!(n_comments, n_after);
        let fields = &entry("/m.db").fields;
        prop_assert_eq!(&after["servers"]["remindb"]["args"], &fields[1].1);
        let removed = RELAXED.take(&put.text, "remindb", None, put.is_container_new).unwrap();
        prop_assert_eq!(meaning(&removed), (before.clone(), n_comments));
        after["servers"].as_object_mut().unwrap().shift_remove("remindb");
        if put.is_container_new {
            after.as_object_mut().unwrap().shift_remove("servers");
        }
        prop_assert_eq!(after, before);
    }

    #[test]
    fn a_table_comes_and_goes_without_a_trace(settings in tables()) {
        let Ok(put) = SettingsFormat::Toml.put(&settings, &entry("/m.db")) else {
            return Err(TestCaseError::fail("refused"));
        };
        let grants = [Grant::value(&["mcp_servers", "remindb", "tools", "X", "mode"], json!("ask"))];
        let (text, given) = SettingsFormat::Toml.grant(&put.text, &grants).unwrap();
        prop_assert_eq!(given.len(), 1);
        let text = SettingsFormat::Toml.revoke(&text, &given).unwrap();
        prop_assert_eq!(&text, &put.text);
        let back = SettingsFormat::Toml.take(&text, "remindb", put.entry.as_deref(), false);
        prop_assert_eq!(back.unwrap(), settings);
    }
}
