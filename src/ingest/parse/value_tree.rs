//! Structured data as authored: one value tree for JSON, YAML, TOML and TOON.
//!
//! Scalars keep the text of the source (`1.50`, `1e400`, `01`), strings their exact characters, and
//! entries their order, even with repeated keys. The tree is flat, a value before its contents, so
//! that no depth of nesting costs stack. [`ValueArenaBuilder`] makes one, [`parsed`] makes nodes of
//! it.

mod nodes;
mod path;
mod printer;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::{Parsed, Warning};
use crate::text;

pub(super) use nodes::{ValueNodes, add, place_path};
pub(super) use printer::{plain_items, preview};

/// Maximum nesting of values; deeper ones are kept as text.
pub(super) const DEPTH_MAX: usize = 256;

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    Map,
    List,
    /// A number, a truth value, a date, a reference: written without quotes.
    Bare,
    Text,
    /// A comment, one line; no entry of the map or list around it.
    Comment,
    /// Source that could not be parsed.
    Raw,
}

/// One value, followed by its contents, up to `end`.
#[derive(Clone, Debug)]
pub(super) struct ValueNode<'a> {
    pub(super) kind: ValueKind,
    /// The key, for an entry of a map.
    pub(super) key: Option<Cow<'a, str>>,
    /// The text of a scalar, exactly.
    pub(super) text: Cow<'a, str>,
    /// The anchor or tag before a value in YAML.
    pub(super) marks: Cow<'a, str>,
    pub(super) span: Range<usize>,
    /// Index of the first value that does not belong to this one.
    pub(super) end: usize,
    /// Entries, for a map or list.
    pub(super) n: usize,
    /// Whether the text is in another node already.
    pub(super) is_taken: bool,
    /// Whether a comment is about what precedes it, not what follows.
    pub(super) is_aside: bool,
}

/// Values in the order of the source, those at the top one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct ValueArena<'a> {
    pub(super) values: Vec<ValueNode<'a>>,
}

impl<'a> ValueArena<'a> {
    /// Returns the values directly in the value at `index`, comments included.
    pub(super) fn children(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        self.within(index + 1..self.values[index].end)
    }

    /// Returns the values at the top.
    pub(super) fn roots(&self) -> impl Iterator<Item = usize> + '_ {
        self.within(0..self.values.len())
    }

    fn within(&self, range: Range<usize>) -> impl Iterator<Item = usize> + '_ {
        let mut at = range.start;
        std::iter::from_fn(move || {
            let here = at;
            if range.end <= here {
                return None;
            }
            at = self.values[here].end;
            Some(here)
        })
    }

    /// Returns the value of `key` in the map at `index`.
    pub(super) fn get(&self, index: usize, key: &str) -> Option<usize> {
        if self.values[index].kind != ValueKind::Map {
            return None;
        }
        self.children(index).find(|&it| self.values[it].key.as_deref() == Some(key))
    }

    /// Returns the string of `key` in the map at `index`.
    pub(super) fn get_text(&self, index: usize, key: &str) -> Option<&str> {
        let value = &self.values[self.get(index, key)?];
        (value.kind == ValueKind::Text).then_some(&*value.text)
    }
}

/// The writer through which parsers build a value tree.
#[derive(Debug, Default)]
pub(super) struct ValueArenaBuilder<'a> {
    pub(super) data: ValueArena<'a>,
    open: Vec<usize>,
    key: Option<Cow<'a, str>>,
    /// Offset and key of each first repetition in a map.
    repeated: Vec<(usize, String)>,
}

/// Maximum repeated keys that are reported.
const REPEATED_MAX: usize = 20;

/// A position to return to.
#[derive(Clone, Copy, Debug)]
pub(super) struct BuilderCheckpoint {
    n_values: usize,
    n: usize,
    n_repeated: usize,
}

impl<'a> ValueArenaBuilder<'a> {
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Returns the offset and the warning of each repeated key.
    pub(super) fn repetitions(&self) -> impl Iterator<Item = (usize, String)> + '_ {
        self.repeated
            .iter()
            .map(|(at, key)| (*at, format!("the key `{key}` repeats; all its values are kept")))
    }

    /// Returns whether the next value is, or would need, the value of a key.
    pub(super) fn is_in_map(&self) -> bool {
        self.open.last().is_some_and(|&it| self.data.values[it].kind == ValueKind::Map)
    }

    /// Returns whether the innermost map or list is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.open.last().is_some_and(|&it| self.data.values[it].n == 0)
    }

    pub(super) fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// Sets the key of the next value.
    pub(super) fn key(&mut self, key: Cow<'a, str>) {
        self.key = Some(key);
    }

    /// Drops a key whose value is missing.
    pub(super) fn drop_key(&mut self) {
        self.key = None;
    }

    /// Returns the present position, between two values.
    pub(super) fn mark(&self) -> BuilderCheckpoint {
        let n = self.open.last().map_or(0, |&it| self.data.values[it].n);
        BuilderCheckpoint { n_values: self.data.values.len(), n, n_repeated: self.repeated.len() }
    }

    /// Removes everything written since.
    pub(super) fn reset(&mut self, mark: BuilderCheckpoint) {
        self.data.values.truncate(mark.n_values);
        self.repeated.truncate(mark.n_repeated);
        if let Some(&open) = self.open.last() {
            self.data.values[open].n = mark.n;
        }
    }

    pub(super) fn open(&mut self, kind: ValueKind, marks: Cow<'a, str>, at: usize) {
        let index = self.push(kind, Cow::Borrowed(""), at..at);
        self.data.values[index].marks = marks;
        self.open.push(index);
    }

    /// Closes the innermost map or list, which ends at the offset `at`.
    pub(super) fn close(&mut self, at: usize) {
        let Some(index) = self.open.pop() else { return };
        let end = self.data.values.len();
        let value = &mut self.data.values[index];
        value.end = end;
        value.span.end = at.max(value.span.start);
        if value.kind == ValueKind::Map && self.repeated.len() < REPEATED_MAX {
            self.look_for_repetition(index);
        }
    }

    pub(super) fn scalar(
        &mut self,
        kind: ValueKind,
        text: Cow<'a, str>,
        span: Range<usize>,
    ) -> usize {
        self.push(kind, text, span)
    }

    /// Adds a comment at `span` of `source`; it takes no key.
    pub(super) fn comment(&mut self, source: &'a str, span: Range<usize>) {
        let key = self.key.take();
        let before = source[..span.start].trim_end_matches([' ', '\t', ',']);
        let is_aside = !before.is_empty() && !before.ends_with(['\n', '\r', '{', '[', '}', ']']);
        let words = Cow::Borrowed(&source[span.clone()]);
        let index = self.push(ValueKind::Comment, words, span);
        self.data.values[index].is_aside = is_aside;
        self.key = key;
    }

    fn push(&mut self, kind: ValueKind, text: Cow<'a, str>, span: Range<usize>) -> usize {
        let index = self.data.values.len();
        if kind != ValueKind::Comment
            && let Some(&open) = self.open.last()
        {
            self.data.values[open].n += 1;
        }
        self.data.values.push(ValueNode {
            kind,
            key: self.key.take(),
            text,
            marks: Cow::Borrowed(""),
            span,
            end: index + 1,
            n: 0,
            is_taken: false,
            is_aside: false,
        });
        index
    }

    fn look_for_repetition(&mut self, index: usize) {
        let data = &self.data;
        let mut seen: HashSet<&str> = HashSet::new();
        let repeated = data.children(index).find_map(|it| {
            let value = &data.values[it];
            let key = value.key.as_deref()?;
            (!seen.insert(key)).then(|| (value.span.start, text::truncate_chars(key, 80)))
        });
        self.repeated.extend(repeated);
    }
}

/// Makes the nodes of a file's values, with a warning for keys that repeat.
pub(super) fn parsed(
    source: &str,
    out: &ValueArenaBuilder<'_>,
    mut warnings: Vec<Warning>,
) -> Parsed {
    let repeated = out.repetitions();
    warnings.extend(
        repeated.map(|(at, what)| Warning { line: text::line_number_at(source, at), what }),
    );
    let mut nodes = ValueNodes::default();
    add(source, &out.data, &mut nodes);
    Parsed { tree: nodes.tree, warnings }
}

/// Returns whether some parser reads `text` without quotes as another type than a string. The
/// notations are those at hand; the types are numbers, truth values, nothing and dates.
pub(super) fn is_typed(text: &str) -> bool {
    if text.len() <= 5 {
        let words = ["null", "true", "false", "yes", "no", "on", "off", "nan", "inf", "~", ".inf"];
        if words.iter().any(|it| text.eq_ignore_ascii_case(it)) || text.eq_ignore_ascii_case(".nan")
        {
            return true;
        }
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if ["Infinity", "inf", "nan", ".inf", ".nan"].iter().any(|it| unsigned.eq_ignore_ascii_case(it))
    {
        return true;
    }
    is_number(unsigned) || is_date(text)
}

fn is_number(unsigned: &str) -> bool {
    if let Some(digits) = unsigned.strip_prefix("0x") {
        return is_digits(digits, |byte| byte.is_ascii_hexdigit());
    }
    if let Some(digits) = unsigned.strip_prefix("0o").or(unsigned.strip_prefix("0b")) {
        return is_digits(digits, |byte| byte.is_ascii_digit());
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_mantissa = (!whole.is_empty() || !fraction.is_empty())
        && [whole, fraction].iter().all(|it| it.is_empty() || is_digits(it, is_decimal));
    let is_exponent =
        exponent.is_none_or(|it| is_digits(it.strip_prefix(['+', '-']).unwrap_or(it), is_decimal));
    is_mantissa && is_exponent
}

fn is_decimal(byte: u8) -> bool {
    byte.is_ascii_digit()
}

fn is_digits(text: &str, is_digit: fn(u8) -> bool) -> bool {
    text.bytes().any(is_digit) && text.bytes().all(|byte| is_digit(byte) || byte == b'_')
}

/// Returns whether a text is a date or time as YAML and TOML have them, or minutes in base 60.
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has_shape = |shape: &[u8]| {
        shape.len() <= bytes.len()
            && shape.iter().zip(bytes).all(|(&want, &byte)| match want {
                b'0' => byte.is_ascii_digit(),
                _ => byte == want,
            })
    };
    let may_be = |byte: u8| byte.is_ascii_digit() || b"-:.TtZz+ ".contains(&byte);
    (has_shape(b"0000-0") || has_shape(b"00:00") || has_shape(b"0:00"))
        && bytes.iter().all(|&byte| may_be(byte))
}

#[cfg(test)]
mod tests;
