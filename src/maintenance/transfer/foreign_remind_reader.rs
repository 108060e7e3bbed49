//! Reads the records of Remind: exports of version 3 and 4, its SQLite file, and its folder.
//!
//! The source is never written to; a database is copied first. Records are objects as their writer
//! had them, in lists by their kind. A record that is no object, or unreadable, is counted.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value};

use super::v03::{check_readable, copy_still, has_table};
use super::{AtomicFile, FileErrorContext, IfExists, TransferError};
use crate::ingest::scan;
use crate::model::clock::UnixMillis;
use crate::store::ErrorContext;
use crate::store::unsafe_wal_open_refusal::with_suffix;

/// Lists of records, those first that others refer to.
const LISTS: &[&str] = &[
    "topics",
    "entities",
    "episodes",
    "concepts",
    "facts",
    "conflicts",
    "evidence",
    "relations",
    "mentions",
    "entity_relations",
    "labels",
    "merged_concepts",
    "edges",
    "other_conflicts",
];

/// Lists of our own exports that stand beside those of the form, which has no place for them.
const OWN_LISTS: [&str; 4] = ["topics", "merged_concepts", "edges", "other_conflicts"];

/// Lists of our own exports with fields of the records of another list, which allows no others.
const OWN_FIELDS: [(&str, &str); 2] = [("facts", "fact_fields"), ("conflicts", "conflict_fields")];

/// Members of records that are times.
const TIMES: [&str; 8] = [
    "created_at",
    "updated_at",
    "timestamp",
    "valid_from",
    "valid_to",
    "superseded_at",
    "resolved_at",
    "deleted_at",
];

/// Tables that every database of Remind has.
const TABLES: [&str; 2] = ["episodes", "concepts"];

/// The newest version of the export that is known.
const VERSION_MAX: u64 = 4;

/// Bytes of a file of JSON, at most.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// Bytes of a file with one record, at most.
const RECORD_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Where the folder of records may be below the folder that is named.
const PLACES: [&str; 3] = ["", "memory", ".remind/memory"];

/// The first bytes of a SQLite file.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// A record as its writer had it.
pub(crate) type RemindRecord = Map<String, Value>;

/// The records of a memory of Remind.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RemindRecordLists {
    /// The form of the source, in the words of messages.
    pub(crate) form: String,
    lists: BTreeMap<&'static str, Vec<RemindRecord>>,
    /// Records that cannot be read.
    pub(crate) n_unreadable: usize,
}

impl RemindRecordLists {
    /// Reads a file or a folder; `db` is where a database may be copied to, under another name.
    pub(crate) fn read(source: &Path, db: &Path) -> Result<RemindRecordLists, TransferError> {
        if !source.exists() {
            let what = format!("no export, database or folder at `{}`", source.display());
            return Err(TransferError::Refused(what));
        }
        if source.is_dir() {
            return RemindRecordLists::of_folder(source);
        }
        let n_bytes = fs::metadata(source).on("read", source)?.len();
        let mut head = [0; SQLITE.len()];
        let mut file = scan::open_regular(source).on("read", source)?;
        if std::io::Read::read_exact(&mut file, &mut head).is_ok() && head == *SQLITE {
            return RemindRecordLists::of_database(source, db);
        }
        if FILE_BYTES_MAX < n_bytes {
            let what = format!("`{}` has {n_bytes} bytes", source.display());
            return Err(TransferError::Refused(format!("{what}; at most {FILE_BYTES_MAX} fit")));
        }
        RemindRecordLists::of_export(
            &scan::read_regular(source, FILE_BYTES_MAX).on("read", source)?,
            source,
        )
    }

    /// Returns the records of a list.
    pub(crate) fn list(&self, name: &str) -> &[RemindRecord] {
        self.lists.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the records with every text rewritten.
    pub(crate) fn map_texts(
        mut self,
        rewrite: &mut impl FnMut(&str) -> String,
    ) -> RemindRecordLists {
        for record in self.lists.values_mut().flatten() {
            record.values_mut().for_each(|it| rewrite_texts(it, rewrite));
        }
        self
    }

    fn of_export(bytes: &[u8], source: &Path) -> Result<RemindRecordLists, TransferError> {
        let refuse = |why: String| {
            TransferError::Refused(format!("`{}` is no export of Remind: {why}", source.display()))
        };
        let export: Value = serde_json::from_slice(bytes).map_err(|it| refuse(it.to_string()))?;
        let version = export["version"].as_u64();
        let lists = match (version, &export["records"]) {
            (Some(version), _) if VERSION_MAX < version => {
                let what = format!("version {version} is newer than {VERSION_MAX}");
                return Err(refuse(what + ", the newest this build knows; update the program"));
            }
            (_, Value::Object(lists)) => lists.clone(),
            (_, Value::Null) if export["concepts"].is_array() && export["episodes"].is_array() => {
                export.as_object().cloned().unwrap_or_default()
            }
            _ => return Err(refuse("it has neither `records` nor `concepts`".to_owned())),
        };
        let form = format!("export v{}", version.unwrap_or(3));
        let mut records = RemindRecordLists { form, ..RemindRecordLists::default() };
        let is_own = |it: &&str| export.get(it).is_some() && !lists.contains_key(*it);
        let own: Vec<(String, Value)> = OWN_LISTS
            .iter()
            .filter(|it| is_own(it))
            .map(|it| ((*it).to_owned(), export[*it].clone()))
            .collect();
        for (name, list) in own.into_iter().chain(lists) {
            for record in list.as_array().into_iter().flatten() {
                records.add(&name, record.clone());
            }
        }
        for (list, own) in OWN_FIELDS {
            records.add_own_fields(list, &export[own]);
        }
        if export["time_zone"] == "UTC" { Ok(records) } else { records.with_local_times() }
    }

    /// Adds to the records of a list the fields that stand beside them.
    fn add_own_fields(&mut self, list: &str, fields: &Value) {
        let fields = fields.as_array().into_iter().flatten().filter_map(Value::as_object);
        let by_id: HashMap<&str, &RemindRecord> =
            fields.filter_map(|it| Some((it.get("id")?.as_str()?, it))).collect();
        for record in self.lists.get_mut(list).into_iter().flatten() {
            let own = record.get("id").and_then(Value::as_str).and_then(|it| by_id.get(it));
            if let Some(own) = own {
                record.extend((*own).clone());
            }
        }
    }

    /// Returns the records with times without a zone read as local time, which Remind writes.
    fn with_local_times(mut self) -> Result<RemindRecordLists, TransferError> {
        let clock = Connection::open_in_memory().doing("read local times")?;
        let mut query = clock.prepare("SELECT unixepoch(?1, 'utc')").doing("read local times")?;
        for record in self.lists.values_mut().flatten() {
            for name in TIMES {
                let Some(Value::String(text)) = record.get_mut(name) else { continue };
                let Some(local) = time_without_zone(text) else { continue };
                let shown = local.to_second();
                let second: Option<i64> = query
                    .query_row([shown.trim_end_matches('Z')], |it| it.get(0))
                    .doing("read local times")?;
                if let Some(second) = second {
                    *text = UnixMillis(second * 1_000 + local.0.rem_euclid(1_000)).rfc3339();
                }
            }
        }
        Ok(self)
    }

    fn of_folder(folder: &Path) -> Result<RemindRecordLists, TransferError> {
        let form = "folder".to_owned();
        let mut records = RemindRecordLists { form, ..RemindRecordLists::default() };
        let found = PLACES
            .map(|it| folder.join(it))
            .into_iter()
            .find(|it| it.join("episodes").is_dir() || it.join("concepts").is_dir());
        let Some(memory) = found else {
            let what = format!("`{}` has no records of Remind: ", folder.display());
            return Err(TransferError::Refused(what + "no folder `episodes` or `concepts`"));
        };
        for name in LISTS {
            let list = memory.join(name);
            if !list.is_dir() {
                continue;
            }
            let mut paths = Vec::new();
            for entry in fs::read_dir(&list).on("read", &list)? {
                paths.push(entry.on("read", &list)?.path());
            }
            paths.retain(|it| it.extension().is_some_and(|it| it == "json"));
            paths.sort();
            for path in paths {
                let bytes = match scan::read_regular(&path, RECORD_BYTES_MAX) {
                    // A pipe, or too large for a record.
                    Err(error)
                        if matches!(
                            error.kind(),
                            ErrorKind::InvalidInput | ErrorKind::FileTooLarge
                        ) =>
                    {
                        records.n_unreadable += 1;
                        continue;
                    }
                    read => read.on("read", &path)?,
                };
                match serde_json::from_slice::<Value>(&bytes) {
                    Ok(mut file) => records.add(name, file["record"].take()),
                    Err(_) => records.n_unreadable += 1,
                }
            }
        }
        records.with_local_times()
    }

    fn of_database(source: &Path, db: &Path) -> Result<RemindRecordLists, TransferError> {
        let copy = AtomicFile::of(&with_suffix(db, ".remind"), IfExists::Refuse)?;
        copy_still(source, copy.path())?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let conn = Connection::open_with_flags(copy.path(), flags).doing("open the database")?;
        for table in TABLES {
            if !has_table(&conn, table)? {
                let source = source.display();
                let what =
                    format!("`{source}` is no database of Remind: it has no table `{table}`");
                return Err(TransferError::Refused(what));
            }
        }
        check_readable(&conn, &source.display().to_string(), &TABLES)?;
        let form = "database".to_owned();
        let mut records = RemindRecordLists { form, ..RemindRecordLists::default() };
        for name in LISTS {
            if has_table(&conn, name)? {
                records.add_table(&conn, name)?;
            }
        }
        records.with_local_times()
    }

    /// Adds the rows of a table, whose name is one of [`LISTS`].
    fn add_table(&mut self, conn: &Connection, name: &str) -> Result<(), TransferError> {
        let sql = format!("SELECT * FROM {name} ORDER BY rowid");
        let mut query = conn.prepare(&sql).doing("read a table")?;
        let columns: Vec<String> = query.column_names().map(str::to_owned).collect();
        let mut rows = query.query([]).doing("read a table")?;
        while let Some(row) = rows.next().doing("read a table")? {
            let mut record = Map::new();
            for (nth, column) in columns.iter().enumerate() {
                let value = match row.get_ref(nth).doing("read a table")? {
                    ValueRef::Integer(it) => it.into(),
                    ValueRef::Real(it) => it.into(),
                    ValueRef::Text(it) => String::from_utf8_lossy(it).into_owned().into(),
                    ValueRef::Null | ValueRef::Blob(_) => Value::Null,
                };
                record.insert(column.clone(), value);
            }
            self.add(name, record.into());
        }
        Ok(())
    }

    /// Adds a record. Its member `data`, an object or the text of one, is what its columns copy.
    fn add(&mut self, name: &str, record: Value) {
        let Some(name) = LISTS.iter().copied().find(|it| *it == name) else { return };
        let Value::Object(mut record) = record else {
            self.n_unreadable += 1;
            return;
        };
        let data = match record.shift_remove("data") {
            Some(Value::String(text)) => serde_json::from_str(&text).unwrap_or(Value::Null),
            other => other.unwrap_or(Value::Null),
        };
        if let Value::Object(data) = data {
            record.extend(data);
        }
        self.lists.entry(name).or_default().push(record);
    }
}

/// Returns a time that names no zone, as if it were of UTC.
fn time_without_zone(text: &str) -> Option<UnixMillis> {
    let text = text.trim();
    let with_zone = format!("{text}Z");
    UnixMillis::parse_rfc3339(&with_zone).filter(|it| UnixMillis::parse_rfc3339(text) == Some(*it))
}

fn rewrite_texts(value: &mut Value, rewrite: &mut impl FnMut(&str) -> String) {
    match value {
        Value::String(text) => *text = rewrite(text),
        Value::Array(items) => items.iter_mut().for_each(|it| rewrite_texts(it, rewrite)),
        Value::Object(members) => members.values_mut().for_each(|it| rewrite_texts(it, rewrite)),
        Value::Null | Value::Bool(_) | Value::Number(_) => (),
    }
}
