//! Segments of the full-text index: their sizes by level, merges in small steps, and lifts.
//!
//! SQLite keeps the structure of the index in one row: a cookie of four bytes, then as varints the
//! number of levels, of segments and of pages written, then for each level the number of its
//! segments that are being merged, the number of segments, and of each its id, first and last page.

use rusqlite::{Connection, params};

use crate::store::{PreparedStatements, StoreError};

/// Segments of one level that are merged together. Each lookup of a word looks into every segment.
const FULL: usize = 8;

/// Segments of one level that a compile merges between its writes. It merges all that it wrote in
/// the end, so that merges before that would write most of the index once more.
const FULL_OF_MANY: usize = 64;

/// Segments of one level at which SQLite merges all of it in one commit.
const CRISIS: i64 = 1_000;

/// Bytes that the index gathers before it writes a segment.
const GATHERED_BYTES: i64 = 8 * 1024 * 1024;

/// Pages that a write merges that finds the lowest level full: as many as that level has, within
/// these bounds. What becomes of its segments has fewer, so that merges of higher levels go on,
/// too.
const MERGED_PAGES: std::ops::RangeInclusive<i64> = 8..=64;

/// Pages that one step between the writes of a compile merges, or after them.
const MERGED_OF_MANY_PAGES: i64 = 500;

/// Pages of the largest segment of the lowest level; each level above has 16 times as large ones.
const LOW_PAGES_MAX: i64 = 64;
const PAGES_PER_LEVEL: i64 = 16;

/// Lifts in one write, each by at least a level.
const LIFTS_MAX: usize = 5;

/// The settings of the index. It merges by itself only in an emergency.
const SETTINGS: [(&str, i64); 4] = [
    ("hashsize", GATHERED_BYTES),
    ("automerge", 0),
    ("crisismerge", CRISIS),
    ("usermerge", FULL as i64),
];

const DOING: &str = "merge the index";

/// A level of the index.
#[derive(Debug, PartialEq, Eq)]
struct SegmentLevel {
    /// Segments that are being merged, the oldest ones.
    n_merging: usize,
    /// The pages of each segment.
    segments: Vec<i64>,
}

impl SegmentLevel {
    fn n_waiting(&self) -> usize {
        self.segments.len().saturating_sub(self.n_merging)
    }
}

/// Sets up the index, once in the life of a memory.
pub(super) fn configure(conn: &Connection) -> Result<(), StoreError> {
    const GET: &str = "SELECT v FROM node_fts_config WHERE k = ?1";
    const SET: &str = "INSERT INTO node_fts (node_fts, rank) VALUES (?1, ?2)";
    for (setting, value) in SETTINGS {
        let known: Option<i64> = conn.find(GET, [setting], |row| row.get(0), DOING)?;
        if known != Some(value) {
            conn.run(SET, params![setting, value], DOING)?;
        }
    }
    Ok(())
}

/// Merges some pages if the lowest level is full.
pub(in crate::store) fn merge_few(conn: &Connection) -> Result<(), StoreError> {
    let levels = levels(conn)?;
    // SQLite goes on with a merge of more segments than the lowest level has.
    let n_merging = levels.iter().map(|it| it.n_merging + 1).max().unwrap_or(0);
    match levels.first() {
        Some(lowest) if FULL.max(n_merging) <= lowest.n_waiting() => {
            configure(conn)?;
            let n_pages: i64 = lowest.segments.iter().sum();
            merge(conn, n_pages.clamp(*MERGED_PAGES.start(), *MERGED_PAGES.end()))
        }
        _ => Ok(()),
    }
}

/// Merges many pages if a level is full for a compile, and returns whether one was.
pub(in crate::store) fn merge_many(conn: &Connection) -> Result<bool, StoreError> {
    let is_full = levels(conn)?.iter().any(|it| FULL_OF_MANY <= it.segments.len());
    if is_full {
        // Earlier builds called a level full that had more segments.
        configure(conn)?;
        merge(conn, MERGED_OF_MANY_PAGES)?;
    }
    Ok(is_full)
}

/// Lifts all segments while one is larger than those of its level.
///
/// SQLite lifts segments of several levels to a new one when it begins to merge all of them, which
/// other merges then complete. An entry that is written and deleted makes the second level.
pub(super) fn lift(conn: &Connection) -> Result<(), StoreError> {
    const WRITE: &str = "INSERT INTO node_fts (rowid, label) VALUES (0, 'lift')";
    const DELETE: &str = "
        INSERT INTO node_fts (node_fts, rowid, label, content, trail, grams)
        VALUES ('delete', 0, 'lift', NULL, NULL, NULL)";
    for _ in 0..LIFTS_MAX {
        // Writes the segment of this write.
        merge(conn, 1)?;
        let mut pages_max = LOW_PAGES_MAX;
        let is_low = levels(conn)?.iter().any(|level| {
            let is_larger = level.segments.iter().any(|n_pages| pages_max < *n_pages);
            pages_max *= PAGES_PER_LEVEL;
            is_larger
        });
        if !is_low {
            break;
        }
        for entry in [WRITE, DELETE] {
            conn.run(entry, [], DOING)?;
            merge(conn, -1)?;
        }
    }
    Ok(())
}

/// Goes on with a merge that began, and returns the pages of this step; 0 if there is none.
pub(in crate::store) fn merge_on(conn: &Connection) -> Result<i64, StoreError> {
    if levels(conn)?.iter().all(|it| it.n_merging == 0) {
        return Ok(0);
    }
    merge(conn, MERGED_OF_MANY_PAGES)?;
    Ok(MERGED_OF_MANY_PAGES)
}

fn merge(conn: &Connection, n_pages: i64) -> Result<(), StoreError> {
    const MERGE: &str = "INSERT INTO node_fts (node_fts, rank) VALUES ('merge', ?1)";
    conn.run(MERGE, [n_pages], DOING).map(drop)
}

/// Returns the segments of each level, the lowest first; none if the structure is of no known form.
fn levels(conn: &Connection) -> Result<Vec<SegmentLevel>, StoreError> {
    const STRUCTURE: &str = "SELECT block FROM node_fts_data WHERE id = 10";
    let block: Option<Vec<u8>> = conn.find(STRUCTURE, [], |row| row.get(0), DOING)?;
    Ok(block.and_then(|it| parse(it.get(4..)?)).unwrap_or_default())
}

fn parse(mut block: &[u8]) -> Option<Vec<SegmentLevel>> {
    let block = &mut block;
    let [n_levels, _n_segments, _n_written] = numbers(block)?;
    let mut levels = Vec::new();
    for _ in 0..n_levels {
        let [n_merging, n_segments] = numbers(block)?;
        let mut segments = Vec::new();
        for _ in 0..n_segments {
            let [_id, first, last] = numbers(block)?;
            segments.push(last.checked_sub(first)?.checked_add(1)?);
        }
        levels.push(SegmentLevel { n_merging: usize::try_from(n_merging).ok()?, segments });
    }
    Some(levels)
}

fn numbers<const N: usize>(block: &mut &[u8]) -> Option<[i64; N]> {
    let mut numbers = [0; N];
    for number in &mut numbers {
        *number = varint(block)?;
    }
    Some(numbers)
}

/// Reads a number of SQLite's form: seven bits a byte, the highest first, and eight in a ninth.
fn varint(block: &mut &[u8]) -> Option<i64> {
    let mut number = 0_i64;
    for nth in 0..9 {
        let (&byte, rest) = block.split_first()?;
        *block = rest;
        if nth == 8 {
            return Some(number << 8 | i64::from(byte));
        }
        number = number << 7 | i64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(number)
}

#[cfg(test)]
mod tests;
