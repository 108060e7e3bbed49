//! Judges an assigned value by its name, its notation and its place.
//!
//! The clearer the name and the notation mark a secret, the less the value must look like one.

use std::ops::Range;

use super::assignment_surroundings::goes_on_as_code;
use super::key_name::{CredentialKind, is_name_of_secret};
use super::value_checks;
use super::value_span::ValueDelimiter;

/// The features of an assignment by which its value is judged.
#[derive(Clone, Debug)]
pub(super) struct AssignmentFeatures {
    pub(super) class: CredentialKind,
    /// `UPPER_CASE=`: the notation of environment variables.
    pub(super) upper: bool,
    /// The name is only the keyword.
    pub(super) alone: bool,
    /// The separator is `=` or one of its kin, not `:`.
    pub(super) equals: bool,
    /// The separator is the comma between two arguments.
    pub(super) is_argument: bool,
    /// White space precedes the value.
    pub(super) spaced: bool,
    /// The line has nothing else.
    pub(super) is_line: bool,
    pub(super) delimiter: ValueDelimiter,
}
/// Returns whether the words of a block are a secret.
pub(super) fn is_secret_block(site: &AssignmentFeatures, text: &str, value: &Range<usize>) -> bool {
    let words = value_checks::head(&text[value.clone()]);
    // A PEM header needs no further proof.
    if words.starts_with("-----BEGIN") {
        return false;
    }
    let mut lines = words.lines();
    let are_words = lines.all(|line| !line.trim().contains(char::is_whitespace));
    let has_chance = words.split_whitespace().any(value_checks::is_varied);
    let several =
        words.contains('\n') && are_words && has_chance && site.class != CredentialKind::Maybe;
    several || is_secret(site, text, value.start, value.start + words.len())
}

/// Returns whether a cell of a column of that class holds a secret.
pub(super) fn is_secret_cell(
    class: CredentialKind,
    alone: bool,
    text: &str,
    cell: &Range<usize>,
) -> bool {
    let site = AssignmentFeatures::of_cell(class, alone);
    let end = cell.start + value_checks::head(&text[cell.clone()]).len();
    cell.start < end && is_secret(&site, text, cell.start, end)
}

impl AssignmentFeatures {
    /// Returns the features of a cell, as if it were quoted.
    pub(super) fn of_cell(class: CredentialKind, alone: bool) -> AssignmentFeatures {
        AssignmentFeatures {
            class,
            upper: false,
            alone,
            equals: class == CredentialKind::Key,
            is_argument: false,
            spaced: false,
            is_line: true,
            delimiter: ValueDelimiter::Quoted,
        }
    }
}

/// Returns whether only what may open a line of a file of variables precedes the name.
pub(super) fn begins_line(text: &str, begin: usize) -> bool {
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
pub(super) fn is_secret(site: &AssignmentFeatures, text: &str, start: usize, end: usize) -> bool {
    let value = &text[start..end];
    let whole = value.trim();
    let n_chars = whole.chars().count();
    let quoted = site.delimiter == ValueDelimiter::Quoted;
    if value_checks::is_placeholder(whole) || value_checks::is_reserved(whole) {
        return false;
    }
    // The value may have lost the bracket that closes a call.
    let n_closers = text.as_bytes()[end..].iter().take(8).take_while(|at| b",;)]}".contains(at));
    let expression = &text[start..end + n_closers.count()];
    let is_code = || {
        value_checks::is_code(expression)
            || value_checks::is_variable(expression)
            || goes_on_as_code(text, &(start..end))
    };
    if !quoted && (is_code() || opens_type(whole, &text[end..])) {
        return false;
    }
    // The name of a secret, not a secret.
    let is_variable = site.upper && site.equals && !site.spaced;
    if !is_variable && is_name_of_secret(whole, site.class) {
        return false;
    }
    if site.class != CredentialKind::Password && value_checks::is_path_or_url(whole) {
        return false;
    }
    if value_checks::is_small_number(whole) {
        return false;
    }
    if whole.bytes().all(|byte| byte.is_ascii_digit()) {
        let n_digits_min = match (site.class, site.upper) {
            (CredentialKind::Password, true) => 4,
            (CredentialKind::Password, false) => 5,
            (CredentialKind::Secret | CredentialKind::Key, _) => 10,
            (CredentialKind::Maybe, _) => return false,
        };
        return n_digits_min <= n_chars;
    }
    if site.is_argument && value_checks::is_constant(whole) {
        return false;
    }
    let is_machine_made = site.is_argument && site.class != CredentialKind::Password;
    if site.upper && site.equals && !site.alone && !is_machine_made {
        return match site.class {
            CredentialKind::Password | CredentialKind::Secret | CredentialKind::Key => {
                3 <= n_chars || !site.spaced && (quoted || 2 <= n_chars)
            }
            CredentialKind::Maybe if site.spaced => {
                value_checks::is_random(whole) || value_checks::is_varied(whole) && 6 <= n_chars
            }
            CredentialKind::Maybe => 3 <= n_chars,
        };
    }
    if whole.contains(char::is_whitespace) {
        let any = |test: fn(&str) -> bool| whole.split_whitespace().any(test);
        let chosen = site.equals || quoted && any(value_checks::is_varied);
        let chosen = chosen || quoted && value_checks::is_passphrase(whole);
        let password =
            site.class == CredentialKind::Password && chosen && !value_checks::is_prose(whole);
        return password || any(value_checks::is_random);
    }
    if !quoted && !site.equals && !ends_line(text, end) {
        // A word in a sentence.
        return value_checks::is_random(whole);
    }
    let is_line = site.is_line && ends_line(text, end);
    is_secret_word(&AssignmentFeatures { is_line, ..site.clone() }, whole, n_chars)
}

/// Decides for one word in the place of a value.
fn is_secret_word(site: &AssignmentFeatures, word: &str, n_chars: usize) -> bool {
    let clear = site.equals || site.delimiter == ValueDelimiter::Quoted;
    let letters = word.chars().all(char::is_alphabetic);
    let joined = word.chars().all(|at| at.is_alphabetic() || "-_./:".contains(at));
    let varied = value_checks::is_varied(word);
    match site.class {
        CredentialKind::Password if varied => 6 <= n_chars,
        CredentialKind::Password if value_checks::is_chosen_word(word) && is_settled(site) => true,
        CredentialKind::Password if letters && !value_checks::is_describing(word) => {
            let n_chars_min = match (clear, site.is_line) {
                // A line of a file of settings.
                (true, true) if !site.spaced && site.delimiter == ValueDelimiter::Bare => 6,
                (true, _) => 10,
                (false, true) => 12,
                (false, false) => 16,
            };
            n_chars_min <= n_chars
        }
        CredentialKind::Password => clear && 16 <= n_chars,
        CredentialKind::Secret if varied => 6 <= n_chars,
        CredentialKind::Secret if joined => letters && clear && 12 <= n_chars,
        CredentialKind::Secret => value_checks::is_random(word),
        CredentialKind::Key if varied && site.equals && !site.alone => 6 <= n_chars,
        CredentialKind::Key if letters => clear && !site.alone && 12 <= n_chars,
        CredentialKind::Key => value_checks::is_random(word),
        CredentialKind::Maybe => {
            20 <= n_chars && value_checks::is_random(word) && 3.5 <= value_checks::entropy(word)
        }
    }
}

/// Returns whether a plain word in that place is a value, not a word of code or of a sentence.
fn is_settled(site: &AssignmentFeatures) -> bool {
    site.delimiter == ValueDelimiter::Quoted || site.is_line || site.equals && !site.spaced
}

/// Returns whether the value is a type whose parameters follow: `Option<`.
fn opens_type(word: &str, rest: &str) -> bool {
    let mut rest = rest.bytes();
    let is_opened = rest.next() == Some(b'<');
    let parameter = rest.next();
    // `Hunter2<br>` is a text with a tag.
    let is_word = word.chars().all(|at| at.is_ascii_alphabetic());
    is_opened
        && match is_word {
            true => parameter.is_some_and(|it| it.is_ascii_alphabetic() || b"'&[(".contains(&it)),
            false => parameter.is_some_and(|it| b"'&[(".contains(&it)),
        }
        && word.starts_with(|at: char| at.is_ascii_uppercase())
        && word.chars().all(|at| at.is_ascii_alphanumeric())
        && word.chars().any(|at| at.is_ascii_lowercase())
}

/// Returns whether only a comment or a closing mark follows on the line.
fn ends_line(text: &str, end: usize) -> bool {
    let rest = value_checks::head(&text[end..]);
    let line = rest.split(['\n', '\r', '"', '<', '|']).next().unwrap_or("");
    let line = line.split("\\n").next().unwrap_or("");
    let line = line.trim_start_matches([',', ';', ')', ']', '}']).trim();
    line.is_empty()
        || line.starts_with('#')
        || line.starts_with("//")
        || line.starts_with(['}', ']'])
}
