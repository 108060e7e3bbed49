//! One write in progress: every mutation there is, each recorded as a row of the snapshot to come.
//!
//! A [`Batch`] exists only inside [`super::Writer::write`]. It keeps the state fingerprint up to date
//! by groups of siblings: before the first change to the children of a parent their terms are taken
//! from the sum, and at the end the terms of the children as they are then are added.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, Transaction, params};

use super::record::{FileId, Look, NodeKey, Place, Root, RootId, Stored, stored_columns};
use super::{Doing, FileRow, StoreError, files};
use crate::clock::Millis;
use crate::fingerprint::{self, State};
use crate::identity::{ContentHash, NodeId};
use crate::ranks::RankChange;
use crate::tree::{Node, NodeType};

/// Temperature of a node at birth.
pub(crate) const TEMPERATURE_AT_BIRTH: f64 = 0.5;

/// What a batch changed, in nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) added: usize,
    pub(crate) modified: usize,
    pub(crate) removed: usize,
}

/// A node as it shall be.
pub(crate) struct NewNode<'a> {
    pub(crate) node: &'a Node,
    /// Of the content.
    pub(crate) hash: ContentHash,
    pub(crate) trail: &'a str,
    pub(crate) place: Place,
    /// Path of its file, which is part of the birth id.
    pub(crate) path: &'a str,
}

/// An open write transaction.
pub(crate) struct Batch<'a> {
    tx: &'a Transaction<'a>,
    now: Millis,
    message: &'a str,
    compile_root: &'a str,
    snapshot: Option<i64>,
    next_seq: i64,
    counts: Counts,
    touched: BTreeSet<Family>,
    /// What the fingerprint changed by so far.
    drift: u64,
    /// Keys above this one were born in this batch.
    newest_key: i64,
    attended: i64,
}

/// All children of one parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Family {
    OfNode(NodeKey),
    OfFile(FileId),
    OfNobody,
}

impl From<Place> for Family {
    fn from(place: Place) -> Family {
        match (place.parent, place.file) {
            (Some(parent), _) => Family::OfNode(parent),
            (None, Some(file)) => Family::OfFile(file),
            (None, None) => Family::OfNobody,
        }
    }
}

impl<'a> Batch<'a> {
    pub(super) fn begin(
        tx: &'a Transaction<'a>,
        message: &'a str,
        compile_root: &'a str,
        now: Millis,
    ) -> Result<Batch<'a>, StoreError> {
        const NEWEST_KEY: &str = "SELECT ifnull(max(key), 0) FROM node";
        const ATTENDED: &str = "SELECT attended FROM memory";
        let one = |sql| tx.query_row(sql, [], |row| row.get(0)).doing("begin a write");
        Ok(Batch {
            tx,
            now,
            message,
            compile_root,
            snapshot: None,
            next_seq: 0,
            counts: Counts::default(),
            touched: BTreeSet::new(),
            drift: 0,
            newest_key: one(NEWEST_KEY)?,
            attended: one(ATTENDED)?,
        })
    }

    /// What was changed so far.
    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    // ── roots and files ──

    /// Every compiled folder.
    pub(crate) fn roots(&self) -> Result<Vec<Root>, StoreError> {
        files::roots(self.tx)
    }

    /// The root of that path, made if there is none.
    pub(crate) fn root(&self, path: &str) -> Result<RootId, StoreError> {
        const ADD: &str = "INSERT INTO root (path) VALUES (?1) ON CONFLICT (path) DO NOTHING";
        const FIND: &str = "SELECT id FROM root WHERE path = ?1";
        self.tx.prepare_cached(ADD).and_then(|mut it| it.execute([path])).doing("note a root")?;
        self.tx.query_row(FIND, [path], |row| row.get(0)).map(RootId).doing("find a root")
    }

    /// Forgets roots that own no file.
    pub(crate) fn drop_empty_roots(&self, except: RootId) -> Result<(), StoreError> {
        const DROP: &str = "
            DELETE FROM root
             WHERE id <> ?1
               AND NOT EXISTS (SELECT 1 FROM file WHERE file.root = root.id)";
        self.tx.execute(DROP, [except.0]).map(drop).doing("drop roots without files")
    }

    /// The files of a root, by path.
    pub(crate) fn files(&self, root: RootId) -> Result<Vec<FileRow>, StoreError> {
        files::files(self.tx, root)
    }

    /// A file that is seen for the first time.
    pub(crate) fn add_file(
        &self,
        root: RootId,
        path: &str,
        look: Look,
    ) -> Result<FileId, StoreError> {
        const ADD: &str = "INSERT INTO file (root, path, size, mtime) VALUES (?1, ?2, ?3, ?4)";
        self.tx
            .prepare_cached(ADD)
            .and_then(|mut it| it.insert(params![root.0, path, look.size, look.mtime]))
            .map(FileId)
            .doing("note a file")
    }

    /// What was seen at the last look at a file: its bytes, or why they could not be compiled.
    pub(crate) fn note_look(
        &self,
        file: FileId,
        look: Look,
        outcome: Result<ContentHash, &str>,
    ) -> Result<(), StoreError> {
        const SEEN: &str = "
            UPDATE file
               SET size = ?2, mtime = ?3, content_hash = ifnull(?4, content_hash), error = ?5
             WHERE id = ?1";
        let hash = outcome.ok().map(|it| it.to_string());
        self.tx
            .prepare_cached(SEEN)
            .and_then(|mut it| {
                it.execute(params![file.0, look.size, look.mtime, hash, outcome.err()])
            })
            .map(drop)
            .doing("note a look at a file")
    }

    /// Gives a file another root or path. Its top nodes stand elsewhere then, which is a change.
    pub(crate) fn move_file(
        &mut self,
        file: &FileRow,
        root: RootId,
        path: &str,
    ) -> Result<(), StoreError> {
        const MOVE: &str = "UPDATE file SET root = ?2, path = ?3 WHERE id = ?1";
        let family = Family::OfFile(file.id);
        self.touch(family)?;
        for node in self.children(family)? {
            self.record(Op::Mod, &node, Some(node.content_hash), Conflict::No)?;
            self.counts.modified += 1;
        }
        self.tx.execute(MOVE, params![file.id.0, root.0, path]).map(drop).doing("move a file")
    }

    /// Forgets a file that has no nodes any more.
    pub(crate) fn drop_file(&self, file: FileId) -> Result<(), StoreError> {
        const DROP: &str = "DELETE FROM file WHERE id = ?1";
        self.tx.execute(DROP, [file.0]).map(drop).doing("forget a file")
    }

    // ── nodes: questions ──

    /// The nodes of a file in document order.
    pub(crate) fn file_nodes(&self, file: FileId) -> Result<Vec<Stored>, StoreError> {
        let mut nodes = Vec::new();
        let mut open = self.children(Family::OfFile(file))?;
        open.reverse();
        while let Some(node) = open.pop() {
            let first = open.len();
            open.extend(self.children(Family::OfNode(node.key))?);
            open[first..].reverse();
            nodes.push(node);
        }
        Ok(nodes)
    }

    /// Ids of nodes that said exactly this in an earlier snapshot, latest first, in document order.
    pub(crate) fn former_ids(
        &self,
        node_type: NodeType,
        hash: ContentHash,
    ) -> Result<Vec<NodeId>, StoreError> {
        const FORMER: &str = "
            SELECT node_id
              FROM diff
             WHERE old_hash = ?1
               AND old_type = ?2
             ORDER BY snapshot DESC, seq
             LIMIT 16";
        let mut query = self.tx.prepare_cached(FORMER).doing("look into the history")?;
        let rows = query.query_map(params![hash.to_string(), node_type.as_str()], |row| {
            row.get::<_, String>(0)
        });
        let rows = rows.doing("look into the history")?;
        let mut ids = Vec::new();
        for id in rows {
            if let Some(id) = NodeId::parse(&id.doing("look into the history")?)
                && !ids.contains(&id)
            {
                ids.push(id);
            }
        }
        Ok(ids)
    }

    fn children(&self, family: Family) -> Result<Vec<Stored>, StoreError> {
        const OF_NODE: &str = concat!(
            "SELECT ",
            stored_columns!(),
            " FROM node WHERE parent = ?1 ORDER BY position, key"
        );
        const OF_FILE: &str = concat!(
            "SELECT ",
            stored_columns!(),
            " FROM node WHERE parent IS NULL AND file IS ?1 ORDER BY position, key"
        );
        let (sql, argument) = match family {
            Family::OfNode(key) => (OF_NODE, Some(key.0)),
            Family::OfFile(file) => (OF_FILE, Some(file.0)),
            Family::OfNobody => (OF_FILE, None),
        };
        let mut query = self.tx.prepare_cached(sql).doing("read siblings")?;
        let rows = query.query_map([argument], Stored::read).doing("read siblings")?;
        rows.map(|row| row.doing("read siblings").and_then(|it| it)).collect()
    }

    // ── nodes: changes ──

    /// Adds a node and returns its key. It gets back the id it had if it was here before.
    pub(crate) fn add(&mut self, new: &NewNode<'_>) -> Result<NodeKey, StoreError> {
        const ADD: &str = "
            INSERT INTO node (id, file, parent, position, node_type, level, lang, key_path, format,
                              token_count, content_hash, source_hash, label, trail, grams, content)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11, ?12, ?13, ?14, ?15)";
        const ADD_HEAT: &str = "INSERT INTO heat (node, temperature, at) VALUES (?1, ?2, ?3)";
        const ADD_DIFF: &str = "
            INSERT INTO diff (snapshot, seq, op, node_id, new_hash)
            VALUES (?1, ?2, 'add', ?3, ?4)";
        self.touch(new.place.into())?;
        let id = self.fresh_id(new)?.to_string();
        let hash = new.hash.to_string();
        let Place { file, parent, position } = new.place;
        let node = new.node;
        let key = self
            .tx
            .prepare_cached(ADD)
            .and_then(|mut it| {
                it.insert(params![
                    id,
                    file.map(|it| it.0),
                    parent.map(|it| it.0),
                    position,
                    node.node_type.as_str(),
                    node.level,
                    node.lang,
                    node.key_path,
                    node.format.as_str(),
                    node.token_count,
                    hash,
                    node.label,
                    new.trail,
                    grams(node),
                    node.content,
                ])
            })
            .doing("add a node")?;
        self.tx
            .prepare_cached(ADD_HEAT)
            .and_then(|mut it| it.execute(params![key, TEMPERATURE_AT_BIRTH, self.attended]))
            .doing("give a node its temperature")?;
        self.note_span(NodeKey(key), node)?;
        let (snapshot, seq) = self.next_diff()?;
        self.tx
            .prepare_cached(ADD_DIFF)
            .and_then(|mut it| it.execute(params![snapshot, seq, id, hash]))
            .doing("record an addition")?;
        self.counts.added += 1;
        Ok(NodeKey(key))
    }

    /// Makes a stored node what its file says now; records it only if its state differs.
    pub(crate) fn update(
        &mut self,
        old: &Stored,
        new: &NewNode<'_>,
        rank: RankChange,
    ) -> Result<(), StoreError> {
        // The file's block is as it was: whatever an agent made of it stays.
        let is_source_same = old.source_hash == Some(new.hash);
        let is_text_same = is_source_same || old.content_hash == new.hash;
        let is_overlaid = old.source_hash.is_some_and(|it| it != old.content_hash);
        let is_label_same = is_source_same && is_overlaid || old.label == new.node.label;
        let is_structure_same = old.level == new.node.level
            && old.lang == new.node.lang
            && old.key_path == new.node.key_path
            && old.format == new.node.format
            && old.place.parent == new.place.parent
            && old.place.file == new.place.file
            && rank != RankChange::Moved;
        let is_state_same = is_text_same && is_label_same && is_structure_same;
        if !is_state_same {
            self.touch(old.place.into())?;
            self.touch(new.place.into())?;
            let conflict = if !is_text_same && is_overlaid { Conflict::Yes } else { Conflict::No };
            let new_hash = if is_text_same { old.content_hash } else { new.hash };
            self.record(Op::Mod, old, Some(new_hash), conflict)?;
            self.counts.modified += 1;
        } else if rank == RankChange::Renumbered {
            self.record(Op::Rank, old, Some(old.content_hash), Conflict::No)?;
        }
        if !is_text_same || !is_label_same {
            self.set_text(old.key, new)?;
        }
        if !is_state_same || old.place != new.place || old.trail != new.trail || !is_source_same {
            self.set_structure(old.key, new)?;
        }
        self.note_span(old.key, new.node)
    }

    /// Removes a node. Its children must have gone elsewhere or been removed before.
    pub(crate) fn remove(&mut self, old: &Stored) -> Result<(), StoreError> {
        const REMOVE: &str = "DELETE FROM node WHERE key = ?1";
        self.touch(old.place.into())?;
        self.record(Op::Rem, old, None, Conflict::No)?;
        self.tx
            .prepare_cached(REMOVE)
            .and_then(|mut it| it.execute([old.key.0]))
            .doing("remove a node")?;
        self.counts.removed += 1;
        Ok(())
    }

    fn set_text(&self, key: NodeKey, new: &NewNode<'_>) -> Result<(), StoreError> {
        const SET: &str = "
            UPDATE node
               SET label = ?2, content = ?3, grams = ?4, content_hash = ?5, token_count = ?6
             WHERE key = ?1";
        let node = new.node;
        let hash = new.hash.to_string();
        self.tx
            .prepare_cached(SET)
            .and_then(|mut it| {
                it.execute(params![
                    key.0,
                    node.label,
                    node.content,
                    grams(node),
                    hash,
                    node.token_count
                ])
            })
            .map(drop)
            .doing("change a node's text")
    }

    fn set_structure(&self, key: NodeKey, new: &NewNode<'_>) -> Result<(), StoreError> {
        const SET: &str = "
            UPDATE node
               SET file = ?2, parent = ?3, position = ?4, level = ?5, lang = ?6, key_path = ?7,
                   format = ?8, source_hash = ?9
             WHERE key = ?1";
        const SET_TRAIL: &str = "UPDATE node SET trail = ?2 WHERE key = ?1 AND trail <> ?2";
        let Place { file, parent, position } = new.place;
        let node = new.node;
        self.tx
            .prepare_cached(SET)
            .and_then(|mut it| {
                it.execute(params![
                    key.0,
                    file.map(|it| it.0),
                    parent.map(|it| it.0),
                    position,
                    node.level,
                    node.lang,
                    node.key_path,
                    node.format.as_str(),
                    new.hash.to_string(),
                ])
            })
            .doing("change a node's place")?;
        // Apart from the rest, since changing an indexed column rewrites the node's index entries.
        self.tx
            .prepare_cached(SET_TRAIL)
            .and_then(|mut it| it.execute(params![key.0, new.trail]))
            .map(drop)
            .doing("change a node's trail")
    }

    fn note_span(&self, key: NodeKey, node: &Node) -> Result<(), StoreError> {
        const SET: &str = "
            INSERT INTO span (node, start_byte, end_byte)
            VALUES (?1, ?2, ?3)
            ON CONFLICT (node) DO UPDATE SET start_byte = ?2, end_byte = ?3";
        let edge = |at: usize| i64::try_from(at).unwrap_or(i64::MAX);
        self.tx
            .prepare_cached(SET)
            .and_then(|mut it| {
                it.execute(params![key.0, edge(node.span.start), edge(node.span.end)])
            })
            .map(drop)
            .doing("note where a node stands")
    }

    // ── ids ──

    /// The id for a node that is new to the tree: the one it had when it was here before, else its
    /// birth id with the first ordinal that is free.
    fn fresh_id(&self, new: &NewNode<'_>) -> Result<NodeId, StoreError> {
        for id in self.former_ids(new.node.node_type, new.hash)? {
            if !self.is_taken(id)? {
                return Ok(id);
            }
        }
        for ordinal in 0..=u32::MAX {
            let id = NodeId::birth(new.node.node_type, new.path, &new.node.content, ordinal);
            if !self.is_taken(id)? {
                return Ok(id);
            }
        }
        Err(StoreError::Corrupt { what: "four thousand million equal nodes".to_owned() })
    }

    fn is_taken(&self, id: NodeId) -> Result<bool, StoreError> {
        const TAKEN: &str = "SELECT 1 FROM node WHERE id = ?1";
        self.tx
            .prepare_cached(TAKEN)
            .and_then(|mut it| it.exists([id.to_string()]))
            .doing("look for an id")
    }

    // ── the snapshot ──

    /// Takes a family's terms from the fingerprint, before the first change to it.
    fn touch(&mut self, family: Family) -> Result<(), StoreError> {
        if !self.touched.insert(family) {
            return Ok(());
        }
        if matches!(family, Family::OfNode(key) if self.newest_key < key.0) {
            return Ok(());
        }
        self.drift = self.drift.wrapping_sub(self.family_sum(family)?);
        Ok(())
    }

    fn family_sum(&self, family: Family) -> Result<u64, StoreError> {
        const NODE: &str = "SELECT id FROM node WHERE key = ?1";
        const FILE: &str = "SELECT root || ':' || path FROM file WHERE id = ?1";
        let named = |sql, id: i64| {
            let found = self
                .tx
                .prepare_cached(sql)
                .and_then(|mut it| it.query_row([id], |row| row.get::<_, String>(0)).optional());
            found.doing("name a parent")
        };
        let parent = match family {
            Family::OfNode(key) => named(NODE, key.0)?,
            Family::OfFile(file) => named(FILE, file.0)?,
            Family::OfNobody => None,
        };
        let states = self.states(family)?;
        Ok(fingerprint::of_children(parent.as_deref(), &states))
    }

    fn states(&self, family: Family) -> Result<Vec<State>, StoreError> {
        const OF_NODE: &str = "
            SELECT id, node_type, level, lang, key_path, format, label, content_hash
              FROM node
             WHERE parent = ?1
             ORDER BY position, key";
        const OF_FILE: &str = "
            SELECT id, node_type, level, lang, key_path, format, label, content_hash
              FROM node
             WHERE parent IS NULL
               AND file IS ?1
             ORDER BY position, key";
        let (sql, argument) = match family {
            Family::OfNode(key) => (OF_NODE, Some(key.0)),
            Family::OfFile(file) => (OF_FILE, Some(file.0)),
            Family::OfNobody => (OF_FILE, None),
        };
        let mut query = self.tx.prepare_cached(sql).doing("read states")?;
        let rows = query.query_map([argument], State::read).doing("read states")?;
        rows.collect::<Result<_, _>>().doing("read states")
    }

    fn record(
        &mut self,
        op: Op,
        old: &Stored,
        new_hash: Option<ContentHash>,
        conflict: Conflict,
    ) -> Result<(), StoreError> {
        // The node, its parent and its file are still there: what they were is read from their rows.
        const RECORD: &str = "
            INSERT INTO diff (snapshot, seq, op, node_id, old_hash, new_hash, old_parent, old_root,
                              old_path, old_position, old_type, old_level, old_lang, old_key_path,
                              old_label, old_format, old_tokens, conflict)
            SELECT ?1, ?2, ?3, node.id, node.content_hash, ?4, parent.id, file.root,
                   file.path, node.position, node.node_type, node.level, node.lang, node.key_path,
                   node.label, node.format, node.token_count, ?5
              FROM node
              LEFT JOIN node AS parent ON parent.key = node.parent
              LEFT JOIN file ON file.id = node.file
             WHERE node.key = ?6";
        const KEEP: &str = "
            INSERT INTO blob (hash, content)
            SELECT content_hash, content FROM node WHERE key = ?1
            ON CONFLICT (hash) DO NOTHING";
        let (snapshot, seq) = self.next_diff()?;
        let hash = new_hash.map(|it| it.to_string());
        let conflict = conflict == Conflict::Yes;
        self.tx
            .prepare_cached(RECORD)
            .and_then(|mut it| {
                it.execute(params![snapshot, seq, op.as_str(), hash, conflict, old.key.0])
            })
            .doing("record a change")?;
        if new_hash != Some(old.content_hash) {
            self.tx
                .prepare_cached(KEEP)
                .and_then(|mut it| it.execute([old.key.0]))
                .doing("keep replaced text")?;
        }
        Ok(())
    }

    /// The snapshot, made at the first change, and the number of the change to record.
    fn next_diff(&mut self) -> Result<(i64, i64), StoreError> {
        const BEGIN: &str = "
            INSERT INTO snapshot (parent, cursor_hash, message, compile_root, created_at)
            VALUES ((SELECT snapshot FROM cursor WHERE name = 'HEAD'), '', ?1, ?2, ?3)";
        let snapshot = match self.snapshot {
            Some(snapshot) => snapshot,
            None => {
                let made = params![self.message, self.compile_root, self.now.0];
                self.tx.execute(BEGIN, made).doing("begin a snapshot")?;
                *self.snapshot.insert(self.tx.last_insert_rowid())
            }
        };
        self.next_seq += 1;
        Ok((snapshot, self.next_seq))
    }

    /// Brings the fingerprint up to date and moves HEAD; `None` when nothing was changed.
    pub(super) fn finish(&mut self) -> Result<Option<i64>, StoreError> {
        const FINGERPRINT: &str = "SELECT fingerprint FROM memory";
        const SET_FINGERPRINT: &str = "UPDATE memory SET fingerprint = ?1";
        const SEAL: &str = "UPDATE snapshot SET cursor_hash = ?2 WHERE id = ?1";
        const MOVE_HEAD: &str = "
            INSERT INTO cursor (name, snapshot, updated_at)
            VALUES ('HEAD', ?1, ?2)
            ON CONFLICT (name) DO UPDATE SET snapshot = ?1, updated_at = ?2";
        let Some(snapshot) = self.snapshot else {
            return Ok(None);
        };
        for family in std::mem::take(&mut self.touched) {
            self.drift = self.drift.wrapping_add(self.family_sum(family)?);
        }
        let old: i64 =
            self.tx.query_row(FINGERPRINT, [], |row| row.get(0)).doing("read the fingerprint")?;
        let new = old.cast_unsigned().wrapping_add(self.drift);
        let hash = ContentHash(new).to_string();
        self.tx.execute(SET_FINGERPRINT, [new.cast_signed()]).doing("set the fingerprint")?;
        self.tx.execute(SEAL, params![snapshot, hash]).doing("seal the snapshot")?;
        self.tx.execute(MOVE_HEAD, params![snapshot, self.now.0]).doing("move HEAD")?;
        Ok(Some(snapshot))
    }
}

/// What a diff row says happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Mod,
    Rem,
    Rank,
}

impl Op {
    fn as_str(self) -> &'static str {
        match self {
            Op::Mod => "mod",
            Op::Rem => "rem",
            Op::Rank => "rank",
        }
    }
}

/// Whether a file's new words replaced an agent's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Conflict {
    No,
    Yes,
}

fn grams(node: &Node) -> Option<String> {
    crate::grams::bigrams(&format!("{}\n{}", node.label, node.content))
}
