//! Reads every node as the rest of the program does, and counts the tokens of agents' texts.

use std::path::Path;

use rusqlite::{Connection, params};

use super::text_hashes::node_name;
use super::{CheckStatus, first_few, shown, verdict};
use crate::model::identity::{ContentHash, NodeId};
use crate::model::tree::{ContentFormat, NodeType};
use crate::store::node_columns::SqlTemplate;
use crate::store::record::NodeRecord;
use crate::store::{ErrorContext, PreparedStatements, StoreError};
use crate::text::tokens;

/// Checks the columns of every node.
pub(super) fn examine(conn: &Connection, _: &Path) -> Result<(CheckStatus, String), StoreError> {
    static NODES: SqlTemplate = SqlTemplate::new("SELECT {record} FROM node");
    let mut query = conn.prepare(NODES.text()).doing("read the nodes")?;
    let mut rows = query.query([]).doing("read the nodes")?;
    let (mut n, mut bad) = (0, Vec::new());
    while let Some(row) = rows.next().doing("read the nodes")? {
        n += 1;
        let what = match NodeRecord::read(row) {
            Ok(Ok(node)) if !has_other_tokens(&node) => continue,
            Ok(Ok(node)) => format!("node `{}` counts other tokens than its text has", node.id),
            Ok(Err(StoreError::Corrupt { what })) => what,
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        bad.push(shown(&what));
    }
    let named = format!("{} of {n} nodes are damaged: {}", bad.len(), first_few(&bad));
    Ok(verdict(bad.is_empty(), format!("{n} nodes can be read"), named))
}

/// Returns whether a node counts other tokens than its text has. A file's text cannot have more
/// than its bytes; an altered text is counted again when its hash is.
fn has_other_tokens(node: &NodeRecord) -> bool {
    let is_off = match node.source_hash == Some(node.content_hash) {
        true => node.content.len() < node.token_count as usize,
        false => tokens::count(&node.content) != node.token_count,
    };
    is_off && ContentHash::of(&node.content) == node.content_hash
}

/// Replaces malformed values by valid ones; returns a note that names the nodes.
pub(super) fn repair(conn: &Connection) -> Result<Vec<String>, StoreError> {
    let mended = mend_values(conn)?;
    let note = || format!("values that no such node has were replaced: {}", first_few(&mended));
    Ok(if mended.is_empty() { Vec::new() } else { vec![note()] })
}

/// Replaces malformed values by valid ones; returns the names of the nodes, with their columns.
fn mend_values(conn: &Connection) -> Result<Vec<String>, StoreError> {
    const NODES: &str = "
        SELECT key, id, node_type, format, content, content_hash, label, token_count,
               source_hash IS content_hash, level IS NULL OR level BETWEEN 1 AND 6
          FROM node";
    const SET: &str = "
        UPDATE node
           SET id = ?2, node_type = ?3, format = ?4, token_count = ?5, content_hash = ?6,
               level = iif(level BETWEEN 1 AND 6, level, NULL)
         WHERE key = ?1";
    let mut query = conn.prepare(NODES).doing("read the nodes")?;
    let mut rows = query.query([]).doing("read the nodes")?;
    let mut names = Vec::new();
    while let Some(row) = rows.next().doing("read the nodes")? {
        let text = |idx: usize| -> Result<String, StoreError> {
            let value = row.get_ref(idx).doing("read the nodes")?;
            Ok(value.as_bytes().map(|it| String::from_utf8_lossy(it).into()).unwrap_or_default())
        };
        let is = |idx: usize| row.get::<_, bool>(idx).doing("read the nodes");
        let (key, counted): (i64, i64) =
            (row.get(0).doing("read the nodes")?, row.get(7).doing("read the nodes")?);
        let (id, content) = (text(1)?, text(4)?);
        let node_type = NodeType::parse(&text(2)?);
        let format = ContentFormat::parse(&text(3)?);
        let hash = ContentHash::of(&content).to_string();
        let has_its_tokens = match is(8)? {
            true => (0..=content.len() as i64).contains(&counted),
            false => counted == i64::from(tokens::count(&content)),
        };
        let values = [
            ("id", NodeId::parse(&id).is_some()),
            ("type", node_type.is_some()),
            ("format", format.is_some()),
            ("hash", hash == text(5)?),
            ("tokens", has_its_tokens),
            ("level", is(9)?),
        ];
        let bad: Vec<&str> = values.iter().filter(|it| !it.1).map(|it| it.0).collect();
        if bad.is_empty() {
            continue;
        }
        names.push(format!("{} ({})", node_name(&id, &text(6)?), bad.join(", ")));
        let (node_type, format) = (node_type.unwrap_or_default(), format.unwrap_or_default());
        let id = sound_id(conn, key, &id, (node_type, &content))?;
        let n_tokens = tokens::count(&content);
        let set = params![key, id, node_type.as_str(), format.as_str(), n_tokens, hash];
        conn.run(SET, set, "mend nodes")?;
    }
    Ok(names)
}

/// Returns the id of a node or, where it is none or another one has it, the first free one that a
/// node of its type and text is born with.
fn sound_id(
    conn: &Connection,
    key: i64,
    id: &str,
    (node_type, content): (NodeType, &str),
) -> Result<Option<String>, StoreError> {
    const TAKEN: &str = "SELECT 1 FROM node WHERE id = ?1 AND key <> ?2";
    let born = (0..u32::MAX).map(|nth| NodeId::birth(node_type, NodeId::AGENT_PATH, content, nth));
    for candidate in NodeId::parse(id).into_iter().chain(born) {
        let candidate = candidate.to_string();
        if !conn.has(TAKEN, params![candidate, key], "mend nodes")? {
            return Ok(Some(candidate));
        }
    }
    Ok(None)
}
