//! Private keys in PEM: whole blocks, and blocks whose beginning or end is missing.
//!
//! The body may be quoted, indented, interrupted by blank lines, or one string with escaped line
//! breaks. Words between a mention of the first line and one of the last are no body.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

static EDGE: LazyLock<Regex> = LazyLock::new(|| {
    let edge = "-----(BEGIN|END) [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----";
    Regex::new(edge).expect("a test compiles it")
});

/// Maximum bytes between the first line of a block and its end.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// Minimum bytes of a run of base64, longer than any word.
const RUN_BYTES_MIN: usize = 16;

/// Maximum bytes of a body without a long run.
const STUB_BYTES_MAX: usize = 200;

/// Returns the keys in `text`, in order and disjoint.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let edges: Vec<(Range<usize>, bool)> = EDGE
        .find_iter(text)
        .map(|edge| (edge.range(), edge.as_str().starts_with("-----BEGIN")))
        .collect();
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut done = 0;
    for (idx, (edge, begins)) in edges.iter().enumerate() {
        if edge.start < done {
            continue;
        }
        let next = edges.get(idx + 1);
        let range = match (begins, next) {
            (true, Some((end, false))) if is_body(&text[edge.end..end.start]) => {
                Some(edge.start..end.end)
            }
            (true, next) => {
                let limit = next.map_or(text.len(), |(next, _)| next.start);
                body_end(text, edge.end, limit).map(|end| edge.start..end)
            }
            (false, _) => body_begin(text, done, edge.start).map(|begin| begin..edge.end),
        };
        if let Some(range) = range {
            done = range.end;
            found.push(range);
        }
    }
    found
}

/// Returns whether the text between the first and the last line is a key.
fn is_body(between: &str) -> bool {
    if BODY_BYTES_MAX < between.len() {
        return false;
    }
    let breaks = ["\n", "\r", "\\n", "\\r", "<br"].iter().any(|mark| between.contains(mark));
    let long =
        between.as_bytes().split(|byte| !is_base64(*byte)).any(|run| RUN_BYTES_MIN <= run.len());
    long || breaks && between.len() <= STUB_BYTES_MAX
}

/// Returns the end of the body that begins at `from`; `None` if there is none.
fn body_end(text: &str, from: usize, limit: usize) -> Option<usize> {
    let bytes = &text.as_bytes()[..limit];
    let mut at = from;
    let mut end = None;
    let mut longest = 0;
    let mut n_breaks = 0;
    while at < limit {
        if let Some(n_gap) = gap(&bytes[at..]) {
            n_breaks += match bytes[at] {
                b'\n' => 1,
                // The next element of a list, not the next line.
                b',' => 2,
                _ => 0,
            };
            at += n_gap;
            continue;
        }
        let n_run = bytes[at..].iter().take_while(|byte| is_base64(**byte)).count();
        if let Some(n_header) = header(&bytes[at..]) {
            at += n_header;
            continue;
        }
        // The last line of a body may be short, and is directly below.
        let closes = 40 <= longest && n_breaks < 2 && 0 < n_run && n_run < RUN_BYTES_MIN;
        if n_run < RUN_BYTES_MIN && !closes {
            break;
        }
        at += n_run;
        if closes && !bytes.get(at).is_none_or(|next| b"\n\r\\\"'`<".contains(next)) {
            break;
        }
        end = Some(at);
        longest = longest.max(n_run);
        n_breaks = 0;
        if closes {
            break;
        }
    }
    end
}

/// Returns the start of the body that ends at `end`; `None` if there is none.
fn body_begin(text: &str, from: usize, end: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = end;
    let mut begin = None;
    while from < at {
        let byte = bytes[at - 1];
        if is_gap(byte) {
            at -= 1;
            continue;
        }
        let n_run = bytes[from..at].iter().rev().take_while(|byte| is_base64(**byte)).count();
        // An escaped line break ends in a letter, which looks like the end of a run.
        let escape =
            |at: usize| from + 1 < at && bytes[at - 2] == b'\\' && b"nr".contains(&bytes[at - 1]);
        if n_run < RUN_BYTES_MIN {
            if escape(at) {
                at -= 2;
                continue;
            }
            // The last line of a body may be short.
            if begin.is_none() && 0 < n_run && 0 < at - n_run {
                at -= n_run;
                begin = Some(at);
                continue;
            }
            break;
        }
        at -= n_run;
        begin = Some(at);
    }
    let begin = begin?;
    let long =
        bytes[begin..end].split(|byte| !is_base64(*byte)).any(|run| RUN_BYTES_MIN <= run.len());
    long.then_some(begin)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

fn is_gap(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b">|\"'`#*,\\".contains(&byte)
}

/// Returns the bytes of one mark that may separate the lines of a body.
fn gap(bytes: &[u8]) -> Option<usize> {
    let escapes = bytes.iter().take(8).take_while(|byte| **byte == b'\\').count();
    if 0 < escapes && bytes.get(escapes).is_some_and(|byte| b"nrt".contains(byte)) {
        return Some(escapes + 1);
    }
    for mark in [&b"<br>"[..], b"<br/>", b"<br />", b"&#10;", b"&#13;", b"+ ", b"+\n", b"// "] {
        if bytes.starts_with(mark) {
            return Some(mark.len());
        }
    }
    bytes.first().filter(|byte| is_gap(**byte)).map(|_| 1)
}

/// Returns the bytes of a header of an encrypted or annotated key, up to its line's end.
fn header(bytes: &[u8]) -> Option<usize> {
    const NAMES: [&str; 8] = [
        "Proc-Type:",
        "DEK-Info:",
        "Version:",
        "Comment:",
        "Hash:",
        "Charset:",
        "MessageID:",
        "Key-Info:",
    ];
    NAMES.iter().find(|name| bytes.starts_with(name.as_bytes()))?;
    let line = bytes.iter().take(256).position(|byte| matches!(byte, b'\n' | b'\r' | b'\\' | b'"'));
    Some(line.unwrap_or(bytes.len().min(256)))
}
