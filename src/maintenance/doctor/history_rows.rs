//! Reads the history, follows it back to the state of every snapshot, and gives up what no rollback
//! restores.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::Connection;

use super::{CheckStatus, count, first_few};
use crate::store::past_states::{legacy_history_completion, unrestorable_snapshots};
use crate::store::{PreparedStatements, StoreError, history_reader};

/// Counts the snapshots whose number of changes is not that of their rows.
const MISCOUNTED: &str = "
    SELECT count(*)
      FROM change_count
     WHERE (added, modified, removed) IS NOT (
           SELECT count(*) FILTER (WHERE op = 'add'), count(*) FILTER (WHERE op = 'mod'),
                  count(*) FILTER (WHERE op = 'rem')
             FROM diff
            WHERE diff.snapshot = change_count.snapshot)";

/// Reads every change of the history as the rest of the program does, and follows it back to the
/// state of every snapshot.
pub(super) fn examine(conn: &Connection, _: &Path) -> Result<(CheckStatus, String), StoreError> {
    let (n, unreadable) = history_reader::unreadable_changes(conn)?;
    if !unreadable.is_empty() {
        let (n_bad, first) = (unreadable.len(), first_few(&unreadable));
        let bad = format!("{n_bad} of {n} changes do not say what a node was: {first}");
        return Ok((CheckStatus::Fail, bad));
    }
    let found = unrestorable_snapshots::find(conn)?;
    let n_snapshots = found.n_snapshots;
    if !found.lost.is_empty() {
        let (n_lost, names) = (found.lost.len(), names(&found.lost));
        let why = "since their history was altered";
        let bad = format!("{n_lost} of {n_snapshots} snapshots cannot be restored, {why}: {names}");
        return Ok((CheckStatus::Fail, bad));
    }
    let n_miscounted = count(conn, MISCOUNTED)?;
    if 0 < n_miscounted {
        let bad = format!("{n_miscounted} snapshots count other changes than they have");
        return Ok((CheckStatus::Fail, bad));
    }
    let mut fine = format!("{n} changes can be read");
    if !found.waiting.is_empty() {
        let names = names(&found.waiting);
        fine.push_str(&format!("; snapshots that wait for the next compile: {names}"));
    }
    Ok((CheckStatus::Pass, fine))
}

/// Completes changes that an older program or another one left incomplete, and gives up snapshots
/// that the history does not lead back to.
pub(super) fn repair(conn: &Connection) -> Result<Vec<String>, StoreError> {
    const COUNT: &str = "
        INSERT OR REPLACE INTO change_count (snapshot, added, modified, removed)
        SELECT snapshot, count(*) FILTER (WHERE op = 'add'), count(*) FILTER (WHERE op = 'mod'),
               count(*) FILTER (WHERE op = 'rem')
          FROM diff
         WHERE snapshot IN (SELECT snapshot FROM change_count)
         GROUP BY snapshot";
    const UNCOUNT: &str =
        "DELETE FROM change_count WHERE snapshot NOT IN (SELECT snapshot FROM diff)";
    let mut notes = Vec::new();
    if !history_reader::unreadable_changes(conn)?.1.is_empty() {
        let n_dropped = history_reader::mend_unreadable(conn)?;
        if 0 < n_dropped {
            notes.push(format!("{n_dropped} changes of no node were dropped"));
        }
        // The fingerprints stay: they tell which states the completed rows lead to.
        legacy_history_completion::complete_rows(conn)?;
    }
    // What a change does may have been altered, too.
    if 0 < count(conn, MISCOUNTED)? {
        conn.run(COUNT, [], "count the changes")?;
        conn.run(UNCOUNT, [], "count the changes")?;
    }
    let lost = unrestorable_snapshots::find(conn)?.lost;
    unrestorable_snapshots::give_up(conn, &lost)?;
    if !lost.is_empty() {
        notes.push(format!("no rollback to these snapshots any more: {}", names(&lost)));
    }
    Ok(notes)
}

fn names(snapshots: &BTreeSet<i64>) -> String {
    first_few(&snapshots.iter().map(i64::to_string).collect::<Vec<_>>())
}
