use expect_test::{Expect, expect};
use proptest::prelude::*;

use std::time::Duration;

use super::*;

mod manual;

#[track_caller]
fn check_refused(texts: &[&str], messages: Expect) {
    let errors: Vec<String> =
        texts.iter().map(|text| Config::parse(text).unwrap_err().to_string()).collect();
    messages.assert_eq(&errors.join("\n"));
}

#[test]
fn an_empty_config_means_the_defaults() {
    for text in ["", " \n", "{}", "\u{feff}{}", r#"{"server": null}"#, "{} what follows"] {
        assert_eq!(Config::parse(text), Ok(Config::default()), "{text}");
    }
}

#[test]
fn every_key_is_read() {
    let text = r#"{
      "budgets": {"search": 1, "fetch": 2, "fetch_batch": 3, "related": 4},
      "compile": {"code": true, "gitignore": true, "max_file_size": "2MB", "max_parallelism": 1, "wall_clock_timeout": "1m30s"},
      "knowledge": {"episode_types": ["ritual"], "ingest_buffer_size": 900, "hybrid_keyword_weight": 0.5},
      "redaction": {"disable_builtin_kinds": ["jwt"], "custom": [{"kind": "t", "pattern": "T-\\d+"}]},
      "rescan": {"enabled": false, "interval": "250ms", "settle": "0"},
      "server": {
        "transport": "http", "listen": "127.0.0.1:1", "structured": true,
        "logging": {"level": "warn", "format": "json", "output_path": "x.log", "buffer_size": 5,
                    "session_files": {"enabled": true, "max_file_size": "1"}},
        "resources": {"debounce": "0s", "overrides": {"logs": "3s", "tree": "1.5s"}},
        "sessions": {"flush_interval": "1h"},
        "rescan_files": {"enabled": true, "max_file_size": "1.5 kib"}},
      "temperature": {"enabled": true, "decay_rate": 2, "access_boost": 1, "cold_threshold": 0, "hot_threshold": 0.9,
        "notify_threshold": 0.2, "summarize_rebound": 0.3, "tick_interval": "1s",
        "cold_notify_ttl": "0", "cold_notify_limit": 7}
    }"#;
    expect![[r#"
        Config {
            budgets: BudgetSettings {
                search: Some(
                    1,
                ),
                fetch: Some(
                    2,
                ),
                fetch_batch: Some(
                    3,
                ),
                related: 4,
            },
            compile: CompileSettings {
                code: true,
                gitignore: true,
                max_file_size: Some(
                    2097152,
                ),
                max_parallelism: Some(
                    1,
                ),
                wall_clock_timeout: Some(
                    90s,
                ),
                write_back: false,
            },
            consolidation: AutomaticConsolidationSettings {
                automatic: None,
                threshold: None,
                idle: 60s,
                sampling: false,
                elicitation: false,
            },
            knowledge: KnowledgeSettings {
                episode_types: Some(
                    [
                        "ritual",
                    ],
                ),
                ingest_buffer_size: Some(
                    900,
                ),
                hybrid_keyword_weight: Some(
                    0.5,
                ),
                consolidation_threshold: None,
                auto_consolidate: None,
            },
            memory: TypedMemorySettings {
                max_core: None,
                max_learnings: None,
                max_tasks: None,
                archive_learnings_days: None,
                archive_tasks_days: None,
                auto_archive: None,
                backup: None,
                max_backups: None,
            },
            providers: ProvidersByJob {
                completion: None,
                embeddings: None,
                reranking: None,
                ca_file: None,
                follows_remind: false,
            },
            redaction: RedactionSettings {
                disable_builtin_kinds: [
                    "jwt",
                ],
                custom: [
                    CustomKind {
                        kind: "t",
                        pattern: "T-\\d+",
                    },
                ],
            },
            rescan: RescanSettings {
                enabled: false,
                interval: 250ms,
                settle: 0ns,
            },
            server: ServerSettings {
                transport: Some(
                    Http,
                ),
                listen: Some(
                    "127.0.0.1:1",
                ),
                structured: true,
                logging: LogSettings {
                    level: Warn,
                    format: Json,
                    output_path: Some(
                        "x.log",
                    ),
                    buffer_size: 5,
                    session_files: JsonlLogFileSettings {
                        enabled: true,
                        max_file_size: 1,
                    },
                },
                resources: ResourceNotificationSettings {
                    debounce: 0ns,
                    overrides: [
                        (
                            "logs",
                            3s,
                        ),
                        (
                            "tree",
                            1.5s,
                        ),
                    ],
                },
                sessions: SessionLedgerFlushSettings {
                    flush_interval: 3600s,
                },
                rescan_files: JsonlLogFileSettings {
                    enabled: true,
                    max_file_size: 1536,
                },
            },
            temperature: TemperatureSettings {
                enabled: true,
                decay_rate: 2.0,
                access_boost: 1.0,
                cold_threshold: 0.0,
                hot_threshold: 0.9,
                notify_threshold: 0.2,
                summarize_rebound: 0.3,
                tick_interval: 1s,
                cold_notify_ttl: 0ns,
                cold_notify_limit: 7,
            },
        }"#]]
    .assert_eq(&format!("{:#?}", Config::parse(text).unwrap()));
}

#[test]
fn durations_parse_as_in_go() {
    let ns = |text| units::duration(text).map(|at| (at.negative, at.size.as_nanos()));
    for (text, nanos) in [
        ("0", 0),
        ("+5s", 5_000_000_000),
        ("1h2m3s4ms5us6ns", 3_723_004_005_006),
        ("1.5h", 5_400_000_000_000),
        (".5s", 500_000_000),
        ("1.s", 1_000_000_000),
        ("1µs", 1_000),
        ("1μs", 1_000),
        ("0.000000001s", 1),
        ("0s", 0),
        ("2540400h", 9_145_440_000_000_000_000),
    ] {
        assert_eq!(ns(text), Some((false, nanos)), "{text}");
    }
    assert_eq!(ns("-1.5s"), Some((true, 1_500_000_000)));
    for text in ["", "1", "s", "-", "1 s", "1d", "1e3s", ".s", "1s2", "99999999999h", "١s", "1sx"]
    {
        assert_eq!(ns(text), None, "{text}");
    }
}

#[test]
fn sizes_are_multiples_of_1024() {
    for (text, bytes) in [
        ("0", 0),
        ("10", 10),
        ("10B", 10),
        ("1k", 1024),
        ("1 KB", 1024),
        ("1KiB", 1024),
        ("1.5mb", 1_572_864),
        (" 2G ", 2_147_483_648),
        ("1tib", 1_099_511_627_776),
        (".5k", 512),
    ] {
        assert_eq!(units::size(text), Some(bytes), "{text}");
    }
    for text in ["", "-1", "MB", "1PB", "1e3", "inf", "NaN", "1 2", "99999999999999999999999T", "."]
    {
        assert_eq!(units::size(text), None, "{text}");
    }
}

#[test]
fn unknown_keys_are_refused_by_name() {
    check_refused(
        &[
            r#"{"x": 1}"#,
            r#"{"budget": {}}"#,
            r#"{"rescan": {"intervall": "1s"}}"#,
            r#"{"server": {"logging": {"session_files": {"size": "1"}}}}"#,
            r#"{"redaction": {"custom": [{"kind": "a", "regex": "b"}]}}"#,
        ],
        expect![[r#"
            unknown key "x" in .remindb/config.json; known are budgets, compile, consolidation, knowledge, memory, providers, redaction, rescan, server, temperature
            unknown key "budget" in .remindb/config.json; did you mean `budgets`?
            unknown key "intervall" in .remindb/config.json, under `rescan`; did you mean `interval`?
            unknown key "size" in .remindb/config.json, under `server.logging.session_files`; known are enabled, max_file_size
            unknown key "regex" in .remindb/config.json, under `redaction.custom[0]`; known are kind, pattern"#]],
    );
}

#[test]
fn values_out_of_range_are_refused_with_what_to_do() {
    check_refused(
        &[
            r#"{"budgets": {"search": 0}}"#,
            r#"{"budgets": {"fetch": -1}}"#,
            r#"{"budgets": {"fetch": 1.5}}"#,
            r#"{"budgets": {"fetch": 4294967296}}"#,
            r#"{"budgets": []}"#,
            r#"{"compile": {"max_file_size": 100}}"#,
            r#"{"compile": {"max_file_size": "0"}}"#,
            r#"{"compile": {"max_file_size": "-1KB"}}"#,
            r#"{"compile": {"max_parallelism": 0}}"#,
            r#"{"compile": {"wall_clock_timeout": "-1s"}}"#,
            r#"{"rescan": {"enabled": "yes"}}"#,
            r#"{"rescan": {"interval": "0"}}"#,
            r#"{"rescan": {"interval": 30}}"#,
            r#"{"rescan": {"settle": "-1ms"}}"#,
            r#"{"server": {"transport": "tcp"}}"#,
            r#"{"server": {"logging": {"level": "trace"}}}"#,
            r#"{"server": {"logging": {"buffer_size": 0}}}"#,
            r#"{"server": {"resources": {"overrides": {"logs": null}}}}"#,
            r#"{"server": {"resources": {"overrides": {"logs": "-1s"}}}}"#,
            r#"{"server": {"resources": {"overrides": {"log": "1s"}}}}"#,
            r#"{"server": {"sessions": {"flush_interval": "0s"}}}"#,
            r#"{"temperature": {"decay_rate": -0.1}}"#,
            r#"{"temperature": {"access_boost": 1.1}}"#,
            r#"{"temperature": {"tick_interval": "0s"}}"#,
            r#"{"temperature": {"cold_notify_limit": 0}}"#,
            r#"{"redaction": {"disable_builtin_kinds": ["nope"]}}"#,
            r#"{"redaction": {"disable_builtin_kinds": [1]}}"#,
            r#"{"redaction": {"custom": [{"kind": "", "pattern": "a"}]}}"#,
            r#"{"redaction": {"custom": [{"kind": "ticket", "pattern": "(a"}]}}"#,
            "[1]",
            "{\"a\":",
        ],
        expect![[r#"
            `budgets.search` in .remindb/config.json must be positive, not `0`
            `budgets.fetch` in .remindb/config.json must be positive, not `-1`
            `budgets.fetch` in .remindb/config.json must be a whole number, not `1.5`
            `budgets.fetch` in .remindb/config.json must be at most 4294967295, not `4294967296`
            `budgets` in .remindb/config.json must be an object, not `[]`
            `compile.max_file_size` in .remindb/config.json is no size, `100`; write it with its unit, as in "512KB", "10MB", "1.5GiB"
            `compile.max_file_size` in .remindb/config.json must be positive, not `"0"`
            `compile.max_file_size` in .remindb/config.json is no size, `"-1KB"`; write it with its unit, as in "512KB", "10MB", "1.5GiB"
            `compile.max_parallelism` in .remindb/config.json must be positive, not `0`
            `compile.wall_clock_timeout` in .remindb/config.json must not be negative, as `"-1s"` is
            `rescan.enabled` in .remindb/config.json must be `true` or `false`, not `"yes"`
            `rescan.interval` in .remindb/config.json must be positive, not `"0"`
            `rescan.interval` in .remindb/config.json is no duration, `30`; write it with its unit, as in "500ms", "30s", "1h30m"
            `rescan.settle` in .remindb/config.json must not be negative, as `"-1ms"` is
            `server.transport` in .remindb/config.json must be one of stdio, http, not `tcp`
            `server.logging.level` in .remindb/config.json must be one of debug, info, warn, error, not `trace`
            `server.logging.buffer_size` in .remindb/config.json must be positive, not `0`
            `server.resources.overrides.logs` in .remindb/config.json is no duration, `null`; write it with its unit, as in "500ms", "30s", "1h30m"
            `server.resources.overrides.logs` in .remindb/config.json must not be negative, as `"-1s"` is
            `server.resources.overrides.log` in .remindb/config.json names no resource that changes; these do: graph, snapshots, tree, files, rescan, temperature, logs
            `server.sessions.flush_interval` in .remindb/config.json must be positive, not `"0s"`
            `temperature.decay_rate` in .remindb/config.json must be 0 or above, not `-0.1`
            `temperature.access_boost` in .remindb/config.json must be between 0 and 1, not `1.1`
            `temperature.tick_interval` in .remindb/config.json must be positive, not `"0s"`
            `temperature.cold_notify_limit` in .remindb/config.json must be positive, not `0`
            `redaction` in .remindb/config.json: `nope` is no built-in kind of secret; the kinds are aws_access_key, gcp_oauth_client_secret, google_api_key, github_pat, github_fine_grained_pat, gitlab_pat, anthropic_api_key, huggingface_token, openai_api_key, stripe_secret_key, stripe_webhook_secret, discord_bot_token, discord_webhook, slack_token, slack_webhook, mailgun_api_key, sendgrid_api_key, npm_token, pypi_token, linear_api_key, jwt, db_connection_string, bearer_auth_header, basic_auth_url, private_key_block, env_secret_assignment
            `redaction.disable_builtin_kinds[0]` in .remindb/config.json must be the name of a kind, not `1`
            `redaction` in .remindb/config.json: a custom kind of secret has no name; give it a `kind`
            `redaction` in .remindb/config.json: the pattern of kind `ticket` is no regular expression: unclosed group
            .remindb/config.json must be an object, not `[1]`
            .remindb/config.json is no JSON: EOF while parsing a value at line 1 column 5"#]],
    );
    let off =
        Config::parse(r#"{"temperature": {"enabled": false, "tick_interval": "0s"}}"#).unwrap();
    assert_eq!(off.temperature.tick_interval, Duration::from_secs(300));
    assert!(Config::parse(&"[".repeat(100_000)).is_err());
    assert!(Config::parse(&" ".repeat(CONFIG_BYTES_MAX + 1)).is_err());
}

#[test]
fn an_address_needs_a_transport_that_listens() {
    let config = Config::parse(r#"{"server": {"listen": "127.0.0.1:1"}}"#).unwrap();
    assert!(config.check_listen(Transport::Http).is_ok());
    assert!(config.check_listen(Transport::Stdio).unwrap_err().to_string().contains("stdio"));
}

#[test]
fn an_untrusted_folder_cannot_turn_protections_off() {
    let text = r#"{"redaction": {"disable_builtin_kinds": ["jwt"]},
        "server": {"transport": "http", "listen": "0.0.0.0:1",
                   "logging": {"output_path": "/etc/x", "level": "debug"}}}"#;
    let mut config = Config::parse(text).unwrap();
    let named: Vec<String> = config.untrusted().iter().map(UntrustedSetting::to_string).collect();
    expect![[r#"
        `redaction.disable_builtin_kinds` is not followed: it would let secrets into the memory; start with --trust-workspace to allow it
        `server.transport` is not followed: it would open a port; start with --trust-workspace to allow it
        `server.listen` is not followed: it would open a port; start with --trust-workspace to allow it
        `server.logging.output_path` is not followed: it would write outside the folder, into a hidden part of it, or into what is no `.log`; start with --trust-workspace to allow it"#]].assert_eq(&named.join("\n"));
    assert_eq!(config.restrict().len(), 4);
    let mut expected = Config::default();
    expected.server.logging.level = LogLevel::Debug;
    assert_eq!(config, expected);
    assert!(Config::parse(r#"{"server": {"transport": "stdio"}}"#).unwrap().untrusted().is_empty());
}

#[test]
fn paths_stay_inside() {
    for (path, resolved) in [
        ("a.log", Some("a.log")),
        ("./a//b/../c.log", Some("a/c.log")),
        ("a/../../b", None),
        ("..", None),
        ("/a", None),
        ("~/a", None),
        ("C:\\a", None),
        ("./~", None),
        ("a/../~/b", None),
        ("./C:/b", None),
        ("a/~", Some("a/~")),
        ("a\\..\\..\\b", None),
        ("", None),
        ("a\0b", None),
    ] {
        assert_eq!(confined_path(path).as_deref(), resolved, "{path:?}");
    }
    let logs = ["logs/a.log", ".remindb/logs/a.log"];
    let others = [
        ".git/hooks/x.log",
        "a/../.b.log",
        ".remindb/config.json",
        ".remindb/logs/../x.log",
        "Makefile",
        "a/.log",
    ];
    assert!(logs.iter().all(|path| is_log_path(path)));
    assert!(others.iter().all(|path| !is_log_path(path)));
}

#[test]
fn resources_have_their_own_debounce() {
    let config = Config::parse(r#"{"server": {"resources": {"overrides": {"tree": "9s"}}}}"#);
    let resources = config.unwrap().server.resources;
    let seconds = ["tree", "logs", "temperature", "files"].map(|name| resources.debounce_of(name));
    assert_eq!(seconds.map(|at| at.as_millis()), [9_000, 1_000, 2_000, 500]);
}

#[test]
fn settings_of_knowledge_come_from_the_first_source_that_has_them() {
    let environment = |set: &[(&str, &str)]| {
        let set: Vec<(String, String)> =
            set.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        KnowledgeSettings::of_environment(|name| {
            set.iter().find(|it| it.0 == name).map(|it| it.1.clone())
        })
    };
    let first = environment(&[("REMIND_EPISODE_TYPES", "ritual, fact,")]).unwrap();
    let ours = Config::parse(r#"{"knowledge": {"ingest_buffer_size": 600}}"#).unwrap().knowledge;
    let (theirs, wrong) = KnowledgeSettings::of_remind(
        r#"{"episode_types": ["other"], "ingest_buffer_size": 700, "hybrid_keyword_weight": 0.6,
            "llm_provider": "anthropic", "decay": {"enabled": true}}"#,
    );
    assert_eq!(wrong, [""; 0]);
    let settings = first.or(&ours).or(&theirs);
    assert_eq!(settings.buffer_chars(), 600);
    assert!((settings.keyword_weight() - 0.6).abs() < 1e-9);
    let kinds = settings.kinds();
    assert_eq!((kinds.len(), kinds.last()), (8, Some(&"ritual")), "{kinds:?}");
    for (name, text, why) in [
        ("INGEST_BUFFER_SIZE", "many", "`INGEST_BUFFER_SIZE` must be a number, not `many`"),
        (
            "INGEST_BUFFER_SIZE",
            "7",
            "`INGEST_BUFFER_SIZE` must be a whole number from 500 to 50000, not `7`",
        ),
        (
            "REMIND_HYBRID_KEYWORD_WEIGHT",
            "2",
            "`REMIND_HYBRID_KEYWORD_WEIGHT` must be from 0 to 1, not `2`",
        ),
        (
            "REMIND_EPISODE_TYPES",
            "Big Word",
            "`REMIND_EPISODE_TYPES` has `Big Word`; a kind is lower-case letters, digits, `-` and `_`",
        ),
    ] {
        assert_eq!(environment(&[(name, text)]).unwrap_err(), why);
    }
    let (lenient, wrong) = KnowledgeSettings::of_remind(
        r#"{"episode_types": "many", "ingest_buffer_size": 700, "hybrid_keyword_weight": "high"}"#,
    );
    assert_eq!(lenient.buffer_chars(), 700, "what is right counts");
    assert_eq!(
        wrong,
        ["`episode_types` must be a list of names", "`hybrid_keyword_weight` must be a number"]
    );
    assert_eq!(KnowledgeSettings::of_remind("[").1.len(), 1);
}
