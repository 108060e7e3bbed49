//! Numbers of nodes, tokens and references that every write keeps up to date.
//!
//! Triggers keep them in `running_total`, whatever program writes. FTS5 keeps the number of rows of
//! its index by itself.

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::{Reader, unsigned};
use crate::store::record::read_type;
use crate::store::{ErrorContext, PreparedStatements, StoreError};

/// Numbers of rows of the whole memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RunningTotals {
    /// Number of nodes of each type, by name.
    pub(super) by_type: Vec<(String, u64)>,
    /// Tokens of all contents.
    pub(super) tokens: u64,
    /// Resolved references of texts.
    pub(super) n_parsed: u64,
    /// Resolved manual references.
    pub(super) n_manual: u64,
    /// Pending references.
    pub(super) n_pending: u64,
}

impl RunningTotals {
    pub(super) fn n_nodes(&self) -> u64 {
        self.by_type.iter().map(|it| it.1).sum()
    }
}

impl Reader {
    pub(super) fn running_totals(&self) -> Result<RunningTotals, StoreError> {
        const TOTALS: &str = "
            SELECT counted = 'node', kind, n_rows, tokens
              FROM running_total
             WHERE 0 < n_rows
             ORDER BY counted, kind";
        let read = |row: &Row<'_>| {
            let is_of_nodes: bool = row.get(0)?;
            let kind = if is_of_nodes { read_type(row, 1)? } else { row.get(1)? };
            Ok((is_of_nodes, kind, unsigned(row, 2)?, unsigned(row, 3)?))
        };
        let rows: Vec<(bool, String, u64, u64)> =
            self.all(TOTALS, [], read).doing("read the totals")?;
        let mut totals = RunningTotals::default();
        for (is_of_nodes, kind, n_rows, tokens) in rows {
            match (is_of_nodes, kind.as_str()) {
                (true, _) => {
                    totals.by_type.push((kind, n_rows));
                    totals.tokens = totals.tokens.saturating_add(tokens);
                }
                (false, "parsed") => totals.n_parsed = n_rows,
                (false, "manual") => totals.n_manual = n_rows,
                (false, "pending") => totals.n_pending = n_rows,
                (false, _) => (),
            }
        }
        Ok(totals)
    }

    /// Returns the number of rows in the full-text index: the first number of the record of totals
    /// that FTS5 keeps under the id 1. Where none can be read there, its rows are counted.
    pub(super) fn n_index_rows(&self) -> Result<u64, StoreError> {
        const TOTALS: &str = "SELECT block FROM node_fts_data WHERE id = 1";
        const ROWS: &str = "SELECT count(*) FROM node_fts_docsize";
        let read = |row: &Row<'_>| {
            Ok(match row.get_ref(0)? {
                ValueRef::Blob(block) => read_varint(block),
                _ => None,
            })
        };
        match self.conn.find(TOTALS, [], read, "read the totals of the index")?.flatten() {
            Some(n) => Ok(n),
            None => self.number(ROWS),
        }
    }
}

/// Reads the integer that begins a record: groups of 7 bits, the highest first, in bytes of which
/// all but the last have their high bit set; 8 bits are in a ninth byte
/// (<https://www.sqlite.org/fileformat2.html#varint>).
fn read_varint(record: &[u8]) -> Option<u64> {
    let mut n = 0;
    for (nth, byte) in record.iter().take(9).enumerate() {
        if nth == 8 {
            return Some(n << 8 | u64::from(*byte));
        }
        n = n << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some(n);
        }
    }
    None
}

#[cfg(test)]
mod tests;
