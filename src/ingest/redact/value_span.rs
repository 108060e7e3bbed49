//! The span of an assigned value: in quotes, in quotes within quotes, or bare.

use super::key_name::is_name_byte;

/// The way a value is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueDelimiter {
    /// Up to the closing quote.
    Quoted,
    /// Up to white space, or a character that cannot be part of it.
    Bare,
    /// A line of a file of variables: up to white space.
    Line,
}

/// An open quotation.
#[derive(Clone, Debug)]
pub(super) struct OpenQuote {
    /// Start of the value.
    pub(super) start: usize,
    quote: u8,
    /// Backslashes before the quote, in a string of another notation.
    n_escapes: usize,
    triple: bool,
}

pub(super) fn open(text: &str, at: usize) -> Option<OpenQuote> {
    let bytes = text.as_bytes();
    let rest = &bytes[at..];
    let n_letters = rest.iter().take(2).take_while(|byte| b"rbfuRBFU@$L".contains(byte)).count();
    let is_quote = |byte: &u8| matches!(byte, b'"' | b'\'' | b'`');
    // `r"…"` in code; but `$'` and `@"` only where the quote follows at once.
    let skip = if rest.get(n_letters).is_some_and(is_quote) { n_letters } else { 0 };
    let n_escapes = rest[skip..].iter().take(8).take_while(|byte| **byte == b'\\').count();
    let quote = *rest.get(skip + n_escapes).filter(|byte| is_quote(byte))?;
    let mut start = at + skip + n_escapes + 1;
    let triple = n_escapes == 0 && bytes[start..].starts_with(&[quote, quote]);
    if triple {
        start += 2;
    }
    Some(OpenQuote { start, quote, n_escapes, triple })
}

/// Returns the end of the value that begins at `start`, within `max` bytes.
pub(super) fn value_end(
    text: &str,
    start: usize,
    delimiter: ValueDelimiter,
    opened: Option<&OpenQuote>,
    max: usize,
) -> usize {
    let limit = text.floor_char_boundary(start.saturating_add(max).min(text.len()));
    match opened {
        Some(opened) => quoted_end(text, start, limit, opened),
        None => bare_end(text, start, limit, delimiter),
    }
}

fn quoted_end(text: &str, start: usize, limit: usize, opened: &OpenQuote) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    let mut n_slashes = 0;
    while at < limit {
        let byte = bytes[at];
        if opened.triple {
            if bytes[at..].starts_with(&[opened.quote; 3]) {
                return at;
            }
        } else if byte == b'\n' || byte == b'\r' {
            // The quotation is not closed on its line: the rest of the line is the value.
            return at;
        } else if byte == opened.quote {
            let doubled =
                byte == b'\'' && opened.n_escapes == 0 && bytes.get(at + 1) == Some(&byte);
            if doubled {
                at += 2;
                continue;
            }
            if opened.n_escapes == 0 && n_slashes % 2 == 0 {
                return at;
            }
            if 0 < opened.n_escapes && n_slashes <= opened.n_escapes {
                return at - n_slashes;
            }
        }
        n_slashes = if byte == b'\\' { n_slashes + 1 } else { 0 };
        at += 1;
    }
    limit
}

fn bare_end(text: &str, start: usize, limit: usize, delimiter: ValueDelimiter) -> usize {
    let bytes = text.as_bytes();
    let mut end = start;
    let mut n_open = 0_i64;
    for (idx, at) in text[start..limit].char_indices() {
        let here = start + idx;
        let rest = &bytes[here + at.len_utf8()..];
        let stops = at.is_whitespace()
            || at == '<' && (delimiter != ValueDelimiter::Line || rest.first() == Some(&b'/'))
            || delimiter != ValueDelimiter::Line
                && match at {
                    '"' | '\'' | '`' | '>' | '|' => true,
                    '\\' => rest.first().is_some_and(|next| b"nrt\"'\\".contains(next)),
                    '&' | ',' | ';' => is_next_pair(rest),
                    '(' | '[' | '{' => {
                        n_open += 1;
                        false
                    }
                    ')' | ']' | '}' => {
                        n_open -= 1;
                        n_open < 0 && rest.first().is_some_and(|next| !next.is_ascii_alphanumeric())
                    }
                    _ => false,
                };
        if stops {
            break;
        }
        end = here + at.len_utf8();
    }
    if delimiter == ValueDelimiter::Bare {
        let value = text[start..end].trim_end_matches([',', ';', '.', ')', ']', '}', ':']);
        return start + value.len();
    }
    end
}

/// Returns whether `name=` or `name:` follows, as in a query or a connection string; or an entity.
fn is_next_pair(rest: &[u8]) -> bool {
    let n_name = rest
        .iter()
        .take(40)
        .take_while(|at| is_name_byte(**at) || matches!(at, b'-' | b'.' | b'"' | b' ' | b'$'))
        .count();
    0 < n_name && rest.get(n_name).is_some_and(|at| b"=:;".contains(at))
}
