//! Checks whether a memory is healthy. It changes nothing; [`repair_failed()`] repairs what fails.
//!
//! All checks see one state, on a connection that SQLite opened read-only. The full-text index can
//! only be compared with the text by a command in the form of an `INSERT`, which is why a copy of
//! it in a temporary table gets that command.

mod altered_file_and_root_row_ids;
mod altered_manual_edges;
mod altered_node_columns;
mod broken_fields_repair;
mod compile_roots;
mod dangling_diffs;
mod derived_tables;
mod head_and_fingerprint_repair;
mod history_rows;
mod invalid_utf8_texts;
mod lost_file_row_recovery;
mod node_files;
mod node_rows;
mod nodes_gone_without_diff;
mod number_ranges;
mod repair_history_recorder;
mod repairs;
mod rowid_overflow_and_singletons;
mod running_totals;
mod schema_objects;
mod source_file_paths;
mod state_fingerprint;
mod text_hashes;
mod typed_nodes;

use std::path::Path;
use std::sync::Arc;

pub(crate) use repairs::{
    READ_AGAIN, RepairOutcomes, repair_failed, rewrite_fingerprint, unrepaired,
};
pub(crate) use rowid_overflow_and_singletons::NUMBER_MAX;
use rusqlite::{Connection, ErrorCode, OptionalExtension};
pub(crate) use schema_objects::{SCHEMA_OBJECTS, restore_schema, why_unrestorable};
use serde_json::{Value, json};

use crate::model::database_state_fingerprint::{self, NodeState};
use crate::model::identity::ContentHash;
use crate::store::file_identity_check::CopiesBesideMemory;
use crate::store::node_columns::SqlTemplate;
use crate::store::reader::IsCancelledFn;
use crate::store::record::read_state;
use crate::store::{ErrorContext, PreparedStatements, StoreError, connection, links, schema};
use crate::text::terminal_safe_json::pretty_json_text;

/// The outcome of a check, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CheckStatus {
    Pass,
    Warn,
    Fail,
}

impl CheckStatus {
    /// Returns the name in reports.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            CheckStatus::Pass => "pass",
            CheckStatus::Warn => "warn",
            CheckStatus::Fail => "fail",
        }
    }
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckResult {
    pub(crate) name: &'static str,
    pub(crate) status: CheckStatus,
    pub(crate) detail: String,
    /// The outcome of the repair, with what it leaves to do; `None` when none was tried.
    pub(crate) fix: Option<Result<Vec<String>, String>>,
}

impl CheckResult {
    /// Returns whether the check found something wrong.
    pub(crate) fn is_bad(&self) -> bool {
        self.status == CheckStatus::Fail
    }
}

/// The results of all checks, in a fixed order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DoctorReport {
    pub(crate) checks: Vec<CheckResult>,
}

impl DoctorReport {
    /// Returns the worst status of all checks.
    pub(crate) fn status(&self) -> CheckStatus {
        self.checks.iter().map(|it| it.status).max().unwrap_or(CheckStatus::Pass)
    }

    /// Returns the report as JSON.
    pub(crate) fn to_json(&self) -> String {
        let as_json = |it: &CheckResult| {
            let (status, detail) = (it.status.as_str(), &it.detail);
            let mut json = json!({"name": it.name, "status": status, "detail": detail});
            match &it.fix {
                None => (),
                Some(Ok(notes)) => {
                    json["fix_applied"] = true.into();
                    if !notes.is_empty() {
                        json["fix_notes"] = notes.as_slice().into();
                    }
                }
                Some(Err(why)) => json["fix_error"] = why.as_str().into(),
            }
            json
        };
        let checks: Vec<Value> = self.checks.iter().map(as_json).collect();
        pretty_json_text(&json!({"status": self.status().as_str(), "checks": checks}))
    }
}

type CheckFn = fn(&Connection, &Path) -> Result<(CheckStatus, String), StoreError>;

/// The checks, in the order of the report.
const CHECKS: &[(&str, CheckFn)] = &[
    ("fts5_sync", fts5_sync),
    ("orphan_parent_id", orphans),
    ("parent_cycles", parent_cycles),
    ("head_cursor", head),
    ("dangling_diffs", dangling_diffs::examine),
    ("schema_version", schema_version),
    (SCHEMA_OBJECTS, schema_objects::examine),
    ("stale_compile_root", compile_roots::examine),
    ("integrity_check", integrity),
    ("foreign_keys", foreign_keys),
    ("text_encoding", invalid_utf8_texts::examine),
    ("single_rows", rowid_overflow_and_singletons::single_rows),
    ("row_keys", rowid_overflow_and_singletons::keys),
    ("number_ranges", number_ranges::examine),
    ("file_paths", source_file_paths::examine),
    ("node_rows", node_rows::examine),
    ("node_files", node_files::examine),
    ("history_rows", history_rows::examine),
    ("heat_rows", heat_rows),
    ("fingerprint", state_fingerprint::examine),
    ("content_hashes", text_hashes::examine),
    ("fields", typed_nodes::fields),
    ("facets", typed_nodes::facets),
    ("typed_edges", typed_nodes::typed_edges),
    ("custom_views", typed_nodes::custom_views),
    ("references", references),
    ("running_totals", running_totals::examine),
];

/// Instructions of SQLite's virtual machine between two looks at whether a check is still wanted.
const INSTRUCTIONS: i32 = 10_000;

/// Runs all checks on the database. A check that cannot run counts as failed.
pub(crate) fn examine(path: &Path) -> Result<DoctorReport, StoreError> {
    examine_with(connection::open_to_examine(path)?, path, &|_, _| ())
}

/// Runs all checks as [`examine`], and passes on how many are done and how many there are.
pub(crate) fn examine_aloud(
    path: &Path,
    progress: &dyn Fn(u64, u64),
) -> Result<DoctorReport, StoreError> {
    examine_with(connection::open_to_examine(path)?, path, progress)
}

/// Runs all checks as [`examine`], until `is_over`; returns `None` then. A check that runs ends
/// soon.
pub(crate) fn examine_until(
    path: &Path,
    is_over: &IsCancelledFn,
) -> Result<Option<DoctorReport>, StoreError> {
    let mut conn = connection::open_to_examine(path)?;
    let is_stopped = Arc::clone(is_over);
    conn.progress_handler(INSTRUCTIONS, Some(move || is_stopped())).doing("watch the checks")?;
    let report = examine_with(conn, path, &|_, _| ());
    if is_over() { Ok(None) } else { report.map(Some) }
}

fn examine_with(
    conn: Connection,
    path: &Path,
    progress: &dyn Fn(u64, u64),
) -> Result<DoctorReport, StoreError> {
    let state = connection::begin_read(&conn, "begin to read")?;
    let is_spoilt = schema_objects::spoil_reading(&conn)?;
    let n_checks = CHECKS.len() as u64;
    let check = |(nth, &(name, examine)): (u64, &(&'static str, CheckFn))| {
        progress(nth, n_checks);
        match is_spoilt {
            true if name != SCHEMA_OBJECTS => CheckResult {
                name,
                status: CheckStatus::Fail,
                detail: "not checked: a table or view is not the one of the schema".to_owned(),
                fix: None,
            },
            _ => run(name, examine, &conn, path),
        }
    };
    let all = || Ok::<_, StoreError>((0..).zip(CHECKS).map(check).collect());
    let checks = schema::as_newest(&conn, all)?;
    // There is nothing to commit: the end of the transaction releases the state.
    drop(state);
    Ok(DoctorReport { checks })
}

fn run(name: &'static str, examine: CheckFn, conn: &Connection, path: &Path) -> CheckResult {
    let (status, detail) =
        examine(conn, path).unwrap_or_else(|error| (CheckStatus::Fail, error.to_string()));
    CheckResult { name, status, detail, fix: None }
}

fn verdict(is_fine: bool, fine: String, bad: String) -> (CheckStatus, String) {
    if is_fine { (CheckStatus::Pass, fine) } else { (CheckStatus::Fail, bad) }
}

fn count(conn: &Connection, sql: &str) -> Result<i64, StoreError> {
    conn.query_row(sql, [], |row| row.get(0)).doing("count rows")
}

fn fts5_sync(conn: &Connection, _: &Path) -> Result<(CheckStatus, String), StoreError> {
    const COPY: &str = "
        SAVEPOINT comparison;
        CREATE VIRTUAL TABLE temp.copied_fts USING fts5 (
            label, content, trail, grams,
            content = 'copied', content_rowid = 'key',
            tokenize = 'porter unicode61 remove_diacritics 2'
        );
        CREATE TEMP VIEW copied AS SELECT key, label, content, trail, grams FROM main.node;
        DELETE FROM temp.copied_fts_data;
        INSERT INTO temp.copied_fts_data SELECT * FROM main.node_fts_data;
        DELETE FROM temp.copied_fts_idx;
        INSERT INTO temp.copied_fts_idx SELECT * FROM main.node_fts_idx;
        DELETE FROM temp.copied_fts_docsize;
        INSERT INTO temp.copied_fts_docsize SELECT * FROM main.node_fts_docsize;
        DELETE FROM temp.copied_fts_config;
        INSERT INTO temp.copied_fts_config SELECT * FROM main.node_fts_config";
    const COMPARE: &str = "
        INSERT INTO temp.copied_fts (copied_fts, rank) VALUES ('integrity-check', 1)";
    const END: &str = "ROLLBACK TO comparison; RELEASE comparison";
    let n_nodes = count(conn, "SELECT count(*) FROM node")?;
    let compare = || conn.execute_batch(COPY).and_then(|()| conn.execute_batch(COMPARE));
    let compared = connection::with_index_tables(conn, compare);
    conn.execute_batch(END).doing("end comparing the index")?;
    // Without room for the copy, nothing is known about the index.
    let has_no_room =
        |it| matches!(it, ErrorCode::DiskFull | ErrorCode::CannotOpen | ErrorCode::SystemIoFailure);
    Ok(match compared {
        Ok(()) => (CheckStatus::Pass, format!("FTS5 index in sync with {n_nodes} nodes")),
        Err(error) if error.sqlite_error_code().is_some_and(has_no_room) => {
            (CheckStatus::Warn, format!("the FTS5 index was not compared with the text: {error}"))
        }
        Err(error) => (CheckStatus::Fail, format!("FTS5 integrity check failed: {error}")),
    })
}

fn orphans(conn: &Connection, _: &Path) -> Result<(CheckStatus, String), StoreError> {
    const ORPHANS: &str = "
        SELECT count(*)
          FROM node
         WHERE parent IS NOT NULL
           AND parent NOT IN (SELECT key FROM node)";
    let n = count(conn, ORPHANS)?;
    let bad = format!("{n} nodes reference a missing parent_id");
    Ok(verdict(n == 0, "no orphans".to_owned(), bad))
}

/// Finds cycles: a node that no root leads to is below itself.
fn parent_cycles(conn: &Connection, _: &Path) -> Result<(CheckStatus, String), StoreError> {
    const UNREACHED: &str = "
        WITH RECURSIVE reached (key) AS (
            SELECT key
              FROM node
             WHERE parent IS NULL
                OR parent NOT IN (SELECT key FROM node)
             UNION ALL
            SELECT node.key
              FROM reached
              JOIN node ON node.parent = reached.key
        )
        SELECT (SELECT count(*) FROM node) - (SELECT count(*) FROM reached)";
    let n = count(conn, UNREACHED)?;
    let bad = format!("{n} nodes stand below themselves, or below such a node");
    Ok(verdict(n == 0, "every node stands below a root".to_owned(), bad))
}

fn head(conn: &Connection, _: &Path) -> Result<(CheckStatus, String), StoreError> {
    const HEAD: &str = "
        SELECT cursor.snapshot, snapshot.id
          FROM cursor
          LEFT JOIN snapshot ON snapshot.id = cursor.snapshot
         WHERE cursor.name = 'HEAD'";
    const OTHERS: &str = "SELECT count(*) FROM cursor WHERE name <> 'HEAD'";
    let n_others = count(conn, OTHERS)?;
    if 0 < n_others {
        return Ok((CheckStatus::Fail, format!("{n_others} cursors that no version has")));
    }
    let head: Option<(i64, Option<i64>)> = conn
        .query_row(HEAD, [], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
        .doing("read HEAD")?;
    Ok(match head {
        None => (CheckStatus::Pass, "no HEAD cursor".to_owned()),
        Some((id, Some(_))) => (CheckStatus::Pass, format!("HEAD → snapshot {id}")),
        Some((id, None)) => (CheckStatus::Fail, format!("HEAD points at missing snapshot {id}")),
    })
}

fn schema_version(conn: &Connection, _: &Path) -> Result<(CheckStatus, String), StoreError> {
    let found: i64 = conn
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .doing("read the schema version")?;
    let known = schema::newest();
    let bad = format!("missing: {} of {known} migrations", known - found);
    Ok(verdict(found == known, format!("{found}/{known} migrations applied"), bad))
}

/// Checks the file, and names the kept logs and unfinished copies beside it, which are no fault of
/// it.
fn integrity(conn: &Connection, path: &Path) -> Result<(CheckStatus, String), StoreError> {
    const FINDINGS_MAX: usize = 3;
    let findings: Vec<String> =
        conn.rows("PRAGMA integrity_check", [], |row| row.get::<_, String>(0), "check the file")?;
    let shown: Vec<String> = findings.iter().take(FINDINGS_MAX).map(|it| shown(it)).collect();
    let is_fine = findings.len() == 1 && shown.iter().all(|it| it == "ok");
    let bad = format!("{} findings: {}", findings.len(), shown.join("; "));
    let (status, mut detail) = verdict(is_fine, "every page and index is sound".to_owned(), bad);
    for warning in CopiesBesideMemory::of(path).warnings() {
        detail.push_str(&format!("; {warning}"));
    }
    Ok((status, detail))
}

fn foreign_keys(conn: &Connection, _: &Path) -> Result<(CheckStatus, String), StoreError> {
    let tables: Vec<String> = conn.rows(
        "PRAGMA foreign_key_check",
        [],
        |row| row.get::<_, String>(0),
        "check references",
    )?;
    let mut bad =
        format!("{} rows refer to nothing, the first in `{}`", tables.len(), first(&tables));
    if let Some(nodes) = lost_file_row_recovery::named(conn)? {
        bad.push_str(&format!("; {nodes}"));
    }
    Ok(verdict(tables.is_empty(), "every reference has its row".to_owned(), bad))
}

/// Returns the first few of a list, for a message.
fn first_few(names: &[String]) -> String {
    const NAMED_MAX: usize = 5;
    let mut text = names.iter().take(NAMED_MAX).map(|it| shown(it)).collect::<Vec<_>>().join(", ");
    if NAMED_MAX < names.len() {
        text.push_str(&format!(" and {} more", names.len() - NAMED_MAX));
    }
    text
}

/// Returns a value of the file as a message has it: folded, and of a length that fits there,
/// whatever the file has.
fn shown(value: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 400;
    crate::text::fold_and_truncate(value, SHOWN_CHARS_MAX)
}

fn first(names: &[String]) -> String {
    names.first().map_or_else(String::new, |it| shown(it))
}

fn heat_rows(conn: &Connection, _: &Path) -> Result<(CheckStatus, String), StoreError> {
    const WITHOUT: &str = "
        SELECT count(*)
          FROM node
         WHERE key <= (SELECT heated FROM memory) AND key NOT IN (SELECT node FROM heat)";
    const BEYOND: &str = "SELECT count(*) FROM heat WHERE temperature NOT BETWEEN 0 AND 1";
    let (n_without, n_beyond) = (count(conn, WITHOUT)?, count(conn, BEYOND)?);
    let bad =
        format!("{n_without} nodes have no temperature, {n_beyond} have one outside of 0 to 1");
    let is_fine = n_without + n_beyond == 0;
    Ok(verdict(is_fine, "every node has a temperature".to_owned(), bad))
}

/// The fingerprints of the present state: that of the rows, the kept one and HEAD's.
struct PresentStateFingerprints {
    computed: ContentHash,
    kept: ContentHash,
    /// `None` where HEAD leads to no snapshot.
    head: Option<String>,
}

impl PresentStateFingerprints {
    fn read(conn: &Connection) -> Result<PresentStateFingerprints, StoreError> {
        const KEPT: &str = "
            SELECT memory.fingerprint, snapshot.cursor_hash
              FROM memory
              LEFT JOIN cursor ON cursor.name = 'HEAD'
              LEFT JOIN snapshot ON snapshot.id = cursor.snapshot";
        let (kept, head): (i64, Option<String>) = conn
            .query_row(KEPT, [], |row| Ok((row.get(0)?, row.get(1)?)))
            .doing("read the fingerprint")?;
        Ok(PresentStateFingerprints {
            computed: ContentHash(compute_state_fingerprint(conn)?),
            kept: ContentHash(kept.cast_unsigned()),
            head,
        })
    }

    /// Returns what HEAD says: of no snapshot, that there is nothing.
    fn of_head(&self) -> String {
        self.head.clone().unwrap_or_else(|| ContentHash(0).to_string())
    }

    /// Returns whether the kept fingerprint is HEAD's, so that the rows were altered if theirs is
    /// another one.
    fn is_head_kept(&self) -> bool {
        self.of_head() == self.kept.to_string()
    }

    fn agree(&self) -> bool {
        self.computed == self.kept && self.is_head_kept()
    }
}

/// Returns the fingerprint of the state, computed from the rows of any schema.
pub(crate) fn compute_state_fingerprint(conn: &Connection) -> Result<u64, StoreError> {
    schema::as_newest(conn, || sum_of_states(conn))
}

fn sum_of_states(conn: &Connection) -> Result<u64, StoreError> {
    static STATES: SqlTemplate = SqlTemplate::new(
        "
        SELECT node.id, iif(node.parent IS NULL, file.root || ':' || file.path, parent.id), {state}
          FROM node
          LEFT JOIN node AS parent ON parent.key = node.parent
          LEFT JOIN file ON file.id = node.file
         ORDER BY node.parent, iif(node.parent IS NULL, node.file, NULL), node.position, node.key",
    );
    let mut query = conn.prepare(STATES.text()).doing("read the state")?;
    let mut rows = query.query([]).doing("read the state")?;
    let mut sum: u64 = 0;
    let mut family: (Option<String>, Vec<NodeState<'static>>) = (None, Vec::new());
    while let Some(row) = rows.next().doing("read the state")? {
        let parent: Option<String> = row.get(1).doing("read the state")?;
        if parent != family.0 {
            sum = sum.wrapping_add(database_state_fingerprint::sum_of_children(
                family.0.as_deref(),
                &family.1,
            ));
            family = (parent, Vec::new());
        }
        let state = row.get(0).and_then(|id| read_state(row, id, 2)).doing("read the state")?;
        family.1.push(state);
    }
    Ok(sum
        .wrapping_add(database_state_fingerprint::sum_of_children(family.0.as_deref(), &family.1)))
}

/// Parses and resolves all references anew, and compares them with the stored ones.
fn references(conn: &Connection, _: &Path) -> Result<(CheckStatus, String), StoreError> {
    let (faults, n) = links::consistency_check::check_references(conn)?;
    let edges = altered_manual_edges::named(conn)?;
    let mut bad = Vec::new();
    if !faults.is_empty() {
        bad.push(format!("{} faults, the first: {}", faults.len(), first(&faults)));
    }
    if !edges.is_empty() {
        bad.push(format!("{} doubtful edges: {}", edges.len(), first_few(&edges)));
    }
    let fine = format!("{n} references point where they should");
    Ok(verdict(bad.is_empty(), fine, bad.join("; ")))
}

/// Panics where a check of the memory fails.
#[cfg(test)]
#[track_caller]
pub(crate) fn assert_healthy(path: &Path) {
    let report = examine(path).unwrap();
    let bad: Vec<_> = report.checks.iter().filter(|it| it.status == CheckStatus::Fail).collect();
    assert!(bad.is_empty(), "{bad:#?}");
}

#[cfg(test)]
mod tests;
