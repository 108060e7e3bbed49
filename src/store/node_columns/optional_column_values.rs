//! Holds the optional values of a node: level, language, key path, and those that `columns` adds.

use std::borrow::Cow;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use rusqlite::{Row, ToSql};

use super::{ColumnHandling, FIELDS, KEY_PATH, LANG, LEVEL, NodeColumn};
use crate::model::tree::Node;

/// Holds one optional value of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OptionalColumnValue {
    Integer(i64),
    Text(String),
}

impl OptionalColumnValue {
    /// Returns the value as the fingerprint hashes it.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match self {
            OptionalColumnValue::Integer(it) => Cow::Owned(it.to_string()),
            OptionalColumnValue::Text(it) => Cow::Borrowed(it),
        }
    }
}

impl ToSql for OptionalColumnValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            OptionalColumnValue::Integer(it) => it.to_sql(),
            OptionalColumnValue::Text(it) => it.to_sql(),
        }
    }
}

impl FromSql for OptionalColumnValue {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<OptionalColumnValue> {
        match value {
            ValueRef::Integer(it) => Ok(OptionalColumnValue::Integer(it)),
            ValueRef::Text(_) => Ok(OptionalColumnValue::Text(String::column_result(value)?)),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}

/// Holds the optional values of a node by column. The list is empty where the node has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OptionalColumnValues(Vec<Option<OptionalColumnValue>>);

impl OptionalColumnValues {
    /// Returns the values that a parsed file gives its node.
    pub(crate) fn of_source(node: &Node) -> OptionalColumnValues {
        OptionalColumnValues::collect(super::attributes().iter().map(|it| match it.kind {
            ColumnHandling::Optional(Some(of)) => of(node),
            _ => None,
        }))
    }

    /// Returns these values, with those of `old` in columns that no file knows.
    pub(crate) fn over(self, old: &OptionalColumnValues) -> OptionalColumnValues {
        if old.0.is_empty() || super::attributes().iter().all(is_of_source) {
            return self;
        }
        OptionalColumnValues::collect(super::attributes().iter().enumerate().map(|(at, column)| {
            let of = if is_of_source(column) { &self } else { old };
            of.0.get(at).cloned().flatten()
        }))
    }

    /// Returns these values with one of them replaced.
    pub(crate) fn with(
        &self,
        name: &str,
        value: Option<OptionalColumnValue>,
    ) -> OptionalColumnValues {
        let old = self.0.iter().cloned().chain(std::iter::repeat(None));
        let is_it = |it: &NodeColumn| it.name == name;
        debug_assert!(super::attributes().iter().any(is_it), "there is no `{name}`");
        OptionalColumnValues::collect(
            super::attributes()
                .iter()
                .zip(old)
                .map(|(it, old)| if is_it(it) { value.clone() } else { old }),
        )
    }

    /// Returns the value of that name.
    pub(crate) fn get(&self, name: &str) -> Option<&OptionalColumnValue> {
        if self.0.is_empty() {
            return None;
        }
        super::attributes().iter().zip(&self.0).find(|(it, _)| it.name == name)?.1.as_ref()
    }

    /// Returns the level of a heading, 1 to 6.
    pub(crate) fn level(&self) -> Option<u8> {
        match self.get(LEVEL)? {
            OptionalColumnValue::Integer(it) => u8::try_from(*it).ok(),
            OptionalColumnValue::Text(_) => None,
        }
    }

    /// Returns the language of code.
    pub(crate) fn lang(&self) -> Option<&str> {
        self.text(LANG)
    }

    /// Returns the place in structured data: `a.b[3].c`.
    pub(crate) fn key_path(&self) -> Option<&str> {
        self.text(KEY_PATH)
    }

    /// Returns the canonical JSON of a typed node.
    pub(crate) fn fields(&self) -> Option<&str> {
        self.text(FIELDS)
    }

    fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            OptionalColumnValue::Text(it) => Some(it),
            OptionalColumnValue::Integer(_) => None,
        }
    }

    /// Returns the names of values that differ.
    pub(crate) fn differing(&self, other: &OptionalColumnValues) -> Vec<&'static str> {
        let value = |of: &OptionalColumnValues, at: usize| of.0.get(at).cloned().flatten();
        let is_other = |at: &usize| value(self, *at) != value(other, *at);
        let named = super::attributes().iter().enumerate();
        named.filter(|(at, _)| is_other(at)).map(|(_, it)| it.name).collect()
    }

    /// Reads `{attributes}`, which begin at column `at`.
    pub(crate) fn read(row: &Row<'_>, at: usize) -> rusqlite::Result<OptionalColumnValues> {
        let n = super::attributes().len();
        let mut values = Vec::new();
        for nth in 0..n {
            if let Some(value) = row.get(at + nth)? {
                values.resize(n, None);
                values[nth] = Some(value);
            }
        }
        Ok(OptionalColumnValues(values))
    }

    /// Returns a parameter for each of `{attributes}`.
    pub(crate) fn params(&self) -> impl Iterator<Item = &dyn ToSql> {
        let none = super::attributes().len() - self.0.len();
        let given = self.0.iter().map(|it| it as &dyn ToSql);
        given.chain(std::iter::repeat_n(&NOTHING as &dyn ToSql, none))
    }

    /// Returns each value, in the order of the columns.
    pub(crate) fn values(&self) -> impl Iterator<Item = Option<&OptionalColumnValue>> {
        let none = super::attributes().len() - self.0.len();
        self.0.iter().map(Option::as_ref).chain(std::iter::repeat_n(None, none))
    }

    /// Returns each text with its column, to be replaced.
    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = (&'static NodeColumn, &mut String)> {
        super::attributes().iter().zip(&mut self.0).filter_map(|(column, it)| match it {
            Some(OptionalColumnValue::Text(it)) => Some((column, it)),
            _ => None,
        })
    }

    fn collect(values: impl Iterator<Item = Option<OptionalColumnValue>>) -> OptionalColumnValues {
        let all: Vec<Option<OptionalColumnValue>> = values.collect();
        OptionalColumnValues(if all.iter().any(Option::is_some) { all } else { Vec::new() })
    }
}

const NOTHING: Option<i64> = None;

fn is_of_source(column: &NodeColumn) -> bool {
    matches!(column.kind, ColumnHandling::Optional(Some(_)))
}
