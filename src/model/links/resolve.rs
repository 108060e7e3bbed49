//! Resolves references to their targets, given an index of the nodes.
//!
//! In order: the node of that id; the file that it names, and a heading in it; a heading of the
//! same file; one in the same folder; a file by its name, title or alias; a heading anywhere; any
//! other node with that label, never the referring one. Near files come before far ones. Equally
//! near targets are ambiguous: the reference stays pending, and the answer lists the candidates.
//!
//! [`names_needed_by`] lists the names by which the target was found or could have been: as long as
//! no node of these names comes, goes or moves, the target stays.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::name::{LinkCandidate, LinkNameHash, LinkResolution, fold_name, slug};
use super::nearest_target_index::{NameCandidates, folder};
use crate::model::links::reference::{Reference, ReferenceSyntax};
use crate::text;

/// An index of possible targets. Places come in document order, those of one file together.
pub(crate) trait LinkIndex {
    /// The id of a node.
    type Id: Copy + PartialEq;
    /// The error of a lookup.
    type Error;

    /// Returns the node of that id.
    fn node(&self, id: &str) -> Result<Option<Self::Id>, Self::Error>;

    /// Returns the nodes whose label has that [`LinkNameHash`].
    fn labelled(&self, name: LinkNameHash) -> Result<Vec<LinkCandidate<Self::Id>>, Self::Error>;

    /// Returns the nodes in the file at `path` whose label has that [`LinkNameHash`].
    fn labelled_in(
        &self,
        path: &str,
        name: LinkNameHash,
    ) -> Result<Vec<LinkCandidate<Self::Id>>, Self::Error>;

    /// Returns one place for each file with that name, title or alias. The name is compared with
    /// the end of the path, with or without extension; all are compared by [`fold_name`].
    fn files(&self, key: &str) -> Result<Vec<LinkCandidate<Self::Id>>, Self::Error>;
}

/// Returns the names that the target of a reference depends on.
pub(crate) fn names_needed_by(reference: &Reference) -> Vec<LinkNameHash> {
    let Reference { label, source, id_hint, heading, .. } = reference;
    let mut names: Vec<LinkNameHash> =
        id_hint.as_deref().map(LinkNameHash::of_id).into_iter().collect();
    if let Some(source) = source {
        let source = slashed(source);
        let file = last_path_segment(&source);
        let inside = LinkNameHash::of(&as_label(heading.as_ref().unwrap_or(label)));
        names.push(LinkNameHash::of(file));
        names.extend(
            [file, without_extension(file)].map(|it| inside.qualified_by(LinkNameHash::of(it))),
        );
    } else {
        names.push(LinkNameHash::of(&as_label(label)));
        if let Some(heading) = heading {
            names.push(LinkNameHash::of(&as_label(heading)));
            names.push(LinkNameHash::of(&as_label(&format!("{label}#{heading}"))));
        }
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// Maximum places and lookups that are cached. The places of one name are cached as a whole.
const KNOWN_MAX: usize = 32 * 1024;

/// Places that one name counts as at most: a lookup of very many clears the cache of no others that
/// the same reference needs.
const KNOWN_OF_NAME_MAX: usize = KNOWN_MAX / 4;

/// Resolves references against an unchanging index, with a cache of its lookups.
pub(crate) struct Resolver<I: LinkIndex> {
    index: I,
    /// Places and lookups that are cached now.
    n_known: usize,
    /// Candidates by key of the label.
    labels: HashMap<String, Rc<NameCandidates<I::Id>>>,
    /// Places by path and name.
    inside: HashMap<(String, LinkNameHash), CandidateList<I>>,
    /// Candidates by key of the file's name.
    files: HashMap<String, Rc<NameCandidates<I::Id>>>,
    /// Files by the end of their path.
    tails: HashMap<String, Rc<NameCandidates<I::Id>>>,
}

type CandidateList<I> = Rc<[LinkCandidate<<I as LinkIndex>::Id>]>;
type LinkResolutionResult<I> =
    Result<LinkResolution<<I as LinkIndex>::Id>, <I as LinkIndex>::Error>;
type LinkTargetIdResult<I> = Result<Option<<I as LinkIndex>::Id>, <I as LinkIndex>::Error>;
type CandidatesResult<I> =
    Result<Rc<NameCandidates<<I as LinkIndex>::Id>>, <I as LinkIndex>::Error>;

impl<I: LinkIndex> Resolver<I> {
    /// Returns a resolver over `index`.
    pub(crate) fn new(index: I) -> Resolver<I> {
        let (labels, inside) = (HashMap::new(), HashMap::new());
        let (files, tails) = (HashMap::new(), HashMap::new());
        Resolver { index, n_known: 0, labels, inside, files, tails }
    }

    /// Counts places about to be cached, and clears the cache if there are too many.
    fn know(&mut self, n_places: usize) {
        let n_places = n_places.min(KNOWN_OF_NAME_MAX);
        if KNOWN_MAX < self.n_known + n_places {
            self.n_known = 0;
            self.labels.clear();
            self.inside.clear();
            self.files.clear();
            self.tails.clear();
        }
        self.n_known += 1 + n_places;
    }

    /// Returns the target of the `reference` of the node `own` in the file at `from`.
    pub(crate) fn resolve(
        &mut self,
        own: I::Id,
        from: &str,
        reference: &Reference,
    ) -> LinkResolutionResult<I> {
        if let Some(id) = &reference.id_hint
            && let Some(id) = self.index.node(id)?
        {
            return Ok(LinkResolution::Node(id));
        }
        // An id that was given by hand means that node only.
        let is_id = reference.id_hint.as_ref().is_some_and(|it| *it != reference.label);
        if reference.label.is_empty() || reference.form == ReferenceSyntax::Manual && is_id {
            return Ok(LinkResolution::Missing);
        }
        if let Some(source) = &reference.source {
            return self.in_source(from, &slashed(source), reference);
        }
        let heading = reference.heading.as_deref();
        if reference.form == ReferenceSyntax::Markdown {
            // A fragment alone: a heading of the same file.
            for name in [heading.unwrap_or(""), &reference.label] {
                if let Some(id) = self.heading_in(from, name)? {
                    return Ok(LinkResolution::Node(id));
                }
            }
            return Ok(LinkResolution::Missing);
        }
        match heading {
            Some(heading) => self.heading_of(from, &reference.label, heading),
            None => match self.named(from, &reference.label)? {
                LinkResolution::Node(id) if id == own => Ok(LinkResolution::Missing),
                target => Ok(target),
            },
        }
    }

    /// Returns the target of a label.
    fn named(&mut self, from: &str, label: &str) -> LinkResolutionResult<I> {
        let wanted = fold_name(&as_label(label));
        let own = self.inside(from, label)?;
        if let Some(place) = own.iter().find(|it| it.is_heading && fold_name(&it.label) == wanted) {
            return Ok(LinkResolution::Node(place.id));
        }
        let labelled = self.labelled(label)?;
        if let Some(id) = labelled.beside(from) {
            return Ok(LinkResolution::Node(id));
        }
        let files = self.files(label)?.nearest(from);
        if matches!(files, LinkResolution::Node(_)) || labelled.places.is_empty() {
            return Ok(files);
        }
        Ok(labelled.nearest(from))
    }

    /// Returns the target of `file#Heading`.
    fn heading_of(&mut self, from: &str, label: &str, heading: &str) -> LinkResolutionResult<I> {
        let files = self.files(label)?;
        match files.nearest(from) {
            LinkResolution::Node(file) => {
                let path = files.places.iter().find(|it| it.id == file).map(|it| it.path.clone());
                let inside = self.heading_in(path.as_deref().unwrap_or(""), heading)?;
                Ok(LinkResolution::Node(inside.unwrap_or(file)))
            }
            LinkResolution::Ambiguous(files) => Ok(LinkResolution::Ambiguous(files)),
            // Perhaps the `#` is part of a label.
            LinkResolution::Missing => {
                Ok(self.labelled(&format!("{label}#{heading}"))?.nearest(from))
            }
        }
    }

    /// Returns the target of a reference that names its file.
    fn in_source(
        &mut self,
        from: &str,
        source: &str,
        reference: &Reference,
    ) -> LinkResolutionResult<I> {
        let files = self.files(last_path_segment(source))?;
        // Beside the file that refers, then from the root, then any path that ends like this.
        let exact = [join(folder(from), source), join(root(from), source)]
            .into_iter()
            .flatten()
            .find_map(|path| files.at_path(&path))
            .cloned();
        let file = match exact {
            Some(file) => file,
            // A link that a renderer follows from a file has one meaning only.
            None if reference.form == ReferenceSyntax::Markdown && !from.is_empty() => {
                return Ok(LinkResolution::Missing);
            }
            None => {
                let ending = self.ending_in(&files, source.trim_start_matches("./"));
                match ending.nearest(from) {
                    LinkResolution::Node(id) => match ending.places.iter().find(|it| it.id == id) {
                        Some(file) => file.clone(),
                        None => return Ok(LinkResolution::Missing),
                    },
                    other => return Ok(other),
                }
            }
        };
        let inside = match (&reference.heading, reference.form) {
            (Some(heading), _) => Some(self.heading_in(&file.path, heading)?.unwrap_or(file.id)),
            (None, ReferenceSyntax::Markdown) => Some(file.id),
            (None, _) => {
                let wanted = fold_name(&as_label(&reference.label));
                let places = self.inside(&file.path, &reference.label)?;
                let named = || places.iter().filter(|it| fold_name(&it.label) == wanted);
                match named().find(|it| it.is_heading).or_else(|| named().next()) {
                    Some(place) => Some(place.id),
                    // The label may be the file's own name.
                    None => self.files(&reference.label)?.in_file(&file.path).map(|it| it.id),
                }
            }
        };
        Ok(inside.map_or(LinkResolution::Missing, LinkResolution::Node))
    }

    /// Returns the heading of that name or fragment in the file at `path`.
    fn heading_in(&mut self, path: &str, name: &str) -> LinkTargetIdResult<I> {
        let wanted = fold_name(&as_label(name));
        let places = self.inside(path, name)?;
        let headings = || places.iter().filter(|it| it.is_heading);
        let by_label = headings().find(|it| fold_name(&it.label) == wanted);
        let slug = slug(&wanted);
        let found =
            by_label.or_else(|| headings().find(|it| self::slug(&fold_name(&it.label)) == slug));
        Ok(found.map(|it| it.id))
    }

    /// Returns the places of that name, or nearly so, in the file at `path`: the first heading and
    /// the first other node of each label.
    fn inside(&mut self, path: &str, name: &str) -> Result<CandidateList<I>, I::Error> {
        let wanted = (path.to_owned(), LinkNameHash::of(&as_label(name)));
        if let Some(places) = self.inside.get(&wanted) {
            return Ok(Rc::clone(places));
        }
        let mut places = self.index.labelled_in(path, wanted.1)?;
        let mut labels = HashSet::new();
        places.retain(|it| labels.insert((fold_name(&it.label), it.is_heading)));
        self.know(places.len());
        Ok(Rc::clone(self.inside.entry(wanted).or_insert(places.into())))
    }

    fn labelled(&mut self, label: &str) -> CandidatesResult<I> {
        let wanted = fold_name(&as_label(label));
        if let Some(candidates) = self.labels.get(&wanted) {
            return Ok(Rc::clone(candidates));
        }
        let mut places = self.index.labelled(LinkNameHash::of(&wanted))?;
        places.retain(|it| fold_name(&it.label) == wanted);
        let candidates = NameCandidates::new(places);
        self.know(candidates.places.len());
        Ok(Rc::clone(self.labels.entry(wanted).or_insert(Rc::new(candidates))))
    }

    fn files(&mut self, name: &str) -> CandidatesResult<I> {
        let wanted = fold_name(name);
        if let Some(candidates) = self.files.get(&wanted) {
            return Ok(Rc::clone(candidates));
        }
        let places = self.index.files(&wanted)?;
        self.know(places.len());
        Ok(Rc::clone(self.files.entry(wanted).or_insert(Rc::new(NameCandidates::new(places)))))
    }

    /// Returns those of `files` whose path ends in `tail`, all having its last name.
    fn ending_in(
        &mut self,
        files: &NameCandidates<I::Id>,
        tail: &str,
    ) -> Rc<NameCandidates<I::Id>> {
        let wanted = fold_name(tail);
        if let Some(candidates) = self.tails.get(&wanted) {
            return Rc::clone(candidates);
        }
        let ends = files.places.iter().filter(|it| ends_in(&it.path, &wanted));
        let places: Vec<LinkCandidate<I::Id>> = ends.cloned().collect();
        self.know(places.len());
        Rc::clone(self.tails.entry(wanted).or_insert(Rc::new(NameCandidates::new(places))))
    }
}

/// Cuts a name to the length of a label.
fn as_label(name: &str) -> String {
    text::truncate_chars(&text::fold_whitespace(name), text::LABEL_CHARS_MAX)
}

fn slashed(path: &str) -> String {
    path.trim().replace('\\', "/")
}

/// Returns the last name of a path: the file's.
pub(crate) fn last_path_segment(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or("")
}

/// Returns a file's name without its extension.
pub(crate) fn without_extension(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

fn root(path: &str) -> &str {
    path.split('/').next().unwrap_or("")
}

/// Joins `path` to `folder`, unless it leaves the root.
fn join(folder: &str, path: &str) -> Option<String> {
    let mut names: Vec<&str> = folder.split('/').collect();
    for name in path.split('/') {
        match name {
            "" | "." => (),
            ".." => {
                names.pop();
                if names.is_empty() {
                    return None;
                }
            }
            name => names.push(name),
        }
    }
    Some(names.join("/"))
}

/// Returns whether `path` ends in the names of `tail`, a folded name, with or without extension.
fn ends_in(path: &str, tail: &str) -> bool {
    let path = fold_name(path);
    let ends = |path: &str| {
        path.strip_suffix(tail).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    ends(&path) || path.rsplit_once('.').is_some_and(|(stem, _)| ends(stem))
}

#[cfg(test)]
mod tests;
