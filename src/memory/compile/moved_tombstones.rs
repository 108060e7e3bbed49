//! Tombstones without a block in their file: each goes along with the block where that moved, as
//! a node does.
//!
//! A file of the compile may have gained the block while the other lost it, or was deleted or
//! emptied. A file that is not on the disk lost its blocks before. Nodes are matched first, so that
//! a tombstone takes no text that lives: as many blocks stay forgotten as were.

use std::collections::{BTreeSet, HashMap};

use super::agent_edit_alignment::{remove_blocks, tombstone_at};
use super::file_being_compiled::FileBeingCompiled;
use super::plan::{AbsentFilesByForgottenText, CompilePlan, CompileScope};
use crate::ingest::redact::MARKER;
use crate::ingest::scan::ScannedFile;
use crate::model::identity::{self, ContentHash, NodeId, UnmatchedNode};
use crate::model::tree::NodeType;
use crate::store::{Batch, FileId, FileRow, ForgottenNodeTombstone, StoreError, Writer};

/// Returns the files of a root that are not on the disk, and lie outside of the scope or were gone
/// before, with what was forgotten in them. `found` is sorted by path. Files of an export have
/// other names on the disk, and are none of them.
pub(super) fn absent_files(
    writer: &Writer,
    (plan, scope): (&CompilePlan, &CompileScope),
    rows: &[FileRow],
    found: &[ScannedFile],
) -> Result<AbsentFilesByForgottenText, StoreError> {
    let mut absent = AbsentFilesByForgottenText::new();
    if found.is_empty() || plan.exported.is_some() {
        return Ok(absent);
    }
    let with_tombstones: BTreeSet<FileId> = writer.files_with_forgotten()?.into_iter().collect();
    for row in rows.iter().filter(|it| with_tombstones.contains(&it.id)) {
        let is_found = || found.binary_search_by(|it| it.path.as_str().cmp(&row.path)).is_ok();
        let is_absent = match scope.covers(&row.path) {
            true => row.is_gone && !is_found(),
            false => is_missing(scope, &row.path),
        };
        if is_absent {
            for hash in writer.forgotten_texts(row.id)? {
                absent.entry(hash).or_default().push(row.id);
            }
        }
    }
    Ok(absent)
}

/// Returns whether nothing has a path; a redacted one is not known.
fn is_missing(scope: &CompileScope, path: &str) -> bool {
    let is_not_found = |it: std::io::Error| it.kind() == std::io::ErrorKind::NotFound;
    !path.contains(MARKER)
        && scope.root.join(path).symlink_metadata().err().is_some_and(is_not_found)
}

/// The fate of a tombstone whose block no file gained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnmovedTombstone {
    /// The file may come back with its block.
    Kept,
    /// The block changed or left its file.
    Dropped,
}

/// The tombstones of a slice that have no block in their files.
#[derive(Default)]
pub(super) struct DisplacedTombstones(Vec<DisplacedTombstone>);

struct DisplacedTombstone {
    file: FileId,
    it: ForgottenNodeTombstone,
    unless_moved: UnmovedTombstone,
}

impl DisplacedTombstones {
    pub(super) fn add(
        &mut self,
        file: FileId,
        tombstones: Vec<ForgottenNodeTombstone>,
        unless_moved: UnmovedTombstone,
    ) {
        let to_displaced = |it| DisplacedTombstone { file, it, unless_moved };
        self.0.extend(tombstones.into_iter().map(to_displaced));
    }

    /// Takes blocks that moved out of the files that gained them, and their tombstones there. The
    /// nodes of the files are matched.
    pub(super) fn settle(
        mut self,
        batch: &mut Batch<'_>,
        plan: &CompilePlan,
        works: &mut [FileBeingCompiled],
    ) -> Result<(), StoreError> {
        self.add_absent(batch, plan, works)?;
        if self.0.is_empty() {
            return Ok(());
        }
        let blocks = MovedBlocks::find(batch, &self.0, works)?;
        let mut is_moved = vec![false; self.0.len()];
        for (work, tombstone_of) in works.iter_mut().zip(&blocks.tombstone_of) {
            take_out(batch, &self.0, work, (tombstone_of, &mut is_moved))?;
        }
        for (rest, is_moved) in self.0.iter().zip(is_moved) {
            if !is_moved && rest.unless_moved == UnmovedTombstone::Dropped {
                batch.drop_tombstone(rest.file, rest.it.id)?;
            }
        }
        Ok(())
    }

    /// Adds the tombstones of files that are not on the disk, if a file has a text of theirs.
    fn add_absent(
        &mut self,
        batch: &Batch<'_>,
        plan: &CompilePlan,
        works: &[FileBeingCompiled],
    ) -> Result<(), StoreError> {
        if plan.forgotten_in_absent.is_empty() {
            return Ok(());
        }
        let hashes = works.iter().flat_map(|work| {
            let new = work.parsed.hashes.iter().zip(&work.matched);
            new.filter(|(_, old)| old.is_none()).map(|(hash, _)| hash)
        });
        let files: BTreeSet<FileId> =
            hashes.filter_map(|it| plan.forgotten_in_absent.get(it)).flatten().copied().collect();
        for file in files {
            for it in batch.tombstones(file)? {
                // A rollback may have made several files say a node, and restored it in one.
                if batch.is_only_forgotten_in(file, it.id)? {
                    self.add(file, vec![it], UnmovedTombstone::Kept);
                }
            }
        }
        Ok(())
    }
}

/// A family of tombstones: of one parent, or of the top of a file.
type Family = (Option<NodeId>, FileId);

/// The blocks that displaced tombstones are of.
struct MovedBlocks {
    /// For each block of each file, the index of its tombstone.
    tombstone_of: Vec<Vec<Option<usize>>>,
    is_used: Vec<bool>,
}

impl MovedBlocks {
    /// Finds long blocks by their texts, and short ones beside what moved.
    fn find(
        batch: &Batch<'_>,
        displaced: &[DisplacedTombstone],
        works: &[FileBeingCompiled],
    ) -> Result<MovedBlocks, StoreError> {
        let mut blocks = MovedBlocks {
            tombstone_of: works.iter().map(|it| vec![None; it.matched.len()]).collect(),
            is_used: vec![false; displaced.len()],
        };
        blocks.find_long(displaced, works);
        let mut by_id: HashMap<NodeId, usize> = HashMap::new();
        let mut by_family: HashMap<(Family, NodeType, ContentHash), Vec<usize>> = HashMap::new();
        for (nth, DisplacedTombstone { file, it, .. }) in displaced.iter().enumerate().rev() {
            by_id.insert(it.id, nth);
            let key = ((it.parent, *file), it.node_type, it.source_hash);
            by_family.entry(key).or_default().push(nth);
        }
        for (at, work) in works.iter().enumerate() {
            let nodes = &work.parsed.tree.nodes;
            let text = |idx: usize| (nodes[idx].node_type, work.parsed.hashes[idx]);
            // Forgotten headings above what moved.
            for idx in (0..nodes.len()).rev() {
                let Some(above) = nodes[idx].parent.filter(|&it| blocks.is_free(work, at, it))
                else {
                    continue;
                };
                let Some(family) = blocks.family_of(batch, displaced, work, (at, idx))? else {
                    continue;
                };
                let (node_type, hash) = text(above);
                let is_it = |nth: &usize| {
                    let it = &displaced[*nth].it;
                    (it.node_type, it.source_hash) == (node_type, hash)
                };
                let parent = family.0.and_then(|id| by_id.get(&id)).copied().filter(is_it);
                // A forgotten node may have left what was below it to the one above.
                let same = by_family.get_mut(&(family, node_type, hash));
                let found =
                    parent.filter(|&nth| !blocks.is_used[nth]).or_else(|| blocks.next_unused(same));
                blocks.pair(found, (at, above));
            }
            // Those below.
            for (idx, node) in nodes.iter().enumerate() {
                let Some(above) = node.parent.filter(|_| blocks.is_free(work, at, idx)) else {
                    continue;
                };
                let family = match (&work.matched[above], blocks.tombstone_of[at][above]) {
                    (Some(node), _) => node.place.file.map(|file| (Some(node.id), file)),
                    (None, Some(nth)) => Some((Some(displaced[nth].it.id), displaced[nth].file)),
                    (None, None) => None,
                };
                let Some(family) = family else { continue };
                let (node_type, hash) = text(idx);
                let found = blocks.next_unused(by_family.get_mut(&(family, node_type, hash)));
                blocks.pair(found, (at, idx));
            }
        }
        Ok(blocks)
    }

    fn find_long(&mut self, displaced: &[DisplacedTombstone], works: &[FileBeingCompiled]) {
        // The length of a forgotten text is not known; that of the new one counts.
        let to_old = |DisplacedTombstone { it, .. }: &DisplacedTombstone| UnmatchedNode {
            node_type: it.node_type,
            hash: it.source_hash,
            size_bytes: usize::MAX,
        };
        let old: Vec<UnmatchedNode> = displaced.iter().map(to_old).collect();
        let (mut places, mut new) = (Vec::new(), Vec::new());
        for (at, work) in works.iter().enumerate() {
            for (idx, node) in work.parsed.tree.nodes.iter().enumerate() {
                if self.is_free(work, at, idx) {
                    places.push((at, idx));
                    new.push(UnmatchedNode {
                        node_type: node.node_type,
                        hash: work.parsed.hashes[idx],
                        size_bytes: node.content.len(),
                    });
                }
            }
        }
        for (nth, place) in identity::moves(&old, &new) {
            self.pair(Some(nth), places[place]);
        }
    }

    /// Returns whether a block is neither a known node nor forgotten; an empty one is neither.
    fn is_free(&self, work: &FileBeingCompiled, at: usize, idx: usize) -> bool {
        work.matched[idx].is_none()
            && self.tombstone_of[at][idx].is_none()
            && !work.parsed.tree.nodes[idx].content.trim().is_empty()
    }

    /// Removes the used ones from the end of a list, and returns the next one.
    fn next_unused(&self, list: Option<&mut Vec<usize>>) -> Option<usize> {
        let list = list?;
        while list.pop_if(|nth| self.is_used[*nth]).is_some() {}
        list.last().copied()
    }

    fn pair(&mut self, nth: Option<usize>, (at, idx): (usize, usize)) {
        if let Some(nth) = nth {
            self.tombstone_of[at][idx] = Some(nth);
            self.is_used[nth] = true;
        }
    }

    /// Returns the family that a block's node or tombstone had so far.
    fn family_of(
        &self,
        batch: &Batch<'_>,
        displaced: &[DisplacedTombstone],
        work: &FileBeingCompiled,
        (at, idx): (usize, usize),
    ) -> Result<Option<Family>, StoreError> {
        if let Some(nth) = self.tombstone_of[at][idx] {
            return Ok(Some((displaced[nth].it.parent, displaced[nth].file)));
        }
        let Some(place) = work.matched[idx].as_ref().map(|it| it.place) else { return Ok(None) };
        let parent = match place.parent {
            Some(key) => batch.at(key)?.map(|it| it.id),
            None => None,
        };
        Ok(place.file.map(|file| (parent, file)))
    }
}

/// Takes blocks out of a file, and moves their tombstones there.
fn take_out(
    batch: &mut Batch<'_>,
    displaced: &[DisplacedTombstone],
    work: &mut FileBeingCompiled,
    (tombstone_of, is_moved): (&[Option<usize>], &mut [bool]),
) -> Result<(), StoreError> {
    let tree = &work.parsed.tree;
    let mut is_dropped = vec![false; tree.nodes.len()];
    let id_of = |at: usize| match &work.matched[at] {
        Some(it) => Some(it.id),
        None => tombstone_of[at].map(|nth| displaced[nth].it.id),
    };
    for idx in 0..tree.nodes.len() {
        let Some(nth) = tombstone_of[idx] else { continue };
        let DisplacedTombstone { file, it, .. } = &displaced[nth];
        let moved = tombstone_at(it, (tree, idx), id_of);
        is_moved[nth] = batch.move_tombstone(*file, work.file, &moved)?;
        is_dropped[idx] = is_moved[nth];
    }
    if is_dropped.contains(&true) {
        work.parsed = remove_blocks(std::mem::take(&mut work.parsed), &is_dropped);
        let mut is_dropped = is_dropped.into_iter();
        work.matched.retain(|_| is_dropped.next() == Some(false));
    }
    Ok(())
}
