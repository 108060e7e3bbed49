//! Carries a compile out in steps, each of which touches whole files.
//!
//! Vanished files are matched with renamed ones first. Then each group of files is aligned, text
//! that moved between files is matched, and the files are written. Old nodes without a successor
//! wait in a pool until the last file was read, since they may have moved there. Files that take
//! nodes from others are written after all others, together with the removal of what the others
//! lost; what is left is removed file by file.
//!
//! Steps run in transactions of a bounded size, between which others may write. A file is finished,
//! that is, has the hash of its bytes, once nothing of it waits; an interrupted compile so leaves
//! files that the next one compares again. What was read in an earlier transaction is read again
//! if another snapshot was made meanwhile.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::align::{self, hashes_of, match_moves, split_by_author};
use super::plan::CompilePlan;
use super::steps::{Aligned, EndOutcome, Ending, Step, rename, still_there, trusted};
use super::work::{FileWork, base_hash};
use super::{CompileError, FileWarning, InitialTemperaturesFor, Purged, SourceFile};
use super::{apply, groups, overlay};
use crate::ingest::parse::{Parsed, Warning};
use crate::model::clock::Millis;
use crate::model::identity::{self, ContentHash};
use crate::store::{Batch, CommitReport, FileId, FileRow, NodeKey, NodeRecord, RootId};

/// Source bytes from which on indexing is deferred.
const MANY_BYTES: usize = 128 * 1024;

/// Files whose temperatures are set together.
const RESEEDED_MAX: usize = 256;

/// The state of a compile between its transactions.
pub(super) struct CompileRun<'a> {
    plan: &'a CompilePlan,
    temperatures_for: InitialTemperaturesFor,
    now: Millis,
    steps: VecDeque<Step>,
    /// Old nodes of vanished files, before they are matched with renamed ones.
    vanished: Vec<(FileRow, Vec<NodeRecord>, Vec<ContentHash>)>,
    /// Aligned files of the present group.
    group: Vec<Aligned>,
    /// Files that take nodes from others.
    takers: Vec<Aligned>,
    /// Old nodes without a successor so far, in document order by file.
    pool: Vec<NodeRecord>,
    endings: Vec<Ending>,
    /// The latest snapshot that this run knows of; `None` before the first transaction.
    head: Option<Option<i64>>,
    /// Transactions before which others had written.
    n_others: usize,
    warnings: Vec<FileWarning>,
    purged: Vec<Purged>,
    reseeded: Option<usize>,
    /// Files written or found to be unchanged, and those of committed transactions.
    n_files: usize,
    n_kept: usize,
    is_ending: bool,
}

impl<'a> CompileRun<'a> {
    /// Begins with the files that the plan knows without reading any.
    pub(super) fn new(
        plan: &'a CompilePlan,
        temperatures_for: InitialTemperaturesFor,
        now: Millis,
    ) -> CompileRun<'a> {
        let adopted = plan.adopted.iter().map(|(row, path)| Step::Adopt(row.clone(), path.clone()));
        // Read before the adoption changes their rows.
        let steps = plan.vanished.iter().cloned().map(Step::Vanish).chain(adopted);
        CompileRun {
            plan,
            temperatures_for,
            now,
            steps: steps.collect(),
            vanished: Vec::new(),
            group: Vec::new(),
            takers: Vec::new(),
            pool: Vec::new(),
            endings: Vec::new(),
            head: None,
            n_others: 0,
            warnings: Vec::new(),
            purged: Vec::new(),
            reseeded: None,
            n_files: 0,
            n_kept: 0,
            is_ending: false,
        }
    }

    pub(super) fn plan(&self) -> &'a CompilePlan {
        self.plan
    }

    pub(super) fn now(&self) -> Millis {
        self.now
    }

    /// Returns the number of files that are done in the transactions so far.
    pub(super) fn n_kept(&self) -> usize {
        self.n_kept
    }

    /// Returns whether no step is left.
    pub(super) fn is_done(&self) -> bool {
        self.is_ending && self.steps.is_empty()
    }

    /// Returns the warnings, the deleted files, and the number of nodes reseeded.
    pub(super) fn into_parts(self) -> (Vec<FileWarning>, Vec<Purged>, Option<usize>) {
        (self.warnings, self.purged, self.reseeded)
    }

    /// Adds files that are aligned together. If files vanished, all files have to be in the first
    /// group.
    pub(super) fn add_group(&mut self, group: Vec<SourceFile>, is_first: bool, slice_bytes: usize) {
        if is_first && !self.plan.vanished.is_empty() {
            // A renamed file is recognized by its text.
            let texts = group.iter().map(|it| (it.found.path.clone(), hashes_of(it)));
            self.steps.push_back(Step::Settle(texts.collect()));
        }
        // The alignment of a slice or two is a small part of their writing.
        let bytes: usize = group.iter().map(|it| groups::weight(it.size)).sum();
        let is_large = slice_bytes.saturating_mul(2) < bytes;
        let cost = |it: &SourceFile| if is_large { groups::weight(it.size) / 2 } else { 0 };
        let aligns = group.into_iter().map(|it| (cost(&it), it));
        self.steps.extend(aligns.map(|(cost, it)| Step::Align(Box::new(it), cost)));
        if 0 < bytes {
            self.steps.push_back(Step::Match);
        }
    }

    /// Adds the end of the list of files, once.
    pub(super) fn finish(&mut self) {
        if !std::mem::replace(&mut self.is_ending, true) {
            self.steps.push_back(Step::Finish);
        }
    }

    /// Carries steps out until their cost reaches `bytes_max`.
    pub(super) fn take_steps(
        &mut self,
        batch: &mut Batch<'_>,
        bytes_max: usize,
    ) -> Result<(), CompileError> {
        let head = batch.head()?;
        if self.head.replace(head).is_some_and(|it| it != head) {
            self.n_others += 1;
        }
        let root = batch.root(&self.plan.root)?;
        if MANY_BYTES <= self.bytes_to_come(bytes_max) {
            batch.defer_indexing()?;
        }
        let mut cost = 0;
        while cost < bytes_max {
            let Some(step) = self.steps.pop_front() else { break };
            cost += step.cost();
            self.take_step(batch, root, step)?;
            batch.flush_if_large()?;
        }
        Ok(())
    }

    /// Notes the outcome of a transaction.
    pub(super) fn committed(&mut self, report: CommitReport) {
        self.n_kept = self.n_files;
        if report.snapshot.is_some() {
            self.head = Some(report.snapshot);
        }
    }

    /// Returns the cost of the steps to come, in bytes of source, counted up to a bound.
    pub(super) fn bytes_to_come(&self, bytes_max: usize) -> usize {
        let mut bytes = 0;
        for step in &self.steps {
            bytes += match step {
                Step::Align(it, cost) => cost + groups::weight(it.size),
                it => it.cost(),
            };
            if bytes_max.max(MANY_BYTES) <= bytes {
                break;
            }
        }
        bytes
    }

    fn take_step(
        &mut self,
        batch: &mut Batch<'_>,
        root: RootId,
        step: Step,
    ) -> Result<(), CompileError> {
        match step {
            Step::Adopt(row, path) => {
                // Changes by another process since the plan was made are kept; the next compile
                // compares them.
                if batch.is_unchanged_file(&row)? {
                    batch.move_file(&row, root, &path)?;
                }
            }
            Step::Vanish(row) => {
                if batch.is_unchanged_file(&row)? {
                    let (nodes, _) = split_by_author(batch.file_nodes(row.id)?);
                    let forgotten = batch.tombstones(row.id)?;
                    let hashes = nodes.iter().map(base_hash);
                    let hashes = hashes.chain(forgotten.iter().map(|it| it.source_hash)).collect();
                    self.vanished.push((row, nodes, hashes));
                }
            }
            Step::Settle(texts) => self.settle(batch, root, &texts)?,
            Step::Rename(row, path) => rename(batch, root, &row, &path)?,
            Step::Align(source, _) => {
                if let Some(aligned) = self.align(batch, root, *source)? {
                    self.group.push(aligned);
                }
            }
            Step::Match => self.match_group(),
            Step::Apply(aligned) => self.apply(batch, root, *aligned)?,
            Step::Finish => {
                self.steps.push_back(Step::Exchange);
                self.steps.push_back(Step::RemoveTheRest);
            }
            Step::Exchange => self.exchange(batch, root)?,
            Step::RemoveTheRest => {
                // From the end, as nodes are removed in a file.
                let mut left: HashMap<Option<FileId>, Vec<NodeRecord>> = HashMap::new();
                for node in std::mem::take(&mut self.pool) {
                    left.entry(node.place.file).or_default().push(node);
                }
                for ending in std::mem::take(&mut self.endings).into_iter().rev() {
                    let nodes = left.remove(&Some(ending.file)).unwrap_or_default();
                    self.steps.push_back(Step::Remove(ending, nodes));
                }
                self.plan_reseeding(batch, root)?;
            }
            Step::Remove(ending, nodes) => self.end(batch, vec![ending], nodes)?,
            Step::Reseed(temperatures) => {
                let n_nodes = batch.reseed(&temperatures)?;
                self.reseeded = Some(self.reseeded.unwrap_or(0) + n_nodes);
            }
        }
        Ok(())
    }

    /// Matches vanished files with renamed ones; puts the nodes of the others into the pool.
    fn settle(
        &mut self,
        batch: &Batch<'_>,
        root: RootId,
        texts: &[(String, Vec<ContentHash>)],
    ) -> Result<(), CompileError> {
        let rows: BTreeMap<String, FileRow> =
            batch.files(root)?.into_iter().map(|row| (row.path.clone(), row)).collect();
        let is_new = |path: &str| rows.get(path).is_none_or(|known| known.is_gone);
        let new_files: Vec<_> = texts.iter().filter(|(path, _)| is_new(path)).collect();
        let removed: Vec<&[ContentHash]> =
            self.vanished.iter().map(|(_, _, hashes)| hashes.as_slice()).collect();
        let added: Vec<&[ContentHash]> = new_files.iter().map(|it| it.1.as_slice()).collect();
        let mut new_path: BTreeMap<usize, &String> = BTreeMap::new();
        for (from, to) in identity::renames(&removed, &added) {
            new_path.insert(from, &new_files[to].0);
        }
        let mut renames = Vec::new();
        for (nth, (row, nodes, _)) in std::mem::take(&mut self.vanished).into_iter().enumerate() {
            match new_path.get(&nth) {
                Some(path) => renames.push(Step::Rename(row, (*path).clone())),
                None => {
                    let outcome = EndOutcome::Gone(row.clone(), nodes.len());
                    self.endings.push(Ending { file: row.id, outcome });
                    self.pool.extend(nodes);
                }
            }
        }
        self.push_front(renames);
        Ok(())
    }

    fn push_front(&mut self, steps: Vec<Step>) {
        for step in steps.into_iter().rev() {
            self.steps.push_front(step);
        }
    }

    /// Aligns a file with its nodes; `None` if there is nothing to write. Nodes without a successor
    /// go into the pool.
    fn align(
        &mut self,
        batch: &mut Batch<'_>,
        root: RootId,
        source: SourceFile,
    ) -> Result<Option<Aligned>, CompileError> {
        let source = source.latest(&self.plan.scope.root, &self.plan.workspace);
        let row = batch.file_row(root, &source.found.path)?;
        let stat = trusted(source.found.stat, self.now);
        match &source.outcome {
            Ok((hash, _)) if row.as_ref().is_none_or(|it| it.content_hash != Some(*hash)) => {
                let work = align::align(batch, source, row, &mut self.pool)?;
                return Ok(work.map(|work| Aligned { work, at: self.n_others }));
            }
            _ => (),
        }
        let file = match row {
            Some(row) => row.id,
            None => batch.add_file(root, &source.found.path, stat)?,
        };
        self.n_files += 1;
        match source.outcome {
            Ok((hash, _)) => batch.note_stat(file, stat, Ok(hash))?,
            Err(what) => {
                batch.note_stat(file, stat, Err(&what))?;
                self.warnings.push(FileWarning { path: source.found.path, line: None, what });
            }
        }
        Ok(None)
    }

    /// Matches text that moved between files, and plans to write the files that take none.
    fn match_group(&mut self) {
        let mut group = std::mem::take(&mut self.group);
        let mut works: Vec<&mut FileWork> = group.iter_mut().map(|it| &mut it.work).collect();
        match_moves(&mut self.pool, &mut works);
        let (takers, others): (Vec<_>, Vec<_>) =
            group.into_iter().partition(|it| it.work.taken().next().is_some());
        self.takers.extend(takers);
        self.push_front(others.into_iter().map(|it| Step::Apply(Box::new(it))).collect());
    }

    /// Writes a file, aligned again if it or the memory changed meanwhile.
    fn apply(
        &mut self,
        batch: &mut Batch<'_>,
        root: RootId,
        aligned: Aligned,
    ) -> Result<(), CompileError> {
        let row = batch.file_row(root, &aligned.work.found.path)?;
        let is_current = aligned.at == self.n_others && row == aligned.work.row;
        let work = if is_current {
            Some(aligned.work)
        } else {
            self.align_again(batch, root, aligned.work)?
        };
        let Some(mut work) = work else { return Ok(()) };
        self.n_files += 1;
        let path = work.found.path.clone();
        let stat = trusted(work.found.stat, self.now);
        let file = match &work.row {
            Some(row) => row.id,
            None => batch.add_file(root, &path, stat)?,
        };
        batch.note_stat(file, stat, Ok(work.hash))?;
        if work.has_leftovers {
            batch.note_unfinished(file)?;
            let outcome = EndOutcome::Finished(stat, work.hash);
            self.endings.push(Ending { file, outcome });
        }
        let warnings = std::mem::take(&mut work.warnings).into_iter();
        self.warnings.extend(warnings.map(|Warning { line, what }| FileWarning {
            path: path.clone(),
            line: Some(line),
            what,
        }));
        let seed = self.plan.workspace.initial_temperatures.of(&path);
        apply::apply(batch, work, file, seed)
    }

    /// Aligns a file again. It may take what it took from other files if that is still there.
    fn align_again(
        &mut self,
        batch: &mut Batch<'_>,
        root: RootId,
        work: FileWork,
    ) -> Result<Option<FileWork>, CompileError> {
        let taken: Vec<NodeRecord> = work.taken().cloned().collect();
        let own: HashSet<NodeKey> = work.matched.iter().flatten().map(|it| it.key).collect();
        let FileWork { found, size, hash, parsed, whole, warnings, .. } = work;
        let tree = whole.unwrap_or(parsed.tree);
        let source = SourceFile { found, size, outcome: Ok((hash, Parsed { tree, warnings })) };
        let waiting = std::mem::replace(&mut self.pool, still_there(batch, taken)?);
        let aligned = self.align(batch, root, source)?;
        let claimed: HashSet<NodeKey> =
            self.takers.iter().flat_map(|it| it.work.taken()).map(|it| it.key).collect();
        self.pool.retain(|it| !claimed.contains(&it.key));
        let mut work = aligned.map(|it| it.work);
        if let Some(work) = &mut work {
            for slot in &mut work.matched {
                slot.take_if(|it| claimed.contains(&it.key));
            }
            match_moves(&mut self.pool, &mut [&mut *work]);
        }
        let matched = work.iter().flat_map(|it| it.matched.iter().flatten());
        let matched: HashSet<NodeKey> = matched.map(|it| it.key).collect();
        let known: HashSet<NodeKey> = self.pool.iter().map(|it| it.key).collect();
        let late = std::mem::replace(&mut self.pool, waiting);
        let is_free = |it: &NodeRecord| {
            !matched.contains(&it.key) && !known.contains(&it.key) && !own.contains(&it.key)
        };
        self.pool.retain(is_free);
        self.pool.extend(late);
        Ok(work)
    }

    /// Writes the files that take nodes from others, and removes what the others lost: nodes below
    /// a node that moves move along with it.
    fn exchange(&mut self, batch: &mut Batch<'_>, root: RootId) -> Result<(), CompileError> {
        let takers = std::mem::take(&mut self.takers);
        let taken = takers.iter().flat_map(|it| it.work.taken());
        let sources: HashSet<FileId> = taken.filter_map(|it| it.place.file).collect();
        let mut takers: VecDeque<Aligned> = takers.into();
        while let Some(taker) = takers.pop_front() {
            // Those still waiting keep what they take.
            self.takers = std::mem::take(&mut takers).into();
            self.apply(batch, root, taker)?;
            takers = std::mem::take(&mut self.takers).into();
        }
        let endings = std::mem::take(&mut self.endings);
        let (ended, others) = endings.into_iter().partition(|it| sources.contains(&it.file));
        self.endings = others;
        let is_ended = |it: &mut NodeRecord| it.place.file.is_some_and(|it| sources.contains(&it));
        let nodes = self.pool.extract_if(.., is_ended).collect();
        self.end(batch, ended, nodes)
    }

    /// Removes what is left in some files, and finishes them.
    fn end(
        &mut self,
        batch: &mut Batch<'_>,
        endings: Vec<Ending>,
        mut nodes: Vec<NodeRecord>,
    ) -> Result<(), CompileError> {
        let mut current = Vec::with_capacity(endings.len());
        for ending in endings {
            let is_current = match &ending.outcome {
                EndOutcome::Gone(row, _) => batch.is_unchanged_file(row)?,
                EndOutcome::Finished(stat, _) => batch.is_unfinished(ending.file, *stat)?,
            };
            if is_current {
                current.push(ending);
            }
        }
        let files: HashSet<FileId> = current.iter().map(|it| it.file).collect();
        nodes.retain(|it| it.place.file.is_some_and(|it| files.contains(&it)));
        if 0 < self.n_others {
            nodes = still_there(batch, nodes)?;
        }
        overlay::remove_nodes(batch, nodes)?;
        for Ending { file, outcome } in current {
            match outcome {
                EndOutcome::Gone(row, nodes) => {
                    batch.mark_file_gone(file)?;
                    self.purged.push(Purged { path: row.path, nodes });
                }
                EndOutcome::Finished(stat, hash) => batch.note_stat(file, stat, Ok(hash))?,
            }
        }
        Ok(())
    }

    /// Plans to set all nodes below the path to their files' initial temperatures, if requested.
    fn plan_reseeding(&mut self, batch: &Batch<'_>, root: RootId) -> Result<(), CompileError> {
        if self.temperatures_for == InitialTemperaturesFor::NewNodes {
            return Ok(());
        }
        self.reseeded = Some(0);
        let mut temperatures = BTreeMap::new();
        for file in batch.files(root)?.into_iter().filter(|it| self.plan.scope.covers(&it.path)) {
            if let Some(temperature) = self.plan.workspace.initial_temperatures.of(&file.path) {
                temperatures.insert(file.id, temperature);
            }
            if RESEEDED_MAX <= temperatures.len() {
                self.steps.push_back(Step::Reseed(std::mem::take(&mut temperatures)));
            }
        }
        self.steps.push_back(Step::Reseed(temperatures));
        Ok(())
    }
}
