//! Applies entries of the log to a replica, on a connection without foreign keys.
//!
//! All rows that an entry touched are deleted, then the rows as they are now are inserted, so that
//! no order of steps is wrong. The ordinary triggers keep the full-text index, the facets and the
//! counters. The place in the log moves in the same transaction, so that an entry is applied once.

use std::collections::{BTreeMap, HashMap};
use std::mem;

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Row, ToSql, params, params_from_iter};

use super::change_recorder::{SEQUENCE, columns};
use super::log_entry::{EntryHasher, LogEntryOperation, LogEntryOperationReader, LogHash, LogPart};
use super::replica_space_and_position::{self, LogPosition};
use super::table_scopes::{HEAT, SharedTable, shared_tables};
use crate::model::heat::StoredHeat;
use crate::store::batch::merge_few;
use crate::store::{
    ErrorContext, NodeRowId, PreparedStatements, SharedError, StoreError, heat_rows, schema,
};

const DOING: &str = "apply an entry of the log";

/// Touched nodes from which on new ones are indexed at the end of their entry.
const MANY_NODES: usize = 2_000;

/// The entries that one transaction applies.
pub(super) struct LogApplier<'c> {
    conn: &'c Connection,
    /// After the last whole entry.
    pub(super) place: LogPosition,
    /// The hash of the entry in progress, and the number of its next part.
    begun: Option<(EntryHasher, i64)>,
    table: Option<AppliedTable>,
    /// Values of local columns of rows that will be inserted again.
    kept: HashMap<(&'static str, i64), Vec<Value>>,
    /// Ids of the nodes that will be inserted again, unless they are gone.
    former: BTreeMap<i64, String>,
    n_touched: usize,
    attended: i64,
    heated: NodeRowId,
    indexing: ReplicaIndexingTime,
}

/// The time at which new nodes are indexed.
enum ReplicaIndexingTime {
    AtOnce,
    /// At the end of the entry: these.
    Listed {
        trigger: String,
        keys: Vec<i64>,
    },
    /// At the end of the image: all.
    All {
        triggers: Vec<String>,
    },
}

/// The table that the next steps belong to.
struct AppliedTable {
    kind: AppliedTableKind,
    delete: String,
    /// Reads the values of local columns.
    local: Option<String>,
    insert: String,
    /// Inserts with values of local columns.
    insert_kept: String,
    /// The index of the key among the columns, where it is one number.
    key_idx: Option<usize>,
    /// The index of a node's id among the columns.
    id_idx: Option<usize>,
}

#[derive(Clone, Copy)]
enum AppliedTableKind {
    Rows(SharedTable),
    Pins,
    Sequence,
}

impl<'c> LogApplier<'c> {
    /// Begins to apply what comes after the replica's place, in a transaction of the caller's.
    pub(super) fn begin(conn: &'c Connection, place: LogPosition) -> Result<Self, StoreError> {
        Ok(LogApplier {
            conn,
            place,
            begun: None,
            table: None,
            kept: HashMap::new(),
            former: BTreeMap::new(),
            n_touched: 0,
            attended: heat_rows::memory_clock(conn)?,
            heated: heat_rows::heat_rows_end(conn)?,
            indexing: ReplicaIndexingTime::AtOnce,
        })
    }

    /// Returns whether the parts so far end with a whole entry.
    pub(super) fn is_whole(&self) -> bool {
        self.begun.is_none()
    }

    /// Returns the last part that was applied.
    pub(super) fn last_part(&self) -> (i64, i64) {
        match &self.begun {
            Some((_, next)) => (self.place.seq + 1, next - 1),
            None => (self.place.seq, i64::MAX),
        }
    }

    /// Applies a part of the next entry.
    pub(super) fn apply(&mut self, part: &LogPart) -> Result<(), StoreError> {
        check_schema(part.schema)?;
        let hasher = match self.begun.take() {
            None if part.seq == self.place.seq + 1 && part.part == 0 => {
                EntryHasher::new(self.place.hash, &part.writer, part.schema)
            }
            Some((hasher, next)) if part.seq == self.place.seq + 1 && part.part == next => hasher,
            _ => return Err(SharedError::Gap { after: self.place.seq }.into()),
        };
        let hasher = self.steps(part, hasher, Some(self.place.hash))?;
        match part.hash {
            None => self.begun = Some((hasher, part.part + 1)),
            Some(hash) if hasher.finish() == hash => {
                self.end_entry()?;
                self.place = LogPosition { seq: part.seq, hash, ..self.place };
                replica_space_and_position::move_to(self.conn, &self.place)?;
            }
            Some(_) => return Err(SharedError::Diverged { since: part.seq }.into()),
        }
        Ok(())
    }

    /// Replaces all shared rows by a part of an image, whose place in the log is `place`.
    pub(super) fn apply_image(
        &mut self,
        part: &LogPart,
        place: LogPosition,
    ) -> Result<(), StoreError> {
        check_schema(part.schema)?;
        let (hasher, next) = match self.begun.take() {
            Some(begun) => begun,
            None => (EntryHasher::new(place.hash, &part.writer, part.schema), 0),
        };
        if part.part != next {
            return Err(SharedError::Gap { after: place.seq }.into());
        }
        let hasher = self.steps(part, hasher, None)?;
        match part.hash {
            None => self.begun = Some((hasher, next + 1)),
            Some(hash) if hasher.finish() == hash => {
                self.end_entry()?;
                self.place = place;
                replica_space_and_position::move_to(self.conn, &self.place)?;
            }
            Some(_) => return Err(SharedError::BadEntry { seq: place.seq }.into()),
        }
        Ok(())
    }

    fn steps(
        &mut self,
        part: &LogPart,
        mut hasher: EntryHasher,
        mut before: Option<LogHash>,
    ) -> Result<EntryHasher, StoreError> {
        hasher.add(&part.body);
        let bad = || SharedError::BadEntry { seq: part.seq };
        let mut reader = LogEntryOperationReader::new(&part.body).ok_or_else(bad)?;
        self.table = None;
        if 0 < part.part {
            before = None;
        }
        while !reader.is_at_end() {
            let step = reader.next_step().ok_or_else(bad)?;
            match (step, before.take()) {
                (LogEntryOperation::After(hash), Some(before)) if hash == before => (),
                (_, Some(_)) | (LogEntryOperation::After(_), None) => {
                    return Err(SharedError::Diverged { since: part.seq - 1 }.into());
                }
                (LogEntryOperation::Wipe, None) => self.wipe()?,
                (LogEntryOperation::Table { name, columns }, None) => {
                    let table = AppliedTable::new(self.conn, name, &columns)?;
                    self.table = Some(table.ok_or_else(bad)?);
                }
                (LogEntryOperation::Delete(key), None) => self.delete(&key)?,
                (LogEntryOperation::Row(values), None) => self.row(values)?,
            }
        }
        Ok(hasher)
    }

    fn delete(&mut self, key: &[ToSqlOutput<'_>]) -> Result<(), StoreError> {
        const ID: &str = "SELECT id FROM node WHERE key = ?1";
        const EDGES: &str = "DELETE FROM typed_edge WHERE source = ?1";
        let Some(table) = &self.table else { return Ok(()) };
        let AppliedTableKind::Rows(shared) = table.kind else { return Ok(()) };
        if let Some(sql) = &table.local
            && let Some(key) = integer(key.first())
            && let Some(kept) = local_values(self.conn, sql, &shared, key)?
        {
            self.kept.insert((shared.name, key), kept);
        }
        if shared.name == "node"
            && let Some(key) = integer(key.first())
        {
            self.n_touched += 1;
            if let Some(id) = self.conn.find(ID, [key], |row| row.get(0), DOING)? {
                self.former.insert(key, id);
                self.conn.run(EDGES, [key], DOING)?;
            }
        }
        self.conn.run(&table.delete, params_from_iter(key), DOING).map(drop)
    }

    fn row(&mut self, mut values: Vec<ToSqlOutput<'_>>) -> Result<(), StoreError> {
        let id_idx = self.table.as_ref().and_then(|it| it.id_idx);
        if id_idx.is_some() && MANY_NODES <= self.n_touched {
            self.index_many()?;
        }
        let Some(table) = &self.table else { return Ok(()) };
        let shared = match table.kind {
            AppliedTableKind::Rows(shared) => shared,
            AppliedTableKind::Pins => return self.pin(&values),
            AppliedTableKind::Sequence => return self.sequence(&values),
        };
        let key = table.key_idx.and_then(|it| integer(values.get(it)));
        let kept = key.and_then(|it| self.kept.remove(&(shared.name, it)));
        let sql = if kept.is_some() { &table.insert_kept } else { &table.insert };
        values.extend(kept.into_iter().flatten().map(ToSqlOutput::Owned));
        self.conn.run(sql, params_from_iter(&values), DOING)?;
        match (id_idx, key) {
            (Some(id), Some(key)) => self.node_added(key, text(values.get(id))),
            _ => Ok(()),
        }
    }

    /// Gives a node the heat of a new one, unless it was here before.
    fn node_added(&mut self, key: i64, id: &str) -> Result<(), StoreError> {
        const COOL: &str = "DELETE FROM heat WHERE node = ?1";
        const GIVE: &str =
            "INSERT INTO heat (node, temperature, at, full_at) VALUES (?1, ?2, ?3, ?4)";
        match &mut self.indexing {
            ReplicaIndexingTime::Listed { keys, .. } => keys.push(key),
            // The heat of all is looked after at the end.
            ReplicaIndexingTime::All { .. } => return Ok(()),
            ReplicaIndexingTime::AtOnce => (),
        }
        if self.former.remove(&key).is_some_and(|it| it == id) {
            return Ok(());
        }
        self.conn.run(COOL, [key], DOING)?;
        if self.attended == 0 && self.heated.0 < key {
            return Ok(());
        }
        let heat = StoredHeat::birth(self.attended);
        let row = params![key, heat.temperature, heat.at, heat.full_at()];
        self.conn.run(GIVE, row, DOING).map(drop)
    }

    /// Pins a node at the temperature that it has everywhere, or lets it cool.
    fn pin(&self, values: &[ToSqlOutput<'_>]) -> Result<(), StoreError> {
        const SET: &str = "
            UPDATE heat
               SET temperature = ?2, at = ?3, pinned = ?4, full_at = ?5
             WHERE node = ?1";
        let [node, pinned, temperature] = values else { return Ok(()) };
        let Some(node) = integer(Some(node)) else { return Ok(()) };
        let Some(heat) = heat_rows::ensure_heat_row(self.conn, NodeRowId(node))? else {
            return Ok(());
        };
        let is_pinned = integer(Some(pinned)).is_some_and(|it| it != 0);
        let mut heat = heat.with_pin(is_pinned, self.attended);
        if let ToSqlOutput::Borrowed(ValueRef::Real(temperature)) = temperature {
            heat = heat.with_temperature(*temperature, self.attended);
        }
        let row = params![node, heat.temperature, heat.at, heat.pinned, heat.full_at()];
        self.conn.run(SET, row, DOING).map(drop)
    }

    fn sequence(&self, values: &[ToSqlOutput<'_>]) -> Result<(), StoreError> {
        const RAISE: &str = "UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'snapshot'";
        const ADD: &str = "INSERT INTO sqlite_sequence (name, seq) VALUES ('snapshot', ?1)";
        let last = integer(values.first());
        match self.conn.run(RAISE, [last], DOING)? {
            0 => self.conn.run(ADD, [last], DOING).map(drop),
            _ => Ok(()),
        }
    }

    fn end_entry(&mut self) -> Result<(), StoreError> {
        const COOL: &str = "DELETE FROM heat WHERE node = ?1";
        for key in mem::take(&mut self.former).into_keys() {
            self.conn.run(COOL, [key], DOING)?;
        }
        self.kept.clear();
        self.n_touched = 0;
        match mem::replace(&mut self.indexing, ReplicaIndexingTime::AtOnce) {
            ReplicaIndexingTime::AtOnce => (),
            ReplicaIndexingTime::Listed { trigger, mut keys } => {
                const INDEX: &str = "
                    INSERT INTO node_fts (rowid, label, content, trail, grams)
                    SELECT key, label, content, trail, grams FROM node WHERE key = ?1";
                keys.sort_unstable();
                for key in keys {
                    self.conn.run(INDEX, [key], DOING)?;
                }
                self.conn.execute_batch(&trigger).doing(DOING)?;
            }
            ReplicaIndexingTime::All { triggers } => {
                self.heat_of_all()?;
                const REBUILD: &str = "INSERT INTO node_fts (node_fts) VALUES ('rebuild')";
                self.conn.run(REBUILD, [], DOING)?;
                self.conn.execute_batch(&triggers.join(";")).doing(DOING)?;
            }
        }
        merge_few(self.conn)
    }

    /// Sets the full-text trigger aside.
    fn index_many(&mut self) -> Result<(), StoreError> {
        if matches!(self.indexing, ReplicaIndexingTime::AtOnce) {
            let trigger = set_trigger_aside(self.conn, "node_fts_insert")?;
            self.indexing = ReplicaIndexingTime::Listed { trigger, keys: Vec::new() };
        }
        Ok(())
    }

    /// Deletes every shared row, and keeps the values of this machine.
    fn wipe(&mut self) -> Result<(), StoreError> {
        const HEAT_OF_ALL: &str = "
            INSERT INTO heat (node, temperature, at, full_at)
            SELECT key, ?1, ?2, ?3 FROM node WHERE true
                ON CONFLICT (node) DO NOTHING";
        const DERIVED: &str = "
            DELETE FROM facet;
            DELETE FROM typed_edge;
            DELETE FROM running_total;
            UPDATE heat SET pinned = 0 WHERE pinned;";
        let triggers = ["node_fts_insert", "node_fts_delete"];
        let triggers = triggers.map(|it| set_trigger_aside(self.conn, it));
        let triggers = triggers.into_iter().collect::<Result<_, _>>()?;
        self.indexing = ReplicaIndexingTime::All { triggers };
        if 0 < self.attended {
            // A node without a row could not be told from a new one.
            let heat = heat_rows::untouched();
            let row = params![heat.temperature, heat.at, heat.full_at()];
            self.conn.run(HEAT_OF_ALL, row, DOING)?;
        }
        for table in shared_tables() {
            let SharedTable { name, .. } = table;
            if !table.local.is_empty() {
                let keys = format!("SELECT {} FROM {name}", table.key[0]);
                let keys: Vec<i64> = self.conn.rows(&keys, [], |row| row.get(0), DOING)?;
                let sql = local_columns(&table);
                for key in keys {
                    if let Some(kept) = local_values(self.conn, &sql, &table, key)? {
                        self.kept.insert((name, key), kept);
                    }
                }
            }
            self.conn.execute_batch(&format!("DELETE FROM {name}")).doing(DOING)?;
        }
        self.conn.execute_batch(DERIVED).doing(DOING)
    }

    /// Gives all nodes of an image the heat that they had here, or that of new ones.
    fn heat_of_all(&self) -> Result<(), StoreError> {
        const COOL: &str = "DELETE FROM heat WHERE node NOT IN (SELECT key FROM node)";
        const GIVE: &str = "
            INSERT INTO heat (node, temperature, at, full_at)
            SELECT key, ?1, ?2, ?3 FROM node WHERE true
                ON CONFLICT (node) DO NOTHING";
        self.conn.run(COOL, [], DOING)?;
        if self.attended == 0 && self.heated.0 == 0 {
            return Ok(());
        }
        let heat = StoredHeat::birth(self.attended);
        self.conn.run(GIVE, params![heat.temperature, heat.at, heat.full_at()], DOING).map(drop)
    }
}

impl AppliedTable {
    /// Returns the table of this name; `None` where no such table or column is shared.
    fn new(
        conn: &Connection,
        name: &str,
        listed: &[&str],
    ) -> Result<Option<AppliedTable>, StoreError> {
        let special = match name {
            HEAT => Some(AppliedTableKind::Pins),
            SEQUENCE => Some(AppliedTableKind::Sequence),
            _ => None,
        };
        if let Some(kind) = special {
            let (delete, insert, insert_kept) = Default::default();
            let (local, key_idx, id_idx) = (None, None, None);
            let table = AppliedTable { kind, delete, local, insert, insert_kept, key_idx, id_idx };
            return Ok(Some(table));
        }
        let Some(shared) = SharedTable::named(name) else { return Ok(None) };
        let known = columns(conn, &shared)?;
        if listed.iter().any(|it| !known.iter().any(|known| known == it)) {
            return Ok(None);
        }
        let local = (!shared.local.is_empty()).then(|| local_columns(&shared));
        let key_idx = listed.iter().position(|it| [*it] == *shared.key);
        let id_idx = listed.iter().position(|it| name == "node" && *it == "id");
        Ok(Some(AppliedTable {
            delete: format!("DELETE FROM {name} WHERE {}", shared.has_key()),
            local,
            insert: insert(&shared, listed, LocalValueSource::Default),
            insert_kept: insert(&shared, listed, LocalValueSource::Given),
            key_idx,
            id_idx,
            kind: AppliedTableKind::Rows(shared),
        }))
    }
}

/// Whence the values of local columns come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LocalValueSource {
    Default,
    /// From parameters after those of the row.
    Given,
}

/// Returns a statement that inserts a row.
fn insert(table: &SharedTable, columns: &[&str], local_values: LocalValueSource) -> String {
    let filled = |sql: &str| {
        let mut sql = sql.to_owned();
        for (nth, column) in (1..).zip(columns) {
            sql = sql.replace(&format!("{{{column}}}"), &format!("?{nth}"));
        }
        sql
    };
    let mut values: Vec<String> = Vec::new();
    for (nth, column) in (1..).zip(columns) {
        let translated = table.translated.iter().find(|it| it.name == *column);
        values.push(translated.map_or_else(|| format!("?{nth}"), |it| filled(it.stored)));
    }
    for (nth, local) in (columns.len() + 1..).zip(table.local) {
        values.push(match local_values {
            LocalValueSource::Given => format!("?{nth}"),
            LocalValueSource::Default => filled(local.default),
        });
    }
    let names: Vec<&str> =
        columns.iter().copied().chain(table.local.iter().map(|it| it.name)).collect();
    format!("INSERT INTO {} ({}) VALUES ({})", table.name, names.join(", "), values.join(", "))
}

/// Returns a statement that reads the values of local columns.
fn local_columns(table: &SharedTable) -> String {
    let names: Vec<&str> = table.local.iter().map(|it| it.name).collect();
    format!("SELECT {} FROM {} WHERE {}", names.join(", "), table.name, table.has_key())
}

fn local_values(
    conn: &Connection,
    sql: &str,
    table: &SharedTable,
    key: i64,
) -> Result<Option<Vec<Value>>, StoreError> {
    let read = |row: &Row<'_>| (0..table.local.len()).map(|nth| row.get(nth)).collect();
    conn.find(sql, [key], read, DOING)
}

/// Drops a trigger, and returns the SQL that restores it.
fn set_trigger_aside(conn: &Connection, name: &str) -> Result<String, StoreError> {
    const SQL: &str = "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = ?1";
    let sql = conn.row(SQL, [name], |row| row.get(0), DOING)?;
    conn.execute_batch(&format!("DROP TRIGGER {name}")).doing(DOING)?;
    Ok(sql)
}

fn check_schema(found: i64) -> Result<(), StoreError> {
    let own = schema::newest();
    if own < found { Err(SharedError::OtherSchema { found, own }.into()) } else { Ok(()) }
}

fn integer(value: Option<&ToSqlOutput<'_>>) -> Option<i64> {
    match value?.to_sql().ok()? {
        ToSqlOutput::Borrowed(ValueRef::Integer(it)) => Some(it),
        _ => None,
    }
}

fn text<'a>(value: Option<&'a ToSqlOutput<'_>>) -> &'a str {
    match value {
        Some(ToSqlOutput::Borrowed(ValueRef::Text(it))) => std::str::from_utf8(it).unwrap_or(""),
        _ => "",
    }
}
