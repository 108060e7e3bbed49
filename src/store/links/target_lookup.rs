//! Looks up the possible targets of references in the rows.

use std::collections::HashMap;

use rusqlite::{Connection, Row, params};

use crate::model::links::name::{LinkCandidate, LinkNameHash};
use crate::model::links::resolve::LinkIndex;
use crate::store::{ErrorContext, NodeRowId, PreparedStatements, StoreError};

/// The nodes and files of a database.
pub(super) struct DatabaseLinkIndex<'c> {
    pub(super) conn: &'c Connection,
}

/// The node that represents the file of a row of `file`: its first heading at the top level.
macro_rules! file_head {
    () => {
        "(SELECT node.key
            FROM node
           WHERE node.parent IS NULL AND node.file = file.id
           ORDER BY node.node_type <> 'heading', node.position, node.key
           LIMIT 1)"
    };
}

pub(in crate::store) use file_head;

impl LinkIndex for DatabaseLinkIndex<'_> {
    type Id = NodeRowId;
    type Error = StoreError;

    fn node(&self, id: &str) -> Result<Option<NodeRowId>, StoreError> {
        const NODE: &str = "SELECT key FROM node WHERE id = ?1";
        self.conn.find(NODE, [id], |row| row.get(0).map(NodeRowId), "find an id")
    }

    fn labelled(&self, name: LinkNameHash) -> Result<Vec<LinkCandidate<NodeRowId>>, StoreError> {
        const LABELLED: &str = "
            SELECT node.key, ifnull(file.root || '/' || file.path, '') AS path, node.label,
                   node.node_type = 'heading'
              FROM node
              LEFT JOIN file ON file.id = node.file
             WHERE node.name = ?1
             ORDER BY path, node.key";
        self.ordered(self.conn.rows(LABELLED, [name.0], read_place, "find a label")?)
    }

    fn labelled_in(
        &self,
        path: &str,
        name: LinkNameHash,
    ) -> Result<Vec<LinkCandidate<NodeRowId>>, StoreError> {
        const IN_FILE: &str = "
            SELECT node.key, ?3, node.label, node.node_type = 'heading'
              FROM node
             WHERE node.name = ?1
               AND node.file IS (SELECT id FROM file WHERE root = ?2 AND path = ?4)
             ORDER BY node.key";
        let (root, inner) = path.split_once('/').unwrap_or_default();
        let root: Option<i64> = root.parse().ok();
        let of = params![name.0, root, path, inner];
        self.ordered(self.conn.rows(IN_FILE, of, read_place, "find a label in a file")?)
    }

    fn files(&self, key: &str) -> Result<Vec<LinkCandidate<NodeRowId>>, StoreError> {
        const FILES: &str = concat!(
            "
            SELECT ",
            file_head!(),
            " AS first, file.root || '/' || file.path AS path, '', 1
              FROM file_name
              JOIN file ON file.id = file_name.file
             WHERE file_name.name = ?1
               AND first IS NOT NULL
             ORDER BY path"
        );
        self.conn.rows(FILES, [key], read_place, "find a file")
    }
}

impl DatabaseLinkIndex<'_> {
    /// Puts nodes into document order within their files; those of one file must be adjacent.
    fn ordered(
        &self,
        mut places: Vec<LinkCandidate<NodeRowId>>,
    ) -> Result<Vec<LinkCandidate<NodeRowId>>, StoreError> {
        let mut order = DocumentOrderSorter { conn: self.conn, known: HashMap::new() };
        let mut start = 0;
        while start < places.len() {
            let path = &places[start].path;
            let n = places[start..].iter().take_while(|it| it.path == *path).count();
            if 1 < n {
                order.sort(&mut places[start..start + n])?;
            }
            start += n;
        }
        Ok(places)
    }
}

fn read_place(row: &Row<'_>) -> rusqlite::Result<LinkCandidate<NodeRowId>> {
    Ok(LinkCandidate {
        id: NodeRowId(row.get(0)?),
        path: row.get(1)?,
        label: row.get(2)?,
        is_heading: row.get(3)?,
    })
}

/// Puts nodes of one file into document order.
struct DocumentOrderSorter<'c> {
    conn: &'c Connection,
    /// Parents and positions read so far.
    known: HashMap<i64, (Option<i64>, i64)>,
}

impl DocumentOrderSorter<'_> {
    fn sort(&mut self, places: &mut [LinkCandidate<NodeRowId>]) -> Result<(), StoreError> {
        let mut ranks = HashMap::with_capacity(places.len());
        for place in &*places {
            ranks.insert(place.id, self.rank(place.id)?);
        }
        places.sort_by(|a, b| ranks[&a.id].cmp(&ranks[&b.id]));
        Ok(())
    }

    /// Returns the positions of a node and its ancestors, outermost first.
    fn rank(&mut self, of: NodeRowId) -> Result<Vec<(i64, i64)>, StoreError> {
        const PLACE: &str = "SELECT parent, position FROM node WHERE key = ?1";
        let mut rank = Vec::new();
        let mut at = Some(of.0);
        while let Some(key) = at {
            let (parent, position) = match self.known.get(&key) {
                Some(known) => *known,
                None => {
                    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
                    let place = self.conn.prepare_cached(PLACE);
                    let place = place.and_then(|mut it| it.query_row([key], read));
                    *self.known.entry(key).or_insert(place.doing("read a place")?)
                }
            };
            rank.push((position, key));
            at = parent;
        }
        rank.reverse();
        Ok(rank)
    }
}

/// Returns the ids of nodes, in the order of `keys`, separated by spaces.
pub(crate) fn ids(conn: &Connection, keys: &[NodeRowId]) -> Result<String, StoreError> {
    const ID: &str = "SELECT id FROM node WHERE key = ?1";
    let mut query = conn.prepare_cached(ID).doing("read an id")?;
    let mut ids: Vec<String> = Vec::with_capacity(keys.len());
    for key in keys {
        ids.push(query.query_row([key.0], |row| row.get(0)).doing("read an id")?);
    }
    Ok(ids.join(" "))
}
