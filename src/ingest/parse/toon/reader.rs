//! Reads TOON: lines to values, by their indentation.

use std::borrow::Cow;
use std::ops::Range;

use crate::ingest::parse::value_tree::{DEPTH_MAX, ValueArenaBuilder, ValueKind, is_typed};

/// A fault in a line.
pub(super) struct ToonError {
    pub(super) offset: usize,
    /// Start of the text that is not part of any value yet.
    pub(super) resume: usize,
    pub(super) what: &'static str,
}

/// Reads a text up to the first faulty line, if there is one.
pub(super) fn read(source: &str) -> (ValueArenaBuilder<'_>, Option<ToonError>) {
    let mut reader =
        ToonReader { text: source, out: ValueArenaBuilder::default(), open: Vec::new() };
    let fault = reader.read().err();
    (reader.out, fault)
}

/// The map or list that lines belong to, and their indentation.
struct ToonLevel<'a> {
    holds: LevelContent<'a>,
    /// Indentation of the line that opened it; its own lines have more.
    outer: Option<usize>,
    /// Indentation of its lines, once there is one.
    indent: Option<usize>,
}

enum LevelContent<'a> {
    Entries,
    Items,
    Rows { keys: Vec<Cow<'a, str>>, delimiter: char, head: Range<usize> },
}

/// `[3]{a,b}:` or the colon of a plain key.
struct ToonHeader<'a> {
    /// Its delimiter, for a list.
    list: Option<char>,
    keys: Option<Vec<Cow<'a, str>>>,
    range: Range<usize>,
    /// The text behind the colon.
    rest: Range<usize>,
}

struct ToonReader<'a> {
    text: &'a str,
    out: ValueArenaBuilder<'a>,
    open: Vec<ToonLevel<'a>>,
}

type LineResult<T> = Result<T, &'static str>;

impl<'a> ToonReader<'a> {
    /// Reads everything; closes open maps and lists also on failure.
    fn read(&mut self) -> Result<(), ToonError> {
        let mut result = Ok(());
        let mut start = 0;
        while start < self.text.len() {
            let len = self.text[start..].find('\n').unwrap_or(self.text.len() - start);
            let line = self.text[start..start + len].trim_end();
            if !line.trim().is_empty()
                && let Err(what) = self.line(start, line)
            {
                result = Err(ToonError { offset: start, resume: start, what });
                break;
            }
            start += len + 1;
        }
        self.out.drop_key();
        while 0 < self.out.depth() {
            self.close(start.min(self.text.len()));
        }
        result
    }

    fn close(&mut self, at: usize) {
        if let Some(ToonLevel { holds: LevelContent::Rows { head, .. }, .. }) = self.open.pop()
            && self.out.is_empty()
        {
            // The columns of a table without rows are nowhere else.
            self.out.comment(self.text, head);
        }
        self.out.close(at);
    }

    fn line(&mut self, start: usize, line: &'a str) -> LineResult<()> {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let body = start + indent..start + line.len();
        while let Some(open) = self.open.last_mut() {
            let min = open.indent.unwrap_or(open.outer.map_or(0, |outer| outer + 1));
            if min <= indent {
                if *open.indent.get_or_insert(indent) < indent {
                    return Err("a line is indented without a reason");
                }
                break;
            }
            self.close(start);
        }
        if self.open.is_empty() {
            return self.first(body);
        }
        self.within(body, indent)
    }

    /// Reads the first line, which decides the kind of the file: a list, a map, or one value.
    fn first(&mut self, body: Range<usize>) -> LineResult<()> {
        if !self.out.data.values.is_empty() {
            return Err("something stands behind the value");
        }
        let line = &self.text[body.clone()];
        if line.starts_with('[')
            && let Ok(head) = self.head(body.clone())
        {
            return self.value(head, 0);
        }
        if self.key(body.clone()).is_err() {
            return self.scalar(body);
        }
        self.start(LevelContent::Entries, ValueKind::Map, None, body.start)?;
        self.entry(body, 0)
    }

    fn within(&mut self, body: Range<usize>, indent: usize) -> LineResult<()> {
        let Some(open) = self.open.last() else { return Ok(()) };
        match &open.holds {
            LevelContent::Entries => self.entry(body, indent),
            LevelContent::Items => self.item(body, indent),
            LevelContent::Rows { keys, delimiter, .. } => {
                let (keys, delimiter) = (keys.clone(), *delimiter);
                let cells = self.cells(body.clone(), delimiter)?;
                if cells.len() != keys.len() {
                    return Err("a row has more or fewer cells than its table");
                }
                self.check(&cells)?;
                self.out.open(ValueKind::Map, Cow::Borrowed(""), body.start);
                for (key, cell) in keys.into_iter().zip(cells) {
                    self.out.key(key);
                    self.scalar(cell)?;
                }
                self.out.close(body.end);
                Ok(())
            }
        }
    }

    fn entry(&mut self, body: Range<usize>, indent: usize) -> LineResult<()> {
        let (key, after) = self.key(body.clone())?;
        let head = self.head(after..body.end)?;
        self.out.key(key);
        self.value(head, indent)
    }

    fn item(&mut self, body: Range<usize>, indent: usize) -> LineResult<()> {
        let line = &self.text[body.clone()];
        let Some(rest) = line.strip_prefix('-') else { return Err("an item has no dash") };
        if rest.is_empty() {
            self.out.open(ValueKind::Map, Cow::Borrowed(""), body.start);
            self.out.close(body.end);
            return Ok(());
        }
        if !rest.starts_with(' ') {
            return Err("an item has no dash");
        }
        let inner = body.end - rest.trim_start().len()..body.end;
        if self.text[inner.clone()].starts_with('[')
            && let Ok(head) = self.head(inner.clone())
        {
            return self.value(head, indent);
        }
        if self.key(inner.clone()).is_err() {
            return self.scalar(inner);
        }
        // Further entries of the map are below its first one.
        let column = indent + (inner.start - body.start);
        self.start(LevelContent::Entries, ValueKind::Map, Some(indent), inner.start)?;
        if let Some(open) = self.open.last_mut() {
            open.indent = Some(column);
        }
        self.entry(inner, column)
    }

    /// Reads the value behind a key or a list's size.
    fn value(&mut self, head: ToonHeader<'a>, indent: usize) -> LineResult<()> {
        let at = head.rest.start;
        let is_empty = self.text[head.rest.clone()].is_empty();
        match (head.list, head.keys) {
            (None, _) if is_empty => {
                self.start(LevelContent::Entries, ValueKind::Map, Some(indent), at)
            }
            (None, _) if &self.text[head.rest.clone()] == "[]" => {
                self.out.open(ValueKind::List, Cow::Borrowed(""), at);
                self.out.close(head.rest.end);
                Ok(())
            }
            (None, _) => self.scalar(head.rest),
            (Some(delimiter), Some(keys)) if is_empty => {
                let head = head.range;
                self.start(
                    LevelContent::Rows { keys, delimiter, head },
                    ValueKind::List,
                    Some(indent),
                    at,
                )
            }
            (Some(_), Some(_)) => Err("a table has something behind its colon"),
            (Some(_), None) if is_empty => {
                self.start(LevelContent::Items, ValueKind::List, Some(indent), at)
            }
            (Some(delimiter), None) => {
                let cells = self.cells(head.rest.clone(), delimiter)?;
                self.check(&cells)?;
                self.out.open(ValueKind::List, Cow::Borrowed(""), at);
                for cell in cells {
                    self.scalar(cell)?;
                }
                self.out.close(head.rest.end);
                Ok(())
            }
        }
    }

    fn start(
        &mut self,
        holds: LevelContent<'a>,
        kind: ValueKind,
        outer: Option<usize>,
        at: usize,
    ) -> LineResult<()> {
        if DEPTH_MAX <= self.out.depth() {
            return Err("it nests too deep");
        }
        self.out.open(kind, Cow::Borrowed(""), at);
        self.open.push(ToonLevel { holds, outer, indent: None });
        Ok(())
    }

    /// Parses the key at the start of `body`; returns its end, too.
    fn key(&self, body: Range<usize>) -> LineResult<(Cow<'a, str>, usize)> {
        let line = &self.text[body.clone()];
        let len = match line.starts_with('"') {
            true => quoted_len(line).ok_or("a string is not closed")?,
            false => line.find([':', '[']).ok_or("a colon is missing")?,
        };
        if !line[len..].starts_with([':', '[']) || len == 0 {
            return Err("a colon is missing");
        }
        self.head(body.start + len..body.end)?;
        let key = match line.starts_with('"') {
            true => unquote(&line[..len])?,
            false => Cow::Borrowed(line[..len].trim_end()),
        };
        Ok((key, body.start + len))
    }

    /// Parses a list's size, its columns and the colon; `range` starts behind the key.
    fn head(&self, range: Range<usize>) -> LineResult<ToonHeader<'a>> {
        let text = &self.text[range.clone()];
        let behind = |rest: &str| {
            let rest = rest.trim();
            range.end - rest.len()..range.end
        };
        if let Some(rest) = text.strip_prefix(':') {
            if !rest.is_empty() && !rest.starts_with([' ', '\t']) {
                return Err("no space stands behind a colon");
            }
            return Ok(ToonHeader {
                list: None,
                keys: None,
                range: range.clone(),
                rest: behind(rest),
            });
        }
        let (size, rest) =
            text.strip_prefix('[').and_then(|it| it.split_once(']')).ok_or("a colon is missing")?;
        let size = size.strip_prefix('#').unwrap_or(size);
        let digits = size.trim_end_matches(['\t', '|', ',']);
        let delimiter = match &size[digits.len()..] {
            "" | "," => ',',
            "\t" => '\t',
            "|" => '|',
            _ => return Err("a list's size is not a number"),
        };
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err("a list's size is not a number");
        }
        let (keys, rest) = match rest.strip_prefix('{') {
            None => (None, rest),
            Some(inner) => {
                let len = columns_len(inner).ok_or("a table's columns are not closed")?;
                let start = range.end - inner.len();
                let cells = self.cells(start..start + len, delimiter)?;
                let keys =
                    cells.into_iter().map(|it| self.plain(it)).collect::<LineResult<Vec<_>>>()?;
                (Some(keys), &inner[len + 1..])
            }
        };
        let rest = rest.strip_prefix(':').ok_or("a colon is missing")?;
        let rest = behind(rest);
        Ok(ToonHeader { list: Some(delimiter), keys, range, rest })
    }

    /// Returns the cells of a row.
    fn cells(&self, range: Range<usize>, delimiter: char) -> LineResult<Vec<Range<usize>>> {
        let mut cells = Vec::new();
        let mut at = range.start;
        loop {
            let rest = &self.text[at..range.end];
            let lead = rest.len() - rest.trim_start_matches(' ').len();
            let skipped = match rest[lead..].starts_with('"') {
                true => lead + quoted_len(&rest[lead..]).ok_or("a string is not closed")?,
                false => 0,
            };
            let len = rest[skipped..].find(delimiter).map(|len| skipped + len);
            let cell = &rest[lead..len.unwrap_or(rest.len()).max(lead)];
            let cell = cell.trim_end_matches(' ');
            cells.push(at + lead..at + lead + cell.len());
            match len {
                Some(len) => at += len + delimiter.len_utf8(),
                None => return Ok(cells),
            }
        }
    }

    /// Fails if a cell cannot be read, before anything of its row is written.
    fn check(&self, cells: &[Range<usize>]) -> LineResult<()> {
        cells.iter().try_for_each(|cell| self.plain(cell.clone()).map(|_| ()))
    }

    fn plain(&self, range: Range<usize>) -> LineResult<Cow<'a, str>> {
        let words = &self.text[range];
        if words.starts_with('"') { unquote(words) } else { Ok(Cow::Borrowed(words)) }
    }

    fn scalar(&mut self, range: Range<usize>) -> LineResult<()> {
        let words = &self.text[range.clone()];
        let is_bare = !words.starts_with('"') && is_typed(words);
        let kind = if is_bare { ValueKind::Bare } else { ValueKind::Text };
        let words = self.plain(range.clone())?;
        self.out.scalar(kind, words, range);
        Ok(())
    }
}

/// Returns the bytes of the quoted string at the start of `text`.
fn quoted_len(text: &str) -> Option<usize> {
    let mut is_escaped = true;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Some(at + 1),
            _ => (),
        }
    }
    None
}

/// Returns the bytes before the brace that closes a table's columns.
fn columns_len(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let stop = text[at..].find(['"', '}'])?;
        at += stop;
        if text[at..].starts_with('}') {
            return Some(at);
        }
        at += quoted_len(&text[at..])?;
    }
}

fn unquote(quoted: &str) -> LineResult<Cow<'_, str>> {
    let inner = quoted
        .strip_prefix('"')
        .and_then(|it| it.strip_suffix('"'))
        .filter(|_| quoted_len(quoted) == Some(quoted.len()))
        .ok_or("a string is not closed")?;
    if !inner.contains('\\') {
        return Ok(Cow::Borrowed(inner));
    }
    let mut words = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            words.push(c);
            continue;
        }
        words.push(match chars.next() {
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some(c @ ('"' | '\\')) => c,
            _ => return Err("an escape is not known"),
        });
    }
    Ok(Cow::Owned(words))
}
