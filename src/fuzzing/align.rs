//! Alignment under random edit scripts. Bytes become a document and a script, and the invariants of
//! every pair of trees are checked.

use std::collections::HashMap;
use std::fmt;

use crate::model::identity::{AlignmentNode, ContentHash, TextHistoryIndex, align as align_trees};
use crate::model::tree::NodeType;

/// Maximum nodes of a random document.
const NODES_MAX: usize = 40;

/// Maximum steps of a random script.
const STEPS_MAX: usize = 8;

/// Panics when the alignment for the document and script in `data` violates an invariant.
pub fn align(data: &[u8]) {
    let mut bytes = FuzzChoices::new(data);
    let mut document = TrackedDocument::grow(&mut bytes);
    let old = document.clone();
    for _ in 0..1 + bytes.below(STEPS_MAX) {
        let step = RandomTreeEdit::ALL[bytes.below(RandomTreeEdit::ALL.len())];
        document.take(step, &mut bytes);
    }
    check(&old, &document);
    check(&document, &old);
}

/// Checks the invariants of any two documents.
pub(crate) fn check(old: &TrackedDocument, new: &TrackedDocument) {
    let (old, new) = (old.side(), new.side());
    let none = TextHistoryIndex::default();
    let same: Vec<Option<usize>> = (0..new.len()).map(Some).collect();
    assert_eq!(align_trees(&new, &new, &none), same, "an unedited file is itself");

    let matches = align_trees(&old, &new, &none);
    assert_sound(&old, &new, &matches);
    assert_eq!(matches, align_trees(&old, &new, &none), "the answer is always the same");
    let (n_old, n_new) = (counts(&old), counts(&new));
    for (at, it) in new.iter().enumerate().filter(|(_, it)| !it.content.is_empty()) {
        if n_old.get(&key(it)) == Some(&1) && n_new[&key(it)] == 1 {
            let matched = matches[at].expect("a text that stands once on both sides is matched");
            assert_eq!(key(&old[matched]), key(it));
        }
    }

    // The way back, with the former texts of the new nodes.
    let mut former = TextHistoryIndex::default();
    for (at, matched) in matches.iter().enumerate() {
        let Some(matched) = *matched else { continue };
        let before = &old[matched];
        if !n_new.contains_key(&key(before)) {
            former.insert(before.node_type, before.hash, at);
        }
    }
    let back = align_trees(&new, &old, &former);
    assert_sound(&new, &old, &back);
    for (at, matched) in matches.iter().enumerate() {
        let Some(matched) = *matched else { continue };
        let (before, after) = (&old[matched], &new[at]);
        let is_told_apart = n_old[&key(before)] == 1 && !before.content.is_empty();
        let is_unchanged = key(before) == key(after) && n_new[&key(after)] == 1;
        let is_gone = !n_new.contains_key(&key(before)) && !n_old.contains_key(&key(after));
        if is_told_apart && (is_unchanged || is_gone) {
            assert_eq!(back[matched], Some(at), "going back restores `{}`", before.content);
        }
    }
}

/// Asserts that types never mix, and no old node is used twice.
fn assert_sound(old: &[AlignmentNode<'_>], new: &[AlignmentNode<'_>], matches: &[Option<usize>]) {
    assert_eq!(matches.len(), new.len());
    let mut is_used = vec![false; old.len()];
    for (it, matched) in new.iter().zip(matches) {
        let Some(at) = *matched else { continue };
        assert_eq!(old[at].node_type, it.node_type, "types never cross");
        assert!(!is_used[at], "an old node is used once");
        is_used[at] = true;
    }
}

fn key(it: &AlignmentNode<'_>) -> (NodeType, ContentHash) {
    (it.node_type, it.hash)
}

fn counts(side: &[AlignmentNode<'_>]) -> HashMap<(NodeType, ContentHash), usize> {
    let mut counts = HashMap::new();
    for it in side {
        *counts.entry(key(it)).or_default() += 1;
    }
    counts
}

/// A step of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RandomTreeEdit {
    Insert,
    DeleteSubtree,
    DeleteNode,
    Edit,
    Move,
    Split,
    Rename,
    Level,
    Copy,
}

impl RandomTreeEdit {
    pub(crate) const ALL: [RandomTreeEdit; 9] = [
        RandomTreeEdit::Insert,
        RandomTreeEdit::DeleteSubtree,
        RandomTreeEdit::DeleteNode,
        RandomTreeEdit::Edit,
        RandomTreeEdit::Move,
        RandomTreeEdit::Split,
        RandomTreeEdit::Rename,
        RandomTreeEdit::Level,
        RandomTreeEdit::Copy,
    ];
}

/// A node with an identity for the test.
#[derive(Clone, Debug)]
pub(crate) struct TrackedNode {
    /// The identity, kept through all edits.
    pub(crate) serial: usize,
    depth: usize,
    pub(crate) node_type: NodeType,
    level: Option<u8>,
    pub(crate) text: String,
}

/// Nodes in document order, each with its depth.
#[derive(Clone, Debug)]
pub(crate) struct TrackedDocument {
    pub(crate) items: Vec<TrackedNode>,
    n_serials: usize,
    n_words: usize,
    /// Whether texts repeat.
    is_repetitive: bool,
}

impl fmt::Display for TrackedDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for it in &self.items {
            let TrackedNode { serial, depth, node_type, text, .. } = it;
            writeln!(f, "{}{serial} {node_type}: {text}", "  ".repeat(*depth))?;
        }
        Ok(())
    }
}

impl TrackedDocument {
    /// Returns a random document; whether its texts repeat is random too.
    pub(crate) fn grow(bytes: &mut FuzzChoices<'_>) -> TrackedDocument {
        let is_repetitive = bytes.below(2) == 1;
        TrackedDocument::grow_with(bytes, is_repetitive)
    }

    pub(crate) fn grow_with(bytes: &mut FuzzChoices<'_>, is_repetitive: bool) -> TrackedDocument {
        let mut it = TrackedDocument { items: Vec::new(), n_serials: 0, n_words: 0, is_repetitive };
        for _ in 0..bytes.below(NODES_MAX) {
            let item = it.item(bytes);
            it.items.push(item);
        }
        it.settle();
        it
    }

    /// Returns the nodes as alignment takes them.
    pub(crate) fn side(&self) -> Vec<AlignmentNode<'_>> {
        let mut path: Vec<usize> = Vec::new();
        let mut side = Vec::new();
        for (at, it) in self.items.iter().enumerate() {
            path.truncate(it.depth);
            side.push(AlignmentNode {
                parent: path.last().copied(),
                node_type: it.node_type,
                level: it.level,
                label: &it.text,
                content: &it.text,
                hash: ContentHash::of(&it.text),
            });
            path.push(at);
        }
        side
    }

    /// Takes one step at a random place; returns the serial of the node concerned.
    pub(crate) fn take(
        &mut self,
        step: RandomTreeEdit,
        bytes: &mut FuzzChoices<'_>,
    ) -> Option<usize> {
        if step == RandomTreeEdit::Insert || self.items.is_empty() {
            let item = self.item(bytes);
            let at = bytes.below(self.items.len() + 1);
            self.items.insert(at, item);
            self.settle();
            return None;
        }
        let at = bytes.below(self.items.len());
        let serial = self.items[at].serial;
        let is_heading = self.items[at].node_type == NodeType::Heading;
        match step {
            RandomTreeEdit::Insert => (),
            RandomTreeEdit::DeleteSubtree => drop(self.items.drain(at..self.end(at))),
            RandomTreeEdit::DeleteNode => {
                for child in at + 1..self.end(at) {
                    self.items[child].depth -= 1;
                }
                self.items.remove(at);
            }
            RandomTreeEdit::Edit => self.edit(at, bytes),
            RandomTreeEdit::Move => {
                let end = self.end(at);
                let moved: Vec<TrackedNode> = self.items.drain(at..end).collect();
                let to = bytes.below(self.items.len() + 1);
                let depth_max = to.checked_sub(1).map_or(0, |before| self.items[before].depth + 1);
                // A subtree goes in front of a node, never between that node's parent and it.
                let depth_min = self.items.get(to).map_or(0, |next| next.depth);
                let depth = depth_min + bytes.below(depth_max.saturating_sub(depth_min) + 1);
                let was = moved[0].depth;
                let moved =
                    moved.into_iter().map(|it| TrackedNode { depth: it.depth - was + depth, ..it });
                self.items.splice(to..to, moved);
            }
            RandomTreeEdit::Split => self.split(at, bytes),
            RandomTreeEdit::Rename if is_heading => self.items[at].text = self.sentence(bytes),
            RandomTreeEdit::Level if is_heading => {
                self.items[at].level = u8::try_from(1 + bytes.below(6)).ok();
            }
            RandomTreeEdit::Rename | RandomTreeEdit::Level => (),
            RandomTreeEdit::Copy => {
                let copy = TrackedNode { serial: self.n_serials, ..self.items[at].clone() };
                self.n_serials += 1;
                let to = bytes.below(self.items.len() + 1);
                self.items.insert(to, copy);
            }
        }
        self.settle();
        Some(serial)
    }

    /// Returns the end of the subtree of `at`.
    pub(crate) fn end(&self, at: usize) -> usize {
        let below = self.items[at + 1..].iter().take_while(|it| self.items[at].depth < it.depth);
        at + 1 + below.count()
    }

    fn item(&mut self, bytes: &mut FuzzChoices<'_>) -> TrackedNode {
        let types = [NodeType::Heading, NodeType::Text, NodeType::Text, NodeType::List];
        let node_type = types[bytes.below(types.len())];
        let is_heading = node_type == NodeType::Heading;
        let level = is_heading.then(|| u8::try_from(1 + bytes.below(3)).unwrap_or(1));
        self.n_serials += 1;
        let depth = bytes.below(5);
        TrackedNode {
            serial: self.n_serials - 1,
            depth,
            node_type,
            level,
            text: self.sentence(bytes),
        }
    }

    /// Makes no node deeper than one below the node before it, and lets only headings and lists
    /// have children.
    fn settle(&mut self) {
        let mut path: Vec<bool> = Vec::new();
        for it in &mut self.items {
            let depth_max = path.iter().position(|is_parent| !is_parent).unwrap_or(path.len());
            it.depth = it.depth.min(depth_max);
            path.truncate(it.depth);
            path.push(matches!(it.node_type, NodeType::Heading | NodeType::List));
        }
    }

    /// Replaces fewer than 30 % of the words, if there are enough of them.
    fn edit(&mut self, at: usize, bytes: &mut FuzzChoices<'_>) {
        let mut words: Vec<String> =
            self.items[at].text.split_whitespace().map(str::to_owned).collect();
        let n_edits = (words.len() * 3).saturating_sub(1) / 10;
        for _ in 0..n_edits {
            let which = bytes.below(words.len());
            words[which] = self.word(bytes);
        }
        self.items[at].text = words.join(" ");
    }

    fn split(&mut self, at: usize, bytes: &mut FuzzChoices<'_>) {
        let it = self.items[at].clone();
        let words: Vec<&str> = it.text.split_whitespace().collect();
        if words.len() < 2 || it.node_type != NodeType::Text {
            return;
        }
        let (head, tail) = words.split_at(1 + bytes.below(words.len() - 1));
        self.items[at].text = head.join(" ");
        let serial = self.n_serials;
        self.n_serials += 1;
        self.items.insert(at + 1, TrackedNode { serial, text: tail.join(" "), ..it });
    }

    fn sentence(&mut self, bytes: &mut FuzzChoices<'_>) -> String {
        let n_words = match self.is_repetitive {
            true => bytes.below(4),
            false => 4 + bytes.below(20),
        };
        (0..n_words).map(|_| self.word(bytes)).collect::<Vec<String>>().join(" ")
    }

    fn word(&mut self, bytes: &mut FuzzChoices<'_>) -> String {
        if self.is_repetitive {
            return ["red", "green", "blue", "TODO"][bytes.below(4)].to_owned();
        }
        self.n_words += 1;
        let mut rest = (self.n_words as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let mut word = String::new();
        while rest != 0 && word.len() < 6 {
            word.push(char::from(b'a' + (rest % 26) as u8));
            rest /= 26;
        }
        word
    }
}

/// Choices, one byte each; zero when the bytes have run out.
pub(crate) struct FuzzChoices<'d> {
    data: &'d [u8],
}

impl<'d> FuzzChoices<'d> {
    pub(crate) fn new(data: &'d [u8]) -> FuzzChoices<'d> {
        FuzzChoices { data }
    }

    /// Returns a number below `end`, which is at most 256; zero if `end` is.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let Some((&first, rest)) = self.data.split_first() else { return 0 };
        self.data = rest;
        usize::from(first) % end.max(1)
    }
}
