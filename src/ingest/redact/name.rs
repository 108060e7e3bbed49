//! Names of assigned values: where they begin, their words, and what these say about the value.

/// Bytes of a name that are looked at.
pub(super) const NAME_BYTES_MAX: usize = 80;

/// What a name says about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameClass {
    /// A password or passphrase: people choose them, so they may be words.
    Password,
    /// A secret.
    Secret,
    /// A token, or a key whose first word says what it opens: made by machines.
    Key,
    /// Some other key: perhaps of a map.
    Maybe,
}

/// Where the name that ends at `end` begins.
pub(super) fn name_begin(text: &str, end: usize) -> usize {
    let bytes = text.as_bytes();
    let mut begin = end;
    while 0 < begin && end - begin < NAME_BYTES_MAX {
        let byte = bytes[begin - 1];
        let escaped = byte == b'\\' && bytes.get(begin) == Some(&b'_');
        if !(is_name_byte(byte) || matches!(byte, b'-' | b'.' | b'$') || escaped) {
            break;
        }
        begin -= 1;
    }
    // The `n` of an escaped line break is no part of a name.
    if 0 < begin && bytes[begin - 1] == b'\\' && b"nrt".contains(&bytes[begin]) {
        begin += 1;
    }
    begin
}

/// What the name says, and whether it is nothing but the keyword.
pub(super) fn classify(text: &str, begin: usize, name: &str) -> Option<(NameClass, bool)> {
    let trimmed = name.trim_end_matches(|at: char| at.is_ascii_digit() || at == '_');
    let mut words = words(trimmed);
    if words.last().is_some_and(|word| word == "base") {
        words.pop();
    }
    let last = words.pop()?;
    const BARE: [&str; 7] = ["password", "passwd", "passphrase", "pwd", "pass", "secret", "token"];
    let alone = words.is_empty() && (BARE.contains(&last.as_str()) || last == "key");
    let before = words.pop().or_else(|| word_before(text, begin));
    let before = before.as_deref().unwrap_or("");
    let class = if last.ends_with("password")
        || last.ends_with("passwd")
        || last.ends_with("passphrase")
        || last.ends_with("pwd")
        || last == "pass"
    {
        NameClass::Password
    } else if last.ends_with("secret") {
        NameClass::Secret
    } else if last.ends_with("token") {
        NameClass::Key
    } else if last == "key" {
        if KEY_OPENS.contains(&before) {
            NameClass::Key
        } else if alone || KEY_IS_NONE.contains(&before) {
            return None;
        } else {
            NameClass::Maybe
        }
    } else {
        let head = last.strip_suffix("key").filter(|head| KEY_OPENS.contains(head));
        head.map(|_| NameClass::Key)?
    };
    Some((class, alone))
}

/// First words of keys that open something.
#[rustfmt::skip]
const KEY_OPENS: [&str; 28] = [
    "api", "access", "secret", "private", "auth", "encryption", "signing", "master", "account",
    "service", "client", "webhook", "deploy", "hmac", "jwt", "subscription", "consumer",
    "functions", "license", "admin", "app", "application", "shared", "stripe", "aws", "openai",
    "anthropic", "ssh",
];

/// First words of keys that are in the open.
#[rustfmt::skip]
const KEY_IS_NONE: [&str; 51] = [
    "primary", "foreign", "public", "sort", "partition", "cache", "index", "unique", "hash", "map",
    "row", "group", "grouping", "shard", "routing", "lookup", "composite", "candidate", "surrogate",
    "natural", "order", "object", "hot", "shortcut", "arrow", "modifier", "enter", "escape",
    "return", "tab", "shift", "ctrl", "alt", "meta", "function", "any", "event", "storage", "query",
    "column", "field", "dict", "json", "data", "default", "this", "the", "a", "on", "press",
    "idempotency",
];

/// The lower-case words of a name: `DB_PASSWORD`, `dbPassword`, `db-password`, `DBPassword`.
fn words(name: &str) -> Vec<String> {
    let bytes = name.as_bytes();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for (idx, &byte) in bytes.iter().enumerate() {
        if !byte.is_ascii_alphanumeric() {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
            continue;
        }
        let after_lower = 0 < idx && bytes[idx - 1].is_ascii_lowercase();
        let before_lower = bytes.get(idx + 1).is_some_and(u8::is_ascii_lowercase);
        let after_upper = 0 < idx && bytes[idx - 1].is_ascii_uppercase();
        if byte.is_ascii_uppercase() && (after_lower || after_upper && before_lower) {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        }
        word.push(char::from(byte.to_ascii_lowercase()));
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// The word before a name that is one word: the `API` of `API key: …`.
fn word_before(text: &str, begin: usize) -> Option<String> {
    let head = text[..begin].strip_suffix(' ')?;
    let n_letters =
        head.bytes().rev().take(NAME_BYTES_MAX).take_while(u8::is_ascii_alphabetic).count();
    let word = &head[head.len() - n_letters..];
    (!word.is_empty()).then(|| word.to_ascii_lowercase())
}

pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
