//! Writes a file's aligned tree: order keys first, then nodes, parents before children.

use std::collections::BTreeMap;

use super::CompileError;
use super::overlay::{self, Inserts};
use super::work::{FileWork, ParsedFile};
use crate::model::breadcrumb;
use crate::model::order_keys::OrderKey;
use crate::store::{Batch, FileId, NewNode, NodeData, NodeKey, NodePlace};

/// Writes a file's nodes: order keys for all of them first, parents before children. New nodes get
/// the file's initial temperature, if there is one.
pub(super) fn apply(
    batch: &mut Batch<'_>,
    mut work: FileWork,
    file: FileId,
    seed: Option<f64>,
) -> Result<(), CompileError> {
    overlay::change_tombstones(batch, file, std::mem::take(&mut work.tombstones))?;
    for (key, base) in std::mem::take(&mut work.restored) {
        batch.restore_base(key, base)?;
    }
    let agent_nodes = Inserts::collect(batch, &mut work, file)?;
    let ranks = order_keys_of(batch, &work, file, &agent_nodes)?;
    let FileWork { found, parsed: ParsedFile { mut tree, hashes }, matched, .. } = work;
    let path = found.path;
    // Nodes below an overlay have its label in their breadcrumb.
    for ((node, hash), old) in tree.nodes.iter_mut().zip(&hashes).zip(&matched) {
        if let Some(old) =
            old.as_ref().filter(|it| it.is_overlaid() && it.source_hash == Some(*hash))
        {
            node.label.clone_from(&old.label);
        }
    }
    let breadcrumbs = breadcrumb::breadcrumbs_of_tree(&path, &tree);
    let mut keys: Vec<NodeKey> = Vec::with_capacity(tree.nodes.len());
    let mut next = batch.next_key()?;
    // Successive new nodes are added at once.
    let mut waiting: Vec<NewNode<'_>> = Vec::new();
    for (idx, node) in tree.nodes.iter().enumerate() {
        let place = NodePlace {
            file: Some(file),
            parent: node.parent.map(|parent| keys[parent]),
            position: ranks[idx].position,
        };
        let (data, span) = (NodeData::of(node), node.span.clone());
        let (hash, breadcrumb) = (hashes[idx], &breadcrumbs[idx]);
        let new = NewNode { data, span, hash, breadcrumb, place, path: &path };
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
    if let Some(temperature) = seed {
        for (&key, _) in keys.iter().zip(&matched).filter(|(_, old)| old.is_none()) {
            batch.set_temperature(key, temperature)?;
        }
    }
    Ok(agent_nodes.refresh_derived(batch)?)
}

/// Returns an order key for each node among its siblings; nodes that stay under their parent keep
/// theirs if possible.
fn order_keys_of(
    batch: &mut Batch<'_>,
    work: &FileWork,
    file: FileId,
    agent_nodes: &Inserts,
) -> Result<Vec<OrderKey>, CompileError> {
    let nodes = &work.parsed.tree.nodes;
    let mut families: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    // The top level is a family even if the file is empty.
    families.entry(None).or_default();
    for (idx, node) in nodes.iter().enumerate() {
        families.entry(node.parent).or_default().push(idx);
    }
    let mut ranks: Vec<Option<OrderKey>> = vec![None; nodes.len()];
    for (parent, children) in families {
        let parent_key = parent.map(|idx| work.matched[idx].as_ref().map(|it| it.key));
        let existing: Vec<Option<i64>> = children
            .iter()
            .map(|&idx| {
                let old = work.matched[idx].as_ref()?.place;
                let stays = match parent_key {
                    None => old.parent.is_none() && old.file == Some(file),
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
