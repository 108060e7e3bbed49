//! Overlays: aligns a file with its nodes where an agent edited, added or forgot some. Forgotten
//! blocks are skipped, added nodes keep their place, and replaced texts are compared by their
//! base.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::file_being_compiled::{FileBeingCompiled, ParsedFile, base_hash};
use crate::model::identity::{self, AlignmentNode, ContentHash, NodeId, TextHistoryIndex};
use crate::model::order_keys::{self, AssignedOrderKey, KeptMovedOrRenumbered};
use crate::model::tree::{DocumentTree, NodeType};
use crate::store::{
    Batch, FileId, ForgottenNodeTombstone, NodePlace, NodeRecord, NodeRowId, StoreError,
};
use crate::text;

/// The label and the text of a node in its file.
struct LabelAndTextInFile {
    label: String,
    content: String,
}

/// A node with its base text, for alignment.
pub(super) struct NodeWithBaseText<'a> {
    node: &'a NodeRecord,
    /// The base text, if an agent replaced it.
    file: Option<LabelAndTextInFile>,
}

/// Returns the nodes of a file with their base texts. The agent's text would not help to recognize
/// the file's next version. Where a repair accepted a text, it is that one, with the former hash.
pub(super) fn base_nodes<'a>(
    batch: &Batch<'_>,
    nodes: &'a [NodeRecord],
) -> Result<Vec<NodeWithBaseText<'a>>, StoreError> {
    let mut base_nodes = Vec::with_capacity(nodes.len());
    for node in nodes {
        let file = match node.source_hash.filter(|_| node.is_overlaid()) {
            Some(hash) => batch.stored_text(hash)?,
            None => None,
        };
        let file = file
            .map(|content| LabelAndTextInFile { label: text::label_of_text(&content), content });
        base_nodes.push(NodeWithBaseText { node, file });
    }
    Ok(base_nodes)
}

impl NodeWithBaseText<'_> {
    /// Returns the node as an old one of alignment.
    pub(super) fn to_known(&self, parent: Option<usize>) -> AlignmentNode<'_> {
        let NodeWithBaseText { node, file } = self;
        AlignmentNode {
            parent,
            node_type: node.node_type,
            level: node.attributes.level(),
            label: file.as_ref().map_or(&node.label, |it| &it.label),
            content: file.as_ref().map_or(&node.content, |it| &it.content),
            hash: base_hash(node),
        }
    }
}

/// Returns the nodes of a parsed file, for alignment.
pub(super) fn known_nodes(parsed: &ParsedFile) -> Vec<AlignmentNode<'_>> {
    let nodes = parsed.tree.nodes.iter().zip(&parsed.hashes);
    nodes
        .map(|(it, &hash)| AlignmentNode {
            parent: it.parent,
            node_type: it.node_type,
            level: it.level,
            label: &it.label,
            content: &it.content,
            hash,
        })
        .collect()
}

/// Removes forgotten blocks from a parsed file. Their children move up to the nearest remaining
/// ancestor.
///
/// Among equal blocks, those in the place of the forgotten ones are removed: the file is aligned
/// with the whole of its last version. Returns the tombstones without a block, too.
pub(super) fn without_forgotten(
    batch: &Batch<'_>,
    file: FileId,
    old: &[NodeRecord],
    parsed: ParsedFile,
) -> Result<(ParsedFile, Vec<ForgottenNodeTombstone>), StoreError> {
    let mut tombstones = batch.tombstones(file)?;
    if tombstones.is_empty() {
        return Ok((parsed, tombstones));
    }
    let before = LastCompiledFileNodes::new(batch, old, &tombstones)?;
    let mut matched = before.match_blocks(&base_nodes(batch, old)?, &tombstones, &parsed);
    let forgotten = |matched: &[Option<usize>], idx: usize| {
        let nth = matched[idx]?.checked_sub(old.len())?;
        (tombstones[nth].source_hash == parsed.hashes[idx]).then_some(nth)
    };
    let n_nodes = parsed.tree.nodes.len();
    let met: HashSet<usize> = (0..n_nodes).filter_map(|idx| forgotten(&matched, idx)).collect();
    let is_same = |at: usize, hash: ContentHash| match at.checked_sub(old.len()) {
        None => base_hash(&old[at]) == hash,
        Some(nth) => tombstones[nth].source_hash == hash,
    };
    // Tombstones without their surroundings match by text alone, which outweighs a similarity.
    let mut lost: HashMap<(NodeType, ContentHash), Vec<usize>> = HashMap::new();
    for (nth, it) in tombstones.iter().enumerate().rev().filter(|(nth, _)| !met.contains(nth)) {
        lost.entry((it.node_type, it.source_hash)).or_default().push(nth);
    }
    for (idx, node) in parsed.tree.nodes.iter().enumerate() {
        let hash = parsed.hashes[idx];
        if matched[idx].is_some_and(|at| is_same(at, hash)) || node.content.trim().is_empty() {
            continue;
        }
        if let Some(nth) = lost.get_mut(&(node.node_type, hash)).and_then(Vec::pop) {
            matched[idx] = Some(old.len() + nth);
        }
    }
    let mut found: HashSet<NodeId> = HashSet::new();
    for idx in 0..n_nodes {
        let Some(nth) = forgotten(&matched, idx) else { continue };
        let id_of = |at: usize| matched[at].map(|at| before.ids[at]);
        let moved = tombstone_at(&tombstones[nth], (&parsed.tree, idx), id_of);
        if moved != tombstones[nth] {
            batch.place_tombstone(file, &moved)?;
        }
        found.insert(moved.id);
    }
    let is_dropped: Vec<bool> =
        (0..n_nodes).map(|idx| forgotten(&matched, idx).is_some()).collect();
    tombstones.retain(|it| !found.contains(&it.id));
    Ok((remove_blocks(parsed, &is_dropped), tombstones))
}

/// Returns a tombstone with the place of a block: below the nearest one above it that has an id.
pub(super) fn tombstone_at(
    it: &ForgottenNodeTombstone,
    (tree, idx): (&DocumentTree, usize),
    id_of: impl Fn(usize) -> Option<NodeId>,
) -> ForgottenNodeTombstone {
    let node = &tree.nodes[idx];
    let mut above = std::iter::successors(node.parent, |&at| tree.nodes[at].parent);
    let parent = above.find_map(id_of);
    ForgottenNodeTombstone { parent, span: node.span.clone(), ..it.clone() }
}

/// The last compiled version of a file: its nodes, then its tombstones.
struct LastCompiledFileNodes {
    ids: Vec<NodeId>,
    /// Indexes of `ids` in document order, each with its parent's position in this order.
    order: Vec<(usize, Option<usize>)>,
}

impl LastCompiledFileNodes {
    fn new(
        batch: &Batch<'_>,
        old: &[NodeRecord],
        tombstones: &[ForgottenNodeTombstone],
    ) -> Result<LastCompiledFileNodes, StoreError> {
        let mut ids: Vec<NodeId> = old.iter().map(|it| it.id).collect();
        ids.extend(tombstones.iter().map(|it| it.id));
        let idx_of: HashMap<NodeId, usize> =
            ids.iter().enumerate().map(|(idx, &id)| (id, idx)).collect();
        let id_of: HashMap<NodeRowId, NodeId> = old.iter().map(|it| (it.key, it.id)).collect();
        let mut families: BTreeMap<Option<usize>, Vec<(usize, usize)>> = BTreeMap::new();
        for (idx, node) in old.iter().enumerate() {
            let parent = node.place.parent.and_then(|key| id_of.get(&key));
            let start = batch.span_start(node.key)?;
            let parent = parent.and_then(|id| idx_of.get(id)).copied();
            families.entry(parent).or_default().push((start, idx));
        }
        for (idx, it) in (old.len()..).zip(tombstones) {
            let parent = it.parent.and_then(|id| idx_of.get(&id)).copied();
            families.entry(parent).or_default().push((it.span.start, idx));
        }
        for family in families.values_mut() {
            family.sort_unstable();
        }
        let mut order = Vec::with_capacity(ids.len());
        let mut open: Vec<(usize, Option<usize>)> = Vec::new();
        let mut next = families.remove(&None).map(|family| (family, None));
        loop {
            if let Some((family, parent)) = next {
                open.extend(family.into_iter().rev().map(|(_, idx)| (idx, parent)));
            }
            let Some((idx, parent)) = open.pop() else { break };
            order.push((idx, parent));
            let place = order.len() - 1;
            next = families.remove(&Some(idx)).map(|family| (family, Some(place)));
        }
        Ok(LastCompiledFileNodes { ids, order })
    }

    /// Returns, for each new node, the index in `ids` of its old one.
    fn match_blocks(
        &self,
        base_nodes: &[NodeWithBaseText<'_>],
        tombstones: &[ForgottenNodeTombstone],
        parsed: &ParsedFile,
    ) -> Vec<Option<usize>> {
        let new = known_nodes(parsed);
        // A tombstone has no text; where one matters, the file has it still.
        let text_of: HashMap<(NodeType, ContentHash), &AlignmentNode<'_>> =
            new.iter().map(|it| ((it.node_type, it.hash), it)).collect();
        let old: Vec<AlignmentNode<'_>> = self
            .order
            .iter()
            .map(|&(at, parent)| match at.checked_sub(base_nodes.len()) {
                None => base_nodes[at].to_known(parent),
                Some(nth) => {
                    let ForgottenNodeTombstone { node_type, level, source_hash: hash, .. } =
                        tombstones[nth];
                    let (label, content) = text_of
                        .get(&(node_type, hash))
                        .map_or(("", "?"), |it| (it.label, it.content));
                    AlignmentNode { parent, node_type, level, label, content, hash }
                }
            })
            .collect();
        let found = identity::align(&old, &new, &TextHistoryIndex::default());
        found.into_iter().map(|it| it.map(|place| self.order[place].0)).collect()
    }
}

/// Removes blocks; their children move up.
pub(super) fn remove_blocks(parsed: ParsedFile, is_dropped: &[bool]) -> ParsedFile {
    let mut kept = ParsedFile::default();
    let mut marks = parsed.marks.into_iter();
    // For each old index, the new index of it or of its nearest remaining ancestor.
    let mut now_at: Vec<Option<usize>> = Vec::with_capacity(is_dropped.len());
    for ((mut node, hash), &is_dropped) in
        parsed.tree.nodes.into_iter().zip(parsed.hashes).zip(is_dropped)
    {
        let parent = node.parent.and_then(|at| now_at[at]);
        let marks = marks.next();
        if is_dropped {
            now_at.push(parent);
            continue;
        }
        node.parent = parent;
        kept.hashes.push(hash);
        kept.marks.extend(marks);
        now_at.push(Some(kept.tree.push(node)));
    }
    kept
}

/// Puts the texts of a file that did not change below overlays over what a repair accepted.
pub(super) fn replace_accepted_bases(
    batch: &Batch<'_>,
    work: &mut FileBeingCompiled,
) -> Result<(), StoreError> {
    let ParsedFile { tree, hashes, .. } = &work.parsed;
    let blocks = tree.nodes.iter().zip(hashes).zip(&mut work.matched);
    for ((block, &hash), node) in blocks.filter_map(|(it, node)| Some((it, node.as_mut()?))) {
        if node.is_overlaid() && node.hash_before_repair == Some(hash) {
            batch.replace_base(node, hash, &block.content)?;
        }
    }
    Ok(())
}

/// Gives a file its former nodes back. A rollback restored them as agent nodes, and the file has
/// their text again.
pub(super) fn reclaim_base(
    batch: &Batch<'_>,
    work: &mut FileBeingCompiled,
) -> Result<(), StoreError> {
    // The history is read only if a new node has no match.
    if work.agent_nodes.is_empty() || work.matched.iter().all(Option::is_some) {
        return Ok(());
    }
    let mut agent_nodes: Vec<Option<NodeRecord>> = work.agent_nodes.drain(..).map(Some).collect();
    let mut places: HashMap<(NodeType, ContentHash), VecDeque<usize>> = HashMap::new();
    for (at, it) in agent_nodes.iter().enumerate().filter_map(|(at, it)| Some((at, it.as_ref()?))) {
        if let Some(base) = batch.last_base_text(it.id)? {
            places.entry((it.node_type, it.content_hash)).or_default().push_back(at);
            if base != it.content_hash {
                places.entry((it.node_type, base)).or_default().push_back(at);
            }
        }
    }
    for (idx, node) in work.parsed.tree.nodes.iter().enumerate() {
        if work.matched[idx].is_some() {
            continue;
        }
        let base = (node.node_type, work.parsed.hashes[idx]);
        while let Some(at) = places.get_mut(&base).and_then(VecDeque::pop_front) {
            let Some(mut found) = agent_nodes[at].take() else { continue };
            // The agent's text stays over the base.
            if found.content_hash != base.1 {
                batch.restore_base(&mut found, base.1)?;
            }
            work.matched[idx] = Some(found);
            break;
        }
    }
    work.agent_nodes = agent_nodes.into_iter().flatten().collect();
    Ok(())
}

/// Nodes that an agent added right below a file's nodes or at its top, by parent, in order.
pub(super) struct AgentInserts(HashMap<Option<NodeRowId>, Vec<NodeRecord>>);

impl AgentInserts {
    /// Collects the inserts of a file, and those below nodes from other files.
    pub(super) fn collect(
        batch: &Batch<'_>,
        work: &mut FileBeingCompiled,
    ) -> Result<AgentInserts, StoreError> {
        let mut families: HashMap<Option<NodeRowId>, Vec<NodeRecord>> = HashMap::new();
        for node in work.agent_nodes.drain(..) {
            families.entry(node.place.parent).or_default().push(node);
        }
        let from_elsewhere = |it: &&NodeRecord| it.place.file != Some(work.file);
        for parent in work.matched.iter().flatten().filter(from_elsewhere) {
            let children = batch.children_of(parent.key)?;
            let agent_nodes: Vec<NodeRecord> =
                children.into_iter().filter(|it| it.source_hash.is_none()).collect();
            if !agent_nodes.is_empty() {
                families.insert(Some(parent.key), agent_nodes);
            }
        }
        Ok(AgentInserts(families))
    }

    /// Assigns order keys to a family of file nodes, given their old positions. Agent nodes are
    /// placed among them: each before the node that followed it, or at the end.
    pub(super) fn order_keys(
        &self,
        batch: &mut Batch<'_>,
        parent: Option<NodeRowId>,
        existing: &[Option<i64>],
    ) -> Result<Vec<AssignedOrderKey>, StoreError> {
        let Some(agent_nodes) = self.0.get(&parent) else {
            return Ok(order_keys::assign_order_keys(existing));
        };
        let mut known: Vec<(i64, usize)> =
            (0..).zip(existing).filter_map(|(slot, it)| Some(((*it)?, slot))).collect();
        known.sort_unstable();
        let slot_of = |it: &NodeRecord| {
            let follower = known.partition_point(|(position, _)| *position <= it.place.position);
            known.get(follower).map_or(existing.len(), |(_, slot)| *slot)
        };
        let mut in_order: Vec<&NodeRecord> = agent_nodes.iter().collect();
        in_order.sort_by_key(|it| it.place.position);
        let mut slot = 0;
        let queue = in_order.into_iter().map(|it| {
            // Where the file reordered its nodes, the agent's keep their own order.
            slot = slot.max(slot_of(it));
            (slot, it)
        });
        let mut queue = queue.peekable();
        let (mut merged, mut whose) = (Vec::new(), Vec::new());
        for slot in 0..=existing.len() {
            while let Some((_, it)) = queue.next_if(|(at, _)| *at <= slot) {
                merged.push(Some(it.place.position));
                whose.push(Some(it));
            }
            if let Some(position) = existing.get(slot) {
                merged.push(*position);
                whose.push(None);
            }
        }
        let mut ranks = Vec::with_capacity(existing.len());
        for (rank, whose) in order_keys::assign_order_keys(&merged).into_iter().zip(whose) {
            match (whose, rank.change) {
                (None, _) => ranks.push(rank),
                (Some(_), KeptMovedOrRenumbered::Kept) => (),
                (Some(it), KeptMovedOrRenumbered::Renumbered) => {
                    batch.renumber(it, rank.position)?
                }
                (Some(it), KeptMovedOrRenumbered::Moved) => {
                    batch.move_to(it, NodePlace { position: rank.position, ..it.place })?;
                }
            }
        }
        Ok(ranks)
    }

    /// Refreshes file and breadcrumb after changes above.
    pub(super) fn refresh_derived(self, batch: &mut Batch<'_>) -> Result<(), StoreError> {
        let mut keys: Vec<NodeRowId> = self.0.into_values().flatten().map(|it| it.key).collect();
        keys.sort_unstable();
        keys.into_iter().try_for_each(|key| batch.refresh_derived(key))
    }
}

/// Removes nodes, children before parents. Agent nodes below one move to its nearest remaining
/// ancestor, or to the top of its file.
pub(super) fn remove_nodes(
    batch: &mut Batch<'_>,
    nodes: Vec<NodeRecord>,
) -> Result<(), StoreError> {
    let above: HashMap<NodeRowId, Option<NodeRowId>> =
        nodes.iter().map(|it| (it.key, it.place.parent)).collect();
    for node in nodes.iter().rev() {
        for child in batch.children_of(node.key)? {
            let mut parent = node.place.parent;
            while let Some(next) = parent.and_then(|key| above.get(&key)) {
                parent = *next;
            }
            let stays = match parent {
                Some(key) => batch.at(key)?,
                None => None,
            };
            let file = stays.map_or(node.place.file, |it| it.place.file);
            let place = batch.last_place(file, parent)?;
            batch.move_to(&child, place)?;
        }
        batch.remove(node)?;
    }
    Ok(())
}
