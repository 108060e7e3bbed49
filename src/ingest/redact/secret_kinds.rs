//! The table of built-in kinds of secrets, one row per shape.
//!
//! A row has *triggers*, of which one is in every such secret, and the shape itself. All triggers
//! together are one automaton, so that clean text costs one pass. A kind may have several rows.
//! Rows go from the most to the least specific: the earlier wins where two are equal.
//!
//! Shapes have no upper length: a value that is too long to be real loses its tail, too. Classes
//! are ASCII. The text that may precede a token is in [`LEAD`].

use std::sync::OnceLock;

use regex::Regex;

/// The names of the built-in kinds, in the order in which the documentation lists them.
#[rustfmt::skip]
pub(crate) const KINDS: [&str; 26] = [
    "aws_access_key", "gcp_oauth_client_secret", "google_api_key", "github_pat",
    "github_fine_grained_pat", "gitlab_pat", "anthropic_api_key", "huggingface_token",
    "openai_api_key", "stripe_secret_key", "stripe_webhook_secret", "discord_bot_token",
    "discord_webhook", "slack_token", "slack_webhook", "mailgun_api_key", "sendgrid_api_key",
    "npm_token", "pypi_token", "linear_api_key", "jwt", "db_connection_string",
    "bearer_auth_header", "basic_auth_url", "private_key_block", "env_secret_assignment",
];

/// The text that may precede a token: no letter or digit, except the end of an escape. Raw text has
/// escapes (`\n`, `%20`, a terminal colour) where the parsed text has a space.
const LEAD: &str =
    r"(?:\b|_|\\[abefnrtv]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}|\[[0-9;]{0,9}m)";

/// The way one shape is found.
#[derive(Clone, Copy, Debug)]
pub(super) enum SecretPattern {
    /// A token: the pattern, after a [`LEAD`]; its run of letters and digits is taken to its end.
    Token(&'static str),
    /// An address, replaced as a whole unless its group 1, the password, is a placeholder.
    Address(&'static str),
    /// A header, whose group 1 is replaced unless it is a placeholder.
    Header(&'static str),
    /// 40 characters of base64 shortly after words that announce an AWS secret.
    AwsSecret,
    /// A private key in PEM, whole or in part.
    Pem,
    /// A telling name, a separator and a value.
    Assignment,
}

/// One row of the table.
#[derive(Debug)]
pub(super) struct SecretRule {
    /// Name of the kind.
    pub(super) kind: &'static str,
    /// Words of which one is in every match, in any case.
    pub(super) triggers: &'static [&'static str],
    /// The shape that is searched for once a trigger is found.
    pub(super) shape: SecretPattern,
    /// The shape's pattern, compiled when first needed.
    compiled: OnceLock<Option<Regex>>,
}

impl SecretRule {
    const fn new(
        kind: &'static str,
        triggers: &'static [&'static str],
        shape: SecretPattern,
    ) -> SecretRule {
        SecretRule { kind, triggers, shape, compiled: OnceLock::new() }
    }

    /// Returns the pattern of a shape that has one.
    pub(super) fn regex(&self) -> Option<&Regex> {
        let compile = || {
            let source = match self.shape {
                SecretPattern::Token(body) => format!("(?-u){LEAD}({body}[A-Za-z0-9]*)"),
                SecretPattern::Address(body) | SecretPattern::Header(body) => {
                    format!("(?-u){body}")
                }
                SecretPattern::AwsSecret | SecretPattern::Pem | SecretPattern::Assignment => {
                    return None;
                }
            };
            Some(Regex::new(&source).expect("a test compiles every row of the table"))
        };
        self.compiled.get_or_init(compile).as_ref()
    }
}

use SecretPattern::{Address, Assignment, AwsSecret, Header, Pem, Token};

/// The rows.
pub(super) static RULES: [SecretRule; 30] = [
    SecretRule::new("private_key_block", &["PRIVATE KEY"], Pem),
    SecretRule::new("aws_access_key", &["AKIA", "ASIA"], Token("A[KS]IA[0-9A-Z]{16,}")),
    SecretRule::new(
        "aws_access_key",
        &["aws", "secret", "access key", "access_key", "accesskey", "access-key", "AKIA", "ASIA"],
        AwsSecret,
    ),
    SecretRule::new("gcp_oauth_client_secret", &["GOCSPX-"], Token(r"GOCSPX-[\w-]{28,}")),
    SecretRule::new("google_api_key", &["AIza"], Token(r"AIza[\w-]{35,}")),
    SecretRule::new(
        "github_pat",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        Token("gh[pousr]_[A-Za-z0-9]{36,}"),
    ),
    SecretRule::new("github_fine_grained_pat", &["github_pat_"], Token(r"github_pat_\w{82,}")),
    SecretRule::new(
        "gitlab_pat",
        &["glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "glft-"],
        Token(GITLAB),
    ),
    SecretRule::new("anthropic_api_key", &["sk-ant-"], Token(ANTHROPIC)),
    SecretRule::new("huggingface_token", &["hf_"], Token("hf_[A-Za-z0-9]{34,}")),
    SecretRule::new("openai_api_key", &["T3BlbkFJ"], Token(OPENAI)),
    SecretRule::new("stripe_secret_key", &["k_live_", "k_test_"], Token(STRIPE)),
    SecretRule::new("stripe_webhook_secret", &["whsec_"], Token("whsec_[A-Za-z0-9+/=]{32,}")),
    SecretRule::new("discord_bot_token", &["."], Token(DISCORD)),
    SecretRule::new("discord_webhook", &["/api/webhooks/"], Address(DISCORD_WEBHOOK)),
    SecretRule::new("slack_token", &["xox"], Token("xox[abcdeoprs]-[A-Za-z0-9-]{15,}")),
    SecretRule::new("slack_token", &["xapp-"], Token("xapp-[0-9]-[A-Za-z0-9-]{30,}")),
    SecretRule::new("slack_webhook", &["hooks.slack.com"], Address(SLACK_WEBHOOK)),
    SecretRule::new("mailgun_api_key", &["key-"], Token("key-[0-9a-f]{32,}")),
    SecretRule::new("sendgrid_api_key", &["SG."], Token(r"SG\.[\w-]{22,}\.[\w-]{43,}")),
    SecretRule::new("npm_token", &["npm_"], Token("npm_[A-Za-z0-9]{36,}")),
    SecretRule::new("pypi_token", &["pypi-AgE"], Token(PYPI)),
    SecretRule::new("linear_api_key", &["lin_api_"], Token("lin_api_[A-Za-z0-9]{40,}")),
    SecretRule::new("jwt", &[".eyJ"], Token(r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}")),
    SecretRule::new("db_connection_string", &["://"], Address(DB_URL)),
    SecretRule::new("bearer_auth_header", &["authorization"], Header(BEARER)),
    SecretRule::new("bearer_auth_header", &["authorization"], Header(BASIC)),
    SecretRule::new("basic_auth_url", &["://"], Address(WEB_URL)),
    SecretRule::new("basic_auth_url", &["://"], Address(OTHER_URL)),
    SecretRule::new("env_secret_assignment", &super::assignment::WORDS, Assignment),
];

const GITLAB: &str = r"gl(?:pat|dt|rt|ptt|cbt|soat|ft)-[\w-]{20,}(?:\.[\w-]+)*";
const ANTHROPIC: &str = r"sk-ant-(?:api|sid|admin|oat|ort)\w*-[\w-]{32,}";
const OPENAI: &str = concat!(
    r"sk-(?:(?:proj|svcacct|admin)-[\w-]{20,}T3BlbkFJ[\w-]{20,}",
    r"|[A-Za-z0-9]{20,}T3BlbkFJ[A-Za-z0-9]{20,})"
);
const STRIPE: &str = "[sr]k_(?:live|test)_[A-Za-z0-9]{24,}";
const DISCORD: &str = r"[MNO][\w-]{23,25}\.[\w-]{6,7}\.[\w-]{27,}";
const DISCORD_WEBHOOK: &str = concat!(
    r"(?i:https?://(?:canary\.|ptb\.)?discord(?:app)?\.com/api/webhooks)",
    r"/[0-9]{15,}/[\w-]{50,}"
);
const SLACK_WEBHOOK: &str = concat!(
    r"(?i:https?://hooks\.slack\.com)/services",
    "/T[A-Z0-9]{8,}/B[A-Z0-9]{8,}/[A-Za-z0-9]{20,}"
);
const PYPI: &str = r"pypi-(?:AgEIcHlwaS5vcmc|AgENdGVzdC5weXBpLm9yZw)[\w-]{50,}";

// User and password may be empty and long, and the password may hold an `@`. Neither holds a quote,
// a slash or an angle bracket, so that an address ends where the notation around it goes on.
const DB_URL: &str = concat!(
    "(?i:postgres|postgresql|mysql|mariadb|mongodb|rediss?|valkey|amqps?|mssql|sqlserver",
    r"|clickhouse|cockroachdb)(?i:[a-z0-9+]{0,24})://",
    r#"(?u:[^\s:/@"'<>`]*):((?u:[^\s/"'<>`]+))@(?u:[^\s/"'<>`,;)\]}\\?\#|]+)"#
);
const WEB_URL: &str = concat!(
    "(?i:https?)://",
    r#"(?u:[^\s:/@"'<>`]*):((?u:[^\s/"'<>`]+))@(?u:[^\s/"'<>`,;)\]}\\?\#|]+)"#
);
const OTHER_URL: &str = concat!(
    "(?i:s?ftps?|ssh|smtps?|imaps?|ldaps?|wss?|git|svn|socks5h?|nats|mqtts?)://",
    r#"(?u:[^\s:/@"'<>`]*):((?u:[^\s/"'<>`]+))@(?u:[^\s/"'<>`,;)\]}\\?\#|]+)"#
);

const BEARER: &str = concat!(
    r#"(?i:authorization)[\\"'`*]{0,6}[ \t]*[:=,][ \t]*[\\"'`*]{0,6}(?i:bearer)[ \t]+"#,
    r"([\w.~+/-]{20,}=*)"
);
const BASIC: &str = concat!(
    r#"(?i:authorization)[\\"'`*]{0,6}[ \t]*[:=,][ \t]*[\\"'`*]{0,6}(?i:basic)[ \t]+"#,
    r"([\w+/-]{12,}=*)"
);
