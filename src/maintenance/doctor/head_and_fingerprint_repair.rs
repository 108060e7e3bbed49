//! Restores the marks of the present state that were altered: its fingerprint, HEAD, and the
//! fingerprint of HEAD's snapshot. The rows and the other marks prove what each was.

use rusqlite::{Connection, Row, params};

use super::compute_state_fingerprint;
use crate::model::identity::ContentHash;
use crate::store::past_states::unrestorable_snapshots;
use crate::store::{PreparedStatements, StoreError};

/// Sets marks right that differ from the rows and from another mark; returns notes on them.
pub(super) fn restore(conn: &Connection) -> Result<Vec<String>, StoreError> {
    const KEPT: &str = "SELECT fingerprint FROM memory";
    const SET_KEPT: &str = "UPDATE memory SET fingerprint = ?1";
    const HEAD: &str = "SELECT snapshot FROM cursor WHERE name = 'HEAD'";
    const MOVE_HEAD: &str = "UPDATE cursor SET snapshot = ?1 WHERE name = 'HEAD'";
    const NEWEST: &str = "SELECT id, cursor_hash FROM snapshot ORDER BY id DESC LIMIT 1";
    const SET_HASH: &str = "UPDATE snapshot SET cursor_hash = ?2 WHERE id = ?1";
    let doing = "read the fingerprint";
    let computed = compute_state_fingerprint(conn)?;
    let hash = ContentHash(computed).to_string();
    let kept: Option<i64> = conn.find(KEPT, [], |row| row.get(0), doing)?;
    let head: Option<i64> = conn.find(HEAD, [], |row| row.get(0), doing)?;
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let newest: Option<(i64, String)> = conn.find(NEWEST, [], read, doing)?;
    let (Some(kept), Some(head), Some((newest, newest_hash))) = (kept, head, newest) else {
        return Ok(Vec::new());
    };
    let is_kept = kept.cast_unsigned() == computed;
    let mut notes = Vec::new();
    if newest_hash != hash {
        if !is_kept || !unrestorable_snapshots::leads_to_the_one_before(conn, newest)? {
            return Ok(notes);
        }
        conn.run(SET_HASH, params![newest, hash], "restore a fingerprint")?;
        notes.push(format!("the fingerprint of snapshot {newest} is again that of its rows"));
    }
    if head != newest {
        conn.run(MOVE_HEAD, [newest], "restore HEAD")?;
        notes.push(format!("HEAD is again snapshot {newest}"));
    }
    if !is_kept {
        conn.run(SET_KEPT, [computed.cast_signed()], "restore the fingerprint")?;
        notes.push("the kept fingerprint is again that of HEAD".to_owned());
    }
    Ok(notes)
}
