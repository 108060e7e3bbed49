//! Resolves references: finds those that wait for a name, and updates their targets.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{DatabaseLinkIndex, ids, read_reference, reference_columns};
use crate::model::links::name::{LinkNameHash, LinkResolution};
use crate::model::links::resolve::Resolver;
use crate::store::{ErrorContext, NodeRowId, PreparedStatements, StoreError};

/// Collects the references that wait for a name and are older than the write, which resolves its
/// own anyway.
pub(super) struct RefsAwaitingNameFinder<'a> {
    pub(super) conn: &'a Connection,
    pub(super) newest: i64,
    pub(super) found: &'a mut BTreeSet<i64>,
    /// The names that references wait for, where many are asked for.
    pub(super) filter: Option<WantedNameBloomFilter>,
}

/// A set of names as bits: it has every name of the set, and some others.
#[derive(Debug)]
pub(super) struct WantedNameBloomFilter(Vec<u64>);

/// Bits of a filter, a power of two; half a megabyte.
const FILTER_BITS: u64 = 1 << 22;

impl WantedNameBloomFilter {
    /// Returns the filter of all names that references wait for.
    pub(super) fn of_wanted(conn: &Connection) -> Result<WantedNameBloomFilter, StoreError> {
        const WANTED: &str = "SELECT name FROM wanted";
        let mut bits = vec![0; (FILTER_BITS / 64) as usize];
        let read = |row: &Row<'_>| row.get(0).map(LinkNameHash);
        conn.each(WANTED, [], read, "list the names of references", |name| {
            let (word, bit) = WantedNameBloomFilter::place(name);
            bits[word] |= bit;
            Ok::<_, StoreError>(())
        })?;
        Ok(WantedNameBloomFilter(bits))
    }

    pub(super) fn may_have(&self, name: LinkNameHash) -> bool {
        let (word, bit) = WantedNameBloomFilter::place(name);
        self.0[word] & bit != 0
    }

    /// Returns the word of a name's bit, and the bit. A name is a hash already.
    fn place(name: LinkNameHash) -> (usize, u64) {
        let nth = name.0.cast_unsigned() % FILTER_BITS;
        ((nth / 64) as usize, 1 << (nth % 64))
    }
}

impl RefsAwaitingNameFinder<'_> {
    pub(super) fn add(&mut self, name: LinkNameHash) -> Result<(), StoreError> {
        const WANTING: &str = "SELECT reference FROM wanted WHERE name = ?1 AND reference <= ?2";
        if self.newest == 0 || self.filter.as_ref().is_some_and(|it| !it.may_have(name)) {
            return Ok(());
        }
        let of = [name.0, self.newest];
        let found: Vec<i64> =
            self.conn.rows(WANTING, of, |row| row.get(0), "find references to a name")?;
        self.found.extend(found);
        Ok(())
    }
}

/// Resolves references by row; skips rows that no longer exist.
pub(crate) fn resolve_rows(conn: &Connection, ids: BTreeSet<i64>) -> Result<(), StoreError> {
    resolve_all(conn, ids, i64::MAX)
}

/// Resolves references by row, and all rows newer than `newest`.
pub(super) fn resolve_all(
    conn: &Connection,
    ids: BTreeSet<i64>,
    newest: i64,
) -> Result<(), StoreError> {
    const NEXT: &str = "SELECT id FROM reference WHERE ?1 < id ORDER BY id LIMIT 1000";
    const POINT: &str = "UPDATE reference SET target = ?2, candidates = ?3 WHERE id = ?1";
    let mut resolver = Resolver::new(DatabaseLinkIndex { conn });
    let mut point = conn.prepare_cached(POINT).doing("resolve a reference")?;
    let mut next = conn.prepare_cached(NEXT).doing("resolve a reference")?;
    let mut resolve = |id: i64| -> Result<(), StoreError> {
        if let Some((was, is)) = compare_target(conn, &mut resolver, id)?
            && is != was
        {
            point.execute(params![id, is.0, is.1]).doing("resolve a reference")?;
        }
        Ok(())
    };
    ids.into_iter().try_for_each(&mut resolve)?;
    let mut last = newest;
    loop {
        let ids: rusqlite::Result<Vec<i64>> =
            next.query_map([last], |row| row.get(0)).and_then(Iterator::collect);
        let ids = ids.doing("resolve a reference")?;
        let Some(&newest) = ids.last() else { return Ok(()) };
        ids.into_iter().try_for_each(&mut resolve)?;
        last = newest;
    }
}

/// Key of the target, and ids of the candidates.
type LinkTargetOrCandidates = (Option<i64>, Option<String>);

/// Returns the stored target of a reference, and its target now.
pub(super) fn compare_target(
    conn: &Connection,
    resolver: &mut Resolver<DatabaseLinkIndex<'_>>,
    id: i64,
) -> Result<Option<(LinkTargetOrCandidates, LinkTargetOrCandidates)>, StoreError> {
    const READ: &str = concat!(
        "SELECT ",
        reference_columns!(),
        ", ifnull(file.root || '/' || file.path, ''), reference.target, reference.candidates,
                reference.source
           FROM reference
           JOIN node ON node.key = reference.source
           LEFT JOIN file ON file.id = node.file
          WHERE reference.id = ?1"
    );
    let read = |row: &Row<'_>| {
        let was: LinkTargetOrCandidates = (row.get(8)?, row.get(9)?);
        let source = NodeRowId(row.get(10)?);
        Ok((read_reference(row)?, source, row.get::<_, String>(7)?, was))
    };
    let found = conn.prepare_cached(READ).and_then(|mut it| it.query_row([id], read).optional());
    let Some((reference, own, from, was)) = found.doing("read a reference")? else {
        return Ok(None);
    };
    let is = match resolver.resolve(own, &from, &reference)? {
        LinkResolution::Node(key) => (Some(key.0), None),
        LinkResolution::Missing => (None, None),
        LinkResolution::Ambiguous(keys) => (None, Some(ids(conn, &keys)?)),
    };
    Ok(Some((was, is)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{IfMissing, Writer};

    #[test]
    fn a_filter_has_every_name_that_references_wait_for_and_hardly_any_other() {
        const WANT: &str = "
            INSERT INTO reference (id, source, origin, form, label, weight)
            VALUES (?1, 1, 'parsed', 'wiki', '', 1)";
        let dir = tempfile::tempdir().unwrap();
        let writer = Writer::open(&dir.path().join("m.db"), IfMissing::Create).unwrap();
        let conn = writer.lock();
        conn.pragma_update(None, "foreign_keys", false).unwrap();
        let names =
            |from: i64| (from..from + 500).map(|nth| LinkNameHash::of(&format!("name {nth}")));
        for (id, name) in (1..).zip(names(0)) {
            conn.execute(WANT, [id]).unwrap();
            conn.execute("INSERT INTO wanted (name, reference) VALUES (?1, ?2)", [name.0, id])
                .unwrap();
        }
        let filter = WantedNameBloomFilter::of_wanted(&conn).unwrap();
        assert!(names(0).all(|it| filter.may_have(it)));
        assert!(names(500).filter(|it| filter.may_have(*it)).count() < 5);
    }
}
