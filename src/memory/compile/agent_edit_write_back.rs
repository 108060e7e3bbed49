//! Write-back: what an agent writes lands in the file that it belongs to, before the reply.
//!
//! A change is planned against the bytes of the file, which must be those that were compiled. The
//! candidate is parsed as a compile would, and must read as the change and nothing else. Then the
//! file is replaced in one step, and its nodes are updated as a compile of it would, in the same
//! transaction, so that the next one finds nothing. The file goes first: after a kill in between,
//! it has the words, and a compile brings them. A transaction that fails puts the file back.
//!
//! Whatever is in the way is a reason, and the change stays an overlay.

mod splice;
#[cfg(any(test, fuzzing))]
mod splice_testing;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use splice::NodeEditInFile;
use splice::{ParsedSource, SpliceOutcome};
#[cfg(any(test, fuzzing))]
pub(crate) use splice_testing::{EditKind, splice_text};

use super::agent_edit_alignment;
use super::file_being_compiled::{FileBeingCompiled, ParsedFile};
use super::{CompileError, apply_slice, parse_text_redacted};
use crate::ingest::markdown_export_format::RootWithinExport;
use crate::ingest::parse::Syntax;
use crate::ingest::redact::Redactor;
use crate::ingest::scan::{self, IgnoreRules};
use crate::model::clock::UnixMillis;
use crate::model::file_stat::FileStat;
use crate::model::identity::{ContentHash, NodeId};
use crate::model::tree::{DocumentTree, Node};
use crate::settings::root_settings::RootSettings;
use crate::store::{
    Batch, FileRow, ForgottenNodeTombstone, NodeRecord, NodeRowId, UnplacedNodeData,
};
use crate::text;

/// The folder of new notes.
pub(crate) const NOTES_FOLDER: &str = "agents";

/// Names of a new note that are tried.
const NAMES_MAX: usize = 1_000;

/// Characters of a note's label in the name of its file, at most.
const NAME_CHARS_MAX: usize = 60;

/// The folder that takes what agents write.
pub(crate) struct WriteBackFolder {
    root: PathBuf,
    workspace: Arc<RootSettings>,
    now: UnixMillis,
    /// The file that was changed for a transaction that may still fail.
    changed: RefCell<Option<UndoableFileWrite>>,
}

/// A file that was replaced or created.
struct UndoableFileWrite {
    path: String,
    /// Its bytes before; `None`: it is new.
    before: Option<Vec<u8>>,
    after: Vec<u8>,
}

/// The outcome of a change.
pub(crate) enum WriteBackOutcome {
    /// It is in the file; these nodes say it.
    Landed(Vec<NodeRowId>),
    /// It stays in the memory alone, for this reason.
    Kept(String),
    /// It belongs to no file of the folder.
    Elsewhere,
}

/// A node's file as it was compiled.
struct FileAsLastCompiled {
    row: FileRow,
    bytes: Vec<u8>,
    source: ParsedSource,
    syntax: Syntax,
    nodes: NodeOrTombstoneByIndex,
}

/// The nodes and tombstones of a file by the index of each node of its text: one of the two.
#[derive(Default)]
struct NodeOrTombstoneByIndex {
    records: Vec<Option<NodeRecord>>,
    tombstones: Vec<Option<ForgottenNodeTombstone>>,
}

/// A change that its file can take.
struct FileRewrite {
    bytes: Vec<u8>,
    tree: DocumentTree,
    origins: Vec<Option<usize>>,
}

type WriteBackResult<T> = Result<T, WriteBackOutcome>;

impl WriteBackFolder {
    /// Returns the folder at `root` as one that takes what agents write.
    pub(crate) fn new(
        root: &Path,
        workspace: Arc<RootSettings>,
        now: UnixMillis,
    ) -> WriteBackFolder {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        WriteBackFolder { root, workspace, now, changed: RefCell::new(None) }
    }

    /// Puts a file back as it was before the change of a transaction that failed; returns its path
    /// where that cannot be.
    ///
    /// A file that a person has saved since is left as it is.
    pub(crate) fn put_back(&self) -> Option<String> {
        let UndoableFileWrite { path, before, after } = self.changed.take()?;
        let put = match before {
            Some(before) => {
                scan::replace_file(&self.root, &path, (&after, &before)).map(|it| it.is_some())
            }
            None => scan::remove_file(&self.root, &path, &after),
        };
        if let Err(error) = &put {
            log::warn!("`{path}` cannot be put back: {error}");
        }
        (!put.unwrap_or(false)).then_some(path)
    }

    fn redactor(&self) -> &Redactor {
        &self.workspace.redactor
    }

    /// Makes a change at a node in its file, if that can be.
    pub(crate) fn change(
        &self,
        batch: &mut Batch<'_>,
        node: &NodeRecord,
        edit: NodeEditInFile<'_>,
    ) -> Result<WriteBackOutcome, CompileError> {
        let file = match self.known_file(batch, node)? {
            Ok(file) => file,
            Err(landing) => return Ok(landing),
        };
        let path = file.row.path.clone();
        let kept = |why: String| Ok(WriteBackOutcome::Kept(format!("{path} {why}")));
        let is_it = |it: &Option<NodeRecord>| it.as_ref().is_some_and(|it| it.key == node.key);
        let Some(idx) = file.nodes.records.iter().position(is_it) else {
            return Ok(WriteBackOutcome::Kept(format!("`{}` is not in {path}", node.id)));
        };
        if matches!(edit, NodeEditInFile::Remove) && !is_subtree(batch, &file, idx)? {
            return kept("has other blocks below that one than the memory".to_owned());
        }
        let change = match file.source.change(idx, edit, (file.syntax, self.redactor())) {
            Ok(SpliceOutcome::New { bytes, tree, origins }) => FileRewrite { bytes, tree, origins },
            Ok(SpliceOutcome::Same(range)) => {
                let n_nodes = range.len();
                let keys = keys_in(&file, range);
                return match keys.len() == n_nodes {
                    true => Ok(WriteBackOutcome::Landed(keys)),
                    false => kept("has that already, and it was forgotten".to_owned()),
                };
            }
            Err(why) => return kept(why),
        };
        if change.bytes == file.bytes {
            return Ok(WriteBackOutcome::Landed(vec![node.key]));
        }
        let replaced = scan::replace_file(&self.root, &path, (&file.bytes, &change.bytes));
        match replaced {
            Ok(Some(stat)) => {
                let (before, after) = (Some(file.bytes.clone()), change.bytes.clone());
                self.changed.replace(Some(UndoableFileWrite { path, before, after }));
                self.land(batch, file, change, (idx, edit, stat))
            }
            Ok(None) => kept("changed since it was compiled".to_owned()),
            Err(error) => kept(format!("cannot be written: {error}")),
        }
    }

    /// Reads the file of a node, if it is what was compiled.
    fn known_file(
        &self,
        batch: &Batch<'_>,
        node: &NodeRecord,
    ) -> Result<WriteBackResult<FileAsLastCompiled>, CompileError> {
        let Some(file) = node.place.file else { return Ok(Err(WriteBackOutcome::Elsewhere)) };
        let Some((row, root)) = batch.file_and_root(file)? else {
            return Ok(Err(WriteBackOutcome::Elsewhere));
        };
        let root_text =
            self.root.to_str().map(|it| Redactor::builtin().scrub(it).text.into_owned());
        if root_text.as_deref() != Some(&root) {
            return Ok(Err(WriteBackOutcome::Elsewhere));
        }
        let path = &row.path;
        let kept = |why: &str| Ok(Err(WriteBackOutcome::Kept(format!("{path} {why}"))));
        let syntax = match Syntax::of(path) {
            Some(syntax @ (Syntax::Markdown | Syntax::Text)) => syntax,
            _ => return kept("is neither Markdown nor plain text"),
        };
        if RootWithinExport::find(&self.root).is_some() {
            return kept("is part of an export");
        }
        let bytes = match scan::read_to_change(&self.root, path) {
            Ok(bytes) => bytes,
            Err(why) => return Ok(Err(WriteBackOutcome::Kept(why))),
        };
        if row.content_hash != Some(ContentHash::of_bytes(&bytes)) {
            return kept("changed since it was compiled");
        }
        let Some(source) = ParsedSource::read(&bytes, syntax, self.redactor()) else {
            return kept("is not UTF-8");
        };
        let Some(nodes) = nodes_of(batch, &row, &source.tree)? else {
            return kept("would be read otherwise than when it was compiled");
        };
        Ok(Ok(FileAsLastCompiled { row, bytes, source, syntax, nodes }))
    }

    /// Updates the nodes of a file that has just been replaced.
    fn land(
        &self,
        batch: &mut Batch<'_>,
        file: FileAsLastCompiled,
        change: FileRewrite,
        (idx, edit, stat): (usize, NodeEditInFile<'_>, FileStat),
    ) -> Result<WriteBackOutcome, CompileError> {
        let FileAsLastCompiled {
            row,
            nodes: NodeOrTombstoneByIndex { mut records, tombstones },
            ..
        } = file;
        let FileRewrite { bytes, tree, origins } = change;
        if let NodeEditInFile::Replace(..) = edit {
            let heir = origins.iter().position(|it| *it == Some(idx));
            records[idx] = own_overlay(batch, records[idx].take(), heir.map(|it| &tree.nodes[it]))?;
        }
        let lifted = match edit {
            NodeEditInFile::Remove => {
                remove_below(batch, records[idx].take())?;
                None
            }
            NodeEditInFile::Lift => records[idx].take(),
            NodeEditInFile::Replace(..) | NodeEditInFile::Append(..) => None,
        };
        let is_forgotten = place_tombstones(batch, &row, (&tree, &origins), &tombstones)?;
        let is_wanted = |origin: &Option<usize>| match edit {
            NodeEditInFile::Replace(..) => origin.is_none() || *origin == Some(idx),
            NodeEditInFile::Append(..) => origin.is_none(),
            NodeEditInFile::Remove | NodeEditInFile::Lift => false,
        };
        let kept = origins.iter().zip(&is_forgotten).filter(|(_, gone)| !**gone);
        let wanted: Vec<bool> = kept.map(|(origin, _)| is_wanted(origin)).collect();
        let hashes = tree.nodes.iter().map(|it| ContentHash::of(&it.content)).collect();
        let parsed = agent_edit_alignment::remove_blocks(
            ParsedFile { tree, hashes, marks: Vec::new() },
            &is_forgotten,
        );
        let kept = origins.iter().zip(&is_forgotten).filter(|(_, gone)| !**gone);
        let matched = kept.map(|(origin, _)| records[(*origin)?].take()).collect();
        let keys = self.write_nodes(batch, &row, parsed, matched)?;
        batch.note_stat(
            row.id,
            apply_slice::trusted(stat, self.now),
            Ok(ContentHash::of_bytes(&bytes)),
        )?;
        if let Some(node) = lifted {
            agent_edit_alignment::remove_nodes(batch, vec![node])?;
        }
        let landed = keys.into_iter().zip(wanted).filter(|(_, wanted)| *wanted);
        Ok(WriteBackOutcome::Landed(landed.map(|(key, _)| key).collect()))
    }

    fn write_nodes(
        &self,
        batch: &mut Batch<'_>,
        row: &FileRow,
        parsed: ParsedFile,
        matched: Vec<Option<NodeRecord>>,
    ) -> Result<Vec<NodeRowId>, CompileError> {
        let (_, agent_nodes) = apply_slice::split_by_author(batch.file_nodes(row.id)?);
        let (file, path) = (row.id, row.path.clone());
        let work = FileBeingCompiled { file, path, parsed, old: Vec::new(), agent_nodes, matched };
        apply_slice::apply(batch, work, self.workspace.initial_temperatures.of(&row.path))
    }

    /// Writes a new note as a file of its own.
    pub(crate) fn add_note(
        &self,
        batch: &mut Batch<'_>,
        words: &str,
        tree: &DocumentTree,
    ) -> Result<WriteBackOutcome, CompileError> {
        let bytes = format!("{words}\n").into_bytes();
        let (_, parsed) = parse_text_redacted(
            Syntax::Markdown,
            std::str::from_utf8(&bytes).unwrap_or_default(),
            self.redactor(),
        );
        let name = note_name(&tree.nodes[0].label);
        let kept = |path: &str, why: &str| Ok(WriteBackOutcome::Kept(format!("{path} {why}")));
        let first = format!("{NOTES_FOLDER}/{name}.md");
        if parsed.tree.to_string() != tree.to_string() {
            return kept(&first, "would read otherwise");
        }
        let (rules, _) = IgnoreRules::load(&self.root, self.workspace.gitignore())
            .map_err(|what| CompileError::Settings { what })?;
        if rules.is_ignored(&first, false) {
            return kept(&first, "would be excluded by an ignore file");
        }
        let hash = ContentHash::of_bytes(&bytes);
        let root = self.root.to_string_lossy();
        let root = batch.root_with(&Redactor::builtin().scrub(&root).text, None)?;
        for nth in 1..=NAMES_MAX {
            let path = match nth {
                1 => first.clone(),
                nth => format!("{NOTES_FOLDER}/{name}-{nth}.md"),
            };
            let row = batch.file_row(root, &path)?;
            if let Some(row) = row.filter(|it| !it.is_gone && it.content_hash == Some(hash)) {
                let nodes = batch.file_nodes(row.id)?;
                if !nodes.is_empty() {
                    return Ok(WriteBackOutcome::Landed(
                        nodes.into_iter().map(|it| it.key).collect(),
                    ));
                }
            }
            let stat = match scan::create_file(&self.root, &path, &bytes) {
                Ok(Some(stat)) => apply_slice::trusted(stat, self.now),
                // Another note, of a person or of this memory.
                Ok(None) => continue,
                Err(error) => return kept(&path, &format!("cannot be written: {error}")),
            };
            let changed = UndoableFileWrite { path: path.clone(), before: None, after: bytes };
            self.changed.replace(Some(changed));
            let file = match batch.file_row(root, &path)? {
                Some(row) => row.id,
                None => batch.add_file(root, &path, stat)?,
            };
            batch.note_stat(file, stat, Ok(hash))?;
            let hashes = parsed.tree.nodes.iter().map(|it| ContentHash::of(&it.content)).collect();
            let matched = parsed.tree.nodes.iter().map(|_| None).collect();
            let parsed = ParsedFile { tree: parsed.tree, hashes, marks: Vec::new() };
            let row = batch.file_row(root, &path)?.ok_or(CompileError::GivenUp)?;
            return Ok(WriteBackOutcome::Landed(self.write_nodes(batch, &row, parsed, matched)?));
        }
        kept(&first, "and all other names for it are taken")
    }
}

/// Returns the nodes of a text and its tombstones, by index; `None` if they do not agree.
fn nodes_of(
    batch: &Batch<'_>,
    row: &FileRow,
    tree: &DocumentTree,
) -> Result<Option<NodeOrTombstoneByIndex>, CompileError> {
    let (nodes, _) = apply_slice::split_by_author(batch.file_nodes(row.id)?);
    let mut buried = batch.tombstones(row.id)?;
    let mut nodes = nodes.into_iter();
    let mut known = NodeOrTombstoneByIndex::default();
    for node in &tree.nodes {
        let hash = ContentHash::of(&node.content);
        let is_buried = |it: &ForgottenNodeTombstone| {
            it.span == node.span && it.node_type == node.node_type && it.source_hash == hash
        };
        if let Some(at) = buried.iter().position(is_buried) {
            known.tombstones.push(Some(buried.remove(at)));
            known.records.push(None);
            continue;
        }
        let is_it =
            |it: &NodeRecord| it.node_type == node.node_type && it.source_hash == Some(hash);
        let Some(record) = nodes.next().filter(is_it) else { return Ok(None) };
        known.records.push(Some(record));
        known.tombstones.push(None);
    }
    // A file without a block keeps its tombstones, in case that its blocks come back.
    let is_all = nodes.next().is_none() && (buried.is_empty() || tree.nodes.is_empty());
    Ok(is_all.then_some(known))
}

/// Gives an overlay that an agent replaces its new text, so that the file takes nothing away.
fn own_overlay(
    batch: &mut Batch<'_>,
    old: Option<NodeRecord>,
    new: Option<&Node>,
) -> Result<Option<NodeRecord>, CompileError> {
    let (Some(old), Some(new)) = (&old, new) else { return Ok(old) };
    if !old.is_overlaid() {
        return Ok(Some(old.clone()));
    }
    let new = UnplacedNodeData { attributes: old.attributes.clone(), ..UnplacedNodeData::of(new) };
    batch.set_agent_text(old, &new)?;
    Ok(batch.at(old.key)?)
}

/// Keeps the tombstones of blocks that the file still has; returns which of its nodes have one.
fn place_tombstones(
    batch: &Batch<'_>,
    row: &FileRow,
    (tree, origins): (&DocumentTree, &[Option<usize>]),
    tombstones: &[Option<ForgottenNodeTombstone>],
) -> Result<Vec<bool>, CompileError> {
    let of_block = |&at: &usize| tombstones[at].as_ref().map(|it| it.id);
    let stays: HashSet<NodeId> = origins.iter().flatten().filter_map(of_block).collect();
    for it in batch.tombstones(row.id)?.iter().filter(|it| !stays.contains(&it.id)) {
        batch.drop_tombstone(row.id, it.id)?;
    }
    let mut is_forgotten = Vec::with_capacity(tree.nodes.len());
    for (node, origin) in tree.nodes.iter().zip(origins) {
        let tombstone = origin.and_then(|at| tombstones[at].as_ref());
        if let Some(it) = tombstone {
            let moved = ForgottenNodeTombstone { span: node.span.clone(), ..it.clone() };
            batch.place_tombstone(row.id, &moved)?;
        }
        is_forgotten.push(tombstone.is_some());
    }
    Ok(is_forgotten)
}

/// Returns whether the memory has the same nodes of the file below one as the file.
fn is_subtree(
    batch: &Batch<'_>,
    file: &FileAsLastCompiled,
    idx: usize,
) -> Result<bool, CompileError> {
    let below = &file.nodes.records[idx..file.source.end_of(idx)];
    let of_file: HashSet<NodeRowId> = below.iter().flatten().map(|it| it.key).collect();
    let mut n_found = 0;
    let mut open: Vec<NodeRecord> = file.nodes.records[idx].iter().cloned().collect();
    while let Some(node) = open.pop() {
        open.extend(batch.children_of(node.key)?);
        if node.source_hash.is_some() {
            if !of_file.contains(&node.key) {
                return Ok(false);
            }
            n_found += 1;
        }
    }
    Ok(n_found == of_file.len())
}

/// Removes a node and what is below it, the lowest first.
fn remove_below(batch: &mut Batch<'_>, node: Option<NodeRecord>) -> Result<(), CompileError> {
    let mut all = Vec::new();
    let mut open: Vec<NodeRecord> = node.into_iter().collect();
    while let Some(node) = open.pop() {
        open.extend(batch.children_of(node.key)?);
        all.push(node);
    }
    for node in all.iter().rev() {
        match node.source_hash {
            Some(_) => batch.remove(node)?,
            None => batch.forget(node)?,
        }
    }
    Ok(())
}

fn keys_in(file: &FileAsLastCompiled, range: Range<usize>) -> Vec<NodeRowId> {
    file.nodes.records[range].iter().flatten().map(|it| it.key).collect()
}

/// Returns the name of a note's file, without its ending.
fn note_name(label: &str) -> String {
    let mut name = String::new();
    for it in text::fold_whitespace(label).to_lowercase().chars() {
        match it {
            it if it.is_alphanumeric() => name.push(it),
            _ if name.is_empty() || name.ends_with('-') => (),
            _ => name.push('-'),
        }
    }
    let name: String = name.chars().take(NAME_CHARS_MAX).collect();
    match name.trim_matches('-') {
        "" => "note".to_owned(),
        name => name.to_owned(),
    }
}

/// Returns the ids of nodes, in order.
pub(crate) fn landed_nodes(
    batch: &Batch<'_>,
    keys: &[NodeRowId],
) -> Result<Vec<NodeRecord>, CompileError> {
    let mut nodes = Vec::with_capacity(keys.len());
    for key in keys {
        nodes.extend(batch.at(*key)?);
    }
    Ok(nodes)
}
