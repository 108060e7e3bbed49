//! Finds assigned secrets: a telling name, a separator, a value. Only the value is replaced, so
//! that JSON, YAML, TOML and code stay valid.
//!
//! The clearer the name and the notation mark a secret, the less the value must look like one:
//! `DB_PASSWORD=x1` is a secret, `the password: see below` is not. Work per candidate is bounded by
//! [`value_checks::HEAD_BYTES_MAX`] until the value is known to be a secret.

use std::ops::Range;

use super::assignment_surroundings::{in_badge, in_code, in_vocabulary};
use super::assignment_verdict::{AssignmentFeatures, begins_line, is_secret, is_secret_block};
use super::key_name::{CredentialKind, NAME_BYTES_MAX, classify, name_begin};
use super::value_checks::{self, HEAD_BYTES_MAX};
use super::value_span::{ValueDelimiter, open, value_end};

/// Bytes before a name in which its visibility is sought.
const VISIBILITY_BYTES_MAX: usize = 80;

/// Words that end the names of secrets.
pub(super) const WORDS: [&str; 8] =
    ["password", "passwd", "passphrase", "pwd", "pass", "secret", "token", "key"];

/// An assignment that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SecretAssignment {
    /// The value, without its quotes.
    pub(super) value: Range<usize>,
    /// Start of its name.
    pub(super) begin: usize,
    /// Quotes that a marker needs here to keep the notation valid.
    pub(super) quote: &'static str,
}

/// A name's end and the separator that follows.
#[derive(Clone, Debug)]
struct AssignmentOperator {
    name_end: usize,
    /// The closing of the name's notation: quotes, brackets, marks of emphasis.
    closer: Range<usize>,
    separator: Separator,
    end: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Separator {
    /// `=`, `:=`, `=>`.
    Equals,
    /// `:`.
    Colon,
    /// The end of a tag.
    Tag,
    /// A comma between the arguments of a call.
    Comma,
    /// White space, after an option of a command line.
    Blank,
    /// The name is itself a value, and `value` names its partner: `name: X, value: …`.
    Pair,
}

/// Returns whether the word that ends at `word_end` may name an assigned secret.
pub(super) fn is_site(text: &str, word_end: usize) -> bool {
    operator(text, word_end).is_some()
}

/// Returns the assignments of secrets in `text`, in order and disjoint. Each of `word_ends` is the
/// end of one of [`WORDS`].
pub(super) fn find(text: &str, word_ends: &[usize]) -> Vec<SecretAssignment> {
    let mut found: Vec<SecretAssignment> = Vec::new();
    let mut done = 0;
    for &word_end in word_ends {
        // Words inside a value belong to it.
        if done <= word_end
            && let Some(operator) = operator(text, word_end)
            && let Some(assigned) = assigned_by(text, &operator)
        {
            done = assigned.value.end;
            found.push(assigned);
        }
    }
    found
}

/// Parses the text after a word: the rest of its name, its closing, and a separator.
fn operator(text: &str, word_end: usize) -> Option<AssignmentOperator> {
    let bytes = text.as_bytes();
    let rest = &bytes[word_end..];
    let base = rest.get(..5).is_some_and(|rest| rest.eq_ignore_ascii_case(b"_base"));
    let mut at = word_end + if base { 5 } else { 0 };
    let count = |from: usize, max: usize, test: fn(&u8) -> bool| {
        bytes[from..].iter().take(max).take_while(|byte| test(byte)).count()
    };
    at += count(at, 4, |byte| byte.is_ascii_digit() || *byte == b'_');
    let name_end = at;
    if matches!(bytes.get(at), Some(b' ' | b'\t')) && is_option(text, name_end) {
        return Some(AssignmentOperator {
            name_end,
            closer: at..at,
            separator: Separator::Blank,
            end: at,
        });
    }
    at += count(at, 6, |byte| b"\\\"'`])*_".contains(byte));
    let closer = name_end..at;
    if let Some(end) = pair_end(bytes, at) {
        return Some(AssignmentOperator { name_end, closer, separator: Separator::Pair, end });
    }
    at += count(at, 16, |byte| matches!(byte, b' ' | b'\t'));
    let (separator, n_bytes) = match (bytes.get(at)?, bytes.get(at + 1)) {
        (b'=', Some(b'>')) | (b':', Some(b'=')) => (Separator::Equals, 2),
        // `a == b` compares, `a::b` is a path, `token://` an address.
        (b'=', Some(b'=' | b'~')) | (b':', Some(b':' | b'/')) => return None,
        (b'=', _) => (Separator::Equals, 1),
        (b':', _) => (Separator::Colon, 1),
        (b'>', _) => (Separator::Tag, 1),
        (b',', _) => (Separator::Comma, 1),
        _ => return None,
    };
    Some(AssignmentOperator { name_end, closer, separator, end: at + n_bytes })
}

/// Returns the start of the value after `, "value":` or `value=`.
fn pair_end(bytes: &[u8], from: usize) -> Option<usize> {
    let skip = |at: usize, set: &[u8]| {
        at + bytes[at..].iter().take(48).take_while(|byte| set.contains(byte)).count()
    };
    let mut at = skip(from, b" \t\r\n,;");
    // A word of its own.
    if at == from {
        return None;
    }
    at = skip(at, b"\\\"'");
    if !bytes.get(at..at + 5)?.eq_ignore_ascii_case(b"value") {
        return None;
    }
    at = skip(at + 5, b"\\\"' \t");
    matches!(bytes.get(at), Some(b':' | b'=')).then_some(at + 1)
}

/// Returns whether the name that ends at `end` is an option: `--token`.
fn is_option(text: &str, end: usize) -> bool {
    let bytes = &text.as_bytes()[..end];
    let n_name = bytes
        .iter()
        .rev()
        .take(NAME_BYTES_MAX)
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-')
        .count();
    bytes[end - n_name..].starts_with(b"--")
}

/// Returns the value that an operator assigns, if it is a secret.
fn assigned_by(text: &str, operator: &AssignmentOperator) -> Option<SecretAssignment> {
    let bytes = text.as_bytes();
    let closer = &text[operator.closer.clone()];
    let (key_end, separator) = (operator.name_end, operator.separator);
    let begin = name_begin(text, key_end);
    let name = &text[begin..key_end];
    // `event::Pass` is a path in code.
    let (class, alone) = classify(text, begin, name).filter(|_| !text[..begin].ends_with("::"))?;
    let upper = !name.bytes().any(|byte| byte.is_ascii_lowercase());
    let n_blanks = count_blanks(&bytes[operator.end..]);
    let mut at = operator.end + n_blanks;
    match separator {
        Separator::Tag if !in_tag(bytes, begin, closer) => return None,
        Separator::Comma if alone || !upper || !closer.contains(['"', '\'']) => return None,
        _ => (),
    }
    let mut equals = match separator {
        Separator::Equals | Separator::Comma => true,
        Separator::Pair => upper && !alone,
        Separator::Colon | Separator::Tag | Separator::Blank => false,
    };
    if separator == Separator::Colon {
        if let Some(value) = block(text, begin, at) {
            let cell = AssignmentFeatures::of_cell(class, alone);
            let is_secret = is_secret_block(&cell, text, &value);
            return is_secret.then_some(SecretAssignment { value, begin, quote: "" });
        }
        let n_marks = bytes[at..].iter().take(3).take_while(|at| b"*_".contains(at)).count();
        if 0 < n_marks && bytes.get(at + n_marks) == Some(&b' ') {
            at += n_marks + count_blanks(&bytes[at + n_marks..]);
        }
        if let Some(typed) = after_type(text, at) {
            (at, equals) = (typed, true);
        }
    }
    let opened = open(text, at);
    let delimiter = match &opened {
        Some(_) => ValueDelimiter::Quoted,
        None if upper && equals && n_blanks == 0 && begins_line(text, begin) => {
            ValueDelimiter::Line
        }
        None => ValueDelimiter::Bare,
    };
    let is_argument = separator == Separator::Comma;
    if is_argument && delimiter != ValueDelimiter::Quoted {
        return None;
    }
    let is_element = separator == Separator::Tag && text[..begin].ends_with('<');
    let is_line = separator != Separator::Pair && begins_line(text, begin) || is_element;
    let spaced = 0 < n_blanks;
    let site =
        AssignmentFeatures { class, upper, alone, equals, is_argument, spaced, is_line, delimiter };
    let start = opened.as_ref().map_or(at, |opened| opened.start);
    let end_near = value_end(text, start, delimiter, opened.as_ref(), HEAD_BYTES_MAX);
    if end_near <= start
        || !is_secret(&site, text, start, end_near)
        || is_contradicted(text, operator, begin, &site, &(start..end_near))
    {
        return None;
    }
    let end = value_end(text, start, delimiter, opened.as_ref(), usize::MAX);
    let number = text[start..end].bytes().all(|byte| byte.is_ascii_digit());
    let quote = match delimiter {
        ValueDelimiter::Bare if closer.starts_with("\\\"") => "\\\"",
        ValueDelimiter::Bare if closer.starts_with('"') && separator == Separator::Colon => "\"",
        ValueDelimiter::Bare if number && separator == Separator::Equals => "\"",
        ValueDelimiter::Quoted | ValueDelimiter::Bare | ValueDelimiter::Line => "",
    };
    Some(SecretAssignment { value: start..end, begin, quote })
}

/// Returns whether what stands around a value shows that it is no secret.
fn is_contradicted(
    text: &str,
    operator: &AssignmentOperator,
    begin: usize,
    site: &AssignmentFeatures,
    value: &Range<usize>,
) -> bool {
    let bytes = text.as_bytes();
    let closer = &text[operator.closer.clone()];
    let name = &text[begin..operator.name_end];
    let assigned = &text[value.clone()];
    let is_bare = site.delimiter != ValueDelimiter::Quoted;
    // `'Password:'` is a text that ends there.
    let before = begin.checked_sub(1).map(|it| bytes[it]).filter(|it| b"'\"`".contains(it));
    let ends_text =
        before.is_some() && closer.is_empty() && bytes.get(operator.end) == before.as_ref();
    // `(user, pass) = pair`: the parts of a value have names.
    let is_pattern = is_bare && closer.contains(')');
    let is_word = is_bare
        && site.class == CredentialKind::Password
        && !site.upper
        && value_checks::is_chosen_word(assigned);
    let is_element = operator.separator == Separator::Tag && text[..begin].ends_with('<');
    // `pub password: EapUsernamePasswordCredential,`
    let is_type = is_bare
        && operator.separator == Separator::Colon
        && value_checks::is_camel_case(assigned)
        && is_declared(text, begin);
    ends_text
        || is_type
        || is_pattern
        || is_bare && name.rsplit('.').next() == Some(assigned)
        || is_word && in_code(text, begin, value.end)
        || operator.separator == Separator::Colon && in_vocabulary(text, begin, value)
        || is_element && !value_checks::head(&text[value.end..]).contains("</")
        || in_badge(text, begin)
}

/// Returns whether a name is declared: only `pub` precedes it in its line.
fn is_declared(text: &str, begin: usize) -> bool {
    let near = text.floor_char_boundary(begin.saturating_sub(VISIBILITY_BYTES_MAX));
    let line = text[near..begin].rsplit(['\n', '\r']).next().unwrap_or("").trim();
    line == "pub" || line.starts_with("pub(") && line.ends_with(')')
}

fn count_blanks(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|at| matches!(at, b' ' | b'\t')).count()
}

/// Returns whether the name is that of an element, or the value of an attribute, whose tag ends
/// here.
fn in_tag(bytes: &[u8], begin: usize, closer: &str) -> bool {
    match begin.checked_sub(1).map(|at| bytes[at]) {
        Some(b'<') => true,
        Some(b'"' | b'\'') => closer.starts_with(['"', '\'']),
        _ => false,
    }
}

/// Returns the start of the value in `name: Type = "…"`.
fn after_type(text: &str, at: usize) -> Option<usize> {
    let bytes = &text.as_bytes()[at..];
    let n_type = bytes
        .iter()
        .take(48)
        .take_while(|at| at.is_ascii_alphanumeric() || b"&_<>[]'.| :".contains(at))
        .count();
    let rest = bytes[n_type..].strip_prefix(b"=")?;
    let n_blanks = count_blanks(rest);
    let quoted = matches!(rest.get(n_blanks), Some(b'"' | b'\'' | b'`'));
    (0 < n_type && quoted).then_some(at + n_type + 1 + n_blanks)
}

/// Returns the words of a YAML block after `key: |`, whose lines are indented more than the key.
fn block(text: &str, begin: usize, at: usize) -> Option<Range<usize>> {
    let rest = text[at..].strip_prefix(['|', '>'])?;
    let line = rest.split(['\n', '\r']).next().unwrap_or("");
    let marks = line.split(" #").next().unwrap_or("").trim_end();
    if 2 < marks.len() || !marks.bytes().all(|it| it.is_ascii_digit() || b"+-".contains(&it)) {
        return None;
    }
    let before = &text[text.floor_char_boundary(begin.saturating_sub(HEAD_BYTES_MAX))..begin];
    let indent = before.len() - before.rfind(['\n', '\r']).map_or(0, |it| it + 1);
    let from = at + 1 + line.len();
    let (mut start, mut end) = (None, from);
    let mut here = from;
    for line in text[from..].split_inclusive('\n') {
        let words = line.trim_start_matches([' ', '\t']);
        if !words.trim().is_empty() {
            let n_blanks = line.len() - words.len();
            if n_blanks <= indent && from < here {
                break;
            }
            start = start.or(Some(here + n_blanks));
            end = here + line.trim_end().len();
        }
        here += line.len();
    }
    Some(start?..end)
}
