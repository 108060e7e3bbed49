//! The random operations of a simulation, on the memory and on its model.

use std::path::Path;

use super::super::compiled::{self, Changed};
use super::super::model::{Heat, Node, Seat};
use super::super::seen::{self};
use super::{Simulation, name};
use crate::ingest::parse::{Syntax, parse};
use crate::ingest::scan::DetailLevel;
use crate::maintenance::gc::{GcMode, SnapshotRetentionPolicy};
use crate::memory::compile::{
    CompileRequest, InitialTemperaturesFor, Report, SLICE_BYTES, UnsettledFileDeferral,
};
use crate::memory::rollback::LaterSnapshotPolicy;
use crate::memory::{Answer, AppendOrReplaceMode, Error, ForgetChildrenMode, RelateRequest};
use crate::model::tree::DocumentTree;
use crate::query::{self, AccessKind};
use crate::store::source_files;
use crate::text;

impl Simulation {
    pub(super) fn edit_and_compile(&mut self) -> String {
        let how: Vec<String> =
            (0..1 + self.dice.below(2)).map(|_| self.notes.edit(&mut self.dice)).collect();
        self.compile(&how.join("; "))
    }

    /// Compiles all notes, or one of them.
    pub(in crate::memory::tests) fn compile(&mut self, how: &str) -> String {
        let files: Vec<String> = self.notes.files.keys().cloned().collect();
        let one = if self.dice.one_in(8) { self.dice.pick_if_any(&files) } else { None };
        let root = self.notes.root().to_owned();
        let path = one.as_ref().map_or(root.clone(), |it| root.join(it));
        self.log_last(format!("compile {}: {how}", one.as_deref().unwrap_or("all")));
        // A first compile of one file would make it its own root.
        let path = if self.compiled.is_empty() { root } else { path };
        let one = one.filter(|_| path.is_file());
        let is_in = |it: &String| one.as_ref().is_none_or(|one| one == it);
        let mut changed = Changed::new();
        for (file, text) in self.notes.files.iter().filter(|(it, _)| is_in(it)) {
            if self.compiled.get(file) != Some(text) {
                changed.insert(name(file), Some(text.clone()));
            }
        }
        let files = &self.notes.files;
        for file in self.compiled.keys().filter(|it| is_in(it) && !files.contains_key(*it)) {
            changed.insert(name(file), None);
        }
        let report = match one.is_none() && self.dice.one_in(3) {
            true => self.rescan(&path),
            false => self.memory().compile(&path, "compile").unwrap(),
        };
        self.compiled.retain(|it, _| !changed.contains_key(&name(it)));
        for (file, text) in files.iter().filter(|(it, _)| is_in(it)) {
            self.compiled.insert(file.clone(), text.clone());
        }
        let seen = seen::read_state(&self.db());
        let on_disk = files.keys().map(|it| name(it)).collect();
        compiled::check(&self.model, &seen, &changed, &on_disk);
        self.model.state = seen.state;
        self.model.base_blocks = seen.base_blocks;
        for (id, block) in self.model.base_blocks.values().flatten() {
            self.model.former_blocks.entry(id.clone()).or_default().insert(block.clone());
        }
        self.finish(report.snapshot, "compile");
        if self.dice.one_in(4) {
            let again = self.memory().compile(&path, "compile").unwrap();
            assert_eq!((again.snapshot, again.added + again.modified + again.removed), (None, 0));
        }
        format!("{} → {report}", self.log.last().unwrap())
    }

    /// Compiles as a server that watches the folder.
    pub(super) fn rescan(&self, path: &Path) -> Report {
        let memory = self.memory();
        let request = CompileRequest {
            path,
            message: "compile",
            n_threads: 1,
            workspace: &|root| memory.workspace_of(root),
            temperatures_for: InitialTemperaturesFor::NewNodes,
            listing: DetailLevel::Counts,
            stopwatch: self.clock.stopwatch(),
            slice_bytes: SLICE_BYTES,
            progress: &|_, _| true,
        };
        memory.rescan(&request, &mut UnsettledFileDeferral::default()).unwrap()
    }

    /// Updates the model after a write, and compares the snapshots.
    #[track_caller]
    pub(super) fn finish(&mut self, snapshot: Option<i64>, message: &str) {
        self.model.follow();
        let expected = self.model.commit(message, self.clock.now().0);
        assert_eq!(snapshot, expected, "the snapshot of `{message}`");
    }

    pub(super) fn payload(&mut self) -> String {
        let n = 1 + self.dice.below(3);
        let blocks: Vec<String> = (0..n).map(|_| self.notes.block(&mut self.dice)).collect();
        blocks.join("\n\n")
    }

    pub(super) fn append(&mut self, anchor: Option<String>) -> String {
        let anchor = anchor.filter(|_| !self.dice.one_in(5));
        let payload = self.payload();
        let entry = format!("append {payload:?} to {anchor:?}");
        self.log_last(entry.clone());
        let tree = parse(Syntax::Markdown, &payload).tree;
        let seat = anchor.clone().map_or(Seat::Nobody, Seat::Node);
        let outcome = self.memory().write(&payload, anchor.as_deref(), AppendOrReplaceMode::Append);
        if anchor.as_ref().is_some_and(|it| self.is_unchangeable(it)) {
            return refused(&entry, outcome);
        }
        let answer = outcome.unwrap();
        let ids = ids(&answer);
        if answer.structured["snapshot"].is_null() {
            self.stands_there(&tree, &ids, &seat);
            return format!("{entry}, which is there");
        }
        assert_eq!(ids.len(), tree.nodes.len());
        for (id, node) in ids.iter().zip(&tree.nodes) {
            let is_here = self.model.state.nodes.contains_key(id);
            let is_in_base = self.model.base_blocks.values().any(|it| it.contains_key(id));
            assert!(!is_here && !is_in_base, "{id} is not new");
            for it in self.model.snapshots.iter().filter_map(|it| it.state.nodes.get(id)) {
                assert_eq!(it.node_type, node.node_type.as_str(), "{id} was something else");
            }
        }
        self.model.state.graft(&tree, &ids, &seat);
        self.finish(snapshot(&answer), &format!("write:{}", ids[0]));
        let again =
            self.memory().write(&payload, anchor.as_deref(), AppendOrReplaceMode::Append).unwrap();
        assert_eq!(self::ids(&again), ids, "the same again");
        assert!(again.structured["snapshot"].is_null(), "the same again");
        format!("{entry} as {ids:?}")
    }

    /// Checks that a repeated write left the equal nodes in place.
    #[track_caller]
    fn stands_there(&self, tree: &DocumentTree, ids: &[String], seat: &Seat) {
        for (node, id) in tree.nodes.iter().zip(ids) {
            let seat = node.parent.map_or(seat.clone(), |at| Seat::Node(ids[at].clone()));
            let there = &self.model.state.nodes[id];
            let wanted = Node::of(node, seat);
            let facts = |it: &Node| (it.seat.clone(), it.node_type.clone(), it.content.clone());
            assert_eq!(facts(there), facts(&wanted), "{id} was taken for what was written");
        }
    }

    /// Returns whether a node of knowledge is deleted or merged into another one.
    fn is_unchangeable(&self, id: &str) -> bool {
        let fields = self.model.state.nodes[id].fields.as_deref().unwrap_or_default();
        [r#""deleted":"#, r#""merged_into":"#].iter().any(|it| fields.contains(it))
    }

    pub(super) fn replace(&mut self, id: &str) -> String {
        let payload = match self.dice.one_in(6) {
            // Back to a former text.
            true => {
                let id = id.to_owned();
                let states = self.model.snapshots.iter().filter_map(|it| it.state.nodes.get(&id));
                let texts: Vec<String> = states.map(|it| it.content.clone()).collect();
                self.dice.pick_if_any(&texts).filter(|it| !it.trim().is_empty())
            }
            false => None,
        };
        let payload = payload.unwrap_or_else(|| self.payload());
        self.replace_by(id, &payload)
    }

    pub(in crate::memory::tests) fn replace_by(&mut self, id: &str, payload: &str) -> String {
        let entry = format!("replace {id} by {payload:?}");
        self.log_last(entry.clone());
        let tree = parse(Syntax::Markdown, payload).tree;
        let first = &tree.nodes[0];
        let outcome = self.memory().write(payload, Some(id), AppendOrReplaceMode::Replace);
        if self.is_unchangeable(id) {
            return refused(&entry, outcome);
        }
        let before = self.model.state.nodes[id].clone();
        let old = before.clone();
        let is_one = tree.nodes.len() == 1 && first.node_type.as_str() == old.node_type;
        let whole = payload.trim_matches(['\r', '\n']).trim_end().to_owned();
        let new = match is_one {
            true => {
                let Node { seat, level, key_path, fields, .. } = old;
                Node { level, key_path, fields, ..Node::of(first, seat) }
            }
            false if old.node_type == "heading" && whole.contains('\n') => {
                return refused(&entry, outcome);
            }
            false => {
                let format = "plain".to_owned();
                Node { format, label: first.label.clone(), content: whole, ..old }
            }
        };
        if (&new.content, &new.lang) != (&before.content, &before.lang) {
            self.model.state.nodes.insert(id.to_owned(), new);
        }
        self.finish(snapshot(&outcome.unwrap()), &format!("write:{id}"));
        entry
    }

    pub(super) fn summarize(&mut self, id: &str) -> String {
        let summary = self.payload();
        let entry = format!("summarize {id} as {summary:?}");
        self.log_last(entry.clone());
        let outcome = self.memory().summarize(id, &summary, None);
        if self.is_unchangeable(id) {
            return refused(&entry, outcome);
        }
        let answer = outcome.unwrap();
        let node = self.model.state.nodes.get_mut(id).unwrap();
        if node.content != summary {
            node.label =
                text::truncate_chars(&format!("Summary: {}", text::label_of_text(&summary)), 80);
            node.format = "plain".to_owned();
            node.content = summary;
        }
        let attended = self.model.attended;
        self.model.heat.get_mut(id).unwrap().set(0.5, attended);
        self.finish(snapshot(&answer), &format!("summarize:{id}"));
        entry
    }

    pub(super) fn forget(&mut self, id: &str) -> String {
        let modes =
            [ForgetChildrenMode::Strict, ForgetChildrenMode::Cascade, ForgetChildrenMode::Reparent];
        let mode = modes[self.dice.below(3)];
        let entry = format!("forget {id} ({})", mode.as_str());
        self.log_last(entry.clone());
        let outcome = self.memory().forget(id, mode);
        let children = self.model.state.below(id).to_vec();
        match mode {
            ForgetChildrenMode::Strict if !children.is_empty() => {
                let error = outcome.unwrap_err();
                assert!(matches!(error, Error::BadArgument(_)), "{error}");
                return format!("{entry}, which is refused");
            }
            ForgetChildrenMode::Strict => self.model.state.take_out(id, &[]),
            ForgetChildrenMode::Cascade => {
                for it in self.model.state.subtree(id).iter().rev() {
                    self.model.state.take_out(it, &[]);
                }
            }
            ForgetChildrenMode::Reparent => self.model.state.take_out(id, &children),
        }
        self.finish(snapshot(&outcome.unwrap()), &format!("forget:{}:{id}", mode.as_str()));
        entry
    }

    pub(super) fn pin(&mut self, id: &str) -> String {
        let attended = self.model.attended;
        let heat = self.model.heat.get_mut(id).unwrap();
        let temperature = [None, Some(0.9), Some(0.05)][self.dice.below(3)];
        let now = heat.now(attended);
        *heat = Heat { temperature: now, at: attended, pinned: self.dice.below(3) < 2 };
        if heat.pinned {
            heat.set(temperature.unwrap_or(now), attended);
            let entry = format!("pin {id} at {temperature:?}");
            self.memory().pin(id, temperature).unwrap();
            return entry;
        }
        self.memory().unpin(id).unwrap();
        format!("unpin {id}")
    }

    pub(super) fn relate(&mut self, id: &str) -> String {
        let target = self.node().unwrap();
        let weight = self.dice.below(10) as f64;
        let ask = RelateRequest {
            source: id,
            target_id: Some(&target),
            target_label: None,
            target_source: None,
            weight,
        };
        let entry = format!("relate {id} to {target}");
        self.log_last(entry.clone());
        let edge = (id.to_owned(), target.clone());
        if self.model.edges.contains_key(&edge) && self.dice.one_in(3) {
            self.memory().unrelate(&ask).unwrap();
            self.model.edges.remove(&edge);
            return format!("{entry} no more");
        }
        match self.memory().relate(&ask) {
            Ok(_) => drop(self.model.edges.insert(edge, weight)),
            // A reference from a node to itself is refused.
            Err(error) => assert!(id == target, "{error}"),
        }
        entry
    }

    pub(super) fn fetch(&mut self, id: &str) -> String {
        let ask = query::FetchQuery {
            anchor: id,
            levels: query::clamp_levels(None, 3),
            ..query::FetchQuery::default()
        };
        let answer = self.memory().query_and_warm(&query::Query::Fetch(ask), None).unwrap();
        let keys = seen::read_state(&self.db()).keys;
        let attended = self.model.attended;
        for (key, attention) in answer.shown {
            let heat = self.model.heat.get_mut(&keys[&key.0]).unwrap();
            let by = if attention == AccessKind::Read { 0.15 } else { 0.015 };
            heat.set(heat.now(attended) + by, attended);
        }
        #[cfg(feature = "shared")]
        self.note_read_of_two();
        format!("fetch {id}")
    }

    pub(super) fn attend(&mut self) -> String {
        let ms = (1 + self.dice.below(40)) as i64 * 600_000;
        self.clock.advance(ms);
        self.memory().attend(ms).unwrap();
        self.model.attended += ms;
        format!("attend {ms} ms")
    }

    pub(super) fn rollback(&mut self, after: LaterSnapshotPolicy) -> String {
        let ids: Vec<i64> = self.model.snapshots.iter().map(|it| it.id).collect();
        match self.dice.pick_if_any(&ids) {
            Some(target) => self.rollback_to(target, after),
            None => "no rollback".to_owned(),
        }
    }

    pub(in crate::memory::tests) fn rollback_to(
        &mut self,
        target: i64,
        after: LaterSnapshotPolicy,
    ) -> String {
        let ids: Vec<i64> = self.model.snapshots.iter().map(|it| it.id).collect();
        let entry = format!("rollback to {target} ({after:?})");
        self.log_last(entry.clone());
        let rolled = self.memory().rollback_to(target, after).unwrap().structured;
        let at = ids.iter().position(|it| *it == target).unwrap();
        self.model.state = self.model.snapshots[at].state.clone();
        if after == LaterSnapshotPolicy::Keep || at + 1 == ids.len() {
            assert_eq!(rolled["was_head"], at + 1 == ids.len());
            self.finish(rolled["snapshot"].as_i64(), &format!("rollback to {target}"));
            return entry;
        }
        assert_eq!(rolled["dropped"], ids.len() - at - 1, "{entry}");
        let before = self.model.snapshots.last().unwrap().state.clone();
        let is_same = before == self.model.state;
        assert!(!rolled["snapshot"].is_null() || is_same, "{entry} made no snapshot");
        let dropped = self.model.snapshots.split_off(at + 1);
        self.model.forget_files(|_, blocks| {
            blocks.keys().all(|id| dropped.iter().any(|it| it.state.nodes.contains_key(id)))
        });
        self.model.head = target;
        if let Some(id) = rolled["snapshot"].as_i64() {
            let mut own = self.model.snapshots[at].clone();
            self.model.n_snapshots_ever += 1;
            assert_eq!(id, self.model.n_snapshots_ever);
            own.message = format!("rollback to {target}");
            own.created_at = self.clock.now().0;
            (own.id, own.parent) = (id, Some(target));
            self.model.snapshots.push(own);
            self.model.head = id;
        }
        self.model.follow();
        entry
    }

    pub(super) fn collect(&mut self) -> String {
        let n = 1 + self.dice.below(40);
        let keep = SnapshotRetentionPolicy::Last(n as u32);
        let gone = source_files::gone_files(&self.memory().writer.lock());
        self.memory().writer.collect(keep, GcMode::Real, self.clock.now(), i64::MAX).unwrap();
        let snapshots = &mut self.model.snapshots;
        let n_gone = snapshots.len().saturating_sub(n);
        snapshots.drain(..n_gone);
        if let Some(first) = snapshots.first_mut().filter(|_| 0 < n_gone) {
            first.parent = None;
        }
        self.model.forget_files(|file, _| gone.iter().any(|it| it == file));
        format!("collect all but {n}")
    }

    /// Checks that refused calls change nothing.
    pub(super) fn mistake(&mut self) -> String {
        let memory = self.memory();
        assert!(memory.write("x", Some("00000000000"), AppendOrReplaceMode::Append).is_err());
        assert!(memory.write(" \n", None, AppendOrReplaceMode::Append).is_err());
        assert!(memory.forget("00000000000", ForgetChildrenMode::Cascade).is_err());
        assert!(memory.rollback(self.model.n_snapshots_ever + 1, true).is_err());
        assert!(memory.pin("00000000000", None).is_err());
        "some mistakes".to_owned()
    }
}

/// Checks that a call is refused, and says so.
#[track_caller]
fn refused(entry: &str, outcome: Result<Answer, Error>) -> String {
    let error = outcome.unwrap_err();
    assert!(matches!(error, Error::BadArgument(_)), "{error}");
    format!("{entry}, which is refused")
}

fn ids(answer: &Answer) -> Vec<String> {
    let nodes = answer.structured["nodes"].as_array().unwrap();
    nodes.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
}

fn snapshot(answer: &Answer) -> Option<i64> {
    answer.structured["snapshot"].as_i64()
}
