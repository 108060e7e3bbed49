//! Repairs the faults that the checks find, each in a transaction of its own.
//!
//! A repair makes rows consistent with each other; it invents no text. Its changes of the state get
//! a snapshot of their own, so that the fingerprints of the history stay as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rusqlite::{Connection, Row, params};

use super::altered_node_columns::NodeAlteredSinceHead;
use super::{
    CHECKS, PresentStateFingerprints, altered_file_and_root_row_ids, altered_manual_edges,
    altered_node_columns, broken_fields_repair, compile_roots, compute_state_fingerprint,
    dangling_diffs, derived_tables, first_few, head_and_fingerprint_repair, history_rows,
    invalid_utf8_texts, lost_file_row_recovery, node_files, node_rows, nodes_gone_without_diff,
    number_ranges, repair_history_recorder, rowid_overflow_and_singletons, run, source_file_paths,
    state_fingerprint, text_hashes, typed_nodes,
};
use crate::model::clock::UnixMillis;
use crate::model::heat;
use crate::model::identity::ContentHash;
use crate::store::commit_outcome::commit;
use crate::store::hashes_before_repairs::REPAIR_MESSAGE;
use crate::store::replica_write_guard::mark_unpublished;
use crate::store::write_lock_and_holder::begin_write;
use crate::store::{ErrorContext, PreparedStatements, StoreError, connection, last_resort, schema};

/// Rounds of removing dangling references; each can leave further ones.
const ROUNDS_MAX: usize = 16;

/// The note on a state that nothing explains.
pub(crate) const READ_AGAIN: &str = "the next compile reads every file again";

/// A repair, which returns what a person should know of it.
type RepairFn = fn(&Connection, UnixMillis) -> Result<Vec<String>, StoreError>;

/// The repairs, in their order: each starts from the result of those before it.
const FIXES: &[(&str, RepairFn)] = &[
    ("row_keys", |conn, _| quiet(rowid_overflow_and_singletons::move_keys(conn))),
    ("fts5_sync", |conn, _| quiet(rebuild_index(conn))),
    ("text_encoding", |conn, _| invalid_utf8_texts::repair(conn)),
    ("single_rows", |conn, _| quiet(rowid_overflow_and_singletons::make_single_rows(conn))),
    ("number_ranges", |conn, _| quiet(number_ranges::repair(conn))),
    ("file_paths", |conn, _| source_file_paths::repair(conn)),
    // Rows that break the constraints of the table fail the integrity check as well.
    ("custom_views", |conn, _| quiet(typed_nodes::drop_broken_views(conn))),
    ("integrity_check", |conn, _| quiet(rebuild_indexes(conn))),
    ("orphan_parent_id", |conn, _| quiet(adopt_orphans(conn))),
    ("parent_cycles", |conn, _| quiet(cut_cycles(conn))),
    ("dangling_diffs", |conn, _| dangling_diffs::repair(conn)),
    ("head_cursor", |conn, _| quiet(repoint_head(conn))),
    ("foreign_keys", |conn, _| drop_dangling(conn)),
    ("stale_compile_root", |conn, _| compile_roots::repair(conn)),
    // Before other repairs of the state, whose changes would be a part of the difference.
    ("fingerprint", |conn, _| head_and_fingerprint_repair::restore(conn)),
    ("fingerprint", |conn, _| altered_file_and_root_row_ids::restore(conn)),
    ("fingerprint", |conn, _| lost_file_row_recovery::restore_altered_path(conn)),
    ("fingerprint", |conn, _| restore_altered(conn)),
    ("node_files", |conn, _| node_files::repair(conn)),
    ("content_hashes", text_hashes::repair),
    ("node_rows", |conn, _| node_rows::repair(conn)),
    ("heat_rows", |conn, _| quiet(give_heat(conn))),
    ("history_rows", |conn, _| history_rows::repair(conn)),
    ("references", |conn, _| altered_manual_edges::repair(conn)),
    ("fields", |conn, _| broken_fields_repair::repair(conn)),
    ("facets", |conn, _| quiet(derived_tables::make_again(conn, "facet"))),
    ("typed_edges", |conn, _| quiet(derived_tables::make_again(conn, "typed_edge"))),
    ("fingerprint", adopt_state),
    ("running_totals", |conn, _| quiet(derived_tables::make_again(conn, "running_total"))),
];

fn quiet(outcome: Result<(), StoreError>) -> Result<Vec<String>, StoreError> {
    outcome.map(|()| Vec::new())
}

/// Gives altered nodes back what HEAD's fingerprint proves, and names those of which it proves
/// nothing.
fn restore_altered(conn: &Connection) -> Result<Vec<String>, StoreError> {
    let altered = altered_node_columns::find(conn, &PresentStateFingerprints::read(conn)?)?;
    altered_node_columns::restore(conn, &altered.proven)?;
    let unproven = match &altered.contradicted[..] {
        [] => None,
        names => Some(format!(
            "other rows contradict these nodes, which are taken as they are: {}",
            first_few(names)
        )),
    };
    Ok(altered.proven.iter().map(NodeAlteredSinceHead::note).chain(unproven).collect())
}

/// Takes the state as it is, and has the next compile compare it with the files.
fn adopt_state(conn: &Connection, now: UnixMillis) -> Result<Vec<String>, StoreError> {
    node_files::separate(conn)?;
    let lost = nodes_gone_without_diff::named(conn)?;
    let suspects = match lost {
        Some(_) => Vec::new(),
        None => state_fingerprint::suspects(conn)?.0,
    };
    text_hashes::forget_hashes(conn)?;
    rewrite_fingerprint(conn, REPAIR_MESSAGE, now)?;
    let suspects = (!suspects.is_empty()).then(|| {
        let (n, names) = (suspects.len(), first_few(&suspects));
        format!("nothing proves what was altered; the history points to {n} nodes: {names}")
    });
    Ok(std::iter::once(READ_AGAIN.to_owned()).chain(lost).chain(suspects).collect())
}

/// The outcome of each repair that was tried, by the name of its check.
pub(crate) type RepairOutcomes = BTreeMap<&'static str, Result<Vec<String>, String>>;

/// Tries the repair of every failed check, and returns the outcome of each.
pub(crate) fn repair_failed(conn: &Connection, path: &Path, now: UnixMillis) -> RepairOutcomes {
    let mut tried = RepairOutcomes::new();
    let mut refused = BTreeSet::new();
    for (nth, &(name, fix)) in FIXES.iter().enumerate() {
        // Where the system refused a repair, a later one would change more than is needed.
        if refused.contains(name) {
            continue;
        }
        if !is_bad(name, conn, path) {
            continue;
        }
        let fixed = begin_write(conn, "begin a repair").and_then(|tx| {
            schema::check(&tx, path)?;
            let notes = fix(&tx, now)?;
            mark_unpublished(&tx, "doctor --fix")?;
            commit(tx, "commit a repair").map(|()| notes)
        });
        if let Err(error) = &fixed
            && (error.is_refusal() || matches!(error, StoreError::InDoubt { .. }))
        {
            refused.insert(name);
        }
        let is_tried_again = FIXES[nth + 1..].iter().any(|it| it.0 == name);
        if is_tried_again && fixed.as_ref().is_ok_and(Vec::is_empty) {
            continue;
        }
        match (tried.get_mut(name), fixed) {
            (Some(Ok(notes)), Ok(more)) => notes.extend(more),
            (_, fixed) => {
                tried.insert(name, fixed.map_err(|error| unrepaired(&error, path)));
            }
        }
    }
    if tried.values().any(Result::is_ok) {
        // Whoever keeps sums counts anew; whoever watches looks again.
        let _ = execute(conn, "UPDATE pulse SET views = views + 1", "tell of a repair");
    }
    tried
}

/// Returns whether a check fails. The one of the fingerprint, which has several repairs, is not
/// asked which nodes were altered.
fn is_bad(name: &'static str, conn: &Connection, path: &Path) -> bool {
    let Some(&(_, examine)) = CHECKS.iter().find(|it| it.0 == name) else { return false };
    match name {
        "fingerprint" => PresentStateFingerprints::read(conn).map_or(true, |it| !it.agree()),
        _ => run(name, examine, conn, path).is_bad(),
    }
}

/// Returns the text of an error of a repair. Unless the system or another process is the cause, it
/// names what is left to try: not the repair itself.
pub(crate) fn unrepaired(error: &StoreError, path: &Path) -> String {
    match error {
        StoreError::Sqlite { doing, source } if error.is_damage() || !error.is_outside() => {
            format!("cannot {doing}: {source}; {}", last_resort(&path.display()))
        }
        error => error.to_string(),
    }
}

fn execute(conn: &Connection, sql: &str, doing: &'static str) -> Result<(), StoreError> {
    conn.execute(sql, []).map(drop).doing(doing)
}

/// Makes the full-text index anew, from the version of its format on: SQLite opens no index whose
/// version it does not know. The other settings are those of the next write.
fn rebuild_index(conn: &Connection) -> Result<(), StoreError> {
    const SETTINGS: &str = "
        DELETE FROM node_fts_config;
        INSERT INTO node_fts_config (k, v) VALUES ('version', 4);";
    const REBUILD: &str = "INSERT INTO node_fts (node_fts) VALUES ('rebuild')";
    const DOING: &str = "rebuild the full-text index";
    connection::with_index_tables(conn, || conn.execute_batch(SETTINGS)).doing(DOING)?;
    execute(conn, REBUILD, DOING)
}

/// Makes all indexes anew. `REINDEX` alone, which is for those of unique columns, keeps the kind of
/// an index's first page, which may be that of a table.
fn rebuild_indexes(conn: &Connection) -> Result<(), StoreError> {
    const INDEXES: &str =
        "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL";
    const DOING: &str = "rebuild the indexes";
    rebuild_index(conn)?;
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let indexes: Vec<(String, String)> = conn.rows(INDEXES, [], read, DOING)?;
    for (name, sql) in indexes {
        conn.execute_batch(&format!("DROP INDEX {name}; {sql}")).doing(DOING)?;
    }
    conn.execute_batch("REINDEX").doing(DOING)
}

fn adopt_orphans(conn: &Connection) -> Result<(), StoreError> {
    const ADOPT: &str = "
        UPDATE node
           SET parent = NULL
         WHERE parent IS NOT NULL
           AND parent NOT IN (SELECT key FROM node)";
    execute(conn, ADOPT, "make orphans roots")
}

/// Breaks each cycle by making its node with the lowest key a root.
fn cut_cycles(conn: &Connection) -> Result<(), StoreError> {
    const PARENTS: &str = "SELECT key, parent FROM node WHERE parent IS NOT NULL";
    const CUT: &str = "UPDATE node SET parent = NULL WHERE key = ?1";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let parents: BTreeMap<i64, i64> = conn.rows(PARENTS, [], read, "read the parents")?;
    // The walk that visited each node first.
    let mut seen: BTreeMap<i64, i64> = BTreeMap::new();
    for &start in parents.keys() {
        let mut at = start;
        while let Some(&parent) = parents.get(&at)
            && !seen.contains_key(&at)
        {
            seen.insert(at, start);
            at = parent;
        }
        // A walk that meets itself has found a cycle.
        if parents.contains_key(&at) && seen.get(&at) == Some(&start) {
            let mut lowest = at;
            let mut next = parents[&at];
            while next != at {
                lowest = lowest.min(next);
                next = parents[&next];
            }
            conn.execute(CUT, [lowest]).doing("cut a circle")?;
        }
    }
    Ok(())
}

fn repoint_head(conn: &Connection) -> Result<(), StoreError> {
    const DROP: &str = "DELETE FROM cursor";
    const POINT: &str = "
        INSERT INTO cursor (name, snapshot, updated_at)
        SELECT 'HEAD', id, created_at FROM snapshot ORDER BY id DESC LIMIT 1";
    execute(conn, DROP, "drop HEAD")?;
    execute(conn, POINT, "move HEAD")
}

/// Clears dangling references to rows, or deletes their rows where the schema requires a value.
fn drop_dangling(conn: &Connection) -> Result<Vec<String>, StoreError> {
    const DANGLING: &str = "
        SELECT DISTINCT found.\"table\", key.\"from\", key.\"table\", ifnull(key.\"to\", 'rowid'),
                        info.\"notnull\" OR 0 < info.pk
          FROM pragma_foreign_key_check AS found
          JOIN pragma_foreign_key_list (found.\"table\") AS key ON key.id = found.fkid
          JOIN pragma_table_info (found.\"table\") AS info ON info.name = key.\"from\"";
    let repair = |row: &Row<'_>| {
        let is_needed: bool = row.get(4)?;
        let (table, from): (String, String) = (row.get(0)?, row.get(1)?);
        let (other, to): (String, String) = (row.get(2)?, row.get(3)?);
        let dangles = format!("{from} IS NOT NULL AND {from} NOT IN (SELECT {to} FROM {other})");
        // The names are the schema's.
        Ok(match is_needed {
            true => format!("DELETE FROM {table} WHERE {dangles}"),
            false => format!("UPDATE {table} SET {from} = NULL WHERE {dangles}"),
        })
    };
    let mut notes = altered_file_and_root_row_ids::restore(conn)?;
    lost_file_row_recovery::restore_root(conn)?;
    notes.extend(lost_file_row_recovery::restore(conn)?);
    // Rows that refer to a deleted row are left to the next round.
    conn.pragma_update(None, "defer_foreign_keys", true).doing("begin a repair")?;
    for _ in 0..ROUNDS_MAX {
        let repairs: Vec<String> = conn.rows(DANGLING, [], repair, "find dangling rows")?;
        if repairs.is_empty() {
            break;
        }
        for sql in repairs {
            execute(conn, &sql, "drop dangling rows")?;
        }
    }
    Ok(notes)
}

fn give_heat(conn: &Connection) -> Result<(), StoreError> {
    const GIVE: &str = "
        INSERT INTO heat (node, temperature, at)
        SELECT node.key, ?1, memory.attended
          FROM node, memory
         WHERE node.key <= memory.heated AND node.key NOT IN (SELECT node FROM heat)";
    const BOUND: &str = "
        UPDATE heat
           SET temperature = min(1.0, max(0.0, temperature)), full_at = NULL
         WHERE temperature NOT BETWEEN 0 AND 1";
    conn.execute(GIVE, [heat::BIRTH_TEMPERATURE]).doing("set first temperatures")?;
    execute(conn, BOUND, "limit temperatures")
}

/// Stores the fingerprint of the rows. If HEAD's differs, a snapshot follows it.
pub(crate) fn rewrite_fingerprint(
    conn: &Connection,
    message: &str,
    now: UnixMillis,
) -> Result<(), StoreError> {
    const MEMORY: &str = "
        INSERT OR IGNORE INTO memory (one, fingerprint, attended)
        VALUES (1, 0, (SELECT ifnull(max(at), 0) FROM heat))";
    const NOTE: &str = "UPDATE memory SET fingerprint = ?1";
    const FOLLOW: &str = "
        INSERT INTO snapshot (parent, cursor_hash, message, compile_root, created_at)
        VALUES ((SELECT snapshot FROM cursor WHERE name = 'HEAD'), ?1, ?2, '', ?3)";
    const MOVE_HEAD: &str = "
        INSERT INTO cursor (name, snapshot, updated_at)
        VALUES ('HEAD', ?1, ?2)
        ON CONFLICT (name) DO UPDATE SET snapshot = ?1, updated_at = ?2";
    execute(conn, MEMORY, "note the memory")?;
    let computed = compute_state_fingerprint(conn)?;
    conn.execute(NOTE, [computed.cast_signed()]).doing("note the fingerprint")?;
    let head = repair_history_recorder::head_snapshot(conn)?
        .map_or_else(|| ContentHash(0).to_string(), |it| it.1);
    let hash = ContentHash(computed).to_string();
    if head != hash {
        conn.execute(FOLLOW, params![hash, message, now.0]).doing("add a snapshot")?;
        conn.execute(MOVE_HEAD, params![conn.last_insert_rowid(), now.0]).doing("move HEAD")?;
    }
    Ok(())
}
