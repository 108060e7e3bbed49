//! The model: a memory as a few maps, with the simplest form of every operation.
//!
//! A snapshot is a full copy, with a fingerprint computed from all of it. The contents of files
//! are kept apart from the tree: a node belongs to a file if, and only if, it is in that file and
//! the file has its text.

use std::collections::{BTreeMap, BTreeSet};

use xxhash_rust::xxh64::xxh64;

use crate::model::tree::{DocumentTree, Node as Parsed};

/// The parent of a family of siblings; a file is named `ROOT:PATH`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Seat {
    Node(String),
    File(String),
    Nobody,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) seat: Seat,
    pub(super) node_type: String,
    pub(super) level: Option<u8>,
    pub(super) lang: Option<String>,
    pub(super) key_path: Option<String>,
    pub(super) format: String,
    pub(super) label: String,
    pub(super) content: String,
    /// Canonical JSON.
    pub(super) fields: Option<String>,
}

impl Node {
    pub(super) fn of(parsed: &Parsed, seat: Seat) -> Node {
        Node {
            seat,
            node_type: parsed.node_type.as_str().to_owned(),
            level: parsed.level,
            lang: parsed.lang.clone(),
            key_path: parsed.key_path.clone(),
            format: parsed.format.as_str().to_owned(),
            label: parsed.label.clone(),
            content: parsed.content.clone(),
            fields: None,
        }
    }
}

/// The tree: nodes by id, and every family in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    pub(super) nodes: BTreeMap<String, Node>,
    pub(super) families: BTreeMap<Seat, Vec<String>>,
}

impl State {
    /// Adds a node at the end of a family.
    pub(super) fn push(&mut self, id: &str, node: Node) {
        self.families.entry(node.seat.clone()).or_default().push(id.to_owned());
        self.nodes.insert(id.to_owned(), node);
    }

    pub(super) fn children(&self, of: &Seat) -> &[String] {
        self.families.get(of).map_or(&[], Vec::as_slice)
    }

    pub(super) fn below(&self, id: &str) -> &[String] {
        self.children(&Seat::Node(id.to_owned()))
    }

    /// Returns the file of a node.
    pub(super) fn file_of(&self, id: &str) -> Option<&str> {
        let mut at = id;
        loop {
            match &self.nodes[at].seat {
                Seat::Node(parent) => at = parent,
                Seat::File(file) => return Some(file),
                Seat::Nobody => return None,
            }
        }
    }

    /// Returns a node and its descendants, in document order.
    pub(super) fn subtree(&self, id: &str) -> Vec<String> {
        let mut all = vec![id.to_owned()];
        for child in self.below(id) {
            all.extend(self.subtree(child));
        }
        all
    }

    /// Returns the nodes of a file in document order.
    pub(super) fn of_file(&self, file: &str) -> Vec<String> {
        let tops = self.children(&Seat::File(file.to_owned()));
        tops.iter().flat_map(|it| self.subtree(it)).collect()
    }

    /// Removes a node; the nodes of `instead` take its place.
    pub(super) fn take_out(&mut self, id: &str, instead: &[String]) {
        let seat = self.nodes.remove(id).unwrap().seat;
        let family = self.families.get_mut(&seat).unwrap();
        let at = family.iter().position(|it| it == id).unwrap();
        family.splice(at..=at, instead.iter().cloned());
        if family.is_empty() {
            self.families.remove(&seat);
        }
        self.families.remove(&Seat::Node(id.to_owned()));
        for it in instead {
            self.nodes.get_mut(it).unwrap().seat = seat.clone();
        }
    }

    /// Adds a tree at the end of a family, under the given ids.
    pub(super) fn graft(&mut self, tree: &DocumentTree, ids: &[String], seat: &Seat) {
        for (parsed, id) in tree.nodes.iter().zip(ids) {
            let seat = parsed.parent.map_or(seat.clone(), |at| Seat::Node(ids[at].clone()));
            self.push(id, Node::of(parsed, seat));
        }
    }

    /// Outlines the tree, one line per node, in document order.
    pub(super) fn outline(&self) -> String {
        let mut out = String::new();
        let tops = self.families.iter().filter(|(seat, _)| !matches!(seat, Seat::Node(_)));
        let mut n_shown = 0;
        for (seat, family) in tops {
            out += &format!("{seat:?}\n");
            for top in family {
                self.draw(top, 1, &mut out);
            }
        }
        for line in out.lines() {
            n_shown += usize::from(line.starts_with(' '));
        }
        assert_eq!(n_shown, self.nodes.len(), "a family without a parent:\n{out}");
        out
    }

    fn draw(&self, id: &str, depth: usize, out: &mut String) {
        let Node { node_type, level, lang, key_path, format, label, content, fields, .. } =
            &self.nodes[id];
        let facts = (level, lang, key_path, format, label, content, fields);
        *out += &format!("{}{id} {node_type} {facts:?}\n", "  ".repeat(depth));
        for child in self.below(id) {
            self.draw(child, depth + 1, out);
        }
    }

    /// Returns the fingerprint, by its definition.
    pub(super) fn fingerprint(&self) -> String {
        let mut sum: u64 = 0;
        for (seat, family) in &self.families {
            let parent = match seat {
                Seat::Node(name) | Seat::File(name) => Some(name.clone()),
                Seat::Nobody => None,
            };
            let mut before: Option<String> = None;
            for id in family {
                let it = &self.nodes[id];
                let mut fields = vec![
                    Some(id.clone()),
                    parent.clone(),
                    before.clone(),
                    Some(it.node_type.clone()),
                    it.level.map(|it| it.to_string()),
                    it.lang.clone(),
                    it.key_path.clone(),
                    Some(it.format.clone()),
                    Some(it.label.clone()),
                    Some(format!("{:016x}", hash(&it.content))),
                ];
                if let Some(given) = &it.fields {
                    fields.extend([Some("fields".to_owned()), Some(given.clone())]);
                }
                let mut bytes = Vec::new();
                for field in &fields {
                    let length = field.as_ref().map_or(u64::MAX, |it| it.len() as u64);
                    bytes.extend(length.to_le_bytes());
                    bytes.extend(field.iter().flat_map(|it| it.bytes()));
                }
                sum = sum.wrapping_add(xxh64(&bytes, 0));
                before = Some(id.clone());
            }
        }
        format!("{sum:016x}")
    }

    /// Returns the changes from here to `later`. Nodes that only changed their order among the
    /// siblings that they keep are listed apart.
    pub(super) fn changes(&self, later: &State) -> Changes {
        let mut changes = Changes::default();
        for (id, old) in &self.nodes {
            match later.nodes.get(id) {
                None => drop(changes.certain.insert(id.clone(), "rem")),
                Some(new) if new != old => drop(changes.certain.insert(id.clone(), "mod")),
                Some(_) => (),
            }
        }
        for id in later.nodes.keys().filter(|it| !self.nodes.contains_key(*it)) {
            changes.certain.insert(id.clone(), "add");
        }
        for (seat, old) in &self.families {
            let new = later.children(seat);
            let kept: Vec<&String> = old.iter().filter(|it| new.contains(it)).collect();
            let now: Vec<&String> = new.iter().filter(|it| old.contains(it)).collect();
            if kept != now {
                changes.shuffled.push(kept.into_iter().cloned().collect());
            }
        }
        changes
    }
}

/// The differences between two states.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Certain changes by id: `add`, `mod`, `rem`.
    pub(super) certain: BTreeMap<String, &'static str>,
    /// Families in another order: at least one node of each must have moved.
    pub(super) shuffled: Vec<BTreeSet<String>>,
}

pub(super) fn hash(text: &str) -> u64 {
    xxh64(text.as_bytes(), 0)
}

/// A temperature, the time of its measurement, and whether it is pinned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Heat {
    pub(super) temperature: f64,
    pub(super) at: i64,
    pub(super) pinned: bool,
}

impl Heat {
    /// Returns the present temperature: it falls by 5 % an hour, unless pinned.
    pub(super) fn now(self, attended: i64) -> f64 {
        let hours = (attended - self.at) as f64 / 3_600_000.0;
        if self.pinned { self.temperature } else { self.temperature * (-0.05 * hours).exp() }
    }

    pub(super) fn set(&mut self, temperature: f64, attended: i64) {
        *self = Heat { temperature: temperature.clamp(0.0, 1.0), at: attended, ..*self };
    }
}

/// A block of a file: its type and the hash of its text.
pub(super) type Block = (String, u64);

#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    pub(super) id: i64,
    pub(super) parent: Option<i64>,
    pub(super) message: String,
    pub(super) created_at: i64,
    pub(super) state: State,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    pub(super) state: State,
    /// Blocks of each file by node id, alive or forgotten.
    pub(super) base_blocks: BTreeMap<String, BTreeMap<String, Block>>,
    /// Every block that a file ever had, by node id.
    pub(super) former_blocks: BTreeMap<String, BTreeSet<Block>>,
    pub(super) heat: BTreeMap<String, Heat>,
    pub(super) attended: i64,
    /// Manual edges: source and target with their weight.
    pub(super) edges: BTreeMap<(String, String), f64>,
    pub(super) snapshots: Vec<Snapshot>,
    /// HEAD; 0: there is none.
    pub(super) head: i64,
    pub(super) n_snapshots_ever: i64,
}

impl Model {
    /// Returns the hash of a node's base text.
    pub(super) fn source_of(&self, id: &str) -> Option<u64> {
        let base_blocks = self.base_blocks.get(self.state.file_of(id)?)?;
        base_blocks.get(id).map(|(_, hash)| *hash)
    }

    /// Forgets the files that no state has nodes of, if `is_lost` says so of the file and its
    /// blocks.
    pub(super) fn forget_files(
        &mut self,
        is_lost: impl Fn(&str, &BTreeMap<String, Block>) -> bool,
    ) {
        let (now, snapshots) = (&self.state, &self.snapshots);
        self.base_blocks.retain(|file, blocks| {
            let seat = Seat::File(file.clone());
            let mut states = snapshots.iter().map(|it| &it.state).chain([now]);
            states.any(|it| !it.children(&seat).is_empty()) || !is_lost(file, blocks)
        });
    }

    /// Returns whether a file ever had this block for the node.
    pub(super) fn had_text(&self, id: &str, block: &Block) -> bool {
        self.former_blocks.get(id).is_some_and(|it| it.contains(block))
    }

    /// Drops heat and edges of removed nodes.
    pub(super) fn follow(&mut self) {
        let Model { state, heat, attended, edges, .. } = self;
        heat.retain(|id, _| state.nodes.contains_key(id));
        for id in state.nodes.keys() {
            let birth = Heat { temperature: 0.5, at: *attended, pinned: false };
            heat.entry(id.clone()).or_insert(birth);
        }
        edges.retain(|(source, _), _| state.nodes.contains_key(source));
    }

    /// Adds a snapshot of the present, unless it equals HEAD.
    pub(super) fn commit(&mut self, message: &str, now: i64) -> Option<i64> {
        if self.snapshots.last().map_or(&State::default(), |it| &it.state) == &self.state {
            return None;
        }
        self.n_snapshots_ever += 1;
        let id = self.n_snapshots_ever;
        let parent = (self.head != 0).then_some(self.head);
        let (message, state) = (message.to_owned(), self.state.clone());
        self.snapshots.push(Snapshot { id, parent, message, created_at: now, state });
        self.head = id;
        Some(id)
    }
}
