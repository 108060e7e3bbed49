use aho_corasick::AhoCorasickKind;
use proptest::prelude::*;

use super::prefilter::{TRIGGERS, build};
use super::*;

mod custom;
mod kept;

/// Checks each line alone; `§` is 16 characters of a token, `¶` a line break.
#[track_caller]
fn check(cases: &[(&str, &str)]) {
    let redactor = Redactor::builtin();
    let mut wrong = String::new();
    for (text, expected) in cases {
        let text = unfold(text);
        let expected = unfold(expected).replace('‹', "«redacted:").replace('›', "»");
        let scrubbed = redactor.scrub(&text);
        if scrubbed.text != expected {
            wrong += &format!("{text}\n  is      {}\n  must be {expected}\n", scrubbed.text);
        }
        assert_eq!(redactor.has_secret(&text), scrubbed.text != text);
        assert!(!redactor.has_secret(&scrubbed.text), "{}", scrubbed.text);
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[track_caller]
fn check_kept(texts: &[&str]) {
    check(&texts.iter().map(|text| (*text, *text)).collect::<Vec<_>>());
}

fn unfold(text: &str) -> String {
    text.replace('§', "a1B2c3D4e5F6g7H8").replace('¶', "\n").replace('⍽', "0123456789abcdef")
}

#[test]
fn both_automata_find_the_same_triggers() {
    let text = TRIGGERS.0.join(" ") + &TRIGGERS.0.concat().to_uppercase();
    let [small, large] = [AhoCorasickKind::NoncontiguousNFA, AhoCorasickKind::DFA].map(|kind| {
        let automaton = build(kind);
        let found = automaton.find_overlapping_iter(&text);
        found.map(|it| (it.range(), it.pattern())).collect::<Vec<_>>()
    });
    assert!(2 * TRIGGERS.0.len() <= small.len());
    assert_eq!(small, large);
}

#[test]
fn every_row_of_the_table_compiles_and_names_a_kind() {
    assert_eq!(TRIGGERS.0.len(), TRIGGERS.1.len());
    for rule in &RULES {
        assert!(KINDS.contains(&rule.kind), "{}", rule.kind);
        let made = matches!(
            rule.shape,
            SecretPattern::AwsSecret | SecretPattern::Pem | SecretPattern::Assignment
        );
        assert_eq!(rule.regex().is_none(), made, "{}", rule.kind);
    }
    for kind in KINDS {
        assert!(RULES.iter().any(|rule| rule.kind == kind), "{kind}");
    }
}

#[test]
fn the_manual_lists_the_kinds() {
    let manual = include_str!("../../../docs/redaction.md");
    let rows = manual.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    assert_eq!(rows.map(|(kind, _)| kind).collect::<Vec<_>>(), KINDS);
}

#[test]
fn every_kind_is_found() {
    check(&[
        ("id AKIAIOSFODNN7EXAMPLE.", "id ‹aws_access_key›."),
        ("ASIAIOSFODNN7EXAMPLE", "‹aws_access_key›"),
        ("GOCSPX-§ab-defgh_jkl", "‹gcp_oauth_client_secret›"),
        ("AIza§§abc", "‹google_api_key›"),
        ("ghp_§§abcd", "‹github_pat›"),
        ("gho_§§abcd ghs_§§abcd", "‹github_pat› ‹github_pat›"),
        ("github_pat_§§§§§ab", "‹github_fine_grained_pat›"),
        ("glpat-§abcd", "‹gitlab_pat›"),
        ("sk-ant-api03-§§-AA", "‹anthropic_api_key›"),
        ("sk-ant-sid01-§§", "‹anthropic_api_key›"),
        ("sk-ant-admin01-§§", "‹anthropic_api_key›"),
        ("hf_§§ab", "‹huggingface_token›"),
        ("sk-proj-§§§§T3BlbkFJ§§§§", "‹openai_api_key›"),
        ("sk-§abcdT3BlbkFJ§abcd", "‹openai_api_key›"),
        ("sk_live_§abcdefgh rk_test_§abcdefgh", "‹stripe_secret_key› ‹stripe_secret_key›"),
        ("whsec_§§", "‹stripe_webhook_secret›"),
        ("M§abcdefg.abcdef.§abcdefghijk", "‹discord_bot_token›"),
        ("https://discord.com/api/webhooks/1234567890123456/§§§ab", "‹discord_webhook›"),
        ("https://ptb.discordapp.com/api/webhooks/123456789012345678/§§§§", "‹discord_webhook›"),
        ("xoxb-123456789012-abcdef", "‹slack_token›"),
        ("https://hooks.slack.com/services/T00000000/B00000000/§abcdefgh", "‹slack_webhook›"),
        ("key-⍽⍽", "‹mailgun_api_key›"),
        ("SG.§abcdef.§§abcdefghijk", "‹sendgrid_api_key›"),
        ("npm_§§abcd", "‹npm_token›"),
        ("pypi-AgEIcHlwaS5vcmc§§§§", "‹pypi_token›"),
        ("lin_api_§§abcdefgh", "‹linear_api_key›"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVm", "‹jwt›"),
        ("postgres://user:password@localhost/db", "‹db_connection_string›/db"),
        ("MONGODB+SRV://u:p@c.example.net/x", "‹db_connection_string›/x"),
        ("Authorization: Bearer §abcdef", "Authorization: Bearer ‹bearer_auth_header›"),
        ("https://user:pass@example.com/x", "‹basic_auth_url›/x"),
        (
            "-----BEGIN RSA PRIVATE KEY-----¶abc¶-----END RSA PRIVATE KEY-----",
            "‹private_key_block›",
        ),
        ("MY_TOKEN=abc", "MY_TOKEN=‹env_secret_assignment›"),
        ("DB_PASSWORD = hunter2", "DB_PASSWORD = ‹env_secret_assignment›"),
    ]);
}

#[test]
fn assignments_are_found_in_every_notation() {
    const MARK: &str = "‹env_secret_assignment›";
    let cases = [
        "api_key=◊abc123",
        "api_key=◊abcdef123456",
        "api_key=◊supersecretvalue",
        "password: ◊hunter2",
        "password: ◊CorrectHorseBatteryStaple",
        "  password: ◊hunter2◊  # old",
        "- token: ◊a1b2c3d4e5",
        "\"password\": \"◊hunter2◊\"",
        "{\"user\":\"al\",\"password\":\"◊hunter2horse◊\",\"x\":1}",
        "password = \"◊hunter2 horse◊\"",
        "password = '◊correct horse battery staple◊'",
        "PASSWORD=◊hunter2",
        "PGPASSWORD=◊x1y2",
        "APP_SECRET=\"◊several plain words◊\"",
        "export API_TOKEN=◊abc",
        "client_secret: ◊a1b2c3d4",
        "clientSecret: '◊a1b2c3d4◊'",
        "x-api-key: ◊a1b2c3d4e5f6",
        "?user=al&api_key=◊a1b2c3d4◊&page=2",
        "Server=db;Password=◊hunter2◊;Database=x",
        "--password ◊hunter2",
        "--api-key=◊abc123",
        "The password: ◊hunter2hunter2◊, as ever",
        "API key: ◊a1b2c3d4e5f6",
        "**Password:** ◊hunter2",
        "`DB_PASSWORD=◊hunter2◊`",
        "<password>◊hunter2◊</password>",
        "<code>API_KEY=◊abc◊</code>",
        "define('DB_PASSWORD', '◊hunter2◊');",
        "let password: &str = \"◊hunter2◊\";",
        "'password' => '◊hunter2◊'",
        "config[\"password\"] = \"◊hunter2◊\"",
        "password := \"◊hunter2◊\"",
        "\\\"password\\\":\\\"◊hunter2◊\\\",\\\"a\\\":1",
        "\"log\\nAPI_KEY=◊abc123◊\\nend\"",
        "DB_PASSWORD=◊a<b>c|d'e\"f&g=h\\ni",
        "DB_PASS=◊x9",
        "passphrase: \"◊four Words in1 line◊\"",
        "SECRET_KEY_BASE=◊⍽⍽⍽",
        "api\\_key=◊abc123",
        "aws_secret_access_key = ◊wJalrXUtnFEMI/K7MDENG+bPxRfi",
        "AUTH_TOKEN=◊пароль",
        "password=\"◊it\\\"s1 quoted◊\"",
        "password: '◊it''s1 quoted◊'",
        "API_KEY=\"\"\"◊a¶b◊\"\"\"",
        "MY_KEY=◊abc123",
        "API_TOKEN_2=◊abc",
        "DB_PASSWORD=\"◊unclosed one",
        "LICENSE_KEY=◊ABCD-1234",
    ];
    let owned: Vec<(String, String)> = cases
        .iter()
        .map(|case| {
            let (before, rest) = case.split_once('◊').unwrap();
            let after = rest.split_once('◊').map_or("", |(_, after)| after);
            (case.replace('◊', ""), format!("{before}{MARK}{after}"))
        })
        .collect();
    let cases: Vec<(&str, &str)> = owned.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    check(&cases);
}

#[test]
fn a_number_in_json_stays_a_value() {
    check(&[
        ("{\"password\": 12345678}", "{\"password\": \"‹env_secret_assignment›\"}"),
        ("password = 12345678", "password = \"‹env_secret_assignment›\""),
        ("DB_PASSWORD=12345678", "DB_PASSWORD=‹env_secret_assignment›"),
        ("{\\\"password\\\": 12345678}", "{\\\"password\\\": \\\"‹env_secret_assignment›\\\"}"),
    ]);
}

#[test]
fn a_secret_longer_than_its_kind_is_taken_whole() {
    check(&[
        ("AKIAIOSFODNN7EXAMPLEXYZabc", "‹aws_access_key›"),
        ("ghp_§§§§§§§§§§§§§§§§§§§§§§§§§§§§§§§§ x", "‹github_pat› x"),
        ("sk-ant-api03-§§§§§§§§§§§§§§§§§§§§§§§§§§§§§§§§", "‹anthropic_api_key›"),
        ("xoxb-§§§§§§§§§§§§§§§§§§§§§§§§§§§§", "‹slack_token›"),
        ("glpat-§§§§§§", "‹gitlab_pat›"),
    ]);
    let long = format!("DB_PASSWORD={}é{} end", "aB3".repeat(900), "x".repeat(3000));
    assert_eq!(
        Redactor::builtin().scrub(&long).text,
        "DB_PASSWORD=«redacted:env_secret_assignment» end"
    );
}

#[test]
fn tokens_are_found_beside_escapes_and_signs() {
    check(&[
        ("\"a\\nAKIAIOSFODNN7EXAMPLE\\nb\"", "\"a\\n‹aws_access_key›\\nb\""),
        ("x%20AKIAIOSFODNN7EXAMPLE", "x%20‹aws_access_key›"),
        ("\\u001b[31mghp_§§abcd\\u001b[0m", "\\u001b[31m‹github_pat›\\u001b[0m"),
        ("[[AKIAIOSFODNN7EXAMPLE]]", "[[‹aws_access_key›]]"),
        ("[[A; source=AKIAIOSFODNN7EXAMPLE]]", "[[A; source=‹aws_access_key›]]"),
        ("backup_AKIAIOSFODNN7EXAMPLE-2024.csv", "backup_‹aws_access_key›-2024.csv"),
        ("é AKIAIOSFODNN7EXAMPLEé", "é ‹aws_access_key›é"),
        ("<b>ghp_§§abcd</b>", "<b>‹github_pat›</b>"),
        ("AKIAIOSFODNN7EXAMPLE,AKIAIOSFODNN7EXAMPLE", "‹aws_access_key›,‹aws_access_key›"),
    ]);
}

#[test]
fn addresses_lose_their_credentials() {
    check(&[
        ("redis://:pw@host:6379/0", "‹db_connection_string›/0"),
        ("postgresql+asyncpg://u:p@h/db", "‹db_connection_string›/db"),
        (
            "{\"url\":\"postgres://u:p@localhost\",\"x\":1}",
            "{\"url\":\"‹db_connection_string›\",\"x\":1}",
        ),
        ("mysql://u:p@ss@w@host/db", "‹db_connection_string›/db"),
        ("[x](https://u:p4ss@host/a)", "[x](‹basic_auth_url›/a)"),
        ("ftp://u:p4ss@host/a smtp://u:p@mail", "‹basic_auth_url›/a ‹basic_auth_url›"),
        ("(see https://u:p@host)", "(see ‹basic_auth_url›)"),
        (
            "curl -H 'Authorization: Basic dXNlcjpwYXNzd29yZA=='",
            "curl -H 'Authorization: Basic ‹bearer_auth_header›'",
        ),
        (
            "{\"Authorization\": \"Bearer §abcdef\"}",
            "{\"Authorization\": \"Bearer ‹bearer_auth_header›\"}",
        ),
    ]);
    check_kept(&[
        "postgres://user:${PW}@host/db",
        "https://user:<password>@host",
        "redis://u:%s@h",
    ]);
}

#[test]
fn keys_in_pem_are_found_whole_and_in_part() {
    let body = "MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF8PbnGy0AHB7MaGBir0oY2fQhR2q";
    let cases = [
        "-----BEGIN RSA PRIVATE KEY-----¶B¶B¶abc==¶-----END RSA PRIVATE KEY-----¶after",
        // A blank line, encrypted headers, CRLF.
        "-----BEGIN PRIVATE KEY-----¶B¶¶B¶-----END PRIVATE KEY-----¶after",
        "-----BEGIN RSA PRIVATE KEY-----¶Proc-Type: 4,ENCRYPTED¶DEK-Info: AES,12¶¶B¶abc¶after",
        "-----BEGIN EC PRIVATE KEY-----\r¶B\r¶B\r¶-----END EC PRIVATE KEY-----\r¶after",
        // Quoted, indented, in one string, in a sum of strings.
        "-----BEGIN OPENSSH PRIVATE KEY-----¶> B¶> B¶> -----END OPENSSH PRIVATE KEY-----¶after",
        "-----BEGIN PRIVATE KEY-----¶    B¶    B¶¶after",
        "-----BEGIN PRIVATE KEY-----\\nB\\nB\\n-----END PRIVATE KEY-----\", after",
        "-----BEGIN PRIVATE KEY-----\\nB\\nB\\n\", after",
        "-----BEGIN PRIVATE KEY-----\\n\" +¶ \"B\\n\" +¶ \"-----END PRIVATE KEY-----\" after",
        "-----BEGIN PRIVATE KEY-----<br>B<br>B<br>-----END PRIVATE KEY-----<p>after",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----¶Version: x¶¶B¶=abcd¶-----END PGP PRIVATE KEY BLOCK-----after",
        // Half of it.
        "-----BEGIN RSA PRIVATE KEY-----¶B¶B¶abc==¶¶after the cut",
        "-----BEGIN RSA PRIVATE KEY-----¶B",
        "B¶B¶abc==¶-----END RSA PRIVATE KEY-----¶after",
        "-----BEGIN PRIVATE KEY-----¶B¶-----BEGIN PRIVATE KEY-----¶B¶-----END PRIVATE KEY-----",
    ];
    let redactor = Redactor::builtin();
    for case in cases {
        let text = format!("before\n\n{}", unfold(case).replace('B', "\u{1}"));
        let text =
            text.replace("\u{1}EGIN", "BEGIN").replace("\u{1}LOCK", "BLOCK").replace('\u{1}', body);
        let scrubbed = redactor.scrub(&text);
        assert!(
            scrubbed.text.starts_with("before\n\n«redacted:private_key_block»"),
            "{}",
            scrubbed.text
        );
        assert!(
            !scrubbed.text.contains("MII") && !scrubbed.text.contains("abc"),
            "{}",
            scrubbed.text
        );
        assert_eq!(scrubbed.text.contains("after"), text.contains("after"), "{}", scrubbed.text);
    }
}

#[test]
fn secret_keys_of_aws_are_found_where_they_are_announced() {
    let key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
    check(&[
        (&["aws secret ", key].concat(), "aws secret ‹aws_access_key›"),
        (&["AKIAIOSFODNN7EXAMPLE,", key].concat(), "‹aws_access_key›,‹aws_access_key›"),
        (&["SecretAccessKey: ", key].concat(), "SecretAccessKey: ‹aws_access_key›"),
    ]);
    check_kept(&[&format!("build {key}")]);
}

#[test]
fn overlapping_matches_become_one_marker() {
    check(&[
        ("AWS_ACCESS_KEY=AKIAIOSFODNN7EXAMPLE", "AWS_ACCESS_KEY=‹env_secret_assignment›"),
        (
            "PRIVATE_KEY=\"-----BEGIN RSA PRIVATE KEY-----¶§§§§¶-----END RSA PRIVATE KEY-----\"¶x",
            "PRIVATE_KEY=\"‹private_key_block›\"¶x",
        ),
        (
            "A_TOKEN=glpat-§abcd-eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVm z",
            "A_TOKEN=‹env_secret_assignment› z",
        ),
        ("glpat-§abcd-eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVm z", "‹gitlab_pat› z"),
        ("https://u:ghp_§§abcd@github.com/x", "‹basic_auth_url›/x"),
        // Neither match holds the other.
        ("xoxb-123456789012-eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVm z", "‹jwt› z"),
    ]);
}

#[test]
fn hits_name_kinds_and_places_of_the_original() {
    let redactor = Redactor::builtin();
    let text = "a AKIAIOSFODNN7EXAMPLE b DB_PASSWORD=hunter2 c";
    let hits = redactor.scrub(text).hits;
    let hits: Vec<(&str, &str)> =
        hits.iter().map(|hit| (hit.kind, &text[hit.range.clone()])).collect();
    assert_eq!(
        hits,
        [("aws_access_key", "AKIAIOSFODNN7EXAMPLE"), ("env_secret_assignment", "hunter2")]
    );
}

#[test]
fn existing_markers_are_kept() {
    check_kept(&[
        "API_KEY=«redacted:env_secret_assignment» x",
        "«redacted:an_older_kind»«redacted:jwt»",
        "password: «redacted:env_secre…",
    ]);
    check(&[
        ("«redacted:AKIAIOSFODNN7EXAMPLE»", "«redacted:‹aws_access_key›»"),
        ("«redacted:jwt»AKIAIOSFODNN7EXAMPLE", "«redacted:jwt»‹aws_access_key›"),
        ("«redacted:«redacted:jwt»", "«redacted:«redacted:jwt»"),
    ]);
}

#[test]
fn hostile_repetition_costs_linear_time() {
    let pieces = [
        "key=",
        "KEY=\"",
        "KEY='",
        "password: ",
        "sk-proj-",
        "glpat-",
        "eyJaaaaaaaaaaa-",
        "eyJ.",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n",
        "MIIEpAIBAAKCAQEA0Z3V\n-----END PRIVATE KEY-----",
        "https://a:",
        "postgres://a:b",
        "AKIA",
        "«redacted:",
        "«redacted:jwt»",
        "KEY=\\\"",
        "a.abcdef.",
        "T3BlbkFJ",
        "--token ",
        "a\\nAKIA",
        "AKIAIOSFODNN7EXAMPLE ",
        "API_KEY=a1b2c3 ",
        "token token token ",
        "\\\\\\\\\\\\\\\\",
        "password:a=password:",
        "<password>",
        "API_KEY=$(",
        "Authorization: Bearer ",
        "password,",
        "password,token\n",
        "|password|\n|-|\n",
        "password\n",
        "a[1]{password}:\n  ",
        "password,x\n\",",
        "\n \"password",
        "password: |\n ",
        "password: |\n",
        "token, value ",
    ];
    let redactor = Redactor::builtin();
    // With more than linear work, this would not end.
    for piece in pieces {
        let text = piece.repeat(100_000 / piece.len());
        let scrubbed = redactor.scrub(&text).text;
        assert!(!redactor.has_secret(&scrubbed), "{piece:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn promises_hold_for_any_text(data in proptest::collection::vec(any::<u8>(), 0..48)) {
        crate::fuzzing::redact::redact(&data);
    }
}
