//! Reads a damaged table by key: from both ends, then in pieces of the gap between.

use std::collections::VecDeque;
use std::fmt;

use rusqlite::types::{FromSql, Value, ValueRef};
use rusqlite::{Connection, params};

use crate::maintenance::transfer::transferred_tables::TableSchema;

/// Number of pieces that a gap is cut into, repeatedly, until they are small.
const PIECES: i128 = 16;

/// Reads spent on one table; rows not found by then are given up.
const READS_MAX: usize = 20_000;

/// A range of keys that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyGap {
    after: Option<String>,
    before: Option<String>,
}

impl fmt::Display for KeyGap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.after, &self.before) {
            (Some(after), Some(before)) => write!(f, "between {after} and {before}"),
            (Some(after), None) => write!(f, "after {after}"),
            (None, Some(before)) => write!(f, "before {before}"),
            (None, None) => f.write_str("as a whole"),
        }
    }
}

/// A bound in the order of keys: integers as they are, hashes as numbers, other text as itself.
#[derive(Clone, Debug, PartialEq)]
struct KeyBound(Value);

impl KeyBound {
    fn show(&self) -> String {
        match &self.0 {
            Value::Integer(it) => it.to_string(),
            Value::Text(it) => it.clone(),
            _ => String::new(),
        }
    }

    fn number(&self) -> Option<i128> {
        match &self.0 {
            Value::Integer(it) => Some(i128::from(*it)),
            Value::Text(it) if it.len() == 16 => u64::from_str_radix(it, 16).ok().map(i128::from),
            _ => None,
        }
    }

    /// Returns the bound of a number, of this bound's kind.
    fn like(&self, number: i128) -> Option<KeyBound> {
        Some(KeyBound(match self.0 {
            Value::Integer(_) => Value::Integer(i64::try_from(number).ok()?),
            _ => Value::Text(format!("{:016x}", u64::try_from(number).ok()?)),
        }))
    }
}

/// The extent of a scan.
struct KeyRangeScanEnd {
    /// The first key column of the last row that was read.
    last: Option<KeyBound>,
    is_whole: bool,
}

/// Passes every readable row to `take`, some of them more than once; returns the gaps, and whether
/// a text had bytes that are none.
pub(super) fn read_with_gaps(
    from: &Connection,
    table: &TableSchema,
    take: &mut dyn FnMut(Vec<Value>),
) -> (Vec<KeyGap>, bool) {
    let mut reading = RowRangeReader { from, table, take, n_reads: 0, has_replaced: false };
    let gaps = read_around_gaps(&mut reading);
    (gaps, reading.has_replaced)
}

fn read_around_gaps(reading: &mut RowRangeReader<'_>) -> Vec<KeyGap> {
    let up = reading.stretch(None, None, ScanDirection::Up);
    if up.is_whole {
        return Vec::new();
    }
    let down = reading.stretch(up.last.as_ref(), None, ScanDirection::Down);
    if down.is_whole {
        return vec![gap(up.last.as_ref(), None)];
    }
    let mut gaps = Vec::new();
    match (&up.last, &down.last) {
        (Some(low), Some(high)) => reading.between(low, high, &mut gaps),
        (low, high) => gaps.push(gap(low.as_ref(), high.as_ref())),
    }
    gaps
}

fn gap(after: Option<&KeyBound>, before: Option<&KeyBound>) -> KeyGap {
    KeyGap { after: after.map(KeyBound::show), before: before.map(KeyBound::show) }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScanDirection {
    Up,
    Down,
}

struct RowRangeReader<'a> {
    from: &'a Connection,
    table: &'a TableSchema,
    take: &'a mut dyn FnMut(Vec<Value>),
    n_reads: usize,
    has_replaced: bool,
}

impl RowRangeReader<'_> {
    /// Reads rows whose first key column lies within the bounds, until one cannot be read.
    fn stretch(
        &mut self,
        low: Option<&KeyBound>,
        high: Option<&KeyBound>,
        way: ScanDirection,
    ) -> KeyRangeScanEnd {
        self.n_reads += 1;
        let mut stretch = KeyRangeScanEnd { last: None, is_whole: false };
        let key = self.table.key();
        let Some(first) = key.first() else { return stretch };
        let mut bounds: Vec<String> = Vec::new();
        if low.is_some() {
            bounds.push(format!("{first} >= ?1"));
        }
        if high.is_some() {
            bounds.push(format!("{first} <= ?2"));
        }
        let bounds = match bounds.is_empty() {
            true => String::new(),
            false => format!("WHERE {}", bounds.join(" AND ")),
        };
        let order = match way {
            ScanDirection::Up => key.join(", "),
            ScanDirection::Down => {
                key.iter().map(|it| format!("{it} DESC")).collect::<Vec<_>>().join(", ")
            }
        };
        // The names are the schema's. The query reads by key alone, since an index may be wrong.
        let sql = format!(
            "SELECT {} FROM {} NOT INDEXED {bounds} ORDER BY {order}",
            self.table.names(),
            self.table.name
        );
        let at = self.table.columns.iter().position(|it| it.name == *first).unwrap_or(0);
        let Ok(mut query) = self.from.prepare_cached(&sql) else { return stretch };
        let value = |it: Option<&KeyBound>| it.map_or(Value::Null, |it| it.0.clone());
        let found = match (low.is_some(), high.is_some()) {
            (_, true) => query.query(params![value(low), value(high)]),
            (true, false) => query.query(params![value(low)]),
            (false, false) => query.query([]),
        };
        let Ok(mut rows) = found else { return stretch };
        loop {
            match rows.next() {
                Ok(None) => {
                    stretch.is_whole = true;
                    return stretch;
                }
                Ok(Some(row)) => {
                    let n_columns = self.table.columns.len();
                    let has_replaced = &mut self.has_replaced;
                    let mut read = |idx| Ok(lossy(row.get_ref(idx)?, has_replaced));
                    let cells: rusqlite::Result<Vec<Value>> =
                        (0..n_columns).map(&mut read).collect();
                    if let Ok(cells) = cells {
                        stretch.last = Some(KeyBound(cells[at].clone()));
                        (self.take)(cells);
                    }
                }
                Err(_) => return stretch,
            }
        }
    }

    /// Reads what it can between two bounds, in pieces, wide ones first.
    ///
    /// Neither bound is beyond the gap. The ranges given up in the end are narrow.
    fn between(&mut self, low: &KeyBound, high: &KeyBound, gaps: &mut Vec<KeyGap>) {
        let (Some(low_at), Some(high_at)) = (low.number(), high.number()) else {
            gaps.push(gap(Some(low), Some(high)));
            return;
        };
        let mut open = VecDeque::from([(low_at, high_at)]);
        let mut holes: Vec<(i128, i128)> = Vec::new();
        while let Some((from, to)) = open.pop_front() {
            if READS_MAX <= self.n_reads {
                holes.push((from, to));
                continue;
            }
            let width = ((to - from) / PIECES).max(1);
            let mut at = from;
            while at <= to {
                let end = (at + width - 1).min(to);
                let (Some(first), Some(last)) = (low.like(at), low.like(end)) else { break };
                let is_whole = self.stretch(Some(&first), Some(&last), ScanDirection::Up).is_whole
                    || self.stretch(Some(&first), Some(&last), ScanDirection::Down).is_whole;
                match (is_whole, at == end) {
                    (true, _) => (),
                    (false, true) => holes.push((at, end)),
                    (false, false) => open.push_back((at, end)),
                }
                at = end + 1;
            }
        }
        holes.sort_unstable();
        let mut merged: Vec<(i128, i128)> = Vec::new();
        for (from, to) in holes {
            match merged.last_mut() {
                Some(last) if from <= last.1 + 1 => last.1 = last.1.max(to),
                _ => merged.push((from, to)),
            }
        }
        for (from, to) in merged {
            gaps.push(gap(low.like(from - 1).as_ref(), low.like(to + 1).as_ref()));
        }
    }
}

/// Returns a value with replacement characters for bytes that are no text.
fn lossy(value: ValueRef<'_>, has_replaced: &mut bool) -> Value {
    match value {
        ValueRef::Text(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            *has_replaced |= matches!(text, std::borrow::Cow::Owned(_));
            Value::Text(text.into_owned())
        }
        value => Value::column_result(value).unwrap_or(Value::Null),
    }
}
