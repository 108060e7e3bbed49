//! Finds assigned secrets: a telling name, a separator, a value. Only the value is replaced, so
//! that JSON, YAML, TOML and code stay valid.
//!
//! The clearer the name and the notation mark a secret, the less the value must look like one:
//! `DB_PASSWORD=x1` is a secret, `the password: see below` is not. Work per candidate is bounded by
//! [`value::HEAD_BYTES_MAX`] until the value is known to be a secret.

use std::ops::Range;

use super::key_name::{NAME_BYTES_MAX, NameClass, classify, name_begin};
use super::span::{ValueDelimiter, open, value_end};
use super::value::{self, HEAD_BYTES_MAX};

/// Words that end the names of secrets.
pub(super) const WORDS: [&str; 8] =
    ["password", "passwd", "passphrase", "pwd", "pass", "secret", "token", "key"];

/// The notation of an assignment.
#[derive(Clone, Debug)]
struct AssignmentSite {
    class: NameClass,
    /// `UPPER_CASE=`: the notation of environment variables.
    upper: bool,
    /// The name is only the keyword.
    alone: bool,
    /// The separator is `=` or one of its kin, not `:`.
    equals: bool,
    /// White space precedes the value.
    spaced: bool,
    /// The line has nothing else.
    is_line: bool,
    delimiter: ValueDelimiter,
}

/// An assignment that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Assigned {
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
pub(super) fn find(text: &str, word_ends: &[usize]) -> Vec<Assigned> {
    let mut found: Vec<Assigned> = Vec::new();
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
fn assigned_by(text: &str, operator: &AssignmentOperator) -> Option<Assigned> {
    let bytes = text.as_bytes();
    let closer = &text[operator.closer.clone()];
    let (key_end, separator) = (operator.name_end, operator.separator);
    let begin = name_begin(text, key_end);
    let name = &text[begin..key_end];
    let (class, alone) = classify(text, begin, name)?;
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
            let site = AssignmentSite::of_cell(class, alone);
            return is_secret_block(&site, text, &value).then_some(Assigned {
                value,
                begin,
                quote: "",
            });
        }
        let n_marks = bytes[at..].iter().take(3).take_while(|at| b"*_".contains(at)).count();
        if 0 < n_marks && bytes.get(at + n_marks) == Some(&b' ') {
            at += n_marks + count_blanks(&bytes[at + n_marks..]);
        }
        if let Some(typed) = after_type(text, at) {
            at = typed;
            equals = true;
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
    if separator == Separator::Comma && delimiter != ValueDelimiter::Quoted {
        return None;
    }
    let is_line = separator != Separator::Pair && begins_line(text, begin);
    let site =
        AssignmentSite { class, upper, alone, equals, spaced: 0 < n_blanks, is_line, delimiter };
    let start = opened.as_ref().map_or(at, |opened| opened.start);
    let end_near = value_end(text, start, delimiter, opened.as_ref(), HEAD_BYTES_MAX);
    if end_near <= start || !is_secret(&site, text, start, end_near) {
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
    Some(Assigned { value: start..end, begin, quote })
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

fn is_secret_block(site: &AssignmentSite, text: &str, value: &Range<usize>) -> bool {
    let words = value::head(&text[value.clone()]);
    // A PEM header needs no further proof.
    if words.starts_with("-----BEGIN") {
        return false;
    }
    let mut lines = words.lines();
    let are_words = lines.all(|line| !line.trim().contains(char::is_whitespace));
    let has_chance = words.split_whitespace().any(value::is_varied);
    let several = words.contains('\n') && are_words && has_chance && site.class != NameClass::Maybe;
    several || is_secret(site, text, value.start, value.start + words.len())
}

/// Returns whether a cell of a column of that class holds a secret.
pub(super) fn is_secret_cell(
    class: NameClass,
    alone: bool,
    text: &str,
    cell: &Range<usize>,
) -> bool {
    let site = AssignmentSite::of_cell(class, alone);
    let end = cell.start + value::head(&text[cell.clone()]).len();
    cell.start < end && is_secret(&site, text, cell.start, end)
}

impl AssignmentSite {
    /// Returns the site of a cell, as if it were quoted.
    fn of_cell(class: NameClass, alone: bool) -> AssignmentSite {
        AssignmentSite {
            class,
            upper: false,
            alone,
            equals: class == NameClass::Key,
            spaced: false,
            is_line: true,
            delimiter: ValueDelimiter::Quoted,
        }
    }
}

/// Returns whether only what may open a line of a file of variables precedes the name.
fn begins_line(text: &str, begin: usize) -> bool {
    let near = text.floor_char_boundary(begin.saturating_sub(24));
    let head = &text[near..begin];
    let line = match head.rfind(['\n', '\r']) {
        Some(at) => &head[at + 1..],
        None if near == 0 => head,
        None => return false,
    };
    matches!(line.trim(), "" | "export" | "set" | "-" | ">" | "$" | "#")
}

/// Decides whether a value is a secret, given its assignment.
fn is_secret(site: &AssignmentSite, text: &str, start: usize, end: usize) -> bool {
    let value = &text[start..end];
    let whole = value.trim();
    let n_chars = whole.chars().count();
    let quoted = site.delimiter == ValueDelimiter::Quoted;
    if value::is_placeholder(whole) || value::is_reserved(whole) {
        return false;
    }
    // The value may have lost the bracket that closes a call.
    let n_closers = text.as_bytes()[end..].iter().take(8).take_while(|at| b",;)]}".contains(at));
    let expression = &text[start..end + n_closers.count()];
    if !quoted && (value::is_code(expression) || opens_type(whole, &text[end..])) {
        return false;
    }
    if site.class != NameClass::Password && value::is_path_or_url(whole) {
        return false;
    }
    if value::is_small_number(whole) {
        return false;
    }
    if whole.bytes().all(|byte| byte.is_ascii_digit()) {
        let n_digits_min = match (site.class, site.upper) {
            (NameClass::Password, true) => 4,
            (NameClass::Password, false) => 5,
            (NameClass::Secret | NameClass::Key, _) => 10,
            (NameClass::Maybe, _) => return false,
        };
        return n_digits_min <= n_chars;
    }
    if site.upper && site.equals && !site.alone {
        return match site.class {
            NameClass::Password | NameClass::Secret | NameClass::Key => {
                !site.spaced || 3 <= n_chars
            }
            NameClass::Maybe if site.spaced => {
                value::is_random(whole) || value::is_varied(whole) && 6 <= n_chars
            }
            NameClass::Maybe => 3 <= n_chars,
        };
    }
    if whole.contains(char::is_whitespace) {
        let any = |test: fn(&str) -> bool| whole.split_whitespace().any(test);
        let chosen = site.equals || quoted && any(value::is_varied);
        let password = site.class == NameClass::Password && chosen && !value::is_prose(whole);
        return password || any(value::is_random);
    }
    if !quoted && !site.equals && !ends_line(text, end) {
        // A word in a sentence.
        return value::is_random(whole);
    }
    let is_line = site.is_line && ends_line(text, end);
    is_secret_word(&AssignmentSite { is_line, ..site.clone() }, whole, n_chars)
}

/// Decides for one word in the place of a value.
fn is_secret_word(site: &AssignmentSite, word: &str, n_chars: usize) -> bool {
    let clear = site.equals || site.delimiter == ValueDelimiter::Quoted;
    let letters = word.chars().all(char::is_alphabetic);
    let joined = word.chars().all(|at| at.is_alphabetic() || "-_./:".contains(at));
    let varied = value::is_varied(word);
    match site.class {
        NameClass::Password if varied => 6 <= n_chars,
        NameClass::Password if letters => {
            let n_chars_min = match (clear, site.is_line) {
                // A line of a file of settings.
                (true, true) if !site.spaced && site.delimiter == ValueDelimiter::Bare => 6,
                (true, _) => 10,
                (false, true) => 12,
                (false, false) => 16,
            };
            n_chars_min <= n_chars
        }
        NameClass::Password => clear && 16 <= n_chars,
        NameClass::Secret if varied => 6 <= n_chars,
        NameClass::Secret if joined => letters && clear && 12 <= n_chars,
        NameClass::Secret => value::is_random(word),
        NameClass::Key if varied && site.equals && !site.alone => 6 <= n_chars,
        NameClass::Key if letters => clear && !site.alone && 12 <= n_chars,
        NameClass::Key => value::is_random(word),
        NameClass::Maybe => 20 <= n_chars && value::is_random(word) && 3.5 <= value::entropy(word),
    }
}

/// Returns whether the value is a type whose parameters follow: `Option<`.
fn opens_type(word: &str, rest: &str) -> bool {
    let mut rest = rest.bytes();
    rest.next() == Some(b'<')
        && rest.next().is_some_and(|next| next.is_ascii_alphabetic())
        && word.starts_with(|at: char| at.is_ascii_uppercase())
        && word.chars().all(|at| at.is_ascii_alphabetic())
        && word.chars().any(|at| at.is_ascii_lowercase())
}

/// Returns whether only a comment or a closing mark follows on the line.
fn ends_line(text: &str, end: usize) -> bool {
    let rest = value::head(&text[end..]);
    let line = rest.split(['\n', '\r', '"', '<', '|']).next().unwrap_or("");
    let line = line.split("\\n").next().unwrap_or("");
    let line = line.trim_start_matches([',', ';', ')', ']', '}']).trim();
    line.is_empty()
        || line.starts_with('#')
        || line.starts_with("//")
        || line.starts_with(['}', ']'])
}
