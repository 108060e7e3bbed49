//! JSON as people keep it in settings, with or without comments: where each object's members stand.
//!
//! Nothing is turned into values here: an edit wants positions, so that what it does not touch
//! stays as it was written. The whole text is checked; the first fault ends the scan.

use std::ops::Range;

use serde::de::IgnoredAny;

/// Nesting that no settings need.
const DEPTH_MAX: usize = 100;

/// What a client's reader accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// JSON.
    Strict,
    /// JSON with comments.
    Comments,
    /// JSON with comments, and with a comma behind the last member.
    Relaxed,
}

/// A value: where it stands, and its members if it is an object.
#[derive(Debug)]
pub(super) struct JsonItem {
    pub(super) span: Range<usize>,
    pub(super) members: Option<Vec<Member>>,
}

/// One member of an object.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) key: String,
    /// Where the key starts.
    pub(super) at: usize,
    pub(super) item: JsonItem,
    /// Where the comma behind it stands.
    pub(super) comma: Option<usize>,
}

/// The first thing that is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SettingsSyntaxError {
    /// Offset in bytes.
    pub(super) at: usize,
    pub(super) what: &'static str,
}

/// Reads a whole text.
pub(super) fn scan(text: &str, dialect: Dialect) -> Result<JsonItem, SettingsSyntaxError> {
    let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut scanner = JsonScanner { text, at, dialect };
    scanner.gap()?;
    let item = scanner.value(0)?;
    scanner.gap()?;
    if scanner.at < text.len() {
        return Err(scanner.fault("something follows the end"));
    }
    Ok(item)
}

struct JsonScanner<'a> {
    text: &'a str,
    at: usize,
    dialect: Dialect,
}

impl JsonScanner<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fault(&self, what: &'static str) -> SettingsSyntaxError {
        SettingsSyntaxError { at: self.at, what }
    }

    /// Passes white space and comments.
    fn gap(&mut self) -> Result<(), SettingsSyntaxError> {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
            let rest = self.rest();
            let len = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let end = comment.find("*/").map(|it| it + 4);
                end.ok_or_else(|| self.fault("a comment is not closed"))?
            } else {
                return Ok(());
            };
            if self.dialect == Dialect::Strict {
                return Err(self.fault("a comment, which this client does not read"));
            }
            self.at += len;
        }
    }

    fn value(&mut self, depth: usize) -> Result<JsonItem, SettingsSyntaxError> {
        if DEPTH_MAX < depth {
            return Err(self.fault("nested too deeply"));
        }
        let start = self.at;
        let members = match self.next() {
            Some(b'{') => Some(self.object(depth)?),
            Some(b'[') => {
                self.array(depth)?;
                None
            }
            Some(b'"') => {
                self.string()?;
                None
            }
            _ => {
                self.word()?;
                None
            }
        };
        Ok(JsonItem { span: start..self.at, members })
    }

    fn object(&mut self, depth: usize) -> Result<Vec<Member>, SettingsSyntaxError> {
        let mut members: Vec<Member> = Vec::new();
        self.at += 1;
        self.gap()?;
        while self.next() != Some(b'}') {
            if members.last().is_some_and(|it| it.comma.is_none()) {
                return Err(self.fault("a comma is missing"));
            }
            let at = self.at;
            if self.next() != Some(b'"') {
                return Err(self.fault("a key in double quotes is missing"));
            }
            let key = self.string()?;
            self.gap()?;
            if self.next() != Some(b':') {
                return Err(self.fault("a colon is missing"));
            }
            self.at += 1;
            self.gap()?;
            let item = self.value(depth + 1)?;
            self.gap()?;
            let comma = self.comma(b'}')?;
            members.push(Member { key, at, item, comma });
        }
        self.at += 1;
        Ok(members)
    }

    fn array(&mut self, depth: usize) -> Result<(), SettingsSyntaxError> {
        self.at += 1;
        self.gap()?;
        while self.next() != Some(b']') {
            self.value(depth + 1)?;
            self.gap()?;
            if self.comma(b']')?.is_none() && self.next() != Some(b']') {
                return Err(self.fault("a comma is missing"));
            }
        }
        self.at += 1;
        Ok(())
    }

    /// Passes a comma and what follows it, up to the next element or the end.
    fn comma(&mut self, end: u8) -> Result<Option<usize>, SettingsSyntaxError> {
        if self.next() != Some(b',') {
            return Ok(None);
        }
        let comma = self.at;
        self.at += 1;
        self.gap()?;
        if self.next() == Some(end) && self.dialect != Dialect::Relaxed {
            return Err(SettingsSyntaxError { at: comma, what: "a comma behind the last one" });
        }
        Ok(Some(comma))
    }

    fn string(&mut self) -> Result<String, SettingsSyntaxError> {
        let bytes = self.text.as_bytes();
        let mut end = self.at + 1;
        while bytes.get(end).is_some_and(|it| *it != b'"') {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        let whole = self.text.get(self.at..=end);
        let whole = whole.ok_or_else(|| self.fault("a string is not closed"))?;
        let string =
            serde_json::from_str(whole).map_err(|_| self.fault("a string is not valid"))?;
        self.at = end + 1;
        Ok(string)
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<(), SettingsSyntaxError> {
        let rest = self.rest();
        let is_word = |it: char| it.is_ascii_alphanumeric() || matches!(it, '+' | '-' | '.');
        let len = rest.find(|it| !is_word(it)).unwrap_or(rest.len());
        let word = &rest[..len];
        if len == 0 || serde_json::from_str::<IgnoredAny>(word).is_err() {
            return Err(self.fault("a value is missing or not valid"));
        }
        self.at += len;
        Ok(())
    }
}
