//! Parses JSON character by character, so that numbers, order and repeated keys stay as written.
//!
//! Comments and commas before a closing bracket are accepted, since editors' settings have them. A
//! broken file is kept: the entries before the first fault as values, the rest as text.

mod json_lines;

use std::borrow::Cow;
use std::ops::Range;

use super::value_tree::{self, DEPTH_MAX, ValueArenaBuilder, ValueKind, is_typed};
use super::{Parsed, Warning};
use crate::text;

pub(super) use json_lines::parse as parse_lines;

/// A fault in a value.
#[derive(Debug)]
struct JsonError {
    /// Offset of the fault.
    offset: usize,
    /// Start of the text that is not part of any value yet.
    resume: usize,
    what: &'static str,
}

/// Parses a JSON file.
pub(super) fn parse(source: &str) -> Parsed {
    let mut reader = JsonReader::new(source, 0);
    let mut out = ValueArenaBuilder::default();
    let mut warnings = Vec::new();
    reader.space(&mut out);
    if reader.at < source.len() {
        let rest = match reader.value(&mut out) {
            Ok(()) => {
                reader.space(&mut out);
                Ok(reader.at)
            }
            Err(fault) => Err(fault),
        };
        match rest {
            Ok(at) if at == source.len() => (),
            Ok(at) => {
                let what = "something stands behind the value; kept as text".to_owned();
                warnings.push(Warning { line: text::line_number_at(source, at), what });
                keep(&mut out, source, at..source.len());
            }
            Err(fault) => {
                let what = format!("not valid JSON: {}; the rest is kept as text", fault.what);
                warnings.push(Warning { line: text::line_number_at(source, fault.offset), what });
                keep(&mut out, source, fault.resume..source.len());
            }
        }
    }
    warnings.extend(deep_warning(source, &reader.too_deep));
    value_tree::parsed(source, &out, warnings)
}

/// Keeps a stretch of the source that is no value.
fn keep<'a>(out: &mut ValueArenaBuilder<'a>, source: &'a str, range: Range<usize>) {
    let words = &source[range.clone()];
    if !words.trim().is_empty() {
        let lead = words.len() - words.trim_start().len();
        let range = range.start + lead..range.start + words.trim_end().len();
        out.scalar(ValueKind::Raw, Cow::Borrowed(&source[range.clone()]), range);
    }
}

/// Returns a warning about values that nest too deep, at the first of these offsets.
fn deep_warning(source: &str, too_deep: &[usize]) -> Option<Warning> {
    let line = text::line_number_at(source, *too_deep.first()?);
    let what = format!("nests deeper than {DEPTH_MAX} levels; what is deeper is kept as text");
    Some(Warning { line, what })
}

/// The token that may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AllowedToken {
    Value,
    /// A value or the end of the list.
    Item,
    /// A key or the end of the map.
    Key,
    /// A comma, or the end of the map or list.
    More,
}

struct JsonReader<'a> {
    text: &'a str,
    at: usize,
    /// End of the text that was searched in vain for a missing end.
    far: usize,
    /// Offsets of maps and lists that nest too deep.
    too_deep: Vec<usize>,
}

impl<'a> JsonReader<'a> {
    fn new(text: &'a str, at: usize) -> JsonReader<'a> {
        JsonReader { text, at, far: 0, too_deep: Vec::new() }
    }

    /// Reads one value; on failure, closes open maps and lists.
    fn value(&mut self, out: &mut ValueArenaBuilder<'a>) -> Result<(), JsonError> {
        let base = out.depth();
        let result = self.entries(out, base);
        out.drop_key();
        while base < out.depth() {
            out.close(self.at);
        }
        result
    }

    fn entries(&mut self, out: &mut ValueArenaBuilder<'a>, base: usize) -> Result<(), JsonError> {
        let mut expect = AllowedToken::Value;
        let mut resume = self.at;
        loop {
            if expect == AllowedToken::More && out.depth() == base {
                return Ok(());
            }
            self.space(out);
            if !out.has_key() {
                resume = self.at;
            }
            let fault = |at, what| Err(JsonError { offset: at, resume, what });
            let Some(&byte) = self.text.as_bytes().get(self.at) else {
                return fault(self.at, "it ends in the middle");
            };
            let at = self.at;
            expect = match (expect, byte) {
                (AllowedToken::Key | AllowedToken::More, b'}') if out.is_in_map() => {
                    self.at += 1;
                    out.close(self.at);
                    AllowedToken::More
                }
                (AllowedToken::Item | AllowedToken::More, b']') if !out.is_in_map() => {
                    self.at += 1;
                    out.close(self.at);
                    AllowedToken::More
                }
                (AllowedToken::More, b',') => {
                    self.at += 1;
                    if out.is_in_map() { AllowedToken::Key } else { AllowedToken::Item }
                }
                (AllowedToken::More, _) => {
                    return fault(at, "a comma or a closing bracket is missing");
                }
                (AllowedToken::Key, b'"') => {
                    let Some(key) = self.string() else {
                        return fault(at, "a string is not closed");
                    };
                    out.key(key);
                    self.space(out);
                    if !self.text[self.at..].starts_with(':') {
                        return fault(self.at, "a colon is missing");
                    }
                    self.at += 1;
                    AllowedToken::Value
                }
                (AllowedToken::Key, _) => return fault(at, "a key is missing"),
                (AllowedToken::Value | AllowedToken::Item, _) => match self.one(byte, out) {
                    Ok(next) => next,
                    Err(what) => return fault(at, what),
                },
            };
        }
    }

    /// Reads a scalar, or the opening bracket of a map or list.
    fn one(
        &mut self,
        byte: u8,
        out: &mut ValueArenaBuilder<'a>,
    ) -> Result<AllowedToken, &'static str> {
        let at = self.at;
        match byte {
            b'{' | b'[' if DEPTH_MAX <= out.depth() => {
                self.skip().ok_or("it ends in the middle")?;
                self.too_deep.push(at);
                let words = Cow::Borrowed(&self.text[at..self.at]);
                out.scalar(ValueKind::Raw, words, at..self.at);
            }
            b'{' => {
                self.at += 1;
                out.open(ValueKind::Map, Cow::Borrowed(""), at);
                return Ok(AllowedToken::Key);
            }
            b'[' => {
                self.at += 1;
                out.open(ValueKind::List, Cow::Borrowed(""), at);
                return Ok(AllowedToken::Item);
            }
            b'"' => {
                let words = self.string().ok_or("a string is not closed")?;
                out.scalar(ValueKind::Text, words, at..self.at);
            }
            _ => {
                let rest = &self.text[at..];
                let is_part = |c: char| c.is_alphanumeric() || matches!(c, '+' | '-' | '.');
                let len = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                let word = &rest[..len];
                let is_word = !word.is_empty() && is_typed(word);
                if !is_word || matches!(word, "yes" | "no" | "on" | "off") {
                    return Err("a value is missing");
                }
                self.at += len;
                out.scalar(ValueKind::Bare, Cow::Borrowed(word), at..self.at);
            }
        }
        Ok(AllowedToken::More)
    }

    /// Skips white space and comments; comments are kept.
    fn space(&mut self, out: &mut ValueArenaBuilder<'a>) {
        loop {
            let rest = &self.text[self.at..];
            let blank = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{feff}' | '\u{1e}');
            let rest_at = self.at + (rest.len() - rest.trim_start_matches(blank).len());
            let rest = &self.text[rest_at..];
            self.at = rest_at;
            let len = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(len) => len + 2,
                    None => {
                        self.far = self.text.len();
                        return;
                    }
                }
            } else {
                return;
            };
            let mut line_at = rest_at;
            for line in rest[..len].split_inclusive('\n') {
                let lead = line.len() - line.trim_start().len();
                if !line.trim().is_empty() {
                    out.comment(self.text, line_at + lead..line_at + line.trim_end().len());
                }
                line_at += line.len();
            }
            self.at += len;
        }
    }

    /// Reads a string; `None` if no quote closes it.
    fn string(&mut self) -> Option<Cow<'a, str>> {
        let words = self.closed_string();
        if words.is_none() {
            self.far = self.text.len();
        }
        words
    }

    fn closed_string(&mut self) -> Option<Cow<'a, str>> {
        let start = self.at + 1;
        let rest = &self.text.as_bytes()[start..];
        let stop = rest.iter().position(|&byte| matches!(byte, b'"' | b'\\'))?;
        if rest[stop] == b'"' {
            self.at = start + stop + 1;
            return Some(Cow::Borrowed(&self.text[start..start + stop]));
        }
        let mut words = self.text[start..start + stop].to_owned();
        let mut at = start + stop;
        loop {
            let rest = &self.text[at..];
            let stop = rest.find(['"', '\\'])?;
            words.push_str(&rest[..stop]);
            at += stop;
            if rest[stop..].starts_with('"') {
                self.at = at + 1;
                return Some(Cow::Owned(words));
            }
            at += escape(&rest[stop..], &mut words)?;
        }
    }

    /// Skips a map or list; `None` if it does not end.
    fn skip(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        let mut n_open = 0_usize;
        while self.at < bytes.len() {
            match bytes[self.at] {
                b'{' | b'[' => n_open += 1,
                b'}' | b']' => n_open -= 1,
                b'"' => {
                    self.string()?;
                    continue;
                }
                _ => (),
            }
            self.at += 1;
            if n_open == 0 {
                return Some(());
            }
        }
        None
    }
}

/// Decodes the escape at the start of `rest` into `words`; returns its bytes. An unknown one is
/// kept as written.
fn escape(rest: &str, words: &mut String) -> Option<usize> {
    let second = rest[1..].chars().next()?;
    let plain = match second {
        '"' | '\\' | '/' => second,
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        _ => {
            let (c, len) = unicode(rest).unwrap_or(('\\', 1));
            words.push(c);
            return Some(len);
        }
    };
    words.push(plain);
    Some(2)
}

/// Decodes `\u20ac`, or a pair of surrogates.
fn unicode(rest: &str) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = rest.get(at..at + 6)?.strip_prefix("\\u")?;
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
    };
    let first = unit(0)?;
    if let Some(c) = char::from_u32(first) {
        return Some((c, 6));
    }
    let second = unit(6)?;
    if !(0xd800..0xdc00).contains(&first) || !(0xdc00..0xe000).contains(&second) {
        return None;
    }
    let c = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
    char::from_u32(c).map(|c| (c, 12))
}
