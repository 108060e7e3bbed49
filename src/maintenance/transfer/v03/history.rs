//! Imports the snapshots and changes of an old database, with their texts.
//!
//! Snapshots keep their numbers, messages and times. The old program's fingerprints covered only
//! the nodes that a write touched; they are computed anew once everything is imported.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::files::V03FileImporter;
use super::nodes::{InsertedNodes, modern};
use super::{SkippedCounts, rows};
use crate::maintenance::doctor::NUMBER_MAX;
use crate::maintenance::redaction::labels::SecretWithKind;
use crate::maintenance::transfer::row_redaction::ImportRedactor;
use crate::model::identity::{ContentHash, NodeId};
use crate::model::tree::{ContentFormat, NodeType};
use crate::store::{ErrorContext, PreparedStatements, StoreError};
use crate::text::tokens;

/// Counts of the imported history.
pub(super) struct HistoryCounts {
    pub(super) n_snapshots: u64,
    pub(super) n_changes: u64,
}

/// Imports every snapshot and change.
pub(super) fn import_history(
    from: &Connection,
    to: &Connection,
    nodes: &InsertedNodes,
    files: &mut V03FileImporter<'_>,
    cleaner: &mut ImportRedactor<'_>,
    notes: &mut SkippedCounts,
) -> Result<HistoryCounts, StoreError> {
    let mut taking = HistoryImporter { to, nodes, files, cleaner, notes };
    let known = taking.snapshots(from)?;
    let n_changes = taking.changes(from, &known)?;
    taking.head(from, &known)?;
    Ok(HistoryCounts { n_snapshots: known.len() as u64, n_changes })
}

struct HistoryImporter<'a, 'f, 'c> {
    to: &'a Connection,
    nodes: &'a InsertedNodes,
    files: &'a mut V03FileImporter<'f>,
    cleaner: &'a mut ImportRedactor<'c>,
    notes: &'a mut SkippedCounts,
}

/// The new numbers of snapshots, by their old ones.
type SnapshotNumbers = HashMap<i64, i64>;

/// One side of a change.
struct V03ChangeSide {
    content: String,
    hash: ContentHash,
    lang: Option<String>,
    /// The secrets replaced in the text.
    found: Vec<SecretWithKind>,
}

impl HistoryImporter<'_, '_, '_> {
    /// Imports the snapshots, and returns their new numbers by their old ones.
    fn snapshots(&mut self, from: &Connection) -> Result<SnapshotNumbers, StoreError> {
        const ADD: &str = "
            INSERT INTO snapshot (id, parent, cursor_hash, message, compile_root, created_at)
            VALUES (?1, ?2, '', ?3, ?4, ?5)";
        let list = [
            ("id", "NULL"),
            ("parent_id", "NULL"),
            ("message", "''"),
            ("compile_root", "''"),
            ("created_at", "0"),
        ];
        let list = rows::columns(from, "snapshots", &list)?;
        let sql = format!("SELECT {list} FROM snapshots ORDER BY id");
        let mut query = from.prepare(&sql).doing("read the old snapshots")?;
        let mut found = query.query([]).doing("read the old snapshots")?;
        let (mut known, mut last) = (SnapshotNumbers::new(), 0);
        while let Some(row) = found.next().doing("read the old snapshots")? {
            let id = rows::whole(row, 0)?.unwrap_or(0);
            let old_parent = rows::whole(row, 1)?;
            let parent = old_parent.and_then(|it| known.get(&it).copied());
            if old_parent.is_some() && parent.is_none() {
                self.notes.add("snapshots whose parent is missing follow none now");
            }
            last = match id <= NUMBER_MAX {
                true => id,
                false => {
                    self.notes.add("snapshots whose number left no room for others have the next");
                    last + 1
                }
            };
            let mut message = rows::word(row, 2)?;
            let mut compile_root = rows::word(row, 3)?;
            for text in [&mut message, &mut compile_root] {
                self.cleaner.scrub(text);
            }
            let at = rows::millis(row, 4)?.unwrap_or(0);
            let snapshot = params![last, parent, message, compile_root, at];
            self.to.run(ADD, snapshot, "import a snapshot")?;
            known.insert(id, last);
        }
        Ok(known)
    }

    fn changes(&mut self, from: &Connection, known: &SnapshotNumbers) -> Result<u64, StoreError> {
        let list = [
            ("snapshot_id", "NULL"),
            ("node_id", "''"),
            ("op", "''"),
            ("old_content", "NULL"),
            ("new_content", "NULL"),
            ("old_parent_id", "NULL"),
            ("old_source_file", "NULL"),
            ("old_node_type", "NULL"),
            ("old_depth", "NULL"),
            ("old_label", "NULL"),
            ("old_format", "NULL"),
        ];
        let list = rows::columns(from, "diffs", &list)?;
        let sql = format!("SELECT {list} FROM diffs ORDER BY snapshot_id, id");
        let mut query = from.prepare(&sql).doing("read the old changes")?;
        let mut found = query.query([]).doing("read the old changes")?;
        let (mut n, mut seq, mut last) = (0, 0, None);
        while let Some(row) = found.next().doing("read the old changes")? {
            let Some(&snapshot) = rows::whole(row, 0)?.and_then(|it| known.get(&it)) else {
                self.notes.add("changes of a snapshot that is missing were left out");
                continue;
            };
            seq = if last == Some(snapshot) { seq + 1 } else { 1 };
            last = Some(snapshot);
            n += u64::from(self.change(row, snapshot, seq)?);
        }
        Ok(n)
    }

    /// Imports one change; returns false if it is none.
    fn change(&mut self, row: &Row<'_>, snapshot: i64, seq: i64) -> Result<bool, StoreError> {
        const ADD: &str = "
            INSERT INTO diff (snapshot, seq, op, node_id, old_hash, new_hash, old_parent, old_root,
                              old_path, old_type, old_level, old_lang, old_label, old_format,
                              old_tokens)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
        let op = rows::word(row, 2)?;
        if !["add", "mod", "rem"].contains(&op.as_str()) {
            self.notes.add("changes of an unknown kind were left out");
            return Ok(false);
        }
        let Some(node) = rows::text(row, 1)? else {
            self.notes.add("changes of no node were left out");
            return Ok(false);
        };
        let node_type = self.type_of(row, &node)?;
        let mut label = rows::word(row, 9)?;
        let old = self.side(row, 3, node_type, &label, op != "add")?;
        let new = self.side(row, 4, node_type, &label, op != "rem")?;
        self.keep_texts(&node, old.as_ref(), new.as_ref())?;
        self.cleaner.scrub(&mut label);
        let found = old.as_ref().map_or(&[][..], |it| &it.found);
        self.cleaner.scrub_label(&mut label, found);
        let source_file = rows::text(row, 6)?;
        let has_metadata = op != "add" && source_file.is_some();
        match (op.as_str(), has_metadata) {
            ("add", _) | (_, true) => (),
            _ => self.notes.add("changes from before the old program noted what a node was"),
        }
        if op != "add" {
            self.notes.add("changes did not say where a node stood among its siblings; it is last");
        }
        let file = match source_file.filter(|_| has_metadata) {
            Some(source_file) => self.files.of(&source_file, self.cleaner)?,
            None => None,
        };
        let of_old = |value: &str| has_metadata.then(|| value.to_owned());
        let parent = rows::text(row, 5)?.filter(|it| has_metadata && !it.is_empty());
        let depth = rows::whole(row, 8)?.filter(|_| has_metadata);
        let level = depth.filter(|_| node_type == NodeType::Heading).map(|it| it.clamp(1, 6));
        let format = ContentFormat::parse(&rows::word(row, 10)?).unwrap_or(ContentFormat::Plain);
        let noted = old.as_ref().filter(|_| has_metadata);
        let tokens = noted.map(|it| tokens::count(&it.content));
        let lang = noted.and_then(|it| it.lang.clone());
        let change = params![
            snapshot,
            seq,
            op,
            self.id(&node),
            old.as_ref().map(|it| it.hash.to_string()),
            new.map(|it| it.hash.to_string()),
            parent.map(|it| self.id(&it)),
            file.as_ref().map(|it| it.root.0),
            file.as_ref().map(|it| it.path.as_str()),
            of_old(node_type.as_str()),
            level,
            lang,
            of_old(&label),
            of_old(format.as_str()),
            tokens,
        ];
        self.to.run(ADD, change, "import a change").map(|_| true)
    }

    fn type_of(&self, row: &Row<'_>, node: &str) -> Result<NodeType, StoreError> {
        let noted = NodeType::parse(&rows::word(row, 7)?);
        let now = || self.nodes.get(node).map(|it| it.node_type);
        Ok(noted.or_else(now).unwrap_or_default())
    }

    /// Returns one side of a change, if it has one.
    fn side(
        &mut self,
        row: &Row<'_>,
        idx: usize,
        node_type: NodeType,
        label: &str,
        is_there: bool,
    ) -> Result<Option<V03ChangeSide>, StoreError> {
        if !is_there {
            return Ok(None);
        }
        let now = self.nodes.get(&rows::word(row, 1)?).map(|it| it.label.clone());
        let label = if label.is_empty() { now.unwrap_or_default() } else { label.to_owned() };
        let noted = rows::text(row, idx)?;
        if noted.is_none() {
            self.notes.add("texts of changes were missing and are empty in the history");
        }
        let (lang, mut content) = modern(node_type, &label, noted.unwrap_or_default());
        let found = self.cleaner.scrub_text(&mut content).map(|(_, found)| found);
        let (hash, found) = (ContentHash::of(&content), found.unwrap_or_default());
        Ok(Some(V03ChangeSide { content, hash, lang, found }))
    }

    /// Keeps the text that a change replaced, as every write does, and a new one that the node does
    /// not have any more. Another node that has the same text can lose it.
    fn keep_texts(
        &self,
        node: &str,
        old: Option<&V03ChangeSide>,
        new: Option<&V03ChangeSide>,
    ) -> Result<(), StoreError> {
        const KEEP: &str = "
            INSERT INTO blob (hash, content) VALUES (?1, ?2) ON CONFLICT (hash) DO NOTHING";
        let now = self.nodes.get(node).map(|it| it.hash);
        let replaced = old.filter(|old| new.is_none_or(|new| new.hash != old.hash));
        let former = new.filter(|it| Some(it.hash) != now);
        for side in replaced.into_iter().chain(former) {
            let text = params![side.hash.to_string(), side.content];
            self.to.run(KEEP, text, "keep an old text")?;
        }
        Ok(())
    }

    /// Returns the new id of a node that may be gone.
    fn id(&self, old: &str) -> String {
        match self.nodes.get(old) {
            Some(node) => node.id.clone(),
            None => match NodeId::parse(old) {
                Some(id) => id.to_string(),
                // No node has this id any more; it must only be the same every time.
                None => NodeId::birth(NodeType::Text, NodeId::AGENT_PATH, old, 0).to_string(),
            },
        }
    }

    fn head(&mut self, from: &Connection, known: &SnapshotNumbers) -> Result<(), StoreError> {
        const HEAD: &str = "SELECT snapshot_id FROM cursors WHERE id = 'HEAD'";
        const SET: &str = "INSERT INTO cursor (name, snapshot, updated_at) VALUES ('HEAD', ?1, 0)";
        let noted: Option<i64> = match rows::has_table(from, "cursors")? {
            true => from
                .query_row(HEAD, [], |row| Ok(rows::whole(row, 0)))
                .optional()
                .doing("read the old HEAD")?
                .transpose()?
                .flatten()
                .and_then(|it| known.get(&it).copied()),
            false => None,
        };
        let newest = known.values().max().copied();
        if noted.is_none() && newest.is_some() {
            self.notes.add("HEAD was missing and is the newest snapshot now");
        }
        match noted.or(newest) {
            Some(head) => self.to.execute(SET, [head]).map(drop).doing("take over HEAD"),
            None => Ok(()),
        }
    }
}
