//! Finds the nodes of which a label, fields, a type or another column was altered, or the text
//! together with its hash, by the fingerprint of the state.
//!
//! The fingerprint is a sum with one term a node. A [candidate](former_value_candidates) is the
//! value that a node had at HEAD when it makes up the difference between the sum of the rows and
//! the one that was kept.
//!
//! Any number of nodes can be told where other rows are witnesses: a label has its hash beside it,
//! and fields and their type have their index. The difference that is left is that of one or two
//! nodes, or nothing explains it. The values of a file's node are looked for last, and in one node
//! alone: the next compile brings them back, but it cannot bring back what leads to earlier states.
//! [Texts](texts_altered_with_hash) are looked for where all of that explains nothing, and then
//! [fields](fields_one_byte_off) of which one byte was altered.

mod fields_one_byte_off;
mod former_value_candidates;
mod texts_altered_with_hash;

use std::collections::{BTreeSet, HashMap};
use std::mem;

use former_value_candidates::{
    CONTENT_HASH, ColumnValue, FORMAT, LABEL, NODE_TYPE, PresentColumns, PresentNodeTexts,
};
use rusqlite::{Connection, Row, params};
use texts_altered_with_hash::TextsAlteredWithHash;

use super::PresentStateFingerprints;
use super::broken_fields_repair;
use super::text_hashes::{name_of_node, node_name};
use super::typed_nodes;
use crate::model::database_state_fingerprint::{NodeState, term_of_node};
use crate::model::tree::NodeType;
use crate::store::node_columns::{
    FIELDS, FingerprintCoverage, KEY_PATH, LANG, LEVEL, SqlTemplate, columns,
};
use crate::store::record::read_state;
use crate::store::{NodeFacetSet, PreparedStatements, StoreError, links, node_facet_set};

/// Values of other columns than labels and fields that may be one of two which explain a
/// difference; of more, each is tried alone.
const PAIRED_MAX: usize = 1 << 17;

/// The columns that a repair sets, their names in notes, and the statement for each.
///
/// A text with its former hash differs from it, so that the repair of texts goes on from there.
const COLUMNS: [(&str, &str, &str); 8] = [
    (LABEL, "label", "UPDATE node SET label = ?2 WHERE key = ?1"),
    (FIELDS, "fields", "UPDATE node SET fields = ?2 WHERE key = ?1"),
    (NODE_TYPE, "type", "UPDATE node SET node_type = ?2 WHERE key = ?1"),
    (LEVEL, "level", "UPDATE node SET level = ?2 WHERE key = ?1"),
    (LANG, "language", "UPDATE node SET lang = ?2 WHERE key = ?1"),
    (KEY_PATH, "key path", "UPDATE node SET key_path = ?2 WHERE key = ?1"),
    (FORMAT, "format", "UPDATE node SET format = ?2 WHERE key = ?1"),
    (CONTENT_HASH, "text", "UPDATE node SET content_hash = ?2 WHERE key = ?1"),
];

/// Altered nodes, which explain the difference between the state and HEAD's fingerprint.
#[derive(Debug, Default)]
pub(super) struct NodesAlteredSinceHead {
    /// The nodes that it proves, all of them.
    pub(super) proven: Vec<NodeAlteredSinceHead>,
    /// Where it proves none: the nodes whose labels, fields or texts other rows contradict.
    pub(super) contradicted: Vec<String>,
}

/// A node, with the values that it had at HEAD.
#[derive(Clone, Debug)]
pub(super) struct NodeAlteredSinceHead {
    key: i64,
    /// Its id and the label that is there now.
    pub(super) name: String,
    values: Vec<ColumnValue>,
}

/// A node as it may have been, and the difference to the sum that it would make.
struct FormerColumnsHypothesis {
    node: i64,
    values: Vec<ColumnValue>,
    difference: u64,
}

/// A node as it is, and its place.
struct PresentNode {
    key: i64,
    family: Option<String>,
    /// Id of the sibling before it.
    before: Option<String>,
    /// The text of an agent's node.
    content: Option<String>,
    /// The hash that its label had.
    name: Option<i64>,
    state: NodeState<'static>,
}

/// The hypotheses, and the nodes that other rows contradict.
#[derive(Default)]
struct FormerColumnsHypotheses {
    /// The difference to be explained.
    difference: u64,
    /// Hypotheses about nodes that nothing contradicts.
    quiet: Vec<FormerColumnsHypothesis>,
    /// Hypotheses that agree with the other rows of a node, by node.
    witnessed: Vec<Vec<FormerColumnsHypothesis>>,
    contradicted: Vec<String>,
    /// The nodes whose index of fields has something else.
    off_index: BTreeSet<i64>,
    /// The languages of the memory's code.
    langs: Vec<String>,
}

impl NodeAlteredSinceHead {
    /// Returns a note on its repair.
    pub(super) fn note(&self) -> String {
        let name = &self.name;
        let named = |column: &str| COLUMNS.iter().find(|it| it.0 == column).map(|it| it.1);
        match &self.values[..] {
            [(CONTENT_HASH, _)] => {
                format!("{name}: the hash of its text is again what HEAD's fingerprint proves")
            }
            [(column, _)] => {
                let column = named(column).unwrap_or(column);
                format!("{name}: its {column} is again what HEAD's fingerprint proves")
            }
            _ => format!(
                "{name}: its label and fields are again those that HEAD's fingerprint proves"
            ),
        }
    }
}

/// Returns the nodes whose altered values explain the whole difference between the state and the
/// fingerprint that HEAD has.
pub(super) fn find(
    conn: &Connection,
    present: &PresentStateFingerprints,
) -> Result<NodesAlteredSinceHead, StoreError> {
    let PresentStateFingerprints { computed, kept, head } = present;
    if head.as_ref() != Some(&kept.to_string()) || kept == computed {
        return Ok(NodesAlteredSinceHead::default());
    }
    // A history that cannot be read explains nothing.
    let difference = kept.0.wrapping_sub(computed.0);
    let hypotheses = FormerColumnsHypotheses::of(conn, difference).unwrap_or_default();
    let mut explaining = hypotheses.explain(difference);
    let of_file = match explaining.is_empty() {
        true => hypotheses.of_file(conn).unwrap_or_default(),
        false => None,
    };
    explaining.extend(&of_file);
    let texts = match explaining.is_empty() {
        true => TextsAlteredWithHash::of(conn).unwrap_or_default(),
        false => TextsAlteredWithHash::default(),
    };
    if explaining.is_empty() {
        let with_texts = texts.sets().find_map(|it| hypotheses.explain_with(it));
        explaining.extend(with_texts.unwrap_or_else(|| hypotheses.explain_with_some(&texts)));
    }
    let one_byte_off = match explaining.is_empty() {
        true => fields_one_byte_off::find(conn, difference).unwrap_or_default(),
        false => None,
    };
    explaining.extend(&one_byte_off);
    let named = |it: &FormerColumnsHypothesis| {
        let (key, values) = (it.node, it.values.clone());
        Ok(NodeAlteredSinceHead { key, name: name_of_node(conn, key)?, values })
    };
    let proven: Result<Vec<NodeAlteredSinceHead>, StoreError> =
        explaining.into_iter().map(named).collect();
    let proven = proven?;
    let mut contradicted = Vec::new();
    if proven.is_empty() {
        let texts: Result<Vec<String>, StoreError> =
            texts.contradicted().map(|it| name_of_node(conn, it.node)).collect();
        contradicted.extend(texts?);
        contradicted.extend(hypotheses.contradicted);
        contradicted.sort_unstable();
        contradicted.dedup();
    }
    Ok(NodesAlteredSinceHead { proven, contradicted })
}

/// Gives the nodes their values back.
pub(super) fn restore(
    conn: &Connection,
    altered: &[NodeAlteredSinceHead],
) -> Result<(), StoreError> {
    for node in altered {
        for (column, value) in &node.values {
            let Some((_, _, set)) = COLUMNS.iter().find(|it| it.0 == *column) else { continue };
            conn.run(set, params![node.key, value], "give a value back")?;
        }
    }
    Ok(())
}

impl FormerColumnsHypotheses {
    /// Collects what each node may have been at HEAD, other than it is.
    fn of(conn: &Connection, difference: u64) -> Result<FormerColumnsHypotheses, StoreError> {
        let off_index = typed_nodes::nodes_off_index(conn)?;
        let langs = former_value_candidates::langs(conn)?;
        let mut hypotheses = FormerColumnsHypotheses {
            difference,
            off_index,
            langs,
            ..FormerColumnsHypotheses::default()
        };
        PresentNode::each(conn, |node| hypotheses.add(conn, node))?;
        Ok(hypotheses)
    }

    /// Returns the one node of a file that nothing contradicts, of which another column than the
    /// type makes up the difference.
    fn of_file(&self, conn: &Connection) -> Result<Option<FormerColumnsHypothesis>, StoreError> {
        let mut found = None;
        PresentNode::each(conn, |node| {
            if found.is_none() && node.content.is_none() && !self.is_contradicted(node) {
                let mut alone = node.hypotheses_of_columns(self.others(conn, node)?);
                found = alone.find(|it| it.difference == self.difference);
            }
            Ok(())
        })?;
        Ok(found)
    }

    fn is_contradicted(&self, node: &PresentNode) -> bool {
        node.has_other_label() || self.off_index.contains(&node.key)
    }

    /// Returns the states that make up a difference: all that are told by other rows, and at most
    /// two more.
    fn explain(&self, difference: u64) -> Vec<&FormerColumnsHypothesis> {
        let is_one = |it: &&Vec<FormerColumnsHypothesis>| it.len() == 1;
        let told: Vec<&FormerColumnsHypothesis> =
            self.witnessed.iter().filter(is_one).flatten().collect();
        let open = self.witnessed.iter().filter(|it| !is_one(it)).flatten();
        let open: Vec<&FormerColumnsHypothesis> = self.quiet.iter().chain(open).collect();
        let left = told.iter().fold(difference, |left, it| left.wrapping_sub(it.difference));
        let more = match left {
            0 => Some(Vec::new()),
            _ => explain(left, &open),
        };
        // The other rows may be what was altered.
        let all = || self.quiet.iter().chain(self.witnessed.iter().flatten()).collect::<Vec<_>>();
        match more {
            Some(more) => told.into_iter().chain(more).collect(),
            None => explain(difference, &all()).unwrap_or_default(),
        }
    }

    /// Returns the states that make up the difference together with those of texts.
    fn explain_with<'a>(
        &'a self,
        texts: Vec<&'a FormerColumnsHypothesis>,
    ) -> Option<Vec<&'a FormerColumnsHypothesis>> {
        let left = texts.iter().fold(self.difference, |left, it| left.wrapping_sub(it.difference));
        let others = if left == 0 { Vec::new() } else { self.explain(left) };
        let is_explained = !texts.is_empty() && (left == 0 || !others.is_empty());
        is_explained.then(|| texts.into_iter().chain(others).collect())
    }

    /// Returns the one or two states, texts among them, that make up the difference.
    fn explain_with_some<'a>(
        &'a self,
        texts: &'a TextsAlteredWithHash,
    ) -> Vec<&'a FormerColumnsHypothesis> {
        let columns = self.quiet.iter().chain(self.witnessed.iter().flatten());
        let all: Vec<&FormerColumnsHypothesis> = texts.all().chain(columns).collect();
        explain(self.difference, &all).unwrap_or_default()
    }

    fn add(&mut self, conn: &Connection, node: &PresentNode) -> Result<(), StoreError> {
        const CONTENT: &str = "SELECT content FROM node WHERE key = ?1";
        let label = node.value(LABEL).unwrap_or_default();
        let has_other_fields = self.off_index.contains(&node.key);
        let is_contradicted = self.is_contradicted(node);
        let mut singles = former_value_candidates::types();
        let content = match &node.content {
            Some(content) => content.clone(),
            None if is_contradicted => {
                conn.row(CONTENT, [node.key], |row| row.get(0), "read a text")?
            }
            None => {
                let alone = node.hypotheses_of_columns(singles);
                self.quiet.extend(alone.filter(|it| it.difference == self.difference));
                return Ok(());
            }
        };
        let now = PresentNodeTexts {
            key: node.key,
            id: &node.state.id,
            label,
            fields: node.value(FIELDS),
            content: &content,
            lang_of_code: node.is_code().then(|| node.value(LANG).unwrap_or_default()),
            is_contradicted: (node.has_other_label(), has_other_fields),
        };
        let texts = node.hypotheses(former_value_candidates::labels_and_fields(conn, now)?);
        singles.extend(self.others(conn, node)?);
        let singles = node.hypotheses_of_columns(singles);
        if !is_contradicted {
            self.quiet.extend(texts);
            for it in singles {
                if self.quiet.len() < PAIRED_MAX || it.difference == self.difference {
                    self.quiet.push(it);
                }
            }
            return Ok(());
        }
        let index = if has_other_fields { Some(index_of(conn, node.key)?) } else { None };
        let agrees = |it: &FormerColumnsHypothesis| {
            let state = node.with(&it.values);
            let is_label = links::name(value_of(&state, LABEL).unwrap_or_default()) == node.name;
            is_label && index.as_ref().is_none_or(|index| is_indexed_as(&state, index))
        };
        self.contradicted.push(node_name(&node.state.id, label));
        self.witnessed.push(texts.into_iter().chain(singles).filter(agrees).collect());
        Ok(())
    }

    /// Returns the values that a node may have had beside its type, its label and its fields.
    fn others(
        &self,
        conn: &Connection,
        node: &PresentNode,
    ) -> Result<Vec<ColumnValue>, StoreError> {
        let langs = if node.is_code() { &self.langs[..] } else { &[] };
        let [label, lang, key_path] = [LABEL, LANG, KEY_PATH].map(|it| node.value(it));
        let now = PresentColumns {
            id: &node.state.id,
            label: label.unwrap_or_default(),
            has_level: node.value(NODE_TYPE) == Some("heading") || node.value(LEVEL).is_some(),
            lang,
            key_path,
        };
        former_value_candidates::others(conn, langs, now)
    }
}

/// Returns the one or two hypotheses that make up a difference.
fn explain<'a>(
    difference: u64,
    hypotheses: &[&'a FormerColumnsHypothesis],
) -> Option<Vec<&'a FormerColumnsHypothesis>> {
    if let Some(it) = hypotheses.iter().find(|it| it.difference == difference) {
        return Some(vec![it]);
    }
    let by_difference: HashMap<u64, &'a FormerColumnsHypothesis> =
        hypotheses.iter().map(|it| (it.difference, *it)).collect();
    hypotheses.iter().find_map(|one| {
        let other = *by_difference.get(&difference.wrapping_sub(one.difference))?;
        (one.node != other.node).then(|| vec![*one, other])
    })
}

impl PresentNode {
    /// Visits each node, in the order of the fingerprint.
    fn each(
        conn: &Connection,
        mut visit: impl FnMut(&PresentNode) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        static STATES: SqlTemplate = SqlTemplate::new(
            "
            SELECT node.key, node.id,
                   iif(node.parent IS NULL, file.root || ':' || file.path, parent.id),
                   iif(node.source_hash IS NULL, node.content, NULL), node.name, {state}
              FROM node
              LEFT JOIN node AS parent ON parent.key = node.parent
              LEFT JOIN file ON file.id = node.file
             ORDER BY node.parent, iif(node.parent IS NULL, node.file, NULL), node.position,
                      node.key",
        );
        let mut last: Option<(Option<String>, String)> = None;
        conn.each(STATES.text(), [], PresentNode::read, "read the state", |mut node| {
            node.before = last.take().filter(|it| it.0 == node.family).map(|it| it.1);
            visit(&node)?;
            last = Some((node.family, node.state.id.into_owned()));
            Ok(())
        })
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<PresentNode> {
        Ok(PresentNode {
            key: row.get(0)?,
            family: row.get(2)?,
            before: None,
            content: row.get(3)?,
            name: row.get(4)?,
            state: read_state(row, row.get(1)?, 5)?,
        })
    }

    fn value(&self, column: &str) -> Option<&str> {
        value_of(&self.state, column)
    }

    fn is_code(&self) -> bool {
        self.value(NODE_TYPE) == Some(NodeType::Code.as_str()) || self.value(LANG).is_some()
    }

    fn has_other_label(&self) -> bool {
        links::name(self.value(LABEL).unwrap_or_default()) != self.name
    }

    /// Returns its state with other values.
    fn with(&self, values: &[ColumnValue]) -> NodeState<'static> {
        let mut state = self.state.clone();
        for (column, value) in values {
            let value = value.clone().map(Into::into);
            match position(column) {
                Some(at) => state.fields[at] = value,
                None => {
                    state.given.retain(|it| it.0 != *column);
                    state.given.extend(value.map(|it| (*column, it)));
                }
            }
        }
        state
    }

    /// Returns the hypotheses of values, but for those that it has now.
    fn hypotheses(&self, states: Vec<Vec<ColumnValue>>) -> Vec<FormerColumnsHypothesis> {
        let present = self.term(&self.state);
        let hypothesis = |values: Vec<ColumnValue>| {
            let difference = self.term(&self.with(&values)).wrapping_sub(present);
            (difference != 0).then_some(FormerColumnsHypothesis {
                node: self.key,
                values,
                difference,
            })
        };
        states.into_iter().filter_map(hypothesis).collect()
    }

    /// Returns the hypotheses of one value each, as [`PresentNode::hypotheses`] does.
    fn hypotheses_of_columns(
        &self,
        values: Vec<ColumnValue>,
    ) -> impl Iterator<Item = FormerColumnsHypothesis> {
        let (present, mut state) = (self.term(&self.state), self.state.clone());
        values.into_iter().filter_map(move |(column, value)| {
            let at = position(column)?;
            let now = mem::replace(&mut state.fields[at], value.clone().map(Into::into));
            let difference = self.term(&state).wrapping_sub(present);
            state.fields[at] = now;
            let values = vec![(column, value)];
            (difference != 0).then_some(FormerColumnsHypothesis {
                node: self.key,
                values,
                difference,
            })
        })
    }

    fn term(&self, state: &NodeState<'_>) -> u64 {
        term_of_node(self.family.as_deref(), self.before.as_deref(), state)
    }
}

/// Returns the position of a column among those that every state has.
fn position(column: &str) -> Option<usize> {
    let mut always = columns().iter().filter(|it| it.hashed == FingerprintCoverage::Always);
    always.position(|it| it.name == column)
}

fn value_of<'s>(state: &'s NodeState<'_>, column: &str) -> Option<&'s str> {
    match position(column) {
        Some(at) => state.fields[at].as_deref(),
        None => state.given.iter().find(|it| it.0 == column).map(|it| it.1.as_ref()),
    }
}

/// Returns whether a state has just the entries of the index of fields.
fn is_indexed_as(state: &NodeState<'_>, index: &NodeFacetSet) -> bool {
    let node_type = value_of(state, NODE_TYPE).and_then(NodeType::parse);
    let (Some(node_type), Some(hash)) = (node_type, value_of(state, CONTENT_HASH)) else {
        return false;
    };
    node_facet_set(node_type, hash, value_of(state, FIELDS)).as_ref() == Some(index)
}

/// Returns the entries of the index of fields that a node has.
fn index_of(conn: &Connection, node: i64) -> Result<NodeFacetSet, StoreError> {
    Ok(broken_fields_repair::facets(conn, node)?
        .into_iter()
        .map(|(key, it)| (key, it.to_string()))
        .collect())
}
