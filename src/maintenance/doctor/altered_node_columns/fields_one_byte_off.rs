//! Finds the node of whose fields one byte was altered, where no other row has what it was.
//!
//! Every printable byte is tried in every place. The time grows with the square of the length of
//! the fields. So two nodes are not tried together, and the bytes that are hashed have a limit.

use rusqlite::Connection;

use super::{FIELDS, FormerColumnsHypothesis, LABEL, PresentNode};
use crate::model::database_state_fingerprint::find_byte_of_term;
use crate::store::StoreError;
use crate::store::past_states::unrestorable_snapshots;

/// Bytes that are hashed at most: enough for the fields of some thousand nodes, in some seconds.
const HASHED_BYTES_MAX: u64 = 1 << 35;

/// Printable bytes.
const VERSIONS_OF_BYTE: u64 = 95;

/// Bytes that take as long to hash as it takes to begin and end a hash.
const BYTES_OF_BEGINNING: u64 = 256;

/// Returns the node whose fields with another byte make up the difference, among those that the
/// history points to.
///
/// Nodes whose fields are too long for what is left of the search are passed over.
pub(super) fn find(
    conn: &Connection,
    difference: u64,
) -> Result<Option<FormerColumnsHypothesis>, StoreError> {
    let suspects = unrestorable_snapshots::find_since_altered(conn)?.suspects;
    let (mut found, mut n_left) = (None, HASHED_BYTES_MAX);
    PresentNode::each(conn, |node| {
        let Some(fields) = node.value(FIELDS).filter(|_| suspects.contains(&node.key)) else {
            return Ok(());
        };
        let n_bytes = fields.len() as u64;
        let n_hashed = VERSIONS_OF_BYTE
            .saturating_mul(n_bytes)
            .saturating_mul(n_bytes / 2 + BYTES_OF_BEGINNING);
        if found.is_none() && n_hashed <= n_left {
            n_left -= n_hashed;
            found = former_fields(node, fields, difference);
        }
        Ok(())
    })?;
    Ok(found)
}

fn former_fields(
    node: &PresentNode,
    fields: &str,
    difference: u64,
) -> Option<FormerColumnsHypothesis> {
    let term = node.term(&node.state).wrapping_add(difference);
    let (family, before) = (node.family.as_deref(), node.before.as_deref());
    let (at, byte) = find_byte_of_term(family, before, &node.state, term)?;
    let mut bytes = fields.as_bytes().to_vec();
    *bytes.get_mut(at)? = byte;
    let fields = String::from_utf8(bytes).ok()?;
    let label = node.value(LABEL).map(str::to_owned);
    Some(FormerColumnsHypothesis {
        node: node.key,
        values: vec![(LABEL, label), (FIELDS, Some(fields))],
        difference,
    })
}
