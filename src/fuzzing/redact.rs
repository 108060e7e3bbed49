//! Redaction of any text, and of texts made of pieces of secrets.

use crate::ingest::redact::{CustomKind, Redactor};

/// Pieces between which matches begin, end, overlap and uncover each other.
#[rustfmt::skip]
const PIECES: [&str; 60] = [
    "AKIA", "IOSFODNN7EXAMPLE", "ghp_", "0123456789abcdefABCDEF0123456789abcdef", "sk-ant-api03-",
    "eyJhbGciOiJIUzI1NiJ9", ".eyJzdWIiOiIxMjM0In0", ".dozjgNryP4J3jVmNHl0w5N", "key-",
    "postgres://", "redis://", "https://", "user", ":pw", "@host", "/path", "-----BEGIN ", "RSA ",
    "PRIVATE KEY-----", "-----END ", "MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn", "\n", "\\n", "\r\n",
    "API_KEY=", "password: ", "\"token\": ", "DB_PASSWORD = ", "--secret ", "\"", "'", "`", "\\\"",
    "\"\"\"", "hunter2horse9", " see wiki", "12345678", "${VAR}", "xxxx", "«redacted:", "jwt", "»",
    "Authorization: Bearer ", "ä語", "<", ">", ",", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "user,password", ",password\n", "|password|user|\n|-|-|\n", "a[2]{password,b}:\n  ", "hunter2,",
    "password: |\n  ", "  ", "|", "\t", ";", ", \"value\": ", "swordfish",
];

/// Marks and words that decide where names, values and columns begin and end.
#[rustfmt::skip]
const MARKS: [&str; 36] = [
    "user", "password", "DB_PASS", "api_key", "n", "F", "hunter2horse", "Tr0ub4dor&3", "ä",
    "\u{feff}", " ", "\t", "\n", "\r\n", "\u{b}", "\\", "\"", "'", "`", ",", ";", "|", "=", ":",
    ":=", "=>", "--", "---", "::", "{", "}:", "[2]{", "(", "<", ">", "«redacted:jwt»",
];

/// Panics when redacting the text in `data` violates an invariant.
pub fn redact(data: &[u8]) {
    check(&Redactor::builtin(), &String::from_utf8_lossy(data));
    let weave = |pieces: &[&'static str]| -> String {
        data.iter().map(|byte| pieces[usize::from(*byte) % pieces.len()]).collect()
    };
    check(&Redactor::builtin(), &weave(&MARKS));
    let woven = weave(&PIECES);
    check(&Redactor::builtin(), &woven);
    let custom = CustomKind {
        kind: "odd".to_owned(),
        pattern: r#"^\w|\bpw|user\W+|[a-f]+$|: \\?"$|"[,}]"#.to_owned(),
    };
    let custom = Redactor::new(&["jwt".to_owned()], &[custom]).expect("the pattern is one");
    check(&custom, &woven);
    // Any bytes as a pattern: refused or used without a panic.
    if let Some((pattern, text)) = data.split_at_checked(data.len().min(24)) {
        let pattern = String::from_utf8_lossy(pattern).into_owned();
        let custom = [CustomKind { kind: "any".to_owned(), pattern }];
        if let Ok(any) = Redactor::new(&[], &custom) {
            check(&any, &String::from_utf8_lossy(text));
        }
    }
}

fn check(redactor: &Redactor, text: &str) {
    let once = redactor.scrub(text);
    assert_eq!(once.hits.is_empty(), once.text == text, "{text:?}");
    assert_eq!(redactor.has_secret(text), !once.hits.is_empty(), "{text:?}");
    let mut done = 0;
    let mut rest: &str = &once.text;
    for hit in &once.hits {
        assert!(done <= hit.range.start && hit.range.start < hit.range.end, "{text:?}");
        let marker = format!("«redacted:{}»", hit.kind);
        let kept = &text[done..hit.range.start];
        rest = rest.strip_prefix(kept).expect("what stands between hits is kept");
        let quoted = rest.trim_start_matches(['"', '\\']);
        let n_quote = rest.len() - quoted.len();
        rest = quoted.strip_prefix(&marker).expect("a marker stands for each hit");
        rest = &rest[n_quote..];
        done = hit.range.end;
    }
    assert_eq!(rest, &text[done..], "{text:?}");
    assert!(!redactor.has_secret(&once.text), "{text:?} became {:?}", once.text);
    let twice = redactor.scrub(&once.text);
    assert_eq!(twice.text, once.text, "{text:?}");
}
