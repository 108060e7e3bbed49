//! What a reference points at, given an index of what there is.
//!
//! In order: the node of that id; the file that it names, and a heading in it; a heading of the
//! same file; one in the same folder; a file by its name, title or alias; a heading anywhere; any
//! other node with that label, never the one that refers. Near files come before far ones. What is
//! equally near is ambiguous: the reference stays pending, and says between what.
//!
//! [`names_needed_by`] lists the names by which the answer was found or could have been: as long as
//! nothing of these names comes, goes or moves, the answer stays.

use std::collections::HashMap;
use std::rc::Rc;

use super::candidates::{Candidates, folder};
use super::name::{LinkPlace, NameKey, Target, fold_name, slug};
use crate::model::links::reference::{Reference, ReferenceForm};
use crate::text;

/// What there is to point at. Places come in document order, those of one file together.
pub(crate) trait LinkIndex {
    /// What names a node.
    type Id: Copy + PartialEq;
    /// What can go wrong.
    type Error;

    /// The node of that id.
    fn node(&self, id: &str) -> Result<Option<Self::Id>, Self::Error>;

    /// The nodes whose label has that [`NameKey`].
    fn labelled(&self, name: NameKey) -> Result<Vec<LinkPlace<Self::Id>>, Self::Error>;

    /// Those of them in the file at `path`.
    fn labelled_in(
        &self,
        path: &str,
        name: NameKey,
    ) -> Result<Vec<LinkPlace<Self::Id>>, Self::Error>;

    /// What stands for each file whose path ends in that name, with or without its ending, or whose
    /// title or alias has that [`fold_name`].
    fn files(&self, key: &str) -> Result<Vec<LinkPlace<Self::Id>>, Self::Error>;
}

/// The names that the target of a reference depends on.
pub(crate) fn names_needed_by(reference: &Reference) -> Vec<NameKey> {
    let Reference { label, source, id_hint, heading, .. } = reference;
    let mut names: Vec<NameKey> = id_hint.as_deref().map(NameKey::of_id).into_iter().collect();
    if let Some(source) = source {
        let source = slashed(source);
        let file = last_path_segment(&source);
        let inside = NameKey::of(&as_label(heading.as_ref().unwrap_or(label)));
        names.push(NameKey::of(file));
        names.extend([file, without_extension(file)].map(|it| inside.inside(NameKey::of(it))));
    } else {
        names.push(NameKey::of(&as_label(label)));
        if let Some(heading) = heading {
            names.push(NameKey::of(&as_label(heading)));
            names.push(NameKey::of(&as_label(&format!("{label}#{heading}"))));
        }
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// Places and lookups that are remembered. What one name has is remembered as a whole.
const KNOWN_MAX: usize = 32 * 1024;

/// Resolves references one after the other, while the index stays as it is. It remembers what it
/// looked up last.
pub(crate) struct Resolver<I: LinkIndex> {
    index: I,
    /// Places and lookups that are remembered now.
    n_known: usize,
    /// By key of the label.
    labels: HashMap<String, Rc<Candidates<I::Id>>>,
    /// By path and name.
    inside: HashMap<(String, NameKey), Places<I>>,
    /// By key of the file's name.
    files: HashMap<String, Rc<Candidates<I::Id>>>,
    /// Files by the end of their path.
    tails: HashMap<String, Rc<Candidates<I::Id>>>,
}

type Places<I> = Rc<[LinkPlace<<I as LinkIndex>::Id>]>;
type TargetResult<I> = Result<Target<<I as LinkIndex>::Id>, <I as LinkIndex>::Error>;
type FoundResult<I> = Result<Option<<I as LinkIndex>::Id>, <I as LinkIndex>::Error>;
type CandidatesResult<I> = Result<Rc<Candidates<<I as LinkIndex>::Id>>, <I as LinkIndex>::Error>;

impl<I: LinkIndex> Resolver<I> {
    /// Asks `index`.
    pub(crate) fn new(index: I) -> Resolver<I> {
        let (labels, inside) = (HashMap::new(), HashMap::new());
        let (files, tails) = (HashMap::new(), HashMap::new());
        Resolver { index, n_known: 0, labels, inside, files, tails }
    }

    /// Notes how much more is about to be remembered, and forgets what was if it is too much.
    fn know(&mut self, n_places: usize) {
        if KNOWN_MAX < self.n_known + n_places {
            self.n_known = 0;
            self.labels.clear();
            self.inside.clear();
            self.files.clear();
            self.tails.clear();
        }
        self.n_known += 1 + n_places;
    }

    /// What the `reference` of the node `own` in the file at `from` points at.
    pub(crate) fn resolve(
        &mut self,
        own: I::Id,
        from: &str,
        reference: &Reference,
    ) -> TargetResult<I> {
        if let Some(id) = &reference.id_hint
            && let Some(id) = self.index.node(id)?
        {
            return Ok(Target::Node(id));
        }
        // An id that was given by hand means that node only.
        let is_id = reference.id_hint.as_ref().is_some_and(|it| *it != reference.label);
        if reference.label.is_empty() || reference.form == ReferenceForm::Manual && is_id {
            return Ok(Target::Missing);
        }
        if let Some(source) = &reference.source {
            return self.in_source(from, &slashed(source), reference);
        }
        let heading = reference.heading.as_deref();
        if reference.form == ReferenceForm::Markdown {
            // A fragment alone: a heading of the same file.
            for name in [heading.unwrap_or(""), &reference.label] {
                if let Some(id) = self.heading_in(from, name)? {
                    return Ok(Target::Node(id));
                }
            }
            return Ok(Target::Missing);
        }
        match heading {
            Some(heading) => self.heading_of(from, &reference.label, heading),
            None => match self.named(from, &reference.label)? {
                Target::Node(id) if id == own => Ok(Target::Missing),
                target => Ok(target),
            },
        }
    }

    /// The target of a label.
    fn named(&mut self, from: &str, label: &str) -> TargetResult<I> {
        let wanted = fold_name(&as_label(label));
        let own = self.inside(from, label)?;
        if let Some(place) = own.iter().find(|it| it.is_heading && fold_name(&it.label) == wanted) {
            return Ok(Target::Node(place.id));
        }
        let labelled = self.labelled(label)?;
        if let Some(id) = labelled.beside(from) {
            return Ok(Target::Node(id));
        }
        let files = self.files(label)?.nearest(from);
        if matches!(files, Target::Node(_)) || labelled.places.is_empty() {
            return Ok(files);
        }
        Ok(labelled.nearest(from))
    }

    /// The target of `file#Heading`.
    fn heading_of(&mut self, from: &str, label: &str, heading: &str) -> TargetResult<I> {
        let files = self.files(label)?;
        match files.nearest(from) {
            Target::Node(file) => {
                let path = files.places.iter().find(|it| it.id == file).map(|it| it.path.clone());
                let inside = self.heading_in(path.as_deref().unwrap_or(""), heading)?;
                Ok(Target::Node(inside.unwrap_or(file)))
            }
            Target::Ambiguous(files) => Ok(Target::Ambiguous(files)),
            // Perhaps the `#` is part of a label.
            Target::Missing => Ok(self.labelled(&format!("{label}#{heading}"))?.nearest(from)),
        }
    }

    /// The target of a reference that names its file.
    fn in_source(&mut self, from: &str, source: &str, reference: &Reference) -> TargetResult<I> {
        let files = self.files(last_path_segment(source))?;
        // Beside the file that refers, then from the root, then any path that ends like this.
        let exact = [join(folder(from), source), join(root(from), source)]
            .into_iter()
            .flatten()
            .find_map(|path| files.at_path(&path))
            .cloned();
        let file = match exact {
            Some(file) => file,
            // What a renderer follows means one place only, if it starts from one.
            None if reference.form == ReferenceForm::Markdown && !from.is_empty() => {
                return Ok(Target::Missing);
            }
            None => {
                let ending = self.ending_in(&files, source.trim_start_matches("./"));
                match ending.nearest(from) {
                    Target::Node(id) => match ending.places.iter().find(|it| it.id == id) {
                        Some(file) => file.clone(),
                        None => return Ok(Target::Missing),
                    },
                    other => return Ok(other),
                }
            }
        };
        let inside = match (&reference.heading, reference.form) {
            (Some(heading), _) => Some(self.heading_in(&file.path, heading)?.unwrap_or(file.id)),
            (None, ReferenceForm::Markdown) => Some(file.id),
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
        Ok(inside.map_or(Target::Missing, Target::Node))
    }

    /// The heading of that name, or of that fragment, in the file at `path`.
    fn heading_in(&mut self, path: &str, name: &str) -> FoundResult<I> {
        let wanted = fold_name(&as_label(name));
        let places = self.inside(path, name)?;
        let headings = || places.iter().filter(|it| it.is_heading);
        let by_label = headings().find(|it| fold_name(&it.label) == wanted);
        let slug = slug(&wanted);
        let found =
            by_label.or_else(|| headings().find(|it| self::slug(&fold_name(&it.label)) == slug));
        Ok(found.map(|it| it.id))
    }

    /// What the file at `path` has of that name, or nearly so.
    fn inside(&mut self, path: &str, name: &str) -> Result<Places<I>, I::Error> {
        let wanted = (path.to_owned(), NameKey::of(&as_label(name)));
        if let Some(places) = self.inside.get(&wanted) {
            return Ok(Rc::clone(places));
        }
        let places = self.index.labelled_in(path, wanted.1)?;
        self.know(places.len());
        Ok(Rc::clone(self.inside.entry(wanted).or_insert(places.into())))
    }

    fn labelled(&mut self, label: &str) -> CandidatesResult<I> {
        let wanted = fold_name(&as_label(label));
        if let Some(candidates) = self.labels.get(&wanted) {
            return Ok(Rc::clone(candidates));
        }
        let mut places = self.index.labelled(NameKey::of(&wanted))?;
        places.retain(|it| fold_name(&it.label) == wanted);
        self.know(places.len());
        Ok(Rc::clone(self.labels.entry(wanted).or_insert(Rc::new(Candidates::new(places)))))
    }

    fn files(&mut self, name: &str) -> CandidatesResult<I> {
        let wanted = fold_name(name);
        if let Some(candidates) = self.files.get(&wanted) {
            return Ok(Rc::clone(candidates));
        }
        let places = self.index.files(&wanted)?;
        self.know(places.len());
        Ok(Rc::clone(self.files.entry(wanted).or_insert(Rc::new(Candidates::new(places)))))
    }

    /// Those of `files`, which have the name that `tail` ends in, whose path ends like it.
    fn ending_in(&mut self, files: &Candidates<I::Id>, tail: &str) -> Rc<Candidates<I::Id>> {
        let wanted = fold_name(tail);
        if let Some(candidates) = self.tails.get(&wanted) {
            return Rc::clone(candidates);
        }
        let ends = files.places.iter().filter(|it| ends_in(&it.path, &wanted));
        let places: Vec<LinkPlace<I::Id>> = ends.cloned().collect();
        self.know(places.len());
        Rc::clone(self.tails.entry(wanted).or_insert(Rc::new(Candidates::new(places))))
    }
}

/// A name as a label would have it: cut where labels are.
fn as_label(name: &str) -> String {
    text::truncate_chars(&text::fold_whitespace(name), text::LABEL_CHARS_MAX)
}

fn slashed(path: &str) -> String {
    path.trim().replace('\\', "/")
}

/// The last name of a path: that of the file.
pub(crate) fn last_path_segment(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or("")
}

/// A file's name without its ending.
pub(crate) fn without_extension(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

fn root(path: &str) -> &str {
    path.split('/').next().unwrap_or("")
}

/// `path` as seen from `folder`, if it does not leave the root.
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

/// Whether the last names of `path` are those of `tail`, which is a key, with or without ending.
fn ends_in(path: &str, tail: &str) -> bool {
    let path = fold_name(path);
    let ends = |path: &str| {
        path.strip_suffix(tail).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    ends(&path) || path.rsplit_once('.').is_some_and(|(stem, _)| ends(stem))
}

#[cfg(test)]
mod tests;
