//! Finds the nodes whose labels or fields were altered, by the fingerprint of the state.
//!
//! The fingerprint is a sum with one term a node. A label that the text has, or a label or a value
//! that the history or the index of fields has, is the one that a node had at HEAD when it makes up
//! the difference between the sum of the rows and the one that was kept. A file's node gets its own
//! back with the next compile.

use std::collections::{BTreeSet, HashMap};

use rusqlite::{Connection, Row, params};
use serde_json::{Map, Value};

use super::broken_fields::{self, TASK_METADATA};
use crate::model::fields::CanonicalFields;
use crate::model::identity::ContentHash;
use crate::model::memory_fingerprint::{NodeState, term_of_node};
use crate::store::node_columns::{FIELDS, FingerprintUse, SqlTemplate, columns};
use crate::store::record::read_state;
use crate::store::{PreparedStatements, StoreError};
use crate::text::{
    LABEL_CHARS_MAX, first_sentence, fold_and_truncate, fold_whitespace, label_of_text,
};

/// The column of labels.
const LABEL: &str = "label";

/// Earlier labels and fields of a node that are tried, the newest ones.
const VERSIONS_MAX: u32 = 16;

/// An agent's node, with the label and the fields that it had at HEAD.
#[derive(Clone, Debug)]
pub(super) struct AlteredState {
    key: i64,
    id: String,
    /// The label that is there now.
    altered: String,
    label: String,
    fields: Option<String>,
}

/// A node as it may have been, and the difference to the sum that it would make.
struct Hypothesis {
    state: AlteredState,
    difference: u64,
}

/// A node as it is, and its place.
struct PresentNode {
    key: i64,
    family: Option<String>,
    /// The text of an agent's node.
    content: Option<String>,
    state: NodeState<'static>,
}

impl AlteredState {
    /// Returns the node by its id, and by the label that is there now.
    pub(super) fn name(&self) -> String {
        format!("`{}` \"{}\"", self.id, fold_whitespace(&self.altered))
    }
}

/// Returns the one or two nodes whose altered labels or fields explain the whole difference between
/// the state and the fingerprint that HEAD has; none where that is not so.
pub(super) fn find(conn: &Connection, computed: u64) -> Result<Vec<AlteredState>, StoreError> {
    const KEPT: &str = "
        SELECT memory.fingerprint, snapshot.cursor_hash
          FROM memory
          JOIN cursor ON cursor.name = 'HEAD'
          JOIN snapshot ON snapshot.id = cursor.snapshot";
    let read = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
    let Some((kept, head)) = conn.find(KEPT, [], read, "read the fingerprint")? else {
        return Ok(Vec::new());
    };
    let kept = kept.cast_unsigned();
    if ContentHash(kept).to_string() != head || kept == computed {
        return Ok(Vec::new());
    }
    // A history that cannot be read explains nothing.
    let hypotheses = hypotheses(conn).unwrap_or_default();
    Ok(explain(kept.wrapping_sub(computed), &hypotheses).into_iter().cloned().collect())
}

/// Gives the nodes their labels and fields back.
pub(super) fn restore(conn: &Connection, altered: &[AlteredState]) -> Result<(), StoreError> {
    const SET: &str = "UPDATE node SET label = ?2, fields = ?3 WHERE key = ?1";
    for it in altered {
        conn.run(SET, params![it.key, it.label, it.fields], "give a label back")?;
    }
    Ok(())
}

/// Returns the hypotheses that make up a difference.
fn explain(difference: u64, hypotheses: &[Hypothesis]) -> Vec<&AlteredState> {
    if let Some(it) = hypotheses.iter().find(|it| it.difference == difference) {
        return vec![&it.state];
    }
    let by_difference: HashMap<u64, &Hypothesis> =
        hypotheses.iter().map(|it| (it.difference, it)).collect();
    let pair = hypotheses.iter().find_map(|one| {
        let other = by_difference.get(&difference.wrapping_sub(one.difference))?;
        (one.state.key != other.state.key).then(|| vec![&one.state, &other.state])
    });
    pair.unwrap_or_default()
}

/// Returns what each agent's node may have been at HEAD, other than it is.
fn hypotheses(conn: &Connection) -> Result<Vec<Hypothesis>, StoreError> {
    static STATES: SqlTemplate = SqlTemplate::new(
        "
        SELECT node.key, node.id,
               iif(node.parent IS NULL, file.root || ':' || file.path, parent.id),
               iif(node.source_hash IS NULL, node.content, NULL), {state}
          FROM node
          LEFT JOIN node AS parent ON parent.key = node.parent
          LEFT JOIN file ON file.id = node.file
         ORDER BY node.parent, iif(node.parent IS NULL, node.file, NULL), node.position, node.key",
    );
    let mut hypotheses = Vec::new();
    let mut last: Option<(Option<String>, String)> = None;
    conn.each(STATES.text(), [], PresentNode::read, "read the state", |node| {
        let before = last.take().filter(|it| it.0 == node.family).map(|it| it.1);
        add_hypotheses(conn, &node, before.as_deref(), &mut hypotheses)?;
        last = Some((node.family, node.state.id.into_owned()));
        Ok::<_, StoreError>(())
    })?;
    Ok(hypotheses)
}

impl PresentNode {
    fn read(row: &Row<'_>) -> rusqlite::Result<PresentNode> {
        Ok(PresentNode {
            key: row.get(0)?,
            family: row.get(2)?,
            content: row.get(3)?,
            state: read_state(row, row.get(1)?, 4)?,
        })
    }
}

fn add_hypotheses(
    conn: &Connection,
    node: &PresentNode,
    before: Option<&str>,
    hypotheses: &mut Vec<Hypothesis>,
) -> Result<(), StoreError> {
    let Some(content) = &node.content else { return Ok(()) };
    let mut always = columns().iter().filter(|it| it.hashed == FingerprintUse::Always);
    let Some(label_at) = always.position(|it| it.name == LABEL) else { return Ok(()) };
    let now = node.state.fields[label_at].as_deref().unwrap_or_default();
    let given = node.state.given.iter().find(|it| it.0 == FIELDS);
    let fields_now = given.map(|it| it.1.as_ref());
    let earlier = earlier_versions(conn, &node.state.id)?;
    let mut fields = earlier_fields(fields_now, &earlier);
    fields.extend(match fields_now.map(|it| (it, object_of(it))) {
        Some((_, Some(object))) => indexed_fields(conn, node.key, &object)?,
        Some((broken, None)) => unbroken_fields(conn, node.key, broken, &earlier)?,
        None => BTreeSet::new(),
    });
    let sentence = fold_and_truncate(first_sentence(&fold_whitespace(content)), LABEL_CHARS_MAX);
    let labels = [label_of_text(content), sentence].into_iter();
    let labels = labels.chain(earlier.iter().map(|it| it.0.clone()));
    let mut states: BTreeSet<(String, Option<String>)> =
        labels.map(|it| (it, fields_now.map(str::to_owned))).collect();
    states.extend(fields.into_iter().map(|it| (now.to_owned(), it)));
    states.extend(earlier);
    states.remove(&(now.to_owned(), fields_now.map(str::to_owned)));
    let place = node.family.as_deref();
    let present = term_of_node(place, before, &node.state);
    for (label, fields) in states {
        let mut state = node.state.clone();
        state.fields[label_at] = Some(label.clone().into());
        state.given.retain(|it| it.0 != FIELDS);
        state.given.extend(fields.clone().map(|it| (FIELDS, it.into())));
        let difference = term_of_node(place, before, &state).wrapping_sub(present);
        let (id, altered) = (state.id.into_owned(), now.to_owned());
        let state = AlteredState { key: node.key, id, altered, label, fields };
        hypotheses.push(Hypothesis { state, difference });
    }
    Ok(())
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
    for (key, value) in broken_fields::facets(conn, node)? {
        fields.insert(with_value(present, &key, Some(&value)));
        if let Some(within) = present.get(TASK_METADATA).and_then(Value::as_object) {
            let within = with_value(within, &key, Some(&value)).as_deref().and_then(object_of);
            let within = within.map(Value::Object);
            fields.insert(with_value(present, TASK_METADATA, within.as_ref()));
        }
    }
    // A key that was altered is one value too many, and one too few.
    fields.extend(broken_fields::indexed(conn, node)?.map(Some));
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
    fields.extend(broken_fields::one_byte_versions(broken).into_iter().map(Some));
    fields.extend(broken_fields::indexed(conn, node)?.map(Some));
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
