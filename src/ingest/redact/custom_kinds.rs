//! Custom kinds of secrets: a name and a regular expression from the configuration.
//!
//! The dialect is RE2's: leftmost-first, no look-around, and `\d`, `\w`, `\s`, `\b` are ASCII. The
//! engine's own dialect differs in a few signs, so a pattern is rewritten before it is compiled.

use regex::{Regex, RegexBuilder};

use super::RedactConfigError;

/// Maximum custom kinds of one configuration.
pub(super) const KINDS_MAX: usize = 256;

/// Maximum bytes of a name.
pub(super) const NAME_BYTES_MAX: usize = 64;

/// Maximum bytes of a compiled pattern, which bounds its memory and time.
const PROGRAM_BYTES_MAX: usize = 1024 * 1024;

/// A kind of secret as configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CustomKind {
    /// Its name, which the marker shows.
    pub(crate) kind: String,
    /// Its regular expression.
    pub(crate) pattern: String,
}

/// Compiles the patterns.
pub(super) fn compile(custom: &[CustomKind]) -> Result<Vec<(String, Regex)>, RedactConfigError> {
    if KINDS_MAX < custom.len() {
        return Err(RedactConfigError::TooMany { n_custom: custom.len() });
    }
    custom.iter().map(|custom| Ok((custom.kind.clone(), compile_one(custom)?))).collect()
}

fn compile_one(custom: &CustomKind) -> Result<Regex, RedactConfigError> {
    let kind = custom.kind.clone();
    let is_name = (1..=NAME_BYTES_MAX).contains(&kind.len())
        && kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
    if !is_name {
        return Err(RedactConfigError::BadName { kind });
    }
    if custom.pattern.is_empty() {
        return Err(RedactConfigError::BadPattern { kind, why: "it is empty".to_owned() });
    }
    RegexBuilder::new(&translate(&custom.pattern))
        .size_limit(PROGRAM_BYTES_MAX)
        .dfa_size_limit(PROGRAM_BYTES_MAX)
        .build()
        .map_err(|error| RedactConfigError::BadPattern { kind, why: why(&error) })
}

/// Returns the fault, on one line.
fn why(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => "it is too large; use smaller repetitions".to_owned(),
        error => {
            let text = error.to_string();
            let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("");
            line.trim().trim_start_matches("error: ").to_owned()
        }
    }
}

/// Translates `pattern` to the engine's dialect.
fn translate(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern;
    let mut in_class = false;
    while let Some(at) = rest.chars().next() {
        rest = &rest[at.len_utf8()..];
        match at {
            '\\' => rest = translate_escape(rest, in_class, &mut out),
            '[' if !in_class => {
                in_class = true;
                out.push('[');
                // A bracket that comes first is a member.
                if let Some(after) = rest.strip_prefix('^') {
                    out.push('^');
                    rest = after;
                }
                if let Some(after) = rest.strip_prefix(']') {
                    out.push_str("\\]");
                    rest = after;
                }
            }
            '[' if rest.starts_with(':') && rest.contains(":]") => {
                let end = rest.find(":]").map_or(0, |end| end + 2);
                out.push('[');
                out.push_str(&rest[..end]);
                rest = &rest[end..];
            }
            '[' | '&' | '~' if in_class => {
                out.push('\\');
                out.push(at);
            }
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            at => out.push(at),
        }
    }
    out
}

/// Translates an escape after its backslash; returns the rest of the pattern.
fn translate_escape<'t>(rest: &'t str, in_class: bool, out: &mut String) -> &'t str {
    let Some(at) = rest.chars().next() else {
        out.push('\\');
        return rest;
    };
    let after = &rest[at.len_utf8()..];
    match at {
        'd' => out.push_str("[0-9]"),
        'D' => out.push_str("[^0-9]"),
        'w' => out.push_str("[0-9A-Za-z_]"),
        'W' => out.push_str("[^0-9A-Za-z_]"),
        's' => out.push_str(r"[\t\n\f\r ]"),
        'S' => out.push_str(r"[^\t\n\f\r ]"),
        'b' if !in_class => out.push_str(r"(?-u:\b)"),
        '<' | '>' => out.push(at),
        'Q' if !in_class => {
            let (literal, after) = after.split_once("\\E").unwrap_or((after, ""));
            out.push_str(&regex::escape(literal));
            return after;
        }
        at => {
            out.push('\\');
            out.push(at);
        }
    }
    after
}
