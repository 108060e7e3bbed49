//! Applies a slice: renames first, then alignment, moves between its files, writes and removals.
//!
//! A slice is a small compile of whole files. All of its rows are read in its transaction, so that
//! changes by other processes since the plan was made are seen. Old nodes without a successor wait
//! in a pool until all of its files are aligned, since they may have moved there; the rest is then
//! removed.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::agent_edit_alignment::{self, AgentInserts};
use super::export_marks;
use super::file_being_compiled::{FileBeingCompiled, ParsedFile, base_hash};
use super::moved_tombstones::{DisplacedTombstones, UnmovedTombstone};
use super::plan::CompilePlan;
use super::read_and_parse::FileReadOutcome;
use super::{CompileError, DeletedFile, FileWarning};
use crate::ingest::parse::Parsed;
use crate::model::breadcrumb;
use crate::model::clock::UnixMillis;
use crate::model::file_stat::FileStat;
use crate::model::identity::{
    self, AlignmentNode, ContentHash, NodeId, TextHistoryIndex, UnmatchedNode,
};
use crate::model::order_keys::AssignedOrderKey;
use crate::model::tree::NodeType;
use crate::store::{
    Batch, FileId, FileRow, NewNode, NodePlace, NodeRecord, NodeRowId, RootId, UnplacedNodeData,
};

/// Least age in ms of a trusted file time. A file written just before its stat may be written
/// again without looking different.
const MTIME_TRUST_MS: i64 = 10;

/// Greatest lead in ms that a fast clock may explain. A later time was set on purpose, and a later
/// write will differ from it.
const MTIME_AHEAD_MS: i64 = 60_000;

/// Nodes with the same former text that are considered for a match.
const FORMER_MAX: u32 = 16;

/// The files that one transaction writes.
pub(super) struct Slice {
    /// Rows whose files are gone.
    pub(super) vanished: Vec<FileRow>,
    /// Files of nested roots, with their paths here.
    pub(super) adopted: Vec<(FileRow, String)>,
    /// Files that were read, known ones first.
    pub(super) files: Vec<FileReadOutcome>,
    /// Bytes of source that are written.
    pub(super) bytes: usize,
}

/// Writes a slice; returns warnings and deleted files.
pub(super) fn apply_slice(
    batch: &mut Batch<'_>,
    (plan, root): (&CompilePlan, RootId),
    slice: Slice,
    now: UnixMillis,
) -> Result<(Vec<FileWarning>, Vec<DeletedFile>), CompileError> {
    // Changes by another process since the plan was made are kept; the next compile compares them.
    let vanished = batch.unchanged_files(&slice.vanished)?;
    for (row, path) in &slice.adopted {
        if batch.is_unchanged_file(row)? {
            batch.move_file(row, root, path)?;
        }
    }
    let mut rows = BTreeMap::new();
    for it in &slice.files {
        if let Some(row) = batch.file_row(root, &it.found.path)? {
            rows.insert(row.path.clone(), row);
        }
    }
    let (pool, moved) = (Vec::new(), BTreeSet::new());
    let (warnings, purged) = (Vec::new(), Vec::new());
    let (repaired, displaced) = (Vec::new(), DisplacedTombstones::default());
    let mut run =
        SliceApplier { plan, root, rows, moved, pool, displaced, repaired, warnings, purged, now };
    if !vanished.is_empty() {
        run.settle_vanished(batch, &vanished, &slice.files)?;
    }
    run.ingest(batch, slice.files)?;
    run.remove_the_rest(batch)?;
    for row in vanished.iter().filter(|it| !run.moved.contains(&it.id)) {
        batch.mark_file_gone(row.id)?;
    }
    for node in run.repaired {
        batch.give_up_without_texts(node)?;
    }
    Ok((run.warnings, run.purged))
}

struct SliceApplier<'a> {
    plan: &'a CompilePlan,
    root: RootId,
    /// The rows of the slice's files, by path.
    rows: BTreeMap<String, FileRow>,
    /// Vanished files that live on under a new path.
    moved: BTreeSet<FileId>,
    /// Old nodes without a successor so far, in document order by file.
    pool: Vec<NodeRecord>,
    /// Tombstones without a block so far.
    displaced: DisplacedTombstones,
    /// Nodes with a text that a repair accepted.
    repaired: Vec<NodeId>,
    warnings: Vec<FileWarning>,
    purged: Vec<DeletedFile>,
    now: UnixMillis,
}

impl SliceApplier<'_> {
    /// Matches vanished files with renamed ones; puts the nodes of the others into the pool.
    fn settle_vanished(
        &mut self,
        batch: &mut Batch<'_>,
        vanished: &[FileRow],
        group: &[FileReadOutcome],
    ) -> Result<(), CompileError> {
        let mut old = Vec::with_capacity(vanished.len());
        let mut removed: Vec<Vec<ContentHash>> = Vec::with_capacity(vanished.len());
        for row in vanished {
            let (nodes, _) = self.nodes_of(batch, row)?;
            let forgotten = batch.tombstones(row.id)?;
            let hashes = nodes.iter().map(base_hash);
            removed.push(hashes.chain(forgotten.iter().map(|it| it.source_hash)).collect());
            old.push((nodes, forgotten));
        }
        let is_new =
            |it: &&FileReadOutcome| self.rows.get(&it.found.path).is_none_or(|known| known.is_gone);
        let new_files: Vec<&FileReadOutcome> = group.iter().filter(is_new).collect();
        let added: Vec<Vec<ContentHash>> = new_files.iter().map(|it| hashes_of(it)).collect();
        let removed: Vec<&[ContentHash]> = removed.iter().map(Vec::as_slice).collect();
        let added: Vec<&[ContentHash]> = added.iter().map(Vec::as_slice).collect();
        let mut is_renamed = vec![false; vanished.len()];
        for (from, to) in identity::renames(&removed, &added) {
            let (row, path) = (&vanished[from], &new_files[to].found.path);
            is_renamed[from] = true;
            if let Some(known) = self.rows.get(path) {
                // The file is back under a former name.
                batch.merge_file(row.id, known.id)?;
                continue;
            }
            batch.move_file(row, self.root, path)?;
            self.moved.insert(row.id);
            // Its text has to be aligned again: the stored hash is that of the old file.
            let row =
                FileRow { root: self.root, path: path.clone(), content_hash: None, ..row.clone() };
            self.rows.insert(path.clone(), row);
        }
        for ((row, (nodes, forgotten)), is_renamed) in vanished.iter().zip(old).zip(is_renamed) {
            if !is_renamed {
                self.purged.push(DeletedFile { path: row.path.clone(), nodes: nodes.len() });
                self.pool.extend(nodes);
                self.displaced.add(row.id, forgotten, UnmovedTombstone::Kept);
            }
        }
        Ok(())
    }

    fn ingest(
        &mut self,
        batch: &mut Batch<'_>,
        files: Vec<FileReadOutcome>,
    ) -> Result<(), CompileError> {
        let mut works = Vec::with_capacity(files.len());
        for source in files {
            works.extend(self.begin(batch, source)?);
        }
        self.match_moves(&mut works);
        std::mem::take(&mut self.displaced).settle(batch, self.plan, &mut works)?;
        for mut work in works {
            agent_edit_alignment::replace_accepted_bases(batch, &mut work)?;
            let seed = self.plan.workspace.initial_temperatures.of(&work.path);
            apply(batch, work, seed)?;
        }
        Ok(())
    }

    /// Returns the nodes of a file and those of agents in it. `row` is what was known of the file.
    fn nodes_of(
        &mut self,
        batch: &Batch<'_>,
        row: &FileRow,
    ) -> Result<(Vec<NodeRecord>, Vec<NodeRecord>), CompileError> {
        let mut nodes = batch.file_nodes(row.id)?;
        batch.note_hashes_before_repairs(row, &mut nodes)?;
        let is_repaired = |it: &&NodeRecord| it.hash_before_repair.is_some();
        self.repaired.extend(nodes.iter().filter(is_repaired).map(|it| it.id));
        Ok(split_by_author(nodes))
    }

    /// Records a file's stat and aligns its text with its nodes; `None` if that is all.
    fn begin(
        &mut self,
        batch: &mut Batch<'_>,
        source: FileReadOutcome,
    ) -> Result<Option<FileBeingCompiled>, CompileError> {
        let source = source.latest(self.plan);
        let path = source.found.path;
        let stat = trusted(source.found.stat, self.now);
        let row = self.rows.remove(&path);
        let file = match &row {
            Some(row) => row.id,
            None => batch.add_file(self.root, &path, stat)?,
        };
        let (hash, parsed) = match source.outcome {
            Ok(read) => read,
            Err(what) => {
                batch.note_stat(file, stat, Err(&what))?;
                self.warnings.push(FileWarning { path, line: None, what });
                return Ok(None);
            }
        };
        batch.note_stat(file, stat, Ok(hash))?;
        if row.as_ref().is_some_and(|row| row.content_hash == Some(hash)) {
            return Ok(None);
        }
        let Parsed { tree, warnings } = parsed;
        self.warnings.extend(warnings.into_iter().map(|it| FileWarning {
            path: path.clone(),
            line: Some(it.line),
            what: it.what,
        }));
        let (old, agent_nodes) = match &row {
            Some(row) => self.nodes_of(batch, row)?,
            None => (Vec::new(), Vec::new()),
        };
        let hashes = tree.nodes.iter().map(|it| ContentHash::of(&it.content)).collect();
        let is_exported = source.marks.is_some();
        let parsed = ParsedFile { tree, hashes, marks: source.marks.unwrap_or_default() };
        if is_exported && self.plan.exported.as_ref().is_some_and(|it| it.is_of_agents(&path)) {
            let mut odd = Vec::new();
            export_marks::take_in(batch, &parsed, &mut odd)?;
            let warn = |what| FileWarning { path: path.clone(), line: None, what };
            self.warnings.extend(odd.into_iter().map(warn));
            return Ok(None);
        }
        let is_empty = parsed.hashes.is_empty();
        let unless_moved =
            if is_empty { UnmovedTombstone::Kept } else { UnmovedTombstone::Dropped };
        let (parsed, rest) = agent_edit_alignment::without_forgotten(batch, file, &old, parsed)?;
        self.displaced.add(file, rest, unless_moved);
        let mut work =
            FileBeingCompiled { file, path, parsed, old, agent_nodes, matched: Vec::new() };
        self.align(batch, &mut work)?;
        Ok(Some(work))
    }

    fn align(
        &mut self,
        batch: &Batch<'_>,
        work: &mut FileBeingCompiled,
    ) -> Result<(), CompileError> {
        let former = former_texts(batch, work)?;
        let idx_of: HashMap<NodeRowId, usize> =
            work.old.iter().enumerate().map(|(idx, it)| (it.key, idx)).collect();
        let base_nodes = agent_edit_alignment::base_nodes(batch, &work.old)?;
        let parent = |it: &NodeRecord| it.place.parent.and_then(|key| idx_of.get(&key).copied());
        let old: Vec<AlignmentNode<'_>> =
            base_nodes.iter().zip(&work.old).map(|(it, node)| it.to_known(parent(node))).collect();
        let new = agent_edit_alignment::known_nodes(&work.parsed);
        let matched = identity::align(&old, &new, &former);
        drop((old, new));
        drop(base_nodes);
        let mut old: Vec<Option<NodeRecord>> = work.old.drain(..).map(Some).collect();
        work.matched = matched
            .into_iter()
            .map(|idx| idx.and_then(|idx| old.get_mut(idx).and_then(Option::take)))
            .collect();
        self.pool.extend(old.into_iter().flatten());
        Ok(agent_edit_alignment::reclaim_base(batch, work)?)
    }

    /// Matches new nodes without a past with nodes of the pool: text that moved between files.
    fn match_moves(&mut self, works: &mut [FileBeingCompiled]) {
        if self.pool.is_empty() {
            return;
        }
        let old: Vec<UnmatchedNode> = self
            .pool
            .iter()
            .map(|it| UnmatchedNode {
                node_type: it.node_type,
                hash: base_hash(it),
                size_bytes: it.content.len(),
            })
            .collect();
        let mut places = Vec::new();
        let mut new = Vec::new();
        for (work_idx, work) in works.iter().enumerate() {
            for (idx, node) in work.parsed.tree.nodes.iter().enumerate() {
                if work.matched[idx].is_none() {
                    places.push((work_idx, idx));
                    new.push(UnmatchedNode {
                        node_type: node.node_type,
                        hash: work.parsed.hashes[idx],
                        size_bytes: node.content.len(),
                    });
                }
            }
        }
        let mut pool: Vec<Option<NodeRecord>> = self.pool.drain(..).map(Some).collect();
        for (old_idx, new_idx) in identity::moves(&old, &new) {
            let (work_idx, idx) = places[new_idx];
            works[work_idx].matched[idx] = pool[old_idx].take();
        }
        for work in works {
            take_orphans(work, &mut pool);
        }
        self.pool = pool.into_iter().flatten().collect();
    }

    /// Removes the nodes without a successor.
    fn remove_the_rest(&mut self, batch: &mut Batch<'_>) -> Result<(), CompileError> {
        Ok(agent_edit_alignment::remove_nodes(batch, std::mem::take(&mut self.pool))?)
    }
}

/// Splits nodes into those of the file and those of an agent.
pub(super) fn split_by_author(nodes: Vec<NodeRecord>) -> (Vec<NodeRecord>, Vec<NodeRecord>) {
    nodes.into_iter().partition(|it| it.source_hash.is_some())
}

/// Matches nodes too short to be recognized alone by their moved parents and children. Type and
/// text must agree.
fn take_orphans(work: &mut FileBeingCompiled, pool: &mut [Option<NodeRecord>]) {
    let ParsedFile { tree, hashes, .. } = &work.parsed;
    let idx_of: HashMap<NodeRowId, usize> =
        pool.iter().enumerate().filter_map(|(idx, it)| Some((it.as_ref()?.key, idx))).collect();
    let mut orphans: HashMap<(NodeRowId, NodeType, ContentHash), Vec<usize>> = HashMap::new();
    for (idx, node) in pool.iter().enumerate().rev() {
        if let Some((node, parent)) = node.as_ref().and_then(|it| Some((it, it.place.parent?))) {
            orphans.entry((parent, node.node_type, base_hash(node))).or_default().push(idx);
        }
    }
    for idx in (0..tree.nodes.len()).rev() {
        let Some(parent) = tree.nodes[idx].parent else { continue };
        let old_parent = work.matched[idx].as_ref().and_then(|it| it.place.parent);
        let Some(&at) = old_parent.and_then(|key| idx_of.get(&key)) else { continue };
        let says = (tree.nodes[parent].node_type, hashes[parent]);
        if work.matched[parent].is_none()
            && pool[at].as_ref().is_some_and(|it| (it.node_type, base_hash(it)) == says)
        {
            work.matched[parent] = pool[at].take();
        }
    }
    for (idx, (node, &hash)) in tree.nodes.iter().zip(hashes).enumerate() {
        let parent = node.parent.and_then(|it| work.matched[it].as_ref()).map(|it| it.key);
        let Some(parent) = parent.filter(|_| work.matched[idx].is_none()) else { continue };
        let says = (parent, node.node_type, hash);
        while let Some(at) = orphans.get_mut(&says).and_then(Vec::pop) {
            if let Some(found) = pool[at].take() {
                work.matched[idx] = Some(found);
                break;
            }
        }
    }
}

/// Returns former texts of the file's nodes, for text that no node has now.
fn former_texts(
    batch: &Batch<'_>,
    work: &FileBeingCompiled,
) -> Result<TextHistoryIndex, CompileError> {
    let mut former = TextHistoryIndex::default();
    if work.old.is_empty() {
        return Ok(former);
    }
    let idx_of: HashMap<NodeId, usize> =
        work.old.iter().enumerate().map(|(idx, it)| (it.id, idx)).collect();
    let hashes: HashSet<ContentHash> = work.old.iter().map(base_hash).collect();
    let mut asked = HashSet::new();
    for (node, &hash) in work.parsed.tree.nodes.iter().zip(&work.parsed.hashes) {
        if hashes.contains(&hash) || !asked.insert((node.node_type, hash)) {
            continue;
        }
        for id in batch.former_ids(node.node_type, hash, FORMER_MAX)? {
            if let Some(&idx) = idx_of.get(&id) {
                former.insert(node.node_type, hash, idx);
            }
        }
    }
    Ok(former)
}

/// Writes a file's nodes: order keys for all of them first, parents before children. New nodes get
/// the file's initial temperature, if there is one. Returns the keys of all of them.
pub(super) fn apply(
    batch: &mut Batch<'_>,
    mut work: FileBeingCompiled,
    seed: Option<f64>,
) -> Result<Vec<NodeRowId>, CompileError> {
    let agent_nodes = AgentInserts::collect(batch, &mut work)?;
    let ranks = order_keys_of(batch, &work, &agent_nodes)?;
    let FileBeingCompiled { file, path, parsed, matched, .. } = work;
    let ParsedFile { mut tree, hashes, marks } = parsed;
    // Nodes below an overlay have its label in their breadcrumb.
    for ((node, hash), old) in tree.nodes.iter_mut().zip(&hashes).zip(&matched) {
        if let Some(old) =
            old.as_ref().filter(|it| it.is_overlaid() && it.source_hash == Some(*hash))
        {
            node.label.clone_from(&old.label);
        }
    }
    let breadcrumbs = breadcrumb::breadcrumbs_of_tree(&path, &tree);
    let mut keys: Vec<NodeRowId> = Vec::with_capacity(tree.nodes.len());
    let mut next = batch.next_key()?;
    // Successive new nodes are added at once.
    let mut waiting: Vec<NewNode<'_>> = Vec::new();
    for (idx, node) in tree.nodes.iter().enumerate() {
        let place = NodePlace {
            file: Some(file),
            parent: node.parent.map(|parent| keys[parent]),
            position: ranks[idx].position,
        };
        let (data, span) = (UnplacedNodeData::of(node), node.span.clone());
        let (hash, breadcrumb) = (hashes[idx], &breadcrumbs[idx]);
        let wanted = export_marks::wanted_id(&marks, idx);
        let new = NewNode { data, span, hash, breadcrumb, place, path: &path, wanted };
        match &matched[idx] {
            Some(old) => {
                batch.add(&waiting)?;
                waiting.clear();
                batch.update(old, &new, ranks[idx].change)?;
                keys.push(old.key);
            }
            None => {
                waiting.push(new);
                keys.push(next);
                next.0 += 1;
            }
        }
    }
    batch.add(&waiting)?;
    for ((&key, marks), _) in keys.iter().zip(&marks).zip(&matched).filter(|(_, it)| it.is_none()) {
        export_marks::follow_marks(batch, key, marks)?;
    }
    if let Some(temperature) = seed {
        for (&key, _) in keys.iter().zip(&matched).filter(|(_, old)| old.is_none()) {
            batch.set_temperature(key, temperature)?;
        }
    }
    agent_nodes.refresh_derived(batch)?;
    Ok(keys)
}

/// Returns an order key for each node among its siblings; nodes that stay under their parent keep
/// theirs if possible.
fn order_keys_of(
    batch: &mut Batch<'_>,
    work: &FileBeingCompiled,
    agent_nodes: &AgentInserts,
) -> Result<Vec<AssignedOrderKey>, CompileError> {
    let nodes = &work.parsed.tree.nodes;
    let mut families: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    // The top level is a family even if the file is empty.
    families.entry(None).or_default();
    for (idx, node) in nodes.iter().enumerate() {
        families.entry(node.parent).or_default().push(idx);
    }
    let mut ranks: Vec<Option<AssignedOrderKey>> = vec![None; nodes.len()];
    for (parent, children) in families {
        let parent_key = parent.map(|idx| work.matched[idx].as_ref().map(|it| it.key));
        let existing: Vec<Option<i64>> = children
            .iter()
            .map(|&idx| {
                let old = work.matched[idx].as_ref()?.place;
                let stays = match parent_key {
                    None => old.parent.is_none() && old.file == Some(work.file),
                    Some(key) => key.is_some() && old.parent == key,
                };
                stays.then_some(old.position)
            })
            .collect();
        let assigned = match parent_key {
            // A new parent has no agent nodes below it.
            Some(None) => crate::model::order_keys::assign_order_keys(&existing),
            Some(key) => agent_nodes.order_keys(batch, key, &existing)?,
            None => agent_nodes.order_keys(batch, None, &existing)?,
        };
        for (idx, rank) in children.into_iter().zip(assigned) {
            ranks[idx] = Some(rank);
        }
    }
    Ok(ranks.into_iter().flatten().collect())
}

fn hashes_of(source: &FileReadOutcome) -> Vec<ContentHash> {
    match &source.outcome {
        Ok((_, parsed)) => {
            parsed.tree.nodes.iter().map(|it| ContentHash::of(&it.content)).collect()
        }
        Err(_) => Vec::new(),
    }
}

pub(super) fn trusted(stat: FileStat, now: UnixMillis) -> FileStat {
    let age_ms = now.0.saturating_sub(stat.mtime / 1_000_000);
    let is_recent = (-MTIME_AHEAD_MS..MTIME_TRUST_MS).contains(&age_ms);
    if is_recent { FileStat { mtime: 0, ..stat } } else { stat }
}
