//! Tests edits of settings in YAML.

use super::*;

#[test]
fn a_server_in_yaml_comes_after_the_others() {
    check(
        SettingsFormat::Yaml,
        "# mine\nGOOSE_MODE: \"auto\"\nextensions:\n  developer:\n    enabled: true # yes\n    args:\n    - a\n\n# end\nkey: value\n",
        expect![[r#"
            # mine
            GOOSE_MODE: "auto"
            extensions:
              developer:
                enabled: true # yes
                args:
                - a
              remindb:
                command: "/bin/remindb"
                args: ["serve", "--db", "/m.db"]

            # end
            key: value
        "#]],
    );
    check(
        SettingsFormat::Yaml,
        "",
        expect![[r#"
            extensions:
              remindb:
                command: "/bin/remindb"
                args: ["serve", "--db", "/m.db"]
        "#]],
    );
    check(
        SettingsFormat::Yaml,
        "extensions: {}\na: 1\n",
        expect![[r#"
            extensions:
              remindb:
                command: "/bin/remindb"
                args: ["serve", "--db", "/m.db"]
            a: 1
        "#]],
    );
    check(
        SettingsFormat::Yaml,
        "extensions:\n    remindb:\n        command: old\n        args:\n        - serve\n        env: {}\n    b: {}\n",
        expect![[r#"
            extensions:
                remindb:
                    command: "/bin/remindb"
                    args: ["serve", "--db", "/m.db"]
                    env: {}
                b: {}
        "#]],
    );
}

#[test]
fn yaml_that_no_line_edit_keeps_is_refused() {
    check_refused(SettingsFormat::Yaml, "extensions: {a: {cmd: x}}\n", expect!["unsure"]);
    check_refused(SettingsFormat::Yaml, "extensions:\n- a\n", expect!["unsure"]);
    check_refused(SettingsFormat::Yaml, "extensions: &a\n  b: 1\n", expect!["unsure"]);
    check_refused(
        SettingsFormat::Yaml,
        "a: 1\nb: [\n",
        expect!["10: while parsing a node, did not find expected node content"],
    );
    check_refused(
        SettingsFormat::Yaml,
        "extensions:\n  remindb:\n    uri: x\n",
        expect![
            "its `remindb` has no `command`, so that somebody else made it; rename or remove it"
        ],
    );
}

/// Generates plausible YAML settings: each part at most once.
fn mappings() -> impl Strategy<Value = String> {
    const PARTS: &[&str] = &[
        "# a comment\n",
        "\n",
        "model: \"m\" # mine\n",
        "long: |\n  extensions:\n    x: 1\n\n",
        "list:\n- a\n- b: 1\n",
        "extensions:\n  # first\n  developer:\n    enabled: true\n\n  memory:\n    args:\n    - x\n    # last\n",
        "flow: {a: [1, 2]}\n",
    ];
    let parts = prop::sample::subsequence(PARTS, 0..PARTS.len()).prop_shuffle();
    (parts, any::<bool>()).prop_map(|(parts, is_crlf)| {
        let text = parts.concat();
        if is_crlf { text.replace('\n', "\r\n") } else { text }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_server_in_yaml_comes_and_goes_without_a_trace(settings in mappings()) {
        let put = SettingsFormat::Yaml.put(&settings, &entry("/m.db")).unwrap();
        let fields = SettingsFormat::Yaml.fields(&put.text, "remindb").unwrap();
        prop_assert_eq!(&fields[1].1, &entry("/m.db").fields[1].1);
        let again = SettingsFormat::Yaml.put(&put.text, &entry("/m.db")).unwrap();
        prop_assert_eq!(&again.text, &put.text);
        let back = SettingsFormat::Yaml.take(&put.text, "remindb", None, put.is_container_new);
        prop_assert_eq!(back.unwrap(), settings);
    }
}
