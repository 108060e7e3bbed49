//! The checks of a simulation: the memory beside its model.

use std::collections::BTreeMap;
use std::path::Path;

use super::super::model::Node;
use super::super::notes::word;
use super::super::past;
use super::super::seen::{self, Seen};
use super::{Simulation, name, typed};
use crate::maintenance::doctor::{self, CheckStatus};
use crate::maintenance::transfer::export_markdown;
use crate::memory::Memory;
use crate::model::heat::HeatThresholds;
use crate::store::reader::{ArchivedVisibility, NodeFilter, Reader, Stats};
use crate::store::{IfMissing, StoreError};

impl Simulation {
    /// Compares everything.
    #[track_caller]
    pub(in crate::memory::tests) fn check(&mut self) {
        let seen = seen::read_state(&self.db());
        let (is, shall) = (seen.state.outline(), self.model.state.outline());
        assert_eq!(is, shall, "the tree");
        assert_eq!(seen.state, self.model.state, "the tree");
        self.adopt_base_blocks(&seen);
        self.check_base_blocks(&seen);
        assert_eq!(seen.fingerprint, self.model.state.fingerprint(), "the fingerprint");
        self.check_snapshots(&seen);
        self.check_heat(&seen);
        let nodes = &self.model.state.nodes;
        let edges: Vec<seen::EdgeRow> = (self.model.edges.iter())
            .map(|((a, b), weight)| (a.clone(), b.clone(), *weight, nodes.contains_key(b)))
            .collect();
        assert_eq!(seen.edges, edges, "edges by hand");
        self.check_search(&seen);
        self.check_sums();
        self.check_typed(&seen);
        self.check_typed_edges();
        past::check(self);
    }

    /// Compares the sums that the memory keeps with those of a reader that knows none.
    #[track_caller]
    fn check_sums(&self) {
        let (lines, now) = (HeatThresholds::default(), self.clock.now());
        let mut kept = self.memory().read(|reader| reader.stats(lines, now)).unwrap();
        let counted = Reader::open(&self.db()).and_then(|it| it.stats(lines, now)).unwrap();
        // Sums in another order differ in their last digits.
        let averages = [&kept, &counted].map(|it| it.temperatures.average);
        assert!((averages[0] - averages[1]).abs() < 1e-9, "{averages:?}");
        kept.temperatures.average = counted.temperatures.average;
        assert_eq!(kept, Stats { path: kept.path.clone(), ..counted }, "the sums");
    }

    /// Updates the known blocks of deleted files. Blocks of a node that a rollback restored are
    /// known again when the node goes, in case the file returns.
    fn adopt_base_blocks(&mut self, seen: &Seen) {
        for (file, blocks) in &seen.base_blocks {
            if self.compiled.keys().any(|it| name(it) == *file) {
                continue;
            }
            for (id, block) in blocks {
                let state = &self.model.state;
                let is_there =
                    state.nodes.contains_key(id) && state.file_of(id) == Some(file.as_str());
                if !is_there && self.model.had_text(id, block) {
                    let blocks_there = self.model.base_blocks.entry(file.clone()).or_default();
                    blocks_there.insert(id.clone(), block.clone());
                }
            }
        }
    }

    /// Checks that otherwise only compiles change the blocks of files.
    #[track_caller]
    fn check_base_blocks(&self, seen: &Seen) {
        let full = |of: &BTreeMap<String, BTreeMap<String, _>>| {
            let of = of.iter().filter(|(_, it)| !it.is_empty());
            of.map(|(file, it)| (file.clone(), it.clone())).collect::<BTreeMap<_, _>>()
        };
        assert_eq!(
            full(&seen.base_blocks),
            full(&self.model.base_blocks),
            "what files say, of which nodes"
        );
    }

    #[track_caller]
    fn check_snapshots(&self, seen: &Seen) {
        let snapshots: Vec<seen::SnapshotRow> = (self.model.snapshots.iter())
            .map(|it| {
                let hash = it.state.fingerprint();
                (it.id, it.parent, it.message.clone(), hash, it.created_at)
            })
            .collect();
        assert_eq!(seen.snapshots, snapshots, "the snapshots");
        assert_eq!(seen.head, self.model.head, "HEAD");
    }

    #[track_caller]
    fn check_heat(&self, seen: &Seen) {
        assert_eq!(seen.attended, self.model.attended, "the memory clock");
        assert_eq!(seen.heat.len(), self.model.heat.len());
        for (id, heat) in &self.model.heat {
            let is = &seen.heat[id];
            let (a, b) = (is.now(seen.attended), heat.now(seen.attended));
            assert!((a - b).abs() < 1e-9 && is.pinned == heat.pinned, "{id}: {is:?}, not {heat:?}");
        }
    }

    /// Checks that words are found in live nodes only.
    #[track_caller]
    fn check_search(&mut self, seen: &Seen) {
        for _ in 0..3 {
            let word = word(1 + self.dice.below(self.notes.n_words.max(1)));
            let says =
                |text: &str| text.split(|it: char| !it.is_alphanumeric()).any(|it| it == word);
            let expression = format!("{{label content}} : \"{word}\"");
            for archived in [ArchivedVisibility::Hidden, ArchivedVisibility::Shown] {
                let filter = NodeFilter { archived, ..NodeFilter::default() };
                let found = self.memory().read::<_, StoreError>(|it| {
                    it.matches(&expression, &it.simplified(filter)?, 999)
                });
                let found = found.unwrap().unwrap();
                let mut found: Vec<&String> = found.iter().map(|it| &seen.keys[&it.0.0]).collect();
                found.sort();
                let nodes = self.model.state.nodes.iter();
                let is_shown =
                    |it: &Node| archived == ArchivedVisibility::Shown || !typed::is_archived(it);
                let sayers =
                    nodes.filter(|(_, it)| is_shown(it) && (says(&it.content) || says(&it.label)));
                let sayers: Vec<&String> = sayers.map(|(id, _)| id).collect();
                assert_eq!(found, sayers, "who says {word}, {archived:?}");
            }
        }
    }

    #[track_caller]
    pub(in crate::memory::tests) fn check_health(&self) {
        doctor::assert_healthy(&self.db());
    }

    /// Checks that the notes of an export compile to the same state elsewhere, once.
    pub(in crate::memory::tests) fn check_markdown(&mut self) {
        // Secrets that were stored past redaction would become markers on the way.
        self.redact();
        let folder = self.dir.path().join("markdown");
        export_markdown(&self.db(), &folder, &mut |_, _| ()).unwrap();
        let copy = self.dir.path().join("copy.db");
        let memory = Memory::open_at(&copy, IfMissing::Create, self.clock.clone()).unwrap();
        let report = memory.compile(&folder, "notes").unwrap();
        assert_eq!(report.warnings, []);
        let state = |db: &Path| {
            let conn = rusqlite::Connection::open(db).unwrap();
            doctor::compute_state_fingerprint(&conn).unwrap()
        };
        assert_eq!(state(&copy), state(&self.db()));
        assert_eq!(memory.compile(&folder, "again").unwrap().snapshot, None);
        drop(memory);
        let report = doctor::examine(&copy).unwrap();
        assert!(report.checks.iter().all(|it| it.status == CheckStatus::Pass), "{report:#?}");
        for path in [folder, copy] {
            let removed = if path.is_dir() {
                std::fs::remove_dir_all(path)
            } else {
                std::fs::remove_file(path)
            };
            removed.unwrap();
        }
    }
}
