//! The real state: the rows of a memory, read on a separate connection.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::model::{Block, Heat, Node, Seat, State, hash};
use crate::model::breadcrumb;

/// Snapshot id, parent, message, fingerprint and time.
pub(super) type SnapshotRow = (i64, Option<i64>, String, String, i64);

/// Source, intended target, weight, and whether it was resolved.
pub(super) type EdgeRow = (String, String, f64, bool);

pub(super) struct Seen {
    pub(super) state: State,
    pub(super) base_blocks: BTreeMap<String, BTreeMap<String, Block>>,
    pub(super) heat: BTreeMap<String, Heat>,
    pub(super) attended: i64,
    pub(super) edges: Vec<EdgeRow>,
    pub(super) snapshots: Vec<SnapshotRow>,
    pub(super) head: i64,
    pub(super) fingerprint: String,
    /// Ids by internal key.
    pub(super) keys: BTreeMap<i64, String>,
}

/// Reads the whole state.
#[track_caller]
pub(super) fn read_state(path: &Path) -> Seen {
    const TOMBS: &str = "
        SELECT t.node_id, f.root || ':' || f.path, t.node_type, t.source_hash
          FROM tombstone AS t JOIN file AS f ON f.id = t.file";
    const EDGES: &str = "
        SELECT n.id, r.id_hint, r.weight, t.id IS r.id_hint, t.id IS NULL
          FROM reference AS r
          JOIN node AS n ON n.key = r.source
          LEFT JOIN node AS t ON t.key = r.target
         WHERE r.origin = 'manual'
         ORDER BY 1, 2";
    const SNAPSHOTS: &str = "
        SELECT id, parent, message, cursor_hash, created_at FROM snapshot ORDER BY id";
    const MEMORY: &str = "
        SELECT attended, fingerprint, ifnull((SELECT snapshot FROM cursor WHERE name = 'HEAD'), 0)
          FROM memory";
    let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut seen = nodes(&conn);
    let mut query = conn.prepare_cached(TOMBS).unwrap();
    let mut rows = query.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let (id, file): (String, String) = (row.get(0).unwrap(), row.get(1).unwrap());
        let block = (row.get(2).unwrap(), number(&row.get::<_, String>(3).unwrap()));
        let other = seen.base_blocks.entry(file).or_default().insert(id, block);
        assert_eq!(other, None, "a file's node that is there and forgotten");
    }
    let mut query = conn.prepare_cached(EDGES).unwrap();
    let mut rows = query.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let (is_hit, is_pending): (bool, bool) = (row.get(3).unwrap(), row.get(4).unwrap());
        assert!(is_hit || is_pending, "an edge by id means another node");
        seen.edges.push((row.get(0).unwrap(), row.get(1).unwrap(), row.get(2).unwrap(), is_hit));
    }
    let mut query = conn.prepare_cached(SNAPSHOTS).unwrap();
    let rows = query
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)));
    seen.snapshots = rows.unwrap().collect::<Result<_, _>>().unwrap();
    let (attended, fingerprint, head): (i64, i64, i64) =
        conn.query_row(MEMORY, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    seen.attended = attended;
    seen.fingerprint = format!("{:016x}", fingerprint.cast_unsigned());
    seen.head = head;
    seen
}

#[track_caller]
fn nodes(conn: &Connection) -> Seen {
    const NODES: &str = "
        SELECT n.id, p.id, f.root || ':' || f.path, n.node_type, n.level, n.lang, n.key_path,
               n.format, n.label, n.content, n.content_hash, n.source_hash, n.trail,
               p.trail, p.label, f.path,
               ifnull(h.temperature, 0.5), ifnull(h.at, 0), ifnull(h.pinned, 0), n.key,
               n.fields
          FROM node AS n
          LEFT JOIN node AS p ON p.key = n.parent
          LEFT JOIN file AS f ON f.id = n.file
          LEFT JOIN heat AS h ON h.node = n.key
         ORDER BY n.position, n.key";
    let mut seen = Seen {
        state: State::default(),
        base_blocks: BTreeMap::new(),
        heat: BTreeMap::new(),
        attended: 0,
        edges: Vec::new(),
        snapshots: Vec::new(),
        head: 0,
        fingerprint: String::new(),
        keys: BTreeMap::new(),
    };
    let mut query = conn.prepare_cached(NODES).unwrap();
    let mut rows = query.query([]).unwrap();
    let mut files: Vec<(String, Option<String>)> = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        let text = |at: usize| row.get::<_, Option<String>>(at).unwrap();
        let (id, parent, file) = (text(0).unwrap(), text(1), text(2));
        let seat = match (parent, &file) {
            (Some(parent), _) => Seat::Node(parent),
            (None, Some(file)) => Seat::File(file.clone()),
            (None, None) => Seat::Nobody,
        };
        let node = Node {
            seat,
            node_type: text(3).unwrap(),
            level: row.get(4).unwrap(),
            lang: text(5),
            key_path: text(6),
            format: text(7).unwrap(),
            label: text(8).unwrap(),
            content: text(9).unwrap(),
            fields: text(20),
        };
        assert_eq!(number(&text(10).unwrap()), hash(&node.content), "the hash of {id}");
        let breadcrumb = match (text(13), text(15)) {
            (Some(breadcrumb), _) => breadcrumb::child_breadcrumb(&breadcrumb, &text(14).unwrap()),
            (None, Some(path)) => breadcrumb::root_breadcrumb(&path),
            (None, None) => String::new(),
        };
        assert_eq!(text(12).unwrap(), breadcrumb, "the trail of {id}");
        if let Some(source) = text(11) {
            let block = (node.node_type.clone(), number(&source));
            let file = file.clone().expect("what a file says is in one");
            seen.base_blocks.entry(file).or_default().insert(id.clone(), block);
        }
        let (temperature, at, pinned) =
            (row.get(16).unwrap(), row.get(17).unwrap(), row.get(18).unwrap());
        seen.heat.insert(id.clone(), Heat { temperature, at, pinned });
        seen.keys.insert(row.get(19).unwrap(), id.clone());
        seen.state.push(&id, node);
        files.push((id, file));
    }
    for (id, file) in files {
        assert_eq!(seen.state.file_of(&id), file.as_deref(), "the file of {id}");
    }
    seen
}

fn number(hex: &str) -> u64 {
    u64::from_str_radix(hex, 16).unwrap()
}
