//! Indexes the places that share one name by folder. The nearest to any folder is found in as many
//! steps as that folder is deep.

use std::collections::HashMap;

use xxhash_rust::xxh64::xxh64;

use super::name::{LinkCandidate, LinkResolution, fold_name};

/// Maximum candidates that an ambiguous reference lists.
const CANDIDATES_MAX: usize = 8;

/// The places of one name.
#[derive(Debug)]
pub(super) struct NameCandidates<Id> {
    pub(super) places: Vec<LinkCandidate<Id>>,
    /// The first heading, or else the first place, by hash of the path.
    by_path: HashMap<u64, usize>,
    /// The places by hash of the path's [`fold_name`], with and without its extension.
    by_path_key: HashMap<u64, usize>,
    headings: ShallowestByFolder,
    all: ShallowestByFolder,
}

/// The nearest places below each folder.
#[derive(Debug, Default)]
struct ShallowestByFolder(HashMap<String, NearestPlacesBelowFolder>);

#[derive(Debug)]
struct NearestPlacesBelowFolder {
    /// Folders down from here.
    depth: usize,
    /// The first places at that depth, in document order.
    first: Vec<usize>,
    /// Whether all places at that depth are in one file.
    is_one_file: bool,
}

impl<Id: Copy + PartialEq> NameCandidates<Id> {
    /// Indexes `places`, which are in document order, those of one file together. Of each file,
    /// those are kept that an ambiguous reference may list.
    pub(super) fn new(mut places: Vec<LinkCandidate<Id>>) -> NameCandidates<Id> {
        let (mut path, mut n_of_file) = (String::new(), [0; 2]);
        places.retain(|it| {
            if it.path != path {
                path.clone_from(&it.path);
                n_of_file = [0; 2];
            }
            let n_alike = &mut n_of_file[usize::from(it.is_heading)];
            *n_alike += 1;
            *n_alike <= CANDIDATES_MAX
        });
        let mut candidates = NameCandidates {
            by_path: HashMap::new(),
            by_path_key: HashMap::new(),
            headings: ShallowestByFolder::default(),
            all: ShallowestByFolder::default(),
            places,
        };
        for (idx, place) in candidates.places.iter().enumerate() {
            let first = candidates.by_path.entry(hash(&place.path)).or_insert(idx);
            if place.is_heading && !candidates.places[*first].is_heading {
                *first = idx;
            }
            let path = fold_name(&place.path);
            if let Some((stem, _)) = path.rsplit_once('.') {
                candidates.by_path_key.entry(hash(stem)).or_insert(idx);
            }
            candidates.by_path_key.entry(hash(&path)).or_insert(idx);
            candidates.all.add(&candidates.places, idx);
            if place.is_heading {
                candidates.headings.add(&candidates.places, idx);
            }
        }
        candidates
    }

    /// Returns the place in the file at `path`, headings before others.
    pub(super) fn in_file(&self, path: &str) -> Option<&LinkCandidate<Id>> {
        self.by_path.get(&hash(path)).map(|&idx| &self.places[idx])
    }

    /// Returns the place whose file is at `path`, case aside, with or without its extension.
    pub(super) fn at_path(&self, path: &str) -> Option<&LinkCandidate<Id>> {
        let idx = self
            .by_path
            .get(&hash(path))
            .or_else(|| self.by_path_key.get(&hash(&fold_name(path))))?;
        Some(&self.places[*idx])
    }

    /// Returns the one heading in the folder of `from`, or the first of several in one file.
    pub(super) fn beside(&self, from: &str) -> Option<Id> {
        let best = self.headings.0.get(folder(from)).filter(|best| best.depth == 0)?;
        best.is_one_file.then(|| self.places[best.first[0]].id)
    }

    /// Returns the place nearest to `from`, headings before others, and the first one of a file.
    pub(super) fn nearest(&self, from: &str) -> LinkResolution<Id> {
        let own = self.in_file(from);
        let is_any_heading = !self.headings.0.is_empty();
        if let Some(place) = own.filter(|it| it.is_heading || !is_any_heading) {
            return LinkResolution::Node(place.id);
        }
        let near = if is_any_heading { self.headings.to(from) } else { self.all.to(from) };
        let place = |&idx: &usize| &self.places[idx];
        let near: Vec<&LinkCandidate<Id>> = near.iter().map(place).collect();
        match near[..] {
            [] => LinkResolution::Missing,
            [first, ref rest @ ..] if rest.iter().all(|it| it.path == first.path) => {
                LinkResolution::Node(first.id)
            }
            ref near => LinkResolution::Ambiguous(near.iter().map(|it| it.id).collect()),
        }
    }
}

impl ShallowestByFolder {
    fn add<Id>(&mut self, places: &[LinkCandidate<Id>], idx: usize) {
        let path = &places[idx].path;
        for (depth, above) in folders(path).enumerate() {
            match self.0.get_mut(above) {
                Some(best) if best.depth < depth => (),
                Some(best) if best.depth == depth => {
                    let is_same = places[best.first[0]].path == *path;
                    // A place of another file is kept, so that the ambiguity shows.
                    if best.first.len() < CANDIDATES_MAX && (!is_same || best.is_one_file) {
                        best.first.push(idx);
                    } else if !is_same && best.is_one_file {
                        best.first[CANDIDATES_MAX - 1] = idx;
                    }
                    best.is_one_file &= is_same;
                }
                _ => {
                    let best =
                        NearestPlacesBelowFolder { depth, first: vec![idx], is_one_file: true };
                    self.0.insert(above.to_owned(), best);
                }
            }
        }
    }

    /// Returns the places with the fewest folders between, in document order.
    fn to(&self, from: &str) -> Vec<usize> {
        let above = || {
            let bests = folders(from).map(|it| self.0.get(it)).enumerate();
            bests.filter_map(|(up, best)| Some((up + best?.depth, best?)))
        };
        let steps = above().map(|(steps, _)| steps).min();
        let nearest = above().filter(|it| Some(it.0) == steps).flat_map(|(_, best)| &best.first);
        let mut near: Vec<usize> = nearest.copied().collect();
        near.sort_unstable();
        near.truncate(CANDIDATES_MAX);
        near
    }
}

/// Hashes a path, since paths are long and many share a name.
fn hash(path: &str) -> u64 {
    xxh64(path.as_bytes(), 0)
}

/// Iterates over the folder of a file, its parent, and so on to the empty one.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    let mut below = Some(folder(path));
    std::iter::from_fn(move || {
        let at = below?;
        below = (!at.is_empty()).then(|| folder(at));
        Some(at)
    })
}

/// Returns the folder of a path, empty at the top.
pub(super) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
