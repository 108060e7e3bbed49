//! The form of an entry of the log: parts of bytes, each a list of steps that is read by itself.
//!
//! A part begins with the version of the form. A step is a byte, and then: `T` a table's name and
//! its columns, to which the next steps belong; `D` the key of a row that was changed or deleted;
//! `R` the values of a row as it is now; `A` the hash of the log before the entry; `W` nothing:
//! every shared row is deleted first, as an image does. Numbers are little-endian; texts and bytes
//! have their length before them.

#[cfg(any(test, fuzzing))]
mod round_trip;

use rusqlite::types::{ToSqlOutput, ValueRef};
use sha2::{Digest, Sha256};

use crate::store::StoreError;
#[cfg(any(test, fuzzing))]
pub(crate) use round_trip::rewrite_part;

const FORM: u8 = 1;
const TABLE: u8 = b'T';
const DELETE: u8 = b'D';
const ROW: u8 = b'R';
const AFTER: u8 = b'A';
const WIPE: u8 = b'W';

const NULL: u8 = 0;
const INTEGER: u8 = 1;
const REAL: u8 = 2;
const TEXT: u8 = 3;
const BLOB: u8 = 4;

/// Bytes from which a part is full; one row may make it larger.
const PART_BYTES: usize = 512 * 1024;

/// The hash of a log up to an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogHash(pub(crate) [u8; 32]);

/// A part of an entry, or of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogPart {
    pub(crate) seq: i64,
    /// Counted from 0.
    pub(crate) part: i64,
    /// The name of the process that wrote it.
    pub(crate) writer: String,
    /// The schema of its rows.
    pub(crate) schema: i64,
    /// The log's hash after the entry, in its last part.
    pub(crate) hash: Option<LogHash>,
    pub(crate) body: Vec<u8>,
}

impl LogPart {
    /// Returns whether a first part belongs to a log with this hash.
    pub(super) fn is_after(&self, hash: LogHash) -> bool {
        let first = LogEntryOperationReader::new(&self.body).and_then(|mut it| it.next_step());
        first == Some(LogEntryOperation::After(hash))
    }
}

/// Computes the hash of an entry as its parts come.
#[derive(Clone, Debug)]
pub(super) struct EntryHasher(Sha256);

impl EntryHasher {
    /// Begins an entry after a log with the hash `before`.
    pub(super) fn new(before: LogHash, writer: &str, schema: i64) -> EntryHasher {
        let mut hasher = Sha256::new();
        hasher.update(before.0);
        hasher.update((writer.len() as u64).to_le_bytes());
        hasher.update(writer.as_bytes());
        hasher.update(schema.to_le_bytes());
        EntryHasher(hasher)
    }

    pub(super) fn add(&mut self, body: &[u8]) {
        self.0.update((body.len() as u64).to_le_bytes());
        self.0.update(body);
    }

    pub(super) fn finish(self) -> LogHash {
        LogHash(self.0.finalize().into())
    }
}

/// Takes the bodies of parts.
pub(super) type LogPartSink<'a> = dyn FnMut(Vec<u8>) -> Result<(), StoreError> + 'a;

/// Writes the steps of an entry, in parts of bounded size.
pub(super) struct LogEntryOperationWriter<'a, 's> {
    sink: &'a mut LogPartSink<'s>,
    part: Vec<u8>,
    table: Vec<u8>,
    /// Whether this part has said which table its next steps belong to.
    is_table_said: bool,
}

impl<'a, 's> LogEntryOperationWriter<'a, 's> {
    pub(super) fn new(sink: &'a mut LogPartSink<'s>) -> LogEntryOperationWriter<'a, 's> {
        LogEntryOperationWriter { sink, part: vec![FORM], table: Vec::new(), is_table_said: false }
    }

    /// Says which log the entry belongs to, before all other steps.
    pub(super) fn after(&mut self, hash: LogHash) {
        self.part.push(AFTER);
        self.part.extend_from_slice(&hash.0);
    }

    pub(super) fn wipe(&mut self) {
        self.part.push(WIPE);
    }

    pub(super) fn table<S: AsRef<str>>(&mut self, name: &str, columns: &[S]) {
        self.table = vec![TABLE];
        put_bytes(&mut self.table, name.as_bytes());
        put_length(&mut self.table, columns.len());
        columns.iter().for_each(|it| put_bytes(&mut self.table, it.as_ref().as_bytes()));
        self.is_table_said = false;
    }

    pub(super) fn delete<'v>(
        &mut self,
        key: impl Iterator<Item = ValueRef<'v>>,
    ) -> Result<(), StoreError> {
        self.step(DELETE, key)
    }

    pub(super) fn row<'v>(
        &mut self,
        values: impl Iterator<Item = ValueRef<'v>>,
    ) -> Result<(), StoreError> {
        self.step(ROW, values)
    }

    fn step<'v>(
        &mut self,
        step: u8,
        values: impl Iterator<Item = ValueRef<'v>>,
    ) -> Result<(), StoreError> {
        if PART_BYTES <= self.part.len() {
            (self.sink)(std::mem::replace(&mut self.part, vec![FORM]))?;
            self.is_table_said = false;
        }
        if !self.is_table_said {
            self.part.extend_from_slice(&self.table);
            self.is_table_said = true;
        }
        self.part.push(step);
        values.for_each(|it| put_value(&mut self.part, it));
        Ok(())
    }

    /// Hands the last part over; returns its body, which the caller seals.
    pub(super) fn finish(self) -> Vec<u8> {
        self.part
    }
}

fn put_length(out: &mut Vec<u8>, length: usize) {
    out.extend_from_slice(&(length as u64).to_le_bytes());
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_length(out, bytes.len());
    out.extend_from_slice(bytes);
}

fn put_value(out: &mut Vec<u8>, value: ValueRef<'_>) {
    match value {
        ValueRef::Null => out.push(NULL),
        ValueRef::Integer(it) => {
            out.push(INTEGER);
            out.extend_from_slice(&it.to_le_bytes());
        }
        ValueRef::Real(it) => {
            out.push(REAL);
            out.extend_from_slice(&it.to_le_bytes());
        }
        ValueRef::Text(it) => {
            out.push(TEXT);
            put_bytes(out, it);
        }
        ValueRef::Blob(it) => {
            out.push(BLOB);
            put_bytes(out, it);
        }
    }
}

/// A step of an entry of the log.
#[derive(Debug, PartialEq)]
pub(super) enum LogEntryOperation<'b> {
    After(LogHash),
    Wipe,
    Table { name: &'b str, columns: Vec<&'b str> },
    Delete(Vec<ToSqlOutput<'b>>),
    Row(Vec<ToSqlOutput<'b>>),
}

/// Reads the steps of a part; `None` where the bytes are of another form.
pub(super) struct LogEntryOperationReader<'b> {
    rest: &'b [u8],
    n_columns: usize,
}

impl<'b> LogEntryOperationReader<'b> {
    pub(super) fn new(part: &'b [u8]) -> Option<LogEntryOperationReader<'b>> {
        let (form, rest) = part.split_first()?;
        (*form == FORM).then_some(LogEntryOperationReader { rest, n_columns: 0 })
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn next_step(&mut self) -> Option<LogEntryOperation<'b>> {
        match self.byte()? {
            AFTER => Some(LogEntryOperation::After(LogHash(self.take(32)?.try_into().ok()?))),
            WIPE => Some(LogEntryOperation::Wipe),
            TABLE => {
                let name = self.text()?;
                self.n_columns = self.length()?;
                let columns = (0..self.n_columns).map(|_| self.text()).collect::<Option<_>>()?;
                Some(LogEntryOperation::Table { name, columns })
            }
            DELETE => self.values().map(LogEntryOperation::Delete),
            ROW => self.values().map(LogEntryOperation::Row),
            _ => None,
        }
    }

    fn values(&mut self) -> Option<Vec<ToSqlOutput<'b>>> {
        (0..self.n_columns).map(|_| self.value().map(ToSqlOutput::Borrowed)).collect()
    }

    fn value(&mut self) -> Option<ValueRef<'b>> {
        Some(match self.byte()? {
            NULL => ValueRef::Null,
            INTEGER => ValueRef::Integer(i64::from_le_bytes(self.take(8)?.try_into().ok()?)),
            REAL => ValueRef::Real(f64::from_le_bytes(self.take(8)?.try_into().ok()?)),
            TEXT => ValueRef::Text(self.text()?.as_bytes()),
            BLOB => {
                let length = self.length()?;
                ValueRef::Blob(self.take(length)?)
            }
            _ => return None,
        })
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|it| it[0])
    }

    fn length(&mut self) -> Option<usize> {
        let length = u64::from_le_bytes(self.take(8)?.try_into().ok()?);
        // A length beyond the bytes that are left is none.
        usize::try_from(length).ok().filter(|it| *it <= self.rest.len())
    }

    fn text(&mut self) -> Option<&'b str> {
        let length = self.length()?;
        std::str::from_utf8(self.take(length)?).ok()
    }

    fn take(&mut self, n_bytes: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(n_bytes)?;
        self.rest = rest;
        Some(taken)
    }
}

#[cfg(test)]
mod tests;
