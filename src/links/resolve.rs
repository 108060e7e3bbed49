//! What a reference points at, given an index of what there is.
//!
//! In order: the node of that id; the file that it names, and a heading in it; a label in the same
//! file; a heading in the same folder; a file by its name, title or alias; a label anywhere. Among
//! several, headings come before other nodes and near files before far ones. What is equally near
//! is ambiguous: the reference stays pending, and says between what.

use crate::parse::link::{Form, Reference};

/// Candidates of an ambiguous reference that are named.
const CANDIDATES_MAX: usize = 8;

/// A node that a name may mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place<Id> {
    /// The node.
    pub(crate) id: Id,
    /// Its file's path, relative to the root, with `/`.
    pub(crate) path: String,
    /// Its label.
    pub(crate) label: String,
    /// Whether it is a heading.
    pub(crate) is_heading: bool,
}

/// What there is to point at. Places come in document order, those of one file together.
pub(crate) trait Index {
    /// What names a node.
    type Id: Copy + PartialEq;

    /// The node of that id.
    fn node(&self, id: &str) -> Option<Self::Id>;

    /// The nodes whose label has that [`key`].
    fn labelled(&self, key: &str) -> Vec<Place<Self::Id>>;

    /// The first node of each file whose path ends in that name, with or without its ending, or
    /// whose title or alias has that [`key`].
    fn files(&self, key: &str) -> Vec<Place<Self::Id>>;

    /// The nodes of the file at `path`, headings at least.
    fn in_file(&self, path: &str) -> Vec<Place<Self::Id>>;
}

/// What a reference points at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target<Id> {
    /// A node.
    Node(Id),
    /// Nothing yet.
    Missing,
    /// One of several, equally near.
    Ambiguous(Vec<Id>),
}

/// What the `reference` in the file at `from` points at.
pub(crate) fn resolve<I: Index>(index: &I, from: &str, reference: &Reference) -> Target<I::Id> {
    if let Some(id) = reference.id_hint.as_deref().and_then(|id| index.node(id)) {
        return Target::Node(id);
    }
    if let Some(source) = &reference.source {
        return in_source(index, from, source, reference);
    }
    let heading = reference.heading.as_deref();
    if reference.form == Form::Markdown {
        // A fragment alone: a heading of the same file.
        let names = [heading.unwrap_or(""), &reference.label];
        return names
            .iter()
            .find_map(|name| heading_in(&index.in_file(from), name))
            .map_or(Target::Missing, Target::Node);
    }
    if let Some(heading) = heading {
        let files = index.files(&key(&reference.label));
        if let Some(file) = nearest(&files, from).first() {
            let inside = heading_in(&index.in_file(&file.path), heading);
            return Target::Node(inside.unwrap_or(file.id));
        }
        // Perhaps the `#` is part of a label.
        let whole = format!("{}#{heading}", reference.label);
        return among(&index.labelled(&key(&whole)), from);
    }
    let name = key(&reference.label);
    let labelled = index.labelled(&name);
    if let Some(id) = first(labelled.iter().filter(|place| place.path == from)) {
        return Target::Node(id);
    }
    let beside = |place: &&Place<I::Id>| place.is_heading && folder(&place.path) == folder(from);
    if let Target::Node(id) =
        among(&labelled.iter().filter(beside).cloned().collect::<Vec<_>>(), from)
    {
        return Target::Node(id);
    }
    let files = index.files(&name);
    match nearest(&files, from)[..] {
        [file] => Target::Node(file.id),
        ref files if labelled.is_empty() && !files.is_empty() => ambiguous(files),
        _ => among(&labelled, from),
    }
}

/// What names are compared by: case folded in all scripts, white space as one space.
pub(crate) fn key(name: &str) -> String {
    // By way of upper case, `ß` meets `SS`, and every sigma the others.
    crate::text::fold(&crate::text::fold(name).to_uppercase().to_lowercase())
}

/// A heading's fragment, as renderers make it.
fn slug(heading: &str) -> String {
    let mut slug = String::with_capacity(heading.len());
    for at in key(heading).chars() {
        match at {
            ' ' => slug.push('-'),
            at if at.is_alphanumeric() || matches!(at, '-' | '_') => slug.push(at),
            _ => (),
        }
    }
    slug
}

/// The target of a reference that names its file.
fn in_source<I: Index>(
    index: &I,
    from: &str,
    source: &str,
    reference: &Reference,
) -> Target<I::Id> {
    let source = source.trim().replace('\\', "/");
    let files = index.files(&key(source.rsplit('/').next().unwrap_or("")));
    // Beside the file that refers, then from the root, then any path that ends like this.
    let exact = [join(folder(from), &source), join("", &source)]
        .into_iter()
        .flatten()
        .find_map(|path| files.iter().find(|file| is_path(&file.path, &path)));
    let file = match exact {
        Some(file) => file,
        // What a renderer follows means one place only.
        None if reference.form == Form::Markdown => return Target::Missing,
        None => {
            let tail = source.trim_start_matches("./");
            let ending = files.iter().filter(|file| ends_in(&file.path, tail));
            match nearest(ending, from)[..] {
                [] => return Target::Missing,
                [file] => file,
                ref files => return ambiguous(files),
            }
        }
    };
    let places = index.in_file(&file.path);
    match (&reference.heading, reference.form) {
        (Some(heading), _) => Target::Node(heading_in(&places, heading).unwrap_or(file.id)),
        (None, Form::Markdown) => Target::Node(file.id),
        (None, _) => {
            let label = key(&reference.label);
            let named = places.iter().filter(|place| key(&place.label) == label);
            first(named).map_or(Target::Missing, Target::Node)
        }
    }
}

/// The one of `places` that comes first and is nearest to `from`, headings before others.
fn among<Id: Copy + PartialEq>(places: &[Place<Id>], from: &str) -> Target<Id> {
    let headings = nearest(places.iter().filter(|place| place.is_heading), from);
    let near = if headings.is_empty() { nearest(places, from) } else { headings };
    match near[..] {
        [] => Target::Missing,
        // Within one file, the first one is meant.
        [place, ref rest @ ..] if rest.iter().all(|it| it.path == place.path) => {
            Target::Node(place.id)
        }
        ref places => ambiguous(places),
    }
}

fn ambiguous<Id: Copy + PartialEq>(places: &[&Place<Id>]) -> Target<Id> {
    Target::Ambiguous(places.iter().take(CANDIDATES_MAX).map(|place| place.id).collect())
}

/// The first heading, or else the first of all.
fn first<'p, Id: Copy + 'p>(places: impl Iterator<Item = &'p Place<Id>>) -> Option<Id> {
    let mut places = places.peekable();
    let any = places.peek().map(|place| place.id);
    places.find(|place| place.is_heading).map(|place| place.id).or(any)
}

/// The heading of that name, or of that fragment, among the nodes of one file.
fn heading_in<Id: Copy>(places: &[Place<Id>], name: &str) -> Option<Id> {
    let (label, fragment) = (key(name), key(name).replace(' ', "-"));
    let headings = || places.iter().filter(|place| place.is_heading);
    let by_label = headings().find(|place| key(&place.label) == label);
    by_label
        .or_else(|| headings().find(|place| slug(&place.label) == fragment))
        .map(|place| place.id)
}

/// Those of `places` that no other is nearer than.
fn nearest<'p, Id>(
    places: impl IntoIterator<Item = &'p Place<Id>>,
    from: &str,
) -> Vec<&'p Place<Id>> {
    let mut best = usize::MAX;
    let mut near = Vec::new();
    for place in places {
        let steps = steps(from, &place.path);
        if steps < best {
            best = steps;
            near.clear();
        }
        if steps == best {
            near.push(place);
        }
    }
    near
}

/// Folders to go up and down from one file to the other.
fn steps(from: &str, to: &str) -> usize {
    let split = |path| folder(path).split('/').filter(|name: &&str| !name.is_empty());
    let n_shared = split(from).zip(split(to)).take_while(|(a, b)| a == b).count();
    split(from).count() + split(to).count() - 2 * n_shared
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// `path` as seen from `folder`, if it does not leave the root.
fn join(folder: &str, path: &str) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for name in folder.split('/').chain(path.split('/')) {
        match name {
            "" | "." => (),
            ".." => {
                names.pop()?;
            }
            name => names.push(name),
        }
    }
    Some(names.join("/"))
}

/// Whether `path` is that of a file at `known`, with or without its ending.
fn is_path(known: &str, path: &str) -> bool {
    let (known, path) = (key(known), key(path));
    known == path || known.rsplit_once('.').is_some_and(|(stem, _)| stem == path)
}

/// Whether the last names of `path` are those of `tail`.
fn ends_in(path: &str, tail: &str) -> bool {
    let n_names = tail.split('/').count();
    let mut names: Vec<&str> = path.rsplit('/').take(n_names).collect();
    names.reverse();
    is_path(&names.join("/"), tail)
}

#[cfg(test)]
mod tests;
