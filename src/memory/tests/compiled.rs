//! Properties of a compile: claims about the states before and after it.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{Block, Model, Seat, State, hash};
use super::seen::Seen;
use crate::ingest::parse::{Syntax, parse};
use crate::model::tree::DocumentTree;

/// The files that a compile read, with their texts; `None` for deleted ones.
pub(super) type Changed = BTreeMap<String, Option<String>>;

/// Compares the states before and after a compile. `on_disk` are the files that there are.
#[track_caller]
pub(super) fn check(before: &Model, seen: &Seen, changed: &Changed, on_disk: &BTreeSet<String>) {
    let mut after = before.clone();
    after.state = seen.state.clone();
    after.base_blocks = seen.base_blocks.clone();
    for (file, blocks) in &before.base_blocks {
        if changed.contains_key(file) {
            continue;
        }
        // What was forgotten in a file that is not there may be in another one now.
        let has_moved = |(id, block): (&String, &Block)| {
            !on_disk.contains(file)
                && !lives_in(before, id, file)
                && changed
                    .keys()
                    .filter_map(|it| after.base_blocks.get(it))
                    .any(|it| it.get(id) == Some(block))
        };
        let mut blocks = blocks.clone();
        let now = after.base_blocks.get(file).cloned().unwrap_or_default();
        blocks.retain(|id, block| now.contains_key(id) || !has_moved((id, block)));
        assert_eq!(blocks, now, "what the unchanged {file} says");
    }
    for (file, text) in changed {
        match text {
            Some(text) => check_changed_file(before, &after, changed, file, text),
            None => {
                let base_blocks = after.base_blocks.get(file).into_iter().flatten();
                let alive: Vec<_> =
                    base_blocks.filter(|(id, _)| lives_in(&after, id, file)).collect();
                assert!(alive.is_empty(), "{file} is gone, and still says {alive:?}");
            }
        }
    }
    check_other_nodes(before, &after, changed);
    for (id, node) in &after.state.nodes {
        let Some(old) = before.state.nodes.get(id) else {
            assert!(after.source_of(id).is_some(), "a compile made {id}, which no file says");
            let was = before.snapshots.iter().filter_map(|it| it.state.nodes.get(id));
            for old in was {
                assert_eq!(old.node_type, node.node_type, "{id} was something else once");
            }
            continue;
        };
        assert_eq!(old.node_type, node.node_type, "{id} became something else");
        let is_touched = |it: Option<&str>| it.is_some_and(|it| changed.contains_key(it));
        let is_near = is_touched(before.state.file_of(id)) || is_touched(after.state.file_of(id));
        assert!(is_near || old == node, "{id} changed, and its file did not");
    }
}

fn lives_in(model: &Model, id: &str, file: &str) -> bool {
    model.state.nodes.contains_key(id) && model.state.file_of(id) == Some(file)
}

/// Checks a changed file: each of its blocks is there once, in order, or forgotten. Known blocks
/// keep their nodes, with their overlays.
#[track_caller]
fn check_changed_file(before: &Model, after: &Model, changed: &Changed, file: &str, text: &str) {
    let tree = parse(Syntax::Markdown, text).tree;
    let empty = BTreeMap::new();
    let (old, new) = (before.base_blocks.get(file).unwrap_or(&empty), after.base_blocks.get(file));
    let new = new.unwrap_or(&empty);
    let parsed: Vec<Block> = tree.nodes.iter().map(block).collect();
    let counted = count(parsed.iter());
    if parsed.is_empty() {
        // What was forgotten in an empty file stays so, in case that its blocks come back.
        let stays = |(id, block): (&String, &Block)| {
            old.get(id) == Some(block) && !lives_in(after, id, file)
        };
        assert!(new.iter().all(stays), "{file} is empty, and still says {new:?}");
        return;
    }
    assert_eq!(counted, count(new.values()), "blocks of {file}, and what it is known to say");
    let alive: Vec<String> =
        after.state.of_file(file).into_iter().filter(|it| new.contains_key(it)).collect();
    let mut rest = parsed.iter();
    for id in &alive {
        assert!(rest.any(|it| *it == new[id]), "{file}: {id} stands out of order\n{text}");
    }
    for (id, block) in new {
        let is_alive = lives_in(after, id, file);
        // Forgotten blocks of a file stay forgotten when it is renamed.
        let forgotten = before.base_blocks.iter().filter(|(file, _)| !lives_in(before, id, file));
        let was_forgotten = forgotten.into_iter().any(|(_, it)| it.get(id) == Some(block));
        assert!(is_alive || was_forgotten, "{file}: a compile forgot {id}");
        if is_alive {
            let node = &after.state.nodes[id];
            let words = before.state.nodes.get(id);
            let is_agents = words.is_some_and(|it| {
                let had_text = match before.source_of(id) {
                    Some(source) => source == block.1,
                    // A rollback restored it, and its file has it again.
                    None => before.had_text(id, block),
                };
                it.content == node.content && had_text
            });
            assert!(hash(&node.content) == block.1 || is_agents, "{file}: words of {id}");
        }
    }
    let known = count(old.values());
    // A deleted node may have moved here under its own id, where this one was deleted itself.
    let gone = changed.iter().filter(|(_, text)| text.is_none());
    let gone = gone.filter_map(|(file, _)| Some((file, before.base_blocks.get(file)?)));
    // A block that was forgotten there stays so, even where a rollback gave this file the same text.
    let (mut vanished_blocks, mut forgotten_blocks) = (BTreeSet::new(), BTreeSet::new());
    for (file, blocks) in gone {
        vanished_blocks.extend(blocks.values());
        let forgotten = blocks.iter().filter(|(id, _)| !lives_in(before, id, file));
        forgotten_blocks.extend(forgotten.map(|it| it.1));
    }
    for (id, block) in old {
        let is_gone = !lives_in(before, id, file);
        if is_gone && vanished_blocks.contains(block) || forgotten_blocks.contains(block) {
            continue;
        }
        if known[block] != 1 || counted.get(block) != Some(&1) || block.1 == hash("") {
            continue;
        }
        assert!(new.contains_key(id), "{file}: {id} is unchanged, and another node now\n{text}");
        let was_there = lives_in(before, id, file);
        assert_eq!(was_there, lives_in(after, id, file), "{file}: {id} was forgotten or not");
        if was_there {
            let (old, new) = (&before.state.nodes[id], &after.state.nodes[id]);
            assert_eq!(old.content, new.content, "{file}: {id}");
            // A summary in the words of the file is the file's text, and gets its label.
            let is_files = hash(&old.content) == block.1 && old.label.starts_with("Summary: ");
            assert!(old.label == new.label || is_files, "{file}: {id}: {:?}", (old, new));
        }
    }
    if counted.values().all(|it| *it == 1) {
        check_document_order(after, file, &tree, new);
    }
}

/// Checks the parent of each node in a file without equal blocks. It is the node of the block
/// above, or of the nearest one above that is not forgotten.
#[track_caller]
fn check_document_order(
    after: &Model,
    file: &str,
    tree: &DocumentTree,
    base_blocks: &BTreeMap<String, Block>,
) {
    let id_of: BTreeMap<&Block, &String> =
        base_blocks.iter().map(|(id, block)| (block, id)).collect();
    for node in &tree.nodes {
        let id = id_of[&block(node)];
        if !lives_in(after, id, file) {
            continue;
        }
        let mut above = node.parent;
        let seat = loop {
            let Some(at) = above else { break Seat::File(file.to_owned()) };
            let parent = id_of[&block(&tree.nodes[at])];
            if lives_in(after, parent, file) {
                break Seat::Node(parent.clone());
            }
            above = tree.nodes[at].parent;
        };
        assert_eq!(after.state.nodes[id].seat, seat, "{file}: the place of {id}");
        assert_eq!(after.state.nodes[id].level, node.level, "{file}: the level of {id}");
    }
}

/// Checks that agent nodes are unchanged and in their place, or as near as possible.
#[track_caller]
fn check_other_nodes(before: &Model, after: &Model, changed: &Changed) {
    let mut inserted: BTreeSet<&String> = BTreeSet::new();
    for (id, old) in &before.state.nodes {
        if before.source_of(id).is_some() {
            let file = before.state.file_of(id).unwrap();
            let is_gone = !after.state.nodes.contains_key(id);
            assert!(!is_gone || changed.contains_key(file), "{id} of the unchanged {file} is gone");
            continue;
        }
        let Some(new) = after.state.nodes.get(id) else { panic!("an agent's {id} is gone") };
        assert_eq!((&old.content, &old.format), (&new.content, &new.format), "an agent's {id}");
        if let Some(source) = after.source_of(id) {
            let block = (new.node_type.clone(), source);
            let is_own = source == hash(&new.content) || before.had_text(id, &block);
            assert!(is_own, "a file took an agent's {id} for its own");
            continue;
        }
        assert_eq!(old.label, new.label, "an agent's {id}");
        inserted.insert(id);
        let seat = nearest(&before.state, &after.state, &old.seat);
        let is_along = matches!((&seat, &new.seat), (Seat::File(old), Seat::File(new))
            if changed.get(old) == Some(&None) && changed.get(new).is_some_and(Option::is_some));
        assert!(is_along || new.seat == seat, "an agent's {id} at {:?}, not {seat:?}", new.seat);
    }
    for (seat, family) in &before.state.families {
        let stays = |it: &&String| {
            inserted.contains(*it) && after.state.nodes.get(*it).is_some_and(|it| it.seat == *seat)
        };
        let old: Vec<&String> = family.iter().filter(stays).collect();
        let new: Vec<&String> =
            after.state.children(seat).iter().filter(|it| old.contains(it)).collect();
        assert_eq!(old, new, "the order of an agent's nodes under {seat:?}");
    }
}

/// Returns the former seat, or the nearest remaining one above it.
fn nearest(before: &State, after: &State, seat: &Seat) -> Seat {
    match seat {
        Seat::Node(id) if !after.nodes.contains_key(id) => {
            nearest(before, after, &before.nodes[id].seat)
        }
        seat => seat.clone(),
    }
}

fn block(node: &crate::model::tree::Node) -> Block {
    (node.node_type.as_str().to_owned(), hash(&node.content))
}

fn count<'a>(blocks: impl Iterator<Item = &'a Block>) -> BTreeMap<&'a Block, usize> {
    let mut counted = BTreeMap::new();
    blocks.for_each(|it| *counted.entry(it).or_default() += 1);
    counted
}
