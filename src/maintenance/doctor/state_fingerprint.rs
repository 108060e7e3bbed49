//! Compares the fingerprint of the rows with the kept ones, and names the nodes that make the
//! difference, or else those that the history points to.

use std::path::Path;

use rusqlite::Connection;

use super::text_hashes::name_of_node;
use super::{
    CheckStatus, PresentStateFingerprints, altered_node_columns, first_few,
    nodes_gone_without_diff, verdict,
};
use crate::store::StoreError;
use crate::store::past_states::unrestorable_snapshots;

/// Computes the fingerprint of the whole state, and compares it with the stored one and HEAD's.
pub(super) fn examine(conn: &Connection, _: &Path) -> Result<(CheckStatus, String), StoreError> {
    let found = PresentStateFingerprints::read(conn)?;
    let (is_fine, altered) = (found.agree(), altered_node_columns::find(conn, &found)?);
    let (PresentStateFingerprints { computed, kept, .. }, head) = (&found, found.of_head());
    let mut bad = format!("the state is {computed}, kept was {kept}, HEAD says {head}");
    let is_proven = is_fine || !altered.proven.is_empty();
    let proven: Vec<String> = altered.proven.into_iter().map(|it| it.name).collect();
    for (what, names) in [("altered", proven), ("doubtful", altered.contradicted)] {
        if !names.is_empty() {
            bad.push_str(&format!("; {} {what} nodes: {}", names.len(), first_few(&names)));
        }
    }
    let gone = if is_fine { None } else { nodes_gone_without_diff::named(conn)? };
    if !is_proven && gone.is_none() && found.is_head_kept() {
        bad.push_str(&what_is_unproven(conn)?);
    }
    bad.extend(gone.map(|it| format!("; {it}")));
    Ok(verdict(is_fine, format!("the state is {computed}, as HEAD says"), bad))
}

/// Tells which nodes may have been altered, and what their repair gives up.
fn what_is_unproven(conn: &Connection) -> Result<String, StoreError> {
    let (suspects, lost) = suspects(conn)?;
    let mut text = String::new();
    if !suspects.is_empty() {
        let (n, names) = (suspects.len(), first_few(&suspects));
        text.push_str(&format!("; the history points to {n} nodes: {names}"));
    }
    if !lost.is_empty() {
        text.push_str(&format!(
            "; where nothing else proves what was altered, `doctor --fix` takes the rows as they \
             are, and no rollback leads to these snapshots any more: {}",
            first_few(&lost)
        ));
    }
    Ok(text)
}

/// Returns the names of the nodes that the history points to where the rows are not HEAD's state,
/// and the snapshots to whose states the rows do not lead.
pub(super) fn suspects(conn: &Connection) -> Result<(Vec<String>, Vec<String>), StoreError> {
    // A history that cannot be read points to nothing.
    let since = unrestorable_snapshots::find_since_altered(conn).unwrap_or_default();
    let names: Result<Vec<String>, StoreError> =
        since.suspects.iter().map(|it| name_of_node(conn, *it)).collect();
    Ok((names?, since.lost.iter().map(i64::to_string).collect()))
}
