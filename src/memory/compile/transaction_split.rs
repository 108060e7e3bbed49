//! Divides a compile into parts that can be written one after another.
//!
//! A compile that fits into one slice is one part, and a new file is a part by itself. Otherwise
//! the known files are read and compared with their texts in the memory. If any lost a text, the
//! new ones are read, too, and those that gained it join its part. What is kept of a file is the
//! hashes of its texts; each file is read again when it is written. The parts only tell what to
//! write together, so that changes meanwhile do no harm.

use std::collections::BTreeMap;

use super::file_groups_by_moved_text::{DisjointFileSets, FileGroup, NodeTextKey, without};
use super::plan::CompilePlan;
use super::read_and_parse::{self, FileReadOutcome, weight};
use super::{CompileError, CompileRequest};
use crate::ingest::scan::ScannedFile;
use crate::model::identity::{self, ContentHash};
use crate::store::{FileRow, Writer};

/// Bytes of source that are never divided.
const WHOLE_BYTES: usize = 2 * 1024 * 1024;

/// The parts of a compile.
pub(super) struct CompileParts {
    pub(super) parts: Vec<FileGroup>,
    /// The files to be read, in the order of the parts.
    pub(super) files: Vec<ScannedFile>,
    /// Files that were read to find the parts.
    pub(super) n_read: usize,
}

/// Divides the files of a plan, of which `changed` were taken.
pub(super) fn divide(
    writer: &Writer,
    request: &CompileRequest<'_>,
    plan: &CompilePlan,
    changed: Vec<ScannedFile>,
) -> Result<CompileParts, CompileError> {
    let sizes = changed.iter().map(|it| it.stat.size);
    let sizes = sizes.chain(plan.vanished.iter().map(|it| it.stat.size));
    let sizes: Vec<i64> = sizes.chain(plan.adopted.iter().map(|_| 0)).collect();
    let bytes: Vec<usize> = sizes.iter().copied().map(weight).collect();
    let all: usize = bytes.iter().sum();
    let (n_files, n_units) = (changed.len(), bytes.len());
    let is_all_new = plan.n_new == n_files && plan.vanished.is_empty() && plan.adopted.is_empty();
    let lists = if all <= request.slice_bytes.min(WHOLE_BYTES) {
        if n_units == 0 { Vec::new() } else { vec![(0..n_units).collect()] }
    } else if is_all_new {
        (0..n_files).map(|it| vec![it]).collect()
    } else {
        let sets = DisjointFileSets::new(&sizes);
        MovedTextFinder { writer, request, plan, changed: &changed }.sets(sets)?.into_lists()
    };
    let n_read = if lists.len() <= 1 || is_all_new { 0 } else { n_files };
    Ok(order(plan, changed, &bytes, lists, n_read))
}

fn order(
    plan: &CompilePlan,
    changed: Vec<ScannedFile>,
    bytes: &[usize],
    lists: Vec<Vec<usize>>,
    n_read: usize,
) -> CompileParts {
    let (n_files, n_vanished) = (changed.len(), plan.vanished.len());
    let mut changed: Vec<Option<ScannedFile>> = changed.into_iter().map(Some).collect();
    let mut files = Vec::with_capacity(n_files);
    let mut parts = Vec::with_capacity(lists.len());
    for list in lists {
        let mut part = FileGroup::default();
        for unit in list {
            part.bytes += bytes[unit];
            if unit < n_files {
                part.n_files += 1;
                files.extend(changed[unit].take());
            } else if unit < n_files + n_vanished {
                part.vanished.push(plan.vanished[unit - n_files].clone());
            } else {
                part.adopted.push(plan.adopted[unit - n_files - n_vanished].clone());
            }
        }
        parts.push(part);
    }
    CompileParts { parts, files, n_read }
}

/// The texts of a file, sorted.
type FileTextKeys = Vec<NodeTextKey>;

/// Compares files with the memory.
struct MovedTextFinder<'a> {
    writer: &'a Writer,
    request: &'a CompileRequest<'a>,
    plan: &'a CompilePlan,
    changed: &'a [ScannedFile],
}

/// The texts that files lost and gained, with the number of the file.
#[derive(Default)]
struct LostAndGainedTexts {
    lost: Vec<(NodeTextKey, usize)>,
    gained: Vec<(NodeTextKey, usize)>,
}

impl LostAndGainedTexts {
    fn add(&mut self, file: usize, old: &[NodeTextKey], new: &[NodeTextKey]) {
        self.lost.extend(without(old, new).into_iter().map(|it| (it, file)));
        self.gained.extend(without(new, old).into_iter().map(|it| (it, file)));
    }
}

impl MovedTextFinder<'_> {
    /// Joins the files that exchange text. Files count first, then vanished and adopted ones.
    fn sets(&self, mut sets: DisjointFileSets) -> Result<DisjointFileSets, CompileError> {
        let CompilePlan { vanished, adopted, n_new, .. } = self.plan;
        let n_files = self.changed.len();
        let n_known = n_files - n_new;
        let mut adopted_at = BTreeMap::new();
        for (nth, (row, path)) in adopted.iter().enumerate() {
            adopted_at.insert(path.as_str(), (n_files + vanished.len() + nth, row));
        }
        let mut differences = LostAndGainedTexts::default();
        // Files that may be renamed ones: those without a row, and those that were gone.
        let mut new: Vec<(usize, FileTextKeys)> = Vec::new();
        self.read(0, n_known, |nth, path, texts| {
            let row = match adopted_at.get(path) {
                Some((adopted, row)) => {
                    sets.join(nth, *adopted, usize::MAX);
                    Some((*row).clone())
                }
                None => self.writer.file_at(&self.plan.root, path)?,
            };
            match row.filter(|it| !it.is_gone) {
                Some(row) => {
                    let known = self.known_texts(&row)?;
                    let forgotten = self.writer.forgotten_texts(row.id)?;
                    differences.add(nth, &with_forgotten(known, &forgotten), &texts);
                }
                None => new.push((nth, texts)),
            }
            Ok(())
        })?;
        if vanished.is_empty() && differences.lost.is_empty() {
            return Ok(sets);
        }
        self.read(n_known, n_files, |nth, _, texts| {
            new.push((nth, texts));
            Ok(())
        })?;
        self.join_renamed(&mut sets, &mut differences, new)?;
        sets.join_by_text(differences.lost, differences.gained);
        Ok(sets)
    }

    /// Joins vanished files with renamed ones, and adds the differences of both.
    fn join_renamed(
        &self,
        sets: &mut DisjointFileSets,
        differences: &mut LostAndGainedTexts,
        new: Vec<(usize, FileTextKeys)>,
    ) -> Result<(), CompileError> {
        let n_files = self.changed.len();
        let mut old: Vec<FileTextKeys> = Vec::with_capacity(self.plan.vanished.len());
        let mut removed = Vec::with_capacity(self.plan.vanished.len());
        for row in &self.plan.vanished {
            let texts = self.known_texts(row)?;
            let forgotten = self.writer.forgotten_texts(row.id)?;
            let hashes = texts.iter().map(|it| it.hash).chain(forgotten.iter().copied());
            removed.push(hashes.collect::<Vec<_>>());
            old.push(with_forgotten(texts, &forgotten));
        }
        let added: Vec<Vec<ContentHash>> =
            new.iter().map(|(_, texts)| texts.iter().map(|it| it.hash).collect()).collect();
        let removed: Vec<&[ContentHash]> = removed.iter().map(Vec::as_slice).collect();
        let added: Vec<&[ContentHash]> = added.iter().map(Vec::as_slice).collect();
        let mut old_of: BTreeMap<usize, FileTextKeys> = BTreeMap::new();
        for (from, to) in identity::renames(&removed, &added) {
            let to = new[to].0;
            sets.join(n_files + from, to, usize::MAX);
            old_of.insert(to, std::mem::take(&mut old[from]));
        }
        for (nth, texts) in new {
            let old = old_of.remove(&nth).unwrap_or_default();
            differences.add(nth, &old, &texts);
        }
        for (nth, texts) in old.into_iter().enumerate() {
            differences.add(n_files + nth, &texts, &[]);
        }
        Ok(())
    }

    /// Reads the files from one number to another, and hands on their texts.
    fn read(
        &self,
        from: usize,
        to: usize,
        mut take: impl FnMut(usize, &str, FileTextKeys) -> Result<(), CompileError>,
    ) -> Result<(), CompileError> {
        let files = self.changed[from..to].to_vec();
        read_and_parse::read_all(files, self.request.n_threads, self.plan, |files| {
            for (nth, file) in (from..to).zip(files) {
                self.request.check(self.plan, nth + 1, 2 * self.changed.len())?;
                if let Some(texts) = texts_of(&file) {
                    take(nth, &file.found.path, texts)?;
                }
            }
            Ok(())
        })
    }

    /// Returns the texts of a file that the memory has.
    fn known_texts(&self, row: &FileRow) -> Result<FileTextKeys, CompileError> {
        Ok(sorted(self.writer.file_texts(row)?.into_iter()))
    }
}

/// Adds the texts that an agent forgot in a file, which may have moved, too. Their length is not
/// known; a text has one length, so that the other key is that of no text.
fn with_forgotten(mut texts: FileTextKeys, forgotten: &[ContentHash]) -> FileTextKeys {
    let keys =
        |hash: &ContentHash| [false, true].map(|is_long| NodeTextKey { hash: *hash, is_long });
    texts.extend(forgotten.iter().flat_map(keys));
    texts.sort_unstable();
    texts
}

/// Returns the texts of a file; `None` if it could not be read.
fn texts_of(source: &FileReadOutcome) -> Option<FileTextKeys> {
    let (_, parsed) = source.outcome.as_ref().ok()?;
    let nodes = parsed.tree.nodes.iter();
    Some(sorted(nodes.map(|it| (ContentHash::of(&it.content), it.content.len()))))
}

fn sorted(texts: impl Iterator<Item = (ContentHash, usize)>) -> FileTextKeys {
    let to_key =
        |(hash, n_bytes)| NodeTextKey { hash, is_long: identity::MOVE_BYTES_MIN <= n_bytes };
    let mut keys: FileTextKeys = texts.map(to_key).collect();
    keys.sort_unstable();
    keys
}
