//! Aligns read files with their nodes, and matches text that moved between files. Nothing is
//! written here: what follows is a part of the [`FileWork`].

use std::collections::{HashMap, HashSet};

use super::work::{FileWork, ParsedFile, base_hash};
use super::{CompileError, SourceFile, overlay};
use crate::ingest::parse::Parsed;
use crate::model::identity::{self, ContentHash, FormerText, KnownNode, NodeId, UnmatchedNode};
use crate::model::tree::NodeType;
use crate::store::{Batch, FileRow, NodeKey, NodeRecord};

/// Nodes with the same former text that are considered for a match.
const FORMER_MAX: u32 = 16;

/// Aligns a file that was read with the nodes of its row; `None` if it could not be read. Old nodes
/// without a successor go into the pool.
pub(super) fn align(
    batch: &Batch<'_>,
    source: SourceFile,
    row: Option<FileRow>,
    pool: &mut Vec<NodeRecord>,
) -> Result<Option<FileWork>, CompileError> {
    let SourceFile { found, size, outcome } = source;
    let Ok((hash, Parsed { tree, warnings })) = outcome else { return Ok(None) };
    let ((old, agent_nodes), tombstones) = match &row {
        Some(row) => (split_by_author(batch.file_nodes(row.id)?), batch.tombstones(row.id)?),
        None => Default::default(),
    };
    let hashes = tree.nodes.iter().map(|it| ContentHash::of(&it.content)).collect();
    let mut parsed = ParsedFile { tree, hashes };
    let (mut whole, mut changes) = (None, Vec::new());
    if !tombstones.is_empty() {
        whole = Some(parsed.tree.clone());
        (parsed, changes) = overlay::without_forgotten(batch, &tombstones, &old, parsed)?;
    }
    let mut work = FileWork {
        found,
        size,
        hash,
        row,
        parsed,
        whole,
        warnings,
        old,
        agent_nodes,
        matched: Vec::new(),
        tombstones: changes,
        restored: Vec::new(),
        has_leftovers: false,
    };
    match_own(batch, &mut work, pool)?;
    Ok(Some(work))
}

fn match_own(
    batch: &Batch<'_>,
    work: &mut FileWork,
    pool: &mut Vec<NodeRecord>,
) -> Result<(), CompileError> {
    let former = former_texts(batch, work)?;
    let idx_of: HashMap<NodeKey, usize> =
        work.old.iter().enumerate().map(|(idx, it)| (it.key, idx)).collect();
    let base_nodes = overlay::base_nodes(batch, &work.old)?;
    let parent = |it: &NodeRecord| it.place.parent.and_then(|key| idx_of.get(&key).copied());
    let old: Vec<KnownNode<'_>> =
        base_nodes.iter().zip(&work.old).map(|(it, node)| it.to_known(parent(node))).collect();
    let new = overlay::known_nodes(&work.parsed);
    let matched = identity::align(&old, &new, &former);
    drop((old, new));
    drop(base_nodes);
    let mut old: Vec<Option<NodeRecord>> = work.old.drain(..).map(Some).collect();
    work.matched = matched
        .into_iter()
        .map(|idx| idx.and_then(|idx| old.get_mut(idx).and_then(Option::take)))
        .collect();
    let n_before = pool.len();
    pool.extend(old.into_iter().flatten());
    work.has_leftovers = n_before < pool.len();
    Ok(overlay::reclaim_base(batch, work)?)
}

/// Matches new nodes without a past with nodes of the pool: text that moved between files.
pub(super) fn match_moves(pool: &mut Vec<NodeRecord>, works: &mut [&mut FileWork]) {
    if pool.is_empty() {
        return;
    }
    let old: Vec<UnmatchedNode> = pool
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
    let mut free: Vec<Option<NodeRecord>> = pool.drain(..).map(Some).collect();
    for (old_idx, new_idx) in identity::moves(&old, &new) {
        let (work_idx, idx) = places[new_idx];
        works[work_idx].matched[idx] = free[old_idx].take();
    }
    for work in works {
        take_orphans(work, &mut free);
    }
    *pool = free.into_iter().flatten().collect();
}

/// Splits nodes into those of the file and those of an agent.
pub(super) fn split_by_author(nodes: Vec<NodeRecord>) -> (Vec<NodeRecord>, Vec<NodeRecord>) {
    nodes.into_iter().partition(|it| it.source_hash.is_some())
}

/// Matches nodes too short to be recognized alone by their moved parents and children. Type and
/// text must agree.
fn take_orphans(work: &mut FileWork, pool: &mut [Option<NodeRecord>]) {
    let ParsedFile { tree, hashes } = &work.parsed;
    let idx_of: HashMap<NodeKey, usize> =
        pool.iter().enumerate().filter_map(|(idx, it)| Some((it.as_ref()?.key, idx))).collect();
    let mut orphans: HashMap<(NodeKey, NodeType, ContentHash), Vec<usize>> = HashMap::new();
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
fn former_texts(batch: &Batch<'_>, work: &FileWork) -> Result<FormerText, CompileError> {
    let mut former = FormerText::default();
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

/// Returns the hashes of a file's texts; none of a file that could not be read.
pub(super) fn hashes_of(source: &SourceFile) -> Vec<ContentHash> {
    match &source.outcome {
        Ok((_, parsed)) => {
            parsed.tree.nodes.iter().map(|it| ContentHash::of(&it.content)).collect()
        }
        Err(_) => Vec::new(),
    }
}
