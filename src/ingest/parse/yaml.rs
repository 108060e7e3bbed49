//! Parses YAML event by event: every document, comments, anchors and references as written.
//!
//! A reference is never followed, so no file can expand. Up to the first fault the file is values,
//! from there on text.

use std::borrow::Cow;
use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span};

use super::value_tree::{self, DEPTH_MAX, ValueArenaBuilder, ValueKind, is_typed};
use super::{Parsed, Warning};
use crate::text;

/// Characters that end the name of an anchor (YAML 1.2.2, §5.4 and §5.5).
const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];

/// Parses a YAML file.
pub(super) fn parse(source: &str) -> Parsed {
    let mut reader = YamlReader::new(source);
    let mut warnings = Vec::new();
    if let Err((offset, what)) = reader.read() {
        let what = format!("not valid YAML: {what}; the rest is kept as text");
        warnings.push(Warning { line: text::line_number_at(source, offset), what });
        reader.out.drop_key();
        while 0 < reader.out.depth() {
            reader.out.close(offset);
        }
        let rest = &source[reader.resume..];
        let lead = rest.len() - rest.trim_start_matches(['\n', '\r']).len();
        let range = reader.resume + lead..reader.resume + rest.trim_end().len().max(lead);
        if !range.is_empty() {
            let words = Cow::Borrowed(&source[range.clone()]);
            reader.out.scalar(ValueKind::Raw, words, range);
        }
    }
    value_tree::parsed(source, &reader.out, warnings)
}

/// Returns the values of a YAML text; else the offset and text of the fault.
pub(super) fn values(source: &str) -> Result<ValueArenaBuilder<'_>, (usize, String)> {
    let mut reader = YamlReader::new(source);
    reader.read().map(|()| reader.out)
}

/// The position of the parser, which counts characters.
#[derive(Clone, Copy, Debug, Default)]
struct ByteOffsetCursor {
    n_chars: usize,
    offset: usize,
}

impl ByteOffsetCursor {
    /// Returns the byte offset of a character; fast near the one asked for last.
    fn offset(&mut self, text: &str, n_chars: usize) -> usize {
        while self.n_chars < n_chars && self.offset < text.len() {
            self.offset = text.ceil_char_boundary(self.offset + 1);
            self.n_chars += 1;
        }
        while n_chars < self.n_chars {
            self.offset = text.floor_char_boundary(self.offset - 1);
            self.n_chars -= 1;
        }
        self.offset
    }
}

/// A key that is a map or list, kept as authored.
struct ComplexKey {
    start: usize,
    n_open: usize,
}

struct YamlReader<'a> {
    text: &'a str,
    out: ValueArenaBuilder<'a>,
    place: ByteOffsetCursor,
    /// End of the source that is accounted for.
    done: usize,
    /// Start of the source that is not part of any value yet.
    resume: usize,
    key: Option<ComplexKey>,
}

impl<'a> YamlReader<'a> {
    fn new(text: &'a str) -> YamlReader<'a> {
        let (out, place) = (ValueArenaBuilder::default(), ByteOffsetCursor::default());
        YamlReader { text, out, place, done: 0, resume: 0, key: None }
    }

    fn read(&mut self) -> Result<(), (usize, String)> {
        // The parser counts bytes of a directive, but characters elsewhere.
        let is_miscounted = |line: &str| line.starts_with('%') && !line.is_ascii();
        match self.text.split(['\n', '\r']).any(is_miscounted) {
            true => self.read_events(Parser::new_from_iter(self.text.chars())),
            false => self.read_events(Parser::new_from_str(self.text)),
        }
    }

    fn read_events(
        &mut self,
        events: impl Iterator<Item = Result<(Event<'a>, Span), ScanError>>,
    ) -> Result<(), (usize, String)> {
        for next in events {
            let (event, span) = match next {
                Ok(next) => next,
                Err(error) => {
                    let offset = self.place.offset(self.text, error.marker().index());
                    return Err((offset, error.info().to_owned()));
                }
            };
            let start = self.place.offset(self.text, span.start.index());
            let end = self.place.offset(self.text, span.end.index()).max(start);
            if DEPTH_MAX <= self.out.depth() + self.key.as_ref().map_or(0, |key| key.n_open) {
                return Err((start, format!("it nests deeper than {DEPTH_MAX} levels")));
            }
            if matches!(event, Event::DocumentEnd | Event::StreamEnd) {
                self.pass_over(start)?;
            }
            self.event(event, start..end);
            if !self.out.has_key() && self.key.is_none() {
                self.resume = self.done;
            }
        }
        self.pass_over(self.text.len())?;
        self.keep_until(self.text.len());
        Ok(())
    }

    /// Refuses words before `end` that are no comment. The parser ignores some that follow the end
    /// of a document.
    fn pass_over(&self, end: usize) -> Result<(), (usize, String)> {
        let Some(gap) = self.text.get(self.done..end) else { return Ok(()) };
        let mut at = self.done;
        for line in gap.split_inclusive('\n') {
            let words = line.split('#').next().unwrap_or("");
            let first = words.find(char::is_alphanumeric);
            if let Some(first) = first.filter(|_| !words.trim_start().starts_with(['%', '&', '!']))
            {
                return Err((at + first, "words follow the end of a document".to_owned()));
            }
            at += line.len();
        }
        Ok(())
    }

    fn event(&mut self, event: Event<'a>, range: Range<usize>) {
        match event {
            Event::MappingStart(..)
            | Event::SequenceStart(..)
            | Event::Scalar(..)
            | Event::Alias(_) => (),
            Event::MappingEnd | Event::SequenceEnd => return self.end(range),
            Event::DocumentStart(_) | Event::DocumentEnd | Event::StreamEnd => {
                self.keep_until(range.start);
                if matches!(self.text[range.clone()].trim_end(), "---" | "...") {
                    self.done = self.done.max(range.end);
                }
                return;
            }
            Event::Nothing | Event::StreamStart => return,
        }
        if let Some(key) = &mut self.key {
            let is_holder = matches!(event, Event::MappingStart(..) | Event::SequenceStart(..));
            key.n_open += usize::from(is_holder);
            self.done = self.done.max(range.end);
            return;
        }
        let marks = match event {
            Event::Alias(_) => {
                self.keep_until(range.start);
                Cow::Borrowed("")
            }
            _ => self.comments_until(range.start),
        };
        let is_key = self.out.is_in_map() && !self.out.has_key();
        match event {
            Event::MappingStart(..) | Event::SequenceStart(..) if is_key => {
                let start = self.start_with(&marks, range.start);
                self.key = Some(ComplexKey { start, n_open: 1 });
                self.done = self.done.max(range.end);
            }
            Event::MappingStart(anchor, tag) => {
                let marks = self.marks(marks, &range, anchor != 0 || tag.is_some());
                self.open(ValueKind::Map, marks, range);
            }
            Event::SequenceStart(anchor, tag) => {
                let marks = self.marks(marks, &range, anchor != 0 || tag.is_some());
                self.open(ValueKind::List, marks, range);
            }
            Event::Scalar(words, style, anchor, tag) => {
                let marks = self.marks(marks, &range, anchor != 0 || tag.is_some());
                let range = range.start..self.end_of(style, &range);
                let is_bare = style == ScalarStyle::Plain && (words.is_empty() || is_typed(&words));
                let kind = if is_bare { ValueKind::Bare } else { ValueKind::Text };
                self.scalar(kind, words, marks, range, is_key);
            }
            Event::Alias(_) => {
                let words = Cow::Borrowed(self.text[range.clone()].trim());
                self.scalar(ValueKind::Bare, words, Cow::Borrowed(""), range, is_key);
            }
            _ => (),
        }
    }

    fn scalar(
        &mut self,
        kind: ValueKind,
        words: Cow<'a, str>,
        marks: Cow<'a, str>,
        range: Range<usize>,
        is_key: bool,
    ) {
        // An empty scalar may still have a span, over something that the parser skipped.
        let is_nothing = kind == ValueKind::Bare && words.is_empty();
        self.done = self.done.max(if is_nothing { range.start } else { range.end });
        if is_key {
            let key = if marks.is_empty() { words } else { format!("{marks} {words}").into() };
            self.resume = self.line_start(range.start);
            return self.out.key(key);
        }
        let index = self.out.scalar(kind, words, range);
        self.out.data.values[index].marks = marks;
    }

    /// Returns the end of a scalar: the span of a quoted one includes the comment behind it. A
    /// comment in the head of a block is kept here.
    fn end_of(&mut self, style: ScalarStyle, range: &Range<usize>) -> usize {
        let start = self.done.clamp(range.start, range.end);
        let authored = &self.text[start..range.end];
        let quote = match style {
            ScalarStyle::Plain => return range.end,
            ScalarStyle::SingleQuoted => '\'',
            ScalarStyle::DoubleQuoted => '"',
            ScalarStyle::Literal | ScalarStyle::Folded => {
                if authored.starts_with(['|', '>']) {
                    let head_len = authored.find(['\n', '\r']).unwrap_or(authored.len());
                    self.comments_until(start + head_len);
                }
                return range.end;
            }
        };
        let Some(inside) = authored.trim_start().strip_prefix(quote) else { return range.end };
        let mut chars = inside.char_indices();
        while let Some((at, c)) = chars.next() {
            let is_pair = quote == '\'' && inside[at..].starts_with("''");
            if c == '\\' && quote == '"' || is_pair {
                chars.next();
            } else if c == quote {
                return range.end - inside.len() + at + 1;
            }
        }
        range.end
    }

    fn open(&mut self, kind: ValueKind, marks: Cow<'a, str>, range: Range<usize>) {
        let bracket = if kind == ValueKind::Map { '{' } else { '[' };
        let authored = &self.text[range.clone()];
        self.out.open(kind, marks, range.start);
        // A block's span may be its first key, which comes as an event of its own.
        if authored.starts_with(bracket) {
            self.done = self.done.max(range.start + 1);
        }
    }

    fn end(&mut self, range: Range<usize>) {
        if let Some(key) = &mut self.key {
            key.n_open -= 1;
            self.done = self.done.max(range.end);
            if key.n_open == 0 {
                let start = key.start;
                self.key = None;
                let words = self.text[start..self.done.max(start)].trim();
                self.resume = self.line_start(start);
                self.out.key(Cow::Borrowed(words));
            }
            return;
        }
        // A block ends where something else starts; comments before that belong to what follows.
        if !range.is_empty() {
            self.keep_until(range.start);
            // The span of a bracket includes the comment behind it, that of a list in a map what
            // stands further left and ends it.
            if self.text[range.start..].starts_with(['}', ']']) {
                self.done = self.done.max(range.start + 1);
            }
        }
        self.out.close(self.done.min(range.end));
    }

    /// Returns the anchor and tag of the value at `range`, some of which may precede it.
    fn marks(
        &mut self,
        before: Cow<'a, str>,
        range: &Range<usize>,
        has_some: bool,
    ) -> Cow<'a, str> {
        if !has_some {
            return before;
        }
        let authored = &self.text[range.clone()];
        let mut len = 0;
        loop {
            let rest = authored[len..].trim_start_matches(BLANKS);
            let word_len = match rest.chars().next() {
                Some('&' | '!') => rest.find(BLANKS).unwrap_or(rest.len()),
                Some('#') => rest.find(['\n', '\r']).unwrap_or(rest.len()),
                _ => break,
            };
            len = authored.len() - rest.len() + word_len;
        }
        let within = self.comments_until(range.start + len);
        joined(before, &within)
    }

    fn line_start(&self, at: usize) -> usize {
        let start = self.text[..at].rfind('\n').map_or(0, |at| at + 1);
        start.max(self.resume)
    }

    /// Returns the start of marks directly before `at`, or `at` itself.
    fn start_with(&self, marks: &str, at: usize) -> usize {
        let first = marks.split(' ').next().filter(|it| !it.is_empty());
        first.and_then(|it| self.text[..at].rfind(it)).unwrap_or(at)
    }

    /// Keeps the comments up to `end`, and as comments also the marks, which belong to no value.
    fn keep_until(&mut self, end: usize) {
        let before = self.done;
        let marks = self.comments_until(end);
        let mut at = before;
        for mark in marks.split(' ').filter(|it| !it.is_empty()) {
            let Some(len) = self.text[at..end].find(mark) else { break };
            self.out.comment(self.text, at + len..at + len + mark.len());
            at += len + mark.len();
        }
    }

    /// Keeps the comments up to `end`; returns the anchor and the tag among them.
    fn comments_until(&mut self, end: usize) -> Cow<'a, str> {
        if end <= self.done {
            return Cow::Borrowed("");
        }
        let gap = &self.text[self.done..end];
        let mut marks = Cow::Borrowed("");
        let mut at = 0;
        while let Some(len) = gap[at..].find(['#', '&', '!', '%']) {
            at += len;
            let rest = &gap[at..];
            let before = self.text[..self.done + at].chars().next_back();
            // A byte order mark may begin every document.
            let is_end = |c: char| c.is_whitespace() || ",[]{}:\u{feff}".contains(c);
            let is_first = before.is_none_or(is_end);
            let line_len = rest.find(['\n', '\r']).unwrap_or(rest.len());
            if is_first && rest.starts_with(['#', '%']) {
                let start = self.done + at;
                let words = self.text[start..start + line_len].trim_end();
                self.out.comment(self.text, start..start + words.len());
                at += line_len;
            } else if is_first {
                let word = self.marks_at(rest);
                at += word.len().max(1);
                marks = joined(marks, word);
            } else {
                at += 1;
            }
        }
        self.done = end;
        marks
    }

    /// Returns the anchor and tag at the start of `text`.
    fn marks_at(&self, text: &'a str) -> &'a str {
        let mut end = 0;
        for word in text.split(BLANKS) {
            if word.starts_with(['&', '!']) {
                end = word.as_ptr() as usize - text.as_ptr() as usize + word.len();
            } else if !word.is_empty() {
                break;
            }
        }
        text[..end].trim()
    }
}

fn joined<'a>(before: Cow<'a, str>, after: &str) -> Cow<'a, str> {
    match (before.is_empty(), after.is_empty()) {
        (_, true) => before,
        (true, false) => Cow::Owned(after.to_owned()),
        (false, false) => Cow::Owned(format!("{before} {after}")),
    }
}
