//! YAML front matter, read event by event, so that an alias stays the word that it is.

use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use super::value::Value;
use super::{Fault, NESTING_MAX};

/// The entries of a YAML map; `None` when the text is no map.
pub(super) fn read(text: &str) -> Result<Option<Vec<(String, Value)>>, Fault> {
    let mut reader = Reader { text, offsets: offsets(text), open: Vec::new(), root: None };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| Fault {
            offset: reader.offset(error.marker().index()),
            what: error.info().to_owned(),
        })?;
        let range = reader.range(&span);
        if reader.root.is_some() && matches!(event, Event::DocumentStart(_)) {
            return Err(reader.fault(range.start, "it has a second document"));
        }
        reader.event(event, range)?;
    }
    match reader.root {
        Some(Value::Map { entries, properties }) if !entries.is_empty() => match &*properties {
            "" => Ok(Some(entries)),
            _ => Err(Fault { offset: 0, what: "its root has an anchor or a tag".to_owned() }),
        },
        _ => Ok(None),
    }
}

/// Where each character starts, unless that is the same as its number.
fn offsets(text: &str) -> Vec<usize> {
    match text.is_ascii() {
        true => Vec::new(),
        false => text.char_indices().map(|(at, _)| at).collect(),
    }
}

/// A map or list whose entries are being read.
struct Open {
    value: Value,
    key: Option<String>,
}

struct Reader<'a> {
    text: &'a str,
    offsets: Vec<usize>,
    open: Vec<Open>,
    root: Option<Value>,
}

impl Reader<'_> {
    fn event(&mut self, event: Event<'_>, range: Range<usize>) -> Result<(), Fault> {
        let authored = self.text.get(range.clone()).unwrap_or("").trim();
        match event {
            Event::MappingStart(anchor, tag) => {
                let properties = properties(authored, anchor != 0 || tag.is_some());
                self.open(Value::Map { entries: Vec::new(), properties }, range.start)?;
            }
            Event::SequenceStart(anchor, tag) => {
                let properties = properties(authored, anchor != 0 || tag.is_some());
                self.open(Value::List { items: Vec::new(), properties }, range.start)?;
            }
            Event::MappingEnd | Event::SequenceEnd => {
                if let Some(open) = self.open.pop() {
                    self.put(open.value, range.start)?;
                }
            }
            Event::Scalar(value, style, anchor, tag) => {
                let properties = properties(authored, anchor != 0 || tag.is_some());
                let value = scalar(authored, &value, style, &properties);
                self.put(value, range.start)?;
            }
            Event::Alias(_) => {
                let name = authored.to_owned();
                self.put(Value::Scalar(name), range.start)?;
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => (),
        }
        Ok(())
    }

    fn open(&mut self, value: Value, at: usize) -> Result<(), Fault> {
        if NESTING_MAX <= self.open.len() {
            return Err(self.fault(at, "it nests too deep"));
        }
        self.open.push(Open { value, key: None });
        Ok(())
    }

    /// Puts a complete value where it belongs.
    fn put(&mut self, value: Value, at: usize) -> Result<(), Fault> {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(value);
            return Ok(());
        };
        match (&mut open.value, open.key.take()) {
            (Value::List { items, .. }, _) => items.push(value),
            (Value::Map { entries, .. }, Some(key)) => entries.push((key, value)),
            (Value::Map { .. }, None) => match value {
                Value::Scalar(key) => open.key = Some(key),
                _ => return Err(self.fault(at, "a key is not one line of text")),
            },
            (Value::Scalar(_) | Value::Lines(_), _) => (),
        }
        Ok(())
    }

    fn range(&self, span: &Span) -> Range<usize> {
        let start = self.offset(span.start.index());
        start..self.offset(span.end.index()).max(start)
    }

    fn offset(&self, index: usize) -> usize {
        match self.offsets.is_empty() {
            true => index.min(self.text.len()),
            false => self.offsets.get(index).copied().unwrap_or(self.text.len()),
        }
    }

    fn fault(&self, offset: usize, what: &str) -> Fault {
        Fault { offset, what: what.to_owned() }
    }
}

/// A scalar as its author wrote it, where that is one line; else the text that it means.
fn scalar(authored: &str, value: &str, style: ScalarStyle, properties: &str) -> Value {
    let is_quoted = matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted);
    if is_quoted && !authored.contains(['\n', '\r']) {
        return Value::Scalar(authored.to_owned());
    }
    if value.contains(['\n', '\r']) {
        return Value::Lines(value.replace("\r\n", "\n").replace('\r', "\n"));
    }
    Value::Scalar(format!("{properties} {value}").trim().to_owned())
}

/// The anchor and the tag that a value starts with: `&base !map`.
fn properties(authored: &str, has_some: bool) -> String {
    let words = authored.split_whitespace().take_while(|word| word.starts_with(['&', '!']));
    match has_some {
        true => words.take(2).collect::<Vec<_>>().join(" "),
        false => String::new(),
    }
}
