//! Lists the columns of a node, which every statement about whole nodes is made of.
//!
//! A row of [`COLUMNS`] says what a column is called, how the store treats its values, whether the
//! fingerprint covers it, what redaction does with it, and under which names `diff` keeps earlier
//! values. A new optional value of nodes is one row here and a migration, which adds the column to
//! `node` and its `old_` column to `diff`. Inserts, reads, versions, rollback, the fingerprint,
//! past states, the doctor, redaction and transfers follow.
//!
//! SQL is constant text everywhere else but for names of tables; [`SqlTemplate`] is where lists of
//! columns take the place of names in braces, once per process, so that no statement spells them
//! out.

mod optional_column_values;

use std::sync::OnceLock;

use ColumnHandling::{Derived, Field, Optional};
use ColumnRedaction::{Bound, Hash, Json, Names, Numbers, Words};
use FingerprintCoverage::{Always, No, WhereGiven};
pub(crate) use optional_column_values::{OptionalColumnValue, OptionalColumnValues};

use crate::model::tree::Node;

/// Describes a column of `node`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeColumn {
    pub(crate) name: &'static str,
    pub(crate) kind: ColumnHandling,
    pub(crate) hashed: FingerprintCoverage,
    pub(crate) holds: ColumnRedaction,
    /// The columns of `diff` that keep its earlier values; empty: it has no versions.
    pub(crate) old: &'static [OldValueColumn],
}

/// Tells how the store treats the values of a column.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ColumnHandling {
    /// A field of `NodeRecord`, with rules of its own.
    Field,
    /// Computed from other columns whenever they are written, and never read back as a whole.
    Derived,
    /// An optional value, treated as every other one. The function reads it from a parsed file;
    /// without one, files have no such value, and an agent's stays whatever the file contains.
    Optional(Option<fn(&Node) -> Option<OptionalColumnValue>>),
}

/// Tells whether the fingerprint covers a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FingerprintCoverage {
    No,
    Always,
    /// Only where there is a value, so that the fingerprints of older states stay as they are.
    WhereGiven,
}

/// Tells redaction how to treat the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnRedaction {
    /// Integers: no text.
    Numbers,
    /// Text of the user's, each value on its own.
    Words,
    /// Text whose hash, label or place is stored elsewhere: a step of its own rewrites it.
    Bound,
    /// Canonical JSON, each of its strings a text of the user's.
    Json,
    /// Hashes of texts: they follow the texts.
    Hash,
    /// Names chosen by the program: ids, types, hashes of whole files.
    Names,
}

/// Describes a column of `diff` that keeps a node's earlier value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OldValueColumn {
    pub(crate) name: &'static str,
    /// The present value, of `node`, its `parent` and its `file`; `None`: the node's own.
    now: Option<&'static str>,
    pub(crate) holds: ColumnRedaction,
}

/// Keeps the row that a column of `node` refers to, by a name that outlives it.
const fn old(name: &'static str, now: &'static str, holds: ColumnRedaction) -> OldValueColumn {
    OldValueColumn { name, now: Some(now), holds }
}

/// Keeps the value of the column itself.
const fn own(name: &'static str, holds: ColumnRedaction) -> OldValueColumn {
    OldValueColumn { name, now: None, holds }
}

const fn column(
    name: &'static str,
    kind: ColumnHandling,
    hashed: FingerprintCoverage,
    holds: ColumnRedaction,
    old: &'static [OldValueColumn],
) -> NodeColumn {
    NodeColumn { name, kind, hashed, holds, old }
}

/// Names of optional values.
pub(crate) const LEVEL: &str = "level";
pub(crate) const LANG: &str = "lang";
pub(crate) const KEY_PATH: &str = "key_path";
pub(crate) const FIELDS: &str = "fields";

fn level(of: &Node) -> Option<OptionalColumnValue> {
    of.level.map(|it| OptionalColumnValue::Integer(it.into()))
}

fn lang(of: &Node) -> Option<OptionalColumnValue> {
    of.lang.clone().map(OptionalColumnValue::Text)
}

fn key_path(of: &Node) -> Option<OptionalColumnValue> {
    of.key_path.clone().map(OptionalColumnValue::Text)
}

/// Holds every column of a node. The fields have the order in which `NodeRecord` and
/// `NodeVersionWithoutText` read them; hashed columns have the order in which the fingerprint
/// hashes them.
#[rustfmt::skip]
const COLUMNS: &[NodeColumn] = &[
    column("key",          Field,   No,     Numbers, &[]),
    column("id",           Field,   No,     Names,   &[]),
    column("file",         Field,   No,     Numbers, &[old("old_root", "file.root", Numbers),
                                                       old("old_path", "file.path", Bound)]),
    column("parent",       Field,   No,     Numbers, &[old("old_parent", "parent.id", Names)]),
    column("position",     Field,   No,     Numbers, &[own("old_position", Numbers)]),
    column("node_type",    Field,   Always, Names,   &[own("old_type", Names)]),
    column(LEVEL, Optional(Some(level)),       Always, Numbers, &[own("old_level", Numbers)]),
    column(LANG, Optional(Some(lang)),         Always, Bound,   &[own("old_lang", Words)]),
    column(KEY_PATH, Optional(Some(key_path)), Always, Bound,   &[own("old_key_path", Words)]),
    column("format",       Field,   Always, Names,   &[own("old_format", Names)]),
    column("label",        Field,   Always, Bound,   &[own("old_label", Bound)]),
    column("content_hash", Field,   Always, Bound,   &[own("old_hash", Hash)]),
    column("token_count",  Field,   No,     Numbers, &[own("old_tokens", Numbers)]),
    column("source_hash",  Field,   No,     Hash,    &[]),
    column("trail",        Field,   No,     Bound,   &[]),
    column("content",      Field,   No,     Bound,   &[]),
    column("grams",        Derived, No,     Bound,   &[]),
    column("name",         Derived, No,     Numbers, &[]),
    column(FIELDS, Optional(None), WhereGiven, Json, &[own("old_fields", Json)]),
];

/// Returns the columns of a node.
pub(crate) fn columns() -> &'static [NodeColumn] {
    #[cfg(test)]
    if let Some(scratch) = super::database_version_testing::scratch() {
        return scratch.columns;
    }
    COLUMNS
}

/// Returns the columns of optional values.
pub(crate) fn attributes() -> &'static [NodeColumn] {
    static ATTRIBUTES: OnceLock<Vec<NodeColumn>> = OnceLock::new();
    #[cfg(test)]
    if let Some(scratch) = super::database_version_testing::scratch() {
        return scratch.attributes;
    }
    ATTRIBUTES.get_or_init(|| COLUMNS.iter().copied().filter(NodeColumn::is_optional).collect())
}

impl NodeColumn {
    pub(crate) fn is_optional(&self) -> bool {
        matches!(self.kind, ColumnHandling::Optional(_))
    }

    /// Returns the key by which lists put fields first and optional values last.
    fn rank(&self) -> u8 {
        match self.kind {
            ColumnHandling::Field => 0,
            ColumnHandling::Derived => 1,
            ColumnHandling::Optional(_) => 2,
        }
    }
}

/// Builds a statement about whole nodes from a text with names of lists in braces:
///
/// - `{record}`: what `NodeRecord` reads;
/// - `{columns}` and `{values}`: every column, and as many parameters from `?1` on;
/// - `{state}` and `{old_state}`: what the fingerprint covers, from `node` and from `diff`;
/// - `{version}` and `{present}`: what `diff` keeps of a node, and its values now, of `node`, its
///   `parent` and its `file`;
/// - `{attributes}` and `{set_attributes}`: optional values, and their assignment to the parameters
///   that follow the highest one named before.
#[derive(Debug)]
pub(crate) struct SqlTemplate {
    template: &'static str,
    text: OnceLock<String>,
}

impl SqlTemplate {
    pub(crate) const fn new(template: &'static str) -> SqlTemplate {
        SqlTemplate { template, text: OnceLock::new() }
    }

    /// Returns the statement's text, which the first call builds.
    pub(crate) fn text(&'static self) -> &'static str {
        #[cfg(test)]
        if super::database_version_testing::scratch().is_some() {
            return Box::leak(fill(columns(), self.template).into_boxed_str());
        }
        self.text.get_or_init(|| fill(COLUMNS, self.template))
    }
}

/// Replaces the names of lists by the columns of each.
fn fill(columns: &[NodeColumn], template: &str) -> String {
    let mut text = String::with_capacity(template.len() * 2);
    let mut rest = template;
    while let Some((before, (name, after))) =
        rest.split_once('{').and_then(|(before, it)| Some((before, it.split_once('}')?)))
    {
        text.push_str(before);
        push_list(&mut text, columns, name);
        rest = after;
    }
    text + rest
}

fn push_list(text: &mut String, columns: &[NodeColumn], name: &str) {
    let begin = text.len();
    let mut add = |before: &str, name: &str, after: &str| {
        let comma = if begin < text.len() { ", " } else { "" };
        for part in [comma, before, name, after] {
            text.push_str(part);
        }
    };
    // The fingerprint keeps the order of the table, and hashes what only some have at the end.
    let group = |it: &NodeColumn| match name.ends_with("state") {
        true => u8::from(it.hashed == FingerprintCoverage::WhereGiven),
        false => it.rank(),
    };
    let mut nth = 0;
    for (at, column) in (0..3).flat_map(|at| columns.iter().map(move |it| (at, it))) {
        if group(column) != at {
            continue;
        }
        nth += 1;
        let is_hashed = column.hashed != FingerprintCoverage::No;
        match name {
            "record" if column.rank() != 1 => add("node.", column.name, ""),
            "columns" => add("", column.name, ""),
            "values" => add("?", &nth.to_string(), ""),
            "state" if is_hashed => add("node.", column.name, ""),
            "old_state" if is_hashed => column.old.iter().for_each(|it| add("", it.name, "")),
            "version" => column.old.iter().for_each(|it| add("", it.name, "")),
            "present" => column.old.iter().for_each(|it| match it.now {
                Some(now) => add("", now, ""),
                None => add("node.", column.name, ""),
            }),
            "attributes" if column.is_optional() => add("node.", column.name, ""),
            "set_attributes" if column.is_optional() => add("", column.name, " = ?"),
            _ => (),
        }
    }
}

#[cfg(test)]
mod tests;
