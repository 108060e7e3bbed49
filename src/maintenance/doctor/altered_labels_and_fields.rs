//! Finds the nodes whose labels or fields were altered, by the fingerprint of the state.
//!
//! The fingerprint is a sum with one term a node. A label that the text has, or a label or a value
//! that the history or the index of fields has, is the one that a node had at HEAD when it makes up
//! the difference between the sum of the rows and the one that was kept.
//!
//! Any number of nodes can be told where other rows are witnesses: a label has its hash beside it,
//! and fields have their index. The difference that is left is that of one or two nodes, or nothing
//! explains it. A file's node gets its own back with the next compile.

use std::collections::{BTreeSet, HashMap};

use rusqlite::{Connection, Row, params};
use serde_json::{Map, Value};

use super::broken_fields_repair::{self, TASK_METADATA};
use super::text_hashes::node_name;
use super::typed_nodes;
use crate::model::database_state_fingerprint::{NodeState, term_of_node};
use crate::model::fields::CanonicalFields;
use crate::model::identity::ContentHash;
use crate::model::tree::NodeType;
use crate::store::node_columns::{FIELDS, FingerprintUse, SqlTemplate, columns};
use crate::store::record::read_state;
use crate::store::{FacetEntries, PreparedStatements, StoreError, facet_entries, links};
use crate::text::{
    LABEL_CHARS_MAX, first_sentence, fold_and_truncate, fold_whitespace, label_of_text,
};

/// The column of labels.
const LABEL: &str = "label";

/// Earlier labels and fields of a node that are tried, the newest ones.
const VERSIONS_MAX: u32 = 16;

/// Altered nodes, which explain the difference between the state and HEAD's fingerprint.
#[derive(Debug, Default)]
pub(super) struct NodesAlteredSinceHead {
    /// The nodes that it proves, all of them.
    pub(super) proven: Vec<NodeAlteredSinceHead>,
    /// Where it proves none: the nodes whose labels or fields other rows contradict.
    pub(super) contradicted: Vec<String>,
}

/// A node, with the label and the fields that it had at HEAD.
#[derive(Clone, Debug)]
pub(super) struct NodeAlteredSinceHead {
    key: i64,
    id: String,
    /// The label that is there now.
    altered: String,
    label: String,
    fields: Option<String>,
}

/// A node as it may have been, and the difference to the sum that it would make.
struct Hypothesis {
    state: NodeAlteredSinceHead,
    difference: u64,
}

/// A node as it is, and its place.
struct PresentNode {
    key: i64,
    family: Option<String>,
    /// The text of an agent's node.
    content: Option<String>,
    /// The hash that its label had.
    name: Option<i64>,
    state: NodeState<'static>,
}

/// The hypotheses, and the nodes that other rows contradict.
#[derive(Default)]
struct Hypotheses {
    /// Hypotheses about nodes that nothing contradicts.
    quiet: Vec<Hypothesis>,
    /// Hypotheses that agree with the other rows of a node, by node.
    witnessed: Vec<Vec<Hypothesis>>,
    contradicted: Vec<String>,
    /// The nodes whose index of fields has something else.
    off_index: BTreeSet<i64>,
}

impl NodeAlteredSinceHead {
    /// Returns the node by its id, and by the label that is there now.
    pub(super) fn name(&self) -> String {
        node_name(&self.id, &self.altered)
    }
}

/// Returns the nodes whose altered labels or fields explain the whole difference between the state
/// and the fingerprint that HEAD has.
pub(super) fn find(conn: &Connection, computed: u64) -> Result<NodesAlteredSinceHead, StoreError> {
    const KEPT: &str = "
        SELECT memory.fingerprint, snapshot.cursor_hash
          FROM memory
          JOIN cursor ON cursor.name = 'HEAD'
          JOIN snapshot ON snapshot.id = cursor.snapshot";
    let read = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
    let Some((kept, head)) = conn.find(KEPT, [], read, "read the fingerprint")? else {
        return Ok(NodesAlteredSinceHead::default());
    };
    let kept = kept.cast_unsigned();
    if ContentHash(kept).to_string() != head || kept == computed {
        return Ok(NodesAlteredSinceHead::default());
    }
    // A history that cannot be read explains nothing.
    let hypotheses = Hypotheses::of(conn).unwrap_or_default();
    let proven = hypotheses.explain(kept.wrapping_sub(computed));
    let contradicted = if proven.is_empty() { hypotheses.contradicted } else { Vec::new() };
    Ok(NodesAlteredSinceHead { proven, contradicted })
}

/// Gives the nodes their labels and fields back.
pub(super) fn restore(
    conn: &Connection,
    altered: &[NodeAlteredSinceHead],
) -> Result<(), StoreError> {
    const SET: &str = "UPDATE node SET label = ?2, fields = ?3 WHERE key = ?1";
    for it in altered {
        conn.run(SET, params![it.key, it.label, it.fields], "give a label back")?;
    }
    Ok(())
}

impl Hypotheses {
    /// Collects what each node may have been at HEAD, other than it is.
    fn of(conn: &Connection) -> Result<Hypotheses, StoreError> {
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
        let off_index = typed_nodes::nodes_off_index(conn)?;
        let mut hypotheses = Hypotheses { off_index, ..Hypotheses::default() };
        let mut last: Option<(Option<String>, String)> = None;
        conn.each(STATES.text(), [], PresentNode::read, "read the state", |node| {
            let before = last.take().filter(|it| it.0 == node.family).map(|it| it.1);
            hypotheses.add(conn, &node, before.as_deref())?;
            last = Some((node.family, node.state.id.into_owned()));
            Ok::<_, StoreError>(())
        })?;
        Ok(hypotheses)
    }

    /// Returns the states that make up a difference: all that are told by other rows, and at most
    /// two more.
    fn explain(&self, difference: u64) -> Vec<NodeAlteredSinceHead> {
        let is_one = |it: &&Vec<Hypothesis>| it.len() == 1;
        let told: Vec<&Hypothesis> = self.witnessed.iter().filter(is_one).flatten().collect();
        let open = self.witnessed.iter().filter(|it| !is_one(it)).flatten();
        let open: Vec<&Hypothesis> = self.quiet.iter().chain(open).collect();
        let left = told.iter().fold(difference, |left, it| left.wrapping_sub(it.difference));
        let more = match left {
            0 => Some(Vec::new()),
            _ => explain(left, &open),
        };
        // The other rows may be what was altered.
        let all = || self.quiet.iter().chain(self.witnessed.iter().flatten()).collect::<Vec<_>>();
        let explained = match more {
            Some(more) => told.into_iter().chain(more).collect(),
            None => explain(difference, &all()).unwrap_or_default(),
        };
        explained.into_iter().map(|it| it.state.clone()).collect()
    }
}

/// Returns the one or two hypotheses that make up a difference.
fn explain<'a>(difference: u64, hypotheses: &[&'a Hypothesis]) -> Option<Vec<&'a Hypothesis>> {
    if let Some(it) = hypotheses.iter().find(|it| it.difference == difference) {
        return Some(vec![it]);
    }
    let by_difference: HashMap<u64, &'a Hypothesis> =
        hypotheses.iter().map(|it| (it.difference, *it)).collect();
    hypotheses.iter().find_map(|one| {
        let other = *by_difference.get(&difference.wrapping_sub(one.difference))?;
        (one.state.key != other.state.key).then(|| vec![*one, other])
    })
}

impl PresentNode {
    fn read(row: &Row<'_>) -> rusqlite::Result<PresentNode> {
        Ok(PresentNode {
            key: row.get(0)?,
            family: row.get(2)?,
            content: row.get(3)?,
            name: row.get(4)?,
            state: read_state(row, row.get(1)?, 5)?,
        })
    }
}

impl Hypotheses {
    fn add(
        &mut self,
        conn: &Connection,
        node: &PresentNode,
        before: Option<&str>,
    ) -> Result<(), StoreError> {
        const CONTENT: &str = "SELECT content FROM node WHERE key = ?1";
        let mut always = columns().iter().filter(|it| it.hashed == FingerprintUse::Always);
        let Some(label_at) = always.position(|it| it.name == LABEL) else { return Ok(()) };
        let now = node.state.fields[label_at].as_deref().unwrap_or_default();
        let has_other_label = links::name(now) != node.name;
        let has_other_fields = self.off_index.contains(&node.key);
        let is_contradicted = has_other_label || has_other_fields;
        let content = match &node.content {
            Some(content) => content.clone(),
            None if is_contradicted => {
                conn.row(CONTENT, [node.key], |row| row.get(0), "read a text")?
            }
            None => return Ok(()),
        };
        let given = node.state.given.iter().find(|it| it.0 == FIELDS);
        let fields_now = given.map(|it| it.1.as_ref());
        let earlier = earlier_versions(conn, &node.state.id)?;
        let mut fields = earlier_fields(fields_now, &earlier);
        fields.extend(match fields_now.map(|it| (it, object_of(it))) {
            Some((_, Some(object))) => indexed_fields(conn, node.key, &object)?,
            Some((broken, None)) => unbroken_fields(conn, node.key, broken, &earlier)?,
            None => BTreeSet::new(),
        });
        let sentence =
            fold_and_truncate(first_sentence(&fold_whitespace(&content)), LABEL_CHARS_MAX);
        let mut labels = BTreeSet::from([label_of_text(&content), sentence]);
        labels.extend(earlier.iter().map(|it| it.0.clone()));
        let mut states: BTreeSet<(String, Option<String>)> = earlier.into_iter().collect();
        if has_other_label && has_other_fields {
            for label in &labels {
                states.extend(fields.iter().map(|it| (label.clone(), it.clone())));
            }
        }
        states.extend(labels.into_iter().map(|it| (it, fields_now.map(str::to_owned))));
        states.extend(fields.into_iter().map(|it| (now.to_owned(), it)));
        states.remove(&(now.to_owned(), fields_now.map(str::to_owned)));
        let hypotheses = node.hypotheses((label_at, now), before, states);
        if !is_contradicted {
            self.quiet.extend(hypotheses);
            return Ok(());
        }
        let index = if has_other_fields { Some(index_of(conn, node.key)?) } else { None };
        let agrees = |it: &Hypothesis| {
            let is_label = links::name(&it.state.label) == node.name;
            is_label && index.as_ref().is_none_or(|index| node.is_indexed_as(&it.state, index))
        };
        let witnessed: Vec<Hypothesis> = hypotheses.into_iter().filter(agrees).collect();
        self.contradicted.push(node_name(&node.state.id, now));
        self.witnessed.push(witnessed);
        Ok(())
    }
}

impl PresentNode {
    /// Returns the hypotheses of states, by label and fields.
    fn hypotheses(
        &self,
        (label_at, now): (usize, &str),
        before: Option<&str>,
        states: BTreeSet<(String, Option<String>)>,
    ) -> Vec<Hypothesis> {
        let place = self.family.as_deref();
        let present = term_of_node(place, before, &self.state);
        let hypothesis = |(label, fields): (String, Option<String>)| {
            let mut state = self.state.clone();
            state.fields[label_at] = Some(label.clone().into());
            state.given.retain(|it| it.0 != FIELDS);
            state.given.extend(fields.clone().map(|it| (FIELDS, it.into())));
            let difference = term_of_node(place, before, &state).wrapping_sub(present);
            let (id, altered) = (state.id.into_owned(), now.to_owned());
            let state = NodeAlteredSinceHead { key: self.key, id, altered, label, fields };
            Hypothesis { state, difference }
        };
        states.into_iter().map(hypothesis).collect()
    }

    /// Returns whether a state has just the entries of the index of fields.
    fn is_indexed_as(&self, state: &NodeAlteredSinceHead, index: &FacetEntries) -> bool {
        // The type is the first of the hashed columns, and the hash of the text the last.
        let (Some(Some(node_type)), Some(Some(hash))) =
            (self.state.fields.first(), self.state.fields.last())
        else {
            return false;
        };
        let node_type = NodeType::parse(node_type);
        let made = node_type.and_then(|it| facet_entries(it, hash, state.fields.as_deref()));
        made.as_ref() == Some(index)
    }
}

/// Returns the entries of the index of fields that a node has.
fn index_of(conn: &Connection, node: i64) -> Result<FacetEntries, StoreError> {
    Ok(broken_fields_repair::facets(conn, node)?
        .into_iter()
        .map(|(key, it)| (key, it.to_string()))
        .collect())
}

/// Returns the newest labels and fields that the history has of a node.
fn earlier_versions(
    conn: &Connection,
    id: &str,
) -> Result<Vec<(String, Option<String>)>, StoreError> {
    const EARLIER: &str = "
        SELECT old_label, old_fields
          FROM diff
         WHERE node_id = ?1 AND old_label IS NOT NULL
         GROUP BY old_label, old_fields
         ORDER BY max(snapshot) DESC
         LIMIT ?2";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    conn.rows(EARLIER, params![id, VERSIONS_MAX], read, "read earlier labels")
}

/// Returns the fields with one value of an earlier version, or without one.
fn earlier_fields(
    now: Option<&str>,
    earlier: &[(String, Option<String>)],
) -> BTreeSet<Option<String>> {
    let mut fields = BTreeSet::new();
    let Some(present) = &now.and_then(object_of) else { return fields };
    for (_, old) in earlier {
        let old = old.as_deref().and_then(object_of).unwrap_or_default();
        for key in present.keys().chain(old.keys()) {
            fields.insert(with_value(present, key, old.get(key)));
        }
    }
    fields
}

/// Returns the fields with one value that the index of fields has: bytes of it are elsewhere in the
/// file.
fn indexed_fields(
    conn: &Connection,
    node: i64,
    present: &Map<String, Value>,
) -> Result<BTreeSet<Option<String>>, StoreError> {
    let mut fields = BTreeSet::new();
    for (key, value) in broken_fields_repair::facets(conn, node)? {
        fields.insert(with_value(present, &key, Some(&value)));
        if let Some(within) = present.get(TASK_METADATA).and_then(Value::as_object) {
            let within = with_value(within, &key, Some(&value)).as_deref().and_then(object_of);
            let within = within.map(Value::Object);
            fields.insert(with_value(present, TASK_METADATA, within.as_ref()));
        }
    }
    // A key that was altered is one value too many, and one too few.
    fields.extend(broken_fields_repair::indexed(conn, node)?.map(Some));
    Ok(fields)
}

/// Returns what fields may have been that are no object any more.
fn unbroken_fields(
    conn: &Connection,
    node: i64,
    broken: &str,
    earlier: &[(String, Option<String>)],
) -> Result<BTreeSet<Option<String>>, StoreError> {
    let mut fields: BTreeSet<Option<String>> = earlier.iter().map(|it| it.1.clone()).collect();
    fields.extend(broken_fields_repair::one_byte_versions(broken).into_iter().map(Some));
    fields.extend(broken_fields_repair::indexed(conn, node)?.map(Some));
    Ok(fields)
}

/// Returns canonical fields with a value, or without one.
fn with_value(object: &Map<String, Value>, key: &str, value: Option<&Value>) -> Option<String> {
    let mut object = object.clone();
    match value {
        Some(value) => drop(object.insert(key.to_owned(), value.clone())),
        None => drop(object.remove(key)),
    }
    CanonicalFields::new(object).ok().map(|it| it.to_string())
}

fn object_of(fields: &str) -> Option<Map<String, Value>> {
    CanonicalFields::parse_loosely(fields).ok().map(CanonicalFields::into_object)
}
