//! Positions in JSON settings: the spans of members and elements.
//!
//! `jsonc-parser` reads the text, with or without comments, and checks all of it.

use std::ops::Range;

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::Token;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::settings_edit_types::EditRefusal;

const BOM: &str = "\u{feff}";

/// The dialect of JSON that a client accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonDialect {
    /// JSON.
    Strict,
    /// JSON with comments.
    Comments,
    /// JSON with comments and trailing commas.
    Relaxed,
}

/// A value: its span, and its members.
#[derive(Debug)]
pub(super) struct SpannedJsonValue {
    pub(super) span: Range<usize>,
    pub(super) kind: JsonKind,
    /// Members of an object, or elements of a list.
    pub(super) members: Vec<JsonChild>,
}

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonKind {
    Object,
    List,
    Plain,
}

/// A member of an object, or an element of a list.
#[derive(Debug)]
pub(super) struct JsonChild {
    /// The key; empty for an element.
    pub(super) key: String,
    /// The offset of its first byte.
    pub(super) at: usize,
    pub(super) item: SpannedJsonValue,
    /// The offset of the comma after it.
    pub(super) comma: Option<usize>,
}

/// Parses a whole text.
pub(super) fn scan(text: &str, dialect: JsonDialect) -> Result<SpannedJsonValue, EditRefusal> {
    let plain = text.strip_prefix(BOM).unwrap_or(text);
    let start = text.len() - plain.len();
    let collect = CollectOptions { tokens: true, ..CollectOptions::default() };
    let parsed = parse_to_ast(plain, &collect, &dialect.options()).map_err(|error| {
        let what = error.kind().to_string();
        let mut chars = what.chars();
        let first = chars.next().map(|it| it.to_ascii_lowercase());
        let what: String = first.into_iter().chain(chars).collect();
        EditRefusal::broken(start + error.range().start, what)
    })?;
    let tokens = parsed.tokens.unwrap_or_default();
    let commas = tokens.iter().filter(|it| it.token == Token::Comma);
    let commas = commas.map(|it| start + it.range.start).collect();
    let value = parsed.value.ok_or_else(|| EditRefusal::broken(start, "a value is missing"))?;
    Ok(JsonSpanBuilder { start, commas }.item(&value))
}

struct JsonSpanBuilder {
    /// Bytes before the parsed text.
    start: usize,
    commas: Vec<usize>,
}

impl JsonSpanBuilder {
    fn item(&self, value: &Value<'_>) -> SpannedJsonValue {
        let span = self.start + value.start()..self.start + value.end();
        let (kind, mut members) = match value {
            Value::Object(object) => {
                let members = object.properties.iter().map(|it| JsonChild {
                    key: it.name.as_str().to_owned(),
                    at: self.start + it.range.start,
                    item: self.item(&it.value),
                    comma: None,
                });
                (JsonKind::Object, members.collect::<Vec<JsonChild>>())
            }
            Value::Array(list) => {
                let members = list.elements.iter().map(|it| JsonChild {
                    key: String::new(),
                    at: self.start + it.start(),
                    item: self.item(it),
                    comma: None,
                });
                (JsonKind::List, members.collect())
            }
            _ => (JsonKind::Plain, Vec::new()),
        };
        let mut next = span.end;
        for member in members.iter_mut().rev() {
            let nth = self.commas.partition_point(|it| *it < member.item.span.end);
            member.comma = self.commas.get(nth).copied().filter(|it| *it < next);
            next = member.at;
        }
        SpannedJsonValue { span, kind, members }
    }
}

impl JsonDialect {
    fn options(self) -> ParseOptions {
        ParseOptions {
            allow_comments: self != JsonDialect::Strict,
            allow_trailing_commas: self == JsonDialect::Relaxed,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_extended_string_escapes: false,
            allow_non_finite_numbers: false,
        }
    }
}
